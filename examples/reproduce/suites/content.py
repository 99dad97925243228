# SPDX-License-Identifier: Apache-2.0
"""The page's tables and its figure."""

from pathlib import Path
from types import SimpleNamespace
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from regatta.means import geomean, mean
from regatta_reproduce import parts, plots
from regatta_reproduce.findings import Findings
from regatta_reproduce.page import Page, figure, fixed, percent, table
from regatta_reproduce.suite import Coverage, Program, Suite

from evaluation import EntryNumbers, Numbers

here = Path(__file__).resolve().parent
#: Papers in the page's order, with their names; others follow under the names of their files.
papers = {"regless": "RegLess", "wir": "WIR", "finereg": "FineReg", "register_sharing": "resource sharing",
          "scratchpad": "scratchpad sharing", "greener": "GREENER", "aging": "aging-aware"}
_figure = "registers_locality"


def page(rows: Sequence[Numbers], entries: Sequence[EntryNumbers], suites: Mapping[str, Suite], size: str,
         drawn: bool) -> parts.Parts:
    # Nothing of this page is compared with what a paper measured, so that it has neither comparisons nor findings.
    p = Page(SimpleNamespace(all={}), Findings(here / "findings.toml"))
    ordered = _ordered(suites)
    _numbers(p, rows, size)
    _coverage(p, ordered)
    p.put("picture", figure(_figure, "Registers per thread and value locality of every kernel") if drawn else "")
    p.put("table:kernels", _kernels(rows))
    p.put("table:papers", _papers(rows, ordered))
    p.put("table:stated", _stated(entries, ordered))
    return parts.split(p.render(here / "page.md"))


def _ordered(suites: Mapping[str, Suite]) -> List[Suite]:
    return [suites[n] for n in papers if n in suites] + [s for n, s in suites.items() if n not in papers]


def paper_name(s: Suite) -> str:
    return papers.get(s.name, s.name)


def _numbers(p: Page, rows: Sequence[Numbers], size: str) -> None:
    p.put("kernels", str(len(rows)))
    p.put("runs", str(3 * len(rows)))
    p.put("size", size)
    p.put("operands_checked", f"{sum(r.operands_checked for r in rows):,}")
    p.put("mismatches", str(sum(r.mismatches for r in rows)))
    p.put("warp_instructions", f"{sum(r.warp_instructions for r in rows) / 1e6:.0f} million")

    def span(name: str, of: Callable[[Numbers], float], text: Callable[[float], str]) -> None:
        """{{name/low}} and {{name/high}}, with their kernels."""
        for place, r in (("low", min(rows, key=of)), ("high", max(rows, key=of))):
            p.put(f"{name}/{place}", f"{text(of(r))} ({r.kernel})")

    span("registers_64", lambda r: r.registers_64, str)
    span("registers_32", lambda r: r.registers_32, str)
    span("repeated", lambda r: r.repeated, percent)
    span("bypass", lambda r: r.bypass, percent)
    span("active", lambda r: r.active_lanes, lambda x: fixed(x, 1))
    span("floating", lambda r: r.floating_point, percent)
    span("cycles", lambda r: r.cycles_32 / r.cycles_64, lambda x: fixed(x, 3))
    p.put("repeated/mean", percent(mean(r.repeated for r in rows)))
    p.put("bypass/mean", percent(mean(r.bypass for r in rows)))
    p.put("bypass/none", str(sum(r.bypass < 0.005 for r in rows)))
    p.put("registers_64/mean", fixed(mean(r.registers_64 for r in rows), 1))
    p.put("registers_32/mean", fixed(mean(r.registers_32 for r in rows), 1))
    p.put("registers/fewer", str(sum(r.registers_32 < r.registers_64 for r in rows)))
    p.put("ctas/more", str(sum(r.ctas_32 > r.ctas_64 for r in rows)))
    p.put("cycles/mean", fixed(geomean(r.cycles_32 / r.cycles_64 for r in rows), 3))
    p.put("divergent", str(sum(r.active_lanes < 24 for r in rows)))
    more = [f"{r.kernel} ({r.registers_64} to {r.registers_32})" for r in rows if r.registers_32 > r.registers_64]
    p.put("registers/more", ", ".join(more) or "none")
    p.put("spilled", ", ".join(f"{r.kernel} ({r.spilled_63})" for r in rows if r.spilled_63) or "none")
    p.put("limited/registers", str(sum("registers" in r.limit_64.split(" and ") for r in rows)))
    limits = {name: sum(name in r.limit_64.split(" and ") for r in rows)
              for name in ("threads", "registers", "shared memory", "CTAs")}
    p.put("limits", ", ".join(f"{name} {count}" for name, count in limits.items()))
    p.put("limits/several", str(sum(" and " in r.limit_64 for r in rows)))


