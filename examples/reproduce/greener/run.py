#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GREENER's evaluation (V. Jatala, thesis, chapter 4), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Accesses, Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, always_on, base, changes, latencies, noded, nodes, of, part_base, pattern,  # noqa: E402
                        pattern_kernel, pattern_launch, schedulers, schemes, swept, thresholds)

programs = suite.of_paper("greener")
#: Sweeps run these CTAs of every launch: four times as many as an SM holds.
part = ("--ctas", "0:64")


def runs_of(kernel: str, small: bool) -> List[Run]:
    launch = command.launch_file(kernel, small)
    machine = ["--machine", programs.machine, "--sms", "1"]
    annotated = programs.annotate_options()
    whole, some = Trace(kernel, launch, annotated), Trace(kernel, launch, annotated + part)
    wide = Trace(kernel, launch, annotated + ("--warp-size", "64"))
    runs = [Run(base, whole, tuple(machine))]
    runs += [Run(name, whole, tuple(machine + options)) for name, (_, options) in schemes.items()]
    for s in schedulers:
        runs.append(Run(of(base, s), whole, tuple(machine + ["--scheduler", s])))
        runs += [Run(of(name, s), whole, tuple(machine + ["--scheduler", s] + schemes[name][1]))
                 for name in ("greener", "sleep_reg")]
    amd = ["--machine", "hd7770", "--sms", "1"]
    runs.append(Run(of(base, "hd7770"), wide, tuple(amd)))
    runs += [Run(of(name, "hd7770"), wide, tuple(amd + options)) for name, (_, options) in schemes.items()]
    runs.append(Run(part_base, some, tuple(machine)))
    for latency in latencies:
        wake = ["--sleep_transistors.wake_sleep", str(latency), "--sleep_transistors.wake_off", str(2 * latency)]
        runs += [Run(swept(name, latency), some, tuple(machine + schemes[name][1] + wake))
                 for name in ("greener", "sleep_reg")]
    runs += [Run(f"w-{w}", some, tuple(machine + schemes["greener"][1] + ["--greener.threshold", str(w)]))
             for w in thresholds]
    runs += [Run(name, some, tuple(machine + schemes[of_scheme][1] + options))
             for name, (_, of_scheme, options) in changes.items()]
    for node in nodes:
        options = ["--gated.leakage_node", str(node)]
        runs.append(Run(noded(always_on, node), some, tuple(machine + ["--scheme", always_on] + options)))
        if node != nodes[-1]:  # the last is the scheme's own, as the sweep of latencies has it
            runs += [Run(noded(name, node), some, tuple(machine + schemes[name][1] + options))
                     for name in ("greener", "sleep_reg")]
    if kernel == pattern_kernel:
        runs.append(Run(pattern, some, tuple(machine), accesses=Accesses(pattern_launch)))
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
