#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""WIR's evaluation (Kim, Ro), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, base, delays, experiments, flat_kernels, long_kernels, long_usual, models, part_base,  # noqa: E402
                        part_usual, reuse_sizes, signature_sizes, swept, usual, verify_sizes, wide_base, wide_usual)

programs = suite.of_paper("wir")
machine = ["--machine", programs.machine, "--sms", "1"]
#: Sweeps run these CTAs of every launch: four times as many as an SM holds.
part = ("--ctas", "0:32")
#: The first fourteen benchmarks of Table I run in part, with addresses of both sizes; every second of them runs through all sweeps
#: and single changes.
part_kernels = programs.kernels[:14]
swept_kernels = part_kernels[::2]


def sweeps_of(trace: Trace) -> List[Run]:
    runs = []

    def sweep(name: str, *options: str, model: str = usual) -> None:
        runs.append(Run(name, trace, tuple(machine + ["--scheme", "wir", "--wir.model", model, *options])))
    sweep("part-rlp", model="rlp")
    sweep("part-rl", model="rl")
    sweep("rl-512", "--reuse_buffer.entries", "512", model="rl")
    for kind, knob, sizes in (("vsb", "vsb.entries", signature_sizes),
                              ("rb", "reuse_buffer.entries", reuse_sizes), ("d", "wir.delay", delays),
                              ("vc", "verify_cache.entries", verify_sizes)):
        for size in sizes:
            if swept(kind, size).startswith(f"{kind}-"):
                sweep(swept(kind, size), "--" + knob, str(size))
    for name, (_, options) in experiments.items():
        sweep(name, *options)
    return runs


def runs_of(kernel: str, small: bool) -> List[Run]:
    launch = command.launch_file(kernel, small)
    annotated = programs.annotate_options()
    whole = Trace(kernel, launch, annotated)
    runs = [Run(base, whole, tuple(machine))]
    for model in models:
        options = machine + ["--scheme", "wir", "--wir.model", model]
        runs.append(Run(model, whole, tuple(options + (["--wir.repeats", "true"] if model == usual else []))))
    some = Trace(kernel, launch, annotated + part)
    reuses = tuple(machine + ["--scheme", "wir", "--wir.repeats", "true"])
    if kernel in part_kernels or kernel in flat_kernels:
        runs += [Run(part_base, some, tuple(machine)),
                 Run(part_usual, some, tuple(machine + ["--scheme", "wir", "--wir.model", usual, "--wir.repeats", "true"]))]
    if kernel in swept_kernels:
        runs += sweeps_of(some)
    if kernel in long_kernels:
        runs.append(Run(long_usual, some, tuple(machine + ["--scheme", "wir", "--wir.model", usual, "--wir.barrier_bits", "8"])))
    if kernel in part_kernels:
        wide = Trace(kernel, launch, replace(programs, addresses=64).annotate_options() + part)
        runs += [Run(wide_base, wide, tuple(machine)), Run(wide_usual, wide, reuses)]
    if kernel in flat_kernels and not small:
        others = {"flat": here / "flat" / f"{kernel}.toml", "uniform": command.kernels_folder / kernel / "launch.uniform.toml"}
        runs += [Run(which, Trace(kernel, other, annotated + part), reuses) for which, other in others.items() if other.is_file()]
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
