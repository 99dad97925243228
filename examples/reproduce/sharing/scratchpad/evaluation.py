# SPDX-License-Identifier: Apache-2.0
"""The thesis's quantities, computed per program from our runs and compared with the thesis's numbers."""

from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from regatta.means import geomean, mean
from regatta_reproduce import ReproductionError, evaluation
from regatta_reproduce.paper import Comparisons
from regatta_reproduce.programs import Plan, ProgramEvaluation, percent, plan_of
from regatta_reproduce.suite import Program

base = evaluation.baseline
sms = 2
limited = ["Set-1", "Set-2"]
larger, multiplexed = "Table 3.7", "Table 3.8"
sets = [*limited, "Set-3", larger, multiplexed]
#: t, and the shared part in percent.
threshold, share = "0.1", 90

#: Table 3.2.
scratchpad_bytes, most_ctas, most_threads = 16384, 16, 3072
#: Table 3.6, by KB of scratchpad.
configuration = {48: ("--sm.ctas", "16", "--sm.threads", "2048", "--sm.warps", "64"),
                 64: ("--sm.ctas", "32", "--sm.threads", "2048", "--sm.warps", "64")}
larger_limits = {48: (16, 2048), 64: (32, 2048)}
#: GPGPU-Sim does not round a CTA's scratchpad: DCT1 with 2112 bytes has 14 CTAs with sharing, not 12.
without_rounding = ("--shared.granularity", "4")

#: Threads and bytes of scratchpad of our CTAs, by entry: for options that are needed before any run.
own_ctas = {
    "backprop_forward": (256, 1088), "dct8x8_forward": (64, 2112), "dct8x8_inverse": (64, 2112), "dct8x8_short_forward": (128, 2176),
    "dct8x8_short_inverse": (128, 2176), "n_queens_solve": (96, 15744), "srad2_gradients": (256, 6144), "srad2_update": (256, 5120),
    "fdtd3d_step": (256, 3840), "heartwall": (512, 11872), "histogram": (256, 1024), "marching_cubes_generate": (32, 9216),
    "needleman_wunsch_tiles": (32, 4616), "matrix_vector": (32, 4224), "fft_rows": (64, 8704), "scalar_product": (64, 4096),
    "convolution_separable_columns": (128, 5184)}
#: The thesis's CTA where Table 3.3 does not state it and ours does not limit the CTAs of an SM. Table 3.5 leaves 384 threads of NQU's 24,576 without
#: a jump, one of each CTA: with 64 threads, four stacks of 10 words and a sum have 10,496 bytes. backprop's and histogram's are
#: unknown, except that an SM holds one; they get the same.
assumed_bytes = {"NQU": 10496, "backprop": 10496, "histogram": 10496}
#: Programs that share the 16 KB with more and smaller CTAs than the thesis's, which has one: also run with one.
few = ["SRAD1", "SRAD2", "NW1", "NW2"]

#: By run: the thesis's name, whether the trace has the layout and relssp, options.
owf = ("--scheduler", "owf")
sharing = ("--scheme", "scratchpad_sharing", "--scratchpad_sharing.t", threshold, "--scratchpad_sharing.relssp")
shared, postdom, opt = "shared", "postdom", "opt"
variants = {
    "noopt": ("Shared-NoOpt", False, sharing + ("none",)),
    shared: ("Shared-OWF", False, sharing + ("none",) + owf),
    "reorder": ("Shared-OWF-Reorder", True, sharing + ("none",) + owf),
    postdom: ("Shared-OWF-PostDom", True, sharing + ("postdom",) + owf),
    opt: ("Shared-OWF-OPT", True, sharing + ("optimal",) + owf),
}
counted = (shared, opt)
#: Beside the thesis's variants: one change each.
alternatives = {"opt-lrr": ("Shared-LRR-OPT", True, sharing + ("optimal",)),
                "opt-gto": ("Shared-GTO-OPT", True, sharing + ("optimal", "--scheduler", "gto"))}
gto, two_level, base_owf = "baseline-gto", "baseline-two_level", "baseline-owf"
schedulers = {gto: ("Unshared-GTO", ("--scheduler", "gto")), two_level: ("Unshared-Two-Level", ("--scheduler", "two_level")),
              base_owf: ("Unshared-OWF", owf)}
