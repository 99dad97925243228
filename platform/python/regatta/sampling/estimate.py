# SPDX-License-Identifier: Apache-2.0
"""The total of a quantity over all launches from those of a stratified sample, with its interval.

A pure function of the launches, their strata and the sampled values. Of each kernel, a regression on what is known of
all launches (warp instructions, requests to global memory) predicts every launch; the mean deviation of the sampled
launches of a stratum corrects the predictions of its others. The estimate is right on average for any model, since the
launches were drawn at random; a model that fits makes the interval short. Särndal, Swensson, Wretman: Model Assisted
Survey Sampling, 1992, chapters 6 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .population import Launch
from .strata import Stratum
from .student import two_sided

Regressors = Callable[[Launch], List[float]]
_MODELS: Tuple[Tuple[str, Regressors], ...] = (
    ("mean", lambda u: [1.0]),
    ("warp instructions", lambda u: [u.cost]),
    ("constant + warp instructions", lambda u: [1.0, u.cost]),
    ("constant + requests", lambda u: [1.0, u.size["requests"]]),
    ("constant + warp instructions + requests", lambda u: [1.0, u.cost, u.size["requests"]]),
)
# A further regressor must lower the squared deviations by this factor, or it only fits the sample.
_GAIN = 0.8


@dataclass(frozen=True)
class Part:
    """A stratum's contribution."""

    stratum: Stratum
    simulated: int
    total: float
    squared: float  # deviation of a launch from the model, squared, on average; 0 if all are simulated
    cost: float  # of a launch, on average

    def variance(self, squared: float, simulated: int) -> float:
        """Of `total`, if so many launches were simulated and deviate so much."""
        members = len(self.stratum.members)
        return members * (members - simulated) * squared / simulated


@dataclass(frozen=True)
class Estimate:
    total: float
    half_width: float  # of the interval
    sampling: float  # the part of it that is due to sampling; the rest is the allowance
    freedom: float  # degrees of freedom; infinite if all launches are simulated
    parts: Tuple[Part, ...]
    models: Mapping[int, str]  # by kernel

    @property
    def interval(self) -> Tuple[float, float]:
        return self.total - self.half_width, self.total + self.half_width

    @property
    def relative(self) -> float:
        """Half the width over the total."""
        return 0.0 if self.half_width == 0 else math.inf if self.total == 0 else self.half_width / abs(self.total)