def _kernels(rows: Sequence[Numbers]) -> str:
    def pair(a: int, b: int) -> str:
        return str(a) if a == b else f"{a} / {b}"
    out = []
    for r in rows:
        limit = r.limit_64 if r.limit_64 == r.limit_32 else f"{r.limit_64} / {r.limit_32}"
        out.append([r.kernel, limit, r.warp_instructions, r.launches, pair(r.registers_64, r.registers_32), r.shared_bytes,
                    pair(r.ctas_64, r.ctas_32), fixed(r.active_lanes, 1), percent(r.floating_point, 0), percent(r.special, 0),
                    percent(r.repeated, 0), percent(r.bypass), r.cycles_64, fixed(r.cycles_32 / r.cycles_64, 3)])
    return table(["kernel", "limited by", "warp instructions", "launches", "registers", "shared bytes", "CTAs per SM",
                  "active lanes", "floating point", "special", "repeated", "reused", "cycles", "32-bit cycles"], out, left=2)


# --- papers ---

def _list_name(s: Suite, group: str) -> str:
    return f"{paper_name(s)}, {group}" if group else paper_name(s)


def _coverage(p: Page, suites: Sequence[Suite]) -> None:
    rows, missing = [], []
    main: List[Coverage] = []
    further: List[Coverage] = []
    for s in suites:
        for group in ["", *s.groups]:
            (further if group else main).append(s.coverage(group))
            rows.append([_list_name(s, group), "" if group else s.source, f"[{s.name}.toml](../../../traces/suites/{s.name}.toml)",
                         "" if group else f"`{s.machine}`", str(s.coverage(group)),
                         str(len({x.kernel for x in s.listed(group) if x.kernel}))])
            missing += [f"- {_list_name(s, group)}: {x.label}: {x.missing}" for x in s.listed(group) if not x.kernel]
    p.put("table:coverage", table(["paper", "its list", "file", "machine", "programs with a kernel", "kernels"], rows, left=4))
    for name, counts in (("main", main), ("further", further)):
        covered, total = sum(c.covered for c in counts), sum(c.total for c in counts)
        p.put(f"covered/{name}", f"{covered} of {total}")
    p.put("papers", str(len(suites)))
    p.put("missing", "Every listed program has a kernel." if not missing else
          "Programs without a kernel:\n\n" + "\n".join(missing))


def _papers(rows: Sequence[Numbers], suites: Sequence[Suite]) -> str:
    """Which programs a kernel stands for."""
    def cell(s: Suite, kernel: str) -> str:
        return ", ".join(dict.fromkeys(x.abbreviation or x.name for x in s.programs if x.kernel == kernel))
    return table(["kernel", *(paper_name(s) for s in suites)],
                 [[r.kernel, *(cell(s, r.kernel) for s in suites)] for r in rows], left=1 + len(suites))


def _stated(entries: Sequence[EntryNumbers], suites: Sequence[Suite]) -> str:
    """Registers, threads and shared memory as a paper states them, beside those of our entry."""
    ours: Dict[Tuple[str, str], EntryNumbers] = {(e.kernel, e.entry): e for e in entries}
    out = []
    for s in suites:
        for x in s.programs:
            if not (x.registers or x.block or x.shared_bytes) or not x.kernel:
                continue
            e = _entry_of(x, ours)
            if e is None:
                continue
            registers = e.registers_32 if s.addresses == 32 else e.registers_64
            out.append([paper_name(s), x.label, x.suite, e.entry, _beside(x.registers, registers), _beside(x.block, e.threads),
                        _beside(x.shared_bytes, e.shared_bytes)])
    return table(["paper", "program", "suite", "our entry", "registers", "threads per CTA", "shared bytes"], out, left=4)


