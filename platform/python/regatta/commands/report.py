# SPDX-License-Identifier: Apache-2.0
"""regatta-report: results of runs as one page of HTML that needs nothing else."""

import argparse
import os
import sys
from typing import Any, List, Optional

from ..statistics import InputError, load

_HELP = """\
Makes one page of HTML of what regatta-sim has written: checks, configuration, cycles by reason and by source line, counters
over time, energy. The page holds everything it needs: no network, no server; send it to others.

  regatta-annotate --launch launch.toml --out k.rgt --listing k.lst
  regatta-sim k.rgt --cpi-lines --stats k.json --sample 1000 --sample-file k.csv
  regatta-report k.json --trace k.rgt --listing k.lst --samples k.csv --out report.html

More makes the page show more: --cpi-lines gives the source lines, --sample the counters over time, --listing the annotated code.
Several runs are compared with the first: regatta-report a.json b.json --out report.html
"""

_STATUS = "Exit status: 0 done; 1 internal error; 2 bad input or usage."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="regatta-report", description=_HELP, epilog=_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stats", nargs="*", metavar="RUN.json", help="statistics of runs (regatta-sim --stats)")
    parser.add_argument("--out", required=True, metavar="R.html", help="the page to write")
    parser.add_argument("--title", metavar="TEXT", help="title of the page (default: kernel and scheme)")
    return parser


def _check_out(o: argparse.Namespace) -> None:
    for path in o.stats:
        if os.path.realpath(o.out) == os.path.realpath(path):
            raise InputError(f"--out: '{o.out}' is read too, and would be written over")


def sections(o: argparse.Namespace) -> Any:
    """Sections of the page, and the names of its runs."""
    from ..reports import summary
    from ..reports.run_data import Data, short_names
    runs = [Data(load(path), name) for path, name in zip(o.stats, short_names(o.stats))]
    return [summary.build(runs)], [r.name for r in runs]


def main(arguments: Optional[List[str]] = None) -> int:
    o = _parser().parse_args(arguments)
    try:
        from ..reports.page import write_page
        if not o.stats:
            raise InputError("found no run, expected one or more files of regatta-sim --stats")
        _check_out(o)
        found, names = sections(o)
        size = write_page(o.out, o.title or "regatta: " + names[0], found, names)
        print(f"{o.out}: {len(found)} sections, {size / 1e6:.2f} MB")
    except InputError as e:
        print(f"regatta-report: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
