# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence

from regatta.means import geomean
from regatta.statistics import value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table

from evaluation import (Evaluation, base, changes, chosen, latencies, leaks, nodes, of, other_machine, part_base, pattern,
                        pattern_kernel, pattern_program, schedulers, schemes, states, swept, thresholds, wide_base, wide_usual,
                        with_threshold)

Figures = Optional[Path]
titles = {name: title for name, (title, _) in schemes.items()}
both = {n: titles[n] for n in ("greener", "sleep_reg")}
#: What the verdict shows.
headline = {"GREENER-005": "energy saved,\nGREENER", "GREENER-008": "energy saved,\nComp-OPT", "GREENER-009": "energy saved,\nSleep-Reg",
            "GREENER-003": "cycles added,\nGREENER", "GREENER-004": "cycles added,\nSleep-Reg"}


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    _numbers(page, e)
    # Parts that register numbers for the findings come first.
    for part in (_sleeping, _changes, _programs, _verdict, _addresses, _pattern, _accesses, _power, _cycles, _energy, _wake, _routing,
                 _schedulers, _nodes, _machines, _thresholds, _hardware):
        part(page, e, figures)


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that the findings use: of programs such as {{saved/LPS/greener}}, of kernels such as
    {{state/laplace3d/greener/on}}."""
    for name in schemes:
        page.put(f"saved/all/{name}", percent(e.mean_energy_saved(name)))
        page.put(f"added/all/{name}", percent(e.mean_cycles_added(name), 2))
        for s in states:
            page.put(f"state/all/{name}/{s}", percent(e.over_kernels(lambda k: e.state_share(k, name, s)), 0))
            for k in e.kernels:
                page.put(f"state/{k}/{name}/{s}", percent(e.state_share(k, name, s), 0))
        for n in e.labels:
            page.put(f"saved/{n}/{name}", percent(e.energy_saved(n, name)))
            page.put(f"added/{n}/{name}", percent(e.cycles_added(n, name), 2))
        page.put(f"waits_each/{name}", fixed(sum(e.gate(k, name, "wake_waits") for k in e.kernels) /
                                             sum(e.document(k, name)["warp_instructions"] for k in e.kernels), 2))
        for key in ("wake_waits", "wake_wait_cycles"):
            page.put(f"{key}/{name}", f"{sum(e.gate(k, name, key) for k in e.kernels) / 1e6:.1f} million")
    for name in both:
        for s in schedulers:
            page.put(f"added_with/{name}/{s}", percent(e.mean_cycles_added(of(name, s)), 2))
    for k in e.kernels:
        for name in (base, *schemes):
            page.put(f"dram_reads/{k}/{name}", f"{e.dram_reads(k, name):,.0f}")
            page.put(f"l1_misses/{k}/{name}", f"{e.misses(k, name)[0]:,.0f}")
        for w in (thresholds[0], thresholds[-1]):
            page.put(f"on/{k}/{w}", percent(e.state_share(k, with_threshold(w), "on")))
            page.put(f"cycles/{k}/{w}", f"{e.document(k, with_threshold(w))['cycles']:,}")
        page.put(f"free/{k}", percent(e.unallocated_share(k), 0))
    for n in e.labels:
        page.put(f"range/{n}", fixed(e.threshold_range(n), 2))
        page.put(f"best/{n}", str(e.best_threshold(n)))
        page.put(f"registers/{n}", str(e.registers(n)))
        for name in (base, *schemes):
            page.put(f"cycles/{n}/{name}", f"{e.cycles(n, name):,.0f}")
    for name in both:
        for w in latencies:
            page.put(f"wake/{name}/{w}", percent(e.mean_cycles_added(swept(name, w)), 2))
            for n in e.labels:
                page.put(f"wake/{name}/{w}/{n}", percent(e.cycles_added(n, swept(name, w)), 2))
    for n in e.labels:
        cycles, instructions, _ = e.launched(n, base)
        page.put(f"ipc/{n}", fixed(instructions / cycles, 2))
        page.put(f"gto_over_two_level/{n}", fixed(e.gto_over_two_level([n]), 2))
    page.put("gto_over_two_level/all", fixed(e.gto_over_two_level(e.labels), 3))
    if "MC2" in e.labels:
        page.put("gto_over_two_level/others", fixed(e.gto_over_two_level([n for n in e.labels if n != "MC2"]), 3))
    for s in schedulers:
        for k in e.kernels:
            page.put(f"dram_reads/{k}/{of(base, s)}", f"{e.dram_reads(k, of(base, s)):,.0f}")
    page.put("cycles_of_one", fixed(geomean(e.cycles(n, with_threshold(1)) / e.cycles(n, with_threshold(chosen)) for n in e.labels)))
    page.put("free/all", percent(e.over_kernels(e.unallocated_share), 0))
    page.put("slower/greener", str(sum(e.cycles_added(n, "greener") > 0 for n in e.labels)))
    page.put("ordered", str(sum(e.cycles(n, "greener") < e.cycles(n, "sleep_reg") for n in e.labels)))
    page.put("below_32", str(sum(e.registers(n) < 32 for n in e.labels)))
    page.put("labels", str(len(e.labels)))
    page.put("sleep_leakage", percent(value(e.document(e.kernels[0], "greener"), "config.sleep_transistors.sleep_leakage"), 0))


def _compare(page: Page, name: str, ids: Sequence[str]) -> None:
    """A part of the kernels does not allow every comparison."""
    page.compare(name, [i for i in ids if not page.partial or i in page.comparisons.all])


def _by_program(e: Evaluation, first: str, columns: Dict[str, str], cell: Callable[[str, str], Any],
                last: Callable[[str], Any], title: str = "geometric mean") -> str:
    """A row per program and one for all; a column per run."""
    return table([first, *columns.values()], [[n] + [cell(n, run) for run in columns] for n in e.labels] +
                 [[title] + [last(run) for run in columns]])


def _bars(page: Page, figures: Figures, name: str, title: str, among: Sequence[str], columns: Dict[str, str],
          cell: Callable[[str, str], float], last: Callable[[str], float], ylabel: str, **more: Any) -> None:
    """A group per program, or per kernel, and one for the mean."""
    if figures is not None:
        plots.grouped_bars(figures / name, [*among, "mean"],
                           {t: [100 * cell(x, run) for x in among] + [100 * last(run)] for run, t in columns.items()}, ylabel,
                           **more)
    page.figure(name, title)


def _verdict(page: Page, e: Evaluation, figures: Figures) -> None:
    compared = [page.comparisons.all[i] for i in headline]
    if figures is not None:
        plots.grouped_bars(figures / "headline", list(headline.values()),
                           {"thesis": [c.stated.value for c in compared], "regatta": [c.ours for c in compared]}, "%")
    page.figure("headline", "The thesis's first numbers and ours")
    page.put("table:headline", table(["", "thesis", "ours"], [
        [f"{c.stated.what}, {c.stated.scope}", c.stated.text(), c.ours_text()] for c in compared]))


def _programs(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for n, p in e.of_label.items():
        cycles, instructions, _ = e.launched(n, base)
        rows.append([n, p.name, ", ".join(p.entries), e.registers(n), int(instructions), int(cycles), fixed(instructions / cycles, 2)])
    page.put("table:programs", table(["program", "benchmark", "our entry", "registers", "warp instructions", "cycles", "IPC"], rows,
                                     left=3))
    rows = [[k, e.theirs(k), percent(e.unallocated_share(k), 0)] + [percent(e.state_share(k, "greener", s), 0) for s in states] +
            [percent(e.allocated_saved(k, n)) for n in schemes] for k in e.kernels]
    rows.append(["mean", "", percent(e.over_kernels(e.unallocated_share), 0)] +
                [percent(e.over_kernels(lambda k: e.state_share(k, "greener", s)), 0) for s in states] +
                [percent(e.over_kernels(lambda k: e.allocated_saved(k, n))) for n in schemes])
    page.put("table:allocated", table(["kernel", "programs", "rows of no warp"] + [f"rows {s}, GREENER" for s in states] +
                                      [f"saved of warps' rows, {t}" for t in titles.values()], rows, left=2))


def _addresses(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {"32": (part_base, swept("greener", 1)), "64": (wide_base, wide_usual)}
    columns = {"registers": (lambda n, w: e.registers(n, runs[w][0]), lambda w: fixed(
                   sum(e.registers(n, runs[w][0]) for n in e.labels) / len(e.labels), 1)),
               "energy saved": (lambda n, w: percent(e.energy_saved(n, runs[w][1])), lambda w: percent(e.mean_energy_saved(runs[w][1]))),
               "cycles added": (lambda n, w: percent(e.cycles_added(n, runs[w][1]), 2),
                                lambda w: percent(e.mean_cycles_added(runs[w][1]), 2))}
    rows = [[n] + [cell(n, w) for cell, _ in columns.values() for w in runs] for n in e.labels]
    rows.append(["mean"] + [last(w) for _, last in columns.values() for w in runs])
    page.put("table:addresses", table(["GREENER, in parts"] + [f"{c}, {w}" for c in columns for w in runs], rows))
    for c, (_, last) in columns.items():
        for w in runs:
            page.put(f"addresses/{c.replace(' ', '_')}/{w}", last(w))


def _pattern(page: Page, e: Evaluation, figures: Figures) -> None:
    name = "fig4_1_pattern"
    shares = e.pattern_shares()
    if shares is None:  # a page of other kernels
        page.put("table:pattern", "")
        page.put(f"figure:{name}", "")
        _compare(page, "pattern", [])
        return
    accesses = dict(e.results[(pattern_kernel, pattern)].accesses)
    first, last = accesses.pop("life")
    if figures is not None:
        plots.events(figures / name, {r: [c - first for c in cycles] for r, cycles in accesses.items()},
                     "cycle of the warp's life", "register", (0, last - first))
    page.figure(name, f"Register accesses of warp 0 of {pattern_program}; their Fig 4.1")
    rows = [[r, len(accesses[r]), percent(share, 2), pause, percent(until, 0)] for r, (share, pause, until) in shares.items()]
    page.put("table:pattern", table(["register", "cycles with an access", f"of {last - first + 1:,}", "longest pause",
                                     "last access, of the life"], rows))
    _compare(page, "pattern", ["GREENER-018", "FIG4.1-PAUSE", "FIG4.1-DEAD"])


def _accesses(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, figures, "fig4_2_accesses", "Cycles of a warp's life in which a register is accessed; their Fig 4.2", e.kernels,
          {"greener": "accessed"}, lambda k, n: e.power(k, n, "access_fraction"),
          lambda n: e.over_kernels(lambda k: e.power(k, n, "access_fraction")), "cycles (%)", paper=2.0,
          paper_label="the thesis's bound on the mean")
    _compare(page, "accesses", ["GREENER-015"])


def _power(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, figures, "fig4_6_power", "Leakage power saved; their Fig 4.6", e.labels, both, e.power_saved, e.mean_power_saved,
          "leakage power saved (%)", paper=47.24, paper_label="the thesis's mean, GREENER")
    page.put("table:power", _by_program(e, "leakage power saved", both, lambda n, run: percent(e.power_saved(n, run)),
                                        lambda run: percent(e.mean_power_saved(run))))
    _compare(page, "power", ["GREENER-001", "GREENER-002", "SEC4.3.1-ORDER"])


def _cycles(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, figures, "fig4_7_cycles", "Cycles added; their Fig 4.7", e.labels, titles, e.cycles_added, e.mean_cycles_added,
          "cycles added (%)")
    page.put("table:cycles", _by_program(e, "cycles added", titles, lambda n, run: percent(e.cycles_added(n, run), 2),
                                         lambda run: percent(e.mean_cycles_added(run), 2)))
    _compare(page, "cycles", ["GREENER-003", "GREENER-004", "SEC4.3.2-ORDER",
                              *[i for i in page.comparisons.paper.values if i.startswith("GREENER-014-") or
                                i.startswith("SEC4.3.2-") and i != "SEC4.3.2-ORDER"]])


def _energy(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, figures, "fig4_8_energy", "Leakage energy saved; their Figs 4.8 and 4.9", e.labels, titles, e.energy_saved,
          e.mean_energy_saved, "leakage energy saved (%)", paper=46.96, paper_label="the thesis's mean, GREENER")
    page.put("table:energy", _by_program(e, "leakage energy saved", titles, lambda n, run: percent(e.energy_saved(n, run)),
                                         lambda run: percent(e.mean_energy_saved(run))))
    rows = [[titles[n]] + [percent(e.over_kernels(lambda k: e.state_share(k, n, s))) for s in states] +
            [int(sum(e.power(k, n, f"wakeups.{s}") for k in e.kernels)) for s in ("sleep", "off")] for n in schemes]
    page.put("table:states", table(["mean over the kernels"] + [f"rows {s}" for s in states] + ["woken from sleep", "from off"], rows))
    _compare(page, "energy", ["GREENER-005", "GREENER-006", "GREENER-007", "GREENER-008", "GREENER-009", "FIG4.9-ORDER"])


def _sleeping(page: Page, e: Evaluation, figures: Figures) -> None:
    """What the energies depend on."""
    rows = [[percent(leak[0], 0), percent(leak[1], 0)] + [percent(e.mean_energy_saved_if(n, leak)) for n in schemes] +
            [fixed(max(e.threshold_range_if(k, leak) for k in e.kernels), 2)] for leak in leaks]
    page.put("table:sleeping", table(["a sleeping row leaks", "one that is off"] + [f"saved, {t}" for t in titles.values()] +
                                     ["range over thresholds"], rows, left=0))
    for leak in leaks:
        where = f"{100 * leak[0]:.0f}-{100 * leak[1]:.0f}"
        page.put(f"range_if/{where}", fixed(max(e.threshold_range_if(k, leak) for k in e.kernels), 2))
        for n in schemes:
            page.put(f"saved_if/{where}/{n}", percent(e.mean_energy_saved_if(n, leak)))
        for k in e.kernels:
            page.put(f"range_if/{where}/{k}", fixed(e.threshold_range_if(k, leak), 2))
        page.put(f"one_better_if/{where}", str(sum(
            e.leaking(k, with_threshold(1), leak) < e.leaking(k, with_threshold(chosen), leak) for k in e.kernels)))


def _changes(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {swept("greener", 1): "GREENER", swept("sleep_reg", 1): "Sleep-Reg", **{n: t for n, (t, _, _) in changes.items()}}
    rows = []
    for run, title in runs.items():
        rows.append([title, percent(e.mean_cycles_added(run), 2), percent(e.mean_energy_saved(run), 2)])
        page.put(f"change/{run}/added", rows[-1][1])
        page.put(f"change/{run}/saved", rows[-1][2])
        for n in e.labels:
            page.put(f"change/{run}/added/{n}", percent(e.cycles_added(n, run), 2))
    page.put("table:changes", table(["in parts", "cycles added", "leakage energy saved"], rows))


def _routing(page: Page, e: Evaluation, figures: Figures) -> None:
    share = e.routing_share(page.comparisons.paper)
    page.put("routing_share", percent(share, 0))
    _bars(page, figures, "fig4_12_routing", "Leakage energy saved, routing included; their Fig 4.12", e.labels, both,
          lambda n, run: e.routed_saved(n, run, share), lambda run: e.mean_routed_saved(run, share), "leakage energy saved (%)",
          paper=20.76, paper_label="the thesis's mean, GREENER")
    _compare(page, "routing", ["GREENER-010", "GREENER-011", "FIG4.12-SLEEP"])


def _nodes(page: Page, e: Evaluation, figures: Figures) -> None:
    if not e.sampled:  # a page of other kernels
        page.put("table:nodes", "(not run)")
        page.put("figure:fig4_15_nodes", "")
        _compare(page, "nodes", [])
        return
    runs = {(n, node): f"{titles[n]}, {node} nm" for n in both for node in nodes}
    _bars(page, figures, "fig4_15_nodes", "Leakage energy saved by technology; their Fig 4.15", e.sampled, runs,
          lambda k, n: e.node_saved(k, *n), lambda n: e.mean_node_saved(*n), "leakage energy saved (%)")
    first = e.sampled[0]
    rows = [[f"{node} nm", fixed(e.on_node(first, "always_on", node) / e.on_node(first, "always_on", nodes[0]), 2)] +
            [percent(e.mean_node_saved(n, node), 2) for n in both] for node in nodes]
    page.put("table:nodes", table(["", "baseline, of 45 nm's", "saved, GREENER", "saved, Sleep-Reg"], rows))
    _compare(page, "nodes", ["FIG4.15-SLEEP", "FIG4.15-BASELINE", "FIG4.15-GROWS"])


def _schedulers(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {of(n, s): f"{titles[n]}, {s.replace('_', '-')}" for s in schedulers for n in both}
    _bars(page, figures, "fig4_13_schedulers", "Leakage energy saved with other schedulers; their Figs 4.13 and 4.14", e.labels, runs,
          e.energy_saved, e.mean_energy_saved, "leakage energy saved (%)")
    page.put("table:schedulers", _by_program(e, "leakage energy saved", runs, lambda n, run: percent(e.energy_saved(n, run)),
                                             lambda run: percent(e.mean_energy_saved(run))))
    _compare(page, "schedulers", ["GREENER-012", "FIG4.13-SLEEP", "GREENER-013", "FIG4.14-SLEEP", "SEC4.3.8-CYCLES"])


def _machines(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {of(n, other_machine): t for n, t in titles.items()}
    rows = [[n] + [percent(e.energy_saved(n, run)) for run in runs] + [percent(e.cycles_added(n, run), 2) for run in runs]
            for n in e.sampled_labels]
    page.put("table:hd7770", table([other_machine] + [f"energy saved, {t}" for t in runs.values()] +
                                   [f"cycles added, {t}" for t in runs.values()], rows))


def _wake(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {swept(n, w): f"{titles[n]}, {w}" for n in both for w in latencies}
    drawn = {run: t for run, t in runs.items() if run in [swept(n, w) for n in both for w in (latencies[0], latencies[-1])]}
    _bars(page, figures, "fig4_10_wake_cycles", "Cycles added by wake-up latency; their Fig 4.10", e.labels, drawn, e.cycles_added,
          e.mean_cycles_added, "cycles added (%)")
    _bars(page, figures, "fig4_11_wake_energy", "Leakage energy saved by wake-up latency; their Fig 4.11", e.labels, drawn,
          e.energy_saved, e.mean_energy_saved, "leakage energy saved (%)")
    page.put("table:wake", _by_program(e, "cycles added", runs, lambda n, run: percent(e.cycles_added(n, run), 2),
                                       lambda run: percent(e.mean_cycles_added(run), 2)) + "\n\n" +
             table(["leakage energy saved", *runs.values()], [["geometric mean"] + [percent(e.mean_energy_saved(run)) for run in runs]]))
    _compare(page, "wake", [i for i in page.comparisons.paper.values
                            if i.startswith(("FIG4.10-", "FIG4.11-", "SEC4.3.6-"))])


def _thresholds(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for n in e.labels:
        energies, stated = e.by_threshold(n), e.table45[n]
        rows.append([n] + [fixed(energies[w] / energies[chosen]) for w in thresholds])
        rows.append([f"their {n}"] + [fixed(stated[str(w)] / stated[str(chosen)]) for w in thresholds])
    page.put("table:thresholds", table([f"leakage energy, W = {chosen}: 1"] + [str(w) for w in thresholds], rows))
    if figures is not None:
        plots.grouped_bars(figures / "table4_5_ranges", e.labels,
                           {"thesis": [e.table45_range(n) for n in e.labels], "regatta": [e.threshold_range(n) for n in e.labels]},
                           "most over least energy", one=True)
    page.figure("table4_5_ranges", "Highest over lowest leakage energy over all thresholds; their Table 4.5")
    _compare(page, "thresholds", [i for i in page.comparisons.paper.values if i.startswith("TABLE4.5-")])


def _hardware(page: Page, e: Evaluation, figures: Figures) -> None:
    _compare(page, "hardware", ["SEC4.3.5-SCOREBOARD"])


def csv(e: Evaluation) -> str:
    """A row per program and run, then a row per kernel and run, with the numbers behind the tables."""
    keys: Sequence[str] = [f"row_cycles.{s}" for s in states] + ["wakeups.sleep", "wakeups.off", "access_fraction",
                                                                   "lookup_corrections", "stall_cycles"]
    rows = []
    for n, p in e.of_label.items():
        for name in sorted(name for kernel, name in e.results if kernel == p.kernel and name != pattern):
            if not name.startswith("always_on") and not name.endswith("nm"):
                cycles, instructions, _ = e.launched(n, name)
                rows.append([n, name, int(cycles), int(instructions), f"{e.leakage(n, name):.1f}"] + [None] * len(keys))
    rows += [[kernel, name, r.stats["cycles"], r.stats["warp_instructions"], f"{e.kernel_leakage(kernel, name):.1f}"] +
             [value(r.stats, "stats.power." + k, None) for k in keys] for (kernel, name), r in sorted(e.results.items())]
    return csv_text(["program_or_kernel", "run", "cycles", "warp_instructions", "leakage_nj", *keys], rows)
