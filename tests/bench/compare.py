#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py --base REV [--rounds N] [--limit PERCENT] [--jobs N] [CASE...]: this tree's simulator against that of a revision.

Builds both (the revision in build/compare, once), runs each case on both in alternation, and prints a Markdown table of
user seconds: the least of the rounds, their ratio, and the least and greatest ratio of a round. Ends with status 1 if a
case is slower by more than the limit in the least time and in the median of the rounds, 2 if something could not be done.
A CASE is KERNEL/SCHEME/SMS, a kernel of traces/kernels at full size on gtx980 (with as many SMs, if it has fewer).
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ["sgemm/baseline/1", "hotspot/baseline/1", "bfs/baseline/1", "histogram/baseline/1", "vector_add/baseline/1",
         "sgemm/regless/1", "hotspot/regless/1", "sgemm/wir/1", "hotspot/wir/1", "hotspot/greener/1", "hotspot/finereg/1",
         "hotspot/baseline/16", "vector_add/baseline/16", "hotspot/baseline/64", "sgemm/baseline/64"]


class Failed(Exception):
    pass


def output(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr or done.stdout}")
    return done.stdout.strip()


def build(source, folder, jobs):
    """The programs of the tree `source`, built in `folder`."""
    print(f"building {folder}", file=sys.stderr)
    output(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"])
    output(["cmake", "--build", folder, "-j", str(jobs), "--target", "regatta-sim", "regatta-annotate"])
    return folder / "bin"


def revision(name, jobs):
    """The programs of a revision."""
    commit = output(["git", "-C", ROOT, "rev-parse", "--verify", f"{name}^{{commit}}"])
    folder = ROOT / "build" / "compare" / commit
    ready = folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder / "source", ignore_errors=True)
        (folder / "source").mkdir(parents=True)
        tree = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder / "source"], stdin=tree.stdout, check=True)
        if tree.wait() != 0:
            raise Failed(f"git archive {commit}: status {tree.returncode}")
        build(folder / "source", folder / "build", jobs)
        ready.write_text("")  # last: a build that was broken off is begun again
    return folder / "build" / "bin"


def annotate(programs, case, folder):
    """The trace of a case. Each tree makes its own, since the format may differ."""
    kernel, scheme, _ = case.split("/")
    trace = folder / f"{kernel}.{scheme}.rgt"
    if not trace.exists():
        launch = ROOT / "traces" / "kernels" / kernel / "launch.toml"
        if not launch.exists():
            raise Failed(f"{case}: found no kernel '{kernel}' in traces/kernels")
        output([programs / "regatta-annotate", "--launch", launch, "--out", trace])
    return trace


def user_seconds(programs, case, trace):
    _, scheme, sms = case.split("/")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    machine = ["--machine", "gtx980", *(["--machine.sms", sms] if int(sms) > 16 else [])]
    # A thread each: with more, the seconds would be those of waiting threads too.
    output([programs / "regatta-sim", trace, "--scheme", scheme, "--sms", sms, *machine],
           env={**os.environ, "REGATTA_THREADS": "1"})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, metavar="REV")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=3.0, metavar="PERCENT")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    trees = {"base": revision(options.base, options.jobs), "this": build(ROOT, ROOT / "build" / "release", options.jobs)}
    traces = ROOT / "build" / "compare" / "traces"
    shutil.rmtree(traces, ignore_errors=True)  # of an earlier tree
    for name in trees:
        (traces / name).mkdir(parents=True)
    slower = []
    print(f"| case | {options.base}, s | this tree, s | ratio | of the rounds |\n| --- | --- | --- | --- | --- |")
    for case in options.cases or CASES:
        if case.count("/") != 2 or not case.split("/")[2].isdigit():
            raise Failed(f"found case '{case}', expected KERNEL/SCHEME/SMS")
        files = {name: annotate(programs, case, traces / name) for name, programs in trees.items()}
        seconds = {name: [] for name in trees}
        for turn in range(options.rounds):
            for name in sorted(trees, reverse=turn % 2 == 1):
                seconds[name].append(user_seconds(trees[name], case, files[name]))
        least = {name: min(values) for name, values in seconds.items()}
        ratios = [b / a for a, b in zip(seconds["base"], seconds["this"])]
        ratio = least["this"] / least["base"]
        print(f"| {case} | {least['base']:.2f} | {least['this']:.2f} | {ratio:.3f} | {min(ratios):.3f} to {max(ratios):.3f} |",
              flush=True)
        if min(ratio, statistics.median(ratios)) > 1 + options.limit / 100:
            slower.append(case)
    if slower:
        sys.exit(f"slower by more than {options.limit:g} %: {', '.join(slower)}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        sys.exit(2)
