# SPDX-License-Identifier: Apache-2.0
"""Where the lanes of a warp are, and the SIMT stack that takes them on: traces/recorder/lane_paths.cpp in Python."""

from typing import Any, List, Tuple

Event = Tuple[bool, int, int]  # a push with the resume index and the lanes, or a pop
POP: Event = (False, 0, 0)


class RecordError(ValueError):
    """A call that cannot be a part of a trace. The text names the kernel, the place, what was given and expected."""


class LanePaths:
    """Follows the lanes of one warp; `code`: the kernel's instructions."""

    def __init__(self, code: List[Any], threads: int):
        self._code, self._threads, self.live = code, threads, threads
        self._index, self._path, self._active = -1, 0, 0
        self._here: List[List[int]] = []  # [static index, lanes] of the last instruction
        self._parked: List[List[int]] = []

    def going(self, index: int) -> int:
        """The lanes that the last instruction sends to `index`."""
        if self._index < 0:
            return self._threads if index == 0 else 0
        return next((lanes for n, lanes in self._here if n == index), 0)

    def _misplaced(self, index: int, lanes: int) -> str:
        lane = (lanes & -lanes).bit_length() - 1
        where = "has exited" if self._threads >> lane & 1 else "does not exist"
        for n, group in self._here + self._parked:
            if group >> lane & 1:
                where = f"goes on at static index {n}"
        return f"lane {lane} is on the path to static index {index}, and it {where}"

    def _goes_by_itself(self, index: int, path: int) -> bool:
        i = self._code[self._index]
        behind = self._index + 1
        if i.op_class == "branch" and i.target == behind:
            return index == behind and path == self._path
        lanes = self._active if i.op_class == "branch" and i.target == index else 0
        if index == behind:
            lanes |= self._path & ~self._active if i.op_class in ("branch", "exit") else self._path
        return lanes == path

    def step(self, index: int, path: int) -> List[Event]:
        """Moves to `index` with the lanes of `path`; returns the events between."""
        if self._index < 0:
            if index != 0 or path != self._threads:
                raise RecordError(f"the warp begins at static index {index} with lanes {path:#x}, expected static index 0 "
                                  f"with lanes {self._threads:#x}")
            self._index, self._path = index, path
            return []
        if path == 0:
            raise RecordError("no lane is on the path")
        waiting = 0
        for n, lanes in self._here + self._parked:
            waiting |= lanes if n == index else 0
        if path & ~waiting:
            raise RecordError(self._misplaced(index, path & ~waiting))
        kept = next((n for n, (_, lanes) in enumerate(self._parked) if lanes & path), len(self._parked))
        events: List[Event] = []
        if kept + 1 == len(self._parked) and self._parked[-1][1] == path and not self._here:
            self._parked.pop()
            events.append(POP)
        else:
            again = self._parked[kept:] + self._here
            popped = len(self._parked) - kept
            events += [POP] * popped
            del self._parked[kept:]
            for n, lanes in again:
                lanes &= ~path
                if lanes:
                    events.append((True, n, lanes))
                    self._parked.append([n, lanes])
            if popped or not self._goes_by_itself(index, path):
                events += [(True, index, path), POP]
        self._index, self._path = index, path
        return events

    def execute(self, active: int) -> None:
        """The lanes of the path that execute the instruction."""
        self._active, self._here = active, []
        i = self._code[self._index]
        if i.op_class == "exit":
            self.live &= ~active
            self._add(self._index + 1, self._path & ~active)
        elif i.op_class == "branch":
            self._add(self._index + 1, self._path & ~active)
            self._add(i.target, active)
        else:
            self._add(self._index + 1, self._path)

    def _add(self, index: int, lanes: int) -> None:
        if not lanes:
            return
        for group in self._here:
            if group[0] == index:
                group[1] |= lanes
                return
        self._here.append([index, lanes])

    def goes_to(self, lanes: int, index: int) -> None:
        """Of the active lanes of a branch: where these go, if not to its target."""
        allowed = self._active if self._code[self._index].op_class == "branch" else 0
        if lanes & ~allowed or index > len(self._code):
            raise RecordError(f"lanes {lanes:#x} are sent to static index {index}, expected lanes that execute a branch: "
                              f"{allowed:#x}, and an index of the kernel")
        self._here = [[n, group & ~lanes] for n, group in self._here if group & ~lanes]
        self._add(index, lanes)
