# SPDX-License-Identifier: Apache-2.0
"""Slowdowns that are planted by knobs, and those of real schemes: the comparison names the right structure first, and the
larger effect of two."""

import itertools
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from regatta import load
from regatta.causes import suspects
from regatta.comparison import compare
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


# Each slows hotspot down on a gtx480; of two together, the one that does so more is named first.
PAIRED = ("--register_file.latency 6", "--collector.sp 1", "--dram.latency 2000", "--shared.banks 4", "--sm.scheduler lrr",
          "--lsu.lanes 4", "--writeback.width 1", "--unit.sp_lanes 8", "--latency.int_mad 60")
# Scheme, kernel, its options of regatta-annotate, machine and knobs; what is named, which helps if it is changed alone: to so
# much of the cycles at most.
_FERMI = "--machine fermi_sharing --scheduler owf"
LOST = (
    ("regless", "fdtd3d", "", "--machine gtx980 --compressor.lines 12", "compressor", "--compressor.lines 96", 0.6),
    ("regless", "fdtd3d", "", "--machine gtx980 --compressor.lines 12", "capacity manager", "--osu.entries 2048", 0.6),
    ("rfv", "btree", "--rfv", "", "renaming gate", "--rfv.share 1", 0.95),
    ("wir", "histogram", "", "--machine gtx480", "wir allocation", "--wir.allocator_ports 8", 0.97),
    ("finereg", "btree", "--max-registers 63", "--machine finereg", "resident CTAs", "--finereg.active_registers 2048", 0.9),
    ("reg_dram", "lud", "--max-registers 63", "--machine finereg --reg_dram.requests 2", "register spill", "--reg_dram.requests 256", 0.9),
    ("vt_regmutex", "stencil3d", "--max-registers 63 --regmutex-base 0", "--machine finereg", "resident CTAs",
     "--regmutex.pool_registers 128", 0.9),
    ("register_sharing", "btree", "--max-registers 63", f"{_FERMI} --shared.bytes 49152", "register gate", "--register_sharing.t 1", 0.95),
    ("scratchpad_sharing", "sgemm", "--shared-values --scratchpad-layout 0.1", _FERMI, "scratchpad gate",
     "--scratchpad_sharing.relssp optimal", 0.9),
    ("rfh", "mri_q", "--rfh 3", "--scheduler two_level --rfh.orf_cycles 8", "orf", "--rfh.orf_cycles 1", 0.8),
    ("greener", "mri_q", "", "--machine k20x", "sleep transistors", "--sleep_transistors.wake_sleep 0", 0.97),
    ("rc", "mri_q", "--warp-size 64", "--machine hd7770", "sleep transistors", "--sleep_transistors.wake_off 0", 0.98),
)


class SimulationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def simulate(self, kernel, knobs, annotate=""):
        """`knobs`: of the simulator. Each run is made once."""
        words = f"{kernel} {annotate}".split()
        trace = self.folder / ("_".join(words).replace("/", "_") + ".rgt")
        if not trace.exists():
            subprocess.run([_BIN / "regatta-annotate", "--launch", _KERNELS / kernel / "launch.small.toml", "--out", trace,
                            *words[1:]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stats = self.folder / (trace.stem + " " + knobs + ".json")
        if not stats.exists():
            subprocess.run([_BIN / "regatta-sim", trace, "--cpi-lines", "--no-check", "--stats", stats, *knobs.split()],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return load(stats)


class PlantedTest(SimulationTest):
    def test_named_first(self):
        dice = random.Random(5)
        wrong = []
        for kernel, knobs, right in PLANTED:
            planted = knobs.split()
            others = [o for o in dice.sample(OTHERS, 6) if o.split()[0] not in planted][:5]
            a = self.simulate(kernel, "--machine gtx480")
            b = self.simulate(kernel, " ".join(["--machine gtx480", knobs, *others]))
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

    def test_the_larger_of_two_comes_first(self):
        base = self.simulate("hotspot", "--machine gtx480")
        alone = {knob: self.simulate("hotspot", f"--machine gtx480 {knob}").cycles - base.cycles for knob in PAIRED}
        wrong, pairs = [], 0
        for one, two in itertools.combinations(PAIRED, 2):
            less, more = sorted((one, two), key=lambda knob: alone[knob])
            if alone[more] < 1.5 * alone[less]:  # no order to be found
                continue
            pairs += 1
            self.assertGreater(alone[less], base.cycles / 100)
            found = suspects(Difference(base, self.simulate("hotspot", f"--machine gtx480 {one} {two}")))
            first = next(f.knobs[0][0] for f in found if f.knobs)
            if f"--{first}" != more.split()[0]:
                wrong.append(f"{more} before {less}: found {first}")
        self.assertGreaterEqual(pairs, 20)
        self.assertLessEqual(len(wrong), pairs // 10, wrong)


class LostTest(SimulationTest):
    """The blocks in which a scheme loses time, and whether the knobs that are named for them help."""

    def test_named_and_right(self):
        for scheme, kernel, annotate, options, block, knob, at_most in LOST:
            with self.subTest(scheme=scheme, kernel=kernel, knob=knob):
                base = self.simulate(kernel, " ".join(w for w in self.of_machine(options)), annotate)
                run = self.simulate(kernel, f"{options} --scheme {scheme}", annotate)
                losses = [s.loss for s in suspects(Difference(base, run)) if s.loss is not None]
                self.assertIn(block, [x.block for x in losses[:2]])
                name, value = knob.split()
                self.assertIn(name[2:], [k for k, _ in next(x for x in losses if x.block == block).knobs[:2]])
                words = options.split()
                if name in words:
                    words[words.index(name):words.index(name) + 2] = []
                helped = self.simulate(kernel, " ".join([*words, "--scheme", scheme, name, value]), annotate)
                self.assertLess(helped.cycles, at_most * run.cycles)
                self.assertEqual(compare(run, helped)["verdict"][-1].count(name[2:]), 1)

    @staticmethod
    def of_machine(options):
        """Without the knobs of the scheme."""
        words = options.split()
        for i in range(0, len(words), 2):
            if words[i] in ("--machine", "--scheduler") or words[i].startswith("--shared."):
                yield from words[i:i + 2]


if __name__ == "__main__":
    unittest.main()
