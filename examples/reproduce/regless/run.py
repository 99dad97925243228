#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RegLess's evaluation (MICRO-50, 2017), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import List, Tuple

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Samples, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
import rivals  # noqa: E402
from evaluation import (cached_base, cached_usual, chosen, experiment_kernels, experiments,  # noqa: E402
                        large_cache, part, part_base, part_largest, part_usual, sizes, slow_kernels,
                        swept_kernels, wide_base, wide_kernels, wide_usual)

programs = suite.of_paper("regless")
machine = ["--machine", programs.machine, "--sms", "1"]
window = ["--working-set", "100"]
shards = 4
banks = 8
sampled_kernel = "hotspot"
storage_samples = Samples(100, (("accesses", ("register_file.reads", "register_file.writes")),))
main_samples = Samples(100, (("accesses", rivals.main_accesses),))
l1_samples = Samples(100, (("accesses", ("l1.accesses_register_read", "l1.accesses_register_write")),))


def trace_of(kernel: str, entries: int, small: bool, addresses: Tuple[str, ...] = programs.annotate_options()) -> Trace:
    """Annotated for a staging unit of `entries`: a region takes no more than half a shard. Larger units than the one
    that the paper chooses run the code of that one. So do the rivals."""
    entries = min(entries, chosen)
    shard = entries // shards
    return Trace(kernel, command.launch_file(kernel, small),
                 addresses + ("--region-registers", str(shard // 2), "--region-bank-lines", str(shard // banks)) +
                 (rivals.annotated if entries == chosen else ()))


def rival_runs(kernel: str, trace: Trace) -> List[Run]:
    runs = [Run(name, trace, tuple(machine) + options) for name, options in rivals.runs.items()]
    runs.append(Run(rivals.by_rows, trace, tuple(machine) + rivals.by_rows_options))
    if kernel in swept_kernels:
        runs += [Run(name, trace, tuple(machine) + options) for name, (_, options) in rivals.changes.items()]
    if kernel == rivals.deep_kernel:
        deep = replace(trace, options=trace.options[:-len(rivals.annotated)] + rivals.deep_annotated)
        runs.append(Run(rivals.deep, deep, tuple(machine) + rivals.runs[rivals.rfh], main_samples))
    return runs


def runs_of(kernel: str, small: bool) -> List[Run]:
    sampled = kernel == sampled_kernel
    usual = trace_of(kernel, chosen, small)
    runs = [
        Run("baseline", usual, tuple(machine + ["--scheduler", "gto"] + window), storage_samples if sampled else None),
    ]
    # The scheduler that the paper cites lets 8 warps of an SM be active, ours by default 8 of each scheduler.
    two_level = machine + list(rivals.scheduler)
    runs.append(Run(rivals.scheduler_run, usual, tuple(two_level + window)))
    if kernel in swept_kernels:
        runs.append(Run("two_level-8", usual, tuple(two_level + ["--scheduler.active_warps", str(8 // shards)] + window)))
    runs += rival_runs(kernel, usual)
    runs.append(Run(cached_base, usual, tuple(machine + ["--scheduler", "gto"] + large_cache)))
    if kernel in wide_kernels:
        wide = trace_of(kernel, chosen, small, ())  # addresses of 64 bits
        runs += [Run(wide_base, wide, tuple(machine + ["--scheduler", "gto"])),
                 Run(wide_usual, wide, tuple(machine + ["--scheduler", "gto", "--scheme", "regless", "--osu.entries",
                                                        str(chosen)]))]
    for entries in sizes if kernel in swept_kernels else [chosen]:
        options = machine + ["--scheduler", "gto", "--scheme", "regless", "--osu.entries", str(entries)]
        trace = trace_of(kernel, entries, small)
        runs.append(Run(f"regless-{entries}", trace, tuple(options),
                        l1_samples if sampled and entries == chosen else None, may_be_refused=entries < chosen))
        if entries == chosen:
            runs.append(Run(cached_usual, trace, tuple(options + large_cache)))
            runs.append(Run("no-compressor", trace, tuple(options + ["--compressor.enabled", "false"])))
            if kernel in slow_kernels:
                some = replace(trace, options=trace.options + part)
                plain = machine + ["--scheduler", "gto"]
                runs += [Run(part_base, some, tuple(plain)),
                         Run(part_largest, some, tuple(plain + ["--scheme", "regless", "--osu.entries", str(sizes[-1])]))]
                runs.append(Run(part_usual, some, tuple(options)))
                if kernel in experiment_kernels:
                    runs += [Run(name, some, tuple(options + more)) for name, (_, more) in experiments.items()]
    return runs


run = Reproduction(__doc__, here, programs, runs_of, rivals.Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
