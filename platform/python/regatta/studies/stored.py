# SPDX-License-Identifier: Apache-2.0
"""What the engine keeps on disk: documents that hold their own digest, and results.

A result is one file of two parts, each compressed: its record (key, status, message, seconds, digest of the second part), and
then one line each of what the run has written: its stats.json or null, and what else is kept.
"""

import gzip
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

_DIGEST = "sha256"
_MOST_RECORD = 1 << 20


class Damaged(Exception):
    """The bytes are not those that were written. The text says how that shows."""


def _text(document: Any) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


def seal(document: dict[str, Any]) -> bytes:
    """The document as JSON with a digest of itself."""
    return _text({**document, _DIGEST: hashlib.sha256(_text(document)).hexdigest()}) + b"\n"


def unseal(content: bytes) -> dict[str, Any]:
    """What seal() was given. Throws Damaged."""
    document = _json(content)
    if not isinstance(document, dict) or not isinstance(document.get(_DIGEST), str):
        raise Damaged("it has no digest of itself")
    wanted = document.pop(_DIGEST)
    if hashlib.sha256(_text(document)).hexdigest() != wanted:
        raise Damaged("its digest is that of other content")
    return document


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):  # also of text that is no UTF-8
        raise Damaged("it is no JSON") from None


def as_statistics(document: Any) -> Any:
    """A stats.json; tables are made of its numbers by module. Throws ValueError."""
    for path in ((), ("stats",), ("stats", "*"), ("stall_cycles",), ("energy",), ("energy", "by_structure")):
        nodes = [document]
        for key in path:
            nodes = [n for node in nodes for n in (node.values() if key == "*" else [node.get(key, {})])]
        if not all(isinstance(node, dict) for node in nodes):
            raise ValueError("it has no statistics of a run")
    return document


def result(key: str, record: dict[str, Any], document: Any, kept: dict[str, Any]) -> bytes:
    """The file of a run's result."""
    lines = [document, kept] if kept else [document]
    content = gzip.compress("".join(json.dumps(x) + "\n" for x in lines).encode(), 1, mtime=0)
    head = seal({**record, "key": key, "content": hashlib.sha256(content).hexdigest()})
    return gzip.compress(head, 1, mtime=0) + content


class Result:
    """A result that was read. `record` has what result() was given."""

    def __init__(self, path: Path, key: str):
        """Throws OSError if it cannot be read, and Damaged if it is not the result of this key, whole."""
        self._path = path
        content = path.read_bytes()
        head = zlib.decompressobj(wbits=31)
        try:
            first = head.decompress(content, _MOST_RECORD)
        except zlib.error:
            raise Damaged("it is not compressed as it was") from None
        if not head.eof:
            raise Damaged("it is cut off")
        self.record = unseal(first)
        if self.record.pop("key", None) != key:
            raise Damaged("it is the result of another run")
        if hashlib.sha256(head.unused_data).hexdigest() != self.record.pop("content", None):
            raise Damaged("its digest is that of other content")
        self._content = head.unused_data

    def content(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """The stats.json (None: the run failed), and what else is kept, by name. Throws Damaged."""
        document, kept = [*(_json(line) for line in gzip.decompress(self._content).splitlines()), {}, {}][:2]
        if not isinstance(kept, dict):
            raise Damaged("it has no table of what is kept")
        try:
            return None if document is None else as_statistics(document), kept
        except ValueError as e:
            raise Damaged(f"{e}") from None
