# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

from regatta.means import geomean
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, signed, table
from regatta_reproduce.programs import bars, by_program, plan_of

import evaluation
from evaluation import (Evaluation, alone, apart, base, base_owf, base_reordered, by_formula, doubled, extra_variants, gains,
                        gto, half, half_share, less_stalls, memories, more_stalls, no_rule, number, pad_gains,
                        pad_like_doubled, pad_multiplexed_release, pad_noopt, pad_programs, pad_released, pad_resident, pad_rivals, pad_share_run, pad_shared,
                        pad_slower_than_doubled, pad_steps, register_plan, register_programs, resident, rivals, schedulers,
                        scratchpad_bytes, share_run, shared, shares, steps, table_id, two_level, unlocked, unlocked_owf,
                        usual_share, variants, with_memory)

Figures = Optional[Path]
pad_base = "pad-baseline"
#: Single changes and decompositions of register sharing: description, run, run that it is relative to.
changes = [
    ("OWF, no sharing", base_owf, base),
    ("GTO, no sharing", gto, base),
    ("two-level scheduling, no sharing", two_level, base),
    ("registers reordered, no sharing", base_reordered, base),
    ("sharing, LRR", "noopt", base),
    ("sharing, LRR, reordered", "unrolled", base),
    ("sharing, LRR, reordered, dynamic", "unrolled-dyn", base),
    ("sharing, OWF", "owf-only", base),
    ("sharing, OWF, reordered", "owf-unrolled", base),
    ("sharing, OWF, reordered, dynamic", shared, base),
    ("the same over OWF without sharing", shared, base_owf),
    ("the same without dynamic, over OWF without sharing", "owf-unrolled", base_owf),
    ("sharing without the deadlock rule, over sharing with it (no dynamic)", no_rule, "owf-unrolled"),
    ("50 % sharing, no dynamic, over OWF without sharing", half, base_owf),
    ("50 % sharing with dynamic, over that without", share_run(half_share), half),
    ("sharing, GTO, reordered, dynamic, over GTO", "shared-gto", gto),
    ("as many CTAs as sharing has, no locks (twice the registers), LRR", unlocked, base),
    ("the same with OWF, over OWF", unlocked_owf, base_owf),
    ("twice the registers, LRR", doubled, base),
    ("one SM: OWF, no sharing", alone(base_owf), alone(base)),
    ("one SM: sharing, OWF, reordered, over OWF", alone("owf-unrolled"), alone(base_owf)),
    ("one SM: the same at 50 % sharing, over OWF", alone(half), alone(base_owf)),
    ("256 MSHRs, LRR", "baseline-mshrs", base),
    ("sharing with all optimisations, 256 MSHRs, over that", "shared-mshrs", "baseline-mshrs"),
    ("256 MSHRs and four times the bandwidth, LRR", "baseline-bandwidth", base),
    ("sharing with all optimisations over that", "shared-bandwidth", "baseline-bandwidth"),
]


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    # Numbers for the findings come first.
    for part in (_numbers, _verdict, _programs, _ctas, _performance, _changes, _schedulers, _cycles, _progress, _doubled, _rivals, _sweep,
                 _caches, _apart, _scratchpad, _storage):
        part(page, e, figures)


