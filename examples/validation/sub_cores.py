#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sub_cores.py [--bin BIN] [--work DIR] [--machine MACHINE] [--only PROGRAM,...] [--page FILE]: the SM of sub-cores, one change at a time.

Tables 6 and 7 of Huerta et al. (MICRO 2025) beside our programs: ports and cache of the register file, and scoreboards
in place of control bits, on one SM of h100. Traces and results stay in DIR by what they were made from.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import sys
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE / "sub_cores")]

import loops  # noqa: E402
from runs import digest, knobs, percent, run, write  # noqa: E402

KERNELS = ROOT / "traces" / "kernels"
MACHINE = "h100"
TARGET = "sm_90"
BASE = {"sm.dependences": "control_bits", "sm.scheduler": "cggty", "register_file.cache": "true", "register_file.read_ports": 1}
SCOREBOARD = {"sm.dependences": "scoreboard"}
LATE = {**SCOREBOARD, "scoreboard.release": "retirement", "scoreboard.readers": "all"}
PRODUCTS = ("sgemm", "syr2k")
NO_CACHE = {"register_file.cache": "false"}


@dataclass
class Variant:
    """A machine: the base with other values. `paper`: its speed there, 1 for the base; None: not there."""
    name: str
    change: dict
    paper: float | None = None
    note: str = ""
    speeds: dict = field(default_factory=dict)  # by program, the base 1

    @property
    def speed(self):
        return statistics.geometric_mean(self.speeds.values())


def ports():
    return [Variant("1 port, cache", {}, 1), Variant("1 port", NO_CACHE, 0.974),
            Variant("2 ports", {**NO_CACHE, "register_file.read_ports": 2}, 1.006),
            Variant("any number of ports", {**NO_CACHE, "register_file.read_ports": 0}, 1.008)]


def dependences():
    return [Variant("control bits", {}, 1), *(Variant(f"scoreboard, {n} reader{'s' * (n > 1)}", {**LATE, "scoreboard.war_consumers": n}, speed)
                                              for n, speed in ((1, 0.95), (3, 0.98), (63, 0.98)))]


def single_changes():
    """What of the paper's scoreboard costs how much."""
    return [Variant("frees a register by the bypass, counts readers of variable latency", SCOREBOARD),
            Variant("counts all readers", {**SCOREBOARD, "scoreboard.readers": "all"}),
            Variant("counts one reader of variable latency", {**SCOREBOARD, "scoreboard.war_consumers": 1}),
            Variant("counts one reader of all", {**SCOREBOARD, "scoreboard.readers": "all", "scoreboard.war_consumers": 1}),
            Variant("frees a register at retirement", {**SCOREBOARD, "scoreboard.release": "retirement"})]


# Bits per warp, of 332 registers: 255 general, 63 uniform, 7 and 7 predicates (section 7.5).
REGISTERS = 255 + 63 + 7 + 7
WARPS = 48
FILE_BITS = 8 * 256 * 1024


def scoreboard_bits(readers):
    """A bit for a write in flight, and the count of readers, of each register."""
    return REGISTERS * (1 + readers.bit_length())


def control_bits():
    """Six counters of six bits, a stall count of four, a yield."""
    return 6 * 6 + 4 + 1


def annotate(programs, name, launch, work):
    inputs = sorted(p for p in launch.parent.iterdir() if p.suffix in (".toml", ".ptx"))
    name = f"{name}-{digest(programs / 'regatta-annotate', TARGET, 'control', *inputs)}"
    report, trace = work / f"{name}.report.json", work / f"{name}.rgt"
    run([programs / "regatta-annotate", "--launch", launch, "--target", TARGET, "--annotations", "none", "--control", "--report", report,
         "--out"], trace)
    return trace, [entry["control"] for entry in json.loads(report.read_text())["entries"] if entry["accepted"]]


