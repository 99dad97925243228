#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""WIR's evaluation (Kim, Ro), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, base, delays, experiments, flat_kernels, models, part_base, part_usual, reuse_sizes,  # noqa: E402
                        signature_sizes, swept, usual, verify_sizes)

programs = suite.of_paper("wir")
machine = ["--machine", programs.machine, "--sms", "1"]
#: Sweeps run these CTAs of every launch: four times as many as an SM holds.
part = ("--ctas", "0:32")


def runs_of(kernel: str, small: bool) -> List[Run]:
    launch = command.launch_file(kernel, small)
    annotated = programs.annotate_options()
    whole = Trace(kernel, launch, annotated)
    runs = [Run(base, whole, tuple(machine))]
    for model in models:
        options = machine + ["--scheme", "wir", "--wir.model", model]
        runs.append(Run(model, whole, tuple(options + (["--wir.repeats", "true"] if model == usual else []))))
    some = Trace(kernel, launch, annotated + part)

    def sweep(name: str, *options: str, model: str = usual) -> None:
        runs.append(Run(name, some, tuple(machine + ["--scheme", "wir", "--wir.model", model, *options])))
    runs.append(Run(part_base, some, tuple(machine)))
    sweep(part_usual, "--wir.repeats", "true")
    sweep("part-rlp", model="rlp")
    sweep("part-rl", model="rl")
    sweep("rl-512", "--reuse_buffer.entries", "512", model="rl")
    for kind, knob, sizes in (("vsb", "value_signature_buffer.entries", signature_sizes),
                              ("rb", "reuse_buffer.entries", reuse_sizes), ("d", "wir.delay", delays),
                              ("vc", "verify_cache.entries", verify_sizes)):
        for size in sizes:
            if swept(kind, size).startswith(f"{kind}-"):
                sweep(swept(kind, size), "--" + knob, str(size))
    for name, (_, options) in experiments.items():
        sweep(name, *options)
    if kernel in flat_kernels and not small:
        flat = Trace(kernel, here / "flat" / f"{kernel}.toml", annotated + part)
        runs.append(Run("flat", flat, tuple(machine + ["--scheme", "wir", "--wir.repeats", "true"])))
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
