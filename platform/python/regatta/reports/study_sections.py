# SPDX-License-Identifier: Apache-2.0
"""Sections of a page for a study: the best points, curves, a map, Pareto fronts, what matters, failures, all points and runs."""

from __future__ import annotations

from collections import Counter
from typing import Any, Sequence

from . import charts
from .chart_tables import Names, pairs, tables
from ..causes import is_of_machine
from ..idle_knobs import sentences
from ..text import number
from .page import Section
from .study_data import PRODUCT, Dimension, Result, Study, Value, shown
from .study_tables import failed, hosts, plural, points, runs
from .study_values import ALL, Best, Matter, Values

# A map of more cells than these cannot be read.
_MOST_CELLS = 400
_TITLES = {"cycles": "cycles", "energy_nj": "energy", PRODUCT: "energy × cycles"}


def build(study: Study) -> list[Section]:
    values = Values(study)
    names = Names(values)
    matters = values.matters("cycles") if values.programs else []
    found = [_best(values, matters)]
    if names.groups and names.dimensions:
        x, colour = first_choices(study, matters)
        data: dict[str, Any] | None = tables(names)
        figures = [("study-curves", "Curves", charts.curves(names, x, colour), _of_curves(x, matters),
                    "A result of the study over a knob. The table of points below has the same numbers.")]
        across = _map_choices(study, matters)
        if across is not None:
            figures.append(("study-map", "Map of two knobs", charts.heat_map(names, *across), _of_map(values, *across),
                            "A result of the study over two knobs. The table of points below has the same numbers."))
        if pairs(names):
            figures.append(("study-fronts", "Trade-offs", charts.pareto(names, colour), _of_front(values, names),
                            "Points by two results, and the Pareto front. The table of points below has the same numbers."))
        for id_, title, figure, verdict, text in figures:
            found.append(Section(id_, title, "study_figure.html.j2", {
                "verdict": verdict, "figure": figure.as_json(), "text": text, "data": data}))
            data = None  # once in a page
    if matters:
        found.append(_matters(values, matters))
    if study.failed():
        found.append(Section("study-failures", "Failures", "study_table.html.j2", failed(study)))
    if values.programs and len(study.points) > 1:
        found.append(Section("study-points", "Points", "study_table.html.j2", points(values, names)))
    found.append(Section("study-runs", "Runs", "study_table.html.j2", runs(values, names)))
    if any(r.seconds is not None for r in study.runs):
        found.append(Section("study-hosts", "Time on the host", "study_table.html.j2", hosts(study)))
    return found


def in_words(study: Study, point: int, known: str = "") -> str:
    """What varies of a point, but for the dimension `known`."""
    set_here = study.points[point]
    words = ", ".join(f"{d.name} = {shown(set_here[d.name])}" for d in study.varied if d.name in set_here and d.name != known)
    return words or ("" if known else "the only point")


def first_choices(study: Study, matters: Sequence[Matter]) -> tuple[Dimension, Dimension | None]:
    """(along x, colour) at first: the number that matters most, by scheme if there are several."""
    order = {m.dimension: i for i, m in enumerate(matters)}
    ranked = sorted(study.varied, key=lambda d: order.get(d.name, len(order)))
    # Two values make no curve.
    x = min(ranked, key=lambda d: 0 if d.numeric and len(d.values) > 2 else 1 if d.numeric else 2)
    others = [d for d in ranked if d is not x and 1 < len(d.values) <= charts.MOST_MARKS]
    return x, next((d for d in others if d.name == "scheme"), others[0] if others else None)


def _map_choices(study: Study, matters: Sequence[Matter]) -> tuple[Dimension, Dimension] | None:
    """(across, down): the two that matter most, of those with few values."""
    order = {m.dimension: i for i, m in enumerate(matters)}
    ranked = sorted((d for d in study.varied if 1 < len(d.values) <= charts.MOST_MARKS),
                    key=lambda d: (not d.numeric, order.get(d.name, len(order))))
    if len(ranked) < 2:
        return None
    x, y = sorted(ranked[:2], key=lambda d: -len(d.values))
    return (x, y) if len(x.values) * len(y.values) <= _MOST_CELLS else None


