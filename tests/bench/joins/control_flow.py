# SPDX-License-Identifier: Apache-2.0
"""Blocks of a PTX entry, and which of its branches may split a warp."""
import re

EXIT = -1
EFFECTS = re.compile(r"(st|red|atom|bar|barrier|ld\.volatile|ld\.global|ld\.shared)\b")
LANE_SOURCES = ("%tid", "%laneid", "%lanemask", "%clock", "%warpid")
LANE_RESULTS = ("atom", "ld.local", "ld.volatile", "shfl", "vote", "activemask", "match")


class Statement:
    """One instruction: line, opcode with modifiers, operands as text, guard register or ''."""

    def __init__(self, line: int, text: str):
        self.line = line
        guard = re.match(r"@!?(%\w+)\s+(.*)", text)
        self.guard = guard.group(1) if guard else ""
        words = (guard.group(2) if guard else text).rstrip(";").split(None, 1)
        self.op, self.operands = words[0], words[1] if len(words) > 1 else ""

    def is_branch(self) -> bool:
        return self.op.startswith("bra")

    def leaves(self) -> bool:
        return self.op in ("ret", "exit")

    def registers(self) -> tuple[list[str], list[str]]:
        """Written and read."""
        name = r"%(?:tid|ctaid|ntid|nctaid)\.\w|%\w+"
        if re.match(r"(st|red|bar|barrier|membar|fence|bra|ret|exit|prefetch)\b", self.op):
            return [], re.findall(name, self.operands)
        list_end = self.operands.find("}") if self.operands.startswith("{") else self.operands.find(",")
        list_end = len(self.operands) if list_end < 0 else list_end
        return re.findall(name, self.operands[:list_end]), re.findall(name, self.operands[list_end:])


class Entry:
    """Basic blocks by number; successors EXIT where the block leaves the kernel. A block that only returns is the exit."""

    def __init__(self, lines: list[tuple[int, str]]):
        self.blocks: list[list[Statement]] = []
        labels, closed = {}, True
        for number, text in lines:
            label = re.match(r"([\w$]+):\s*(.*)", text)
            if label:
                if closed or self.blocks[-1]:
                    self.blocks.append([])
                closed = False
                labels[label.group(1)] = len(self.blocks) - 1
                text = label.group(2)
            if not text or text.startswith("."):
                continue
            if closed:
                self.blocks.append([])
            statement = Statement(number, text)
            self.blocks[-1].append(statement)
            closed = statement.is_branch() or statement.leaves()
        only_returns = [len(b) == 1 and b[0].leaves() and not b[0].guard for b in self.blocks]
        self.block_of = {s.line: n for n, b in enumerate(self.blocks) for s in b}
        self.branches: dict[int, str] = {}  # line of a guarded branch or return: its predicate
        self.successors: list[list[int]] = []
        for n, block in enumerate(self.blocks):
            last = block[-1] if block else None
            nexts = []
            if last is not None and last.is_branch():
                nexts.append(labels[last.operands.strip()])
            elif last is not None and last.leaves():
                nexts.append(EXIT)
            if last is None or last.guard or not (last.is_branch() or last.leaves()):
                nexts.append(n + 1 if n + 1 < len(self.blocks) else EXIT)
            if last is not None and last.guard and (last.is_branch() or last.leaves()):
                self.branches[last.line] = last.guard
            self.successors.append(list(dict.fromkeys(EXIT if only_returns[s] else s for s in nexts)))

    def has_effects(self, block: int) -> bool:
        return any(EFFECTS.match(s.op) for s in self.blocks[block])

    def first_effect(self, block: int) -> str:
        return next((s.op for s in self.blocks[block] if EFFECTS.match(s.op)), "")

    def behind(self, block: int) -> int:
        """The block itself, or the next one with effects or a choice that it leads to."""
        seen = set()
        while block != EXIT and block not in seen and not self.has_effects(block) and len(self.successors[block]) == 1:
            seen.add(block)
            block = self.successors[block][0]
        return block

    def on_the_way(self, block: int) -> set[int]:
        """Blocks to which control comes from here before anything has an effect: their branches may be merged."""
        found, seen, work = set(), set(), [block]
        while work:
            b = work.pop()
            if b == EXIT or b in seen:
                continue
            seen.add(b)
            found.add(self.behind(b))
            if not self.has_effects(b):
                work.extend(s for s in self.successors[b] if s > b)
        return found

    def between(self, block: int, join: int) -> set[int]:
        """Blocks that a branch at the end of `block` leads to before `join`."""
        seen, work = set(), list(self.successors[block])
        while work:
            b = work.pop()
            if b in (join, EXIT) or b in seen:
                continue
            seen.add(b)
            work.extend(self.successors[b])
        return seen

    def divergent_branches(self, joins: dict[int, int]) -> set[int]:
        """Lines of branches whose predicate may differ between the lanes of a warp. `joins`: block where each meets."""
        writers: dict[str, set[int]] = {}
        readers: dict[str, set[int]] = {}
        statements = []
        for n, block in enumerate(self.blocks):
            for s in block:
                written, read = s.registers()
                if s.guard:
                    read = read + [s.guard]
                statements.append((n, s, written, read))
                for r in written:
                    writers.setdefault(r, set()).add(n)
                for r in read:
                    readers.setdefault(r, set()).add(n)
        divergent: set[str] = set()
        # Blocks in which a value of a register depends on the path that a lane took.
        chosen: dict[str, set[int]] = {}

        def varies(register: str) -> bool:
            return register in divergent or register.startswith(LANE_SOURCES)

        changed = True
        while changed:
            changed = False
            for line, predicate in self.branches.items():
                if not varies(predicate):
                    continue
                inside = self.between(self.block_of[line], joins.get(line, EXIT))
                for r, blocks in writers.items():
                    here = inside & blocks
                    if len(blocks) > 1 and here - chosen.get(r, set()) and readers.get(r, set()) - inside:
                        chosen.setdefault(r, set()).update(here)
                        changed = True
            for n, s, written, read in statements:
                lane = s.op.startswith(LANE_RESULTS) or any(varies(r) for r in read)
                for r in written:
                    if r not in divergent and (lane or n in chosen.get(r, ())):
                        divergent.add(r)
                        changed = True
        return {line for line, predicate in self.branches.items() if varies(predicate)}


def entries(ptx: str) -> dict[str, Entry]:
    found, name, depth, lines = {}, "", 0, []
    for number, line in enumerate(ptx.split("\n"), 1):
        text = line.split("//")[0].strip()
        head = re.match(r"(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)", text)
        if head:
            name, lines = head.group(1), []
            continue
        if text.startswith("{"):
            depth += 1
        elif text.startswith("}"):
            depth -= 1
            if depth == 0 and name:
                found[name] = Entry(lines)
                name = ""
        elif depth > 0 and name and text:
            lines.append((number, text))
    return found
