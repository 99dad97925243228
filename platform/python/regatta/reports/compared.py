# SPDX-License-Identifier: Apache-2.0
"""Sections of comparisons: each run against the first, as regatta-compare tells it."""

from typing import Any, Dict, List, Sequence

from ..compare_text import is_number, tables
from ..comparison import compare
from .page import Section
from .run_data import Data


def cell(text: str, first: bool) -> Any:
    """With the number that it sorts by."""
    if text == "-":
        return None
    if first or not is_number(text):
        return text
    words = text.replace(",", "").split()
    try:
        return {"text": text, "value": float(words[0])}
    except ValueError:
        return text


def of_document(document: Dict[str, Any], section_id: str, title: str) -> Section:
    found = [{"title": title_, "columns": list(columns), "id": f"{section_id}-{i}",
              "rows": [[cell(c, k == 0) for k, c in enumerate(row)] for row in rows]}
             for i, (title_, columns, rows) in enumerate(tables(document))]
    return Section(section_id, title, "comparison.html.j2", {"document": document, "tables": found})


def build(runs: Sequence[Data], rows: int = 15) -> List[Section]:
    """A section for each further run."""
    found = []
    for i, other in enumerate(runs[1:], 1):
        document = compare(runs[0].run, other.run, rows)
        document["a"]["name"], document["b"]["name"] = runs[0].name, other.name
        found.append(of_document(document, f"comparison-{i}", f"{other.name} against {runs[0].name}"))
    return found
