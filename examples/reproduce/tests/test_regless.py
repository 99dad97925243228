# SPDX-License-Identifier: Apache-2.0
"""The whole of RegLess's page, from tools that only pretend."""

import os
import unittest
from pathlib import Path
from unittest import mock

from tests import fake_tools, page_case
from regatta_reproduce import plots
from regatta_reproduce.command import UsageError

regless = page_case.module("regless")

total_runs = sum(len(regless.runs_of(k, small=False)) for k in regless.programs.kernels)


class RegLessPageTest(page_case.PageCase):
    page = regless

    def test_all_kernels_all_sizes_twice_the_same(self):
        draw = [] if plots.available() else ["--no-plots"]
        status, _, complaints = self.make("a", *draw)
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), total_runs)
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), len(self.kernels) + 7 * 5 + 7 + 1)  # smaller units, wide addresses; parts; RFH's eight entries
        page = self.text("a")
        self.assertIn("| regless 128 | 128 | 1.400 |", page)
        self.assertNotIn("{{", page)
        # The rivals take 1.02 of the time, and 1.05 of that with the two-level scheduler; they have a column each.
        self.assertIn("| RFV, GTO | 1.020 |", page)
        self.assertIn("| RFH | 1.071 |", page)
        self.assertIn("| registers of RegLess, share of the registers of RFV's reduced file (by configuration) | Sec 6.3 | 50 % | 50 % |", page)
        # The pretended runs are slower than the baseline by other amounts than any finding was written for.
        self.assertIn("REGLESS-005", complaints)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        self.make("b", *draw)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), total_runs)
        self.assert_same_files("a", "b")
        self.assertEqual(self.make("b", "--strict", *draw)[0], 3)

    def test_a_size_that_does_not_fit_is_told_and_left_out(self):
        with mock.patch.dict(os.environ, {"FAKE_SMALLEST": "192"}):
            status, _, _ = self.make("small", "--kernels", "hotspot,bfs", "--small", "--no-plots")
        self.assertEqual(status, 0)
        page = self.text("small")
        self.assertIn("Refused, because a region cannot fit: bfs, regless-128: osu.entries: found 128, too few", page)
        self.assertNotIn("| regless 128 |", page)
        self.assertIn("| hotspot | - | 1.233 |", page)

    def test_what_makes_no_whole_page_does_not_replace_it(self):
        for arguments in (["--kernels", "bfs"], ["--small"], ["--no-plots"]):
            with self.assertRaisesRegex(UsageError, "does not make the page that is kept in"):
                regless.run(["--bin", str(self.bin), *arguments])
        with self.assertRaisesRegex(UsageError, "--kernels: found 'bsf', expected some of btree, backprop, "):
            self.make("x", "--kernels", "bsf")
        # A link among the results leads back to a source of the page.
        (self.folder / "linked").mkdir()
        (self.folder / "linked" / "README.md").symlink_to(Path(__file__).resolve().parents[1] / "regless" / "page.md")
        with self.assertRaisesRegex(UsageError, "--out and a source of the page name the same file '.*linked/README.md'"):
            self.make("linked", "--small", "--no-plots")
        with self.assertRaisesRegex(UsageError, "--kernels: found none"):
            self.make("x", "--kernels", ",")


if __name__ == "__main__":
    unittest.main()