def _value(study: Study, result: Result, best: Best, of_all: bool) -> str:
    ratio = "" if best.ratio is None else f"{best.ratio:.3f} of the reference"
    if of_all and ratio:
        return ratio
    return f"{number(best.value)} {_unit(result)}".strip() + (f", {ratio}" if ratio and len(study.points) > 1 else "")


def _unit(result: Result) -> str:
    return {"cycles": "cycles", "energy_nj": "nJ"}.get(result.key, "")


def _verdict(values: Values) -> list[str]:
    study = values.study
    if not values.programs:
        return ["None of the study's runs has finished."] + _unfinished(study)
    if not study.varied:
        return _of_one_point(values) + _unfinished(study)
    program = values.groups[0]
    mean = f"geometric mean of {len(values.programs)} programs" if program == ALL else ""
    said = []
    first: Best | None = None
    for key, words in (("cycles", "by cycles"), ("energy_nj", "by energy")):
        if not any(r.key == key for r in study.results):
            continue
        best = values.best(key, program)
        if best is None:
            said.append(f"No point has {'results of all programs' if program == ALL else 'a result'} to be ranked {words}.")
            continue
        value = _value(study, study.result(key), best, program == ALL)
        if first is None:
            among = f"Best of {best.among:,} points {words}: " if best.among > 1 else "The only point with results: "
            said.append(among + f"{in_words(study, best.point)} ({'; '.join(t for t in (value, mean) if t)}).")
        else:
            where = "the same point" if best.point == first.point else in_words(study, best.point)
            said.append(f"{words[0].upper()}{words[1:]}: {where} ({value}).")
        if best.equals > 1:
            said.append(f"{best.equals - 1:,} other point{'s are' if best.equals > 2 else ' is'} equally good.")
        first = first or best
    if first is not None and any(r.key == "cycles" for r in study.results):
        said += _of_other_schemes(values, first, program)
    said += sentences(values.idle_knobs())
    if first is not None and first.among > 1 and {"cycles", "energy_nj"} <= {r.key for r in study.results}:
        front = values.front("cycles", "energy_nj", program)
        said.append(f"The front of cycles and energy has {plural(len(front), 'point')}.")
    return said + _unfinished(study)


_MOST_SCHEMES = 4  # that the verdict tells one by one


def _of_other_schemes(values: Values, best: Best, program: str) -> list[str]:
    """The best points by cycles of the schemes that `best` does not have: a study of schemes asks how close they come."""
    study = values.study
    dimension = next((d for d in study.varied if d.name == "scheme"), None)
    if dimension is None or len(dimension.values) > _MOST_SCHEMES:
        return []
    said = []
    for scheme in dimension.values:
        of_scheme = values.best("cycles", program, lambda p, s=scheme: study.points[p].get("scheme") == s)  # type: ignore[misc]
        if of_scheme is not None and study.points[best.point].get("scheme") != scheme:
            knobs = in_words(study, of_scheme.point, "scheme")
            said.append(f"The best of {scheme} by cycles: " + (f"{knobs} " if knobs else "") +
                        f"({_value(study, study.result('cycles'), of_scheme, program == ALL)}).")
    return said


def _of_one_point(values: Values) -> list[str]:
    found = {k: {g: s.mean for g in values.programs for s in values.spreads(k, g).values()} for k in ("cycles", "energy_nj")}
    cycles = found["cycles"]
    if len(cycles) > 1:
        least, most = min(cycles, key=lambda g: cycles[g]), max(cycles, key=lambda g: cycles[g])
        return [f"The study has one point, with results of {len(cycles)} programs: from {number(cycles[least])} cycles ({least}) "
                f"to {number(cycles[most])} ({most})."]
    numbers = [f"{number(v)} {_unit(values.study.result(k))}" for k, of_program in found.items() for v in of_program.values()]
    return [f"The study has one point: {' and '.join(numbers) or 'it has no cycles'}."]


def _unfinished(study: Study) -> list[str]:
    states = Counter(r.state for r in study.runs)
    counts = ((states["failed"], "failed"), (states["missing"], "are missing"))
    return [f"{count:,} of {plural(len(study.runs), 'run')} {words}." for count, words in counts if count]


