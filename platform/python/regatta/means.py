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


def pareto(points: Sequence[Tuple[float, float]]) -> List[int]:
    """Indices, by growing x, of the points that no other point equals or beats in both (less is better)."""
    best = math.inf
    front = []
    for i in sorted(range(len(points)), key=lambda i: (points[i], i)):
        if points[i][1] < best:
            best = points[i][1]
            front.append(i)
    return front
