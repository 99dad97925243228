# SPDX-License-Identifier: Apache-2.0
"""How comparisons are counted, on a page and on the front page alike.

A row with a mark (marks.py) does not count. The others are the clean rows. A clean row

    agrees     when a number is within a quarter of the paper's, or a claim, an order or a bound holds. A change must have
               the paper's sign, and the highest of several programs must be the paper's program.
    has the sign or order   when it agrees, or when it is a number that differs in size alone
    strictly                when in addition the number is neither below a quarter of the paper's nor above four times
"""

from dataclasses import dataclass
from typing import Iterable, List

from .findings import Findings
from .paper import Comparison


@dataclass(frozen=True)
class Count:
    stated: int = 0
    rows: int = 0      # compared
    clean: int = 0
    agree: int = 0
    bounds: int = 0    # of those that agree
    sign: int = 0
    levels: int = 0    # of those with the sign or order that do not agree: numbers that are no change
    strict: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    def sentence(self) -> str:
        """For a page's head."""
        return (f"{self.rows} of {self.stated} statements are compared. {self.clean} of them are clean: {self.agree} agree, "
                f"{self.sign} have the sign or order, {self.strict} strictly.")


def count(comparisons: Iterable[Comparison], stated: int) -> Count:
    """Of `stated` statements, those that are compared."""
    done: List[Comparison] = list(comparisons)
    return Count(stated, len(done), sum(c.counts for c in done), sum(c.agrees for c in done),
                 sum(c.agrees and c.stated.is_number and c.stated.relation != "=" for c in done), sum(c.has_sign for c in done),
                 sum(c.has_sign and not c.agrees and not c.stated.change for c in done), sum(c.has_sign_strictly for c in done))


def head(counted: Count, findings: Findings) -> str:
    """{{counts}} of a page."""
    return counted.sentence() + (f" {findings.sentence()}" if findings.all else "")


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"
