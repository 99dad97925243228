# SPDX-License-Identifier: Apache-2.0
"""The data of a study's figures, as tables that all of them share: `values`, a row per program and point; `references`, a row
per program; `points`, the values of the dimensions; `fronts`, the points that no other point beats.

Dimensions are columns d0, d1, ..., results r0, r1, ..., with repetitions their least and most r0_lo, r0_hi, and references
ref_r0, ref_r1, ...
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from .study_data import PRODUCT, Dimension, Result
from .study_values import ALL, Values, rounded

# So many results are offered against each other.
_MOST_IN_FRONTS = 8
# Numbers of all rows together, and rows: a page of a few megabytes.
_MOST_NUMBERS = 120_000
_MOST_ROWS = 40_000


class Names:
    """Columns of the shared tables, and what of the study they hold. `left_out`: results, and `left_out_programs`, that would
    make them too large."""

    def __init__(self, values: Values):
        self.values = values
        self.dimensions = values.study.varied
        self.groups = values.groups[:max(1, _MOST_ROWS // len(values.study.points))]
        self.left_out_programs = len(values.groups) - len(self.groups)
        self.repeated = values.study.repetitions > 1
        every = values.varying()
        rows = len(self.groups) * len(values.study.points) * (3 if self.repeated else 1)
        self.results = every[:max(3, _MOST_NUMBERS // max(1, rows))]
        self.left_out = len(every) - len(self.results)

    @property
    def programs(self) -> list[str]:
        return [g for g in self.groups if g != ALL]

    def of_dimension(self, d: Dimension) -> str:
        return f"d{self.dimensions.index(d)}"

    def of_result(self, r: Result) -> str:
        return f"r{self.results.index(r)}"


def tables(names: Names) -> dict[str, dict[str, Any]]:
    """The figures' data, by name: {"columns": [...], "rows": [[...]]}, as a page holds them."""
    values = names.values
    results = [(names.of_result(r), r) for r in names.results]
    columns = ["p", "g"]
    for key, _ in results:
        columns += [key, f"{key}_lo", f"{key}_hi"] if names.repeated else [key]
    rows, references = [], []
    for program in names.groups:
        references.append([program, *(rounded(values.reference(r.key, program)) for _, r in results)])
        for p in values.points:
            row: list[Any] = [p, program]
            found = False
            for _, r in results:
                spread = values.spreads(r.key, program).get(p)
                found = found or spread is not None
                numbers = spread or (None, None, None)
                row += map(rounded, numbers if names.repeated else numbers[:1])
            if found:
                rows.append(row)
    points = [[p, *(point.get(d.name) for d in names.dimensions)] for p, point in enumerate(values.study.points)]
    fronts = [[f"{names.of_result(a)}|{names.of_result(b)}|{program}|{p}", True] for a, b in pairs(names)
              for program in names.groups for p in values.front(a.key, b.key, program)]
    return {"values": {"columns": columns, "rows": rows},
            "references": {"columns": ["g", *(f"ref_{key}" for key, _ in results)], "rows": references},
            "points": {"columns": ["p", *map(names.of_dimension, names.dimensions)], "rows": points},
            "fronts": {"columns": ["key", "front"], "rows": fronts}}


def pairs(names: Names) -> list[tuple[Result, Result]]:
    """Results against each other: the first one with each other is first."""
    return list(combinations([r for r in names.results if r.key != PRODUCT][:_MOST_IN_FRONTS], 2))
