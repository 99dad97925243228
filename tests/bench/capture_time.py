#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a trace costs beside plain emulation: user CPU time of regatta-capture for each program of examples/programs/bin,
once with --no-trace (the program runs on the emulator) and once with the trace; the median of --repeat runs each, taken in
turn. Prints a table in Markdown.
"""
import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def user_seconds(command: list, folder: str) -> tuple:
    """User CPU time of a command and its children, and what it says on standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"capture_time.py: {' '.join(map(str, command))} ended with status {done.returncode}: {done.stderr.strip()}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="where regatta-capture is")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each kind [default: %(default)s]")
    parser.add_argument("programs", nargs="*", help="their names [default: all]")
    arguments = parser.parse_args()
    programs = ROOT / "examples/programs/bin"
    names = arguments.programs or sorted(p.name for p in programs.iterdir() if os.access(p, os.X_OK))
    tool = arguments.bin.resolve() / "regatta-capture"
    print("| program | warp instructions | emulation, s | with the trace, s | times | trace, bytes an instruction |")
    print("| --- | --- | --- | --- | --- | --- |")
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            plain, traced = [], []
            trace = pathlib.Path(folder, "t.rgt")
            said = ""
            for _ in range(arguments.repeat):
                seconds, said = user_seconds([tool, "--no-trace", programs / name], folder)
                plain.append(seconds)
                traced.append(user_seconds([tool, "--out", trace, programs / name], folder)[0])
            instructions = int(re.search(r"(\d+) warp instructions", said)[1])
            emulation, whole = statistics.median(plain), statistics.median(traced)
            times.append(whole / emulation)
            print(f"| `{name}` | {instructions:,} | {emulation:.3f} | {whole:.3f} | {times[-1]:.1f} | "
                  f"{trace.stat().st_size / instructions:.1f} |", flush=True)
    print(f"| geometric mean | | | | {statistics.geometric_mean(times):.2f} | |")


if __name__ == "__main__":
    main()
