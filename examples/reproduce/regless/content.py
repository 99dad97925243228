# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import List, Optional

from regatta.means import geomean, mean, pareto
from regatta.statistics import value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table

import rivals
from evaluation import (cached_base, cached_usual, chosen, experiments, faster_ids, held_ids, l2_ids,
                        missed_ids, part_base, part_largest, part_usual, register_file, run_time_ids, sizes, slow_kernels,
                        sources, stores_ids, table2, traffic, usual, wide_base, wide_kernels, wide_usual)
from rivals import Evaluation

time_ids = ["REGLESS-005", "REGLESS-027", *run_time_ids.values(), *faster_ids.values(), "SEC6.4-THREE"]
size_ids = ["REGLESS-009", "REGLESS-010", "SEC6.2-LARGER", "REGLESS-001"]
energy_ids = ["REGLESS-011", "REGLESS-014", "REGLESS-017", "REGLESS-006"]
preload_ids = ["REGLESS-028", "REGLESS-029", *missed_ids.values(), "SEC6.5-COMPRESSOR", *l2_ids.values()]
l1_ids = ["REGLESS-035", "REGLESS-008", *stores_ids.values(), "SEC6.5-NO-MISS"]
region_ids = ["SEC6.6-LIVE", *held_ids.values(), "SEC6.6-LARGE", "TABLE2-INSTRUCTIONS", "TABLE2-CYCLES"]
set_ids = ["REGLESS-007", "FIG2-TWO-LEVEL"]


