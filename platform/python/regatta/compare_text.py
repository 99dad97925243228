# SPDX-License-Identifier: Apache-2.0
"""A comparison as tables and as text for a terminal."""

from typing import Any, Dict, List, Sequence, Tuple

Table = Tuple[str, Sequence[str], Sequence[Sequence[str]]]  # title, columns, rows


def _n(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
    return str(value)


def _signed(value: Any) -> str:
    return ("+" if value > 0 else "") + _n(value)


def _launch(pair: Any) -> str:
    a, b = pair
    if a is None:
        return f"{b}, only in B"
    if b is None:
        return f"{a}, only in A"
    return f"{a}" if a == b else f"{a} in A, {b} in B"


def _name(row: Dict[str, Any], field: str) -> str:
    if "others" in row:
        return ""
    return _launch(row[field]) if field == "launch" else str(row[field])


def _split(title: str, rows: List[Dict[str, Any]], fields: Sequence[str]) -> Table:
    cells = []
    for row in rows:
        names = [_name(row, f) for f in fields]
        if "others" in row:
            names[0] = f"{row['others']} others"
        cells.append(names + [_n(row["a"]), _n(row["b"]), _signed(row["more"]), f"{row['points']:+.2f}"])
    return title, list(fields) + ["A", "B", "more", "points"], cells


def _knobs(knobs: List[Dict[str, Any]]) -> str:
    """The first few: another scheme brings all of its own."""
    told = [f"{k['knob']} {_n(k['a'])} to {_n(k['b'])}" for k in knobs[:4]]
    return ", ".join(told + ([f"and {len(knobs) - 4} more"] if len(knobs) > 4 else []))


def tables(document: Dict[str, Any]) -> List[Table]:
    """Title, columns and rows of each part; empty parts are left out."""
    several = len({row.get("kernel") for row in document["places"]} - {None}) > 1
    kernel = ["kernel"] if several else []
    found: List[Table] = [
        ("Configuration that differs", ["knob", "A", "B"],
         [[r["knob"], _n(r["a"]), _n(r["b"])] for r in document["configuration"]]),
        ("Totals", ["total", "A", "B", "change"],
         [[f"{r['what']} [{r['unit']}]" if r["unit"] else r["what"], _n(r["a"]), _n(r["b"]),
           "-" if r["change"] is None else f"{r['change']:+.2f} %"] for r in document["totals"]]),
        ("Suspects, the likeliest first", ["structure", "points in its reasons", "its knobs", "its statistics"],
         [[s["structure"], f"{s['points']:.1f}",
           _knobs(s["knobs"]) or "-",
           ", ".join(f"{g['what']} {_n(g['a'])} to {_n(g['b'])}" for g in s["signals"]) or "-"]
          for s in document["suspects"]]),
        _split("Cycles by reason", document["reasons"], ["reason"]),
        _split("Cycles by launch", document["launches"], ["launch", "kernel"]),
        _split("Cycles by source line", document["lines"], kernel + ["source"]),
        _split("Cycles by place and reason", document["places"] if document["by_line"] else [],
               kernel + ["source", "reason"]),
        ("Energy by structure", ["structure", "A [uJ]", "B [uJ]", "more"],
         [[r["structure"], _n(r["a"]), _n(r["b"]), _signed(r["more"])] for r in document["energy"]]),
    ]
    return [t for t in found if t[2]]


def is_number(text: str) -> bool:
    return text[:1].isdigit() or text[:2].lstrip("+-")[:1].isdigit() or text == "-"


def text(document: Dict[str, Any]) -> str:
    lines = [f"A: {document['a']['name']} ({document['a']['scheme']} on {document['a']['machine']})",
             f"B: {document['b']['name']} ({document['b']['scheme']} on {document['b']['machine']})", ""]
    lines += document["verdict"]
    if not document["by_line"]:
        lines.append("(Run both with --cpi-lines to see the source lines.)")
    for title, columns, rows in tables(document):
        every = [list(columns)] + [list(r) for r in rows]
        widths = [max(len(r[i]) for r in every) for i in range(len(columns))]
        right = [i > 0 and all(is_number(r[i]) for r in rows) for i in range(len(columns))]
        lines += ["", title]
        for number, row in enumerate(every):
            cells = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)]
            lines.append(("  " + "  ".join(cells)).rstrip())
            if number == 0:
                lines.append("  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    lines += ["", f"residual: {document['residual']} cycles (what the parts do not explain)"]
    return "\n".join(lines) + "\n"
