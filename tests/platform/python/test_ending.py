# SPDX-License-Identifier: Apache-2.0
"""How programs end: a line and a status, whatever happens to the output."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from regatta.files import write_whole
from regatta.version import VERSION

from .made import document, launch

_PROGRAM = "import signal, sys; from regatta.commands.ending import status_of; sys.exit(status_of('p', lambda: {work}))"


def _run(*command: str, stdout: object = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-B", *command], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=600,
                          check=False)


def _work(work: str, stdout: object = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    return _run("-c", _PROGRAM.format(work=work), stdout=stdout)


class EndingTest(unittest.TestCase):
    def test_a_full_disk_behind_the_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for size in (10, 100_000):  # kept in the buffer to the end, and not
                found = _work(f"sys.stdout.write('x' * {size}) * 0", full)
                self.assertEqual((found.returncode, found.stderr),
                                 (2, "p: cannot write standard output: No space left on device\n"))

    def test_programs_with_a_full_disk_behind_the_output(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w", encoding="utf-8") as full:
            runs = [str(Path(folder) / name) for name in ("a.json", "b.json")]
            for cycles, run in zip((100, 120), runs):
                write_whole(run, json.dumps(document([launch("k", cycles, memory=cycles // 2)])))
            for arguments in (runs, [*runs, "--json", "-"]):
                found = _run("-m", "regatta.commands.compare", *arguments, stdout=full)
                self.assertEqual((found.returncode, found.stderr),
                                 (2, "regatta-compare: cannot write standard output: No space left on device\n"))

    def test_a_file_is_named(self):
        found = _work("open('/nowhere/at all')")
        self.assertEqual((found.returncode, found.stderr), (2, "p: '/nowhere/at all': No such file or directory\n"))

    def test_a_mistake_of_ours_keeps_its_traceback(self):
        found = _work("1 // 0")
        self.assertEqual(found.returncode, 1)
        self.assertIn("ZeroDivisionError", found.stderr)

    def test_interrupted(self):
        found = _work("signal.raise_signal(signal.SIGINT)")
        self.assertEqual((found.returncode, found.stderr), (130, "p: interrupted\n"))

    def test_the_reader_has_gone(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as output:
            found = _work("sys.stdout.write('x' * 100_000) * 0", output)
        self.assertEqual((found.returncode, found.stderr), (0, ""))


class LauncherTest(unittest.TestCase):
    """The programs of bin."""

    def test_version(self):
        for program in ("sample", "study"):
            found = _run("-m", f"regatta.commands.{program}", "--version")
            self.assertEqual((found.returncode, found.stdout, found.stderr), (0, f"regatta-{program} {VERSION}\n", ""))

    def test_an_interrupt_while_modules_load(self):
        text = (Path(__file__).resolve().parents[3] / "platform/python/launcher.in").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            commands = Path(folder) / "package/regatta/commands"
            commands.mkdir(parents=True)
            for package in (commands.parent, commands):
                (package / "__init__.py").touch()
            (commands / "slow.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(600)\n", encoding="utf-8")
            launcher = Path(folder) / "slow"
            launcher.write_text(text.replace("@package@", "package").replace("@program@", "slow"), encoding="utf-8")
            # A test in the background may have inherited that Ctrl-C is ignored.
            start = ("import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
                     "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])")
            with subprocess.Popen([sys.executable, "-c", start, str(launcher)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as child:
                self.assertEqual(child.stdout.readline(), "loading\n")
                child.send_signal(signal.SIGINT)
                _, errors = child.communicate(timeout=600)
            self.assertEqual((child.returncode, errors), (130, "slow: interrupted\n"))


if __name__ == "__main__":
    unittest.main()
