# SPDX-License-Identifier: Apache-2.0
"""How far a study is: one line that is written over on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import TextIO

_PLAIN_SECONDS = 15.0


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress:
    """`weights`: estimated seconds of each run to be made, by key."""

    def __init__(self, weights: dict[str, float], shown: bool, stream: TextIO | None = None):
        self._weights = weights
        self._stream = stream or sys.stderr
        self._shown = shown and bool(weights)
        self._terminal = self._stream.isatty()
        self._begin = time.monotonic()
        self._told = self._begin
        self._last = ""

    def show(self, done: set[str], failed: int) -> None:
        now = time.monotonic()
        if not self._shown or (not self._terminal and now - self._told < _PLAIN_SECONDS):
            return
        total = sum(self._weights.values())
        share = sum(self._weights[k] for k in done) / total if total else 1.0
        line = f"[{len(done):{len(str(len(self._weights)))}}/{len(self._weights)}] {share:4.0%}"
        line += f", {duration(now - self._begin)}"
        # The first runs say little about the others.
        if len(done) >= 3 or share > 0.1:
            line += f", {duration((now - self._begin) * max(0.0, 1 - share) / share)} left"
        if failed:
            line += f", {failed} failed"
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
