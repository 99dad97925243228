# SPDX-License-Identifier: Apache-2.0
"""Section: what a trace holds, as regatta-trace info tells it."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

from ..statistics import InputError
from .page import Section
from .tools import Simulator

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


def build(path: str, simulator: Simulator) -> Section:
    tool = shutil.which(str(Path(simulator.path).parent / "regatta-trace")) if simulator.path else None
    tool = tool or shutil.which("regatta-trace")
    if tool is None:
        raise InputError("--trace: found no program 'regatta-trace' beside regatta-report or in PATH, expected it there or in --bin")
    done = subprocess.run([tool, "info", path], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise InputError(done.stderr.strip() or f"{path}: regatta-trace info ended with status {done.returncode}")
    parts = read(done.stdout)
    tables: Dict[str, Dict[str, Any]] = {}
    for kind in ("kernel", "launch"):
        of_kind = [(head, dict(rows)) for head, rows in parts if head.startswith(kind + " ")]
        columns = list(dict.fromkeys(k for _, rows in of_kind for k in rows))
        tables[kind] = {"columns": [kind, *columns],
                        "rows": [[head[len(kind) + 1:], *(rows.get(c, "") for c in columns)] for head, rows in of_kind]}
    return Section("trace", "Trace", "trace.html.j2", {"facts": parts[0][1] if parts else [], "tables": tables})
