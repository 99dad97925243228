# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Callable, Dict, Optional, Sequence

from regatta.means import geomean, mean
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table

from evaluation import (Evaluation, all_in_dram, base, bases, changes, classes, concurrent, depths, enlarged, fast, finereg,
                        gpu_run, gpu_sizes, lowest_use, memory_bound, mutex_run, pools, reg_dram, reg_dram_run,
                        register_bytes, resource, sampled_kernel, split_run, splits, table3, titles, traffic_bound, unified,
                        unified_titles, usual_split, virtual_thread, window)

Figures = Optional[Path]
kilobytes = register_bytes / 1024
#: What the verdict shows.
headline = {"FINEREG-001": "FineReg", "FINEREG-051": "over\nVirtual Thread", "FINEREG-052": "over\nReg+DRAM", "FINEREG-053": "over\nVT+RegMutex",
            "FINEREG-062": "FineReg,\nType-R"}


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    # Numbers for the findings come first.
    for part in (_numbers, _programs, _changes, _verdict, _speed, _motivation, _use, _stalls, _ctas, _searches, _depletion, _traffic,
                 _energy, _splits, _gpus, _unified, _hardware):
        part(page, e, figures)


def _numbers(page: Page, e: Evaluation, figures: Figures) -> None:
    """Single numbers that the findings use: {{speed/hotspot/finereg}}, {{speed/all/finereg}}, {{speed/Type-S/finereg}}."""
    every = [*titles, *enlarged, *unified, *changes, resource, *(split_run(a) for a in splits if a != usual_split[0])]
    for name in every:
        page.put(f"speed/all/{name}", fixed(e.mean_speed(name)))
        for c in classes:
            page.put(f"speed/{c}/{name}", fixed(e.mean_speed(name, c) if e.of_class(c) else None))
        for k in e.kernels:
            page.put(f"speed/{k}/{name}", fixed(e.speed(k, name)))
            page.put(f"ctas/{k}/{name}", fixed(e.ctas(k, name), 1))
            page.put(f"hits/{k}/{name}", percent(e.hit_rate(k, name), 0))
    for k in e.kernels:
        page.put(f"ctas/{k}/{base}", fixed(e.ctas(k, base), 1))
        page.put(f"hits/{k}/{base}", percent(e.hit_rate(k, base), 0))
        page.put(f"bus/{k}", percent(e.bus_share(k, base), 0))
        page.put(f"registers/{k}", str(e.registers(k)))
        page.put(f"shared/{k}", f"{e.main_entry(k)['shared_bytes']:,}")
        page.put(f"depleted/{k}", percent(e.depleted(k)))
        page.put(f"best/{k}/{reg_dram}", e.best(k, reg_dram))
        page.put(f"mshrs/{k}", fixed(e.speed(k, "finereg-mshrs", "baseline-mshrs")))
        page.put(f"bandwidth/{k}", fixed(e.speed(k, "finereg-bandwidth", "baseline-bandwidth")))
        page.put(f"speed/{k}/smallest_pool", fixed(e.speed(k, mutex_run(bases[0], pools[0]))))
        for name in (*titles, reg_dram_run(4)):
            page.put(f"traffic/{k}/{name}", fixed(e.traffic(k, name) / e.traffic(k, base), 2))
        for name in (finereg, "finereg-mshrs", virtual_thread):
            page.put(f"stall/{k}/{name}", f"{e.first_stall(k, name):,.0f}")
        page.put(f"instructions/{k}", f"{max(x['instructions'] for x in e.results[(k, base)].report['entries']):,}")
    for name in (base, finereg):
        page.put(f"energy/register_structures/{name}", percent(e.average(lambda k: e.energy_share(k, name, "register_structures"))))
    page.put("more_ctas", percent(e.mean_more_ctas(finereg) - 1, 0))
    scheduled = e.of_class(classes[0])
    page.put("scheduling/Type-S", percent(e.mean_speed("sched-2", classes[0]) - 1 if scheduled else None))
    page.put("switching_energy", percent(e.average(lambda k: e.energy_share(k, finereg, "cta_switching")), 2))
    page.put("bus/all", percent(e.average(lambda k: e.bus_share(k, base)), 0))
    page.put("bus/mshrs", percent(e.average(lambda k: e.bus_share(k, "baseline-mshrs")), 0))
    for of, to in (("virtual_thread", "baseline"), ("finereg", "baseline"), ("finereg", "virtual_thread")):
        for change in ("mshrs", "bandwidth"):
            for c in ("", *classes):
                among = e.of_class(c)
                if among:
                    page.put(f"{of}/{to}/{change}/{c or 'all'}",
                             fixed(geomean(e.speed(k, f"{of}-{change}", f"{to}-{change}") for k in among)))
    page.put("whole/bandwidth", fixed(geomean(e.speed(k, "finereg-whole-bandwidth", "baseline-bandwidth") for k in e.counted)))
    gaining = [k for k in e.kernels if e.speed(k, finereg) > 1.01]
    page.put("faster", str(len(gaining)))
    page.put("same", str(sum(0.99 <= e.speed(k, finereg) <= 1.01 for k in e.kernels)))
    page.put("half", str(sum(e.registers(k) > 16 for k in e.kernels)))
    small = [k for k in e.counted if e.registers(k) <= 16]
    large = [k for k in e.counted if e.registers(k) > 16]
    for name, among in (("few", small), ("many", large)):
        page.put(f"speed/{name}", fixed(geomean(e.speed(k, finereg) for k in among) if among else None))


