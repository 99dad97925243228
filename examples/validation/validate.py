#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""validate.py [--bin BIN] [--work DIR] [--only PROGRAM,...] [--page FILE --picture FILE --table FILE]: cycles beside an H100's.

Simulates the first launch of every kernel whose counters h100.json has, on 8 SMs of the machine, with data caches cold and
code warm, as the counters were taken, and compares cycles, instructions, sectors of the L1 and bytes of DRAM. Traces and
results stay in DIR by what they were made from: a second run makes only what has changed.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import statistics
import sys
import time
import tomllib
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "platform" / "python"), str(HERE / "micro"), str(HERE)]

import fermi  # noqa: E402
import micro  # noqa: E402
from regatta.means import rank_correlation  # noqa: E402
from runs import digest, knobs, percent, run, write  # noqa: E402

KERNELS = ROOT / "traces" / "kernels"
SMS = 8  # of the partition in which the counters were taken
SHORTEST = 3000  # cycles: below, the launch itself is most of what was measured
NEAR = 0.1  # instructions that differ by less count as the same program
TARGET = "sm_90"  # the machine code that the counters are of
# Programs that a value of h100.toml was fitted on, and that therefore say less than the others.
FITTED = {"atax", "bicg", "dct8x8", "gaussian", "hybridsort", "lbm", "marching_cubes", "sad", "syr2k", "transpose"}
def options_of(path):
    """The values of a machine file as options."""
    document = tomllib.loads(path.read_text())
    return [word for module, values in document.items() if module != "machine" for knob, value in values.items()
            for word in (f"--{module}.{knob}", str(value).lower() if isinstance(value, bool) else value)]


# A mechanism, and the machine without it; of the compiler's, the target without it.
MECHANISMS = {
    "sub-cores (with collectors)": options_of(HERE / "h100_collectors.toml"),
    "the register file cache": ["--register_file.cache", "false"],
    "the machine code of sm_90": {"target": "generic"},
    "launches of CTAs and warps that take time": ["--sm.cta_launch", 0, "--sm.warp_launch", 0],
    "a barrier unit that takes one warp after another": ["--sm.barrier_interval", 0],
    "a constant unit for loads by register": ["--initiation.constant_word", 0],
    "predicates that reach their readers late": ["--latency.predicate", 0],
    "pipelines of 16 lanes, and others for logic": ["--unit.alu", 0, "--unit.alu_kinds", "logic", "--unit.sp", 4] + [
        word for name in ("int_add", "int_max", "int_mul", "int_mad", "convert", "fp32_add", "fp32_max", "fp32_mul", "fp32_mad")
        for word in (f"--initiation.{name}", 1)],
    "byte masks of stores, which leave an SM 32 bytes a cycle": ["--interconnect.mask_flits", 0, "--interconnect.flit_bytes", 64,
                                                                   "--interconnect.response_flits", 1],
    "more than one line that the L1 looks up in a cycle": ["--l1.tags", 1],
    "lines of an access that conflict in the L1's banks": ["--l1.tag_banks", 0],
    "sectors on their way that another miss waits for": ["--l1.sector_merge", "false", "--l2.sector_merge", "false"],
    "headers beside the data": ["--interconnect.header_flits", 1, "--interconnect.header_bytes", 16],
    "local stores that stay in the L1": ["--l1.local_store", "write_evict"],
    "a TLB": ["--tlb.entries", 0],
    "more than 256 lines on their way to an L1": ["--l1.mshrs", 256],
}
CODE_COUNTS = 1_000_000  # bytes of DRAM below which a kernel's code, of up to 73 KB, is a part that counts
SMALL = 400_000  # warp instructions of the launches that are simulated without a mechanism


@dataclass
class Launch:
    """One launch: what the GPU counted, and what the simulation did."""
    program: str
    number: int
    kernel: str
    gpu: dict
    ours: dict

    def ratio(self, what):
        return self.ours[what] / self.gpu[what] if self.gpu[what] else math.nan


