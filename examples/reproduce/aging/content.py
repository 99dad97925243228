# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from regatta.statistics import value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, percent, table

from evaluation import (Evaluation, argo_ids, base, bits, drawn, machines, narrow, of, parts, pattern_ids, patterns, schemes,
                        states, table5, unchanged, unswitched)

Figures = Optional[Path]
changed = {n: t for n, t in schemes.items() if n != unchanged}


def fill(page: Page, e: Evaluation, figures: Figures, small: bool) -> None:
    _numbers(page, e)
    _narrow(page, e)
    _kernels(page, e)
    for part in (_patterns, _bits, _duty, _rows, _shift, _cycles, _energy, _machines):
        part(page, e, figures)


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that the findings use, such as {{zero/hotspot/rc_rar}}."""
    for n in schemes:
        for bit in bits:
            page.put(f"{bit}/all/{n}", percent(e.average(lambda k: e.longest(k, n, bit)), 0))
            for k in e.kernels:
                page.put(f"{bit}/{k}/{n}", percent(e.longest(k, n, bit), 0))
        for k in e.kernels:
            page.put(f"added/{k}/{n}", percent(e.cycles_added(k, n), 2))
            page.put(f"energy/{k}/{n}", fixed(e.register_energy(k, n), 2))
    for n in schemes:  # if an access's energy were that of a whole register, not of a sub-wavefront
        page.put(f"quarter/{n}", percent(e.average(lambda k: 1 - _quartered(e, k, n) / _quartered(e, k, unswitched))))
    others = [k for k in e.counted if k not in ("sobol", "simple_convolution")]  # the two with the most patterns
    if others:
        for n in ("wc", "rc_rar"):
            page.put(f"saved/others/{n}", percent(e.average(lambda k: 1 - e.register_energy(k, n), others)))
    for k in e.kernels:
        page.put(f"leakage_saved/{k}", percent(e.leakage_saved(k, "rc_rar"), 0))
        page.put(f"moves/{k}", percent(e.moves(k), 1))
        page.put(f"shortened/{k}", percent(e.shortened(k, "rc_rar", "zero"), 0))
        page.put(f"argo_shortened/{k}", percent(e.shortened(k, "argo", "zero"), 0))
        page.put(f"compressible/{k}", percent(e.compressible(k), 0))
        page.put(f"in_use/{k}", percent(e.in_use(k), 0))


def _quartered(e: Evaluation, kernel: str, name: str) -> float:
    """The energy if accesses cost a quarter."""
    return sum(e.aging(kernel, name, "energy." + p) * (0.25 if p.endswith("dynamic") else 1.0) for p in parts)


def _known(page: Page, *ids: str) -> List[str]:
    return [i for i in ids if i in page.comparisons.all]


def _by_kernel(e: Evaluation, first: str, columns: Dict[str, str], cell: Callable[[str, str], Any],
               last: Callable[[str], Any], title: str = "mean") -> str:
    """A row per kernel and one for all kernels; a column per run."""
    return table([first, *columns.values()], [[e.short(k)] + [cell(k, n) for n in columns] for k in e.kernels] +
                 [[title] + [last(n) for n in columns]])


def _bars(page: Page, e: Evaluation, figures: Figures, name: str, title: str, columns: Dict[str, str],
          cell: Callable[[str, str], float], last: Callable[[str], float], ylabel: str, **more: Any) -> None:
    if figures is not None:
        plots.grouped_bars(figures / name, [e.short(k) for k in e.kernels] + ["mean"],
                           {t: [cell(k, n) for k in e.kernels] + [last(n)] for n, t in columns.items()}, ylabel, **more)
    page.figure(name, title)


def _kernels(page: Page, e: Evaluation) -> None:
    rows = [[e.short(k), k, e.document(k, base)["warp_instructions"], e.document(k, base)["cycles"], percent(e.in_use(k), 0),
             e.windows(k), percent(e.compressible(k), 0)] for k in e.kernels]
    page.put("table:kernels", table(["the paper's", "our kernel", "instructions of wavefronts", "cycles", "registers in use",
                                     "windows of a slice not used", "writes with a pattern"], rows, left=2))
    page.compare("kernels", _known(page, *(i for ids in table5.values() for i in ids), "AGING-038"))


def _patterns(page: Page, e: Evaluation, figures: Figures) -> None:
    shares = {k: e.patterned(k) for k in e.kernels}
    _bars(page, e, figures, "fig7_patterns", "Register writes by pattern; their Fig 7", patterns,
          lambda k, p: 100 * shares[k][p], lambda p: 100 * e.average(lambda k: shares[k][p]), "register writes (%)",
          stacked=True, paper=52, paper_label="the paper's mean with a pattern")
    page.put("table:patterns", _by_kernel(e, "register writes", patterns, lambda k, p: percent(shares[k][p]),
                                          lambda p: percent(e.average(lambda k: shares[k][p]))))
    page.compare("patterns", _known(page, "AGING-027", *(i for ids in pattern_ids.values() for i in ids), "SEC3.2-LEAST",
                                    "AGING-033"))


def _duty(page: Page, e: Evaluation, figures: Figures) -> None:
    for bit, name, figure, ids in (
            ("zero", "fig13_zero", "Fig 13", ["AGING-007", "AGING-008", *argo_ids.values(), "AGING-001", "AGING-003", "AGING-004",
                                              "FIG13-ORDER", "SEC6.2-RAR", "SEC6.2-HISTOGRAM", "SEC6.2-ROTATED"]),
            ("one", "fig16_one", "Fig 16", ["AGING-002", "AGING-005", "AGING-006", "FIG16-ORDER"])):
        _bars(page, e, figures, name, f"Longest time that a bit holds {bits[bit]}; their {figure}", schemes,
              lambda k, n: 100 * e.longest(k, n, bit), lambda n: 100 * e.average(lambda k: e.longest(k, n, bit)), "time (%)")
        page.put(f"table:{bit}", _by_kernel(e, f"longest {bits[bit]}", schemes, lambda k, n: percent(e.longest(k, n, bit)),
                                            lambda n: percent(e.average(lambda k: e.longest(k, n, bit)))))
        page.compare(bit, _known(page, *ids))
    page.put("table:means", table(["of all bits, mean"] + list(schemes.values()), [
        [f"time that a bit holds {bits[b]}"] + [percent(e.average(lambda k: e.aging(k, n, f"duty.{b}.mean"))) for n in schemes]
        for b in bits]))
    rows = [[title] + [percent(e.average(lambda k: e.aging(k, n, f"duty.{b}.{x}"))) for b, more in
                       (("zero", ("longest", "longest_one", "longest_off")), ("one", ("longest", "longest_zero", "longest_off")))
                       for x in more] for n, title in schemes.items()]
    page.put("table:longest", table(["mean", "longest 0", "the same bit: 1", "off", "longest 1", "the same bit: 0", "off"], rows))


def _bits(page: Page, e: Evaluation, figures: Figures) -> None:
    runs = {unchanged: "baseline, RAR", "wc": "WC", "argo": "ARGO", "rc": "RC, RC+RAR"}
    shares = {n: e.bits_of(n) for n in runs}
    if figures is not None:
        count = len(shares[unchanged]["zero"])
        plots.stacked_panels(figures / "fig12_bits", {
            title: {states[s]: plots.thinned(range(count), [100 * x for x in shares[n][s]], 512)[1] for s in states}
            for n, title in runs.items()}, "bit of a register, in groups of four", "time (%)")
    page.figure("fig12_bits", "Time that a bit of a register holds 0, holds 1 or is off, mean of all kernels; their Fig 12")
    places = (0, 7, 15, 23, 30, 31)
    by_run = {n: e.component(n) for n in runs}
    page.put("table:bits", table(["bit of a component holds 0", *(str(b) for b in places), "is off"], [
        [title] + [percent(by_run[n]["zero"][b]) for b in places] + [percent(sum(by_run[n]["off"]) / 32)]
        for n, title in runs.items()]))
    page.compare("bits", ["AGING-035"])


def _rows(page: Page, e: Evaluation, figures: Figures) -> None:
    for kernel, names in drawn.items():
        for bit, name, figure in (("zero", *names[:2]), ("one", *names[2:])):
            if kernel not in e.kernels:
                page.put(f"figure:{name}", f"({kernel} was not run.)")
                continue
            if figures is not None:
                panels = {}
                for n, title in schemes.items():
                    shares = e.rows(kernel, n, bit)
                    panels[title] = {states[s]: [100 * x for x in shares[s]] for s in states}
                plots.stacked_panels(figures / name, panels, "register of a slice", "time (%)")
            page.figure(name, f"{kernel}: the bit of each register that holds {bits[bit]} for longest; their {figure}")
    page.compare("rows", [i for i in ("AGING-036",) if i in page.comparisons.all])


def _shift(page: Page, e: Evaluation, figures: Figures) -> None:
    for t, name in (("t0", "fig19_t0"), ("t1", "fig19_t1")):
        _bars(page, e, figures, name, f"Threshold-voltage shift of transistor {t.upper()}; their Fig 19", schemes,
              lambda k, n: e.shift(k, n, t), lambda n: e.average(lambda k: e.shift(k, n, t)), "of the greatest", one=True)
    rows = [[title] + [fixed(e.average(lambda k: e.shift(k, n, t))) for t in ("t0", "t1")] +
            [percent(e.average(lambda k: e.aging(k, n, "ts_increase")))] for n, title in schemes.items()]
    page.put("table:shift", table(["mean", "shift, T0", "shift, T1", "increase of the switching delay"], rows))
    page.compare("shift", [f"AGING-{n:03}" for n in range(12, 19)])


def _cycles(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, e, figures, "fig20_cycles", "Run time; their Fig 20", changed, lambda k, n: 1 + e.cycles_added(k, n),
          lambda n: 1 + e.mean_cycles_added(n), "of the baseline's", one=True)
    page.put("table:cycles", _by_kernel(e, "cycles added", changed, lambda k, n: percent(e.cycles_added(k, n), 2),
                                        lambda n: percent(e.mean_cycles_added(n), 2), "geometric mean"))
    rows = [[e.short(k), percent(e.moves(k), 2), int(e.aging(k, "rc_rar", "refreshes")), int(e.aging(k, "rc_rar", "rows_woken")),
             e.accesses_per_wake(k)] for k in e.kernels]
    page.put("table:events", table(["RC+RAR", "moves, of register writes", "refreshes", "rows woken", "accesses per row woken"],
                                   rows))
    page.compare("cycles", [i for i in ("AGING-022", "AGING-023", "AGING-024", "AGING-025", "AGING-037")
                            if i in page.comparisons.all])


def _energy(page: Page, e: Evaluation, figures: Figures) -> None:
    _bars(page, e, figures, "fig21_energy", "Energy of the register file; their Fig 21", changed, e.register_energy,
          lambda n: e.average(lambda k: e.register_energy(k, n)), "of the baseline's", one=True)
    page.put("table:energy", _by_kernel(e, "register energy", changed, lambda k, n: fixed(e.register_energy(k, n)),
                                        lambda n: fixed(e.average(lambda k: e.register_energy(k, n)))))

    page.put("table:energy_parts", table(["mean, of the baseline's"] + list(parts.values()), [
        [t] + [fixed(e.average(lambda k: e.energy_part(k, n, p))) for p in parts]
        for n, t in {unswitched: "baseline", **changed}.items()]))
    page.compare("energy", _known(page, "AGING-019", "AGING-020", "AGING-021", "SEC6.6-LEAKAGE", "SEC6.6-HISTOGRAM",
                                  "SEC6.6-BLACKS"))


def _narrow(page: Page, e: Evaluation) -> None:
    """Code with addresses of 32 bits beside the suite's."""
    def shortened(k: str, bit: str, runs: Dict[str, str]) -> float:
        return 1 - e.longest(k, runs["rc_rar"], bit) / e.longest(k, runs[unchanged], bit)
    usual = {n: n for n in narrow}
    columns = {("in use", 64): lambda k: e.in_use(k, usual[unchanged]), ("in use", 32): lambda k: e.in_use(k, narrow[unchanged]),
               ("pattern", 64): e.compressible, ("pattern", 32): lambda k: 1 - e.patterned(k, narrow["rc_rar"])["other"],
               ("0", 64): lambda k: shortened(k, "zero", usual), ("0", 32): lambda k: shortened(k, "zero", narrow),
               ("1", 64): lambda k: shortened(k, "one", usual), ("1", 32): lambda k: shortened(k, "one", narrow)}
    titles = {"in use": "registers in use", "pattern": "writes with a pattern", "0": "longest 0 shortened", "1": "longest 1 shortened"}
    for (what, width), of in columns.items():
        page.put(f"narrow/{what.replace(' ', '_')}/{width}", percent(e.average(of)))
    page.put("table:narrow", table([""] + [f"{titles[what]}, {width} bits" for what, width in columns],
                                   [[e.short(k)] + [percent(of(k), 0) for of in columns.values()] for k in e.kernels] +
                                   [["mean"] + [percent(e.average(of), 0) for of in columns.values()]]))