def _compare(page: Page, name: str, ids: Sequence[str]) -> None:
    """A part of the kernels does not allow every comparison."""
    page.compare(name, [i for i in ids if not page.partial or i in page.comparisons.all])


def _means(e: Evaluation) -> Dict[str, str]:
    """Rows of means: title -> class."""
    return {**{f"mean, {c}": c for c in classes if e.of_class(c)}, "mean, all": ""}


def _by_program(e: Evaluation, columns: Dict[str, str], cell: Callable[[str, str], Any], last: Callable[[str, str], Any],
                first: str = "program") -> str:
    """A row per program, one per class and one for all; a column per run."""
    rows = [[e.short(k), e.class_of[e.short(k)]] + [cell(k, run) for run in columns] for k in e.kernels]
    rows += [[title, ""] + [last(run, c) for run in columns] for title, c in _means(e).items()]
    return table([first, "class", *columns.values()], rows, left=2)


def _bars(page: Page, e: Evaluation, figures: Figures, name: str, title: str, columns: Dict[str, str],
          cell: Callable[[str, str], float], last: Callable[[str, str], float], ylabel: str, **more: Any) -> None:
    if figures is not None:
        plots.grouped_bars(figures / name, [e.short(k) for k in e.kernels] + [m.replace("mean, ", "mean\n") for m in _means(e)],
                           {t: [cell(k, run) for k in e.kernels] + [last(run, c) for c in _means(e).values()]
                            for run, t in columns.items()}, ylabel, **more)
    page.figure(name, title)