def fill(page: Page, e: Evaluation, figures: Optional[Path], small: bool) -> None:
    _overview(page, e)
    _numbers(page, e)
    _wide(page, e)
    rivals.fill(page, e, figures)
    for part in (_sizes, _run_time, _energy, _preloads, _l1, _regions, _working_set, _backing):
        part(page, e, figures)


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that the findings use, such as {{time/hotspot/regless-512}}."""
    for k in e.kernels:
        for (kernel, name), result in e.results.items():
            if kernel == k and result.stats is not None:
                page.put(f"time/{k}/{name}", fixed(e.run_time(k, name), 2))
                page.put(f"energy/{k}/{name}", fixed(e.gpu_energy(k, name), 2))
        for n in sizes:
            if e.ran(k, f"regless-{n}"):
                page.put(f"found/{k}/{n}", percent(e.preload_shares(k, f"regless-{n}")["osu"]))
        page.put(f"live_registers/{k}", str(e.live_registers(k)))
        for s, share in e.preload_shares(k).items():
            page.put(f"preload/{k}/{s}", percent(share))
        for key in ("mean_live", "mean_preloads", "mean_cycles", "mean_instructions", "max_live"):
            page.put(f"{key}/{k}", fixed(e.regless(k, usual, "regions." + key), 0 if key == "max_live" else 1))
        page.put(f"warps_active/{k}", fixed(e.regless(k, usual, "warps_active"), 1))
        page.put(f"static/{k}", fixed(e.static_instructions(k), 1))
        page.put(f"block/{k}", fixed(e.block_instructions(k), 1))
        page.put(f"l1/{k}", fixed(sum(e.l1_rates(k).values()), 3))
        page.put(f"metadata/{k}", percent(e.code_growth(k), 0))
        page.put(f"working_set/{k}", fixed(e.working_set(k, "baseline"), 0))
    rest = [k for k in e.kernels if k not in slow_kernels]
    for name in ["no-compressor", usual]:
        page.put(f"time/all/{name}", fixed(e.mean_run_time(name)))
    for n, time, energy in e.points():
        page.put(f"time/swept/{n}", fixed(time))
        page.put(f"energy/swept/{n}", fixed(energy))
    for name in ["no-compressor", usual]:
        if rest and e.fitting(name, rest):
            page.put(f"time/others/{name}", fixed(e.mean_run_time(name, rest)))
    if rest:
        shares = e.mean_preload_shares(rest)
        page.put("preload/others/l1", percent(shares["l1"]))
        page.put("preload/others/beyond", percent(shares["l2"] + shares["dram"], 3))
        page.put("l1/others", fixed(mean(sum(e.l1_rates(k).values()) for k in rest), 3))
        page.put("energy/others/saved", percent(1 - mean(e.gpu_energy(k, usual) for k in rest)))
    page.put("time/all/icache", fixed(geomean(e.run_time(k, cached_usual, cached_base) for k in e.counted)))
    for k in e.kernels:
        page.put(f"time/{k}/icache", fixed(e.run_time(k, cached_usual, cached_base), 2))
    for title, r in e.ranks(page.comparisons.paper).items():
        page.put(f"rank/{title}", fixed(r, 2))
    page.put("words", percent(mean(e.code_growth(k) for k in e.kernels), 0))


def _figure(page: Page, name: str, title: str) -> None:
    page.figure(name, title)


def _overview(page: Page, e: Evaluation) -> None:
    rows = []
    for k in e.kernels:
        d = e.document(k, "baseline")
        rows.append([e.short(k), k, d["warp_instructions"], d["cycles"],
                     fixed(d["ipc"], 2), e.live_registers(k, key="registers"), e.live_registers(k), percent(e.register_share(k))])
    page.put("table:kernels", table(["benchmark", "our kernel", "warp instructions", "cycles", "IPC",
                                     "registers of a thread", "live at once, at most", "register file in the energy"], rows,
                                    left=2))
    refused = e.refused()
    page.put("refused", "None was refused." if not refused else "Refused, because a region cannot fit: " +
             "; ".join(f"{k}, {name}: {why}" for k, name, why in refused) + ".")


def _sizes(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    among = e.swept()
    rows: List[list] = [["baseline", 2048, "1.000", "1.000", "1.000", "1.000", len(among)]]
    for name, entries in [(f"regless-{n}", n) for n in sizes] + [("no-compressor", chosen)]:
        ran = e.fitting(name, among)
        if not ran:
            continue
        rows.append([name.replace("-", " "), entries, fixed(e.mean_run_time(name, among)),
                     fixed(max(e.run_time(k, name) for k in ran)), fixed(e.mean_gpu_energy(name, among)),
                     fixed(e.mean_register_energy(name, among)), len(ran)])
    page.put("table:sizes", table(["", "registers", "run time", "worst kernel", "GPU energy", "register energy",
                                   "kernels"], rows))
    points = e.points()
    if figures is not None:
        plots.scatter(figures / "fig13_sizes", points, pareto([(x, y) for _, x, y in points]),
                      "run time (baseline = 1)", "GPU energy (baseline = 1)")
    _figure(page, "fig13_sizes", "Run time and GPU energy by the staging units' size, geometric means; their Fig 13")
    rows = [[e.short(k)] + [fixed(e.run_time(k, f"regless-{n}")) for n in sizes] for k in among]
    page.put("table:run_time_by_size", table(["run time"] + [str(n) for n in sizes], rows))
    page.compare("sizes", size_ids)


def _run_time(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    names = {"RegLess": usual, "without compressor": "no-compressor", **{t: n for n, t in rivals.titles.items()}}
    if figures is not None:
        plots.grouped_bars(figures / "fig16_run_time", [e.short(k) for k in e.kernels] + ["geomean"],
                           {label: [e.run_time(k, name) for k in e.kernels] + [e.mean_run_time(name)]
                            for label, name in names.items()}, "run time (baseline = 1)", one=True)
    _figure(page, "fig16_run_time", f"Run time with {chosen} registers; their Fig 16")
    rows = [[e.short(k), fixed(e.run_time(k, usual)), fixed(e.run_time(k, "no-compressor")),
             fixed(e.run_time(k, cached_base)),
             fixed(e.run_time(k, cached_usual, cached_base)), fixed(e.regless(k, usual, "warps_active"), 1),
             percent(e.code_growth(k))] for k in e.kernels]
    cached = geomean(e.run_time(k, cached_usual, cached_base) for k in e.counted)
    rows.append(["geometric mean", fixed(e.mean_run_time(usual)), fixed(e.mean_run_time("no-compressor")),
                 fixed(e.mean_run_time(cached_base)), fixed(cached), "", ""])
    page.put("table:run_time", table(["", "RegLess", "without compressor", "baseline, large icache",
                                      "RegLess over it, large icache", "warps active",
                                      "metadata words per instruction"], rows))
    shown = {part_usual: "as it is", **{name: what for name, (what, _) in experiments.items()},
             part_largest: f"{sizes[-1]} registers"}
    page.put("table:experiments", table(["run time"] + [e.short(k) for k in e.slow()], [
        [what] + [fixed(e.run_time(k, name, part_base)) if e.ran(k, name) else None for k in e.slow()]
        for name, what in shown.items()]))
    for k in e.slow():
        for name in shown:
            if e.ran(k, name):
                page.put(f"part/{k}/{name}", fixed(e.run_time(k, name, part_base), 2))
    page.compare("run_time", time_ids)


def _energy(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    groups = [e.short(k) for k in e.kernels] + ["mean"]
    names = {**{t: n for n, t in rivals.titles.items()}, "RegLess": usual}
    register = {t: [e.register_energy(k, n) for k in e.kernels] + [e.mean_register_energy(n)] for t, n in names.items()}
    gpu = {t: [e.gpu_energy(k, n) for k in e.kernels] for t, n in names.items()}
    gpu = {t: of + [mean(of)] for t, of in gpu.items()}
    no_rf = [1 - e.register_share(k) for k in e.kernels]
    if figures is not None:
        plots.grouped_bars(figures / "fig14_register_energy", groups, register, "register energy (baseline = 1)", one=True,
                           paper=1 - 0.753, paper_label="the paper's mean, RegLess")
        plots.grouped_bars(figures / "fig15_gpu_energy", groups,
                           {**gpu, "No RF": no_rf + [mean(no_rf)]}, "GPU energy (baseline = 1)",
                           one=True, paper=1 - 0.11, paper_label="the paper's mean, RegLess")
    _figure(page, "fig14_register_energy", "Energy of the register structures; their Fig 14")
    _figure(page, "fig15_gpu_energy", "Energy of the GPU, and its bound if registers needed no energy; their Fig 15")
    rows = [[e.short(k)] + [fixed(e.register_energy(k, n)) for n in (usual, "no-compressor", *rivals.titles)] +
            [fixed(e.gpu_energy(k, n)) for n in (usual, *rivals.titles)] + [fixed(1 - e.register_share(k))] for k in e.kernels]
    rows.append(["mean"] + [fixed(e.mean_register_energy(n)) for n in (usual, "no-compressor", *rivals.titles)] +
                [fixed(gpu[t][-1]) for t in ("RegLess", *rivals.titles.values())] + [fixed(mean(no_rf))])
    page.put("table:energy", table(["", "register energy: RegLess", "without compressor", *rivals.titles.values(),
                                    "GPU energy: RegLess", *rivals.titles.values(), "No RF"], rows))
    page.put("table:energy_parts", _energy_parts(e))
    page.compare("energy", energy_ids)


def _energy_parts(e: Evaluation) -> str:
    """The GPU's energy by structure, as shares of the baseline's energy, averaged over the kernels."""
    rows = []
    names = ["baseline", usual, *rivals.titles]
    for s in e.structures(names):
        before, *after = (e.average(lambda k: e.energy_share(k, name, s)) for name in names)
        rows.append([s.replace("_", " "), percent(before, 2)] + [percent(x, 2) for x in after] +
                    [percent(x - before, 2) for x in after])
    titles = ["RegLess", *rivals.titles.values()]
    return table(["", "baseline", *titles, *(f"difference, {t}" for t in titles)], rows)


def _preloads(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    shares = [e.preload_shares(k) for k in e.kernels]
    average = e.mean_preload_shares()
    if figures is not None:
        plots.grouped_bars(figures / "fig17_preloads", [e.short(k) for k in e.kernels] + ["mean"],
                           {label: [100 * sum(s[x] for x in which) for s in shares + [average]]
                            for label, which in (("staging unit", ["osu"]), ("compressor", ["compressor"]),
                                                 ("L1", ["l1"]), ("L2 or DRAM", ["l2", "dram"]))},
                           "preloads (%)", stacked=True)
    _figure(page, "fig17_preloads", "Where preloaded registers were found; their Fig 17")
    rows = [[e.short(k), e.regless(k, usual, "preloads")] + [percent(s[x], 3) for x in sources] +
            [percent(e.added_l2_requests(k), 2)] for k, s in zip(e.kernels, shares)]
    rows.append(["mean", ""] + [percent(average[x], 3) for x in sources] +
                [percent(mean(e.added_l2_requests(k) for k in e.kernels), 2)])
    page.put("table:preloads", table(["", "preloads", "staging unit", "compressor", "L1", "L2", "DRAM",
                                      "requests to L2 added"], rows))
    rows = []
    for k in e.swept():
        found = [e.preload_shares(k, f"regless-{n}")["osu"] if e.ran(k, f"regless-{n}") else None for n in sizes]
        rows.append([e.short(k)] + [percent(f) for f in found])
    page.put("table:preloads_by_size", table(["found in the staging unit"] + [str(n) for n in sizes], rows))
    page.compare("preloads", preload_ids)


def _l1(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    rates = [e.l1_rates(k) for k in e.kernels]
    average = {t: mean(r[t] for r in rates) for t in traffic}
    if figures is not None:
        plots.grouped_bars(figures / "fig18_l1", [e.short(k) for k in e.kernels] + ["mean"],
                           {t: [r[t] for r in rates + [average]] for t in traffic}, "requests per cycle",
                           stacked=True, paper=0.02, paper_label="the paper's bound on the mean")
    _figure(page, "fig18_l1", "Requests to the L1 for registers per cycle; their Fig 18")
    rows = [[e.short(k)] + [fixed(r[t], 4) for t in traffic] + [fixed(sum(r.values()), 4)] +
            [percent(e.l1_share_of_accesses(k), 2)] for k, r in zip(e.kernels, rates)]
    rows.append(["mean"] + [fixed(average[t], 4) for t in traffic] + [fixed(sum(average.values()), 4)] +
                [percent(mean(e.l1_share_of_accesses(k) for k in e.kernels), 2)])
    page.put("table:l1", table(["", "preload", "evict", "invalidate", "together", "of register accesses"], rows))
    page.compare("l1", l1_ids)


def _regions(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    def of(key):
        return [e.regless(k, usual, "regions." + key) for k in e.kernels]
    if figures is not None:
        plots.grouped_bars(figures / "fig19_regions", [e.short(k) for k in e.kernels],
                           {"preloads": of("mean_preloads"), "live at once": of("mean_live")}, "registers per region",
                           errors={"live at once": of("stddev_live")})
    _figure(page, "fig19_regions", "Registers that a region preloads and holds, with the deviation of those held; "
                                   "their Fig 19")
    stated = page.comparisons.paper.values
    rows = []
    for k, executed, instructions, cycles, preloads, live, spread, most in zip(
            e.kernels, of("executed"), of("mean_instructions"), of("mean_cycles"), of("mean_preloads"),
            of("mean_live"), of("stddev_live"), of("max_live")):
        paper = [stated[i].text() for i in table2[e.theirs(k)]] if e.theirs(k) in table2 else ["-", "-"]
        rows.append([e.short(k), executed, fixed(e.block_instructions(k), 1), fixed(e.static_instructions(k), 1),
                     paper[0], fixed(instructions, 1), fixed(cycles, 0), paper[1], fixed(preloads, 2), fixed(live, 2), fixed(spread, 2), most])
    waits = ["mean_preload_cycles", "mean_drain_cycles"]
    told = [w for w in waits if all(e.regless(k, usual, "regions." + w, None) is not None for k in e.kernels)]
    for row, k in zip(rows, e.kernels):
        row[7:7] = [fixed(e.regless(k, usual, "regions." + w), 0) for w in told]
    page.put("table:regions", table(["", "regions executed", "instructions in a block", "in a region (static)", "paper",
                                     "instructions (executed)", "cycles active"] + [{waits[0]: "preloading", waits[1]: "draining"}[w] for w in told] +
                                    ["paper", "preloads", "live", "deviation", "most live"], rows))
    page.compare("regions", region_ids + [i for ids in table2.values() for i in ids])


def _working_set(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    if figures is not None:
        plots.grouped_bars(figures / "fig2_working_set", [e.short(k) for k in e.kernels],
                           {label: [e.working_set(k, name) if e.ran(k, name) else None for k in e.kernels]
                            for label, name in (("GTO", "baseline"), ("two-level, 32 warps", "two_level"),
                                                ("two-level, 8 warps", "two_level-8"))},
                           "registers in 100 cycles", paper=0.1 * register_file, paper_label="10 % of the register file")
    _figure(page, "fig2_working_set", "Registers touched in 100 cycles, of 2048; their Fig 2")
    rows = []
    for k in e.kernels:
        row = [e.short(k)]
        for name in ("baseline", "two_level", "two_level-8"):
            if not e.ran(k, name):
                row += [None] * 3
                continue
            mean_set = e.working_set(k, name)
            row += [fixed(mean_set, 1), percent(mean_set / register_file),
                    value(e.document(k, name), "register_working_set.peak")]
        rows.append(row + [fixed(e.run_time(k, "two_level-8")) if e.ran(k, "two_level-8") else None])
    for title, among, names in (("mean", e.kernels, ["baseline"]),
                                ("mean of the first seven", e.swept(), ["baseline", "two_level", "two_level-8"])):
        cells: List[str] = []
        for name in names if among else []:
            average = mean(e.working_set(k, name) for k in among)
            cells += [fixed(average, 1), percent(average / register_file), ""]
        rows.append([title] + cells + [""] * (10 - len(cells)))
    page.put("table:working_set", table(["registers", "GTO", "of 2048", "peak", "two-level, 32 warps", "of 2048", "peak",
                                         "two-level, 8 warps", "of 2048", "peak", "its run time"], rows))
    page.compare("working_set", set_ids)


def _backing(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    sampled = {label: e.results[("hotspot", name)].samples for label, name in (("baseline", "baseline"), ("RF hierarchy", rivals.deep),
                                                                            ("RegLess", usual))
               if ("hotspot", name) in e.results}
    if figures is not None and sampled:
        # The steady state: as many samples as one launch has, from the middle of the run.
        series = {}
        for label, s in sampled.items():
            first = len(s["cycle"]) // 2
            last = min(len(s["cycle"]), first + 600)
            series[label] = ([(c - s["cycle"][first]) / 1000 for c in s["cycle"][first:last]],
                             s["accesses"][first:last])
        plots.lines(figures / "fig3_backing_store", series, "thousand cycles from the middle of hotspot",
                    "accesses in 100 cycles", log=True)
    if sampled:
        _figure(page, "fig3_backing_store", "Accesses to the registers' backing store in 100 cycles of hotspot; their "
                                            "Fig 3")
    else:
        page.put("figure:fig3_backing_store", "(hotspot was not run)")
    rows = [[e.short(k), fixed(e.backing_accesses(k, "baseline"), 1), fixed(e.backing_accesses(k, usual), 2),
             percent(e.backing_accesses(k, usual) / e.backing_accesses(k, "baseline"), 2)] for k in e.kernels]
    page.put("table:backing_store", table(["accesses in 100 cycles", "baseline: register file", "RegLess: L1",
                                           "of the baseline's"], rows))


def _wide(page: Page, e: Evaluation) -> None:
    """Code with addresses of 64 bits beside the suite's."""
    among = [k for k in wide_kernels if k in e.kernels]
    if not among:
        page.put("table:wide", "(None of them was run.)")
        for title in ("baseline", "32", "64"):
            page.put(f"wide/{title}", "-")
        return
    rows = []
    ratios = {"baseline": lambda k: e.run_time(k, wide_base), "32": lambda k: e.run_time(k, usual),
              "64": lambda k: e.run_time(k, wide_usual, wide_base)}
    for k in among:
        shares = [e.preload_shares(k, name)["osu"] for name in (usual, wide_usual)]
        rows.append([e.short(k)] + [e.live_registers(k, name) for name in (usual, wide_usual)] +
                    [fixed(of(k)) for of in ratios.values()] + [percent(s) for s in shares])
    for title, of in ratios.items():
        page.put(f"wide/{title}", fixed(geomean(of(k) for k in among)))
    rows.append(["mean", ""] + [""] + [fixed(geomean(of(k) for k in among)) for of in ratios.values()] +
                [percent(mean(e.preload_shares(k, name)["osu"] for k in among)) for name in (usual, wide_usual)])
    page.put("table:wide", table(["", "live registers, 32 bits", "64 bits", "baseline, 64 over 32 bits", "RegLess, 32 bits",
                                  "RegLess, 64 bits", "found in the staging unit, 32 bits", "64 bits"], rows))


