# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from regatta_reproduce import ReproductionError, plots
from regatta_reproduce.reproduction import Reproduction


@unittest.skipUnless(plots.available(), "matplotlib is not installed")
class PlotsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def draw(self, name, height=1.2):
        to = self.folder / name
        plots.grouped_bars(to / "bars", ["a", "b"], {"x": [height, None], "y": [0.8, 0.9]}, "run time", one=True,
                           paper=1.0, errors={"y": [0.1, None]}, ylim=(0, 1.1))
        plots.grouped_bars(to / "stack", ["a", "b"], {"x": [1, 2], "y": [3, 4]}, "share", stacked=True)
        plots.scatter(to / "front", [("baseline", 1, 1), ("128", height, 0.9)], [0, 1], "time", "energy")
        plots.named_points(to / "names", [("baseline", 1, 1), ("128", height, 0.9), ("256", height, 0.9)], {"a": [0], "b": [1, 2]}, [1],
                           "time", "energy")
        plots.lines(to / "line", {"x": ([1, 2, 3], [height, 0, 50])}, "cycles", "accesses", log=True)
        plots.stacked_panels(to / "panels", {"p": {"x": [1, height], "y": [0, 1]}, "q": {"x": [0, 0], "y": [2, 1]},
                                             "r": {"x": [0, 1], "y": [1, 0]}}, "register", "time")
        plots.events(to / "marks", {"R1": [1, height], "R2": []}, "cycle", "register", (0, 3))
        return {p.name: p.read_bytes() for p in sorted(to.iterdir())}

    def test_same_numbers_same_bytes_and_other_numbers_others(self):
        first, second, other = self.draw("1"), self.draw("2"), self.draw("3", height=1.3)
        self.assertEqual(sorted(first), [f"{n}.png" for n in ("bars", "front", "line", "marks", "names", "panels", "stack")])
        self.assertEqual(first, second)
        self.assertNotEqual(first["bars.png"], other["bars.png"])
        self.assertEqual(first["bars.png"][:4], b"\x89PNG")

    def test_at_most_64_colours(self):
        from PIL import Image
        shades = Image.new("RGB", (64, 64))
        shades.putdata([(4 * x, 4 * y, 128) for x in range(64) for y in range(64)])
        self.assertEqual(len(plots.compact(shades).getcolors()), 64)
        few = Image.new("RGB", (2, 1), "#0072b2")
        few.putpixel((1, 0), (230, 159, 0))
        self.assertEqual(list(plots.compact(few).convert("RGB").getdata()), [(0, 114, 178), (230, 159, 0)])

    def test_a_series_that_does_not_fit_is_refused(self):
        with self.assertRaisesRegex(ReproductionError, "series 'x' has 1 values for 2 groups"):
            plots.grouped_bars(self.folder / "x", ["a", "b"], {"x": [1]}, "y")

    def test_areas_of_unequal_lengths_are_refused(self):
        with self.assertRaisesRegex(ReproductionError, "series of 'p' are of different lengths: 1, 2"):
            plots.stacked_panels(self.folder / "x", {"p": {"x": [1], "y": [1, 2]}}, "register", "time")


class WithoutMatplotlibTest(unittest.TestCase):
    def test_nothing_is_run_for_a_page_whose_plots_cannot_be_drawn(self):
        runs = mock.Mock()
        page = Reproduction("a page", Path("nowhere"), mock.Mock(kernels=["bfs"]), runs,
                            mock.Mock(), mock.Mock(), mock.Mock())
        with mock.patch.dict("sys.modules", {"matplotlib": None}):
            with self.assertRaisesRegex(ReproductionError, "plots need matplotlib, which .* does not have: install"):
                page.run([])
        runs.assert_not_called()


class ThinningTest(unittest.TestCase):
    def test_means_of_equal_stretches(self):
        self.assertEqual(plots.thinned([1, 2, 3, 4], [1, 3, 10, 20], 2), ([2, 4], [2, 15]))
        self.assertEqual(plots.thinned([1, 2], [5, 6], 2), ([1, 2], [5, 6]))


if __name__ == "__main__":
    unittest.main()