def _numbers(page: Page, e: Evaluation, figures: Figures) -> None:
    """Single numbers that the findings use: {{gain/hotspot/shared}}, {{gain/all/shared}}, {{gain/all/shared/over/baseline-gto}}."""
    one = e.of_set["Set-1"]
    runs = [*schedulers, doubled, base_reordered, *variants, *extra_variants, unlocked, unlocked_owf, *rivals]
    relative = [(r, base) for r in runs] + [(r, to) for r in (*variants, *extra_variants) for to in (gto, base_owf, two_level, doubled)]
    relative += [(alone(base_owf), alone(base)), (alone("owf-unrolled"), alone(base)), (alone("owf-unrolled"), alone(base_owf)),
                 (alone(half), alone(base_owf)), (share_run(usual_share), share_run(0))]
    relative += [(unlocked_owf, base_owf), (shared, unlocked_owf), ("baseline-mshrs", base), ("baseline-bandwidth", base)]
    relative += [(with_memory(shared, m), with_memory(base, m)) for m in memories]
    relative += [(share_run(s), share_run(0)) for s in shares[1:-1]] + [(half, base_owf), (share_run(half_share), half)]
    for run, to in relative:
        name = run if to == base else f"{run}/over/{to}"
        page.put(f"gain/all/{name}", signed(e.mean_gain(run, to=to) if one else None))
        for n, p in one.items():
            page.put(f"gain/{n}/{name}", signed(e.gain(p, run, to)))
    for n, p in one.items():
        if (p.kernel, no_rule) in e.results:
            page.put(f"gain/{n}/{no_rule}", signed(e.gain(p, no_rule, "owf-unrolled")))
        page.put(f"registers/{n}", str(e.registers(p)))
        page.put(f"needed/{n}", str(e.needed(p)))
        page.put(f"bus/{n}", percent(e.bus_share(p, base), 0))
        page.put(f"progress/{n}", "-" if e.progress(p) is None else percent(e.progress(p), 0))
        page.put(f"spills/{n}", str(e.report(p, base, p.entries[0]).get("spills", 0)))
        for run in (shared, base_owf, unlocked):
            page.put(f"l1/{n}/{run}", signed(e.more_misses(p, run, "l1")))
            page.put(f"l2/{n}/{run}", signed(e.more_misses(p, run, "l2")))
        page.put(f"l1/{n}/{shared}/over/{gto}", signed(e.more_misses(p, shared, "l1", gto)))
        page.put(f"l2/{n}/{shared}/over/{gto}", signed(e.more_misses(p, shared, "l2", gto)))
        page.put(f"idle/{n}", signed(-e.fewer_idle(p)))
        page.put(f"idle/{n}/{base_owf}", signed(-e.fewer_idle(p, base_owf)))
        page.put(f"stalls/{n}", signed(-e.fewer_stalls(p)))
        d = e.document(p.kernel, shared)["stats"]["register_sharing"]
        page.put(f"denied/{n}", f"{d.get('denied_cycles', 0):,.0f}")
        page.put(f"waited/{n}", f"{d['wait_cycles']:,.0f}")
    page.put("gainers", str(sum(e.speed(p, shared) > 1.01 for p in one.values())))
    page.put("losers", str(sum(e.speed(p, shared) < 0.99 for p in one.values())))
    for what, to in (("best", base), ("best-gto", gto)):
        value, who = e.most(lambda p, to=to: e.gain(p, shared, to)) if one else (None, "-")
        page.put(what, f"{signed(value)} ({who})")
    _pad_numbers(page, e)
    three = e.of_set["Set-3"].values()
    for what, run, to in (("unrolled", "s3-unrolled", "s3-baseline"), ("owf", "s3-shared-owf", "s3-gto")):
        page.put(f"set3/{what}", signed(max((e.gain(p, run, to) for p in three), key=abs, default=None), 2))
    for n, p in e.of_set["Set-3"].items():
        page.put(f"set3/{n}/owf", signed(e.gain(p, "s3-shared-owf", "s3-gto"), 2))


