#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cosim_speed.py --bin FOLDER [--rounds N] [--blocks A,B] [--small]: what RTL in place of a model costs in simulation speed.

Prints a Markdown table: simulated cycles per second of processor time with a block as model, and the speed with its RTL
and with both in lockstep relative to that. Rounds alternate between the three; rates are over the time of all rounds.
Processor time, not time of day: other programs disturb it less. --small: small launches, which are too short for a
measurement; a test of the programs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

KERNELS = ["sgemm", "hotspot", "srad"]
IMPLEMENTATIONS = ["model", "rtl", "lockstep"]
# Per block: the knob that chooses, arguments of regatta-annotate, arguments of regatta-sim.
BLOCKS = {
    "compressor": ("compressor.implementation", "--region-bank-lines 4 --region-registers 16", "--machine gtx980 --scheme regless --osu.entries 128"),
    "osu": ("osu.implementation", "--region-bank-lines 4 --region-registers 16", "--machine gtx980 --scheme regless --osu.entries 128"),
    "vsb": ("vsb.implementation", "--max-registers 63 --addresses 32", "--machine gtx480 --scheme wir"),
    "reuse_buffer": ("reuse_buffer.implementation", "--max-registers 63 --addresses 32", "--machine gtx480 --scheme wir"),
    "compression": ("compression.implementation", "--warp-size 64", "--machine hd7770 --scheme rc"),
    "rmu": ("rmu.implementation", "--max-registers 63 --addresses 32", "--machine finereg --scheme finereg --finereg.active_registers 512"),
}


def run(command):
    """Processor time of a program, in seconds."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            said.seek(0)
            sys.exit(f"cosim_speed.py: {' '.join(map(str, command))}\nended with status {os.waitstatus_to_exitcode(status)}, expected 0\n{said.read()}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="of a build with Verilator")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blocks", default=",".join(BLOCKS))
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    launch = "launch.small.toml" if options.small else "launch.toml"
    kernels = pathlib.Path(__file__).resolve().parents[2] / "traces" / "kernels"
    print("| block | kernel | model, million cycles/s | RTL | lockstep |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for block in options.blocks.split(","):
            if block not in BLOCKS:
                sys.exit(f"cosim_speed.py: no block {block}; expected some of: {', '.join(BLOCKS)}")
            knob, annotate, simulate = BLOCKS[block]
            for kernel in KERNELS:
                trace, stats = work / f"{kernel}.rgt", work / "stats.json"
                run([options.bin / "regatta-annotate", "--launch", kernels / kernel / launch, "--out", trace, *annotate.split()])
                cycles, seconds = dict.fromkeys(IMPLEMENTATIONS, 0), dict.fromkeys(IMPLEMENTATIONS, 0.0)
                for _ in range(options.rounds):
                    for i in IMPLEMENTATIONS:
                        seconds[i] += run([options.bin / "regatta-sim", trace, *simulate.split(), f"--{knob}", i, "--stats", stats])
                        cycles[i] += json.loads(stats.read_text())["cycles"]
                rate = {i: cycles[i] / seconds[i] for i in IMPLEMENTATIONS}
                print(f"| {block} | {kernel} | {rate['model'] / 1e6:.2f} | {rate['rtl'] / rate['model']:.2f} | {rate['lockstep'] / rate['model']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
