# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, List, Optional, Sequence

from regatta.means import mean
from regatta.statistics import value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table

from evaluation import Evaluation, annotated, base, changes, groups, programs, schemes, titles

claim_ids = ["FINEREG-FASTER", "FINEREG-ORDER", "FINEREG-ENERGY", "SHARING-FASTER", "SHARING-OVER-WLD", "GREENER-LEAKAGE",
             "GREENER-CYCLES", "WIR-ENERGY", "AGING-ORDER", "AGING-CYCLES"]


def fill(page: Page, e: Evaluation, figures: Optional[Path], small: bool) -> None:
    _numbers(page, e)
    _plane(page, e, figures)
    _bars(page, e, figures)
    _ranking(page, e)
    _options(page)
    _seven(page, e)
    _kernels(page, e)
    _changes(page, e)
    refused = e.refused()
    page.put("refused", "None was refused." if not refused else "Refused, because a CTA does not fit: " + "; ".join(
        f"{e.short(k)}, {titles[name]}" for k, name, _ in refused) + ".")
    page.compare_known("claims", claim_ids)


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that text and findings use, such as {{time/rfv}} and {{energy/finereg/heartwall}}. A part of the kernels has a
    dash for the others."""
    among = {"": None, "seven/": e.swept()}
    for name in (*schemes, *changes):
        for prefix, kernels in among.items():
            if not prefix and (name in changes or schemes[name].some):
                continue
            if not e.fitting(name, kernels):
                for what in ("time", "register", "energy", "leakage", "ctas", "saved"):
                    page.put(f"{what}/{prefix}{name}", "-")
                continue
            page.put(f"time/{prefix}{name}", fixed(e.mean_run_time(name, kernels)))
            page.put(f"register/{prefix}{name}", fixed(e.mean_register_energy(name, kernels)))
            page.put(f"energy/{prefix}{name}", fixed(e.mean_gpu_energy(name, kernels)))
            page.put(f"leakage/{prefix}{name}", fixed(e.mean_leakage(name, kernels)))
            page.put(f"ctas/{prefix}{name}", fixed(e.mean_ctas(name, kernels), 2))
            page.put(f"saved/{prefix}{name}", percent(1 - e.mean_gpu_energy(name, kernels)))
        for k in e.suite.kernels:
            if not e.ran(k, name):
                for what in ("time", "energy", "register", "ctas"):
                    page.put(f"{what}/{name}/{k}", "-")
                continue
            page.put(f"time/{name}/{k}", fixed(e.run_time(k, name), 2))
            page.put(f"energy/{name}/{k}", fixed(e.gpu_energy(k, name), 2))
            page.put(f"register/{name}/{k}", fixed(e.register_energy(k, name), 2))
            page.put(f"ctas/{name}/{k}", fixed(e.resident(k, name) / e.resident(k, base), 2))
        if name in schemes and e.fitting(name):
            page.put(f"kb/{name}", fixed(e.operand_storage(name), 0))
    page.put("time/seven/vt-of-bandwidth",
             fixed(e.mean_run_time("vt-bandwidth", e.swept(), "base-bandwidth")) if e.swept() else "-")
    shares = [value(e.document(k, base), "energy.static_by_structure.register_structures") / e.register_nj(k, base) for k in e.counted]
    page.put("leakage_share", percent(mean(shares), 0))
    page.put("register_share", percent(mean(e.register_nj(k, base) / value(e.document(k, base), "energy.total_nj") for k in e.counted)))
    limited = e.limited()
    page.put("limited", str(len(limited)))
    for name in schemes if limited else ():
        if not schemes[name].some:
            page.put(f"time/limited/{name}", fixed(e.mean_run_time(name, limited)))
            rest = [k for k in e.counted if k not in limited]
            if rest:
                page.put(f"time/others/{name}", fixed(e.mean_run_time(name, rest)))
                page.put(f"energy/others/{name}", fixed(e.mean_gpu_energy(name, rest)))
    page.put("limited/names", ", ".join(e.short(k) for k in limited) or "none")
    ranked = e.ranked(e.everywhere())
    page.put("first", titles[ranked[0]])
    page.put("front", ", ".join(titles[n] for n in e.front()))
    for g in groups:
        mine = [n for n in ranked if schemes[n].group == g]
        page.put(f"best/{g.split()[0]}", titles[mine[0]])


def _plane(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    points = e.points()
    front = [e.everywhere().index(n) for n in e.front()]
    if figures is not None:
        plots.named_points(figures / "plane", points, {g: [i for i, n in enumerate(e.everywhere()) if schemes[n].group == g] for g in groups},
                           front, "run time (baseline with GTO = 1)", "register energy (baseline = 1)")
    page.figure("plane", "Run time and register energy, geometric means; less is better")


def _bars(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    names = e.ranked(e.everywhere())
    if figures is not None:
        series = {g: [e.mean_gpu_energy(n) if schemes[n].group == g else None for n in names] for g in groups}
        plots.grouped_bars(figures / "gpu_energy", [titles[n] for n in names], series, "GPU energy (baseline = 1)", stacked=True, one=True)
    page.figure("gpu_energy", "Energy of the GPU, geometric means")


def _row(e: Evaluation, name: str, among: Optional[Sequence[str]] = None) -> List[Any]:
    worst, whose = e.worst(e.run_time, name, among)
    storage = e.table_storage(name)
    return [titles[name], fixed(e.mean_run_time(name, among)), f"{worst:.2f} ({whose})", fixed(e.mean_register_energy(name, among)),
            fixed(e.mean_leakage(name, among)), fixed(e.mean_gpu_energy(name, among)), fixed(e.mean_ctas(name, among), 2),
            fixed(e.operand_storage(name), 0), "-" if storage is None else f"{storage:.2g}" if storage else "0"]


_titles = ["run time", "largest", "register energy", "of it leakage, over the baseline's", "GPU energy", "CTAs on the SM",
           "KB of registers", "KB of tables"]


def _ranking(page: Page, e: Evaluation) -> None:
    rows: List[List[Any]] = []
    for g in groups:
        mine = [n for n in e.everywhere() if schemes[n].group == g]
        rows += [[f"**{g}**"] + [""] * len(_titles)] + [_row(e, n) for n in e.ranked(mine)]
    page.put("table:ranking", table(["scheme", *_titles], rows))


#: Page of a group of runs, and how the runs of this page differ from it.
_pages = {
    ("regless-512", "rfv", "rfv-rows", "rfv-third", "rfv-quarter", "rfh"): ("regless", ""),
    ("finereg", "virtual_thread"): ("finereg", "there: an L1 that caches data, a register file in one part, 352.5 GB/s"),
    ("reg_dram",): ("finereg", "the same; there: the best of 1, 2, 4 and 8 CTAs in DRAM for each program"),
    ("vt_regmutex",): ("finereg", "the same; there: the best of eight divisions for each program; here the compiler's"),
    ("register_sharing",): ("sharing", "there: four SMs of Fermi, with dynamic warp execution, which compares SMs and needs two"),
    ("warp_level_divergence",): ("sharing", "there: Fermi"),
    ("greener", "sleep_reg"): ("greener", "there: K20X, LRR"),
    ("wir",): ("wir", "there: GTX480, 63 registers per thread"),
    ("always_on", "rar", "argo", "rc", "rc_rar", "wc"): ("aging", "there: HD 7770, wavefronts of 64 lanes"),
}


def _options(page: Page) -> None:
    told = {n: (f"[{folder}](../{folder}/README.md)", how) for names, (folder, how) in _pages.items() for n in names}
    rows = [[s.title, f"`{' '.join(s.options)}`", *told.get(n, ("", ""))] for n, s in schemes.items()]
    page.put("table:options", table(["scheme", "options of `regatta-sim`", "its page", "differences"], rows, left=4))
    for name, options in annotated.items():
        page.put(f"annotated/{name}", " ".join(programs.annotate_options() + options))


def _seven(page: Page, e: Evaluation) -> None:
    rows: List[List[Any]] = []
    some = e.swept()
    for g in groups:
        mine = [n for n, s in schemes.items() if s.group == g and e.fitting(n, some)] if some else []
        mine.sort(key=lambda n: (e.mean_gpu_energy(n, some), n))
        rows += [_row(e, n, some) + [len(e.fitting(n, some))] for n in mine]
    page.put("table:seven", table(["first seven benchmarks", *_titles, "benchmarks"], rows))


def _kernels(page: Page, e: Evaluation) -> None:
    names = [n for n in e.everywhere() if n != base]
    rows = [[e.short(k), fixed(e.resident(k, base), 1), "yes" if e.limited_by_registers(k) else ""] +
            [fixed(e.run_time(k, n), 2) for n in names] for k in e.kernels]
    page.put("table:run_time", table(["run time", "CTAs on the SM", "limited by registers"] + [titles[n] for n in names], rows))
    rows = [[e.short(k)] + [fixed(e.register_energy(k, n), 2) for n in names] for k in e.kernels]
    page.put("table:register_energy", table(["register energy"] + [titles[n] for n in names], rows))
    rows = [[e.short(k)] + [fixed(e.gpu_energy(k, n), 2) for n in names] for k in e.kernels]
    page.put("table:gpu_energy", table(["GPU energy"] + [titles[n] for n in names], rows))


def _changes(page: Page, e: Evaluation) -> None:
    some = e.swept()
    rows: List[List[Any]] = []
    for n in dict.fromkeys(of for _, of, _, _ in changes.values()):
        for run, what in [(n, titles[n])] + [(c, what) for c, (what, of, _, _) in changes.items() if of == n]:
            if some and e.fitting(run, some):
                rows.append([what, fixed(e.mean_run_time(run, some)), fixed(e.mean_register_energy(run, some)),
                             fixed(e.mean_gpu_energy(run, some)), fixed(e.mean_ctas(run, some), 2)])
    page.put("table:changes", table(["first seven benchmarks", "run time", "register energy", "GPU energy", "CTAs on the SM"], rows))


def csv(e: Evaluation) -> str:
    """A row per run, with the numbers behind the tables."""
    rows = []
    for (kernel, name), r in sorted(e.results.items()):
        d = r.stats
        if d is None:
            rows.append([kernel, name] + [None] * 7)
            continue
        rows.append([kernel, name, d["cycles"], d["warp_instructions"], f"{d['energy']['total_nj']:.1f}", f"{e.register_nj(kernel, name):.1f}",
                     f"{value(d, 'energy.static_by_structure.register_structures'):.1f}", e.resident(kernel, name), d["checks"]["mismatches"]])
    return csv_text(["kernel", "run", "cycles", "warp_instructions", "energy_nj", "register_energy_nj", "register_leakage_nj",
                     "resident_ctas", "mismatches"], rows)
