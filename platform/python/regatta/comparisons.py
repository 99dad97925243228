# SPDX-License-Identifier: Apache-2.0
"""Runs against the first of them, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Union

from . import compare_text
from .comparison import compare as compare_two
from .statistics import InputError, Run, load, runs_frame

if TYPE_CHECKING:
    from .frames import DataFrame


class Comparison:
    """Runs against the first of them (regatta-compare). str() is the text that regatta-compare prints.

    `runs`: the first is A. `documents`: one per other run, as `regatta-compare --json` writes them.
    """

    def __init__(self, runs: List[Run], rows: int):
        self.runs = runs
        self.documents: List[Dict[str, Any]] = [compare_two(runs[0], other, rows) for other in runs[1:]]

    def __str__(self) -> str:
        return "\n".join(compare_text.text(d) for d in self.documents)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        """In a notebook: the verdicts."""
        import html
        parts = [f"<p><b>{html.escape(d['b']['name'])}</b> against {html.escape(d['a']['name'])}: "
                 f"{html.escape(' '.join(d['verdict']))}</p>" for d in self.documents]
        return "".join(parts)

    @property
    def verdicts(self) -> List[str]:
        """How much each run differs from the first, where, and what is to blame."""
        return [" ".join(d["verdict"]) for d in self.documents]

    def page(self) -> str:
        """One page of HTML that needs no other file, as `regatta-compare --html` writes it. Needs Jinja2."""
        from .reports.compared import of_documents
        from .reports.page import render
        return render("Comparison of runs", [of_documents(self.documents)])

    def frame(self) -> DataFrame:
        """A row per run: what was run, knobs that differ between runs that have them, totals, and `cycles_ratio` and
        `energy_ratio`, the run's over the first one's."""
        found = runs_frame(self.runs)
        for ratio, column in (("cycles_ratio", "cycles"), ("energy_ratio", "energy_nj")):
            found[ratio] = found[column] / found[column].iloc[0]
        return found

    def _rows(self, part: str, columns: List[str]) -> DataFrame:
        from .frames import frame
        return frame([[d["b"]["name"], *(row.get(c) for c in columns)] for d in self.documents for row in d[part]],
                     ["run", *columns], ["others"] if "others" in columns else [])

    def reasons_frame(self) -> DataFrame:
        """A row per run and reason: cycles of A and of the run (`a`, `b`), `more` (b - a), and `points`, that in per cent of
        A's cycles. The points of a run add up to its difference."""
        return self._rows("reasons", ["reason", "a", "b", "more", "points"])

    def lines_frame(self) -> DataFrame:
        """As reasons_frame() by kernel and source line; empty unless both runs have cpi_lines. The last row of a run may be
        the sum of the `others`, as many lines as it says."""
        return self._rows("lines", ["kernel", "source", "others", "a", "b", "more", "points"])

    def suspects_frame(self) -> DataFrame:
        """A row per run and structure that explains the difference, the likeliest first: structure, score, points."""
        return self._rows("suspects", ["structure", "score", "points"])


def compare(runs: Iterable[Union[Run, str, "os.PathLike[str]"]], rows: int = 15) -> Comparison:
    """Compares runs (or files of `regatta-sim --stats`) with the first of them.

    `rows`: of a table by line or launch; the rest is summed up in one row, so that sums stay whole. Throws InputError for
    fewer than two runs, and for files that are no statistics.
    """
    found = [r if isinstance(r, Run) else load(Path(r)) for r in runs]
    if len(found) < 2:
        raise InputError(f"compare: found {len(found)} runs, expected two or more")
    if rows < 1:
        raise InputError(f"compare: rows: found {rows}, expected 1 or more")
    return Comparison(found, rows)
