# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence

from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table
from regatta_reproduce.stats import value

from evaluation import (Evaluation, base, changes, chosen, latencies, leaks, nodes, of, part_base, pattern, pattern_kernel,
                        schedulers, schemes, states, swept, thresholds)

Figures = Optional[Path]
titles = {name: title for name, (title, _) in schemes.items()}


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    _kernels(page, e)
    _numbers(page, e)
    # Parts that register numbers for the findings come first.
    for part in (_sleeping, _changes, _pattern, _accesses, _power, _cycles, _energy, _wake, _routing, _schedulers, _nodes,
                 _machines, _thresholds):
        part(page, e, figures)


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that the findings use, such as {{saved/hotspot/greener}}."""
    for name in schemes:
        page.put(f"saved/all/{name}", percent(e.mean_energy_saved(name)))
        page.put(f"added/all/{name}", percent(e.mean_cycles_added(name), 2))
        for s in states:
            page.put(f"state/all/{name}/{s}", percent(e.average(lambda k: e.state_share(k, name, s)), 0))
        for k in e.kernels:
            page.put(f"saved/{k}/{name}", percent(e.energy_saved(k, name)))
            page.put(f"added/{k}/{name}", percent(e.cycles_added(k, name), 2))
            for s in states:
                page.put(f"state/{k}/{name}/{s}", percent(e.state_share(k, name, s), 0))
    for name in schemes:
        for s in schedulers:
            if name != "comp_opt":
                page.put(f"added_with/{name}/{s}", percent(e.mean_cycles_added(of(name, s), of(base, s)), 2))
        page.put(f"waits_each/{name}", fixed(sum(e.gate(k, name, "wake_waits") for k in e.kernels) /
                                             sum(e.document(k, name)["warp_instructions"] for k in e.kernels), 2))
        for key in ("wake_waits", "wake_wait_cycles"):
            page.put(f"{key}/{name}", f"{sum(e.gate(k, name, key) for k in e.kernels) / 1e6:.1f} million")
    for k in e.kernels:
        for name in (base, *schemes):
            page.put(f"dram_reads/{k}/{name}", f"{e.dram_reads(k, name):,.0f}")
        for w in (thresholds[0], thresholds[-1]):
            page.put(f"on/{k}/{w}", percent(e.state_share(k, f"w-{w}", "on")))
            page.put(f"cycles/{k}/{w}", f"{e.document(k, f'w-{w}')['cycles']:,}")
        page.put(f"table_range/{k}", fixed(e.threshold_range(k), 2))
        page.put(f"registers/{k}", str(max(x["registers"] for x in e.results[(k, base)].report["entries"])))
        page.put(f"free/{k}", percent(e.unallocated_share(k), 0))
    page.put("free/all", percent(e.average(e.unallocated_share), 0))
    page.put("sleep_leakage", percent(value(e.document(e.kernels[0], "greener"), "config.sleep_transistors.sleep_leakage"), 0))


def _by_kernel(e: Evaluation, first: str, columns: Dict[str, str], cell: Callable[[str, str], Any],
               last: Callable[[str], Any], title: str = "geometric mean") -> str:
    """A row per kernel and one for all kernels; a column per run."""
    return table([first, *columns.values()], [[e.short(k)] + [cell(k, n) for n in columns] for k in e.kernels] +
                 [[title] + [last(n) for n in columns]])


def _bars(page: Page, e: Evaluation, figures: Figures, name: str, title: str, columns: Dict[str, str],
          cell: Callable[[str, str], float], last: Callable[[str], float], ylabel: str, **more: Any) -> None:
    if figures is not None:
        plots.grouped_bars(figures / name, [e.short(k) for k in e.kernels] + ["mean"],
                           {t: [100 * cell(k, n) for k in e.kernels] + [100 * last(n)] for n, t in columns.items()}, ylabel,
                           **more)
    page.figure(name, title)


def _kernels(page: Page, e: Evaluation) -> None:
    rows = []
    for k in e.kernels:
        d = e.document(k, base)
        rows.append([k, e.theirs(k), d["warp_instructions"], d["cycles"], fixed(d["ipc"], 2)] +
                    [percent(e.state_share(k, "greener", s), 0) for s in states])
    page.put("table:kernels", table(["kernel", "theirs", "warp instructions", "cycles", "IPC"] +
                                    [f"rows {s}, GREENER" for s in states], rows, left=2))


def _pattern(page: Page, e: Evaluation, figures: Figures) -> None:
    name = "fig4_1_pattern"
    result = e.results.get((pattern_kernel, pattern))
    if result is None:  # a page of other kernels
        page.put("table:pattern", "")
        page.put(f"figure:{name}", "")
        return
    accesses = dict(result.accesses)
    first, last = accesses.pop("life")
    if figures is not None:
        plots.events(figures / name, {r: [c - first for c in cycles] for r, cycles in accesses.items()},
                     "cycle of the warp's life", "register", (0, last - first))
    page.figure(name, f"Register accesses of warp 0 of {pattern_kernel}; their Fig 4.1 shows those of MUM")
    rows = [[r, len(c), percent(len(c) / (last - first + 1), 2), max(b - a for a, b in zip([first, *c], [*c, last])),
             c[-1] - first] for r, c in accesses.items()]
    page.put("table:pattern", table(["register", "cycles with an access", f"of {last - first + 1:,}", "longest pause",
                                     "last access in cycle"], rows))


def _accesses(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, e, figures, "fig4_2_accesses", "Cycles of a warp's life in which a register is accessed; their Fig 4.2",
          {"greener": "accessed"}, lambda k, n: e.power(k, n, "access_fraction"),
          lambda n: e.average(lambda k: e.power(k, n, "access_fraction")), "cycles (%)", paper=2.0,
          paper_label="the thesis's bound on the mean")
    page.compare("accesses", ["GREENER-015"])


def _power(page: Page, e: Evaluation, figures: Figures) -> None:
    shown = {n: titles[n] for n in ("greener", "sleep_reg")}
    _bars(page, e, figures, "fig4_6_power", "Leakage power saved; their Fig 4.6", shown, e.power_saved, e.mean_power_saved,
          "leakage power saved (%)", paper=47.24, paper_label="the thesis's mean, GREENER")
    page.put("table:power", _by_kernel(e, "leakage power saved", shown, lambda k, n: percent(e.power_saved(k, n)),
                                       lambda n: percent(e.mean_power_saved(n))))
    page.compare("power", ["GREENER-001", "GREENER-002"])


def _cycles(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, e, figures, "fig4_7_cycles", "Cycles added; their Fig 4.7", titles, e.cycles_added, e.mean_cycles_added,
          "cycles added (%)")
    page.put("table:cycles", _by_kernel(e, "cycles added", titles, lambda k, n: percent(e.cycles_added(k, n), 2),
                                        lambda n: percent(e.mean_cycles_added(n), 2)))
    page.compare("cycles", [i for i in ("GREENER-003", "GREENER-004", "SEC4.3.2-ORDER", "GREENER-014")
                            if i in page.comparisons.all])


def _energy(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, e, figures, "fig4_8_energy", "Leakage energy saved; their Figs 4.8 and 4.9", titles, e.energy_saved,
          e.mean_energy_saved, "leakage energy saved (%)", paper=46.96, paper_label="the thesis's mean, GREENER")
    page.put("table:energy", _by_kernel(e, "leakage energy saved", titles, lambda k, n: percent(e.energy_saved(k, n)),
                                        lambda n: percent(e.mean_energy_saved(n))))
    rows = [[titles[n]] + [percent(e.average(lambda k: e.state_share(k, n, s))) for s in states] +
            [int(sum(e.power(k, n, f"wakeups.{s}") for k in e.kernels)) for s in ("sleep", "off")] for n in schemes]
    page.put("table:states", table(["mean"] + [f"rows {s}" for s in states] + ["woken from sleep", "from off"], rows))
    page.compare("energy", ["GREENER-005", "GREENER-006", "GREENER-007", "GREENER-008", "GREENER-009", "FIG4.9-ORDER"])


def _sleeping(page: Page, e: Evaluation, figures: Figures) -> None:
    """What the energies of the previous section depend on."""
    rows = [[percent(leak[0], 0), percent(leak[1], 0)] + [percent(e.mean_energy_saved_if(n, leak)) for n in schemes] +
            [fixed(max(e.threshold_range_if(k, leak) for k in e.kernels), 2)] for leak in leaks]
    page.put("table:sleeping", table(["a sleeping row leaks", "one that is off"] + [f"saved, {t}" for t in titles.values()] +
                                     ["range over thresholds"], rows, left=0))
    for leak in leaks:
        where = f"{100 * leak[0]:.0f}-{100 * leak[1]:.0f}"
        page.put(f"range_if/{where}", fixed(max(e.threshold_range_if(k, leak) for k in e.kernels), 2))
        for n in schemes:
            page.put(f"saved_if/{where}/{n}", percent(e.mean_energy_saved_if(n, leak)))
    rows = [[e.short(k), percent(e.unallocated_share(k))] + [percent(e.allocated_saved(k, n)) for n in schemes]
            for k in e.kernels]
    rows.append(["mean", percent(e.average(e.unallocated_share))] +
                [percent(e.average(lambda k: e.allocated_saved(k, n))) for n in schemes])
    page.put("table:allocated", table(["", "rows of no warp"] + [f"saved of warps' rows, {t}" for t in titles.values()], rows))


def _changes(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {swept("greener", 1): "GREENER", swept("sleep_reg", 1): "Sleep-Reg", **{n: t for n, (t, _, _) in changes.items()}}
    rows = []
    for n, title in runs.items():
        rows.append([title, percent(e.mean_cycles_added(n, part_base), 2), percent(e.mean_energy_saved(n, part_base), 2)])
        page.put(f"change/{n}/added", rows[-1][1])
        page.put(f"change/{n}/saved", rows[-1][2])
        for k in e.kernels:
            page.put(f"change/{n}/added/{k}", percent(e.cycles_added(k, n, part_base), 2))
    page.put("table:changes", table(["in parts", "cycles added", "leakage energy saved"], rows))


def _routing(page: Page, e: Evaluation, figures: Figures) -> None:
    shown = {n: titles[n] for n in ("greener", "sleep_reg")}
    share = e.routing_share(page.comparisons.paper)
    page.put("routing_share", percent(share, 0))
    _bars(page, e, figures, "fig4_12_routing", "Leakage energy saved, routing included; their Fig 4.12", shown,
          lambda k, n: e.routed_saved(k, n, share), lambda n: e.mean_routed_saved(n, share), "leakage energy saved (%)",
          paper=20.76, paper_label="the thesis's mean, GREENER")
    page.compare("routing", ["GREENER-010", "GREENER-011"])


def _nodes(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {(n, node): f"{titles[n]}, {node} nm" for n in ("greener", "sleep_reg") for node in nodes}
    _bars(page, e, figures, "fig4_15_nodes", "Leakage energy saved by technology; their Fig 4.15", runs,
          lambda k, n: e.node_saved(k, *n), lambda n: e.mean_node_saved(*n), "leakage energy saved (%)")
    first = e.kernels[0]
    rows = [[f"{node} nm", fixed(e.on_node(first, "always_on", node) / e.on_node(first, "always_on", nodes[0]), 2)] +
            [percent(e.mean_node_saved(n, node), 2) for n in ("greener", "sleep_reg")] for node in nodes]
    page.put("table:nodes", table(["", "baseline, of 45 nm's", "saved, GREENER", "saved, Sleep-Reg"], rows))
    page.compare("nodes", ["FIG4.15-SLEEP", "FIG4.15-BASELINE", "FIG4.15-GROWS"])


def _schedulers(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {of(n, s): (f"{titles[n]}, {s.replace('_', '-')}", of(base, s)) for s in schedulers
            for n in ("greener", "sleep_reg")}
    _bars(page, e, figures, "fig4_13_schedulers", "Leakage energy saved with other schedulers; their Figs 4.13 and 4.14",
          {n: t for n, (t, _) in runs.items()}, lambda k, n: e.energy_saved(k, n, runs[n][1]),
          lambda n: e.mean_energy_saved(n, runs[n][1]), "leakage energy saved (%)")
    page.put("table:schedulers", _by_kernel(e, "leakage energy saved", {n: t for n, (t, _) in runs.items()},
                                            lambda k, n: percent(e.energy_saved(k, n, runs[n][1])),
                                            lambda n: percent(e.mean_energy_saved(n, runs[n][1]))))
    page.compare("schedulers", ["GREENER-012", "GREENER-013"])


def _machines(page: Page, e: Evaluation, figures: Figures) -> None:
    to = of(base, "hd7770")
    runs = {of(n, "hd7770"): t for n, t in titles.items()}
    rows = [[e.short(k)] + [percent(e.energy_saved(k, n, to)) for n in runs] + [percent(e.cycles_added(k, n, to), 2) for n in runs]
            for k in e.kernels]
    rows.append(["geometric mean"] + [percent(e.mean_energy_saved(n, to)) for n in runs] +
                [percent(e.mean_cycles_added(n, to), 2) for n in runs])
    page.put("table:hd7770", table(["hd7770"] + [f"energy saved, {t}" for t in runs.values()] +
                                   [f"cycles added, {t}" for t in runs.values()], rows))


def _wake(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {swept(n, w): f"{titles[n]}, {w}" for n in ("greener", "sleep_reg") for w in latencies}
    _bars(page, e, figures, "fig4_10_wake_cycles", "Cycles added by wake-up latency; their Fig 4.10", runs,
          lambda k, n: e.cycles_added(k, n, part_base), lambda n: e.mean_cycles_added(n, part_base), "cycles added (%)")
    _bars(page, e, figures, "fig4_11_wake_energy", "Leakage energy saved by wake-up latency; their Fig 4.11", runs,
          lambda k, n: e.energy_saved(k, n, part_base), lambda n: e.mean_energy_saved(n, part_base),
          "leakage energy saved (%)")
    rows = [[titles[n], w, percent(e.mean_cycles_added(swept(n, w), part_base), 2),
             percent(e.mean_energy_saved(swept(n, w), part_base))] for n in ("greener", "sleep_reg") for w in latencies]
    page.put("table:wake", table(["", "cycles from sleep", "cycles added", "leakage energy saved"], rows))
    page.compare("wake", ["FIG4.10-WAKE", "FIG4.10-SLEEP", "FIG4.11-SLEEP"])


def _thresholds(page: Page, e: Evaluation, figures: Figures) -> None:
    def ours(k: str, w: int) -> str:
        return fixed(e.leakage(k, f"w-{w}") / e.leakage(k, f"w-{chosen}"))
    rows = []
    for k in e.kernels:
        rows.append([k] + [ours(k, w) for w in thresholds])
        for benchmark in [n for n, name in e.counterparts.items() if name == k]:
            stated = e.table45[benchmark]
            rows.append([f"their {benchmark}"] + [fixed(stated[str(w)] / stated[str(chosen)]) for w in thresholds])
    page.put("table:thresholds", table([f"leakage energy, W = {chosen}: 1"] + [str(w) for w in thresholds], rows))
    page.compare("thresholds", [i for i in ("TABLE4.5-RANGE",) if i in page.comparisons.all])


def csv(e: Evaluation) -> str:
    """A row per run, with the numbers behind the tables."""
    keys: Sequence[str] = [f"row_cycles.{s}" for s in states] + ["wakeups.sleep", "wakeups.off", "access_fraction",
                                                                   "lookup_corrections", "stall_cycles"]
    rows = [[kernel, name, r.stats["cycles"], r.stats["warp_instructions"], f"{e.leakage(kernel, name):.1f}"] +
            [value(r.stats, "stats.power." + k, None) for k in keys] for (kernel, name), r in sorted(e.results.items())]
    return csv_text(["kernel", "run", "cycles", "warp_instructions", "leakage_nj", *keys], rows)