def _pad_numbers(page: Page, e: Evaluation) -> None:
    two = e.of_set["Set-2"]
    runs = ["pad-owf", "pad-gto", "pad-doubled", pad_noopt, pad_shared, pad_released]
    for other in ("icache", "bandwidth"):
        name = f"pad-shared-{other}/over/pad-baseline-{other}"
        page.put(f"gain/all/{name}", signed(e.mean_gain(f"pad-shared-{other}", "Set-2", f"pad-baseline-{other}") if two else None))
        for n, p in two.items():
            page.put(f"gain/{n}/{name}", signed(e.gain(p, f"pad-shared-{other}", f"pad-baseline-{other}")))
    for n, p in two.items():
        for to in ("pad-owf", "pad-gto", "pad-doubled"):
            page.put(f"gain/{n}/{pad_shared}/over/{to}", signed(e.gain(p, pad_shared, to)))
        progress = e.progress(p, pad_shared, "scratchpad_sharing")
        page.put(f"progress/{n}", "-" if progress is None else percent(progress, 0))
        page.put(f"icache/{n}", signed(100 * (e.icache_misses(p, pad_shared) / e.icache_misses(p, pad_base) - 1), 0))
        page.put(f"idle/{n}", signed(-e.fewer_idle(p, pad_shared, pad_base)))
        page.put(f"stalled/{n}", percent(e.stall_cycles(p, pad_base) / (e.stall_cycles(p, pad_base) + e.idle_cycles(p, pad_base) +
                                                                         sum(x["issue_cycles"] for x in e.launches(p, pad_base))), 0))
    page.put("gain/all/pad-shared/over/pad-owf", signed(e.mean_gain(pad_shared, "Set-2", "pad-owf") if two else None))
    page.put("gain/all/unlocked-pad", signed(100 * (e.unlocked_pad_speed() - 1) if two else None))
    for run in runs:
        page.put(f"gain/all/{run}", signed(e.mean_gain(run, "Set-2", pad_base) if two else None))
    for n, p in two.items():
        page.put(f"gain/{n}/unlocked-pad", signed(e.gain(p, e.unlocked_run(p), pad_base)))
        for run in runs:
            page.put(f"gain/{n}/{run}", signed(e.gain(p, run, pad_base)))


def _verdict(page: Page, e: Evaluation, figures: Figures) -> None:
    if page.partial:
        page.put("claims", "not compared for a part of the kernels")
        page.put("figure:headline", "")
        page.put("table:headline", "")
        return
    done = page.comparisons.all
    headline = {"SHARE-001": "register sharing,\nSet-1", "SHARE-012": "scratchpad sharing,\nSet-2", "SHARE-042": "register sharing\nover GTO, highest",
                "OWF-ALONE": "OWF without\nsharing", "SHARING-ALONE": "sharing over\nOWF, Set-1"}
    found = {i: t for i, t in headline.items() if i in done}
    if figures is not None:
        plots.grouped_bars(figures / "headline", list(found.values()),
                           {"thesis": [done[i].stated.value for i in found], "regatta": [done[i].ours for i in found]}, "IPC, change in %")
    page.figure("headline", "The thesis's first numbers and ours")

    def holds(*ids: str) -> str:
        return "holds" if all(not done[i].difference for i in ids) else "**does not hold**"

    rows = [["IPC of Set-1 with register sharing", "+11 %", signed(done["SHARE-001"].ours), holds("SHARE-001"),
             f"OWF without sharing {signed(e.mean_gain(base_owf))}; sharing over OWF {signed(e.mean_gain(shared, to=base_owf))}; "
             f"sharing without OWF {signed(e.mean_gain('unrolled-dyn'))}; the same CTAs without locks {signed(e.mean_gain(unlocked))}; "
             f"256 MSHRs and four times the bandwidth for both {signed(e.mean_gain('shared-bandwidth', to='baseline-bandwidth'))}"]]
    without = (f"OWF without sharing {signed(e.mean_gain('pad-owf', 'Set-2', pad_base))}; the same CTAs without locks "
               f"{signed(100 * (e.unlocked_pad_speed() - 1))}; twice the scratchpad {signed(e.mean_gain('pad-doubled', 'Set-2', pad_base))}")
    rows.append(["IPC of Set-2 with scratchpad sharing", "+12.5 %", signed(done["SHARE-012"].ours), holds("SHARE-012"),
                 f"{without}; sharing without OWF {signed(e.mean_gain(pad_noopt, 'Set-2', pad_base))}; "
                 f"**with an instruction cache of 16 KB on both sides {signed(e.mean_gain('pad-shared-icache', 'Set-2', 'pad-baseline-icache'))}**; "
                 f"early release of the common part {signed(e.mean_gain(pad_released, 'Set-2', pad_base))}"])
    rows.append(["highest IPC of Set-1 over GTO with register sharing", "+3.9 %", signed(done["SHARE-042"].ours), holds("SHARE-042"),
                 f"sharing with GTO over GTO {signed(e.mean_gain('shared-gto', to=gto))}; OWF over GTO, no sharing {signed(e.mean_gain(base_owf, to=gto))} (means)"])
    same = ("FIG2.22-LRR", "FIG2.22-GTO", "FIG2.22B-LRR", "FIG2.22B-GTO")
    rows.append(["Set-3 is unchanged by sharing (LRR, GTO)", "same cycles", "same cycles" if all(not done[i].difference for i in same) else "other cycles", holds(*same),
                 f"renumbered registers alone {signed(max((e.gain(p, 's3-unrolled', 's3-baseline') for p in e.of_set['Set-3'].values()), key=abs), 2)} at most"])
    states = [row[3].strip("*") for row in rows]
    page.put("claims", "; ".join(f"{plural}: {states.count(s)}" for s, plural in (
        ("holds", "hold"), ("does not hold", "do not hold")) if s in states))
    page.put("table:headline", table(["claim", "thesis", "ours", "", "single changes"], rows, left=5))


