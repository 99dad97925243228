# SPDX-License-Identifier: Apache-2.0
"""Section: energy by structure, the largest first, and the events that it is made of."""

from typing import Any, Dict, List, Sequence

from .page import Section, share
from .run_data import MEANING, Data, microjoules

def build(runs: Sequence[Data]) -> Section:
    return Section("energy", "Energy by structure", "energy.html.j2", {"runs": [_run(r) for r in runs]})


def _run(r: Data) -> Dict[str, Any]:
    e = r.document["energy"]
    total = r.run.energy_nj
    static = e.get("static_by_structure", {})
    structures = r.energy()
    largest = structures[0][1] if structures else 0.0
    rows: List[List[Any]] = []
    for name, nj in structures:
        fixed = float(static.get(name, 0.0)) if static else None
        rows.append([name.replace("_", " "), nj / 1000, 100 * nj / total if total else None,
                     None if fixed is None else (nj - fixed) / 1000, None if fixed is None else fixed / 1000])
    events = [[v.get("structure"), v.get("event"), v.get("nj", 0.0) / 1000, v.get("count"), v.get("pj"), v.get("per"),
               v.get("basis"), v.get("source")] for v in e.get("by_event", [])]
    return {
        "verdict": _verdict(r), "rows": rows,
        "bars": [{"name": name.replace("_", " "), "wide": round(100 * nj / largest, 3),
                  "text": f"{microjoules(nj)}, {share(nj, total)}", "meaning": MEANING.get(name, "")}
                 for name, nj in structures if nj > 0],
        "events": sorted(events, key=lambda v: -float(v[2])),
    }


def _verdict(r: Data) -> List[str]:
    e, structures = r.document["energy"], [s for s in r.energy() if s[1] > 0]
    if not structures:
        return ["The run has no energy."]
    total = r.run.energy_nj
    name, nj = structures[0]
    found = [f"Largest consumer: {name.replace('_', ' ')}" + (f" ({MEANING[name]})" if name in MEANING else "") +
             f", {microjoules(nj)} of {microjoules(total)} ({share(nj, total)})."]
    moving = [(n, v) for n, v in structures if n not in ("card", "sm_static")]
    if name in ("card", "sm_static") and moving:
        found.append(f"Beside the card and the SMs' static energy, {moving[0][0].replace('_', ' ')} consumes most: "
                     f"{microjoules(moving[0][1])} ({share(moving[0][1], total)}).")
    if "static_nj" in e:
        found.append(f"{share(float(e['static_nj']), total)} is static.")
    basis = {str(k): float(v) for k, v in e.get("by_basis", {}).items() if v}
    if basis and sum(basis.values()) > 0:
        most = max(basis, key=lambda b: (basis[b], b))
        found.append(f"{share(basis[most], sum(basis.values()))} rests on values of the basis '{most}' "
                     f"(table {e.get('table', '?')}).")
    if e.get("undeclared"):
        found.append("Without an energy: " + ", ".join(map(str, e["undeclared"])) + ".")
    return found
