# SPDX-License-Identifier: Apache-2.0
"""The static part of a trace: traces/recorder/kernel_builder.h in Python."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence, Set, Tuple

from .lanes import RecordError
from .wire import Message, zigzag

OP_CLASSES = ("nop int_add int_max int_mul int_mad int_div int64 convert fp32_add fp32_max fp32_mul fp32_mad fp32_div fp64_add "
              "fp64_max fp64_mul fp64_mad fp64_div sfu shuffle constant_load load store atomic fence barrier branch exit "
              "metadata").split()
SPACES = "none global shared local constant param generic".split()
WITH_ADDRESSES = ("global", "shared", "local", "generic")


@dataclass
class Instruction:
    """One instruction; Kernel.code has them in the order of their static indices."""
    opcode: str
    op_class: str
    writes: List[int] = field(default_factory=list)
    reads: List[int] = field(default_factory=list)
    writes_predicates: List[int] = field(default_factory=list)
    reads_predicates: List[int] = field(default_factory=list)
    immediates: List[int] = field(default_factory=list)
    special: bool = False
    guard: Optional[int] = None
    negated: bool = False
    space: str = "none"
    access_bytes: int = 0
    offset: int = 0
    target: int = -1
    barrier_id: int = 0
    barrier_threads: int = 0
    line: int = 0

    def has_addresses(self) -> bool:
        return self.access_bytes != 0 and self.space in WITH_ADDRESSES

    def encode(self, number: int) -> Message:
        m = Message().text(1, self.opcode.encode()).number(2, number).number(3, OP_CLASSES.index(self.op_class))
        if self.guard is not None:
            m.number(4, self.guard, always=True).number(5, self.negated)
        m.packed(6, self.reads).packed(7, self.writes).packed(8, self.reads_predicates).packed(9, self.writes_predicates)
        m.number(10, SPACES.index(self.space)).number(11, self.access_bytes)
        m.number(13, self.access_bytes != 0 and self.op_class != "store")
        m.number(14, self.op_class in ("store", "atomic"))
        if self.op_class == "branch":
            m.number(15, self.target, always=True)
        m.number(16, self.barrier_id).number(17, self.barrier_threads)
        operands = [(0, r) for r in self.writes] + [(1, p) for p in self.writes_predicates]
        destinations = len(operands)
        operands += [(0, r) for r in self.reads] + [(1, p) for p in self.reads_predicates]
        operands += [(2, v) for v in self.immediates] + ([(3, 0)] if self.special else [])
        for kind, value in operands:
            m.message(18, Message().number(1, kind).number(2, 1).number(4, value))
        return m.number(19, destinations).number(20, self.line).number(26, zigzag(self.offset) if self.offset else 0)


@dataclass
class Kernel:
    name: str
    code: List[Instruction]
    blocks: List[Tuple[int, int, List[int], int]]  # first, count, successors, reconvergence (-1: the exit)
    warp_size: int
    registers: int
    predicates: int
    shared_bytes: int
    local_bytes: int

    def encode(self) -> bytes:
        m = Message().text(1, self.name.encode()).number(4, self.warp_size).number(5, self.registers)
        m.number(6, self.predicates).number(7, self.shared_bytes).number(8, self.local_bytes)
        numbers: Dict[str, int] = {}
        for i in self.code:
            m.message(10, i.encode(numbers.setdefault(i.opcode, len(numbers))))
        for first, count, successors, reconvergence in self.blocks:
            block = Message().number(1, first).number(2, count).packed(3, successors)
            m.message(11, block.number(4, reconvergence, always=True) if reconvergence >= 0 else block)
        return m.number(15, 1).data()


class KernelBuilder:
    """Builds a kernel. op(), load() ... add an instruction and return its static index."""

    def __init__(self, name: str, warp_size: int = 32):
        if warp_size not in (32, 64):
            raise RecordError(f"kernel {name}: warp size {warp_size}, expected 32 or 64")
        self.name, self.warp_size, self.shared_bytes, self.local_bytes, self.registers = name, warp_size, 0, 0, 0
        self._code: List[Instruction] = []
        self._edges: List[Tuple[int, int]] = []

    def next(self) -> int:
        """The static index of the instruction that is added next."""
        return len(self._code)

    def _refuse(self, index: int, what: str) -> None:
        raise RecordError(f"kernel {self.name}, static index {index} ({self._code[index].opcode}): {what}")

    def op(self, opcode: str, op_class: str, *, writes: Sequence[int] = (), reads: Sequence[int] = (),
           writes_predicates: Sequence[int] = (), reads_predicates: Sequence[int] = (), immediates: Sequence[int] = (),
           special: bool = False, guard: Optional[int] = None, negated: bool = False, line: int = 0) -> int:
        """An instruction that computes. Registers are 0 to 254, predicates 0 to 6. `special`: its result follows from more
        than its registers and immediates, as a thread's number."""
        index = self.next()
        i = Instruction(opcode, op_class, list(writes), list(reads), list(writes_predicates), list(reads_predicates),
                        list(immediates), special, guard, negated, line=line)
        self._code.append(i)
        if not opcode:
            self._refuse(index, "an empty opcode")
        if op_class not in OP_CLASSES:
            self._refuse(index, f"the class {op_class!r}, expected one of {', '.join(OP_CLASSES)}")
        for verb, what, numbers, limit, most in (("writes", "register", i.writes, 254, 4), ("reads", "register", i.reads, 254, 6),
                                                 ("writes", "predicate", i.writes_predicates, 6, 2),
                                                 ("reads", "predicate", i.reads_predicates, 6, 4)):
            for number in numbers:
                if not 0 <= number <= limit:
                    self._refuse(index, f"{verb} {what} {number}, expected 0 to {limit}")
            if len(numbers) > most:
                self._refuse(index, f"{verb} more than {most} {what}s")
        if guard is not None and not 0 <= guard <= 6:
            self._refuse(index, f"guarded by predicate {guard}, expected 0 to 6")
        return index

    def _access(self, opcode: str, op_class: str, space: str, size: int, offset: int, more: Dict[str, object]) -> int:
        index = self.op(opcode, op_class, **more)  # type: ignore[arg-type]
        if space not in SPACES[1:]:
            self._refuse(index, f"the space {space!r}, expected one of {', '.join(SPACES[1:])}")
        if not 1 <= size <= 32:
            self._refuse(index, f"accesses {size} bytes per lane, expected 1 to 32")
        i = self._code[index]
        i.space, i.access_bytes, i.offset = space, size, offset
        return index

    def load(self, opcode: str, space: str, size: int, *, offset: int = 0, **more: object) -> int:
        """A memory access of `size` bytes per lane; `more`: as of op(). A store reads its address register first."""
        constant = space in ("constant", "param")
        return self._access(opcode, "constant_load" if constant else "load", space, size, offset, more)

    def store(self, opcode: str, space: str, size: int, *, offset: int = 0, **more: object) -> int:
        return self._access(opcode, "store", space, size, offset, more)

    def atomic(self, opcode: str, space: str, size: int, *, offset: int = 0, **more: object) -> int:
        return self._access(opcode, "atomic", space, size, offset, more)

    def branch(self, opcode: str, target: int = -1, **more: object) -> int:
        """`target`: a static index; -1: set_target() follows."""
        index = self.op(opcode, "branch", **more)  # type: ignore[arg-type]
        self._code[index].target = target
        return index

    def set_target(self, branch: int, target: int) -> None:
        if self._code[branch].op_class != "branch":
            self._refuse(branch, "has a target and is no branch")
        self._code[branch].target = target

    def add_edge(self, branch: int, target: int) -> None:
        """A jump of an indirect branch besides its target."""
        self._edges.append((branch, target))

    def barrier(self, opcode: str = "bar.sync", number: int = 0, threads: int = 0) -> int:
        index = self.op(opcode, "barrier")
        if not 0 <= number <= 15:
            self._refuse(index, f"barrier {number}, expected 0 to 15")
        self._code[index].barrier_id, self._code[index].barrier_threads = number, threads
        return index

    def exit(self, opcode: str = "exit", **more: object) -> int:
        return self.op(opcode, "exit", **more)  # type: ignore[arg-type]

    def build(self) -> Kernel:
        if not self._code:
            raise RecordError(f"kernel {self.name}: no instruction")
        for index, i in enumerate(self._code):
            if i.op_class == "branch" and not 0 <= i.target < len(self._code):
                self._refuse(index, "a branch without a target" if i.target < 0 else
                             f"the target {i.target}, and the kernel has instructions 0 to {len(self._code) - 1}")
        used = [r + 1 for i in self._code for r in i.writes + i.reads]
        predicates = [p + 1 for i in self._code for p in i.writes_predicates + i.reads_predicates]
        predicates += [i.guard + 1 for i in self._code if i.guard is not None]
        return Kernel(self.name, self._code, _blocks(self._code, self._edges), self.warp_size,
                      max([self.registers, *used]), max([0, *predicates]), self.shared_bytes, self.local_bytes)


