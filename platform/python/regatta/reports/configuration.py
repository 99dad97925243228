# SPDX-License-Identifier: Apache-2.0
"""Section: every knob with its value, and what differs from the machine's preset."""

from typing import Any, Dict, List, Sequence

from ..statistics import InputError
from .page import Section
from .run_data import Data
from .meanings import Knob, Simulator


def build(runs: Sequence[Data], simulator: Simulator) -> Section:
    parts = [_run(r, simulator) for r in runs]
    meanings: Dict[str, str] = {}
    units: Dict[str, str] = {}
    for r, part in zip(runs, parts):
        units.update({k: knob.unit for k, knob in part["preset"].items()})
        try:
            meanings.update(simulator.knobs(r.run.scheme))
        except InputError:
            pass  # _run has said so
    names = list(dict.fromkeys(k for r in runs for k in r.document["config"]))
    rows = [[k, *(value(r.document["config"].get(k)) for r in runs), _note(k, runs, parts), units.get(k, ""), meanings.get(k, "")]
            for k in names]
    columns = ["knob", *([r.name for r in runs] if len(runs) > 1 else ["value"]), "difference", "unit", "meaning"]
    return Section("configuration", "Configuration", "configuration.html.j2",
                   {"runs": parts, "columns": columns, "rows": rows,
                    "caption": f"All {len(names)} knobs; filter by 'preset' for those that differ from it"})


def value(v: Any) -> Any:
    """As a cell: booleans and lists are texts."""
    return v if v is None or (isinstance(v, (int, float, str)) and not isinstance(v, bool)) else str(v).lower()


def _same(a: Any, b: Any) -> bool:
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b))
    return bool(a == b) if numbers or type(a) is type(b) else False


def _run(r: Data, simulator: Simulator) -> Dict[str, Any]:
    machine, scheme = str(r.document.get("machine", "")), r.run.scheme
    preset: Dict[str, Knob] = {}
    try:
        preset = simulator.preset(machine, scheme)
    except InputError as e:
        return {"preset": preset, "changed": {}, "rows": [],
                "verdict": [f"What differs from the preset of {machine} is not known: {e}."]}
    changed = {k: preset[k].value for k, v in r.document["config"].items() if k in preset and not _same(v, preset[k].value)}
    unknown = [k for k in r.document["config"] if k not in preset and k != "machine.base"]
    verdict = [f"{len(changed)} of {len(r.document['config'])} knobs differ{'s' if len(changed) == 1 else ''} from the preset of "
               f"{machine} under the scheme {scheme}." if changed else
               f"All knobs are those of the preset of {machine} under the scheme {scheme}."]
    if unknown:
        verdict.append("This regatta-sim does not know: " + ", ".join(unknown) + ".")
    return {"preset": preset, "changed": changed, "verdict": verdict,
            "rows": [[k, value(r.document["config"][k]), value(v), preset[k].unit] for k, v in changed.items()]}


def _note(knob: str, runs: Sequence[Data], parts: List[Dict[str, Any]]) -> str:
    notes = [f"preset: {value(p['changed'][knob])}" for p in parts if knob in p["changed"]]
    values = [r.document["config"].get(knob) for r in runs]
    if any(not _same(v, values[0]) for v in values[1:]):
        notes.append("runs differ")
    return ", ".join(dict.fromkeys(notes))
