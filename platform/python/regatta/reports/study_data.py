# SPDX-License-Identifier: Apache-2.0
"""A study's results.sqlite as plain tables: points of the design space, what varies between them, runs and their results.

Points have numbers from 0, in the order of the database, which is the order of the study file. A dimension is what
points may differ in: the scheme, the machine, or a knob.
"""

from __future__ import annotations

import csv
import math
import re
import sqlite3
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Union

from ..clashes import FileUse
from ..statistics import InputError

Value = Union[int, float, str]

# Columns of the table `runs`: title, and whether a large value is better.
TOTALS = {"cycles": ("cycles", False), "energy_nj": ("energy (nJ)", False), "ipc": ("IPC", True),
          "dynamic_nj": ("dynamic energy (nJ)", False), "static_nj": ("static energy (nJ)", False),
          "warp_instructions": ("warp instructions", False), "thread_instructions": ("thread instructions", False)}
PRODUCT = "energy_delay"
_COLUMNS = ("id", "program", "scheme", "machine", "seed", "repetition", "state", "status", "message", *TOTALS)
# A page offers so many statistics, and fewer if the runs are many: numbers of all runs together.
MOST_STATISTICS = 24
_MOST_NUMBERS = 120_000


@dataclass(frozen=True)
class Dimension:
    """`values`: without the points that do not set it; numbers ascend, texts are in the order of the points."""
    name: str
    values: tuple[Value, ...]
    numeric: bool
    points: int  # that set it
    varies: bool


@dataclass(frozen=True)
class Result:
    """`key`: a column of the table `runs`, PRODUCT, or a statistic "module.name", in which * stands for digits."""
    key: str
    title: str
    more_is_better: bool = False


@dataclass
class Run:
    """`point`: its number. `values`: by the key of the result; none of a run that has not finished."""
    id: int
    program: str
    point: int
    seed: int
    repetition: int
    state: str
    status: int | None
    message: str
    values: dict[str, float] = field(default_factory=dict)
    seconds: float | None = None  # on the host that made it


@dataclass
class Study:
    """`points`: by number, value by dimension; a knob that a point does not set has none. `options`, `patterns`: of the
    study file, if it is at hand. `left_out`: statistics of the database that are not among the results."""
    name: str
    path: Path
    points: list[dict[str, Value]]
    dimensions: list[Dimension]
    programs: list[str]
    runs: list[Run]
    results: list[Result]
    left_out: int = 0
    options: tuple[str, ...] = ()
    file_text: str = ""

    @property
    def varied(self) -> list[Dimension]:
        return [d for d in self.dimensions if d.varies]

    @property
    def repetitions(self) -> int:
        return len({r.repetition for r in self.runs})

    def finished(self) -> list[Run]:
        return [r for r in self.runs if r.state == "finished"]

    def failed(self) -> list[Run]:
        return [r for r in self.runs if r.state == "failed"]

    def result(self, key: str) -> Result:
        return next(r for r in self.results if r.key == key)


