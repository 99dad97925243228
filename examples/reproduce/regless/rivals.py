# SPDX-License-Identifier: Apache-2.0
"""RegLess's rivals (Sections 6.3 and 6.4): register file virtualisation (RFV) and the register file hierarchy (RFH), both with
the two-level scheduler."""

from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from regatta.means import geomean, mean
from regatta.statistics import of_all_sms, value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, fixed, percent, table
from regatta_reproduce.paper import Comparisons

import evaluation
from evaluation import chosen, swept_kernels, usual

rfv, rfh = "rfv", "rfh"
titles = {rfv: "RFV", rfh: "RFH"}
#: Options of regatta-annotate. The words of RFV are in the stream of RFV only, and RFH has none: the other runs do not change.
annotated = ("--rfv", "--rfh", "3")
gto = ("--scheduler", "gto")
#: The scheduler alone, with the machine's 8 active warps of each scheduler, as both rivals have it.
scheduler_run, scheduler = "two_level", ("--scheduler", "two_level")
runs = {rfv: ("--scheme", rfv) + scheduler, rfh: ("--scheme", rfh) + scheduler}
#: RFV that is less greedy, on all benchmarks.
by_rows, by_rows_options = "rfv-rows", runs[rfv] + ("--rfv.admission", "rows")
#: Single changes, on the first seven benchmarks. For each run: description and options.
changes = {
    "rfv-gto": ("RFV, GTO", ("--scheme", rfv) + gto),
    "rfv-free": ("RFV, its words cost nothing to fetch", runs[rfv] + ("--rfv.metadata", "free")),
    "rfv-whole": ("RFV, a file of full size", runs[rfv] + ("--rfv.share", "1")),
    "rfv-powered": ("RFV, all sub-arrays of its file powered", runs[rfv] + ("--rfv.gated_leakage", "1")),
    "rfh-gto": ("RFH, GTO", ("--scheme", rfh) + gto),
    "rfh-8": ("RFH, 8 active warps of an SM", runs[rfh] + ("--scheduler.active_warps", "2")),
}
#: Main register file, operand register file, last-result file.
levels = ("mrf", "orf", "lrf")
main_accesses = ("register_file.main_reads", "register_file.main_writes")
#: Fig 3: hotspot with eight entries.
deep_kernel, deep = "hotspot", "rfh-deep"
deep_annotated = ("--rfv", "--rfh", "8")
pressed = {"dwt2d": "SEC6.3-DWT2D", "hotspot": "SEC6.3-HOTSPOT"}
energy_ids = ["REGLESS-012", "REGLESS-013", "REGLESS-015", "REGLESS-016", "FIG14-ORDER", "FIG15-ORDER", "SEC6.3-HALF",
              "SEC6.3-MAIN", "SEC6.3-ACCESS"]
backing_ids = ["FIG3-ORDER"]
time_ids = ["SEC6.4-RFV", "SEC6.4-RFH", "SEC6.4-GTO", "SEC6.4-CAUSE-RFV", "SEC6.4-CAUSE-RFH", *pressed.values(), "SEC6.3-TIME"]


