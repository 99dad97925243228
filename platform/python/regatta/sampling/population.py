# SPDX-License-Identifier: Apache-2.0
"""The launches of a trace with their signatures: what is known of all of them without a simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping

from ..statistics import InputError


@dataclass(frozen=True)
class Launch:
    """A launch, as `regatta-trace signatures` describes it."""

    number: int
    kernel: str
    kernel_index: int
    size: Mapping[str, float]  # counts: ctas, warp_instructions, requests, lines, bytes ...
    shares: Mapping[str, float]  # fractions: of classes, of value kinds, of active lanes
    shape: Mapping[str, float]  # threads and shared bytes per CTA

    @property
    def cost(self) -> float:
        """Of its simulation: warp instructions, and at least one."""
        return max(1.0, self.size["warp_instructions"])


_SIZES = ("ctas", "warp_instructions", "requests", "lines", "bytes")
_SHAPE = ("threads_per_cta", "shared_bytes_per_cta")


def _fractions(counts: Mapping[str, Any], prefix: str) -> Dict[str, float]:
    total = sum(counts.values())
    return {f"{prefix}.{name}": n / total for name, n in counts.items()} if total else {}


def population(document: Mapping[str, Any], name: str = "signatures") -> List[Launch]:
    """From the JSON of `regatta-trace signatures`; throws InputError if it is something else."""
    try:
        launches = []
        for n, launch in enumerate(document["launches"]):
            if launch["launch"] != n:
                raise InputError(f"{name}: found launch {launch['launch']} in place {n}, expected launches in order")
            shares = {**_fractions(launch["classes"], "class"), **_fractions(launch["values"], "value")}
            if launch["warp_instructions"]:
                shares["lanes"] = launch["thread_instructions"] / launch["warp_instructions"] / 64
            launches.append(Launch(n, str(launch["kernel"]), int(launch["kernel_index"]),
                                   {k: float(launch[k]) for k in _SIZES}, shares,
                                   {k: float(launch[k]) for k in _SHAPE}))
        return launches
    except (KeyError, TypeError, AttributeError) as e:
        raise InputError(f"{name}: found no {e}, expected the output of regatta-trace signatures") from None


def features(launches: List[Launch]) -> List[List[float]]:
    """A vector per launch in which equal distances mean equally much: logarithms of counts, and fractions. A factor of
    e in a count weighs as much as a change of all instructions to another class."""
    names = sorted({name for launch in launches for name in launch.shares})
    return [[math.log1p(launch.size[k]) for k in _SIZES] + [math.log1p(launch.shape[k]) for k in _SHAPE] +
            [launch.shares.get(name, 0.0) for name in names] for launch in launches]