def shown(value: Value | None) -> str:
    """A dimension's value for people. Digits are not grouped: it is what one types."""
    if value is None:
        return "not set"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _printable(value: Any) -> Any:
    """Names and values come from files of any origin. Vega's expressions end at a line separator within a text, and JSON
    has no infinite numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return "".join(c if c.isprintable() else "\ufffd" for c in value) if isinstance(value, str) else value


def database_of(path: Path) -> tuple[Path, Path | None]:
    """(results.sqlite, study file) of a study that is named by its file, its folder or its database. Of the two last, the
    study file is not known."""
    if path.is_dir():
        return path / "results.sqlite", None
    if path.suffix != ".toml":
        return path, None
    if sys.version_info < (3, 11):
        raise InputError(f"{path}: a study file needs Python 3.11 or newer, this is {sys.version.split()[0]}; expected the "
                         f"study's folder, NAME.study, or its results.sqlite")
    from ..studies.file import read
    return read(path).folder / "results.sqlite", path


def files_of(path: Path) -> list[FileUse]:
    """What load() reads, and what the study itself reads."""
    database, study_file = database_of(path)
    results = "the study's results"
    found = [FileUse("--study", path), FileUse(results, database), FileUse(results, database.parent / "host.csv")]
    if study_file is not None:
        from ..studies.file import read
        from ..studies.files import inputs
        found += inputs(read(study_file))
    return found


class _Database:
    """Throws InputError for what is no database of a study."""

    def __init__(self, path: Path):
        if not path.is_file():
            raise InputError(f"{path}: found no such file, expected a study's results: regatta-study run "
                             "writes them at its end")
        self._path = path
        try:
            with open(path, "rb") as f:
                head = f.read(16)
        except OSError as e:
            raise InputError(f"{path}: cannot be read: {e.strerror}") from None
        if head != b"SQLite format 3\0":
            raise InputError(f"{path}: found no SQLite database, expected a study file (.toml), a folder NAME.study or its "
                             f"results.sqlite")
        # `immutable`: of a folder that cannot be written, too.
        self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        for table, columns in (("runs", _COLUMNS), ("knobs", ("run", "name", "value")),
                               ("statistics", ("run", "module", "name", "value"))):
            there = {row[1] for row in self.ask(f"PRAGMA table_info({table})")}
            missing = [c for c in columns if c not in there]
            if missing:
                raise InputError(f"{path}: table '{table}': found " +
                                 (f"no column '{missing[0]}'" if there else "no such table") +
                                 ", expected the results.sqlite of regatta-study")

    def ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(question, values).fetchall()
        except sqlite3.Error as e:
            raise InputError(f"{self._path}: cannot be read: {e}") from None

    def close(self) -> None:
        self._connection.close()


def load(path: Path, patterns: tuple[str, ...] = ()) -> Study:
    """`path`: a study file, a folder NAME.study, or results.sqlite. `patterns`: the statistics that are wanted, of those
    that the study has kept; none: the first ones that vary."""
    file, study_file = database_of(path)
    database = _Database(file)
    try:
        study = _study(database, file, study_file)
        _statistics(database, study, patterns)
    finally:
        database.close()
    _products(study)
    _seconds(file.parent / "host.csv", study)
    if study_file is not None:
        _of_file(study_file, study)
    return study


def _study(database: _Database, file: Path, study_file: Path | None) -> Study:
    knobs: dict[int, dict[str, Value]] = {}
    for run, name, value in database.ask("SELECT run, name, value FROM knobs"):
        knobs.setdefault(run, {})[_printable(name)] = _printable(value)
    no_knobs: dict[str, Value] = {}
    numbers: dict[tuple[Any, ...], int] = {}
    points: list[dict[str, Value]] = []
    runs: list[Run] = []
    for row in database.ask(f"SELECT {', '.join(_COLUMNS)} FROM runs ORDER BY id"):
        of_run = dict(zip(_COLUMNS, map(_printable, row)))
        point: dict[str, Value] = {"scheme": of_run["scheme"], "machine": of_run["machine"], **knobs.get(of_run["id"], no_knobs)}
        key = tuple(point.items())
        if key not in numbers:
            numbers[key] = len(points)
            points.append(point)
        run = Run(of_run["id"], of_run["program"], numbers[key], of_run["seed"], of_run["repetition"], of_run["state"],
                  of_run["status"], of_run["message"])
        if run.state == "finished":
            run.values = {k: of_run[k] for k in TOTALS if _is_number(of_run[k])}
        runs.append(run)
    if not runs:
        raise InputError(f"{file}: table 'runs': found no run, expected those of a study")
    found = {k for r in runs for k in r.values}
    results = [Result(k, *TOTALS[k]) for k in TOTALS if k in found]
    name = study_file.stem if study_file is not None else ""
    parent = file.resolve().parent.name
    return Study(name or (parent[:-len(".study")] if parent.endswith(".study") else file.stem), file, points,
                 _dimensions(points), list(dict.fromkeys(r.program for r in runs)), runs, results)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _dimensions(points: list[dict[str, Value]]) -> list[Dimension]:
    found = []
    for name in dict.fromkeys(k for point in points for k in point):
        values: list[Value] = list(dict.fromkeys(point[name] for point in points if name in point))
        numeric = all(map(_is_number, values))
        if numeric:
            values.sort(key=lambda v: v if isinstance(v, (int, float)) else 0)
        elif not all(isinstance(v, str) for v in values):
            values = list(dict.fromkeys(shown(v) for v in values))
            for point in points:
                if name in point:
                    point[name] = shown(point[name])
        found.append(Dimension(name, tuple(values), numeric, sum(name in p for p in points),
                               len(values) > 1 or _chosen(points, name)))
    return found


def _chosen(points: list[dict[str, Value]], name: str) -> bool:
    """Whether points of the same scheme and machine differ in setting a knob at all."""
    setting: dict[tuple[Value, Value], set[bool]] = {}
    for p in points:
        setting.setdefault((p["scheme"], p["machine"]), set()).add(name in p)
    return any(len(s) > 1 for s in setting.values())


# The 1 of l1 counts no copies.
_COPY = re.compile(r"(?<![0-9])(?<!\bl)[0-9]+")


def pooled(module: str, name: str) -> str:
    """Statistics of the copies of a module belong together: sm0.l1 and sm1.l1 are sm*.l1."""
    return f"{_COPY.sub('*', module)}.{name}"


def _statistics(database: _Database, study: Study, patterns: tuple[str, ...]) -> None:
    """Sums over the copies of modules. Of the first finished run of each scheme and machine one learns what there is."""
    first: dict[tuple[Value, Value], int] = {}
    for run in study.finished():
        point = study.points[run.point]
        first.setdefault((point["scheme"], point["machine"]), run.id)
    groups: dict[str, list[tuple[str, str]]] = {}
    for run_id in first.values():
        for module, name in database.ask("SELECT module, name FROM statistics WHERE run = ?", run_id):
            key = pooled(module, name)
            if (module, name) not in groups.setdefault(key, []):
                groups[key].append((module, name))
    for pattern in patterns:
        if not any(fnmatchcase(key, pattern) for key in groups):
            some = ", ".join(list(groups)[:8])
            raise InputError(f"{study.path}: found no statistic '{pattern}', expected some of those that the study keeps" +
                             (f", as {some}" if some else ": none ([results] statistics in the study file)"))
    wanted = [k for k in groups if not patterns or any(fnmatchcase(k, p) for p in patterns)]
    # The long lists by structure and by reason come behind what modules count.
    wanted.sort(key=lambda k: k.startswith("energy.") + 2 * k.startswith("stall_cycles."))
    most = max(2, min(MOST_STATISTICS, _MOST_NUMBERS // max(1, len(study.runs)) - len(study.results)))
    ids = [r.id for r in study.finished()]
    some_ids = ids[::len(ids) // 40 + 1]
    taken = 0
    for key in wanted:
        if taken == most:
            break
        # What is the same everywhere is worth no place of the few. A look at some runs is enough to choose.
        if not patterns and len(ids) > 1 and len(set(_sums(database, groups[key], some_ids).values())) < 2:
            continue
        taken += 1
        study.results.append(Result(key, _printable(key)))
        values = _sums(database, groups[key], ids)
        for run in study.finished():
            if run.id in values:
                run.values[key] = values[run.id]
    study.left_out = len(groups) - taken


def _sums(database: _Database, names: list[tuple[str, str]], runs: list[int]) -> dict[int, float]:
    """By run. The database has an index by run, module and name: no table is read as a whole."""
    sums: dict[int, float] = {}
    for begin in range(0, len(runs), 500):  # SQLite has a limit for the values of a question
        part = runs[begin:begin + 500]
        for module, name in names:
            for run, value in database.ask("SELECT run, value FROM statistics WHERE module = ? AND name = ? AND run IN (" +
                                           ", ".join("?" * len(part)) + ")", module, name, *part):
                if _is_number(value):
                    sums[run] = sums.get(run, 0) + value
    return sums


def _products(study: Study) -> None:
    """Energy times time, behind the energy."""
    places = [r.key for r in study.results]
    if "cycles" in places and "energy_nj" in places:
        study.results.insert(places.index("energy_nj") + 1, Result(PRODUCT, "energy × cycles"))
        for run in study.finished():
            if "cycles" in run.values and "energy_nj" in run.values:
                run.values[PRODUCT] = run.values["cycles"] * run.values["energy_nj"]


def _seconds(path: Path, study: Study) -> None:
    """Of host.csv, if it is there: run, seconds."""
    try:
        with open(path, newline="", encoding="utf-8") as f:
            rows = list(csv.reader(f))
    except (OSError, UnicodeDecodeError):
        return
    by_run = {r.id: r for r in study.runs}
    for number, row in enumerate(rows[1:], 2):
        try:
            run, seconds = int(row[0]), float(row[1])
        except (ValueError, IndexError):
            raise InputError(f"{path}:{number}: found '{','.join(row)}', expected a run's number and seconds") from None
        if run in by_run:
            by_run[run].seconds = seconds


def _of_file(path: Path, study: Study) -> None:
    """The text that the results are of. If the file has another one by now, a sentence says so."""
    from ..studies.agreement import disagreement, study_of_results
    from ..studies.file import read
    present = read(path)
    note = disagreement(present)
    content = (study_of_results(present) if note else None) or present
    study.name = content.name
    study.options = content.options
    study.file_text = f"# {note}.\n\n{content.text}" if note else content.text