def _blocks(code: List[Instruction], edges: List[Tuple[int, int]]) -> List[Tuple[int, int, List[int], int]]:
    leaders: Set[int] = {0}
    for index, i in enumerate(code):
        if i.op_class == "branch":
            leaders.add(i.target)
        if i.op_class in ("branch", "exit"):
            leaders.add(index + 1)
    for source, target in edges:
        leaders |= {source + 1, target}
    starts = sorted(n for n in leaders if n < len(code))
    block_of = {first: number for number, first in enumerate(starts)}
    ends = starts[1:] + [len(code)]
    successors: List[List[int]] = []
    for end in ends:
        last = code[end - 1]
        to = [last.target] if last.op_class == "branch" else []
        if not (last.op_class in ("branch", "exit") and last.guard is None) and end < len(code):
            to.append(end)
        to += [target for source, target in edges if source == end - 1]
        successors.append([block_of[n] for n in dict.fromkeys(to)])
    meets = _post_dominators(successors)
    return [(first, end - first, s, m) for first, end, s, m in zip(starts, ends, successors, meets)]


def _post_dominators(successors: List[List[int]]) -> List[int]:
    """The immediate post-dominator of each block; -1: the exit."""
    size = len(successors)
    everything = set(range(size))
    after = [set(everything) for _ in range(size)]
    changed = True
    while changed:
        changed = False
        for block in reversed(range(size)):
            to = successors[block]
            found = set.intersection(*(after[s] | {s} for s in to)) if to else set()
            if found != after[block]:
                after[block], changed = found, True
    # The nearest has all the others behind it.
    return [max((b for b in found if b != block), key=lambda b: len(after[b] - {b}), default=-1)
            for block, found in enumerate(after)]
