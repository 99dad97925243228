# SPDX-License-Identifier: Apache-2.0
"""Section: every statistic of every run, with unit and meaning."""

import re
from typing import Any, Dict, List, Sequence, Tuple

from ..statistics import InputError
from .page import Section
from .run_data import Data
from .meanings import Simulator, plain

MOST_CELLS = 40_000
_SM = re.compile(r"sm\d+(?=\.|\Z)")


def build(runs: Sequence[Data], simulator: Simulator) -> Section:
    known: Dict[str, Tuple[str, str]] = {}
    notes = []
    for r in runs:
        try:
            known.update(simulator.statistics(str(r.document.get("machine", "")), r.run.scheme))
        except InputError as e:
            notes.append(f"The meanings of {r.name}'s statistics are not known: {e}.")
    tables = [_values(r) for r in runs]
    names = list(dict.fromkeys(n for t in tables for n in t))
    sums = [_sums(t) for t in tables]
    of_sums = list(dict.fromkeys(n for t in sums for n in t))
    if of_sums:
        notes.append("Rows of sm* are sums over all SMs (of maxima: the largest).")
    if len(names) * len(runs) > MOST_CELLS:
        kept = [n for n in names if not _SM.match(n[0])]
        notes.append(f"{len(names) - len(kept):,} rows of single SMs are left out.")
        names = kept
    if len(names + of_sums) * len(runs) > MOST_CELLS:
        left = len(names) + len(of_sums) - MOST_CELLS // len(runs)
        names = names[:max(0, len(names) - left)]
        notes.append(f"The last {left:,} rows are left out; the run's file has them.")
    rows: List[List[Any]] = []
    for name in of_sums + names:
        values = [s.get(name, t.get(name)) for s, t in zip(sums, tables)]
        unit, meaning = known.get(plain(f"{name[0].replace('sm*', 'sm0')}.{name[1]}"), ("", ""))
        rows.append([name[0], name[1], *values, unit, meaning])
    columns = ["module", "statistic", *([r.name for r in runs] if len(runs) > 1 else ["value"]), "unit", "meaning"]
    return Section("statistics", "All statistics", "statistics.html.j2", {"columns": columns, "rows": rows, "notes": notes})


def _values(r: Data) -> Dict[Tuple[str, str], Any]:
    return {(module, name): v for module, group in r.document["stats"].items() for name, v in group.items()
            if isinstance(v, (int, float)) and not isinstance(v, bool)}


def _sums(values: Dict[Tuple[str, str], Any]) -> Dict[Tuple[str, str], Any]:
    """Counters over several SMs; means and shares have no sum."""
    sms = {match[0] for module, _ in values if (match := _SM.match(module))}
    if len(sms) < 2:
        return {}
    found: Dict[Tuple[str, str], Any] = {}
    for (module, name), v in values.items():
        if _SM.match(module) and isinstance(v, int):
            key = (_SM.sub("sm*", module, count=1), name)
            found[key] = v if key not in found else max(found[key], v) if name.endswith("_max") else found[key] + v
    return found
