#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resource sharing (V. Jatala, thesis, chapter 2), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import List, Tuple

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, alone, apart, base, base_reordered, doubled, extra_variants, file_rows, half, half_share, icache, memories, no_rule, one_sm, owf,  # noqa: E402
                        pad_apart, pad_multiplexed_release, pad_multiplexing_release, pad_release, pad_released, pad_rivals, pad_share_run, pad_shared,
                        pad_variants, programs_of, register_plan,
                        register_scratchpad_bytes, rivals, schedulers, scratchpad_bytes, share_run, shared, shares, sms, threshold,
                        unlocked, unlocked_owf, unlocked_pad, unlocked_pad_ctas, usual_share, variants, with_memory, without_barriers)

programs = suite.of_paper("register_sharing")
#: KERNEL.toml in place of the kernel's launch file: only the launches that the measured ones depend on.
launches = here / "launches"
ctas = (("ctas", "--cpi-ctas"),)
reorder = ("--reorder-registers",)


def launch_of(kernel: str, small: bool) -> Path:
    own = launches / f"{kernel}.toml"
    return own if own.exists() and not small else command.launch_file(kernel, small)


def machine(scratchpad: int, simulated: int = sms) -> Tuple[str, ...]:
    return ("--machine", programs.machine, "--sms", str(simulated), "--shared.bytes", str(scratchpad))


def trace_of(kernel: str, small: bool, registers: int = 0, *more: str) -> Trace:
    """With as many registers per thread as Table 2.1 states, no more and no fewer."""
    options: Tuple[str, ...] = ("--addresses", str(programs.addresses))
    options += ("--max-registers", str(registers), "--min-registers", str(registers)) if registers else ("--max-registers", "63")
    return Trace(kernel, launch_of(kernel, small), options + more)


def threads_of(trace: Trace, entry: str) -> int:
    return next(x.threads for x in suite.launches_of(trace.launch) if x.entry == entry)


def register_runs(kernel: str, small: bool) -> List[Run]:
    """Set-1."""
    program = next(iter(programs_of(programs, "Set-1", kernel).values()))
    plain, reordered = (trace_of(kernel, small, program.registers, *more) for more in ((), reorder))
    at = machine(register_scratchpad_bytes)
    runs = [Run(base, plain, at, tables=ctas), Run(base_reordered, reordered, at)]
    runs += [Run(name, plain, at + options) for name, (_, options) in schedulers.items()]
    runs.append(Run(doubled, plain, at + ("--register_file.registers", str(2 * file_rows))))
    runs += [Run(name, plain, at + options, tables=ctas if name == "divergence" else ()) for name, (_, options) in rivals.items()]
    most = register_plan(threads_of(plain, program.entries[0]), program.registers, usual_share).ctas
    room = at + ("--register_file.registers", str(2 * file_rows), "--sm.ctas", str(most))
    runs += [Run(unlocked, plain, room), Run(unlocked_owf, plain, room + owf)]
    for name, (_, renumbered, options) in {**variants, **extra_variants}.items():
        runs.append(Run(name, reordered if renumbered else plain, at + options, tables=ctas if name == shared else ()))
    _, _, options = variants[shared]
    runs += [Run(share_run(s), reordered, at + options + ("--register_sharing.t", threshold(s)), tables=ctas)
             for s in shares if s != usual_share]
    without_dynamic = at + extra_variants["owf-unrolled"][2]
    runs.append(Run(half, reordered, without_dynamic + ("--register_sharing.t", threshold(half_share))))
    if kernel in without_barriers:
        runs.append(Run(no_rule, reordered, without_dynamic + ("--register_sharing.deadlock_rule", "false")))
    single = machine(register_scratchpad_bytes, 1)
    runs += [Run(alone(name), reordered if "--scheme" in options else plain, single + options) for name, options in one_sm.items()]
    for memory, (_, larger) in memories.items():
        runs += [Run(with_memory(base, memory), plain, at + larger), Run(with_memory(shared, memory), reordered, at + options + larger)]
    return runs


def scratchpad_runs(kernel: str, small: bool) -> List[Run]:
    """Set-2. The values of shared memory are checked too."""
    trace = trace_of(kernel, small, 0, "--shared-values")
    at = machine(scratchpad_bytes)
    runs = [Run("pad-baseline", trace, at, tables=ctas)]
    runs += [Run(name.replace(base, "pad"), trace, at + options) for name, (_, options) in schedulers.items()]
    runs.append(Run("pad-doubled", trace, machine(2 * scratchpad_bytes)))
    for most in sorted({unlocked_pad_ctas(p) for p in programs_of(programs, "Set-2", kernel).values()}):
        runs.append(Run(unlocked_pad(most), trace, machine(2 * scratchpad_bytes) + ("--sm.ctas", str(most))))
    runs += [Run(with_memory("pad-baseline", memory), trace, at + larger) for memory, (_, larger) in memories.items()]
    runs += [Run(name, trace, at + options, tables=ctas if name == pad_shared else ()) for name, (_, options) in pad_variants.items()]
    laid_out = trace_of(kernel, small, 0, "--shared-values", "--scratchpad-layout", threshold(usual_share))
    runs.append(Run(pad_released, laid_out, at + pad_release + owf))
    runs += [Run(name, trace, at + options) for name, (_, options) in pad_rivals.items()]
    runs.append(Run(pad_multiplexed_release, laid_out, at + pad_multiplexing_release))
    _, options = pad_variants[pad_shared]
    runs += [Run(pad_share_run(s), trace, at + options + ("--scratchpad_sharing.t", threshold(s)), tables=ctas)
             for s in shares if s != usual_share]
    runs += [Run(with_memory(pad_shared, memory), trace, at + options + larger) for memory, (_, larger) in memories.items()]
    runs += [Run("pad-baseline-icache", trace, at + icache), Run("pad-shared-icache", trace, at + options + icache)]
    return runs


def other_runs(kernel: str, small: bool) -> List[Run]:
    """Set-3."""
    traces = {False: trace_of(kernel, small), True: trace_of(kernel, small, 0, *reorder)}
    runs = [Run(name, traces[renumbered], machine(register_scratchpad_bytes) + options)
            for name, (_, renumbered, options) in apart.items()]
    runs += [Run(name, traces[False], machine(scratchpad_bytes) + options) for name, (_, options) in pad_apart.items()]
    return runs


def runs_of(kernel: str, small: bool) -> List[Run]:
    runs: List[Run] = []
    for of_set, make in (("Set-1", register_runs), ("Set-2", scratchpad_runs), ("Set-3", other_runs)):
        if programs_of(programs, of_set, kernel):
            runs += make(kernel, small)
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