def simulate(programs, trace, machine, change, work):
    """`machine`: its name, and its values, by which a result is known again."""
    knob_list = {**BASE, **change}
    options = ["--sms", 1, "--warm-code", *(word for name, value in knob_list.items() for word in (f"--{name}", value))]
    result = work / f"{trace.stem}.{digest(programs / 'regatta-sim', machine[1], *options)}.json"
    run([programs / "regatta-sim", trace, "--machine", machine[0], *options, "--stats"], result)
    document = json.loads(result.read_text())
    if document["checks"]["mismatches"]:
        raise RuntimeError(f"{trace.stem}: {document['checks']['mismatches']} wrong values with {change}")
    sm = document["stats"]["sm0.pipeline"]
    return document["cycles"], sm["resident_warp_cycles"] / sm["active_cycles"]


def table(variants, caption):
    if all(v.paper is None for v in variants):
        return "\n".join([f"| {caption} | speed |", "| --- | ---: |", *(f"| {v.name} | {v.speed:.3f} |" for v in variants)])
    lines = [f"| {caption} | speed | in the paper |", "| --- | ---: | ---: |"]
    lines += [f"| {v.name} | {v.speed:.3f} | {v.paper:g} |" for v in variants]
    return "\n".join(lines)


def by_warps(variants, warps):
    """The same for programs with few and with many resident warps."""
    groups = [("fewer than 8", 0, 8), ("8 to 24", 8, 24), ("24 and more", 24, math.inf)]
    lines = ["| resident warps of the SM | programs | " + " | ".join(v.name for v in variants) + " |", "| --- |" + " ---: |" * (len(variants) + 1)]
    for name, least, above in groups:
        own = [p for p, n in warps.items() if least <= n < above]
        if own:
            lines.append(f"| {name} | {len(own)} | " + " | ".join(f"{statistics.geometric_mean(v.speeds[p] for p in own):.3f}" for v in variants) + " |")
    return "\n".join(lines)


def of_loops(programs, machine, work):
    """Speeds of the loops, the base 1, and the share of reuse flags, beside two programs of the paper."""
    paper = {"distinct operands": ("MaxFlops", "1", "1", "1.45", "1.45"), "a tile of 4 x 4": ("cutlass", "1", "0.69", "1.02", "1.02")}
    lines = ["| loop | reuse flags | " + " | ".join(v.name for v in ports()) + " |", "| --- |" + " ---: |" * (len(ports()) + 1)]
    for kind, (name, *speeds) in paper.items():
        folder = work / kind.replace(" ", "_")
        folder.mkdir(exist_ok=True)
        trace, reports = annotate(programs, folder.name, loops.write(folder, kind), folder)
        base = simulate(programs, trace, machine, {}, folder)[0]
        own = [base / simulate(programs, trace, machine, v.change, folder)[0] for v in ports()]
        lines.append(f"| {kind} | {percent(reuse({kind: reports})[0], 1)} | " + " | ".join(f"{speed:.2f}" for speed in own) + " |")
        lines.append(f"| {name}, in the paper | {'37.9 %' if name == 'cutlass' else ''} | " + " | ".join(speeds) + " |")
    return "\n".join(lines)


def extremes(variants, count):
    """Programs on which the variants differ most, and the products of matrices."""
    def spread(program):
        speeds = [v.speeds[program] for v in variants]
        return max(speeds) - min(speeds)

    ranked = sorted(variants[0].speeds, key=lambda p: (-spread(p), p))
    chosen = ranked[:count] + [p for p in ranked[count:] if p in PRODUCTS]
    lines = ["| program | " + " | ".join(v.name for v in variants) + " |", "| --- |" + " ---: |" * len(variants)]
    lines += [f"| {p} | " + " | ".join(f"{v.speeds[p]:.3f}" for v in variants) + " |" for p in chosen]
    return "\n".join(lines)


def order(variants):
    """Whether the speeds stand in the paper's order; equal ones there may stand in any, and a tenth of a percent is none."""
    pairs = [(a, b) for a in variants for b in variants if a.paper is not None and b.paper is not None and a.paper < b.paper]
    return [(a.name, b.name) for a, b in pairs if a.speed > b.speed + 0.001]


def areas():
    lines = ["| | bits of a warp | of the register file | in the paper |", "| --- | ---: | ---: | ---: |"]
    rows = [(f"scoreboard, {n} reader{'s' * (n > 1)}", scoreboard_bits(n), paper) for n, paper in ((1, "1.52 %"), (3, "2.28 %"), (63, "5.32 %"))]
    for name, bits, paper in [*rows, ("control bits", control_bits(), "0.09 %")]:
        lines.append(f"| {name} | {bits:,} | {percent(bits * WARPS / FILE_BITS, 2)} | {paper} |")
    return "\n".join(lines)


