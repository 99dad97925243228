# SPDX-License-Identifier: Apache-2.0
"""The paper's quantities, computed per kernel from our runs and compared with the paper's numbers."""

from typing import Any, Callable, Dict, List, Sequence, Tuple

from regatta.means import geomean, mean
from regatta.statistics import value
from regatta_reproduce import evaluation
from regatta_reproduce.paper import Comparisons

base = evaluation.baseline
percent = 100.0
virtual_thread, finereg = "virtual_thread", "finereg"
#: The paper's names of what it compares. Of Reg+DRAM and VT+RegMutex, each program has its best run.
reg_dram, mutex = "reg_dram", "vt_regmutex"
titles = {virtual_thread: "Virtual Thread", reg_dram: "Reg+DRAM", mutex: "VT+RegMutex", finereg: "FineReg"}
#: Reg+DRAM: CTAs with their registers in DRAM. 0 is Virtual Thread.
depths = [1, 2, 4, 8]
#: RegMutex: base registers (0: the compiler chooses) and warp registers of the pool.
bases, pools = [0, 12, 20, 28], [256, 576]
file_registers = 2048
#: Warp registers of the active and the pending file (Fig 17).
usual_split = (1024, 1024)
splits = [512, 768, 1024, 1280, 1536]
#: Instructions of a window of Fig 5.
window = 1000
#: Fig 4's program, and its run with a place in DRAM for every CTA.
sampled_kernel, all_in_dram = "convolution_separable", "reg_dram-all"
unified = ["um", "vt_um", "finereg_um"]
unified_titles = {"um": "UM", "vt_um": "VT+UM", "finereg_um": "FineReg+UM"}
register_bytes = 128


def scheduling(times: float) -> Tuple[str, ...]:
    return ("--sm.ctas", str(int(32 * times)), "--sm.warps", str(int(64 * times)), "--sm.threads", str(int(2048 * times)))


def memory(times: float) -> Tuple[str, ...]:
    return ("--register_file.registers", str(int(file_registers * times)), "--shared.bytes", str(int(98304 * times)))


#: Fig 2: larger baselines; and Fig 4's ideal one, as large as four schedulers can have it.
enlarged = {
    "sched-1.5": ("1.5 times the scheduling resources", scheduling(1.5)),
    "sched-2": ("twice the scheduling resources", scheduling(2)),
    "mem-1.5": ("1.5 times the on-chip memory", memory(1.5)),
    "mem-2": ("twice the on-chip memory", memory(2)),
    "both-2": ("twice both", scheduling(2) + memory(2)),
    "ideal": ("four times both", scheduling(4) + memory(4)),
}
#: Single changes, to find what decides. For each run: description and options; the scheme is part of them.
mshrs = ("--l1.mshrs", "128")
bandwidth = ("--dram.bandwidth", "1410000")
changes = {
    "finereg-whole": ("FineReg, active file of 256 KB beside the pending one",
                      ("--scheme", finereg, "--finereg.active_registers", str(file_registers))),
    "finereg-last": ("FineReg, launches after ready pending CTAs", ("--scheme", finereg, "--switching.launch_first", "false")),
    "baseline-mshrs": ("baseline, 128 MSHRs", mshrs),
    "virtual_thread-mshrs": ("Virtual Thread, 128 MSHRs", ("--scheme", virtual_thread) + mshrs),
    "finereg-mshrs": ("FineReg, 128 MSHRs", ("--scheme", finereg) + mshrs),
    "baseline-bandwidth": ("baseline, 128 MSHRs, four times the bandwidth", mshrs + bandwidth),
    "virtual_thread-bandwidth": ("Virtual Thread, 128 MSHRs, four times the bandwidth", ("--scheme", virtual_thread) + mshrs + bandwidth),
    "finereg-bandwidth": ("FineReg, 128 MSHRs, four times the bandwidth", ("--scheme", finereg) + mshrs + bandwidth),
    "finereg-whole-bandwidth": ("FineReg, the three changes together",
                                ("--scheme", finereg, "--finereg.active_registers", str(file_registers)) + mshrs + bandwidth),
}
#: Baseline+Resource.
resource = "baseline-resource"
#: Whole GPUs (Fig 18): programs whose grids fill many SMs.
gpu_sizes = [16, 32, 64, 128]
gpu_kernels = ["convolution_separable", "fdtd2d", "hotspot", "srad2", "transpose"]
gpu_schemes = [base, virtual_thread, finereg]
classes = ["Type-S", "Type-R"]
memory_bound = ["KM", "SY2", "BF"]
traffic_bound = ["FD", "NW", "ST"]
table3 = {f"FINEREG-{i:03d}": p for i, p in enumerate(
    "MC ST KM SY2 BI BF NW CS FD LI LB CF SG HS AT SR TA TR".split(), start=20)}
