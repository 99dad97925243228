# SPDX-License-Identifier: Apache-2.0
"""What became of runs: the files that workers leave."""

from dataclasses import dataclass
from typing import Any

from ..statistics import InputError
from . import stored
from .campaign import Campaign, Simulation

# Bad input and failed checks come out the same every time. Others may be the machine's doing: such a run is made again.
_LASTING = (0, 2, 3)


@dataclass(frozen=True)
class Outcome:
    """`seconds`: of the host. `no_trace`: the status is that of its trace's annotation. `again`: it failed for a reason of the
    host, or because a file changed meanwhile."""
    status: int
    message: str
    seconds: float
    no_trace: bool = False
    again: bool = False

    def is_result(self, run: Simulation) -> bool:
        return self.status in run.accepted and not (self.no_trace or self.again)

    @property
    def lasts(self) -> bool:
        """Whether the run is not to be made again."""
        return self.status in _LASTING and not self.again


def _read(campaign: Campaign, run: Simulation) -> tuple[Outcome, stored.Result] | None:
    """None: it has not ended yet. Throws InputError if its file is damaged."""
    path = campaign.marker(run)
    try:
        found = stored.Result(path, run.key)
        return _as_outcome(found.record), found
    except FileNotFoundError:
        return None
    except OSError as e:
        why = f"it cannot be read: {e.strerror}"
    except stored.Damaged as e:
        why = str(e)
    raise _damaged(campaign, run, why)


def _damaged(campaign: Campaign, run: Simulation, why: str) -> InputError:
    return InputError(f"{campaign.marker(run)}: found a damaged result ({why}), expected that of run {run.id}, which the "
                      f"next run of the study makes again")


def _as_outcome(record: dict[str, Any]) -> Outcome:
    kinds: dict[str, Any] = {"status": int, "message": str, "seconds": (int, float), "no_trace": bool, "again": bool}
    if not (all(isinstance(record.get(k), kinds[k]) for k in ("status", "message", "seconds")) and
            all(k in kinds and isinstance(v, kinds[k]) for k, v in record.items())):
        raise stored.Damaged("it has no record of a run")
    return Outcome(**record)


def outcome(campaign: Campaign, run: Simulation) -> Outcome | None:
    """None: it has not ended yet, or its file is damaged."""
    try:
        found = _read(campaign, run)
    except InputError:
        return None
    return None if found is None else found[0]


def result(campaign: Campaign, run: Simulation) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Of a run that ended: its stats.json (None: it failed), and what else it keeps by name ("report": of its trace). Throws
    InputError."""
    found = _read(campaign, run)
    if found is None:
        raise InputError(f"{campaign.marker(run)}: found no such file, expected the result of a run")
    try:
        return found[1].content()
    except stored.Damaged as e:
        raise _damaged(campaign, run, str(e)) from None


def statistics(campaign: Campaign, run: Simulation) -> dict[str, Any]:
    """The stats.json of a run that ended with status 0. Throws InputError."""
    document, _ = result(campaign, run)
    if document is None:
        raise InputError(f"{campaign.marker(run)}: found a failed run, expected a finished one")
    return document


def ended(campaign: Campaign, damaged: list[str] | None = None) -> dict[int, Outcome]:
    """By run id. `damaged`: where a sentence is added for each file that is damaged, as if it were not there."""
    try:
        there = {p.name for p in campaign.results.iterdir()}
    except FileNotFoundError:
        return {}
    found = {}
    for run in campaign.runs:
        if campaign.marker(run).name not in there:
            continue
        try:
            if (read := _read(campaign, run)) is not None:
                found[run.id] = read[0]
        except InputError as e:
            if damaged is not None:
                damaged.append(str(e))
    return found
