#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""budgets.py [--study FILE] [--bin BIN] [--jobs N] [--work DIR] [--page FILE] [--picture FILE] [--table FILE]: what if kernels
had other registers?

Runs a study that sweeps register budgets, and writes a page of it: which kernels the register file limits, what fewer registers
cost and gain, and under which scheme. Runs stay in DIR: a second call makes only what has changed. A program's last budget is
its reference, and so is the first scheme.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "platform" / "python"))

from regatta.means import geomean  # noqa: E402

#: A kernel gains or loses by a budget if its cycles change by more than this.
NOTICED = 0.02


@dataclass(frozen=True)
class Point:
    """A finished run."""
    cycles: int
    energy_nj: float
    registers: int  # per thread, the most of any kernel
    spilled: int    # of all kernels
    warps: float    # resident on an SM, mean over its active cycles


Key = Tuple[str, str, str]  # program, scheme, budget


class Results:
    """`points`: by program, scheme and budget. Budgets of a program are in the order of the study."""

    def __init__(self, points: Dict[Key, Point], refused: Dict[Key, str], programs: List[str], schemes: List[str],
                 budgets: Dict[str, List[str]]):
        self.points, self.refused = points, refused
        self.programs, self.schemes, self.budgets = programs, schemes, budgets

    @property
    def first(self) -> str:
        return self.schemes[0]

    def reference(self, program: str) -> Optional[Point]:
        return self.points.get((program, self.first, self.budgets[program][-1]))

    def relative(self, program: str, scheme: str, budget: str, what: str = "cycles") -> Optional[float]:
        """Against the reference; none: one of the two is not there."""
        point, reference = self.points.get((program, scheme, budget)), self.reference(program)
        return None if point is None or reference is None else getattr(point, what) / getattr(reference, what)

    def best(self, program: str, scheme: str, what: str = "cycles") -> Optional[Tuple[float, str]]:
        """The least, and its budget; of equal ones the largest budget."""
        found = [(r, b) for b in reversed(self.budgets[program]) if (r := self.relative(program, scheme, b, what)) is not None]
        return min(found, key=lambda x: x[0], default=None)


