# SPDX-License-Identifier: Apache-2.0
"""The programs of regatta: what each does, and what its --help says, taken apart for completions and man pages."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from .errors import InputError
from .tools import find, last_words

#: Programs regatta-NAME, which `regatta NAME` runs.
TOOLS: Dict[str, str] = {
    "annotate": "execute PTX and write its execution as a trace",
    "capture": "run a CUDA program without a GPU and trace its launches",
    "sim": "replay a trace on a GPU model under a scheme",
    "trace": "show and verify a trace",
    "import": "make a trace of Accel-Sim's",
    "study": "run many simulations that one file describes",
    "compare": "explain why one run is slower than another",
    "report": "make a page of runs or of a study",
    "sample": "estimate a long program from some of its launches",
}
#: Commands of `regatta` itself.
OWN: Dict[str, str] = {
    "demo": "show a first program: three schemes, a fault that is found, a knob",
    "list": "list schemes, machines, schedulers, energy tables, knobs, statistics or kernels",
    "completion": "print a completion script for bash or zsh",
    "man": "show the man page of a command",
    "help": "show the options of a command",
}
#: What regatta-sim --list prints.
LISTS: Tuple[str, ...] = ("schemes", "machines", "schedulers", "energy", "knobs", "statistics")
#: Those of them that are searched, by a part of a name or of a help.
SEARCHED: Tuple[str, ...] = ("knobs", "statistics")


@dataclass
class Option:
    """An option as --help shows it. `value`: the name of its value; empty: it has none. `attached`: a value is optional,
    and written --name=VALUE. `group`: the heading above it, without the colon."""
    names: List[str]
    value: str
    attached: bool
    help: str
    group: str

    def words(self) -> List[str]:
        """The values that the help names; empty: any."""
        if re.fullmatch(r"[\w-]+(\|[\w-]+)+", self.value):
            return self.value.split("|")
        listed = re.search(r"\[one of ([^;\]]+)", self.help)
        return re.findall(r"[\w.+-]+", listed[1]) if listed else []


@dataclass
class Page:
    """The --help of a program, or of a command of one. `lines`: the text. `arguments`: names of what has no name."""
    name: str
    lines: List[str]
    options: List[Option] = field(default_factory=list)
    arguments: List[str] = field(default_factory=list)
    commands: Dict[str, "Page"] = field(default_factory=dict)


_NAME = re.compile(r"(?<![\w=-])--?[A-Za-z][\w.-]*")
_ARGUMENTS = ("arguments", "positional arguments")


def is_heading(line: str) -> bool:
    return re.fullmatch(r"[A-Za-z]\S*( \S+)?:", line) is not None


def split_option(line: str) -> Tuple[str, str]:
    """The name and value of an option, and the beginning of its help; ("", "") for another line."""
    if not re.match(r"  -{1,2}[A-Za-z]", line):
        return "", ""
    default = re.match(r"(\S.* \(=\S*\))\s+(\S.*)", line[2:])  # a long one has a single blank behind it
    parts = list(default.groups()) if default else re.split(r"\s{2,}", line[2:], maxsplit=1)
    return parts[0].strip(), parts[1].strip() if len(parts) > 1 else ""


def _option(left: str, help_text: str, group: str) -> Option:
    # "-h [ --help ]", "-o [ --out ] FILE", "--name N (=64)", "--name[=FILE]", "--name [=RULE(=target)]", "-h, --help".
    names = _NAME.findall(re.sub(r"\[=.*", "", left))
    attached = "[=" in left
    value = re.search(r"\[=([^\](]+)", left) if attached else None
    rest = re.sub(r"\(=.*?\)|[\[\],]", " ", re.sub(r"\[=.*", "", left))
    words = [w for w in rest.split() if not w.startswith("-")]
    return Option(names, value[1] if value else " ".join(words), attached, help_text, group)


def parse(name: str, text: str) -> Page:
    page = Page(name, text.rstrip("\n").split("\n"))
    group = ""
    entry = False  # further lines of the last option follow
    for line in page.lines:
        left, help_text = split_option(line)
        if left and group:
            page.options.append(_option(left, help_text, group))
            entry = True
        elif entry and re.match(r" {4}", line):
            page.options[-1].help = f"{page.options[-1].help} {line.strip()}".strip()
        else:
            entry = False
            if is_heading(line):
                group = line[:-1]
            elif group in _ARGUMENTS and re.match(r"  \S", line):
                page.arguments.append(line.split()[0])
    return page


def _commands(page: Page) -> List[str]:
    """Of the program: those below its argument COMMAND, or the first words of its usage."""
    if "COMMAND" in page.arguments:
        at = next(i for i, line in enumerate(page.lines) if line.strip() == "COMMAND")
        found = []
        for line in page.lines[at + 1:]:
            command = re.match(r"    (\w+)", line)
            if not command:
                break
            found.append(command[1])
        return found
    return re.findall(rf"(?m)^(?:usage:)?\s+{page.name} ([a-z]+)\s", "\n".join(page.lines))


def ask(program: Path, *arguments: str) -> str:
    """What the program writes to standard output, in wide lines. Throws InputError."""
    done = subprocess.run([str(program), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8",
                          errors="replace", check=False, env={**os.environ, "COLUMNS": "130"})
    if done.returncode != 0:
        raise InputError(f"{program.name} {' '.join(arguments)}: status {done.returncode}: {last_words(program.name, done.stderr)}")
    return done.stdout


def page_of(tool: str) -> Page:
    """Of the program regatta-`tool`, with its commands. Throws InputError."""
    name = f"regatta-{tool}"
    program = find(name)
    page = parse(name, ask(program, "--help"))
    commands = _commands(page)
    for command in commands:
        if "COMMAND" in page.arguments:
            page.commands[command] = parse(f"{name} {command}", ask(program, command, "--help"))
        else:  # the help of an option says to which command it belongs: "dump: only warp N of each CTA"
            others = tuple(f"{c}:" for c in commands if c != command)
            own = [o for o in page.options if not o.help.startswith(others)]
            page.commands[command] = Page(f"{name} {command}", [], own, ["FILE.rgt"])
    return page


def knobs_of_schemes(base: Page, schemes: Sequence[str]) -> Dict[str, List[Option]]:
    """Options that regatta-sim has under each scheme only. Throws InputError."""
    program = find("regatta-sim")
    known = {name for option in base.options for name in option.names}
    found: Dict[str, List[Option]] = {}
    for scheme in schemes:
        page = parse(base.name, ask(program, "--scheme", scheme, "--help"))
        found[scheme] = [o for o in page.options if not known.intersection(o.names)]
    return found
