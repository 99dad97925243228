# SPDX-License-Identifier: Apache-2.0
"""Simulations to be made and the traces that they need, each with a key: the digest of everything that it depends on.

A key covers the bytes of the program, of the trace or of everything that the trace is made from, and all options; an
option that names a file counts with the file's content. So a kept result is never out of date, and a change makes
exactly those runs again that it concerns. A study (plan.py) is one kind of campaign; scripts make others.
"""

import hashlib
import json
import os
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Iterator, Sequence

from ..files import write_whole
from ..statistics import InputError
from ..tools import of_option


@dataclass(frozen=True)
class Trace:
    """A trace that the campaign makes. `launch`: text of a launch file of our own, for a repetition with other inputs.
    `report`: what regatta-annotate --report says is kept with each of its runs."""
    key: str
    path: Path
    source: Path
    launch: str
    options: tuple[str, ...]
    report: bool = False

    @property
    def record(self) -> Path:
        """What became of its making."""
        return self.path.with_suffix(".json")


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


@dataclass(frozen=True)
class Slurm:
    """Options of sbatch."""
    partition: str = ""
    account: str = ""
    time: str = ""
    memory: str = ""
    extra: tuple[str, ...] = ()


class Digests:
    """Of files' content; remembered by place, size and time, since traces can have gigabytes."""

    def __init__(self, memory: Path):
        self._memory = memory
        self._changed = False
        try:
            self._known: dict[str, Any] = json.loads(memory.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._known = {}

    def of_file(self, path: Path) -> str:
        try:
            s = os.stat(path)
            stamp = [s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino]
            known = self._known.get(str(path))
            if known and known[0] == stamp:
                return str(known[1])
            with open(path, "rb") as f:
                digest = hashlib.file_digest(f, "sha256").hexdigest()
        except OSError as e:
            raise InputError(f"{path}: cannot be read: {e.strerror}") from None
        self._known[str(path)] = [stamp, digest]
        self._changed = True
        return digest

    def of_inputs(self, path: Path) -> list[Any]:
        """A file, and the files that a TOML file names, whatever the key."""
        found: dict[Path, str] = {}
        waiting = [path]
        while waiting:
            file = waiting.pop()
            if file in found:
                continue
            found[file] = self.of_file(file)
            if file.suffix == ".toml":
                try:
                    document = tomllib.loads(file.read_text(encoding="utf-8"))
                except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
                    raise InputError(f"{file}: found no TOML: {e}") from None
                waiting += [named for text in _texts(document) if (named := existing(file.parent, text))]
        return sorted([file.name, digest] for file, digest in found.items())

    def of_words(self, folder: Path, words: tuple[str, ...]) -> list[Any]:
        """Options; those that name files, as FILE or --option=FILE, by the files' content."""
        out: list[Any] = []
        for word in words:
            file = existing(folder, word.split("=", 1)[-1])
            out.append([word, self.of_inputs(file)] if file else word)
        return out

    def keep(self) -> None:
        if self._changed:
            write_whole(self._memory, json.dumps(self._known, indent=0, sort_keys=True), parents=True)


def existing(folder: Path, text: str) -> Path | None:
    try:
        return folder / text if text and "\0" not in text and (folder / text).is_file() else None
    except OSError:  # longer than a file name can be
        return None


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, (dict, list)):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _texts(value)


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
        self._words: dict[tuple[str, ...], list[Any]] = {}
        self._traces: dict[Any, Trace] = {}

    def file_key(self, path: Path) -> str:
        """Of a trace that is there already."""
        return self._digests.of_file(path)

    def trace(self, program: str, launch: Path, options: tuple[str, ...], text: str = "", report: bool = False) -> Trace:
        """To be annotated from a launch file, or from the `text` of one."""
        asked = (program, launch, options, text, report)
        if asked not in self._traces:
            key = _digest({"annotate": self._digests.of_file(self.tools.annotate), "launch": text,
                           "inputs": self._digests.of_inputs(launch), "options": self._words_of(options)})
            path = self.folder / "traces" / f"{program}-{key[:16]}.rgt"
            self._traces[asked] = Trace(key, path, launch, text, options, report)
        return self._traces[asked]

    def run_key(self, trace: Trace | str, words: tuple[str, ...], keeps: tuple[Keep, ...] = ()) -> str:
        """Of a simulation of a trace, or of a given trace with this key."""
        parts: dict[str, Any] = {"simulate": self._digests.of_file(self.tools.simulate),
                                 "trace": trace.key if isinstance(trace, Trace) else trace, "options": self._words_of(words)}
        if keeps:
            parts["keeps"] = [asdict(k) for k in keeps]
        if isinstance(trace, Trace) and trace.report:
            parts["report"] = True
        return _digest(parts)

    def _words_of(self, words: tuple[str, ...]) -> list[Any]:
        if words not in self._words:
            self._words[words] = self._digests.of_words(self.base, words)
        return self._words[words]

    def keep_digests(self) -> None:
        self._digests.keep()

    def marker(self, run: Simulation) -> Path:
        """The file of a run that ended."""
        return self.results / f"{run.key}.json.gz"
