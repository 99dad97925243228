# SPDX-License-Identifier: Apache-2.0
"""Figures that a reader changes by menus: a Vega-Lite specification, and what each choice sets in it.

A choice sets places of the specification, named by JSON pointers (RFC 6901), to values; None removes a place, except a
parameter's value. Choices are applied in the order of the menus. menus.js does the same in the page, and draws the figure again.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

Spec = dict[str, Any]


@dataclass
class Option:
    """`group`: options that belong together have the same. `note`: said below the figure while it is chosen. `best`: what a
    mark is of the points that it stands for; of the last menu that says so. "": each point has its own mark."""
    label: str
    sets: dict[str, Any]
    group: str = ""
    note: str = ""
    best: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"label": self.label, "group": self.group, "note": self.note, "best": self.best, "set": self.sets}


@dataclass
class Menu:
    """`dimension`: of a menu that fixes its value. Such a menu is hidden while a menu with `uses` has chosen the dimension:
    option i of that menu uses dimension uses[i]."""
    name: str
    label: str
    options: list[Option]
    chosen: int = 0
    dimension: str = ""
    uses: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "label": self.label, "chosen": self.chosen, "dimension": self.dimension,
                "uses": self.uses, "options": [o.as_json() for o in self.options]}


@dataclass
class Figure:
    """`dimensions`: of the points that it shows, by name; the page says what becomes of those that no menu uses."""
    spec: Spec
    menus: list[Menu]
    dimensions: list[str]

    def as_json(self) -> dict[str, Any]:
        return {"spec": self.spec, "menus": [m.as_json() for m in self.menus], "dimensions": self.dimensions}

    def chosen(self, **choices: int) -> Spec:
        """The specification with the options of these numbers, otherwise those that are chosen at first."""
        return apply(self.spec, self.menus, choices)


def apply(spec: Spec, menus: list[Menu], choices: dict[str, int]) -> Spec:
    spec = copy.deepcopy(spec)
    for menu in menus:
        for pointer, value in menu.options[choices.get(menu.name, menu.chosen)].sets.items():
            _set(spec, pointer, value)
    return spec


def _set(spec: Spec, pointer: str, value: Any) -> None:
    *path, last = pointer[1:].split("/")
    node: Any = spec
    for key in path:
        node = node[int(key) if isinstance(node, list) else key]
    if isinstance(node, list):
        node[int(last)] = copy.deepcopy(value)
    elif value is None and last != "value":
        node.pop(last, None)
    else:
        node[last] = copy.deepcopy(value)
