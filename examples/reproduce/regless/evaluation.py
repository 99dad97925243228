# SPDX-License-Identifier: Apache-2.0
"""The paper's quantities, computed per kernel from our runs and compared with the paper's numbers."""

from statistics import median
from typing import Any, Dict, List, Optional, Sequence, Tuple

from regatta_reproduce import evaluation
from regatta_reproduce.paper import Comparisons
from regatta_reproduce.stats import geomean, mean, of_all_sms, pareto, value

sizes = [128, 192, 256, 384, 512, 1024, 2048]
chosen = 512
register_file = 2048
#: Table 2: instructions, cycles.
table2 = {"bfs": ("REGLESS-045", "REGLESS-046"), "hotspot": ("REGLESS-053", "REGLESS-054"),
          "nw": ("REGLESS-071", "REGLESS-072"), "pathfinder": ("REGLESS-075", "REGLESS-076"),
          "srad_v1": ("REGLESS-077", "REGLESS-078")}
sources = ["osu", "compressor", "l1", "l2", "dram"]
traffic = ["preload", "evict", "invalidate"]
usual = f"regless-{chosen}"
#: Single changes, to see what a slow kernel waits for. For each run: description and options.
experiments = {
    "exp-l1-size": ("an L1 of 384 KB, which holds all registers", ["--l1.size_bytes", "393216"]),
    "exp-l1-latency": ("an L1 that answers in 20 cycles instead of 82", ["--l1.hit_latency", "20"]),
    "exp-lines": ("48 lines inside each compressor instead of 12", ["--compressor.lines", "48"]),
    "exp-fall-through": ("the stack's next warp is tried when the top does not fit",
                         ["--capacity_manager.fall_through", "1"]),
    "exp-half": ("half as many resident warps", ["--osu.backed_registers", "1024"]),
}
experiment_kernels = ["hotspot", "pathfinder", "sgemm", "spmv", "stencil3d"]


