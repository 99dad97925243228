# SPDX-License-Identifier: Apache-2.0
"""The whole of FineReg's page, from tools that only pretend."""

import unittest

from tests import fake_tools, page_case
from regatta_reproduce import plots

finereg = page_case.module("finereg")
import evaluation  # noqa: E402  # FineReg's: the page's folder leads the path

first_runs = sum(len(finereg.runs_of(k, small=False)) for k in finereg.programs.kernels)
#: Baseline+Resource: one of each kernel, and of each whole GPU.
later_runs = len(finereg.programs.kernels) + len(evaluation.gpu_kernels) * len(evaluation.gpu_sizes)


class FineRegPageTest(page_case.PageCase):
    page = finereg

    def test_all_kernels_twice_the_same(self):
        draw = [] if plots.available() else ["--no-plots"]
        status, _, complaints = self.make("a", *draw)
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), first_runs + later_runs)
        page = self.text("a")
        self.assertNotIn("{{", page)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        # 10,000 cycles become 8,333 with twice the CTAs.
        self.assertIn("| speed-up over the baseline, FineReg, all | Abstract, Sec VI-C, Fig 13 | 32.8 % | 20 % |", page)
        self.assertIn("| concurrent CTAs, more than the baseline, FineReg, all | Sec VI-B | 142 % | 100 % |", page)
        # 10 + 1 + 1 + 5 + 6 bits for each of 1,024 registers.
        self.assertIn("| tags of the pending file | 2,944 |", page)
        # Of 100,000 bytes, 7,000 are registers and 600 vectors.
        self.assertIn("| SY2 | 0.1 | 1.000 | 1.070 | 1.000 | 1.006 | 7.0 % | 0.60 % |", page)
        self.make("b", *draw)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), first_runs + later_runs)
        self.assert_same_files("a", "b")

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", "bfs,hotspot", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("| BF | Type-S |", self.text("part"))

    def test_the_best_depth_and_pool_are_searched(self):
        status, _, _ = self.make("part", "--kernels", "bfs", "--small", "--no-plots")
        self.assertEqual(status, 0)
        # Four CTAs in DRAM are the fastest in these runs: 1.15 times the baseline's speed.
        self.assertIn("| BF | 1.100 | 1.117 | 1.128 | 1.150 | 1.106 |", self.text("part"))

    def test_a_resource_baseline_has_the_ctas_of_finereg(self):
        options = evaluation.resource_options(19.6)
        self.assertEqual(options[options.index("--sm.ctas") + 1], "20")
        self.assertEqual(options.count("--sm.ctas"), 1)

    def test_every_run_has_a_name_of_its_own(self):
        for k in finereg.programs.kernels:
            names = [r.name for r in finereg.runs_of(k, small=True)]
            self.assertEqual(len(names), len(set(names)), k)


if __name__ == "__main__":
    unittest.main()
