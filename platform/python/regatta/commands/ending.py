# SPDX-License-Identifier: Apache-2.0
"""How a program of the package ends: with the exit status of its work, or with a line that says why there is none."""

import contextlib
import os
import sys
from typing import Callable

from ..statistics import InputError


def status_of(program: str, work: Callable[[], int], interrupted: str = "interrupted") -> int:
    """The exit status. 2: bad input, or output that cannot be written. 130: Ctrl-C, with this text. 0 too if the reader of
    the output has gone."""
    try:
        status = work()
        sys.stdout.flush()  # here, where its failure is told
        return status
    except InputError as e:
        print(f"{program}: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{program}: {interrupted}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as e:
        if e.strerror is None:
            raise
        _drop_output()
        # Without a name it is the terminal, or where its output goes; all files are named.
        where = f"'{e.filename}'" if e.filename else "cannot write standard output"
        print(f"{program}: {where}: {e.strerror}", file=sys.stderr)
        return 2


def _drop_output() -> None:
    """What is still buffered would fail again at the end of the program."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
