# SPDX-License-Identifier: Apache-2.0
"""Section: source and code side by side with the scheduler-cycles of each line, from --cpi-lines."""

import os
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..statistics import shortened
from .listing import Line
from .page import Section, share
from .run_data import Data, most_waits, ordered, reason_name

MOST_FILE_BYTES = 4_000_000
MOST_LINES = 4000       # of a file; of a longer one only what is near lines with cycles
AROUND = 8
MOST_INSTRUCTIONS = 20_000  # of all runs


def build(runs: Sequence[Data], listings: Dict[str, List[Line]], folders: Sequence[str]) -> Section:
    """`folders`: where files are looked for, beside the places that the runs name."""
    sources = sorted({s for r in runs for s, _ in r.lines()})
    files = _Files(sources, folders)
    strings = _Strings()
    room = MOST_INSTRUCTIONS
    parts, data = [], []
    for r in runs:
        kernels, cut = _kernels(r, files, strings, listings, room)
        room -= sum(len(k["code"]) for k in kernels)
        parts.append({**_run(r, files), "cut": cut})
        data.append({"cycles": r.scheduler_cycles, "lines": _lines(r, files), "kernels": kernels})
    return Section("source", "Source lines", "source.html.j2", {
        "runs": parts, "missing": [f["path"] for f in files.files if f["lines"] is None], "any": bool(sources),
        "listings": bool(listings),
        "data": {"files": [{"name": f["name"], "lines": f["lines"]} for f in files.files], "runs": data, "strings": strings.all,
                 "reasons": files.reasons, "reasonNames": [reason_name(n) for n in files.reasons]}})


class _Strings:
    """Each text once."""

    def __init__(self) -> None:
        self.all: List[str] = []
        self._at: Dict[str, int] = {}

    def of(self, text: str) -> int:
        if text not in self._at:
            self._at[text] = len(self.all)
            self.all.append(text)
        return self._at[text]


def split(source: str) -> Tuple[str, int]:
    """'folder/k.cu:12' is ('folder/k.cu', 12); a source without a number has line 0."""
    path, colon, line = source.rpartition(":")
    return (path, int(line)) if colon and line.isdigit() else (source, 0)


class _Files:
    """The files of the source lines: names, and texts of those that are there."""

    def __init__(self, sources: Sequence[str], folders: Sequence[str]):
        wanted: Dict[str, set[int]] = {}
        for source in sources:
            path, line = split(source)
            wanted.setdefault(path, set()).add(line)
        names = shortened([p + ":0" for p in wanted])
        self.short = shortened(sources)
        self.files: List[Dict[str, Any]] = []
        self.at: Dict[str, int] = {}
        self.reasons: List[str] = []
        for path, lines in sorted(wanted.items()):
            self.at[path] = len(self.files)
            text = _text(path, folders)
            self.files.append({"path": path, "name": names[path + ":0"][:-2],
                               "lines": _excerpt(text, lines) if text is not None else None})

    def place(self, source: str) -> Tuple[int, int]:
        path, line = split(source)
        return self.at[path], line

    def split_reasons(self, by_reason: Dict[str, int]) -> List[int]:
        """Pairs of a reason's number and its cycles, one after another."""
        found: List[int] = []
        for reason in ordered([n for n, c in by_reason.items() if c]):
            if reason not in self.reasons:
                self.reasons.append(reason)
            found += [self.reasons.index(reason), by_reason[reason]]
        return found


def files_of(runs: Sequence[Data], folders: Sequence[str]) -> List[str]:
    """The source files that are there, of all lines of the runs."""
    paths = dict.fromkeys(split(source)[0] for r in runs for source, _ in r.lines())
    return [found for path in paths if (found := _place(path, folders)) is not None]


def _place(path: str, folders: Sequence[str]) -> Optional[str]:
    """A source file: where the run names it, or below one of the folders by as much of its path as is there."""
    parts = Path(path).parts
    tails = [os.path.join(*parts[i:]) for i in range(1 if Path(path).is_absolute() else 0, len(parts))]
    for candidate in [path] + [os.path.join(folder, tail) for tail in tails for folder in folders]:
        try:
            if os.path.isfile(candidate) and os.path.getsize(candidate) <= MOST_FILE_BYTES:
                return candidate
        except (OSError, ValueError):  # ValueError: a name that no file can have
            continue
    return None


