# SPDX-License-Identifier: Apache-2.0
"""Which structure of the machine explains a difference in cycles.

A structure is suspected by the reasons for which schedulers waited longer, by signals of its own that have grown (a miss
rate, waits per access), and by its knobs if they differ. A signal of a structure behind others is held against the traffic
that reaches it: a queue that is longer because more requests come is an effect of what sends them.
"""

import math
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .difference import Difference
from .statistics import Run

Measure = Callable[[Run], float]


class Signal(NamedTuple):
    """`above / below` per run. `what`: as in "L1 misses per read"."""
    what: str
    above: Measure
    below: Measure

    def value(self, run: Run) -> Optional[float]:
        below = self.below(run)
        return self.above(run) / below if below else None


class Structure(NamedTuple):
    name: str
    reasons: Sequence[str]        # for which schedulers wait if it is slow
    knobs: Sequence[str]          # beginnings of their names
    signals: Sequence[Signal] = ()
    traffic: Sequence[Signal] = ()  # what reaches it per instruction
    direct: Sequence[str] = ()    # of the reasons, those that nothing else causes


class Suspect(NamedTuple):
    structure: Structure
    score: float
    points: float                               # per cent of A's cycles, in its reasons
    signals: List[Tuple[str, float, float]]     # what, in A, in B: those that have grown
    knobs: List[Tuple[str, object, object]]     # name, in A, in B: those that may make the slower run slow


def _sum(module: str, *names: str) -> Measure:
    return lambda run: sum(run.total(module, name) for name in names)


def _instructions(run: Run) -> float:
    return float(run.document.get("warp_instructions", 0))


def _cycles(run: Run) -> float:
    return float(run.cycles)


_sm = r"sm\d+\."
_l1, _l2, _dram = _sm + "l1", r"memory\.l2_\d+", r"memory\.dram_\d+"
_net = r"memory\.interconnect"
_pipeline, _lsu = _sm + "pipeline", _sm + r"pipeline\.lsu"
_beyond = ("memory", "structural_lsu")  # memory that is slow fills the load-store unit
_operands = ("scoreboard", "structural_sp", "structural_sfu", "structural_dp", "structural_lsu")

