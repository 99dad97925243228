# SPDX-License-Identifier: Apache-2.0
"""What a paper states, and how ours compares to it.

paper.json holds {"paper": {...}, "values": [...]}. A value has an `id`, `what`, `scope`, `unit`, `where` (section,
figure or table) and one of

    "value": 75.3                        a number
    "value": 0.02, "relation": "<"       a bound: "<", "<=", ">", ">="
    "value": true                        a claim, in words of ours in `what`
    "value": ["a", "b"]                  an order, the greatest first

and, where it applies,

    "tolerance": 1.0                     how far from a stated 0 still counts as agreement, in its unit
    "change": true                       a change against something: its sign matters
    "not_compared": "..."                why there is nothing of ours to hold beside it
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from . import ReproductionError

Number = Union[int, float]
_relations = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
_keys = {"id", "what", "scope", "value", "unit", "where", "relation", "tolerance", "change", "not_compared"}


@dataclass(frozen=True)
class Stated:
    id: str
    what: str
    where: str
    value: Any
    scope: str = ""
    unit: str = ""
    relation: str = "="
    tolerance: Optional[float] = None
    change: bool = False
    not_compared: str = ""

    def text(self) -> str:
        if self.value is True:
            return "holds"
        if isinstance(self.value, list):
            return " > ".join(self.value)
        return ("" if self.relation == "=" else self.relation + " ") + with_unit(self.value, self.unit)


def with_unit(value: Number, unit: str, digits: int = 3) -> str:
    return f"{number(value, digits)} {unit}".strip()


def number(value: Number, digits: int = 3) -> str:
    """A number to `digits` significant places, without an exponent; whole numbers beyond that in full."""
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:.10f}".rstrip("0").rstrip(".")
        if text in ("0", "-0", ""):
            return f"{value:.1e}"
        lead = f"{value:.{digits - 1}e}"
        places = digits - 1 - int(lead.split("e")[1])
        text = f"{value:.{places}f}"
    return text


class Paper:
    def __init__(self, path: Path):
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as e:
            raise ReproductionError(f"cannot read '{path}': {e.strerror}") from e
        except json.JSONDecodeError as e:
            raise ReproductionError(f"{path}: {e}") from e
        self.about: Dict[str, str] = document["paper"]
        self.values: Dict[str, Stated] = {}
        for entry in document["values"]:
            name = entry.get("id", "?")
            unknown = sorted(set(entry) - _keys)
            lacking = sorted({"id", "what", "where", "value"} - set(entry))
            if unknown or lacking:
                raise ReproductionError(f"{path}: value {name}: " + (f"unknown key '{unknown[0]}'" if unknown else
                                                                     f"'{lacking[0]}' is missing"))
            if entry.get("relation", "=") not in ("=", *_relations):
                raise ReproductionError(f"{path}: value {name}: found relation '{entry['relation']}', expected =, <, "
                                        f"<=, > or >=")
            if name in self.values:
                raise ReproductionError(f"{path}: two values are called {name}")
            stated = Stated(**entry)
            if (isinstance(stated.value, (int, float)) and not isinstance(stated.value, bool) and stated.value == 0
                    and stated.relation == "=" and stated.tolerance is None and not stated.not_compared):
                raise ReproductionError(f"{path}: value {name} is 0: say what still counts as that (tolerance)")
            self.values[name] = stated


@dataclass(frozen=True)
class Comparison:
    """A stated value and ours: a number, True or False for a claim, names by falling value for an order."""
    stated: Stated
    ours: Any
    note: str = ""
    difference: str = field(init=False, default="")  # empty: none that has to be explained

    def __post_init__(self):
        object.__setattr__(self, "difference", difference(self.stated, self.ours))

    def ours_text(self) -> str:
        if isinstance(self.ours, bool):
            return "holds" if self.ours else "does not hold"
        if isinstance(self.ours, (list, tuple)):
            return " > ".join(self.ours)
        return with_unit(self.ours, self.stated.unit)

    def verdict(self) -> str:
        if self.difference:
            return self.difference
        stated = self.stated
        if isinstance(stated.value, (bool, list)) or stated.relation != "=" or stated.value == 0:
            return "agrees"
        return f"agrees ({100 * (self.ours / stated.value - 1):+.0f} %)"


def difference(stated: Stated, ours: Any) -> str:
    """In which way ours differs in sign, order or by more than a quarter; empty when it does not."""
    v = stated.value
    if isinstance(v, bool):
        if not isinstance(ours, bool):
            raise ReproductionError(f"{stated.id} is a claim: ours must be true or false, found {ours!r}")
        return "" if ours == v else "does not hold"
    if isinstance(v, list):
        if sorted(ours) != sorted(v):
            raise ReproductionError(f"{stated.id} orders {', '.join(v)}; ours orders {', '.join(ours)}")
        return "" if list(ours) == v else "another order"
    if isinstance(ours, bool) or not isinstance(ours, (int, float)):
        raise ReproductionError(f"{stated.id} is a number: found {ours!r}")
    if stated.relation != "=":
        return "" if _relations[stated.relation](ours, v) else "beyond the bound"
    if v == 0:
        return "" if abs(ours) <= stated.tolerance else "not 0"
    if stated.change and ours * v < 0:
        return "another sign"
    share = ours / v - 1
    if abs(share) <= 0.25:
        return ""
    return f"{100 * share:+.0f} %" if abs(share) < 3 else f"{number(ours / v, 2)} times"


class Comparisons:
    """All of a page, in the order in which they were made; each stated value is compared or says why not."""

    def __init__(self, paper: Paper):
        self.paper = paper
        self.all: Dict[str, Comparison] = {}

    def add(self, value_id: str, ours: Any, note: str = "") -> None:
        if value_id not in self.paper.values:
            raise ReproductionError(f"the paper's file has no value {value_id}")
        stated = self.paper.values[value_id]
        if stated.not_compared:
            raise ReproductionError(f"{value_id} is said not to be compared, and is")
        if value_id in self.all:
            raise ReproductionError(f"{value_id} is compared twice")
        self.all[value_id] = Comparison(stated, ours, note)

    def forgotten(self) -> List[str]:
        """Stated values that nothing was held beside and that do not say why."""
        return [v.id for v in self.paper.values.values() if not v.not_compared and v.id not in self.all]

    def different(self, ids: Optional[Sequence[str]] = None) -> List[Comparison]:
        return [c for c in self.all.values() if c.difference and (ids is None or c.stated.id in ids)]
