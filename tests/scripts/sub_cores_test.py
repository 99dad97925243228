#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/validation/sub_cores.py: its figures, and what it says of wrong values."""
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "validation" / "sub_cores.py"
spec = importlib.util.spec_from_file_location("sub_cores", SCRIPT)
sub_cores = importlib.util.module_from_spec(spec)
sys.modules["sub_cores"] = sub_cores
spec.loader.exec_module(sub_cores)

# Tools that write what the script reads. Without control bits, a run takes half as long again.
TOOL = '''#!{python}
import json, pathlib, sys
if "--dump-config" in sys.argv:
    sys.exit()
of = dict(zip(sys.argv, sys.argv[1:]))
if "--report" in of:
    control = {{"instructions": 200, "reuse": 10}}
    pathlib.Path(of["--report"]).write_text(json.dumps({{"entries": [{{"accepted": True, "control": control}}]}}))
    pathlib.Path(of["--out"]).write_text("trace")
    sys.exit()
stats = {{"sm0.pipeline": {{"resident_warp_cycles": 1600, "active_cycles": 100}}}}
cycles = 100 if of["--sm.dependences"] == "control_bits" else 150
pathlib.Path(of["--stats"]).write_text(json.dumps({{"cycles": cycles, "stats": stats, "checks": {{"mismatches": {wrong}}}}}))
'''


def variants(**speeds):
    papers = {"a": 1, "b": 0.9, "c": 1.1}
    return [sub_cores.Variant(name, {}, papers[name], speeds={"p": speed, "q": speed}) for name, speed in speeds.items()]


class FiguresTest(unittest.TestCase):
    def test_bits_are_those_of_the_paper(self):
        self.assertEqual([sub_cores.scoreboard_bits(n) for n in (1, 3, 63)], [664, 996, 2324])
        self.assertEqual(sub_cores.control_bits(), 41)
        for text in ("1.52 % | 1.52 %", "2.28 % | 2.28 %", "5.32 % | 5.32 %", "0.09 % | 0.09 %"):
            self.assertIn(text, sub_cores.areas())

    def test_order(self):
        self.assertEqual(sub_cores.order(variants(a=1, b=0.99, c=1.2)), [])
        self.assertEqual(sub_cores.order(variants(a=1, b=1.0005, c=1)), [])  # no difference
        self.assertEqual(sub_cores.order(variants(a=1, b=1.01, c=1.2)), [("b", "a")])
        self.assertIn("b (1.010) above a (1.000)", sub_cores.verdict("Table 6", variants(a=1, b=1.01, c=1.2)))

    def test_groups_of_warps(self):
        table = sub_cores.by_warps(variants(a=1, b=0.5), {"p": 7.9, "q": 24})
        self.assertIn("| fewer than 8 | 1 | 1.000 | 0.500 |", table)
        self.assertNotIn("8 to 24", table)
        self.assertIn("| 24 and more | 1 |", table)


class RunTest(unittest.TestCase):
    def run_script(self, wrong):
        with tempfile.TemporaryDirectory() as folder:
            programs = Path(folder) / "bin"
            programs.mkdir()
            for name in ("regatta-annotate", "regatta-sim"):
                (programs / name).write_text(TOOL.format(python=sys.executable, wrong=wrong))
                (programs / name).chmod(0o755)
            page = Path(folder) / "page.md"
            done = subprocess.run([sys.executable, "-B", SCRIPT, "--bin", programs, "--work", Path(folder) / "work", "--only", "sgemm,atax",
                                   "--page", page], capture_output=True, text=True, check=False)
            return done, page.read_text() if page.exists() else None

    def test_a_page(self):
        done, page = self.run_script(wrong=0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| scoreboard, 1 reader | 0.667 | 0.95 |", page)
        self.assertIn("| 2 ports | 1.000 | 1.006 |", page)
        self.assertIn("5.0 % of our static instructions", page)
        self.assertNotIn("{{", page)

    def test_no_page_with_wrong_values(self):
        done, page = self.run_script(wrong=1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("1 wrong values", done.stderr)
        self.assertIsNone(page)

    def test_an_unknown_program_is_refused(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--only", "sgemn"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown program 'sgemn'", done.stderr)


if __name__ == "__main__":
    unittest.main()
