# SPDX-License-Identifier: Apache-2.0
"""Strata: launches that are alike, by kernel, cluster of signatures and size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Sequence, Set, Tuple

from .population import Launch, features

# A kernel's launches are one cluster if their mean squared distance from their centre is below this: a few per cent in
# each count.
_ALIKE = 1e-3
# Rule for the number of clusters: the smallest that leaves this share of the squared distances inside clusters.
_INSIDE = 0.05
# A kernel gets no further stratum if that would gain less than this fraction of what one would gain elsewhere.
_WORTH = 0.3


@dataclass(frozen=True)
class Stratum:
    kernel: str
    kernel_index: int
    cluster: int
    members: Tuple[int, ...]  # numbers of launches, ascending
    certain: bool  # all of them are simulated


def _distance(a: Sequence[float], b: Sequence[float]) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b))


def _mean(points: Sequence[Sequence[float]]) -> List[float]:
    return [sum(column) / len(points) for column in zip(*points)]


def _nearest(point: Sequence[float], centres: Sequence[Sequence[float]]) -> int:
    return min(range(len(centres)), key=lambda c: (_distance(point, centres[c]), c))


def k_means(points: Sequence[Sequence[float]], k: int) -> Tuple[List[int], float]:
    """The cluster of each point, numbered by first appearance, and the sum of squared distances inside clusters.
    Deterministic: the first centre is the point nearest to the mean, each further one the point farthest from all
    before it."""
    centre = _mean(points)
    first = min(range(len(points)), key=lambda i: (_distance(points[i], centre), i))
    centres = [list(points[first])]
    nearest = [_distance(p, centres[0]) for p in points]
    while len(centres) < min(k, len(points)) and max(nearest) > 0:
        far = max(range(len(points)), key=lambda i: (nearest[i], -i))
        centres.append(list(points[far]))
        nearest = [min(d, _distance(p, centres[-1])) for d, p in zip(nearest, points)]
    labels: List[int] = []
    for _ in range(100):
        new = [_nearest(p, centres) for p in points]
        if new == labels:
            break
        labels = new
        for c in range(len(centres)):
            own = [p for p, label in zip(points, labels) if label == c]
            if own:
                centres[c] = _mean(own)
    order: Dict[int, int] = {}
    for label in labels:
        order.setdefault(label, len(order))
    return [order[label] for label in labels], sum(_distance(p, centres[c]) for p, c in zip(points, labels))


def clusters(launches: Sequence[Launch], most: int) -> List[List[Launch]]:
    """The launches of one kernel in clusters of similar signatures, at most so many."""
    points = features(list(launches))
    labels, total = k_means(points, 1)
    if total > _ALIKE * len(points):
        for k in range(2, max(1, most) + 1):
            labels, inside = k_means(points, k)
            if inside <= max(_INSIDE * total, _ALIKE * len(points)):
                break
    return [[launch for launch, label in zip(launches, labels) if label == c] for c in range(max(labels) + 1)]


def _slices(launches: Sequence[Launch], count: int) -> List[List[Launch]]:
    """Contiguous in size, then in time, with equal sums of the root of the cost: what two draws each make best use of
    if the deviations grow with the size. Three or more launches each, as far as there are."""
    ordered = sorted(launches, key=lambda launch: (launch.cost, launch.number))
    count = max(1, min(count, len(ordered) // 3))
    total = sum(math.sqrt(launch.cost) for launch in ordered)
    parts: List[List[Launch]] = [[]]
    done = 0.0
    for i, launch in enumerate(ordered):
        left = len(ordered) - i
        due = done + math.sqrt(launch.cost) / 2 > total * len(parts) / count
        if len(parts) < count and len(parts[-1]) >= 3 and (due or left == 3 * (count - len(parts))):
            parts.append([])
        parts[-1].append(launch)
        done += math.sqrt(launch.cost)
    return parts


def _expected_cost(strata: Sequence[Sequence[Launch]]) -> float:
    return sum(min(2, len(s)) * sum(launch.cost for launch in s) / len(s) for s in strata)


def _spread(launches: Sequence[Launch]) -> float:
    """How much an unknown quantity of these launches may vary in all: standard deviation of their sizes, and a tenth of
    the sizes themselves for what sizes do not explain."""
    mean = sum(launch.cost for launch in launches) / len(launches)
    deviation = math.sqrt(sum((launch.cost - mean) ** 2 for launch in launches) / len(launches))
    return len(launches) * (deviation + 0.1 * mean)


def stratify(launches: Sequence[Launch], cost: float) -> List[Stratum]:
    """Strata such that two launches of each cost about `cost` in all, or one stratum per kernel if that is more already.
    Strata of one or two launches are certain, and so are the biggest launches: those that cost as much as an average of
    all drawn together, as far as a quarter of `cost` goes."""
    kernels: Dict[int, List[Launch]] = {}
    for launch in launches:
        kernels.setdefault(launch.kernel_index, []).append(launch)
    drawn = max(2.0, cost * len(launches) / sum(launch.cost for launch in launches))
    limit = sum(launch.cost for launch in launches) / drawn
    certain: List[Launch] = []
    for launch in sorted(launches, key=lambda launch: (-launch.cost, launch.number)):
        if launch.cost < limit or sum(c.cost for c in certain) + launch.cost > cost / 4:
            break
        certain.append(launch)
    taken = {launch.number for launch in certain}
    groups = {k: [launch for launch in members if launch.number not in taken] for k, members in kernels.items()}
    groups = {k: members for k, members in groups.items() if members}
    parts = {k: [members] for k, members in groups.items()}
    spent = sum(launch.cost for launch in certain)
    wanted = {k: 1 for k in groups}
    full: Set[int] = set()
    floor = 0.0
    while len(full) < len(groups):
        gain, _, k = max((_spread(groups[k]) / wanted[k] ** 1.5, -k, k) for k in groups if k not in full)
        if gain < floor:
            break
        trial = _parts(groups[k], wanted[k] + 1)
        others = sum(_expected_cost(p) for j, p in parts.items() if j != k)
        if len(trial) < wanted[k] + 1 or spent + others + _expected_cost(trial) > cost:
            full.add(k)
            # More of a kernel that matters less does not help if there is no more of those that matter.
            floor = max(floor, _WORTH * gain)
            continue
        wanted[k] += 1
        parts[k] = trial
    strata = []
    for k in sorted(kernels):
        own = sorted(launch.number for launch in certain if launch.kernel_index == k)
        if own:
            strata.append(Stratum(kernels[k][0].kernel, k, -1, tuple(own), True))
        for n, part in enumerate(parts.get(k, [])):
            members = tuple(sorted(launch.number for launch in part))
            strata.append(Stratum(kernels[k][0].kernel, k, n, members, len(members) <= 2))
    return strata


def _parts(launches: Sequence[Launch], count: int) -> List[List[Launch]]:
    """At most half as many clusters as `count`, cut into slices of similar size, `count` in all if there are launches
    enough."""
    found = clusters(launches, count // 2)
    slices = [1] * len(found)
    while sum(slices) < count:
        room = [i for i in range(len(found)) if len(found[i]) >= 3 * (slices[i] + 1)]
        if not room:
            break
        slices[max(room, key=lambda i: (_spread(found[i]) / slices[i] ** 1.5, -i))] += 1
    return [part for c, n in zip(found, slices) for part in _slices(c, n)]
