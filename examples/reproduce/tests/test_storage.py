# SPDX-License-Identifier: Apache-2.0
"""The page that ranks all schemes, from tools that only pretend."""

import unittest

from tests import fake_tools, page_case
from regatta_reproduce import plots

storage = page_case.module("storage")
import evaluation  # noqa: E402  # the page's: its folder leads the path


class StoragePageTest(page_case.PageCase):
    page = storage

    def test_the_whole_page_twice_the_same(self):
        draw = [] if plots.available() else ["--no-plots"]
        status, _, complaints = self.make("a", *draw)
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), sum(len(storage.runs_of(k, small=False)) for k in self.kernels))
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), 3 * len(self.kernels))
        page = self.text("a")
        self.assertNotIn("{{", page)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        # A quarter of the registers, and 48 lines of compressors.
        self.assertIn("| RegLess | 1.025 |", page)
        self.assertRegex(page, r"\| RegLess \|.*\| 70 \| - \|")
        # Less leakage, and nothing else.
        self.assertIn("| GREENER | 1.000 |", page)
        self.make("b", *draw)
        self.assert_same_files("a", "b")

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", "lud,nearest_neighbour", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("| lud |", self.text("part"))

    def test_every_run_has_a_name_of_its_own(self):
        for k in storage.programs.kernels:
            names = [r.name for r in storage.runs_of(k, small=True)]
            self.assertEqual(len(names), len(set(names)), k)

    def test_single_changes_name_the_run_that_they_change(self):
        for name, (_, changed, _, trace) in evaluation.changes.items():
            self.assertIn(changed, evaluation.schemes, name)
            self.assertIn(trace, evaluation.annotated, name)

    def test_the_trace_is_that_of_the_page_of_regless(self):
        """So the pages share results."""
        rivals = (storage.here.parent / "regless" / "rivals.py").read_text()
        self.assertIn(f"annotated = {evaluation.annotated[evaluation.usual][4:]!r}".replace("'", '"'), rivals)


if __name__ == "__main__":
    unittest.main()
