# SPDX-License-Identifier: Apache-2.0
"""A study from what is there to its results, whoever asks for it: regatta-study and regatta.study()."""

import contextlib
import signal
import threading
from typing import Any, Callable, Iterator

from . import engine, results
from .outcome import Outcome, ended
from .plan import Plan

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that end programs do nothing in this block. Only the main thread has signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def complete(plan: Plan, settings: engine.Settings, tell: Callable[[str], None],
             warn: Callable[[str], None]) -> tuple[dict[int, Outcome], list[str]]:
    """Makes the runs that are missing and writes the results, also those of a study that is interrupted. Returns what
    became of the runs, by run id, and why others have no result, for no fault of theirs. `warn`: is told of damaged results,
    which are made again."""
    lost: list[str] = []
    with engine.locked(plan.folder):
        engine.own(plan)
        engine.clean(plan)
        plan.keep_digests()
        damaged: list[str] = []
        known = ended(plan, damaged)
        todo: list[Any] = engine.missing(plan, known, settings.retry)
        for sentence in damaged:
            warn(sentence)
        if todo:
            engine.check_names(plan, todo)
            try:
                engine.make(plan, todo, known, settings, tell)
            except engine.Unfinished as e:
                lost = [str(e)]
            finally:
                with uninterrupted():
                    known = ended(plan)
                    results.write(plan, known)
        else:
            tell(f"all {len(plan.runs)} runs are there already")
            results.write(plan, known)
    return known, lost
