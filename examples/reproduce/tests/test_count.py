# SPDX-License-Identifier: Apache-2.0
"""Marks, the rules of counting, reading kept pages back, and the front page; then the repository's own pages."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

from regatta_reproduce import ReproductionError, counting, front
from regatta_reproduce.findings import Findings
from regatta_reproduce.kept import Kept
from regatta_reproduce.paper import Comparison, Paper, Stated, difference

here = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(here))
import count  # noqa: E402

saved = {"id": "SAVED", "what": "energy saved", "where": "Fig 14", "value": 75.3, "unit": "%", "change": True}


def stated(v, **more):
    return Stated(id="X", what="it", where="Fig 1", value=v, **more)


def kinds(v, ours, note="", **more):
    """counts, agrees, has the sign or order, strictly"""
    c = Comparison(stated(v, **more), ours, note)
    return "".join("x" if b else "-" for b in (c.counts, c.agrees, c.has_sign, c.has_sign_strictly))


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "examples" / "reproduce"
        self.folder.mkdir(parents=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def paper(self, *values):
        return Paper(self.write("paper.json", json.dumps({"paper": {}, "values": list(values)})))


class MarksTest(Scratch):
    def test_a_mark_has_a_kind_and_a_reason(self):
        v = self.paper({**saved, "fitted": "eta is fitted to this"}).values["SAVED"]
        self.assertEqual((v.mark, v.reason), ("fitted", "eta is fitted to this"))
        self.assertEqual((self.paper(saved).values["SAVED"].mark, self.paper(saved).values["SAVED"].reason), ("", ""))

    def test_bad_marks_are_refused(self):
        path = self.folder / "paper.json"
        for change, message in (
                ({"fitted": "a", "formula": "b"}, "found the marks 'fitted' and 'formula', expected one"),
                ({"formula": True}, "found True for 'formula', expected a reason in a few words"),
                ({"input": " "}, "found ' ' for 'input', expected a reason in a few words"),
                ({"input": "a " * 17}, "found a reason of 17 words for 'input', expected 16 at most"),
                ({"formula": "a", "not_compared": "b"}, "found the mark 'formula' at a value that is not compared, expected it at a comparison"),
                ({"duplicate": "the abstract"},
                 "found 'the abstract' for 'duplicate', expected the ID of a value that is compared, a colon and a reason"),
                ({"duplicate": "LOST: the same"},
                 "found 'LOST: the same' for 'duplicate', expected the ID of a value that is compared, a colon and a reason"),
                ({"duplicate": "SAVED: itself"},
                 "found 'SAVED: itself' for 'duplicate', expected the ID of a value that is compared, a colon and a reason"),
                ({"formulas": "a"}, "unknown key 'formulas'")):
            with self.subTest(message), self.assertRaises(ReproductionError) as caught:
                self.paper({**saved, **change})
            self.assertEqual(str(caught.exception), f"{path}: value SAVED: {message}")

    def test_a_duplicate_is_of_no_duplicate(self):
        other = {**saved, "id": "OTHER", "duplicate": "SAVED: the abstract"}
        self.assertEqual(self.paper(saved, other).values["OTHER"].mark, "duplicate")
        with self.assertRaises(ReproductionError) as caught:
            self.paper({**saved, "duplicate": "OTHER: the section"}, other)
        self.assertEqual(str(caught.exception), f"{self.folder / 'paper.json'}: value SAVED: found a duplicate of OTHER, which is one itself")

    def test_other_keys_fit_the_value(self):
        for change, message in (({"value": True, "program": "MUM"}, "found program 'MUM', expected it at a number only"),
                                ({"relation": "<", "program": "MUM"}, "found program 'MUM', expected it at a number only"),
                                ({"floor": 80}, "found floor 80, expected it at a number that is larger"),
                                ({"headline": True, "not_compared": "a"}, "found a headline that is not compared")):
            with self.subTest(message), self.assertRaises(ReproductionError) as caught:
                self.paper({**saved, **change})
            self.assertEqual(str(caught.exception), f"{self.folder / 'paper.json'}: value SAVED: {message}")


class RulesTest(unittest.TestCase):
    def test_a_number_within_a_quarter_of_the_papers_sign_and_size(self):
        for ours, expected in ((20.0, "xxxx"), (25.0, "xxxx"), (15.0, "xxxx"), (25.2, "x-xx"), (5.0, "x-xx"), (4.9, "x-x-"), (80.0, "x-xx"),
                               (80.1, "x-x-"), (0.0, "x---"), (-20.0, "x---")):
            with self.subTest(ours):
                self.assertEqual(kinds(20.0, ours, change=True), expected)
        self.assertEqual(kinds(-20.0, -4.0, change=True), "x-x-")
        self.assertEqual(kinds(-20.0, 4.0, change=True), "x---")

    def test_a_level_has_no_sign_to_miss_but_a_size(self):
        for ours, expected in ((120.0, "xxxx"), (300.0, "x-xx"), (500.0, "x-x-"), (20.0, "x-x-"), (0.0, "x---")):
            with self.subTest(ours):
                self.assertEqual(kinds(100.0, ours), expected)

    def test_claims_orders_bounds_and_nothing_agree_or_not(self):
        for v, good, bad, more in ((True, True, False, {}), (["a", "b"], ["a", "b"], ["b", "a"], {}), (2.0, 1.9, 2.1, {"relation": "<"}),
                                   (0, 0.5, 1.5, {"tolerance": 1.0})):
            with self.subTest(v):
                self.assertEqual(kinds(v, good, **more), "xxxx")
                self.assertEqual(kinds(v, bad, **more), "x---")

    def test_a_bound_on_a_change_needs_the_sign(self):
        self.assertEqual(difference(stated(40.0, relation="<", change=True), -4.0), "another sign")
        self.assertEqual(difference(stated(40.0, relation="<"), -4.0), "")
        self.assertEqual(difference(stated(40.0, relation="<", change=True), 50.0), "beyond the bound")
        self.assertEqual(kinds(40.0, -4.0, relation="<", change=True), "x---")

    def test_the_highest_is_the_papers_program(self):
        self.assertEqual(kinds(24.0, 24.0, "MUM", program="MUM", change=True), "xxxx")
        self.assertEqual(kinds(24.0, 24.0, "sgemm", program="MUM", change=True), "x---")
        self.assertEqual(Comparison(stated(24.0, program="MUM"), 24.0, "sgemm").verdict(), "another program")
        self.assertEqual(kinds(24.0, 12.0, "MUM", program="MUM", change=True), "x-xx")

    def test_a_floor_is_where_the_comparison_begins(self):
        self.assertEqual(kinds(1.2, 1.24, floor=1), "xxxx")
        self.assertEqual(kinds(1.2, 1.26, floor=1), "x-xx")
        self.assertEqual(Comparison(stated(1.2, floor=1), 1.26).verdict(), "+30 %")
        self.assertEqual(Comparison(stated(1.02, floor=1), 1.77).verdict(), "38 times")
        self.assertEqual(kinds(1.02, 1.77, floor=1), "x-x-")

    def test_a_row_with_a_mark_never_counts(self):
        for ours, verdict in ((20.0, "formula: agrees (+0 %)"), (40.0, "formula: +100 %")):
            with self.subTest(ours):
                self.assertEqual(kinds(20.0, ours, mark="formula", reason="bits"), "----")
                self.assertEqual(Comparison(stated(20.0, mark="formula", reason="bits"), ours).verdict(), verdict)

    def test_the_sum_and_its_sentence(self):
        rows = [Comparison(stated(20.0, change=True), 21.0), Comparison(stated(20.0, change=True), 2.0), Comparison(stated(20.0), 60.0),
                Comparison(stated(2.0, relation="<"), 1.0), Comparison(stated(True), False), Comparison(stated(5.0, mark="formula", reason="a"), 5.0)]
        done = counting.count(rows, 9)
        self.assertEqual(done, counting.Count(stated=9, rows=6, clean=5, agree=2, bounds=1, sign=4, levels=1, strict=3))
        self.assertEqual(done.sentence(), "6 of 9 statements are compared. 5 of them are clean: 2 agree, 4 have the sign or order, 3 strictly.")
        self.assertEqual(done + counting.Count(), done)


class FindingsTest(Scratch):
    def findings(self, more):
        return Findings(self.write("findings.toml", f'[[finding]]\ntitle = "Why."\nexplains = {{ SAVED = 40 }}\n{more}text = "Because."\n'))

    def test_a_reason_names_a_run_or_is_supposed(self):
        named, supposed = self.findings('run = "`--faster`."\n'), self.findings("supposed = true\n")
        self.assertEqual((named.supposed, supposed.supposed), (0, 1))
        self.assertEqual(named.all[0].support(), "*Supporting run: `--faster`.*")
        self.assertEqual(supposed.all[0].support(), "*Supposed: no run supports this reason.*")
        self.assertEqual(supposed.sentence(), "Of 1 reasons for differences, 0 name a supporting run; the other 1 are supposed.")

    def test_what_names_neither_or_both_is_refused(self):
        for more, message in (("", "found neither 'run' nor 'supposed', expected one of them"),
                              ('run = "a"\nsupposed = true\n', "found both 'run' and 'supposed', expected one of them"),
                              ("supposed = false\n", "found False for 'supposed', expected true"),
                              ('run = ""\n', "found '' for 'run', expected the run that supports it"),
                              ('runs = "a"\nsupposed = true\n', "unknown key 'runs'")):
            with self.subTest(message), self.assertRaises(ReproductionError) as caught:
                self.findings(more)
            self.assertEqual(str(caught.exception), f"{self.folder / 'findings.toml'}: finding 'Why.': {message}")


class KeptTest(Scratch):
    values = [{**saved, "headline": True}, {"id": "TIME", "what": "time added", "scope": "mean", "where": "Fig 1", "value": 2, "unit": "%", "relation": "<"},
              {"id": "BITS", "what": "bits", "where": "Sec 2", "value": 93, "unit": "bits", "formula": "the same bits"},
              {"id": "GRID", "what": "IPC at 10 % sharing over that at 0 %", "scope": "sharing, MUM", "where": "Table 2.5", "value": 4.0, "unit": "%", "change": True},
              {"id": "FASTER", "what": "faster", "where": "Fig 2", "value": True}]

    def page(self, energy="75.3 %,40 %,-47 %", grid="4 / **9**", values=None):
        self.write("one/paper.json", json.dumps({"paper": {}, "values": self.values if values is None else values}))
        self.write("one/findings.toml", '[[finding]]\ntitle = "Why, then."\nexplains = { SAVED = 40 }\nrun = "`--faster`"\ncause = "slow"\ntext = "Because."\n')
        self.write("one/findings.md", "# P: findings\n\n## Energy\n\n### Why, then\n\nBecause.\n\n## Left out\n\n- a\n")
        self.write("one/tables/energy_compared.csv", f"statement,where,paper,ours,verdict\nenergy saved,Fig 14,{energy}\nbits,Sec 2,93 bits,93 bits,agrees (+0 %)\n")
        self.write("one/tables/grid.csv", f'"IPC, in %, Table 2.5: thesis / ours",0 %,10 %\nMUM,-,{grid}\n')
        self.write("one/tables/other.csv", "kernel,cycles\nk,1\n")
        self.write("one/README.md", "# P\n\n**Verdict.** 9 of 9 statements are compared. 9 of them are clean: 9 agree, 9 have the sign or order, 9 strictly. More.\n\n"
                                    "2 of 2 statements agree ([all](tables/energy_compared.csv)).\n\n|  | where | paper | ours |  |\n| --- | --- | ---: | ---: | ---: |\n"
                                    "| time added, mean (geometric) | Fig 1 | < 2 % | 1 % | agrees |\n| faster | Fig 2 | holds | does not hold | **does not hold** |\n\nText.\n")
        return Kept(self.folder / "one")

    def test_all_forms_of_a_table_are_read(self):
        k = self.page()
        self.assertEqual({i: c.ours for i, c in k.comparisons.all.items()}, {"SAVED": 40.0, "BITS": 93.0, "GRID": 9.0, "TIME": 1.0, "FASTER": False})
        self.assertEqual(k.comparisons.all["TIME"].note, "geometric")
        self.assertEqual(k.count(), counting.Count(stated=5, rows=5, clean=4, agree=1, bounds=1, sign=3, levels=0, strict=3))

    def test_a_page_is_counted_again(self):
        made = self.page().rewritten()
        self.assertIn("**Verdict.** 5 of 5 statements are compared. 4 of them are clean: 1 agree, 3 have the sign or order, 3 strictly. "
                      "Of 1 reasons for differences, 1 names a supporting run; the other 0 are supposed. More.", made["README.md"])
        self.assertIn("\n0 of 1 clean statements agree; 1 does not count ([all](tables/energy_compared.csv)).\n", made["README.md"])
        self.assertIn("| faster | Fig 2 | holds | does not hold | **does not hold** |\n", made["README.md"])
        self.assertEqual(made["tables/energy_compared.csv"].splitlines()[1:], ["energy saved,Fig 14,75.3 %,40 %,-47 %", "bits,Sec 2,93 bits,93 bits,formula: agrees (+0 %)"])
        self.assertEqual(made["findings.md"], "# P: findings\n\n## Energy\n\n### Why, then\n\nBecause.\n\n*Supporting run: `--faster`.*\n\n## Left out\n\n- a\n")
        for name, text in made.items():
            self.write(f"one/{name}", text)
        self.assertEqual(Kept(self.folder / "one").rewritten(), made)  # once is enough

    def test_a_printed_verdict_is_kept_where_the_rules_have_not_changed_it(self):
        self.assertIn("-46 %", self.page(energy="75.3 %,40 %,-46 %").rewritten()["tables/energy_compared.csv"])  # of more digits than are printed
        self.assertIn("another sign", self.page(energy="75.3 %,-40 %,-153 %").rewritten()["tables/energy_compared.csv"])

    def test_what_cannot_be_read_is_told(self):
        one = self.folder / "one"
        for arguments, message in (
                ({"energy": "75.3 %,much,-47 %"}, f"{one / 'tables' / 'energy_compared.csv'}: found 'much' for SAVED, expected a number in %"),
                ({"energy": "75 %,40 %,-47 %"}, f"{one / 'tables' / 'energy_compared.csv'}: paper.json has no statement 'energy saved' (Fig 14): 75 %"),
                ({"grid": "5 / 9"}, f"{one / 'tables' / 'grid.csv'}: paper.json has 0 statements of Table 2.5 for MUM at 10 %: 5, expected one"),
                ({"grid": "-"}, f"{one}: no table has GRID, expected a comparison or 'not_compared'")):
            with self.subTest(message), self.assertRaises(ReproductionError) as caught:
                self.page(**arguments)
            self.assertEqual(str(caught.exception), message)

    def test_the_front_page(self):
        pages = {"one": self.page()}
        text = front.block(pages)
        self.assertIn("> **Verdict.** Of 4 clean statements, 1 (25 %) agree with the paper, and 3 (75 %) have its sign or order strictly.\n"
                      "> Of 1 reasons for differences, 1 names a supporting run; the other 0 are supposed.\n", text)
        self.assertIn("| [one](one/README.md) | 5 | 4 | 1 (25 %) | 3 (75 %) | 3 (75 %) | 1 of 1 |\n| all | 5 | 4 | 1 (25 %) | 3 (75 %) | 3 (75 %) | 1 of 1 |\n", text)
        self.assertIn("1 of the 5 comparisons do not count (1 formula); 1 of these would agree.", text)
        self.assertIn("| [one](one/README.md) | energy saved | 75.3 % | 40 % | **-47 %** | [slow](one/findings.md#why-then) |\n", text)
        path = Path("README.md")
        whole = f"# T\n\n{front.begin}\nold\n{front.end}\n\nrest\n"
        self.assertEqual(front.replaced(whole, text, path), f"# T\n\n{text}\n\nrest\n")
        for wrong, message in (("# T\n", f"README.md: found '{front.begin}' 0 times, expected it once"),
                               (f"{front.end}\n{front.begin}\n", f"README.md: found '{front.end}' before '{front.begin}', expected it behind")):
            with self.subTest(message), self.assertRaises(ReproductionError) as caught:
                front.replaced(wrong, text, path)
            self.assertEqual(str(caught.exception), message)

    def test_a_headline_that_differs_needs_a_cause(self):
        self.page()
        findings = self.folder / "one" / "findings.toml"
        findings.write_text(findings.read_text().replace('cause = "slow"\n', ""))
        with self.assertRaises(ReproductionError) as caught:
            front.block({"one": Kept(self.folder / "one")})
        self.assertEqual(str(caught.exception), f"{findings}: headline SAVED differs: found no finding with a cause, expected one that explains it")


class RepositoryTest(unittest.TestCase):
    """The pages that are kept here."""

    def run_count(self, *arguments):
        told, wrong = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(wrong):
            status = count.main(list(arguments))
        return status, told.getvalue(), wrong.getvalue()

    def test_nothing_is_out_of_date(self):
        self.assertEqual(self.run_count("--check"), (0, "", ""))

    def test_every_paper_is_counted_or_repeats_others(self):
        self.assertEqual(sorted(str(p.parent.relative_to(here)) for p in here.glob("**/paper.json")), sorted([*count.pages, *count.repeating]))

    def test_every_reason_names_a_run_or_is_supposed(self):
        for path in sorted(here.glob("**/findings.toml")):
            with self.subTest(str(path.relative_to(here))):
                Findings(path)

    def test_there_are_thirty_headlines_of_all_papers(self):
        headlines = {name: sum(v.headline for v in Paper(here / name / "paper.json").values.values()) for name in count.pages}
        self.assertEqual(sum(headlines.values()), 30)
        self.assertGreater(min(headlines.values()), 2)

    def test_marked_rows_are_listed_with_their_reasons(self):
        status, told, wrong = self.run_count("--marked")
        self.assertEqual((status, wrong), (0, ""))
        self.assertIn("aging: AGING-016: fitted: nbti.eta is fitted to this number\n", told)
        self.assertEqual(len(told.splitlines()), sum(bool(v.mark) for name in count.pages for v in Paper(here / name / "paper.json").values.values()))

    def test_a_folder_without_pages_is_told(self):
        status, _, wrong = self.run_count("--root", str(here / "tests"))
        self.assertEqual(status, 1)
        self.assertEqual(wrong, f"count.py: cannot read '{here / 'tests' / 'regless' / 'paper.json'}': No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
