# SPDX-License-Identifier: Apache-2.0
"""Markdown tables, and a page made from a template. parts.py makes README.md and its other files of the page.

In the template, {{name}} stands for what was registered under that name; every name must be known and every registered
one used, so that neither a table nor a template is forgotten when the other changes.
"""

import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Set

from . import ReproductionError, parts
from .findings import Findings
from .paper import Comparisons, number

_place = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> str:
    """A Markdown table; the first `left` columns are aligned to the left, the others to the right."""
    for row in rows:
        if len(row) != len(header):
            raise ReproductionError(f"a row of {len(row)} cells in a table of {len(header)} columns: {row}")
    lines = ["| " + " | ".join(header) + " |",
             "| " + " | ".join("---" if i < left else "---:" for i in range(len(header))) + " |"]
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, (int, float)) else str(value).replace("|", "\\|")


def percent(x: Optional[float], digits: int = 1) -> str:
    return "-" if x is None else f"{100 * x:.{digits}f} %"


def signed(x: Optional[float], digits: int = 1) -> str:
    """A change, given in percent."""
    return "-" if x is None else f"{x:+.{digits}f} %"


def fixed(x: Optional[float], digits: int = 3) -> str:
    return "-" if x is None else f"{x:.{digits}f}"


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Comma-separated values; None is an empty cell."""
    def cell(c: Any) -> str:
        return "" if c is None else f"{c:.6g}" if isinstance(c, float) else str(c)
    return "".join(",".join(cell(c) for c in row) + "\n" for row in [header, *rows])


def figure(name: str, title: str) -> str:
    """figures/NAME.png, as plots.save() writes it."""
    return f"![{title}](figures/{name}.png)\n\n*{title}*"


class Page:
    def __init__(self, comparisons: Comparisons, findings: Findings, partial: bool = False):
        """`partial`: not all kernels were run; what is then not compared is left out instead of being an error,
        and so are the findings, which speak of the numbers of all."""
        self.partial = partial
        self.comparisons = comparisons
        self.findings = findings
        self._content: Dict[str, str] = {}
        self._told: Set[str] = set()

    def put(self, name: str, content: Any) -> None:
        if name in self._content:
            raise ReproductionError(f"'{name}' is registered twice for the page")
        text = _cell(content) if not isinstance(content, str) else content
        kind, _, of = name.partition(":")
        self._content[name] = (parts.named_table(of, text) if kind == "table" else
                               parts.named_table(f"{of}_compared", text) if kind == "compare" else text)

    def figure(self, name: str, title: str) -> None:
        self.put(f"figure:{name}", figure(name, title))

    def compare(self, name: str, ids: Sequence[str]) -> None:
        """A table of these comparisons, and the findings that explain the differences among them."""
        rows = []
        for value_id in ids:
            if self.partial and value_id not in self.comparisons.all:
                continue
            c = self.comparisons.all[value_id]
            what = c.stated.what + (f", {c.stated.scope}" if c.stated.scope else "")
            verdict = c.verdict() if not c.difference else f"**{c.difference}**"
            rows.append([what + (f" ({c.note})" if c.note else ""), c.stated.where, c.stated.text(), c.ours_text(),
                         verdict])
        self.put(f"compare:{name}", table(parts.comparison_header, rows, left=2) + self.explained(ids))

    def compare_known(self, name: str, ids: Sequence[str]) -> None:
        """Those that are compared: a part of the kernels does not allow all."""
        known = self.comparisons.paper.values
        shown = [i for i in ids if i in self.comparisons.all or not (self.partial or known[i].not_compared)]
        if shown:
            self.compare(name, shown)
        else:
            self.put(f"compare:{name}", "")

    def explained(self, ids: Sequence[str]) -> str:
        """The findings that explain differences among these comparisons, each once on a page."""
        text = ""
        for f in self.findings.of(list(ids)):
            if f.title in self._told or self.partial:  # they explain the whole page's numbers
                continue
            self._told.add(f.title)
            text += "\n\n" + parts.finding(f.title, self._fill(f.text, f"finding '{f.title}'", None) + f"\n\n{f.support()}")
        return text

    def _fill(self, text: str, where: str, used: Optional[Set[str]]) -> str:
        def replace(match):
            name = match.group(1)
            if name in self._content:
                if used is not None:
                    used.add(name)
                return self._content[name]
            if name in self.comparisons.all:
                return self.comparisons.all[name].ours_text()
            raise ReproductionError(f"{where}: nothing is known as {{{{{name}}}}}")
        return _place.sub(replace, text)

    def render(self, template: Path) -> str:
        """The whole page, for parts.split()."""
        try:
            text = Path(template).read_text(encoding="utf-8")
        except OSError as e:
            raise ReproductionError(f"cannot read '{template}': {e.strerror}") from e
        used: Set[str] = set()
        out = self._fill(text, str(template), used)
        unused = [n for n in self._content if n not in used and n.split(":")[0] in ("table", "figure", "compare")]
        if unused:
            raise ReproductionError(f"{template}: {{{{{unused[0]}}}}} is made and stands nowhere")
        return out


def missing_values(comparisons: Comparisons) -> str:
    """What the paper states and nothing of ours is held beside, by reason: in findings.md."""
    by_reason: Dict[str, Dict[str, List[str]]] = {}
    count = 0
    for v in comparisons.paper.values.values():
        if v.not_compared:
            count += 1
            alike = by_reason.setdefault(v.not_compared, {}).setdefault(f"{v.what} ({v.where})", [])
            alike.append(": ".join(t for t in (v.scope, "" if v.value is True else v.text()) if t))
    if not count:
        return ""
    lines = []
    for reason, stated in by_reason.items():
        lines.append(f"- {reason}:")
        lines += [f"  - {what}" + (": " + "; ".join(said) if any(said) else "") for what, said in stated.items()]
    reasons = f"{len(by_reason)} reasons" if len(by_reason) > 1 else "one reason"
    return parts.details(f"{count} statement{'s are' if count > 1 else ' is'} not compared, for {reasons}", "\n".join(lines))


def write(folder: Path, page: parts.Parts) -> bool:
    """Whether a file has changed."""
    return any([write_if_changed(Path(folder) / name, text) for name, text in page.files().items()])


def write_if_changed(path: Path, text: str) -> bool:
    path = Path(path)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
