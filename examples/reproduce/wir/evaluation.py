# SPDX-License-Identifier: Apache-2.0
"""The paper's quantities, computed per kernel from our runs and compared with the paper's numbers."""

import math
from typing import Any, Dict, List, Optional, Tuple

from regatta.means import geomean, mean
from regatta.statistics import of_all_sms, value
from regatta_reproduce import evaluation
from regatta_reproduce.paper import Comparisons

base = evaluation.baseline
percent = 100.0
usual = "rlpv"
#: Runs by --wir.model, with the paper's names.
models = {"r": "R", "rl": "RL", "rlp": "RLP", "rlpv": "RLPV", "rpv": "RPV", "rlpvc": "RLPVc", "novsb": "NoVSB",
          "affine": "Affine", "affine_rlpv": "Affine+RLPV"}
names = {base: "Base", **models}
#: Sweeps and single changes run a part of every launch, of some benchmarks (run.py); these are the baseline and RLPV for that part.
part_base, part_usual = "part", "part-rlpv"
signature_sizes = [0, 32, 64, 128, 256, 512]
reuse_sizes = [32, 64, 128, 256, 512]
delays = [3, 4, 5, 6, 7]
verify_sizes = [0, 4, 8, 16]
defaults = {"vsb": 256, "rb": 256, "d": 4, "vc": 8}
_ports = [o for knob in ("wir.rename_ports", "wir.allocator_ports", "reuse_buffer.ports", "vsb.ports",
                         "verify_cache.ports") for o in ("--" + knob, "16")]
#: Single changes, to see what each one costs. For each run: description and options.
experiments = {
    "part-associative": ("a reuse buffer that is searched associatively", ["--reuse_buffer.associative", "true"]),
    "part-room": ("8,192 registers and reuse entries", ["--wir.physical_registers", "8192", "--reuse_buffer.entries", "8192"]),
    "part-claims": ("claims that are writes of their own", ["--reuse_buffer.claim_writes", "true"]),
    "part-wide": ("4 ports for the two buffers, 2 for the allocator",
                  ["--reuse_buffer.ports", "4", "--vsb.ports", "4", "--wir.allocator_ports", "2"]),
    "part-ports": ("16 ports for each table", _ports),
    "part-quick": ("16 ports and 3 added cycles", _ports + ["--wir.delay", "3"]),
    "part-pairs": ("entries with two results, for 64-bit values", ["--reuse_buffer.pairs", "true"]),
    "part-patience": ("verify-reads as urgent as operands", ["--wir.verify_patience", "0"]),
    "part-large": ("a reuse buffer of 4,096", ["--reuse_buffer.entries", "4096"]),
}
#: Kernels that are also run, in part, with the same value everywhere in their inputs (flat/KERNEL.toml).
flat_kernels = ["pathfinder", "stencil3d", "sgemm", "srad", "hotspot"]
#: Kernels that pass more barriers than a CTA's counter holds; they also run, in part, with a counter of 8 bits.
long_kernels, long_usual = ["binomial_options", "stencil3d"], "part-barriers"
#: Inputs other than the usual ones, by run.
inputs = {"flat": "flat", "uniform": "random"}
#: The sweeps' baseline and RLPV for addresses of 64 bits.
wide_base, wide_usual = "wide", "wide-rlpv"
#: Reasons that keep instructions from the reuse buffer (models/wir, ReuseBar).
bars = {"special": "reads a special register", "predicate": "reads or writes a predicate",
        "wide": "a result of several registers", "kind": "never reused", "divergent": "divergent",
        "pinned": "a source is pinned", "unwritten": "a source was never written", "load": "the rules for loads",
        "none": "may look up"}
