# SPDX-License-Identifier: Apache-2.0
"""The programs that a wheel brings and that are not Python's: each goes on as the program of its name."""

import os
import signal
import sys
from typing import NoReturn

from ..errors import InputError
from ..tools import find


def _become(name: str) -> NoReturn:
    try:
        path = str(find(name))
    except InputError as e:
        print(f"{name}: {e}", file=sys.stderr)
        sys.exit(2)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, and by what it would start
        signal.signal(number, signal.SIG_DFL)
    os.execv(path, [path, *sys.argv[1:]])


def annotate() -> NoReturn:
    _become("regatta-annotate")


def capture() -> NoReturn:
    _become("regatta-capture")


def sim() -> NoReturn:
    _become("regatta-sim")


def import_() -> NoReturn:
    _become("regatta-import")


def trace() -> NoReturn:
    _become("regatta-trace")
