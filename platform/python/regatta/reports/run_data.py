# SPDX-License-Identifier: Apache-2.0
"""What the sections of a report know of a run: names for people, cycles by reason, lines, energy by structure."""

import os
from collections import Counter
from typing import Any, Dict, List, Sequence, Tuple

from ..comparison import reason_in_words
from ..statistics import Run

# In the order of a stack: from work to waiting. Others follow by name.
_ORDER = ("issued", "scoreboard", "stall_count", "yield", "counter", "allocate", "result_queue", "structural_scheduler",
          "structural_sp", "structural_sfu", "structural_dp", "structural_tensor", "structural_lsu",
          "memory", "barrier", "instruction_fetch", "issue_gate", "idle")


# Structures of the energy whose names do not say what they are (platform/energy).
MEANING = {"card": "uncore and constant power of the card",
           "sm_static": "leakage and clock of the SMs, without the register file",
           "register_structures": "register file, or what the scheme has in its place",
           "front_end": "fetch, instruction cache, decode", "pipeline": "what each instruction costs in the pipeline"}


def microjoules(nj: float) -> str:
    return f"{nj / 1000:,.1f} uJ" if nj >= 100 else f"{nj:.3g} nJ"


def short_names(paths: Sequence[str]) -> List[str]:
    """File names without .json, with as many folders as tell them apart; equal ones are numbered."""
    parts = [os.path.normpath(p).split(os.sep) for p in paths]
    depth = [1] * len(parts)

    def name(i: int) -> str:
        text = "/".join(parts[i][-depth[i]:])
        return text[:-5] if text.endswith(".json") and len(text) > 5 else text
    for _ in range(max((len(p) for p in parts), default=0)):
        count = Counter(name(i) for i in range(len(parts)))
        for i, p in enumerate(parts):
            if count[name(i)] > 1 and depth[i] < len(p):
                depth[i] += 1
    names = [name(i) for i in range(len(parts))]
    count = Counter(names)
    return [f"{n} ({names[:i].count(n) + 1})" if count[n] > 1 else n for i, n in enumerate(names)]


def ordered(reasons: Sequence[str]) -> List[str]:
    return [r for r in _ORDER if r in reasons] + sorted(r for r in reasons if r not in _ORDER)


def reason_name(reason: str) -> str:
    """A short name, for legends and columns."""
    unit = reason[len("structural_"):] if reason.startswith("structural_") else ""
    if unit == "scheduler":
        return "scheduler holds back"
    return f"{unit.upper()} collectors full" if unit else reason.replace("_", " ")


def swatch(reason: str) -> str:
    """The class of style.css that colours a reason."""
    return f"reason-{reason}" if reason in _ORDER else "reason-other"


class Data:
    """One run of a report. `name`: short, for people."""

    def __init__(self, run: Run, name: str):
        self.run = run
        self.name = name
        self.document = run.document
        self.launches: List[Dict[str, Any]] = run.document["launches"]
        self.reasons = self._sum([run.scheduler_cycles(launch) for launch in self.launches])
        self.scheduler_cycles = sum(self.reasons.values())

    @staticmethod
    def _sum(parts: Sequence[Dict[str, int]]) -> Dict[str, int]:
        total: Counter[str] = Counter()
        for part in parts:
            total.update(part)
        return dict(total)

    def kernels(self) -> str:
        """Names of its kernels; of many, the first."""
        names = str(self.document.get("kernel", "?")).split(",")
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    @property
    def warp_instructions(self) -> int:
        return int(self.document.get("warp_instructions", 0))

    @property
    def ipc(self) -> float:
        return self.warp_instructions / self.run.cycles

    def waits(self) -> List[Tuple[str, int]]:
        """Reasons not to issue, the largest first."""
        return sorted(((r, c) for r, c in self.reasons.items() if r != "issued" and c), key=lambda r: (-r[1], r[0]))

    def lines(self) -> List[Tuple[str, Dict[str, int]]]:
        """Source lines with their scheduler-cycles by reason over all launches, the slowest first; none without
        --cpi-lines."""
        total: Dict[str, Counter[str]] = {}
        for entry in self.document.get("cpi_lines", []):
            for line in entry["lines"]:
                total.setdefault(str(line["source"]), Counter()).update(line["by_reason"])
        rows = [(source, dict(c)) for source, c in total.items()]
        return sorted(rows, key=lambda r: (-sum(r[1].values()), r[0]))

    def culprits(self) -> Dict[str, str]:
        """By source line, the other line that its waits are mostly due to, where there is one."""
        return {str(line["source"]): str(line["because_of"]) for entry in self.document.get("cpi_lines", [])
                for line in entry["lines"] if "because_of" in line}

    def energy(self) -> List[Tuple[str, float]]:
        """Structures and their nJ, the largest first."""
        by: Dict[str, float] = self.document["energy"].get("by_structure", {})
        return sorted(((str(s), float(nj)) for s, nj in by.items()), key=lambda r: (-r[1], r[0]))


def most_waits(by_reason: Dict[str, int]) -> str:
    """What a line waits for most, in words; '' if it never waits."""
    waits = [(c, r) for r, c in by_reason.items() if r != "issued" and c]
    return reason_in_words(max(waits, key=lambda w: (w[0], w[1]))[1]) if waits else ""
