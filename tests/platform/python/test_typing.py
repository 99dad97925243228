# SPDX-License-Identifier: Apache-2.0
"""The package under mypy --strict, for the versions of Python that its page promises, and from a caller's side."""

import os
import re
import subprocess
import sys
import unittest

from .fake_study import PACKAGE, FolderTest

# What needs Python 3.9 only: all but the engine of studies.
_BASE = ("__init__", "causes", "clashes", "comparable", "commands/arguments", "commands/compare", "commands/ending",
         "commands/front", "commands/report", "compare_text", "comparison", "comparisons", "completion", "difference", "effects", "errors", "files", "frames", "kernels", "knobs", "manual", "programs", "running", "statistics",
         "studies/call", "text", "tools", "traces", "version", "waits")
_CALLER = """\
import regatta

trace = regatta.annotate("launch.toml", rfv=True)
run = regatta.run(trace, scheme="wir", knobs={"l1.ways": 2}, sample=100)
study = regatta.study(programs=[trace], knobs={"l1.ways": [2, 4]})
reveal_type(trace.kernels[0].registers)
reveal_type(run.cycles)
reveal_type(study.load(1))
reveal_type(regatta.compare([run, "b.json"]).verdicts)
regatta.run(trace, schema="wir")
right: regatta.Knobs = {"l1.ways": 2, "rfv.share": 1, "icache.enabled": False}
regatta.run(trace, knobs=right)
wrong: regatta.Knobs = {"l1.ways": "2"}
missing: regatta.Knobs = {"l1.way": 2}
regatta.nosuch
"""


class TypingTest(FolderTest):
    def mypy(self, *arguments, folder=PACKAGE):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(self.folder / "cache"), *arguments],
                              cwd=folder, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(PACKAGE)})

    def test_the_package(self):
        done = self.mypy("-p", "regatta")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        # It counts folders without modules, too.
        checked = int(re.search(r"no issues found in (\d+) source files", done.stdout)[1])
        self.assertGreaterEqual(checked, sum(1 for _ in (PACKAGE / "regatta").rglob("*.py")))

    def test_the_base_under_an_older_python(self):
        done = self.mypy("--python-version", "3.9", "--follow-imports", "silent", *(f"regatta/{name}.py" for name in _BASE))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_caller_sees_types(self):
        (self.folder / "caller.py").write_text(_CALLER)
        told = self.mypy("caller.py", folder=self.folder).stdout
        self.assertEqual(re.findall(r'Revealed type is "(.*)"', told),
                         ["builtins.int", "builtins.int", "regatta.statistics.Run", "builtins.list[builtins.str]"])
        self.assertIn('Unexpected keyword argument "schema" for "run"', told)
        self.assertIn('Module has no attribute "nosuch"', told)
        self.assertIn('(expression has type "str", TypedDict item "l1.ways" has type "int")', told)
        self.assertIn('Extra key "l1.way" for TypedDict "Knobs"', told)
        self.assertEqual(told.count(": error:"), 4, told)

    def test_pandas_is_imported_in_one_module(self):
        found = [p.name for p in (PACKAGE / "regatta").rglob("*.py") if re.search(r"(import|from) pandas", p.read_text())]
        self.assertEqual(found, ["frames.py"])


if __name__ == "__main__":
    unittest.main()
