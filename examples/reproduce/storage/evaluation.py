# SPDX-License-Identifier: Apache-2.0
"""All schemes of register storage on one suite: run time, energy, capacity."""

import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from regatta.means import geomean, pareto
from regatta.statistics import of_all_sms, value
from regatta_reproduce import evaluation, suite
from regatta_reproduce.paper import Comparisons

base = evaluation.baseline
percent = 100.0
register_bytes = 128
programs = suite.of_paper("regless")
#: Some schemes, and single changes, run on the first seven benchmarks only: those that RegLess's page sweeps.
seven = programs.kernels[:7]

#: Options of regatta-annotate by trace. `usual` is that of RegLess's page, so that the pages share results.
usual, pooled, reordered = "usual", "pooled", "reordered"
regions = ("--region-registers", "64", "--region-bank-lines", "16")
annotated = {usual: regions + ("--rfv", "--rfh", "3"), pooled: ("--regmutex-base", "0"), reordered: ("--reorder-registers",)}

plain, smaller, ctas, same = "conventional", "smaller storage", "more CTAs in the same storage", "less energy or wear in the same storage"
groups = [plain, smaller, ctas, same]
gto, lrr, two_level, owf = (("--scheduler", s) for s in ("gto", "lrr", "two_level", "owf"))


@dataclass(frozen=True)
class Scheme:
    """A run. `some`: on the first seven benchmarks only."""
    title: str
    group: str
    options: Tuple[str, ...]
    trace: str = usual
    some: bool = False
    may_be_refused: bool = False


def of(name: str, *more: str) -> Tuple[str, ...]:
    return ("--scheme", name) + more


#: By run. The scheduler is that of the scheme's own page, or GTO where the machine of that page has another default.
schemes: Dict[str, Scheme] = {
    base: Scheme("baseline, GTO", plain, gto),
    "lrr": Scheme("baseline, LRR", plain, lrr),
    "two_level": Scheme("baseline, two-level", plain, two_level),
    "half": Scheme("baseline, half the file", smaller, gto + ("--register_file.registers", "1024")),
    "quarter": Scheme("baseline, a quarter of the file", smaller, gto + ("--register_file.registers", "512"), some=True, may_be_refused=True),
    "regless-512": Scheme("RegLess", smaller, gto + of("regless", "--osu.entries", "512")),
    "rfv": Scheme("RFV, half the file", smaller, of("rfv") + two_level),
    "rfv-rows": Scheme("RFV, half the file, admission by rows", smaller, of("rfv") + two_level + ("--rfv.admission", "rows")),
    "rfv-third": Scheme("RFV, a third of the file", smaller, of("rfv") + two_level + ("--rfv.share", "0.3333"), some=True, may_be_refused=True),
    "rfv-quarter": Scheme("RFV, a quarter of the file", smaller, of("rfv") + two_level + ("--rfv.share", "0.25"), some=True, may_be_refused=True),
    "rfh": Scheme("RFH", smaller, of("rfh") + two_level),
    "finereg": Scheme("FineReg", ctas, gto + of("finereg")),
    "virtual_thread": Scheme("Virtual Thread", ctas, gto + of("virtual_thread")),
    "reg_dram": Scheme("Reg+DRAM", ctas, gto + of("reg_dram", "--reg_dram.ctas", "4")),
    "vt_regmutex": Scheme("VT+RegMutex", ctas, gto + of("vt_regmutex", "--regmutex.pool_registers", "576"), pooled),
    "register_sharing": Scheme("register sharing, OWF", ctas, of("register_sharing") + owf, reordered),
    "warp_level_divergence": Scheme("warp-level divergence", ctas, gto + of("warp_level_divergence")),
    "greener": Scheme("GREENER", same, gto + of("greener")),
    "sleep_reg": Scheme("Sleep-Reg", same, gto + of("sleep_reg")),
    "wir": Scheme("WIR", same, gto + of("wir")),
    **{s: Scheme(title, same, gto + of(s, "--gated.unused_rows_off", "kernel", "--wear.enabled", "true"), some=True) for s, title in (
        ("always_on", "all rows of the launch on"), ("rar", "RAR"), ("argo", "ARGO"), ("rc", "RC"), ("rc_rar", "RC+RAR"), ("wc", "Warped-Compression"))},
}
titles = {name: s.title for name, s in schemes.items()}
#: Single changes on the first seven benchmarks: run -> description, the run it changes, options, trace.
bandwidth = ("--l1.mshrs", "128", "--dram.bandwidth", "896000")
ports = tuple(o for knob in ("wir.rename_ports", "wir.allocator_ports", "reuse_buffer.ports", "vsb.ports",
                             "verify_cache.ports") for o in ("--" + knob, "16"))