def reuse(reports):
    """Share of static instructions with a reuse flag: of all programs, and of each."""
    of = {p: (sum(c["reuse"] for c in all_of), sum(c["instructions"] for c in all_of)) for p, all_of in reports.items()}
    total = sum(r for r, _ in of.values()) / sum(n for _, n in of.values())
    return total, {p: r / n for p, (r, n) in of.items()}


def verdict(name, variants):
    wrong = order(variants)
    if not wrong:
        return f"{name}: signs and order are the paper's"
    return f"{name}: the order is the paper's but for " + ", ".join(f"{a} ({variants_speed(variants, a)}) above {b} ({variants_speed(variants, b)})" for a, b in wrong)


def variants_speed(variants, name):
    return next(f"{v.speed:.3f}" for v in variants if v.name == name)


def page(tables, reports, warps, loop_table):
    six, seven, changes = tables
    total, share = reuse(reports)
    values = {
        "verdict6": verdict("Table 6", six), "verdict7": verdict("Table 7", seven), "programs": str(len(six[0].speeds)),
        "table6": table(six, "reads of a bank"), "table7": table(seven, "dependences"),
        "changes": table(changes, "a scoreboard that"), "extremes6": extremes(six, 8), "extremes7": extremes(seven, 6),
        "areas": areas(), "loops": loop_table, "warps7": by_warps(seven, warps), "reuse": percent(total, 1),
        "reuse_most": ", ".join(f"{p} {percent(share[p], 1)}" for p in sorted(share, key=lambda p: -share[p])[:5]),
    }
    template = (HERE / "sub_cores" / "page.md").read_text()
    for name, value in values.items():
        template = template.replace("{{" + name + "}}", value)
    return template


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="folder of regatta's tools")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "sub_cores", help="folder of traces and results")
    parser.add_argument("--machine", default=MACHINE, help="machine with sub-cores, or a .toml file")
    parser.add_argument("--only", default="", metavar="PROGRAM,...")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page", type=pathlib.Path)
    arguments = parser.parse_args()
    known = sorted(p.parent.name for p in KERNELS.glob("*/launch.small.toml"))
    chosen = arguments.only.split(",") if arguments.only else known
    if unknown := [p for p in chosen if p not in known]:
        parser.error(f"--only: unknown program '{unknown[0]}'; expected one of {', '.join(known)}")
    programs = arguments.bin.resolve()
    for tool in ("regatta-annotate", "regatta-sim"):
        if not (programs / tool).exists():
            parser.error(f"--bin: no {tool} in {programs}; `make tools` builds it")
    arguments.work.mkdir(parents=True, exist_ok=True)
    machine = arguments.machine, knobs(programs, arguments.machine)
    tables = ports(), dependences(), single_changes()
    reports, warps = {}, {}

    def take(program):
        trace, reports[program] = annotate(programs, program, KERNELS / program / "launch.small.toml", arguments.work)
        base, warps[program] = simulate(programs, trace, machine, {}, arguments.work)
        for variant in (v for variants in tables for v in variants):
            variant.speeds[program] = base / simulate(programs, trace, machine, variant.change, arguments.work)[0]
        return program

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for program in pool.map(take, chosen):
            print(program, file=sys.stderr, flush=True)
    reports, warps = ({p: of[p] for p in chosen} for of in (reports, warps))
    for variants, caption in zip(tables, ("reads of a bank", "dependences", "a scoreboard that")):
        for v in variants:
            v.speeds = {p: v.speeds[p] for p in chosen}
        print(table(variants, caption), end="\n\n")
        print(extremes(variants, 6), by_warps(variants, warps), sep="\n\n", end="\n\n")
    print(verdict("Table 6", tables[0]), verdict("Table 7", tables[1]), sep="\n")
    loop_table = of_loops(programs, machine, arguments.work)
    print(loop_table)
    print(f"reuse flags: {percent(reuse(reports)[0], 1)} of the static instructions")
    if arguments.page:
        write(arguments.page, page(tables, reports, warps, loop_table))


if __name__ == "__main__":
    main()
