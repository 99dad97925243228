# SPDX-License-Identifier: Apache-2.0
"""Hand-written explanations, each bound to the numbers that it explains. They live in a file of their own, so that
making the page again loses none:

    [[finding]]
    title = "..."
    explains = { "REGLESS-027" = 3.1 }     # ours when it was written
    run = "..."                            # the run, table or single change that supports the reason; or
    supposed = true                        # no run does
    cause = "..."                          # in a few words, for a headline: the front page shows it
    about = ["REGLESS-027"]                # headlines that agree, and of which it says why that is less than it seems
    text = '''...'''

The page's maker complains of a difference without a finding, and of a finding whose numbers have moved by more than a
tenth, or that explains what is no difference any more.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Sequence

from . import ReproductionError
from .paper import Comparisons, with_unit

moved_share = 0.1


@dataclass(frozen=True)
class Finding:
    title: str
    text: str
    explains: Dict[str, Any]
    run: str = ""  # what supports the reason; empty: it is supposed
    cause: str = ""
    about: Sequence[str] = ()

    def support(self) -> str:
        """The last line of its text."""
        return f"*Supporting run: {self.run}.*" if self.run else "*Supposed: no run supports this reason.*"


_keys = {"title", "text", "explains", "run", "supposed", "cause", "about"}


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
            where = f"{path}: finding '{entry['title']}'"
            unknown = sorted(set(entry) - _keys)
            if unknown:
                raise ReproductionError(f"{where}: unknown key '{unknown[0]}'")
            self.all.append(Finding(entry["title"], entry["text"].strip(), dict(entry["explains"]), _run(entry, where),
                                    entry.get("cause", ""), tuple(entry.get("about", ()))))

    @property
    def supposed(self) -> int:
        return sum(not f.run for f in self.all)

    def sentence(self) -> str:
        """For a page's head."""
        return supported(len(self.all) - self.supposed, len(self.all))

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


def supported(named: int, every: int) -> str:
    """How many reasons name a supporting run."""
    return f"Of {every} reasons for differences, {named} name{'s' if named == 1 else ''} a supporting run; the other {every - named} are supposed."


def _run(entry: Dict[str, Any], where: str) -> str:
    """What supports a finding; empty where it is supposed."""
    if ("run" in entry) == ("supposed" in entry):
        found = "both 'run' and 'supposed'" if "run" in entry else "neither 'run' nor 'supposed'"
        raise ReproductionError(f"{where}: found {found}, expected one of them")
    if "supposed" in entry:
        if entry["supposed"] is not True:
            raise ReproductionError(f"{where}: found {entry['supposed']!r} for 'supposed', expected true")
        return ""
    if not isinstance(entry["run"], str) or not entry["run"].strip():
        raise ReproductionError(f"{where}: found {entry['run']!r} for 'run', expected the run that supports it")
    return entry["run"].strip().rstrip(".")


def _is_number(v: Any) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def _moved(before: Any, now: Any) -> bool:
    if _is_number(before) and _is_number(now):
        return abs(now - before) > moved_share * max(abs(before), abs(now))
    if isinstance(now, tuple):
        now = list(now)
    return before != now
