# SPDX-License-Identifier: Apache-2.0
"""Which structure of the machine explains a difference in cycles.

A structure is suspected by the reasons for which schedulers waited longer, by signals of its own that have grown (a miss
rate, waits per access), and by its knobs if they differ. A signal of a structure behind others is held against the traffic
that reaches it: a queue that is longer because more requests come is an effect of what sends them.
"""

import math
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import waits
from .difference import Difference
from .effects import SCHEME, TIMES, Candidate, Measure, Time, dram, execution, explained, l1, l2, lsu, net, pipeline, sm, total
from .statistics import Run
from .waits import Loss, Wait


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
    times: Sequence[Time] = ()    # that grow if it becomes slower


class Suspect(NamedTuple):
    structure: Structure
    score: float
    points: float                               # per cent of A's cycles, in its reasons
    signals: List[Tuple[str, float, float]]     # what, in A, in B: those that have grown
    knobs: List[Tuple[str, object, object]]     # name, in A, in B: those that may make the slower run slow
    loss: Optional[Loss] = None                 # of a block of the slower run's scheme


def _instructions(run: Run) -> float:
    return float(run.document.get("warp_instructions", 0))


def _cycles(run: Run) -> float:
    return float(run.cycles)


_beyond = ("memory", "structural_lsu")  # memory that is slow fills the load-store unit
_HELD = ("issue_gate", "scoreboard", "memory", "structural_sp", "structural_sfu", "structural_dp", "structural_tensor",
         "structural_lsu",         "instruction_fetch", "idle")
_operands = ("scoreboard", "structural_sp", "structural_sfu", "structural_dp", "structural_tensor", "structural_lsu")

_INSERTED = "instructions that the scheme inserts"  # the program's are the same (comparable.py)

