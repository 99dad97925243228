#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All schemes of register storage on one suite, ranked by run time, energy and capacity: tables, figures, README.md. See
--help."""

import sys
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import Evaluation, annotated, changes, programs, schemes, seven  # noqa: E402

machine = ("--machine", programs.machine, "--sms", "1")


def runs_of(kernel: str, small: bool) -> List[Run]:
    launch = command.launch_file(kernel, small)
    traces = {name: Trace(kernel, launch, programs.annotate_options() + options) for name, options in annotated.items()}
    some = kernel in seven
    runs = [Run(name, traces[s.trace], machine + s.options, may_be_refused=s.may_be_refused)
            for name, s in schemes.items() if some or not s.some]
    if some:
        runs += [Run(name, traces[trace], machine + options) for name, (_, _, options, trace) in changes.items()]
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
