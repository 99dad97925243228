# SPDX-License-Identifier: Apache-2.0
"""How long runs are expected to take, and how far they are: one line that is written over on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Sequence, TextIO

from .campaign import Campaign
from .outcome import Outcome

_PLAIN_SECONDS = 15.0


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def estimates(campaign: Campaign, known: dict[int, Outcome]) -> dict[int, float]:
    """Seconds by run id: the mean of the program's finished runs, or a guess from the size of its trace."""
    by_program: dict[str, list[float]] = {}
    for run in campaign.runs:
        if run.id in known and known[run.id].status == 0:
            by_program.setdefault(run.program, []).append(known[run.id].seconds)
    means = {p: sum(s) / len(s) for p, s in by_program.items()}
    return {r.id: means.get(r.program, 0.2 + 0.4 * r.megabytes if r.megabytes else 1.0) for r in campaign.runs}


class Progress:
    """`weights`: estimated seconds of each run to be made, by key."""

    def __init__(self, weights: dict[str, float], shown: bool, stream: TextIO | None = None):
        self._waiting = weights.copy()
        self._total = sum(weights.values())
        self._done_weight = 0.0
        self.done = self.failed = 0
        self._stream = stream or sys.stderr
        self._shown = shown and bool(weights)
        self._terminal = self._stream.isatty()
        self._begin = time.monotonic()
        self._told = self._begin
        self._last = ""

    @property
    def left(self) -> int:
        return len(self._waiting)

    def show(self, ended: Sequence[tuple[str, bool]] = ()) -> None:
        """`ended`: keys since the last time, and whether they failed. Others than these runs do not count."""
        for key, failed in ended:
            if key in self._waiting:
                self._done_weight += self._waiting.pop(key)
                self.done += 1
                self.failed += failed
        now = time.monotonic()
        if not self._shown or (not self._terminal and now - self._told < _PLAIN_SECONDS):
            return
        share = self._done_weight / self._total if self._total else 1.0
        count = self.done + self.left
        line = f"[{self.done:{len(str(count))}}/{count}] {share:4.0%}, {duration(now - self._begin)}"
        # The first runs say little about the others.
        if share and (self.done >= 3 or share > 0.1):
            line += f", {duration((now - self._begin) * max(0.0, 1 - share) / share)} left"
        if self.failed:
            line += f", {self.failed} failed"
        if self._terminal:
            if line != self._last:
                self._stream.write(f"\r\033[K{line[:110]}")
        else:
            self._stream.write(line + "\n")
        self._last = line
        self._told = now
        self._stream.flush()

    def finish(self) -> None:
        if self._shown and self._terminal:
            self._stream.write("\r\033[K")
            self._stream.flush()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin
