# SPDX-License-Identifier: Apache-2.0
"""The comparisons of a page that is kept in the repository, read back from its tables without a run.

Three forms hold them: tables/*_compared.csv, short tables of the same columns in README.md, and tables/*.csv whose cells
are `paper's / ours` (a row for each program, a column for each percentage of sharing). A row is found in paper.json by its statement,
place and number. Ours is as exact as it is printed, three digits; a verdict that today's rules do not change stays as it was printed.
"""

import csv
import io
import re
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from . import ReproductionError, counting, marks, parts
from .findings import Findings
from .paper import Comparison, Comparisons, Paper, Stated, another_program, another_sign

_grid_title = re.compile(r"(?:.*, )?(Table [\d.]+): \w+ / ours$")
_row = re.compile(r"\|.*\|$")
_counted = re.compile(r"(?:\d+ of \d+ (?:clean )?statements agrees?(?:; \d+ do(?:es)? not count)?|None of the \d+ statements counts) "
                      r"\(\[all\]\(tables/([^)]+)\)\)\.")
_head = re.compile(r"\d+ of \d+ statements are compared\. \d+ of them are clean: [^.]*strictly\.(?: Of \d+ reasons for differences, [^.]*supposed\.)?")
_mark = re.compile(rf"^(?:{'|'.join(marks.kinds)}): ")
_support = re.compile(r"\n\n\*Suppos[^\n]*\*$|\n\n\*Supporting run: [^\n]*\*$")


class Kept:
    """A page's folder: paper.json, findings.toml, and what was made of them."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.paper = Paper(self.folder / "paper.json")
        self.findings = Findings(self.folder / "findings.toml")
        self.comparisons = Comparisons(self.paper)
        self._verdicts: Dict[str, str] = {}  # by value, where a table has it
        for path in self._tables():
            rows = _read(path)
            if path.name.endswith("_compared.csv"):
                for row in rows[1:]:
                    self._add(row, path)
            else:
                grid = _grid_title.match(rows[0][0])
                if grid:
                    self._add_grid(grid[1], rows, path)
        for _, row in _compared_rows(self._text("README.md")):
            self._add(row, self.folder / "README.md")
        forgotten = self.comparisons.forgotten()
        if forgotten:
            raise ReproductionError(f"{self.folder}: no table has {forgotten[0]}, expected a comparison or 'not_compared'")

    def count(self) -> counting.Count:
        return counting.count(self.comparisons.all.values(), len(self.paper.values))

    def verdict(self, c: Comparison) -> str:
        """As a table of Markdown has it: in bold where ours differs."""
        text = self._verdicts.get(c.stated.id, c.verdict())
        return f"**{text}**" if c.difference else text

    def head(self) -> str:
        return counting.head(self.count(), self.findings)

    def rewritten(self) -> Dict[str, str]:
        """The page's files as today's rules count them, by path relative to its folder."""
        out: Dict[str, str] = {}
        agreements: Dict[str, str] = {}
        for path in self._tables():
            if path.name.endswith("_compared.csv"):
                rows = _read(path)
                for row in rows[1:]:
                    row[-1] = self._verdicts[self._comparison(row, path).stated.id]
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(rows)
                out[f"tables/{path.name}"] = text.getvalue()
                agreements[path.name] = parts.agreement([row[-1] for row in rows[1:]], path.name)
        page = self._text("README.md")
        lines = page.split("\n")
        for n, row in _compared_rows(page):
            c = self._comparison(row, self.folder / "README.md")
            lines[n] = f"{lines[n].rsplit(' | ', 1)[0]} | {self.verdict(c)} |"
        page = _counted.sub(lambda m: agreements.get(m[1], m[0]), "\n".join(lines))
        if len(_head.findall(page)) != 1:
            raise ReproductionError(f"{self.folder / 'README.md'}: found {len(_head.findall(page))} sentences that count the page, expected one")
        out["README.md"] = _head.sub(lambda m: self.head(), page)
        if self.findings.all:
            out["findings.md"] = supported(self._text("findings.md"), self.findings)
        return out

    def _tables(self) -> List[Path]:
        return sorted((self.folder / "tables").glob("*.csv"))

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    # --- rows ---

    def _add(self, row: Sequence[str], path: Path) -> None:
        c = self._comparison(row, path)
        self.comparisons.add(c.stated.id, c.ours, c.note)
        self._verdicts[c.stated.id] = _verdict(c, row[-1])

    def _comparison(self, row: Sequence[str], path: Path) -> Comparison:
        """Of a row: statement, place, the paper's, ours, verdict."""
        statement, where, theirs, ours = row[:4]
        found: List[Tuple[str, Stated]] = []  # with the note behind the statement
        for s in self.paper.values.values():
            what = s.what + (f", {s.scope}" if s.scope else "")
            if s.not_compared or s.where != where or s.text() != theirs:
                continue
            if statement == what:
                found.append(("", s))
            elif statement.startswith(f"{what} (") and statement.endswith(")"):
                found.append((statement[len(what) + 2:-1], s))
        if not found:
            raise ReproductionError(f"{path}: paper.json has no statement '{statement}' ({where}): {theirs}")
        note, stated = min(found, key=lambda f: len(f[0]))
        return Comparison(stated, _ours(stated, ours, path), note)

    def _add_grid(self, where: str, rows: Sequence[Sequence[str]], path: Path) -> None:
        for row in rows[1:]:
            for column, cell in zip(rows[0][1:], row[1:]):
                if cell != "-":
                    self._add_cell(where, row[0], column, cell.replace("*", ""), path)

    def _add_cell(self, where: str, program: str, column: str, cell: str, path: Path) -> None:
        theirs, _, ours = cell.partition(" / ")
        named = re.compile(rf"(^|\s){re.escape(column)} sharing\b")
        found = [s for s in self.paper.values.values() if s.where == where and not s.not_compared and s.scope.endswith(f", {program}") and
                 named.search(s.what) and s.text().split()[0] == theirs]
        if len(found) != 1:
            raise ReproductionError(f"{path}: paper.json has {len(found)} statements of {where} for {program} at {column}: {theirs}, expected one")
        self.comparisons.add(found[0].id, _ours(found[0], ours, path))


