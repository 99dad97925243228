# SPDX-License-Identifier: Apache-2.0
"""examples/cosim/wave.py: a waveform as a table, and what it says when there is none."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WAVE = Path(__file__).resolve().parents[2] / "examples" / "cosim" / "wave.py"
VCD = ("$var wire 1 ! clk $end\n$var wire 8 % value [7:0] $end\n$enddefinitions $end\n"
       "#0\n0!\nb00000000 %\n#10\n1!\nb10100101 %\n#20\n0!\nbx %\n")


class WaveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def fst2vcd(self, text):
        """One that writes this text."""
        program = self.folder / "bin" / "fst2vcd"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{text}END\necho 'no FST' >&2\n")
        program.chmod(0o755)

    def wave(self, *words):
        return subprocess.run([sys.executable, "-B", str(WAVE), *words], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": str(self.folder / "bin")}, timeout=60)

    def told(self, *words):
        done = self.wave(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_without_the_program(self):
        (self.folder / "a.fst").write_text("")
        self.assertEqual(self.told("a.fst", "clk"), "wave.py: found no program fst2vcd in PATH, expected it to read waveforms: install "
                                                    "Debian's package gtkwave (.cmake/setup-packages.sh --cosim)\n")

    def test_table_and_mistakes(self):
        self.fst2vcd(VCD)
        self.assertEqual(self.told("a b.fst", "clk"), "wave.py: a b.fst: cannot be read: No such file or directory\n")
        (self.folder / "a b.fst").write_text("")
        self.assertEqual(self.wave("a b.fst", "clk", "value", "value[7:4]").stdout,
                         "cycle  clk  value  value[7:4]\n    1    0      0           0\n    2    1     a5           a\n")
        self.assertEqual(self.told("a b.fst", "no"), "wave.py: a b.fst: found no signal 'no', expected some of clk, value\n")
        self.assertEqual(self.told("a b.fst", "a[1"), "wave.py: found 'a[1', expected a signal, NAME or NAME[HIGH:LOW]\n")
        self.assertEqual(self.told("a b.fst", "clk", "--last", "0"), "wave.py: --last: found 0, expected 1 or more\n")
        self.fst2vcd("")
        self.assertEqual(self.told("a b.fst", "clk"), "wave.py: a b.fst: found no waveform, expected one as --compressor.waveform writes "
                                                      "it: fst2vcd says 'no FST'\n")


if __name__ == "__main__":
    unittest.main()
