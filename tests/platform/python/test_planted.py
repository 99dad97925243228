# SPDX-License-Identifier: Apache-2.0
"""Slowdowns that are planted by a knob, among other knobs that were changed too: the comparison names the right structure."""

import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from regatta import load
from regatta.causes import suspects
from regatta.difference import Difference

_BIN, _KERNELS = Path(os.environ["REGATTA_BIN"]), Path(os.environ["REGATTA_KERNELS"])

# Kernel, knobs, structure: each slows its kernel down on a gtx480.
PLANTED = (
    ("sgemm", "--register_file.banks 2", "register file"),
    ("sgemm", "--register_file.latency 8", "register file"),
    ("black_scholes", "--collector.sp 1", "operand collectors"),
    ("black_scholes", "--unit.sp_lanes 8", "execution units"),
    ("black_scholes", "--initiation.sfu 32", "execution units"),
    ("sgemm", "--latency.fp32_mad 60", "latency of instructions"),
    ("spmv", "--l1.size_bytes 2048", "L1"),
    ("spmv", "--l1.mshrs 1", "L1"),
    ("stencil3d", "--l1.hit_latency 200", "L1"),
    ("vector_add", "--interconnect.flit_bytes 4", "interconnect"),
    ("bfs", "--l2.latency 800", "L2"),
    ("spmv", "--l2.size_bytes 23040 --l2.ways 2", "L2"),
    ("vector_add", "--dram.latency 2000", "DRAM"),
    ("vector_add", "--dram.bandwidth 8000", "DRAM"),
    ("black_scholes", "--icache.size_bytes 512", "instruction cache and fetch"),
    ("pathfinder", "--fetch.width 1 --fetch.latency 12", "instruction cache and fetch"),
    ("srad", "--sm.ctas 1", "warps in flight"),
    ("hotspot", "--sm.warps 8", "warps in flight"),
    ("hotspot", "--shared.latency 300", "shared memory"),
    ("transpose", "--shared.banks 2", "shared memory"),
    ("stencil3d", "--sm.scheduler two_level --scheduler.active_warps 1", "warp scheduler"),
    ("hotspot", "--sm.barrier_latency 300", "barriers"),
    ("hotspot", "--lsu.lanes 1", "load-store unit"),
    ("srad", "--writeback.width 1", "write-back"),
)
# What someone else has changed meanwhile; some of them make the machine a little slower.
OTHERS = (
    "--initiation.fp64_div 200", "--latency.fp64_div 500", "--dram.queue 28", "--l2.queue 7", "--lsu.queue 7",
    "--collector.dp 1", "--icache.mshrs 3", "--constant_cache.mshrs 3", "--interconnect.queue 7",
    "--l1.response_queue 14", "--sm.watchdog 1000000", "--writeback.queue 48", "--shared.granularity 256",
    "--fetch.buffer_entries 5", "--register_file.write_queue 7", "--sm.registers_per_thread 62", "--l2.mshrs 200")


class PlantedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def simulate(self, kernel, name, knobs):
        trace = self.folder / f"{kernel}.rgt"
        if not trace.exists():
            subprocess.run([_BIN / "regatta-annotate", "--launch", _KERNELS / kernel / "launch.small.toml", "--out",
                            trace], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stats = self.folder / f"{kernel}_{name}.json"
        if not stats.exists():
            subprocess.run([_BIN / "regatta-sim", trace, "--machine", "gtx480", "--cpi-lines", "--no-check", "--stats",
                            stats] + knobs, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return load(stats)

    def test_named_first(self):
        dice = random.Random(5)
        wrong = []
        for index, (kernel, knobs, right) in enumerate(PLANTED):
            planted = knobs.split()
            others = [o for o in dice.sample(OTHERS, 6) if o.split()[0] not in planted][:5]
            a = self.simulate(kernel, "base", [])
            b = self.simulate(kernel, str(index), planted + " ".join(others).split())
            difference = Difference(a, b)
            self.assertEqual(difference.residual, 0)
            self.assertTrue(difference.by_line)
            self.assertGreater(difference.more, 0, f"{kernel} {knobs}: planted, but not slower")
            found = suspects(difference)
            names = [f.structure.name for f in found[:3]]
            if names[:1] != [right]:
                wrong.append(f"{kernel} {knobs}, others {others}: {difference.points(difference.more):+.1f} %, found "
                             f"{names}, expected {right}")
        print("\n".join(wrong))
        print(f"{len(PLANTED) - len(wrong)} of {len(PLANTED)} named first")
        # Of 20, 18: what the comparison is held to.
        self.assertLessEqual(10 * len(wrong), len(PLANTED), "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
