#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of regatta-sample hold the true value, and what state that skipped launches leave costs.

Programs of traces/kernels, some with more repetitions; each simulated as a whole once per configuration, and sampled with
several seeds, every time by real runs of regatta-sim. Prints the tables of platform/python/SAMPLING.md. Results are kept
in --folder: the same command goes on after an interruption.

  sampling_coverage.py --bin build/release/bin --folder build/coverage
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

# Program: what to change in its launch file.
PROGRAMS = {
    "gaussian": [],
    "needleman_wunsch": [],
    "hotspot": [("repeat = 10", "repeat = 60")],
    "cfd": [("repeat = 4", "repeat = 16")],
    "fdtd2d": [("repeat = 10", "repeat = 40"), ("bytes = 40\n", "bytes = 160\n")],
}
CONFIGURATIONS = {
    "gtx980, baseline": ["--machine", "gtx980"],
    "gtx480, baseline": ["--machine", "gtx480"],
    "gtx980, regless": ["--machine", "gtx980", "--scheme", "regless"],
    "gtx980, greener": ["--machine", "gtx980", "--scheme", "greener"],
}
QUANTITIES = {"cycles": lambda d: d["cycles"], "energy.total_nj": lambda d: d["energy"]["total_nj"]}


def call(command, file, behind=()):
    """Runs a program that writes `file`, the last word of `command`, unless there is one."""
    if file.exists():
        return
    part = file.with_suffix(".part")
    done = subprocess.run([*command, str(part), *behind], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"sampling_coverage.py: {' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    part.rename(file)


def trace_of(name, edits, o):
    trace = o.folder / f"{name}.rgt"
    if not trace.exists():
        kernel = o.kernels / name
        text = (kernel / "launch.toml").read_text(encoding="utf-8")
        for old, new in edits:
            if text.count(old) != 1:
                sys.exit(f"sampling_coverage.py: {kernel}/launch.toml: found {text.count(old)} times '{old.strip()}', "
                         f"expected it once")
            text = text.replace(old, new)
        text = text.replace('ptx = "', f'ptx = "{kernel.resolve()}/')
        launch = o.folder / f"{name}.toml"
        launch.write_text(text, encoding="utf-8")
        call([str(o.bin / "regatta-annotate"), "--launch", str(launch), "--out"], trace)
    return trace


def load(file):
    return json.loads(file.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of regatta's programs")
    parser.add_argument("--folder", type=Path, required=True, help="for traces and results")
    parser.add_argument("--kernels", type=Path, default=Path(__file__).resolve().parents[2] / "traces/kernels")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    o = parser.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    print("| program | launches | configuration | fewer warp instructions | half width, % | largest error, % | inside |"
          " state left, % |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    inside_all = {name: 0 for name in QUANTITIES}
    cases, worst_state = 0, 0.0
    for program in o.programs:
        trace = trace_of(program, PROGRAMS[program], o)
        for configuration, options in CONFIGURATIONS.items():
            label = configuration.replace(", ", "_")
            exact_file = o.folder / f"{program}_{label}.exact.json"
            call([str(o.bin / "regatta-sim"), str(trace), *options, "--log-level", "error", "--stats"], exact_file)
            exact = load(exact_file)
            true_cycles = [launch["cycles"] for launch in exact["launches"]]
            runs = []
            for seed in range(o.seeds):
                file = o.folder / f"{program}_{label}.{seed}.json"
                call([sys.executable, "-B", str(o.bin / "regatta-sample"), str(trace), "--seed", str(seed), "--json"], file,
                     ["--", *options, "--log-level", "error"])
                runs.append(load(file))
            cases += len(runs)
            inside = {name: sum(r["sampling"]["intervals"][name][0] <= true(exact) <= r["sampling"]["intervals"][name][1]
                                for r in runs) for name, true in QUANTITIES.items()}
            for name, n in inside.items():
                inside_all[name] += n
            fewer = sum(1 / r["sampling"]["fraction"] for r in runs) / len(runs)
            half = sum(r["sampling"]["error"] for r in runs) / len(runs)
            error = max(abs(r["cycles"] / exact["cycles"] - 1) for r in runs)
            sampled = sum(c for r in runs for c in r["sampling"]["launch_cycles"].values())
            really = sum(true_cycles[int(n)] for r in runs for n in r["sampling"]["launch_cycles"])
            state = sampled / really - 1
            worst_state = max(worst_state, abs(state))
            print(f"| `{program}` | {len(true_cycles)} | {configuration} | {fewer:.1f} x | {100 * half:.2f} | "
                  f"{100 * error:.2f} | {inside['cycles']} of {len(runs)} | {100 * state:+.2f} |", flush=True)
    print()
    for name, n in inside_all.items():
        print(f"{name}: the true value is inside the interval in {n} of {cases} cases")
    print(f"largest bias of sampled launches against the same launches in the whole run: {100 * worst_state:.2f} %")
    return 0 if inside_all["cycles"] >= 0.95 * cases else 1


if __name__ == "__main__":
    sys.exit(main())
