#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares where lanes meet again: regatta-annotate's reconvergence points and ptxas's convergence barriers.

ptxas marks such a point with BSYNC, and BSSY in front of the branch names it. Each branch of a PTX file that may split
a warp is looked up in both listings by its PTX line; the blocks in which its lanes meet are compared.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import control_flow

SKIPPED = 77
UNKNOWN = -2


def our_listing(annotate: str, ptx: pathlib.Path, entry: str) -> dict:
    """Blocks of one entry as regatta-annotate lists them: successors, join (-1: the exit), lines of their code."""
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder, "listing.txt")
        subprocess.run([annotate, "--ptx", ptx, "--check", "--entry", entry, "--listing", listing],
                       capture_output=True, check=True)
        text = listing.read_text()
    blocks: dict[int, dict] = {}
    for line in text.split("\n"):
        head = re.match(r"B(\d+):", line)
        flow = re.match(r"  // from .*, to ([^,]*), reconverges at (\w+)", line)
        code = re.match(r" *\d+ +\d+  (.*);  *// (\d+)", line)
        if head:
            block = blocks.setdefault(int(head.group(1)), {"to": [], "join": -1, "code": []})
        elif flow:
            block["to"] = [int(b[1:]) for b in flow.group(1).split() if b.startswith("B")]
            block["join"] = int(flow.group(2)[1:]) if flow.group(2).startswith("B") else control_flow.EXIT
        elif code:
            block["code"].append((code.group(1), int(code.group(2))))
    return blocks


