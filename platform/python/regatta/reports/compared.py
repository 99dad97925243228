# SPDX-License-Identifier: Apache-2.0
"""Section: each run against the first, as regatta-compare tells it."""

from typing import Any, Dict, List, Sequence

from ..compare_text import tables
from ..text import is_number
from ..comparison import compare
from .page import Section
from .run_data import Data


def _value(text: str) -> Any:
    """The number that a text of a table is, or None."""
    words = text.replace(",", "").split()
    try:
        return float(words[0]) if words and is_number(text) and text != "-" else None
    except ValueError:
        return None


def _cells(rows: Sequence[Sequence[str]]) -> List[List[Any]]:
    """Texts with the numbers that they sort by. Nothing, "-", stands to the right in columns of numbers."""
    numeric = [k for k in range(1, len(rows[0])) if any(_value(row[k]) is not None for row in rows)]

    def cell(k: int, text: str) -> Any:
        value = _value(text) if k in numeric else None
        return {"text": text, "value": value} if value is not None else None if k in numeric and text == "-" else text
    return [[cell(k, text) for k, text in enumerate(row)] for row in rows]


def of_documents(documents: Sequence[Dict[str, Any]]) -> Section:
    """`documents`: of comparison.compare(). Tables of several are folded away, so that the verdicts stand one below another."""
    found: List[Dict[str, Any]] = []
    for i, document in enumerate(documents, 1):
        found.append({"document": document, "id": f"comparison-{i}",
                      "title": f"{document['b']['name']} against {document['a']['name']}",
                      "tables": [{"title": title, "columns": list(columns), "id": f"comparison-{i}-{k}", "rows": _cells(rows)}
                                 for k, (title, columns, rows) in enumerate(tables(document))]})
    return Section("comparison", "Comparison", "comparison.html.j2", {"comparisons": found})


def build(runs: Sequence[Data], rows: int = 15) -> List[Section]:
    """No section of a single run."""
    documents = []
    for other in runs[1:]:
        document = compare(runs[0].run, other.run, rows)
        document["a"]["name"], document["b"]["name"] = runs[0].name, other.name
        documents.append(document)
    return [of_documents(documents)] if documents else []
