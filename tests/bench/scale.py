#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scale.py [--bin BIN] [--rounds N] [--most SMS] [--page FILE --picture FILE]: what SMs cost the host.

Simulates kernels at full size on 1, 2, 4 ... SMs of a gtx980 with as many, on one thread and on as many as the machine has
processors, and writes a page: host time of a warp instruction and of an SM's cycle, memory, and the speed-up that more
processors would give, by a model from the measured parts (Model below). Without --page: the page to standard output.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {"black_scholes": "computes, few accesses to memory", "sgemm": "computes, with barriers and shared memory",
           "hotspot": "a stencil", "vector_add": "streams from memory"}
PROCESSORS = (2, 4, 8, 16, 64)


@dataclass
class Model:
    """Of a run on one thread, in seconds. The memory of a window runs beside the SMs' next one, on a thread that then helps
    with the SMs; all else is not divided."""
    rest: float
    memory: float
    sms: float

    def seconds(self, processors):
        return self.rest + max(self.memory, (self.memory + self.sms) / processors)

    def speed_up(self, processors):
        return self.seconds(1) / self.seconds(processors)


@dataclass
class Point:
    kernel: str
    sms: int
    warp_instructions: int
    cycles: int
    seconds: float  # one thread
    peak_mib: float
    model: Model
    threaded: float  # seconds on all processors


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"scale.py: {' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")


def simulate(programs, trace, sms, threads, folder):
    file = folder / "stats.json"
    run([programs / "regatta-sim", trace, "--machine", "gtx980", "--machine.sms", max(sms, 16), "--sms", sms, "--threads",
         threads, "--stats", file])
    return json.loads(file.read_text())


def measure(programs, kernel, trace, sms, rounds, folder):
    """The quickest of the rounds."""
    one = [simulate(programs, trace, sms, 1, folder) for _ in range(rounds)]
    many = [simulate(programs, trace, sms, os.cpu_count(), folder) for _ in range(rounds)] if sms > 1 else one
    best = min(one, key=lambda d: d["host"]["seconds"])
    host = best["host"]
    memory, own = host.get("memory_seconds", 0.0), host.get("sm_seconds", host["seconds"])
    return Point(kernel, sms, best["warp_instructions"], best["cycles"], host["seconds"], host["peak_rss_mib"],
                 Model(host["seconds"] - memory - own, memory, own), min(d["host"]["seconds"] for d in many))


def table(points):
    lines = ["| kernel | SMs | us a warp instruction | us an SM's cycle | MiB | share of the memory | of the rest | speed-up on "
             f"{os.cpu_count()} | model |", "| --- |" + " ---: |" * 8]
    for p in points:
        m = p.model
        several = p.sms > 1
        lines.append(f"| {p.kernel} | {p.sms} | {1e6 * p.seconds / p.warp_instructions:.2f} | "
                     f"{1e6 * p.seconds / p.cycles / p.sms:.3f} | {p.peak_mib:.0f} | "
                     + (f"{m.memory / p.seconds:.0%} | {m.rest / p.seconds:.0%} | {p.seconds / p.threaded:.2f} | "
                        f"{m.speed_up(os.cpu_count()):.2f} |" if several else "| | | |"))
    return "\n".join(lines)


def prediction(points):
    lines = ["| kernel | SMs |" + "".join(f" {n} |" for n in PROCESSORS), "| --- |" + " ---: |" * (1 + len(PROCESSORS))]
    for p in points:
        if p.sms >= 32:
            lines.append(f"| {p.kernel} | {p.sms} |" + "".join(f" {p.model.speed_up(n):.1f} |" for n in PROCESSORS))
    return "\n".join(lines)


def draw(points, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "regatta"
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6))
    for kernel in KERNELS:
        own = [p for p in points if p.kernel == kernel]
        left.plot([p.sms for p in own], [1e6 * p.seconds / p.warp_instructions for p in own], "o-", label=kernel)
        widest = own[-1]
        numbers = [2 ** i for i in range(8)]
        right.plot(numbers, [widest.model.speed_up(n) for n in numbers], "o-", label=f"{kernel}, {widest.sms} SMs")
    left.set(xscale="log", xlabel="SMs", ylabel="us a warp instruction, one thread", ylim=(0, None))
    right.set(xscale="log", yscale="log", xlabel="processors", ylabel="speed-up, by the model")
    for axes, ticks in ((left, sorted({p.sms for p in points})), (right, [2 ** i for i in range(8)])):
        axes.set_xticks(ticks, map(str, ticks))
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    right.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def verdict(points):
    first = {p.kernel: p for p in points if p.sms == 1}
    last = {p.kernel: p for p in points}
    growth = [last[k].seconds / last[k].warp_instructions / (first[k].seconds / first[k].warp_instructions) for k in first]
    many = [p for p in points if p.sms >= 32]
    off = [p.model.speed_up(os.cpu_count()) / (p.seconds / p.threaded) - 1 for p in many]
    return (f"**From 1 SM to {max(p.sms for p in points)}, the host time of a warp instruction grows {min(growth):.1f} to "
            f"{max(growth):.1f} times on one thread. On {os.cpu_count()} processors, runs of 32 SMs and more are "
            f"{min(p.seconds / p.threaded for p in many):.2f} to {max(p.seconds / p.threaded for p in many):.2f} times as "
            f"fast as on one (the model is {min(off):+.0%} to {max(off):+.0%} off). By the model, 16 give "
            f"{min(p.model.speed_up(16) for p in many):.1f} to {max(p.model.speed_up(16) for p in many):.1f}.**")


def page(points, picture):
    kinds = "; ".join(f"`{k}`: {what}" for k, what in KERNELS.items())
    return f"""<!-- SPDX-License-Identifier: Apache-2.0 -->
# What SMs cost the host

{verdict(points)}

{f'![host time of a warp instruction against SMs, and speed-up against processors]({picture.name})' if picture else ''}

Made by `make scale` (`tests/bench/scale.py`). Kernels at full size ({kinds}), machine `gtx980` with as many SMs as are
simulated, values checked; the quickest of several runs, {os.cpu_count()} processors.

{table(points)}

*Share of the memory*: crossbars, L2 and DRAM, of the time on one thread. *The rest*: reading the trace until the first
CTA, building the machine, results.

## More processors

The SMs of a window run side by side. The memory of a window runs beside the SMs' next window, on one thread, which then
helps with the SMs ([several SMs](README.md#several-sms)). So a run takes the rest, and the longer of the memory's time and
of all work divided by the processors. Speed-up by this model, processors in the head:

{prediction(points)}

What the model leaves out makes the figures bounds: the wait at the end of each window (half of `interconnect.latency`
cycles, for the slowest thread), and caches that processors share. Where the memory is the bound, L2 partitions and DRAM
channels would have to run side by side too.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=128, metavar="SMS")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    options = parser.parse_args()
    points = []
    with tempfile.TemporaryDirectory(prefix="regatta-scale-") as name:
        folder = pathlib.Path(name)
        for kernel in KERNELS:
            trace = folder / f"{kernel}.rgt"
            run([options.bin / "regatta-annotate", "--launch", ROOT / "traces" / "kernels" / kernel / "launch.toml", "--out",
                 trace])
            sms = 1
            while sms <= options.most:
                print(f"{kernel}, {sms} SMs", file=sys.stderr, flush=True)
                points.append(measure(options.bin, kernel, trace, sms, options.rounds, folder))
                sms *= 2
            trace.unlink()
    if options.picture:
        draw(points, options.picture)
    text = page(points, options.picture)
    if options.page:
        options.page.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
