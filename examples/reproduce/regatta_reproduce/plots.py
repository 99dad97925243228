# SPDX-License-Identifier: Apache-2.0
"""Figures as PNG, the same bytes whenever the numbers are the same.

Every figure is drawn with matplotlib's own font and no date, so that a file changes only when what it shows does.
"""

import io
import sys
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from . import ReproductionError

#: Told apart by those who see colours differently too (Okabe and Ito).
colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#000000"]


def require() -> None:
    """To be called before what takes long: refuses when there is no matplotlib."""
    if not available():
        raise ReproductionError(
            f"plots need matplotlib, which {sys.executable} does not have: install python3-matplotlib "
            f"(.cmake/setup-packages.sh --reproduce) and run this with the Python that it is for (/usr/bin/python3 on "
            f"Debian), or leave plots out (--no-plots)")


def pyplot():
    require()
    import matplotlib
    matplotlib.use("Agg", force=True)
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        "font.family": "DejaVu Sans", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.grid": True,
        "axes.grid.axis": "y", "grid.color": "#dddddd", "grid.linewidth": 0.6, "figure.facecolor": "white",
        "savefig.facecolor": "white", "legend.frameon": False, "axes.titlesize": 10})
    import matplotlib.pyplot
    return matplotlib.pyplot


def save(figure, path: Path) -> None:
    """`path` without a suffix. A palette makes a file less than a third as large, and keeps what bars and lines need: a figure of a
    thousand marks is as small as any other, which it is not as SVG."""
    from PIL import Image  # comes with matplotlib
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", bbox_inches="tight", dpi=120, metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    compact(Image.open(drawn)).save(path.with_suffix(".png"), optimize=True)
    pyplot().close(figure)


def compact(image):
    """With at most 64 colours. Maximum coverage keeps the few colours of bars and points, which median cut gives up for shades of
    grey at the edges of letters."""
    from PIL import Image
    return image.convert("RGB").quantize(64, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)


def _width(count: int) -> float:
    return max(5.0, min(11.0, 1.2 + 0.7 * count))


def _paper_line(axes, value: Optional[float], label: str) -> None:
    if value is not None:
        axes.axhline(value, color="#555555", linewidth=1, linestyle=(0, (4, 3)), label=label)


def grouped_bars(path: Path, groups: Sequence[str], series: Dict[str, Sequence[Optional[float]]], ylabel: str,
                 title: str = "", stacked: bool = False, paper: Optional[float] = None,
                 paper_label: str = "paper", one: bool = False, ylim: Optional[Tuple[float, float]] = None,
                 log: bool = False, errors: Optional[Dict[str, Sequence[Optional[float]]]] = None) -> None:
    """A group per name, a bar per series in it (or one bar of all of them, stacked); None: no bar. `one` draws a line
    at 1, `paper` one at what the paper states. A bar beyond `ylim` says its value."""
    for name, values in series.items():
        if len(values) != len(groups):
            raise ReproductionError(f"figure {path.name}: series '{name}' has {len(values)} values for {len(groups)} "
                                    f"groups")
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(_width(len(groups) * (1 if stacked else (1 + len(series)) / 3)), 3.1))
    places = list(range(len(groups)))
    below = [0.0] * len(groups)
    width = 0.8 if stacked else 0.84 / len(series)
    for i, (name, values) in enumerate(series.items()):
        heights = [0.0 if v is None else v for v in values]
        at = places if stacked else [p + (i - (len(series) - 1) / 2) * width for p in places]
        spread = None if errors is None or name not in errors else [0.0 if e is None else e for e in errors[name]]
        axes.bar(at, heights, width, bottom=below if stacked else None, label=name, color=colours[i % len(colours)],
                 yerr=spread, error_kw={"linewidth": 0.8, "capsize": 2, "ecolor": "#333333"})
        if stacked:
            below = [b + h for b, h in zip(below, heights)]
        elif ylim is not None:
            for x, h in zip(at, heights):
                if h > ylim[1]:
                    axes.text(x, ylim[1], f"{h:.2g}", ha="center", va="bottom", fontsize=6, rotation=90)
    if log:
        axes.set_yscale("log")
    if ylim is not None:
        axes.set_ylim(*ylim)
    if one:
        axes.axhline(1, color="#000000", linewidth=0.8)
    _paper_line(axes, paper, paper_label)
    axes.set_xticks(places)
    axes.set_xticklabels(groups, rotation=35, ha="right")
    axes.set_ylabel(ylabel)
    axes.set_title(title)
    if len(series) > 1 or paper is not None:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save(figure, path)


def scatter(path: Path, points: Sequence[Tuple[str, float, float]], front: Sequence[int], xlabel: str, ylabel: str,
            title: str = "") -> None:
    """Points with their names, a line through those of the Pareto frontier (indices, by growing x)."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(5.2, 3.4))
    axes.grid(True, axis="both")
    axes.plot([points[i][1] for i in front], [points[i][2] for i in front], color=colours[0], linewidth=1,
              label="Pareto frontier")
    spread = max(p[1] for p in points) - min(p[1] for p in points)
    height = max(p[2] for p in points) - min(p[2] for p in points)
    for name, x, y in points:
        baseline = name == "baseline"
        axes.plot([x], [y], marker="s" if baseline else "o", color="#000000" if baseline else colours[5], markersize=5)
        # Names of neighbours stand on different sides.
        crowded = sum(abs(x - u) < 0.06 * spread and abs(y - v) < 0.06 * height and u < x for _, u, v in points)
        axes.annotate(name, (x, y), textcoords="offset points", xytext=[(-8, 8), (-4, 9), (6, -11), (9, -3)][crowded % 4],
                      ha="right" if crowded == 0 and baseline else "left", fontsize=8)
    axes.margins(0.12)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title)
    axes.legend(loc="best")
    save(figure, path)


def lines(path: Path, series: Dict[str, Tuple[Sequence[float], Sequence[float]]], xlabel: str, ylabel: str,
          title: str = "", log: bool = False) -> None:
    """A line per series of (x, y)."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7.5, 3.0))
    for i, (name, (xs, ys)) in enumerate(series.items()):
        axes.plot(xs, ys, color=colours[i % len(colours)], linewidth=0.9, label=name)
    if log:
        axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save(figure, path)


