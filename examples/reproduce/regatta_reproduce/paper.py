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
    "change": true                       a change against something: its sign matters, also of what keeps a bound
    "floor": 1                           the least that the quantity can be: distances from it are compared
    "program": "MUM"                     the program of the paper's highest or lowest number: another one's does not agree
    "headline": true                     one of the paper's first claims: the front page lists it
    "not_compared": "..."                why there is nothing of ours to hold beside it
    "formula": "..."                     a mark (marks.py): the comparison is shown, and never counts
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from . import ReproductionError, marks

Number = Union[int, float]
_relations = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
_keys = {"id", "what", "scope", "value", "unit", "where", "relation", "tolerance", "change", "floor", "program", "headline", "not_compared",
         *marks.kinds}
#: How far from the paper's number ours may be and agree, as a share of it.
allowed_share = 0.25
#: A change that is so many times as large as the paper's, or as small, does not have its sign strictly.
most_times = 4.0


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
    floor: float = 0
    program: str = ""
    headline: bool = False
    not_compared: str = ""
    mark: str = ""    # one of marks.kinds; empty: the comparison counts
    reason: str = ""  # of the mark

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value, (bool, list))

    def share(self, ours: Number) -> float:
        """Ours over the paper's number, both from the floor on."""
        return (ours - self.floor) / (self.value - self.floor)

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
            where = f"{path}: value {name}"
            mark, reason = marks.read(entry, where)
            stated = Stated(**{key: v for key, v in entry.items() if key not in marks.kinds}, mark=mark, reason=reason)
            _check(stated, where)
            self.values[name] = stated
        marks.check_duplicates(self.values, str(path))


def _check(stated: Stated, where: str) -> None:
    plain = stated.is_number and stated.relation == "="
    if plain and stated.value == 0 and stated.tolerance is None and not stated.not_compared:
        raise ReproductionError(f"{where} is 0: say what still counts as that (tolerance)")
    if stated.program and not plain:
        raise ReproductionError(f"{where}: found program '{stated.program}', expected it at a number only")
    if stated.floor and not (plain and stated.value > stated.floor):
        raise ReproductionError(f"{where}: found floor {stated.floor}, expected it at a number that is larger")
    if stated.headline and stated.not_compared:
        raise ReproductionError(f"{where}: found a headline that is not compared")


@dataclass(frozen=True)
class Comparison:
    """A stated value and ours: a number, True or False for a claim, names by falling value for an order."""
    stated: Stated
    ours: Any
    note: str = ""
    difference: str = field(init=False, default="")  # empty: none that has to be explained

    def __post_init__(self):
        object.__setattr__(self, "difference", difference(self.stated, self.ours, self.note))

    @property
    def counts(self) -> bool:
        return not self.stated.mark

    @property
    def agrees(self) -> bool:
        """Within a quarter, or a claim, an order or a bound that holds."""
        return self.counts and not self.difference

    @property
    def has_sign(self) -> bool:
        """The paper's sign or order. A level, which is no change, has no sign to miss."""
        return self.agrees or (self.counts and self._is_of_size() and self.stated.share(self.ours) > 0)

    @property
    def has_sign_strictly(self) -> bool:
        """Neither below a quarter of the paper's number nor above four times."""
        return self.agrees or (self.has_sign and 1 / most_times <= self.stated.share(self.ours) <= most_times)

    def _is_of_size(self) -> bool:
        """The difference is one of size alone: a number that is no bound, not 0, and of the paper's program."""
        s = self.stated
        return s.is_number and s.relation == "=" and s.value != 0 and self.difference not in (another_sign, another_program)

    def ours_text(self) -> str:
        if isinstance(self.ours, bool):
            return "holds" if self.ours else "does not hold"
        if isinstance(self.ours, (list, tuple)):
            return " > ".join(self.ours)
        return with_unit(self.ours, self.stated.unit)

    def verdict(self) -> str:
        """With the mark before it: what begins with `agrees` counts as agreement."""
        return (f"{self.stated.mark}: " if self.stated.mark else "") + (self.difference or self._agreement())

    def _agreement(self) -> str:
        stated = self.stated
        if not stated.is_number or stated.relation != "=" or stated.value == 0:
            return "agrees"
        return f"agrees ({100 * (stated.share(self.ours) - 1):+.0f} %)"


another_sign = "another sign"
another_program = "another program"


def difference(stated: Stated, ours: Any, program: str = "") -> str:
    """In which way ours, of a program, differs in sign, order, program or by more than a quarter; empty when it does not."""
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
    if stated.relation != "=" and not _relations[stated.relation](ours, v):
        return "beyond the bound"
    if v == 0 and stated.relation == "=":
        return "" if abs(ours) <= stated.tolerance else "not 0"
    if stated.change and ours * v < 0:
        return another_sign
    if stated.relation != "=":
        return ""
    if stated.program and program != stated.program:
        return another_program
    share = stated.share(ours) - 1
    if abs(share) <= allowed_share:
        return ""
    return f"{100 * share:+.0f} %" if abs(share) < 3 else f"{number(share + 1, 2)} times"


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
