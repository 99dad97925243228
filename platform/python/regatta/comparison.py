# SPDX-License-Identifier: Apache-2.0
"""The comparison of two runs as one document, from which text, JSON and HTML are made."""

from fractions import Fraction
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .causes import Suspect, changed_knobs, suspects
from .comparable import apart, part_of
from .difference import Difference
from .effects import SCHEME
from .statistics import NO_INSTRUCTION, Run
from .waits import Loss

_TRAFFIC = (
    ("L1 reads", r"sm\d+\.l1", "reads"), ("L1 writes", r"sm\d+\.l1", "writes"),
    ("L2 reads", r"memory\.l2_\d+", "reads"), ("L2 writes", r"memory\.l2_\d+", "writes"),
    ("DRAM bytes read", r"memory\.dram_\d+", "bytes_read"), ("DRAM bytes written", r"memory\.dram_\d+", "bytes_written"),
    ("register reads", r"sm\d+\.register_file", "reads"), ("register writes", r"sm\d+\.register_file", "writes"),
)


# That a sentence tells: fewer are 0.0 to its reader.
_LEAST_POINTS = Fraction(1, 10)


def compare(a: Run, b: Run, most: int = 15) -> Dict[str, Any]:
    """B against A. `most`: rows of places and of suspects; the rest is summed up in one, so that sums stay whole."""
    difference = Difference(a, b)
    changed = changed_knobs(a, b)
    notes = apart(a, b, changed)
    found = [] if notes.other_work else suspects(difference)
    cause = first_cause(difference)
    document: Dict[str, Any] = {
        "a": _run(a), "b": _run(b),
        "notes": notes.notes,
        "verdict": notes.notes + verdict(difference, found, notes.other_work, cause),
        "why": {"run": cause[0], **cause[1]} if cause else None,
        "configuration": [{"knob": k, "a": x, "b": y} for k, (x, y) in changed.items()],
        "totals": _totals(a, b),
        "by_line": difference.by_line,
        "reasons": _rows(difference, ("reason",), 100),
        "launches": _rows(difference, ("launch", "kernel"), most) if len(a.document["launches"]) > 1 or
        len(b.document["launches"]) > 1 else [],
        "lines": _rows(difference, ("kernel", "source"), most) if difference.by_line else [],
        "places": _rows(difference, ("kernel", "source", "reason"), most),
        "residual": str(difference.residual),
        "suspects": [_suspect(s) for s in found[:8]],
        "energy": _energy(a, b),
    }
    return document


def _run(run: Run) -> Dict[str, Any]:
    return {"name": run.name, "machine": run.document.get("machine"), "scheme": run.scheme,
            "kernel": run.document.get("kernel"), "part": part_of(run), "cycles": run.cycles, "ending": run.ending()}


def _number(value: Fraction) -> Any:
    return int(value) if value.denominator == 1 else round(float(value), 3)


def _rows(difference: Difference, fields: Any, most: int) -> List[Dict[str, Any]]:
    def row(keys: Dict[str, Any], x: Fraction, y: Fraction) -> Dict[str, Any]:
        return {**keys, "a": _number(x), "b": _number(y), "more": _number(y - x),
                "points": round(difference.points(y - x), 3)}
    groups = difference.grouped(*fields)
    rows = [row(dict(zip(fields, key)), x, y) for key, x, y in groups[:most]]
    if len(groups) > most:
        rest = groups[most:]
        rows.append(row({"others": len(rest)}, sum((r[1] for r in rest), Fraction(0)),
                        sum((r[2] for r in rest), Fraction(0))))
    return rows


def _totals(a: Run, b: Run) -> List[Dict[str, Any]]:
    values = [("cycles", a.cycles, b.cycles, ""),
              ("warp instructions", a.document.get("warp_instructions", 0), b.document.get("warp_instructions", 0), ""),
              ("energy", round(a.energy_nj / 1000, 3), round(b.energy_nj / 1000, 3), "uJ")]
    values += [(what, a.total(module, name), b.total(module, name), "") for what, module, name in _TRAFFIC]
    return [{"what": what, "unit": unit, "a": x, "b": y, "change": None if not x else round(100 * (y - x) / x, 2)}
            for what, x, y, unit in values if x or y]


