# SPDX-License-Identifier: Apache-2.0
"""The front page of the reproductions: a verdict, a table of the pages, the headlines with their causes. It stands in README.md
between two comments; the rest of the file is written by hand."""

import re
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from . import ReproductionError, parts
from .counting import Count, share
from .findings import Finding, supported
from .kept import Kept
from .page import table
from .paper import Comparison

begin = "<!-- Made by examples/reproduce/count.py: change paper.json and findings.toml, not this. -->"
end = "<!-- end of what count.py makes -->"


def block(pages: Dict[str, Kept]) -> str:
    """What stands between the comments, from the pages by folder."""
    return "\n\n".join([begin, _verdict(pages), _table(pages), _rules_in_short(pages), "## The papers' headlines", _headlines(pages), end])


_in_short = re.compile(r"\d+ of \d+ clean statements agree \(\d+ %\), \d+ have the sign or order strictly \(\d+ %\)")


def in_short(pages: Dict[str, Kept]) -> str:
    """For the repository's README.md."""
    t = _total(pages)
    return f"{t.agree} of {t.clean} clean statements agree ({share(t.agree, t.clean)}), {t.strict} have the sign or order strictly ({share(t.strict, t.clean)})"


def replaced_in_short(text: str, made: str, path: Path) -> str:
    """The repository's README.md with the numbers of today."""
    if len(_in_short.findall(text)) != 1:
        raise ReproductionError(f"{path}: found {len(_in_short.findall(text))} summaries of the reproductions, expected one")
    return _in_short.sub(lambda m: made, text)


def replaced(text: str, made: str, path: Path) -> str:
    """README.md with the block that was made."""
    for mark in (begin, end):
        if text.count(mark) != 1:
            raise ReproductionError(f"{path}: found '{mark}' {text.count(mark)} times, expected it once")
    before, _, rest = text.partition(begin)
    if end not in rest:
        raise ReproductionError(f"{path}: found '{end}' before '{begin}', expected it behind")
    return before + made + rest.partition(end)[2]


def _total(pages: Dict[str, Kept]) -> Count:
    return sum((k.count() for k in pages.values()), Count())


def _reasons(pages: Dict[str, Kept]) -> Tuple[int, int]:
    """Findings that name a supporting run, and all."""
    every = sum(len(k.findings.all) for k in pages.values())
    return every - sum(k.findings.supposed for k in pages.values()), every


def _verdict(pages: Dict[str, Kept]) -> str:
    t, (named, every) = _total(pages), _reasons(pages)
    return (f"> **Verdict.** Of {t.clean} clean statements, {t.agree} ({share(t.agree, t.clean)}) agree with the paper, and {t.strict} ({share(t.strict, t.clean)}) "
            f"have its sign or order strictly.\n> {supported(named, every)}")


def _table(pages: Dict[str, Kept]) -> str:
    header = ["page", "compared", "clean", "within a quarter", "sign or order", "strictly", "reasons with a run"]
    rows = [[f"[{name}]({name}/README.md)", *_cells(k.count()), _run_cell([k])] for name, k in pages.items()]
    t = _total(pages)
    rows.append(["all", *_cells(t), _run_cell(list(pages.values()))])
    return table(header, rows)


def _cells(c: Count) -> List[str]:
    return [str(c.rows), str(c.clean), *(f"{n} ({share(n, c.clean)})" for n in (c.agree, c.sign, c.strict))]


def _run_cell(pages: Sequence[Kept]) -> str:
    named, every = _reasons({str(k.folder): k for k in pages})
    return f"{named} of {every}"


def _rules_in_short(pages: Dict[str, Kept]) -> str:
    t = _total(pages)
    marked: Dict[str, int] = {}
    seeming = 0
    for k in pages.values():
        for c in k.comparisons.all.values():
            if not c.counts:
                marked[c.stated.mark] = marked.get(c.stated.mark, 0) + 1
                seeming += not c.difference
    kinds = ", ".join(f"{n} {mark}" for mark, n in sorted(marked.items(), key=lambda m: -m[1]))
    return (f"{t.rows - t.clean} of the {t.rows} comparisons do not count ({kinds}); {seeming} of these would agree. Of the {t.agree} that agree, {t.bounds} are bounds that "
            f"are kept. Of the {t.sign - t.agree} that have the sign or order alone, {t.levels} are levels, which have no sign to miss.")


def _headlines(pages: Dict[str, Kept]) -> str:
    rows = []
    for name, k in pages.items():
        for stated in k.paper.values.values():
            if stated.headline:
                c = k.comparisons.all[stated.id]
                what = stated.what + (f", {stated.scope}" if stated.scope else "")
                rows.append([f"[{name}]({name}/README.md)", what, stated.text(), c.ours_text(), k.verdict(c), _cause(name, k, c)])
    return table(["page", "claim", "paper", "ours", "", "cause"], rows, left=6)


def _cause(name: str, k: Kept, c: Comparison) -> str:
    found: Optional[Finding] = next((f for f in k.findings.all if f.cause and (c.stated.id in f.explains or c.stated.id in f.about)), None)
    if found is None:
        if c.difference:
            raise ReproductionError(f"{k.findings.path}: headline {c.stated.id} differs: found no finding with a cause, expected one that explains it")
        return "-"
    return ("" if c.difference else "in part: ") + f"[{found.cause}]({name}/findings.md#{parts.anchor(found.title.rstrip('.'))})" + ("" if found.run else " (supposed)")
