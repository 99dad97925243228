# SPDX-License-Identifier: Apache-2.0
"""The whole of GREENER's page, from tools that only pretend."""

import unittest

from tests import fake_tools, page_case

greener = page_case.module("greener")
import evaluation  # noqa: E402  # GREENER's: the page's folder leads the path

total_runs = sum(len(greener.runs_of(k, small=False)) for k in greener.programs.kernels)


class GreenerPageTest(page_case.PageCase):
    page = greener

    def test_all_kernels(self):
        status, _, complaints = self.make("a", "--no-plots")
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), total_runs)
        # Whole, in part, in part for addresses of 64 bits; every third kernel for wavefronts of 64.
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), 3 * len(self.kernels) + len(greener.sampled))
        self.assertNotIn("nothing of ours is held beside it", complaints)
        page = self.text("a")
        self.assertNotIn("{{", page)
        # Three tenths of the leakage remain in these runs, in the same time, where Sleep-Reg leaves four.
        self.assertIn("| leakage energy of the register file saved, GREENER, mean (geometric mean) | Sec 4.3.3, Fig 4.8 | "
                      "47 % | 70 % | **+49 %** |", page)
        self.assertIn("| 10.1 % | 25 % | **+148 %** |", page)
        self.assertIn("| 0.53 % | 0 % | **-100 %** |", page)
        # Routing leaks 1 - 20.76 / 46.96 of the baseline's energy, so 0.442 of 70 and of 60 % are saved.
        self.assertIn("| Sec 4.3.7, Fig 4.12 | 20.8 % | 30.9 % | **+49 %** |", page)
        self.assertIn("| Sec 4.3.7, Fig 4.12 | 17.4 % | 26.5 % | **+52 %** |", page)
        self.assertIn("| 32 nm | 1.41 | 70.00 % | 60.00 % |", page)
        # Of three instructions of a warp's 16 cycles each R2 is in.
        self.assertIn("| R2 | 3 | 18.75 % | 6 | 88 % |", page)
        # BFS1 is one of the three entries of its kernel: a third of the cycles, and the same share saved.
        self.assertIn("| BFS1 | bfs | bfs_expand | 10 | 3,000 | 3,333 | 0.90 |", page)
        self.assertIn("| BFS1 | 70.0 % | 70.0 % | 60.0 % |", page)
        # Table 4.5 beside ours, relative to its own energy at a threshold of 3.
        stated = evaluation.Evaluation.table45["SGEMM"]
        self.assertIn(f"| their SGEMM | {stated['1'] / stated['3']:.3f} | 1.000 |", page)

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", "pathfinder", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))


if __name__ == "__main__":
    unittest.main()