def _programs(page: Page, e: Evaluation, figures: Figures) -> None:
    rows: List[List[Any]] = []
    for of_set, run in (("Set-1", base), ("Set-2", pad_base), ("Set-3", "s3-baseline")):
        for n, p in e.of_set[of_set].items():
            entry = p.entries[0]
            rows.append([n, of_set, entry, e.threads(p, run), p.block or "-", e.registers(p, run), e.needed(p, run),
                         e.shared_bytes(p, run, entry), f"{e.cycles(p, run):,.0f}", fixed(e.ipc(p, run), 0), percent(e.bus_share(p, run), 0)])
    page.put("table:programs", table(["program", "set", "our kernel", "threads of a CTA", "thesis", "registers", "of these needed", "scratchpad, bytes",
                                      "cycles, Unshared-LRR", "IPC", "DRAM bus busy"], rows, left=3))


def _ctas(page: Page, e: Evaluation, figures: Figures) -> None:
    one, two = e.of_set["Set-1"], e.of_set["Set-2"]
    rows = []
    for n, p in one.items():
        rows.append([n] + [f"{e.peak(p, share_run(s))} ({e.planned(p, share_run(s), s).ctas})" for s in shares] +
                    [str(register_plan(p.block, p.registers, s).ctas) for s in shares])
    page.put("table:ctas", table(["register sharing"] + [f"{s} %" for s in shares] + [f"thesis's CTA, {s} %" for s in shares], rows))
    rows = []
    for n, p in two.items():
        ours = [f"{e.peak(p, pad_share_run(s))} ({e.pad_planned(p, pad_share_run(s), s).ctas})" for s in shares]
        rows.append([n] + ours + [str(plan_of(scratchpad_bytes, p.shared_bytes, s, evaluation.most_by_threads(p.block)).ctas) for s in shares])
    page.put("table:pad_ctas", table(["scratchpad sharing"] + [f"{s} %" for s in shares] + [f"thesis's CTA, {s} %" for s in shares], rows))
    runs = {base: "Unshared-LRR", shared: "sharing"}
    if figures is not None and one:
        plots.grouped_bars(figures / "fig2_12_ctas", list(one), {t: [e.peak(p, run) for p in one.values()] for run, t in runs.items()}, "CTAs of an SM")
    page.figure("fig2_12_ctas", "Resident CTAs; their Fig 2.12a")
    ids = [*map(number, resident), *map(number, pad_resident), "SEC2.2.4-SIMULATED", "SHARE-054", "SHARE-055", "SHARE-056"]
    page.compare_known("ctas", ids)
    _grid(page, "ctas_by_share", "register sharing", register_programs, 116, "Table 2.6")
    _grid(page, "pad_ctas_by_share", "scratchpad sharing", pad_programs, 206, "Table 2.8")


