# SPDX-License-Identifier: Apache-2.0
"""The points of a study's design space: a grid, a random sample, and explicit ones."""

import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import Iterator

from ..statistics import InputError
from .checks import Scalar, option_text
from .file import Study
from .knobs import MOST_RUNS

# A grid of more points is not made before a sample is drawn from it.
_COUNTED = 200_000
# Of conditions of knobs that hold together.
_MOST_STATES = 100_000


@dataclass(frozen=True)
class DesignPoint:
    scheme: str
    machine: str
    knobs: tuple[tuple[str, Scalar], ...]


def _grid(study: Study) -> Iterator[DesignPoint]:
    def expand(index: int, chosen: dict[str, Scalar]) -> Iterator[dict[str, Scalar]]:
        if index == len(study.knobs):
            yield chosen
            return
        knob = study.knobs[index]
        if not knob.applies(chosen):
            yield from expand(index + 1, chosen)
            return
        for value in knob.all_values(_COUNTED) or ():
            yield from expand(index + 1, {**chosen, knob.name: value})

    for machine in study.machines:
        for scheme in study.schemes:
            for chosen in expand(0, {"scheme": scheme, "machine": machine}):
                yield _point(chosen)


def _size(study: Study) -> float:
    """Points of the grid, without making them. Infinite: a range has more values than anybody counts."""
    # A state: the conditions of knobs that do not hold any more, as bits.
    states: Counter[int] = Counter()

    def broken(name: str, value: Scalar | None) -> int:
        return sum(1 << i for i, knob in enumerate(study.knobs) for n, values in knob.only if n == name and value not in values)

    for machine in study.machines:
        for scheme in study.schemes:
            states[broken("machine", machine) | broken("scheme", scheme)] += 1
    for index, knob in enumerate(study.knobs):
        all_values = knob.all_values(_COUNTED)
        if all_values is None:
            return math.inf
        named = any(n == knob.name for other in study.knobs for n, _ in other.only)
        kinds = Counter(broken(knob.name, v) for v in all_values) if named else Counter({0: len(all_values)})
        without = broken(knob.name, None)
        further: Counter[int] = Counter()
        for state, points_before in states.items():
            for bits, values in ({without: 1} if state >> index & 1 else kinds).items():
                further[(state | bits) >> index + 1 << index + 1] += points_before * values
        if len(further) > _MOST_STATES:
            raise InputError(f"{study.path}: knobs: found too many conditions (only) that depend on each other, expected fewer")
        states = further
    return sum(states.values())


def _point(chosen: dict[str, Scalar]) -> DesignPoint:
    knobs = tuple((k, v) for k, v in chosen.items() if k not in ("scheme", "machine"))
    return DesignPoint(str(chosen["scheme"]), str(chosen["machine"]), knobs)


def _draw(study: Study, dice: random.Random) -> DesignPoint:
    # Random.random() is the only method whose numbers Python promises to be the same in every version.
    def one_of(values: tuple[Scalar, ...]) -> Scalar:
        return values[int(dice.random() * len(values))]

    chosen: dict[str, Scalar] = {"machine": one_of(study.machines), "scheme": one_of(study.schemes)}
    for knob in study.knobs:
        if knob.applies(chosen):
            chosen[knob.name] = knob.at(dice.random()) if knob.is_range else one_of(knob.values)
    return _point(chosen)


def _sample(study: Study, count: int, seed: int) -> list[DesignPoint]:
    size = _size(study)
    if count > size:
        raise InputError(f"{study.path}: sample.count: found {count}, expected at most {size}, the points of the grid")
    if count == size:
        return list(_grid(study))
    dice = random.Random(seed)
    found: dict[tuple[str, ...], DesignPoint] = {}
    draws = 0
    while len(found) < count:
        drawn = _draw(study, dice)
        found.setdefault(_words(drawn), drawn)
        draws += 1
        if draws > 1000 * count + 1000:
            raise InputError(f"{study.path}: sample.count: found {count}, expected fewer: {draws} draws gave only "
                             f"{len(found)} different points")
    return list(found.values())


def _refuse_too_many(study: Study) -> None:
    """Before they are made, which takes memory."""
    size: float = 0
    if study.sample is not None:
        size = study.sample.count
    elif study.knobs or not study.points:
        size = _size(study)
    size += sum(len(point.machines) * len(point.schemes) for point in study.points)
    programs = sum(len(program.registers) or 1 for program in study.programs)
    runs = size * programs * study.repetitions
    if runs > MOST_RUNS:
        budgets = "programs" if programs == len(study.programs) else "programs and budgets of registers"
        factors = [(size, "points"), (programs, budgets), (study.repetitions, "repetitions")]
        product = " x ".join(f"{n:,} {what}" for n, what in factors if n > 1)
        raise InputError(f"{study.path}: found {runs:,} runs ({product}), expected at most {MOST_RUNS:,}: fewer values, or "
                         f"[sample] count = N for random points")


def points(study: Study) -> list[DesignPoint]:
    """Each once, in an order that depends on the file only."""
    _refuse_too_many(study)
    found: list[DesignPoint] = []
    if study.sample is not None:
        found += _sample(study, study.sample.count, study.sample.seed)
    elif study.knobs or not study.points:
        found += _grid(study)
    for point in study.points:
        found += [DesignPoint(scheme, machine, point.knobs) for machine in point.machines for scheme in point.schemes]
    first: dict[tuple[str, ...], DesignPoint] = {}
    for design_point in found:
        first.setdefault(_words(design_point), design_point)
    return list(first.values())


def _words(point: DesignPoint) -> tuple[str, ...]:
    """What makes it another one than others: 1, 1.0 and true are different values of a knob."""
    return (point.scheme, point.machine, *(word for k, v in point.knobs for word in (k, option_text(v))))