def _inverse(matrix: List[List[float]]) -> Optional[List[List[float]]]:
    n = len(matrix)
    rows = [list(row) + [float(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        if abs(rows[pivot][i]) < 1e-10:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


class _Fit:
    """Least squares, weighted by 1 / cost; `loss`: squared deviations of launches left out of the fit."""

    def __init__(self, sample: Sequence[Launch], values: Sequence[float], regressors: Regressors):
        rows = [regressors(u) for u in sample]
        self._scale = [max(abs(row[j]) for row in rows) or 1.0 for j in range(len(rows[0]))]
        self._regressors = regressors
        rows = [self._scaled(u) for u in sample]
        mean = sum(u.cost for u in sample) / len(sample)
        weights = [mean / u.cost for u in sample]
        size = len(rows[0])
        inverse = _inverse([[sum(w * r[i] * r[j] for w, r in zip(weights, rows)) / len(rows) for j in range(size)]
                            for i in range(size)])
        self.usable = inverse is not None and len(rows) > size
        if inverse is None:
            return
        moments = [sum(w * r[i] * y for w, r, y in zip(weights, rows, values)) / len(rows) for i in range(size)]
        self._slopes = [sum(a * m for a, m in zip(row, moments)) for row in inverse]
        leverage = [w * sum(r[i] * inverse[i][j] * r[j] for i in range(size) for j in range(size)) / len(rows)
                    for w, r in zip(weights, rows)]
        residuals = [y - self.predict(u) for u, y in zip(sample, values)]
        self.usable = self.usable and max(leverage) < 1 - 1e-9
        self.loss = sum(w * (e / max(1 - h, 1e-9)) ** 2 for w, e, h in zip(weights, residuals, leverage))
        # Deviations of the sample are smaller than those of other launches, since the model was fitted to it.
        self.deviations = [e / max(1 - h, 1e-9) for e, h in zip(residuals, leverage)]

    def _scaled(self, u: Launch) -> List[float]:
        return [v / s for v, s in zip(self._regressors(u), self._scale)]

    def predict(self, u: Launch) -> float:
        return sum(a * v for a, v in zip(self._slopes, self._scaled(u)))


def _best(sample: Sequence[Launch], values: Sequence[float]) -> Tuple[str, _Fit]:
    """The model with the least squared deviation of launches that were left out, the simplest unless others are
    clearly better. With one launch: proportional to its instructions."""
    name, fit = _MODELS[1][0], _Fit(sample, values, _MODELS[1][1])
    if not fit.usable:
        return name, fit
    best_loss = fit.loss
    for other, regressors in _MODELS:
        trial = _Fit(sample, values, regressors)
        if trial.usable and len(sample) >= 3 * len(regressors(sample[0])) and trial.loss < _GAIN * best_loss:
            name, fit, best_loss = other, trial, trial.loss
    return name, fit


def pooled_squares(parts: Sequence[Part]) -> List[float]:
    """Per part, the squared deviation if that of all parts of a kernel is the same per cost."""
    sums: Dict[int, List[float]] = {}
    for p in parts:
        if p.simulated < len(p.stratum.members):
            pool = sums.setdefault(p.stratum.kernel_index, [0.0, 0.0])
            pool[0] += (p.simulated - 1) * p.squared / p.cost
            pool[1] += p.simulated - 1
    pools = {k: s / n for k, (s, n) in sums.items()}
    return [pools.get(p.stratum.kernel_index, 0.0) * p.cost for p in parts]


def half_width(parts: Sequence[Part], confidence: float, pooled: bool,
               simulated: Optional[Sequence[int]] = None) -> Tuple[float, float]:
    """Of the interval, and its degrees of freedom by Satterthwaite: a variance per stratum, or one per kernel (`pooled`).
    `simulated`: if so many launches of each part were."""
    counts = [p.simulated for p in parts] if simulated is None else simulated
    squares = pooled_squares(parts) if pooled else [p.squared for p in parts]
    groups: Dict[object, List[float]] = {}
    for i, (p, square, n) in enumerate(zip(parts, squares, counts)):
        if n < len(p.stratum.members):
            group = groups.setdefault(p.stratum.kernel_index if pooled else ("part", i), [0.0, 0.0])
            group[0] += p.variance(square, n)
            group[1] += n - 1
    variance = sum(v for v, _ in groups.values())
    if variance == 0.0:
        # Launches that all fit the model may do so by luck, if they are few.
        return 0.0, sum(f for _, f in groups.values()) if groups else math.inf
    freedom = variance ** 2 / sum(v * v / f for v, f in groups.values())
    return two_sided(confidence, freedom) * math.sqrt(variance), freedom


def estimate(launches: Sequence[Launch], strata: Sequence[Stratum], results: Mapping[int, float],
             confidence: float = 0.95, allowance: float = 0.0) -> Estimate:
    """`results`: the quantity of each simulated launch. `allowance`: a fraction of the estimate by which the interval is
    widened on both sides for what is not due to sampling, in proportion to the launches that were not simulated.
    Every stratum needs two simulated launches, or all of its own."""
    by_kernel: Dict[int, List[int]] = {}
    for s in strata:
        by_kernel.setdefault(s.kernel_index, []).extend(n for n in s.members if n in results)
    models: Dict[int, str] = {}
    fits: Dict[int, _Fit] = {}
    deviations: Dict[int, float] = {}
    for k, numbers in by_kernel.items():
        sample = [launches[n] for n in numbers]
        if not sample:
            raise ValueError(f"no launch of kernel {k} is sampled")
        models[k], fits[k] = _best(sample, [results[n] for n in numbers])
        deviations.update(zip(numbers, fits[k].deviations))
    parts = []
    for s in strata:
        inside = [n for n in s.members if n in results]
        rest = [n for n in s.members if n not in results]
        total = sum(results[n] for n in inside)
        if not rest:
            parts.append(Part(s, len(inside), total, 0.0, 1.0))
            continue
        if len(inside) < 2:
            raise ValueError(f"stratum {s.kernel} {s.cluster}: {len(inside)} of {len(s.members)} launches are sampled")
        fit = fits[s.kernel_index]
        error = sum(results[n] - fit.predict(launches[n]) for n in inside) / len(inside)
        total += sum(fit.predict(launches[n]) for n in rest) + len(rest) * error
        mean = sum(deviations[n] for n in inside) / len(inside)
        squared = sum((deviations[n] - mean) ** 2 for n in inside) / (len(inside) - 1)
        cost = sum(launches[n].cost for n in s.members) / len(s.members)
        parts.append(Part(s, len(inside), total, squared, cost))
    total = sum(p.total for p in parts)
    sampling, freedom = max(half_width(parts, confidence, pooled) for pooled in (False, True))
    skipped = sum(len(p.stratum.members) - p.simulated for p in parts)
    everything = sum(len(p.stratum.members) for p in parts)
    half = sampling + allowance * abs(total) * skipped / everything
    return Estimate(total, half, sampling, freedom, tuple(parts), models)