def _entry_of(x: Program, ours: Mapping[Tuple[str, str], EntryNumbers]) -> Optional[EntryNumbers]:
    if len(x.entries) == 1:
        return ours.get((x.kernel, x.entries[0]))
    of_kernel = [e for (kernel, _), e in ours.items() if kernel == x.kernel]
    return of_kernel[0] if len(of_kernel) == 1 else None


def _beside(stated: Optional[int], found: int) -> Optional[str]:
    return None if stated is None else f"{stated:,}" if stated == found else f"{stated:,} / {found:,}"


# --- the figure ---

def figures(rows: Sequence[Numbers], folder: Path) -> None:
    """A point per kernel: registers per thread across, repeated instructions upwards; filled where WIR reuses."""
    plt = plots.pyplot()
    figure, axes = plt.subplots(figsize=(9.5, 6.2))
    axes.grid(True, axis="both")
    at = [(r.registers_32, 100 * r.repeated) for r in rows]
    for label, colour, of in (("more than 10 % of the instructions reused by WIR", plots.colours[2], lambda b: b > 0.1),
                              ("1 to 10 % reused", plots.colours[1], lambda b: 0.01 < b <= 0.1),
                              ("at most 1 % reused", plots.colours[0], lambda b: b <= 0.01)):
        chosen = [xy for xy, r in zip(at, rows) if of(r.bypass)]
        axes.plot([x for x, _ in chosen], [y for _, y in chosen], "o", color=colour, markersize=5, label=label)
    axes.set_xlim(0, 1.06 * max(x for x, _ in at))
    axes.set_ylim(-2, 1.06 * max(y for _, y in at))
    axes.set_xlabel("registers per thread, most of all entries (32-bit addresses)")
    axes.set_ylabel("repeated warp instructions [%]")
    axes.legend(loc="upper right")
    _label(axes, [r.kernel for r in rows], at)
    plots.save(figure, folder / _figure)


def _label(axes, names: Sequence[str], at: Sequence[Tuple[float, float]]) -> None:
    """Names beside their points, each on the side where it covers least of what is there already."""
    figure = axes.get_figure()
    figure.canvas.draw()
    pixels = [tuple(axes.transData.transform(xy)) for xy in at]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in pixels]
    taken.append(tuple(axes.get_legend().get_window_extent().extents))
    left, bottom, right, top = axes.get_window_extent().extents
    high = 6.5 * figure.dpi / 72
    for name, (x, y) in zip(names, pixels):
        wide = 0.56 * high * len(name)
        best = None
        for distance in (5, 11, 18, 26, 36):
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
                cx, cy = x + dx * (distance + wide / 2), y + dy * (distance + high / 2)
                box = (cx - wide / 2, cy - high / 2, cx + wide / 2, cy + high / 2)
                outside = box[0] < left or box[2] > right or box[1] < bottom or box[3] > top
                covered = sum(max(0.0, min(box[2], b[2]) - max(box[0], b[0])) *
                              max(0.0, min(box[3], b[3]) - max(box[1], b[1])) for b in taken)
                cost = covered + (1e6 if outside else 0) + distance
                if best is None or cost < best[0]:
                    best = (cost, box, cx, cy)
        _, box, cx, cy = best
        taken.append(box)
        offset = ((cx - x) * 72 / figure.dpi, (cy - y) * 72 / figure.dpi)
        axes.annotate(name, axes.transData.inverted().transform((x, y)), xytext=offset, textcoords="offset points",
                      ha="center", va="center", fontsize=6.5, arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.4,
                                                             "shrinkA": 0, "shrinkB": 2})
