# SPDX-License-Identifier: Apache-2.0
"""The runs of a study, each with a key: the digest of everything that its result depends on.

A key covers the bytes of the program, of the trace or of everything that the trace is made from, and all options; an
option that names a file counts with the file's content. So a kept result is never out of date, and a change makes
exactly those runs again that it concerns.
"""

import hashlib
import json
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from ..statistics import InputError
from .checks import Scalar, option_text
from .file import Program, Study
from .points import DesignPoint, points


@dataclass(frozen=True)
class Trace:
    """A trace that the study makes. `launch`: text of a launch file of our own, for a repetition with other inputs."""
    key: str
    path: Path
    source: Path
    launch: str
    options: tuple[str, ...]

    @property
    def record(self) -> Path:
        """What became of its making."""
        return self.path.with_suffix(".json")


@dataclass(frozen=True)
class Run:
    """`id`: its place in the study, from 1. `arguments`: of regatta-sim, without --stats."""
    id: int
    key: str
    program: str
    scheme: str
    machine: str
    seed: int
    repetition: int
    knobs: tuple[tuple[str, Scalar], ...]
    arguments: tuple[str, ...]
    trace: Trace | None
    megabytes: float  # of a given trace; 0: not known yet

    @property
    def what(self) -> str:
        knobs = " ".join(f"{k}={option_text(v)}" for k, v in self.knobs)
        return " ".join(x for x in (self.program, self.scheme, self.machine, knobs) if x)


@dataclass(frozen=True)
class Tools:
    simulate: Path
    annotate: Path


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
            write_whole(self._memory, json.dumps(self._known, indent=0, sort_keys=True))


def write_whole(path: Path, text: str) -> None:
    """Under its final name only when it is whole."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as e:
        raise InputError(f"cannot write '{path}': {e.strerror}") from None


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


def reseeded(launch: Path, more: int) -> str:
    """A launch file's text with every buffer's seed greater by `more`, and its files named from anywhere."""
    def later(match: re.Match[str]) -> str:
        return f"{match[1]}{int(match[2]) + more}"

    text, seeds = re.subn(r"(?m)^(\s*seed\s*=\s*)(\d+)", later, launch.read_text(encoding="utf-8"))
    if not seeds:
        raise InputError(f"{launch}: found no line 'seed = N', expected one in a launch file that is repeated "
                         f"(study.repetitions): all repetitions would be the same")

    def absolute(match: re.Match[str]) -> str:
        path = str((launch.parent / str(match[2])).resolve())
        return f"{match[1]}{json.dumps(path, ensure_ascii=False)}"

    return re.sub(r'(?m)^(\s*(?:ptx|file|expect)\s*=\s*)"([^"\\]*)"', absolute, text)


class Plan:
    """All runs, in the order of the study file: programs, points, repetitions."""

    def __init__(self, study: Study, tools: Tools):
        self.study = study
        self.tools = tools
        self.folder = study.folder
        self._digests = Digests(self.folder / "digests.json")
        self._words: dict[tuple[str, ...], list[Any]] = {}
        self.runs: list[Run] = []
        design = points(study)
        for program in study.programs:
            for repetition in range(study.repetitions):
                trace, path, key = self._trace(program, repetition)
                megabytes = 0.0 if trace else path.stat().st_size / 1e6
                for point in design:
                    self.runs.append(self._run(program, point, repetition, trace, path, key, megabytes))

    def _trace(self, program: Program, repetition: int) -> tuple[Trace | None, Path, Any]:
        if program.trace is not None:
            return None, program.trace, self._digests.of_file(program.trace)
        assert program.launch is not None
        # With a knob for the seed, the inputs stay as they are.
        text = reseeded(program.launch, repetition) if repetition and not self.study.seed_knob else ""
        folder = self.study.path.parent
        key = _digest({"annotate": self._digests.of_file(self.tools.annotate), "launch": text,
                       "inputs": self._digests.of_inputs(program.launch),
                       "options": self._digests.of_words(folder, program.annotate)})
        path = self.folder / "traces" / f"{program.name}-{key[:16]}.rgt"
        return Trace(key, path, program.launch, text, program.annotate), path, key

    def _run(self, program: Program, point: DesignPoint, repetition: int, trace: Trace | None, path: Path, trace_key: Any,
             megabytes: float) -> Run:
        seed = self.study.seed + repetition
        words = ["--machine", point.machine, "--scheme", point.scheme]
        for name, value in point.knobs:
            words += [f"--{name}", option_text(value)]
        if self.study.seed_knob:
            words += [f"--{self.study.seed_knob}", str(seed)]
        words += self.study.options
        key = tuple(words)
        if key not in self._words:
            self._words[key] = self._digests.of_words(self.study.path.parent, key)
        digest = _digest({"simulate": self._digests.of_file(self.tools.simulate), "trace": trace_key,
                          "options": self._words[key]})
        return Run(len(self.runs) + 1, digest, program.name, point.scheme, point.machine, seed, repetition,
                   point.knobs, (str(path), *words), trace, megabytes)

    def keep_digests(self) -> None:
        self._digests.keep()

    # --- what there is already ---

    def marker(self, run: Run) -> Path:
        """The file of a run that ended."""
        return self.folder / "runs" / f"{run.key}.json.gz"