lowest_use = {"FINEREG-013": "MC", "FINEREG-014": "NW", "FINEREG-015": "LI", "FINEREG-016": "SR", "FINEREG-017": "TA"}
fast = {"FINEREG-054": "BI", "FINEREG-055": "FD", "FINEREG-056": "NW", "FINEREG-057": "SY2", "FINEREG-058": "BF", "FINEREG-059": "KM",
        "FINEREG-066": "TA"}
cached = ["AT", "BI", "KM", "SY2"]


def reg_dram_run(ctas: int) -> str:
    return f"reg_dram-{ctas}"


def mutex_run(base_registers: int, pool: int) -> str:
    return f"vt_regmutex-{base_registers}-{pool}"


def split_run(active: int) -> str:
    return finereg if active == usual_split[0] else f"finereg-{active}"


def gpu_run(scheme: str, sms: int) -> str:
    return f"{scheme}@{sms}"


def gpu_resource(sms: int) -> str:
    return gpu_run(resource, sms)


def concurrent(document: Dict[str, Any]) -> float:
    """CTAs on an SM, active and pending, mean over the cycles of the run and the SMs that have any."""
    found = [group["resident_ctas_mean"] for path, group in document["stats"].items()
             if path.startswith("sm") and path.endswith(".pipeline") and group["ctas"]]
    return mean(found)


def resource_options(ctas: float) -> Tuple[str, ...]:
    """A baseline that holds so many CTAs: nothing else limits it, as far as four schedulers go."""
    return scheduling(4)[2:] + memory(8) + ("--sm.ctas", str(max(1, round(ctas))))


