# SPDX-License-Identifier: Apache-2.0
"""The dynamic part of a trace and its file: traces/recorder/trace_recorder.h in Python."""

import os
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple, Union

from .kernel import Kernel
from .lanes import LanePaths, RecordError
from .wire import Message, xxh64, zigzag, zstd_frame

_MASK32 = (1 << 32) - 1
Values = Union[Sequence[int], Callable[[int], int]]
Dimensions = Tuple[int, int, int]


def _lanes(mask: int) -> List[int]:
    return [n for n in range(mask.bit_length()) if mask >> n & 1]


def _of(values: Values, lanes: List[int]) -> List[int]:
    return [values(n) for n in lanes] if callable(values) else [values[n] for n in lanes]


class WarpRecorder:
    """Records one warp. Errors name kernel, CTA, warp and instruction."""

    def __init__(self, kernel: Kernel, threads: int, cta: int, warp: int, shared_bytes: int):
        self.threads = threads
        self._kernel, self._cta, self._warp, self._shared = kernel, cta, warp, shared_bytes
        self._paths = LanePaths(kernel.code, threads)
        self._runs: List[List[int]] = []
        self._masks: List[Tuple[int, int]] = []
        self._guards: List[int] = []
        self._address_kind, self._bases, self._deltas, self._last_base = bytearray(), [], [], 0  # type: ignore[var-annotated]
        self._value_kind, self._value_data = bytearray(), bytearray()
        self._predicates: List[int] = []
        self._events: List[Tuple[int, Tuple[bool, int, int]]] = []
        self.steps = self.thread_instructions = 0
        self._index = 0

    @property
    def live(self) -> int:
        """Lanes that have not exited."""
        return self._paths.live

    def _refuse(self, what: str) -> None:
        at = "" if self.steps == 0 else (f", instruction {self.steps} (static index {self._index}, "
                                         f"{self._kernel.code[self._index].opcode})")
        raise RecordError(f"kernel {self._kernel.name}, CTA {self._cta}, warp {self._warp}{at}: {what}")

    def step(self, index: int, path: Optional[int] = None, active: Optional[int] = None, *, results: Sequence[Values] = (),
             predicates: Sequence[int] = (), addresses: Optional[Values] = None) -> None:
        """The warp executes instruction `index`. `path`: the lanes that come to it (default: those that the instruction
        before sends there); `active`: those of them that execute it (default: all). `results`: of each register that it
        writes, by lane, as a sequence or a function; `predicates`: masks; `addresses`: in bytes, by lane."""
        if not 0 <= index < len(self._kernel.code):
            self._refuse(f"followed by static index {index}, and the kernel has {len(self._kernel.code)} instructions")
        if path is None:
            path = self._paths.going(index)
            if path == 0:
                self._refuse(f"no lane goes on to static index {index} from there: expected a path")
        active = path if active is None else active
        try:
            events = self._paths.step(index, path)
        except RecordError as e:
            self._refuse(str(e))
        self._events += [(self.steps - 1, e) for e in events]
        self.steps += 1
        self._index = index
        i = self._kernel.code[index]
        if active & ~path:
            self._refuse(f"lanes {active & ~path:#x} execute it and are not on the path")
        if active != path and i.guard is None:
            self._refuse(f"lanes {path & ~active:#x} of the path do not execute it, and it has no guard")
        for what, given, expected in (("results", len(results), len(i.writes)),
                                      ("predicates", len(predicates), len(i.writes_predicates))):
            if given != expected:
                self._refuse(f"{given} {what} were given, expected {expected}")
        if (addresses is None) == (active != 0 and i.has_addresses()):
            self._refuse("its addresses were not given" if addresses is None else "addresses of an instruction that has none")
        if self._runs and self._runs[-1][0] + self._runs[-1][1] == index:
            self._runs[-1][1] += 1
        else:
            self._runs.append([index, 1])
        if not self._masks or self._masks[-1][1] != path:
            self._masks.append((self.steps - 1, path))
        if i.guard is not None:
            self._guards.append(path & ~active)
        self._paths.execute(active)
        lanes = _lanes(active)
        self.thread_instructions += len(lanes)
        if addresses is not None:
            self._add_addresses(_of(addresses, lanes), lanes, i)
        for values in results:
            self._add_value([v & _MASK32 for v in _of(values, lanes)], lanes)
        self._predicates += [p & active for p in predicates]

    def goes_to(self, lanes: int, index: int) -> None:
        """After step() of a branch: where these of its active lanes go, if not to its target."""
        try:
            self._paths.goes_to(lanes, index)
        except RecordError as e:
            self._refuse(str(e))

    def _add_addresses(self, addresses: List[int], lanes: List[int], i: Any) -> None:
        for lane, address in zip(lanes, addresses):
            if i.space == "shared" and not 0 <= address <= self._shared - i.access_bytes:
                self._refuse(f"lane {lane} accesses {i.access_bytes} bytes of shared memory at {address:#x}, expected an offset "
                             f"in the {self._shared} bytes of the CTA")
            if i.space == "global" and not 0 <= address < 1 << 48:
                self._refuse(f"lane {lane} accesses global memory at {address:#x}, expected an address below {1 << 48:#x}")
        gap = lanes[1] - lanes[0] if len(lanes) > 1 else 1
        stride = (addresses[1] - addresses[0]) // gap if len(lanes) > 1 else 0
        affine = all(a == addresses[0] + stride * (n - lanes[0]) for n, a in zip(lanes, addresses))
        base = addresses[0] - (stride * lanes[0] if affine else 0)
        self._address_kind.append(0 if affine else 1)
        self._bases.append(base - self._last_base)
        self._last_base = base
        self._deltas += [stride] if affine else [b - a for a, b in zip(addresses, addresses[1:])]

    def _add_value(self, values: List[int], lanes: List[int]) -> None:
        if not lanes:
            self._value_kind.append(0)
            return
        step = (values[1] - values[0]) & _MASK32 if len(lanes) > 1 and lanes[1] == lanes[0] + 1 else 0
        if all(v == values[0] for v in values):
            self._value_kind.append(1)
            self._value_data += struct.pack("<I", values[0])
        elif all(v == (values[0] + step * (n - lanes[0])) & _MASK32 for n, v in zip(lanes, values)):
            self._value_kind.append(2)
            self._value_data += struct.pack("<II", (values[0] - step * lanes[0]) & _MASK32, step)
        else:
            self._value_kind.append(6)
            self._value_data += struct.pack(f"<{len(values)}I", *values)

    def encode(self) -> Message:
        """The columns; all lanes must have exited."""
        if self.steps == 0:
            self._refuse("executes nothing, expected an exit of its lanes")
        if self.live:
            self._refuse(f"the CTA ends, and lanes {self.live:#x} have not exited")
        m = Message().packed(1, (r[0] for r in self._runs)).packed(2, (r[1] for r in self._runs))
        m.packed(3, _differences(at for at, _ in self._masks)).packed(4, (mask for _, mask in self._masks))
        m.packed(5, self._guards).text(6, bytes(self._address_kind))
        m.packed(7, self._bases, zigzag).packed(8, self._deltas, zigzag)
        m.text(9, bytes(self._value_kind)).text(10, bytes(self._value_data)).packed(11, self._predicates)
        m.packed(12, _differences(at for at, _ in self._events))
        m.packed(13, (resume * 2 + 1 if push else 0 for _, (push, resume, _) in self._events))
        m.packed(14, (lanes for _, (push, _, lanes) in self._events if push))
        return m.number(15, self.steps).number(16, self.thread_instructions)


