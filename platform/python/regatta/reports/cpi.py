# SPDX-License-Identifier: Apache-2.0
"""Section: CPI stacks, by launch and in total: cycles per warp instruction by what the schedulers did."""

from typing import Any, Dict, List, Sequence

from ..comparison import reason_in_words
from .page import Section, share
from .run_data import Data, ordered, reason_name, swatch

MOST_BARS = 15


def build(runs: Sequence[Data]) -> Section:
    longest = max(r.run.cycles for r in runs)
    every = [{"name": r.name, "cycles": r.run.cycles, "wide": round(100 * r.run.cycles / longest, 3),
              "segments": segments(r.reasons, r.scheduler_cycles, 1200 * r.run.cycles / longest)} for r in runs]
    return Section("cpi", "Cycles by reason", "cpi.html.j2", {
        "runs": [_run(r) for r in runs], "every": every if len(runs) > 1 else [],
        "legend": _legend([n for r in runs for n, c in r.reasons.items() if c])})


def _legend(reasons: Sequence[str]) -> List[Dict[str, str]]:
    return [{"swatch": swatch(n), "name": reason_name(n)} for n in ordered(list(dict.fromkeys(reasons)))]


def segments(reasons: Dict[str, int], whole: int, pixels: float) -> List[Dict[str, Any]]:
    """Of a bar: per cent of `whole`, from the left. Slices without width are left out. `pixels`: about how wide the bar is on a
    desktop; a slice has the texts that fit."""
    found, left = [], 0.0
    for reason in ordered(list(reasons)):
        width = 100 * reasons[reason] / whole if whole else 0.0
        if width > 0.02:
            fits = next((t for t in (f"{reason_name(reason)} {width:.1f} %", f"{width:.0f} %")
                         if 8 + 7 * len(t) <= pixels * width / 100), "")
            found.append({"left": round(left, 3), "width": round(width, 3), "swatch": swatch(reason),
                          "reason": reason_name(reason), "text": fits})
        left += width
    return found


def _run(r: Data) -> Dict[str, Any]:
    shown = ordered([name for name, cycles in r.reasons.items() if cycles])
    launches = [_launch(r, i) for i in range(len(r.launches))]
    largest = sorted(launches, key=lambda la: (-la["cycles"], la["index"]))[:MOST_BARS]
    longest = max((la["cycles"] for la in launches), default=0)
    for la in launches:
        la["wide"] = round(100 * la["cycles"] / longest, 3) if longest else 0.0
        la["segments"] = segments(la["reasons"], sum(la["reasons"].values()), 6 * la["wide"])
    return {
        "verdict": _verdict(r), "total": segments(r.reasons, r.scheduler_cycles, 1200),
        "legend": _legend(shown),
        "bars": sorted(largest, key=lambda la: int(la["index"])) if len(launches) > 1 else [],
        "launches": len(launches), "most": MOST_BARS,
        "by_reason": [[{"text": reason_name(n), "swatch": swatch(n)}, r.reasons[n], _per(100 * r.reasons[n], r.scheduler_cycles),
                       _cpi(r.reasons[n], r.scheduler_cycles, r.run.cycles, r.warp_instructions)] for n in shown],
        "columns": ["launch", "kernel", "CTAs", "cycles", "share [%]", "warp instructions", "CPI"] +
                   [reason_name(n) for n in shown],
        "rows": [_row(la, r, shown) for la in launches] if len(launches) > 1 else [],
    }


def _per(part: float, whole: float) -> Any:
    return part / whole if whole else None


def _cpi(reason: int, scheduler_cycles: int, cycles: int, instructions: int) -> Any:
    """A reason's share of the cycles, per warp instruction of the SMs together."""
    return reason / scheduler_cycles * cycles / instructions if scheduler_cycles and instructions else None


def _launch(r: Data, index: int) -> Dict[str, Any]:
    la = r.launches[index]
    return {"index": index, "kernel": str(la["kernel"]), "cycles": int(la["cycles"]), "ctas": la.get("ctas"),
            "instructions": int(la.get("warp_instructions", 0)), "reasons": r.run.scheduler_cycles(la)}


def _row(la: Dict[str, Any], r: Data, shown: Sequence[str]) -> List[Any]:
    whole = sum(la["reasons"].values())
    return [la["index"], la["kernel"], la["ctas"], la["cycles"], _per(100 * la["cycles"], r.run.cycles), la["instructions"],
            _per(la["cycles"], la["instructions"]),
            *(_cpi(la["reasons"].get(n, 0), whole, la["cycles"], la["instructions"]) for n in shown)]


def _verdict(r: Data) -> List[str]:
    waits = r.waits()
    found = [f"Schedulers issued in {share(r.reasons.get('issued', 0), r.scheduler_cycles)} of their cycles."]
    if waits:
        found.append("The largest losses: " + ", ".join(f"{reason_in_words(n)} ({share(c, r.scheduler_cycles)})"
                                                        for n, c in waits[:3]) + ".")
    if len(r.launches) > 1 and r.run.cycles:
        i, la = max(enumerate(r.launches), key=lambda e: (int(e[1]["cycles"]), -e[0]))
        found.append(f"Launch {i} ({la['kernel']}) took most: {la['cycles']:,} cycles, {share(la['cycles'], r.run.cycles)}.")
    return found
