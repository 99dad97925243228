#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of traces/kernels, without those of suites of our own, in numbers, and which programs of which paper they
stand for: README.md, a figure, results.csv. Three simulations a kernel; see --help."""

import argparse
import sys
from pathlib import Path
from typing import List, Optional

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command, plots, suite  # noqa: E402
from regatta_reproduce.page import write, write_if_changed  # noqa: E402

import content  # noqa: E402
import evaluation  # noqa: E402


def _options(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = command.parser(__doc__, here)
    parser.add_argument("--from-results", action="store_true",
                        help="run nothing: make the page again from the results.csv that is kept beside it, for "
                             "example after a change of traces/suites")
    return command.checked(parser.parse_args(arguments), suite.kernels_beside_own())


def run(arguments: Optional[List[str]] = None) -> int:
    """The exit status."""
    options = _options(arguments)
    if not options.no_plots:
        plots.require()
    suites = suite.read_all()
    kept = {evaluation.Numbers: "results.csv", evaluation.EntryNumbers: "entries.csv"}
    if options.from_results:
        rows, entries = ([r for r in evaluation.read(kind, here / name) if r.kernel in options.kernels]
                         for kind, name in kept.items())
    else:
        campaign = command.campaign(options)
        launches = {k: command.launch_file(k, options.small) for k in options.kernels}
        for kernel, launch in launches.items():
            for r in evaluation.runs_of(kernel, launch):
                campaign.add(r)
        results = campaign.execute()
        rows = [evaluation.numbers_of(k, launch, results) for k, launch in launches.items()]
        entries = [e for k, launch in launches.items() for e in evaluation.entries_of(k, launch, results)]
    for kind, numbers in zip(kept, (rows, entries)):
        write_if_changed(options.out / kept[kind], evaluation.text_of(kind, numbers))
    # As they are kept: the page has the same numbers whether it is made from runs or from what is kept.
    rows, entries = (evaluation.read(kind, options.out / name) for kind, name in kept.items())
    made = content.page(rows, entries, suites, "small" if options.small else "full", not options.no_plots)
    if not options.no_plots:
        content.figures(rows, options.out / "figures")
    changed = write(options.out, made)
    print(f"{options.out / 'README.md'}: {'written' if changed else 'as it was'}")
    complaints = [f"no numbers of {k}: run this without --from-results" for k in options.kernels
                  if evaluation.of_kernel(rows, k) is None]
    complaints += made.complaints()
    complaints += [f"{r.kernel}: {r.mismatches} operands differ from the program's" for r in rows if r.mismatches]
    for c in complaints:
        print(f"  {c}", file=sys.stderr)
    return 3 if complaints and options.strict else 0


if __name__ == "__main__":
    sys.exit(command.main(run))
