# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Dict, List, Optional

from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, signed, table
from regatta_reproduce.programs import bars, by_program

from evaluation import (Evaluation, alternatives, apart, base, base_owf, better_postdom, by_path, changes_of_machine, configuration, doubled,
                        faster_than_64, few, gains, gto, in_order, limited, multiplexed, multiplexed_runs, noticeable, number,
                        on_machine, only_relssp, opt, plan, postdom, resident, schedulers, shared, size_of, theirs, two_level,
                        unlocked, variants, with_jump)

Figures = Optional[Path]
#: Single changes: description, run, run that it is relative to. `unlocked` stands for the run with as many CTAs as sharing.
changes = [
    ("OWF, no sharing", base_owf, base),
    ("GTO, no sharing", gto, base),
    ("two-level scheduling, no sharing", two_level, base),
    ("sharing, LRR", "noopt", base),
    ("sharing, OWF", shared, base),
    ("sharing, OWF, over OWF without sharing", shared, base_owf),
    ("the layout, over sharing with OWF", "reorder", shared),
    ("relssp in a post-dominator, over the layout", postdom, "reorder"),
    ("relssp at the optimal points, over the layout", opt, "reorder"),
    ("sharing, layout and relssp (optimal), OWF", opt, base),
    ("the same, over OWF without sharing", opt, base_owf),
    ("the same with LRR in place of OWF", "opt-lrr", base),
    ("the same with GTO, over GTO", "opt-gto", gto),
    ("as many CTAs, no locks (twice the scratchpad), LRR", "unlocked", base),
    ("the same with OWF, over OWF", "unlocked-owf", base_owf),
    ("twice the scratchpad, LRR", doubled, base),
    ("instruction cache of 16 KB, LRR", on_machine(base, "icache"), base),
    ("sharing with all optimisations over that", on_machine(opt, "icache"), on_machine(base, "icache")),
    ("256 MSHRs and four times the bandwidth, LRR", on_machine(base, "bandwidth"), base),
    ("sharing with all optimisations over that", on_machine(opt, "bandwidth"), on_machine(base, "bandwidth")),
    ("one CTA and its pair, as in the thesis: sharing with all optimisations", "few-opt", "few-baseline"),
]


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    # Numbers for the findings come first.
    for part in (_numbers, _verdict, _programs, _ctas, _performance, _changes, _compiler, _progress, _schedulers, _doubled,
                 _larger, _multiplexed, _apart):
        part(page, e, figures)


def _run(e: Evaluation, p: Any, run: str) -> str:
    return {"unlocked": unlocked(plan(p).ctas), "unlocked-owf": unlocked(plan(p).ctas, base_owf)}.get(run, run)


def _gain(e: Evaluation, p: Any, run: str, to: str = base) -> Optional[float]:
    run = _run(e, p, run)
    return e.gain(p, run, to) if (p.kernel, run) in e.results else None


def _mean(e: Evaluation, run: str, to: str = base, of_set: str = "") -> Optional[float]:
    programs = [p for n, p in (e.of_set[of_set] if of_set else e.limited).items() if (p.kernel, _run(e, p, run)) in e.results]
    return e.mean_over(lambda p: e.speed(p, _run(e, p, run), to), programs)


