# SPDX-License-Identifier: Apache-2.0
"""What a study's runs say together: repetitions and programs as one number, the best point, Pareto fronts, and how much a
knob matters."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Iterable, NamedTuple, Sequence

from ..idle_knobs import Measured, idle_knobs
from ..means import pareto
from .study_data import Dimension, Result, Run, Study, Value, shown

# The name of no program: names of programs begin with a letter or digit.
ALL = "(all programs)"


class Spread(NamedTuple):
    """Of the repetitions of a point."""
    mean: float
    least: float
    most: float


class Best(NamedTuple):
    """`ratio`: to the reference; None without one."""
    point: int
    value: float
    ratio: float | None
    among: int  # points with a value
    equals: int  # points with the same value, this one too


@dataclass(frozen=True)
class Matter:
    """How much a dimension changes a result. `means`: by value, the geometric mean of result over reference. `ratio`: the
    largest of them over the least. `matched`: groups of runs that differ in this dimension only, each with all its values;
    0: there is no such group, and what is averaged differs in other dimensions too."""
    dimension: str
    ratio: float
    means: dict[str, float]
    best: str
    worst: str
    matched: int


def geometric_mean(values: Sequence[float]) -> float | None:
    """None unless all are above 0."""
    if not values or min(values) <= 0:
        return None
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def rounded(value: float | None) -> int | float | None:
    """Six digits: a page shows fewer, and more would be most of its bytes."""
    if value is None:
        return None
    number = float(f"{value:.6g}")
    return int(number) if number == int(number) and abs(number) < 1e15 else number


class Values:
    """Results of a study by program and point. The program ALL is the geometric mean of all programs that have finished
    runs. A point has no value for ALL unless each of these programs has one."""

    def __init__(self, study: Study):
        self.study = study
        self._runs: dict[tuple[str, int], list[Run]] = {}
        for run in study.finished():
            self._runs.setdefault((run.program, run.point), []).append(run)
        there = {program for program, _ in self._runs}
        self.programs = [p for p in study.programs if p in there]
        self.points = range(len(study.points))
        self.references = self._references()
        self._spreads: dict[tuple[str, str], dict[int, Spread]] = {}

    def _references(self) -> dict[str, int]:
        """By program, the point that others are related to: the first one that all programs have, or its own first."""
        common = next((p for p in self.points if all((g, p) in self._runs for g in self.programs)), None)
        own = {g: next(p for p in self.points if (g, p) in self._runs) for g in self.programs}
        return own if common is None else {g: common for g in self.programs}

    @property
    def groups(self) -> list[str]:
        """What a reader can look at: all programs together, if there are several, and each."""
        return ([ALL] if len(self.programs) > 1 else []) + self.programs

    def spreads(self, result: str, program: str) -> dict[int, Spread]:
        """By point."""
        key = (result, program)
        if key not in self._spreads:
            self._spreads[key] = self._of_all(result) if program == ALL else self._of_program(result, program)
        return self._spreads[key]

    def _of_program(self, result: str, program: str) -> dict[int, Spread]:
        found = {}
        for p in self.points:
            values = [r.values[result] for r in self._runs.get((program, p), ()) if result in r.values]
            if values:
                found[p] = Spread(math.fsum(values) / len(values), min(values), max(values))
        return found

    def _of_all(self, result: str) -> dict[int, Spread]:
        """The spread is that of the geometric means of the repetitions that all programs have."""
        by_program = [self.spreads(result, g) for g in self.programs]
        found = {}
        for p in self.points:
            if not all(p in s for s in by_program):
                continue
            mean = geometric_mean([s[p].mean for s in by_program])
            if mean is None:
                continue
            by_repetition: dict[int, list[float]] = {}
            for g in self.programs:
                for r in self._runs[g, p]:
                    if result in r.values:
                        by_repetition.setdefault(r.repetition, []).append(r.values[result])
            means = [m for v in by_repetition.values() if len(v) == len(self.programs) and (m := geometric_mean(v))]
            found[p] = Spread(mean, min([mean, *means]), max([mean, *means]))
        return found

    def reference(self, result: str, program: str) -> float | None:
        """The reference's value; of ALL the geometric mean of the programs' references. None if it is 0 or missing."""
        if program == ALL:
            found = [self.reference(result, g) for g in self.programs]
            return None if None in found else geometric_mean([f for f in found if f is not None])
        spread = self.spreads(result, program).get(self.references[program])
        return spread.mean if spread is not None and spread.mean > 0 else None

    def varying(self) -> list[Result]:
        """Results that differ between points of a program; cycles and energy in any case."""
        return [r for r in self.study.results if r.key in ("cycles", "energy_nj") or
                any(len({s.mean for s in self.spreads(r.key, g).values()}) > 1 for g in self.programs)]

    def best(self, result: str, program: str, among: Callable[[int], bool] = lambda _: True) -> Best | None:
        """The first of those that are equally good, of the points `among`."""
        spreads = {p: s for p, s in self.spreads(result, program).items() if among(p)}
        if not spreads:
            return None
        more = self.study.result(result).more_is_better
        point = (max if more else min)(spreads, key=lambda p: spreads[p].mean)
        value = spreads[point].mean
        reference = self.reference(result, program)
        return Best(point, value, value / reference if reference else None, len(spreads),
                    sum(s.mean == value for s in spreads.values()))

    def front(self, first: str, second: str, program: str) -> list[int]:
        """Points that no other point beats by two results."""
        a, b = self.spreads(first, program), self.spreads(second, program)
        both = [p for p in self.points if p in a and p in b]
        more = (self.study.result(first).more_is_better, self.study.result(second).more_is_better)
        return [both[i] for i in pareto([(a[p].mean, b[p].mean) for p in both], more, equals=True)]

    def idle_knobs(self) -> list[tuple[str, str]]:
        """(knob, scheme) for knobs that change no cycles."""
        runs = []
        for run in self.study.finished():
            knobs = dict(self.study.points[run.point])
            scheme, machine = str(knobs.pop("scheme")), knobs.pop("machine")
            if "cycles" in run.values:
                runs.append(Measured(scheme, (run.program, machine, run.repetition), knobs, run.values["cycles"]))
        return idle_knobs(runs)

    def matters(self, result: str) -> list[Matter]:
        """Of the dimensions that vary, the one that moves a result most first."""
        found = [m for d in self.study.varied if (m := self._matter(result, d)) is not None]
        return sorted(found, key=lambda m: -m.ratio)

    def _matter(self, result: str, dimension: Dimension) -> Matter | None:
        """Logarithms of result over reference by value of the dimension."""
        logs = {g: {p: math.log(s.mean / reference) for p, s in self.spreads(result, g).items() if s.mean > 0}
                for g in self.programs if (reference := self.reference(result, g)) is not None}
        values = bins(dimension)
        by_value: dict[str, list[float]] = {}
        matched = 0
        for group in self._alike(dimension, values, logs):
            matched += 1
            for value, mean in group.items():
                by_value.setdefault(value, []).append(mean)
        if not matched:
            for of_program in logs.values():
                for p, log in of_program.items():
                    point = self.study.points[p]
                    if dimension.name in point:
                        by_value.setdefault(values[point[dimension.name]], []).append(log)
        means = {v: math.exp(math.fsum(by_value[v]) / len(by_value[v]))
                 for v in dict.fromkeys(values.values()) if v in by_value}
        if len(means) < 2:
            return None
        more = self.study.result(result).more_is_better
        order = sorted(means, key=lambda v: -means[v] if more else means[v])
        return Matter(dimension.name, max(means.values()) / min(means.values()), means, order[0], order[-1], matched)

    def _alike(self, dimension: Dimension, values: dict[Value, str],
               logs: dict[str, dict[int, float]]) -> Iterable[dict[str, float]]:
        """Groups of points of a program that differ in the dimension only and have all its values: the mean logarithm by
        value. A knob that some of the points do not set (as it belongs to one scheme) is averaged over."""
        setting = [p for p in self.points if dimension.name in self.study.points[p]]
        others = [d.name for d in self.study.varied
                  if d is not dimension and all(d.name in self.study.points[p] for p in setting)]
        count = len({values[self.study.points[p][dimension.name]] for p in setting if any(p in o for o in logs.values())})
        for of_program in logs.values():
            groups: dict[tuple[Value, ...], dict[str, list[float]]] = {}
            for p in setting:
                if p in of_program:
                    point = self.study.points[p]
                    group = groups.setdefault(tuple(point[d] for d in others), {})
                    group.setdefault(values[point[dimension.name]], []).append(of_program[p])
            for group in groups.values():
                if len(group) == count:
                    yield {v: math.fsum(found) / len(found) for v, found in group.items()}


# More values of a number than these are looked at as ranges.
_MOST_VALUES = 12
_RANGES = 4


def bins(dimension: Dimension) -> dict[Value, str]:
    """The text of each value; of many numbers, the range that it lies in. Each range has as many values."""
    if not dimension.numeric or len(dimension.values) <= _MOST_VALUES:
        return {v: shown(v) for v in dimension.values}
    count = len(dimension.values)
    found: dict[Value, str] = {}
    for i in range(_RANGES):
        part = dimension.values[i * count // _RANGES:(i + 1) * count // _RANGES]
        found.update({v: f"{shown(part[0])} to {shown(part[-1])}" for v in part})
    return found


_KERNEL = re.compile(r"kernel \S+: ")


class Failure(NamedTuple):
    """Failed runs with the same status and message, apart from the kernel that a message begins with. `common`: what their points
    have in common, of what varies."""
    status: int | None
    message: str
    runs: list[Run]
    common: dict[str, str]


def failures(study: Study) -> list[Failure]:
    """The most frequent first."""
    groups: dict[tuple[int | None, str], list[Run]] = {}
    for run in study.failed():
        groups.setdefault((run.status, _KERNEL.sub("", run.message, 1)), []).append(run)
    found = []
    for (status, message), runs in groups.items():
        if len({r.message for r in runs}) == 1:
            message = runs[0].message
        common = {}
        programs = {r.program for r in runs}
        if len(study.programs) > 1 and len(programs) == 1:
            common["program"] = programs.pop()
        for d in study.varied:
            values = Counter(study.points[r.point].get(d.name) for r in runs)
            if len(values) == 1 and None not in values:
                common[d.name] = shown(next(iter(values)))
        found.append(Failure(status, message, runs, common))
    return sorted(found, key=lambda f: (-len(f.runs), f.runs[0].id))
