# SPDX-License-Identifier: Apache-2.0
"""How much of a difference in cycles the changed knobs of each structure explain.

Each structure has times: cycles that warps spend in it, or that it is busy, from its counters and its knobs. If they grow
from one run to the other, the growth is what the structure costs at most: warps hide waits behind each other, and a unit that
is often idle takes more work without making anybody wait. What is left is the warp scheduler's, which has no time of its own.
"""

from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from .statistics import Run

Measure = Callable[[Run], float]


class Time(NamedTuple):
    """`of_warps`: cycles of single warps, summed over all SMs; else of one copy of the structure. `cycles`: of a run; the second
    run is the one whose knobs other structures have."""
    of_warps: bool
    cycles: Callable[[Run, Run], float]


def total(module: str, *names: str) -> Measure:
    return lambda run: sum(run.total(module, name) for name in names)


def setting(run: Run, knob: str, otherwise: float = 0.0) -> float:
    """A knob's number; "": `otherwise`."""
    found = run.document["config"].get(knob, otherwise)
    return float(found) if isinstance(found, (int, float)) else otherwise


def warps(counts: Measure, knob: str = "", beyond: str = "", less: str = "") -> Time:
    """Each count takes as long as the structure's knob says; or a knob `beyond` it, without another one's time. Without knobs,
    a cycle."""
    def cycles(run: Run, others: Run) -> float:
        each = setting(run, knob) if knob else max(0.0, setting(others, beyond) - setting(others, less)) if beyond else 1.0
        return counts(run) * each

    return Time(True, cycles)


def unit(busy: Measure, copies: str, knob: str = "") -> Time:
    """Cycles that each of the copies is busy: modules with this path, each with as many as the knob says."""
    return Time(False, lambda run, _: busy(run) / max(1, len(run.modules(copies))) / max(1.0, setting(run, knob, 1.0)))


sm = r"sm\d+\."
pipeline, execution, lsu = sm + "pipeline", sm + r"pipeline\.execution", sm + r"pipeline\.lsu"
l1, l2, dram, net = sm + "l1", r"memory\.l2_\d+", r"memory\.dram_\d+", r"memory\.interconnect"

# Counters that take the place of instruction classes in runs of earlier versions; about a third is of each class.
_KINDS = (("int", "integer_instructions"), ("convert", "integer_instructions"), ("fp32", "fp32_instructions"),
          ("fp64", "fp64_instructions"), ("sfu", "special_instructions"), ("constant_load", "constant_instructions"))


def instructions(run: Run, kind: str) -> float:
    """Warp instructions of a class, as the knobs latency.* name it."""
    known: Mapping[str, float] = run.document.get("program", {}).get("warp_instructions", {})
    if known:
        return float(known.get(kind, 0))
    return sum(0.35 * run.total(execution, counter) for beginning, counter in _KINDS if kind.startswith(beginning))


def _latencies(run: Run) -> float:
    return sum(setting(run, k) * instructions(run, k.partition(".")[2]) for k in run.document["config"] if k.startswith("latency."))


def _code_beyond_l2(run: Run) -> float:
    """The share of lines of code and constants that come from DRAM."""
    fetched = sum(setting(run, f"{cache}.line_bytes", 128) * run.total(pipeline + rf"\.{cache}", "fills")
                  for cache in ("icache", "constant_cache"))
    return min(1.0, run.total(dram, "bytes_code") / fetched) if fetched else 0.0


# Of one line of code that is fetched, many warps wait.
_line_waits = total(pipeline, "line_waits")


def _misses(run: Run) -> float:
    return run.total(l1, "read_misses") + run.total(l1, "bypassed_reads")


TIMES: Mapping[str, Sequence[Time]] = {
    "register file": (warps(total(sm + "register_file", "reads"), "register_file.latency"),
                      warps(total(sm + "register_file", "read_wait", "write_wait"))),
    "execution units": tuple(unit(total(execution, f"{u}_busy"), pipeline, f"unit.{u}") for u in ("sp", "sfu", "dp", "tensor")),
    "latency of instructions": (Time(True, lambda run, _: _latencies(run)),),
    "write-back": (unit(total(pipeline + r"\.writeback", "writes"), pipeline, "writeback.width"),),
    "shared memory": (warps(total(lsu, "shared_instructions"), "shared.latency"), unit(total(lsu, "shared_passes"), pipeline)),
    "load-store unit": (unit(lambda run: run.total(execution, "lsu_instructions") * max(1.0, 32 / setting(run, "lsu.lanes", 32)),
                             pipeline),),
    "L1": (warps(total(l1, "reads"), "l1.hit_latency"), warps(_misses, beyond="l2.latency"),
           # An MSHR is taken for as long as a miss.
           Time(False, lambda run, others: 1.3 * _misses(run) * max(100.0, setting(others, "l2.latency")) /
                max(1, len(run.modules(pipeline))) / max(1.0, setting(run, "l1.mshrs", 64)))),
    # Latencies of L2 and DRAM include the network's.
    "interconnect": (warps(lambda run: 0.3 * run.total(net, "request_packets"), "interconnect.latency"),
                     unit(lambda run: max(run.total(net, "request_flits"), run.total(net, "response_flits")), pipeline)),
    "L2": (warps(lambda run: run.total(l2, "reads") - run.total(l2, "read_misses") +
                 _line_waits(run) * (1 - _code_beyond_l2(run)), "l2.latency"),
           warps(total(l2, "read_misses"), beyond="dram.latency", less="l2.latency")),
    "DRAM": (warps(lambda run: run.total(dram, "reads") + _line_waits(run) * _code_beyond_l2(run), "dram.latency"),
             warps(total(dram, "queue_entry_cycles")), unit(total(dram, "busy_cycles"), dram)),
    "instruction cache and fetch": (warps(total(pipeline, "fetches"), "fetch.latency"),
                                    warps(total(pipeline + r"\.icache", "misses"), beyond="l2.latency")),
    "constant cache": (warps(total(pipeline + r"\.constant_cache", "misses"), beyond="l2.latency"),
                       warps(total(execution, "constant_instructions"), "constant_cache.latency")),
    "texture units and cache": (warps(total(lsu, "texture_instructions"), "texture.latency"), unit(total(lsu, "texture_passes"), pipeline),
                                warps(total(pipeline + r"\.lsu\.texture_cache", "misses"), beyond="l2.latency")),
    "barriers": (warps(lambda run: instructions(run, "barrier"), "sm.barrier_latency"),),
}
COLLECTORS, RESIDENCY, SCHEME = "operand collectors", "warps in flight", "scheme of operand storage"
# Reasons of which a structure's waits can be besides its own: code comes from memory too.
_CODE = {"L2", "DRAM", "interconnect"}
_COLLECTOR_REASONS = {"sp": "structural_sp", "sfu": "structural_sfu", "dp": "structural_dp", "mem": "structural_lsu"}


