# SPDX-License-Identifier: Apache-2.0
"""Figures of a study as Vega-Lite specifications: curves and bars over a knob, a map over two knobs, Pareto fronts.

Their data are the tables of chart_tables.py, by name. A reader changes what they show by menus (menus.py).
"""

from __future__ import annotations

from typing import Any

from .chart_tables import Names, pairs
from .menus import Figure, Menu, Option, Spec
from .study_data import Dimension, Result, shown
from .study_values import ALL

# A value of a knob has a mark of its own up to so many values; more are drawn as a cloud of points.
MOST_MARKS = 24
EACH = "(each program)"  # no program has this name
UNSET = "not set"
# The largest value over the least, from which an axis is logarithmic.
_LOGARITHMIC = 30
_GREY = "#8a8a8a"
# The ends of one hue, which all readers can order; the lighter one is the less.
_LIGHT_TO_DARK = ("#eaf3fb", "#7fb8e0", "#2878b5", "#0b3c6f")


class _Parameters:
    """Of a specification: named values that expressions use and menus set."""

    def __init__(self) -> None:
        self.list: list[Spec] = []

    def add(self, name: str, value: Any = None) -> str:
        self.list.append({"name": name, "value": value})
        return f"/params/{len(self.list) - 1}/value"


def _program_menu(names: Names, at: str, each: bool = True) -> Menu:
    options = [Option("all programs, geometric mean" if g == ALL else g, {at: g}) for g in names.groups]
    if each and len(names.programs) > 1:
        options.insert(1, Option("each program", {at: EACH}))
    return Menu("program", "Program", options)


def _spans(names: Names, result: Result, relative: bool) -> bool:
    """Whether a result's values need a logarithmic axis."""
    every: list[float] = []
    for g in names.programs:
        found = [s.mean for s in names.values.spreads(result.key, g).values()]
        reference = names.values.reference(result.key, g)
        if relative and reference:
            every += [f / reference for f in found]
        elif found and (min(found) <= 0 or max(found) / min(found) >= _LOGARITHMIC):
            return min(found) > 0
    return bool(every) and min(every) > 0 and max(every) / min(every) >= _LOGARITHMIC


def title_of(result: Result, relative: bool) -> str:
    return f"{result.title} / reference" if relative else result.title


def _measures(names: Names) -> list[tuple[Result, bool]]:
    """Results as they can be shown: over the reference, and as they are."""
    related = [(r, True) for r in names.results if all(names.values.reference(r.key, g) for g in names.groups)]
    return related + [(r, False) for r in names.results]


def _group(relative: bool) -> str:
    return "over the reference" if relative else "as measured"


def _unset(field: str) -> str:
    return f"isValid({field}) ? {field} : '{UNSET}'"


def _lookup(names: Names) -> list[Spec]:
    """Joins the dimensions and the references to the values."""
    joined = (("p", "points", [names.of_dimension(d) for d in names.dimensions]),
              ("g", "references", [f"ref_{names.of_result(r)}" for r in names.results]))
    return [{"lookup": key, "from": {"data": {"name": name}, "key": key, "fields": fields}} for key, name, fields in joined]


def _program_filter() -> Spec:
    return {"filter": f"program === '{EACH}' ? datum.g !== '{ALL}' : datum.g === program"}


def _texts(names: Names) -> list[Spec]:
    """Dimensions as texts t0, t1, ... for tooltips."""
    return [{"calculate": _unset(f"datum.{names.of_dimension(d)}"), "as": f"t{i}"} for i, d in enumerate(names.dimensions)]


def _tooltip(names: Names, measures: list[Spec]) -> list[Spec]:
    return [{"field": "g", "type": "nominal", "title": "program"},
            *({"field": f"t{i}", "type": "nominal", "title": d.name} for i, d in enumerate(names.dimensions)), *measures]


def _fixing(names: Names, parameters: _Parameters, used: list[str]) -> tuple[list[Menu], str]:
    """A menu for each dimension with few values that keeps only points with one of them, and the filter that all menus
    need. Points that do not set the dimension stay. `used`: parameters that name dimensions which are not to be fixed."""
    menus, terms = [], []
    for d in names.dimensions:
        if not 1 < len(d.values) <= MOST_MARKS:
            continue
        field = names.of_dimension(d)
        at = parameters.add(f"only_{field}")
        free = " || ".join(f"{u} === '{field}'" for u in used)
        terms.append(f"({free} || only_{field} === null || !isValid(datum.{field}) || datum.{field} === only_{field})")
        options = [Option("the best of all", {at: None})] + [Option(shown(v), {at: v}) for v in d.values]
        menus.append(Menu(f"only_{field}", d.name, options, dimension=d.name))
    return menus, " && ".join(terms) or "true"