doubled = "doubled"
#: Single changes on both sides.
changes_of_machine = {"icache": ("instruction cache of 16 KB", ("--icache.size_bytes", "16384")),
                      "bandwidth": ("256 MSHRs, four times the bandwidth", ("--l1.mshrs", "256", "--dram.bandwidth", "708000"))}
multiplexed_runs = {"m-baseline": ("Unshared-LRR", False, ()), "m-shared": ("Shared-OWF", False, sharing + ("none",) + owf),
                    "m-opt": ("Shared-OWF-OPT", True, sharing + ("optimal",) + owf)}
apart = {"s3-baseline": ("Unshared-LRR", False, ()), "s3-gto": ("Unshared-GTO", False, ("--scheduler", "gto")),
         "s3-owf": ("Unshared-OWF", False, owf), "s3-shared-lrr": ("Shared-LRR", False, sharing + ("none",)),
         "s3-opt-lrr": ("Shared-LRR-OPT", True, sharing + ("optimal",)),
         "s3-reorder-lrr": ("Shared-LRR, laid out, no relssp", True, sharing + ("none",)),
         "s3-shared-gto": ("Shared-GTO", False, sharing + ("none", "--scheduler", "gto")),
         "s3-opt-gto": ("Shared-GTO-OPT", True, sharing + ("optimal", "--scheduler", "gto")),
         "s3-shared-owf": ("Shared-OWF", False, sharing + ("none",) + owf), "s3-opt-owf": ("Shared-OWF-OPT", True, sharing + ("optimal",) + owf)}

#: Table 3.3's programs in order; SPCOMP-022 and the next four are backprop's row of Table 3.5, and so on.
in_order = ["backprop", "DCT1", "DCT2", "DCT3", "DCT4", "NQU", "SRAD1", "SRAD2", "FDTD3d", "heartwall", "histogram", "MC1", "NW1", "NW2"]
resident = {11: ("DCT1", base), 12: ("DCT1", opt), 13: ("DCT2", base), 14: ("DCT2", opt), 15: ("DCT3", base), 16: ("DCT3", opt),
            17: ("DCT4", base), 18: ("DCT4", opt)}
gains = {3: "backprop", 4: "heartwall", 5: "MC1", 6: "FDTD3d"}
#: Added instructions of a thread: only relssp; relssp and a jump; one or both.
only_relssp = dict(zip(range(92, 98), ["DCT1", "DCT2", "SRAD1", "SRAD2", "NW1", "NW2"]))
with_jump = dict(zip(range(98, 102), ["FDTD3d", "heartwall", "histogram", "MC1"]))
by_path = dict(zip(range(102, 106), ["backprop", "DCT3", "DCT4", "NQU"]))
faster_than_doubled = ["DCT3", "DCT4", "NQU", "heartwall"]
like_doubled = ["DCT1", "DCT2", "SRAD1", "SRAD2", "MC1"]
slower_than_doubled = ["backprop", "FDTD3d", "histogram", "NW1", "NW2"]
no_gain_of_sharing = ["FDTD3d", "histogram"]
no_gain_at_48 = ["FDTD3d", "DCT2"]
faster_than_64 = ["backprop", "DCT1", "histogram", "MC2", "NQU"]
better_postdom = ["backprop", "SRAD2"]
#: In percent: what is no change.
noticeable = 1.0


def number(i: int) -> str:
    return f"SPCOMP-{i:03d}"


def unlocked(ctas: int, run: str = base) -> str:
    """Twice the scratchpad, and at most so many CTAs: as many as sharing has, and no lock."""
    return f"{run}-ctas-{ctas}"


def theirs(p: Program) -> Optional[int]:
    """Bytes of the thesis's CTA, where it is needed; None: unknown, and ours is used as it is."""
    return p.shared_bytes or assumed_bytes.get(p.abbreviation or p.name)


def on_machine(run: str, change: Any, p: Optional[Program] = None) -> str:
    """A run on another machine; of Table 3.7: with so many KB, for the thesis's CTA."""
    return f"{run}-{change}" if p is None else f"{run}-{change}k-{theirs(p) or 'own'}"


def own_cta(p: Program) -> Tuple[int, int]:
    return own_ctas[p.entries[0]]


def size_of(p: Program, kilobytes: int = 16) -> int:
    """Bytes of an SM's scratchpad. Where the thesis's CTA has another size than ours, those that are to our CTA what the thesis's
    are to its own: an SM holds the same number of CTAs."""
    _, ours = own_cta(p)
    return 1024 * kilobytes * ours // (theirs(p) or ours) // 4 * 4


