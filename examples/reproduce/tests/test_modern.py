# SPDX-License-Identifier: Apache-2.0
"""The page of the ideas on a modern SM, from tools that only pretend."""

import unittest
from unittest import mock

from tests import fake_tools, page_case
from regatta_reproduce import plots, suite

modern = page_case.module("modern")
import evaluation  # noqa: E402  # the page's: its folder leads the path
import ideas  # noqa: E402


class ModernPageTest(page_case.PageCase):
    page = modern

    def test_the_whole_page_twice_the_same(self):
        draw = [] if plots.available() else ["--no-plots"]
        status, _, complaints = self.make("a", *draw)
        self.assertEqual(status, 0)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), sum(len(modern.runs_of(k, small=False)) for k in self.kernels))
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), 5 * len(self.kernels))
        page = self.text("a")
        self.assertNotIn("{{", page)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        # 0.9 + 64 / 512 of the baseline's cycles, on every machine.
        self.assertRegex(page, r"\*\*RegLess\*\* \| run time \| 1 \| 1\.025 \| 1\.025 \| 1\.025 \| 1\.025 \|")
        # A tenth of the instructions, by 256 entries; a fifth by 512.
        self.assertRegex(page, r"\*\*WIR\*\* \| instructions that bypass execution \| 18\.7 % \| 10\.0 % \| 20\.0 % \| 20\.0 % \| 20\.0 % \|")
        self.make("b", *draw)
        self.assert_same_files("a", "b")

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", "hotspot,sgemm", "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("`hotspot`, `sgemm`", self.text("part"))

    def test_a_scheme_that_is_refused(self):
        """Its cells say so, and the page has the message."""
        fake = fake_tools._programs["regatta-sim"]
        refusing = fake.replace("wait_if_held()", 'if "control_bits" in sys.argv and "wir" in sys.argv: fail(2, "configuration: no plan")', 1)
        self.assertNotEqual(fake, refusing)
        fake_tools._compiled.cache_clear()
        self.addCleanup(fake_tools._compiled.cache_clear)
        programs = mock.patch.dict(fake_tools._programs, {"regatta-sim": refusing})
        programs.start()
        self.addCleanup(programs.stop)
        status, _, _ = self.make("part", "--kernels", "hotspot", "--small", "--no-plots")
        self.assertEqual(status, 0)
        page = self.text("part")
        self.assertRegex(page, r"\*\*WIR\*\* \| [^|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\| refused \|")
        self.assertIn("configuration: no plan", page)


class RunsTest(unittest.TestCase):
    def test_every_run_has_a_name_and_options_of_its_own(self):
        for k in ideas.programs.kernels:
            runs = modern.runs_of(k, small=True)
            self.assertEqual(len(runs), len({r.name for r in runs}), k)
            self.assertEqual(len(runs), len({(r.trace, r.options) for r in runs}), k)

    def test_no_option_is_given_twice(self):
        for r in modern.runs_of(ideas.programs.kernels[0], small=True):
            names = [o for o in r.options if o.startswith("--")]
            self.assertEqual(len(names), len(set(names)), r.name)

    def test_baseline_and_scheme_differ_in_the_scheme_alone(self):
        for key, place in evaluation.everywhere.items():
            for i in place.ideas:
                (code, plain), (own_code, options) = place.baseline(ideas.ideas[i]), place.scheme(i)
                self.assertEqual(code, own_code, (key, i))
                pairs = list(zip(options[::2], options[1::2]))
                scheme = ideas.ideas[i].scheme
                knobs = {f"--{k.name}" for k in ideas.ideas[i].knobs}
                rest = [word for pair in pairs for word in pair if pair != ("--scheme", scheme) and pair[0] not in knobs]
                self.assertEqual(rest, list(plain), (key, i))

    def test_changes_name_ideas_and_differ_from_h100(self):
        for key, place in evaluation.changes.items():
            self.assertTrue(place.only, key)
            for i in place.only:
                self.assertIn(i, ideas.ideas, key)
                if i != key:  # an idea that is a change itself runs nowhere else
                    self.assertNotEqual(place.scheme(i), ideas.places[ideas.modern].scheme(i), (key, i))


class RulesTest(unittest.TestCase):
    def test_programs_of_three_papers_that_are_not_large(self):
        papers = [suite.Suite(n, "", "", "gtx980", 32, 32, tuple(suite.Program(k, kernel=k) for k in kernels))
                  for n, kernels in zip(ideas.papers, ("abcd", "abc", "ab", "d", "bd"))]
        sizes = {"a": 3_000_000, "b": 3_000_001, "c": 5, "d": 7}
        self.assertEqual(ideas.chosen({s.name: s for s in papers}, sizes), ["a", "d"])

    def test_scaling(self):
        old, new = ideas.Gpu(1024, 2, 700), ideas.Gpu(2048, 4, 1980)
        self.assertEqual(ideas.by_registers(256, old, new), 512)
        self.assertEqual(ideas.by_schedulers(2, old, new), 4)
        self.assertEqual(ideas.by_clock(1, old, new), 3)
        for rule in ideas.rules.values():
            self.assertEqual(rule(7, old, old), 7)

    def test_machines_are_those_of_the_presets(self):
        self.assertEqual(ideas.gpu("h100"), ideas.Gpu(2048, 4, 1980))
        self.assertEqual(ideas.gpu("fermi_sharing"), ideas.Gpu(1024, 2, 700))  # most of it from its base

    def test_other_values_replace_an_option(self):
        self.assertEqual(ideas.replaced(("--a", "1", "--b", "2"), ("--b", "3", "--c", "4")), ("--a", "1", "--b", "3", "--c", "4"))


if __name__ == "__main__":
    unittest.main()