def annotate(programs, program, work, target):
    folder = KERNELS / program
    inputs = sorted(p for p in folder.iterdir() if p.suffix in (".toml", ".ptx"))
    trace = work / f"{program}-{digest(programs / 'regatta-annotate', target, *inputs)}.rgt"
    run([programs / "regatta-annotate", "--launch", folder / "launch.toml", "--target", target, "--annotations", "none", "--control", "--out"], trace)
    return trace


def result_of(programs, trace, number, machine, values, work, options):
    options = ["--sms", SMS, "--launches", number, "--warm", 0, "--threads", 1, *options]
    result = work / f"{trace.stem}.{number}.{digest(programs / 'regatta-sim', values, *options)}.json"
    run([programs / "regatta-sim", trace, "--machine", machine, *options, "--stats"], result)
    return json.loads(result.read_text())


def bytes_of_dram(document):
    return sum(group["bytes_read"] for name, group in document["stats"].items() if name.startswith("memory.dram_"))


def simulate(programs, trace, number, machine, values, work, more=(), cold_code=False):
    """`values`: of the machine, by which a result is known again. `cold_code`: bytes of DRAM are those of another run, in
    which code is cold, as it was when these bytes were counted."""
    arguments = (programs, trace, number, machine, values, work)
    document = result_of(*arguments, ["--warm-code", *more])
    sm = [group for name, group in document["stats"].items() if name.startswith("sm") and name.endswith(".pipeline.lsu")]
    return {"cycles": document["cycles"], "warp_instructions": document["warp_instructions"],
            "l1_load_sectors": sum(g["load_sectors"] for g in sm), "dram_read_bytes": bytes_of_dram(result_of(*arguments, more) if cold_code else document),
            "mismatches": document["checks"].get("mismatches", 0)}


@dataclass
class Errors:
    launches: int
    mean: float
    median: float
    geometric: float  # mean of the ratios
    rank: float
    instructions: float

    @staticmethod
    def of(launches):
        ratios = [l.ratio("cycles") for l in launches]
        cycles = [[side["cycles"] for side in (l.ours, l.gpu)] for l in launches]
        off = [abs(r - 1) for r in ratios]
        return Errors(len(launches), statistics.mean(off), statistics.median(off),
                      statistics.geometric_mean(ratios),
                      rank_correlation(*zip(*cycles)) if len(cycles) > 1 else math.nan,
                      statistics.mean(abs(l.ratio("warp_instructions") - 1) for l in launches))


def same_program(launch):
    return abs(launch.ratio("warp_instructions") - 1) < NEAR


def held_back(launches):
    return [l for l in launches if l.program not in FITTED]


def by_fit(launches):
    return [("programs that a value was fitted on", [l for l in launches if l.program in FITTED]),
            ("programs that no value was fitted on", held_back(launches))]


def within(launches, what, bound):
    ratios = [l.ratio(what) for l in launches if l.gpu[what]]
    return sum(abs(r - 1) <= bound for r in ratios) / len(ratios) if ratios else math.nan


def draw(launches, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "regatta"
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5.6, 5.2))
    for near, label in ((True, "instructions within a tenth"), (False, "others")):
        own = [l for l in launches if same_program(l) == near]
        axes.plot([l.gpu["cycles"] for l in own], [l.ours["cycles"] for l in own], "o", markersize=4, label=label)
    ends = [SHORTEST, 1.3 * max(l.gpu["cycles"] for l in launches)]
    axes.plot(ends, ends, "-", color="black", linewidth=0.8)
    for factor in (0.5, 2):
        axes.plot(ends, [factor * e for e in ends], ":", color="grey", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="cycles of the H100, 8 SMs", ylabel="simulated cycles")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    part = pathlib.Path(f"{path}.part")
    figure.savefig(part, format="svg", metadata={"Date": None})
    part.replace(path)


