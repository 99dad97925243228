# SPDX-License-Identifier: Apache-2.0
"""regatta-report: the page says what the runs say, escapes all names, refuses bad input, and is made fast and small."""

import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path

from regatta.commands.report import main
from regatta.reports import meanings, page, samples
from regatta.reports.run_data import short_names
from regatta.reports.source import split

from .made import SCHEDULERS, document, launch, lines

try:
    import jinja2  # noqa: F401
    JINJA = True
except ImportError:
    JINJA = False
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(HTMLParser):
    """Tags, their attributes, JSON by id, and tables by id as rows of texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.json, self.tables, self.texts = [], [], set(), {}, {}, []
        self._table = self._json = self._cell = None
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script" and attributes.get("type") == "application/json":
            self._json = attributes.get("id", "")
        if tag == "table":
            self._table = self.tables.setdefault(attributes["id"], [])
        if tag == "tr" and self._table is not None:
            self._table.append([])
        if tag in ("td", "th"):
            self._table[-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        last = self.open.pop()
        assert last == tag, (last, tag)
        if tag in ("td", "th"):
            self._cell = None
        if tag == "script":
            self._json = None

    def handle_data(self, data):
        if self._json is not None:
            self.json[self._json] = json.loads(data)
            return
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(" ".join(data.split()))
        if self._cell:
            self._table[-1][-1] += data.strip()


def run_document(**more):
    """Two launches with lines; the file k.cu is beside the run."""
    d = document([launch("k", 100, memory=60, scoreboard=20), launch("l", 50, structural_lsu=30, idle=10)],
                 cpi_lines=[lines(0, "k", {"k.cu:2": {"issued": 100, "scoreboard": 20}, "k.cu:3": {"issued": 20, "memory": 60}}, {}),
                            lines(1, "l", {"k.cu:3": {"issued": 60, "structural_lsu": 30}}, {"idle": 10})],
                 checks={"operands_checked": 1234, "mismatches": 0}, **more)
    for entry, where in ((d["cpi_lines"][0], ("k.cu:2", "k.cu:3")), (d["cpi_lines"][1], ("k.cu:3",))):
        entry["instructions"] = [{"index": i, "text": f"op{i} R{i}", "source": s, "ptx_line": 9 + i,
                                  "scheduler_cycles": entry["lines"][i]["scheduler_cycles"], "by_reason": entry["lines"][i]["by_reason"]}
                                 for i, s in enumerate(where)]
    d["energy"].update(static_nj=1000.0, static_by_structure={"dram": 1000.0, "l2": 0.0}, by_basis={"assumed": 4000.0, "quoted": 1000.0})
    return d


CSV = ("cycle,launch,memory.dram_0.bytes_read,memory.dram_1.bytes_read,sm0.pipeline.warp_instructions,sm0.l1.queue_max,"
       "total.pipeline.warp_instructions,total.l1.queue_max\n" "60,0,32,64,40,3,40,3\n" "120,1,0,32,40,9,40,9\n" "150,1,0,0,20,1,20,1\n")
LISTING = ("// kernel k from k.ptx\n// 3 registers\n\nB0:\n  // from -, to B1\n     0    1  op0 R0;      // 10; live none\n"
           "     1    1  op1 R1;      // 11; live R0\n     2    0  exit;      // 12; live none\n")


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        self.write("a.json", run_document())
        self.write("k.cu", "// first\nx = a < b;\ny = load(x);\n")
        self.write("a.csv", CSV)
        self.write("k.lst", LISTING)

    def write(self, name, content):
        Path(name).write_text(content if isinstance(content, str) else json.dumps(content))

    def report(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(list(words))
        return status, out.getvalue(), err.getvalue()

    def page(self, *words):
        status, _, err = self.report(*words, "--out", "r.html")
        self.assertEqual((status, err), (0, ""))
        return Page(Path("r.html").read_text())


@unittest.skipUnless(JINJA, "python3-jinja2 is not installed (.cmake/setup-packages.sh)")
class SectionsTest(ReportTest):
    def test_a_part_of_the_launches_is_said(self):
        d = run_document()
        d["sampling"] = {"launches": 1200, "simulated": "3,7", "warmed": "0:2,4:6"}
        self.write("part.json", d)
        texts = self.page("part.json").texts
        self.assertIn("It simulated 2 of 1,200 launches (3,7): all numbers are of these alone.", " ".join(texts))
        self.assertGreaterEqual(texts.count("2 of 1,200 launches (3,7)"), 2)  # a card, and a fact
        both = self.page("a.json", "part.json")
        self.assertEqual([row[2] for row in both.tables["all-runs"][1:]], ["2", "2 of 1,200 launches (3,7)"])
        self.assertIn("A simulated all launches, B simulated 2 of 1,200 launches (3,7).", " ".join(both.texts))
        self.assertNotIn("It simulated", " ".join(self.page("a.json").texts))

    def test_names_with_spaces(self):
        d = json.loads(json.dumps(run_document()).replace("k.cu", "my  folder/k 1.cu"))
        self.write("a run.json", d)
        self.write("b run.json", d)
        Path("my  folder").mkdir()
        os.rename("k.cu", "my  folder/k 1.cu")
        os.rename("k.lst", "k l.lst")
        status, out, err = self.report("a run.json", "b run.json", "--listing", "k l.lst", "--out", "the page.html")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("the page.html: "), out)
        page = Page(Path("the page.html").read_text())
        for part in ("a run", "b run", "k 1.cu:3", "y = load(x);"):
            self.assertIn(part, page.texts)

    def test_summary_says_how_it_ended_and_where_to_look(self):
        text = " ".join(self.page("a.json").texts)
        for part in ("k took 150 cycles under the scheme baseline on m.", "It ran to its end.", "issued in 60.0 % of their cycles",
                     "waits for memory (20.0 %)", "slowest line", "k.cu:3", "56.7 % of the scheduler-cycles, waits for memory",
                     "largest energy consumer", "dram", "3.0 uJ, 60.0 %", "1,234 compared with the program's values, 0 mismatches",
                     "Conservation laws: all hold."):
            self.assertIn(part, text)

    def test_a_line_names_the_line_that_it_waits_for(self):
        d = run_document()
        d["cpi_lines"][0]["lines"][1]["because_of"] = "k.cu:2"
        self.write("a.json", d)
        found = self.page("a.json", "--listing", "k.lst")
        self.assertEqual(found.tables["slowest-0"][1], ["k.cu:3", "56.7 %", "170", "80", "waits for memory, because of k.cu:2", "y = load(x);"])
        self.assertIn("most of all waits for memory, because of k.cu:2.", " ".join(found.texts))

    def test_summary_has_the_first_three_causes(self):
        causes = [{"cause": "c", "sentence": f"line {i} of k.cu: evidence {i}"} for i in range(4)]
        self.write("a.json", run_document() | {"why": causes})
        text = " ".join(self.page("a.json").texts)
        for i in range(3):
            self.assertIn(f"Why: line {i} of k.cu: evidence {i}.", text)
        self.assertNotIn("evidence 3", text)
        self.write("a.json", run_document() | {"why": [{"cause": "c"}]})
        status, _, err = self.report("a.json", "--out", "p.html")
        self.assertEqual(status, 2)
        self.assertIn("why[0]", err)

    def test_a_failed_check_is_said_first(self):
        self.write("a.json", run_document(ending="value_mismatch", fault="SM 0 register R2") | {
            "checks": {"operands_checked": 5, "mismatches": 1}})
        text = " ".join(self.page("a.json").texts)
        for part in ("It stopped at an operand with a wrong value", "FAILED", "1 mismatch.", "not examined", "A fault was planted: SM 0"):
            self.assertIn(part, text)

    def test_summary_says_how_much_of_the_machine_ran_and_what_a_scheme_did_not(self):
        def texts(sms, whole=16, **more):
            d = run_document(**more)
            d["config"]["machine.sms"] = whole
            d["stats"].update({f"sm{i}.register_file": {"reads": 1} for i in range(sms)})
            self.write("a.json", d)
            return " ".join(self.page("a.json").texts)

        self.assertIn("1 of 16, with L2 and DRAM bandwidth scaled to it", texts(1))
        text = texts(3, idle="no effect: no CTA more fits, limited by threads")
        for part in ("3 of 16, with L2 and DRAM bandwidth scaled to them", "0.222 of each SM",
                     "The scheme had no effect: no CTA more fits, limited by threads."):
            self.assertIn(part, text)
        text = texts(2, whole=2, idle="no CTA was switched out: all CTAs are active at once")
        for part in ("all 2", "The scheme: no CTA was switched out: all CTAs are active at once."):
            self.assertIn(part, text)

    def test_stacks_and_their_table(self):
        found = self.page("a.json")
        table = found.tables["cpi-reasons-0"]
        self.assertEqual(table[0], ["reason", "scheduler-cycles", "share [%]", "CPI"])
        self.assertEqual([r[:2] for r in table[1:]], [["issued", "180"], ["scoreboard", "20"], ["LSU collectors full", "30"],
                                                      ["memory", "60"], ["idle", "10"]])
        self.assertEqual(sum(int(r[1]) for r in table[1:]), SCHEDULERS * 150)
        rows = found.json["cpi-launches-0-rows"]
        self.assertEqual(rows[1][:4], [1, "l", None, 50])
        rects = [a for tag, a in found.tags if tag == "rect" and a.get("class", "").startswith("reason-")]
        self.assertEqual([a["class"] for a in rects[:5]], ["reason-issued", "reason-scoreboard", "reason-structural_lsu", "reason-memory",
                                                           "reason-idle"])

    def test_source_lines_and_code(self):
        found = self.page("a.json", "--listing", "k.lst")
        table = found.tables["slowest-0"]
        self.assertEqual(table[1], ["k.cu:3", "56.7 %", "170", "80", "waits for memory", "y = load(x);"])
        data = found.json["source-data"]
        self.assertEqual(data["files"], [{"name": "k.cu", "lines": [[1, "// first"], [2, "x = a < b;"], [3, "y = load(x);"]]}])
        run = data["runs"][0]
        self.assertEqual(sum(row[2] for row in run["lines"]) + 10, run["cycles"])
        code = run["kernels"][0]["code"]
        self.assertEqual([(c[0], data["strings"][c[1]]) for c in code],
                         [(-1, "B0:"), (-1, "  // from -, to B1"), (0, "op0 R0;  // 10; live none"), (1, "op1 R1;  // 11; live R0"),
                          (2, "exit;  // 12; live none")])
        self.assertEqual([c[4] for c in code[2:]], [120, 80, 0])
        # Without the listing: what the run says of its instructions.
        data = self.page("a.json").json["source-data"]
        self.assertEqual([data["strings"][c[1]] for k in data["runs"][0]["kernels"] for c in k["code"]], ["op0 R0", "op1 R1", "op0 R0"])

    def test_code_of_the_variant_that_ran(self):
        listing = Path("k.lst").read_text()
        Path("variants.lst").write_text(listing + "\n// variant lanes_64, --warp-size 64, for rar, rc\n\n" + listing.replace("op0", "wide0"))
        run = json.loads(Path("a.json").read_text())
        Path("wide.json").write_text(json.dumps({**run, "variant": "lanes_64"}))
        for name, expected in (("a.json", "op0 R0;  // 10; live none"), ("wide.json", "wide0 R0;  // 10; live none")):
            data = self.page(name, "--listing", "variants.lst").json["source-data"]
            code = data["runs"][0]["kernels"][0]["code"]
            self.assertEqual([data["strings"][c[1]] for c in code if c[0] == 0], [expected], name)

    def test_files_elsewhere_and_nowhere(self):
        os.mkdir("elsewhere")
        os.rename("k.cu", "elsewhere/k.cu")
        found = self.page("a.json")
        self.assertIsNone(found.json["source-data"]["files"][0]["lines"])
        self.assertIn("The file k.cu was not found (--sources FOLDER); its lines are shown without text.", found.texts)
        found = self.page("a.json", "--sources", "elsewhere")
        self.assertEqual(len(found.json["source-data"]["files"][0]["lines"]), 3)

    def test_long_files_are_cut_to_what_has_cycles(self):
        self.write("k.cu", "line\n" * 100_000)
        shown = self.page("a.json").json["source-data"]["files"][0]["lines"]
        self.assertEqual([r and r[0] for r in shown], list(range(1, 12)))
        d = json.loads(Path("a.json").read_text().replace("k.cu:2", "k.cu:5000"))
        self.write("a.json", d)
        shown = self.page("a.json").json["source-data"]["files"][0]["lines"]
        self.assertEqual([r and r[0] for r in shown[10:14]], [11, None, 4992, 4993])

    def test_energy(self):
        found = self.page("a.json")
        self.assertEqual(found.tables["energy-rows-0"][1:], [["dram", "3", "60", "2", "1"], ["l2", "2", "40", "2", "0"]])
        text = " ".join(found.texts)
        self.assertIn("Largest consumer: dram, 3.0 uJ of 5.0 uJ (60.0 %).", text)
        self.assertIn("80.0 % rests on values of the basis 'assumed'", text)

    def test_samples(self):
        found = self.page("a.json", "--samples", "a.csv")
        data = found.json["samples-data"][0]
        series = {s["name"]: s for s in data["series"]}
        self.assertEqual(data["cycles"], [60, 120, 150])
        self.assertEqual(series["IPC"]["values"], [40, 40, 20])
        self.assertEqual(series["DRAM bytes"]["values"], [96, 32, 0])
        self.assertEqual((series["total.l1.queue_max"]["values"], series["total.l1.queue_max"]["max"]), ([3, 9, 1], True))
        self.assertNotIn("sm0.l1.queue_max", series)  # the only SM: the same as the total
        self.assertEqual(data["first"], ["IPC", "DRAM bytes"])

    def test_joined_intervals_keep_sums_maxima_and_launches(self):
        dice = random.Random(3)
        counts = [[dice.randint(0, 9) for _ in range(5)] for _ in range(1003)]
        ends = [0 if i < 500 else 1 for i in range(1003)]
        text = "cycle,launch,memory.dram_0.reads,sm0.a.b,sm1.a.b,total.a.b,total.a.c_max\n" + "".join(
            f"{10 * (i + 1)},{ends[i]},{','.join(map(str, c))}\n" for i, c in enumerate(counts))
        self.write("b.csv", text)
        s = samples.read("b.csv", most=100)
        self.assertEqual((s.rows, s.together), (1003, 11))
        self.assertLessEqual(len(s.cycles), 101)
        self.assertEqual(sum(s.columns["memory.dram_0.reads"]), sum(c[0] for c in counts))
        self.assertEqual(sum(s.columns["sm1.a.b"]), sum(c[2] for c in counts))
        self.assertEqual(max(s.columns["total.a.c_max"]), max(c[4] for c in counts))
        self.assertEqual(s.cycles[s.launches.index(1) - 1], 5000)
        self.assertEqual(s.cycles[-1], 10030)
        # Room for one series, so for three candidates: single SMs go first.
        self.assertEqual(list(samples.read("b.csv", most=100, values=100).columns), ["memory.dram_0.reads", "total.a.b", "total.a.c_max"])

    def test_configuration_and_statistics(self):
        found = self.page("a.json")
        knobs = {row[0]: row[1] for row in found.json["knobs-rows"]}
        self.assertEqual(knobs, {"dram.latency": 100})
        rows = {(r[0], r[1]): r[2] for r in found.json["statistics-rows-rows"]}
        self.assertEqual(rows, {("memory.dram_0", n): v for n, v in run_document()["stats"]["memory.dram_0"].items()})

    def test_statistics_of_several_sms_are_summed(self):
        d = run_document()
        d["stats"] = {"sm0.l1": {"reads": 3, "queue_max": 4, "mean": 0.5}, "sm1.l1": {"reads": 5, "queue_max": 2, "mean": 1.5}}
        self.write("a.json", d)
        rows = {(r[0], r[1]): r[2] for r in self.page("a.json").json["statistics-rows-rows"]}
        self.assertEqual((rows["sm*.l1", "reads"], rows["sm*.l1", "queue_max"], rows["sm1.l1", "mean"]), (8, 4, 1.5))
        self.assertNotIn(("sm*.l1", "mean"), rows)

    def test_two_runs(self):
        self.write("b.json", run_document(config={"dram.latency": 300}, scheme="regless"))
        found = self.page("a.json", "b.json")
        self.assertIn("comparison-1", found.ids)
        self.assertIn("b against a", found.texts)
        self.assertEqual(found.tables["comparison-1-1"][1][:3], ["cycles", "150", "150"])
        self.assertEqual([r[0] for r in found.tables["all-runs"]], ["run", "a", "b"])
        parts = [(a["data-run"], "hidden" in a) for _, a in found.tags if a.get("class") == "of-run"]
        self.assertEqual(parts[:2], [("0", False), ("1", True)])
        self.assertEqual(found.json["knobs-rows"][0][:4], ["dram.latency", 100, 300, "runs differ"])

    def test_verdicts_of_three_runs_stand_one_below_another(self):
        for name in "bc":
            self.write(f"{name}.json", run_document(scheme=name))
        found = self.page("a.json", "b.json", "c.json")
        self.assertEqual([a.get("id") for t, a in found.tags if t == "section"][:2], ["summary", "comparison"])
        self.assertIn("c against a", found.texts)
        self.assertEqual([("open" in a) for t, a in found.tags if t == "details"][:2], [False, False])

    def test_without_lines_it_says_how_to_get_them(self):
        d = run_document()
        del d["cpi_lines"]
        self.write("a.json", d)
        found = self.page("a.json")
        self.assertIn("regatta-sim --cpi-lines --stats FILE", found.texts)
        self.assertNotIn("source-data", found.json)

    def test_only_the_libraries_that_are_needed(self):
        small = self.page("a.json") and Path("r.html").read_text()
        with_samples = self.page("a.json", "--samples", "a.csv") and Path("r.html").read_text()
        self.assertNotIn("uPlot", small)
        self.assertIn("var uPlot=", with_samples)
        self.assertIn("Leon Sorokin", with_samples)  # its licence
        self.assertNotIn("vegaLite", with_samples)

    def test_same_bytes_twice(self):
        words = ("a.json", "--samples", "a.csv", "--listing", "k.lst")
        self.page(*words)
        first = Path("r.html").read_bytes()
        self.page(*words)
        self.assertEqual(Path("r.html").read_bytes(), first)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.csv", "a.json", "k.cu", "k.lst", "r.html"])

    def test_hostile_names(self):
        plain = self.page("a.json", "--samples", "a.csv", "--title", "t")
        evil = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"`${x}{{7*7}}"
        d = run_document(kernel=evil, machine=evil, scheme=evil, trace=evil, ending=evil, config={evil: evil, "dram.latency": evil})
        d["stats"] = {evil: {evil: 1}}
        d["energy"]["by_structure"] = {evil: 3000.0, "data-figure=\"vega\"": 2000.0}
        for entry in d["cpi_lines"]:
            entry["kernel"] = evil
            for row in entry["lines"] + entry["instructions"]:
                row["source"] = evil + ":3"
            for row in entry["instructions"]:
                row["text"] = evil
        for la in d["launches"]:
            la["kernel"] = evil
        self.write("a.json", d)
        self.write("a.csv", CSV.replace("total.pipeline", "total." + evil.replace(",", "")))
        found = self.page("a.json", "--samples", "a.csv", "--title", evil)
        count = [sum(tag == "script" for tag, _ in p.tags) for p in (plain, found)]
        self.assertEqual(count[0], count[1])
        self.assertFalse([a for _, a in found.tags if any(k.startswith("on") or k == "src" for k in a)])
        self.assertIn(evil, found.texts)
        self.assertEqual(found.json["statistics-rows-rows"][0][0], evil)

    def test_nothing_is_taken_from_elsewhere(self):
        found = self.page("a.json", "--samples", "a.csv")
        for tag, attributes in found.tags:
            for key in ("src", "href", "action", "data"):
                self.assertRegex(attributes.get(key, "#"), r"\A(#|data:,)", (tag, attributes))
        policy = next(a["content"] for t, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)

    def test_large_runs_are_small_pages(self):
        dice = random.Random(5)
        launches = [launch(f"kernel_{i % 7}", dice.randint(500, 900), memory=dice.randint(0, 400), idle=7) for i in range(3000)]
        d = document(launches, checks={"operands_checked": 1, "mismatches": 0}, config={f"a.b{i}": i for i in range(250)})
        d["stats"] = {f"sm{s}.osu.shard{k}": {f"counter_{i}": dice.randint(0, 10**6) for i in range(60)}
                      for s in range(16) for k in range(20)}
        sources = [f"big.cu:{i}" for i in range(1, 2500)]
        d["cpi_lines"] = [lines(0, "kernel_0", {s: {"issued": 3, "memory": dice.randint(0, 9)} for s in sources}, {})]
        d["cpi_lines"][0]["instructions"] = [{"index": i, "text": f"mad.lo.s32 R{i}, R{i}, R2, R3", "source": sources[i % len(sources)],
                                              "by_reason": {"issued": 2, "memory": i % 9}} for i in range(8000)]
        d["cpi_lines"] += [{**lines(i, la["kernel"], {}, {}), "instructions": []} for i, la in enumerate(launches) if i]
        self.write("a.json", d)
        self.write("big.cu", "  some = source + text; // of a usual length\n" * 2600)
        names = [f"sm{s}.l1.c{k}" for s in range(16) for k in range(30)] + [f"total.l1.c{k}" for k in range(30)]
        row = ",".join(str(dice.randint(0, 999)) for _ in names)
        total = sum(la["cycles"] for la in launches)
        self.write("a.csv", "cycle,launch," + ",".join(names) + "\n" + "".join(
            f"{(i + 1) * total // 4000},{i * 3 // 4},{row}\n" for i in range(4000)))
        start = time.process_time()
        self.page("a.json", "--samples", "a.csv")
        self.assertLess(time.process_time() - start, 10)
        self.assertLess(os.path.getsize("r.html"), page.MOST_BYTES)

    def test_too_large_is_refused_and_leaves_no_file(self):
        found = page.Section("x", "The large one", "statistics.html.j2",
                             {"columns": ["a", "b"], "rows": [["y" * 6_000_000, 1]], "notes": []})
        with self.assertRaisesRegex(page.InputError, r"'r.html': found a page of 6.0 MB, expected at most 5 MB.*'The large one'"):
            page.write_page("r.html", "t", [found])
        self.assertFalse(Path("r.html").exists())

    def test_to_the_terminal(self):
        status, out, _ = self.report("a.json", "--out", "-")
        self.assertEqual(status, 0)
        Page(out)
        self.assertFalse(Path("-").exists())


class RefusedTest(ReportTest):
    def test_what_is_refused(self):
        self.write("text.json", "{\n  cycles")
        self.write("b.csv", CSV.replace("cycle,launch", "time,launch"))
        self.write("c.csv", CSV.replace("120,1,0,", "120,1,x,"))
        self.write("d.csv", CSV + "160,1,0\n")
        self.write("e.csv", CSV.replace("120,1", "60,1"))
        self.write("f.csv", CSV.split("\n")[0] + "\n")
        self.write("g.csv", CSV.replace("\n150,1", "\n151,1"))
        self.write("b.lst", "no kernel\n")
        self.write("c.lst", LISTING.replace("kernel k ", "kernel other "))
        cases = {
            (): "found no run, expected one or more files of regatta-sim --stats",
            ("no.json",): "no.json: cannot be read: No such file or directory",
            ("text.json",): "text.json:2:3: found no JSON there",
            ("a.json", "--out", "a.json"): "--out and a run name the same file 'a.json'",
            ("a.json", "--samples", "a.csv", "--out", "a.csv"): "--out and --samples name the same file 'a.csv'",
            ("a.json", "--samples", "a.csv", "--samples", "a.csv"): "--samples: found 2 files for 1 run, expected at most one for each",
            ("a.json", "--samples", "no.csv"): "no.csv: cannot be read: No such file or directory",
            ("a.json", "--samples", "b.csv"): "b.csv:1: found 'time,launch', expected cycle, launch",
            ("a.json", "--samples", "c.csv"): "c.csv:3: memory.dram_0.bytes_read: found 'x', expected a whole number",
            ("a.json", "--samples", "d.csv"): "d.csv:5: found 3 columns, expected 8",
            ("a.json", "--samples", "e.csv"): "e.csv:3: cycle: found 60, expected more than 60",
            ("a.json", "--samples", "f.csv"): "f.csv: found no rows",
            ("a.json", "--samples", "g.csv"): "g.csv: found 151 as its last cycle, expected 150, the cycles of a",
            ("a.json", "--listing", "b.lst"): "b.lst:1: found 'no kernel', expected '// kernel NAME from FILE'",
            ("a.json", "--listing", "c.lst"): "c.lst: found code of other, expected code of k, l, which the runs ran",
            ("a.json", "--sources", "none"): "--sources: found no folder 'none'",
            ("a.json", "--bin", "none"): "--bin: found no program 'regatta-sim' in 'none'",
            ("a.json", "--out", "no/r.html"): "cannot write 'no/r.html': No such file or directory",
        }
        for words, message in cases.items():
            with self.subTest(words):
                status, out, err = self.report(*words, *([] if "--out" in words else ["--out", "r.html"]))
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err.startswith("regatta-report: " + message), err)
                self.assertFalse(Path("r.html").exists())

    def test_damaged_statistics(self):
        def damaged(change):
            d = run_document()
            change(d)
            self.write("b.json", d)
            return self.report("b.json", "--out", "r.html")

        def entry(d):
            return d["cpi_lines"][0]
        cases = (
            (lambda d: d["launches"][1].pop("cycles"), "launches[1].cycles: found nothing, expected a whole number"),
            (lambda d: d["launches"].append(7), "launches[2]: found 7, expected an object"),
            (lambda d: d["launches"][0]["stall_cycles"].update(memory=-1), "launches[0].stall_cycles.memory: found -1, expected a whole "
                                                                           "number of at least 0"),
            (lambda d: d["energy"].pop("total_nj"), "energy.total_nj: found nothing, expected a number"),
            (lambda d: d["energy"]["by_structure"].update(l2="x"), "energy.by_structure.l2: found 'x', expected a number"),
            (lambda d: d["checks"].update(mismatches=True), "checks.mismatches: found True, expected a whole number"),
            (lambda d: d["stats"].update(m=[1]), "stats.m: found a list, expected an object"),
            (lambda d: entry(d)["lines"][0].pop("source"), "cpi_lines[0].lines[0].source: found nothing, expected a text"),
            (lambda d: entry(d)["instructions"][1].update(by_reason=3),
             "cpi_lines[0].instructions[1].by_reason: found 3, expected an object"),
            (lambda d: d.update(cpi_lines={}), "cpi_lines: found an object, expected a list"),
            (lambda d: d.update(cycles=0), "found 0 cycles"),
        )
        for change, message in cases:
            with self.subTest(message):
                status, _, err = damaged(change)
                self.assertEqual(status, 2, err)
                self.assertTrue(err.startswith(f"regatta-report: b.json: {message}"), err)

    def test_a_missing_jinja_is_named(self):
        code = ("import sys; sys.modules['jinja2'] = None; from regatta.commands.report import main; "
                "sys.exit(main(['a.json', '--out', 'r.html']))")
        done = subprocess.run([shutil.which("python3", path="/usr/bin") or "python3", "-B", "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("python3-jinja2", done.stderr)


class PartsTest(unittest.TestCase):
    def test_names_of_runs(self):
        for paths, names in ((["x/a.json"], ["a"]), (["x/a.json", "y/a.json"], ["x/a", "y/a"]), (["a.json", "a.json"], ["a (1)", "a (2)"]),
                             (["p/x/a.json", "q/x/a.json", "b"], ["p/x/a", "q/x/a", "b"])):
            self.assertEqual(short_names(paths), names)

    def test_places(self):
        for source, place in (("/x/k.cu:12", ("/x/k.cu", 12)), ("C:k.cu", ("C:k.cu", 0)), ("a:1:2", ("a:1", 2)), ("", ("", 0))):
            self.assertEqual(split(source), place)

    def test_what_regatta_sim_says(self):
        config = '# Written by x\n[run]\nsms = 1\n\n[sm]\nwarps = 64  # warps, of the machine\nscheduler = "g#t\\"o"  # of the paper\n' \
            'on = true\n[a.b]\nx = -0.5  # MHz\n'
        self.assertEqual(meanings.read_config(config), {"sm.warps": (64, "warps"), "sm.scheduler": ('g#t"o', ""), "sm.on": (True, ""),
                                                     "a.b.x": (-0.5, "MHz")})
        text = "dram:\n  --dram.queue entries            requests that a channel\n" + " " * 34 + "holds [1 to 2]\n  --dram.latency N\n" + \
            " " * 34 + "cycles\n\nother\n"
        self.assertEqual(meanings.read_help(text), {"dram.queue": "requests that a channel holds [1 to 2]", "dram.latency": "cycles"})
        text = "statistic       unit      meaning\n" + "-" * 40 + "\nsm0.l1.reads    accesses  that hit  or miss\n"
        self.assertEqual(meanings.read_statistics(text), {"sm.l1.reads": ("accesses", "that hit  or miss")})
        self.assertEqual(meanings.plain("sm12.osu.shard3.bank1.c2d_x1"), "sm.osu.shard.bank.c2d_x1")


@unittest.skipUnless(JINJA and os.environ.get("REGATTA_BIN") and os.path.exists(os.path.join(os.environ["REGATTA_BIN"], "regatta-sim")) and
                     os.path.exists(os.path.join(os.environ["REGATTA_BIN"], "regatta-annotate")), "regatta's tools are not built")
class RealRunTest(unittest.TestCase):
    """The programs, as they are installed: REGATTA_BIN is where they are."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        real_run(cls.folder, "spmv", ["--sms", "2", "--dram.latency", "200"])

    def test_page_of_a_run(self):
        done = program("regatta-report", "k.json", "--samples", "k.csv", "--listing", "k.lst", "--trace", "k.rgt", "--out", "r.html",
                       folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = Page((self.folder / "r.html").read_text())
        stats = json.loads((self.folder / "k.json").read_text())
        text = " ".join(found.texts)
        # Knobs: what was given on the command line differs from the preset, nothing else does.
        self.assertEqual(found.tables["changed-0"][1:], [["dram.latency", "200", "350", "cycles"]])
        self.assertTrue(all(row[-1] for row in found.json["knobs-rows"]), "a knob without a meaning")
        # Every statistic is there, and has a meaning.
        rows = {(r[0], r[1]): r for r in found.json["statistics-rows-rows"]}
        for module, group in stats["stats"].items():
            for name, value in group.items():
                self.assertEqual(rows[module, name][2], value)
        self.assertEqual([k for k, r in rows.items() if not r[-1]], [])
        # Counters over time add up to the statistics.
        series = {s["name"]: s["values"] for s in found.json["samples-data"][0]["series"]}
        self.assertEqual(sum(series["IPC"]), stats["warp_instructions"])
        self.assertEqual(sum(series["DRAM bytes"]),
                         sum(g["bytes_read"] + g["bytes_written"] for m, g in stats["stats"].items() if ".dram_" in m))
        self.assertEqual(sum(series["resident warps"]), sum(stats["stats"][f"sm{i}.pipeline"]["resident_warp_cycles"] for i in range(2)))
        # Lines: with those without an instruction, all scheduler-cycles.
        run = found.json["source-data"]["runs"][0]
        none = sum(sum(e["no_instruction"].values()) for e in stats["cpi_lines"])
        self.assertEqual(sum(row[2] for row in run["lines"]) + none, run["cycles"])
        self.assertTrue(all(f["lines"] for f in found.json["source-data"]["files"]))
        self.assertIn("B0:", found.json["source-data"]["strings"])
        self.assertIn("spmv_build", {row[1] for row in found.json["cpi-launches-0-rows"]})
        self.assertIn("grid", found.tables["trace-launches"][0])
        self.assertIn("Conservation laws: all hold.", text)

    def test_a_trace_that_is_none(self):
        (self.folder / "bad.rgt").write_text("no trace")
        done = program("regatta-report", "k.json", "--trace", "bad.rgt", "--out", "x.html", folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("bad.rgt", done.stderr)
        self.assertFalse((self.folder / "x.html").exists())

    def test_a_trace_of_another_program(self):
        launch = os.path.join(os.environ["REGATTA_KERNELS"], "vector_add", "launch.small.toml")
        program("regatta-annotate", "--launch", launch, "--out", "other.rgt", folder=self.folder)
        done = program("regatta-report", "k.json", "--trace", "other.rgt", "--out", "x.html", folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("other.rgt: found the trace of vector_add, expected that of spmv", done.stderr)
        self.assertFalse((self.folder / "x.html").exists())

    def test_help(self):
        self.assertIn("regatta-report k.json", program("regatta-report", "--help", folder=self.folder).stdout)


def program(name, *words, folder):
    return subprocess.run([os.path.join(os.environ["REGATTA_BIN"], name), *words], cwd=folder, capture_output=True, text=True)


def real_run(folder, kernel, options):
    """k.rgt, k.lst, k.json, k.csv of a kernel of traces/kernels, in the folder."""
    path = os.path.join(os.environ["REGATTA_KERNELS"], kernel, "launch.small.toml")
    for words in (["regatta-annotate", "--launch", path, "--out", "k.rgt", "--listing", "k.lst"],
                  ["regatta-sim", "k.rgt", "--cpi-lines", "--stats", "k.json", "--sample", "500", "--sample-file", "k.csv", *options]):
        done = program(*words, folder=folder)
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    unittest.main()
