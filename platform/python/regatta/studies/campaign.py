# SPDX-License-Identifier: Apache-2.0
"""Simulations to be made and the traces that they need, each with a key: the digest of everything that it depends on.

A key covers the bytes of the program, of the trace or of everything that the trace is made from, and all options; an
option that names a file counts with the file's content. So a kept result is never out of date, and a change makes
exactly those runs again that it concerns. A study (plan.py) is one kind of campaign; scripts make others.
"""

import errno
import hashlib
import json
import os
import re
import stat
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Sequence

from ..files import write_whole
from ..statistics import InputError
from ..tools import last_words, of_option
from . import documents, inputs, stored

#: Options of the programs that name files which they write. Their values are no inputs.
WRITES = ("--stats", "--dump-config", "--vcd", "--pipeline", "--timeline", "--sample-file", "--cpi-ctas", "--wear.rows_file",
          "--wear.bits_file", "--out", "--report", "--listing", "--dump-buffer")
# Values of knobs, of which very many differ.
_NUMBER = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?\Z")


@dataclass(frozen=True)
class Trace:
    """A trace that the campaign makes. `launch`: text of a launch file of our own, for a repetition with other inputs.
    `report`: what regatta-annotate --report says is kept with each of its runs. Launch files that hold the same make the same
    trace."""
    key: str
    path: Path
    source: Path = field(compare=False)
    launch: str = field(compare=False)
    options: tuple[str, ...] = field(compare=False)
    report: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def record(self) -> Path:
        """What became of its making."""
        return self.path.with_suffix(".json")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)


@dataclass(frozen=True)
class Keep:
    """A further file that a run writes, and what is kept of it beside the statistics. `options` of regatta-sim: "{file}" in
    them is the file's place. `reader`: a function of extracts.py; `wanted`: its argument, as JSON has it."""
    name: str
    options: tuple[str, ...]
    reader: str = "table"
    wanted: Any = None


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """`id`: its place in the campaign, from 1. `program`: its runs take similar times. `arguments`: of regatta-sim, without
    --stats. `accepted`: exit statuses that are results."""
    id: int
    key: str
    program: str
    arguments: tuple[str, ...]
    trace: Trace | None
    megabytes: float = 0.0  # of a given trace; 0: not known yet
    keeps: tuple[Keep, ...] = ()
    accepted: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Tools:
    simulate: Path
    annotate: Path

    @staticmethod
    def find(folder: str | Path | None, beside: Path = Path()) -> "Tools":
        """Those of a folder (--bin); without one, those of the folder `beside` or of PATH."""
        return Tools(of_option("regatta-sim", folder, beside), of_option("regatta-annotate", folder, beside))

    def names(self, kind: str) -> list[str]:
        """Of regatta-sim --list `kind`; none if it does not say: the runs will."""
        try:
            done = subprocess.run([str(self.simulate), "--list", kind, "--json"], stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, errors="replace", check=True)
            return [str(one["name"]) for one in json.loads(done.stdout)]
        except (OSError, subprocess.SubprocessError, ValueError, TypeError, KeyError):
            return []

    def refused(self, words: Sequence[str], folder: Path) -> tuple[int, str]:
        """What regatta-sim says of its options, without a run: exit status (0: it accepts them) and message, which names the
        nearest name or what it expected."""
        try:
            done = subprocess.run([str(self.simulate), *words, "--dump-config"], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, errors="replace", check=False)
        except OSError:  # the run will say so
            return 0, ""
        return max(done.returncode, 0), last_words(self.simulate.name, done.stderr) if done.returncode else ""


@dataclass(frozen=True)
class Slurm:
    """Options of sbatch."""
    partition: str = ""
    account: str = ""
    time: str = ""
    memory: str = ""
    extra: tuple[str, ...] = ()


#: Digests by path of the files that a program may read. None: there was no such file when the key was made.
Files = dict[str, str | None]


@dataclass(frozen=True)
class Given:
    """A trace that is there already."""
    path: Path
    digest: str


