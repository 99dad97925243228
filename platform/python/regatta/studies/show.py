# SPDX-License-Identifier: Apache-2.0
"""Results for people: the points of each program, best first."""

import sqlite3
from pathlib import Path
from typing import Any

from ..means import geomean
from ..statistics import InputError
from ..text import number, table
from .checks import option_text
from .results import TOTALS


def _pairs(rows: list[tuple[Any, ...]]) -> dict[int, float]:
    return {run: value for run, value in rows}


class Results:
    """A study's results.sqlite."""

    def __init__(self, path: Path):
        if not path.is_file():
            raise InputError(f"{path}: there are no results yet: regatta-study run writes them at its end")
        self._path = path
        self._database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def __enter__(self) -> "Results":
        return self

    def __exit__(self, *_: Any) -> None:
        self._database.close()

    def ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._database.execute(question, values).fetchall()

    def values(self, statistic: str, place: str = "--by") -> dict[int, float]:
        """By run: a total, or a statistic "module.name" summed over the modules that match (sm*.l1.reads)."""
        if statistic in TOTALS:
            return _pairs(self.ask(f"SELECT id, {statistic} FROM runs WHERE {statistic} IS NOT NULL"))
        found = _pairs(self.ask("SELECT run, sum(value) FROM statistics WHERE module || '.' || name GLOB ? GROUP BY run",
                              statistic))
        if not found:
            known = [f"{m}.{n}" for m, n in self.ask("SELECT DISTINCT module, name FROM statistics LIMIT 8")]
            raise InputError(f"{place}: found '{statistic}', expected one of {', '.join(TOTALS)}" +
                             (f", or of the statistics that the study keeps, as {', '.join(known)}" if known else
                              "; other statistics need [results] statistics in the study file"))
        return found

    def knobs(self) -> dict[int, dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for run, name, value in self.ask("SELECT run, name, value FROM knobs"):
            found.setdefault(run, {})[name] = value
        return found


def show(path: Path, by: str, most: bool, rows: int, program: str) -> str:
    """Per program the best points by a statistic, and how they relate to the program's first point; then the points that
    are best for all programs, by geometric mean."""
    with Results(path) as results:
        values, knobs = results.values(by), results.knobs()
        runs = results.ask("SELECT id, program, scheme, machine, repetition FROM runs ORDER BY id")
        names = sorted({name for of_run in knobs.values() for name in of_run})
        programs = list(dict.fromkeys(r[1] for r in runs))
        if program and program not in programs:
            raise InputError(f"--program: found '{program}', expected one of {', '.join(programs)}")
        out = []
        means: dict[tuple[Any, ...], list[float]] = {}
        for name in [program] if program else programs:
            own = [(r, values[r[0]]) for r in runs if r[1] == name and r[0] in values]
            if not own:
                failed = results.ask("SELECT count(*) FROM runs WHERE program = ? AND state = 'failed'", name)[0][0]
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
        return "\n".join(out)
