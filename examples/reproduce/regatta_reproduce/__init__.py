# SPDX-License-Identifier: Apache-2.0
"""Papers' evaluations, run again: annotate and simulate by regatta's command line, compare, plot, write a page.

What a paper's script needs is in these modules; none of them knows a paper. The simulations are made by the package regatta
(platform/python), which also has means and numbers out of stats.json.

    campaign    traces and simulations that a page asks for, and their results
    evaluation  what is asked of runs; a paper's own derives from it
    paper       what a paper states, and how ours compares to it
    marks       why a comparison does not count
    counting    how comparisons are counted, on a page and on the front page
    kept        a page's comparisons, read back from its tables
    front       the front page, made from the kept pages
    findings    hand-written explanations, each bound to the numbers that it explains
    plots       grouped bars, scatter with Pareto frontier, lines: SVG and PNG, the same bytes every time
    page        Markdown tables and a README from a template
    command     the command line that all papers' scripts share
    reproduction  a page from its parts
"""

import sys
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit(f"{Path(sys.argv[0]).name}: found Python {sys.version.split()[0]}, expected 3.11 or newer")

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "platform" / "python"))

from regatta.statistics import InputError  # noqa: E402


class ReproductionError(InputError):
    """What went wrong, as a sentence for the user."""