def read(database: Path) -> Results:
    """Of a study's results.sqlite. Throws sqlite3.Error, and ValueError if it sweeps no budgets on one machine."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT r.id, r.program, r.scheme, r.machine, k.value, r.state, r.message, r.cycles, r.energy_nj FROM runs r "
            "LEFT JOIN knobs k ON k.run = r.id AND k.name = 'registers' ORDER BY r.id").fetchall()
        kept = connection.execute("SELECT run, module, name, value FROM statistics").fetchall()
    finally:
        connection.close()
    sums: Dict[Tuple[int, str], float] = {}
    for run, _module, name, value in kept:
        sums[run, name] = sums.get((run, name), 0) + value
    if len({row[3] for row in rows}) != 1:
        raise ValueError("found runs on several machines, or none, expected one machine")
    points: Dict[Key, Point] = {}
    refused: Dict[Key, str] = {}
    programs: List[str] = []
    schemes: List[str] = []
    budgets: Dict[str, List[str]] = {}
    for run, program, scheme, _machine, registers, state, message, cycles, energy in rows:
        if registers is None:
            raise ValueError(f"found no budget of registers in run {run} of '{program}', expected registers = [...] in the study")
        key = (program, scheme, str(registers))
        for name, names in ((program, programs), (scheme, schemes), (key[2], budgets.setdefault(program, []))):
            if name not in names:
                names.append(name)
        if state != "finished":
            refused[key] = message or "not run"
            continue
        active = sums.get((run, "active_cycles"), 0)
        points[key] = Point(cycles, energy, int(sums.get((run, "registers"), 0)), int(sums.get((run, "spilled_registers"), 0)),
                            sums.get((run, "resident_warp_cycles"), 0) / active if active else 0.0)
    return Results(points, refused, programs, schemes, budgets)


def _ratio(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.2f}"


def limited(results: Results, program: str) -> str:
    """What registers are to the program, by its reference and its best budget."""
    reference, best = results.reference(program), results.best(program, results.first)
    if reference is None or best is None:
        return "not run"
    if reference.spilled and best[1] == results.budgets[program][-1]:
        return "spills with all registers"
    if best[0] < 1 - NOTICED:
        return "fewer registers are faster"
    floor = [b for b in results.budgets[program] if (r := results.relative(program, results.first, b)) is not None and r <= 1 + NOTICED]
    return f"as fast from {floor[0]} on" if floor and floor[0] != results.budgets[program][-1] else "needs all that it has"


def page(results: Results, machine: str, picture: str) -> str:
    """The verdict, the picture, the tables."""
    gains = [p for p in results.programs if (b := results.best(p, results.first)) is not None and b[0] < 1 - NOTICED]
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# Register budgets", "",
             f"On machine {machine}, {len(gains)} of {len(results.programs)} programs are faster with fewer registers than they ask "
             f"for{': ' + ', '.join(gains) if gains else ''}.", ""]
    shares = []
    for scheme in results.schemes:
        found = [b[0] for p in results.programs if (b := results.best(p, scheme)) is not None]
        own = [r for p in results.programs if (r := results.relative(p, scheme, results.budgets[p][-1])) is not None]
        if found and own:
            shares.append((scheme, len(own), geomean(own), geomean(found)))
    if shares:
        # Means over other programs do not compare: of the schemes that run the most.
        most = max(s[1] for s in shares)
        best = min((s for s in shares if s[1] == most), key=lambda s: s[3])
        lines += [f"With the best budget of each program, {best[0]} takes the fewest cycles: {best[3]:.2f} of those that "
                  f"{results.first} takes with all registers (geometric mean of {best[1]} programs).", ""]
    lines += [f"![cycles by budget]({picture})", "",
              "Cycles are those of the reference: " + results.first + " with the last budget of the program, as many registers as "
              "its kernels ask for.", "", "## Schemes", "",
              "| scheme | programs | cycles, all registers | cycles, best budget of each |", "| --- | --- | --- | --- |"]
    lines += [f"| {scheme} | {count} | {own:.2f} | {least:.2f} |" for scheme, count, own, least in shares]
    lines += ["", "Geometric means over the programs that the scheme runs.", "", "## Programs", "",
              f"Under {results.first}. Warps: resident on an SM, mean over its active cycles.", "",
              "| program | registers | warps | best budget | cycles | energy | warps | spilled | verdict |",
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for program in results.programs:
        reference, best = results.reference(program), results.best(program, results.first)
        if reference is None or best is None:
            lines.append(f"| {program} | - | - | - | - | - | - | - | not run |")
            continue
        point = results.points[program, results.first, best[1]]
        lines.append(f"| {program} | {reference.registers} | {reference.warps:.1f} | {best[1]} | {best[0]:.2f} | "
                     f"{_ratio(results.relative(program, results.first, best[1], 'energy_nj'))} | {point.warps:.1f} | {point.spilled} | "
                     f"{limited(results, program)} |")
    lines += ["", "## Every budget", "", f"Cycles under {results.first} / registers spilled. A smaller budget may change the code where nothing is spilled, too: "
              "copies that are not merged, values that are computed again.", ""]
    for budgets in dict.fromkeys(tuple(results.budgets[p]) for p in results.programs):
        lines += ["| program | " + " | ".join(budgets) + " |", "| --- |" + " --- |" * len(budgets)]
        for program in (p for p in results.programs if tuple(results.budgets[p]) == budgets):
            cells = []
            for budget in budgets:
                point = results.points.get((program, results.first, budget))
                cells.append("-" if point is None else f"{_ratio(results.relative(program, results.first, budget))} / {point.spilled}")
            lines.append(f"| {program} | " + " | ".join(cells) + " |")
        lines.append("")
    whys: Dict[str, List[str]] = {}
    for (program, scheme, _budget), message in results.refused.items():
        whys.setdefault(message, []).append(f"{program} under {scheme}")
    if whys:
        lines += ["## Refused", ""]
        lines += [f"- {', '.join(dict.fromkeys(names))}: {message}" for message, names in whys.items()] + [""]
    lines += ["`make budgets` writes this page again ([budgets.py](budgets.py), [budgets.toml](budgets.toml))."]
    return "\n".join(lines) + "\n"


def document(results: Results, machine: str) -> Dict[str, object]:
    """The numbers of the page."""
    return {"machine": machine, "reference": results.first,
            "runs": [{"program": p, "scheme": s, "registers": b, "cycles": x.cycles, "energy_nj": x.energy_nj,
                      "allocated": x.registers, "spilled": x.spilled, "resident_warps": round(x.warps, 3)}
                     for (p, s, b), x in results.points.items()],
            "refused": [{"program": p, "scheme": s, "registers": b, "message": m} for (p, s, b), m in results.refused.items()]}


_COLOURS = ("#1b6ca8", "#c44e1c", "#3a7d34", "#7a4fa3", "#946b1d", "#2a8a8a", "#b03060", "#555555", "#708a1d", "#a05a2c")


def svg(results: Results) -> str:
    """Geometric mean of the cycles by budget, a line for each scheme, over the programs with the most common budgets that all
    schemes run."""
    lists = [tuple(results.budgets[p]) for p in results.programs]
    budgets = max(dict.fromkeys(lists), key=lists.count)
    programs = [p for p in results.programs if tuple(results.budgets[p]) == budgets]
    lines: Dict[str, List[Tuple[int, float]]] = {}
    for scheme in results.schemes:
        for at, budget in enumerate(budgets):
            found = [r for p in programs if (r := results.relative(p, scheme, budget)) is not None]
            if found:
                lines.setdefault(scheme, []).append((at, geomean(found)))
    values = [v for points in lines.values() for _, v in points] or [1.0]
    low, high = min(0.9, min(values)), max(1.1, max(values))
    left, top, width, height = 60, 20, 560, 260

    def x(at: float) -> float:
        return left + width * at / max(1, len(budgets) - 1)

    def y(value: float) -> float:
        return top + height * (high - value) / (high - low)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="800" height="340" font-family="sans-serif" font-size="12">',
           '<rect width="800" height="340" fill="white"/>',
           f'<text x="{left}" y="14">cycles, of {results.first} with all registers (geometric mean)</text>']
    for step in range(5):
        value = low + (high - low) * step / 4
        out.append(f'<line x1="{left}" y1="{y(value):.1f}" x2="{left + width}" y2="{y(value):.1f}" stroke="#dddddd"/>'
                   f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for at, budget in enumerate(budgets):
        out.append(f'<text x="{x(at):.1f}" y="{top + height + 18}" text-anchor="middle">{budget}</text>')
    out.append(f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle">registers per thread</text>')
    for number, (scheme, points) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x(at):.1f},{y(v):.1f}" for at, v in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{left + width + 12}" y="{top + 14 + 18 * number}" fill="{colour}">{scheme}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, default=HERE / "budgets.toml", help="the study file")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin", help="where the tools are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "budgets", help="of runs and results")
    parser.add_argument("--page", type=Path, default=HERE / "README.md")
    parser.add_argument("--picture", type=Path, default=HERE / "budgets.svg")
    parser.add_argument("--table", type=Path, default=HERE / "budgets.json")
    options = parser.parse_args(arguments)
    text = options.study.read_text()
    machines = tomllib.loads(text).get("machines", ["gtx980"])
    # The study's folder lies beside its file: a copy in the folder of work, which names files from anywhere.
    options.work.mkdir(parents=True, exist_ok=True)
    copy = options.work / options.study.name
    for key in ("launch", "trace"):
        text = text.replace(f'{key} = "', f'{key} = "{options.study.resolve().parent}/')
    copy.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform" / "python")}
    done = subprocess.run([sys.executable, "-B", "-m", "regatta.commands.study", "run", str(copy), "--bin", str(options.bin.resolve()),
                           "--jobs", str(options.jobs)], env=environment, check=False)
    if done.returncode not in (0, 1):  # 1: runs were refused
        return done.returncode
    try:
        results = read(copy.with_suffix(".study") / "results.sqlite")
    except (sqlite3.Error, ValueError) as e:
        print(f"budgets.py: {copy}: {e}", file=sys.stderr)
        return 2
    machine = machines[0]
    options.picture.write_text(svg(results))
    options.table.write_text(json.dumps(document(results, machine), indent=1) + "\n")
    options.page.write_text(page(results, machine, os.path.relpath(options.picture, options.page.parent)))
    print(f"wrote {options.page}, {options.picture} and {options.table}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
