# SPDX-License-Identifier: Apache-2.0
"""Runs that share one job, by the time that they are expected to take."""

import hashlib
from dataclasses import dataclass
from typing import Sequence

from .campaign import Campaign, Simulation
from .outcome import Outcome

# Of a job. Shorter ones cost more to start than they need to; of longer ones too few are left to share at the end.
LOCAL_SECONDS = 20.0
CLUSTER_SECONDS = 300.0
# On a cluster a job waits in the queue and then starts Snakemake, which takes some seconds.
CLUSTER_LEAST_SECONDS = 20.0
# Jobs for each that runs at a time: many, so that all end at about the same time, unless they are so short that
# starting them counts; not fewer than some, since estimates may be wrong.
_MANY, _SOME = 16, 4
_SHORT_SECONDS = 3.0


@dataclass(frozen=True)
class Group:
    runs: tuple[Simulation, ...]
    seconds: float  # estimated

    @property
    def name(self) -> str:
        return hashlib.sha256(" ".join(r.key for r in self.runs).encode()).hexdigest()[:24]


def estimates(campaign: Campaign, known: dict[int, Outcome]) -> dict[int, float]:
    """Seconds by run id: the mean of the program's finished runs, or a guess from the size of its trace."""
    by_program: dict[str, list[float]] = {}
    for run in campaign.runs:
        if run.id in known and known[run.id].status == 0:
            by_program.setdefault(run.program, []).append(known[run.id].seconds)
    means = {p: sum(s) / len(s) for p, s in by_program.items()}
    return {r.id: means.get(r.program, 0.2 + 0.4 * r.megabytes if r.megabytes else 1.0) for r in campaign.runs}


def groups(runs: Sequence[Simulation], seconds: dict[int, float], jobs: int, target: float, most: int,
           *, least: float = 0.0, apart: bool = False) -> list[Group]:
    """In the order of the runs. `most`: runs of a group; 0: by time, not more than `target` seconds, and not less than
    `least` only to have more groups. `apart`: runs of different traces are not in one group, so that each trace can soon be
    removed."""
    small, large = (max(1, -(-len(runs) // (shares * jobs))) for shares in (_MANY, _SOME))

    def is_full(size: int, total: float, more: float) -> bool:
        if most:
            return size >= most
        enough = size >= large or (size >= small and total >= _SHORT_SECONDS)
        return total + more > target or (total >= least and enough)

    found: list[Group] = []
    current: list[Simulation] = []
    total = 0.0
    for run in runs:
        other = apart and bool(current) and current[-1].trace != run.trace
        if current and (other or is_full(len(current), total, seconds[run.id])):
            found.append(Group(tuple(current), total))
            current, total = [], 0.0
        current.append(run)
        total += seconds[run.id]
    if current:
        found.append(Group(tuple(current), total))
    return found
