# SPDX-License-Identifier: Apache-2.0
"""Section: what was run, how it ended, and where its cycles and its energy went, in sentences and in one table of all runs."""

from typing import Any, Dict, List, Optional, Sequence

from ..comparable import part_of
from ..comparison import reason_in_words
from ..statistics import Run, shortened
from .page import Section, share
from .run_data import MEANING, Data, microjoules, most_waits

_ENDINGS = {
    "completed": "It ran to its end.",
    "interrupted": "It was interrupted: all numbers are of the part before.",
    "value_mismatch": "It stopped at an operand with a wrong value: all numbers are of the part before.",
    "deadlock": "It stopped in a deadlock: all numbers are of the part before.",
    "not_conserved": "A conservation law does not hold: do not trust the numbers.",
}


def build(runs: Sequence[Data]) -> Section:
    return Section("summary", "Summary", "summary.html.j2", {"runs": [_run(r) for r in runs], "columns": _COLUMNS,
                                                             "rows": [_row(r) for r in runs] if len(runs) > 1 else []})


_COLUMNS = ("run", "kernel", "launches", "machine", "scheme", "cycles", "IPC", "energy [uJ]", "ending", "mismatches")


def _row(r: Data) -> List[Any]:
    d = r.document
    return [r.name, r.kernels(), part_of(r.run) or len(r.launches), str(d.get("machine", "?")), r.run.scheme, r.run.cycles, r.ipc, r.run.energy_nj / 1000,
            r.run.ending(), d.get("checks", {}).get("mismatches")]


def _run(r: Data) -> Dict[str, Any]:
    d = r.document
    checks = d.get("checks", {})
    facts = [("kernels", str(d.get("kernel", "?")).replace(",", ", ")), ("trace", d.get("trace")),
             ("machine", d.get("machine")), ("SMs", sms_of(r.run)), ("scheme", r.run.scheme), ("warp scheduler", d.get("scheduler")),
             ("residency", d.get("residency")), ("launches", part_of(r.run) or len(r.launches)),
             ("warp instructions", r.warp_instructions), ("thread instructions", d.get("thread_instructions")),
             ("energy table", d["energy"].get("table")), ("mean power [W]", d["energy"].get("mean_watts")),
             ("written by", f"regatta-sim {d.get('regatta', '?')}")]
    return {"verdict": verdict(r), "good": r.run.ending() == "completed" and not checks.get("mismatches"),
            "cards": _cards(r), "checks": _checks(r, checks), "facts": [(k, v) for k, v in facts if v is not None]}


def sms_of(run: Run) -> Optional[str]:
    """"1 of 16, with L2 and DRAM bandwidth scaled to it": how much of the machine was simulated. None: not known."""
    whole = run.document["config"].get("machine.sms")
    if not run.sms or not isinstance(whole, int):
        return None
    if run.sms == whole:
        return f"all {whole}"
    return f"{run.sms} of {whole}, with L2 and DRAM bandwidth scaled to {'it' if run.sms == 1 else 'them'}"


def verdict(r: Data) -> List[str]:
    d = r.document
    found = [f"{r.kernels()} took {r.run.cycles:,} cycles under the scheme {r.run.scheme} on {d.get('machine', '?')}.",
             _ENDINGS.get(r.run.ending(), f"It ended: {r.run.ending()}.")]
    part = part_of(r.run)
    if part:
        found.insert(1, f"It simulated {part}: all numbers are of these alone.")
    idle = d.get("idle")
    if isinstance(idle, str) and idle:
        found.append(f"The scheme: {idle}." if not idle.startswith("no effect: ") else
                     f"The scheme had no effect: {idle[len('no effect: '):]}.")
    issued = share(r.reasons.get("issued", 0), r.scheduler_cycles)
    waits = r.waits()
    found.append(f"Its schedulers issued in {issued} of their cycles" +
                 ("." if not waits else f"; the largest loss is {reason_in_words(waits[0][0])} "
                                        f"({share(waits[0][1], r.scheduler_cycles)})."))
    return found + [f"Why: {cause['sentence']}." for cause in d.get("why", [])[:3]]


def _cards(r: Data) -> List[Dict[str, Any]]:
    """The numbers that one looks for first. `value`: large; `text`: below it; `href`: the section with more."""
    cards: List[Dict[str, Any]] = [
        {"what": "cycles", "value": f"{r.run.cycles:,}", "href": "#cpi",
         "text": part_of(r.run) or f"{len(r.launches):,} launch{'es' if len(r.launches) != 1 else ''}"},
        {"what": "instructions per cycle", "value": f"{r.ipc:.3f}",
         "text": f"{r.warp_instructions:,} warp instructions" + (f"; {r.ipc / r.run.sms:.3f} of each SM" if r.run.sms > 1 else ""),
         "href": "#cpi"}]
    lines = r.lines()
    if lines:
        source, reasons = lines[0]
        cycles = sum(reasons.values())
        waits = most_waits(reasons)
        cards.append({"what": "slowest line", "value": shortened([source])[source], "href": "#source",
                      "text": f"{share(cycles, r.scheduler_cycles)} of the scheduler-cycles" + (f", {waits}" if waits else "")})
    cards.append({"what": "energy", "value": microjoules(r.run.energy_nj), "href": "#energy",
                  "text": f"{r.run.energy_nj / r.warp_instructions:.3g} nJ per warp instruction" if r.warp_instructions else ""})
    energy = r.energy()
    if energy and energy[0][1] > 0:
        name, nj = energy[0]
        cards.append({"what": "largest energy consumer", "value": name.replace("_", " "), "href": "#energy",
                      "text": f"{microjoules(nj)}, {share(nj, r.run.energy_nj)}" +
                              (f": {MEANING[name]}" if name in MEANING else "")})
    return cards


def _checks(r: Data, checks: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What was checked: `good` is None if it was not."""
    operands, mismatches = checks.get("operands_checked", 0), checks.get("mismatches", 0)
    found: List[Dict[str, Any]] = []
    if operands:
        found.append({"good": mismatches == 0, "text": f"Operands: {operands:,} compared with the program's values, "
                                                       f"{mismatches:,} mismatch{'es' if mismatches != 1 else ''}."})
    else:
        found.append({"good": None, "text": "Operands: not compared (--no-check)."})
    if "shared_words_checked" in checks:
        found.append({"good": mismatches == 0, "text": f"Shared memory: {checks['shared_words_checked']:,} words compared."})
    ending = r.run.ending()
    if ending in ("completed", "not_conserved"):
        found.append({"good": ending == "completed",
                      "text": "Conservation laws: " + ("all hold." if ending == "completed" else "broken.")})
    else:
        found.append({"good": None, "text": f"Conservation laws: not examined, since the run ended before its time ({ending})."})
    if r.document.get("fault"):
        found.append({"good": None, "text": f"A fault was planted: {r.document['fault']}"})
    return found
