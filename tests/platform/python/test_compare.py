# SPDX-License-Identifier: Apache-2.0
"""Comparison of runs: the split is exact, verdict and tables say it, bad input is refused."""

import contextlib
import importlib.util
import io
import json
import random
import tempfile
import unittest
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

from regatta.commands.compare import main
from regatta.comparison import compare
from regatta.difference import Difference
from regatta.statistics import InputError, Run, load

from .made import SCHEDULERS, document, launch, lines


def slower():
    """DRAM is slower: the waits for memory grow at one line."""
    a = document([launch("k", 100, memory=60, scoreboard=20)],
                 cpi_lines=[lines(0, "k", {"k.cu:3": {"issued": 100, "scoreboard": 20}, "k.cu:7": {"issued": 20,
                                                                                                "memory": 60}}, {})])
    b = document([launch("k", 125, memory=105, scoreboard=20, idle=5)], config={"dram.latency": 300},
                 cpi_lines=[lines(0, "k", {"k.cu:3": {"issued": 100, "scoreboard": 20}, "k.cu:7": {"issued": 20,
                                                                                                "memory": 105}},
                                  {"idle": 5})])
    b["stats"]["memory.dram_0"]["queue_entry_cycles"] = 90
    return Run(a, "a.json"), Run(b, "b.json")


class DifferenceTest(unittest.TestCase):
    def test_adds_up_by_line_and_reason(self):
        a, b = slower()
        d = Difference(a, b)
        self.assertEqual(d.residual, 0)
        self.assertEqual(d.grouped("source", "reason")[0], (("k.cu:7", "memory"), Fraction(30), Fraction(105, 2)))
        self.assertEqual(d.by_reason()["memory"], Fraction(45, 2))
        self.assertEqual(sum(y - x for _, x, y in d.grouped("kernel")), 25)

    def test_random_runs_have_no_residual(self):
        dice = random.Random(1)
        for _ in range(300):
            runs = []
            for name in "ab":
                launches = []
                for _ in range(dice.randint(1, 6)):
                    cycles = dice.randint(1, 10**6)
                    rest = SCHEDULERS * cycles
                    stalls = {}
                    for reason in ("memory", "barrier", "structural_lsu", "idle"):
                        stalls[reason] = dice.randint(0, rest)
                        rest -= stalls[reason]
                    launches.append(launch(dice.choice("pqr"), cycles, **stalls))
                runs.append(Run(document(launches), name))
            d = Difference(*runs)
            self.assertEqual(d.residual, 0)
            for fields in (("reason",), ("launch", "kernel"), ("kernel", "source", "reason")):
                self.assertEqual(sum(y - x for _, x, y in d.grouped(*fields)), d.more)

    def test_another_number_of_schedulers(self):
        a = Run(document([launch("k", 99, memory=60)]), "a")
        wide = launch("k", 77, memory=0)
        wide["issue_cycles"] = 77 * 3 - 31
        wide["stall_cycles"]["idle"] = 31
        self.assertEqual(Difference(a, Run(document([wide]), "b")).residual, 0)

    def test_sources_lose_the_folder_that_they_share(self):
        def run(*sources):
            cycles = 10 * len(sources)
            return Run(document([launch("k", cycles)],
                                cpi_lines=[lines(0, "k", {s: {"issued": 20} for s in sources}, {})]), "r")
        for sources, expected in ((("/a/b/x.cu:1", "/a/b/c/y.h:2"), {"x.cu:1", "c/y.h:2"}),
                                  (("/a/x.cu:1", "y.cu:2"), {"/a/x.cu:1", "y.cu:2"}),
                                  # A header of CUDA has nothing but the root in common with the program.
                                  (("/home/me/x.cu:1", "/usr/local/cuda/include/y.h:2"),
                                   {"/home/me/x.cu:1", "/usr/local/cuda/include/y.h:2"}),
                                  (("//a/x.cu:1", "//b/x.cu:1"), {"//a/x.cu:1", "//b/x.cu:1"}),
                                  (("/x.cu:1",), {"/x.cu:1"})):
            both = run(*sources)
            self.assertEqual({p.source for p in Difference(both, both).parts}, expected)

    def test_launches_of_one_run_only(self):
        a = Run(document([launch("p", 10), launch("q", 20), launch("p", 30)]), "a")
        b = Run(document([launch("p", 10), launch("p", 30), launch("r", 5)]), "b")
        d = Difference(a, b)
        rows = {key: (x, y) for key, x, y in d.grouped("launch", "kernel")}
        self.assertEqual(rows[((1, None), "q")], (20, 0))
        self.assertEqual(rows[((None, 2), "r")], (0, 5))
        self.assertEqual(rows[((2, 1), "p")], (30, 30))
        self.assertEqual(d.residual, 0)


