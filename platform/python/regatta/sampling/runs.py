# SPDX-License-Identifier: Apache-2.0
"""Runs of regatta-sim on lists of launches, and what they say about each launch."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ..statistics import InputError
from .population import Launch, population

Quantity = Callable[[Mapping[str, Any]], float]  # of an entry of `launches` of a stats.json


class Failed(Exception):
    """A program of regatta that ended with a status other than 0. It has told why on standard error."""

    def __init__(self, status: int):
        super().__init__(f"status {status}")
        self.status = status


def launches_text(numbers: Sequence[int]) -> str:
    """0,5,7:9 for ascending numbers, as regatta-sim --launches reads it."""
    parts: List[str] = []
    at = 0
    while at < len(numbers):
        end = at
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        parts.append(str(numbers[at]) if end == at else f"{numbers[at]}:{numbers[end]}")
        at = end + 1
    return ",".join(parts)


def signatures(tool: Path, trace: str) -> List[Launch]:
    done = subprocess.run([str(tool), "signatures", trace], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failed(done.returncode)
    return population(json.loads(done.stdout), trace)


def _quantity(*path: str, absent: Optional[float] = None) -> Quantity:
    """What is at these keys; `absent`: of an entry without the last one."""

    def of(entry: Mapping[str, Any]) -> float:
        for key in path[:-1]:
            entry = entry[key]
        return float(entry[path[-1]] if absent is None else entry.get(path[-1], absent))

    return of


class Simulator:
    """Simulates launches of a trace and keeps what each gave."""

    def __init__(self, tool: Path, trace: str, options: Sequence[str], statistics: Sequence[str], warm: Optional[int]):
        self._tool = tool
        self._trace = trace
        self._options = list(options)
        self._statistics = list(statistics)
        self._warm = warm
        self.entries: Dict[int, Mapping[str, Any]] = {}  # by launch
        self.document: Mapping[str, Any] = {}  # of the last run
        self.warmed_warp_instructions = 0
        self.seconds = 0.0
        self.operands_checked = 0

    def simulate(self, numbers: Optional[Sequence[int]]) -> None:
        """These launches, ascending; None: all of them, as a plain run."""
        command = [str(self._tool), self._trace]
        for name in self._statistics:
            command += ["--launch-stats", name]
        if numbers is not None:
            command += ["--launches", launches_text(numbers)]
            if self._warm is not None:
                command += ["--warm", str(self._warm)]
        with tempfile.TemporaryDirectory(prefix="regatta-sample.") as folder:
            file = Path(folder) / "stats.json"
            done = subprocess.run([*command, *self._options, "--stats", str(file)], stdout=subprocess.DEVNULL, check=False)
            if done.returncode:
                raise Failed(done.returncode if done.returncode > 0 else 128 - done.returncode)
            self.document = json.loads(file.read_text(encoding="utf-8"))
        for place, entry in enumerate(self.document["launches"]):
            self.entries[int(entry.get("launch", place))] = entry
        self.warmed_warp_instructions += int(self.document.get("sampling", {}).get("warmed_warp_instructions", 0))
        self.seconds += float(self.document["host"]["seconds"])
        self.operands_checked += int(self.document["checks"]["operands_checked"])

    def quantities(self) -> Dict[str, Quantity]:
        """What can be estimated: by the path of keys in an entry of `launches`, with dots."""
        found = {"cycles": _quantity("cycles")}
        for name in ("total_nj", "dynamic_nj", "static_nj"):
            found[f"energy.{name}"] = _quantity("energy", name)
        structures = sorted({s for entry in self.entries.values() for s in entry["energy"]["by_structure"]})
        for name in structures:
            found[f"energy.by_structure.{name}"] = _quantity("energy", "by_structure", name, absent=0.0)
        found["issue_cycles"] = _quantity("issue_cycles")
        reasons = sorted({r for entry in self.entries.values() for r, n in entry["stall_cycles"].items()
                          if not isinstance(n, dict)})
        for name in reasons:
            found[f"stall_cycles.{name}"] = _quantity("stall_cycles", name, absent=0.0)
        for name in self._statistics:
            found[f"stats.{name}"] = _quantity("stats", name)
        return found

    def values(self, quantity: Quantity) -> Dict[int, float]:
        return {n: quantity(entry) for n, entry in self.entries.items()}


def refuse_options(options: Sequence[str]) -> None:
    """Options of regatta-sim that this program sets itself, or that make no sense for parts of a run."""
    for option in options:
        name = option.split("=", 1)[0]
        if name in ("--launches", "--warm", "--launch-stats", "--stats"):
            raise InputError(f"'{name}' after '--': regatta-sample sets it itself" +
                             {"--warm": "; expected --warm before '--'", "--launch-stats": "; expected --stat",
                              "--stats": "; expected --json"}.get(name, ""))
        if name in ("--replay", "--dump-config", "--hierarchy", "--help", "--version"):
            raise InputError(f"'{name}' after '--': it simulates nothing, expected options of a simulation")
