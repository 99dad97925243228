# SPDX-License-Identifier: Apache-2.0
"""The estimates of a sampled program as a document, and as text."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from ..text import table
from .estimate import Estimate
from .plan import Outcome
from .population import Launch
from .runs import Simulator, launches_text


def _put(document: Dict[str, Any], path: str, value: Any) -> None:
    """At stats.NAME, where NAME may have dots, or at keys of up to three levels."""
    head, _, rest = path.partition(".")
    if not rest or head == "stats":
        if rest:
            document.setdefault(head, {})[rest] = value
        else:
            document[head] = value
    else:
        _put(document.setdefault(head, {}), rest, value)


def document(launches: Sequence[Launch], simulator: Simulator, outcome: Outcome,
             estimates: Mapping[str, Estimate]) -> Dict[str, Any]:
    """Keys as in stats.json where they mean the same; `sampling` says how the numbers were made."""
    run = simulator.document
    settings = outcome.sample.settings
    simulated = sorted(simulator.entries)
    whole = sum(int(u.size["warp_instructions"]) for u in launches)
    part = sum(int(launches[n].size["warp_instructions"]) for n in simulated)
    exact = len(simulated) == len(launches)
    result: Dict[str, Any] = {k: run[k] for k in ("regatta", "kernel", "trace", "machine", "scheme", "scheduler",
                                                  "residency", "config", "ending") if k in run}
    result["warp_instructions"] = whole
    for name, e in estimates.items():
        # Counters are whole numbers, also if they are estimated.
        _put(result, name, e.total if name.startswith("energy.") else round(e.total))
    if exact:
        # The sums of a plain run, to the last digit.
        for key in ("total_nj", "dynamic_nj", "static_nj"):
            result["energy"][key] = run["energy"][key]
        result["energy"]["by_structure"] = dict(run["energy"]["by_structure"])
    result["ipc"] = whole / estimates["cycles"].total if estimates["cycles"].total else 0.0
    result["checks"] = {"operands_checked": simulator.operands_checked, "mismatches": 0}
    main = estimates["cycles"]
    result["sampling"] = {
        "launches": len(launches), "simulated": launches_text(simulated), "simulated_launches": len(simulated),
        "simulated_warp_instructions": part, "fraction": part / whole if whole else 1.0,
        "warmed_warp_instructions": simulator.warmed_warp_instructions,
        "seed": settings.seed, "confidence": settings.confidence, "error_wanted": settings.error,
        "error": main.relative, "reached": outcome.reached, "budget": settings.budget, "stages": outcome.stages,
        "allowance": settings.allowance,
        "intervals": {name: list(e.interval) for name, e in estimates.items()},
        "launch_cycles": {str(n): int(simulator.entries[n]["cycles"]) for n in simulated},
        "strata": [{"kernel": p.stratum.kernel, "model": main.models[p.stratum.kernel_index],
                    "launches": launches_text(p.stratum.members),
                    "warp_instructions": _least_and_most([int(launches[n].size["warp_instructions"]) for n in p.stratum.members]),
                    "simulated": p.simulated, "cycles": p.total, "deviation": p.squared ** 0.5} for p in main.parts],
    }
    result["host"] = {"seconds": simulator.seconds}
    return result


def _least_and_most(numbers: Sequence[int]) -> List[int]:
    return [min(numbers), max(numbers)]


def text(result: Mapping[str, Any], estimates: Mapping[str, Estimate]) -> str:
    s = result["sampling"]
    exact = s["error"] == 0 and s["fraction"] == 1
    percent = f"{100 * s['confidence']:g} %"
    rows = [["quantity", "total"] if exact else ["quantity", "estimate", f"{percent} interval", "half width"]]
    for name, e in estimates.items():
        if name.startswith(("energy.by_structure.", "stall_cycles.", "issue_cycles")):
            continue  # in the JSON document
        low, high = e.interval
        rows.append([name, f"{e.total:,.0f}", *([] if exact else [f"{low:,.0f} to {high:,.0f}", f"{100 * e.relative:.2f} %"])])
    # A kernel may have several groups: launches of each are alike.
    strata = [["kernel", "launches", "warp instructions of each", "simulated", "cycles", "share"]]
    for p, group in zip(estimates["cycles"].parts, s["strata"]):
        least, most = group["warp_instructions"]
        strata.append([p.stratum.kernel, f"{len(p.stratum.members):,}", f"{least:,}" + (f" to {most:,}" if most > least else ""),
                       f"{p.simulated:,}", f"{p.total:,.0f}",
                       f"{100 * p.total / estimates['cycles'].total if estimates['cycles'].total else 0:.1f} %"])
    told = f"{result['trace']} on {result['machine']}, scheme {result['scheme']}\n"
    if exact:
        told += (f"all {s['launches']:,} launches simulated, {result['warp_instructions']:,} warp instructions: "
                 f"the numbers are exact\n\n")
    else:
        told += (f"simulated {s['simulated_launches']:,} of {s['launches']:,} launches, {s['simulated_warp_instructions']:,} of "
                 f"{result['warp_instructions']:,} warp instructions ({100 * s['fraction']:.1f} %); "
                 f"{s['warmed_warp_instructions']:,} more only warmed the caches\n\n")
    ending = ""
    if not s["reached"]:
        ending = (f"\nNot reached: the interval of the cycles is {100 * s['error']:.2f} % wide on each side, wanted are "
                  f"{100 * s['error_wanted']:g} %. "
                  f"The budget of {100 * s['budget']:g} % of the warp instructions is used up (--budget), or the launches of "
                  f"a kernel are too few for a sample (--exact).\n")
    return told + table(rows, left=1) + "\n" + table(strata, left=1) + ending