#: Structures outside the SM.
outside = ["interconnect", "l2", "memory_controller", "dram", "card"]
backend = ["sp", "sfu", "mem", "rf_read", "rf_write"]
#: Benchmarks in which load reuse is "noticeable" (section VII-C, Fig 15), and the one that it harms.
load_benchmarks = ["SF", "BT", "HS", "S2", "LK"]
harmed = "KM"
#: "Severe performance degradation" without a verify cache (section VII-D).
verify_benchmarks = {"BF": "WIR-022", "GA": "WIR-022-GA", "BO": "WIR-022-BO"}
#: Table III: our event, the paper's name of the line, its pJ.
table3 = {"wir.rename_table": ("Rename table", 3.50), "wir.reuse_buffer": ("Reuse buffer table", 4.71),
          "wir.hash": ("Hash generation", 4.85), "wir.vsb": ("Value signature buffer table", 4.96),
          "wir.register_allocator": ("Register allocator", 1.35), "wir.reference_count": ("Reference count", 0.32),
          "wir.verify_cache": ("Verify cache", 2.93)}


def swept(kind: str, size: int) -> str:
    """The run of a sweep: "vsb", "rb", "d" or "vc"."""
    if kind == "vc" and size == 0:
        return "part-rlp"
    return part_usual if defaults[kind] == size else f"{kind}-{size}"