class Digests:
    """Of files' content; remembered from one time to the next (inputs.py), since traces can have gigabytes."""

    def __init__(self, memory: Path):
        self._memory = memory
        try:
            before = stored.unseal(memory.read_bytes())
        except (OSError, stored.Damaged):
            before = {}
        self.known = inputs.Known(before)
        self._before = before.copy()
        # One content for all keys of a campaign. Workers find out if it changes.
        self._seen: dict[Path, str] = {}
        self._texts: dict[Path, list[str]] = {}
        self._named: dict[tuple[Path, str], tuple[str, bool]] = {}

    def of_file(self, path: Path) -> str:
        if path not in self._seen:
            try:
                self._seen[path] = self.known.of(str(path))[0]
            except OSError as e:
                raise InputError(f"{path}: cannot be read: {e.strerror}") from None
            except inputs.Changed as e:
                raise InputError(str(e)) from None
        return self._seen[path]

    def of_inputs(self, path: Path, files: Files) -> list[Any]:
        """A part of a key: a file, the files that it names if it is TOML, those that they name ... Where they lie is no part
        of it. `files`: where all of them are added."""
        numbers: dict[str, int] = {}
        waiting: list[Path] = []

        def number(file: Path) -> int:
            place = os.path.join(os.path.realpath(file.parent), file.name)
            if place not in numbers:
                numbers[place] = len(numbers)
                waiting.append(file)
            files[str(file)] = self.of_file(file)
            return numbers[place]

        number(path)
        out: list[Any] = []
        for file in waiting:
            names = [(text, self.named(file.parent, text, files)) for text in self._texts_of(file)]
            out.append([self.of_file(file), [[text, number(named)] for text, named in names if named]])
        return out

    def _texts_of(self, path: Path) -> list[str]:
        """Texts in a TOML file, whatever its name, that may name files to read. A program, data and so on have none."""
        if path not in self._texts:
            try:
                found = documents.toml(path)
            except InputError:
                if path.suffix == ".toml":
                    raise
                found = {}
            self._texts[path] = sorted({text for name, text in documents.texts(found) if f"--{name}" not in WRITES})
        return self._texts[path]

    def named(self, folder: Path, text: str, files: Files) -> Path | None:
        """The file that a text names, if there is one. If there is none, it must not appear later."""
        if (folder, text) not in self._named:
            self._named[folder, text] = self._look_for(folder, text)
        path, is_there = self._named[folder, text]
        if path and not is_there:
            files.setdefault(path, None)
        return Path(path) if is_there else None

    @staticmethod
    def _look_for(folder: Path, text: str) -> tuple[str, bool]:
        """The file, and whether it is there. An empty text: this is no name of a file."""
        if not text or "\0" in text:
            return "", False
        path = os.path.join(folder, text)
        try:
            kind = os.stat(path).st_mode
        except OSError as e:
            return "" if e.errno == errno.ENAMETOOLONG or _NUMBER.match(text) else path, False
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise InputError(f"{path}: found a pipe or a device, expected a file: runs are known by the content of files")
        return ("", False) if stat.S_ISDIR(kind) else (path, True)

    def of_words(self, folder: Path, words: tuple[str, ...], files: Files) -> list[Any]:
        """A part of a key: options; those that name files to read, as FILE or --option=FILE, by the files' content too."""
        out: list[Any] = []
        option = ""
        for word in words:
            if word.startswith("-"):
                option, equals, value = word.partition("=")
                texts = [value] if equals else []
            else:
                texts = list(dict.fromkeys([word, word.split("=", 1)[-1]]))
            found = [self.named(folder, text, files) for text in texts] if option not in WRITES else []
            out.append([word, *(self.of_inputs(file, files) for file in found if file)])
        return out

    def keep(self) -> None:
        if self.known.entries() != self._before:
            write_whole(self._memory, stored.seal(self.known.entries()).decode(), parents=True)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass
class Campaign:
    """What the engine needs to know. `name`: of its jobs in a queue. `folder`: of the workflow and the traces. `base`: the
    programs run there, and options name files relative to it. `results`: of the runs' files, which campaigns can share."""
    name: str
    folder: Path
    base: Path
    tools: Tools
    results: Path
    keep_traces: bool = True
    group_runs: int = 0  # runs of one job; 0: by estimated time
    slurm: Slurm = field(default_factory=Slurm)
    runs: Sequence[Simulation] = ()

    def __post_init__(self) -> None:
        self._digests = Digests(self.folder / "digests.json")
        self._words: dict[tuple[str, ...], tuple[list[Any], Files]] = {}
        self._traces: dict[Any, Trace] = {}
        self._files: dict[str, tuple[Files, ...]] = {}

    def given(self, path: Path) -> Given:
        """A trace that is there already."""
        return Given(path, self._digests.of_file(path))

    def trace(self, program: str, launch: Path, options: tuple[str, ...], text: str = "", report: bool = False) -> Trace:
        """To be annotated from a launch file, or from the `text` of one."""
        asked = (program, launch, options, text, report)
        if asked not in self._traces:
            words, files_of_words = self._words_of(options)
            files: Files = {}
            key = _digest({"annotate": self._digests.of_file(self.tools.annotate), "launch": text,
                           "inputs": self._digests.of_inputs(launch, files), "options": words})
            path = self.folder / "traces" / f"{program}-{key[:16]}.rgt"
            self._traces[asked] = Trace(key, path, launch, text, options, report)
            self._files[key] = (self._program(self.tools.annotate), files_of_words, files)
        return self._traces[asked]

    def run_key(self, trace: Trace | Given, words: tuple[str, ...], keeps: tuple[Keep, ...] = ()) -> str:
        """Of a simulation of a trace."""
        options, files = self._words_of(words)
        parts: dict[str, Any] = {"simulate": self._digests.of_file(self.tools.simulate),
                                 "trace": trace.key if isinstance(trace, Trace) else trace.digest, "options": options}
        if keeps:
            parts["keeps"] = [asdict(k) for k in keeps]
        if isinstance(trace, Trace) and trace.report:
            parts["report"] = True
        key = _digest(parts)
        given: Files = {} if isinstance(trace, Trace) else {str(trace.path): trace.digest}
        self._files[key] = (self._program(self.tools.simulate), files, given)
        return key

    def _program(self, path: Path) -> Files:
        return {str(path): self._digests.of_file(path)}

    def _words_of(self, words: tuple[str, ...]) -> tuple[list[Any], Files]:
        if words not in self._words:
            files: Files = {}
            self._words[words] = (self._digests.of_words(self.base, words, files), files)
        return self._words[words]

    def files(self, key: str) -> Files:
        """What the program reads that makes the run or the trace with this key; without a trace that is made for a run."""
        return {path: digest for part in self._files[key] for path, digest in part.items()}

    def digests(self) -> dict[str, Any]:
        """Of files, with the states in which they are right, as JSON can hold them."""
        return self._digests.known.entries()

    def keep_digests(self) -> None:
        self._digests.keep()

    def marker(self, run: Simulation) -> Path:
        """The file of a run that ended."""
        return self.results / f"{run.key}.json.gz"