_STRUCTURES: Sequence[Structure] = (
    Structure("register file", _operands, ("register_file.",), (
        Signal("waits per read", total(sm + "register_file", "read_wait"),
               total(sm + "register_file", "reads")),
        Signal("waits per write", total(sm + "register_file", "write_wait"), total(sm + "register_file", "writes")))),
    Structure("operand collectors", _operands[1:], ("collector.",), (
        Signal("reads held at the banks", total(pipeline + r"\.collectors", "held_reads"),
               total(pipeline + r"\.collectors", "reads")),), direct=_operands[1:]),
    Structure("operand path of sub-cores", ("allocate", "result_queue", *_operands), ("sub_core.", "sm.operand_path"), (
        Signal("cycles in the allocate stage per instruction", total(pipeline + r"\.sub_cores", "allocate_waits"),
               total(pipeline + r"\.sub_cores", "instructions")),
        Signal("attempts without a port per read", total(pipeline + r"\.sub_cores", "queue_waits"),
               total(pipeline + r"\.sub_cores", "reads"))), direct=("allocate", "result_queue")),
    Structure("control bits", ("stall_count", "yield", "counter", "scoreboard", "memory"), ("sm.dependences",),
              direct=("stall_count", "yield", "counter")),
    Structure("execution units", _operands, ("unit.", "initiation."), (
        Signal("busy cycles per SP instruction", total(pipeline + r"\.execution", "sp_busy"),
               total(pipeline + r"\.execution", "sp_instructions")),
        Signal("busy cycles per SFU instruction", total(pipeline + r"\.execution", "sfu_busy"),
               total(pipeline + r"\.execution", "sfu_instructions")),
        Signal("busy cycles per DP instruction", total(pipeline + r"\.execution", "dp_busy"),
               total(pipeline + r"\.execution", "dp_instructions")),
        Signal("busy cycles per matrix product", total(pipeline + r"\.execution", "tensor_busy"),
               total(pipeline + r"\.execution", "tensor_instructions")))),
    Structure("latency of instructions", ("scoreboard",), ("latency.",)),
    Structure("write-back", _operands, ("writeback.",), (
        Signal("attempts held per write", total(pipeline + r"\.writeback", "held_attempts"),
               total(pipeline + r"\.writeback", "writes")),)),
    Structure("shared memory", ("scoreboard", "structural_lsu"), ("shared.banks", "shared.latency"), (
        Signal("passes per access", total(lsu, "shared_passes"), total(lsu, "shared_instructions")),)),
    Structure("load-store unit", ("structural_lsu", "memory", "scoreboard"), ("lsu.",), (
        Signal("attempts held per request", total(lsu, "held_attempts"), total(lsu, "requests")),
        Signal("requests per instruction", total(lsu, "requests"), total(lsu, "global_instructions")))),
    Structure("L1", ("memory", "structural_lsu"), ("l1.",), (
        Signal("misses per read", total(l1, "read_misses", "bypassed_reads"), total(l1, "reads")),
        Signal("reads and writes that had to wait", total(l1, "reservation_failures"), total(l1, "reads", "writes")))),
    Structure("interconnect", _beyond, ("interconnect.",), (
        Signal("refusals per packet", total(net, "request_refusals", "response_refusals"),
               total(net, "request_packets", "response_packets")),
        Signal("flits per packet", total(net, "request_flits", "response_flits"),
               total(net, "request_packets", "response_packets"))),
        (Signal("packets per instruction", total(net, "request_packets"), _instructions),)),
    Structure("L2", _beyond, ("l2.",), (
        Signal("misses per read", total(l2, "read_misses"), total(l2, "reads")),
        Signal("bank conflicts per access", total(l2, "bank_conflicts"), total(l2, "reads", "writes")),
        Signal("accesses that had to wait", total(l2, "reservation_failures", "refusals"),
               total(l2, "reads", "writes"))),
        (Signal("requests per instruction", total(l2, "reads", "writes"), _instructions),)),
    Structure("DRAM", _beyond, ("dram.", "machine.clock_mhz", "machine.memory"), (
        Signal("cycles in the queue per access", total(dram, "queue_entry_cycles"), total(dram, "reads", "writes")),
        Signal("bus cycles per byte", total(dram, "busy_cycles"), total(dram, "bytes_read", "bytes_written")),
        Signal("row misses per access", total(dram, "row_misses", "row_conflicts"), total(dram, "reads", "writes"))),
        (Signal("requests per instruction", total(dram, "reads", "writes"), _instructions),)),
    Structure("instruction cache and fetch", ("instruction_fetch",), ("icache.", "fetch."), (
        Signal("misses per fetch", total(pipeline + r"\.icache", "misses"), total(pipeline, "fetches")),
        Signal("waits per fetch", total(pipeline, "line_waits"), total(pipeline, "fetches"))),
        direct=("instruction_fetch",)),
    Structure("constant cache", ("scoreboard", "instruction_fetch", "memory"), ("constant_cache.",), (
        Signal("misses per access", total(pipeline + r"\.constant_cache", "misses"),
               total(pipeline + r"\.constant_cache", "hits", "misses")),)),
    Structure("texture units and cache", ("scoreboard", "structural_lsu", "memory"), ("texture.", "texture_cache."), (
        Signal("lines per fetch", total(lsu, "texture_lines"), total(lsu, "texture_instructions")),
        Signal("misses per lookup", total(pipeline + r"\.lsu\.texture_cache", "misses"),
               total(pipeline + r"\.lsu\.texture_cache", "hits", "misses")),)),
    Structure("warps in flight", ("idle", "memory", "scoreboard", "barrier", "instruction_fetch"),
              ("sm.ctas", "sm.warps", "sm.threads", "sm.cta_launch", "sm.warp_launch", "sm.residency", "sm.registers_per_thread", "sm.register_granularity",
               "shared.bytes", "shared.granularity", "shared.cta_bytes", "register_file.registers"), (
        Signal("SM cycles per resident CTA", _cycles,
               lambda run: run.cycles * run.total(pipeline, "resident_ctas_mean")),)),
    Structure("warp scheduler", ("structural_scheduler", "idle", "memory", "scoreboard", "barrier", "instruction_fetch"),
              ("sm.scheduler", "scheduler.", "sm.schedulers", "sm.issue_interval", "sm.issue_width", "run.scheduler"),
              direct=("structural_scheduler",)),
    Structure("barriers", ("barrier",), ("sm.barrier_latency", "sm.barrier_interval"), direct=("barrier",)),
    Structure(SCHEME, _HELD, ("run.scheme",), direct=("issue_gate",)),
    Structure(_INSERTED, ("issued",), (), (
        Signal("warp instructions", _instructions, lambda run: 1.0),), direct=("issued",)),
)
STRUCTURES: Sequence[Structure] = [s._replace(times=TIMES.get(s.name, ())) for s in _STRUCTURES]
LEAST_SHARE = 0.01  # of the time of warps, below which a block of a scheme is not suspected


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
_NEEDS: Sequence[Tuple[Sequence[str], Measure]] = (
    (("latency.fp64", "initiation.fp64", "unit.dp", "collector.dp"), total(execution, "fp64_instructions")),
    (("latency.tensor", "initiation.tensor", "unit.tensor", "tensor."), total(execution, "tensor_instructions")),
    (("latency.fp32", "initiation.fp32"), total(execution, "fp32_instructions")),
    (("latency.int", "initiation.int"), total(execution, "integer_instructions")),
    (("latency.sfu", "initiation.sfu", "unit.sfu", "collector.sfu"), total(execution, "special_instructions")),
    (("latency.constant", "initiation.constant"), total(execution, "constant_instructions")),
    (("constant_cache.",), total(pipeline + r"\.constant_cache", "hits", "misses")),
    (("texture.", "texture_cache."), total(lsu, "texture_instructions")),
    (("shared.banks", "shared.latency"), total(lsu, "shared_instructions")),
    (("lsu.", "collector.mem"), total(execution, "lsu_instructions")),
    (("l1.",), total(l1, "reads", "writes")),
    (("interconnect.",), total(net, "request_packets")),
    (("l2.",), total(l2, "reads", "writes")),
    (("dram.",), total(dram, "reads", "writes")),
)
# Knobs of which more is slower; of other numbers, less is slower.
_MORE_IS_SLOWER = ("latency", "initiation.", "interval", "arbitration", "granularity", "header_flits", "header_bytes", "entry_latency",
                   "_launch")

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


