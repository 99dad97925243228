# SPDX-License-Identifier: Apache-2.0
"""Tables of a study's page: failures, all points, all runs, and what they took on the host."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .chart_tables import Names
from .study_data import Result, Study, Value
from .study_values import ALL, Values, failures, rounded

# Cells of a table in the page; further rows are cut, and the page says so.
_MOST_CELLS = 150_000
_MOST_RESULTS = 12


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def _dimensions(study: Study, point: int) -> list[Value | None]:
    return [study.points[point].get(d.name) for d in study.varied]


def _exact(value: float | None) -> float | int | None:
    """Counts as they are; nine digits of measures."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _cut(rows: list[list[Any]], columns: list[Any], what: str, where: str) -> tuple[list[list[Any]], list[str]]:
    most = max(100, _MOST_CELLS // len(columns))
    if len(rows) <= most:
        return rows, []
    return rows[:most], [f"The table has the first {most:,} of {len(rows):,} {what}; {where} has all of them."]


def failed(study: Study) -> dict[str, Any]:
    found = failures(study)
    count = sum(len(f.runs) for f in found)
    reasons = f", with {len(found):,} different messages" if len(found) > 1 else ", all for the same reason" if count > 1 else ""
    verdict = [f"{count:,} of {plural(len(study.runs), 'run')} failed{reasons}."]
    # What all failures have in common is the first thing to look at.
    shared = set.intersection(*(set(f.common.items()) for f in found))
    if shared:
        verdict.append(f"{'All of them have' if count > 1 else 'It has'} {', '.join(f'{k} = {v}' for k, v in sorted(shared))}.")
    rows = []
    for f in found:
        some = ", ".join(str(r.id) for r in f.runs[:10]) + (", ..." if len(f.runs) > 10 else "")
        rows.append([len(f.runs), f.status, f.message or "(no message)",
                     ", ".join(f"{k} = {v}" for k, v in f.common.items()) or None, some])
    return {"verdict": verdict, "notes": ["In common: what varies in the study, and is the same in all runs with this message."],
            "tables": [{"id": "study-failures-rows", "caption": "Failures by message", "big": False, "shown": 20,
                        "columns": ["runs", "status", "message", "in common", "numbers of the runs"], "rows": rows}]}


def points(values: Values, names: Names) -> dict[str, Any]:
    """A row per point, with all programs together; the best by cycles first."""
    study, program = values.study, values.groups[0]
    results: list[Result] = [r for r in names.results][:_MOST_RESULTS]
    front = set(values.front("cycles", "energy_nj", program)) if {"cycles", "energy_nj"} <= {r.key for r in results} else set()
    spreads = {r.key: values.spreads(r.key, program) for r in results}
    references = {r.key: values.reference(r.key, program) for r in results}
    rows = []
    for p in values.points:
        if not any(p in s for s in spreads.values()):
            continue
        row: list[Any] = [p + 1, *_dimensions(study, p), "yes" if p in front else None]
        for r in results:
            spread, reference = spreads[r.key].get(p), references[r.key]
            row.append(rounded(None if spread is None else spread.mean / reference if reference else spread.mean))
        rows.append(row)
    by = 2 + len(study.varied)
    rows.sort(key=lambda row: (row[by] is None, row[by], row[0]))
    columns: list[Any] = ["point", *(d.name for d in study.varied),
                          ("front", "of cycles and energy: no other point is as good in both, and better in one")]
    for r in results:
        columns.append((f"{r.title} / ref.", "over the value of the reference", 3) if references[r.key] else r.title)
    rows, notes = _cut(rows, columns, "points", "results.csv")
    left = len(study.points) - sum(any(p in s for s in spreads.values()) for p in values.points)
    if left:
        notes.append(f"{left:,} of {len(study.points):,} points are left out: " +
                     ("not all programs have finished runs there." if program == ALL else "they have no finished run."))
    mean = f"geometric means of {len(values.programs)} programs" if program == ALL else f"program {program}"
    return {"verdict": [], "notes": notes, "tables": [
        {"id": "study-points-rows", "caption": f"All points, best by cycles first; {mean}", "big": True,
         "columns": columns, "rows": rows}]}


def runs(values: Values, names: Names) -> dict[str, Any]:
    study = values.study
    results = names.results[:_MOST_RESULTS]
    repeated = study.repetitions > 1
    columns = ["run", "program", *(d.name for d in study.varied), *(["seed"] if repeated else []), "state",
               *(r.title for r in results)]
    rows = [[r.id, r.program, *_dimensions(study, r.point), *([r.seed] if repeated else []), r.state,
             *(_exact(r.values.get(k.key)) for k in results)] for r in study.runs]
    states = Counter(r.state for r in study.runs)
    rows, notes = _cut(rows, columns, "runs", "results.csv")
    notes.append("One run's whole statistics: regatta-study show S.toml --stats RUN run.json; then regatta-report run.json.")
    if study.left_out:
        notes.append(f"{study.left_out:,} further statistics are in results.sqlite; --statistic PATTERN chooses which are shown.")
    if names.left_out:
        notes.append(f"{plural(names.left_out, 'further result')} of so many runs would be too much for a page: see results.csv.")
    if names.left_out_programs:
        notes.append(f"The figures leave out {plural(names.left_out_programs, 'program')} of so many points.")
    caption = f"All runs ({len(study.runs):,}): " + ", ".join(f"{n:,} {s}" for s, n in states.items())
    return {"verdict": [], "notes": notes, "tables": [
        {"id": "study-runs-rows", "caption": caption, "big": True, "columns": columns, "rows": rows}]}


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def hosts(study: Study) -> dict[str, Any]:
    """Seconds are those of the host that made a run, and are not the same twice."""
    timed = [r for r in study.runs if r.seconds is not None]
    total = sum(r.seconds or 0 for r in timed)
    longest = max(timed, key=lambda r: r.seconds or 0)
    rows: list[list[Any]] = []
    for program in study.programs:
        own = [r for r in timed if r.program == program]
        if own:
            seconds = [r.seconds or 0 for r in own]
            cycles = sum(r.values.get("cycles", 0) for r in own)
            slow = max(own, key=lambda r: r.seconds or 0)
            rows.append([program, len(own), rounded(sum(seconds)), {
                "text": f"{100 * sum(seconds) / total:.1f} %" if total else "-", "value": sum(seconds),
                "bar": sum(seconds) / total if total else 0.0}, rounded(sum(seconds) / len(own)), rounded(max(seconds)), slow.id,
                rounded(cycles / sum(seconds)) if sum(seconds) else None])
    return {"verdict": [f"The runs took {_duration(total)} of one core; the longest, run {longest.id} ({longest.program}), took "
                        f"{_duration(longest.seconds or 0)}."], "notes": [],
            "tables": [{"id": "study-hosts-rows", "caption": "By program", "big": False, "shown": 24, "rows": rows,
                        "columns": ["program", "runs", "seconds", "share", "mean [s]", "longest [s]", "run of the longest",
                                    "simulated cycles per second"]}]}
