#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fermi.py [--bin BIN] [--work DIR]: latencies of GPGPU-Sim's GTX 480 beside those of dependent chains on machine gtx480.

Theirs are the rows of gtx480.toml, which take them from GPGPU-Sim's tested configuration (L2 and DRAM: from WIR's Table II).
They are latencies of a unit; ours are steps of a chain, which an instruction's operands and result pass as well.
"""
import argparse
import pathlib
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "platform" / "python"), str(HERE), str(HERE.parent)]

import micro  # noqa: E402
from regatta.reports.meanings import read_config  # noqa: E402
from runs import knobs  # noqa: E402

MACHINE = "gtx480"
# The instruction cache of 2 KB would be measured in place of long chains; one SM has the whole L2, in which the chains fit.
OPTIONS = ("--machine.memory", "whole")
AROUND = 3  # cycles to the unit and from it: arbitration and read of operands, write of the result
# Benchmark, the row that it measures, and what the row is called.
ROWS = (("fadd", "latency.fp32_add", "fp32 addition"), ("fmul", "latency.fp32_mul", "fp32 multiplication"),
        ("ffma", "latency.fp32_mad", "fp32 multiplication and addition"), ("fmnmx", "latency.fp32_max", "fp32 minimum"),
        ("lop3", "latency.int_add", "integer addition, logic"), ("imul", "latency.int_mul", "integer multiplication"),
        ("imad", "latency.int_mad", "integer multiplication and addition"), ("imnmx", "latency.int_max", "integer minimum"),
        ("idiv", "latency.int_div", "integer division"), ("fdiv", "latency.fp32_div", "fp32 division"),
        ("dadd", "latency.fp64_add", "fp64 addition"), ("dfma", "latency.fp64_mad", "fp64 multiplication and addition"),
        ("ex2", "latency.sfu", "special function"), ("shfl", "latency.shuffle", "shuffle"),
        ("lds", "shared.latency", "load of shared memory"), ("l1_hit", "l1.hit_latency", "load, hit in the L1"),
        ("l2_hit", "l2.latency", "load, hit in the L2"), ("dram", "dram.latency", "load from DRAM, of rows in random order"))


@dataclass
class Row:
    """One latency: `theirs` of the unit, `ours` of a step in a chain, in cycles."""
    benchmark: str
    title: str
    theirs: float
    ours: float

    @property
    def around(self):
        return self.ours - self.theirs


def compare(programs, work):
    """The rows on the machine. `programs`: folder of the tools."""
    values = knobs(programs, MACHINE)
    config = read_config(values)
    steps = {l.benchmark.name: l.simulated for l in micro.simulate(programs, MACHINE, values, work, ("chains", "loads"), OPTIONS, annotate=())}
    return [Row(name, title, config[knob].value, steps[name]) for name, knob, title in ROWS]


def verdict(rows):
    """Within half a cycle: a step is a quotient of whole cycles."""
    return f"{sum(abs(r.around - AROUND) <= 0.5 for r in rows)} of {len(rows)} take {AROUND} cycles more"


def table(rows):
    lines = ["| cycles | GPGPU-Sim's unit | our chain | around the unit |", "| --- |" + " ---: |" * 3]
    lines += [f"| {r.title} | {r.theirs} | {micro.number(r.ours)} | {r.around:+.1f} |" for r in rows]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="folder of regatta's tools")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "validation", help="folder of traces and results")
    arguments = parser.parse_args()
    programs = arguments.bin.resolve()
    for tool in ("regatta-annotate", "regatta-sim"):
        if not (programs / tool).exists():
            parser.error(f"--bin: no {tool} in {programs}; `make tools` builds it")
    try:
        rows = compare(programs, arguments.work)
    except RuntimeError as error:
        sys.exit(f"fermi.py: {error}")
    print(table(rows) + "\n\n" + verdict(rows))


if __name__ == "__main__":
    main()