def _best_of(names: Names, groupby: list[str]) -> list[Spec]:
    """One row for each group: that with the best value."""
    row = ["value", "p", *map(names.of_dimension, names.dimensions)] + (["lo", "hi"] if names.repeated else [])
    return [{"calculate": "sign * datum.value", "as": "cost"},
            {"aggregate": [{"op": "argmin", "field": "cost", "as": "b"}], "groupby": groupby},
            *({"calculate": f"datum.b.{k}", "as": k} for k in row)]


def _value(names: Names) -> list[Spec]:
    found = [("value", "")] + ([("lo", "_lo"), ("hi", "_hi")] if names.repeated else [])
    return [*({"calculate": f"datum[y + '{end}'] / (relative ? datum['ref_' + y] : 1)", "as": name} for name, end in found),
            {"filter": "isValid(datum.value) && isFinite(datum.value)"}]


def scale_of(d: Dimension) -> Spec:
    """Of an axis for a numeric dimension; logarithmic if its values span it."""
    numbers = [v for v in d.values if isinstance(v, (int, float))]
    spans = numbers[0] > 0 and numbers[-1] / numbers[0] >= 8
    # Not rounded to the next power: the marks would fill a part of the figure only.
    return {"type": "log", "base": 2, "nice": False, "padding": 12} if spans else {"zero": False, "nice": False, "padding": 12}


def _axis_of(d: Dimension) -> Spec:
    axis: Spec = {"labelOverlap": True, "labelSeparation": 5, "grid": False}
    return {**axis, "values": list(d.values)} if len(d.values) <= MOST_MARKS else axis


def _categories(d: Dimension) -> list[Any]:
    return list(d.values) + [UNSET]


def is_cloud(d: Dimension) -> bool:
    """Whether a number has so many values that each point has its own mark."""
    return d.numeric and len(d.values) > MOST_MARKS


def _colour_of(d: Dimension | None) -> Spec:
    # A legend's rows are made to fit by menus.js.
    legend = {"orient": "top", "symbolLimit": MOST_MARKS, "columns": 4}
    encoding: Spec = {"field": "colour", "title": d.name if d else None, "legend": legend}
    if d is None:
        return {**encoding, "type": "nominal", "legend": None}
    if not d.numeric:
        many = {"scale": {"scheme": "tableau20"}} if len(d.values) > 8 else {}
        return {**encoding, "type": "nominal", "sort": _categories(d), **many}
    if len(d.values) > MOST_MARKS:
        return {**encoding, "type": "quantitative", "scale": {"scheme": "viridis"}, "legend": {"orient": "top"},
                "condition": {"test": f"datum.colour === '{UNSET}'", "value": _GREY}}
    return {**encoding, "type": "ordinal", "sort": _categories(d), "scale": {"scheme": "viridis"}}