def _numbers(page: Page, e: Evaluation, figures: Figures) -> None:
    """Single numbers that the findings use: {{gain/MC1/opt}}, {{gain/all/opt}}, {{gain/Set-1/opt}}, {{gain/all/opt/over/shared}}."""
    runs = [*schedulers, doubled, *variants, *alternatives, "unlocked", on_machine(base, "icache"), on_machine(base, "bandwidth")]
    relative = [(r, base) for r in runs] + [(r, to) for r in (*variants, *alternatives) for to in (gto, base_owf, two_level, doubled)]
    relative += [(opt, shared), ("reorder", shared), (postdom, "reorder"), (opt, "reorder"), (opt, postdom), (shared, "noopt"),
                 ("unlocked-owf", base_owf), ("few-opt", "few-baseline")]
    relative += [(on_machine(opt, c), on_machine(base, c)) for c in changes_of_machine]
    for run, to in relative:
        name = run if to == base else f"{run}/over/{to}"
        page.put(f"gain/all/{name}", signed(_mean(e, run, to)))
        for s in limited:
            page.put(f"gain/{s}/{name}", signed(_mean(e, run, to, s)))
        for n, p in e.limited.items():
            page.put(f"gain/{n}/{name}", signed(_gain(e, p, run, to)))
    for n, p in e.limited.items():
        for run in (shared, opt, "unlocked"):
            page.put(f"l1/{n}/{run}", signed(e.more_misses(p, _run(e, p, run), "l1")))
            page.put(f"l2/{n}/{run}", signed(e.more_misses(p, _run(e, p, run), "l2")))
        page.put(f"l1/{n}/{opt}/over/{gto}", signed(e.more_misses(p, opt, "l1", gto)))
        page.put(f"icache/{n}", signed(100 * (e.icache_misses(p, opt) / e.icache_misses(p, base) - 1), 0))
        for run in (shared, opt):
            page.put(f"progress/{n}/{run}", _progressed(e, p, run))
        page.put(f"bus/{n}", percent(e.bus_share(p, base), 0))
        page.put(f"bus/{n}/{opt}", percent(e.bus_share(p, opt), 0))
    for kilobytes in configuration:
        for n, p in e.runs_at(kilobytes).items():
            page.put(f"gain/{kilobytes}/{n}", signed(100 * (e.other_speed(p, kilobytes) - 1)))
    for n, p in e.of_set["Set-3"].items():
        for run, (_, _, _) in apart.items():
            page.put(f"set3/{n}/{run}", signed(e.gain(p, run, "s3-baseline"), 2))
        page.put(f"set3/{n}/owf", signed(e.gain(p, "s3-shared-owf", "s3-gto"), 2))
        page.put(f"set3/{n}/opt", signed(e.gain(p, "s3-opt-lrr", "s3-baseline"), 2))
    page.put("gainers", str(sum(e.gain(p, opt) > noticeable for p in e.limited.values())))
    page.put("losers", str(sum(e.gain(p, opt) < -noticeable for p in e.limited.values())))


def _progressed(e: Evaluation, p: Any, run: str) -> str:
    found = e.progress(p, run)
    return "-" if found is None else percent(found, 0)


def _verdict(page: Page, e: Evaluation, figures: Figures) -> None:
    if page.partial:
        page.put("claims", "not compared for a part of the kernels")
        page.put("figure:headline", "")
        page.put("table:headline", "")
        return
    done = page.comparisons.all
    headline = {number(1): "sharing with\ncompiler", number(2): "highest", number(9): "over GTO", number(10): "over\ntwo-level",
                number(8): "cycles saved"}
    if figures is not None:
        plots.grouped_bars(figures / "headline", list(headline.values()),
                           {"thesis": [done[i].stated.value for i in headline], "regatta": [done[i].ours for i in headline]}, "change in %")
    page.figure("headline", "The thesis's first numbers and ours")

    def holds(*ids: str) -> str:
        return "holds" if all(not done[i].difference for i in ids) else "**does not hold**"

    order = "; ".join(f"{title[7:]} {signed(_mean(e, run, of_set='Set-1'))}" for run, (title, _, _) in variants.items())
    same = [f"FIG3.17-{run}-{scheduler}" for run in ("SHARED", "OPT") for scheduler in ("LRR", "GTO")]
    rows: List[List[Any]] = [
        ["IPC of Set-1 and Set-2 with sharing and the compiler", "+19 %", signed(done[number(1)].ours), holds(number(1)),
         f"OWF without sharing {signed(_mean(e, base_owf))}; **sharing with OWF, no compiler {signed(_mean(e, shared))}**; the same CTAs "
         f"without locks {signed(_mean(e, 'unlocked'))}; an instruction cache of 16 KB on both sides {signed(_mean(e, on_machine(opt, 'icache'), on_machine(base, 'icache')))}"],
        ["Set-1: NoOpt <= OWF <= PostDom <= OPT", "in this order", "in this order" if not done["FIG3.10-ORDER"].difference else "another order",
         holds("FIG3.10-ORDER"), order],
        ["relssp improves Set-1 more than Set-2", "Set-1 improves, Set-2 hardly", f"{signed(_mean(e, opt, shared, 'Set-1'))}, {signed(_mean(e, opt, shared, 'Set-2'))}",
         "holds" if (_mean(e, opt, shared, "Set-1") or 0) > max(0, _mean(e, opt, shared, "Set-2") or 0) else "**does not hold**", "OPT over Shared-OWF (means)"],
        ["Set-3 is unchanged by sharing (LRR, GTO)", "same cycles", "same cycles" if all(not done[i].difference for i in same[:2]) else "other cycles",
         holds(*same[:2]), "sharing alone"],
        ["Set-3 is unchanged by the compiler (LRR, GTO)", "same cycles", "same cycles" if all(not done[i].difference for i in same[2:]) else "other cycles",
         holds(*same[2:]), f"DCT5 {signed(e.gain(e.of_set['Set-3']['DCT5'], 's3-opt-lrr', 's3-baseline'), 2)}; with the layout and no relssp "
         f"{signed(e.gain(e.of_set['Set-3']['DCT5'], 's3-reorder-lrr', 's3-baseline'), 2)}"],
    ]
    states = [row[3].strip("*") for row in rows]
    page.put("claims", "; ".join(f"{plural}: {states.count(s)}" for s, plural in (("holds", "hold"), ("does not hold", "do not hold")) if s in states))
    page.put("table:headline", table(["claim", "thesis", "ours", "", "single changes"], rows, left=5))