class Comparison:
    """One entry: branches that are `equal`, never split a warp (`uniform`), end a loop that ptxas unrolled, so that another
    copy of the same block comes where the barrier ends (`unrolled`), and `others`, a line of text for each."""

    def __init__(self, name: str, entry: control_flow.Entry, ours: dict, code: list, sass):
        self.name, self.entry, self.ours, self.code = name, entry, ours, code
        self.at = {i.address: n for n, i in enumerate(code)}
        self.equal, self.uniform, self.unrolled, self.others = 0, 0, 0, []
        branch_at = {b["code"][-1][1]: n for n, b in ours.items() if len(b["to"]) == 2 and b["code"]}
        divergent = entry.divergent_branches(
            {line: self.in_ptx(ours[n]["join"]) for line, n in branch_at.items()})
        theirs: dict[int, list] = {}
        for instruction, ends in sass.joins(code):
            theirs.setdefault(instruction.line, []).append(ends[-1] if ends else None)
        for line, n in sorted(branch_at.items()):
            if line not in theirs or line not in entry.branches:
                continue  # ptxas made no branch of it
            if line not in divergent:
                self.uniform += 1
                continue
            found = [self.meeting(end) for end in theirs[line]]
            if any(self.same(n, join) for join in found):
                self.equal += 1
            elif entry.block_of[line] in found:
                self.unrolled += 1
            else:
                self.others.append(f"{name}, line {line}: here {self.place(self.in_ptx(ours[n]['join']))}, "
                                   f"ptxas {' or '.join(sorted({self.place(join) for join in found}))}")

    def place(self, block: int) -> str:
        if block == control_flow.EXIT:
            return "at the exit"
        if block == UNKNOWN:
            return "at a place that no PTX line names"
        return f"in line {self.entry.blocks[block][0].line}"

    def in_ptx(self, block: int) -> int:
        """The PTX block of one of our blocks."""
        while block != control_flow.EXIT:
            for _, line in self.ours[block]["code"]:
                if line in self.entry.block_of:
                    return self.entry.behind(self.entry.block_of[line])
            block = self.ours[block]["to"][0] if self.ours[block]["to"] else control_flow.EXIT
        return control_flow.EXIT

    def meeting(self, address) -> int:
        """The PTX block whose code begins at an address of the machine code."""
        if address is None:
            return control_flow.EXIT
        n, steps = self.at.get(address, len(self.code)), 0
        while n < len(self.code) and steps < len(self.code):
            steps += 1
            i = self.code[n]
            if i.name == "EXIT" and not i.guarded:
                return control_flow.EXIT
            if i.name == "BRA" and not i.guarded:
                n = self.at.get(i.target, len(self.code))
                continue
            block = self.entry.block_of.get(i.line, UNKNOWN)
            is_told = i.name in ("BRA", "EXIT", "BAR") or (i.is_memory and self.has_effect(i.line, block))
            if block != UNKNOWN and is_told:
                return self.entry.behind(block)
            n += 1
        return UNKNOWN

    def has_effect(self, line: int, block: int) -> bool:
        return block != UNKNOWN and any(s.line == line and control_flow.EFFECTS.match(s.op) for s in self.entry.blocks[block])

    def same(self, branch: int, join: int) -> bool:
        mine = self.in_ptx(self.ours[branch]["join"])
        if join == mine or (mine != control_flow.EXIT and join != UNKNOWN and join in self.entry.on_the_way(mine)):
            return True
        # Threads meet at a barrier anyway.
        if join == control_flow.EXIT and mine != control_flow.EXIT and self.entry.first_effect(mine).startswith("bar"):
            return True
        # One side leaves: nobody waits for it, so any place behind the branch will do.
        following = self.ours[branch]["join"]
        sides = self.ours[branch]["to"]
        if following not in sides or any(self.leads(s, following, branch) for s in sides if s != following):
            return False
        while following != control_flow.EXIT:
            following = self.ours[following]["join"]
            if self.in_ptx(following) == join:
                return True
        return False

    def leads(self, start: int, to: int, without: int) -> bool:
        seen, work = {without}, [start]
        while work:
            b = work.pop()
            if b == to:
                return True
            if b not in seen:
                seen.add(b)
                work.extend(self.ours[b]["to"])
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotate", required=True, metavar="PATH", help="regatta-annotate")
    parser.add_argument("--ptxas", default="ptxas", metavar="PATH", help="NVIDIA's assembler (default: the one in PATH)")
    parser.add_argument("--arch", default="sm_75", help="machine code to compare with, sm_70 or later (default: sm_75)")
    parser.add_argument("--least", type=float, metavar="PERCENT", help="status 3 if fewer branches agree")
    parser.add_argument("ptx", nargs="+", type=pathlib.Path, help="PTX files for sm_70 or later")
    options = parser.parse_args()
    try:
        import sass
        subprocess.run([options.ptxas, "--version"], capture_output=True, check=True)
    except ImportError:
        print("joins.py: needs Python's elftools (Debian: python3-pyelftools)", file=sys.stderr)
        return SKIPPED
    except OSError:
        print(f"joins.py: no ptxas: {options.ptxas}", file=sys.stderr)
        return SKIPPED
    equal = compared = uniform = unrolled = 0
    others = []
    print(f"{'entry':40} {'branches':>9} {'equal':>7}")
    for file in options.ptx:
        text = file.read_text()
        try:
            code = sass.assemble(options.ptxas, text, options.arch)
        except RuntimeError as error:
            print(f"joins.py: {file}: {error}", file=sys.stderr)
            return 2
        for name, entry in control_flow.entries(text).items():
            if name not in code:
                continue
            result = Comparison(name, entry, our_listing(options.annotate, file, name), code[name], sass)
            count = result.equal + len(result.others)
            equal, compared = equal + result.equal, compared + count
            uniform, unrolled = uniform + result.uniform, unrolled + result.unrolled
            others += result.others
            if count != 0:
                print(f"{name:40} {count:9} {result.equal:7}")
    share = 100.0 * equal / compared if compared else 100.0
    print(f"\n{equal} of {compared} branches agree ({share:.1f} %); {uniform} more never split a warp, {unrolled} end loops "
          "that ptxas unrolled")
    if others:
        print("\nThe others:")
        print("\n".join(f"  {line}" for line in others))
    return 3 if options.least is not None and share < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