class Evaluation(evaluation.Evaluation):
    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.class_of: Dict[str, str] = {p.abbreviation: p.paper_class for p in self.programs}
        self.labels: List[str] = list(self.class_of)
        self._best: Dict[Tuple[str, str], str] = {}

    def of_class(self, paper_class: str) -> List[str]:
        """Kernels of the paper's Type-S or Type-R; all of them without one."""
        return [self.counterparts[p] for p in self.labels if paper_class in ("", self.class_of[p])]

    def kernels_of(self, labels: Sequence[str]) -> List[str]:
        return [self.counterparts[p] for p in labels if p in self.counterparts]

    # --- one kernel ---

    def best(self, kernel: str, scheme: str) -> str:
        """The run of a scheme: the fastest one of those whose parameter is chosen per program."""
        candidates = {reg_dram: [virtual_thread] + [reg_dram_run(d) for d in depths],
                      mutex: [mutex_run(b, p) for b in bases for p in pools]}.get(scheme)
        if candidates is None:
            return scheme
        if (kernel, scheme) not in self._best:
            self._best[(kernel, scheme)] = min(candidates, key=lambda n: self.document(kernel, n)["cycles"])
        return self._best[(kernel, scheme)]

    def speed(self, kernel: str, scheme: str, to: str = base) -> float:
        """Throughput of the program over that of another run."""
        return self.document(kernel, self.best(kernel, to))["cycles"] / self.document(kernel, self.best(kernel, scheme))["cycles"]

    def ctas(self, kernel: str, scheme: str) -> float:
        return concurrent(self.document(kernel, self.best(kernel, scheme)))

    def more_ctas(self, kernel: str, scheme: str, to: str = base) -> float:
        return self.ctas(kernel, scheme) / self.ctas(kernel, to)

    def active_share(self, kernel: str, scheme: str) -> float:
        r = self.document(kernel, scheme)["stats"]["residency"]
        return r["ctas.active"] / (r["ctas.active"] + r["ctas.pending"])

    def energy(self, kernel: str, scheme: str, to: str = base) -> float:
        return self.gpu_energy(kernel, self.best(kernel, scheme), self.best(kernel, to))

    def register_dynamic(self, kernel: str, scheme: str) -> float:
        """nJ of the register structures without leakage."""
        energy = self.document(kernel, self.best(kernel, scheme))["energy"]
        return energy["by_structure"]["register_structures"] - energy["static_by_structure"].get("register_structures", 0.0)

    def traffic(self, kernel: str, scheme: str, cause: str = "") -> float:
        """Bytes between L2 and DRAM, of one cause or all."""
        stats = self.document(kernel, self.best(kernel, scheme))["stats"]
        channels = [group for path, group in stats.items() if path.startswith("memory.dram_")]
        keys = [f"bytes_{cause}"] if cause else ["bytes_read", "bytes_written"]
        return sum(group[key] for group in channels for key in keys)

    def bus_share(self, kernel: str, name: str) -> float:
        """Of the cycles, those in which the DRAM bus moves data."""
        d = self.document(kernel, name)
        return mean(g["busy_cycles"] for path, g in d["stats"].items() if path.startswith("memory.dram_")) / d["cycles"]

    def hit_rate(self, kernel: str, name: str) -> float:
        l1 = self.document(kernel, self.best(kernel, name))["stats"]["sm0.l1"]
        return l1["read_hits"] / l1["reads"] if l1["reads"] else 0.0

    def first_stall(self, kernel: str, scheme: str = finereg) -> float:
        return self.document(kernel, scheme)["stats"]["residency"]["time_to_full_stall"]

    def use(self, kernel: str, key: str) -> float:
        """Share of the allocated registers that the instructions of a window name."""
        return self.document(kernel, base)["register_use"][key]

    def cta_registers(self, kernel: str) -> float:
        """Bytes of registers of a CTA, mean over the run."""
        p = self.document(kernel, base)["stats"]["sm0.pipeline"]
        return register_bytes * p["resident_registers_mean"] / p["resident_ctas_mean"]

    def main_entry(self, kernel: str) -> Dict[str, Any]:
        """The report of the entry that executes the most warp instructions."""
        report = self.results[(kernel, base)].report
        counts: Dict[str, int] = {}
        for x in report["launches"]:
            counts[x["entry"]] = counts.get(x["entry"], 0) + x["warp_instructions"]
        most = max(counts, key=lambda n: counts[n])
        return next(x for x in report["entries"] if x["name"] == most)

    def cta_memory(self, kernel: str) -> float:
        """Bytes of registers and shared memory of a CTA."""
        return self.cta_registers(kernel) + self.main_entry(kernel)["shared_bytes"]

    def registers(self, kernel: str) -> int:
        return self.main_entry(kernel)["registers"]

    def pool_share(self, kernel: str) -> float:
        """Of the register file, the pool of the best run; none if no register is extended in it."""
        document = self.document(kernel, self.best(kernel, mutex))
        acquired = document["stats"][mutex]["acquires"]
        return value(document, "config.regmutex.pool_registers") / file_registers if acquired else 0.0

    def pool_stalls(self, kernel: str) -> float:
        d = self.document(kernel, self.best(kernel, mutex))
        return d["stats"][mutex]["srp_stall_cycles"] / (d["cycles"] * value(d, "config.sm.schedulers"))

    def depleted(self, kernel: str) -> float:
        d = self.document(kernel, finereg)
        return d["stats"][finereg]["depletion_stall_cycles"] / d["cycles"]

    # --- means ---

    def mean_speed(self, scheme: str, paper_class: str = "", to: str = base) -> float:
        return geomean(self.speed(k, scheme, to) for k in self.of_class(paper_class))

    def mean_more_ctas(self, scheme: str, paper_class: str = "", to: str = base) -> float:
        """Over means of the numbers of CTAs, each relative to the baseline's, as the paper's figure has them."""
        among = self.of_class(paper_class)
        return mean(self.more_ctas(k, scheme) for k in among) / mean(self.more_ctas(k, to) for k in among)

    def mean_energy(self, scheme: str, to: str = base) -> float:
        """Over the means of energies relative to the baseline's."""
        return mean(self.energy(k, scheme) for k in self.counted) / mean(self.energy(k, to) for k in self.counted)

    # --- whole GPUs ---

    @property
    def gpu_programs(self) -> List[str]:
        return [k for k in gpu_kernels if k in self.kernels]

    def gpu_speed(self, scheme: str, sms: int, to: str = base) -> float:
        return geomean(self.document(k, gpu_run(to, sms))["cycles"] / self.document(k, gpu_run(scheme, sms))["cycles"]
                       for k in self.gpu_programs)

    def gpu_ctas(self, scheme: str, sms: int) -> float:
        return mean(concurrent(self.document(k, gpu_run(scheme, sms))) for k in self.gpu_programs)

    def added_memory(self, sms: int) -> float:
        """MB that Baseline+Resource has more than the baseline, registers and shared memory of its CTAs; mean."""
        def of(kernel: str) -> float:
            more = concurrent(self.document(kernel, gpu_resource(sms))) - concurrent(self.document(kernel, gpu_run(base, sms)))
            return max(0.0, more) * self.cta_memory(kernel) * sms / 1e6
        return mean(of(k) for k in self.gpu_programs)

    # --- hardware ---

    def storage(self) -> Dict[str, float]:
        """Bytes that FineReg adds, from the configuration: what a CTA's state, a cached vector, a chain and an entry's tag need."""
        d = self.document(self.kernels[0], finereg)
        entries = value(d, "config.finereg.pending_registers")
        ctas = value(d, "config.switching.max_ctas")
        pointer = (entries - 1).bit_length()
        return {"status monitor": 2 * 2 * ctas / 8,
                "cache of bit vectors": value(d, "config.rmu.vector_entries") * (32 + 64) / 8,
                "pointer table": ctas * (pointer + entries.bit_length()) / 8,
                "free-space monitor": entries / 8,
                "tags of the pending file": entries * (1 + 1 + pointer + 5 + 6) / 8,
                "transfer buffer": register_bytes}

    # --- beside the paper ---

    def compare(self, comparisons: Comparisons) -> None:
        whole = len(self.kernels) == len(self.suite.kernels)
        if not whole:
            return
        add = comparisons.add

        def gain(x: float) -> float:
            return percent * (x - 1)

        s, r = classes
        self._compare_motivation(add, gain)
        for value_id, p in table3.items():
            add(value_id, self.first_stall(self.counterparts[p]))
        stalls = [self.first_stall(k) for k in self.counted]
        add("FINEREG-038-LOW", min(stalls))
        add("FINEREG-038-HIGH", max(stalls))
        more = self.mean_more_ctas
        add("FINEREG-039", gain(more(finereg)))
        add("FINEREG-041", gain(more(finereg, to=virtual_thread)))
        add("FINEREG-042", gain(more(finereg, to=reg_dram)))
        for i, (scheme, c) in {43: (finereg, s), 44: (finereg, r), 45: (virtual_thread, s), 46: (virtual_thread, r), 47: (reg_dram, s),
                               48: (reg_dram, r)}.items():
            add(f"FINEREG-{i:03d}", gain(more(scheme, c)))
        add("FINEREG-049", gain(more(mutex, to=finereg)))
        add("FINEREG-050", gain(more(mutex, r, finereg)))
        add("FIG12-ORDER", [titles[x] for x in sorted(titles, key=more, reverse=True)])
        self._compare_speed(add, gain)
        self._compare_costs(add, gain)
        self._compare_sensitivity(add, gain)
        add("FINEREG-090", max(x["instructions"] for k in self.kernels for x in self.results[(k, base)].report["entries"]))
        storage = self.storage()
        for value_id, part in {"SEC5F-MONITOR": "status monitor", "SEC5F-CACHE": "cache of bit vectors",
                               "SEC5F-POINTERS": "pointer table"}.items():
            add(value_id, storage[part])
        add("SEC5F-TAGS", storage["tags of the pending file"] / 1000)
        add("SEC5F-TOTAL", sum(storage.values()) / 1000 + 2.4, "with the paper's 2.4 KB")

    def _compare_motivation(self, add: Callable[..., None], gain: Callable[[float], float]) -> None:
        s, r = classes
        for i, (name, c) in {2: ("sched-1.5", s), 3: ("sched-2", s), 4: ("mem-1.5", r), 5: ("mem-2", r), 6: ("both-2", s),
                             7: ("both-2", r)}.items():
            add(f"FINEREG-{i:03d}", gain(self.mean_speed(name, c)))
        add("FIG2-S-MEMORY", abs(gain(self.mean_speed("mem-2", s))) < 5)
        add("FIG2-R-SCHED", self.mean_speed("mem-2", r) > self.mean_speed("sched-2", r))
        sizes = [self.cta_memory(k) for k in self.counted]
        add("FINEREG-008-LOW", min(sizes) / 1000)
        add("FINEREG-008-HIGH", max(sizes) / 1000)
        add("FINEREG-009", percent * self.average(lambda k: self.cta_registers(k) / self.cta_memory(k)))
        add("FINEREG-010", gain(self.speed(sampled_kernel, virtual_thread)))
        add("FINEREG-011", gain(self.speed(sampled_kernel, all_in_dram, virtual_thread)))
        add("FIG4-THREADS", self.ctas(sampled_kernel, all_in_dram) / self.ctas(sampled_kernel, virtual_thread))
        add("FIG4-IDEAL", self.speed(sampled_kernel, "ideal", all_in_dram) > 1)
        add("FINEREG-012", percent * self.average(lambda k: self.use(k, "mean")))
        for value_id, p in lowest_use.items():
            add(value_id, percent * self.use(self.counterparts[p], "lowest"))

    def _compare_speed(self, add: Callable[..., None], gain: Callable[[float], float]) -> None:
        s, r = classes
        add("FINEREG-001", gain(self.mean_speed(finereg)))
        for i, to in {51: virtual_thread, 52: reg_dram, 53: mutex}.items():
            add(f"FINEREG-{i:03d}", gain(self.mean_speed(finereg, to=to)))
        for value_id, p in fast.items():
            add(value_id, gain(self.speed(self.counterparts[p], finereg)))
        add("FINEREG-060", gain(self.mean_speed(reg_dram, to=virtual_thread)))
        for i, to in {62: base, 63: virtual_thread, 64: reg_dram, 65: mutex}.items():
            add(f"FINEREG-{i:03d}", gain(self.mean_speed(finereg, r, to)))
        add("FIG13-ORDER", [titles[x] for x in sorted(titles, key=self.mean_speed, reverse=True)])
        add("SEC6B-S", all(self.mean_speed(x, s) > 1 for x in titles))
        add("SEC6B-R", abs(gain(self.mean_speed(virtual_thread, r))) <= 1)
        add("SEC6C-DRAM", all(self.speed(k, reg_dram, virtual_thread) >= 1 for k in self.kernels))

    def _compare_costs(self, add: Callable[..., None], gain: Callable[[float], float]) -> None:
        few = self.kernels_of(memory_bound)
        add("FINEREG-067", percent * self.average(self.pool_share))
        add("FINEREG-068", percent * self.average(self.pool_share, few))
        pool, pending = self.average(self.pool_stalls, few), self.average(self.depleted, few)
        add("FINEREG-069", percent * pool)
        add("FINEREG-070", percent * pending)
        add("FIG14-ORDER", [titles[mutex], titles[finereg]] if pool > pending else [titles[finereg], titles[mutex]])
        moved = self.kernels_of(traffic_bound)

        def added(scheme: str) -> List[float]:
            return [gain(self.traffic(k, scheme) / self.traffic(k, base)) for k in moved]

        add("FINEREG-071-LOW", min(added(reg_dram)))
        add("FINEREG-071-HIGH", max(added(reg_dram)))
        for value_id, scheme in {"FINEREG-072": virtual_thread, "FINEREG-073": finereg, "FIG15-MUTEX": mutex}.items():
            add(value_id, max(added(scheme)), "most of the three")
        add("SEC6E-VECTORS", max(percent * self.traffic(k, finereg, "metadata") / self.traffic(k, base) for k in moved), "most of the three")
        for i, to in {74: base, 75: virtual_thread, 76: reg_dram, 77: mutex}.items():
            add(f"FINEREG-{i:03d}", -gain(self.mean_energy(finereg, to)))
        add("FIG16-FILE", mean(self.register_dynamic(k, finereg) / self.register_dynamic(k, base) for k in self.counted) > 1)

    def _compare_sensitivity(self, add: Callable[..., None], gain: Callable[[float], float]) -> None:
        add("FINEREG-078", self.mean_more_ctas(finereg))
        add("FINEREG-079", percent * self.average(lambda k: self.active_share(k, finereg)))
        add("FINEREG-080", -gain(self.mean_speed(split_run(1280), to=finereg)))
        add("FINEREG-081", -gain(self.mean_speed(split_run(512), to=finereg)))
        add("FIG17-BEST", max(splits, key=lambda a: self.mean_speed(split_run(a))) == usual_split[0])
        add("FIG17-MOST", max(splits, key=lambda a: self.mean_more_ctas(split_run(a))) == splits[0])
        add("FIG17-EQUAL", percent * self.average(lambda k: self.active_share(k, split_run(1280))))
        for n in gpu_sizes:
            add(f"FINEREG-082-{n}", gain(self.gpu_speed(finereg, n)))
        over = [gain(self.gpu_speed(resource, n, finereg)) for n in gpu_sizes]
        add("FINEREG-083-LOW", min(over))
        add("FINEREG-083-HIGH", max(over))
        add("FINEREG-084-LOW", self.added_memory(gpu_sizes[0]))
        add("FINEREG-084-HIGH", self.added_memory(gpu_sizes[-1]))
        add("FINEREG-085", gain(self.mean_speed("um")))
        add("FINEREG-086", gain(self.mean_speed("vt_um", to="um")))
        add("FINEREG-087", gain(self.mean_speed("finereg_um", to="um")))
        for p in cached:
            k = self.counterparts[p]
            add(f"SEC6G-UM-{p}", self.speed(k, "um") > 1.1)
            add(f"SEC6G-VT-{p}", self.speed(k, "vt_um") < self.speed(k, "um"))
