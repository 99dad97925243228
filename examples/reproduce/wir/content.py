# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence

from regatta.means import mean
from regatta.statistics import value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table

from evaluation import (Evaluation, backend, bars, base, delays, experiments, harmed, inputs, load_benchmarks, long_usual, models, names,
                        part_base, part_usual, reuse_sizes, signature_sizes, swept, table3, usual, verify_benchmarks,
                        verify_sizes, wide_base, wide_usual)

Figures = Optional[Path]

#: What the verdict names first.
headline_ids = ["WIR-001", "WIR-003", "WIR-005", "WIR-004", "WIR-016"]
repeat_ids = ["WIR-001", "WIR-002", "TABLE1-ORDER", "TABLE1-HALVES"]
bypass_ids = ["WIR-003", "WIR-006", "WIR-007", "WIR-008", "WIR-024"]
backend_ids = ["WIR-009", "FIG13-CAPPED"]
energy_ids = ["WIR-005", "WIR-012", "WIR-013", "WIR-010", "WIR-011", "SEC7C-HALVES",
              *(f"SEC7C-LOADS-{n}" for n in load_benchmarks), "WIR-019-ENERGY"]
l1_ids = [f"FIG15-{n}-{what}" for n in load_benchmarks for what in ("ACCESSES", "MISSES")] + ["WIR-018", "WIR-019"]
sm_ids = ["WIR-004", "WIR-014", "WIR-015", "FIG16-ORDER", "SEC5E-CAPPED"]
speed_ids = ["WIR-016", "WIR-017", *verify_benchmarks.values()]
register_ids = ["FIG19-SHARING", "FIG19-BASE", "FIG19-CAPPED"]
bank_ids = ["WIR-020", "FIG18-CONFLICTS", "WIR-021", "FIG18-SIXTEEN"]
reuse_ids = ["WIR-029", "FIG21-GROWS", "WIR-023", "SEC7G2-DOUBLING"]
signature_ids = ["WIR-027", "FIG20-SATURATES"]
hardware_ids = ["WIR-025", "WIR-026", "WIR-032"]
operations = {"sp": "SP", "sfu": "SFU", "mem": "memory", "rf_read": "register reads", "rf_write": "register writes"}
assert list(operations) == backend


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    _numbers(page, e)  # first, because the findings use them
    for part in (_addresses, _verdict, _kernels, _repeats, _inputs, _bypass, _backend, _energy, _l1, _sm_energy, _speed, _banks,
                 _registers, _signatures, _reuse, _delay, _experiments, _hardware):
        if e.swept or part not in (_addresses, _banks, _signatures, _reuse, _delay, _experiments):
            part(page, e, figures)
    if not e.swept:  # a page of other kernels
        for name in ("figure:fig18a_accesses", "figure:fig18b_retries", "table:banks", "table:retries", "figure:fig20_signatures",
                     "table:signatures", "table:signature_effects", "figure:fig21_reuse", "table:reuse", "figure:fig22_delay",
                     "table:delay", "table:addresses", "table:experiments_speed", "table:experiments_SM_energy_saved", "table:experiments_bypass", "speed/all/part-rlpv", "speed/all/part-ports", "bypass/all/part-rlpv"):
            page.put(name, "(not run)")
        for column in ("bypass", "speed", "results_of_two_registers", "signature_hits"):
            for width in ("32", "64"):
                page.put(f"addresses/{column}/{width}", "(not run)")
        for name in ("banks", "signatures", "reuse", "delay"):
            _compare(page, name, [])


def _compare(page: Page, name: str, ids: Sequence[str]) -> None:
    """A part of the kernels does not allow every comparison."""
    page.compare(name, [i for i in ids if not page.partial or i in page.comparisons.all])