def _text(path: str, folders: Sequence[str]) -> Optional[List[str]]:
    place = _place(path, folders)
    try:
        return Path(place).read_text(encoding="utf-8", errors="replace").splitlines() if place is not None else None
    except OSError:
        return None


def _excerpt(text: List[str], wanted: set[int]) -> List[Any]:
    """Pairs of line number and text; None where lines are left out."""
    if len(text) <= MOST_LINES:
        return [[i, line] for i, line in enumerate(text, 1)]
    near = sorted({n for line in wanted for n in range(line - AROUND, line + AROUND + 1) if 1 <= n <= len(text)})[:MOST_LINES]
    found: List[Any] = []
    for previous, n in zip([0] + near, near):
        if n != previous + 1:
            found.append(None)
        found.append([n, text[n - 1][:400]])
    return found


def _lines(r: Data, files: _Files) -> List[List[Any]]:
    """File, line, scheduler-cycles and reasons, the slowest first."""
    return [[*files.place(source), sum(reasons.values()), files.split_reasons(reasons)] for source, reasons in r.lines()]


def _kernels(r: Data, files: _Files, strings: _Strings, listings: Dict[str, List[Line]],
             room: int) -> Tuple[List[Dict[str, Any]], int]:
    """Code by kernel, with cycles over all launches of it: rows of index (-1: a line of the listing between instructions), text,
    file, line, cycles, reasons. And how many instructions there was no room for."""
    kernels: Dict[str, Dict[int, Tuple[Dict[str, Any], Counter[str]]]] = {}
    for entry in r.document.get("cpi_lines", []):
        of_kernel = kernels.setdefault(str(entry["kernel"]), {})
        for i in entry["instructions"]:
            of_kernel.setdefault(int(i["index"]), (i, Counter()))[1].update(i["by_reason"])
    found, cut = [], 0
    for name, instructions in kernels.items():
        listed = listings.get(name, [Line(i, "") for i in sorted(instructions)])
        code: List[List[Any]] = []
        for line in listed:
            if line.instruction is None:
                code.append([-1, strings.of(line.text)])
            elif line.instruction in instructions:
                i, reasons = instructions[line.instruction]
                code.append([line.instruction, strings.of(line.text or str(i["text"])), *files.place(str(i["source"])),
                             sum(reasons.values()), files.split_reasons(reasons)])
            else:
                code.append([line.instruction, strings.of(line.text), -1, 0, 0, []])
        cut += max(0, len(code) - room)
        code = code[:max(0, room)]
        room -= len(code)
        found.append({"name": name, "code": code})
    return found, cut


def _run(r: Data, files: _Files) -> Dict[str, Any]:
    lines = r.lines()
    if not lines:
        return {"verdict": [], "rows": []}
    largest = sum(lines[0][1].values())
    culprits = r.culprits()

    def waits_of(source: str, reasons: Dict[str, int]) -> str:
        waits, culprit = most_waits(reasons), culprits.get(source)
        return f"{waits}, because of {files.short.get(culprit, culprit)}" if waits and culprit else waits

    rows = []
    for source, reasons in lines[:200]:
        cycles, (file, line) = sum(reasons.values()), files.place(source)
        text = _line_text(files, file, line)
        rows.append([{"text": files.short[source], "href": "#source-panes", "line": f"{file}:{line}"},
                     {"text": share(cycles, r.scheduler_cycles), "value": cycles, "heat": cycles / largest if largest else 0.0},
                     cycles, reasons.get("issued", 0), waits_of(source, reasons), {"text": text, "code": True}])
    source, reasons = lines[0]
    waits = waits_of(source, reasons)
    half, n = 0, 0
    for _, by in lines:
        if 2 * half >= r.scheduler_cycles:
            break
        half, n = half + sum(by.values()), n + 1
    verdict = [f"The slowest line is {files.short[source]}: {share(largest, r.scheduler_cycles)} of the scheduler-cycles" +
               (f", most of all {waits}." if waits else ".")]
    if 2 * half >= r.scheduler_cycles:
        verdict.append(f"{n} of {len(lines)} lines take half of the cycles.")
    return {"verdict": verdict, "rows": rows, "more": max(0, len(lines) - 200)}


def _line_text(files: _Files, file: int, line: int) -> str:
    for row in files.files[file]["lines"] or []:
        if row is not None and row[0] == line:
            return str(row[1]).strip()[:120]
    return ""
