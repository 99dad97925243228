# SPDX-License-Identifier: Apache-2.0
"""regatta-compare: what differs between runs, where the cycles went, and what is to blame."""

import argparse
import json
import os
import sys
from typing import List, Optional

from .. import compare_text
from ..comparison import compare
from ..files import write_or_print
from ..reports.compared import of_documents
from ..reports.page import write_page
from ..statistics import InputError, load
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
    for path in (o.json, o.html):
        if path is not None and any(os.path.realpath(path) == os.path.realpath(s) for s in o.stats):
            raise InputError(f"'{path}' is one of the runs: it would be written over")
    runs = [load(path) for path in o.stats]
    documents = [compare(runs[0], other, o.rows) for other in runs[1:]]
    if o.json is not None:
        write_or_print(o.json, json.dumps({"comparisons": documents}, indent=1) + "\n")
    if o.html is not None:
        write_page(o.html, "Comparison of runs", [of_documents(documents)])
    if o.json != "-":
        sys.stdout.write("\n".join(compare_text.text(d) for d in documents))
    return 0


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="regatta-compare", description=_HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stats", nargs="+", metavar="STATS.json", help="two or more; the first is A")
    parser.add_argument("--json", metavar="FILE", help="write the comparison as JSON; -: to the terminal, without text")
    parser.add_argument("--html", metavar="FILE", help="write it as a page")
    parser.add_argument("--rows", type=int, default=15, metavar="N", help="rows of a table (default 15)")
    o = parser.parse_args(arguments)
    return status_of("regatta-compare", lambda: _compare(o))


if __name__ == "__main__":
    sys.exit(main())
