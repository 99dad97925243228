# SPDX-License-Identifier: Apache-2.0
# The README's commands. CMake does the work: see CMakePresets.json for the builds this picks from.
#   make demo     build, annotate a kernel, simulate it, print the tables
#   make test     build, run every test
#   make fuzz     fuzz the readers and compare random programs, FUZZ_SECONDS per target (tests/fuzz)
#   make reproduce-regless, -wir, -greener, -aging   run a paper's evaluation again and write its page (examples/reproduce)
# Variables: JOBS (processes at a time), PYTHON (for reproductions; one that has matplotlib), CMAKE_ARGS (more settings for the configuration), PREFIX (for install).

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CMAKE_ARGS ?=
# Debian's own: the one that its python3-matplotlib is for.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
BUILD := build/release

.PHONY: all build demo test bench registers asan fuzz reproduce-regless reproduce-wir reproduce-greener reproduce-aging format format-check tidy install packages clean

all: build

packages:
	@.cmake/setup-packages.sh

build: packages
	cmake --preset release $(CMAKE_ARGS)
	cmake --build --preset release -j $(JOBS)

demo: build
	@examples/quickstart/run.sh $(BUILD)/bin

test: build
	@.cmake/run-tests.sh release $(JOBS)

bench: build
	@tests/bench/run.sh $(BUILD)/bin

registers: build
	@$(BUILD)/bin/regatta-registers

reproduce-regless reproduce-wir reproduce-greener reproduce-aging: reproduce-%: build
	@.cmake/setup-packages.sh --reproduce
	@$(PYTHON) examples/reproduce/$*/run.py --bin $(BUILD)/bin --jobs $(JOBS)

asan: packages
	cmake --preset asan $(CMAKE_ARGS)
	cmake --build --preset asan -j $(JOBS)
	@.cmake/run-tests.sh asan $(JOBS)

fuzz: packages
	cmake --preset release $(CMAKE_ARGS)
	cmake --build --preset release -j $(JOBS) --target fuzz_differential
	@JOBS=$(JOBS) CMAKE_ARGS="$(CMAKE_ARGS)" tests/fuzz/run.sh

format:
	@.cmake/check-format.sh --fix

format-check:
	@.cmake/check-format.sh

tidy:
	cmake --preset release $(CMAKE_ARGS)
	@.cmake/check-tidy.sh $(BUILD) $(JOBS)

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build