def _energy(a: Run, b: Run) -> List[Dict[str, Any]]:
    of_a, of_b = (run.document["energy"].get("by_structure", {}) for run in (a, b))
    rows: List[Dict[str, Any]] = []
    for name in list(of_a) + [n for n in of_b if n not in of_a]:
        x, y = float(of_a.get(name, 0.0)) / 1000, float(of_b.get(name, 0.0)) / 1000
        rows.append({"structure": name, "a": round(x, 3), "b": round(y, 3), "more": round(y - x, 3)})
    return sorted(rows, key=lambda r: -abs(float(r["more"])))


def _suspect(s: Suspect) -> Dict[str, Any]:
    return {"structure": s.structure.name, "score": round(s.score, 3), "points": round(s.points, 3),
            "signals": [{"what": w, "a": round(x, 4), "b": round(y, 4)} for w, x, y in s.signals],
            "knobs": [{"knob": k, "a": x, "b": y} for k, x, y in s.knobs],
            **({"share": round(s.loss.share, 4), "of": s.loss.worst.of, "worst": s.loss.worst.statistic, "worst_share": round(s.loss.of_worst, 4),
                "to_try": [{"knob": k, "value": v} for k, v in s.loss.knobs]} if s.loss else {})}


def reason_in_words(name: str) -> str:
    return {"issued": "instructions issued", "memory": "waits for memory", "scoreboard": "waits for results",
            "barrier": "waits at barriers", "instruction_fetch": "waits for instructions",
            "issue_gate": "waits for the scheme's gate", "idle": "nothing left to issue",
            "structural_scheduler": "the scheduler holding warps back", "allocate": "waits for register read ports",
            "result_queue": "waits for a place for results", "stall_count": "waits out stall counts",
            "yield": "yields to other warps", "counter": "waits for dependence counters"
            }.get(name, f"no free collector unit for {name.replace('structural_', '').upper()}")


def _causes(run: Run) -> List[Mapping[str, Any]]:
    """Of the run itself, the largest first; none of an earlier version's run."""
    found = run.document.get("why")
    return [c for c in found if isinstance(c, dict) and isinstance(c.get("sentence"), str) and isinstance(c.get("held"), (int, float))
            ] if isinstance(found, list) else []


def first_cause(difference: Difference) -> Optional[Tuple[str, Mapping[str, Any]]]:
    """("B", the first of its causes that A does not have, or has for fewer cycles); of a faster B that of A; None: none is known."""
    if difference.more == 0:
        return None
    a, b = difference.a, difference.b
    name, slow, fast = ("B", b, a) if difference.more > 0 else ("A", a, b)

    def share(run: Run, cause: Mapping[str, Any]) -> float:
        """At any line: a cause that has only moved to another one explains nothing."""
        return float(sum(c["held"] for c in _causes(run) if c.get("cause") == cause.get("cause")))
    for cause in _causes(slow):
        x, y = share(fast, cause), share(slow, cause)
        # What grows with all other cycles is no cause, and what explains less than a tenth is not the first one to look at.
        if y - x >= 0.01 and y * slow.cycles - x * fast.cycles >= 0.1 * abs(difference.more):
            return name, cause
    return None


def verdict(difference: Difference, found: List[Suspect], other_work: bool = False,
            cause: Optional[Tuple[str, Mapping[str, Any]]] = None) -> List[str]:
    """Three sentences or more: how much, why as the slower run says (first_cause), where and for what, and what is to blame.
    `other_work`: nothing is."""
    a, b = difference.a, difference.b
    if difference.more == 0:
        return [f"Both take {a.cycles:,} cycles.", *_moved(difference), _energy_sentence(a, b)]
    more = difference.points(Fraction(difference.more))
    said = [f"B takes {abs(more):.1f} % {'more' if more > 0 else 'fewer'} cycles than A ({a.cycles:,} to {b.cycles:,})."]
    if cause:
        said.append(f"{cause[0]} says why: {cause[1]['sentence']}.")
    return said + _waits(difference) + ([] if other_work else _blame(difference, found))


def _moved(difference: Difference) -> List[str]:
    """Of runs of equal length."""
    moved = sum((difference.points(c) for c in difference.by_reason().values() if c > 0), Fraction(0))
    if not moved:
        return ["No reason and no place has a change to explain."]
    return [f"{moved:.1f} points moved from one reason to another."]


