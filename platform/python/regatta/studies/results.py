# SPDX-License-Identifier: Apache-2.0
"""A study's results as tables: one SQLite database and one CSV file, the same bytes in whatever order runs ended."""

import csv
import io
import math
import os
import sqlite3
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Iterator

from ..statistics import InputError
from ..files import write_whole
from .checks import GREATEST, Scalar, option_text
from .outcome import Outcome, statistics
from .plan import Plan, Run

_SCHEMA = """
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, program TEXT NOT NULL, scheme TEXT NOT NULL, machine TEXT NOT NULL,
  seed INTEGER NOT NULL, repetition INTEGER NOT NULL,
  state TEXT NOT NULL,        -- finished, failed or missing
  status INTEGER,             -- of the program; NULL: missing
  message TEXT NOT NULL,      -- why it failed
  cycles INTEGER, warp_instructions INTEGER, thread_instructions INTEGER, ipc REAL,
  energy_nj REAL, dynamic_nj REAL, static_nj REAL,
  key TEXT NOT NULL           -- digest of program, trace and options: the name of the run's file in runs/
);
CREATE TABLE knobs (
  run INTEGER NOT NULL REFERENCES runs(id), name TEXT NOT NULL, value,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;
CREATE TABLE statistics (
  run INTEGER NOT NULL REFERENCES runs(id), module TEXT NOT NULL, name TEXT NOT NULL, value NOT NULL,
  PRIMARY KEY (run, module, name)
) WITHOUT ROWID;
"""
#: The text of the study file that the results are of.
STUDY = "study.toml"
DATABASE = "results.sqlite"
TOTALS = ("cycles", "warp_instructions", "thread_instructions", "ipc", "energy_nj", "dynamic_nj", "static_nj")
# More would make a table that nobody can read: they are in the database.
_CSV_STATISTICS = 200


def state_of(o: Outcome | None) -> str:
    return "missing" if o is None else "failed" if o.status else "finished"


def _as_stored(value: Any) -> int | float | None:
    """As a database can hold it: it has integers of 64 bits with a sign, and no number that is none."""
    if not isinstance(value, (int, float)):
        return None
    try:
        value = value if isinstance(value, int) and -GREATEST <= value <= GREATEST else float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _clean(text: str) -> str:
    """Without halves of characters, which a database and a file refuse."""
    return text.encode("utf-8", "replace").decode()


def totals(document: dict[str, Any]) -> tuple[Any, ...]:
    energy = document.get("energy", {})
    found = (*(document.get(k) for k in TOTALS[:4]), *(energy.get(k) for k in ("total_nj", "dynamic_nj", "static_nj")))
    return tuple(None if _as_stored(v) is None else v for v in found)


def _of_kernels(document: dict[str, Any]) -> dict[str, Any]:
    """Registers of the program's kernels: the most of any, and all that were spilled."""
    kernels = document.get("program", {}).get("kernels", [])
    found = {key: [k[key] for k in kernels if key in k] for key in ("registers", "launch_registers", "spilled_registers")}
    return {key: sum(v) if key == "spilled_registers" else max(v) for key, v in found.items() if v}


def counters(document: dict[str, Any], patterns: tuple[str, ...]) -> Iterator[tuple[str, str, int | float]]:
    """(module, name, value) of those whose "module.name" matches a pattern. Beside the modules: stall cycles by reason,
    energy by structure, and registers of the kernels."""
    modules = {**document.get("stats", {}), "stall_cycles": document.get("stall_cycles", {}),
               "energy": document.get("energy", {}).get("by_structure", {}), "kernel": _of_kernels(document)}
    for module, group in modules.items():
        for name, value in group.items():
            if _as_stored(value) is not None and any(fnmatchcase(f"{module}.{name}", p) for p in patterns):
                yield _clean(module), _clean(name), value


def _stored(value: Scalar) -> int | float | str:
    """The value of a knob: an integer that no database can hold is a text."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if not isinstance(value, int) or (is_whole and -GREATEST <= value <= GREATEST) else option_text(value)


def message(plan: Plan, o: Outcome | None) -> str:
    """Why a run failed. Without the study's folder: the same wherever it lies."""
    return "" if o is None else _clean(o.message.replace(str(plan.study.path.parent) + "/", ""))


def write(plan: Plan, known: dict[int, Outcome]) -> None:
    """results.sqlite, results.csv, and host.csv with the times of this host, which no two runs have the same."""
    folder = plan.folder
    partial = folder / f".results.{os.getpid()}.part"
    partial.unlink(missing_ok=True)
    rows: list[tuple[Run, tuple[Any, ...], dict[str, int | float]]] = []
    try:
        with _database(partial) as database:
            for run in plan.runs:
                o = known.get(run.id)
                document: dict[str, Any] = {}
                if o is not None and o.status == 0:
                    try:
                        document = statistics(plan, run)
                    except InputError:  # damaged just now
                        o = None
                row: tuple[Any, ...] = (run.id, run.program, run.scheme, run.machine, run.seed, run.repetition, state_of(o),
                                        None if o is None else o.status, message(plan, o), *totals(document), run.key)
                database.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(row))})",
                                 [v if isinstance(v, str) else _as_stored(v) for v in row])
                database.executemany("INSERT INTO knobs VALUES (?, ?, ?)",
                                     [(run.id, k, _stored(v)) for k, v in run.axes])
                found = list(counters(document, plan.study.statistics))
                database.executemany("INSERT OR REPLACE INTO statistics VALUES (?, ?, ?, ?)",
                                     [(run.id, module, name, _as_stored(v)) for module, name, v in found])
                rows.append((run, row, {f"{m}.{n}": v for m, n, v in found[:_CSV_STATISTICS + 1]}))
        os.replace(partial, folder / DATABASE)
    except sqlite3.Error as e:
        raise InputError(f"cannot write '{folder / 'results.sqlite'}': {e}") from None
    finally:
        partial.unlink(missing_ok=True)
    write_whole(folder / "results.csv", _csv(rows))
    write_whole(folder / STUDY, plan.study.text)
    write_whole(folder / "host.csv", "run,seconds\n" + "".join(f"{i},{o.seconds:.3f}\n" for i, o in known.items()))


class _database:
    """A new database, committed at the end of the block."""

    def __init__(self, path: Path):
        self._connection = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> sqlite3.Connection:
        # One transaction in a file of its own: nothing depends on how it went.
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA page_size = 4096"):
            self._connection.execute(statement)
        self._connection.executescript(_SCHEMA)
        self._connection.execute("BEGIN")
        return self._connection

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self._connection.execute("COMMIT")
        self._connection.close()


def _csv(rows: list[tuple[Run, tuple[Any, ...], dict[str, int | float]]]) -> str:
    knobs = list(dict.fromkeys(k for run, _, _ in rows for k, _ in run.axes))
    names = sorted({n for _, _, found in rows for n in found})
    if len(names) > _CSV_STATISTICS:
        names = []
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["run", "program", "scheme", "machine", "seed", "repetition", "state", "status", "message", *TOTALS,
                    *knobs, *names])
    for run, row, found in rows:
        of_run = dict(run.axes)
        table.writerow([*("" if v is None else v for v in row[:-1]),
                        *(option_text(of_run[k]) if k in of_run else "" for k in knobs),
                        *(found.get(n, "") for n in names)])
    return out.getvalue()