class VerdictTest(unittest.TestCase):
    def test_slower(self):
        document_ = compare(*slower())
        self.assertEqual(document_["verdict"][0], "B takes 25.0 % more cycles than A (100 to 125).")
        self.assertIn("22.5 points are due to waits for memory", document_["verdict"][1])
        self.assertIn("most of all at k.cu:7 (22.5, waits for memory)", document_["verdict"][1])
        self.assertEqual(document_["verdict"][2], "The likeliest cause is the DRAM: dram.latency is 300 instead of 100, "
                                                  "cycles in the queue per access went from 2 to 9.")
        self.assertEqual(document_["residual"], "0")

    def test_faster_names_the_same_cause(self):
        a, b = slower()
        document_ = compare(b, a)
        self.assertEqual(document_["verdict"][0], "B takes 20.0 % fewer cycles than A (125 to 100).")
        self.assertIn("The likeliest cause is the DRAM", document_["verdict"][2])

    def test_equal(self):
        a, _ = slower()
        self.assertEqual(compare(a, a)["verdict"][0], "Both take 100 cycles.")
        self.assertEqual(compare(a, a)["suspects"], [])

    def test_equal_cycles_of_other_reasons(self):
        a = Run(document([launch("k", 100, memory=60, scoreboard=20)]), "a.json")
        b = Run(document([launch("k", 100, memory=40, scoreboard=40)]), "b.json")
        self.assertEqual(compare(a, b)["verdict"][:2], ["Both take 100 cycles.", "10.0 points moved from one reason to another."])

    def test_what_works_against_the_difference_is_said(self):
        a = Run(document([launch("k", 100, memory=60, scoreboard=100)]), "a.json")
        b = Run(document([launch("k", 110, memory=120, scoreboard=60)]), "b.json")
        said = compare(a, b)["verdict"]
        self.assertEqual(said[1:3], ["30.0 points are due to waits for memory.", "Other reasons shrank by 20.0 points."])
        self.assertIn("Other reasons grew by 18.2 points.", compare(b, a)["verdict"])

    def test_the_slower_run_says_why(self):
        """A bank conflict was planted: its cause and line come before the points."""
        def run(name, cycles, conflict, lsu, barrier=0):
            wait = {"cause": "memory", "sentence": "line 9 of t.cu: waits for memory hold 20 % of the cycles", "held": 20 / cycles,
                    "gain_at_most": 0.1, "kernel": "k", "source": "t.cu:9", "instruction": 3}
            bank = {"cause": "bank_conflicts", "sentence": "line 14 of t.cu: 32 lanes of a load meet in one bank", "held": conflict,
                    "gain_at_most": conflict, "kernel": "k", "source": "t.cu:14", "instruction": 5}
            causes = sorted([c for c in (wait, bank) if c["held"]], key=lambda c: -c["held"])
            return Run(document([launch("k", cycles, structural_lsu=lsu, barrier=barrier)], why=causes), name)
        a, b = run("a.json", 1000, 0.01, 0), run("b.json", 2500, 0.6, 2999, 1)
        found = compare(a, b)
        self.assertEqual(found["verdict"][:3], ["B takes 150.0 % more cycles than A (1,000 to 2,500).",
                                                "B says why: line 14 of t.cu: 32 lanes of a load meet in one bank.",
                                                "149.9 points are due to no free collector unit for LSU."])
        self.assertEqual((found["why"]["run"], found["why"]["cause"], found["why"]["source"]), ("B", "bank_conflicts", "t.cu:14"))
        found = compare(b, a)  # the cause is gone
        self.assertEqual(found["verdict"][1], "A says why: line 14 of t.cu: 32 lanes of a load meet in one bank.")
        self.assertEqual(found["why"]["run"], "A")
        # A has the same: nothing explains the difference. Nor does a run of an earlier version.
        same = run("b.json", 1010, 0.01, 0)
        self.assertIsNone(compare(a, same)["why"])
        for old in ({}, {"why": None}, {"why": [1, {"cause": "x"}]}):
            b.document.pop("why", None)
            b.document.update(old)
            self.assertIsNone(compare(a, b)["why"])
            self.assertNotIn("says why", " ".join(compare(a, b)["verdict"]))
        self.assertIsNone(compare(a, a)["why"])

    def test_the_only_knob_that_differs_is_the_cause(self):
        """Though it was changed for the faster, so that no structure is suspected of it."""
        a = Run(document([launch("k", 100, memory=60)], config={"dram.latency": 300}), "a.json")
        b = Run(document([launch("k", 125, memory=105)], config={"dram.latency": 200}), "b.json")
        self.assertEqual(compare(a, b)["verdict"][-1],
                         "The cause is dram.latency, the only knob that differs: 200 instead of 300.")

    def test_one_scheduler_is_one_knob(self):
        """stats.json has it twice."""
        a = Run(document([launch("k", 100)], config={"run.scheduler": "gto", "sm.scheduler": "gto"}), "a.json")
        b = Run(document([launch("k", 120, idle=80)], config={"run.scheduler": "lrr", "sm.scheduler": "lrr"}), "b.json")
        self.assertEqual(compare(a, b)["configuration"], [{"knob": "sm.scheduler", "a": "gto", "b": "lrr"}])

    def test_two_changes_that_score_alike_are_both_named(self):
        a = Run(document([launch("k", 100, memory=60)], config={"dram.latency": 200, "sm.scheduler": "gto"}), "a.json")
        b = Run(document([launch("k", 125, memory=105)], config={"dram.latency": 300, "sm.scheduler": "lrr"}), "b.json")
        for run in (a, b):  # of 25 more cycles, ten reads that are slower by 100 each explain a part for 48 warps
            run.document["stats"]["sm0.pipeline"] = {"resident_warp_cycles": 48 * run.cycles}
        said = " ".join(compare(a, b)["verdict"])
        self.assertIn("dram.latency is 300 instead of 200", said)
        self.assertIn("may have a part in it", said)
        self.assertIn("sm.scheduler is lrr instead of gto", said)

    def test_a_run_that_did_not_end_is_named_first(self):
        a, b = slower()
        b.document["ending"] = "interrupted"
        self.assertEqual(compare(a, b)["verdict"][0], "B was interrupted: its numbers are of the part before.")
        self.assertEqual(compare(b, a)["verdict"][0], "A was interrupted: its numbers are of the part before.")
        b.document["ending"] = "not_conserved"
        self.assertIn("do not trust its numbers", compare(a, b)["verdict"][0])

    def test_a_knob_that_the_run_does_not_use_is_no_cause(self):
        a, b = slower()
        for run, cycles in ((a, 8), (b, 330)):
            run.document["config"]["latency.fp64_div"] = cycles
        self.assertEqual(compare(a, b)["suspects"][0]["structure"], "DRAM")


