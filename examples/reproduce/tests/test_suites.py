# SPDX-License-Identifier: Apache-2.0
"""The papers' lists of programs: what they hold, and what a reader of a wrong one is told."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from regatta_reproduce import ReproductionError, suite

#: Programs of the main list: those that have a kernel, and all that the paper measures.
coverage = {"aging": "10 of 10", "finereg": "18 of 18", "greener": "21 of 21", "register_sharing": "19 of 19",
            "regless": "21 of 21", "scratchpad": "19 of 19", "wir": "34 of 34"}

head = 'paper = "P"\nsource = "Table 1"\nmachine = "gtx980"\nwarp_size = 32\naddresses = 32\n'
program = '[[program]]\nname = "bfs"\nkernel = "bfs"\n'


class Suites(unittest.TestCase):
    def test_every_paper_has_its_list(self):
        self.assertEqual({name: str(s.coverage()) for name, s in suite.read_all().items()}, coverage)

    def test_order_is_the_paper_s(self):
        self.assertEqual([p.name for p in suite.read(suite.suites_folder / "regless.toml").programs][:4],
                         ["b+tree", "backprop", "bfs", "dwt2d"])
        wir = suite.read(suite.suites_folder / "wir.toml").programs
        self.assertEqual((wir[0].abbreviation, wir[-1].abbreviation), ("SF", "HW"))

    def test_options_follow_the_machine(self):
        self.assertEqual(suite.read(suite.suites_folder / "wir.toml").annotate_options(),
                         ("--addresses", "32", "--max-registers", "63"))
        self.assertIn("--warp-size", suite.read(suite.suites_folder / "aging.toml").annotate_options())

    def message_of(self, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.toml"
            path.write_text(text, encoding="utf-8")
            with self.assertRaises(ReproductionError) as caught:
                suite.read(path)
            return str(caught.exception).replace(str(path), "s.toml")

    def test_errors_name_file_program_and_key(self):
        self.assertEqual(self.message_of(head), "s.toml: 'program' is missing, expected [[program]] tables")
        self.assertEqual(self.message_of(program), "s.toml: 'paper' is missing")
        self.assertTrue(self.message_of(head + "colour = 1\n" + program).startswith(
            "s.toml: unknown key 'colour', expected paper, "))
        self.assertTrue(self.message_of(head.replace("gtx980", "gtx") + program).startswith(
            "s.toml: machine: found 'gtx', expected one of "))
        self.assertEqual(self.message_of(head.replace("addresses = 32", "addresses = 16") + program),
                         "s.toml: addresses: found 16, expected 32 or 64")
        self.assertEqual(self.message_of(head + '[[program]]\nname = "x"\n'),
                         "s.toml: program 1 (x): 'kernel' or 'missing': both are missing, expected one of them")
        self.assertTrue(self.message_of(head + '[[program]]\nname = "x"\nkernel = "nothing"\n').startswith(
            "s.toml: program 1 (x): kernel: 'nothing' is no kernel, expected a folder of "))
        self.assertTrue(self.message_of(head + program + 'entries = ["none"]\n').startswith(
            "s.toml: program 1 (bfs): entries: bfs.sm75.ptx has no entry 'none', expected some of "))
        self.assertTrue(self.message_of(head + program + "block = 0\n").startswith(
            "s.toml: program 1 (bfs): block: found 0, expected a whole number above 0"))
        self.assertTrue(self.message_of(head + program + program).startswith(
            "s.toml: program 2 (bfs): there is another program of this name"))

    def test_prepare_explains_itself_and_refuses_an_unknown_suite(self):
        prepare = suite.suites_folder / "prepare.py"
        help_text = subprocess.run([sys.executable, "-B", str(prepare), "--help"], capture_output=True, text=True)
        self.assertEqual(help_text.returncode, 0)
        self.assertIn("make traces SUITE=wir", help_text.stdout)
        wrong = subprocess.run([sys.executable, "-B", str(prepare), "--suite", "nothing"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("nothing", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