STRUCTURES: Sequence[Structure] = (
    Structure("register file", _operands, ("register_file.",), (
        Signal("waits per read", _sum(_sm + "register_file", "read_wait"),
               _sum(_sm + "register_file", "reads")),
        Signal("waits per write", _sum(_sm + "register_file", "write_wait"), _sum(_sm + "register_file", "writes")))),
    Structure("operand collectors", _operands[1:], ("collector.",), (
        Signal("reads held at the banks", _sum(_pipeline + r"\.collectors", "held_reads"),
               _sum(_pipeline + r"\.collectors", "reads")),), direct=_operands[1:]),
    Structure("execution units", _operands, ("unit.", "initiation."), (
        Signal("busy cycles per SP instruction", _sum(_pipeline + r"\.execution", "sp_busy"),
               _sum(_pipeline + r"\.execution", "sp_instructions")),
        Signal("busy cycles per SFU instruction", _sum(_pipeline + r"\.execution", "sfu_busy"),
               _sum(_pipeline + r"\.execution", "sfu_instructions")),
        Signal("busy cycles per DP instruction", _sum(_pipeline + r"\.execution", "dp_busy"),
               _sum(_pipeline + r"\.execution", "dp_instructions")))),
    Structure("latency of instructions", ("scoreboard",), ("latency.",)),
    Structure("write-back", _operands, ("writeback.",), (
        Signal("attempts held per write", _sum(_pipeline + r"\.writeback", "held_attempts"),
               _sum(_pipeline + r"\.writeback", "writes")),)),
    Structure("shared memory", ("scoreboard", "structural_lsu"), ("shared.banks", "shared.latency"), (
        Signal("passes per access", _sum(_lsu, "shared_passes"), _sum(_lsu, "shared_instructions")),)),
    Structure("load-store unit", ("structural_lsu", "memory", "scoreboard"), ("lsu.",), (
        Signal("attempts held per request", _sum(_lsu, "held_attempts"), _sum(_lsu, "requests")),
        Signal("requests per instruction", _sum(_lsu, "requests"), _sum(_lsu, "global_instructions")))),
    Structure("L1", ("memory", "structural_lsu"), ("l1.",), (
        Signal("misses per read", _sum(_l1, "read_misses", "bypassed_reads"), _sum(_l1, "reads")),
        Signal("reads and writes that had to wait", _sum(_l1, "reservation_failures"), _sum(_l1, "reads", "writes")))),
    Structure("interconnect", _beyond, ("interconnect.",), (
        Signal("refusals per packet", _sum(_net, "request_refusals", "response_refusals"),
               _sum(_net, "request_packets", "response_packets")),
        Signal("flits per packet", _sum(_net, "request_flits", "response_flits"),
               _sum(_net, "request_packets", "response_packets"))),
        (Signal("packets per instruction", _sum(_net, "request_packets"), _instructions),)),
    Structure("L2", _beyond, ("l2.",), (
        Signal("misses per read", _sum(_l2, "read_misses"), _sum(_l2, "reads")),
        Signal("bank conflicts per access", _sum(_l2, "bank_conflicts"), _sum(_l2, "reads", "writes")),
        Signal("accesses that had to wait", _sum(_l2, "reservation_failures", "refusals"),
               _sum(_l2, "reads", "writes"))),
        (Signal("requests per instruction", _sum(_l2, "reads", "writes"), _instructions),)),
    Structure("DRAM", _beyond, ("dram.", "machine.clock_mhz"), (
        Signal("cycles in the queue per access", _sum(_dram, "queue_entry_cycles"), _sum(_dram, "reads", "writes")),
        Signal("bus cycles per byte", _sum(_dram, "busy_cycles"), _sum(_dram, "bytes_read", "bytes_written")),
        Signal("row misses per access", _sum(_dram, "row_misses", "row_conflicts"), _sum(_dram, "reads", "writes"))),
        (Signal("requests per instruction", _sum(_dram, "reads", "writes"), _instructions),)),
    Structure("instruction cache and fetch", ("instruction_fetch",), ("icache.", "fetch."), (
        Signal("misses per fetch", _sum(_pipeline + r"\.icache", "misses"), _sum(_pipeline, "fetches")),
        Signal("waits per fetch", _sum(_pipeline, "line_waits"), _sum(_pipeline, "fetches"))),
        direct=("instruction_fetch",)),
    Structure("constant cache", ("scoreboard", "instruction_fetch", "memory"), ("constant_cache.",), (
        Signal("misses per access", _sum(_pipeline + r"\.constant_cache", "misses"),
               _sum(_pipeline + r"\.constant_cache", "hits", "misses")),)),
    Structure("warps in flight", ("idle", "memory", "scoreboard", "barrier", "instruction_fetch"),
              ("sm.ctas", "sm.warps", "sm.threads", "sm.residency", "sm.registers_per_thread", "sm.register_granularity",
               "shared.bytes", "shared.granularity", "shared.cta_bytes", "register_file.registers"), (
        Signal("SM cycles per resident CTA", _cycles,
               lambda run: run.cycles * run.total(_pipeline, "resident_ctas_mean")),)),
    Structure("warp scheduler", ("structural_scheduler", "idle", "memory", "scoreboard", "barrier", "instruction_fetch"),
              ("sm.scheduler", "scheduler.", "sm.schedulers", "sm.issue_interval", "sm.issue_width", "run.scheduler"),
              direct=("structural_scheduler",)),
    Structure("barriers", ("barrier",), ("sm.barrier_latency",), direct=("barrier",)),
    Structure("scheme of operand storage", ("issue_gate", "scoreboard", "memory", "structural_lsu", "instruction_fetch"),
              ("run.scheme",), direct=("issue_gate",)),
    Structure("the program", ("issued",), ("run.kernel",), (
        Signal("warp instructions", _instructions, lambda run: 1.0),), direct=("issued",)),
)


def _growth(signal: Signal, a: Run, b: Run) -> Optional[Tuple[float, float, float]]:
    """(logarithm of the growth, A, B); None without the signal in both."""
    x, y = signal.value(a), signal.value(b)
    if x is None or y is None:
        return None
    floor = 0.005  # below this share or number nothing is noticed
    return math.log2((max(y, 0.0) + floor) / (max(x, 0.0) + floor)), x, y


def changed_knobs(a: Run, b: Run) -> Dict[str, Tuple[object, object]]:
    before, after = a.config(), b.config()
    names = list(before) + [n for n in after if n not in before]
    found = {n: (before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)}
    # A knob that stats.json has twice, under two names, is one change.
    if "sm.scheduler" in found and found.get("run.scheduler") == found["sm.scheduler"]:
        del found["run.scheduler"]
    return found


