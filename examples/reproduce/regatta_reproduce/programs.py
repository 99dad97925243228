# SPDX-License-Identifier: Apache-2.0
"""Evaluations by program instead of by kernel: for papers whose programs are single CUDA kernels, in sets, and whose
subject is how many CTAs an SM holds."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from regatta.means import geomean
from regatta.statistics import of_all_sms

from . import evaluation, plots
from .evaluation import baseline
from .page import Page, table
from .suite import Program, Shape, Suite, launches_of

percent = 100.0


@dataclass(frozen=True)
class Plan:
    """CTAs of an SM: conventional ones, and all with sharing."""
    conventional: int
    ctas: int

    @property
    def pairs(self) -> int:
        return self.ctas - self.conventional


def plan_of(size: int, of_cta: int, share: int, most: int) -> Plan:
    """D: `size` units of a resource, of which a CTA needs `of_cta`; other resources allow `most` CTAs. Exact."""
    fits = size // of_cta
    t = 1 - Fraction(share, 100)
    rest = Fraction(size, of_cta) - fits
    ctas = min(fits + int(rest / t), 2 * fits, most)
    return Plan(min(fits, most), max(ctas, min(fits, most)))


def rounded(units: int, granularity: int) -> int:
    return -(-units // granularity) * granularity


def programs_of(suite: Suite, of_set: str, kernel: str = "") -> Dict[str, Program]:
    """By the paper's name. A set is named by the beginning of its programs' group, or class if they are in the main list."""
    return {p.abbreviation or p.name: p for p in suite.programs
            if (p.group or p.paper_class).startswith(of_set) and kernel in ("", p.kernel)}


class ProgramEvaluation(evaluation.Evaluation):
    """Cycles and stalls are those of the launches of a program's entries. Counts of whole runs (caches, waits) are those
    of all launches."""

    #: programs_of() knows them.
    sets: Sequence[str] = ()

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.of_set: Dict[str, Dict[str, Program]] = {
            s: {n: p for n, p in programs_of(self.suite, s).items() if p.kernel in self.kernels} for s in self.sets}
        self._shapes: Dict[str, Dict[str, Shape]] = {}

    def names(self, of_set: str) -> List[str]:
        return list(self.of_set[of_set])

    # --- one program ---

    def launches(self, p: Program, run: str) -> List[Dict[str, Any]]:
        return [x for x in self.document(p.kernel, run)["launches"] if x["kernel"] in p.entries]

    def cycles(self, p: Program, run: str) -> float:
        return sum(x["cycles"] for x in self.launches(p, run))

    def speed(self, p: Program, run: str, to: str = baseline) -> float:
        """IPC over that of another run. The instructions are the same, apart from spills."""
        return self.cycles(p, to) / self.cycles(p, run)

    def gain(self, p: Program, run: str, to: str = baseline) -> float:
        return percent * (self.speed(p, run, to) - 1)

    def ipc(self, p: Program, run: str) -> float:
        """Thread instructions in a cycle of the simulated SMs."""
        return sum(x["thread_instructions"] for x in self.launches(p, run)) / self.cycles(p, run)

    def stalls(self, p: Program, run: str, *reasons: str) -> float:
        """Scheduler-cycles for these reasons."""
        return sum(x["stall_cycles"][r] for x in self.launches(p, run) for r in reasons)

    def stall_cycles(self, p: Program, run: str) -> float:
        """A warp is ready, and the units are busy: pipeline stall cycles."""
        return self.stalls(p, run, "structural")

    def idle_cycles(self, p: Program, run: str) -> float:
        """No warp is ready."""
        return self.stalls(p, run, "scoreboard", "issue_gate", "memory", "barrier", "instruction_fetch", "idle")

    def misses(self, p: Program, run: str, level: str) -> float:
        """Of reads, in the L1s or the L2, all launches."""
        stats = self.document(p.kernel, run)["stats"]
        if level == "l1":
            return of_all_sms(self.document(p.kernel, run), "l1", "read_misses")
        return sum(group["read_misses"] for path, group in stats.items() if path.startswith("memory.l2_"))

    def icache_misses(self, p: Program, run: str) -> float:
        """Of the simulated SMs, all launches."""
        return of_all_sms(self.document(p.kernel, run), "pipeline.icache", "misses")

    def more_misses(self, p: Program, run: str, level: str, to: str = baseline) -> float:
        return percent * (self.misses(p, run, level) / self.misses(p, to, level) - 1)

    def bus_share(self, p: Program, run: str) -> float:
        """Of the cycles, those in which the DRAM bus moves data, all launches."""
        d = self.document(p.kernel, run)
        channels = [group["busy_cycles"] for path, group in d["stats"].items() if path.startswith("memory.dram_")]
        return sum(channels) / len(channels) / d["cycles"]

    # --- CTAs ---

    def report(self, p: Program, run: str, entry: str) -> Dict[str, Any]:
        return next(x for x in self.results[(p.kernel, run)].report["entries"] if x["name"] == entry)

    def registers(self, p: Program, run: str = baseline) -> int:
        return self.report(p, run, p.entries[0])["registers"]

    def needed(self, p: Program, run: str = baseline) -> int:
        return self.report(p, run, p.entries[0]).get("registers_needed", self.registers(p, run))

    def shape(self, p: Program, run: str, entry: str) -> Shape:
        """Threads and dynamic shared memory of a CTA, from the launch file."""
        launch = self.results[(p.kernel, run)].run.trace.launch
        if str(launch) not in self._shapes:
            self._shapes[str(launch)] = {x.entry: x for x in launches_of(launch)}
        return self._shapes[str(launch)][entry]

    def shared_bytes(self, p: Program, run: str, entry: str) -> int:
        return self.report(p, run, entry)["shared_bytes"] + self.shape(p, run, entry).dynamic_shared

    def threads(self, p: Program, run: str = baseline) -> int:
        return self.shape(p, run, p.entries[0]).threads

    def spans(self, p: Program, run: str) -> Dict[Tuple[int, int], List[Tuple[int, int]]]:
        """When each CTA was resident, by launch and SM."""
        t = self.results[(p.kernel, run)].tables["ctas"]
        found: Dict[Tuple[int, int], List[Tuple[int, int]]] = {}
        for launch, sm, first, last in zip(t["launch"], t["sm"], t["launched"], t["finished"]):
            found.setdefault((int(launch), int(sm)), []).append((int(first), int(last)))
        return found

    def peak(self, p: Program, run: str) -> int:
        """Most CTAs that an SM held at a time, in launches of the program's entries."""
        mine = [i for i, x in enumerate(self.document(p.kernel, run)["launches"]) if x["kernel"] in p.entries]
        return max(max(n for _, n in occupancy(ctas)) for (launch, _), ctas in self.spans(p, run).items()
                   if launch in mine)

    def extra_warp_cycles(self, p: Program, run: str, planned: Callable[[str], Plan]) -> float:
        """Of the warps of non-owners, all launches: of the CTAs beyond the conventional number. `planned` is by entry."""
        launches = self.document(p.kernel, run)["launches"]
        total = 0.0
        for (launch, _), ctas in self.spans(p, run).items():
            entry = launches[launch]["kernel"]
            plan = planned(entry)
            if not plan.pairs:
                continue
            warps = -(-self.shape(p, run, entry).threads // 32)
            steps_in_time = occupancy(ctas)
            for (begin, n), (end, _) in zip(steps_in_time, steps_in_time[1:]):
                total += warps * max(0, n - plan.conventional) * (end - begin)
        return total

    # --- means; of the first set, unless another is named ---

    def mean_speed(self, run: str, of_set: str = "", to: str = baseline) -> float:
        return geomean(self.speed(p, run, to) for p in self.of_set[of_set or self.sets[0]].values())

    def mean_gain(self, run: str, of_set: str = "", to: str = baseline) -> float:
        return percent * (self.mean_speed(run, of_set, to) - 1)

    def most(self, of: Callable[[Program], float], of_set: str = "") -> Tuple[float, str]:
        """The greatest value, and whose it is."""
        return max((of(p), n) for n, p in self.of_set[of_set or self.sets[0]].items())


def occupancy(ctas: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """(cycle, CTAs from there on) of CTAs that are there from their first to their last cycle."""
    changes: Dict[int, int] = {}
    for first, last in ctas:
        changes[first] = changes.get(first, 0) + 1
        changes[last] = changes.get(last, 0) - 1
    out: List[Tuple[int, int]] = []
    n = 0
    for cycle in sorted(changes):
        n += changes[cycle]
        out.append((cycle, n))
    return out


def by_program(e: ProgramEvaluation, of_set: str, columns: Dict[str, str], cell: Callable[[Any, str], Any],
               last: Optional[Callable[[str], Any]] = None, first: str = "program") -> str:
    rows = [[n] + [cell(p, run) for run in columns] for n, p in e.of_set[of_set].items()]
    if last is not None and rows:
        rows.append(["geometric mean"] + [last(run) for run in columns])
    return table([first, *columns.values()], rows)


def bars(page: Page, e: ProgramEvaluation, figures: Optional[Path], name: str, title: str, of_set: str,
         columns: Dict[str, str], cell: Callable[[Any, str], Optional[float]], last: Optional[Callable[[str], float]],
         ylabel: str, **more: Any) -> None:
    programs = e.of_set[of_set]
    if figures is not None and programs:
        groups = list(programs) + (["geometric\nmean"] if last else [])
        series = {label: [cell(p, run) for p in programs.values()] + ([last(run)] if last else [])
                  for run, label in columns.items()}
        plots.grouped_bars(figures / name, groups, series, ylabel, **more)
    page.figure(name, title)
