#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GREENER's evaluation (V. Jatala, thesis, chapter 4), reproduced with regatta: tables, figures, README.md. See --help."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Accesses, Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import (Evaluation, always_on, base, changes, chosen, latencies, noded, nodes, of, other_machine,  # noqa: E402
                        part_base, pattern, pattern_kernel, pattern_launch, schedulers, schemes, swept, thresholds, wide_base,
                        wide_usual, with_threshold)

programs = suite.of_paper("greener")
#: Sweeps run these CTAs of every launch: four times as many as an SM holds.
part = ("--ctas", "0:64")
#: Every third kernel also runs on the other machine, and with the leakage of other technologies.
sampled = programs.kernels[::3]


def runs_of(kernel: str, small: bool) -> List[Run]:
    launch = command.launch_file(kernel, small)
    machine = ["--machine", programs.machine, "--sms", "1"]
    annotated = programs.annotate_options()
    whole, some = Trace(kernel, launch, annotated), Trace(kernel, launch, annotated + part)
    of_64_lanes = Trace(kernel, launch, annotated + ("--warp-size", "64") + part)
    runs = [Run(base, whole, tuple(machine))]
    runs += [Run(name, whole, tuple(machine + options)) for name, (_, options) in schemes.items()]
    for s in schedulers:
        runs.append(Run(of(base, s), whole, tuple(machine + ["--scheduler", s])))
        runs += [Run(of(name, s), whole, tuple(machine + ["--scheduler", s] + schemes[name][1]))
                 for name in ("greener", "sleep_reg")]
    runs.append(Run(part_base, some, tuple(machine)))
    for latency in latencies:
        wake = ["--sleep_transistors.wake_sleep", str(latency), "--sleep_transistors.wake_off", str(2 * latency)]
        runs += [Run(swept(name, latency), some, tuple(machine + schemes[name][1] + wake))
                 for name in ("greener", "sleep_reg")]
    runs += [Run(with_threshold(w), some, tuple(machine + schemes["greener"][1] + ["--greener.threshold", str(w)]))
             for w in thresholds if w != chosen]
    runs += [Run(name, some, tuple(machine + schemes[of_scheme][1] + options))
             for name, (_, of_scheme, options) in changes.items()]
    if kernel in sampled:
        amd = ["--machine", other_machine, "--sms", "1"]
        runs.append(Run(of(base, other_machine), of_64_lanes, tuple(amd)))
        runs += [Run(of(name, other_machine), of_64_lanes, tuple(amd + options)) for name, (_, options) in schemes.items()]
        for node in nodes:
            options = ["--gated.leakage_node", str(node)]
            runs.append(Run(noded(always_on, node), some, tuple(machine + ["--scheme", always_on] + options)))
            if node != nodes[-1]:  # the last is the scheme's own, as the sweep of latencies has it
                runs += [Run(noded(name, node), some, tuple(machine + schemes[name][1] + options))
                         for name in ("greener", "sleep_reg")]
    wide = Trace(kernel, launch, replace(programs, addresses=64).annotate_options() + part)
    runs += [Run(wide_base, wide, tuple(machine)), Run(wide_usual, wide, tuple(machine + schemes["greener"][1]))]
    if kernel == pattern_kernel and not small:
        runs.append(Run(pattern, some, tuple(machine), accesses=Accesses(pattern_launch)))
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
