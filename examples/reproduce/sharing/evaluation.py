# SPDX-License-Identifier: Apache-2.0
"""The thesis's quantities, computed per program from our runs and compared with the thesis's numbers."""

from typing import Any, Callable, Dict, List, Optional, Tuple

from regatta.means import geomean
from regatta_reproduce import evaluation
from regatta_reproduce.paper import Comparisons
from regatta_reproduce.programs import Plan, ProgramEvaluation, percent, plan_of, programs_of, rounded
from regatta_reproduce.suite import Program

base = evaluation.baseline
sms = 4
sets = ["Set-1", "Set-2", "Set-3"]
#: Sharing in percent: (1 - t) x 100.
shares = [0, 10, 30, 50, 70, 90]
usual_share = 90

#: Table 2.3.
file_rows, scratchpad_bytes, register_scratchpad_bytes = 1024, 16384, 49152
most_ctas, most_warps, most_threads = 8, 48, 1536
#: Of the machine: warp registers and bytes, to which allocations are rounded up.
register_granularity, scratchpad_granularity = 2, 128

#: Variants of register sharing, by run: the thesis's name, whether registers are reordered, options.
sharing = ("--scheme", "register_sharing")
dynamic = ("--register_sharing.dynamic", "true")
owf = ("--scheduler", "owf")
shared = "shared"
variants = {
    "noopt": ("Shared-LRR-NoOpt", False, sharing),
    "unrolled": ("Shared-LRR-Unrolled", True, sharing),
    "unrolled-dyn": ("Shared-LRR-Unrolled-Dyn", True, sharing + dynamic),
    shared: ("Shared-OWF-Unrolled-Dyn", True, sharing + dynamic + owf),
}
#: Between and beside the thesis's variants: one change each.
extra_variants = {
    "owf-only": ("sharing, OWF, nothing else", False, sharing + owf),
    "owf-unrolled": ("Shared-OWF-Unrolled, no dynamic warp execution", True, sharing + owf),
    "shared-gto": ("Shared-GTO-Unrolled-Dyn", True, sharing + dynamic + ("--scheduler", "gto")),
}
gto, two_level, base_owf = "baseline-gto", "baseline-two_level", "baseline-owf"
schedulers = {gto: ("Unshared-GTO", ("--scheduler", "gto")), two_level: ("Unshared-Two-Level", ("--scheduler", "two_level")),
              base_owf: ("Unshared-OWF", owf)}
doubled, base_reordered = "baseline-doubled", "baseline-reordered"
mshrs = ("--l1.mshrs", "256")
bandwidth = mshrs + ("--dram.bandwidth", "708000")
memories = {"mshrs": ("256 MSHRs", mshrs), "bandwidth": ("256 MSHRs, four times the bandwidth", bandwidth)}
#: All optimisations but dynamic warp execution, at 50 % sharing.
half_share, half = 50, "owf-unrolled-50"
#: The same at 90 % without the deadlock rule, of programs none of whose kernels both share registers and have barriers.
no_rule, without_barriers = "owf-unrolled-norule", ["libor", "suffix_match", "mri_q"]
#: On one SM, which gets all CTAs: the last of them, which leave room on the SM, count less.
one_sm = {base: (), base_owf: owf, "owf-unrolled": sharing + owf, half: sharing + owf + ("--register_sharing.t", "0.5")}
#: As many CTAs as sharing has, with registers (scratchpad) for all of them: no lock.
unlocked, unlocked_owf = "baseline-m", "baseline-m-owf"

#: Scratchpad sharing, by run.
pad_sharing = ("--scheme", "scratchpad_sharing", "--scratchpad_sharing.relssp", "none")
pad_noopt, pad_shared = "pad-noopt", "pad-shared"
#: Chapter 3's layout and release, as a single change: the common part is given up before the CTA ends.
pad_released = "pad-released"
pad_release = ("--scheme", "scratchpad_sharing", "--scratchpad_sharing.relssp", "optimal")
#: A single change: with the machine's 2 KB, long kernels miss in the instruction cache all the time.
icache = ("--icache.size_bytes", "16384")
pad_variants = {pad_noopt: ("Shared-LRR-NoOpt", pad_sharing), pad_shared: ("Shared-OWF", pad_sharing + owf)}

