#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scratchpad sharing with the compiler's help (V. Jatala, thesis, chapter 3), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import Dict, List, Tuple

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parents[1]))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.programs import programs_of  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402
from regatta_reproduce.suite import Program  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, alternatives, apart, base, base_owf, changes_of_machine, configuration, counted, few, few_bytes,  # noqa: E402
                        limited, multiplexed, multiplexed_runs, on_machine, opt, owf, plans_of, schedulers, size_of, sms,
                        threshold, unlocked, variants, without_rounding)

programs = suite.of_paper("scratchpad")
#: In place of the kernel's launch file: smaller, or only the launches that the measured ones depend on. Chapter 2's page has some too.
launches = [here / "launches", here.parent / "launches"]
ctas = (("ctas", "--cpi-ctas"),)


def launch_of(kernel: str, small: bool) -> Path:
    own = [folder / f"{kernel}.toml" for folder in launches if (folder / f"{kernel}.toml").exists()]
    return own[0] if own and not small else command.launch_file(kernel, small)


def machine(scratchpad: int) -> Tuple[str, ...]:
    return ("--machine", programs.machine, "--sms", str(sms), "--shared.bytes", str(scratchpad)) + without_rounding


def traces_of(kernel: str, small: bool) -> Dict[bool, Trace]:
    """As compiled, and with the layout and relssp. The values of shared memory are checked too."""
    options = programs.annotate_options() + ("--shared-values",)
    return {laid_out: Trace(kernel, launch_of(kernel, small), options + (("--scratchpad-layout", threshold) if laid_out else ()))
            for laid_out in (False, True)}


def limited_runs(kernel: str, small: bool) -> List[Run]:
    """Set-1 and Set-2."""
    found: Dict[str, Program] = {n: p for s in limited for n, p in programs_of(programs, s, kernel).items()}
    if not found:
        return []
    traces = traces_of(kernel, small)
    size = size_of(next(iter(found.values())))
    at, twice = machine(size), machine(2 * size)
    runs = [Run(base, traces[False], at, tables=ctas)]
    runs += [Run(name, traces[False], at + options) for name, (_, options) in schedulers.items()]
    runs.append(Run("doubled", traces[False], twice))
    for name, (_, laid_out, options) in {**variants, **alternatives}.items():
        runs.append(Run(name, traces[laid_out], at + options, tables=ctas if name in counted else ()))
    for most in sorted({plan.ctas for plan in plans_of(found.values())}):
        room = twice + ("--sm.ctas", str(most))
        runs += [Run(unlocked(most), traces[False], room), Run(unlocked(most, base_owf), traces[False], room + owf)]
    for change, (_, options) in changes_of_machine.items():
        runs += [Run(on_machine(base, change), traces[False], at + options),
                 Run(on_machine(opt, change), traces[True], at + variants[opt][2] + options)]
    if any(n in few for n in found):
        at = machine(few_bytes(next(iter(found.values()))))
        runs += [Run("few-baseline", traces[False], at), Run("few-opt", traces[True], at + variants[opt][2])]
    return runs


def larger_runs(kernel: str, small: bool) -> List[Run]:
    """Table 3.7, on the machines of Table 3.6. Programs of the same CTA share their runs."""
    runs: Dict[str, Run] = {}
    for p in programs_of(programs, "Table 3.7", kernel).values():
        traces = traces_of(kernel, small)
        for kilobytes, options in configuration.items():
            if str(kilobytes) not in p.group:
                continue
            at = machine(size_of(p, kilobytes)) + options
            for name, trace, more in ((base, traces[False], ()), (opt, traces[True], variants[opt][2])):
                run = Run(on_machine(name, kilobytes, p), trace, at + more, tables=ctas)
                runs[run.name] = run
    return list(runs.values())


def multiplexed_programs(kernel: str, small: bool) -> List[Run]:
    """Table 3.8."""
    runs: List[Run] = []
    for p in programs_of(programs, multiplexed, kernel).values():
        traces = traces_of(kernel, small)
        runs += [Run(name, traces[laid_out], machine(size_of(p)) + options, tables=ctas)
                 for name, (_, laid_out, options) in multiplexed_runs.items()]
    return runs


def other_runs(kernel: str, small: bool) -> List[Run]:
    """Set-3."""
    if not programs_of(programs, "Set-3", kernel):
        return []
    traces = traces_of(kernel, small)
    return [Run(name, traces[laid_out], machine(16384) + options) for name, (_, laid_out, options) in apart.items()]


def runs_of(kernel: str, small: bool) -> List[Run]:
    return [r for make in (limited_runs, larger_runs, multiplexed_programs, other_runs) for r in make(kernel, small)]


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
