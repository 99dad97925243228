# SPDX-License-Identifier: Apache-2.0
"""The points of a study's design space: a grid, a random sample, and explicit ones."""

import random
from dataclasses import dataclass
from typing import Iterator

from ..statistics import InputError
from .checks import Scalar
from .file import Study

# A grid of more points is not counted before a sample is drawn from it.
_COUNTED = 200_000


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
        for value in knob.values:
            yield from expand(index + 1, {**chosen, knob.name: value})

    for machine in study.machines:
        for scheme in study.schemes:
            for chosen in expand(0, {"scheme": scheme, "machine": machine}):
                yield _point(chosen)


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
    most = len(study.machines) * len(study.schemes)
    for knob in study.knobs:
        most *= len(knob.values) or _COUNTED
    if most <= _COUNTED:
        grid = list(dict.fromkeys(_grid(study)))
        if count > len(grid):
            raise InputError(f"{study.path}: sample.count: found {count}, expected at most {len(grid)}, the points of "
                             f"the grid")
        if count == len(grid):
            return grid
    dice = random.Random(seed)
    found: dict[DesignPoint, None] = {}
    draws = 0
    while len(found) < count:
        found[_draw(study, dice)] = None
        draws += 1
        if draws > 1000 * count + 1000:
            raise InputError(f"{study.path}: sample.count: found {count}, expected fewer: {draws} draws gave only "
                             f"{len(found)} different points")
    return list(found)


def points(study: Study) -> list[DesignPoint]:
    """Each once, in an order that depends on the file only."""
    found: list[DesignPoint] = []
    if study.sample is not None:
        found += _sample(study, study.sample.count, study.sample.seed)
    elif study.knobs or not study.points:
        found += _grid(study)
    for point in study.points:
        found += [DesignPoint(scheme, machine, point.knobs) for machine in point.machines for scheme in point.schemes]
    return list(dict.fromkeys(found))
