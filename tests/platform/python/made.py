# SPDX-License-Identifier: Apache-2.0
"""Statistics made by hand, as small as regatta-sim would never write them."""

import copy
from typing import Any, Dict, List

SCHEDULERS = 2

_REASONS = ("scoreboard", "issue_gate", "memory", "barrier", "instruction_fetch", "idle")


def launch(kernel: str, cycles: int, **stalls: int) -> Dict[str, Any]:
    """What is not said is issued."""
    units = {u: stalls.pop("structural_" + u, 0) for u in ("scheduler", "sp", "sfu", "dp", "tensor", "lsu")}
    waits = {r: stalls.pop(r, 0) for r in _REASONS}
    assert not stalls, stalls
    issued = SCHEDULERS * cycles - sum(waits.values()) - sum(units.values())
    return {"kernel": kernel, "cycles": cycles, "issue_cycles": issued,
            "stall_cycles": {**waits, "structural": sum(units.values()), "structural_by_unit": units}}


def lines(index: int, kernel: str, by_line: Dict[str, Dict[str, int]], none: Dict[str, int]) -> Dict[str, Any]:
    return {"launch": index, "kernel": kernel, "instructions": [], "no_instruction": none,
            "lines": [{"source": s, "scheduler_cycles": sum(r.values()), "by_reason": r} for s, r in by_line.items()]}


def document(launches: List[Dict[str, Any]], **more: Any) -> Dict[str, Any]:
    d: Dict[str, Any] = {
        "kernel": "k", "machine": "m", "scheme": "baseline", "scheduler": "gto", "config": {"dram.latency": 100},
        "ending": "completed", "cycles": sum(la["cycles"] for la in launches), "warp_instructions": 100,
        "launches": launches, "energy": {"total_nj": 5000.0, "by_structure": {"dram": 3000.0, "l2": 2000.0}},
        "stats": {"memory.dram_0": {"reads": 10, "writes": 0, "queue_entry_cycles": 20, "bytes_read": 320}}}
    d.update(copy.deepcopy(more))
    return d
