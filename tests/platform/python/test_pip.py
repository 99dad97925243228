# SPDX-License-Identifier: Apache-2.0
"""The package as pip installs it, without a network: its programs, its files, its version."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from regatta import version

from .fake_study import PACKAGE

MISSING = [name for name in ("setuptools", "wheel", "pip") if importlib.util.find_spec(name) is None]


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)} (.cmake/setup-packages.sh --test)")
class PipTest(unittest.TestCase):
    def test_install(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # pip builds where the source lies.
            source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
            target = folder / "target"
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index",
                                   "--disable-pip-version-check", "--no-cache-dir", "--target", str(target), str(source)],
                                  capture_output=True, text=True, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

            def files(where):
                return sorted(str(p.relative_to(where)) for p in where.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
            self.assertEqual(files(target / "regatta"), files(PACKAGE / "regatta"))
            metadata = next(target.glob("regatta-*.dist-info/METADATA")).read_text()
            self.assertIn(f"\nVersion: {version.VERSION}\n", metadata)

            environment = {**os.environ, "PYTHONPATH": str(target)}
            for program in ("compare", "report", "sample", "study"):
                told = subprocess.run([str(target / "bin" / f"regatta-{program}"), "--help"], capture_output=True, text=True,
                                      env=environment, cwd=folder)
                self.assertEqual((told.returncode, told.stderr), (0, ""))
                self.assertIn(f"usage: regatta-{program}", told.stdout)
            told = subprocess.run([str(target / "bin" / "regatta"), "compare", "--version"], capture_output=True, text=True,
                                  env=environment, cwd=folder)
            self.assertEqual((told.returncode, told.stdout, told.stderr), (0, f"regatta-compare {version.VERSION}\n", ""))
            where = subprocess.run([sys.executable, "-c", "import regatta; print(regatta.__file__)"], capture_output=True, text=True,
                                   env=environment, cwd=folder)
            self.assertEqual(where.stdout.strip(), str(target / "regatta" / "__init__.py"))

    def test_programs_are_those_that_cmake_installs(self):
        by_cmake = re.search(r"foreach\(program (.*?)\)", (PACKAGE / "CMakeLists.txt").read_text())[1].split()
        by_pip = re.findall(r'(?m)^regatta-(\w+) = "regatta\.commands\.(\w+):main"$', (PACKAGE / "pyproject.toml").read_text())
        self.assertEqual(by_pip, [(name, name) for name in sorted(by_cmake)])
        self.assertIn("\nregatta_python_program(regatta front)\n", (PACKAGE / "CMakeLists.txt").read_text())
        self.assertIn('\nregatta = "regatta.commands.front:main"\n', (PACKAGE / "pyproject.toml").read_text())


class VersionTest(unittest.TestCase):
    def test_one_place(self):
        """CMake and pip read the line of version.py; no other file has the number."""
        self.assertRegex(version.VERSION, r"^\d+\.\d+\.\d+$")
        top = (PACKAGE.parents[1] / "CMakeLists.txt").read_text()
        self.assertIn("file(STRINGS platform/python/regatta/version.py", top)
        for text in (top, (PACKAGE / "pyproject.toml").read_text()):
            self.assertNotIn(version.VERSION, text)


if __name__ == "__main__":
    unittest.main()
