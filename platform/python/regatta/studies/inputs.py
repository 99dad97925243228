# SPDX-License-Identifier: Apache-2.0
"""Files that results depend on: what they hold, and whether they change.

A file is known by the digest of its content. To read gigabytes again only to learn that nothing changed takes long, so the
state of a file that was read is remembered: size, inode, and the times of the last change of content and of inode. Nobody
who changes a file and puts the old content back can put back the latter time. Links on the way to a file are part of its
state.
"""

import hashlib
import os
import stat
import time
from typing import Any, Mapping

#: Numbers that JSON can hold: of the file, then of every symbolic link on the way to it.
State = list[list[int]]

# The clock of file times advances in steps of up to 10 ms: two changes within a step leave the same time.
_STEP = 0.02
# On file systems whose times are whole seconds, some have every other second only.
_WHOLE_SECONDS = 2.1
_MOST_LINKS = 40


class Changed(Exception):
    """A file is not as expected, or was changed meanwhile. The text says which, and what happened to it."""


def _links(path: str) -> State:
    """Of every symbolic link on the way to the file."""
    found: State = []
    at = "/"
    waiting = os.path.join(os.getcwd(), path).split("/")[::-1]
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            at = os.path.dirname(at)
            continue
        further = os.path.join(at, part)
        s = os.lstat(further)
        if not stat.S_ISLNK(s.st_mode):
            at = further
            continue
        found.append([s.st_ctime_ns, s.st_ino])
        if len(found) > _MOST_LINKS:
            raise OSError(f"{path}: more than {_MOST_LINKS} links")
        target = os.readlink(further)
        waiting += target.split("/")[::-1]
        if target.startswith("/"):
            at = "/"
    return found


def _open(path: str) -> int:
    # Not to wait for the writer of a pipe. Opening makes a network file system ask for the present times.
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)


def state(path: str) -> State | None:
    """None: there is no such file, or none that can be read."""
    try:
        links = _links(path)
        descriptor = _open(path)
    except (OSError, ValueError):  # ValueError: a zero byte
        return None
    try:
        s = os.fstat(descriptor)
        return [[s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino], *links] if stat.S_ISREG(s.st_mode) else None
    finally:
        os.close(descriptor)


def unsettled(found: State) -> float:
    """Seconds until every change gives another state. 0: it does already. File times have steps, so a change directly after
    another one may not show."""
    newest = max(found[0][1], found[0][2], *(link[0] for link in found[1:])) / 1e9
    step = _WHOLE_SECONDS if found[0][2] % 1_000_000_000 == 0 else _STEP
    return max(0.0, newest + step - time.time())


def digest(path: str) -> tuple[str, State]:
    """Of a file's content, and the state in which it was read. Throws OSError, or Changed for a file that changes again and
    again."""
    for _ in range(8):
        before = state(path)
        with open(_open(path), "rb") as f:
            if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
                raise OSError(0, "found no regular file", path)
            found = hashlib.file_digest(f, "sha256").hexdigest()
        if before is not None and before == state(path):
            return found, before
    raise Changed(f"{path} changed while it was read")


class Known:
    """Digests of files by path, with the states in which they are right."""

    def __init__(self, entries: Mapping[str, Any] | None = None):
        """`entries`: of entries(), maybe of an earlier time."""
        self._entries = dict(entries or {})

    def entries(self) -> dict[str, Any]:
        """As JSON can hold them."""
        return self._entries

    def learn(self, entries: Mapping[str, Any]) -> None:
        """Further entries, of files that are not known yet."""
        for path, entry in entries.items():
            self._entries.setdefault(path, entry)

    def of(self, path: str) -> tuple[str, State]:
        """The digest, and the state of now. Throws as digest()."""
        known = self._entries.get(path)
        if isinstance(known, list) and len(known) == 2 and (now := state(path)) is not None and known[1] == now:
            return str(known[0]), now
        found = digest(path)
        if unsettled(found[1]) == 0:
            self._entries[path] = list(found)
        return found


class Watch:
    """What a program reads, from before its start to its end. `expected`: digests by path; None: there was no such file when
    the run was planned."""

    def __init__(self, expected: Mapping[str, str | None], known: Known):
        """Throws Changed if a file is not as expected. Waits a moment if a file was written just now."""
        self._states: dict[str, State | None] = {}
        for path, wanted in expected.items():
            while True:
                found = self._states[path] = _as_expected(path, wanted, known)
                wait = 0.0 if found is None else unsettled(found)
                # Longer: the clock of a file server is ahead.
                if not 0 < wait <= _WHOLE_SECONDS:
                    break
                time.sleep(wait)

    def end(self) -> None:
        """Throws Changed if a file was changed since, also if it has its old content again."""
        for path, before in self._states.items():
            now = state(path)
            if now != before:
                raise Changed(f"{path} {'went away' if now is None else 'appeared' if before is None else 'was changed'}")


def _as_expected(path: str, wanted: str | None, known: Known) -> State | None:
    if wanted is None:
        if state(path) is not None:
            raise Changed(f"{path} appeared")
        return None
    try:
        found, now = known.of(path)
    except OSError:
        raise Changed(f"{path} went away") from None
    if found != wanted:
        raise Changed(f"{path} was changed")
    return now
