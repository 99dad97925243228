# SPDX-License-Identifier: Apache-2.0
"""Numbers and tables for people, on terminals and pages."""

from typing import Any, List, Sequence


def number(value: Any) -> str:
    """Thousands are separated, fractions have four significant digits; "-" is nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
    return str(value)


def did_you_mean(names: Sequence[str]) -> str:
    """"; did you mean 'x', 'y' or 'z'?", as the tools in C++ say it; "" without a name."""
    quoted = [f"'{name}'" for name in names]
    return f"; did you mean {' or '.join(filter(None, (', '.join(quoted[:-1]), quoted[-1])))}?" if quoted else ""


def is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:2].lstrip("+-")[:1].isdigit() or cell == "-"


def aligned(rows: Sequence[Sequence[str]], left: int = 0) -> List[str]:
    """A line for each row, of which the first is the header; the second line is a rule. Columns of numbers are on the right,
    except the first `left` ones."""
    columns = range(len(rows[0]))
    widths = [max(len(row[i]) for row in rows) for i in columns]
    right = [i >= left and len(rows) > 1 and all(is_number(row[i]) for row in rows[1:]) for i in columns]
    lines = ["  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


def table(rows: Sequence[Sequence[str]], left: int = 0) -> str:
    return "\n".join(aligned(rows, left)) + "\n"
