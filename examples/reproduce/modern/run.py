#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ideas of register storage on a modern SM: each on the machine of its paper, on h100 and on h100 with collectors, with the same
programs. Tables, a figure, README.md. See --help."""

import sys
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import Evaluation, baseline_names, everywhere, scheme_name  # noqa: E402
from ideas import programs  # noqa: E402


def runs_of(kernel: str, small: bool) -> List[Run]:
    launch = command.launch_file(kernel, small)
    runs = [Run(name, Trace(kernel, launch, annotated), options) for (annotated, options), name in baseline_names.items()]
    for key, place in everywhere.items():
        for idea in place.ideas:
            annotated, options = place.scheme(idea)
            runs.append(Run(scheme_name(idea, key), Trace(kernel, launch, annotated), options, may_be_refused=place.may_be_refused))
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
