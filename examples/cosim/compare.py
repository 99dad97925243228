#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py --bin FOLDER --sim PROGRAM --kernels FOLDER: small kernels with several units of RegLess's compressor.

Prints a Markdown table: run time and traffic to the L1 with the model, with regatta's RTL and with the serial matcher
of this example. FOLDER of --bin: an installed regatta's programs; PROGRAM: serial_sim. For RTL of your own, PROGRAM is
your program: name your implementations with --implementation, and say which unit they replace with --unit.
"""
import argparse
import json
import pathlib
import subprocess
import sys

KERNELS = ["sgemm", "hotspot", "srad", "pathfinder"]
# Small staging units, so that registers leave them; regions to suit.
REGIONS = ["--region-bank-lines", "4", "--region-registers", "16"]
KNOBS = ["--machine", "gtx980", "--scheme", "regless", "--osu.entries", "128"]
UNITS = {"matcher": "values matched", "expander": "values expanded"}
IMPLEMENTATIONS = [("model", "model"), ("rtl", "RTL, pipelined"), ("serial16", "serial, 16 lanes"), ("serial4", "serial, 4 lanes")]


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare.py: {' '.join(map(str, command))}\nended with status {done.returncode}, expected 0\n{done.stderr}")


def simulate(program, trace, implementation, results):
    run([program, trace, *KNOBS, "--compressor.implementation", implementation, "--stats", results])
    stats = json.loads(results.read_text())
    if stats["ending"] != "completed" or stats["checks"]["mismatches"] != 0:
        sys.exit(f"compare.py: {results}: ending {stats['ending']}, {stats['checks']['mismatches']} mismatches; expected completed, 0")
    return stats


def total(stats, module, name):
    """The sum of a counter over the modules whose path has `module` in it."""
    return sum(group.get(name, 0) for path, group in stats["stats"].items() if module in path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="regatta-annotate and regatta-sim")
    parser.add_argument("--sim", type=pathlib.Path, required=True, help="serial_sim")
    parser.add_argument("--kernels", type=pathlib.Path, required=True, help="traces/kernels of a checkout")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="for traces and results")
    parser.add_argument("--unit", choices=UNITS, default="matcher", help="of which work and waits are shown")
    parser.add_argument("--implementation", metavar="NAME", action="append", help="of PROGRAM, besides model and rtl; once for each")
    options = parser.parse_args()
    implementations = IMPLEMENTATIONS
    if options.implementation:
        implementations = IMPLEMENTATIONS[:2] + [(name, name) for name in options.implementation]
    options.out.mkdir(parents=True, exist_ok=True)
    unit = options.unit
    print(f"| kernel | {unit} | cycles | | {UNITS[unit]} | waits for the {unit}, cycles | L1 accesses for registers |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kernel in KERNELS:
        trace = options.out / f"{kernel}.rgt"
        run([options.bin / "regatta-annotate", "--launch", options.kernels / kernel / "launch.small.toml", "--out", trace, *REGIONS])
        model_cycles = None
        for name, label in implementations:
            program = options.bin / "regatta-sim" if name == "rtl" else options.sim
            stats = simulate(program, trace, name, options.out / f"{kernel}.{name}.json")
            cycles = stats["cycles"]
            model_cycles = model_cycles or cycles
            l1 = sum(total(stats, ".l1", f"accesses_register_{kind}") for kind in ("read", "write", "invalidate"))
            done = total(stats, unit, "rtl_answers")
            stalls = total(stats, unit, "rtl_request_stalls")
            of_rtl = [f"{done:,}", f"{stalls:,}"] if name != "model" else ["", ""]
            print(f"| {kernel} | {label} | {cycles:,} | {100 * cycles / model_cycles - 100:+.1f} % | {of_rtl[0]} | {of_rtl[1]} | {l1:,} |")


if __name__ == "__main__":
    main()
