# SPDX-License-Identifier: Apache-2.0
"""The whole of WIR's page, from tools that only pretend."""

import unittest

from tests import fake_tools, page_case
from regatta_reproduce import plots

wir = page_case.module("wir")
import evaluation  # noqa: E402  # WIR's: the page's folder leads the path

total_runs = sum(len(wir.runs_of(k, small=False)) for k in wir.programs.kernels)


class WirPageTest(page_case.PageCase):
    page = wir

    def test_all_kernels_all_models_twice_the_same(self):
        draw = [] if plots.available() else ["--no-plots"]
        status, _, complaints = self.make("a", *draw)
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), total_runs)
        # Whole programs; parts of fourteen and of three others; fourteen with addresses of 64 bits; five flat inputs, two random ones.
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), len(self.kernels) + 14 + 3 + 14 + 7)
        page = self.text("a")
        self.assertNotIn("{{", page)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        # 256 of 2,560 entries bypass a tenth in these runs, where the paper has 18.7 %.
        self.assertIn("| 18.7 % | 10 % | **-47 %** |", page)
        # Table III's storage, from the configuration alone: 9.9 KB.
        self.assertIn("| rename tables | 4.42 | 4.43 |", page)
        self.assertIn("| verify cache | 1.01 | 1.01 |", page)
        self.assertIn("| 9.9 KB | 9.88 KB | formula: agrees (-0 %) |", page)
        # A quarter of the memory instructions of RPV: 600 of 800.
        self.assertIn("| 32.4 % | 25 % | agrees (-23 %) |", page)
        self.make("b", *draw)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), total_runs)
        self.assert_same_files("a", "b")

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", "pathfinder,hotspot", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        page = self.text("part")
        self.assertNotIn("TABLE1", page)
        self.assertIn("| HS | 30.0 % |", page)

    def test_sweeps_run_every_second_of_fourteen_programs(self):
        self.assertEqual(wir.swept_kernels, ["sobel", "gaussian", "pathfinder", "stencil3d", "lud", "dwt2d", "spmv"])
        names = [r.name for r in wir.runs_of("btree", small=True)]
        self.assertNotIn("part-ports", names)
        self.assertIn(evaluation.wide_usual, names)
        status, _, complaints = self.make("none", "--kernels", "btree", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("(not run)", self.text("none"))

    def test_every_run_is_used_and_every_model_runs(self):
        names = [r.name for r in wir.runs_of("pathfinder", small=True)]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(set(evaluation.models) - set(names), set())
        for kind, sizes in (("vsb", evaluation.signature_sizes), ("rb", evaluation.reuse_sizes), ("d", evaluation.delays),
                            ("vc", evaluation.verify_sizes)):
            for size in sizes:
                self.assertIn(evaluation.swept(kind, size), names)


if __name__ == "__main__":
    unittest.main()
