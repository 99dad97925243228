# SPDX-License-Identifier: Apache-2.0
"""What became of runs: the files that workers leave."""

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import Any

from ..statistics import InputError
from .campaign import Campaign, Simulation

# Bad input and failed checks come out the same every time. Others may be the machine's doing: such a run is made again.
LASTING = (0, 2, 3)


@dataclass(frozen=True)
class Outcome:
    """`seconds`: of the host. `no_trace`: the status is that of its trace's annotation."""
    status: int
    message: str
    seconds: float
    no_trace: bool = False

    def is_result(self, run: Simulation) -> bool:
        return self.status in run.accepted and not self.no_trace


def outcome(campaign: Campaign, run: Simulation) -> Outcome | None:
    """None: it has not ended yet, or its file is damaged."""
    try:
        with gzip.open(campaign.marker(run), "rb") as f:
            return Outcome(**json.loads(f.readline()))
    except (OSError, EOFError, ValueError, TypeError, zlib.error):
        return None


def result(campaign: Campaign, run: Simulation) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Of a run that ended: its stats.json (None: it failed), and what else it keeps by name ("report": of its trace)."""
    path = campaign.marker(run)
    try:
        with gzip.open(path, "rb") as f:
            found = [json.loads(line) for line in f.read().splitlines()[1:]]
        document, kept = found[0], found[1] if len(found) > 1 else {}
    except (OSError, EOFError, ValueError, IndexError, zlib.error):
        document, kept = "", None
    if not isinstance(document, (dict, type(None))) or not isinstance(kept, dict):
        raise InputError(f"{path}: found no statistics, expected those of a finished run; remove the file, and the run "
                         f"is made again")
    return document, kept


def statistics(campaign: Campaign, run: Simulation) -> dict[str, Any]:
    """The stats.json of a run that ended with status 0."""
    document, _ = result(campaign, run)
    if document is None:
        raise InputError(f"{campaign.marker(run)}: found a failed run, expected a finished one")
    return document


def ended(campaign: Campaign) -> dict[int, Outcome]:
    """By run id."""
    try:
        there = {p.name for p in campaign.results.iterdir()}
    except FileNotFoundError:
        return {}
    found = {}
    for run in campaign.runs:
        if campaign.marker(run).name in there and (o := outcome(campaign, run)) is not None:
            found[run.id] = o
    return found