def _verdict(page: Page, e: Evaluation, figures: Figures) -> None:
    """The headline: each of the paper's first numbers beside ours."""
    ids = [i for i in headline_ids if i in page.comparisons.all]
    labels = {"WIR-001": "repeated", "WIR-003": "bypass", "WIR-005": "GPU energy saved", "WIR-004": "SM energy saved",
              "WIR-016": "within 10 % of\nthe baseline's speed"}
    _grouped(figures, page, "headline", "The paper's first numbers and ours", [labels[i] for i in ids],
             {"paper": [page.comparisons.all[i].stated.value for i in ids],
              "regatta": [page.comparisons.all[i].ours for i in ids]}, "%")
    page.put("table:headline", table(["", "paper", "ours"], [
        [c.stated.what, c.stated.text(), c.ours_text()] for c in (page.comparisons.all[i] for i in ids)]))


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that the findings use, such as {{speed/hotspot/rlpv}}."""
    for (k, name), result in e.results.items():
        whole = (k, name) in ((k, n) for n in names)
        to = base if whole else wide_base if name == wide_usual else part_base
        if name not in inputs:
            page.put(f"speed/{k}/{name}", fixed(e.speed(k, name, to), 2))
        if name not in (base, part_base, wide_base, "affine"):
            page.put(f"bypass/{k}/{name}", percent(e.bypass(k, name)))
            page.put(f"low/{k}/{name}", percent(e.low(k, name), 0))
        if whole and name != base:
            page.put(f"saved/{k}/{name}", percent(e.gpu_saved(k, name)))
            page.put(f"sm_saved/{k}/{name}", percent(e.sm_saved(k, name)))
            page.put(f"sm_dynamic_saved/{k}/{name}", percent(e.sm_saved(k, name, static=False)))
    for name in list(models) + [n for n in {n for _, n in e.results} if n not in names and e.among(n) and
                                n not in (part_base, wide_base, long_usual, *inputs)]:
        whole = name in names
        page.put(f"speed/all/{name}", fixed(e.mean_speed(name, base if whole else wide_base if name == wide_usual else part_base)))
        if name != "affine":
            page.put(f"bypass/all/{name}", percent(e.average(lambda k: e.bypass(k, name), e.among(name))))
            page.put(f"low/all/{name}", percent(e.average(lambda k: e.low(k, name), e.among(name)), 0))
        if whole:
            page.put(f"sm_dynamic_saved/all/{name}",
                     percent(e.average(lambda k: e.sm_saved(k, name, static=False))))
            page.put(f"saved/all/{name}", percent(e.average(lambda k: e.gpu_saved(k, name))))
    for k in e.kernels:
        page.put(f"repeated/{k}", percent(e.repeated(k)))
        page.put(f"movs/{k}", percent(e.movs(k)))
        for bar in bars:
            page.put(f"barred/{k}/{bar}", percent(e.barred(k, bar)))
            page.put(f"of_all/{k}/{bar}", percent(e.barred(k, bar, "barred"), 0))
        page.put(f"repeated_loads/{k}", percent(e.wir(k, usual, "repeated_loads_fraction_1k")))
        for kind, share in e.mix(k).items():
            page.put(f"mix/{k}/{kind.replace(' ', '_')}", percent(share, 0))
        page.put(f"floating/{k}/rest", percent(e.floating(k) / (1 - e.shared_loads(k)), 0))
        page.put(f"loads/{k}", percent(e.bypass_by(k, "load"), 2))
        page.put(f"retries/{k}/base", fixed(e.retries(k, base), 2))
        page.put(f"retries/{k}/rlpv", fixed(e.retries(k, usual), 2))
        page.put(f"shared_writes/{k}", percent(e.shared_writes(k), 0))
        page.put(f"ipc/{k}", fixed(e.document(k, base)["ipc"], 2))
        loads = e.l1(k, base)
        page.put(f"l1_hits/{k}", percent((loads["hits"] + loads["merged misses"]) / max(1, sum(loads.values())), 0))
        page.put(f"dram_reads_saved/{k}", percent(e.dram_reads_saved(k), 0))
        page.put(f"gpu_saved/{k}", percent(e.gpu_saved(k, usual)))
        page.put(f"misses_saved/{k}", "-" if e.misses_saved(k) is None else percent(e.misses_saved(k), 0))
        page.put(f"accesses_saved/{k}", "-" if e.accesses_saved(k) is None else percent(e.accesses_saved(k)))
        page.put(f"verified/{k}", percent(e.verified_by_cache(k), 0))
    for name in [part_usual, *experiments] if e.swept else []:
        page.put(f"part_sm_saved/all/{name}", percent(e.average(lambda k: e.sm_saved(k, name, to=part_base), e.swept)))
    for which in inputs:
        for k in e.with_input(which):
            for name in (part_usual, which):
                page.put(f"repeated/{k}/{name}/{which}", percent(e.repeated(k, name)))
    for bar in bars:
        page.put(f"barred/all/{bar}", percent(e.average(lambda k: e.barred(k, bar))))
        page.put(f"of_all/all/{bar}", percent(e.average(lambda k: e.barred(k, bar, "barred")), 0))
    page.put("repeated_loads/all", percent(e.average(lambda k: e.wir(k, usual, "repeated_loads_fraction_1k"))))
    page.put("verified/all", percent(e.average(e.verified_by_cache), 0))
    for name in (base, usual):
        page.put(f"registers/all/{name}", f"{e.average(lambda k: e.registers(k, name)[0]):.0f}")
    page.put("gpu_added", percent(-e.average(lambda k: e.gpu_saved(k, usual))))
    page.put("backend_energy", percent(e.average(e.backend_energy), 0))
    page.put("backend_of_sm", percent(e.average(lambda k: e.backend_nj(k) / e.sm_energy(k, base)), 0))
    page.put("backend_saved", percent(e.average(lambda k: 1 - e.backend_nj(k, usual) / e.backend_nj(k))))
    page.put("sm_of_gpu", percent(e.average(lambda k: e.sm_energy(k, base) / e.document(k, base)["energy"]["total_nj"]), 0))
    for name in (base, usual):
        for s in e.structures([name]):
            page.put(f"share/{name}/{s}", percent(e.average(lambda k: e.energy_share(k, name, s))))
        page.put(f"static/{name}", percent(e.average(lambda k: sum(e.document(k, name)["energy"]["static_by_structure"].values()) /
                                                     e.document(k, name)["energy"]["total_nj"]), 0))


def _by_kernel(e: Evaluation, first: str, columns: Sequence[str], cell: Callable[[str, str], Any],
               last: Callable[[str], Any], title: str = "mean", among: Optional[Sequence[str]] = None) -> str:
    """A row per kernel and one for all kernels."""
    among = e.kernels if among is None else among
    return table([first, *columns], [[e.short(k)] + [cell(k, c) for c in columns] for k in among] +
                 ([[title] + [last(c) for c in columns]] if among else []))


def _grouped(figures: Figures, page: Page, name: str, title: str, groups: Sequence[str], series: dict, ylabel: str,
             **more: Any) -> None:
    if figures is not None:
        plots.grouped_bars(figures / name, groups, series, ylabel, **more)
    page.figure(name, title)


def _kernels(page: Page, e: Evaluation, figures: Figures) -> None:
    kinds = ["floating point", "special", "integer", "shared memory", "other memory", "control"]
    rows = [[e.theirs(k), k, e.instructions(k, base), fixed(e.document(k, base)["ipc"], 2), e.threads_registers(k, base)] +
            [percent(e.mix(k)[kind], 0) for kind in kinds] +
            [percent(e.barred(k, "divergent", "barred"), 0), percent(e.barred(k, "none", "barred"), 0)] for k in e.kernels]
    page.put("table:kernels", table(["benchmark", "kernel", "warp instructions", "IPC", "registers", *kinds, "divergent only",
                                     "may look up"], rows, left=2))
    _compare(page, "kernels", [f"TABLE1-FP-{n}" for n in e.counterparts])


def _repeats(page: Page, e: Evaluation, figures: Figures) -> None:
    order = e.by_repetition()
    groups = [e.short(k) for k in order] + ["mean"]
    often = [e.wir(k, usual, "repeated_often_fraction_1k") for k in order]
    repeated = [e.repeated(k) for k in order]
    _grouped(figures, page, "fig2_repeated", "Instructions that repeat a computation of the last 1,000; their Fig 2", groups,
             {"repeated": [100 * x for x in repeated + [mean(repeated)]],
              "more than 10 times": [100 * x for x in often + [mean(often)]]}, "warp instructions (%)", paper=31.4,
             paper_label="the paper's mean")
    told = [b for b in bars if any(e.barred(k, b) >= 0.0005 for k in e.kernels)]
    _grouped(figures, page, "repeats_by_bar", "Repeated computations by the reason that keeps them from the reuse buffer", groups,
             {bars[b]: [100 * e.barred(k, b) for k in order] + [100 * e.average(lambda k: e.barred(k, b))] for b in told},
             "warp instructions (%)", stacked=True)
    rows = [[e.short(k), percent(e.repeated(k)), percent(o)] + [percent(e.barred(k, b)) for b in told] +
            [percent(e.bypass(k))] for k, o in zip(order, often)]
    rows.append(["mean", percent(mean(repeated)), percent(mean(often))] +
                [percent(e.average(lambda k: e.barred(k, b))) for b in told] + [percent(e.average(e.bypass))])
    page.put("table:repeats", table(["", "repeated", "more than 10 times"] + [bars[b] for b in told] + ["bypass, RLPV"],
                                    rows))
    _compare(page, "repeats", repeat_ids)


def _inputs(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = [[e.short(k), kind] + [percent(of(k, n)) for of in (e.repeated, e.bypass, e.hit_rate) for n in (part_usual, which)]
            for which, kind in inputs.items() for k in e.with_input(which)]
    page.put("table:inputs", table(["", "other inputs", "repeated", "with others", "bypass", "with others",
                                    "signature buffer's hit rate", "with others"], rows, left=2))


def _addresses(page: Page, e: Evaluation, figures: Figures) -> None:
    pairs = {"32": (part_base, part_usual), "64": (wide_base, wide_usual)}

    def sm_saved(k: str, width: str) -> float:
        return 1 - e.sm_energy(k, pairs[width][1]) / e.sm_energy(k, pairs[width][0])
    columns = {"registers": (lambda k, w: e.threads_registers(k, pairs[w][0]), lambda x: fixed(x, 1)),
               "repeated": (lambda k, w: e.repeated(k, pairs[w][1]), percent),
               "results of two registers": (lambda k, w: e.wir(k, pairs[w][1], "barred.wide") / e.instructions(k, pairs[w][1]), percent),
               "bypass": (lambda k, w: e.bypass(k, pairs[w][1]), percent),
               "signature hits": (lambda k, w: e.hit_rate(k, pairs[w][1]), percent),
               "speed": (lambda k, w: e.speed(k, pairs[w][1], pairs[w][0]), fixed),
               "SM energy saved": (sm_saved, percent)}
    rows = [[e.short(k)] + [show(of(k, w)) for of, show in columns.values() for w in pairs] for k in e.paired]
    rows.append(["mean"] + [show(e.average(lambda k: of(k, w), e.paired)) for of, show in columns.values() for w in pairs])
    page.put("table:addresses", table([""] + [f"{c}, {w}" for c in columns for w in pairs], rows))
    for n, (of, show) in columns.items():
        for w in pairs:
            page.put(f"addresses/{n.replace(' ', '_')}/{w}", show(e.average(lambda k: of(k, w), e.paired)))


def _bypass(page: Page, e: Evaluation, figures: Figures) -> None:
    groups = [e.short(k) for k in e.kernels] + ["mean"]

    def series(of: Callable[[str], float]) -> List[float]:
        return [100 * of(k) for k in e.kernels] + [100 * e.average(of)]
    _grouped(figures, page, "fig12_executed", "Instructions processed in the back end with RLPV; their Fig 12", groups,
             {"executed": series(lambda k: 1 - e.bypass(k)), "dummy MOVs": series(e.movs)}, "of the baseline's (%)",
             stacked=True, paper=100 - 18.7, paper_label="the paper's mean, executed")
    columns = {n: m for n, m in models.items() if n != "affine"}
    page.put("table:bypass", table(["bypass"] + list(columns.values()) + ["dummy MOVs, RLPV"],
                                   [[e.short(k)] + [percent(e.bypass(k, n)) for n in columns] + [percent(e.movs(k))]
                                    for k in e.kernels] +
                                   [["mean"] + [percent(e.average(lambda k: e.bypass(k, n))) for n in columns] +
                                    [percent(e.average(e.movs))]]))
    kinds = {"arithmetic": "at once", "load": "loads at once", "pending": "after waiting"}
    page.put("table:kinds", _by_kernel(e, "RLPV", list(kinds.values()),
                                       lambda k, c: percent(e.bypass_by(k, _key(kinds, c)), 2),
                                       lambda c: percent(e.average(lambda k: e.bypass_by(k, _key(kinds, c))), 2)))
    _compare(page, "bypass", bypass_ids)


def _key(of: dict, text: str) -> str:
    return next(k for k, v in of.items() if v == text)


def _backend(page: Page, e: Evaluation, figures: Figures) -> None:
    def cell(name: str, what: str) -> Optional[float]:
        return e.mean_ratio(name, what)
    _grouped(figures, page, "fig13_backend", "Back-end operations, means over the kernels; their Fig 13", list(operations.values()),
             {m: [cell(n, o) for o in operations] for n, m in models.items()}, "of the baseline's", one=True)
    page.put("table:backend", table(["mean"] + list(operations.values()),
                                    [[m] + [fixed(cell(n, o)) for o in operations] for n, m in models.items()]))
    rows = [[e.short(k)] + [fixed(e.backend_ratio(k, usual, o)) for o in operations] +
            [percent(1 - e.backend_ratio(k, usual, "mem", "rpv"), 2)] for k in e.kernels]
    page.put("table:backend_kernels", table(["RLPV"] + list(operations.values()) + ["memory, removed by load reuse"], rows))
    _compare(page, "backend", backend_ids)


def _energy(page: Page, e: Evaluation, figures: Figures) -> None:
    shown = [base, "rpv", usual]
    structures = e.structures(shown)
    _grouped(figures, page, "fig14_energy", "Energy of the GPU; their Fig 14", [e.short(k) for k in e.kernels] + ["mean"],
             {models[n]: [e.gpu_energy(k, n) for k in e.kernels] + [e.average(lambda k: e.gpu_energy(k, n))]
              for n in ("rpv", usual)}, "of the baseline's", one=True, paper=1 - 0.107, paper_label="the paper's mean, RLPV")
    _grouped(figures, page, "fig14_parts", "Energy of the GPU by structure, means; their Fig 14", [names[n] for n in shown],
             {s.replace("_", " "): [e.average(lambda k: e.energy_share(k, n, s)) for n in shown] for s in structures},
             "of the baseline's", stacked=True, one=True)
    page.put("table:energy", _by_kernel(e, "GPU energy saved", list(models.values()),
                                        lambda k, c: percent(e.gpu_saved(k, _key(models, c))),
                                        lambda c: percent(e.average(lambda k: e.gpu_saved(k, _key(models, c))))))
    rows = []
    for s in structures:
        shares = [e.average(lambda k: e.energy_share(k, n, s)) for n in shown]
        rows.append([s.replace("_", " ")] + [percent(x, 2) for x in shares] + [percent(shares[-1] - shares[0], 2)])
    rows.append(["together"] + [percent(e.average(lambda k: e.gpu_energy(k, n)), 2) for n in shown] +
                [percent(e.average(lambda k: e.gpu_energy(k, usual)) - 1, 2)])
    page.put("table:energy_parts", table(["mean", "Base", "RPV", "RLPV", "RLPV - Base"], rows))
    _compare(page, "energy", energy_ids)


def _l1(page: Page, e: Evaluation, figures: Figures) -> None:
    counts = {k: [e.l1(k, n) for n in (base, usual)] for k in e.kernels}
    parts = ["hits", "merged misses", "misses"]

    def share(k: str, run: int, part: str) -> float:
        every = sum(counts[k][0].values())
        return counts[k][run][part] / every if every else 0.0
    selected = [e.counterparts[n] for n in [*load_benchmarks, harmed] if n in e.counterparts]
    groups = [f"{e.short(k)} {letter}" for k in selected for letter in "ab"] + ["mean a", "mean b"]
    _grouped(figures, page, "fig15_l1", "Loads in the L1 (a: Base, b: RLPV), the paper's selection and the mean of all; their Fig 15", groups,
             {p: [share(k, run, p) for k in selected for run in (0, 1)] +
              [e.average(lambda k: share(k, run, p)) for run in (0, 1)] for p in parts}, "of the baseline's", stacked=True)
    rows = [[e.short(k), int(sum(counts[k][0].values()))] + [percent(share(k, run, p)) for run in (0, 1) for p in parts] +
            [percent(e.bypass_by(k, "load"), 2)] for k in e.kernels]
    page.put("table:l1", table(["", "accesses, Base"] + [f"{p}, {n}" for n in ("Base", "RLPV") for p in parts] +
                               ["loads bypassed, of all instructions"], rows))
    _compare(page, "l1", l1_ids)


def _sm_energy(page: Page, e: Evaluation, figures: Figures) -> None:
    shown = {n: models[n] for n in ("rpv", usual, "rlpvc", "novsb", "affine", "affine_rlpv")}
    groups = [e.short(k) for k in e.kernels] + ["mean"]
    _grouped(figures, page, "fig16_sm_energy", "Energy of the SM; their Fig 16", groups,
             {m: [1 - e.sm_saved(k, n) for k in e.kernels] + [1 - e.average(lambda k: e.sm_saved(k, n))]
              for n, m in shown.items()}, "of the baseline's", one=True, paper=1 - 0.205, paper_label="the paper's mean, RLPV")
    page.put("table:sm_energy", _by_kernel(e, "SM energy saved", list(shown.values()),
                                           lambda k, c: percent(e.sm_saved(k, _key(shown, c))),
                                           lambda c: percent(e.average(lambda k: e.sm_saved(k, _key(shown, c))))))
    page.put("table:sm_dynamic", table(["SM energy saved, mean"] + list(shown.values()), [
        ["all"] + [percent(e.average(lambda k: e.sm_saved(k, n))) for n in shown],
        ["without leakage"] + [percent(e.average(lambda k: e.sm_saved(k, n, static=False))) for n in shown],
        ["execution and register accesses only"] + [percent(e.average(
            lambda k: 1 - e.backend_nj(k, n) / e.backend_nj(k))) for n in shown]]))
    _compare(page, "sm_energy", sm_ids)


def _speed(page: Page, e: Evaluation, figures: Figures) -> None:
    shown = {n: models[n] for n in ("r", "rl", "rlp", usual)}
    groups = [e.short(k) for k in e.kernels] + ["geomean"]
    _grouped(figures, page, "fig17_speed", "Speed; their Fig 17", groups,
             {m: [e.speed(k, n) for k in e.kernels] + [e.mean_speed(n)] for n, m in shown.items()}, "of the baseline's",
             one=True)
    others = {n: m for n, m in models.items() if n != "affine"}
    page.put("table:speed", _by_kernel(e, "speed", list(others.values()), lambda k, c: fixed(e.speed(k, _key(others, c))),
                                       lambda c: fixed(e.mean_speed(_key(others, c))), "geometric mean"))
    _compare(page, "speed", speed_ids)


def _banks(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {part_base: "Base", swept("vc", 0): "RLP"}
    runs.update({swept("vc", n): f"RLPV, {n} entries" for n in verify_sizes if n})
    parts = ["reads", "writes", "verify-reads", "dummy MOVs"]

    def share(k: str, n: str, part: str) -> float:
        return e.accesses(k, n)[part] / sum(e.accesses(k, part_base).values())
    _grouped(figures, page, "fig18a_accesses", "Accesses to register banks by type, means; their Fig 18a", list(runs.values()),
             {p: [e.average(lambda k: share(k, n, p), e.swept) for n in runs] for p in parts}, "of the baseline's", stacked=True)
    _grouped(figures, page, "fig18b_retries", "Cycles that an access waits for its bank; their Fig 18b",
             [e.short(k) for k in e.swept] + ["mean"],
             {m: [e.retries(k, n) for k in e.swept] + [e.mean_retries(n)] for n, m in runs.items()}, "retries per access")
    rows = [[m] + [fixed(e.average(lambda k: share(k, n, p), e.swept)) for p in parts] +
            [fixed(e.average(lambda k: sum(share(k, n, p) for p in parts), e.swept)), fixed(e.mean_retries(n)),
             fixed(e.mean_speed(n, part_base))] for n, m in runs.items()]
    page.put("table:banks", table(["mean"] + parts + ["together", "retries per access", "speed"], rows))
    page.put("table:retries", table(["retries per access"] + list(runs.values()) + ["writes that become verify-reads, RLP"],
                                    [[e.short(k)] + [fixed(e.retries(k, n)) for n in runs] + [percent(e.shared_writes(k))]
                                     for k in e.swept]))
    _compare(page, "banks", bank_ids)


def _registers(page: Page, e: Evaluation, figures: Figures) -> None:
    shown = [n for n in names if n != "affine"]
    averages = {n: [e.average(lambda k: e.registers(k, n)[i]) for i in (0, 1)] for n in shown}
    _grouped(figures, page, "fig19_registers", "Physical registers in use, of 1,024, means over the kernels; their Fig 19",
             [names[n] for n in shown], {"average": [averages[n][0] for n in shown], "peak": [averages[n][1] for n in shown]},
             "warp registers")
    chosen = [base, "novsb", usual, "rlpvc"]
    rows = [[e.short(k)] + [f"{e.registers(k, n)[0]:.0f} / {e.registers(k, n)[1]:.0f}" for n in chosen] +
            [percent(e.low(k, n)) for n in (usual, "rlpvc")] for k in e.kernels]
    rows.append(["mean"] + [f"{averages[n][0]:.0f} / {averages[n][1]:.0f}" for n in chosen] +
                [percent(e.average(lambda k: e.low(k, n))) for n in (usual, "rlpvc")])
    page.put("table:registers", table(["mean / peak"] + [names[n] for n in chosen] +
                                      ["low-register mode, RLPV", "low-register mode, RLPVc"], rows))
    capped = max(e.kernels, key=lambda k: e.low(k, "rlpvc"))
    page.put("capped", f"{capped} is in low-register mode for {percent(e.low(capped, 'rlpvc'), 0)} of its cycles and runs at "
                       f"{fixed(e.speed(capped, 'rlpvc'), 2)} of the baseline's speed")
    _compare(page, "registers", register_ids)


def _signatures(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {n: swept("vsb", n) for n in signature_sizes}
    rates = {n: e.average(lambda k: e.hit_rate(k, run), e.swept) for n, run in runs.items()}
    _grouped(figures, page, "fig20_signatures", "Hit rate of the value signature buffer by its entries; their Fig 20",
             [str(n) for n in runs], {"mean": [100 * rates[n] for n in runs]}, "hit rate (%)")
    page.put("table:signatures", _by_kernel(e, "hit rate", [str(n) for n in runs],
                                            lambda k, c: percent(e.hit_rate(k, runs[int(c)])),
                                            lambda c: percent(rates[int(c)]), among=e.swept))
    rows = [["instructions that bypass"] + [percent(e.average(lambda k: e.bypass(k, run), e.swept)) for run in runs.values()],
            ["speed"] + [fixed(e.mean_speed(run, part_base)) for run in runs.values()],
            ["false positives"] + [int(sum(e.wir(k, run, "vsb.false_positives") for k in e.swept)) for run in runs.values()]]
    page.put("table:signature_effects", table(["all kernels"] + [str(n) for n in runs], rows))
    _compare(page, "signatures", signature_ids)


def _reuse(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {n: swept("rb", n) for n in reuse_sizes}
    _grouped(figures, page, "fig21_reuse", "Instructions that bypass execution, by the reuse buffer's entries, means; their Fig 21",
             [str(n) for n in runs],
             {label: [100 * e.average(lambda k: sum(e.bypass_by(k, kind, run) for kind in kinds), e.swept) for run in runs.values()]
              for label, kinds in (("at once", ["arithmetic", "load"]), ("after waiting", ["pending"]))},
             "warp instructions (%)", stacked=True, paper=18.7, paper_label="the paper's, 256 entries")
    extra = {"part-rl": "256, RL", "rl-512": "512, RL", "part-associative": "256, associative", "part-large": "4,096"}
    columns = {**{str(n): run for n, run in runs.items()}, **{m: n for n, m in extra.items()}}
    page.put("table:reuse", _by_kernel(e, "bypass", list(columns), lambda k, c: percent(e.bypass(k, columns[c])),
                                       lambda c: percent(e.average(lambda k: e.bypass(k, columns[c]), e.swept)), among=e.swept))
    _compare(page, "reuse", reuse_ids)


def _delay(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {f"D{d}": swept("d", d) for d in delays}
    _grouped(figures, page, "fig22_delay", "Speed by the cycles added, geometric mean; their Fig 22", list(runs),
             {"geomean": [e.mean_speed(run, part_base) for run in runs.values()]}, "of the baseline's", one=True,
             ylim=(0, 1.2))
    page.put("table:delay", _by_kernel(e, "speed", list(runs), lambda k, c: fixed(e.speed(k, runs[c], part_base)),
                                       lambda c: fixed(e.mean_speed(runs[c], part_base)), "geometric mean", e.swept))
    _compare(page, "delay", ["WIR-030", "SEC7G3-WORST"])


def _experiments(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {part_usual: "as it is", **{n: what for n, (what, _) in experiments.items()}}
    for name, what, last in (("speed", lambda k, n: fixed(e.speed(k, n, part_base), 2), lambda n: fixed(e.mean_speed(n, part_base))),
                             ("SM energy saved", lambda k, n: percent(e.sm_saved(k, n, to=part_base)),
                              lambda n: percent(e.average(lambda k: e.sm_saved(k, n, to=part_base), e.swept))),
                             ("bypass", lambda k, n: percent(e.bypass(k, n)),
                              lambda n: percent(e.average(lambda k: e.bypass(k, n), e.swept)))):
        page.put(f"table:experiments_{name.replace(' ', '_')}", table([name, *runs.values()],
                                                    [[e.short(k)] + [what(k, n) for n in runs] for k in e.swept] +
                                                    [["geometric mean" if name == "speed" else "mean"] + [last(n) for n in runs]]))


def _hardware(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for event, (label, paper) in table3.items():
        found = [e.event(k, usual, event) for k in e.kernels]
        rows.append([label, paper, found[0][1], fixed(mean(f[0] / e.instructions(k) for f, k in zip(found, e.kernels)), 2),
                     percent(mean(f[2] / e.document(k, usual)["energy"]["total_nj"] for f, k in zip(found, e.kernels)), 3)])
    page.put("table:table3", table(["", "pJ per operation, paper", "ours", "operations per instruction", "of the GPU's energy"],
                                   rows))
    page.put("table:storage", table(["", "KB, paper", "ours"], [[n, fixed(p, 2), fixed(ours, 2)] for n, (p, ours) in
                                                                e.storage().items()]))
    _compare(page, "hardware", hardware_ids)


def csv(e: Evaluation) -> str:
    """A row per run, with the numbers behind the tables."""
    keys = ["reused.arithmetic", "reused.load", "reused.pending", "bypass_fraction", "repeated_fraction_1k",
            "repeated_often_fraction_1k", "vsb.hits", "vsb.misses", "vsb.false_positives", "verify_cache.hits",
            "verify_cache.misses", "dummy_movs", "backend.sp", "backend.sfu", "backend.mem", "backend.rf_read",
            "backend.rf_write", "physical_registers.mean", "physical_registers.peak", "low_register_cycles"] + \
        [f"barred_repeats.{b}" for b in bars]
    rows = []
    for (kernel, name), r in sorted(e.results.items()):
        d = r.stats
        accesses = e.l1(kernel, name)
        rows.append([kernel, name, d["cycles"], d["warp_instructions"], f"{d['energy']['total_nj']:.1f}",
                     f"{e.sm_energy(kernel, name):.1f}", int(sum(accesses.values())), int(accesses["misses"])] +
                    [value(d, "stats.wir." + k, None) for k in keys])
    return csv_text(["kernel", "run", "cycles", "warp_instructions", "energy_nj", "sm_energy_nj", "l1_loads", "l1_misses"] +
                    keys, rows)
