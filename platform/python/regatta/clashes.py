# SPDX-License-Identifier: Apache-2.0
"""The one check that no program overwrites what it reads, or one of its results by another, as the tools in C++ have it
(traces/base)."""

import os
import stat
import sys
from pathlib import Path
from typing import Any, Iterable, NamedTuple, Optional, Tuple, Union

from .files import is_standard_output
from .statistics import InputError

PathLike = Union[str, "os.PathLike[str]"]

_PACKAGE = Path(__file__).resolve().parent


class FileUse(NamedTuple):
    """A file that a run reads or writes. `role`: as the user knows it: "--json", "the trace". `path`: "" or None: not used;
    "-" of one that is written: standard output."""
    role: str
    path: Optional[PathLike]
    written: bool = False


def refuse_clashes(files: Iterable[FileUse]) -> None:
    """Throws InputError "ROLE and ROLE name the same file 'path'" when a file is written and also read, or written twice. Links
    of both kinds are followed. Devices and pipes may be written more than once, but not standard output. The package's own
    files count as read."""
    used = [(f, _identity(f)) for f in files if f.path]
    written = [(f, identity) for f, identity in used if f.written]
    for i, (file, identity) in enumerate(written):
        for other, of_other in [*(u for u in used if not u[0].written), *written[i + 1:]]:
            if identity is not None and identity == of_other:
                _refuse(file, other.role)
        if _is_ours(file.path):
            _refuse(file, "the program itself")


def _refuse(file: FileUse, role: str) -> None:
    what = "standard output" if file.path == "-" else f"the same file '{os.fspath(file.path or '')}'"
    raise InputError(f"{file.role} and {role} name {what}")


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a name that no file can have
        return False


def _identity(file: FileUse) -> Optional[Tuple[Any, ...]]:
    """What the names of one file have in common. None: nothing clashes with it."""
    path = os.fspath(file.path or "")
    try:
        standard = file.written and is_standard_output(path)
        status = os.fstat(1) if standard else os.stat(path)
    except ValueError:
        return None
    except OSError:
        return ("not there yet", os.path.realpath(path))
    if stat.S_ISREG(status.st_mode):
        return (status.st_dev, status.st_ino)
    return ("standard output",) if standard else None


def _is_ours(path: Any) -> bool:
    """A file of this package, or the script that runs."""
    if path == "-" or not _is_file(os.fspath(path)):
        return False
    real = os.path.realpath(path)
    return _PACKAGE in Path(real).parents or any(_is_file(p) and os.path.samefile(real, p)
                                                 for p in (sys.argv[0], sys.executable) if p)