class Evaluation(evaluation.Evaluation):
    # --- one run ---

    def level_accesses(self, kernel: str, name: str = rfh) -> Dict[str, float]:
        """Reads and writes by level of RFH."""
        return {level: sum(self.statistic(kernel, name, f"stats.{rfh}.{level}_{what}") for what in ("reads", "writes"))
                for level in levels}

    def main_share(self, kernel: str, name: str = rfh) -> float:
        """Accesses to RFH's main file, of the accesses to the baseline's register file."""
        d = self.document(kernel, "baseline")
        return self.level_accesses(kernel, name)["mrf"] / sum(of_all_sms(d, "register_file", n) for n in ("reads", "writes"))

    def access_energy(self, kernel: str, name: str, module: str) -> float:
        """pJ of a read of an array."""
        events = [x for x in value(self.document(kernel, name), "energy.by_event")
                  if x["event"] == "register_file.read" and x.get("module", "register_file").split(".")[0] == module]
        return events[0]["pj"]

    def tables_energy(self, kernel: str, name: str = rfv) -> float:
        """Of RFV's tables, relative to the baseline's register structures. The paper takes it as negligible."""
        parts = value(self.document(kernel, name), "energy.by_structure")
        return parts.get("register_renaming", 0.0) / value(self.document(kernel, "baseline"), "energy.by_structure.register_structures")

    def leakage_share(self, kernel: str) -> float:
        """Of the energy of the baseline's register structures."""
        d = self.document(kernel, "baseline")
        return value(d, "energy.static_by_structure.register_structures") / value(d, "energy.by_structure.register_structures")

    def part_of_register_energy(self, kernel: str, name: str, static: bool) -> float:
        """Leakage, or what accesses need, of the register structures; relative to the same part of the baseline."""
        def part(d: Any) -> float:
            leakage = value(d, "energy.static_by_structure.register_structures")
            return leakage if static else value(d, "energy.by_structure.register_structures") - leakage
        return part(self.document(kernel, name)) / part(self.document(kernel, "baseline"))

    def renaming(self, kernel: str, key: str, name: str = rfv) -> Any:
        return self.statistic(kernel, name, f"stats.{rfv}.{key}")

    def deep_accesses(self, kernel: str = deep_kernel) -> float:
        """Fig 3: accesses to RFH's main file per 100 cycles."""
        return 100 * self.level_accesses(kernel, deep)["mrf"] / self.document(kernel, deep)["cycles"]

    # --- comparison with the paper ---

    def compare(self, c: Comparisons) -> None:
        super().compare(c)
        saved = {n: 100 * (1 - self.mean_register_energy(n)) for n in (rfv, rfh, usual)}
        gpu_saved = {n: 100 * (1 - mean(self.gpu_energy(k, n) for k in self.kernels)) for n in (rfv, rfh, usual)}
        for ids, numbers in ((("REGLESS-012", "REGLESS-013"), saved), (("REGLESS-015", "REGLESS-016"), gpu_saved)):
            for value_id, n in zip(ids, (rfv, rfh)):
                c.add(value_id, numbers[n])
        for value_id, numbers in (("FIG14-ORDER", saved), ("FIG15-ORDER", gpu_saved)):
            c.add(value_id, [{usual: "RegLess", **titles}[n] for n in sorted(numbers, key=lambda n: -numbers[n])])
        kernel = self.kernels[0]
        rows = self.statistic(kernel, rfv, "config.rfv.share") * self.statistic(kernel, rfv, "config.register_file.registers")
        c.add("SEC6.3-HALF", 100 * chosen / rows, "by configuration")
        c.add("SEC6.3-MAIN", mean(self.main_share(k) for k in self.kernels) < 0.5,
              f"{percent(mean(self.main_share(k) for k in self.kernels))} of them, mean")
        c.add("SEC6.3-ACCESS", self.access_energy(kernel, rfh, "register_file") > self.access_energy(kernel, usual, "osu"))
        for n in (rfv, rfh):
            c.add(f"SEC6.4-{titles[n]}", self.mean_run_time(n) > self.mean_run_time(usual))
        c.add("SEC6.4-GTO", self.mean_run_time(scheduler_run) > 1)
        seven = self.swept()
        if seven:
            for n in (rfv, rfh):
                c.add(f"SEC6.4-CAUSE-{titles[n]}", self.mean_run_time(n, seven) > self.mean_run_time(f"{n}-gto", seven),
                      "first seven benchmarks")
            c.add("SEC6.3-TIME", self.mean_gpu_energy(rfh, seven) > self.mean_gpu_energy("rfh-gto", seven),
                  "first seven benchmarks")
        if deep_kernel in self.kernels:
            rates = {"baseline": self.backing_accesses(deep_kernel, "baseline"), "RF hierarchy": self.deep_accesses(),
                     "RegLess": self.backing_accesses(deep_kernel, usual)}
            c.add("FIG3-ORDER", sorted(rates, key=lambda n: -rates[n]), ", ".join(f"{fixed(r, 1)}" for r in rates.values()))
        for name, value_id in pressed.items():
            if name in self.counterparts:
                k = self.counterparts[name]
                slower = self.run_time(k, rfv, "rfv-whole")
                c.add(value_id, slower > 1.01, f"{100 * (slower - 1):+.1f} % over a file of full size")


# --- the page ---

def numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that text and findings use."""
    rest = [k for k in e.kernels if k not in swept_kernels]
    for n in (scheduler_run, rfv, rfh, by_rows):
        page.put(f"time/all/{n}", fixed(e.mean_run_time(n)))
        page.put(f"energy/all/{n}", fixed(mean(e.gpu_energy(k, n) for k in e.kernels)))
        page.put(f"register/all/{n}", fixed(e.mean_register_energy(n)))
    for n in (rfv, rfh):
        page.put(f"over_scheduler/all/{n}", fixed(geomean(e.run_time(k, n, scheduler_run) for k in e.kernels)))
    for n in (scheduler_run, rfv, rfh, usual, by_rows, *changes):
        if e.fitting(n, e.swept()):
            page.put(f"time/seven/{n}", fixed(e.mean_run_time(n, e.swept())))
            page.put(f"energy/seven/{n}", fixed(e.mean_gpu_energy(n, e.swept())))
            page.put(f"register/seven/{n}", fixed(e.mean_register_energy(n, e.swept())))
    page.put("leakage/baseline", percent(mean(e.leakage_share(k) for k in e.kernels), 0))
    for n in (rfv, rfh, usual):
        for part, static in (("leakage", True), ("accesses", False)):
            page.put(f"{part}/all/{n}", fixed(mean(e.part_of_register_energy(k, n, static) for k in e.kernels), 2))
    for n in (rfv, rfh, *changes):
        for k in e.fitting(n):
            page.put(f"over_scheduler/{k}/{n}", fixed(e.run_time(k, n, scheduler_run), 2))
    page.put("tables/all", percent(mean(e.tables_energy(k) for k in e.kernels)))
    for key in ("rows_mean", "rows_max", "powered_rows_mean"):
        page.put(f"rfv/{key}", fixed(mean(e.renaming(k, key) for k in e.kernels), 0))
    page.put("main/all", percent(mean(e.main_share(k) for k in e.kernels)))
    if rest:
        page.put("main/others", percent(mean(e.main_share(k) for k in rest)))
    for k in e.kernels:
        page.put(f"main/{k}", percent(e.main_share(k)))


def fill(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    numbers(page, e)
    rows: List[Sequence[Any]] = []
    for k in e.kernels:
        accesses = e.level_accesses(k)
        rows.append([e.short(k), fixed(e.run_time(k, scheduler_run)), fixed(e.run_time(k, rfv)),
                     fixed(e.run_time(k, rfv, scheduler_run)), fixed(e.run_time(k, by_rows)), fixed(e.run_time(k, rfh)),
                     fixed(e.run_time(k, rfh, scheduler_run)), fixed(e.renaming(k, "rows_mean"), 0),
                     fixed(e.renaming(k, "rows_max"), 0), fixed(e.renaming(k, "powered_rows_mean"), 0),
                     percent(e.main_share(k))] +
                    [percent(accesses[level] / sum(accesses.values())) for level in levels[1:]])
    rows.append(["geometric mean", fixed(e.mean_run_time(scheduler_run)), fixed(e.mean_run_time(rfv)),
                 fixed(geomean(e.run_time(k, rfv, scheduler_run) for k in e.kernels)), fixed(e.mean_run_time(by_rows)), fixed(e.mean_run_time(rfh)),
                 fixed(geomean(e.run_time(k, rfh, scheduler_run) for k in e.kernels)), *[""] * 6])
    page.put("table:rivals", table(["", "two-level scheduler alone", "RFV", "over the scheduler alone", "RFV, admission by rows", "RFH",
                                    "over the scheduler alone", "RFV: registers in use, mean", "at most", "in powered sub-arrays, mean",
                                    "RFH: accesses to the main file, of the baseline's", "to the operand file, of RFH's",
                                    "to the last-result file"], rows))
    shown = {scheduler_run: "two-level scheduler alone", rfv: "RFV", rfh: "RFH", by_rows: "RFV, admission by rows", **{n: what for n, (what, _) in changes.items()}}
    shown = dict(sorted(shown.items(), key=lambda x: (x[0] != scheduler_run, not x[0].startswith(rfv), len(x[0]))))
    page.put("table:rival_changes", table(
        ["first seven benchmarks"] + [e.short(k) for k in e.swept()] + ["run time, mean", "register energy", "GPU energy"],
        [[what] + [fixed(e.run_time(k, n)) for k in e.swept()] +
         ([fixed(e.mean_run_time(n, e.swept())), fixed(e.mean_register_energy(n, e.swept())),
           fixed(e.mean_gpu_energy(n, e.swept()))] if e.swept() else ["-"] * 3) for n, what in shown.items()]))
    page.compare_known("rivals_time", time_ids)
    page.compare_known("rivals_energy", energy_ids)
    page.compare_known("backing_store", backing_ids)
    if deep_kernel in e.kernels:
        page.put("backing/deep", fixed(e.deep_accesses(), 1))