def _programs(page: Page, e: Evaluation, figures: Figures) -> None:
    rows: List[List[Any]] = []
    for of_set, run in ((limited[0], base), (limited[1], base), ("Set-3", "s3-baseline"), (multiplexed, "m-baseline")):
        for n, p in e.of_set[of_set].items():
            size = 16384 if of_set == "Set-3" else size_of(p)
            rows.append([n, of_set, p.entries[0], e.threads(p, run), e.registers(p, run), e.shared_bytes(p, run, p.entries[0]), theirs(p) or "-", size,
                         f"{e.cycles(p, run):,.0f}", fixed(e.ipc(p, run), 0), percent(e.bus_share(p, run), 0)])
    page.put("table:programs", table(["program", "set", "our kernel", "threads of a CTA", "registers", "scratchpad of a CTA, bytes", "thesis", "scratchpad of the SM",
                                      "cycles, Unshared-LRR", "IPC", "DRAM bus busy"], rows, left=3))


def _ctas(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {base: "Unshared-LRR", shared: "Shared-OWF", opt: "Shared-OWF-OPT"}
    rows = [[n] + [e.peak(p, r) for r in runs] + [plan(p).conventional, plan(p).ctas] for n, p in e.limited.items()]
    page.put("table:ctas", table(["CTAs of an SM", *runs.values(), "formula, without sharing", "with sharing"], rows))
    if figures is not None and e.limited:
        plots.grouped_bars(figures / "fig3_8_ctas", list(e.limited), {t: [e.peak(p, r) for p in e.limited.values()] for r, t in runs.items()},
                           "CTAs of an SM")
    page.figure("fig3_8_ctas", "Resident CTAs; their Fig 3.8")
    page.compare_known("ctas", [*map(number, resident), *map(number, (19, 20, 21)), "FIG3.8-OPT", "FIG3.8-FORMULA", number(106)])


def _performance(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {run: title for run, (title, _, _) in variants.items()}
    rows = [[n] + [signed(e.gain(p, r)) for r in columns] for n, p in e.limited.items()]
    for title, of_set in (("geometric mean, Set-1", "Set-1"), ("geometric mean, Set-2", "Set-2"), ("geometric mean", "")):
        rows.append([title] + [signed(_mean(e, r, of_set=of_set)) for r in columns])
    page.put("table:variants", table(["IPC over Unshared-LRR", *columns.values()], rows))
    if figures is not None and e.limited:
        groups = [*e.limited, "geometric\nmean"]
        series = {title: [e.gain(p, r) for p in e.limited.values()] + [_mean(e, r)] for r, title in columns.items()}
        plots.grouped_bars(figures / "fig3_10_variants", groups, series, "IPC, change in %")
    page.figure("fig3_10_variants", "IPC over Unshared-LRR by variant; their Fig 3.9 and 3.10")
    page.compare_known("performance", [number(1), number(2), *map(number, gains), number(7), number(8), "FIG3.9-MOST", "FIG3.9-SRAD1", "FIG3.9-SRAD2",
                                       "FIG3.9-histogram", "FIG3.9-FDTD3d-L1", "FIG3.9-FDTD3d-L2"])
    page.compare_known("variants", [*(f"FIG3.10-NOOPT-{n}" for n in in_order), "FIG3.10-OWF", "FIG3.10-REORDER", "FIG3.10-SET1", "FIG3.10-ORDER",
                                    *(f"FIG3.10-POSTDOM-{n}" for n in better_postdom), "FIG3.10-OPT", "FIG3.10-SRAD2-STALLS", "FIG3.10-SET2"])


def _changes(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for title, run, to in changes:
        rows.append([title] + [signed(_gain(e, p, run, to)) for p in e.limited.values()] + [signed(_mean(e, run, to, s)) for s in (*limited, "")])
    page.put("table:changes", table(["IPC over Unshared-LRR, unless stated", *e.limited, *limited, "all"], rows))


def _compiler(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for n, p in e.limited.items():
        found = e.layout(p)
        fewest, most = e.added_by_path(p)
        rows.append([n, found["variables"], found["common_variables"], found["shared_bytes"], found["boundary"], f"{found['common_range']:,}", found["relssp_optimal"],
                     found["relssp_optimal_jumps"], fewest if fewest == most else f"{fewest} or {most}", fixed(e.added(p) / e.warps(p), 2),
                     fixed(e.added(p, postdom) / e.warps(p), 2)])
    page.put("table:compiler", table(["program", "variables", "in the common part", "bytes", "of these private", "range of the common part, instructions",
                                      "relssp placed", "jumps", "added, of a thread", "added, of a warp", "of a warp, PostDom"], rows))
    page.compare_known("compiler", [*(number(22 + 5 * k + 2) for k in range(len(in_order))), *map(number, {**only_relssp, **with_jump, **by_path}),
                                    "FIG3.12-SINGLE", "FIG3.12-HEARTWALL-SINGLE"])


def _progress(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for n, p in e.limited.items():
        row: List[Any] = [n]
        for run in (shared, opt):
            d = e.sharing(p, run)
            row += [_progressed(e, p, run), f"{d['waits']:,.0f}", f"{d['wait_cycles']:,.0f}"]
        rows.append(row + [f"{e.sharing(p)['common_accesses']:,.0f}", f"{e.sharing(p).get('releases', 0):,.0f}"])
    page.put("table:progress", table(["program", "progress, Shared-OWF", "waits", "warp-cycles waited", "progress, OPT", "waits", "warp-cycles waited",
                                      "accesses of the common part", "releases"], rows))
    if figures is not None and e.limited:
        plots.grouped_bars(figures / "fig3_12_progress", list(e.limited),
                           {t: [100 * (e.progress(p, r) or 0) for p in e.limited.values()] for r, t in ((shared, "Shared-OWF"), (opt, "Shared-OWF-OPT"))},
                           "progress, %")
    page.figure("fig3_12_progress", "Cycles in which the additional warps do not wait for a lock; beside their Fig 3.12")
    page.compare_known("progress", ["FIG3.12-HEARTWALL"])


def _schedulers(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {to: f"over {title}" for to, (title, _) in schedulers.items()}
    rows = [[n] + [signed(e.gain(p, opt, to)) for to in columns] for n, p in e.limited.items()]
    rows.append(["geometric mean"] + [signed(_mean(e, opt, to)) for to in columns])
    page.put("table:schedulers", table(["Shared-OWF-OPT", *columns.values()], rows))
    if figures is not None and e.limited:
        plots.grouped_bars(figures / "fig3_13_schedulers", [*e.limited, "geometric\nmean"],
                           {t: [e.gain(p, opt, to) for p in e.limited.values()] + [_mean(e, opt, to)] for to, t in columns.items()}, "IPC, change in %")
    page.figure("fig3_13_schedulers", "IPC of Shared-OWF-OPT over other schedulers without sharing; their Fig 3.13")
    page.compare_known("schedulers", [number(9), number(10), "FIG3.13-FDTD3d-GTO", "FIG3.13-FDTD3d-TL", "FIG3.13-histogram-GTO", "FIG3.13-histogram-L1",
                                      "FIG3.13-histogram-TL"])


def _doubled(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {doubled: "Unshared-LRR, twice the scratchpad", "unlocked": "the same, CTAs as with sharing", opt: "Shared-OWF-OPT"}
    rows = [[n] + [signed(_gain(e, p, r)) for r in columns] for n, p in e.limited.items()]
    rows.append(["geometric mean"] + [signed(_mean(e, r)) for r in columns])
    page.put("table:doubled", table(["IPC over Unshared-LRR", *columns.values()], rows))
    if figures is not None and e.limited:
        plots.grouped_bars(figures / "fig3_14_doubled", [*e.limited, "geometric\nmean"],
                           {t: [_gain(e, p, r) for p in e.limited.values()] + [_mean(e, r)] for r, t in columns.items()}, "IPC, change in %")
    page.figure("fig3_14_doubled", "IPC over Unshared-LRR; their Fig 3.14")
    page.compare_known("doubled", [f"FIG3.14-{n}" for n in in_order])


def _larger(page: Page, e: Evaluation, figures: Figures) -> None:
    rows: List[List[Any]] = []
    series: Dict[str, List[Optional[float]]] = {f"{k} KB": [] for k in configuration}
    named = e.runs_at(48)
    for n, p in named.items():
        row: List[Any] = [n, theirs(p) or "-"]
        for k in configuration:
            if n not in e.runs_at(k):
                row += ["-", "-"]
                series[f"{k} KB"].append(None)
                continue
            row += [f"{e.peak(p, on_machine(base, k, p))}, {e.peak(p, on_machine(opt, k, p))}", signed(100 * (e.other_speed(p, k) - 1))]
            series[f"{k} KB"].append(100 * (e.other_speed(p, k) - 1))
        both = n in e.runs_at(64)
        row += [signed(e.gain(p, on_machine(opt, 48, p), on_machine(base, 64, p))) if both else "-",
                signed(e.gain(p, on_machine(base, 64, p), on_machine(base, 48, p))) if both else "-"]
        rows.append(row)
    page.put("table:larger", table(["program", "thesis's CTA, bytes", "48 KB: CTAs, with sharing", "Shared-OWF-OPT over Unshared-LRR", "64 KB: CTAs, with sharing",
                                    "Shared-OWF-OPT over Unshared-LRR", "shared 48 KB over unshared 64 KB", "unshared 64 KB over 48 KB"], rows))
    if figures is not None and named:
        plots.grouped_bars(figures / "fig3_15_larger", list(named), series, "IPC, change in %")
    page.figure("fig3_15_larger", "IPC of Shared-OWF-OPT over Unshared-LRR with 48 and 64 KB; their Fig 3.15")
    ids = [f"FIG3.15-{k}-{n}" for k in configuration for n in e.runs_at(k)]
    page.compare_known("larger", [*ids, *(f"FIG3.15-48-64-{n}" for n in faster_than_64), "FIG3.15-DCT2-64", "FIG3.15-DCT2-OPT"])


def _multiplexed(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {run: title for run, (title, _, _) in multiplexed_runs.items()}
    rows = [[n, f"{e.peak(p, 'm-baseline')}, {e.peak(p, 'm-opt')}"] + [f"{e.cycles(p, r):,.0f}" for r in columns] +
            [signed(e.gain(p, r, "m-baseline")) for r in list(columns)[1:]] for n, p in e.of_set[multiplexed].items()]
    page.put("table:multiplexed", table(["cycles", "CTAs, with sharing", *columns.values(), "Shared-OWF", "Shared-OWF-OPT"], rows))
    page.compare_known("multiplexed", [f"FIG3.16-{n}" for n in ("MC", "FFT", "HG", "MV")])


def _apart(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {run: title for run, (title, _, _) in apart.items() if run != "s3-baseline"}
    page.put("table:apart", by_program(e, "Set-3", columns, lambda p, r: signed(e.gain(p, r, "s3-baseline"), 2)))
    bars(page, e, figures, "fig3_17_set3", "Set-3: IPC over Unshared-LRR; their Fig 3.17", "Set-3", columns,
         lambda p, r: e.gain(p, r, "s3-baseline"), None, "IPC, change in %")
    ids = [f"FIG3.17-{run}-{scheduler}" for run in ("SHARED", "OPT") for scheduler in ("LRR", "GTO")]
    page.compare_known("apart", [*ids, "FIG3.17-OWF", "FIG3.17-OWF-OPT", "FIG3.17-NONE"])


def csv(e: Evaluation) -> str:
    """Every run, by program."""
    header = ["program", "set", "run", "cycles", "ipc", "stall_cycles", "idle_cycles", "l1_misses", "l2_misses", "operands_checked"]
    rows = []
    for of_set, programs in e.of_set.items():
        for n, p in programs.items():
            for (k, run), result in sorted(e.results.items()):
                if k == p.kernel and e.belongs(run, of_set, p):
                    rows.append([n, of_set, run, int(e.cycles(p, run)), e.ipc(p, run), int(e.stall_cycles(p, run)), int(e.idle_cycles(p, run)),
                                 int(e.misses(p, run, "l1")), int(e.misses(p, run, "l2")), result.stats["checks"]["operands_checked"]])
    return csv_text(header, rows)
