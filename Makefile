# SPDX-License-Identifier: Apache-2.0
# The README's commands. CMake does the work: see CMakePresets.json for the builds this picks from.
#   make demo     build the tools; one program under three operand storages, a fault that is found, a knob
#   make test     build everything, run every test
#   make test-all  the same tests with more kernels, machines and seeds: three times as long
#   make install  build libraries and tools, install them into PREFIX
#   make package  Debian packages regatta and regatta-dev, in build/package; make package-test installs them in a clean root
#   make wheel    the Python package with the tools and the libraries that they need, in build/package
#   make docs     all pages and the API reference as one static site, build/docs (.cmake/docs)
#   make fuzz     fuzz the readers and compare random programs, FUZZ_SECONDS per target (tests/fuzz)
#   make cosim    blocks in RTL (Verilator): build, tests, lockstep with their models, proofs, synthesis (platform/cosim)
#   make bench-cosim  simulation speed with them
#   make studies  tests of the Python package that need Slurm, a browser, notebooks or pandas (tests/platform/python)
#   make bench-compare BASE=REV  the simulator's speed against that of a revision; fails beyond 3 %
#   make validate  cycles on machine h100 beside an H100's: writes examples/validation/README.md
#   make budgets  kernels with other registers than their own, under every scheme: writes examples/budgets/README.md
#   make scale    what SMs cost the host: writes platform/assembly/SCALE.md
#   make bench-studies  what regatta-study costs beside its simulations
#   make synthesis  gates, flip-flops and paths of the blocks in RTL (platform/cosim/synthesis)
#   make traces   annotate every kernel at full size, or SUITE=wir: the programs of a paper (traces/suites)
#   make reproduce-regless, -wir, -greener, -aging, -finereg, -sharing, -sharing-scratchpad, -storage, -modern, -suites   run a paper's evaluation again and write its page (examples/reproduce)
# Variables: JOBS (processes at a time), PYTHON (for reproductions; one that has matplotlib), CMAKE_ARGS (more settings for the configuration), PREFIX (for install).

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CMAKE_ARGS ?=
# Debian's own: the one that its python3-matplotlib is for.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
BUILD := build/release

.PHONY: all build tools demo test test-all bench registers joins traces asan asan-programs tsan fuzz cosim bench-cosim bench-compare validate budgets scale studies bench-studies synthesis package package-test wheel reproduce-regless reproduce-wir reproduce-greener reproduce-aging reproduce-finereg reproduce-sharing reproduce-sharing-scratchpad reproduce-storage reproduce-modern reproduce-suites format format-check docs tidy install packages clean

all: build

# Tests need more than a build.
test test-all: PACKAGES := --test
packages:
	@.cmake/setup-packages.sh $(PACKAGES)

# What takes long says how far it is; what CMake and the compiler say is in build/<preset>/*.log.
build: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh release $(JOBS) all

# Libraries and tools, what is installed: no tests.
tools: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh release $(JOBS) regatta_installed

demo:
	@echo "make demo: builds libraries and tools without tests (a few minutes the first time) and shows them on one program"
	@$(MAKE) --no-print-directory tools
	@examples/quickstart/run.sh $(BUILD)/bin

test: build
	@.cmake/run-tests.sh release $(JOBS)

test-all: build
	@REGATTA_TESTS=all .cmake/run-tests.sh release $(JOBS)

bench: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh release $(JOBS) regatta-bench
	@tests/bench/run.sh $(BUILD)/bin

registers: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh release $(JOBS) regatta-registers
	@$(BUILD)/bin/regatta-registers

reproduce-regless reproduce-wir reproduce-greener reproduce-aging reproduce-finereg reproduce-sharing reproduce-sharing-scratchpad reproduce-storage reproduce-modern reproduce-suites: reproduce-%: tools
	@.cmake/setup-packages.sh --reproduce
	@$(PYTHON) examples/reproduce/$(subst -,/,$*)/run.py --bin $(BUILD)/bin --jobs $(JOBS)