def csv(e: Evaluation) -> str:
    """A row per run, with the numbers behind the tables."""
    keys = ["preloads"] + [f"preload_source.{s}" for s in sources] + [f"l1_requests_per_cycle.{t}" for t in traffic] + \
        [f"regions.{n}" for n in ("executed", "mean_instructions", "mean_cycles", "mean_preloads", "mean_live",
                                  "stddev_live", "max_live")] + ["metadata_instructions", "warps_active", "osu.reads",
                                                                 "osu.writes", "osu.conflicts", "osu.evictions",
                                                                 "compressor.incompressible", "compressor.hits",
                                                                 "compressor.misses"]
    rows = []
    for (kernel, name), r in sorted(e.results.items()):
        d = r.stats
        if d is None:
            rows.append([kernel, name] + [None] * (5 + len(keys)))
            continue
        rows.append([kernel, name, d["cycles"], d["warp_instructions"], f"{d['energy']['total_nj']:.1f}",
                     f"{d['energy']['by_structure']['register_structures']:.1f}",
                     value(d, "register_working_set.mean", "")] + [value(d, "stats.regless." + k, "") for k in keys])
    return csv_text(["kernel", "run", "cycles", "warp_instructions", "energy_nj", "register_energy_nj",
                     "working_set"] + keys, rows)
