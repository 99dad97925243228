# SPDX-License-Identifier: Apache-2.0
"""TOML files from anywhere: read, or refused with a sentence."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Iterator

from ..statistics import InputError

# As regatta's tools have it.
_MOST_BYTES = 64 << 20
# No file of regatta needs more. What walks through documents may use recursion.
_DEEPEST = 64
_BETWEEN_NAMES = re.compile(r"[,=\[\]{}#]")


def toml(path: Path) -> dict[str, Any]:
    """Throws InputError for a file that cannot be read, or is no TOML."""
    return parsed(read(path), path)


def read(path: Path, most: int = _MOST_BYTES) -> bytes:
    """A file of up to so many bytes. Throws InputError."""
    try:
        with open(path, "rb") as f:
            is_short = os.fstat(f.fileno()).st_size <= most
            content = f.read(most + 1) if is_short else b""  # a device may have no end
    except OSError as e:
        raise InputError(f"{path}: cannot be read: {e.strerror}") from None
    if not is_short or len(content) > most:
        raise InputError(f"{path}: found more than {most >> 20} MiB, expected a text file")
    return content


def parsed(content: bytes, path: Path) -> dict[str, Any]:
    """`path`: of the file with this content. Throws InputError."""
    try:
        text = content.decode("utf-8-sig")
        # Python takes a time for such a name that grows with the square of its parts.
        if any(part.count(".") > _DEEPEST for line in text.splitlines() if line.count(".") > _DEEPEST
               for part in _BETWEEN_NAMES.split(line)):
            raise RecursionError
        document = tomllib.loads(text)
    except RecursionError:
        document = None
    # ValueError: also of text that is no UTF-8, and of numbers with thousands of digits.
    except ValueError as e:
        raise InputError(f"{path}: found no TOML: {e}") from None
    if document is None or _is_deeper(document, _DEEPEST):
        raise InputError(f"{path}: found tables or lists nested too deep, expected up to {_DEEPEST} levels")
    return document


def _is_deeper(document: Any, levels: int) -> bool:
    level = [document]
    for _ in range(levels + 1):
        level = [inner for node in level if isinstance(node, (dict, list))
                 for inner in (node.values() if isinstance(node, dict) else node)]
        if not level:
            return False
    return True


def texts(document: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(name, text) of every text in a document. The name is that of the option which it would be: "energy.table"."""
    if isinstance(document, str):
        yield name, document
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from texts(value, f"{name}.{key}" if name else key)
    elif isinstance(document, list):
        for value in document:
            yield from texts(value, name)
