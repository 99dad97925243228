#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/validation/validate.py: its errors, what it makes again, and what it says when something is wrong."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "validation" / "validate.py"
spec = importlib.util.spec_from_file_location("validate", SCRIPT)
validate = importlib.util.module_from_spec(spec)
sys.modules["validate"] = validate
spec.loader.exec_module(validate)

# Tools that write what the script reads, and a line each time that they run.
TOOL = '''#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
if "--dump-config" in sys.argv:
    print((here / "config").read_text())
    sys.exit()
with (here / "calls").open("a") as calls:
    calls.write(pathlib.Path(sys.argv[0]).name + "\\n")
out = pathlib.Path(sys.argv[-1])
stats = {{f"sm{{i}}.pipeline.lsu": {{"load_sectors": 10}} for i in range(8)}}
stats["memory.dram_0"] = {{"bytes_read": 640}}
out.write_text(json.dumps({{"cycles": {cycles}, "warp_instructions": 5000, "stats": stats, "checks": {{"mismatches": {wrong}}}}}))
'''


def launch(ours, gpu, instructions=1.0):
    return validate.Launch("p", 0, "k", {"cycles": gpu, "warp_instructions": 1000}, {"cycles": ours, "warp_instructions": 1000 * instructions})


class ErrorsTest(unittest.TestCase):
    def test_known_answers(self):
        e = validate.Errors.of([launch(50, 100), launch(110, 100, 1.2), launch(400, 200)])
        self.assertAlmostEqual(e.mean, (0.5 + 0.1 + 1.0) / 3)
        self.assertAlmostEqual(e.median, 0.5)
        self.assertAlmostEqual(e.geometric, (0.5 * 1.1 * 2.0) ** (1 / 3))
        self.assertAlmostEqual(e.instructions, 0.2 / 3)

    def test_same_program(self):
        self.assertTrue(validate.same_program(launch(1, 1, 1.09)))
        self.assertFalse(validate.same_program(launch(1, 1, 1.11)))


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bin = Path(self.folder.name) / "bin"
        self.bin.mkdir()
        (self.bin / "config").write_text("l1.tags = 1")

    def tool(self, name, cycles=6000, wrong=0):
        file = self.bin / name
        file.write_text(TOOL.format(python=sys.executable, cycles=cycles, wrong=wrong))
        file.chmod(0o755)

    def run_it(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, "--bin", self.bin, "--work", Path(self.folder.name) / "work", "--jobs", "2",
                               *arguments], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})

    def calls(self):
        file = self.bin / "calls"
        lines = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def test_makes_again_what_has_changed(self):
        self.tool("regatta-annotate")
        self.tool("regatta-sim")
        done = self.run_it("--only", "hotspot")
        self.assertEqual(done.returncode, 0, done.stderr)
        of_gpu = json.loads((SCRIPT.parent / "h100.json").read_text())["hotspot"]
        launches = len(of_gpu) + sum(l["dram_read_bytes"] < validate.CODE_COUNTS for l in of_gpu)  # these once more, with cold code
        self.assertEqual(sorted(self.calls()), ["regatta-annotate"] + launches * ["regatta-sim"])
        self.assertEqual(self.run_it("--only", "hotspot").returncode, 0)
        self.assertEqual(self.calls(), [])
        self.tool("regatta-sim", cycles=7000)
        self.run_it("--only", "hotspot")
        self.assertEqual(self.calls(), launches * ["regatta-sim"])
        (self.bin / "config").write_text("l1.tags = 2")  # of the machine, or of a file on which it builds
        self.run_it("--only", "hotspot")
        self.assertEqual(self.calls(), launches * ["regatta-sim"])

    def test_wrong_values_fail(self):
        self.tool("regatta-annotate")
        self.tool("regatta-sim", wrong=3)
        table = Path(self.folder.name) / "t.csv"
        done = self.run_it("--only", "hotspot", "--table", table)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(table.exists())
        self.assertIn("hotspot 0: 3 wrong values", done.stderr)

    def test_a_tool_that_fails(self):
        self.tool("regatta-annotate")
        (self.bin / "regatta-sim").write_text('#!/bin/sh\ncase "$*" in *--dump-config*) exit 0;; esac\necho broken >&2\nexit 3\n')
        (self.bin / "regatta-sim").chmod(0o755)
        done = self.run_it("--only", "hotspot")
        self.assertEqual(done.returncode, 1)
        self.assertIn("status 3\nbroken", done.stderr)

    def test_arguments(self):
        self.assertIn("no regatta-annotate in", self.run_it().stderr)
        self.tool("regatta-annotate")
        self.tool("regatta-sim")
        self.assertIn("--only: unknown program 'hotspit'; expected one of atax, ", self.run_it("--only", "hotspit").stderr)


if __name__ == "__main__":
    unittest.main()