def _waits(difference: Difference) -> List[str]:
    """Reasons and the place that explain most, and how far others work against them."""
    sign = 1 if difference.more > 0 else -1
    fields = ("source", "reason") if difference.by_line else ("reason",)
    parts = [(key, difference.points(y - x)) for key, x, y in difference.grouped(*fields) if (y - x) * sign > 0]
    points = {r: sign * difference.points(c) for r, c in difference.by_reason().items()}
    by_reason = sorted(((r, p) for r, p in points.items() if p > 0), key=lambda r: -r[1])
    told = [(r, p) for r, p in by_reason[:2] if p >= _LEAST_POINTS] or by_reason[:1]
    said = " and ".join(f"{p:.1f} points are due to {reason_in_words(r)}" for r, p in told)
    if difference.by_line:
        (source, reason), of_place = parts[0]
        place = "with no instruction to wait for" if source == NO_INSTRUCTION else f"at {source}"
        said += f", most of all {place} ({abs(of_place):.1f}, {reason_in_words(reason)})"
    against = -sum((p for p in points.values() if p < 0), Fraction(0))
    sentences = [said[0].upper() + said[1:] + "."]
    # Without this, points that exceed the difference look like a mistake.
    if against > Fraction(1, 4) * sum((p for p in points.values() if p > 0), Fraction(0)):
        sentences.append(f"Other reasons {'shrank' if sign > 0 else 'grew'} by {against:.1f} points.")
    return sentences


def _blame(difference: Difference, found: List[Suspect]) -> List[str]:
    a, b = difference.a, difference.b
    changed = changed_knobs(a, b)
    inside = [s for s in found if s.loss is not None]
    found = [s for s in found if s.loss is None]
    best = found[0] if found else None
    if len(changed) == 1:
        (knob, (x, y)), = changed.items()
        if best is None or knob not in [k[0] for k in best.knobs]:
            # No rule of thumb is needed: the runs differ in nothing else.
            return [f"The cause is {knob}, the only knob that differs: {_knob(y)} instead of {_knob(x)}."]
    if best is None:
        return ["No structure's own statistics explain it."]
    evidence = _changes(best) + [f"{w} went from {_short(x)} to {_short(y)}" for w, x, y in best.signals[:1]]
    # Of two machines, each knob is a part of the difference.
    verb = "Most of it points to" if "run.machine" in changed and len(changed) > 2 else "The likeliest cause is"
    said = f"{verb} {_structure(best)}" + (": " + ", ".join(evidence) if evidence else "") + "."
    # A change that scores almost as high may be the cause as well; the score is a rule of thumb.
    others = [s for s in found[1:] if s.knobs and s.score >= best.score / 3]
    if best.knobs and others:
        return [said, f"{_capital(_structure(others[0]))} may have a part in it: {', '.join(_changes(others[0]))}.", *_inside(inside)]
    return [said, *_inside(inside)]


def _inside(found: Sequence[Suspect]) -> List[str]:
    """What holds warps back in the slower run's scheme, or else in the faster one's; the largest first."""
    losses = [s.loss for s in found if s.loss is not None]
    told = []
    for loss in [x for x in losses if x.scheme == losses[0].scheme][:3]:
        if loss.share < losses[0].share / 5:
            break
        knobs = ", ".join(f"{k} is {_knob(v)}" for k, v in loss.knobs[:2])
        told.append(f"in the {loss.block} ({_lost(loss)}; {knobs})")
    if not told:
        return []
    return [f"Within {losses[0].scheme}, most time is lost " + ", then ".join(told) + "."]


def _lost(loss: Loss) -> str:
    share = f"{100 * loss.of_worst:.0f} %"
    if loss.worst.of == "residents":
        return f"{share} more CTAs are active in the other run"
    whose = {"module": "of the cycles", "ctas": "of the CTAs' time"}.get(loss.worst.of, "of the warps' time")
    return f"{loss.worst.name}: {share} {whose}"


def _changes(suspect: Suspect) -> List[str]:
    # A scheme brings knobs of its own.
    told = [k for k in suspect.knobs if suspect.structure.name != SCHEME or None not in k[1:]]
    return [f"{k} is {_knob(y)} instead of {_knob(x)}" for k, x, y in told[:2]]


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _structure(suspect: Suspect) -> str:
    name = suspect.structure.name
    return name if name.startswith("the ") else f"the {name}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _knob(value: object) -> str:
    return "absent" if value is None else f"{value}"


def _energy_sentence(a: Run, b: Run) -> str:
    if not a.energy_nj:
        return "Neither has an energy."
    change = 100 * (b.energy_nj - a.energy_nj) / a.energy_nj
    return f"Energy changes by {change:+.1f} %."