# What a run must have for a knob to matter: (beginnings of names, statistics).
_execution = _pipeline + r"\.execution"
_NEEDS: Sequence[Tuple[Sequence[str], Measure]] = (
    (("latency.fp64", "initiation.fp64", "unit.dp", "collector.dp"), _sum(_execution, "fp64_instructions")),
    (("latency.fp32", "initiation.fp32"), _sum(_execution, "fp32_instructions")),
    (("latency.int", "initiation.int"), _sum(_execution, "integer_instructions")),
    (("latency.sfu", "initiation.sfu", "unit.sfu", "collector.sfu"), _sum(_execution, "special_instructions")),
    (("latency.constant", "initiation.constant"), _sum(_execution, "constant_instructions")),
    (("constant_cache.",), _sum(_pipeline + r"\.constant_cache", "hits", "misses")),
    (("shared.banks", "shared.latency"), _sum(_lsu, "shared_instructions")),
    (("lsu.", "collector.mem"), _sum(_execution, "lsu_instructions")),
    (("l1.",), _sum(_l1, "reads", "writes")),
    (("interconnect.",), _sum(_net, "request_packets")),
    (("l2.",), _sum(_l2, "reads", "writes")),
    (("dram.",), _sum(_dram, "reads", "writes")),
)
# Knobs of which more is slower; of other numbers, less is slower.
_MORE_IS_SLOWER = ("latency", "initiation.", "interval", "arbitration", "granularity", "header_flits", "entry_latency")
# Reasons for which a knob of one unit can matter.
_OF_UNIT = (((".sp",), ("structural_sp", "scoreboard")), ((".sfu",), ("structural_sfu", "scoreboard")),
            ((".dp", ".fp64"), ("structural_dp", "scoreboard")), ((".mem",), ("structural_lsu",)))


def _reasons_of(knob: str, structure: Structure) -> Sequence[str]:
    if structure.name in ("operand collectors", "execution units"):
        for parts, reasons in _OF_UNIT:
            if any(p in knob for p in parts):
                return [r for r in reasons if r in structure.reasons]
    return structure.reasons


def _weight(knob: str, slow: Run, before: object, after: object) -> float:
    """0: it cannot have made the slower run (`after`) slow; 1: it was changed by a factor of two or more, or is no
    number."""
    for beginnings, measure in _NEEDS:
        if knob.startswith(tuple(beginnings)) and measure(slow) == 0:
            return 0.0
    numbers = [v for v in (before, after) if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) < 2:
        return 1.0
    x, y = float(numbers[0]), float(numbers[1])
    slower = y > x if any(part in knob for part in _MORE_IS_SLOWER) else y < x
    if not slower:
        return 0.0
    return 1.0 if min(x, y) <= 0 else min(1.0, abs(math.log2(y / x)))


def _owner(knob: str) -> Optional[str]:
    """The structure with the longest beginning of the knob's name; a scheme's own knobs belong to the scheme."""
    best, length = None, -1
    for s in STRUCTURES:
        for prefix in s.knobs:
            if knob.startswith(prefix) and len(prefix) > length:
                best, length = s.name, len(prefix)
    if best is None and not knob.startswith(("run.", "machine.", "sm.", "energy.")):
        return "scheme of operand storage"
    return best


def suspects(difference: Difference) -> List[Suspect]:
    """The most likely one first. Explains additional cycles; of a faster run, those that A has and B has not."""
    a, b = difference.a, difference.b
    if difference.more < 0:
        a, b = b, a
    sign = 1 if difference.more >= 0 else -1
    reasons = {reason: sign * difference.points(more) for reason, more in difference.by_reason().items()}
    total = abs(difference.points(difference.b.cycles - difference.a.cycles)) or 1.0  # type: ignore[arg-type]
    knobs = changed_knobs(difference.a, difference.b)
    owned: Dict[str, List[Tuple[str, object, object, float]]] = {}
    for name, (x, y) in knobs.items():
        owner = _owner(name)
        weight = _weight(name, b, *((x, y) if sign > 0 else (y, x)))
        if owner is not None and weight > 0:
            owned.setdefault(owner, []).append((name, x, y, weight))
    found = []
    for s in STRUCTURES:
        points = sum(max(0.0, reasons.get(r, 0.0)) for r in s.reasons)
        direct = sum(max(0.0, reasons.get(r, 0.0)) for r in s.direct)
        load = max([g[0] for g in (_growth(t, a, b) for t in s.traffic) if g] + [0.0])
        grown, strength = [], 0.0
        for signal in s.signals:
            growth = _growth(signal, a, b)
            if growth is None:
                continue
            own = growth[0] - load
            if own > 0.1:
                grown.append((signal.what,) + ((growth[1], growth[2]) if sign > 0 else (growth[2], growth[1])))
            strength = max(strength, min(3.0, max(0.0, own)) / 3)
        share = min(1.0, points / total)
        score = share * (0.15 + strength) + 0.5 * min(1.0, direct / total)
        mine = owned.get(s.name, [])
        if mine:
            # A knob that was changed can be a cause. Anything else is an effect, or the cause is no knob.
            name, _, _, weight = max(mine, key=lambda k: k[3])
            reached = sum(max(0.0, reasons.get(r, 0.0)) for r in _reasons_of(name, s))
            score = (1 + 3 * weight) * (score if reached else 0.1 * score) + 0.1 * weight
        if score > 0.05:
            found.append(Suspect(s, score, points, grown, [k[:3] for k in mine]))
    return sorted(found, key=lambda f: -f.score)