changes: Dict[str, Tuple[str, str, Tuple[str, ...], str]] = {
    "rfv-gto": ("RFV, GTO", "rfv", of("rfv") + gto, usual),
    "rfv-powered": ("RFV, all sub-arrays of its file powered", "rfv", of("rfv") + two_level + ("--rfv.gated_leakage", "1"), usual),
    "rfv-free": ("RFV, its words cost nothing to fetch", "rfv", of("rfv") + two_level + ("--rfv.metadata", "free"), usual),
    "rfh-gto": ("RFH, GTO", "rfh", of("rfh") + gto, usual),
    "finereg-whole": ("FineReg, 256 KB for active CTAs beside the 128 KB for pending ones", "finereg",
                      gto + of("finereg", "--finereg.active_registers", "2048"), usual),
    "finereg-part": ("FineReg, a file in one part instead of four", "finereg", gto + of("finereg") + ("--sm.sub_cores", "1"), usual),
    "base-bandwidth": ("baseline, 128 MSHRs and four times the bandwidth", base, gto + bandwidth, usual),
    "vt-bandwidth": ("Virtual Thread, the same", "virtual_thread", gto + of("virtual_thread") + bandwidth, usual),
    "owf": ("baseline, OWF, registers renumbered", base, owf, reordered),
    "greener-mild": ("GREENER, a sleeping row leaks 80 % and one that is off 40 %", "greener",
                     gto + of("greener", "--sleep_transistors.sleep_leakage", "0.8", "--sleep_transistors.off_leakage", "0.4"), usual),
    "wir-ports": ("WIR, 16 ports for each table", "wir", gto + of("wir") + ports, usual),
}


