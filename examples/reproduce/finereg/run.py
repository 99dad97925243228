#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FineReg's evaluation (Oh et al., MICRO 2018), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import Dict, List, Tuple

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Result, Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, all_in_dram, bases, changes, concurrent, depths, enlarged, finereg, gpu_kernels,  # noqa: E402
                        gpu_resource, gpu_run, gpu_schemes, gpu_sizes, mutex_run, pools, reg_dram_run, resource,
                        resource_options, sampled_kernel, split_run, splits, unified, usual_split, virtual_thread, window)

programs = suite.of_paper("finereg")
#: KERNEL.toml in place of the kernel's launch file: more CTAs or less work. KERNEL.gpu.toml for whole GPUs: many CTAs.
launches = here / "launches"


def trace_of(kernel: str, small: bool, *more: str, whole_gpu: bool = False) -> Trace:
    own = launches / (f"{kernel}.gpu.toml" if whole_gpu else f"{kernel}.toml")
    launch = own if own.exists() and not small else command.launch_file(kernel, small)
    return Trace(kernel, launch, programs.annotate_options() + more)


def machine(name: str = programs.machine) -> Tuple[str, ...]:
    return ("--machine", name, "--sms", "1")


def gpu(sms: int) -> Tuple[str, ...]:
    """A GPU of so many SMs, whose L2 and DRAM grow with it."""
    times = sms // 16
    return ("--machine", programs.machine, "--machine.sms", str(sms), "--sms", str(sms), "--l2.partitions", str(4 * times),
            "--l2.size_bytes", str(times * 2 * 1024 * 1024), "--dram.bandwidth", str(times * 352500))


def runs_of(kernel: str, small: bool) -> List[Run]:
    trace = trace_of(kernel, small)
    one = machine()
    runs = [Run("baseline", trace, one + ("--register-use", str(window)))]
    runs += [Run(s, trace, one + ("--scheme", s)) for s in (virtual_thread, finereg)]
    runs += [Run(reg_dram_run(d), trace, one + ("--scheme", "reg_dram", "--reg_dram.ctas", str(d))) for d in depths]
    for base in bases:
        divided = trace_of(kernel, small, "--regmutex-base", str(base))
        runs += [Run(mutex_run(base, pool), divided, one + ("--scheme", "vt_regmutex", "--regmutex.pool_registers", str(pool)))
                 for pool in pools]
    runs += [Run(name, trace, one + options) for name, (_, options) in enlarged.items()]
    runs += [Run(split_run(active), trace, one + ("--scheme", finereg, "--finereg.active_registers", str(active),
                                                  "--finereg.pending_registers", str(sum(usual_split) - active)))
             for active in splits if active != usual_split[0]]
    runs += [Run(s, trace, machine("finereg_um") + ("--scheme", s)) for s in unified]
    runs += [Run(name, trace, one + options) for name, (_, options) in changes.items()]
    if kernel == sampled_kernel:
        runs.append(Run(all_in_dram, trace, one + ("--scheme", "reg_dram", "--reg_dram.ctas", "128")))
    if kernel in gpu_kernels:
        large = trace_of(kernel, small, whole_gpu=True)
        runs += [Run(gpu_run(s, n), large, gpu(n) + ("--scheme", s)) for n in gpu_sizes for s in gpu_schemes]
    return runs


def later_runs(kernel: str, small: bool, results: Dict[Tuple[str, str], Result]) -> List[Run]:
    """Baseline+Resource: as many CTAs as FineReg has had."""
    trace = trace_of(kernel, small)
    runs = [Run(resource, trace, machine() + resource_options(concurrent(results[(kernel, finereg)].stats)))]
    if kernel in gpu_kernels:
        large = trace_of(kernel, small, whole_gpu=True)
        runs += [Run(gpu_resource(n), large,
                     gpu(n) + resource_options(concurrent(results[(kernel, gpu_run(finereg, n))].stats))) for n in gpu_sizes]
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv, later_runs).run

if __name__ == "__main__":
    sys.exit(command.main(run))
