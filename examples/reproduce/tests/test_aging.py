# SPDX-License-Identifier: Apache-2.0
"""The whole of the aging-aware register file's page, from tools that only pretend."""

import unittest

from tests import fake_tools, page_case

aging = page_case.module("aging")


class AgingPageTest(page_case.PageCase):
    page = aging

    def test_all_kernels(self):
        status, _, complaints = self.make("a", "--no-plots")
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), len(self.kernels) * (2 * 8 + 2))
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), len(self.kernels) * 3)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        page = self.text("a")
        self.assertNotIn("{{", page)
        # Half of the writes have a pattern, and the longest duty cycle is halved, in these runs.
        self.assertIn("| register writes with a pattern, mean | Sec 3.2, Fig 7 | 52 % | 50 % | agrees (-4 %) |", page)
        self.assertIn("| 58 % | 50 % | agrees (-14 %) |", page)
        # 900 of 1,024 registers in use: 31 of a slice's 256 are not, three windows of ten.
        self.assertIn("| registers of the file that are in use, Histogram | Table 5 | 81 % | 87.9 % |", page)
        self.assertIn("| Histogram | histogram |", page)
        self.assertIn("| 1 | 3 | **+200 %** |", page)

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", "transpose", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))


if __name__ == "__main__":
    unittest.main()
