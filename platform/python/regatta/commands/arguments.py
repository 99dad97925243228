# SPDX-License-Identifier: Apache-2.0
"""Command lines of the package's programs. Mistakes are told as by the tools in C++: a line with the program's name."""

import argparse
import difflib
import re
import sys
from typing import IO, Any, List, NoReturn, Optional, Sequence

from ..statistics import InputError
from ..text import did_you_mean
from ..version import of_program

# What argparse says, and what is said instead.
_REWORDED = (
    (r"argument (.+): invalid int value: (.+)", r"\1: found \2, expected a whole number"),
    (r"argument (.+): expected one argument", r"option '\1' needs a value"),
    (r"argument (.+): expected (\d+) arguments", r"option '\1' needs \2 values"),
    (r"argument (.+): ignored explicit argument (.+)", r"option '\1' takes no value, found \2"),
    (r"the following arguments are required: (.+)", r"found no \1, expected it on the command line"),
)
_CHOICE = re.compile(r"argument (.+): invalid choice: '(.*)' \(choose from (.+)\)")


def _nearest(found: str, known: Sequence[str]) -> str:
    return did_you_mean(difflib.get_close_matches(found, known, 1)) or " (--help shows the options)"


class Parser(argparse.ArgumentParser):
    """Throws InputError where argparse would print its usage and end the program. Has --version. `prog` is required."""

    def __init__(self, **settings: Any):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        if " " not in self.prog:  # not of a command of a program
            self.add_argument("--version", action="version", version=of_program(self.prog), help="print the version and exit")

    def error(self, message: str) -> NoReturn:
        choice = _CHOICE.fullmatch(message)
        if choice:
            name, found, known = choice[1], choice[2], re.findall(r"[^\s,']+", choice[3])
            near = _nearest(found, known)
            raise InputError(f"unknown command '{found}'{near}" if name == "COMMAND" else
                             f"{name}: found '{found}', expected one of {', '.join(known)}")
        for pattern, words in _REWORDED:
            if re.fullmatch(pattern, message):
                raise InputError(re.sub(pattern, words, message))
        raise InputError(message)

    def parse_args(self, args: Optional[Sequence[str]] = None, namespace: Any = None) -> Any:
        found, unknown = self.parse_known_args(args, namespace)
        self.refuse(unknown)
        return found

    def refuse(self, unknown: Sequence[str]) -> None:
        """Names the first of the words that no option has taken."""
        if unknown:
            name = unknown[0].split("=", 1)[0]
            if name.startswith("-"):
                raise InputError(f"unknown option '{name}'{_nearest(name, self._options())}")
            raise InputError(f"unexpected argument '{unknown[0]}' (--help shows the options)")

    def _options(self) -> List[str]:
        """Of the program and its commands."""
        names: List[str] = []
        for action in self._actions:
            names += action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                names += [name for command in action.choices.values() for name in command._options()]
        return names

    def _print_message(self, message: str, file: Optional[IO[str]] = None) -> None:
        """Throws OSError if it cannot be written, which argparse keeps to itself."""
        stream: Any = file or sys.stdout
        stream.write(message)
        stream.flush()