def _programs(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for k in e.kernels:
        d = e.document(k, base)
        rows.append([e.short(k), e.class_of[e.short(k)], k, d["warp_instructions"], d["cycles"], e.registers(k),
                     fixed(e.cta_memory(k) / 1000, 1), fixed(e.ctas(k, base), 1), percent(e.hit_rate(k, base), 0),
                     percent(e.bus_share(k, base), 0)])
    page.put("table:programs", table(["program", "class", "our kernel", "warp instructions", "cycles", "registers", "KB of a CTA",
                                      "CTAs", "L1 hits", "DRAM bus busy"], rows, left=3))


def _changes(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = [[title] + [fixed(e.mean_speed(name, c)) for c in ("", *classes) if e.of_class(c)] + [
        fixed(mean(e.ctas(k, name) for k in e.counted), 1), percent(e.average(lambda k: e.hit_rate(k, name)), 0),
        percent(e.average(lambda k: e.bus_share(k, name)), 0)] for name, (title, _) in
        {base: ("baseline", ()), virtual_thread: ("Virtual Thread", ()), finereg: ("FineReg", ()), **changes}.items()]
    page.put("table:changes", table(["", "speed, all"] + [f"speed, {c}" for c in classes if e.of_class(c)] +
                                    ["CTAs", "L1 hits", "DRAM bus busy"], rows))


def _verdict(page: Page, e: Evaluation, figures: Figures) -> None:
    if page.partial:
        page.put("figure:headline", "")
        return
    compared = [page.comparisons.all[i] for i in headline]
    if figures is not None:
        plots.grouped_bars(figures / "headline", list(headline.values()),
                           {"paper": [c.stated.value for c in compared], "regatta": [c.ours for c in compared]}, "speed-up, %")
    page.figure("headline", "The paper's first numbers and ours")


def _motivation(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {name: title for name, (title, _) in enlarged.items()}
    page.put("table:enlarged", _by_program(e, columns, lambda k, n: fixed(e.speed(k, n)), lambda n, c: fixed(e.mean_speed(n, c))))
    if figures is not None:
        plots.grouped_bars(figures / "fig2_resources", [columns[n].replace(" the ", "\nthe ") for n in columns],
                           {c: [e.mean_speed(n, c) for n in columns] for c in classes if e.of_class(c)}, "speed (baseline = 1)", one=True)
    page.figure("fig2_resources", "Speed of larger baselines, geometric means; their Fig 2")
    rows = [[e.short(k), fixed(e.cta_registers(k) / 1000, 1), fixed(e.main_entry(k)["shared_bytes"] / 1000, 1),
             percent(e.cta_registers(k) / e.cta_memory(k), 0)] for k in e.kernels]
    page.put("table:cta_memory", table(["program", "registers, KB", "shared memory, KB", "share of the registers"], rows))
    if figures is not None:
        plots.grouped_bars(figures / "fig3_cta_memory", [e.short(k) for k in e.kernels],
                           {"shared memory": [e.main_entry(k)["shared_bytes"] / 1000 for k in e.kernels],
                            "registers": [e.cta_registers(k) / 1000 for k in e.kernels]}, "KB of a CTA", stacked=True)
    page.figure("fig3_cta_memory", "Memory of one CTA; their Fig 3")
    if sampled_kernel in e.kernels:
        runs = {base: "baseline", virtual_thread: "Full RF", all_in_dram: "Full RF+DRAM", "ideal": "unlimited", finereg: "FineReg"}
        page.put("table:fig4", table(["CS", "speed", "CTAs on the SM"], [
            [t, fixed(e.speed(sampled_kernel, n)), fixed(e.ctas(sampled_kernel, n), 1)] for n, t in runs.items()]))
    else:
        page.put("table:fig4", "(not run)")
    _compare(page, "resources", ["FINEREG-002", "FINEREG-003", "FINEREG-004", "FINEREG-005", "FINEREG-006", "FINEREG-007", "FIG2-S-MEMORY",
                                 "FIG2-R-SCHED"])
    _compare(page, "cta_memory", ["FINEREG-008-LOW", "FINEREG-008-HIGH", "FINEREG-009"])
    _compare(page, "fig4", ["FINEREG-010", "FINEREG-011", "FIG4-THREADS", "FIG4-IDEAL"])


def _use(page: Page, e: Evaluation, figures: Figures) -> None:
    keys = {"lowest": "lowest", "mean": "mean", "highest": "highest"}
    rows = [[e.short(k)] + [percent(e.use(k, key), 0) for key in keys] for k in e.kernels]
    rows.append(["mean"] + [percent(e.average(lambda k: e.use(k, key)), 0) for key in keys])
    page.put("table:use", table(["program", *keys.values()], rows))
    if figures is not None:
        plots.grouped_bars(figures / "fig5_use", [e.short(k) for k in e.kernels],
                           {t: [100 * e.use(k, key) for k in e.kernels] for key, t in keys.items()}, "% of allocated registers")
    page.figure("fig5_use", f"Allocated registers that {window:,} warp instructions of the SM name; their Fig 5")
    _compare(page, "use", ["FINEREG-012", *lowest_use])


def _stalls(page: Page, e: Evaluation, figures: Figures) -> None:
    paper = page.comparisons.paper.values
    rows = [[p, paper[i].text(), fixed(e.first_stall(e.counterparts[p]), 0), fixed(e.first_stall(e.counterparts[p], virtual_thread), 0)]
            for i, p in table3.items() if p in e.counterparts]
    page.put("table:stalls", table(["program", "paper", "FineReg", "Virtual Thread"], rows))
    _compare(page, "stalls", [*table3, "FINEREG-038-LOW", "FINEREG-038-HIGH"])


def _ctas(page: Page, e: Evaluation, figures: Figures) -> None:
    columns = {base: "baseline", **titles}
    page.put("table:ctas", _by_program(e, columns, lambda k, n: fixed(e.ctas(k, n), 1),
                                       lambda n, c: fixed(mean(e.ctas(k, n) for k in e.of_class(c)), 1)))
    _bars(page, e, figures, "fig12_ctas", "Concurrent CTAs relative to the baseline; their Fig 12", titles, e.more_ctas,
          lambda n, c: e.mean_more_ctas(n, c), "CTAs (baseline = 1)", one=True)
    _compare(page, "ctas", ["FINEREG-039", "FINEREG-041", "FINEREG-042", "FINEREG-043", "FINEREG-044", "FINEREG-045", "FINEREG-046",
                            "FINEREG-047", "FINEREG-048", "FINEREG-049", "FINEREG-050", "FIG12-ORDER"])


def _speed(page: Page, e: Evaluation, figures: Figures) -> None:
    page.put("table:speed", _by_program(e, titles, lambda k, n: fixed(e.speed(k, n)), lambda n, c: fixed(e.mean_speed(n, c))))
    _bars(page, e, figures, "fig13_speed", "Throughput relative to the baseline; their Fig 13", titles, e.speed,
          lambda n, c: e.mean_speed(n, c), "speed (baseline = 1)", one=True)
    _compare(page, "speed", ["FINEREG-001", "FINEREG-051", "FINEREG-052", "FINEREG-053", "FINEREG-060", "FINEREG-062", "FINEREG-063",
                             "FINEREG-064", "FINEREG-065", "FIG13-ORDER", "SEC6B-S", "SEC6B-R", "SEC6C-DRAM"])
    _compare(page, "programs", list(fast))


def _searches(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = [[e.short(k), fixed(e.speed(k, virtual_thread))] + [fixed(e.speed(k, reg_dram_run(d))) for d in depths] for k in e.kernels]
    rows.append(["mean", fixed(e.mean_speed(virtual_thread))] + [fixed(e.mean_speed(reg_dram_run(d))) for d in depths])
    page.put("table:reg_dram", table(["Reg+DRAM", "no CTA (Virtual Thread)"] + [f"{d} CTAs" for d in depths], rows))
    runs = [(b, p) for b in bases for p in pools]
    rows = [[e.short(k)] + [fixed(e.speed(k, mutex_run(b, p))) for b, p in runs] for k in e.kernels]
    rows.append(["mean"] + [fixed(e.mean_speed(mutex_run(b, p))) for b, p in runs])
    page.put("table:mutex", table(["VT+RegMutex"] + [f"{b or 'chosen'}, {p}" for b, p in runs], rows))


def _depletion(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = [[e.short(k), percent(e.pool_share(k)), percent(e.pool_stalls(k)), percent(e.depleted(k))] for k in e.kernels]
    rows.append(["mean", percent(e.average(e.pool_share)), percent(e.average(e.pool_stalls)), percent(e.average(e.depleted))])
    page.put("table:depletion", table(["program", "pool, share of the file", "scheduler-cycles stalled, VT+RegMutex", "cycles depleted, FineReg"],
                                      rows))
    few = e.kernels_of(memory_bound)
    if figures is not None and few:
        plots.grouped_bars(figures / "fig14_depletion", [e.short(k) for k in few],
                           {"VT+RegMutex": [100 * e.pool_stalls(k) for k in few], "FineReg": [100 * e.depleted(k) for k in few]}, "% of cycles")
    page.figure("fig14_depletion", "Stalls for want of registers; their Fig 14b")
    _compare(page, "depletion", ["FINEREG-067", "FINEREG-068", "FINEREG-069", "FINEREG-070", "FIG14-ORDER"])


def _traffic(page: Page, e: Evaluation, figures: Figures) -> None:
    causes = {"data": "data", "registers": "registers", "metadata": "live-register vectors", "code": "code"}
    rows = []
    for k in e.kernels:
        rows.append([e.short(k), f"{e.traffic(k, base) / 1e6:,.1f}"] + [fixed(e.traffic(k, n) / e.traffic(k, base)) for n in titles] +
                    [percent(e.traffic(k, reg_dram, "registers") / e.traffic(k, base)), percent(e.traffic(k, finereg, "metadata") / e.traffic(k, base), 2)])
    page.put("table:traffic", table(["program", "baseline, MB", *titles.values(), "registers in Reg+DRAM's", "vectors in FineReg's"], rows))
    moved = e.kernels_of(traffic_bound)
    runs = {base: "baseline", **titles}
    if figures is not None and moved:
        plots.grouped_bars(figures / "fig15_traffic", [f"{e.short(k)}\n{t}" for k in moved for t in runs.values()],
                           {title: [e.traffic(k, n, cause) / e.traffic(k, base) for k in moved for n in runs] for cause, title in causes.items()},
                           "bytes (baseline = 1)", stacked=True)
    page.figure("fig15_traffic", "Off-chip traffic by cause; their Fig 15")
    _compare(page, "traffic", ["FINEREG-071-LOW", "FINEREG-071-HIGH", "FINEREG-072", "FINEREG-073", "FIG15-MUTEX", "SEC6E-VECTORS"])


def _energy(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {base: "baseline", **titles}
    page.put("table:energy", _by_program(e, titles, lambda k, n: fixed(e.energy(k, n)),
                                         lambda n, c: fixed(mean(e.energy(k, n) for k in e.of_class(c)))))
    names = sorted({n for k in e.kernels for s in runs for n in e.document(k, e.best(k, s))["energy"]["by_structure"]})

    def share(scheme: str, structure: str) -> float:
        return e.average(lambda k: e.energy_share(k, e.best(k, scheme), structure))

    names.sort(key=lambda n: -share(base, n))
    if figures is not None:
        plots.grouped_bars(figures / "fig16_energy", list(runs.values()),
                           {n: [share(s, n) for s in runs] for n in names[:7]} |
                           {"others": [sum(share(s, n) for n in names[7:]) for s in runs]}, "energy (baseline = 1)", stacked=True)
    page.figure("fig16_energy", "Energy of the GPU by structure, mean of all programs; their Fig 16")
    page.put("table:structures", table(["structure, share of the baseline's energy", *runs.values()],
                                       [[n] + [percent(share(s, n)) for s in runs] for n in names]))
    _compare(page, "energy", ["FINEREG-074", "FINEREG-075", "FINEREG-076", "FINEREG-077", "FIG16-FILE"])


def _splits(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for a in splits:
        n = split_run(a)
        ctas = mean(e.ctas(k, n) for k in e.counted)
        active = e.average(lambda k: e.active_share(k, n))
        rows.append([f"{a * kilobytes:.0f} and {(sum(usual_split) - a) * kilobytes:.0f}"] + [
            fixed(e.mean_speed(n, c)) for c in ("", *classes) if e.of_class(c)] + [fixed(ctas, 1), percent(active, 0), fixed(e.mean_more_ctas(n), 2)])
    page.put("table:splits", table(["active and pending file, KB", "speed, all"] + [f"speed, {c}" for c in classes if e.of_class(c)] +
                                   ["CTAs", "of these active", "CTAs over the baseline's"], rows))
    if figures is not None:
        labels = [row[0] for row in rows]
        plots.grouped_bars(figures / "fig17_splits", labels,
                           {"active CTAs": [e.average(lambda k: e.ctas(k, split_run(a)) * e.active_share(k, split_run(a))) for a in splits],
                            "pending CTAs": [e.average(lambda k: e.ctas(k, split_run(a)) * (1 - e.active_share(k, split_run(a)))) for a in splits]},
                           "CTAs on the SM, mean", stacked=True)
    page.figure("fig17_splits", "Concurrent CTAs by the sizes of the two files, KB; their Fig 17")
    _compare(page, "splits", ["FINEREG-078", "FINEREG-079", "FINEREG-080", "FINEREG-081", "FIG17-BEST", "FIG17-MOST", "FIG17-EQUAL"])


def _gpus(page: Page, e: Evaluation, figures: Figures) -> None:
    if e.gpu_programs:
        runs = {virtual_thread: "Virtual Thread", finereg: "FineReg", resource: "Baseline+Resource"}
        rows = [[n] + [fixed(e.gpu_speed(s, n)) for s in runs] + [fixed(e.gpu_ctas(s, n), 1) for s in (base, *runs)] + [fixed(e.added_memory(n), 1)]
                for n in gpu_sizes]
        page.put("table:gpus", table(["SMs"] + [f"speed, {t}" for t in runs.values()] + [f"CTAs of an SM, {t}" for t in ("baseline", *runs.values())] +
                                     ["MB that Baseline+Resource adds"], rows))
        rows = [[e.short(k)] + [fixed(e.document(k, gpu_run(base, n))["cycles"] / e.document(k, gpu_run(s, n))["cycles"])
                                for n in gpu_sizes for s in (finereg, resource)] for k in e.gpu_programs]
        page.put("table:gpu_programs", table(["speed"] + [f"{t}, {n}" for n in gpu_sizes for t in ("FineReg", "Baseline+Resource")], rows))
        if figures is not None:
            plots.grouped_bars(figures / "fig18_gpus", [f"{n} SMs" for n in gpu_sizes],
                               {t: [e.gpu_speed(s, n) for n in gpu_sizes] for s, t in runs.items()}, "speed (baseline = 1)", one=True)
    else:
        page.put("table:gpus", "(not run)")
        page.put("table:gpu_programs", "(not run)")
    page.figure("fig18_gpus", "Speed on GPUs of 16 to 128 SMs, geometric means of five programs; their Fig 18a")
    _compare(page, "gpus", [*(f"FINEREG-082-{n}" for n in gpu_sizes), "FINEREG-083-LOW", "FINEREG-083-HIGH", "FINEREG-084-LOW",
                            "FINEREG-084-HIGH"])


def _unified(page: Page, e: Evaluation, figures: Figures) -> None:
    page.put("table:unified", _by_program(e, unified_titles, lambda k, n: f"{fixed(e.speed(k, n))} ({percent(e.hit_rate(k, n), 0)})",
                                          lambda n, c: fixed(e.mean_speed(n, c))))
    _bars(page, e, figures, "fig19_unified", "Throughput with a unified memory, relative to the baseline; their Fig 19", unified_titles, e.speed,
          lambda n, c: e.mean_speed(n, c), "speed (baseline = 1)", one=True)
    _compare(page, "unified", ["FINEREG-085", "FINEREG-086", "FINEREG-087", *(f"SEC6G-UM-{p}" for p in ("AT", "BI", "KM", "SY2")),
                               *(f"SEC6G-VT-{p}" for p in ("AT", "BI", "KM", "SY2"))])


def _hardware(page: Page, e: Evaluation, figures: Figures) -> None:
    storage = e.storage()
    page.put("table:storage", table(["part", "bytes"], [[part, f"{b:,.0f}"] for part, b in storage.items()] +
                                    [["sum", f"{sum(storage.values()):,.0f}"]]))
    _compare(page, "hardware", ["SEC5F-MONITOR", "SEC5F-CACHE", "SEC5F-POINTERS", "SEC5F-TAGS", "SEC5F-TOTAL", "FINEREG-090"])


def csv(e: Evaluation) -> str:
    """Every run."""
    header = ["kernel", "run", "cycles", "warp_instructions", "speed", "ctas", "l1_hits", "dram_bytes", "energy_nj", "operands_checked"]
    rows = []
    # By name: the runs of later_runs() end in no order.
    for (k, name), result in sorted(e.results.items(), key=lambda item: (e.kernels.index(item[0][0]), item[0][1])):
        d = result.stats
        speed = None if "@" in name else e.document(k, base)["cycles"] / d["cycles"]
        l1 = [g for path, g in d["stats"].items() if path.startswith("sm") and path.endswith(".l1")]
        reads = sum(g["reads"] for g in l1)
        rows.append([k, name, d["cycles"], d["warp_instructions"], speed, concurrent(d), sum(g["read_hits"] for g in l1) / reads if reads else 0.0,
                     int(sum(g["bytes_read"] + g["bytes_written"] for path, g in d["stats"].items() if path.startswith("memory.dram_"))),
                     d["energy"]["total_nj"], d["checks"]["operands_checked"]])
    return csv_text(header, rows)