class Evaluation(evaluation.Evaluation):
    # --- one run ---

    def regless(self, kernel: str, name: str, key: str, *default: Any) -> Any:
        return self.statistic(kernel, name, "stats.regless." + key, *default)

    def register_energy(self, kernel: str, name: str) -> Optional[float]:
        """Energy of the structures that replace the register file, relative to the register file."""
        return self.relative(kernel, name, "energy.by_structure.register_structures")

    def register_share(self, kernel: str) -> float:
        """The register file's share of the baseline's energy, without the operand collectors, which RegLess keeps."""
        d = self.document(kernel, "baseline")
        events = [e for e in value(d, "energy.by_event") if e["event"].startswith("register_file.")]
        return sum(e["nj"] for e in events) / value(d, "energy.total_nj")

    def preload_shares(self, kernel: str, name: str = usual) -> Dict[str, float]:
        counts = {s: self.regless(kernel, name, f"preload_source.{s}") for s in sources}
        total = sum(counts.values())
        return {s: n / total if total else 0.0 for s, n in counts.items()}

    def l1_rates(self, kernel: str, name: str = usual) -> Dict[str, float]:
        return {t: self.regless(kernel, name, f"l1_requests_per_cycle.{t}") for t in traffic}

    def l1_share_of_accesses(self, kernel: str, name: str = usual) -> float:
        """Requests to the L1 for registers over the operands read and written."""
        accesses = self.regless(kernel, name, "osu.reads") + self.regless(kernel, name, "osu.writes")
        return self.l1_requests(kernel, name) / accesses

    def l1_requests(self, kernel: str, name: str) -> float:
        """Register lines that the L1 was asked for or was given."""
        d = self.document(kernel, name)
        return of_all_sms(d, "l1", "accesses_register_read") + of_all_sms(d, "l1", "accesses_register_write")

    def added_l2_requests(self, kernel: str, name: str = usual) -> float:
        def requests(d):
            return sum(g["reads"] + g["writes"] for path, g in d["stats"].items() if path.startswith("memory.l2_"))
        before = requests(self.document(kernel, "baseline"))
        return requests(self.document(kernel, name)) / before - 1 if before else 0.0

    def code_growth(self, kernel: str, name: str = usual) -> float:
        """Metadata words fetched per instruction issued."""
        return self.regless(kernel, name, "metadata_instructions") / self.document(kernel, name)["warp_instructions"]

    def static_instructions(self, kernel: str, name: str = usual) -> float:
        """Mean instructions in a region over the code of the kernels that were launched."""
        instructions = regions = 0
        report = self.results[(kernel, name)].report
        launched = {launch["entry"] for launch in report["launches"]}
        for entry in report["entries"]:
            if entry["name"] not in launched:
                continue
            instructions += entry["instructions"]
            regions += region_count(entry["regions"])
        return instructions / regions

    def live_registers(self, kernel: str) -> int:
        """Most registers of a thread that are live at once."""
        report = self.results[(kernel, usual)].report
        launched = {launch["entry"] for launch in report["launches"]}
        return max(entry["live_registers"] for entry in report["entries"] if entry["name"] in launched)

    def working_set(self, kernel: str, name: str) -> float:
        return value(self.document(kernel, name), "register_working_set.mean")

    def backing_accesses(self, kernel: str, name: str) -> float:
        """Reads and writes of the operands' backing store per 100 cycles: the register file, or the L1."""
        d = self.document(kernel, name)
        if name == "baseline":
            count = of_all_sms(d, "register_file", "reads") + of_all_sms(d, "register_file", "writes")
            return 100 * count / d["cycles"]
        return 100 * self.l1_requests(kernel, name) / d["cycles"]

    # --- over the kernels ---

    def experimented(self) -> List[str]:
        return [k for k in experiment_kernels if k in self.kernels]

    def mean_run_time(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return geomean(self.run_time(k, name) for k in self.fitting(name, among))

    def mean_gpu_energy(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return geomean(self.gpu_energy(k, name) for k in self.fitting(name, among))

    def mean_register_energy(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return mean(self.register_energy(k, name) for k in self.fitting(name, among))

    def mean_preload_shares(self, among: Optional[Sequence[str]] = None) -> Dict[str, float]:
        each = [self.preload_shares(k) for k in (among or self.kernels)]
        return {s: mean(e[s] for e in each) for s in sources}

    def points(self) -> List[Tuple[str, float, float]]:
        """Fig 13: name, run time, energy; the baseline first."""
        return [("baseline", 1.0, 1.0)] + [
            (str(n), self.mean_run_time(f"regless-{n}"), self.mean_gpu_energy(f"regless-{n}")) for n in sizes
            if self.fitting(f"regless-{n}")]

    # --- comparison with the paper ---

    def compare(self, c: Comparisons) -> None:
        kernels = self.kernels
        percent = 100.0
        c.add("REGLESS-001", percent * chosen / register_file, "by configuration")
        c.add("REGLESS-005", percent * (self.mean_run_time(usual) - 1), "geometric mean")
        c.add("REGLESS-006", percent * max(self.register_share(k) for k in kernels), "largest of our kernels")
        c.add("REGLESS-007", percent * median(self.working_set(k, "baseline") for k in kernels) / register_file,
              "median of our kernels")
        c.add("FIG2-TWO-LEVEL", mean(self.working_set(k, "two_level-8") for k in kernels) <
              mean(self.working_set(k, "baseline") for k in kernels), "8 warps of an SM active, mean")
        c.add("REGLESS-008", percent * mean(self.l1_share_of_accesses(k) for k in kernels), "mean")
        points = self.points()
        front = [points[i][0] for i in pareto([(x, y) for _, x, y in points])]
        c.add("REGLESS-009", "128" in front)
        worst = {n: max(self.run_time(k, f"regless-{n}") for k in self.fitting(f"regless-{n}")) for n in (384, chosen)}
        c.add("REGLESS-010", worst[chosen] < worst[384])
        c.add("SEC6.2-LARGER", all(self.mean_run_time(f"regless-{n}") < 1 for n in sizes if n > chosen))
        c.add("REGLESS-011", percent * (1 - self.mean_register_energy(usual)))
        c.add("REGLESS-014", percent * (1 - mean(self.gpu_energy(k, usual) for k in kernels)))
        c.add("REGLESS-017", percent * mean(self.register_share(k) for k in kernels))
        c.add("REGLESS-027", percent * (self.mean_run_time("no-compressor") / self.mean_run_time(usual) - 1),
              "over RegLess with it, geometric mean")
        shares = self.mean_preload_shares()
        c.add("REGLESS-028", percent * shares["l1"])
        c.add("REGLESS-029", percent * (shares["l2"] + shares["dram"]))
        c.add("REGLESS-035", mean(sum(self.l1_rates(k).values()) for k in kernels))
        c.add("SEC6.6-LIVE", all(self.regless(k, usual, "regions.mean_live") >
                                 self.regless(k, usual, "regions.mean_preloads") for k in kernels))
        for name, value_id in (("bfs", "REGLESS-030"), ("nw", "REGLESS-031")):
            if name in self.counterparts:
                c.add(value_id, percent * (1 - self.preload_shares(self.counterparts[name])["osu"]))
        if "hotspot" in kernels:
            c.add("REGLESS-039", self.regless("hotspot", usual, "regions.max_live"))
        for name, (instructions, cycles) in table2.items():
            if name in self.counterparts:
                c.add(instructions, self.static_instructions(self.counterparts[name]))
                c.add(cycles, self.regless(self.counterparts[name], usual, "regions.mean_cycles"))
        if all(name in self.counterparts for name in table2):
            def order(of):
                return sorted(table2, key=lambda name: -of(self.counterparts[name]))
            c.add("TABLE2-INSTRUCTIONS", order(self.static_instructions))
            c.add("TABLE2-CYCLES", order(lambda k: self.regless(k, usual, "regions.mean_cycles")))


def region_count(regions: Any) -> int:
    """From the annotation's report: a number, a list of regions, or a table with their count."""
    if isinstance(regions, dict):
        return regions["count"]
    return len(regions) if isinstance(regions, list) else regions
