# SPDX-License-Identifier: Apache-2.0
"""Writes files as regatta's tools do: whole or not at all."""

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import Union

from .statistics import InputError


_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_standard_output(path: Union[str, "os.PathLike[str]"]) -> bool:
    """Whether what is written there goes where the program's output goes: "-", a name of it, or the file behind it."""
    if os.fspath(path) in _STANDARD_OUTPUT:
        return True
    try:
        there, here = os.stat(path), os.fstat(1)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(there.st_mode) and os.path.samestat(there, here)


def write_whole(path: Union[str, "os.PathLike[str]"], text: str, parents: bool = False) -> None:
    """Under its final name only when it is whole. Links are followed; devices, pipes and what stands behind standard output are
    written directly. A file that is
    replaced keeps its mode, and one that is write-protected its content. `parents`: makes missing folders. Throws
    InputError."""
    if os.fspath(path) != "-" and is_standard_output(path):
        sys.stdout.write(text)
        return
    target = Path(os.path.realpath(path))
    try:
        if target.is_file() and not os.access(target, os.W_OK):  # os.replace would not ask
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_text(text, encoding="utf-8")
            return
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            partial.write_text(text, encoding="utf-8")
            if target.is_file():
                partial.chmod(stat.S_IMODE(target.stat().st_mode))
            os.replace(partial, target)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as e:
        raise InputError(f"cannot write '{os.fspath(path)}': {e.strerror}") from None


def write_or_print(path: str, text: str) -> None:
    """As write_whole(); "-": to standard output."""
    if path == "-":
        sys.stdout.write(text)
    else:
        write_whole(path, text)
