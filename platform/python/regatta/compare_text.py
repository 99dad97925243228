# SPDX-License-Identifier: Apache-2.0
"""A comparison as tables and as text for a terminal."""

from typing import Any, Dict, List, Sequence, Tuple

from .text import aligned, number

Table = Tuple[str, Sequence[str], Sequence[Sequence[str]]]  # title, columns, rows


def _signed(value: Any) -> str:
    return ("+" if value > 0 else "") + number(value)


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
        cells.append(names + [number(row["a"]), number(row["b"]), _signed(row["more"]), f"{row['points']:+.2f}"])
    return title, list(fields) + ["A", "B", "more", "points"], cells


def _knobs(suspect: Dict[str, Any]) -> str:
    """The first few: another scheme brings all of its own. Of a block of a scheme, those that could help, with their values."""
    knobs = suspect["knobs"]
    told = [f"{k['knob']} {number(k['a'])} to {number(k['b'])}" for k in knobs[:4]]
    told += [f"{k['knob']} {number(k['value'])}" for k in suspect.get("to_try", [])[:4]]
    return ", ".join(told + ([f"and {len(knobs) - 4} more"] if len(knobs) > 4 else []))


def _evidence(suspect: Dict[str, Any]) -> str:
    told = [f"{g['what']} {number(g['a'])} to {number(g['b'])}" for g in suspect["signals"]]
    if "share" in suspect:
        told.append(f"{suspect['worst']}, {100 * suspect['worst_share']:.1f} % of the {_WHOSE.get(suspect['of'], 'time')}")
    return ", ".join(told)


_WHOSE = {"warps": "warps' time", "ctas": "CTAs' time", "module": "cycles", "residents": "active CTAs"}


def tables(document: Dict[str, Any]) -> List[Table]:
    """Title, columns and rows of each part; empty parts are left out."""
    several = len({row.get("kernel") for row in document["places"]} - {None}) > 1
    kernel = ["kernel"] if several else []
    found: List[Table] = [
        ("Configuration that differs", ["knob", "A", "B"],
         [[r["knob"], number(r["a"]), number(r["b"])] for r in document["configuration"]]),
        ("Totals", ["total", "A", "B", "change"],
         [[f"{r['what']} [{r['unit']}]" if r["unit"] else r["what"], number(r["a"]), number(r["b"]),
           "-" if r["change"] is None else f"{r['change']:+.2f} %"] for r in document["totals"]]),
        ("Suspects, the likeliest first", ["structure", "points in its reasons", "its knobs", "its statistics"],
         [[s["structure"], f"{s['points']:.1f}", _knobs(s) or "-", _evidence(s) or "-"] for s in document["suspects"]]),
        _split("Cycles by reason", document["reasons"], ["reason"]),
        _split("Cycles by launch", document["launches"], ["launch", "kernel"]),
        _split("Cycles by source line", document["lines"], kernel + ["source"]),
        _split("Cycles by place and reason", document["places"] if document["by_line"] else [],
               kernel + ["source", "reason"]),
        ("Energy by structure", ["structure", "A [uJ]", "B [uJ]", "more"],
         [[r["structure"], number(r["a"]), number(r["b"]), _signed(r["more"])] for r in document["energy"]]),
    ]
    return [t for t in found if t[2]]


def text(document: Dict[str, Any]) -> str:
    lines = [f"A: {document['a']['name']} ({document['a']['scheme']} on {document['a']['machine']})",
             f"B: {document['b']['name']} ({document['b']['scheme']} on {document['b']['machine']})", ""]
    lines += document["verdict"]
    if not document["by_line"]:
        lines.append("(Run both with --cpi-lines to see the source lines.)")
    for title, columns, rows in tables(document):
        lines += ["", title, *(f"  {line}" for line in aligned([columns, *rows], left=1))]
    lines += ["", f"residual: {document['residual']} cycles (what the parts do not explain)"]
    return "\n".join(lines) + "\n"