class Evaluation(evaluation.Evaluation):
    # --- one run ---

    def ran(self, kernel: str, name: str) -> bool:
        return (kernel, name) in self.results and self.document(kernel, name) is not None

    def fitting(self, name: str, among: Optional[Sequence[str]] = None) -> List[str]:
        return [k for k in (self.counted if among is None else among) if self.ran(k, name)]

    def register_nj(self, kernel: str, name: str) -> float:
        """Energy of what holds registers: the structures of that name, and those that the baseline does not have (tables of
        renaming, of reuse, of locks, of switched CTAs)."""
        parts = value(self.document(kernel, name), "energy.by_structure")
        known = value(self.document(kernel, base), "energy.by_structure")
        return parts["register_structures"] + sum(nj for s, nj in parts.items() if s not in known)

    def register_energy(self, kernel: str, name: str, to: str = base) -> float:
        return self.register_nj(kernel, name) / self.register_nj(kernel, to)

    def leakage(self, kernel: str, name: str, to: str = base) -> float:
        """Static energy of the register structures."""
        return self.relative(kernel, name, "energy.static_by_structure.register_structures", to)

    def resident(self, kernel: str, name: str) -> float:
        """CTAs on the SM, mean over the cycles in which it has any."""
        return of_all_sms(self.document(kernel, name), "pipeline", "resident_ctas_mean")

    def limited_by_registers(self, kernel: str) -> bool:
        """For most of the baseline's cycles, registers allow fewer CTAs than anything else does."""
        result = self.results[(kernel, base)]
        d, reported = result.stats, {x["name"]: x for x in result.report["entries"]}
        limited = {shape.entry: self._limited(d, shape, reported[shape.entry]) for shape in suite.launches_of(result.run.trace.launch)}
        return sum(x["cycles"] for x in d["launches"] if limited[x["kernel"]]) > 0.5 * d["cycles"]

    @staticmethod
    def _limited(d: Dict[str, Any], shape: suite.Shape, entry: Dict[str, Any]) -> bool:
        def config(key: str) -> int:
            return value(d, "config." + key)
        warps = -(-shape.threads // config("sm.lanes"))
        granularity, sub_cores = config("sm.register_granularity"), config("sm.sub_cores")
        rows = -(-max(1, entry["registers"]) // granularity) * granularity  # of a warp, all in one sub-core
        shared = entry["shared_bytes"] + shape.dynamic_shared
        others = min(config("sm.ctas"), config("sm.warps") // warps, config("shared.bytes") // shared if shared else config("sm.ctas"))
        return config("register_file.registers") // sub_cores // rows * sub_cores // warps < others

    # --- over the kernels ---

    def limited(self) -> List[str]:
        return [k for k in self.counted if self.limited_by_registers(k)]

    def swept(self) -> List[str]:
        return [k for k in seven if k in self.kernels]

    def everywhere(self) -> List[str]:
        """Schemes that all kernels have run."""
        return [n for n, s in schemes.items() if not s.some and len(self.fitting(n)) == len(self.counted)]

    def mean_run_time(self, name: str, among: Optional[Sequence[str]] = None, to: str = base) -> float:
        return geomean(self.run_time(k, name, to) for k in self.fitting(name, among))

    def mean_register_energy(self, name: str, among: Optional[Sequence[str]] = None, to: str = base) -> float:
        return geomean(self.register_energy(k, name, to) for k in self.fitting(name, among))

    def mean_gpu_energy(self, name: str, among: Optional[Sequence[str]] = None, to: str = base) -> float:
        return geomean(self.gpu_energy(k, name, to) for k in self.fitting(name, among))

    def mean_leakage(self, name: str, among: Optional[Sequence[str]] = None, to: str = base) -> float:
        return geomean(self.leakage(k, name, to) for k in self.fitting(name, among))

    def mean_ctas(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return geomean(self.resident(k, name) / self.resident(k, base) for k in self.fitting(name, among))

    def worst(self, of: Callable[[str, str], float], name: str, among: Optional[Sequence[str]] = None) -> Tuple[float, str]:
        """The greatest value, and whose it is."""
        return max((of(k, name), self.short(k)) for k in self.fitting(name, among))

    def points(self) -> List[Tuple[str, float, float]]:
        """Title, run time, register energy."""
        return [(titles[n], self.mean_run_time(n), self.mean_register_energy(n)) for n in self.everywhere()]

    def front(self) -> List[str]:
        """Runs on the Pareto frontier of run time and register energy, by growing run time."""
        points = self.points()
        return [self.everywhere()[i] for i in pareto([(x, y) for _, x, y in points])]

    def ranked(self, names: Sequence[str]) -> List[str]:
        """By GPU energy, the least first."""
        return sorted(names, key=lambda n: (self.mean_gpu_energy(n), n))

    # --- capacity, by configuration and statistics ---

    def _first(self, name: str) -> Dict[str, Any]:
        return self.document(self.fitting(name)[0], name)

    def operand_storage(self, name: str) -> float:
        """KB of an SM's arrays that hold warp registers."""
        d = self._first(name)

        def config(key: str) -> int:
            return value(d, "config." + key)
        scheme = d["scheme"]
        if scheme == "regless":
            rows = config("osu.entries") + config("sm.schedulers") * config("compressor.lines")
        elif scheme == "finereg":
            rows = config("finereg.active_registers") + config("finereg.pending_registers")
        elif scheme == "rfv":
            banks = config("register_file.banks")
            rows = int(config("rfv.share") * config("register_file.registers")) // banks * banks
        else:
            rows = config("register_file.registers")
        entries = value(d, "stats.rfh.storage_bits") if scheme == "rfh" else 0
        return (rows * register_bytes + entries / 8) / 1024

    def table_storage(self, name: str) -> Optional[float]:
        """KB of an SM's tables beside them, where a statistic or the configuration says so; None: not known."""
        d = self._first(name)

        def config(key: str) -> int:
            return value(d, "config." + key)
        scheme = d["scheme"]
        if scheme in ("baseline", "always_on", "rar", "argo", "rfh"):
            return 0.0
        if scheme == "wir":
            number = math.ceil(math.log2(config("register_file.registers")))
            bits = config("sm.warps") * config("sm.registers_per_thread") * (number + 2)
            bits += config("reuse_buffer.entries") * (10 + 4 * number + math.ceil(math.log2(config("sm.ctas"))) + 1 + config("wir.barrier_bits"))
            bits += config("vsb.entries") * (1 + config("wir.hash_bits") + number)
            bits += config("verify_cache.entries") * (1 + number + 8 * register_bytes) + config("register_file.registers") * config("wir.counter_bits")
        elif scheme == "greener":
            bits = config("sm.warps") * config("greener.table_entries") * (32 + 6 * config("greener.table_registers"))
        else:
            bits = value(d, f"stats.{scheme}.{'table' if scheme == 'rfv' else 'storage'}_bits", None)
        return None if bits is None else bits / 8 / 1024

    # --- beside the papers of the schemes ---

    def compare(self, c: Comparisons) -> None:
        if len(self.kernels) != len(self.suite.kernels):
            return
        switched = ["finereg", "vt_regmutex", "reg_dram", "virtual_thread"]
        c.add("FINEREG-ORDER", [titles[n] for n in sorted(switched, key=self.mean_run_time)])
        c.add("FINEREG-FASTER", self.mean_run_time("finereg") < 1, self._note("finereg"))
        c.add("FINEREG-ENERGY", self.mean_gpu_energy("finereg") < 1, f"{self.mean_gpu_energy('finereg'):.3f}")
        limited = self.limited() or self.counted
        c.add("SHARING-FASTER", self.mean_run_time("register_sharing", limited) < 1,
              f"{self.mean_run_time('register_sharing', limited):.3f} over {len(limited)} benchmarks")
        c.add("SHARING-OVER-WLD", self.mean_run_time("register_sharing", limited) < self.mean_run_time("warp_level_divergence", limited),
              f"warp-level divergence: {self.mean_run_time('warp_level_divergence', limited):.3f}")
        c.add("GREENER-LEAKAGE", self.mean_leakage("greener") < self.mean_leakage("sleep_reg"),
              f"{self.mean_leakage('greener'):.3f} and {self.mean_leakage('sleep_reg'):.3f} of the baseline's")
        c.add("GREENER-CYCLES", percent * (self.mean_run_time("greener") - 1))
        c.add("WIR-ENERGY", self.mean_gpu_energy("wir") < 1, f"{self.mean_gpu_energy('wir'):.3f}")
        some = self.swept()
        c.add("AGING-ORDER", max(self.mean_register_energy(n, some) for n in ("rc_rar", "wc")) < self.mean_register_energy("argo", some),
              ", ".join(f"{titles[n]} {self.mean_register_energy(n, some):.3f}" for n in ("rc_rar", "wc", "argo")))
        c.add("AGING-CYCLES", percent * (self.mean_run_time("rc_rar", some) - 1))

    def _note(self, name: str) -> str:
        return f"run time {self.mean_run_time(name):.3f}"
