# SPDX-License-Identifier: Apache-2.0
"""What became of runs: the files that workers leave."""

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import Any

from ..statistics import InputError
from .plan import Plan, Run

# Bad input and failed checks come out the same every time. Others may be the machine's doing: such a run is made again.
LASTING = (0, 2, 3)


@dataclass(frozen=True)
class Outcome:
    """`seconds`: of the host."""
    status: int
    message: str
    seconds: float


def outcome(plan: Plan, run: Run) -> Outcome | None:
    """None: it has not ended yet, or its file is damaged."""
    try:
        with gzip.open(plan.marker(run), "rb") as f:
            return Outcome(**json.loads(f.readline()))
    except (OSError, EOFError, ValueError, TypeError, zlib.error):
        return None


def statistics(plan: Plan, run: Run) -> dict[str, Any]:
    """The stats.json of a run that ended with status 0."""
    path = plan.marker(run)
    try:
        with gzip.open(path, "rb") as f:
            document = json.loads(f.read().split(b"\n", 1)[1])
    except (OSError, EOFError, ValueError, IndexError, zlib.error):
        document = None
    if not isinstance(document, dict):
        raise InputError(f"{path}: found no statistics, expected those of a finished run; remove the file, and the run "
                         f"is made again")
    return document


def ended(plan: Plan) -> dict[int, Outcome]:
    """By run id."""
    try:
        there = {p.name for p in (plan.folder / "runs").iterdir()}
    except FileNotFoundError:
        return {}
    found = {}
    for run in plan.runs:
        if plan.marker(run).name in there and (o := outcome(plan, run)) is not None:
            found[run.id] = o
    return found
