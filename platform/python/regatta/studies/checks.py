# SPDX-License-Identifier: Apache-2.0
"""Checks of a study file's tables. Each message names file, place, found and expected."""

import difflib
import math
import os
import re
from pathlib import Path
from typing import Any, Iterable, NoReturn

from ..statistics import InputError
from ..text import did_you_mean

Scalar = int | float | str | bool

#: A file, and a database, have no greater ones.
GREATEST = 2 ** 63 - 1

_OF_STUDY = ("schemes", "machines", "options")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*\Z")


def shown(value: Any) -> str:
    """A value as TOML writes it, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    # Of a number with thousands of digits Python makes no text.
    text = f'"{value}"' if isinstance(value, str) else hex(value) if _is_huge(value) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > GREATEST ** 2


def _is_word(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def name_from(text: str) -> str:
    """A name for what has none of its own, from the name of its file: spaces and so on become "_"."""
    return re.sub(r"[^A-Za-z0-9_.+-]", "_", text).lstrip("_.+-") or "study"


class Table:
    """A table of the file, and where it is: `place` is the text that messages begin with."""

    def __init__(self, file: Path, place: str, content: Any):
        self.file = file
        self.place = place
        if not isinstance(content, dict):
            raise InputError(f"{file}: {place}: found {shown(content)}, expected a table")
        self.content: dict[str, Any] = content

    def fail(self, key: str, found: str, expected: str) -> NoReturn:
        where = ".".join(part for part in (self.place, key) if part)
        raise InputError(f"{self.file}: {where}: found {found}, expected {expected}")

    def unknown(self, key: str, found: str, name: str, known: Iterable[str], expected: str = "") -> NoReturn:
        """Of a `name` that is not known, which messages show as `found`. `expected`: if no known one is near; "": one of them."""
        names = list(known)
        near = did_you_mean(difflib.get_close_matches(name, names, 1))
        if not near:
            self.fail(key, found, expected or f"one of {', '.join(names)}")
        where = ".".join(part for part in (self.place, key) if part)
        raise InputError(f"{self.file}: {where}: found {found}{near}")

    def only_keys(self, known: Iterable[str]) -> None:
        expected = list(known)
        for key in self.content:
            if key in _OF_STUDY and key not in expected:
                self.fail(key, "a key of the study", f"{key} at the top of the file or in [study]")
            if key not in expected:
                value = self.content[key]
                is_table = isinstance(value, dict) or (isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value))
                self.unknown(key, f"an unknown {'table' if is_table else 'key'}", key, expected)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str) or not value:
            self.fail(key, "nothing" if value is None else shown(value), "a text")
        self.usable(key, value)
        return value

    def name(self, key: str, default: str) -> str:
        """Becomes a part of file names."""
        value = self.text(key, default)
        if not NAME.match(value):
            self.fail(key, shown(value), "letters, digits, '_', '.', '+' and '-', beginning with a letter or digit")
        return value

    def whole(self, key: str, default: int, least: int, most: int = GREATEST) -> int:
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            self.fail(key, shown(value), f"a whole number of at least {least}")
        if value > most:
            self.fail(key, shown(value), f"a whole number of at most {most:,}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.content.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, shown(value), "true or false")
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts; at least one, unless the default is empty."""
        value = self.content.get(key, None if default is None else list(default))
        empty = default is not None and not default
        if not isinstance(value, list) or not (value or empty) or not all(isinstance(v, str) and v for v in value):
            self.fail(key, "nothing" if value is None else shown(value), "a list of texts")
        for v in value:
            self.usable(key, v)
        self.distinct(key, value)
        return tuple(value)

    def words(self, key: str) -> tuple[str, ...]:
        """Options of a program: a list of texts and numbers, which may repeat."""
        value = self.content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, (str, int, float)) for v in value):
            self.fail(key, shown(value), 'a list of options and their values, as ["--sms", 2]')
        for v in value:
            self.usable(key, v)
        return tuple(option_text(v) for v in value)

    def scalars(self, key: str) -> tuple[Scalar, ...]:
        value = self.content[key]
        if not isinstance(value, list) or not value or not all(isinstance(v, (str, int, float)) for v in value):
            self.fail(key, shown(value), "a list of numbers, texts, or true and false")
        for v in value:
            self.usable(key, v)
        self.distinct(key, value)
        return tuple(value)

    def usable(self, key: str, value: Scalar) -> None:
        """As a word of a command line."""
        if (isinstance(value, float) and not math.isfinite(value)) or _is_huge(value):
            self.fail(key, shown(value), "a finite number")
        if isinstance(value, str) and not _is_word(value):
            self.fail(key, "a text with a zero byte or half a character", "one without")

    def distinct(self, key: str, values: list[Any]) -> None:
        seen = set()
        for value in values:
            if option_text(value) in seen:
                self.fail(key, f"{shown(value)} twice", "each value once")
            seen.add(option_text(value))


def option_text(value: Scalar) -> str:
    """A value as it is given on a command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
