#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RegLess's evaluation (MICRO-50, 2017), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Samples, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import Evaluation, chosen, experiment_kernels, experiments, sizes  # noqa: E402

programs = suite.of_paper("regless")
machine = ["--machine", programs.machine, "--sms", "1"]
window = ["--working-set", "100"]
shards = 4
banks = 8
sampled_kernel = "hotspot"
storage_samples = Samples(100, (("accesses", ("register_file.reads", "register_file.writes")),))
l1_samples = Samples(100, (("accesses", ("l1.accesses_register_read", "l1.accesses_register_write")),))


def trace_of(kernel: str, entries: int, small: bool) -> Trace:
    """Annotated for a staging unit of `entries`: a region takes no more than half a shard. Larger units than the one
    that the paper chooses run the code of that one."""
    entries = min(entries, chosen)
    shard = entries // shards
    return Trace(kernel, command.launch_file(kernel, small),
                 programs.annotate_options() + ("--region-registers", str(shard // 2), "--region-bank-lines",
                                                str(shard // banks)))


def runs_of(kernel: str, small: bool) -> List[Run]:
    sampled = kernel == sampled_kernel
    usual = trace_of(kernel, chosen, small)
    runs = [
        Run("baseline", usual, tuple(machine + ["--scheduler", "gto"] + window), storage_samples if sampled else None),
        Run("two_level", usual, tuple(machine + ["--scheduler", "two_level"] + window)),
        # The scheduler that the paper cites lets 8 warps of an SM be active, ours by default 8 of each scheduler.
        Run("two_level-8", usual, tuple(machine + ["--scheduler", "two_level", "--scheduler.active_warps",
                                                   str(8 // shards)] + window)),
    ]
    for entries in sizes:
        options = machine + ["--scheduler", "gto", "--scheme", "regless", "--osu.entries", str(entries)]
        trace = trace_of(kernel, entries, small)
        runs.append(Run(f"regless-{entries}", trace, tuple(options),
                        l1_samples if sampled and entries == chosen else None, may_be_refused=entries < chosen))
        if entries == chosen:
            runs.append(Run("no-compressor", trace, tuple(options + ["--compressor.enabled", "false"])))
            if kernel in experiment_kernels:
                runs += [Run(name, trace, tuple(options + more)) for name, (_, more) in experiments.items()]
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
