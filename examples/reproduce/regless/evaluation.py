# SPDX-License-Identifier: Apache-2.0
"""The paper's quantities, computed per kernel from our runs and compared with the paper's numbers."""

from statistics import median
from typing import Any, Dict, List, Optional, Sequence, Tuple

from regatta.means import geomean, mean, pareto, rank_correlation
from regatta.statistics import of_all_sms, value
from regatta_reproduce import evaluation, suite
from regatta_reproduce.paper import Comparisons, Paper

sizes = [128, 192, 256, 384, 512, 1024, 2048]
chosen = 512
register_file = 2048
#: Table 2: instructions, cycles. The ids follow its order, as the suite does.
table2 = {p.name: (f"REGLESS-{41 + 2 * i:03}", f"REGLESS-{42 + 2 * i:03}")
          for i, p in enumerate(suite.of_paper("regless").listed())}
#: Section 6.4: run time added.
run_time_ids = {"gaussian": "REGLESS-018", "heartwall": "REGLESS-019", "hybridsort": "REGLESS-020",
                "b+tree": "REGLESS-021", "myocyte": "REGLESS-022", "streamcluster": "REGLESS-023"}
faster_ids = {"kmeans": "REGLESS-024", "leukocyte": "REGLESS-025", "nn": "REGLESS-026"}
#: Sections 6.5 and 6.6.
missed_ids = {"bfs": "REGLESS-030", "nw": "REGLESS-031"}
l2_ids = {"kmeans": "REGLESS-032", "hybridsort": "REGLESS-033", "dwt2d": "REGLESS-034"}
stores_ids = {"hybridsort": "REGLESS-036", "srad_v2": "REGLESS-037"}
held_ids = {"dwt2d": "REGLESS-038", "hotspot": "REGLESS-039", "myocyte": "REGLESS-040"}
sources = ["osu", "compressor", "l1", "l2", "dram"]
traffic = ["preload", "evict", "invalidate"]
usual = f"regless-{chosen}"
#: The baseline and RegLess on code with addresses of 64 bits.
wide_base, wide_usual = "baseline-wide", "regless-wide"
wide_kernels = suite.of_paper("regless").kernels[:7]
#: Single changes, to see what a slow kernel waits for. For each run: description and options. They run these CTAs of every
#: launch, as do a baseline and RegLess for comparison.
part = ("--ctas", "0:32")
part_base, part_usual, part_largest = "part-baseline", "part", "part-2048"
experiments = {
    "exp-l1-size": ("an L1 of 384 KB, which holds all registers", ["--l1.size_bytes", "393216"]),
    "exp-l1-latency": ("an L1 that answers in 20 cycles instead of 82", ["--l1.hit_latency", "20"]),
    "exp-lines": ("48 lines inside each compressor instead of 12", ["--compressor.lines", "48"]),
    "exp-fall-through": ("the stack's next warp is tried when the top does not fit",
                         ["--capacity_manager.fall_through", "1"]),
    "exp-half": ("half as many resident warps", ["--osu.backed_registers", "1024"]),
}
#: A change that all kernels run, the baseline too: an instruction cache that no kernel fills.
cached_base, cached_usual = "baseline-icache", "regless-icache"
large_cache = ["--icache.size_bytes", "262144"]
experiment_kernels = ["dwt2d", "heartwall", "hotspot", "hybridsort", "lavamd"]
#: All that RegLess slows by more than a tenth; the others run in part with the usual size and the largest only.
slow_kernels = experiment_kernels + ["leukocyte", "suffix_match"]
#: Other sizes than the paper's choice and other schedulers are run for the first seven benchmarks of the paper's list.
swept_kernels = suite.of_paper("regless").kernels[:7]


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
        launched = self.launched(kernel, name)
        return sum(e["instructions"] for e in launched) / sum(region_count(e["regions"]) for e in launched)

    def block_instructions(self, kernel: str, name: str = usual) -> float:
        """Mean instructions in a basic block, likewise."""
        launched = self.launched(kernel, name)
        return sum(e["instructions"] for e in launched) / sum(e["blocks"] for e in launched)

    def launched(self, kernel: str, name: str) -> List[Dict[str, Any]]:
        """What the annotation reports of the kernels that were launched."""
        report = self.results[(kernel, name)].report
        entries = {launch["entry"] for launch in report["launches"]}
        return [entry for entry in report["entries"] if entry["name"] in entries]

    def live_registers(self, kernel: str, name: str = usual, key: str = "live_registers") -> int:
        """Most registers of a thread that are live at once, or ("registers") that it is given."""
        return max(entry[key] for entry in self.launched(kernel, name))

    def region_cycles(self, kernel: str) -> float:
        """Mean cycles that a region is active."""
        return self.regless(kernel, usual, "regions.mean_cycles")

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

    def swept(self) -> List[str]:
        return [k for k in swept_kernels if k in self.kernels]

    def ran(self, kernel: str, name: str) -> bool:
        return (kernel, name) in self.results and self.document(kernel, name) is not None

    def fitting(self, name: str, among: Optional[Sequence[str]] = None) -> List[str]:
        return [k for k in (self.counted if among is None else among) if self.ran(k, name)]

    def slow(self) -> List[str]:
        return [k for k in slow_kernels if k in self.kernels]

    def mean_run_time(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return geomean(self.run_time(k, name) for k in self.fitting(name, among))

    def mean_gpu_energy(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return geomean(self.gpu_energy(k, name) for k in self.fitting(name, among))

    def mean_register_energy(self, name: str, among: Optional[Sequence[str]] = None) -> float:
        return mean(self.register_energy(k, name) for k in self.fitting(name, among))

    def ranks(self, paper: Paper) -> Dict[str, float]:
        """Rank correlation of Table 2 with ours, by column."""
        shown = [n for n in table2 if n in self.counterparts]
        columns = {"instructions": (0, self.static_instructions), "cycles": (1, self.region_cycles)}
        return {title: rank_correlation([paper.values[table2[n][place]].value for n in shown],
                                        [of(self.counterparts[n]) for n in shown])
                for title, (place, of) in columns.items()}

    def mean_preload_shares(self, among: Optional[Sequence[str]] = None) -> Dict[str, float]:
        each = [self.preload_shares(k) for k in (among or self.kernels)]
        return {s: mean(e[s] for e in each) for s in sources}

    def points(self) -> List[Tuple[str, float, float]]:
        """Fig 13: name, run time, energy over the swept benchmarks; the baseline first."""
        among = self.swept()
        return [("baseline", 1.0, 1.0)] + [
            (str(n), self.mean_run_time(f"regless-{n}", among), self.mean_gpu_energy(f"regless-{n}", among)) for n in sizes
            if self.fitting(f"regless-{n}", among)]

    # --- comparison with the paper ---

    def compare(self, c: Comparisons) -> None:
        kernels = self.kernels
        percent = 100.0
        c.add("REGLESS-001", percent * chosen / register_file, "by configuration")
        c.add("REGLESS-005", percent * (self.mean_run_time(usual) - 1), "geometric mean")
        c.add("REGLESS-006", percent * max(self.register_share(k) for k in kernels), "largest")
        c.add("REGLESS-007", percent * median(self.working_set(k, "baseline") for k in kernels) / register_file, "median")
        if self.swept():
            c.add("FIG2-TWO-LEVEL", mean(self.working_set(k, "two_level-8") for k in self.swept()) <
                  mean(self.working_set(k, "baseline") for k in self.swept()), "8 warps of an SM active, mean")
        c.add("REGLESS-008", percent * mean(self.l1_share_of_accesses(k) for k in kernels), "mean")
        points = self.points()
        front = [points[i][0] for i in pareto([(x, y) for _, x, y in points])]
        c.add("REGLESS-009", "128" in front)
        worst = {n: max(self.run_time(k, f"regless-{n}") for k in self.fitting(f"regless-{n}", self.swept()))
                 for n in (384, chosen)}
        c.add("REGLESS-010", worst[chosen] < worst[384])
        c.add("SEC6.2-LARGER", all(time < 1 for n, time, _ in points if n in [str(s) for s in sizes if s > chosen]))
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
        for ids, of in ((run_time_ids, lambda k: percent * (self.run_time(k, usual) - 1)),
                        (faster_ids, lambda k: self.run_time(k, usual) < 1),
                        (missed_ids, lambda k: percent * (1 - self.preload_shares(k)["osu"])),
                        (l2_ids, lambda k: percent * self.added_l2_requests(k)),
                        (stores_ids, lambda k: self.l1_rates(k)["evict"] > self.l1_rates(k)["preload"]),
                        (held_ids, lambda k: self.regless(k, usual, "regions.max_live"))):
            for name, value_id in ids.items():
                if name in self.counterparts:
                    c.add(value_id, of(self.counterparts[name]))
        c.add("SEC6.5-NO-MISS", all(self.l1_requests(k, usual) == 0 for k in kernels if self.preload_shares(k)["osu"] == 1))
        for name, (instructions, cycles) in table2.items():
            if name in self.counterparts:
                c.add(instructions, self.static_instructions(self.counterparts[name]))
                c.add(cycles, self.region_cycles(self.counterparts[name]))
        if all(name in self.counterparts for name in table2):
            ours = self.counterparts
            c.add("SEC6.4-THREE", {n for n in ours if self.run_time(ours[n], usual) > 1.05} ==
                  {"gaussian", "heartwall", "hybridsort"})
            c.add("SEC6.5-COMPRESSOR", all(self.preload_shares(ours[n])["compressor"] > 0
                                           for n in ("b+tree", "hotspot", "pathfinder")))
            usual_length = mean(self.static_instructions(k) for k in kernels)
            c.add("SEC6.6-LARGE", all(self.static_instructions(ours[n]) > usual_length for n in ("dwt2d", "lud", "nw")) and
                  self.static_instructions(ours["bfs"]) < usual_length)

            def order(of):
                return sorted(table2, key=lambda name: -of(ours[name]))
            c.add("TABLE2-INSTRUCTIONS", order(self.static_instructions))
            c.add("TABLE2-CYCLES", order(self.region_cycles))


def region_count(regions: Any) -> int:
    """From the annotation's report: a number, a list of regions, or a table with their count."""
    if isinstance(regions, dict):
        return regions["count"]
    return len(regions) if isinstance(regions, list) else regions
