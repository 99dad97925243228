# SPDX-License-Identifier: Apache-2.0
"""The difference in cycles between two runs, split by kernel, launch, source line and reason, exactly."""

import difflib
from collections import defaultdict
from fractions import Fraction
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .statistics import InputError, Run, shortened


class Part(NamedTuple):
    """Cycles of one place and reason in A and in B. `launch`: (of A, of B); None: only the other run has it."""
    launch: Tuple[Optional[int], Optional[int]]
    kernel: str
    source: str
    reason: str
    a: Fraction
    b: Fraction

    @property
    def more(self) -> Fraction:
        return self.b - self.a


class Difference:
    """Of B against A. The parts add up to the difference in cycles; `residual` says what is missing, and is 0."""

    def __init__(self, a: Run, b: Run):
        self.a, self.b = a, b
        for run in (a, b):
            if run.cycles == 0:
                raise InputError(f"{run.name}: found 0 cycles, expected a run that got somewhere")
        self.by_line = a.has_lines and b.has_lines
        to_a, to_b = _matched(a, b)
        cells: Dict[Tuple[Any, str, str, str], List[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
        for side, run, to in ((0, a, to_a), (1, b, to_b)):
            for cell, cycles in run.cells(self.by_line):
                cells[(to[cell.launch], cell.kernel, cell.source, cell.reason)][side] += cycles
        short = shortened({source for _, _, source, _ in cells})
        self.parts = [Part(launch, kernel, short[source], reason, x, y)
                      for (launch, kernel, source, reason), (x, y) in cells.items()]
        self.residual = Fraction(b.cycles - a.cycles) - sum((p.more for p in self.parts), Fraction(0))

    @property
    def more(self) -> int:
        return self.b.cycles - self.a.cycles

    def points(self, cycles: Fraction) -> float:
        """In per cent of A's cycles."""
        return float(100 * cycles / self.a.cycles)

    def grouped(self, *fields: str) -> List[Tuple[Tuple[Any, ...], Fraction, Fraction]]:
        """Parts summed by some of their fields: (values, cycles of A, of B), the largest change first."""
        sums: Dict[Tuple[Any, ...], List[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
        for p in self.parts:
            both = sums[tuple(getattr(p, f) for f in fields)]
            both[0] += p.a
            both[1] += p.b
        rows = [(key, x, y) for key, (x, y) in sums.items()]
        return sorted(rows, key=lambda r: (-abs(r[2] - r[1]), str(r[0])))

    def by_reason(self) -> Dict[str, Fraction]:
        return {key[0]: y - x for key, x, y in self.grouped("reason")}


def _matched(a: Run, b: Run) -> Tuple[Dict[int, Tuple[Optional[int], Optional[int]]], ...]:
    """Launches of the same kernels in the same order belong together."""
    names = [[str(launch["kernel"]) for launch in run.document["launches"]] for run in (a, b)]
    to_a: Dict[int, Tuple[Optional[int], Optional[int]]] = {i: (i, None) for i in range(len(names[0]))}
    to_b: Dict[int, Tuple[Optional[int], Optional[int]]] = {i: (None, i) for i in range(len(names[1]))}
    if names[0] == names[1]:
        blocks = [(0, 0, len(names[0]))]
    else:
        blocks = [(m.a, m.b, m.size) for m in difflib.SequenceMatcher(None, names[0], names[1], autojunk=False)
                  .get_matching_blocks()]
    for i, j, size in blocks:
        for k in range(size):
            to_a[i + k] = to_b[j + k] = (i + k, j + k)
    return to_a, to_b