# Where lanes meet again, beside ptxas's convergence barriers. Needs ptxas and Debian's python3-pyelftools.
joins: tools
	@$(PYTHON) -B tests/bench/joins/joins.py --annotate $(BUILD)/bin/regatta-annotate traces/kernels/*/*.sm75.ptx

# Cycles on machine h100 beside what an H100 counted.
validate: tools
	@.cmake/setup-packages.sh --reproduce
	@$(PYTHON) -B examples/validation/validate.py --bin $(BUILD)/bin --jobs $(JOBS) --page examples/validation/README.md --picture examples/validation/cycles.svg --table examples/validation/launches.csv

budgets: tools
	@$(PYTHON) -B examples/budgets/budgets.py --bin $(BUILD)/bin --jobs $(JOBS)

scale: tools
	@$(PYTHON) -B tests/bench/scale.py --bin $(BUILD)/bin --page platform/assembly/SCALE.md --picture platform/assembly/scale.svg

traces: tools
	@$(PYTHON) traces/suites/prepare.py --bin $(BUILD)/bin --jobs $(JOBS) $(if $(SUITE),--suite $(SUITE))

asan: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh asan $(JOBS) all
	@.cmake/run-tests.sh asan $(JOBS)

# Runs on several threads under ThreadSanitizer.
tsan: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh tsan $(JOBS) test_windows
	@.cmake/without-aslr.sh build/tsan/tests/test_windows '[.more]'

# Without the tests of single blocks, passes and parts of the platform: whole programs go through all of them.
asan-programs: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh asan $(JOBS) regatta_tests_of_programs
	@.cmake/run-tests.sh asan $(JOBS) -L '^programs$$'

# In a build of its own, so that `make test` neither needs nor runs it. COSIM_BUILD=release: in the build of `make test`,
# whose libraries are there already; `make test` then runs these tests too.
COSIM_BUILD ?= cosim
cosim:
	@.cmake/setup-packages.sh --cosim
	@CMAKE_ARGS="-DREGATTA_COSIM=ON $(CMAKE_ARGS)" .cmake/build.sh $(COSIM_BUILD) $(JOBS) regatta_cosim_tests
	@.cmake/run-tests.sh $(COSIM_BUILD) $(JOBS) -L cosim

# Simulation speed with RTL in place of models.
bench-cosim:
	@.cmake/setup-packages.sh --cosim
	@CMAKE_ARGS="-DREGATTA_COSIM=ON $(CMAKE_ARGS)" .cmake/build.sh $(COSIM_BUILD) $(JOBS) regatta-sim regatta-annotate
	@python3 -B tests/bench/cosim_speed.py --bin build/$(COSIM_BUILD)/bin

# Tests of the Python package that need more than `make test` installs. They use the programs of any build:
# STUDIES_BUILD names its preset. Where the packages are installed, `make test` runs these tests too.
STUDIES_BUILD ?= release
studies: packages
	@.cmake/setup-packages.sh --studies-tests
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh $(STUDIES_BUILD) $(JOBS) regatta_installed
	@.cmake/run-tests.sh $(STUDIES_BUILD) $(JOBS) -L studies

# What regatta-study costs beside its simulations.
BASE ?= HEAD
bench-compare: packages
	@python3 -B tests/bench/compare.py --base "$(BASE)" --jobs $(JOBS)

bench-studies: packages
	@$(PYTHON) -B tests/bench/study_overhead.py

# The table of platform/cosim/synthesis, which make cosim compares with a fresh run.
synthesis:
	@.cmake/setup-packages.sh --cosim
	@python3 -B platform/cosim/synthesis/synth.py

fuzz: packages
	@CMAKE_ARGS="$(CMAKE_ARGS)" .cmake/build.sh release $(JOBS) fuzz_differential
	@JOBS=$(JOBS) CMAKE_ARGS="$(addprefix -DCMAKE_CXX_COMPILER=,$(notdir $(firstword $(wildcard /usr/bin/clang++-14 /usr/bin/clang++-19)))) $(CMAKE_ARGS)" tests/fuzz/run.sh

format:
	@.cmake/check-format.sh --fix

format-check:
	@.cmake/check-format.sh

docs:
	@.cmake/setup-packages.sh --docs
	@$(PYTHON) -B .cmake/docs/build.py --jobs $(JOBS)

tidy:
	cmake --preset release $(CMAKE_ARGS)
	@.cmake/check_tidy.py $(BUILD) $(JOBS)

install:
	@echo "make install: builds libraries and tools without tests and installs them into $(PREFIX)"
	@$(MAKE) --no-print-directory tools
	@cmake --install $(BUILD) --prefix "$(PREFIX)" >$(BUILD)/install.log 2>&1 || { cat $(BUILD)/install.log; exit 1; }
	@echo "installed: $(PREFIX)/bin/regatta, regatta-annotate, -sim, -trace, -import, -compare, -report, -study, -sample; for CMake: -DCMAKE_PREFIX_PATH=$(PREFIX)"

# The packages of another version, or half of one, are not left beside new ones.
package: tools
	@.cmake/setup-packages.sh --package
	@rm -rf $(BUILD)/package && cmake --build $(BUILD) --target package >$(BUILD)/package.log 2>&1 || { cat $(BUILD)/package.log; exit 1; }
	@mkdir -p build/package && rm -f build/package/*.deb && mv $(BUILD)/package/*.deb build/package/
	@ls -l build/package/*.deb

package-test: package wheel
	@$(PYTHON) -B tests/consumer/package_test.py build/package

wheel: tools
	@.cmake/setup-packages.sh --package
	@$(PYTHON) -B .cmake/package/wheel.py $(BUILD) build/package

clean:
	rm -rf build
