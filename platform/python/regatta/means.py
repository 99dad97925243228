# SPDX-License-Identifier: Apache-2.0
"""Numbers over many runs: means, ranks, and the best of two quantities at once."""

import math
from typing import Iterable, List, Sequence, Tuple

from .statistics import InputError


def geomean(values: Iterable[float]) -> float:
    logs = []
    for v in values:
        if not v > 0:
            raise InputError(f"a geometric mean needs positive values, found {v}")
        logs.append(math.log(v))
    if not logs:
        raise InputError("a geometric mean needs values, found none")
    return math.exp(math.fsum(logs) / len(logs))


def mean(values: Iterable[float]) -> float:
    all_values = list(values)
    if not all_values:
        raise InputError("a mean needs values, found none")
    return math.fsum(all_values) / len(all_values)


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's: 1 for the same order, -1 for the opposite one. Equal values share their mean rank."""
    def ranks(values: Sequence[float]) -> List[float]:
        return [sum(u < v for u in values) + (sum(u == v for u in values) - 1) / 2 for v in values]
    if len(a) != len(b) or len(a) < 2:
        raise InputError(f"a rank correlation needs two lists of the same length, found {len(a)} and {len(b)}")
    x, y = ranks(a), ranks(b)
    centre = (len(x) - 1) / 2
    spread = math.sqrt(sum((u - centre) ** 2 for u in x) * sum((v - centre) ** 2 for v in y))
    return sum((u - centre) * (v - centre) for u, v in zip(x, y)) / spread if spread else 0.0


def pareto(points: Sequence[Tuple[float, float]], more_is_better: Tuple[bool, bool] = (False, False),
           equals: bool = False) -> List[int]:
    """Indices of the points that no other point beats: as good in both numbers, and better in one. Best in the first number
    first. Of equal points only the first one is given, or all of them (`equals`)."""
    signs = tuple(-1 if more else 1 for more in more_is_better)
    front: List[int] = []
    best = (math.inf, math.inf)  # of the front, the last point
    for a, b, i in sorted((signs[0] * a, signs[1] * b, i) for i, (a, b) in enumerate(points)):
        if b < best[1]:
            best = (a, b)
            front.append(i)
        elif equals and (a, b) == best:
            front.append(i)
    return front