class Evaluation(evaluation.Evaluation):
    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        #: The kernels that also run in part, with addresses of both sizes; and those of them with sweeps and single changes.
        self.paired: List[str] = [k for k in self.counted if (k, wide_base) in self.results]
        self.swept: List[str] = [k for k in self.counted if (k, swept("d", delays[0])) in self.results]

    def among(self, name: str) -> List[str]:
        """The kernels over which the mean of a run is taken."""
        return self.counted if name in names else self.paired if name in (wide_base, wide_usual) else self.swept

    # --- one run ---

    def wir(self, kernel: str, name: str, key: str) -> float:
        return self.statistic(kernel, name, "stats.wir." + key)

    def of_file(self, kernel: str, name: str, key: str) -> float:
        return of_all_sms(self.document(kernel, name), "register_file", key)

    def instructions(self, kernel: str, name: str = usual) -> int:
        return self.document(kernel, name)["warp_instructions"]

    def repeated(self, kernel: str, name: str = usual) -> float:
        return self.wir(kernel, name, "repeated_fraction_1k")

    def barred(self, kernel: str, bar: str, which: str = "barred_repeats") -> float:
        """Fraction of all instructions that repeat a computation and that `bar` keeps from the reuse buffer."""
        return self.wir(kernel, usual, f"{which}.{bar}") / self.instructions(kernel)

    def bypass(self, kernel: str, name: str = usual) -> float:
        return self.wir(kernel, name, "bypass_fraction")

    def bypass_by(self, kernel: str, kind: str, name: str = usual) -> float:
        """kind: arithmetic, load, pending."""
        return self.wir(kernel, name, "reused." + kind) / self.instructions(kernel, name)

    def movs(self, kernel: str, name: str = usual) -> float:
        return self.wir(kernel, name, "dummy_movs") / self.instructions(kernel, name)

    def backend(self, kernel: str, name: str) -> Dict[str, float]:
        """Operations: instructions by pipeline, bank reads, bank writes."""
        if name in (base, "affine", part_base):
            d = self.document(kernel, name)
            execution = {u: of_all_sms(d, r"pipeline\.execution", f"{u}_instructions") for u in ("sp", "dp", "sfu", "lsu")}
            return {"sp": execution["sp"] + execution["dp"], "sfu": execution["sfu"], "mem": execution["lsu"],
                    "rf_read": self.of_file(kernel, name, "reads"), "rf_write": self.of_file(kernel, name, "writes")}
        return {b: self.wir(kernel, name, "backend." + b) for b in backend}

    def backend_ratio(self, kernel: str, name: str, what: str, to: str = base) -> Optional[float]:
        before = self.backend(kernel, to)[what]
        return self.backend(kernel, name)[what] / before if before else None

    def speed(self, kernel: str, name: str, to: str = base) -> float:
        return 1 / self.run_time(kernel, name, to)

    def sm_energy(self, kernel: str, name: str, static: bool = True) -> float:
        """nJ of all structures in the SM."""
        energy = self.document(kernel, name)["energy"]
        total = sum(nj for s, nj in energy["by_structure"].items() if s not in outside)
        if not static:
            total -= sum(nj for s, nj in energy["static_by_structure"].items() if s not in outside)
        return total

    def sm_saved(self, kernel: str, name: str, static: bool = True, to: str = base) -> float:
        return 1 - self.sm_energy(kernel, name, static) / self.sm_energy(kernel, to, static)

    def gpu_saved(self, kernel: str, name: str) -> float:
        return 1 - self.gpu_energy(kernel, name)

    def backend_nj(self, kernel: str, name: str = base) -> float:
        """nJ of execution and register accesses, without leakage."""
        energy = self.document(kernel, name)["energy"]
        leakage = energy["static_by_structure"].get("register_structures", 0.0)
        return sum(energy["by_structure"].get(s, 0.0) for s in ("execution", "register_structures")) - leakage

    def backend_energy(self, kernel: str, name: str = base) -> float:
        """Fraction of the GPU's energy that execution and register accesses need."""
        return self.backend_nj(kernel, name) / self.document(kernel, name)["energy"]["total_nj"]

    def shared_loads(self, kernel: str) -> float:
        """Fraction of the instructions that access shared memory."""
        return of_all_sms(self.document(kernel, base), r"pipeline\.lsu", "shared_instructions") / self.instructions(kernel, base)

    def l1(self, kernel: str, name: str) -> Dict[str, float]:
        d = self.document(kernel, name)
        reads, hits, merges = (of_all_sms(d, "l1", n) for n in ("reads", "read_hits", "mshr_merges"))
        return {"hits": hits, "merged misses": merges, "misses": reads - hits - merges}

    def shared_writes(self, kernel: str, name: str = "rlp") -> float:
        """Fraction of the results that a verify-read found in a register, so that they were not written."""
        found = self.wir(kernel, name, "vsb.hits")
        return found / (found + self.of_file(kernel, name, "writes"))

    def verified_by_cache(self, kernel: str, name: str = usual) -> float:
        """Fraction of the signatures to verify that the verify cache answers."""
        hits, misses = (self.wir(kernel, name, f"verify_cache.{n}") for n in ("hits", "misses"))
        return hits / (hits + misses) if hits + misses else 0.0

    def accesses(self, kernel: str, name: str) -> Dict[str, float]:
        """Register bank accesses by type."""
        if name in (base, part_base):
            return {"reads": self.of_file(kernel, name, "reads"), "writes": self.of_file(kernel, name, "writes"),
                    "verify-reads": 0.0, "dummy MOVs": 0.0}
        verify, moves = self.of_file(kernel, name, "verify_reads"), 2 * self.of_file(kernel, name, "moves")
        every = self.backend(kernel, name)
        return {"reads": every["rf_read"] - verify - moves / 2, "writes": every["rf_write"] - moves / 2,
                "verify-reads": verify, "dummy MOVs": moves}

    def retries(self, kernel: str, name: str) -> float:
        """Cycles that an access waited for its bank, per access."""
        waits = ["read_wait", "write_wait"] + ([] if name in (base, part_base) else ["verify_retries"])
        return sum(self.of_file(kernel, name, w) for w in waits) / sum(self.accesses(kernel, name).values())

    def registers(self, kernel: str, name: str) -> Tuple[float, float]:
        """Registers in use on an SM: mean and maximum."""
        d = self.document(kernel, name)
        if name == base:
            return (of_all_sms(d, "pipeline", "resident_registers_mean"), of_all_sms(d, "pipeline", "resident_registers_max"))
        return self.wir(kernel, name, "physical_registers.mean"), self.wir(kernel, name, "physical_registers.peak")

    def hit_rate(self, kernel: str, name: str) -> float:
        """Hit rate of the value signature buffer."""
        hits, misses, false = (self.wir(kernel, name, "vsb." + n) for n in ("hits", "misses", "false_positives"))
        return hits / (hits + misses + false) if hits + misses + false else 0.0

    def low(self, kernel: str, name: str) -> float:
        """Fraction of the cycles in low-register mode."""
        return self.wir(kernel, name, "low_register_cycles") / self.document(kernel, name)["cycles"]

    def event(self, kernel: str, name: str, event: str) -> Tuple[float, float, float]:
        """An event of the energy table: count, pJ each, nJ in total."""
        found = [e for e in self.document(kernel, name)["energy"]["by_event"] if e["event"] == event]
        return (sum(e["count"] for e in found), found[0]["pj"] if found else 0.0, sum(e["nj"] for e in found))

    def mix(self, kernel: str) -> Dict[str, float]:
        """Fractions of the instructions, by kind."""
        d = self.document(kernel, base)
        done = {n: of_all_sms(d, r"pipeline\.execution", f"{n}_instructions") for n in ("fp32", "fp64", "special", "integer", "lsu")}
        shared = of_all_sms(d, r"pipeline\.lsu", "shared_instructions")
        parts = {"floating point": done["fp32"] + done["fp64"], "special": done["special"], "integer": done["integer"],
                 "shared memory": shared, "other memory": done["lsu"] - shared}
        parts["control"] = d["warp_instructions"] - sum(parts.values())
        return {n: x / d["warp_instructions"] for n, x in parts.items()}

    def floating(self, kernel: str) -> float:
        return self.mix(kernel)["floating point"]

    def misses_saved(self, kernel: str, name: str = usual) -> Optional[float]:
        """Fraction of the L1's misses."""
        before = self.l1(kernel, base)["misses"]
        return 1 - self.l1(kernel, name)["misses"] / before if before else None

    def accesses_saved(self, kernel: str, name: str = usual) -> Optional[float]:
        """Fraction of the L1's loads."""
        before = sum(self.l1(kernel, base).values())
        return 1 - sum(self.l1(kernel, name).values()) / before if before else None

    def dram_reads_saved(self, kernel: str, name: str = usual) -> float:
        """Fraction of the bursts that DRAM reads."""
        reads = [sum(group.get("reads", 0) for part, group in self.document(kernel, n)["stats"].items()
                     if part.startswith("memory.dram_")) for n in (base, name)]
        return 1 - reads[1] / reads[0] if reads[0] else 0.0

    def with_input(self, which: str) -> List[str]:
        """Kernels that were also run with such an input."""
        return [k for k in self.kernels if (k, which) in self.results]

    def threads_registers(self, kernel: str, name: str) -> int:
        """Registers per thread, most of all entries."""
        return max(x["registers"] for x in self.results[(kernel, name)].report["entries"])

    # --- by configuration ---

    def storage(self) -> Dict[str, Tuple[float, float]]:
        """KB of the added structures: the paper's, and ours from the configuration that was run."""
        d = self.document(self.kernels[0], usual)

        def of(key: str) -> int:
            return value(d, "config." + key)
        physical = of("wir.physical_registers") or of("register_file.registers")
        number = math.ceil(math.log2(physical))
        warp_bits = 32 * 32
        cta_bits = math.ceil(math.log2(of("sm.ctas"))) + 1
        tag = 8 + 3 * number + cta_bits + of("wir.barrier_bits")
        bits = {"rename tables": of("sm.warps") * of("sm.registers_per_thread") * (number + 2),
                "reuse buffer": of("reuse_buffer.entries") * (1 + tag + number + 1),
                "value signature buffer": of("vsb.entries") * (1 + of("wir.hash_bits") + number),
                "verify cache": of("verify_cache.entries") * (1 + number + warp_bits),
                "reference counters": physical * of("wir.counter_bits")}
        stated = {"rename tables": 4.42, "reuse buffer": 1.84, "value signature buffer": 1.34, "verify cache": 1.01,
                  "reference counters": 1.25}
        return {name: (stated[name], n / 8 / 1024) for name, n in bits.items()}

    def memories(self) -> float:
        """KB of register file, L1 caches and shared memory."""
        d = self.document(self.kernels[0], usual)
        kb = [value(d, "config." + key) / 1024 for key in ("l1.size_bytes", "shared.bytes", "icache.size_bytes",
                                                             "constant_cache.size_bytes")]
        return sum(kb) + value(d, "config.register_file.registers") * 128 / 1024

    # --- over the kernels ---

    def mean_speed(self, name: str, to: str = base) -> float:
        return geomean(self.speed(k, name, to) for k in self.among(name))

    def mean_retries(self, name: str) -> float:
        return self.average(lambda k: self.retries(k, name), self.among(name))

    def by_repetition(self) -> List[str]:
        return sorted(self.kernels, key=lambda k: -self.repeated(k))

    def mean_ratio(self, name: str, what: str) -> Optional[float]:
        ratios = [r for r in (self.backend_ratio(k, name, what) for k in self.kernels) if r is not None]
        return mean(ratios) if ratios else None

    def load_reuse(self) -> Dict[str, float]:
        """Per kernel: fraction by which RLPV executes fewer memory instructions than RPV."""
        return {k: 1 - r for k in self.kernels
                for r in [self.backend_ratio(k, usual, "mem", "rpv")] if r is not None}

    def removed_conflicts(self, name: str, without: str, to: str) -> Optional[float]:
        """Fraction of the retries added by verify-reads that a verify cache removes."""
        added = self.mean_retries(without) - self.mean_retries(to)
        return (self.mean_retries(without) - self.mean_retries(name)) / added if added > 0 else None

    # --- comparison with the paper ---

    def by_table1(self, names: List[str]) -> List[List[str]]:
        """Kernels of the first and of the second half of Table I."""
        return [[self.counterparts[n] for n in half] for half in (names[:len(names) // 2], names[len(names) // 2:])]

    def compare(self, c: Comparisons) -> None:
        self._compare_repeats(c)
        self._compare_bypass(c)
        self._compare_energy(c)
        self._compare_benchmarks(c)
        self._compare_banks(c)
        if self.swept:
            self._compare_sweeps(c)
        stored = sum(ours for _, ours in self.storage().values())
        c.add("WIR-025", stored, "by configuration")
        c.add("WIR-026", percent * stored / self.memories(), "by configuration; there is no texture cache")
        c.add("WIR-032", percent * 10 / 1024, "by configuration")

    def _compare_repeats(self, c: Comparisons) -> None:
        c.add("WIR-001", percent * self.average(self.repeated))
        c.add("WIR-002", percent * self.average(lambda k: self.wir(k, usual, "repeated_often_fraction_1k")))
        ordered = c.paper.values["TABLE1-ORDER"].value
        if all(n in self.counterparts for n in ordered):
            c.add("TABLE1-ORDER", sorted(ordered, key=lambda n: -self.repeated(self.counterparts[n])))
            halves = self.by_table1(ordered)
            c.add("TABLE1-HALVES", self.average(self.repeated, halves[0]) > self.average(self.repeated, halves[1]))
            for half, value_id in zip(halves, ("WIR-010", "WIR-011")):
                c.add(value_id, percent * self.average(lambda k: self.gpu_saved(k, usual), half), "a half of Table I's 34")

    def _compare_bypass(self, c: Comparisons) -> None:
        c.add("WIR-003", percent * self.average(self.bypass))
        movs = self.average(self.movs)
        c.add("WIR-006", percent * movs)
        c.add("WIR-007", percent * movs, "mean")
        c.add("WIR-008", percent * self.average(lambda k: self.bypass(k, "novsb")))
        most = self.load_reuse()
        c.add("WIR-009", percent * max(most.values()), self.short(max(most, key=lambda k: most[k])))
        capped, every = (self.average(lambda k: self.bypass(k, n)) for n in ("rlpvc", usual))
        c.add("FIG13-CAPPED", 0.75 * every <= capped <= every, "at most a quarter less, mean")
        c.add("WIR-024", int(max(self.wir(k, usual, "barriers_max") for k in self.kernels)),
              self.short(max(self.kernels, key=lambda k: self.wir(k, usual, "barriers_max"))))

    def _compare_energy(self, c: Comparisons) -> None:
        c.add("WIR-004", percent * self.average(lambda k: self.sm_saved(k, usual)))
        c.add("WIR-005", percent * self.average(lambda k: self.gpu_saved(k, usual)))
        order = self.by_repetition()
        half = len(order) // 2
        if half:
            c.add("SEC7C-HALVES", self.average(lambda k: self.gpu_saved(k, usual), order[:half]) >
                  self.average(lambda k: self.gpu_saved(k, usual), order[-half:]))
        c.add("WIR-012", percent * self.average(lambda k: self.gpu_saved(k, "rpv")))
        c.add("WIR-013", percent * self.average(lambda k: self.gpu_saved(k, usual) - self.gpu_saved(k, "rpv")))
        saved = {models[n]: self.average(lambda k: self.sm_saved(k, n)) for n in ("affine_rlpv", usual, "affine")}
        c.add("WIR-014", percent * saved["Affine"])
        c.add("WIR-015", percent * saved["Affine+RLPV"])
        c.add("FIG16-ORDER", sorted(saved, key=lambda n: -saved[n]))
        c.add("SEC5E-CAPPED", self.average(lambda k: self.sm_saved(k, "rlpvc")) > 0)
        used = {n: self.average(lambda k: self.registers(k, n)[0]) for n in (base, usual)}
        c.add("FIG19-SHARING", used[usual] < used[base])
        c.add("FIG19-BASE", used[base] < 1024)
        c.add("FIG19-CAPPED", all(self.registers(k, "rlpvc")[1] <= self.registers(k, base)[1] for k in self.kernels))
        c.add("WIR-016", percent * mean(abs(self.speed(k, usual) - 1) <= 0.1 for k in self.counted))

    def _compare_benchmarks(self, c: Comparisons) -> None:
        """What the paper says of single benchmarks."""
        found = self.counterparts
        for n in load_benchmarks:
            if n in found:
                before, after = (self.l1(found[n], name) for name in (base, usual))
                c.add(f"FIG15-{n}-ACCESSES", sum(after.values()) < sum(before.values()))
                c.add(f"FIG15-{n}-MISSES", after["misses"] < before["misses"])
                c.add(f"SEC7C-LOADS-{n}", self.gpu_saved(found[n], usual) > self.gpu_saved(found[n], "rpv"))
        if "LK" in found:
            c.add("WIR-017", percent * (self.speed(found["LK"], usual) - 1))
            c.add("WIR-018", percent * self.misses_saved(found["LK"]))
        if harmed in found:
            c.add("WIR-019", self.misses_saved(found[harmed]) < 0)
            c.add("WIR-019-ENERGY", self.gpu_saved(found[harmed], usual) < 0)
        for n, value_id in verify_benchmarks.items():
            if n in found:
                c.add(value_id, self.speed(found[n], "rlp") < min(1, self.speed(found[n], usual)))
        for n, kernel in found.items():
            c.add(f"TABLE1-FP-{n}", percent * self.floating(kernel))

    def _compare_banks(self, c: Comparisons) -> None:
        c.add("WIR-020", percent * self.average(self.shared_writes))
        c.add("FIG18-CONFLICTS", self.mean_retries("rlp") > self.mean_retries(base), "retries per access, mean")
        removed = self.removed_conflicts(usual, "rlp", base)
        if removed is not None:
            c.add("WIR-021", percent * removed)
        hits = {n: self.average(lambda k: self.bypass(k, n)) for n in ("rl", "rlp")}
        if hits["rl"]:
            c.add("WIR-023", percent * (hits["rlp"] / hits["rl"] - 1), "of the means")

    def _compare_sweeps(self, c: Comparisons) -> None:
        removed = [self.removed_conflicts(swept("vc", n), swept("vc", 0), part_base) for n in (8, 16)]
        if None not in removed:
            c.add("FIG18-SIXTEEN", removed[1] < 1.5 * removed[0])
        gains = [self.average(lambda k: self.bypass(k, n) - self.bypass(k, "part-rl"), self.swept) for n in ("part-rlp", "rl-512")]
        c.add("SEC7G2-DOUBLING", gains[0] >= gains[1] / 2)
        rates = {n: self.average(lambda k: self.hit_rate(k, swept("vsb", n)), self.swept) for n in signature_sizes}
        c.add("WIR-027", percent * rates[128])
        c.add("FIG20-SATURATES", rates[512] - rates[256] < rates[256] - rates[128])
        bypassed = [self.average(lambda k: self.bypass(k, swept("rb", n)), self.swept) for n in reuse_sizes]
        c.add("WIR-029", percent * bypassed[-1])
        c.add("FIG21-GROWS", all(a < b for a, b in zip(bypassed, bypassed[1:])))
        speeds = [self.mean_speed(swept("d", n), part_base) for n in delays]
        c.add("WIR-030", all(s >= 1 for s in speeds))
        c.add("SEC7G3-WORST", speeds[-1] >= 0.9)
