# SPDX-License-Identifier: Apache-2.0
"""Worker processes of this host, and the runs and traces that they make."""

import contextlib
import heapq
import json
import os
import selectors
import signal
import subprocess
from collections import Counter
from typing import Any, Collection, Sequence

from ..statistics import InputError
from . import jobs, worker
from .campaign import Campaign, Simulation, Trace

# Between two looks at the clock.
_TICK = 0.5
# Workers that ended; after more, this host is to blame.
_MOST_LOST = 8


class Pool:
    """Up to `size` workers (worker.py), each with one job at a time. They end with this process, however it ends."""

    def __init__(self, size: int):
        self._size = size
        # The tools of one worker use no more threads than its share of the processors.
        self._environment = {**os.environ, "REGATTA_THREADS": str(max(1, (os.cpu_count() or 1) // size))}
        self._idle: "list[subprocess.Popen[bytes]]" = []
        self._busy: "dict[subprocess.Popen[bytes], Any]" = {}
        self._answers = selectors.DefaultSelector()

    def is_full(self) -> bool:
        return len(self._busy) >= self._size

    def is_idle(self) -> bool:
        return not self._busy

    def begin(self, name: Any, job: jobs.Job) -> None:
        """Not when it is full."""
        child = self._idle.pop() if self._idle else self._new()
        self._busy[child] = name
        assert child.stdin is not None
        with contextlib.suppress(OSError):  # it was killed: wait() will see that
            child.stdin.write(json.dumps(job).encode() + b"\n")
            child.stdin.flush()

    def _new(self) -> "subprocess.Popen[bytes]":
        # A process group of its own: Ctrl-C of a terminal reaches this program only, which then ends the worker.
        try:
            child = subprocess.Popen([*worker.COMMAND, str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     process_group=0, env=self._environment)
        except OSError as e:
            raise InputError(f"cannot start {worker.COMMAND[0]}: {e.strerror}") from None
        assert child.stdout is not None
        self._answers.register(child.stdout, selectors.EVENT_READ, child)
        return child

    def wait(self, seconds: float | None = None) -> list[tuple[Any, bool, str]]:
        """The jobs that have ended, at most after so long: name, whether it failed, and why it could not be done."""
        found = []
        for key, _ in self._answers.select(seconds):
            child = key.data
            line = key.fileobj.readline()  # type: ignore[union-attr]
            if line:
                answer = json.loads(line)
                self._idle.append(child)
                found.append((self._busy.pop(child), bool(answer["failed"]), str(answer["error"])))
                continue
            self._answers.unregister(key.fileobj)
            self._close(child)
            if child in self._idle:
                self._idle.remove(child)
            if child in self._busy:
                found.append((self._busy.pop(child), True, f"a worker ended with status {child.returncode}"))
        return found

    @staticmethod
    def _close(child: "subprocess.Popen[bytes]") -> None:
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        child.wait()

    def end(self) -> None:
        """Ends what runs, and its programs."""
        for child in (*self._idle, *self._busy):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        for child in (*self._idle, *self._busy):
            self._close(child)
        self._answers.close()


class Local:
    """Makes runs and traces here. A run waits for its trace, which is begun when no earlier run can be. `temporary`: traces
    that are removed after their last run."""

    def __init__(self, campaign: Campaign, todo: Sequence[Simulation], traces: Sequence[Trace], temporary: Collection[Trace],
                 settings: jobs.Settings):
        self.told = f"{settings.jobs} at a time"
        self.why: list[str] = []  # what kept jobs from being done
        self._campaign, self._settings, self._temporary = campaign, settings, temporary
        self._over = False
        self._left = Counter(run.trace for run in todo)  # by the trace that they need
        self._waiting: dict[Trace, list[tuple[int, Simulation]]] = {trace: [] for trace in traces}
        self._ready: list[tuple[int, Simulation | Trace]] = []
        for place, run in enumerate(todo):
            if run.trace in self._waiting:
                self._waiting[run.trace].append((place, run))
            else:
                self._ready.append((place, run))
        self._ready += [(runs[0][0] if runs else len(todo) + i, trace) for i, (trace, runs) in enumerate(self._waiting.items())]
        heapq.heapify(self._ready)

    def ends(self) -> jobs.Ends:
        pool = Pool(self._settings.jobs)
        try:
            while self._ready or not pool.is_idle():
                while self._ready and not pool.is_full():
                    what = heapq.heappop(self._ready)[1]
                    pool.begin(what, jobs.of_trace(self._campaign, what, [run.key for _, run in self._waiting[what]])
                               if isinstance(what, Trace) else jobs.of_runs(self._campaign, [what]))
                yield [(key, failed) for what, failed, error in pool.wait(_TICK) for key in self._ended(what, failed, error)]
        finally:
            pool.end()

    def _ended(self, what: Simulation | Trace, failed: bool, error: str) -> list[str]:
        """Keys of what has ended with it."""
        if error:
            self.why.append(error)
        # Where one result cannot be written, others cannot either.
        if error.startswith(worker.CANNOT_WRITE) or len(self.why) > _MOST_LOST or (failed and self._settings.fail_fast):
            self._over = True
            self._ready.clear()
        if error:
            return []
        if isinstance(what, Trace):
            if failed:
                return [what.name, *(run.key for _, run in self._waiting[what])]
            for run in () if self._over else self._waiting[what]:
                heapq.heappush(self._ready, run)
        elif what.trace:
            self._left[what.trace] -= 1
            if not self._left[what.trace] and what.trace in self._temporary:
                what.trace.remove()
        return [what.name if isinstance(what, Trace) else what.key]
