#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The aging-aware register file's evaluation (Valero et al.), reproduced with regatta: tables, figures, README.md. See
--help."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import List

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Run, Trace  # noqa: E402
from regatta_reproduce.reproduction import Reproduction  # noqa: E402

import content  # noqa: E402
from evaluation import Evaluation, base, machines, narrow, of, schemes, unchanged, unswitched  # noqa: E402

programs = suite.of_paper("aging")
#: What the wear observer keeps by register and by bit.
tables = (("rows", "--wear.rows_file"), ("bits", "--wear.bits_file"))


def runs_of(kernel: str, small: bool) -> List[Run]:
    runs = []
    for machine, options in machines.items():
        annotated = programs.annotate_options() if machine == programs.machine else ()
        trace = Trace(kernel, command.launch_file(kernel, small), annotated + tuple(options))
        simulated = ["--machine", machine, "--sms", "1"]
        runs.append(Run(of(base, machine), trace, tuple(simulated)))
        runs.append(Run(of(unswitched, machine), trace, tuple(simulated + ["--scheme", unchanged])))
        dumped = tables if machine == "hd7770" else ()
        for name in schemes:
            options = ["--scheme", name, "--gated.unused_rows_off", "kernel", "--wear.enabled", "true"]
            runs.append(Run(of(name, machine), trace, tuple(simulated + options), tables=dumped))
            if name in narrow and machine == programs.machine:
                runs.append(Run(narrow[name], replace(trace, options=trace.options + ("--addresses", "32")),
                                tuple(simulated + options)))
    return runs


run = Reproduction(__doc__, here, programs, runs_of, Evaluation, content.fill, content.csv).run

if __name__ == "__main__":
    sys.exit(command.main(run))
