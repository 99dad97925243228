# SPDX-License-Identifier: Apache-2.0
"""What regatta-sim knows without a run: presets, and what knobs and statistics mean. A report is made without it too; `missing`
then says what is not known."""

import re
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..statistics import InputError
from ..tools import find


class Knob(NamedTuple):
    value: Any
    unit: str


class Simulator:
    def __init__(self, folder: Optional[str]):
        """`folder`: where regatta-sim is; None: where all programs are looked for."""
        self.folder = folder
        self.path: Optional[str] = None
        self._why = ""
        try:
            self.path = str(find("regatta-sim", folder))
        except InputError as e:
            if folder is not None:
                raise InputError(f"--{e}") from None
            self._why = str(e)
        self._answers: Dict[Tuple[str, ...], str] = {}

    def ask(self, *arguments: str) -> str:
        """What it writes; InputError with its message if it refuses."""
        if self.path is None:
            raise InputError(f"{self._why}; or say --bin FOLDER")
        if arguments not in self._answers:
            try:
                done = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=30, check=False,
                                      stdin=subprocess.DEVNULL)
            except (OSError, subprocess.TimeoutExpired) as e:
                raise InputError(f"regatta-sim cannot be asked: {e}") from None
            if done.returncode:
                raise InputError((done.stderr.strip() or f"regatta-sim: status {done.returncode}").splitlines()[-1])
            self._answers[arguments] = done.stdout
        return self._answers[arguments]

    def preset(self, machine: str, scheme: str) -> Dict[str, Knob]:
        """Knobs as this machine and scheme have them without further options."""
        return read_config(self.ask("--machine", machine, "--scheme", scheme, "--dump-config"))

    def knobs(self, scheme: str) -> Dict[str, str]:
        """What each knob does."""
        return read_help(self.ask("--scheme", scheme, "--help"))

    def statistics(self, machine: str, scheme: str) -> Dict[str, Tuple[str, str]]:
        """Unit and meaning by the statistic's name; numbers in names of modules are left out, as in `plain`."""
        return read_statistics(self.ask("--machine", machine, "--scheme", scheme, "--describe-stats"))


def plain(name: str) -> str:
    """A statistic's name without the numbers of its modules: 'sm3.osu.shard0.reads' is 'sm.osu.shard.reads'. A cache's level
    stays."""
    module, dot, statistic = name.rpartition(".")
    return re.sub(r"(?<=[a-z]{2})\d+|(?<=_)\d+", "", module) + dot + statistic


_LINE = re.compile(r'([A-Za-z0-9_]+) = (".*?(?<!\\)"|[^#"]*?)\s*(?:#\s*(.*))?\Z')


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"'):
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def read_config(text: str) -> Dict[str, Knob]:
    """Of --dump-config: 'module.knob' to value and unit. [run] is left out: it holds no knobs."""
    found: Dict[str, Knob] = {}
    table = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            table = line.strip("[]")
            continue
        match = _LINE.match(line)
        if match and table != "run":
            comment = re.sub(r"(?:^|, )of the (?:machine|paper)\b", "", match[3] or "")
            found[f"{table}.{match[1]}"] = Knob(_value(match[2].strip()), comment.strip())
    return found


def read_help(text: str) -> Dict[str, str]:
    """Of --help: what each '--module.knob' does, with its range."""
    found: Dict[str, str] = {}
    knob = ""
    for line in text.splitlines():
        head = re.match(r"  --([a-z0-9_]+(?:\.[a-z0-9_]+)+)( \S.*)?\Z", line)
        if head:
            knob = head[1]
            rest = re.split(r" {2,}", (head[2] or "").strip(), maxsplit=1)
            found[knob] = rest[1] if len(rest) > 1 else ""
        elif knob and line.startswith(" " * 10):
            found[knob] = (found[knob] + " " + line.strip()).strip()
        else:
            knob = ""
    return {k: v for k, v in found.items() if v}


def read_statistics(text: str) -> Dict[str, Tuple[str, str]]:
    """Of --describe-stats."""
    lines: List[str] = text.splitlines()
    if not lines or not lines[0].startswith("statistic"):
        return {}
    unit, meaning = lines[0].find("unit"), lines[0].find("meaning")
    found: Dict[str, Tuple[str, str]] = {}
    for line in lines[2:]:
        name = line.split(" ", 1)[0]
        if "." in name:
            found.setdefault(plain(name), (line[unit:meaning].strip(), line[meaning:].strip()))
    return found
