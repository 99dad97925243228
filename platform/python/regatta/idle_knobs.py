# SPDX-License-Identifier: Apache-2.0
"""Knobs of a study that change no cycles under a scheme."""

from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Set, Tuple


class Measured(NamedTuple):
    """A run. `other`: what it differs in from others besides scheme and knobs (program, machine, repetition)."""
    scheme: str
    other: Tuple[Any, ...]
    knobs: Mapping[str, Any]
    cycles: float


def idle_knobs(runs: Sequence[Measured]) -> List[Tuple[str, str]]:
    """(knob, scheme): runs of the scheme that differ in this knob only always have the same cycles, and there are some."""
    found: List[Tuple[str, str]] = []
    for knob in dict.fromkeys(name for run in runs for name in run.knobs):
        for scheme in dict.fromkeys(run.scheme for run in runs):
            values: Dict[Tuple[Any, ...], Set[str]] = {}
            cycles: Dict[Tuple[Any, ...], Set[float]] = {}
            for run in runs:
                if run.scheme == scheme and knob in run.knobs:
                    alike = (run.other, tuple(sorted((k, str(v)) for k, v in run.knobs.items() if k != knob)))
                    values.setdefault(alike, set()).add(str(run.knobs[knob]))
                    cycles.setdefault(alike, set()).add(run.cycles)
            compared = [alike for alike, of_knob in values.items() if len(of_knob) > 1]
            if compared and all(len(cycles[alike]) == 1 for alike in compared):
                found.append((knob, scheme))
    return found


def sentences(found: Sequence[Tuple[str, str]]) -> List[str]:
    """"l1.size_bytes has no effect on baseline." A knob is told once, with all its schemes."""
    schemes: Dict[str, List[str]] = {}
    for knob, scheme in found:
        schemes.setdefault(knob, []).append(scheme)
    return [f"{knob} has no effect on {' and '.join(filter(None, (', '.join(of[:-1]), of[-1])))}." for knob, of in schemes.items()]
