# SPDX-License-Identifier: Apache-2.0
import json
import tempfile
import unittest
from pathlib import Path

from regatta_reproduce import ReproductionError
from regatta_reproduce.findings import Findings
from regatta_reproduce.page import Page, missing_values, table, write_if_changed
from regatta_reproduce.paper import Comparisons, Paper, Stated, difference, number


def stated(v, **more):
    return Stated(id="X", what="it", where="Fig 1", value=v, **more)


class NumberTest(unittest.TestCase):
    def test_three_places_and_no_exponent(self):
        for v, text in ((75.3, "75.3"), (0.013, "0.013"), (1207.4, "1,207"), (99.96, "100"), (123456, "123,456"), (0, "0"),
                        (-0.5, "-0.5"), (0.0000123, "0.0000123"), (1e-12, "1.0e-12"), (0.02, "0.02")):
            self.assertEqual(number(v), text)


class DifferenceTest(unittest.TestCase):
    def test_a_quarter_is_allowed_and_more_is_not(self):
        self.assertEqual(difference(stated(80.0), 100.0), "")
        self.assertEqual(difference(stated(80.0), 60.0), "")
        self.assertEqual(difference(stated(80.0), 101.0), "+26 %")
        self.assertEqual(difference(stated(80.0), 59.0), "-26 %")
        self.assertEqual(difference(stated(0.02), 0.2), "10 times")

    def test_the_sign_of_a_change_comes_before_its_size(self):
        self.assertEqual(difference(stated(10.2, change=True), -9.0), "another sign")
        self.assertEqual(difference(stated(-10.0, change=True), -9.0), "")

    def test_bounds_claims_orders_and_nothing(self):
        self.assertEqual(difference(stated(0.02, relation="<"), 0.0199), "")
        self.assertEqual(difference(stated(0.02, relation="<"), 0.02), "beyond the bound")
        self.assertEqual(difference(stated(20, relation=">="), 20), "")
        self.assertEqual(difference(stated(True), True), "")
        self.assertEqual(difference(stated(True), False), "does not hold")
        self.assertEqual(difference(stated(["a", "b"]), ["a", "b"]), "")
        self.assertEqual(difference(stated(["a", "b"]), ["b", "a"]), "another order")
        self.assertEqual(difference(stated(0, tolerance=1.0), -0.9), "")
        self.assertEqual(difference(stated(0, tolerance=1.0), 1.1), "not 0")

    def test_what_cannot_be_compared_is_refused(self):
        with self.assertRaisesRegex(ReproductionError, "X is a claim"):
            difference(stated(True), 3)
        with self.assertRaisesRegex(ReproductionError, "X is a number"):
            difference(stated(3.0), True)
        with self.assertRaisesRegex(ReproductionError, "X orders a, b; ours orders a, c"):
            difference(stated(["a", "b"]), ["a", "c"])


class PageTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def paper(self, *values):
        path = self.folder / "paper.json"
        path.write_text(json.dumps({"paper": {}, "values": list(values)}))
        return Paper(path)

    def findings(self, text):
        path = self.folder / "findings.toml"
        path.write_text(text)
        return Findings(path)

    saved = {"id": "SAVED", "what": "energy saved", "where": "Fig 14", "value": 75.3, "unit": "%"}

    def test_a_difference_needs_a_finding_and_a_finding_its_number(self):
        c = Comparisons(self.paper(self.saved))
        c.add("SAVED", 40.0)
        complaint, = self.findings("").complaints(c)
        self.assertEqual(complaint, "SAVED (energy saved): paper: 75.3 %; ours: 40 % (-47 %); no finding in "
                                    "findings.toml says why")
        finding = '[[finding]]\ntitle = "Why."\nexplains = { SAVED = %s }\nrun = "`--faster`"\ntext = "Because."\n'
        self.assertEqual(self.findings(finding % "41.0").complaints(c), [])
        self.assertEqual(self.findings(finding % "55.0").complaints(c),
                         ["finding 'Why.' was written when SAVED was 55 %; now it is 40 %"])
        agreeing = Comparisons(c.paper)
        agreeing.add("SAVED", 75.0)
        self.assertEqual(self.findings(finding % "40.0").complaints(agreeing),
                         ["finding 'Why.' explains a difference of SAVED that is none any more: paper: 75.3 %; ours: "
                          "75 %"])
        self.assertEqual(self.findings((finding % "40.0").replace("SAVED", "LOST")).complaints(agreeing),
                         ["finding 'Why.' explains LOST, which nothing is compared with"])
        with self.assertRaisesRegex(ReproductionError, "finding 'x': 'explains' is missing"):
            self.findings('[[finding]]\ntitle = "x"\ntext = "y"\n')

    def test_values_of_a_paper_are_checked(self):
        for change, message in (({"wherre": 1}, "SAVED: unknown key 'wherre'"),
                                ({"relation": "~"}, "found relation '~', expected"),
                                ({"value": 0}, "say what still counts as that")):
            with self.subTest(message), self.assertRaisesRegex(ReproductionError, message):
                self.paper({**self.saved, **change})
        with self.assertRaisesRegex(ReproductionError, "'where' is missing"):
            self.paper({"id": "A", "what": "b", "value": 1})
        with self.assertRaisesRegex(ReproductionError, "two values are called SAVED"):
            self.paper(self.saved, self.saved)

    def test_every_value_is_compared_once_or_says_why_not(self):
        left_out = {"id": "OUT", "what": "another scheme", "where": "Fig 15", "value": 3.7, "unit": "%",
                    "not_compared": "a later scheme"}
        paper = self.paper(self.saved, left_out)
        c = Comparisons(paper)
        self.assertEqual(c.forgotten(), ["SAVED"])
        c.add("SAVED", 75)
        self.assertEqual(c.forgotten(), [])
        self.assertEqual(missing_values(c), "<!-- details: 1 statement is not compared, for one reason -->\n- a later scheme:\n"
                         "  - another scheme (Fig 15): 3.7 %\n<!-- end -->")
        for value_id, message in (("SAVED", "compared twice"), ("OUT", "said not to be compared"), ("X", "no value X")):
            with self.assertRaisesRegex(ReproductionError, message):
                c.add(value_id, 1.0)

    def test_a_page_is_its_template_filled_in(self):
        c = Comparisons(self.paper(self.saved))
        c.add("SAVED", 40.0, "mean")
        page = Page(c, self.findings('[[finding]]\ntitle = "Why."\nexplains = { SAVED = 40 }\nrun = "`--faster`"\n'
                                     'text = "It is {{SAVED}} of {{kernels}} kernels."\n'))
        page.put("kernels", "12")
        page.put("table:a", table(["x", "y"], [["k|l", 1234], [None, 0.5]]))
        page.compare("energy", ["SAVED"])
        template = self.folder / "page.md"
        template.write_text("# T\n\n{{table:a}}\n\n{{compare:energy}}\n")
        self.assertEqual(page.render(template), "# T\n\n<!-- table: a -->\n| x | y |\n| --- | ---: |\n| k\\|l | 1,234 |\n| - | 0.5 |\n\n"
                         "<!-- table: energy_compared -->\n"
                         "|  | where | paper | ours |  |\n| --- | --- | ---: | ---: | ---: |\n"
                         "| energy saved (mean) | Fig 14 | 75.3 % | 40 % | **-47 %** |\n\n"
                         "<!-- finding: Why. -->\nIt is 40 % of 12 kernels.\n\n*Supporting run: `--faster`.*\n<!-- end -->\n")
        template.write_text("{{table:a}} {{table:b}}")
        with self.assertRaisesRegex(ReproductionError, "nothing is known as {{table:b}}"):
            page.render(template)
        template.write_text("{{table:a}}")
        with self.assertRaisesRegex(ReproductionError, "{{compare:energy}} is made and stands nowhere"):
            page.render(template)
        with self.assertRaisesRegex(ReproductionError, "registered twice"):
            page.put("kernels", "13")
        with self.assertRaisesRegex(ReproductionError, "a row of 1 cells in a table of 2 columns"):
            table(["x", "y"], [["z"]])

    def test_a_file_that_would_be_the_same_is_left_alone(self):
        path = self.folder / "out" / "README.md"
        self.assertTrue(write_if_changed(path, "a"))
        self.assertFalse(write_if_changed(path, "a"))
        self.assertTrue(write_if_changed(path, "b"))


if __name__ == "__main__":
    unittest.main()