#: Rivals, by run. Section 2.5.1.9 has the first; multiplexing is the hardware's part of Yang et al. (PACT 2012), which the thesis names in
#: chapter 3 and compares with in software only.
divergence = ("--scheme", "warp_level_divergence")
multiplexing = ("--scheme", "scratchpad_multiplexing")
rivals = {"divergence": ("warp-level divergence", divergence),
          "divergence-cta": ("the same, registers released by CTA", divergence + ("--warp_level_divergence.release", "cta")),
          "divergence-owf": ("warp-level divergence, OWF", divergence + owf)}
pad_divergence, pad_multiplexed, pad_multiplexed_release = "pad-divergence", "pad-multiplexing", "pad-multiplexing-release"
pad_rivals = {pad_divergence: ("warp-level divergence", divergence), pad_multiplexed: ("multiplexing", multiplexing + owf)}
pad_multiplexing_release = multiplexing + ("--scratchpad_multiplexing.relssp", "optimal", "--scratchpad_multiplexing.t", "0.1") + owf

#: Set-3's runs, at 48 KB: the thesis's name, whether registers are reordered, options.
apart = {
    "s3-baseline": ("Unshared-LRR", False, ()),
    "s3-gto": ("Unshared-GTO", False, ("--scheduler", "gto")),
    "s3-owf": ("Unshared-OWF", False, owf),
    "s3-shared-lrr": ("Shared-LRR-Dyn", False, sharing + dynamic),
    "s3-shared-gto": ("Shared-GTO-Dyn", False, sharing + dynamic + ("--scheduler", "gto")),
    "s3-shared-owf": ("Shared-OWF-Dyn", False, sharing + dynamic + owf),
    "s3-unrolled": ("Shared-LRR-Unroll-Dyn", True, sharing + dynamic),
}
#: The same with scratchpad sharing, at 16 KB.
pad_apart = {
    "s3-pad-baseline": ("Unshared-LRR", ()),
    "s3-pad-gto": ("Unshared-GTO", ("--scheduler", "gto")),
    "s3-pad-shared-lrr": ("Shared-LRR", pad_sharing),
    "s3-pad-shared-gto": ("Shared-GTO", pad_sharing + ("--scheduler", "gto")),
    "s3-pad-shared-owf": ("Shared-OWF", pad_sharing + owf),
}

#: Table 2.1's programs in Table 2.5's order, and Table 2.2's in Table 2.7's.
register_programs = ["backprop", "b+tree", "hotspot", "LIB", "MUM", "mri-q", "sgemm", "stencil"]
pad_programs = ["CONV1", "CONV2", "lavaMD", "NW1", "NW2", "SRAD1", "SRAD2"]
#: Our kernels have CTAs of other sizes: counts of CTAs are those of the thesis's CTAs, by the formula.
by_formula = "formula, for the thesis's CTA"
other_ctas = ["sgemm", "stencil", "NW1", "NW2"]
#: SHARE-004 to 011; SHARE-015 to 021.
gains = dict(zip(["b+tree", "hotspot", "MUM", "stencil", "LIB", "backprop", "sgemm", "mri-q"], range(4, 12)))
pad_gains = dict(zip(["CONV2", "lavaMD", "SRAD1", "CONV1", "NW1", "NW2", "SRAD2"], range(15, 22)))
steps = {22: ("hotspot", "noopt"), 23: ("hotspot", "unrolled"), 24: ("hotspot", "unrolled-dyn"), 26: ("MUM", "noopt"),
         27: ("MUM", "unrolled"), 28: ("MUM", "unrolled-dyn"), 30: ("LIB", "noopt")}
pad_steps = {32: "lavaMD", 33: "CONV1", 34: "CONV2", 35: "SRAD1", 36: "SRAD2"}
#: Fig 2.12a; Fig 2.12b.
resident = dict(zip(range(57, 65), ["MUM", "backprop", "hotspot", "mri-q", "stencil", "b+tree", "LIB", "sgemm"]))
pad_resident = dict(zip(range(65, 68), ["CONV1", "NW1", "NW2"]))
slower_than_doubled = ["b+tree", "LIB", "sgemm"]
pad_like_doubled, pad_slower_than_doubled = ["CONV1", "NW1", "NW2"], ["CONV2", "SRAD1", "SRAD2"]
less_stalls = ["MUM", "LIB", "backprop", "hotspot", "stencil"]
more_stalls = ["b+tree", "sgemm", "mri-q"]


def number(i: int) -> str:
    return f"SHARE-{i:03d}"


def table_id(first: int, program: int, share: int) -> str:
    """Of Tables 2.5 to 2.8: six shares of each program."""
    return number(first + len(shares) * program + shares.index(share))