# Of what the estimates of other structures leave unexplained: estimates that are too low are no evidence.
_OF_COLLECTORS, _OF_OTHERS = 0.7, 0.4
_OF_RESIDENCY = 45.0


class Candidate(NamedTuple):
    """A structure with a changed knob. `reasons`: for which schedulers wait if it is slow."""
    name: str
    reasons: Sequence[str]
    knobs: Sequence[str]
    times: Sequence[Time] = ()


def _resident_warps(run: Run) -> float:
    return max(0.01, run.total(pipeline, "resident_warp_cycles") / run.cycles)


def _stalled(run: Run, reasons: Iterable[str]) -> float:
    """The share of all schedulers' cycles that has one of these reasons."""
    cycles = [run.scheduler_cycles(launch) for launch in run.document["launches"]]
    whole = sum(sum(c.values()) for c in cycles)
    return sum(c.get(r, 0) for c in cycles for r in reasons) / whole if whole else 0.0


def _added(candidate: Candidate, fast: Run, slow: Run, reasons: Sequence[str]) -> float:
    """Points that the structure's times have grown by, as far as they show."""
    points = 0.0
    for time in candidate.times:
        after = time.cycles(slow, fast)
        more = max(0.0, after - time.cycles(fast, fast))
        if time.of_warps:
            points += more / _resident_warps(fast) * _stalled(slow, reasons) ** 0.5
        else:
            points += more * min(1.2, after / slow.cycles)
    return 100 * points / fast.cycles


def explained(fast: Run, slow: Run, growth: Mapping[str, float], candidates: Sequence[Candidate]) -> Dict[str, float]:
    """Points of the difference by candidate. `growth`: of the reasons that have grown, in points."""
    whole = 100 * (slow.cycles - fast.cycles) / fast.cycles
    reasons = {c.name: tuple(c.reasons) + (("instruction_fetch",) if c.name in _CODE else ()) for c in candidates}
    found: Dict[str, float] = {}
    for c in candidates:
        if c.name == RESIDENCY:
            fewer = max(1.0, _resident_warps(fast) / _resident_warps(slow)) - 1
            found[c.name] = _OF_RESIDENCY * fewer * _stalled(fast, [r for r in c.reasons if r != "idle"] + ["structural_lsu"])
        elif c.times:
            found[c.name] = _added(c, fast, slow, reasons[c.name])
    if "barriers" in found:
        found["barriers"] = max(found["barriers"], growth.get("barrier", 0.0) / 2)
    for c in candidates:
        if c.name == COLLECTORS:
            units = {_COLLECTOR_REASONS[u] for k in c.knobs if (u := k.rpartition(".")[2]) in _COLLECTOR_REASONS} or \
                set(_COLLECTOR_REASONS.values())
            direct = sum(growth.get(u, 0.0) for u in units)
            others = sum(p for name, p in found.items() if units & set(reasons[name]))
            found[c.name] = max(0.03 * direct, _OF_COLLECTORS * (min(direct, whole) - others))
    if SCHEME in reasons and SCHEME not in found:
        found[SCHEME] = max(growth.get("issue_gate", 0.0), whole - sum(found.values()), 0.05 * whole)
    for c in candidates:
        if c.name not in found:
            found[c.name] = _OF_OTHERS * max(0.05 * whole, whole - sum(found.values()))
            reasons[c.name] = tuple(growth)
    return _shared_out(found, reasons, growth)


def _shared_out(estimates: Mapping[str, float], reasons: Mapping[str, Sequence[str]], growth: Mapping[str, float]) -> Dict[str, float]:
    """The mean (geometric) of an estimate and of the growth of the structure's reasons, of which each has its part."""
    shares: Dict[str, float] = dict.fromkeys(estimates, 1e-6)
    for reason, points in growth.items():
        if reason == "structural_scheduler":  # other reasons under another name
            continue
        of_reason: List[Tuple[str, float]] = [(n, e) for n, e in estimates.items() if reason in reasons[n]]
        whole = sum(e for _, e in of_reason)
        for name, estimate in of_reason:
            shares[name] += points * estimate / whole if whole else 0.0
    return {name: (max(estimate, 1e-6) * shares[name]) ** 0.5 for name, estimate in estimates.items()}
