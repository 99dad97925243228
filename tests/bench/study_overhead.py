#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""study_overhead.py [--rounds N] [--jobs N] [--work sleep|compute]: what regatta-study costs beside its simulations.

Prints a Markdown table: a study, and a loop that starts the same programs with as many at a time, as medians over rounds
that alternate between the two. The programs stand in for regatta-sim; they take 10 s or 1 s of time of day (sleep) or of
processor time (compute).
"""
import argparse
import concurrent.futures
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "platform"), str(HERE.parents[2] / "platform" / "python")]
from python import fake_study  # noqa: E402

# Runs, seconds of each, and the overhead that is allowed.
CASES = [(12, 10.0, 0.05), (24, 1.0, 0.25)]


def measured(work):
    """Time of day and processor time of what `work` starts, in seconds."""
    def processor():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    begin, used = time.monotonic(), processor()
    work()
    return time.monotonic() - begin, processor() - used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="at a time")
    parser.add_argument("--work", choices=["sleep", "compute"], default="sleep")
    options = parser.parse_args()
    print("| runs | loop, s | study, s | overhead | allowed | processor time of the loop, s | of the study, s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for runs, seconds, allowed in CASES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            programs = fake_study.make(folder / "bin")
            trace = folder / "a.rgt"
            trace.write_text("trace a")
            knob = range(100, 100 + runs)
            (folder / "s.toml").write_text(f'[[programs]]\ntrace = "a.rgt"\n[knobs]\nk.a = {list(knob)}\n')
            environment = {"FAKE_SECONDS" if options.work == "sleep" else "FAKE_PROCESSOR_SECONDS": str(seconds)}

            def loop():
                def simulate(value):
                    subprocess.run([programs / "regatta-sim", trace, "--k.a", str(value), "--stats", folder / f"{value}.json"],
                                   check=True, env={**os.environ, **environment})
                with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                    list(pool.map(simulate, knob))

            def study():
                shutil.rmtree(folder / "s.study", ignore_errors=True)
                done = fake_study.study(["run", "s.toml", "--bin", "bin", "--jobs", str(options.jobs)], folder, **environment)
                if done.returncode != 0:
                    sys.exit(f"study_overhead.py: the study ended with status {done.returncode}, expected 0\n{done.stderr}")

            rounds = [(measured(loop), measured(study)) for _ in range(options.rounds)]
            wall, processor = ([statistics.median(r[who][what] for r in rounds) for who in (0, 1)] for what in (0, 1))
            print(f"| {runs} of {seconds:.0f} s | {wall[0]:.1f} | {wall[1]:.1f} | {wall[1] / wall[0] - 1:.1%} | {allowed:.0%} "
                  f"| {processor[0]:.1f} | {processor[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
