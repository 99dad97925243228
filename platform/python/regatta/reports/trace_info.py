# SPDX-License-Identifier: Apache-2.0
"""Section: what a trace holds, as regatta-trace info tells it."""

import re
from typing import Any, Collection, Dict, List, Sequence, Tuple

from .. import tools
from ..statistics import InputError
from .meanings import Simulator
from .page import Section

Part = Tuple[str, List[Tuple[str, str]]]


def read(text: str) -> List[Part]:
    """Heads ('kernel 0: spmv') with their pairs of name and value."""
    parts: List[Part] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if not line.startswith(" "):
            parts.append((line.strip().rstrip(":"), []))
        elif parts:
            name, *rest = re.split(r" {2,}", line.strip(), maxsplit=1)
            parts[-1][1].append((name, rest[0] if rest else ""))
    return parts


def read_trace(path: str, simulator: Simulator) -> List[Part]:
    """As read(). Throws InputError."""
    try:
        return read(tools.output("regatta-trace", ["info", path], path, simulator.folder))
    except tools.RunFailed as e:
        raise InputError(e.message) from None


def ptx_files(parts: Sequence[Part]) -> List[str]:
    """From which the kernels of the trace were compiled."""
    return [value for _, rows in parts for name, value in rows if name == "PTX"]


def build(path: str, parts: Sequence[Part], kernels: Collection[str]) -> Section:
    """`parts`: of read_trace(). `kernels`: names of those that the runs ran. InputError if the trace has none of them."""
    of_trace = [head.split(": ", 1)[1] for head, _ in parts if head.startswith("kernel ") and ": " in head]
    if not set(of_trace) & set(kernels):
        raise InputError(f"{path}: found the trace of {', '.join(of_trace)}, expected that of {', '.join(kernels)}, which the "
                         f"runs ran")
    tables: Dict[str, Dict[str, Any]] = {}
    for kind in ("kernel", "launch"):
        of_kind = [(head, dict(rows)) for head, rows in parts if head.startswith(kind + " ")]
        columns = list(dict.fromkeys(k for _, rows in of_kind for k in rows))
        tables[kind] = {"columns": [kind, *columns],
                        "rows": [[head[len(kind) + 1:], *(rows.get(c, "") for c in columns)] for head, rows in of_kind]}
    return Section("trace", "Trace", "trace.html.j2", {"facts": parts[0][1] if parts else [], "tables": tables})
