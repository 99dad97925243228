# SPDX-License-Identifier: Apache-2.0
"""What is kept of the further files that a run writes (campaign.Keep).

Each reader takes the file and what is wanted of it, and returns what JSON can hold.
"""

import csv
from pathlib import Path
from typing import Any, Callable


class Missing(Exception):
    """The file does not have what is wanted of it."""


def table(path: Path, _wanted: Any = None) -> dict[str, list[float]]:
    """The columns of a CSV file of numbers, by title."""
    with open(path, newline="", encoding="utf-8") as f:
        header, *rows = csv.reader(f)
    return {title: [float(row[i]) for row in rows] for i, title in enumerate(header)}


def text(path: Path, _wanted: Any = None) -> str:
    """The file as it is."""
    return path.read_text(encoding="utf-8")


def sums(path: Path, wanted: dict[str, list[str]]) -> dict[str, list[int]]:
    """Of --sample-file: {"cycle": [...], name: [...]}. For each wanted name the sum of the columns that end with one of its
    texts, over all modules."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = csv.reader(f)
        header = next(rows)
        places: dict[str, list[int]] = {}
        for name, columns in wanted.items():
            # Columns "total." are such sums already.
            places[name] = [i for i, title in enumerate(header)
                            if any(title == c or title.endswith("." + c) for c in columns)
                            and not title.startswith("total.")]
            if not places[name]:
                raise Missing(f"no counter of the run is called {' or '.join(columns)}")
        cycle = header.index("cycle")
        out: dict[str, list[int]] = {"cycle": [], **{name: [] for name in places}}
        for row in rows:
            out["cycle"].append(int(row[cycle]))
            for name, own in places.items():
                out[name].append(sum(int(row[i]) for i in own))
    return out


def accesses(path: Path, wanted: dict[str, int]) -> dict[str, list[int]]:
    """Of --pipeline, for a warp (`launch`, `cta`, `warp`): {"life": [first cycle, last cycle], "R1": [...]}. A register is
    accessed in the cycle in which an instruction has all its operands (a read) or is written back.

    The file is for the viewer Konata. Its second label names destinations and sources, "launch 1, slot 0, unit sp, R4 <- R4
    R6, PTX line 74"."""
    cycle = 0
    registers: dict[str, tuple[list[str], list[str]]] = {}  # of instructions under way: written, and read
    mine: set[str] = set()
    found: dict[str, set[int]] = {}
    life: list[int] = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            what, *fields = line.rstrip("\n").split("\t")
            if what == "C=":
                cycle = int(fields[0])
            elif what == "C":
                cycle += int(fields[0])
            elif what == "L" and fields[1] == "0":
                if f" CTA {wanted['cta']} warp {wanted['warp']}:" in fields[2]:
                    mine.add(fields[0])
            elif what == "L" and fields[0] in mine:
                parts = fields[2].split(", ")
                if parts[0] != f"launch {wanted['launch']}":
                    mine.discard(fields[0])
                    continue
                named = next((p for p in parts[3:] if "R" in p and not p.startswith("PTX")), "")
                written, _, read = named.partition("<-")
                registers[fields[0]] = (written.split(), read.split())
            elif what in ("S", "E") and fields[0] in registers:
                life = [life[0] if life else cycle, cycle]
                at = {("E", "O"): 1, ("S", "W"): 0}.get((what, fields[2]))
                if at is not None:
                    for register in registers[fields[0]][at]:
                        found.setdefault(register, set()).add(cycle)
    if not life:
        raise Missing(f"launch {wanted['launch']} has no CTA {wanted['cta']} with a warp {wanted['warp']}")
    return {"life": life, **{r: sorted(c) for r, c in sorted(found.items(), key=lambda i: int(i[0][1:]))}}


#: What readers throw for a file that is not as they expect it.
ERRORS = (OSError, ValueError, LookupError, StopIteration, csv.Error)
#: By the name that a Keep has.
READERS: dict[str, Callable[[Path, Any], Any]] = {"table": table, "text": text, "sums": sums, "accesses": accesses}
