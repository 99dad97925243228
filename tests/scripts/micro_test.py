#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""micro_test.py [--bin BIN] [--machine NAME]: examples/validation/micro: its benchmarks, its tables, and, with regatta's tools, which laws hold.

A law of EXCEPTIONS that begins to hold is an error too: it is then no exception any more.
"""
import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "validation"
sys.dont_write_bytecode = True
sys.path[:0] = [str(FOLDER / "micro"), str(FOLDER)]

import benchmarks  # noqa: E402
import fermi  # noqa: E402
import micro  # noqa: E402
import runs  # noqa: E402

CLASS = "a latency of its own in the hardware, that of its class here"
SEQUENCE = "another sequence in the hardware, or another cost of its branches"
STREAM = "how many loads a thread had under way when they were measured is not recorded"
ORDER = "warps of a scheduler fall in step: all want logic, or all want sums"
EXCEPTIONS = {
    **dict.fromkeys(("hfma2", "imad_hi", "redux", "dfma"), CLASS),
    **dict.fromkeys(("idiv", "sqrt", "fdiv"), SEQUENCE),
    **dict.fromkeys(("iadd_lop3_rate", "ffma_iadd_rate"), ORDER),
    **dict.fromkeys(("stream_l2_1", "stream_l2_8", "stream_dram_1", "stream_dram_8"), STREAM),
    "iadd_lop3": "a result that goes to a pipeline of another kind comes a cycle late in the hardware",
    "dfma_rate": "f64 has queues of variable latency here, and reads what ports are left",
    "atoms": "an atomic takes as long as a load",
    "atom": "an atomic takes as long as a load",
}
tools = argparse.Namespace(bin=None, machine="h100")


def law(kind, low, high, simulated):
    benchmark = benchmarks.Benchmark("b", "title", kind, "g")
    return micro.Law(benchmark, low, high, simulated, 1)


class LawTest(unittest.TestCase):
    def test_a_latency_holds_within_a_cycle_or_one_in_a_hundred(self):
        self.assertTrue(law("latency", 4, 4, 5).holds)
        self.assertFalse(law("latency", 4, 4, 5.1).holds)
        self.assertFalse(law("latency", 17, 17, 15.9).holds)
        self.assertTrue(law("latency", 675, 675, 681).holds)
        self.assertFalse(law("latency", 675, 675, 690).holds)

    def test_a_rate_holds_within_a_twentieth(self):
        self.assertTrue(law("rate", 2, 2, 2.09).holds)
        self.assertFalse(law("rate", 2, 2, 1.89).holds)
        self.assertTrue(law("time", 1150, 1300, 1364).holds)
        self.assertFalse(law("time", 1150, 1300, 1080).holds)

    def test_the_difference_is_that_from_the_nearest_measured_value(self):
        self.assertEqual(law("time", 10, 20, 15).difference, 0)
        self.assertEqual(law("time", 10, 20, 8).difference, -2)
        self.assertEqual(law("time", 10, 20, 26).difference, 6)

    def test_tables(self):
        text = micro.tables([law("latency", 4, 4, 4.5), law("rate", 2, 4, 8)])
        self.assertIn("| title | 4.00 | 4.50 | +0.5 |", text)
        self.assertIn("| title | 2.00 to 4.00 | 8.00 | **+100 %** |", text)
        self.assertEqual(micro.verdict([law("latency", 4, 4, 4.5), law("rate", 2, 4, 8)]), "1 of 2 laws hold")


class FermiTest(unittest.TestCase):
    def test_tables(self):
        rows = [fermi.Row("fadd", "addition", 4, 7.02), fermi.Row("dram", "DRAM", 440, 458.9)]
        self.assertIn("| addition | 4 | 7.02 | +3.0 |", fermi.table(rows))
        self.assertIn("| DRAM | 440 | 458.9 | +18.9 |", fermi.table(rows))
        self.assertEqual(fermi.verdict(rows), "1 of 2 take 3 cycles more")

    def test_every_row_has_a_benchmark(self):
        names = {b.name for b in benchmarks.all_benchmarks() if b.group in ("chains", "loads")}
        self.assertLessEqual({name for name, _, _ in fermi.ROWS}, names)


class BenchmarkTest(unittest.TestCase):
    def test_every_benchmark_was_measured_and_every_measurement_has_a_benchmark(self):
        names = [b.name for b in benchmarks.all_benchmarks()]
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertEqual(set(names), set(micro.measured()))
        self.assertLessEqual(set(EXCEPTIONS), set(names))

    def test_a_ring_visits_all_elements(self):
        data = benchmarks.ring(256, 64)
        at, seen = 0, set()
        for _ in range(256):
            seen.add(at)
            at = int.from_bytes(data[at // 64 * 4:at // 64 * 4 + 4], "little")
        self.assertEqual((at, len(seen)), (0, 256))

    def test_a_group_runs_on_one_number_of_sms_with_the_same_options(self):
        for group in {b.group for b in benchmarks.all_benchmarks()}:
            self.assertEqual(len({(b.sms, b.options) for b in benchmarks.all_benchmarks() if b.group == group}), 1, group)

    def test_arguments(self):
        done = subprocess.run([sys.executable, "-B", FOLDER / "micro" / "micro.py", "--group", "chain"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown group 'chain'; expected one of chains, loads, ", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", FOLDER / "micro" / "micro.py", "--group", "streams_8", "--write", folder],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((Path(folder) / "streams_8.ptx").exists())
            done = subprocess.run([sys.executable, "-B", FOLDER / "micro" / "micro.py", "--bin", folder], capture_output=True, text=True, check=False)
            self.assertIn("no regatta-annotate in", done.stderr)


def code_sizes(cubin):
    """Instructions, of 16 bytes, by entry: the sections .text.ENTRY of an ELF file."""
    offset, = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    sections = [struct.unpack_from("<IIQQQQ", cubin, offset + 64 * i) for i in range(count)]
    sizes = {}
    for name, _, _, _, _, size in sections:
        at = sections[names][4] + name
        text = cubin[at:cubin.index(b"\0", at)].decode()
        if text.startswith(".text."):
            sizes[text[len(".text."):]] = size // 16
    return sizes


@unittest.skipUnless(shutil.which("ptxas"), "needs ptxas")
class PtxasTest(unittest.TestCase):
    def test_what_is_measured_is_not_folded(self):
        rows = benchmarks.all_benchmarks()
        with tempfile.TemporaryDirectory() as folder:
            for group, (program, _, _) in benchmarks.programs(rows).items():
                program.write(Path(folder))
                cubin = Path(folder) / f"{group}.cubin"
                subprocess.run(["ptxas", "-arch=sm_90", Path(folder) / f"{group}.ptx", "-o", cubin], check=True, timeout=300)
                sizes = code_sizes(cubin.read_bytes())
                for b in (b for b in rows if b.group == group):
                    short, long = (sizes[b.entry(n)] for n in b.lengths)
                    if group in ("chains", "loads"):  # a chain: all of it, apart from what fills the last line
                        self.assertGreaterEqual(long - short, b.lengths[1] - b.lengths[0] - 8, b.name)
                    elif b.lengths == benchmarks.TRIPS:  # a loop that is not unrolled
                        self.assertGreaterEqual(long, benchmarks.UNROLLED, b.name)
                        self.assertEqual(long, short, b.name)


class MachineTest(unittest.TestCase):
    def setUp(self):
        if tools.bin is None:
            self.skipTest("needs --bin")

    def test_the_laws_that_hold(self):
        with tempfile.TemporaryDirectory() as folder:
            laws = micro.simulate(tools.bin, tools.machine, runs.knobs(tools.bin, tools.machine), Path(folder))
        failed = {l.benchmark.name for l in laws if not l.holds}
        text = "\n" + micro.tables(laws)
        self.assertEqual(sorted(failed - set(EXCEPTIONS)), [], "laws that do not hold" + text)
        self.assertEqual(sorted(set(EXCEPTIONS) - failed), [], "exceptions that hold: remove them from EXCEPTIONS" + text)

    def test_sub_cores(self):
        """Control bits and the scoreboard let the next instruction go in the same cycle: the figures of Huerta et al. (MICRO 2025)."""
        for machine, l1, shared, l2 in (("rtx_a6000", 32, 24, 243), ("rtx_2080ti", 31, 23, 213)):
            with self.subTest(machine), tempfile.TemporaryDirectory() as folder:
                values = runs.knobs(tools.bin, machine)
                scoreboard, control = ({l.benchmark.name: l for l in micro.simulate(
                    tools.bin, machine, values, Path(folder), ("chains", "loads"), ("--sm.dependences", dependences), annotate)}
                    for dependences, annotate in (("scoreboard", ()), ("control_bits", ("--control",))))
                expected = {"fadd": 4, "ffma": 4, "imad": 4, "lop3": 4, "ex2": 23, "lds": shared, "l1_hit": l1, "l2_hit": l2}
                for name, cycles in expected.items():
                    self.assertAlmostEqual(scoreboard[name].simulated, cycles, delta=0.15, msg=name)
                self.assertAlmostEqual(scoreboard["hfma2"].simulated, 4, delta=0.15)  # a class of its own in the compiler alone
                self.assertAlmostEqual(control["hfma2"].simulated, 5, delta=0.15)
                for name in set(control) - {"hfma2"}:
                    self.assertAlmostEqual(control[name].simulated, scoreboard[name].simulated, delta=0.05 * scoreboard[name].simulated, msg=name)

    def test_an_older_gpu(self):
        """GPGPU-Sim's latencies of a GTX 480: a chain adds what is around the unit, and DRAM the commands of a closed row."""
        with tempfile.TemporaryDirectory() as folder:
            rows = fermi.compare(tools.bin, Path(folder))
        text = "\n" + fermi.table(rows)
        self.assertEqual([r.benchmark for r in rows if abs(r.around - fermi.AROUND) > 0.5], ["dram"], text)
        dram = next(r for r in rows if r.benchmark == "dram")
        self.assertGreater(dram.around, fermi.AROUND, text)
        self.assertLess(dram.around, 30, text)  # tRP and tRCD are 24 command cycles, 18 of the SM


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=lambda text: Path(text).resolve(), help="folder of regatta's tools")
    parser.add_argument("--machine", default="h100")
    tools, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
