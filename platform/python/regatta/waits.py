# SPDX-License-Identifier: Apache-2.0
"""The time that warps lose in the blocks of a scheme, by the statistics that the scheme names for it (`waits` of stats.json,
platform/assembly/waits.h), and the knobs that would shorten it."""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .statistics import InputError, Run

_PIPELINE = r"sm\d+\.pipeline"


class Wait(NamedTuple):
    """`statistic`: as 'sm*.compressor*.line_wait_cycles'. `of`: what its cycles are of (waits.h). `least`: of the knob of a
    latency; None: its counts are cycles."""
    statistic: str
    of: str
    knobs: Tuple[str, ...]
    least: Optional[float] = None

    @property
    def block(self) -> str:
        """As people say it: 'compressor', 'wir allocation'."""
        if self.of == "residents":
            return "resident CTAs"
        parts = [part.replace("*", "") for part in self.statistic.split(".")[1:-1]]
        named = [part for part in parts if part not in ("shard", "bank", "table")]
        return " ".join(named).replace("_", " ")

    @property
    def name(self) -> str:
        return self.statistic.rpartition(".")[2]

    def _modules(self, run: Run) -> List[float]:
        module, _, name = self.statistic.rpartition(".")
        return run.values(re.escape(module).replace(r"\*", r"\d*"), name)

    def cycles(self, run: Run) -> float:
        """Of all modules together. Of a latency, what is above the least that its knob can be."""
        value = sum(self._modules(run))
        if self.least is None:
            return value
        setting = run.document["config"].get(self.knobs[0])
        return value * max(0.0, float(setting) - self.least) if isinstance(setting, (int, float)) else 0.0

    def share(self, run: Run) -> float:
        """Of the time of warps, of CTAs or of the modules: 1 is all of it. Of residents, their number per SM."""
        if self.of == "module":
            whole = float(run.cycles * len(self._modules(run)))
        elif self.of == "residents":
            whole = float(run.cycles * len(run.values(_PIPELINE, "resident_cta_cycles")))
        else:
            whole = run.total(_PIPELINE, "resident_warp_cycles" if self.of == "warps" else "resident_cta_cycles")
        return self.cycles(run) / whole if whole else 0.0


def of_run(run: Run) -> List[Wait]:
    """None of a run of an earlier version, or of a scheme that names none. Throws InputError."""
    entries = run.document.get("waits", [])
    found = []
    try:
        for entry in entries:
            least = entry.get("latency_at_least")
            found.append(Wait(str(entry["statistic"]), str(entry["of"]), tuple(str(k) for k in entry["knobs"]),
                              None if least is None else float(least)))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{run.name}: 'waits': found {type(entries).__name__} of another form, expected them as in a stats.json "
                         f"of regatta-sim") from None
    return found


class Loss(NamedTuple):
    """Of a block of a scheme that holds warps back. `share`: as Wait.share(), of all its waits together. `worst`: the wait that
    has most of it, and `of_worst` its share."""
    scheme: str
    block: str
    share: float
    worst: Wait
    of_worst: float
    knobs: Tuple[Tuple[str, Any], ...]  # name and value, the knob with the largest share first


def residents(run: Run) -> float:
    """Resident CTAs of an SM, mean over the run."""
    sms = len(run.values(_PIPELINE, "resident_cta_cycles"))
    return run.total(_PIPELINE, "resident_cta_cycles") / run.cycles / sms if sms and run.cycles else 0.0


def losses(fast: Run, slow: Run) -> List[Loss]:
    """The blocks of the slow run's scheme, the largest loss first. What `fast` loses to the same wait is subtracted."""
    theirs = {w.statistic: w for w in of_run(fast)}
    blocks: Dict[str, List[Tuple[float, Wait]]] = {}
    for wait in of_run(slow):
        if wait.of == "residents":
            before = theirs[wait.statistic].share(fast) if wait.statistic in theirs else residents(fast)
            share = max(0.0, before / max(wait.share(slow), 1e-3) - 1)
        else:
            share = wait.share(slow) - (theirs[wait.statistic].share(fast) if wait.statistic in theirs else 0.0)
        if share > 0:
            blocks.setdefault(wait.block, []).append((share, wait))
    found = []
    for block, parts in blocks.items():
        knobs: Dict[str, float] = {}
        for share, wait in parts:
            for knob in wait.knobs:
                knobs[knob] = knobs.get(knob, 0.0) + share
        ordered = sorted(knobs, key=lambda k: -knobs[k])
        values = tuple((k, slow.document["config"].get(k)) for k in ordered)
        of_worst, worst = max(parts, key=lambda p: p[0])
        found.append(Loss(slow.scheme, block, sum(s for s, _ in parts), worst, of_worst, values))
    return sorted(found, key=lambda f: -f.share)
