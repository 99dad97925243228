#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""micro.py [--bin BIN] [--work DIR] [--machine NAME] [--group GROUP,...] [-- OPTION ...]: timing laws beside those of an H100.

Simulates the micro-benchmarks of benchmarks.py and prints measured, simulated and their difference. OPTION: of regatta-sim.
micro.py --write DIR: only writes their PTX and launch files, for another machine or a GPU.
"""
import argparse
import json
import pathlib
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from benchmarks import UNMEASURED, Benchmark, all_benchmarks, programs as make_programs  # noqa: E402
from runs import digest, knobs, run  # noqa: E402

ROOT = HERE.parents[2]
MACHINE_CODE = ("--target", "sm_90", "--annotations", "none")  # what was measured
CYCLE = 1  # by which a latency may be off, or one part in LONG of it
LONG = 100
SHARE = 0.05  # by which a rate may be off
KINDS = {
    "latency": ("Latency of a step in a dependent chain of one warp, in cycles", CYCLE),
    "rate": ("Work done in a cycle: warp instructions of 32 warps on one SM, or bytes", None),
    "time": ("Cycles of a step that many take at once", None),
}


@dataclass
class Law:
    """One row: what was measured, the lowest and the highest value, and what was simulated."""
    benchmark: Benchmark
    low: float
    high: float
    simulated: float
    instructions: float  # simulated warp instructions of a step

    @property
    def difference(self):
        """From the nearest measured value."""
        return self.simulated - min(max(self.simulated, self.low), self.high)

    @property
    def nearest(self):
        return min(max(self.simulated, self.low), self.high)

    @property
    def holds(self):
        """A small excess over the bound is rounding: a slope is a quotient of whole cycles."""
        bound = max(CYCLE, self.nearest / LONG) if self.benchmark.kind == "latency" else SHARE * self.nearest
        return abs(self.difference) <= bound * 1.02


def measured():
    document = json.loads((HERE / "h100.json").read_text())
    return {name: (value if isinstance(value, list) else [value, value]) for name, value in document["values"].items()}


def simulate(programs, machine, values, work, groups=None, options=(), annotate=MACHINE_CODE):
    """The laws on the machine. `programs`: folder of the tools; `values`: of the machine, by which results are known again;
    `annotate`: options of regatta-annotate."""
    references = measured()
    benchmarks = [b for b in all_benchmarks() if groups is None or b.group in groups]
    by_name = {b.name: b for b in benchmarks}
    laws = []
    for group, (program, one, entries) in make_programs(benchmarks).items():
        folder = work / f"micro-{group}-{digest(program.ptx(), HERE / 'benchmarks.py')}"
        folder.mkdir(parents=True, exist_ok=True)
        launch = program.write(folder)
        trace = folder / f"{digest(programs / 'regatta-annotate', *annotate)}.rgt"
        run([programs / "regatta-annotate", "--launch", launch, *annotate, "--out"], trace)
        numbers = ",".join(str(i) for i, entry in enumerate(program.launched) if not entry.endswith(UNMEASURED))
        more = ["--machine", machine, "--sms", one.sms, "--launches", numbers, "--warm", 0, "--warm-code", "--threads", 1, *one.options, *options]
        result = folder / f"{trace.stem}-{digest(programs / 'regatta-sim', values, *more)}.json"
        run([programs / "regatta-sim", trace, *more, "--stats"], result)
        document = json.loads(result.read_text())
        if document["checks"].get("mismatches", 0):
            raise RuntimeError(f"{group}: {document['checks']['mismatches']} wrong values")
        launches = {l["kernel"]: l for l in document["launches"]}
        for name, ((short, less), (long, more_work)) in entries.items():
            cycles, instructions = (launches[long][k] - launches[short][k] for k in ("cycles", "warp_instructions"))
            steps = more_work - less
            value = steps / cycles if by_name[name].kind == "rate" else cycles / steps
            laws.append(Law(by_name[name], *references[name], value, instructions / steps))
    return laws


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def difference(law):
    if law.benchmark.kind == "latency" and abs(law.difference) < 10:
        return f"{law.difference:+.1f}"
    return f"{100 * law.difference / law.nearest:+.0f} %"


def tables(laws):
    """Markdown: a table for each kind of law. A row that does not hold is in bold type."""
    parts = []
    for kind, (title, _) in KINDS.items():
        own = [l for l in laws if l.benchmark.kind == kind]
        if not own:
            continue
        lines = [f"| {title} | measured | simulated | difference |", "| --- |" + " ---: |" * 3]
        for l in own:
            low_high = number(l.low) if l.low == l.high else f"{number(l.low)} to {number(l.high)}"
            mark = "" if l.holds else "**"
            lines.append(f"| {l.benchmark.title} | {low_high} | {number(l.simulated)} | {mark}{difference(l)}{mark} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def verdict(laws):
    return f"{sum(l.holds for l in laws)} of {len(laws)} laws hold"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="folder of regatta's tools")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "validation", help="folder of traces and results")
    parser.add_argument("--machine", default="h100", help="machine, or a .toml file")
    parser.add_argument("--group", metavar="GROUP,...", help="only these groups of benchmarks")
    parser.add_argument("--write", type=pathlib.Path, metavar="DIR", help="write the PTX and launch files, and stop")
    parser.add_argument("option", nargs="*", help="of regatta-sim, after --")
    arguments = parser.parse_args()
    benchmarks = all_benchmarks()
    known = list(dict.fromkeys(b.group for b in benchmarks))
    groups = arguments.group.split(",") if arguments.group else known
    for group in groups:
        if group not in known:
            parser.error(f"--group: unknown group '{group}'; expected one of {', '.join(known)}")
    if arguments.write:
        arguments.write.mkdir(parents=True, exist_ok=True)
        for program, _, _ in make_programs([b for b in benchmarks if b.group in groups]).values():
            print(program.write(arguments.write))
        return
    programs = arguments.bin.resolve()
    for tool in ("regatta-annotate", "regatta-sim"):
        if not (programs / tool).exists():
            parser.error(f"--bin: no {tool} in {programs}; `make tools` builds it")
    try:
        laws = simulate(programs, arguments.machine, knobs(programs, arguments.machine), arguments.work, groups, arguments.option)
    except RuntimeError as error:
        sys.exit(f"micro.py: {error}")
    print(tables(laws) + "\n\n" + verdict(laws))


if __name__ == "__main__":
    main()