def supported(text: str, findings: Findings) -> str:
    """findings.md with the supporting run under each finding."""
    support = {f.title.rstrip("."): f.support() for f in findings.all}
    sections = re.split(r"(?m)^(?=##)", text)
    for n, section in enumerate(sections):
        title, _, body = section.partition("\n")
        if title.startswith("### ") and title[4:] in support:
            told = body.rstrip("\n")
            sections[n] = f"{title}\n{_support.sub('', told)}\n\n{support[title[4:]]}{body[len(told):]}"
    return "".join(sections)


def _verdict(c: Comparison, printed: str) -> str:
    """Today's. Where the rules have not changed it, that of the unrounded numbers, which was printed."""
    before = _mark.sub("", printed)
    of_size = c.stated.is_number and not c.stated.floor and c.difference not in (another_sign, another_program)
    if not of_size or before.startswith("agrees") != (not c.difference):
        return c.verdict()
    return (f"{c.stated.mark}: " if c.stated.mark else "") + before


def _ours(stated: Stated, text: str, path: Path) -> Any:
    """Ours as it was compared."""
    if isinstance(stated.value, list):
        return text.split(" > ")
    if stated.value is True:
        if text not in ("holds", "does not hold"):
            raise ReproductionError(f"{path}: found '{text}' for {stated.id}, expected 'holds' or 'does not hold'")
        return text == "holds"
    plain = text[:-len(stated.unit)] if stated.unit and text.endswith(stated.unit) else text
    try:
        return float(plain.replace(",", ""))
    except ValueError:
        raise ReproductionError(f"{path}: found '{text}' for {stated.id}, expected a number" + (f" in {stated.unit}" if stated.unit else "")) from None


def _read(path: Path) -> List[List[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def _compared_rows(page: str) -> List[Tuple[int, List[str]]]:
    """Line and cells of each row of a table of comparisons in README.md."""
    out, inside = [], False
    for n, line in enumerate(page.split("\n")):
        if not _row.match(line):
            inside = False
        elif parts.cells(line) == parts.comparison_header:
            inside = True
        elif inside and not line.startswith("| ---"):
            out.append((n, parts.cells(line)))
    return out