def stacked_panels(path: Path, panels: Dict[str, Dict[str, Sequence[float]]], xlabel: str, ylabel: str,
                   columns: int = 2) -> None:
    """A panel per name, on the same axes: areas on top of each other over the place in their sequences, 0 first."""
    plt = pyplot()
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4.6 * columns, 1.6 * rows + 0.5), sharex=True, sharey=True,
                                squeeze=False)
    for axes, (name, series) in zip(grid.flat, panels.items()):
        lengths = {len(values) for values in series.values()}
        if len(lengths) != 1:
            raise ReproductionError(f"figure {path.name}: the series of '{name}' are of different lengths: "
                                    f"{', '.join(str(n) for n in sorted(lengths))}")
        count = lengths.pop()
        axes.stackplot(range(count), *series.values(), labels=list(series), colors=colours, linewidth=0)
        axes.set_xlim(0, max(1, count - 1))
        axes.set_title(name)
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    figure.supxlabel(xlabel, fontsize=9)
    figure.supylabel(ylabel, fontsize=9)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.tight_layout()
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, path)


def events(path: Path, rows: Dict[str, Sequence[float]], xlabel: str, ylabel: str, span: Tuple[float, float]) -> None:
    """A row of marks per name, the first at the bottom."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7.5, 0.8 + 0.17 * len(rows)))
    for i, (name, xs) in enumerate(rows.items()):
        axes.plot(list(xs), [i] * len(xs), "|", color=colours[0], markersize=6, markeredgewidth=0.5)
    axes.set_yticks(list(range(len(rows))))
    axes.set_yticklabels(list(rows), fontsize=7)
    axes.set_xlim(*span)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    save(figure, path)


def available() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def thinned(xs: Sequence[float], ys: Sequence[float], bins: int) -> Tuple[List[float], List[float]]:
    """Means of equal stretches: a line of ten thousand points shows no more than one of some hundred."""
    if len(xs) <= bins:
        return list(xs), list(ys)
    out_x, out_y = [], []
    for b in range(bins):
        first, last = b * len(xs) // bins, (b + 1) * len(xs) // bins
        out_x.append(xs[last - 1])
        out_y.append(sum(ys[first:last]) / (last - first))
    return out_x, out_y


def named_points(path: Path, points: Sequence[Tuple[str, float, float]], groups: Dict[str, Sequence[int]], front: Sequence[int],
                 xlabel: str, ylabel: str) -> None:
    """Many points with their names, in groups of one colour, and a line through those of the Pareto frontier (indices, by
    growing x). A name stands in the nearest free place beside its point."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8.5, 5.2))
    axes.grid(True, axis="both")
    axes.plot([points[i][1] for i in front], [points[i][2] for i in front], color="#555555", linewidth=1, label="Pareto frontier", zorder=1)
    for c, (group, members) in enumerate(groups.items()):
        if members:
            axes.plot([points[i][1] for i in members], [points[i][2] for i in members], "o", color=colours[c], markersize=5, label=group, zorder=2)
    margin = 0.12
    axes.margins(margin)
    wide, tall = (72 * size * part / (1 + 2 * margin) for size, part in ((8.5, 0.775), (5.2, 0.77)))  # of the points' range, in points of type
    left, low = min(p[1] for p in points), min(p[2] for p in points)
    span, rise = (max(p[i] for p in points) - least or 1.0 for i, least in ((1, left), (2, low)))
    places = [(wide * (x - left) / span, tall * (y - low) / rise) for _, x, y in points]
    taken = [(u - 4, v - 4, u + 4, v + 4) for u, v in places]
    for (name, x, y), (u, v) in sorted(zip(points, places), key=lambda p: (p[1], p[0])):
        length, height = 4.1 * len(name), 9.0

        def box(dx: float, dy: float) -> Tuple[float, float, float, float]:
            first = u + dx if dx > 0 else u + dx - length
            return first, v + dy - height / 2, first + length, v + dy + height / 2

        def free(b: Tuple[float, float, float, float]) -> bool:
            inside = -0.1 * wide < b[0] and b[2] < 1.12 * wide and -0.1 * tall < b[1] and b[3] < 1.1 * tall
            return inside and not any(b[0] < t[2] and t[0] < b[2] and b[1] < t[3] and t[1] < b[3] for t in taken)
        offsets = sorted(((dx, dy) for dx in (6, -6, 18, -18, 36, -36, 60, -60) for dy in range(-100, 101, 5)),
                         key=lambda o: (o[0] ** 2 + o[1] ** 2, o))
        dx, dy = next((o for o in offsets if free(box(*o))), (6, 0))
        taken.append(box(dx, dy))
        axes.annotate(name, (x, y), textcoords="offset points", xytext=(dx, dy), fontsize=7, ha="left" if dx > 0 else "right", va="center",
                      arrowprops={"arrowstyle": "-", "color": "#aaaaaa", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2} if abs(dy) > 8 or abs(dx) > 6 else None)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save(figure, path)
