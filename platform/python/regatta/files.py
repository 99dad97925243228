# SPDX-License-Identifier: Apache-2.0
"""Writes files as regatta's tools do: whole or not at all."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Union

from .statistics import InputError


def write_whole(path: Union[str, "os.PathLike[str]"], text: str, parents: bool = False) -> None:
    """Under its final name only when it is whole. Links are followed; devices and pipes are written directly. `parents`:
    makes missing folders. Throws InputError."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_text(text, encoding="utf-8")
            return
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, target)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as e:
        raise InputError(f"cannot write '{os.fspath(path)}': {e.strerror}") from None


def write_or_print(path: str, text: str) -> None:
    """As write_whole(); "-": to the terminal."""
    if path == "-":
        sys.stdout.write(text)
    else:
        write_whole(path, text)
