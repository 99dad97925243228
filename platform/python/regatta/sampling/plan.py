# SPDX-License-Identifier: Apache-2.0
"""Which launches to simulate: a first sample, then more of the strata that the interval depends on most."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Sequence

from .estimate import Estimate, estimate, half_width, pooled_squares
from .population import Launch
from .strata import Stratum, stratify

# Fraction of the budget that the first sample may take; the rest goes where the first sample shows the need.
_FIRST = 0.75
_STAGES = 8
# An interval with fewer degrees of freedom does not end the sampling, however short it is by luck.
LEAST_FREEDOM = 4.0
# A launch is added only if it lowers the variance by this fraction.
_LEAST_GAIN = 0.002


@dataclass(frozen=True)
class Settings:
    error: float = 0.05  # wanted: half the interval's width over the estimate
    budget: float = 0.1  # of the program's warp instructions, at most
    confidence: float = 0.95
    allowance: float = 0.0
    seed: int = 0


class Sample:
    """The strata with their launches in random order, of which the first ones are simulated."""

    def __init__(self, launches: Sequence[Launch], settings: Settings):
        self.launches = launches
        self.settings = settings
        self.limit = settings.budget * sum(launch.cost for launch in launches)
        self.strata: List[Stratum] = stratify(launches, _FIRST * self.limit)
        self._counts = [len(s.members) if s.certain else 2 for s in self.strata]
        self._orders = [self._order(s, n) for n, s in enumerate(self.strata)]

    def _order(self, stratum: Stratum, number: int) -> List[int]:
        order = list(stratum.members)
        random.Random(f"{self.settings.seed} {number}").shuffle(order)
        return order

    def numbers(self) -> List[int]:
        """Launches to simulate, ascending."""
        return sorted(i for order, count in zip(self._orders, self._counts) for i in order[:count])

    def cost(self) -> float:
        return sum(self.launches[i].cost for i in self.numbers())

    def is_everything(self) -> bool:
        return all(count == len(s.members) for count, s in zip(self._counts, self.strata))

    def grow(self, found: Estimate) -> bool:
        """Adds launches, each where it lowers the variance most for its cost, until the interval would be as wanted or
        the budget is used up. False: nothing could be added."""
        s = self.settings
        # Not by each stratum's own deviation: the few launches of a stratum show it badly, and a sample that is larger
        # where it happened to be large would look more certain than it is.
        squares = pooled_squares(found.parts)
        skipped = len(self.launches) - len(self.numbers())
        wanted = abs(found.total) * (s.error - s.allowance * skipped / len(self.launches))
        spent, added = self.cost(), False
        while True:
            # A tenth in reserve: the deviations that follow may be larger.
            half, freedom = half_width(found.parts, s.confidence, True, self._counts)
            if added and half <= 0.9 * wanted and freedom >= LEAST_FREEDOM:
                return True
            variances = [p.variance(q, n) for p, q, n in zip(found.parts, squares, self._counts)]
            fits = sum(variances) == 0.0
            best, where = _LEAST_GAIN * sum(variances), -1
            for i, (part, count) in enumerate(zip(found.parts, self._counts)):
                if count == len(self._orders[i]):
                    continue
                # Without a deviation so far: where most could be hidden.
                gain = (len(self._orders[i]) - count) * part.cost if fits else \
                    variances[i] - part.variance(squares[i], count + 1)
                if spent + self.launches[self._orders[i][count]].cost <= self.limit and gain > best:
                    best, where = gain, i
            if where < 0:
                return added
            spent += self.launches[self._orders[where][self._counts[where]]].cost
            self._counts[where] += 1
            added = True


@dataclass(frozen=True)
class Outcome:
    sample: Sample
    estimate: Estimate
    reached: bool  # the wanted error
    stages: int


def run(launches: Sequence[Launch], settings: Settings,
        simulate: Callable[[List[int]], Mapping[int, float]]) -> Outcome:
    """Simulates samples until the interval is short enough or the budget is used up. `simulate` gets the numbers of
    launches that it did not get before, ascending, and answers the quantity that the interval is for."""
    sample = Sample(launches, settings)
    results: Dict[int, float] = {}
    stages = 0
    while True:
        results.update(simulate([n for n in sample.numbers() if n not in results]))
        stages += 1
        found = estimate(launches, sample.strata, results, settings.confidence, settings.allowance)
        reached = found.relative <= settings.error
        if (reached and found.freedom >= LEAST_FREEDOM) or stages == _STAGES or sample.is_everything() or not sample.grow(found):
            return Outcome(sample, found, reached, stages)