def _machines(page: Page, e: Evaluation, figures: Figures) -> None:
    rows = []
    for machine in machines:
        to = of(unchanged, machine)
        for n, title in changed.items():
            run = of(n, machine)
            rows.append([machine, title] + [percent(e.average(lambda k: 1 - e.longest(k, run, b) / e.longest(k, to, b)))
                                            for b in bits] +
                        [percent(e.mean_cycles_added(run, to), 2), percent(e.average(lambda k: 1 - e.register_energy(k, run, of(unswitched, machine))))])
    page.put("table:machines", table(["machine", "mean", "longest 0 shortened", "longest 1 shortened", "cycles added",
                                      "energy of the register file saved"], rows, left=2))


def csv(e: Evaluation) -> str:
    """A row per run, with the numbers behind the tables."""
    keys = [f"writes.{p}" for p in patterns] + [f"duty.{b}.{x}" for b in bits for x in ("longest", "mean")] + \
        ["vth.t0", "vth.t1", "ts_increase", "movs_inserted", "refreshes", "rows_woken"]
    rows = [[kernel, name, r.stats["cycles"], r.stats["warp_instructions"],
             None if name.startswith(base) else sum(e.aging(kernel, name, "energy." + p) for p in parts)] +
            [value(r.stats, "stats.aging." + k, None) for k in keys] for (kernel, name), r in sorted(e.results.items())]
    return csv_text(["kernel", "run", "cycles", "warp_instructions", "register_energy_nj", *keys], rows)
