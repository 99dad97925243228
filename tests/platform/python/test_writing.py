# SPDX-License-Identifier: Apache-2.0
"""Traces written from Python: they are what was recorded, a program can have run that way, and misuse is explained."""

import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from regatta.writing import KernelBuilder, RecordError, TraceRecorder
from regatta.writing import wire

_TRACE = Path(os.environ.get("REGATTA_BIN") or "nowhere") / "regatta-trace"
ALL = 0xFFFFFFFF


def _sides():
    """0 mov R0; 1 @P0 bra 4; 2 R1 = add R0; 3 bra 5; 4 R1 = ld.shared [R0]; 5 bar.sync; 6 exit"""
    code = KernelBuilder("sides")
    code.op("mov", "int_add", writes=[0], writes_predicates=[0], special=True)
    split = code.branch("bra", guard=0)
    code.op("add", "int_add", writes=[1], reads=[0], immediates=[3])
    join = code.branch("bra")
    code.set_target(split, code.load("ld.shared", "shared", 4, writes=[1], reads=[0]))
    code.set_target(join, code.barrier())
    code.exit()
    code.shared_bytes = 128
    return code.build()


class WireTest(unittest.TestCase):
    def test_checksums_are_those_of_xxhash(self):
        """Known answers, and each length around a stripe of 32 bytes against the module if it is there."""
        saved, wire._xxhash = wire._xxhash, None
        self.addCleanup(setattr, wire, "_xxhash", saved)
        self.assertEqual(wire.xxh64(b""), 0xEF46DB3751D8E999)
        self.assertEqual(wire.xxh64(b"a"), 0xD24EC4F1A98C6E5B)
        self.assertEqual(wire.xxh64(b"abc"), 0x44BC2CF5AD770999)
        self.assertEqual(wire.xxh64(b"Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1)

    def test_numbers(self):
        self.assertEqual(wire.varint(300), b"\xac\x02")
        self.assertEqual([wire.zigzag(n) for n in (0, -1, 1, -2, 2**63, -2**63)], [0, 1, 2, 3, 2**64 - 1, 2**64 - 1])


class KernelTest(unittest.TestCase):
    def test_blocks(self):
        kernel = _sides()
        self.assertEqual(kernel.blocks, [(0, 2, [2, 1], 3), (2, 2, [3], 3), (4, 1, [3], 3), (5, 2, [], -1)])
        self.assertEqual((kernel.registers, kernel.predicates), (2, 1))

    def test_misuse(self):
        def refused(message, call):
            with self.assertRaises(RecordError) as e:
                call(KernelBuilder("k"))
            self.assertEqual(str(e.exception), message)
        at = "kernel k, static index 0 (add): "
        refused(at + "writes register 255, expected 0 to 254", lambda k: k.op("add", "int_add", writes=[255]))
        refused(at + "reads more than 6 registers", lambda k: k.op("add", "int_add", reads=range(7)))
        refused(at + "writes predicate 7, expected 0 to 6", lambda k: k.op("add", "int_add", writes_predicates=[7]))
        refused(at + "guarded by predicate 7, expected 0 to 6", lambda k: k.op("add", "int_add", guard=7))
        refused("kernel k, static index 0 (ld): accesses 33 bytes per lane, expected 1 to 32", lambda k: k.load("ld", "global", 33))
        refused("kernel k, static index 0 (bar): barrier 16, expected 0 to 15", lambda k: k.barrier("bar", 16))
        refused("kernel k: no instruction", lambda k: k.build())
        refused("kernel k, static index 0 (bra): a branch without a target", lambda k: (k.branch("bra"), k.build()))
        refused("kernel k, static index 0 (bra): the target 1, and the kernel has instructions 0 to 0",
                lambda k: (k.branch("bra", 1), k.build()))
        with self.assertRaisesRegex(RecordError, "^kernel k: warp size 16, expected 32 or 64$"):
            KernelBuilder("k", 16)


class RecorderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "k.rgt"

    def _refusal(self, record):
        """The message for what `record` does with a warp. Nothing is left behind."""
        with self.assertRaises(RecordError) as e, TraceRecorder(self.path, "a test") as trace:
            trace.launch(trace.add(_sides()), (1, 1, 1), (32, 1, 1))
            with trace.cta() as warps:
                record(warps[0])
        self.assertEqual(list(self.path.parent.iterdir()), [])
        return str(e.exception)

    def test_misuse(self):
        place = "kernel sides, CTA 0, warp 0"
        begin = lambda w: w.step(0, results=[range(32)], predicates=[0])  # noqa: E731
        self.assertEqual(self._refusal(lambda w: None), place + ": executes nothing, expected an exit of its lanes")
        self.assertEqual(self._refusal(lambda w: w.step(3, ALL)), place + ": the warp begins at static index 3 with lanes "
                         "0xffffffff, expected static index 0 with lanes 0xffffffff")
        self.assertEqual(self._refusal(lambda w: w.step(0)), place + ", instruction 1 (static index 0, mov): 0 results were "
                         "given, expected 1")
        self.assertEqual(self._refusal(lambda w: (begin(w), w.step(5, ALL))), place + ", instruction 1 (static index 0, mov): "
                         "lane 0 is on the path to static index 5, and it goes on at static index 1")
        self.assertEqual(self._refusal(lambda w: (begin(w), w.step(7))), place + ", instruction 1 (static index 0, mov): "
                         "followed by static index 7, and the kernel has 7 instructions")
        self.assertEqual(self._refusal(begin), place + ", instruction 1 (static index 0, mov): the CTA ends, and lanes "
                         "0xffffffff have not exited")
        taken = lambda w: (begin(w), w.step(1, ALL, ALL))  # noqa: E731
        self.assertEqual(self._refusal(lambda w: (taken(w), w.step(4, results=[range(32)], addresses=lambda lane: 126))), place +
                         ", instruction 3 (static index 4, ld.shared): lane 0 accesses 4 bytes of shared memory at 0x7e, expected "
                         "an offset in the 128 bytes of the CTA")
        self.assertEqual(self._refusal(lambda w: (taken(w), w.step(4, results=[range(32)]))), place +
                         ", instruction 3 (static index 4, ld.shared): its addresses were not given")

    @unittest.skipUnless(_TRACE.exists(), "regatta is not built")
    def test_random_paths_are_those_of_a_program(self):
        chance = random.Random(47)
        for _ in range(25):
            code = KernelBuilder("random")
            size = chance.randint(3, 20)
            for n in range(size - 1):
                kind = chance.randrange(5)
                if kind == 0:
                    code.branch("bra", chance.randrange(n + 1, size), guard=0)
                elif kind == 1:
                    code.exit(guard=0)
                else:
                    code.op("add", "int_add", writes=[0], guard=0 if kind == 2 else None)
            code.exit()
            kernel = code.build()
            did = []
            with TraceRecorder(self.path, "a test") as trace:
                trace.launch(trace.add(kernel), (1, 1, 1), (40, 1, 1))
                with trace.cta() as warps:
                    for number, warp in enumerate(warps):
                        at = {lane: 0 for lane in range(32) if warp.threads >> lane & 1}
                        first = True
                        while at:
                            index = at[chance.choice(list(at))]
                            lanes = [lane for lane in at if at[lane] == index]
                            if not first and chance.random() < 0.25:
                                lanes = chance.sample(lanes, chance.randint(1, len(lanes)))
                            first = False
                            i = kernel.code[index]
                            some = [lane for lane in lanes if i.guard is None or chance.random() < 0.5]
                            path, active = (sum(1 << lane for lane in group) for group in (lanes, some))
                            values = [chance.getrandbits(32) for _ in range(32)]
                            warp.step(index, path, active, results=[values] if i.writes else [])
                            did.append((number, index, path, active))
                            for lane in lanes:
                                at[lane] = i.target if lane in some and i.op_class == "branch" else index + 1
                            if i.op_class == "exit":
                                for lane in some:
                                    del at[lane]
            done = subprocess.run([_TRACE, "verify", self.path, "--program"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            dump = subprocess.run([_TRACE, "dump", self.path, "--limit", "0"], capture_output=True, text=True, check=True).stdout
            lines = [line.split() for line in dump.splitlines()]
            found, number = [], -1
            for line in lines:
                number += line[:1] == ["CTA"]
                if len(line) > 3 and line[0].isdigit():
                    found.append((number, int(line[1]), int(line[2], 16), int(line[3], 16)))
            self.assertEqual(found, did)


if __name__ == "__main__":
    unittest.main()