def _differences(numbers: Iterator[int]) -> Iterator[int]:
    before = 0
    for n in numbers:
        yield n - before
        before = n


class TraceRecorder:
    """Writes a trace. As a context manager, it gives the file its name at the end, or leaves nothing behind after an error."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], producer: str):
        self._path, self._producer = Path(path), producer
        self._making = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        self._file = open(self._making, "wb")  # closed by finish() or abandon()
        self._file.write(b"\x89RGT\r\n\x1a\n" + struct.pack("<I", 1))
        self._kernels: List[Kernel] = []
        self._kernel_frames: List[Message] = []
        self._launches: List[List[Any]] = []  # kernel, grid, block, dynamic, shared, CTAs, instructions, thread instructions
        self._ctas: List[Message] = []
        self._expected = 0

    def __enter__(self) -> "TraceRecorder":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.finish() if kind is None else self.abandon()

    def _frame(self, kind: int, data: bytes) -> Message:
        packed = zstd_frame(data)
        head = b"RGTF" + struct.pack("<IQQ", kind, len(packed), len(data))
        place = Message().number(1, self._file.tell()).number(2, len(packed)).number(3, len(data))
        self._file.write(head + struct.pack("<Q", xxh64(head + packed)) + packed)
        return place

    def add(self, kernel: Kernel) -> int:
        """Adds a kernel; returns its number."""
        self._kernels.append(kernel)
        self._kernel_frames.append(self._frame(1, kernel.encode()))
        return len(self._kernels) - 1

    def launch(self, kernel: int, grid: Dimensions, block: Dimensions, dynamic_shared_bytes: int = 0, ctas: int = 0) -> None:
        """Begins a launch. `ctas`: how many of the grid's first CTAs are recorded; 0: all."""
        self._end_launch()
        place = f"launch {len(self._launches)} of grid {grid} and block {block}"
        if not 0 <= kernel < len(self._kernels):
            raise RecordError(f"kernel {kernel}, and the trace has {len(self._kernels)}")
        threads, every = block[0] * block[1] * block[2], grid[0] * grid[1] * grid[2]
        if min(*grid, *block) < 1 or threads > 1024 or ctas > every:
            raise RecordError(f"{place}: expected dimensions from 1, at most 1024 threads, and no more CTAs than the grid's")
        shared = self._kernels[kernel].shared_bytes + dynamic_shared_bytes
        self._launches.append([kernel, grid, block, dynamic_shared_bytes, shared, 0, 0, 0])
        self._expected = ctas or every

    def _end_launch(self) -> None:
        if self._launches and self._launches[-1][5] != self._expected:
            raise RecordError(f"launch {len(self._launches) - 1}: {self._launches[-1][5]} CTAs were recorded, expected "
                              f"{self._expected}")

    @contextmanager
    def cta(self) -> Iterator[List[WarpRecorder]]:
        """The warps of the launch's next CTA, number 0 first, x fastest. Thread t is lane t % warp size of warp t / warp size."""
        if not self._launches:
            raise RecordError("a CTA without a launch")
        launch = self._launches[-1]
        if launch[5] == self._expected:
            raise RecordError(f"launch {len(self._launches) - 1} has {self._expected} CTAs, and one more begins")
        kernel, block = self._kernels[launch[0]], launch[2]
        threads, size = block[0] * block[1] * block[2], kernel.warp_size
        warps = [WarpRecorder(kernel, (1 << min(size, threads - w)) - 1, launch[5], w // size, launch[4])
                 for w in range(0, threads, size)]
        yield warps
        message = Message().number(1, len(self._launches) - 1).number(2, launch[5])
        for warp in warps:
            message.message(3, warp.encode())
        steps, lanes = sum(w.steps for w in warps), sum(w.thread_instructions for w in warps)
        reference = Message().message(1, self._frame(2, message.data())).number(2, len(self._launches) - 1)
        self._ctas.append(reference.number(3, launch[5]).number(4, steps).number(5, lanes))
        launch[5] += 1
        launch[6] += steps
        launch[7] += lanes

    def finish(self) -> None:
        """Completes the file."""
        try:
            self._end_launch()
        except RecordError:
            self.abandon()
            raise
        index = Message().text(1, self._producer.encode())
        for place in self._kernel_frames:
            index.message(2, place)
        for kernel, grid, block, dynamic, shared, ctas, steps, lanes in self._launches:
            m = Message().number(1, kernel).packed(2, grid).packed(3, block).number(4, dynamic).number(5, shared)
            index.message(3, m.number(7, ctas).number(8, steps).number(9, lanes))
        for reference in self._ctas:
            index.message(4, reference)
        offset = struct.pack("<Q", self._file.tell())
        self._frame(3, index.data())
        self._file.write(offset + struct.pack("<Q", xxh64(offset, 1)) + b"RGTEND\r\n")
        self._file.close()
        os.replace(self._making, self._path)

    def abandon(self) -> None:
        """Removes what was written."""
        self._file.close()
        if self._making.exists():
            self._making.unlink()