def _x_layers(names: Names, d: Dimension) -> dict[str, Spec]:
    """The layers of the curves that depend on the dimension along x: line or bar, mark, and the spread of repetitions."""
    field = {"field": "x", "title": d.name}
    is_set = [{"filter": "isValid(datum.x)"}]
    cloud = is_cloud(d)
    if d.numeric and len(d.values) > 1:
        x: Spec = {**field, "type": "quantitative", "scale": scale_of(d), "axis": _axis_of(d)}
        line: Spec = {"transform": is_set, "mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x}}
        if cloud:
            line = {"transform": [*is_set, {"joinaggregate": [{"op": "count", "as": "n"}], "groupby": ["g", "colour"]},
                                  {"filter": "datum.n >= 12"}, {"loess": "value", "on": "x", "groupby": ["g", "colour"],
                                                               "bandwidth": 0.6}],
                    "mark": {"type": "line", "strokeWidth": 2, "opacity": 0.8}, "encoding": {"x": x}}
        mark: Spec = {"transform": is_set, "encoding": {"x": x},
                      "mark": {"type": "point", "filled": True, "size": 25 if cloud else 55, "opacity": 0.6 if cloud else 1}}
        spread: Spec = {"transform": is_set, "mark": {"type": "area", "opacity": 0.2}, "encoding": {"x": x}}
    else:
        x = {**field, "type": "ordinal", "sort": _categories(d), "axis": {"labelAngle": -30 if len(d.values) > 4 else 0}}
        beside: Spec = {"x": x, "xOffset": {"field": "beside", "type": "nominal",
                                         "sort": {"field": "place", "op": "min", "order": "ascending"}}}
        named = [{"calculate": _unset("datum.x"), "as": "x"}]
        # Down to the axis: a logarithmic one has no zero.
        line = {"transform": named, "mark": {"type": "bar", "opacity": 0.85},
                "encoding": {**beside, "y2": {"value": {"expr": "height"}}}}
        mark = {"transform": named, "mark": {"type": "point", "filled": True, "size": 30}, "encoding": beside}
        spread = {"transform": named, "mark": {"type": "rule", "strokeWidth": 2}, "encoding": beside}
    if names.repeated:
        spread["encoding"] = {**spread["encoding"], "y": {"field": "lo", "type": "quantitative"}, "y2": {"field": "hi"}}
    # A colour that is not set is no number, and its mark would be left out.
    mark["mark"]["invalid"] = "show"
    mark["encoding"] = {**mark["encoding"], "tooltip": _tooltip(names, _measured(names))}
    layers = {"/spec/layer/1": line, "/spec/layer/2": mark}
    return {**layers, "/spec/layer/4": spread} if names.repeated else layers


def _measured(names: Names) -> list[Spec]:
    shown_as = [("value", "value")] + ([("lo", "least"), ("hi", "most")] if names.repeated else [])
    return [{"field": f, "type": "quantitative", "title": t, "format": ",.4~r"} for f, t in shown_as]


def curves(names: Names, x: Dimension, colour: Dimension | None) -> Figure:
    """A result over a knob: curves over numbers, bars over texts, a cloud over a sample's many numbers. `x` and `colour` are
    chosen at first; of dimensions that are neither, the best value is shown, or one that the reader fixes."""
    parameters = _Parameters()
    at = {k: parameters.add(k) for k in ("program", "x", "colour", "colours", "y", "relative", "sign")}
    fixes, fixed = _fixing(names, parameters, ["x", "colour"])
    groupby = ["g", "x", "colour"]
    transform = [*_lookup(names), _program_filter(), {"filter": fixed}, {"calculate": "datum[x]", "as": "x"},
                 {"calculate": f"colour === '' ? '' : {_unset('datum[colour]')}", "as": "colour"}, *_value(names)]
    best = len(transform) + 1
    transform += [*_best_of(names, groupby), *_texts(names),
                  # Bars of different colours stand beside each other, unless colour only repeats x.
                  {"calculate": "x === colour ? '' : datum.colour", "as": "beside"},
                  {"calculate": "indexof(colours, datum.colour)", "as": "place"}]
    y = {"field": "value", "type": "quantitative", "scale": {"type": "linear", "zero": False}, "axis": {"tickCount": 6}}
    unset = {"transform": [{"filter": "!isValid(datum.x)"}], "mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 2},
             "encoding": {"tooltip": _tooltip(names, _measured(names))}}
    one = {"transform": [{"filter": "relative"}, {"calculate": "1", "as": "one"},
                         {"aggregate": [{"op": "max", "field": "one", "as": "one"}], "groupby": ["g"]}],
           "mark": {"type": "rule", "strokeWidth": 1, "color": _GREY}, "encoding": {
               "y": {"field": "one", "type": "quantitative"}, "color": {"value": _GREY}}}
    spec: Spec = {
        "data": {"name": "values"}, "params": parameters.list, "transform": transform, "columns": 3,
        "facet": {"field": "g", "type": "nominal", "title": None, "sort": [ALL, *names.programs],
                  "header": {"labelFontSize": 13}},
        "spec": {"width": 600, "height": 300, "encoding": {"y": y, "color": {}}, "layer": [one, {}, {}, unset]}}
    if names.repeated:
        spec["spec"]["layer"].append({})
    xs, uses = [], []
    for d in names.dimensions:
        cloud = is_cloud(d)
        bars = not d.numeric or len(d.values) < 2
        note = f"Dashed: points that do not set {d.name}." if d.points < len(names.values.study.points) and not bars else ""
        xs.append(Option(d.name, {
            at["x"]: names.of_dimension(d), **_x_layers(names, d), "/spec/encoding/y/scale/zero": bars,
            f"/transform/{best}/groupby": groupby + (["p"] if cloud else []),
            "/spec/layer/3/transform/0/filter": "false" if bars else "!isValid(datum.x)"}, note=note,
            best="" if cloud else None))
        uses.append(d.name)
    colours = [Option("none", {at["colour"]: "", at["colours"]: [""], "/spec/encoding/color": _colour_of(None)})]
    colours += [Option(d.name, {at["colour"]: names.of_dimension(d), "/spec/encoding/color": _colour_of(d),
                                # Their order beside each other; many numbers have no bars.
                                at["colours"]: _categories(d) if len(d.values) <= MOST_MARKS else []})
                for d in names.dimensions]
    menus = [_program_menu(names, at["program"]),
             Menu("x", "Along x", xs, names.dimensions.index(x), uses=uses),
             Menu("colour", "Colour", colours, names.dimensions.index(colour) + 1 if colour else 0, uses=["", *uses])]
    # The result last: its scale may take the zero away that the x menu asks for.
    return Figure(spec, menus + [Menu("y", "Result", _y_options(names, at)), *fixes], uses)


def _y_options(names: Names, at: dict[str, str]) -> list[Option]:
    options = []
    for r, relative in _measures(names):
        logarithmic = _spans(names, r, relative)
        sets: dict[str, Any] = {
            at["y"]: names.of_result(r), at["relative"]: relative, at["sign"]: -1 if r.more_is_better else 1,
            "/spec/encoding/y/title": title_of(r, relative), "/spec/encoding/y/scale/type": "log" if logarithmic else "linear",
            # Programs differ widely in what they take, but not over their references.
            "/resolve": {"scale": {"y": "shared" if relative else "independent"}}}
        if logarithmic:
            sets["/spec/encoding/y/scale/zero"] = None
        options.append(Option(r.title, sets, _group(relative), best="the most" if r.more_is_better else "the least"))
    return options


def heat_map(names: Names, x: Dimension, y: Dimension) -> Figure:
    """A result over two dimensions, each with few values: a cell is the best point with these two values."""
    parameters = _Parameters()
    at = {k: parameters.add(k) for k in ("program", "x", "y2", "y", "relative", "sign")}
    fixes, fixed = _fixing(names, parameters, ["x", "y2"])
    spec: Spec = {
        "data": {"name": "values"}, "params": parameters.list,
        "transform": [*_lookup(names), _program_filter(), {"filter": fixed},
                      {"calculate": _unset("datum[x]"), "as": "x"}, {"calculate": _unset("datum[y2]"), "as": "y"},
                      *_value(names), *_best_of(names, ["g", "x", "y"]), *_texts(names),
                      {"joinaggregate": [{"op": "min", "field": "value", "as": "low"},
                                         {"op": "max", "field": "value", "as": "high"}]},
                      # 0 to 1, light to dark: the text of a dark cell is white.
                      {"calculate": "datum.high > datum.low ? (datum.value - datum.low) / (datum.high - datum.low) : 0",
                       "as": "shade"}],
        "width": "container", "height": {"step": 34},
        "encoding": {"x": {}, "y": {}},
        "layer": [
            {"mark": {"type": "rect", "stroke": "#ffffff", "strokeWidth": 1}, "encoding": {
                "color": {"field": "value", "type": "quantitative", "scale": {"zero": False, "range": list(_LIGHT_TO_DARK)},
                          "legend": {"orient": "top", "gradientLength": 200}},
                "tooltip": _tooltip(names, _measured(names))}},
            {"mark": {"type": "text", "fontSize": 12}, "encoding": {
                "text": {"field": "value", "type": "quantitative", "format": ".3~s"},
                "color": {"condition": {"test": "datum.shade > 0.45", "value": "#ffffff"}, "value": "#1b1f24"}}}]}
    menus = [_program_menu(names, at["program"], each=False)]
    few = [d for d in names.dimensions if len(d.values) <= MOST_MARKS]
    for name, label, key, chosen in (("x", "Across", "x", x), ("y2", "Down", "y", y)):
        options = [Option(d.name, {at[name]: names.of_dimension(d), f"/encoding/{key}": {
            "field": key, "type": "ordinal", "title": d.name, "sort": _categories(d),
            "axis": {"labelAngle": 0, "labelOverlap": True, "titlePadding": 10}}}) for d in few]
        menus.append(Menu(name, label, options, few.index(chosen), uses=[d.name for d in few]))
    options = []
    for r, relative in _measures(names):
        options.append(Option(r.title, {
            at["y"]: names.of_result(r), at["relative"]: relative, at["sign"]: -1 if r.more_is_better else 1,
            "/layer/0/encoding/color/title": title_of(r, relative),
            "/layer/1/encoding/text/format": ".3f" if relative else ".3~s"}, _group(relative),
            best="the most" if r.more_is_better else "the least"))
    return Figure(spec, [*menus, Menu("y", "Result", options), *fixes], [d.name for d in names.dimensions])


def pareto(names: Names, colour: Dimension | None) -> Figure:
    """Two results against each other: points that no other point beats on a line, the others grey."""
    parameters = _Parameters()
    at = {k: parameters.add(k) for k in ("program", "a", "b", "colour", "relative")}
    over = "/ (relative ? datum['ref_' + {0}] : 1)"
    key = "a + '|' + b + '|' + datum.g + '|' + datum.p"
    measured = [{"field": k, "type": "quantitative", "title": t, "format": ",.4~r"} for k, t in (("va", "across"), ("vb", "up"))]
    on_front, beaten = [{"filter": "isValid(datum.front)"}], [{"filter": "!isValid(datum.front)"}]
    spec: Spec = {
        "data": {"name": "values"}, "params": parameters.list,
        "transform": [*_lookup(names), _program_filter(),
                      {"calculate": f"datum[a] {over.format('a')}", "as": "va"},
                      {"calculate": f"datum[b] {over.format('b')}", "as": "vb"},
                      {"filter": "isValid(datum[a]) && isValid(datum[b]) && isFinite(datum.va) && isFinite(datum.vb)"},
                      {"calculate": key, "as": "key"},
                      {"lookup": "key", "from": {"data": {"name": "fronts"}, "key": "key", "fields": ["front"]}},
                      {"calculate": f"colour === '' ? '' : {_unset('datum[colour]')}", "as": "colour"},
                      *_texts(names)],
        "width": "container", "height": 340,
        "encoding": {"x": {"field": "va", "type": "quantitative", "scale": {"zero": False, "padding": 12},
                           "axis": {"tickCount": 8}},
                     "y": {"field": "vb", "type": "quantitative", "scale": {"zero": False, "padding": 12},
                           "axis": {"tickCount": 6}}},
        "layer": [
            {"transform": beaten, "mark": {"type": "point", "filled": True, "size": 30, "opacity": 0.65, "color": _GREY},
             "encoding": {"tooltip": _tooltip(names, measured)}},
            {"transform": on_front, "mark": {"type": "line", "strokeWidth": 1.5, "color": _GREY},
             "encoding": {"order": {"field": "va", "type": "quantitative"}}},
            {"transform": on_front, "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1, "invalid": "show"},
             "encoding": {"color": {}, "tooltip": _tooltip(names, measured)}}]}
    options = []
    related = {r for r, relative in _measures(names) if relative}
    for relative in (True, False):
        for a, b in pairs(names):
            if relative and not (a in related and b in related):
                continue
            sets: dict[str, Any] = {at["a"]: names.of_result(a), at["b"]: names.of_result(b), at["relative"]: relative,
                                    # Between two points of the front, the worse of both is what one surely gets.
                                    "/layer/1/mark/interpolate": "step-before" if a.more_is_better else "step-after"}
            for axis, tip, r in (("x", 0, a), ("y", 1, b)):
                sets[f"/encoding/{axis}/title"] = title_of(r, relative)
                sets[f"/encoding/{axis}/scale/type"] = "log" if _spans(names, r, relative) else "linear"
                for layer in (0, 2):
                    place = 1 + len(names.dimensions) + tip
                    sets[f"/layer/{layer}/encoding/tooltip/{place}/title"] = title_of(r, relative)
            options.append(Option(f"{a.title} against {b.title}", sets, _group(relative)))
    colours = [Option("none", {at["colour"]: "", "/layer/2/encoding/color": _colour_of(None)})]
    colours += [Option(d.name, {at["colour"]: names.of_dimension(d), "/layer/2/encoding/color": _colour_of(d)})
                for d in names.dimensions]
    return Figure(spec, [_program_menu(names, at["program"], each=False), Menu("pair", "Results", options), Menu(
        "colour", "Colour of the front", colours, names.dimensions.index(colour) + 1 if colour else 0)], [])