def rows(groups):
    lines = ["| launches | number | mean error | median | ratio, geometric mean | rank correlation | instructions, mean error |",
             "| --- |" + " ---: |" * 6]
    for name, launches in groups:
        if not launches:
            continue
        e = Errors.of(launches)
        lines.append(f"| {name} | {e.launches} | {percent(e.mean, 1)} | {percent(e.median, 1)} | {e.geometric:.2f} | {e.rank:.3f} | {percent(e.instructions, 1)} |")
    return "\n".join(lines)


def farthest(launches, count):
    lines = ["| program | kernel | cycles | of the H100 | ratio | instructions, ratio |", "| --- | --- |" + " ---: |" * 4]
    for l in sorted(launches, key=lambda l: -abs(math.log(l.ratio("cycles"))))[:count]:
        lines.append(f"| {l.program} | {l.kernel} | {l.ours['cycles']:,} | {l.gpu['cycles']:,} | {l.ratio('cycles'):.2f} | "
                     f"{l.ratio('warp_instructions'):.2f} |")
    return "\n".join(lines)


def page(launches, machine, without, laws, older):
    """`without`: the errors of the machine without each mechanism, by name. `laws`: of the micro-benchmarks, simulated. `older`:
    rows of fermi.py."""
    near = [l for l in launches if same_program(l)]
    others = [l for l in launches if not same_program(l)]
    e = Errors.of(launches)
    template = (HERE / "page.md").read_text()
    values = {
        "verdict": f"over {e.launches} launches of at least {SHORTEST:,} cycles the mean error of the cycles is {percent(e.mean, 0)}, the "
                   f"median {percent(e.median, 0)}, and the ranks correlate by {e.rank:.3f}",
        "near": f"{percent(Errors.of(near).mean, 0)}" if near else "-", "near_count": str(len(near)),
        "errors": rows([("all", launches), ("instructions within a tenth", near), ("others", others), *by_fit(launches)]),
        "held_back": percent(Errors.of(held_back(launches) or launches).mean, 0),
        "farthest": farthest(launches, 20),
        "sectors": f"{percent(within(launches, 'l1_load_sectors', 0.05), 0)}", "dram": f"{percent(within(launches, 'dram_read_bytes', 0.15), 0)}",
        "machine": machine, "micro": micro.tables(laws), "micro_verdict": micro.verdict(laws),
        "older": fermi.table(older), "older_verdict": fermi.verdict(older),
        "ablation": "\n".join(f"| {name} | {percent(e.mean, 1)} | {percent(e.median, 1)} |" for name, e in without.items()),
    }
    for name, value in values.items():
        template = template.replace("{{" + name + "}}", value)
    return template


def tell(done, of, begin):
    """A line that is written again on a terminal; elsewhere one for each tenth."""
    terminal = sys.stderr.isatty()
    if not terminal and 10 * done // of == 10 * (done - 1) // of:
        return
    left = (time.monotonic() - begin) / done * (of - done)
    begins = "\r" if terminal else ""
    print(f"{begins}{done} of {of} launches, about {left:.0f} s left", end="  " if terminal and done != of else "\n",
          file=sys.stderr, flush=True)


