# SPDX-License-Identifier: Apache-2.0
"""What a campaign is doing: one line that is written over on a terminal, a line per run elsewhere."""

import sys
import threading
import time


class Progress:
    def __init__(self, total: int, kept: int, shown: bool = True, stream=None):
        self._stream = stream or sys.stderr
        self._shown = shown and total > 0
        self._terminal = self._stream.isatty()
        self._total = total
        self._done = 0
        self._begin = time.monotonic()
        self._lock = threading.Lock()
        if self._shown and kept > 0:
            self._stream.write(f"{kept} of {kept + total} runs are there already\n")

    def begin(self, what: str) -> None:
        if self._terminal:
            with self._lock:
                self._write(what)

    def done(self, what: str, how: str) -> None:
        with self._lock:
            self._done += 1
            self._write(f"{what}: {how}")

    def finish(self) -> None:
        if not self._shown:
            return
        if self._terminal:
            self._stream.write("\r\033[K")
        self._stream.write(f"{self._done} runs in {time.monotonic() - self._begin:.0f} s\n")
        self._stream.flush()

    def _write(self, text: str) -> None:
        if not self._shown:
            return
        width = len(str(self._total))
        line = f"[{self._done:{width}}/{self._total}] {text}"
        self._stream.write(f"\r\033[K{line[:110]}" if self._terminal else line + "\n")
        self._stream.flush()
