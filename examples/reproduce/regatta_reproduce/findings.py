# SPDX-License-Identifier: Apache-2.0
"""Hand-written explanations, each bound to the numbers that it explains. They live in a file of their own, so that
making the page again loses none:

    [[finding]]
    title = "..."
    explains = { "REGLESS-027" = 3.1 }     # ours when it was written
    text = '''...'''

The page's maker complains of a difference without a finding, and of a finding whose numbers have moved by more than a
tenth, or that explains what is no difference any more.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

from . import ReproductionError
from .paper import Comparisons, with_unit

moved_share = 0.1


@dataclass(frozen=True)
class Finding:
    title: str
    text: str
    explains: Dict[str, Any]


class Findings:
    def __init__(self, path: Path):
        self.path = Path(path)
        self.all: List[Finding] = []
        if not self.path.exists():
            return
        try:
            document = tomllib.loads(self.path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as e:
            raise ReproductionError(f"{path}: {e}") from e
        for entry in document.get("finding", []):
            lacking = sorted({"title", "text", "explains"} - set(entry))
            if lacking or not entry.get("explains"):
                raise ReproductionError(f"{path}: finding '{entry.get('title', '?')}': "
                                        f"'{lacking[0] if lacking else 'explains'}' is missing")
            self.all.append(Finding(entry["title"], entry["text"].strip(), dict(entry["explains"])))

    def of(self, ids: List[str]) -> List[Finding]:
        """Those that explain one of these numbers."""
        return [f for f in self.all if any(i in f.explains for i in ids)]

    def complaints(self, comparisons: Comparisons) -> List[str]:
        """What is missing and what is out of date, in sentences."""
        out = []
        explained = {i for f in self.all for i in f.explains}
        for c in comparisons.different():
            if c.stated.id not in explained:
                out.append(f"{c.stated.id} ({c.stated.what}{', ' + c.stated.scope if c.stated.scope else ''}): paper: "
                           f"{c.stated.text()}; ours: {c.ours_text()} ({c.difference}); no finding in "
                           f"{self.path.name} says why")
        for f in self.all:
            for value_id, written_for in f.explains.items():
                if value_id not in comparisons.all:
                    out.append(f"finding '{f.title}' explains {value_id}, which nothing is compared with")
                    continue
                c = comparisons.all[value_id]
                if not c.difference:
                    out.append(f"finding '{f.title}' explains a difference of {value_id} that is none any more: "
                               f"paper: {c.stated.text()}; ours: {c.ours_text()}")
                elif _moved(written_for, c.ours):
                    now = c.ours_text()
                    before = (with_unit(written_for, c.stated.unit) if _is_number(written_for) else str(written_for))
                    out.append(f"finding '{f.title}' was written when {value_id} was {before}; now it is {now}")
        return out


def _is_number(v: Any) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def _moved(before: Any, now: Any) -> bool:
    if _is_number(before) and _is_number(now):
        return abs(now - before) > moved_share * max(abs(before), abs(now))
    if isinstance(now, tuple):
        now = list(now)
    return before != now