def table(launches, path):
    part = pathlib.Path(f"{path}.part")
    with part.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["program", "launch", "kernel"] + [f"{what}{who}" for what in ("cycles", "warp_instructions", "l1_load_sectors",
                                                                                  "dram_read_bytes") for who in ("", "_h100")])
        for l in sorted(launches, key=lambda l: (l.program, l.number)):
            out.writerow([l.program, l.number, l.kernel] + [side[what] for what in ("cycles", "warp_instructions", "l1_load_sectors",
                                                                                  "dram_read_bytes") for side in (l.ours, l.gpu)])
    part.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="folder of regatta's tools")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "validation", help="folder of traces and results")
    parser.add_argument("--machine", default="h100", help="machine, or a .toml file")
    parser.add_argument("--target", default=TARGET, help="machine code: an argument of regatta-annotate")
    parser.add_argument("--only", default="", metavar="PROGRAM,...")
    parser.add_argument("--most", type=int, default=4_000_000, metavar="N", help="warp instructions of a launch at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    reference = json.loads((HERE / "h100.json").read_text())
    if arguments.only:
        unknown = [n for n in arguments.only.split(",") if n not in reference]
        if unknown:
            parser.error(f"--only: unknown program '{unknown[0]}'; expected one of {', '.join(reference)}")
        reference = {n: reference[n] for n in arguments.only.split(",")}
    programs = arguments.bin.resolve()
    for tool in ("regatta-annotate", "regatta-sim"):
        if not (programs / tool).exists():
            parser.error(f"--bin: no {tool} in {programs}; `make tools` builds it")
    arguments.work.mkdir(parents=True, exist_ok=True)
    values = knobs(programs, arguments.machine)

    wanted = [(n, gpu) for n, all_of in reference.items() for gpu in all_of if gpu["warp_instructions"] <= arguments.most]
    wanted.sort(key=lambda w: -w[1]["warp_instructions"])  # the longest first
    begin = time.monotonic()
    launches, failed = [], []
    without = {name: [] for name in MECHANISMS} if arguments.page else {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        targets = [arguments.target] + [m["target"] for name, m in MECHANISMS.items() if name in without and isinstance(m, dict)]
        traces = {(n, target): pool.submit(annotate, programs, n, arguments.work, target)
                  for target in targets for n in dict.fromkeys(n for n, _ in wanted)}

        def submit(n, gpu, change, to):
            target, more = (change["target"], ()) if isinstance(change, dict) else (arguments.target, change)
            return pool.submit(lambda: simulate(programs, traces[n, target].result(), gpu["launch"], arguments.machine, values,
                                                arguments.work, more, to is launches and gpu["dram_read_bytes"] < CODE_COUNTS)), (n, gpu, to)

        runs = dict([submit(n, gpu, (), launches) for n, gpu in wanted] +
                    [submit(n, gpu, MECHANISMS[name], to) for name, to in without.items() for n, gpu in wanted
                     if gpu["warp_instructions"] <= SMALL])
        for done, future in enumerate(concurrent.futures.as_completed(runs), 1):
            n, gpu, to = runs[future]
            try:
                to.append(Launch(n, gpu["launch"], gpu["kernel"], gpu, future.result()))
            except RuntimeError as error:
                failed.append(f"{n} {gpu['launch']}: {error}")
            tell(done, len(runs), begin)
    for text in failed:
        print(text, file=sys.stderr)
    wrong = [l for l in launches if l.ours["mismatches"]]
    for l in wrong:
        print(f"{l.program} {l.number}: {l.ours['mismatches']} wrong values", file=sys.stderr)
    long = [l for l in launches if l.gpu["cycles"] >= SHORTEST]
    if not long:
        sys.exit(f"validate.py: no launch of at least {SHORTEST} cycles")
    print(rows([("all", long), ("instructions within a tenth", [l for l in long if same_program(l)]), *by_fit(long)]))
    print(farthest(long, 20))
    if failed or wrong:
        sys.exit(1)  # no page of a part
    if arguments.table:
        table(launches, arguments.table)
    if arguments.picture:
        draw(long, arguments.picture)
    if arguments.page:
        small = [l for l in long if l.gpu["warp_instructions"] <= SMALL]
        errors = {"nothing": Errors.of(small)}
        errors.update((name, Errors.of([l for l in of if l.gpu["cycles"] >= SHORTEST])) for name, of in without.items())
        write(arguments.page, page(long, arguments.machine, errors,
                                   micro.simulate(programs, arguments.machine, values, arguments.work),
                                   fermi.compare(programs, arguments.work)))


if __name__ == "__main__":
    main()