def few_bytes(p: Program) -> int:
    """So many that one CTA fits, and two with sharing."""
    return 156 * own_cta(p)[1] // 100 // 4 * 4


def plan_on(size: int, threads: int, ours: int, ctas: int = most_ctas, most: int = most_threads) -> Plan:
    """By the formula of section 2.2.4. Registers limit none of these programs."""
    return plan_of(size, ours, share, min(ctas, most // (-(-threads // 32) * 32)))


def plan(p: Program, kilobytes: int = 16) -> Plan:
    """Of our CTA."""
    return plan_on(size_of(p, kilobytes), *own_cta(p), *larger_limits.get(kilobytes, (most_ctas, most_threads)))


def plans_of(programs: Iterable[Program]) -> List[Plan]:
    return [plan(p) for p in programs]


class Evaluation(ProgramEvaluation):
    sets = sets

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        #: Set-1 and Set-2, in Table 3.3's order.
        self.limited: Dict[str, Program] = {n: p for s in limited for n, p in self.of_set[s].items()}

    def mean_over(self, speed: Callable[[Program], float], among: Optional[Iterable[Program]] = None) -> Optional[float]:
        """A geometric mean over Set-1 and Set-2, as a change in percent."""
        programs = list(self.limited.values() if among is None else among)
        return percent * (geomean(speed(p) for p in programs) - 1) if programs else None

    def mean_of(self, run: str, to: str = base, of_set: str = "") -> Optional[float]:
        return self.mean_over(lambda p: self.speed(p, run, to), self.of_set[of_set].values() if of_set else None)

    def unlocked_speed(self, p: Program, run: str = base) -> float:
        """Of a run with as many CTAs as sharing has, and no locks, over that run."""
        return self.speed(p, unlocked(plan(p).ctas, run), run)

    def other_speed(self, p: Program, kilobytes: int) -> float:
        """With sharing over without, in Table 3.7."""
        return self.speed(p, on_machine(opt, kilobytes, p), on_machine(base, kilobytes, p))

    def runs_at(self, kilobytes: int) -> Dict[str, Program]:
        return {n: p for n, p in self.of_set[larger].items() if str(kilobytes) in p.group}

    def fewer_cycles(self, p: Program) -> float:
        return percent * (1 - self.cycles(p, opt) / self.cycles(p, base))

    def belongs(self, run: str, of_set: str, p: Program) -> bool:
        """A run of the program in this set: kernels stand for programs of several sets."""
        if of_set == "Set-3":
            return run in apart
        if of_set == multiplexed:
            return run in multiplexed_runs
        if of_set == larger:
            return run in {on_machine(r, k, p) for r in (base, opt) for k in configuration}
        return not (run in apart or run in multiplexed_runs or "k-" in run)

    # --- what the compiler did ---

    def layout(self, p: Program) -> Dict[str, Any]:
        """Of the report."""
        return self.report(p, opt, p.entries[0])["sharing"]

    def added_by_path(self, p: Program) -> Tuple[int, int]:
        """Instructions that a thread executes more: at least and at most. Each path has one relssp, and a jump if its edge was split."""
        jumps, places = self.layout(p)["relssp_optimal_jumps"], self.layout(p)["relssp_optimal"]
        return (2 if jumps >= places else 1), (2 if jumps else 1)

    def added(self, p: Program, run: str = opt, to: str = base) -> float:
        """Warp instructions more than in the baseline."""
        return sum(x["issue_cycles"] - y["issue_cycles"] for x, y in zip(self.launches(p, run), self.launches(p, to)))

    def warps(self, p: Program) -> int:
        """Of all launches of the program's entries."""
        return sum(x["ctas"] for x in self.launches(p, base)) * -(-self.threads(p) // 32)

    def sharing(self, p: Program, run: str = opt) -> Dict[str, Any]:
        """Statistics of the scheme, of all launches of the kernel."""
        return self.document(p.kernel, run)["stats"]["scratchpad_sharing"]

    def progress(self, p: Program, run: str) -> Optional[float]:
        """Part of their cycles in which the additional warps do not wait for a lock, of all launches whose CTAs are known."""
        def planned(entry: str) -> Plan:
            return plan_on(size_of(p), *own_ctas[entry]) if entry in own_ctas else Plan(0, 0)

        cycles = self.extra_warp_cycles(p, run, planned)
        return max(0.0, 1 - self.sharing(p, run)["wait_cycles"] / cycles) if cycles else None

    # --- beside the thesis ---

    def compare(self, comparisons: Comparisons) -> None:
        if len(self.kernels) != len(self.suite.kernels):
            return
        self._check_ctas()
        add = comparisons.add
        self._compare_speed(add)
        self._compare_ctas(add)
        self._compare_instructions(add)
        self._compare_variants(add)
        self._compare_machines(add)
        self._compare_apart(add)

    def _check_ctas(self) -> None:
        for n, p in {**self.limited, **self.of_set[multiplexed]}.items():
            run = base if n in self.limited else "m-baseline"
            found = self.threads(p, run), self.shared_bytes(p, run, p.entries[0])
            if found != own_cta(p):
                raise ReproductionError(f"{p.entries[0]}: found a CTA of {found[0]} threads and {found[1]} bytes, expected {own_cta(p)}")

    def _compare_speed(self, add: Callable[..., None]) -> None:
        of = self.limited
        add(number(1), self.mean_of(opt))
        best = max(of, key=lambda n: self.gain(of[n], opt))
        add(number(2), self.gain(of[best], opt), best)
        for i, n in gains.items():
            add(number(i), self.gain(of[n], opt))
        fewest = max(of, key=lambda n: self.fewer_cycles(of[n]))
        add(number(7), self.fewer_cycles(of[fewest]), fewest)
        add(number(8), mean(self.fewer_cycles(p) for p in of.values()))
        add(number(9), self.mean_of(opt, gto))
        add(number(10), self.mean_of(opt, two_level))
        add("FIG3.9-MOST", sum(self.gain(p, opt) > noticeable for p in of.values()) > len(of) / 2)
        for n in ("SRAD1", "SRAD2"):
            add(f"FIG3.9-{n}", self.speed(of[n], opt, shared) > self.speed(of[n], shared))
        add("FIG3.9-FDTD3d-L1", self.more_misses(of["FDTD3d"], opt, "l1") > 0)
        add("FIG3.9-FDTD3d-L2", self.more_misses(of["FDTD3d"], opt, "l2") > 0)
        add("FIG3.9-histogram", self.gain(of["histogram"], opt))
        add("FIG3.13-FDTD3d-GTO", self.speed(of["FDTD3d"], opt, gto) < 1)
        add("FIG3.13-FDTD3d-TL", self.speed(of["FDTD3d"], opt, two_level) < 1)
        add("FIG3.13-histogram-GTO", self.speed(of["histogram"], opt, gto) < 1)
        add("FIG3.13-histogram-L1", self.more_misses(of["histogram"], opt, "l1", gto) > 0)
        add("FIG3.13-histogram-TL", self.speed(of["histogram"], opt, two_level) > 1)

    def _compare_ctas(self, add: Callable[..., None]) -> None:
        of = self.limited
        for i, (n, run) in resident.items():
            add(number(i), self.peak(of[n], run))
        add(number(19), self.peak(of["FDTD3d"], shared) - self.peak(of["FDTD3d"], base))
        others = [p for n, p in of.items() if not n.startswith("DCT") and n != "FDTD3d"]
        add(number(20), all(self.peak(p, base) == 1 for p in others))
        add(number(21), all(self.peak(p, shared) - self.peak(p, base) == 1 for p in others))
        add("FIG3.8-OPT", all(self.peak(p, opt) == self.peak(p, shared) for p in of.values()))
        add("FIG3.8-FORMULA", all(self.peak(p, base) == plan(p).conventional and self.peak(p, shared) == plan(p).ctas for p in of.values()))

    def _compare_instructions(self, add: Callable[..., None]) -> None:
        of = self.limited
        for k, n in enumerate(in_order):
            add(number(22 + 5 * k + 2), self.added(of[n], shared) == 0)
        for i, n in {**only_relssp, **with_jump}.items():
            add(number(i), self.added_by_path(of[n])[1])
        for i, n in by_path.items():
            add(number(i), self.added_by_path(of[n]) == (1, 2))
        add(number(106), self.shared_bytes(of["DCT1"], base, of["DCT1"].entries[0]))

    def _compare_variants(self, add: Callable[..., None]) -> None:
        of, one, two = self.limited, self.of_set["Set-1"], self.of_set["Set-2"]
        for n, p in of.items():
            gain = self.gain(p, "noopt")
            add(f"FIG3.10-NOOPT-{n}", gain <= noticeable if n in no_gain_of_sharing else gain > 0)
        add("FIG3.10-OWF", self.mean_of(shared) > self.mean_of("noopt"))
        add("FIG3.10-REORDER", max((self.gain(p, "reorder", shared) for p in of.values()), key=abs))
        add("FIG3.10-SET1", all(max(self.gain(p, r, shared) for r in (postdom, opt)) > 0 for p in one.values()))
        for n in better_postdom:
            add(f"FIG3.10-POSTDOM-{n}", self.speed(of[n], postdom) > self.speed(of[n], opt))
        rest = [p for n, p in one.items() if n not in better_postdom]
        add("FIG3.10-OPT", sum(self.speed(p, opt) >= self.speed(p, postdom) for p in rest) > len(rest) / 2)
        add("FIG3.10-SRAD2-STALLS", self.stall_cycles(of["SRAD2"], opt) > self.stall_cycles(of["SRAD2"], postdom))
        add("FIG3.10-SET2", self.mean_over(lambda p: self.speed(p, opt, shared), two.values()))
        add("FIG3.10-ORDER", self.mean_of("noopt", of_set="Set-1") <= self.mean_of(shared, of_set="Set-1") <=
            self.mean_of(postdom, of_set="Set-1") <= self.mean_of(opt, of_set="Set-1"))
        add("FIG3.12-HEARTWALL", self.sharing(of["heartwall"])["common_accesses"] == 0)
        single = ["DCT1", "DCT2", "DCT3", "DCT4", "FDTD3d"]
        add("FIG3.12-SINGLE", all(self.layout(of[n])["variables"] == 1 and self.cycles(of[n], "reorder") == self.cycles(of[n], shared)
                                  for n in single))
        add("FIG3.12-HEARTWALL-SINGLE", self.layout(of["heartwall"])["variables"] == 1)

    def _compare_machines(self, add: Callable[..., None]) -> None:
        of = self.limited
        for n, p in of.items():
            more = self.gain(p, opt, doubled)
            add(f"FIG3.14-{n}", more if n in like_doubled else more > 0 if n in faster_than_doubled else more < 0)
        for kilobytes in configuration:
            for n, p in self.runs_at(kilobytes).items():
                if plan(p, kilobytes).pairs:
                    faster = self.other_speed(p, kilobytes) > 1
                    add(f"FIG3.15-{kilobytes}-{n}", not faster if kilobytes == 48 and n in no_gain_at_48 else faster)
        for n in faster_than_64:
            p = self.of_set[larger][n]
            add(f"FIG3.15-48-64-{n}", self.speed(p, on_machine(opt, 48, p), on_machine(base, 64, p)) > 1)
        p = self.of_set[larger]["DCT2"]
        add("FIG3.15-DCT2-64", self.speed(p, on_machine(base, 64, p), on_machine(base, 48, p)) <= 1 + noticeable / percent)
        add("FIG3.15-DCT2-OPT", self.speed(p, on_machine(opt, 48, p), on_machine(opt, 64, p)) > 1)
        rows = self.of_set[multiplexed]
        for n in ("MC", "FFT"):
            add(f"FIG3.16-{n}", self.speed(rows[n], "m-opt", "m-baseline") > 1)
        for n in ("HG", "MV"):
            add(f"FIG3.16-{n}", self.gain(rows[n], "m-opt", "m-baseline"))

    def _compare_apart(self, add: Callable[..., None]) -> None:
        three = self.of_set["Set-3"].values()
        for scheduler, to in (("lrr", "s3-baseline"), ("gto", "s3-gto")):
            for run in ("shared", "opt"):
                add(f"FIG3.17-{run.upper()}-{scheduler.upper()}", all(self.cycles(p, f"s3-{run}-{scheduler}") == self.cycles(p, to) for p in three))
        add("FIG3.17-OWF", max((self.gain(p, "s3-shared-owf", "s3-gto") for p in three), key=abs))
        add("FIG3.17-OWF-OPT", all(self.cycles(p, "s3-opt-owf") == self.cycles(p, "s3-shared-owf") for p in three))
        add("FIG3.17-NONE", all(self.added(p, "s3-opt-lrr", "s3-baseline") == 0 for p in three))
