# SPDX-License-Identifier: Apache-2.0
"""Whether a stats.json has the shape that sections rely on: each message names file, place, found and expected."""

from typing import Any, Dict, Tuple

from ..statistics import InputError

_NAMES: Dict[Any, str] = {int: "a whole number", float: "a number", str: "a text", list: "a list", dict: "an object"}


def _found(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return _NAMES[type(value)]
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


class _Checker:
    def __init__(self, path: str):
        self.path = path

    def fail(self, place: str, found: str, expected: str) -> None:
        raise InputError(f"{self.path}: {place}: found {found}, expected {expected}, as regatta-sim --stats writes it")

    def kind(self, value: Any, place: str, kind: Any) -> Any:
        fits = isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))
        if not fits or (kind in (int, float) and not (value >= 0 and value < float("inf"))):
            self.fail(place, _found(value), _NAMES[kind] + (" of at least 0" if kind in (int, float) else ""))
        return value

    def key(self, of: Dict[str, Any], key: str, place: str, kind: Any) -> Any:
        if key not in of:
            self.fail(f"{place}.{key}" if place else key, "nothing", _NAMES[kind])
        return self.kind(of[key], f"{place}.{key}" if place else key, kind)

    def numbers(self, of: Any, place: str, kind: Any, skip: Tuple[str, ...] = ()) -> None:
        for name, value in self.kind(of, place, dict).items():
            if name not in skip:
                self.kind(value, f"{place}.{name}", kind)


def check(document: Dict[str, Any], path: str) -> None:
    c = _Checker(path)
    if c.key(document, "cycles", "", int) == 0:
        raise InputError(f"{path}: found 0 cycles, expected a run of at least one")
    for key in ("warp_instructions", "thread_instructions"):
        if key in document:
            c.key(document, key, "", int)
    if "checks" in document:
        c.numbers(document["checks"], "checks", int)
    for i, launch in enumerate(document["launches"]):
        _launch(c, c.kind(launch, f"launches[{i}]", dict), f"launches[{i}]")
    energy = document["energy"]
    c.key(energy, "total_nj", "energy", float)
    for key in ("by_structure", "static_by_structure", "by_basis"):
        if key in energy:
            c.numbers(energy[key], f"energy.{key}", float)
    for i, event in enumerate(c.kind(energy.get("by_event", []), "energy.by_event", list)):
        c.key(c.kind(event, f"energy.by_event[{i}]", dict), "nj", f"energy.by_event[{i}]", float)
    for module, group in document["stats"].items():
        c.kind(group, f"stats.{module}", dict)
    for i, cause in enumerate(c.kind(document.get("why", []), "why", list)):
        c.key(c.kind(cause, f"why[{i}]", dict), "sentence", f"why[{i}]", str)
    for i, entry in enumerate(c.kind(document.get("cpi_lines", []), "cpi_lines", list)):
        _lines(c, c.kind(entry, f"cpi_lines[{i}]", dict), f"cpi_lines[{i}]")


def _launch(c: _Checker, launch: Dict[str, Any], place: str) -> None:
    c.key(launch, "kernel", place, str)
    for key in ("cycles", "issue_cycles"):
        c.key(launch, key, place, int)
    stalls = c.key(launch, "stall_cycles", place, dict)
    c.numbers(stalls, f"{place}.stall_cycles", int, ("structural_by_unit",))
    if "structural_by_unit" in stalls:
        c.numbers(stalls["structural_by_unit"], f"{place}.stall_cycles.structural_by_unit", int)


def _lines(c: _Checker, entry: Dict[str, Any], place: str) -> None:
    c.key(entry, "launch", place, int)
    c.key(entry, "kernel", place, str)
    for kind, keys in (("lines", (("source", str),)), ("instructions", (("source", str), ("text", str), ("index", int)))):
        for i, row in enumerate(c.key(entry, kind, place, list)):
            at = f"{place}.{kind}[{i}]"
            c.kind(row, at, dict)
            for key, type_ in keys:
                c.key(row, key, at, type_)
            c.numbers(c.key(row, "by_reason", at, dict), f"{at}.by_reason", int)
    c.numbers(c.key(entry, "no_instruction", place, dict), f"{place}.no_instruction", int)
