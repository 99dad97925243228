# SPDX-License-Identifier: Apache-2.0
"""A rendered page in parts: README.md, which takes a few minutes to read, findings.md and tables/*.csv.

The rendered page has every table and every finding in full. Comments tell the parts from the text:

    <!-- table: NAME -->                       names the table on the next line
    <!-- finding: TITLE -->...<!-- end -->     a finding
    <!-- details: SUMMARY -->...<!-- end -->   a passage of which README.md has the summary only

README.md keeps the first table and every short one. A long table becomes tables/NAME.csv; README.md keeps its means, or
the number of statements that agree, and a link. A finding moves to findings.md; README.md keeps its title, as a link. The
same text always gives the same parts.
"""

import csv
import io
import re
from dataclasses import dataclass, field
from typing import Dict, List, Sequence

from . import ReproductionError, marks

#: Words of README.md, as `wc -w` counts them.
most_words = 2500
#: Words of its first table, of every other table, and of the means that stand for a long one.
most_words_first = 500
most_words_table = 70
most_words_means = 60
#: Words that tell the columns of a table that is elsewhere.
most_words_columns = 12

comparison_header = ["", "where", "paper", "ours", ""]
_csv_header = ["statement", "where", "paper", "ours", "verdict"]

_mark = re.compile(r"<!-- (table|finding|details): (.*) -->\n")
_end = "\n<!-- end -->"
_rule = re.compile(r"\|( -+:? \|)+$")
_means = ("mean", "geometric mean")
_marks = tuple(f"{kind}: " for kind in marks.kinds)


def named_table(name: str, text: str) -> str:
    return f"<!-- table: {name} -->\n{text}"


def finding(title: str, text: str) -> str:
    return f"<!-- finding: {title} -->\n{text}{_end}"


def details(summary: str, text: str) -> str:
    return f"<!-- details: {summary} -->\n{text}{_end}"


@dataclass
class Parts:
    page: str = ""
    findings: str = ""  # empty: there is none
    tables: Dict[str, str] = field(default_factory=dict)  # by file name, without the folder

    @property
    def words(self) -> int:
        return len(self.page.split())

    def files(self) -> Dict[str, str]:
        """Contents by path, relative to the page's folder."""
        out = {"README.md": self.page}
        if self.findings:
            out["findings.md"] = self.findings
        out.update((f"tables/{name}", text) for name, text in self.tables.items())
        return out

    def complaints(self) -> List[str]:
        return [] if self.words <= most_words else [f"README.md has {self.words:,} words, at most {most_words:,} are allowed"]


def split(text: str) -> Parts:
    return _Splitter(text).parts


def anchor(heading: str) -> str:
    """GitHub's name of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def agreement(verdicts: Sequence[str], file: str) -> str:
    """What stands for a table of comparisons. Those with a mark do not count."""
    marked = sum(v.startswith(_marks) for v in verdicts)
    agree, clean = sum(v.startswith("agrees") for v in verdicts), len(verdicts) - marked
    link = f"([all](tables/{file}))"
    if not clean:
        return f"None of the {marked} statements counts {link}."
    return (f"{agree} of {clean} {'clean ' if marked else ''}statements agree{'s' if agree == 1 else ''}" +
            (f"; {marked} do{'es' if marked == 1 else ''} not count" if marked else "") + f" {link}.")


def cells(line: str) -> List[str]:
    """Of a row of a Markdown table. A cell that is bold as a whole is not marked; inside a cell, bold may tell numbers apart."""
    return [_plain(c.strip()) for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def _plain(cell: str) -> str:
    cell = re.sub(r"^\*\*([^*]*)\*\*$", r"\1", cell)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("\\|", "|").replace("`", "")


def _words(lines: Sequence[str]) -> int:
    return sum(len(line.split()) for line in lines)


def _csv(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


class _Splitter:
    def __init__(self, text: str):
        self.parts = Parts()
        self._out: List[str] = []
        self._section = ""  # the heading that the text stands under
        self._told = ""     # the last one in findings.md
        self._tables = 0
        self._comments = "".join(line + "\n" for line in text.split("\n")[:2] if line.startswith("<!-- "))
        self._title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "")
        at, before = 0, ""
        for match in _mark.finditer(text):
            kind, name = match.groups()
            if match.start() < at:
                raise ReproductionError(f"'{match.group(0).strip()}' stands inside another part of the page")
            between = text[at:match.start()]
            self._pass("\n" if before == kind == "finding" and between == "\n\n" else between)  # findings form a list
            at, before = match.end(), kind
            if kind == "table":
                at += self._table(name, text[at:])
                continue
            end = text.find(_end, at)
            if end < 0:
                raise ReproductionError(f"'{match.group(0).strip()}' has no end")
            (self._finding if kind == "finding" else self._details)(name, text[at:end])
            at = end + len(_end)
        self._pass(text[at:])
        self.parts.page = "".join(self._out)

    def _pass(self, text: str) -> None:
        for line in text.splitlines():
            if line.startswith("#"):
                self._section = line.lstrip("# ")
        self._out.append(text)

    def _table(self, name: str, text: str) -> int:
        """The length of the table at the beginning of `text`. There may be none when only some kernels were run."""
        lines: List[str] = []
        for line in text.split("\n"):
            if not line.startswith("|"):
                break
            lines.append(line)
        if len(lines) < 2 or not _rule.match(lines[1]):
            return 0
        self._tables += 1
        short = _words(lines) <= (most_words_first if self._tables == 1 else most_words_table)
        table = "\n".join(lines)
        self._out.append(table if short else self._moved(name, lines))
        return len(table)

    def _moved(self, name: str, lines: Sequence[str]) -> str:
        """What stands in README.md for the table."""
        header, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
        file = f"{name}.csv"
        if file in self.parts.tables:
            raise ReproductionError(f"two tables of the page are called '{name}'")
        compared = header == comparison_header
        self.parts.tables[file] = _csv([_csv_header if compared else header, *rows])
        if compared:
            return agreement([row[-1] for row in rows], file)
        link = f"Table: [{file}](tables/{file}), {len(rows)} rows"
        means = [*lines[:2], *(line for line, row in zip(lines[2:], rows) if row[0].startswith(_means))]
        if len(means) > 2 and _words(means) <= most_words_means:
            return "\n".join([*means, "", link + "."])
        return f"{link}: {_columns(header)}"

    def _finding(self, title: str, body: str) -> None:
        heading = title.rstrip(".")
        self._out.append(f"- [{heading}](findings.md#{anchor(heading)})")
        self._tell(f"### {heading}\n\n{body}")

    def _details(self, summary: str, body: str) -> None:
        self._out.append(f"{summary} ([list](findings.md#{anchor(self._section)})).")
        self._tell(body)

    def _tell(self, text: str) -> None:
        if not self.parts.findings:
            self.parts.findings = (f"{self._comments}# {self._title}: findings\n\nWhy results on [the page](README.md) differ, and what it "
                                   "leaves out. Tables that are named here are in the\npage's section of the same name.\n")
        if self._told != self._section:
            self._told = self._section
            self.parts.findings += f"\n## {self._section}\n"
        self.parts.findings += "\n" + text.replace("](#", "](README.md#") + "\n"


def _columns(header: Sequence[str]) -> str:
    """The first columns' names."""
    named = [h for h in header if h]
    out: List[str] = []
    for name in named:
        if out and _words([*out, name]) > most_words_columns:
            break
        out.append(name)
    return "; ".join(out) + ("; ..." if len(out) < len(named) else "")