def threshold(share: int) -> str:
    """t, as an option has it."""
    return f"{(100 - share) / 100:g}"


def share_run(share: int) -> str:
    return shared if share == usual_share else f"shared-{share}"


def pad_share_run(share: int) -> str:
    return pad_shared if share == usual_share else f"pad-shared-{share}"


def alone(run: str) -> str:
    """A run on one SM."""
    return f"{run}@1"


def with_memory(run: str, memory: str) -> str:
    return f"{run}-{memory}"


def unlocked_pad(ctas: int) -> str:
    """Twice the scratchpad, and at most so many CTAs."""
    return f"pad-baseline-ctas-{ctas}"


def most_by_threads(threads: int) -> int:
    warps = -(-threads // 32)
    return min(most_ctas, most_warps // warps, most_threads // threads)


def register_plan(threads: int, registers: int, share: int, shared_bytes: int = 0) -> Plan:
    most = most_by_threads(threads)
    if shared_bytes:
        most = min(most, register_scratchpad_bytes // rounded(shared_bytes, scratchpad_granularity))
    return plan_of(file_rows, -(-threads // 32) * rounded(registers, register_granularity), share, most)


def pad_plan(threads: int, shared_bytes: int, share: int, registers: int = 0) -> Plan:
    most = most_by_threads(threads)
    if registers:
        most = min(most, file_rows // (-(-threads // 32) * rounded(registers, register_granularity)))
    return plan_of(scratchpad_bytes, rounded(shared_bytes, scratchpad_granularity), share, most)


#: Kernels whose CTAs are not the thesis's: threads and bytes of scratchpad.
own_ctas = {"needleman_wunsch": (32, 4616)}


def unlocked_pad_ctas(program: Program) -> int:
    """CTAs of an SM with scratchpad sharing. Known before any run, unlike pad_planned()."""
    return pad_plan(*own_ctas.get(program.kernel, (program.block, program.shared_bytes)), usual_share).ctas


class Evaluation(ProgramEvaluation):
    sets = sets

    def planned(self, p: Program, run: str, share: int, entry: str = "") -> Plan:
        """By the formula of section 2.2.4, from the report and the launch file. Register sharing."""
        entry = entry or p.entries[0]
        return register_plan(self.shape(p, run, entry).threads, self.report(p, run, entry)["registers"], share,
                             self.shared_bytes(p, run, entry))

    def pad_planned(self, p: Program, run: str, share: int, entry: str = "") -> Plan:
        """The same for scratchpad sharing."""
        entry = entry or p.entries[0]
        size, registers = self.shared_bytes(p, run, entry), self.report(p, run, entry)["registers"]
        threads = self.shape(p, run, entry).threads
        return pad_plan(threads, size, share, registers) if size else Plan(0, 0)

    def progress(self, p: Program, run: str = shared, scheme: str = "register_sharing") -> Optional[float]:
        """Part of their cycles in which warps of non-owners do not wait for a lock."""
        plan = self.planned if scheme == "register_sharing" else self.pad_planned
        cycles = self.extra_warp_cycles(p, run, lambda entry: plan(p, run, usual_share, entry))
        waited = self.document(p.kernel, run)["stats"][scheme]["wait_cycles"]
        return max(0.0, 1 - waited / cycles) if cycles else None

    def unlocked_run(self, p: Program) -> str:
        """Of Set-2: the run with as many CTAs as scratchpad sharing has, and scratchpad for all of them."""
        return unlocked_pad(unlocked_pad_ctas(p))

    def unlocked_pad_speed(self) -> float:
        return geomean(self.speed(p, self.unlocked_run(p), "pad-baseline") for p in self.of_set["Set-2"].values())

    # --- beside the thesis ---

    def compare(self, comparisons: Comparisons) -> None:
        if len(self.kernels) != len(self.suite.kernels):
            return
        add = comparisons.add
        one = self.of_set["Set-1"]
        self._compare_ctas(add)
        add(number(1), self.mean_gain(shared))
        best, who = self.most(lambda p: self.gain(p, shared))
        add(number(3), best, who)
        for n, i in gains.items():
            add(number(i), self.gain(one[n], shared))
        for i, (n, run) in steps.items():
            add(number(i), self.gain(one[n], run))
        self._compare_reasons(add, one)
        for i, to in {42: gto, 44: two_level}.items():
            best, who = self.most(lambda p, to=to: self.gain(p, shared, to))
            add(number(i), best, who)
        self._compare_cycles(add, one)
        best, who = self.most(lambda p: percent * (self.progress(p) or 0.0))
        add(number(49), best, who)
        add(number(52), self.mean_gain("divergence"))
        add(number(51), sum(self.speed(p, shared, doubled) > 1 for p in one.values()))
        for n in one:
            faster = self.speed(one[n], shared, doubled) > 1
            add(f"FIG2.20-{n}", not faster if n in slower_than_doubled else faster)
        for k, n in enumerate(register_programs):
            for share in shares[1:]:
                add(table_id(68, k, share), self.gain(one[n], share_run(share), share_run(0)))
        add("SEC2.5.1.8-SAME", all(self.cycles(p, share_run(0)) == self.cycles(p, share_run(10)) for p in one.values()))
        add("SEC2.5.1.8-90", sum(max(shares, key=lambda s, p=p: (self.speed(p, share_run(s)), s)) == usual_share
                                 for p in one.values()) > len(one) / 2)
        add("OWF-ALONE", self.mean_gain(base_owf))
        add("SHARING-ALONE", self.mean_gain(shared, to=share_run(0)))
        self._compare_apart(add)
        document = self.document(one["hotspot"].kernel, shared)
        add("SEC2.4-REGISTERS", int(document["stats"]["register_sharing"]["storage_bits"]))
        self._compare_pads(add)

    def _compare_ctas(self, add: Callable[..., None]) -> None:
        one, two = self.of_set["Set-1"], self.of_set["Set-2"]

        def count(n: str, share: int) -> Tuple[int, str]:
            if n in other_ctas:
                return register_plan(one[n].block, one[n].registers, share).ctas, by_formula
            return self.peak(one[n], share_run(share)), ""

        def pad_count(n: str, share: int) -> Tuple[int, str]:
            if n in other_ctas:
                return plan_of(scratchpad_bytes, two[n].shared_bytes, share, most_by_threads(two[n].block)).ctas, by_formula
            return self.peak(two[n], pad_share_run(share)), ""

        for i, n in resident.items():
            add(number(i), *count(n, usual_share))
        for i, n in pad_resident.items():
            add(number(i), *pad_count(n, usual_share))
        for k, n in enumerate(register_programs):
            for share in shares:
                add(table_id(116, k, share), *count(n, share))
        for k, n in enumerate(pad_programs):
            for share in shares:
                add(table_id(206, k, share), *pad_count(n, share))
        add("SEC2.2.4-SIMULATED", all(self.peak(p, share_run(s)) == self.planned(p, share_run(s), s).ctas
                                      for p in one.values() for s in shares))
        wasted = [(self.wasted(file_rows, -(-p.block // 32) * p.registers), n) for n, p in one.items()]
        wasted += [(self.wasted(scratchpad_bytes, p.shared_bytes), n) for n, p in two.items()]
        add(number(54), percent * max(wasted)[0], max(wasted)[1])
        hotspot, lavamd = one["hotspot"], two["lavaMD"]
        rows = -(-self.threads(hotspot) // 32) * self.registers(hotspot)
        add(number(55), 32 * (file_rows - self.peak(hotspot, base) * rows))
        add(number(56), scratchpad_bytes - self.peak(lavamd, "pad-baseline") *
            rounded(self.shared_bytes(lavamd, "pad-baseline", lavamd.entries[0]), scratchpad_granularity))

    @staticmethod
    def wasted(size: int, of_cta: int) -> float:
        """Part of a resource that no CTA fits into."""
        return size % of_cta / size

    def _compare_reasons(self, add: Callable[..., None], one: Dict[str, Program]) -> None:
        """What the text of section 2.5.1 says beside its numbers."""
        hotspot, lib = one["hotspot"], one["LIB"]
        names = {run: title for run, (title, _, _) in variants.items()}
        add("FIG2.15-HOTSPOT", [names[r] for r in sorted(names, key=lambda r: -self.speed(hotspot, r))])
        add("FIG2.15-LIB-SAME", all(abs(self.gain(lib, r, "noopt")) < 0.5 for r in ("unrolled", "unrolled-dyn")))
        add("FIG2.15-LIB-OWF", self.speed(lib, shared, "unrolled-dyn") < 1)
        for n in ("sgemm", "backprop", "stencil"):
            add(f"FIG2.15-OWF-{n}", all(self.gain(one[n], r) < self.gain(one[n], shared) for r in variants if r != shared))
        add("SEC2.5.1.2-LIB", self.more_misses(lib, shared, "l2") > 0)
        add("SEC2.5.1.2-MRIQ", self.more_misses(one["mri-q"], shared, "l1") > 0)
        add("SEC2.5.1.4-BACKPROP-L1", self.more_misses(one["backprop"], shared, "l1", gto) > 0)
        add("SEC2.5.1.4-BACKPROP-L2", self.more_misses(one["backprop"], shared, "l2", gto))
        add("SEC2.5.1.4-STENCIL-L2", self.more_misses(one["stencil"], shared, "l2", gto) > 0)

    def fewer_idle(self, p: Program, run: str = shared, to: str = base) -> float:
        return percent * (1 - self.idle_cycles(p, run) / self.idle_cycles(p, to))

    def fewer_stalls(self, p: Program, run: str = shared, to: str = base) -> float:
        return percent * (1 - self.stall_cycles(p, run) / self.stall_cycles(p, to)) if self.stall_cycles(p, to) else 0.0

    def _compare_cycles(self, add: Callable[..., None], one: Dict[str, Program]) -> None:
        best, who = self.most(self.fewer_idle)
        add(number(46), best, who)
        add("FIG2.18-IDLE", sum(self.fewer_idle(p) > 0 for p in one.values()) >= len(one) - 1)
        for n in less_stalls:
            add(f"FIG2.18-{n}", self.fewer_stalls(one[n]) > 0)
        for n in more_stalls:
            add(f"FIG2.18-{n}", self.fewer_stalls(one[n]) < 0)

    def _compare_apart(self, add: Callable[..., None]) -> None:
        three = self.of_set["Set-3"].values()
        add("FIG2.22-LRR", all(self.cycles(p, "s3-shared-lrr") == self.cycles(p, "s3-baseline") for p in three))
        add("FIG2.22-GTO", all(self.cycles(p, "s3-shared-gto") == self.cycles(p, "s3-gto") for p in three))
        add("FIG2.22-OWF", max((self.gain(p, "s3-shared-owf", "s3-gto") for p in three), key=abs))

    def _compare_pads(self, add: Callable[..., None]) -> None:
        two, three = self.of_set["Set-2"], self.of_set["Set-3"].values()
        to = "pad-baseline"
        add(number(12), self.mean_gain(pad_shared, "Set-2", to))
        add(number(53), self.mean_gain(pad_divergence, "Set-2", to))
        best, who = self.most(lambda p: self.gain(p, pad_shared, to), "Set-2")
        add(number(14), best, who)
        for n, i in pad_gains.items():
            add(number(i), self.gain(two[n], pad_shared, to))
        for i, n in pad_steps.items():
            add(number(i), self.gain(two[n], pad_noopt, to))
        for i, other in {43: "pad-gto", 45: "pad-two_level"}.items():
            best, who = self.most(lambda p, other=other: self.gain(p, pad_shared, other), "Set-2")
            add(number(i), best, who)
        add(number(47), self.stall_cycles(two["lavaMD"], pad_shared) - self.stall_cycles(two["lavaMD"], to))
        add(number(48), self.fewer_idle(two["lavaMD"], pad_shared, to))
        best, who = self.most(lambda p: percent * (self.progress(p, pad_shared, "scratchpad_sharing") or 0.0), "Set-2")
        add(number(50), best, who)
        for k, n in enumerate(pad_programs):
            for share in shares[1:]:
                add(table_id(164, k, share), self.gain(two[n], pad_share_run(share), pad_share_run(0)))
        for n in pad_programs:
            more = self.gain(two[n], pad_shared, "pad-doubled")
            add(f"FIG2.20-{n}", more if n in pad_like_doubled else more < 0 if n in pad_slower_than_doubled else more > 0)
        add("SEC2.4-SCRATCHPAD", int(self.document(two["lavaMD"].kernel, pad_shared)["stats"]["scratchpad_sharing"]["storage_bits"]))
        add("FIG2.22B-LRR", all(self.cycles(p, "s3-pad-shared-lrr") == self.cycles(p, "s3-pad-baseline") for p in three))
        add("FIG2.22B-GTO", all(self.cycles(p, "s3-pad-shared-gto") == self.cycles(p, "s3-pad-gto") for p in three))
        add("FIG2.22B-OWF", max((self.gain(p, "s3-pad-shared-owf", "s3-pad-gto") for p in three), key=abs))