def _reference_in_words(values: Values) -> str:
    numbers = set(values.references.values())
    if len(values.study.points) < 2 or not numbers:
        return ""
    if len(numbers) > 1:
        return "The reference of each program is its first finished point, since no point has results of all programs."
    point = numbers.pop()
    return f"The reference is point {point + 1}: {in_words(values.study, point)}.{_more_than_schemes(values.study, point)}"


def _more_than_schemes(study: Study, reference: int) -> str:
    """The schemes none of whose points differs from one of the reference's scheme in the scheme alone."""
    def of_machine(point: dict[str, Value]) -> dict[str, Value]:
        return {name: v for name, v in point.items() if name == "machine" or (name != "scheme" and is_of_machine(name))}

    scheme = study.points[reference].get("scheme")
    references = [of_machine(p) for p in study.points if p.get("scheme") == scheme]
    said = ""
    for other in dict.fromkeys(p.get("scheme") for p in study.points):
        theirs = [of_machine(p) for p in study.points if p.get("scheme") == other]
        if all(p not in references for p in theirs):
            names = sorted({k for k in {**theirs[0], **references[0]} if theirs[0].get(k) != references[0].get(k)})
            said += (f" All points of {other} differ from those of {scheme} in more than the scheme ({', '.join(names[:3])}): a point of "
                     f"{scheme} with the same knobs would show what the scheme alone does.")
    return said


def _best(values: Values, matters: Sequence[Matter]) -> Section:
    study = values.study
    verdict = _verdict(values)
    reference = _reference_in_words(values)
    cards = []
    keys = [r for r in study.results if r.key in ("cycles", "energy_nj", PRODUCT)]
    # The mean of all programs at one point says nothing.
    for result in keys if values.programs and (study.varied or len(values.programs) == 1) else []:
        best = values.best(result.key, values.groups[0])
        if best is not None:
            title = ("fewest " if result.key == "cycles" else "least ") + _TITLES[result.key]
            at_all = values.groups[0] == ALL and best.ratio is not None
            cards.append({"what": title + (", over the reference" if at_all else ""),
                          "value": f"{best.ratio:.3f}" if at_all else number(best.value),
                          "text": f"point {best.point + 1}: {in_words(study, best.point)}", "href": "#study-points" if
                          len(study.points) > 1 else "#study-runs"})
    if matters:
        cards.append({"what": "matters most for cycles", "value": matters[0].dimension, "href": "#study-knobs",
                      "text": f"a factor of {matters[0].ratio:.2f}: {matters[0].best} best, {matters[0].worst} worst"})
    columns: list[Any] = ["program", "best by", ("over ref.", "over the value of the reference"), "value", "point",
                          *(d.name for d in study.varied)]
    rows: list[list[Any]] = []
    for program in values.groups:
        for result in keys if program == ALL else [r for r in keys if r.key != PRODUCT]:
            best = values.best(result.key, program)
            if best is not None:
                ratio = None if best.ratio is None else {"text": f"{best.ratio:.3f}", "value": best.ratio}
                rows.append(["all, mean" if program == ALL else program, result.title, ratio, best.value, best.point + 1,
                             *(study.points[best.point].get(d.name) for d in study.varied)])
    return Section("study", f"Study {study.name}", "study_best.html.j2", {
        "verdict": verdict, "cards": cards, "columns": columns, "rows": rows if len(study.points) > 1 else [],
        "caption": "The best points: of all programs by geometric mean, and of each", "reference": reference,
        "varied": _varied(study), "fixed": _fixed(study),
        "file_text": study.file_text})


def _varied(study: Study) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for d in study.varied:
        few = len(d.values) <= 8
        rows.append([d.name, len(d.values), ", ".join(map(shown, d.values)) if few else
                     f"{shown(d.values[0])} to {shown(d.values[-1])}" if d.numeric else
                     ", ".join(map(shown, d.values[:6])) + ", ...", d.points])
    if len(study.programs) > 1:
        rows.append(["program", len(study.programs), ", ".join(study.programs[:8]) +
                     (", ..." if len(study.programs) > 8 else ""), len(study.points)])
    return rows