class Cells(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        runs = slower()
        runs[1].document["why"] = [{"cause": "dram", "sentence": "line 7 of k.cu: loads wait for DRAM", "held": 0.5, "gain_at_most": 0.2,
                                    "kernel": "k", "source": "k.cu:7", "instruction": 4}]
        for run in runs:
            (self.folder / run.name).write_text(json.dumps(run.document))

    def run_it(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(self.folder / w) if w.endswith((".json", ".html")) else w for w in words])
        return status, out.getvalue(), err.getvalue().replace(str(self.folder) + "/", "")

    @unittest.skipUnless(importlib.util.find_spec("jinja2"), "python3-jinja2 is not installed")
    def test_text_json_and_page(self):
        status, out, err = self.run_it("a.json", "b.json", "--json", "c.json", "--html", "c.html")
        self.assertEqual((status, err), (0, ""))
        for part in ("Configuration that differs", "dram.latency", "Suspects", "Cycles by place and reason",
                     "residual: 0 cycles"):
            self.assertIn(part, out)
        written = json.loads((self.folder / "c.json").read_text())
        self.assertEqual(written["comparisons"][0]["places"][0]["source"], "k.cu:7")
        page = Cells((self.folder / "c.html").read_text())
        self.assertEqual(page.open, [])
        self.assertIn("k.cu:7", page.texts)
        self.assertIn("B says why: line 7 of k.cu: loads wait for DRAM. ", " ".join(page.texts))
        self.assertIn("\nB says why: line 7 of k.cu: loads wait for DRAM.\n", out)
        self.assertEqual(written["comparisons"][0]["why"], {"run": "B", "cause": "dram", "held": 0.5, "gain_at_most": 0.2, "kernel": "k",
                                                            "source": "k.cu:7", "instruction": 4,
                                                            "sentence": "line 7 of k.cu: loads wait for DRAM"})
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.json", "b.json", "c.html", "c.json"])

    def test_three_runs_are_two_comparisons(self):
        (self.folder / "c.json").write_text((self.folder / "a.json").read_text())
        _, out, _ = self.run_it("a.json", "b.json", "c.json")
        self.assertEqual(out.count("residual: 0"), 2)

    def test_without_lines(self):
        for name in ("a.json", "b.json"):
            d = json.loads((self.folder / name).read_text())
            del d["cpi_lines"]
            (self.folder / name).write_text(json.dumps(d))
        status, out, _ = self.run_it("a.json", "b.json")
        self.assertEqual(status, 0)
        self.assertIn("--cpi-lines", out)
        self.assertNotIn("Cycles by source line", out)

    def test_what_is_refused(self):
        (self.folder / "text.json").write_text("{\n  cycles")
        (self.folder / "list.json").write_text("[]")
        (self.folder / "other.json").write_text("{}")
        d = json.loads((self.folder / "a.json").read_text())
        d["cycles"] = 0
        (self.folder / "none.json").write_text(json.dumps(d))
        cases = {
            ("a.json",): "found one file, 'a.json'; expected two or more",
            ("a.json", "no.json"): "no.json: cannot be read: No such file or directory",
            ("a.json", "text.json"): "text.json:2:3: found no JSON there",
            ("a.json", "list.json"): "list.json: found list, expected an object",
            ("a.json", "other.json"): "other.json: 'cycles': found nothing, expected int",
            ("a.json", "none.json"): "none.json: found 0 cycles",
            ("a.json", "b.json", "--json", "a.json"): "--json and a run name the same file 'a.json'",
            ("a.json", "b.json", "--html", "no/c.html"): "cannot write 'no/c.html': No such file or directory",
            ("a.json", "b.json", "--rows", "0"): "--rows: found 0, expected 1 or more",
        }
        for words, message in cases.items():
            with self.subTest(words):
                status, out, err = self.run_it(*words)
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err.startswith("regatta-compare: " + message), err)

    def test_damaged_lines(self):
        d = json.loads((self.folder / "b.json").read_text())
        d["cpi_lines"] = []
        (self.folder / "b.json").write_text(json.dumps(d))
        _, _, err = self.run_it("a.json", "b.json")
        self.assertIn("b.json: launch 0: found no 'cpi_lines' of it", err)
        with self.assertRaises(InputError):
            load(self.folder / "nothing.json")


if __name__ == "__main__":
    unittest.main()
