# SPDX-License-Identifier: Apache-2.0
"""The table [knobs] of a study file: what each knob can be, and when it applies."""

import math
from dataclasses import dataclass
from typing import Any, Iterator, Sequence

from .checks import GREATEST, Scalar, Table, shown

_SHOWN = 20
_MOST_KNOBS = 200
_KEYS = ("values", "from", "to", "steps", "low", "high", "scale", "multiple_of", "only")

#: Of a study. More take all memory, and more time than anybody has.
MOST_RUNS = 100_000

# Holds if each named thing (scheme, machine, an earlier knob) has one of the values.
Condition = tuple[tuple[str, tuple[Scalar, ...]], ...]


@dataclass(frozen=True)
class Knob:
    """`values`: of a grid. A range has none: `low` to `high`, drawn at random."""
    name: str
    values: tuple[Scalar, ...] = ()
    low: float = 0
    high: float = 0
    logarithmic: bool = False
    whole: bool = False
    multiple_of: int = 1
    only: Condition = ()

    def all_values(self, most: int) -> Sequence[Scalar] | None:
        """Those of a grid, and those that can be drawn; None: more than `most`."""
        if self.values:
            return self.values
        if not self.whole or (self.high - self.low) // self.multiple_of >= most:
            return None
        return range(int(self.low), int(self.high) + 1, self.multiple_of)

    @property
    def is_range(self) -> bool:
        return not self.values

    def at(self, share: float) -> Scalar:
        """A range's value at `share`, 0 to 1, of the way from low to high."""
        return _between(self.low, self.high, share, self.logarithmic, self.whole, self.multiple_of)

    def applies(self, chosen: dict[str, Scalar]) -> bool:
        return all(chosen.get(name) in values for name, values in self.only)


def _between(low: float, high: float, share: float, logarithmic: bool, whole: bool, multiple_of: int) -> Scalar:
    value = math.exp(math.log(low) + share * (math.log(high) - math.log(low))) if logarithmic else (
        low + share * (high - low))
    if not whole:
        # 12 digits: what rounding leaves behind them would show in every table.
        return float(f"{min(max(value, low), high):.12g}")
    return min(max(multiple_of * round(value / multiple_of), int(low)), int(high))


def _flat(content: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Both "osu.entries" = ... and osu.entries = ... of TOML name the same knob."""
    for key, value in content.items():
        if isinstance(value, dict) and not (value and all(k in _KEYS for k in value)):
            if not value:
                yield prefix + key, value
            yield from _flat(value, prefix + key + ".")
        else:
            yield prefix + key, value


def named_values(table: Table) -> Iterator[tuple[str, Scalar]]:
    """Knobs with one value each, of [[points]]."""
    seen: set[str] = set()
    for name, value in _flat(table.content):
        if not isinstance(value, (int, float, str)):
            table.fail(name, shown(value), "a number, a text, true or false")
        table.usable(name, value)
        if name in seen:
            table.fail(name, "this knob twice", "each knob once")
        seen.add(name)
        yield name, value


def condition(table: Table, known: dict[str, tuple[Scalar, ...]]) -> Condition:
    """`known`: what may be named, with the values that it can have; none: any."""
    found = []
    for name, value in _flat(table.content):
        values = tuple(value) if isinstance(value, list) else (value,)
        if name not in known:
            table.fail(name, "an unknown name", "scheme, machine, or a knob above this one (" +
                       (", ".join(k for k in known if k not in ("scheme", "machine")) or "there is none") + ")")
        for v in values:
            if known[name] and v not in known[name]:
                table.unknown(name, shown(v), str(v), [k for k in known[name] if isinstance(k, str)], "one of " +
                              ", ".join(shown(k) for k in known[name][:_SHOWN]) + (" ..." if len(known[name]) > _SHOWN else ""))
        found.append((name, values))
    return tuple(found)


def _knob(table: Table, only: Condition, name: str) -> Knob:
    content = table.content
    if "values" in content:
        table.only_keys(("values", "only"))
        return Knob(name, table.scalars("values"), only=only)
    first, last = ("low", "high") if "low" in content or "high" in content else ("from", "to")
    steps_key = ("steps",) if first == "from" else ()
    table.only_keys((first, last, *steps_key, "scale", "multiple_of", "only"))
    ends = []
    for key in (first, last):
        value = content.get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not -GREATEST <= value <= GREATEST:
            table.fail(key, "nothing" if value is None else shown(value), f"a number, up to {GREATEST:.2g}")
        ends.append(value)
    low, high = ends
    scale = table.text("scale", "linear")
    if scale not in ("linear", "log"):
        table.fail("scale", shown(scale), '"linear" or "log"')
    if scale == "log" and min(low, high) <= 0:
        table.fail(first if low <= 0 else last, shown(min(low, high)), "a number above 0 on a logarithmic scale")
    if low >= high:
        table.fail(last, shown(high), f"more than {first} = {shown(low)}")
    whole = isinstance(low, int) and isinstance(high, int)
    multiple_of = table.whole("multiple_of", 1, 1)
    if multiple_of > 1 and (not whole or low % multiple_of or high % multiple_of):
        table.fail("multiple_of", shown(multiple_of), f"a number that divides {first} and {last}")
    if first == "low":
        return Knob(name, (), low, high, scale == "log", whole, multiple_of, only)
    if "steps" not in content:
        table.fail("steps", "nothing", "a number of values of at least 2")
    steps = table.whole("steps", 2, 2, MOST_RUNS)
    values = [_between(low, high, i / (steps - 1), scale == "log", whole, multiple_of) for i in range(steps)]
    # Rounding may make two steps one.
    return Knob(name, tuple(dict.fromkeys(values)), only=only)


def knobs(table: Table, schemes: tuple[str, ...], machines: tuple[str, ...]) -> tuple[Knob, ...]:
    known: dict[str, tuple[Scalar, ...]] = {"scheme": schemes, "machine": machines}
    found: list[Knob] = []
    for name, content in _flat(table.content):
        if len(found) == _MOST_KNOBS:
            table.fail("", f"more than {_MOST_KNOBS} knobs", "fewer")
        if name in ("machine", "scheme"):
            table.fail(name, "a knob", f"{name}s = [...] at the top of the file")
        if name in known:
            table.fail(name, "this knob twice", "each knob once")
        if isinstance(content, list):
            content = {"values": content}
        if not isinstance(content, dict):
            table.fail(name, shown(content), "a list of values, {from, to, steps} or {low, high}; "
                                             "a fixed value belongs to options")
        own = Table(table.file, f"knobs.{name}", content)
        only: Condition = ()
        if "only" in content:
            only = condition(Table(table.file, f"knobs.{name}.only", content["only"]), known)
        knob = _knob(own, only, name)
        known[name] = knob.values
        found.append(knob)
    return tuple(found)