def _fixed(study: Study) -> str:
    fixed = [f"{d.name} = {shown(d.values[0])}" for d in study.dimensions if not d.varies and d.values]
    if len(study.programs) == 1:
        fixed.insert(0, f"program = {study.programs[0]}")
    said = f"{plural(len(study.points), 'point')}, {plural(len(study.runs), 'run')}."
    if fixed:
        said += f" The same in all: {', '.join(fixed)}."
    if study.options:
        said += f" Options of all runs: {' '.join(study.options)}."
    if study.repetitions > 1:
        said += (f" Each point was run {study.repetitions} times with other seeds; its values are means, and bands reach "
                 f"from the least to the most.")
    return said


def _of_curves(x: Dimension, matters: Sequence[Matter]) -> list[str]:
    m = next((m for m in matters if m.dimension == x.name), None)
    if m is None:
        return [f"The values of {x.name} cannot be compared: too few of their runs have finished."]
    return [f"{x.name} moves the cycles by a factor of {m.ratio:.2f}: on average over the other knobs, {m.best} is best and "
            f"{m.worst} is worst."]


def _of_map(values: Values, x: Dimension, y: Dimension) -> list[str]:
    best = values.best("cycles", values.groups[0])
    if best is None:
        return ["No point has results of all programs; choose one program."]
    point = values.study.points[best.point]
    cell = " and ".join(f"{d.name} = {shown(point[d.name])}" if d.name in point else f"{d.name} not set" for d in (x, y))
    return [f"The fewest cycles: {cell}" + (f" ({best.ratio:.3f} of the reference)." if best.ratio is not None else ".")]


def _of_front(values: Values, names: Names) -> list[str]:
    a, b = pairs(names)[0]
    program = names.groups[0]
    front = values.front(a.key, b.key, program)
    if not front:
        return ["No point has both results of all programs; choose one program."]
    some = "; ".join(in_words(values.study, p) for p in front[:3]) + (" and others" if len(front) > 3 else "")
    if len(front) == 1:
        return [f"One point is the best by {a.title} and by {b.title}: {some}."]
    return [f"{len(front):,} points are not beaten by {a.title} and {b.title} at once. From the best by {a.title} on: {some}."]


def _matters(values: Values, matters: Sequence[Matter]) -> Section:
    others = {r.key: {m.dimension: m for m in values.matters(r.key)} for r in values.study.results
              if r.key in ("energy_nj", PRODUCT)}
    largest = max(m.ratio for m in matters) - 1
    def factor(of_result: str, m: Matter) -> Any:
        found = others.get(of_result, {}).get(m.dimension)
        return None if found is None else {"text": f"{found.ratio:.3f}", "value": found.ratio}

    rows: list[list[Any]] = []
    for m in matters:
        bar = (m.ratio - 1) / largest if largest else 0.0
        rows.append([m.dimension, {"text": f"{m.ratio:.3f}", "value": m.ratio, "bar": bar},
                     m.best, m.worst, factor("energy_nj", m), factor(PRODUCT, m), m.matched or None])
    means = [[m.dimension, value, {"text": f"{mean:.3f}", "value": mean}] for m in matters for value, mean in m.means.items()]
    said = [f"{matters[0].dimension} moves the cycles most: by a factor of {matters[0].ratio:.2f}."]
    if len(matters) > 1:
        said.append(f"{matters[-1].dimension} moves them least: {matters[-1].ratio:.3f}.")
    notes = ["A factor is the geometric mean of a knob's worst value over that of its best. The means are of groups of runs that "
             "differ in this knob only and have all of its values (last column); a knob that belongs to some schemes only is "
             "averaged over."]
    if any(not m.matched for m in matters):
        notes.append("A knob without such groups is compared over all its runs, which differ in other knobs too: a sample shows "
                     "tendencies. Of knobs with many values, ranges are compared.")
    return Section("study-knobs", "What matters", "study_table.html.j2", {"verdict": said, "notes": notes, "tables": [
        {"id": "study-knobs-rows", "caption": "Factor between the worst and the best value of each knob", "big": False,
         "shown": 0, "rows": rows, "columns": ["knob", "cycles", "best value", "worst value", "energy", "energy × cycles",
                                               "groups compared"]},
        {"id": "study-knobs-means", "caption": "Geometric mean by value", "big": False,
         "shown": 20, "rows": means, "columns": ["knob", "value", "cycles / reference"]}]})
