# SPDX-License-Identifier: Apache-2.0
"""Section: counters over time, from --sample N --sample-file T.csv."""

import operator
import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ..statistics import InputError
from .page import Section
from .run_data import Data
from .meanings import Simulator, plain

MOST_POINTS = 1000      # of a series; more rows of the file are added up
MOST_VALUES = 450_000   # of the section
_NUMBERED = re.compile(r"\A(memory\.[a-z0-9_]*?_)\d+\.")
# Those that are drawn at first: the first that exists of each.
_FIRST = (("IPC",), ("resident warps",), ("resident CTAs",), ("L1 read misses", "total.l1.reads"), ("DRAM bytes",),
          ("register reads",), ("total.regless.regions",))


class Samples(NamedTuple):
    """`cycles[i]`: the end of interval i; `launches[i]`: its launch; `columns`: increments, or values of maxima. `rows` of
    the file, of which up to `together` are one interval here; `left`: columns that are left out."""
    cycles: List[int]
    launches: List[int]
    columns: Dict[str, List[int]]
    rows: int
    together: int
    left: int


def read(path: str, most: int = MOST_POINTS, values: int = MOST_VALUES) -> Samples:
    """A file of --sample-file as at most `most` intervals: neighbours of the same launch are joined, so that sums stay what
    they are. Of more columns than `values` have room for, single SMs are left out first. Throws InputError."""
    try:
        with open(path, "rb") as f:
            rows = sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 20), b"")) - 1
        with open(path, encoding="utf-8") as f:
            return _joined(path, f, rows, -(-rows // most) if rows > most else 1, max(1, values // max(1, min(rows, most))))
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is no CSV"
        raise InputError(f"{path}: cannot be read: {reason}") from None


def is_maximum(name: str) -> bool:
    return name.endswith("_max")


def _ranked(name: str) -> int:
    """What is kept first if there is not room for all: sums, then parts of the memory, then single SMs."""
    return 0 if name.startswith("total.") else 1 if not re.match(r"sm\d", name) else 2


def _joined(path: str, file: Iterable[str], rows: int, together: int, fits: int) -> Samples:
    lines = iter(file)
    head = next(lines, "").rstrip("\n").split(",")
    if head[:2] != ["cycle", "launch"]:
        raise InputError(f"{path}:1: found '{','.join(head[:2])[:60]}', expected cycle, launch and the counters that regatta-sim "
                         f"--sample-file writes")
    sms = {name.split(".", 1)[0] for name in head if re.match(r"sm\d", name)}
    wanted = [i for i, name in enumerate(head) if i > 1 and (len(sms) > 1 or not re.match(r"sm\d", name))]
    # Counters that count nothing are left out later; who they are is not known yet.
    kept = sorted(sorted(wanted, key=lambda i: (_ranked(head[i]), i))[:3 * fits])
    names = [head[i] for i in kept]
    maxima = [k for k, name in enumerate(names) if is_maximum(name)]
    cycles: List[int] = []
    launches: List[int] = []
    groups: List[List[int]] = []
    joined = 0
    for number, line in enumerate(lines, 2):
        row = line.rstrip("\n").split(",")
        if len(row) != len(head):
            raise InputError(f"{path}:{number}: found {len(row)} columns, expected {len(head)}")
        try:
            cycle, launch = int(row[0]), int(row[1])
            values = [int(row[i]) for i in kept]
        except ValueError:
            bad = next(i for i in [0, 1, *kept] if not re.fullmatch(r"\d+", row[i]))
            raise InputError(f"{path}:{number}: {head[bad]}: found '{row[bad][:40]}', expected a whole number") from None
        if cycle <= (cycles[-1] if cycles else 0):
            raise InputError(f"{path}:{number}: cycle: found {cycle}, expected more than {cycles[-1] if cycles else 0}")
        if joined and joined < together and launches[-1] == launch:
            before = groups[-1]
            largest = [max(before[k], values[k]) for k in maxima]
            groups[-1] = list(map(operator.add, before, values))
            for k, v in zip(maxima, largest):
                groups[-1][k] = v
            cycles[-1] = cycle
            joined += 1
        else:
            cycles.append(cycle)
            launches.append(launch)
            groups.append(values)
            joined = 1
    if not groups:
        raise InputError(f"{path}: found no rows, expected a row per interval")
    columns = {name: list(v) for name, v in zip(names, zip(*groups))}
    return Samples(cycles, launches, columns, rows, together, len(wanted) - len(kept))


def derived(columns: Dict[str, List[int]]) -> Dict[str, Tuple[str, List[int]]]:
    """Series that a file does not name so: name to unit and increments. Parts of a kind (L2 slices, DRAM channels) are
    added up."""
    sums: Dict[str, List[int]] = {}
    for name, values in columns.items():
        match = _NUMBERED.match(name)
        if match and not is_maximum(name):
            key = match[1] + "*." + name[match.end():]
            sums[key] = values if key not in sums else [a + b for a, b in zip(sums[key], values)]

    def of(*names: str) -> Optional[List[int]]:
        found = [v for n in names if (v := columns.get(n, sums.get(n))) is not None]
        return [sum(parts) for parts in zip(*found)] if found else None
    wanted = (("IPC", "warp instructions", ("total.pipeline.warp_instructions",)),
              ("resident warps", "warps", ("total.pipeline.resident_warp_cycles",)),
              ("resident CTAs", "CTAs", ("total.pipeline.resident_cta_cycles",)),
              ("L1 read misses", "accesses", ("total.l1.read_misses",)),
              ("L2 read misses", "accesses", ("memory.l2_*.read_misses",)),
              ("DRAM bytes", "bytes", ("memory.dram_*.bytes_read", "memory.dram_*.bytes_written")),
              ("register reads", "warp registers", ("total.register_file.reads",)),
              ("register writes", "warp registers", ("total.register_file.writes",)))
    found = {name: (unit, series) for name, unit, names in wanted if (series := of(*names)) is not None}
    found.update({name: ("", counts) for name, counts in sums.items()})
    return found


def _series(s: Samples, known: Dict[str, Tuple[str, str]], room: int) -> Tuple[List[Dict[str, Any]], Dict[str, int]]:
    """Series for the page, and how many counters are left out and why."""
    def of(name: str, unit: str, counts: List[int]) -> Dict[str, Any]:
        known_unit, meaning = known.get(plain(name.replace("total.", "sm0.", 1).replace("*", "0")), ("", ""))
        return {"name": name, "unit": unit or known_unit, "meaning": meaning, "max": is_maximum(name),
                "level": name.startswith("resident "), "values": counts}
    series = [of(name, unit, counts) for name, (unit, counts) in derived(s.columns).items() if any(counts)]
    nothing = 0
    for name, counts in sorted(s.columns.items(), key=lambda c: _ranked(c[0])):
        if not any(counts):
            nothing += 1
            continue
        series.append(of(name, "", counts))
    fits = max(1, room // max(1, len(s.cycles)))
    return series[:fits], {"nothing": nothing, "no room": max(0, len(series) - fits) + s.left}


def build(runs: Sequence[Data], samples: Sequence[Optional[Samples]], simulator: Simulator) -> Section:
    """`samples`: one per run, or None for runs without."""
    found = [s for s in samples if s is not None]
    data: List[Optional[Dict[str, Any]]] = []
    notes: List[List[str]] = []
    for r, s in zip(runs, samples):
        if s is None:
            data.append(None)
            notes.append([f"The run {r.name} has no samples (--samples)."])
            continue
        try:
            known = simulator.statistics(str(r.document.get("machine", "")), r.run.scheme)
        except InputError:
            known = {}
        series, left = _series(s, known, MOST_VALUES // len(found))
        names = [x["name"] for x in series]
        first = [n for choice in _FIRST if (n := next((c for c in choice if c in names), None))] or names[:4]
        data.append({"cycles": s.cycles, "launches": s.launches, "series": series, "first": first,
                     "kernels": [str(la["kernel"]) for la in r.launches]})
        notes.append([f"{s.rows:,} intervals of --sample" +
                      (f", up to {s.together} joined to a point" if s.together > 1 else "") +
                      f"; {len(series)} series" + (f"; {left['nothing']} counters counted nothing" if left["nothing"] else "") +
                      (f"; {left['no room']} further series are left out" if left["no room"] else "") + "."])
    return Section("samples", "Over time", "samples.html.j2", {"data": data, "runs": notes})
