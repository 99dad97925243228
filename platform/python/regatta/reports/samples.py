# SPDX-License-Identifier: Apache-2.0
"""Section: counters over time, from --sample N --sample-file T.csv."""

import csv
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..statistics import InputError
from .page import Section
from .run_data import Data
from .tools import Simulator, plain

MOST_POINTS = 1000      # of a series; more rows of the file are added up
MOST_VALUES = 450_000   # of the section
_NUMBERED = re.compile(r"\A(memory\.[a-z0-9_]*?_)\d+\.")
# Those that are drawn at first: the first that exists of each.
_FIRST = (("IPC",), ("resident warps",), ("resident CTAs",), ("L1 read misses", "total.l1.reads"), ("DRAM bytes",), ("register reads",),
          ("total.regless.regions",))


class Samples(NamedTuple):
    """`cycles[i]`: the end of interval i; `launches[i]`: its launch; `columns`: increments, or values of maxima."""
    cycles: List[int]
    launches: List[int]
    columns: Dict[str, List[int]]


def read(path: str) -> Samples:
    """A file of --sample-file; throws InputError."""
    cycles: List[int] = []
    launches: List[int] = []
    try:
        with open(path, newline="", encoding="utf-8") as f:
            reader = csv.reader(f)
            head = next(reader, [])
            if head[:2] != ["cycle", "launch"]:
                raise InputError(f"{path}:1: found {', '.join(head[:2]) or 'nothing'}, expected cycle, launch and the counters that "
                                 f"regatta-sim --sample-file writes")
            rows: List[List[int]] = []
            for number, row in enumerate(reader, 2):
                if len(row) != len(head):
                    raise InputError(f"{path}:{number}: found {len(row)} columns, expected {len(head)}")
                try:
                    values = [int(v) for v in row]
                except ValueError:
                    bad = next(i for i, v in enumerate(row) if not re.fullmatch(r"\d+", v))
                    raise InputError(f"{path}:{number}: {head[bad]}: found '{row[bad][:40]}', expected a whole number") from None
                if cycles and values[0] <= cycles[-1]:
                    raise InputError(f"{path}:{number}: cycle: found {values[0]}, expected more than {cycles[-1]}")
                cycles.append(values[0])
                launches.append(values[1])
                rows.append(values)
    except (OSError, UnicodeDecodeError, csv.Error) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is no CSV"
        raise InputError(f"{path}: cannot be read: {reason}") from None
    if not rows:
        raise InputError(f"{path}: found no rows, expected a row per interval")
    columns = [list(c) for c in zip(*rows)]
    return Samples(cycles, launches, dict(zip(head[2:], columns[2:])))


def is_maximum(name: str) -> bool:
    return name.endswith("_max")


def merged(s: Samples, most: int) -> Tuple[Samples, int]:
    """At most so many intervals: neighbours of the same launch are joined. The sums stay what they are."""
    together = -(-len(s.cycles) // most)
    if together <= 1:
        return s, 1
    groups: List[Tuple[int, int]] = []
    begin = 0
    for i in range(1, len(s.cycles) + 1):
        if i == len(s.cycles) or i - begin == together or s.launches[i] != s.launches[begin]:
            groups.append((begin, i))
            begin = i
    columns = {name: [(max if is_maximum(name) else sum)(v[a:b]) for a, b in groups] for name, v in s.columns.items()}
    return Samples([s.cycles[b - 1] for _, b in groups], [s.launches[a] for a, _ in groups], columns), together


def derived(columns: Dict[str, List[int]]) -> Dict[str, Tuple[str, List[int]]]:
    """Series that a file does not name so: name to unit and increments. Parts of a kind (L2 slices, DRAM channels) are added up."""
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
    found = {name: (unit, values) for name, unit, names in wanted if (values := of(*names)) is not None}
    found.update({name: ("", values) for name, values in sums.items()})
    return found


def _ranked(name: str) -> int:
    """What is kept first if there is not room for all: sums, then parts of the memory, then single SMs."""
    return 0 if name.startswith("total.") else 1 if not re.match(r"sm\d", name) else 2


def _series(s: Samples, known: Dict[str, Tuple[str, str]], room: int) -> Tuple[List[Dict[str, Any]], Dict[str, int]]:
    """Series for the page, and how many counters are left out and why."""
    sms = {name.split(".", 1)[0] for name in s.columns if re.match(r"sm\d", name)}
    columns = {n: v for n, v in s.columns.items() if len(sms) > 1 or not re.match(r"sm\d", n)}
    series = [{"name": n, "unit": unit, "meaning": "", "max": False, "values": v} for n, (unit, v) in derived(columns).items() if any(v)]
    nothing = 0
    for name in sorted(columns, key=_ranked):
        if not any(columns[name]):
            nothing += 1
            continue
        unit, meaning = known.get(plain(name.replace("total.", "sm0.", 1)), ("", ""))
        series.append({"name": name, "unit": unit, "meaning": meaning, "max": is_maximum(name), "values": columns[name]})
    fits = max(1, room // max(1, len(s.cycles)))
    return series[:fits], {"nothing": nothing, "no room": max(0, len(series) - fits)}


def build(runs: Sequence[Data], samples: Sequence[Optional[Samples]], simulator: Simulator) -> Section:
    """`samples`: one per run, or None for runs without."""
    found = [s for s in samples if s is not None]
    data, notes = [], []
    for r, s in zip(runs, samples):
        if s is None:
            data.append(None)
            notes.append([f"The run {r.name} has no samples (--samples)."])
            continue
        try:
            known = simulator.statistics(str(r.document.get("machine", "")), r.run.scheme)
        except InputError:
            known = {}
        short, together = merged(s, MOST_POINTS)
        series, left = _series(short, known, MOST_VALUES // len(found))
        names = [x["name"] for x in series]
        first = [n for choice in _FIRST if (n := next((c for c in choice if c in names), None))] or names[:4]
        data.append({"cycles": short.cycles, "launches": short.launches, "series": series, "first": first,
                     "kernels": [str(la["kernel"]) for la in r.launches]})
        notes.append([f"{len(s.cycles):,} intervals of --sample" + (f", {together} joined to a point" if together > 1 else "") +
                      f"; {len(series)} series" + (f"; {left['nothing']} counters counted nothing" if left["nothing"] else "") +
                      (f"; {left['no room']} series of single SMs are left out" if left["no room"] else "") + "."])
    return Section("samples", "Over time", "samples.html.j2", {"data": data, "runs": notes})