def _grid(page: Page, name: str, title: str, programs: Sequence[str], first: int, where: str) -> None:
    """A table of the thesis: a row per program, a column per percentage; theirs and ours in a cell. In bold: it differs."""
    ids, rows = [], []
    for k, n in enumerate(programs):
        row = [n]
        for s in shares:
            i = table_id(first, k, s)
            if i not in page.comparisons.all:
                row.append("-")
                continue
            c = page.comparisons.all[i]
            ids.append(i)
            ours, stated = c.ours_text().split()[0], c.stated.text().split()[0]
            row.append(f"{stated} / {ours}" if not c.difference else f"{stated} / **{ours}**")
        rows.append(row)
    text = table([f"{title}, {where}: thesis / ours"] + [f"{s} %" for s in shares], rows)
    page.put(f"table:{name}", text + page.explained(ids))


def _performance(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {run: title for run, (title, _, _) in variants.items()}
    page.put("table:variants", by_program(e, "Set-1", columns, lambda p, r: signed(e.gain(p, r)), lambda r: signed(e.mean_gain(r))))
    bars(page, e, figures, "fig2_15_variants", "IPC over Unshared-LRR by variant; their Fig 2.13a and 2.15a", "Set-1", columns,
         lambda p, r: e.gain(p, r), lambda r: e.mean_gain(r), "IPC, change in %")
    page.compare_known("performance", ["SHARE-001", "SHARE-003", *map(number, gains.values()), "OWF-ALONE", "SHARING-ALONE"])
    page.compare_known("variants", [*map(number, steps), "FIG2.15-HOTSPOT", "FIG2.15-LIB-SAME", "FIG2.15-LIB-OWF",
                                          *(f"FIG2.15-OWF-{n}" for n in ("sgemm", "backprop", "stencil"))])


def _changes(page: Page, e: Evaluation, figures: Figures) -> None:
    one = e.of_set["Set-1"]
    rows = []
    for title, run, to in changes:
        gains_of = [e.gain(p, run, to) if (p.kernel, run) in e.results else None for p in one.values()]
        rows.append([title] + [signed(x) for x in gains_of] + [signed(e.mean_gain(run, to=to)) if one and None not in gains_of else "-"])
    page.put("table:changes", table(["IPC over Unshared-LRR, unless stated", *one, "geometric mean"], rows))


def _schedulers(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {to: f"over {title}" for to, (title, _) in schedulers.items()}
    page.put("table:schedulers", by_program(e, "Set-1", columns, lambda p, to: signed(e.gain(p, shared, to)),
                                            lambda to: signed(e.mean_gain(shared, to=to))))
    bars(page, e, figures, "fig2_16_schedulers", "IPC of Shared-OWF-Unrolled-Dyn over other schedulers without sharing; their Fig 2.16a and 2.17a",
         "Set-1", columns, lambda p, to: e.gain(p, shared, to), lambda to: e.mean_gain(shared, to=to), "IPC, change in %")
    page.compare_known("schedulers", ["SHARE-042", "SHARE-044", "SEC2.5.1.4-BACKPROP-L1", "SEC2.5.1.4-BACKPROP-L2", "SEC2.5.1.4-STENCIL-L2"])


def _cycles(page: Page, e: Evaluation, figures: Figures) -> None:
    one = e.of_set["Set-1"]
    reasons = {"structural": "stalled: units busy", "scoreboard": "idle: results", "memory": "idle: memory", "issue_gate": "idle: locks",
               "barrier": "idle: barrier", "instruction_fetch": "idle: fetch", "idle": "idle: no warp"}
    rows = []
    for n, p in one.items():
        for run, title in ((base, "Unshared-LRR"), (shared, "shared")):
            total = sum(x["issue_cycles"] for x in e.launches(p, run)) + e.stall_cycles(p, run) + e.idle_cycles(p, run)
            rows.append([n, title] + [percent(e.stalls(p, run, r) / total) for r in reasons] +
                        ([signed(-e.fewer_stalls(p)), signed(-e.fewer_idle(p))] if run == shared else ["", ""]))
    page.put("table:cycles", table(["program", "", *reasons.values(), "stall cycles", "idle cycles"], rows, left=2))
    kinds: Dict[str, Callable[[Any], float]] = {"stall cycles": e.fewer_stalls, "idle cycles": e.fewer_idle}
    bars(page, e, figures, "fig2_18_cycles", "Fewer stall and idle cycles than Unshared-LRR; their Fig 2.18a", "Set-1", {k: k for k in kinds},
         lambda p, k: max(-200.0, kinds[k](p)), None, "decrease in %")
    page.compare_known("cycles", ["SHARE-046", "SHARE-047", "SHARE-048", "FIG2.18-IDLE", *(f"FIG2.18-{n}" for n in less_stalls + more_stalls)])


def _progress(page: Page, e: Evaluation, figures: Figures) -> None:
    one = e.of_set["Set-1"]
    rows = []
    for n, p in one.items():
        d = e.document(p.kernel, shared)["stats"]["register_sharing"]
        progress = e.progress(p)
        rows.append([n, e.registers(p), e.needed(p), e.registers(p) * (100 - usual_share) // 100, "-" if progress is None else percent(progress, 0), f"{d['acquires']:,.0f}", f"{d['waits']:,.0f}", f"{d['wait_cycles']:,.0f}",
                     f"{d['transfers']:,.0f}", f"{d.get('denied_cycles', 0):,.0f}"])
    page.put("table:progress", table(["program", "registers", "of these needed", "private", "progress", "locks taken", "waits", "warp-cycles waited", "CTAs that inherited", "warp-cycles denied by dynamic execution"], rows))
    page.compare_known("progress", ["SHARE-049", "SHARE-050"])


def _doubled(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {doubled: "Unshared-LRR, 65,536 registers", unlocked: "the same, CTAs as with sharing", shared: "Shared-OWF-Unrolled-Dyn, 32,768 registers"}
    page.put("table:doubled", by_program(e, "Set-1", columns, lambda p, r: signed(e.gain(p, r)), lambda r: signed(e.mean_gain(r))))
    bars(page, e, figures, "fig2_20_doubled", "IPC over Unshared-LRR; their Fig 2.20a", "Set-1", columns, lambda p, r: e.gain(p, r),
         lambda r: e.mean_gain(r), "IPC, change in %")
    page.compare_known("doubled", ["SHARE-051", *(f"FIG2.20-{n}" for n in register_programs)])


def _rivals(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {**{n: name for n, (name, _) in rivals.items()}, shared: "Shared-OWF-Unrolled-Dyn"}
    page.put("table:rivals", by_program(e, "Set-1", columns, lambda p, r: signed(e.gain(p, r)), lambda r: signed(e.mean_gain(r))))
    bars(page, e, figures, "fig2_21_divergence", "Set-1: IPC over Unshared-LRR; their Fig 2.21a", "Set-1",
         {n: columns[n] for n in ("divergence", shared)}, lambda p, r: e.gain(p, r), lambda r: e.mean_gain(r), "IPC, change in %")
    pad_columns = {**{n: name for n, (name, _) in pad_rivals.items()}, pad_multiplexed_release: "multiplexing, early release",
                   pad_shared: "Shared-OWF", pad_released: "Shared-OWF, early release"}
    page.put("table:pad_rivals", by_program(e, "Set-2", pad_columns, lambda p, r: signed(e.gain(p, r, pad_base)),
                                            lambda r: signed(e.mean_gain(r, "Set-2", pad_base))))
    rows = []
    for n, p in e.of_set["Set-1"].items():
        d = e.document(p.kernel, "divergence")["stats"]["warp_level_divergence"]
        rows.append([n, f"{d['partial_ctas']:,.0f}", f"{d['late_warps']:,.0f}", signed(e.gain(p, "divergence"))])
    page.put("table:partial", table(["program", "CTAs launched in part", "warps admitted later", "IPC"], rows))
    page.compare_known("rivals", ["SHARE-052", "SHARE-053"])


def _sweep(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {share_run(s): f"{s} %" for s in shares}
    page.put("table:ipc", by_program(e, "Set-1", columns, lambda p, r: fixed(e.ipc(p, r), 1), first="IPC of the simulated SMs"))
    _grid(page, "ipc_by_share", "IPC over that at 0 %, in %", register_programs, 68, "Table 2.5")
    one = e.of_set["Set-1"]
    if figures is not None and one:
        plots.lines(figures / "table2_5_sharing", {n: (shares, [e.speed(p, share_run(s), share_run(0)) for s in shares]) for n, p in one.items()},
                    "sharing, %", "IPC (0 % = 1)")
    page.figure("table2_5_sharing", "IPC by the percentage of sharing; their Table 2.5")
    page.compare_known("sweep", ["SEC2.5.1.8-SAME", "SEC2.5.1.8-90"])


def _caches(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = [[n] + [signed(e.more_misses(p, run, level)) for level in ("l1", "l2") for run in ("noopt", shared, gto)]
            for n, p in e.of_set["Set-1"].items()]
    names = {"noopt": "Shared-LRR-NoOpt", shared: "Shared-OWF-Unrolled-Dyn", gto: "Unshared-GTO"}
    page.put("table:caches", table(["misses over Unshared-LRR"] + [f"{level}, {t}" for level in ("L1", "L2") for t in names.values()], rows))
    page.compare_known("caches", ["SEC2.5.1.2-LIB", "SEC2.5.1.2-MRIQ"])


def _apart(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {run: title for run, (title, _, _) in apart.items() if run != "s3-baseline"}
    page.put("table:apart", by_program(e, "Set-3", columns, lambda p, r: signed(e.gain(p, r, "s3-baseline"), 2)))
    bars(page, e, figures, "fig2_22_set3", "Set-3: IPC over Unshared-LRR; their Fig 2.22a", "Set-3", columns,
         lambda p, r: e.gain(p, r, "s3-baseline"), None, "IPC, change in %")
    page.compare_known("apart", ["FIG2.22-LRR", "FIG2.22-GTO", "FIG2.22-OWF", "FIG2.22B-LRR", "FIG2.22B-GTO", "FIG2.22B-OWF"])


def _scratchpad(page: Page, e: Evaluation, figures: Figures) -> None:
    two = e.of_set["Set-2"]
    columns = {pad_noopt: "Shared-LRR-NoOpt", pad_shared: "Shared-OWF", pad_released: "Shared-OWF, early release (chapter 3)",
               "pad-owf": "Unshared-OWF", "pad-gto": "Unshared-GTO", "pad-two_level": "Unshared-Two-Level", "unlocked": "CTAs as with sharing, no lock",
               "pad-doubled": "32 KB", "pad-baseline-mshrs": "256 MSHRs", "pad-baseline-bandwidth": "and four times the bandwidth",
               "pad-baseline-icache": "I-cache of 16 KB", "pad-shared-icache": "Shared-OWF, I-cache of 16 KB",
               "pad-shared-mshrs": "Shared-OWF, 256 MSHRs", "pad-shared-bandwidth": "Shared-OWF, and four times the bandwidth"}

    def run_of(p: Any, name: str) -> str:
        return e.unlocked_run(p) if name == "unlocked" else name

    def last(name: str) -> str:
        return signed(100 * (geomean(e.speed(p, run_of(p, name), pad_base) for p in two.values()) - 1))

    page.put("table:scratchpad", by_program(e, "Set-2", columns, lambda p, r: signed(e.gain(p, run_of(p, r), pad_base)), last))
    shown = [n for n in (pad_noopt, pad_shared, "pad-owf", "unlocked", "pad-doubled") if n in columns]
    bars(page, e, figures, "fig2_13b_scratchpad", "Set-2: IPC over Unshared-LRR with 16 KB; their Fig 2.13b, 2.15b and 2.20b", "Set-2",
         {n: columns[n] for n in shown}, lambda p, r: e.gain(p, run_of(p, r), pad_base),
         lambda r: 100 * (geomean(e.speed(p, run_of(p, r), pad_base) for p in two.values()) - 1), "IPC, change in %")
    ids = ["SHARE-012", "SHARE-014", *map(number, pad_gains.values()), *map(number, pad_steps), "SHARE-043", "SHARE-045",
           *(f"FIG2.20-{n}" for n in pad_like_doubled + ["lavaMD"] + pad_slower_than_doubled)]
    page.compare_known("scratchpad", ids)
    _grid(page, "pad_ipc_by_share", "IPC over that at 0 %, in %", pad_programs, 164, "Table 2.7")
    rows = []
    for n, p in two.items():
        d = e.document(p.kernel, pad_shared)["stats"]["scratchpad_sharing"]
        progress = e.progress(p, pad_shared, "scratchpad_sharing")
        rows.append([n, "-" if progress is None else percent(progress, 0), f"{d['acquires']:,.0f}", f"{d['waits']:,.0f}", f"{d['wait_cycles']:,.0f}",
                     f"{d['transfers']:,.0f}", signed(-e.fewer_stalls(p, pad_shared, pad_base)), signed(-e.fewer_idle(p, pad_shared, pad_base))])
    page.put("table:pad_progress", table(["program", "progress", "locks taken", "waits", "warp-cycles waited", "CTAs that inherited", "stall cycles", "idle cycles"], rows))


def _storage(page: Page, e: Evaluation, figures: Figures) -> None:
    ctas, warps = evaluation.most_ctas, evaluation.most_warps
    lock = {"register sharing": (warps // 2) * (warps - 1).bit_length(), "scratchpad sharing": (ctas // 2) * (ctas - 1).bit_length()}
    rows = [[name, 1, ctas * ctas.bit_length(), warps, warps if name == "register sharing" else 0, bits,
             1 + ctas * ctas.bit_length() + warps + (warps if name == "register sharing" else 0) + bits] for name, bits in lock.items()]
    page.put("table:storage", table(["bits of an SM", "ShSM", "ShTB", "Owner", "ShWarp", "Lock", "sum"], rows))
    page.compare_known("storage", ["SEC2.4-REGISTERS", "SEC2.4-SCRATCHPAD"])


def csv(e: Evaluation) -> str:
    """Every run, by program."""
    header = ["program", "set", "run", "cycles", "ipc", "stall_cycles", "idle_cycles", "l1_misses", "l2_misses", "operands_checked"]
    rows = []
    for of_set, prefixes in (("Set-1", ()), ("Set-2", ("pad",)), ("Set-3", ("s3",))):
        for n, p in e.of_set[of_set].items():
            for (k, run), result in sorted(e.results.items()):
                mine = run.startswith(prefixes) if prefixes else not run.startswith(("pad", "s3"))
                if k == p.kernel and mine:
                    rows.append([n, of_set, run, int(e.cycles(p, run)), e.ipc(p, run), int(e.stall_cycles(p, run)), int(e.idle_cycles(p, run)),
                                 int(e.misses(p, run, "l1")), int(e.misses(p, run, "l2")), result.stats["checks"]["operands_checked"]])
    return csv_text(header, rows)
