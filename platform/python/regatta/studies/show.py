# SPDX-License-Identifier: Apache-2.0
"""A study's results: for people, the points of each program, best first; for programs, the statistics of a run."""

import re
import sqlite3
from pathlib import Path
from typing import Any

from ..idle_knobs import Measured, idle_knobs, sentences
from ..means import geomean
from ..statistics import InputError
from ..text import number, table
from . import stored
from .agreement import disagreement
from .checks import option_text
from .file import Study
from .results import DATABASE, TOTALS, state_of

_KEY = re.compile(r"[0-9a-f]{64}\Z")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _is_value(value: Any) -> bool:
    return isinstance(value, (int, float, str))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int)


class Results:
    """A study's results.sqlite. All throw InputError if it is damaged."""

    def __init__(self, path: Path):
        if not path.is_file():
            raise InputError(f"{path}: there are no results yet: regatta-study run writes them at its end")
        self._path = path
        self._database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)

    def __enter__(self) -> "Results":
        return self

    def __exit__(self, *_: Any) -> None:
        self._database.close()

    def ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(question, values).fetchall()
        except sqlite3.Error as e:
            raise InputError(f"{self._path}: cannot be read: {e}; regatta-study run writes it anew") from None

    def rows(self, table_name: str, **columns: Any) -> list[tuple[Any, ...]]:
        """Of these columns, each with a function that knows what can be in it."""
        found = self.ask(f"SELECT {', '.join(columns)} FROM {table_name} ORDER BY 1")
        for row in found:
            for (column, is_right), value in zip(columns.items(), row):
                if not is_right(value):
                    raise InputError(f"{self._path}: table '{table_name}', column '{column}': found {value!r:.60}, expected a "
                                     f"value of regatta-study; its run writes the file anew")
        return found

    def values(self, statistic: str, place: str = "--by") -> dict[int, float]:
        """By run: a total, or a statistic "module.name" summed over the modules that match (sm*.l1.reads)."""
        if statistic in TOTALS:
            own = {"id": _is_count, statistic: lambda v: v is None or _is_number(v)}
            return {run: value for run, value in self.rows("runs", **own) if value is not None}
        found: dict[int, float] = {}
        for run, value in self.ask("SELECT run, value FROM statistics WHERE module || '.' || name GLOB ?", statistic):
            if not (_is_count(run) and _is_number(value)):
                raise InputError(f"{self._path}: table 'statistics': found {value!r:.60} of run {run!r:.60}, expected a number; "
                                 f"regatta-study run writes the file anew")
            found[run] = found.get(run, 0) + value
        if not found:
            known = [f"{m}.{n}" for m, n in self.ask("SELECT DISTINCT module, name FROM statistics LIMIT 8")]
            raise InputError(f"{place}: found '{statistic}', expected one of {', '.join(TOTALS)}" +
                             (f", or of the statistics that the study keeps, as {', '.join(known)}" if known else
                              "; other statistics need [results] statistics in the study file"))
        return found

    def knobs(self) -> dict[int, dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for run, name, value in self.rows("knobs", run=_is_count, name=_is_text, value=_is_value):
            found.setdefault(run, {})[name] = value
        return found


def statistics_of(study: Study, run: str) -> dict[str, Any]:
    """The stats.json of the run with this number in the results. Throws InputError."""
    with Results(study.folder / DATABASE) as results:
        rows = results.rows("runs", id=_is_count, state=_is_text, key=lambda v: _is_text(v) and _KEY.match(v) is not None)
    found = next((row for row in rows if str(row[0]) == run), None)
    if found is None:
        raise InputError(f"--stats: found run '{run}', expected 1 to {len(rows)}")
    _, state, key = found
    if state != state_of(None) and state != "finished":
        raise InputError(f"--stats: run {run} has failed, expected a finished run")
    path = study.folder / "runs" / f"{key}.json.gz"
    try:
        document, _ = stored.Result(path, key).content() if state == "finished" else (None, {})
    except (OSError, stored.Damaged) as e:
        why = e.strerror if isinstance(e, OSError) else e
        raise InputError(f"{path}: found a damaged result ({why}), expected that of run {run}; regatta-study run makes it again"
                         ) from None
    if not isinstance(document, dict):
        raise InputError(f"--stats: run {run} has not ended, expected a finished run")
    return document


def show(study: Study, by: str, most: bool, rows: int, program: str) -> str:
    """Per program the best points by a statistic, and how they relate to the program's first point; then the points that
    are best for all programs, by geometric mean. First of all, whether they are of another text of the study file."""
    with Results(study.folder / DATABASE) as results:
        values, knobs = results.values(by), results.knobs()
        runs = results.rows("runs", id=_is_count, program=_is_text, scheme=_is_text, machine=_is_text, state=_is_text)
        cycles = results.values("cycles")
        repetitions = {run: repetition for run, repetition in results.rows("runs", id=_is_count, repetition=_is_count)}
        names = sorted({name for of_run in knobs.values() for name in of_run})
        programs = list(dict.fromkeys(r[1] for r in runs))
        if program and program not in programs:
            raise InputError(f"--program: found '{program}', expected one of {', '.join(programs)}")
        note = disagreement(study)
        out = [f"Note: {note}.\n"] if note else []
        means: dict[tuple[Any, ...], list[float]] = {}
        for name in [program] if program else programs:
            own = [(r, values[r[0]]) for r in runs if r[1] == name and r[0] in values]
            if not own:
                failed = sum(r[1] == name and r[4] == "failed" for r in runs)
                why = f", {failed} failed: regatta-study status tells why" if failed else ""
                out.append(f"{name}: no run has finished{why}\n")
                continue
            first = own[0][1]
            for run, value in own:
                if first > 0 and value > 0:
                    point = (run[2], run[3], tuple(option_text(knobs.get(run[0], {}).get(k, "-")) for k in names))
                    means.setdefault(point, []).append(value / first)
            own.sort(key=lambda p: (-p[1] if most else p[1], p[0][0]))
            cells = [["run", "scheme", "machine", *names, by, "of the first"]]
            for run, value in own[:rows]:
                cells.append([str(run[0]), run[2], run[3],
                              *(option_text(knobs.get(run[0], {}).get(k, "-")) for k in names), number(value),
                              f"{value / first:.3f}" if first else "-"])
            out.append(f"{name}: best {len(cells) - 1} of {len(own)} by {by}\n{table(cells)}")
        count = max(map(len, means.values()), default=0)
        whole = [(geomean(v), p) for p, v in means.items() if len(v) == count]
        if len(programs) > 1 and not program and len(whole) > 1:
            whole.sort(key=lambda w: (-w[0] if most else w[0], w[1]))
            cells = [["scheme", "machine", *names, f"{by}, of the first"]]
            cells += [[p[0], p[1], *p[2], f"{mean:.3f}"] for mean, p in whole[:rows]]
            out.append(f"all programs: best {len(cells) - 1} of {len(whole)} points, geometric mean\n{table(cells)}")
        told = sentences(idle_knobs([Measured(r[2], (r[1], r[3], repetitions[r[0]]), knobs.get(r[0], {}), cycles[r[0]])
                                     for r in runs if r[0] in cycles and program in ("", r[1])]))
        if told:
            out.append("".join(f"{sentence}\n" for sentence in told))
        return "\n".join(out)
