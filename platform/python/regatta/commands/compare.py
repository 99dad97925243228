# SPDX-License-Identifier: Apache-2.0
"""regatta-compare: what differs between runs, where the cycles went, and what is to blame."""

import argparse
import json
import sys
from typing import List, Optional

from .. import compare_text
from ..clashes import FileUse, refuse_clashes
from ..comparison import compare
from ..files import is_standard_output, write_or_print
from ..reports.compared import of_documents
from ..reports.page import write_page
from ..statistics import InputError, Run, load
from .arguments import Parser
from .ending import status_of

_HELP = """\
Compares runs of regatta-sim by their statistics (--stats FILE). Each run is compared with the first: what changed in the
configuration, in cycles, energy and traffic; the difference in cycles by kernel, launch, source line and reason, which adds
up to the whole; and which structure of the machine explains it best. Source lines need runs with --cpi-lines.

  regatta-sim K.rgt --cpi-lines --stats a.json
  regatta-sim K.rgt --cpi-lines --stats b.json --dram.bandwidth 50000
  regatta-compare a.json b.json
"""


def _compare(o: argparse.Namespace) -> int:
    if len(o.stats) < 2:
        raise InputError(f"found one file, '{o.stats[0]}'; expected two or more")
    if o.rows < 1:
        raise InputError(f"--rows: found {o.rows}, expected 1 or more")
    written = [FileUse("--json", o.json, True), FileUse("--html", o.html, True)]
    refuse_clashes([*written, *(FileUse("a run", path) for path in o.stats)])
    runs = [load(path) for path in o.stats]
    refuse_clashes([*written, *(FileUse(role, path) for run in runs for role, path in run.named_files())])
    documents = [compare(runs[0], other, o.rows) for other in runs[1:]]
    if o.json is not None:
        write_or_print(o.json, json.dumps({"comparisons": documents}, indent=1) + "\n")
    if o.html is not None:
        write_page(o.html, "Comparison of runs", [of_documents(documents)])
    if not any(path is not None and is_standard_output(path) for path in (o.json, o.html)):
        sys.stdout.write("\n".join(compare_text.text(d) for d in documents))
    return 0


def _parser() -> Parser:
    parser = Parser(prog="regatta-compare", description=_HELP)
    parser.add_argument("stats", nargs="+", metavar="STATS.json", help="two or more; the first is A")
    parser.add_argument("--json", metavar="FILE", help="write the comparison as JSON; -: to the terminal, without text")
    parser.add_argument("--html", metavar="FILE", help="write it as a page; -: to the terminal, without text")
    parser.add_argument("--rows", type=int, default=15, metavar="N", help="rows of a table (default 15)")
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    return status_of("regatta-compare", lambda: _compare(_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
