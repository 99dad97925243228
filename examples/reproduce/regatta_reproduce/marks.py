# SPDX-License-Identifier: Apache-2.0
"""Marks of a statement in paper.json: why its comparison never counts as agreement, nor as difference.

    "fitted": "..."         a parameter of ours was set so that this number, or one that it rests on, comes out
    "configuration": "..."  a setting of both sides, or what follows from one alone
    "input": "..."          a size or a program that we copied or chose
    "formula": "..."        the paper's formula, evaluated on both sides
    "duplicate": "ID: ..."  another statement, which is compared, says the same

The text is the reason, in a few words. A statement has at most one mark.
"""

from typing import Any, Dict, Tuple

from . import ReproductionError

kinds = ("fitted", "configuration", "input", "formula", "duplicate")
most_words = 16


def read(entry: Dict[str, Any], where: str) -> Tuple[str, str]:
    """Mark and reason of an entry of paper.json; both empty where it has none."""
    found = [k for k in kinds if k in entry]
    if not found:
        return "", ""
    if len(found) > 1:
        raise ReproductionError(f"{where}: found the marks '{found[0]}' and '{found[1]}', expected one")
    mark, = found
    reason = entry[mark]
    if not isinstance(reason, str) or not reason.strip():
        raise ReproductionError(f"{where}: found {reason!r} for '{mark}', expected a reason in a few words")
    if len(reason.split()) > most_words:
        raise ReproductionError(f"{where}: found a reason of {len(reason.split())} words for '{mark}', expected {most_words} at most")
    if "not_compared" in entry:
        raise ReproductionError(f"{where}: found the mark '{mark}' at a value that is not compared, expected it at a comparison")
    return mark, reason


def check_duplicates(values: Dict[str, Any], path: str) -> None:
    """Each duplicate names a statement that is compared and is no duplicate itself."""
    for stated in values.values():
        if stated.mark != "duplicate":
            continue
        other, colon, _ = stated.reason.partition(":")
        expected = "expected the ID of a value that is compared, a colon and a reason"
        if not colon or other == stated.id or other not in values or values[other].not_compared:
            raise ReproductionError(f"{path}: value {stated.id}: found '{stated.reason}' for 'duplicate', {expected}")
        if values[other].mark == "duplicate":
            raise ReproductionError(f"{path}: value {stated.id}: found a duplicate of {other}, which is one itself")