def _owner(knob: str, structures: Sequence[Structure]) -> Optional[str]:
    """The structure with the longest beginning of the knob's name; a scheme's own knobs belong to the block whose waits they
    shorten, or to the scheme."""
    best, length = None, -1
    for s in structures:
        for prefix in s.knobs:
            if knob.startswith(prefix) and len(prefix) > length:
                best, length = s.name, len(prefix)
    if best is None and not knob.startswith(("run.", "machine.", "sm.", "energy.")):
        return SCHEME
    return best


def is_of_machine(knob: str) -> bool:
    """Whether a knob is one of the machine, which all schemes have."""
    return _owner(knob, STRUCTURES) != SCHEME


def _grown(structure: Structure, a: Run, b: Run, sign: int) -> Tuple[List[Tuple[str, float, float]], float]:
    """Signals that have grown from the faster to the slower run, as (what, A, B), and how much the strongest has, 0 to 1."""
    load = max([g[0] for g in (_growth(t, a, b) for t in structure.traffic) if g] + [0.0])
    grown, strength = [], 0.0
    for signal in structure.signals:
        growth = _growth(signal, a, b)
        if growth is None:
            continue
        own = growth[0] - load
        if own > 0.1:
            grown.append((signal.what,) + ((growth[1], growth[2]) if sign > 0 else (growth[2], growth[1])))
        strength = max(strength, min(3.0, max(0.0, own)) / 3)
    return grown, strength


def _blocks(slow: Run) -> List[Structure]:
    """The blocks of a run's scheme, with the knobs of their waits."""
    found: Dict[str, List[Wait]] = {}
    for wait in waits.of_run(slow):
        if wait.of != "residents":
            found.setdefault(wait.block, []).append(wait)
    return [Structure(block, _HELD, list(dict.fromkeys(k for w in parts for k in w.knobs)),
                      times=[_time(w) for w in parts])
            for block, parts in found.items()]


def _time(wait: Wait) -> Time:
    if wait.of == "module":
        return Time(False, lambda run, _: wait.share(run) * run.cycles)
    return Time(True, lambda run, _: wait.cycles(run))


def _inside(other: Run, run: Run, score: float, points: float) -> List[Suspect]:
    """Blocks of a run's scheme that hold its warps back. `score`: of all of its warps' time."""
    return [Suspect(Structure(loss.block, _HELD, ()), score * min(0.99, loss.share), points, [], [], loss)
            for loss in waits.losses(other, run) if loss.share >= LEAST_SHARE]


def suspects(difference: Difference) -> List[Suspect]:
    """The most likely one first. Explains additional cycles; of a faster run, those that A has and B has not. None of runs of
    equal length."""
    a, b = difference.a, difference.b
    if difference.more < 0:
        a, b = b, a
    sign = 1 if difference.more >= 0 else -1
    whole = 100 * (b.cycles - a.cycles) / a.cycles
    if not whole:
        return []
    # In points of the faster run's cycles, and of the first one's, which tables have.
    growth = {reason: 100 * float(sign * more) / a.cycles for reason, more in difference.by_reason().items() if sign * more > 0}
    points = {reason: sign * difference.points(more) for reason, more in difference.by_reason().items()}
    structures = [*STRUCTURES, *(_blocks(b) if a.scheme == b.scheme else [])]
    owned: Dict[str, List[Tuple[str, object, object, float]]] = {}
    for name, (x, y) in changed_knobs(difference.a, difference.b).items():
        owner = _owner(name, structures)
        weight = _weight(name, b, *((x, y) if sign > 0 else (y, x)))
        if owner is not None and weight > 0:
            owned.setdefault(owner, []).append((name, x, y, weight))
    candidates = [Candidate(s.name, s.reasons, [k[0] for k in owned[s.name]], s.times) for s in structures if s.name in owned]
    estimates = explained(a, b, growth, candidates)
    found = []
    for s in structures:
        grown, strength = _grown(s, a, b, sign)
        mine = owned.get(s.name, [])
        if mine:
            # A knob that was changed can be a cause. Anything else is an effect, or the cause is no knob.
            score = 4 * min(1.0, estimates[s.name] / whole) + 0.1 * max(k[3] for k in mine)
        else:
            direct = sum(growth.get(r, 0.0) for r in s.direct)
            share = min(1.0, sum(growth.get(r, 0.0) for r in s.reasons) / whole)
            score = 0.0 if s.name == _INSERTED and not grown else share * (0.15 + strength) + 0.5 * min(1.0, direct / whole)
        if score > 0.05:
            found.append(Suspect(s, score, sum(max(0.0, points.get(r, 0.0)) for r in s.reasons), grown, [k[:3] for k in mine]))
    if a.scheme != b.scheme:
        of_scheme = next((f for f in found if f.structure.name == SCHEME), None)
        if of_scheme is not None:
            found += _inside(a, b, of_scheme.score, of_scheme.points)
        # What the faster scheme loses is no cause, but what it could gain.
        found += _inside(b, a, 0.04, 0.0)
    return sorted(found, key=lambda f: -f.score)
