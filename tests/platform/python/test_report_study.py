# SPDX-License-Identifier: Apache-2.0
"""regatta-report --study: a study's tables, what they say together, and figures as specifications of Vega-Lite."""

import contextlib
import io
import json
import math
import random
import re
import sqlite3
import tempfile
import unittest
from pathlib import Path

from regatta.commands import report
from regatta.means import pareto
from regatta.reports import charts, study_data, study_sections
from regatta.reports.chart_tables import Names, pairs, tables
from regatta.reports.study_values import ALL, Values, failures, geometric_mean
from regatta.statistics import InputError
from regatta.studies import results

from . import made_study
from .made_study import grid

try:
    import jinja2
except ImportError:
    jinja2 = None


class StudyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def load(self, runs, patterns=(), seconds=None):
        return study_data.load(made_study.write(self.folder / "s.study", runs, seconds), patterns)

    def values(self, runs):
        return Values(self.load(runs))


class DataTest(StudyTest):
    def test_points_and_dimensions(self):
        runs = list(grid(["a", "b"], 2, ("baseline", "regless"), dram_latency=[300, 100], l1_policy=["lru", "fifo"]))
        for run in runs:
            if run["scheme"] == "regless":
                run["knobs"]["osu.entries"] = 512
            run["knobs"]["sm.warps"] = 48
        study = self.load(runs)
        self.assertEqual((study.name, len(study.points), len(study.runs), study.repetitions), ("s", 8, 32, 2))
        self.assertEqual(study.programs, ["a", "b"])
        found = {d.name: (d.values, d.numeric, d.points, d.varies) for d in study.dimensions}
        self.assertEqual(found["dram.latency"], ((100, 300), True, 8, True))
        self.assertEqual(found["l1.policy"], (("lru", "fifo"), False, 8, True))
        # It belongs to one scheme, and always has the same value there.
        self.assertEqual(found["osu.entries"], ((512,), True, 4, False))
        self.assertEqual((found["sm.warps"][3], found["machine"][3], found["scheme"][3]), (False, False, True))
        self.assertEqual([r.point for r in study.runs[:9]], [0, 1, 2, 3, 4, 5, 6, 7, 0])

    def test_a_knob_that_some_points_set(self):
        study = self.load([{"program": "a", "knobs": k} for k in ({}, {"x.y": 4})])
        self.assertEqual([d.name for d in study.varied], ["x.y"])

    def test_mixed_values_are_texts(self):
        study = self.load([{"program": "a", "knobs": {"x.y": v}} for v in (4, "auto", 2.5)])
        self.assertEqual((study.varied[0].values, study.varied[0].numeric), (("4", "auto", "2.5"), False))
        self.assertEqual([p["x.y"] for p in study.points], ["4", "auto", "2.5"])

    def test_infinite_values_are_texts(self):
        study = self.load([{"program": "a", "knobs": {"x.y": v}, "totals": {"cycles": 5, "ipc": i}}
                           for v, i in ((4, 0.5), (math.inf, math.inf))])
        self.assertEqual((study.varied[0].values, study.varied[0].numeric), (("4", "inf"), False))
        self.assertEqual([r.values for r in study.runs], [{"cycles": 5, "ipc": 0.5}, {"cycles": 5}])

    def test_totals_are_those_of_the_database(self):
        self.assertEqual(sorted(study_data.TOTALS), sorted(results.TOTALS))

    def test_statistics(self):
        names = [("sm0.l1", "misses"), ("sm1.l1", "misses"), ("sm0.l2", "misses"), ("sm0.l1", "same"), ("stall_cycles", "idle")]
        runs = [{"program": "a", "knobs": {"x.y": i}, "totals": {"cycles": 10 + i},
                 "statistics": {n: (5 if n[1] == "same" else 3 * i + at) for at, n in enumerate(names)}} for i in range(3)]
        study = self.load(runs)
        self.assertEqual([r.key for r in study.results], ["cycles", "sm*.l1.misses", "sm*.l2.misses", "stall_cycles.idle"])
        self.assertEqual([r.values["sm*.l1.misses"] for r in study.runs], [1, 7, 13])
        self.assertEqual(study.left_out, 1)
        self.assertEqual([r.key for r in self.load(runs, ("sm?.l1.sa*",)).results], ["cycles", "sm*.l1.same"])
        with self.assertRaisesRegex(InputError, r"found no statistic 'l9', expected some .*, as sm\*\.l1\.misses"):
            self.load(runs, ("l9",))

    def test_many_statistics_are_cut(self):
        study = self.load([{"program": "a", "knobs": {"x.y": i}, "statistics": {("m", f"s{j:03}"): i + j for j in range(100)}}
                           for i in range(4)])
        self.assertEqual((len(study.results), study.left_out), (study_data.MOST_STATISTICS, 100 - study_data.MOST_STATISTICS))

    def test_energy_times_cycles(self):
        run = self.load([{"program": "a", "totals": {"cycles": 7, "energy_nj": 3.0}}]).runs[0]
        self.assertEqual(run.values[study_data.PRODUCT], 21.0)

    def test_seconds_of_the_host(self):
        study = self.load(list(grid(["a"], x_y=[1, 2])), seconds={2: 1.5})
        self.assertEqual([r.seconds for r in study.runs], [None, 1.5])
        (self.folder / "s.study/host.csv").write_text("run,seconds\n1,zero\n")
        with self.assertRaisesRegex(InputError, r"host\.csv:2: found '1,zero', expected"):
            study_data.load(study.path)

    def test_mistakes(self):
        path = made_study.write(self.folder / "s.study", [])
        for change, expected in ((None, "table 'runs': found no run, expected those of a study"),
                                 ("ALTER TABLE knobs RENAME TO knob", "table 'knobs': found no such table, expected"),
                                 ("ALTER TABLE runs RENAME energy_nj TO e", "table 'runs': found no column 'energy_nj', expected")):
            if change:
                with contextlib.closing(sqlite3.connect(path)) as database:
                    database.execute(change)
            with self.assertRaisesRegex(InputError, f"results.sqlite: {expected}"):
                study_data.load(path)
        path.write_text("no database\n")
        with self.assertRaisesRegex(InputError, "found no SQLite database, expected a study file"):
            study_data.load(path)
        path.write_bytes(b"SQLite format 3\0" + b"x" * 200)
        with self.assertRaisesRegex(InputError, "cannot be read: "):
            study_data.load(path)
        path.unlink()
        with self.assertRaisesRegex(InputError, r"found no such file, expected .*regatta-study run"):
            study_data.load(path.parent)


class ValuesTest(StudyTest):
    def test_repetitions_and_programs_are_one_number(self):
        cycles = {("a", 1): [100, 110], ("a", 2): [50, 60], ("b", 1): [1000, 1200], ("b", 2): [2000, 2100]}
        runs = [{"program": g, "knobs": {"x.y": k}, "repetition": i, "seed": 1 + i, "totals": {"cycles": c}}
                for (g, k), found in cycles.items() for i, c in enumerate(found)]
        values = self.values(runs)
        self.assertEqual(values.groups, [ALL, "a", "b"])
        self.assertEqual(values.spreads("cycles", "a"), {0: (105, 100, 110), 1: (55, 50, 60)})
        mean, least, most = values.spreads("cycles", ALL)[1]
        self.assertAlmostEqual(mean, math.sqrt(55 * 2050))
        self.assertAlmostEqual(least, math.sqrt(50 * 2000))
        self.assertAlmostEqual(most, math.sqrt(60 * 2100))
        self.assertAlmostEqual(values.reference("cycles", ALL), math.sqrt(105 * 1100))
        best = values.best("cycles", ALL)
        self.assertEqual((best.point, best.among, best.equals), (1, 2, 1))
        self.assertAlmostEqual(values.best("cycles", "a").ratio, 55 / 105)

    def test_only_points_of_all_programs_have_a_mean(self):
        runs = list(grid(["a", "b"], x_y=[1, 2, 3]))
        runs[3].update(state="failed", status=3, totals={})  # the first point of b
        values = self.values(runs)
        self.assertEqual((sorted(values.spreads("cycles", ALL)), sorted(values.spreads("cycles", "a"))), ([1, 2], [0, 1, 2]))
        self.assertEqual(values.references, {"a": 1, "b": 1})
        # No point has all programs: each has its own reference.
        for run in (runs[4], runs[5]):
            run.update(knobs={"x.y": run["knobs"]["x.y"] + 5})
        values = self.values(runs)
        self.assertEqual((values.references, values.spreads("cycles", ALL)), ({"a": 0, "b": 3}, {}))
        self.assertIsNone(values.best("cycles", ALL))

    def test_values_of_zero_have_no_geometric_mean(self):
        self.assertIsNone(geometric_mean([0, 4]))
        self.assertIsNone(geometric_mean([]))
        self.assertAlmostEqual(geometric_mean([1, 4]), 2)
        runs = [{"program": g, "knobs": {"x.y": k}, "totals": {"cycles": 5}, "statistics": {("m", "n"): n}}
                for g, k, n in (("a", 1, 0), ("a", 2, 3), ("b", 1, 4), ("b", 2, 5))]
        values = self.values(runs)
        self.assertEqual((sorted(values.spreads("m.n", ALL)), values.reference("m.n", ALL)), ([1], None))

    def test_a_greater_ipc_is_better(self):
        runs = [{"program": "a", "knobs": {"x.y": k}, "totals": {"cycles": c, "ipc": 10 / c, "energy_nj": e}}
                for k, c, e in ((1, 20, 5.0), (2, 10, 9.0), (3, 30, 7.0))]
        values = self.values(runs)
        self.assertEqual((values.best("ipc", "a").point, values.best("cycles", "a").point), (1, 1))
        self.assertEqual((values.front("ipc", "energy_nj", "a"), values.front("cycles", "energy_nj", "a")), ([1, 0], [1, 0]))

    def test_fronts_as_by_brute_force(self):
        dice = random.Random(7)
        for trial in range(300):
            # Few different numbers: many are equal.
            found = [(dice.randint(0, 9), dice.choice([dice.randint(0, 9), 3.5])) for _ in range(dice.randint(0, 40))]
            for more in ((False, False), (True, False), (False, True), (True, True)):
                signed = [tuple(-v if m else v for v, m in zip(pair, more)) for pair in found]

                def beaten(p):
                    return any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in signed)
                expected = {i for i, p in enumerate(signed) if not beaten(p)}
                front = pareto(found, more, equals=True)
                one_each = pareto(found, more)
                self.assertEqual(sorted(signed[i] for i in one_each), sorted({signed[i] for i in expected}))
                self.assertEqual((set(front), len(front)), (expected, len(expected)), (trial, more, found))
                self.assertEqual([signed[i] for i in front], sorted(signed[i] for i in front))

    def test_what_matters(self):
        # Cycles are 100 * 2^x * 1.1^y, and 3 times as many under the other scheme, of which z belongs to one.
        runs = []
        for g in ("a", "b"):
            for scheme in ("p", "q"):
                for x in (0, 1, 2):
                    for y in (0, 1):
                        for z in (0, 5) if scheme == "q" else (None,):
                            cycles = 100.0 * 2 ** x * 1.1 ** y * (3 if scheme == "q" else 1) * (1.5 if z == 5 else 1)
                            runs.append({"program": g, "scheme": scheme, "totals": {"cycles": cycles},
                                         "knobs": {"k.x": x, "k.y": y, **({} if z is None else {"k.z": z})}})
        found = {m.dimension: m for m in self.values(runs).matters("cycles")}
        self.assertEqual(list(found), ["k.x", "scheme", "k.z", "k.y"])
        for name, ratio, matched in (("k.x", 4, 8), ("k.y", 1.1, 12), ("k.z", 1.5, 12), ("scheme", 3 * math.sqrt(1.5), 12)):
            self.assertAlmostEqual(found[name].ratio, ratio)
            # k.x: for each program and y of a scheme; its z is not set in all, and averaged over.
            self.assertEqual(found[name].matched > 0, True, name)
        self.assertEqual((found["k.x"].best, found["k.x"].worst), ("0", "2"))
        # A sample: nothing is matched, ranges of many values are compared.
        dice = random.Random(1)
        sample = [{"program": "a", "knobs": {"k.x": i, "k.y": dice.random()}, "totals": {"cycles": 100 + i}} for i in range(40)]
        found = {m.dimension: m for m in self.values(sample).matters("cycles")}
        self.assertEqual((found["k.x"].matched, found["k.x"].best, found["k.x"].worst, len(found["k.x"].means)),
                         (0, "0 to 9", "30 to 39", 4))
        self.assertLess(found["k.y"].ratio, found["k.x"].ratio)

    def test_failures_and_what_they_have_in_common(self):
        runs = list(grid(["a", "b"], 1, ("p", "q"), x_y=[1, 2]))
        for i, message in ((2, "kernel one: too large"), (6, "kernel two: too large"), (7, "out of memory")):
            runs[i].update(state="failed", status=2, message=message, totals={})
        found = failures(self.load(runs))
        self.assertEqual([(f.message, [r.id for r in f.runs], f.common) for f in found],
                         [("too large", [3, 7], {"scheme": "q", "x.y": "1"}),
                          ("out of memory", [8],
                           {"program": "b", "scheme": "q", "x.y": "2"})])


class FiguresTest(StudyTest):
    RUNS = list(grid(["a", "bb"], 2, ("baseline", "regless"), x_bytes=[1024, 2048, 16384], x_policy=["lru", "fifo"]))

    def names(self, runs):
        return Names(self.values(runs))

    def figures(self, names):
        dimensions = names.dimensions
        return {"curves": charts.curves(names, dimensions[1], dimensions[0]),
                "map": charts.heat_map(names, dimensions[1], dimensions[0]), "front": charts.pareto(names, dimensions[0])}

    def test_tables(self):
        names = self.names(self.RUNS)
        found = tables(names)
        rows = {name: [dict(zip(t["columns"], row)) for row in t["rows"]] for name, t in found.items()}
        values = names.values
        for row in rows["values"]:
            for i, result in enumerate(names.results):
                spread = values.spreads(result.key, row["g"])[row["p"]]
                for column, value in zip((f"r{i}", f"r{i}_lo", f"r{i}_hi"), spread):
                    self.assertAlmostEqual(row[column] / value, 1, 5)
        self.assertEqual(len(rows["values"]), 3 * 12)
        self.assertEqual([row["g"] for row in rows["references"]], [ALL, "a", "bb"])
        self.assertEqual(rows["points"][4], {"p": 4, "d0": "baseline", "d1": 16384, "d2": "lru"})
        keys = {row["key"] for row in rows["fronts"]}
        a, b = pairs(names)[0]
        self.assertEqual((a.key, b.key), ("cycles", "energy_nj"))
        for program in values.groups:
            self.assertEqual(sorted(int(k.rsplit("|", 1)[1]) for k in keys if k.startswith(f"r0|r1|{program}|")),
                             sorted(values.front("cycles", "energy_nj", program)))

    def test_every_choice_gives_a_specification(self):
        names = self.names(self.RUNS)
        columns = {c for t in tables(names).values() for c in t["columns"]}
        for name, figure in self.figures(names).items():
            first = json.dumps(figure.spec)
            for menu in figure.menus:
                for i in range(len(menu.options)):
                    spec = figure.chosen(**{menu.name: i})
                    text = json.dumps(spec, allow_nan=False)
                    # All that is left open is filled in, and columns that are named are there.
                    self.assertNotIn("{}", re.sub(r'"(config|encoding)": {}', "", text), (name, menu.name, i))
                    for column in re.findall(r"\b[dr]\d+\b", text):
                        self.assertIn(column, columns)
            self.assertEqual(json.dumps(figure.spec), first)

    def test_scales(self):
        names = self.names(self.RUNS)
        figure = charts.curves(names, names.dimensions[1], names.dimensions[0])
        x = figure.chosen()["spec"]["layer"][1]["encoding"]["x"]
        self.assertEqual((x["scale"]["type"], x["axis"]["values"], x["title"]), ("log", [1024, 2048, 16384], "x.bytes"))
        policy = next(m for m in figure.menus if m.name == "x").uses.index("x.policy")
        bars = figure.chosen(x=policy)["spec"]
        self.assertEqual((bars["layer"][1]["mark"]["type"], bars["encoding"]["y"]["scale"]), ("bar", {"type": "linear", "zero": True}))
        self.assertEqual(figure.chosen()["spec"]["encoding"]["y"]["scale"], {"type": "linear", "zero": False})
        # Bars do not begin at 0 on a logarithmic axis.
        runs = [{"program": "a", "knobs": {"x.policy": k}, "totals": {"cycles": c}} for k, c in (("p", 10), ("q", 20), ("r", 900))]
        names = self.names(runs)
        y = charts.curves(names, names.dimensions[0], None).chosen()["spec"]["encoding"]["y"]
        self.assertEqual(y["scale"], {"type": "log"})

    def test_a_sample_is_a_cloud(self):
        names = self.names([{"program": "a", "knobs": {"x.y": i, "x.z": i % 3}, "totals": {"cycles": 100 + i}} for i in range(60)])
        figure = charts.curves(names, names.dimensions[0], names.dimensions[1])
        spec = figure.chosen()
        grouped = [t["groupby"] for t in spec["transform"] if "aggregate" in t]
        self.assertEqual(grouped, [["g", "x", "colour", "p"]])
        self.assertEqual(json.dumps(spec["spec"]["layer"][1]).count("loess"), 1)
        # No menu fixes one of 60 values; over x.z, each mark is the best of many again.
        self.assertEqual([m.dimension for m in figure.menus if m.dimension], ["x.z"])
        spec = figure.chosen(x=1)
        self.assertEqual([t["groupby"] for t in spec["transform"] if "aggregate" in t], [["g", "x", "colour"]])

    def test_many_texts_have_bars(self):
        names = self.names([{"program": "a", "knobs": {"x.y": f"v{i}", "x.z": z}, "totals": {"cycles": 100 + i + z}}
                            for i in range(40) for z in (1, 2)])
        figure = charts.curves(names, names.dimensions[0], None)
        spec = figure.chosen()
        self.assertEqual([t["groupby"] for t in spec["transform"] if "aggregate" in t], [["g", "x", "colour"]])
        self.assertEqual(spec["spec"]["layer"][1]["mark"]["type"], "bar")

    def test_repetitions_have_a_band(self):
        names = self.names(self.RUNS)
        band = charts.curves(names, names.dimensions[1], None).chosen()["spec"]["layer"][4]
        self.assertEqual((band["mark"]["type"], band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]), ("area", "lo", "hi"))
        names = self.names(list(grid(["a"], x_y=[1, 2, 3])))
        self.assertEqual(len(charts.curves(names, names.dimensions[0], None).chosen()["spec"]["layer"]), 4)

    def test_first_choices(self):
        study = self.load(self.RUNS)
        x, colour = study_sections.first_choices(study, Values(study).matters("cycles"))
        self.assertEqual((x.name, colour.name), ("x.bytes", "scheme"))

    def test_large_studies_have_fewer_results(self):
        names = self.names(self.RUNS)
        self.assertEqual(names.left_out, 0)
        many = [{"program": g, "knobs": {"x.y": i}, "totals": made_study.cost(g, "s", {"x.y": i})} for g in "abcdefghij"
                for i in range(5000)]
        names = self.names(many)
        rows = tables(names)["values"]["rows"]
        self.assertLessEqual(len(rows), 40_000)
        self.assertEqual(([r.key for r in names.results], names.groups[0]), (["cycles", "energy_nj", "energy_delay"], ALL))


@unittest.skipUnless(jinja2, "python3-jinja2 is not installed (.cmake/setup-packages.sh)")
class PageTest(StudyTest):
    def report(self, *arguments, status=0):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            found = report.main([*map(str, arguments)])
        self.assertEqual(found, status, (out.getvalue(), errors.getvalue()))
        return errors.getvalue() if status else out.getvalue()

    def page(self, runs, *arguments, seconds=None):
        path = made_study.write(self.folder / "s.study", runs, seconds)
        out = self.folder / "out.html"
        self.report("--study", path, "--out", out, *arguments)
        return out.read_text(encoding="utf-8")

    def test_schemes_that_differ_in_more_than_the_scheme(self):
        def runs(*points):
            return [{"program": "p", "scheme": scheme, "knobs": {"rfv.share": 0.5, **knobs} if scheme == "rfv" else knobs,
                     "totals": made_study.cost("p", scheme, knobs)} for scheme, knobs in points]
        owf = {"sm.scheduler": "owf"}
        note = ("All points of rfv differ from those of baseline in more than the scheme (sm.scheduler): a point of baseline with the same "
                "knobs would show what the scheme alone does.")
        self.assertIn(note, self.page(runs(("baseline", {}), ("rfv", owf))))
        for points in ((("baseline", {}), ("rfv", {}), ("rfv", owf)), (("baseline", {}), ("baseline", owf), ("rfv", owf))):
            self.assertNotIn("in more than the scheme", self.page(runs(*points)))

    @staticmethod
    def sections(page):
        return re.findall(r'<section id="([\w-]+)"', page)

    @staticmethod
    def verdict(page, section="study"):
        return re.search(rf'<section id="{section}".*?<p class="verdict">(.*?)</p>', page, re.DOTALL)[1]

    def test_the_best_point_is_said_first(self):
        page = self.page(list(grid(["a", "bb"], 1, ("baseline", "regless"), x_y=[1, 2, 3])), seconds={i: 1.0 for i in range(1, 13)})
        self.assertEqual(self.sections(page), ["study", "study-curves", "study-map", "study-fronts", "study-knobs", "study-points",
                                               "study-runs", "study-hosts"])
        said = self.verdict(page)
        self.assertRegex(said, r"^Best of 6 points by cycles: scheme = baseline, x\.y = 1 \(1\.000 of the reference; geometric mean of 2 "
                               r"programs\)\. By energy: scheme = regless, x\.y = 3 \(0\.6\d\d of the reference\)\.")
        self.assertIn("The front of cycles and energy has 6 points.", said)
        # The schemes are to be compared, so the best of the other one is in sight too.
        self.assertRegex(said, r"The best of regless by cycles: x\.y = 1 \(1\.\d\d\d of the reference\)\.")
        self.assertNotIn("The best of baseline", said)

    def test_a_knob_without_an_effect_is_named(self):
        runs = [{"program": p, "scheme": scheme, "knobs": {"l1.size": size},
                 "totals": made_study.cost(p, scheme, {} if scheme == "baseline" else {"x_y": size})}
                for p in ("a", "bb") for scheme in ("baseline", "regless") for size in (1, 2)]
        said = self.verdict(self.page(runs))
        self.assertIn("1 other point is equally good.", said)
        self.assertIn(" l1.size has no effect on baseline. ", said)
        self.assertNotIn("regless.", said.split("has no effect on")[1].split(". ")[0])

    def test_one_program_one_point_and_only_failures(self):
        page = self.page(list(grid(["a"], x_y=[3, 1])))
        self.assertRegex(self.verdict(page), r"^Best of 2 points by cycles: x\.y = 1 \(1,100 cycles, 0\.846 of the reference\)\.")
        page = self.page(list(grid(["a"])))
        self.assertEqual(self.sections(page), ["study", "study-runs"])
        self.assertRegex(self.verdict(page), r"^The study has one point: 1,000 cycles and 90,000 nJ\.$")
        self.assertNotIn("vegaLite", page)
        page = self.page(list(grid(["a", "bb", "ccc"])))
        self.assertEqual(self.verdict(page), "The study has one point, with results of 3 programs: from 1,000 cycles (a) to 3,000 (ccc).")
        page = self.page([{"program": "a", "state": "failed", "status": 2, "message": "no <b>such</b> thing", "knobs": {"x.y": i}}
                          for i in range(3)])
        self.assertEqual(self.sections(page), ["study", "study-failures", "study-runs"])
        self.assertEqual(self.verdict(page), "None of the study&#39;s runs has finished. 3 of 3 runs failed.")
        self.assertIn("no &lt;b&gt;such&lt;/b&gt; thing", page)

    def test_hostile_names_are_texts(self):
        evil = "</script><script>alert(1)</script>\"'&{{ 7*7 }}"
        page = self.page([{"program": evil, "scheme": s, "machine": evil, "knobs": {evil: v, "x.y": i}, "message": evil,
                           "totals": {"cycles": 10 + i}, "state": "failed" if i == 3 else "finished"}
                          for i, (s, v) in enumerate([("p", evil), (evil, "b"), ("p", "b"), ("q", "c")])])
        self.assertNotIn("<script>alert", page)
        self.assertEqual(page.count("</script><script>"), 0)
        self.assertNotIn("49", self.verdict(page))

    def test_large_studies_fit_in_a_page(self):
        dice = random.Random(2)
        runs = [{"program": g, "scheme": dice.choice("pq"), "knobs": {f"knob.k{k}": dice.choice([i, 5]) for k in range(12)},
                 "totals": {"cycles": dice.randint(1, 10 ** 9), "energy_nj": dice.random(), "ipc": dice.random()},
                 "statistics": {("sm0.l1", f"s{j}"): dice.randint(1, 10 ** 7) for j in range(10)}} for g in "a" for i in range(5000)]
        page = self.page(runs)
        self.assertLess(len(page.encode()), 5_000_000)
        page = self.page(list(grid(list("abcdef"), x_y=range(5000))))
        self.assertLess(len(page.encode()), 5_000_000)
        self.assertRegex(page, r"The table has the first [\d,]+ of 30,000 runs; results\.csv has all of them\.")
        self.assertRegex(page, r"[1-9] further results? of so many runs would be too much for a page")

    def test_the_same_bytes_twice(self):
        runs = list(grid(["a", "bb"], 2, x_y=[1, 2, 3]))
        self.assertEqual(self.page(runs), self.page(runs))

    def test_file_folder_and_database(self):
        path = made_study.write(self.folder / "deep.study", list(grid(["a"], x_y=[1, 2])))
        (self.folder / "a.rgt").write_text("trace")
        (self.folder / "deep.toml").write_text('options = ["--sms", 2]\n[[programs]]\ntrace = "a.rgt"\n[knobs]\nx.y = [1, 2]\n')
        for given in (path, path.parent, self.folder / "deep.toml"):
            out = self.folder / "out.html"
            self.assertRegex(self.report("--study", given, "--out", out), r"sections, \d")
            page = out.read_text()
            self.assertIn("<h1>Study deep</h1>", page)
            self.assertEqual(page.count("Options of all runs: --sms 2."), int(given.suffix == ".toml"))

    def test_mistakes(self):
        path = made_study.write(self.folder / "s.study", list(grid(["a"], x_y=[1, 2])))
        out = self.folder / "out.html"
        for arguments, expected in (
                (["--study", self.folder / "none.toml"], "none.toml: cannot be read"),
                (["--study", self.folder], "found no such file, expected a study's results"),
                (["--study", path, "--statistic", "x"], "found no statistic 'x', expected some of those that the study keeps: none"),
                (["--statistic", "x"], "--study"),
                ([], "found no run")):
            self.assertIn(expected, self.report(*arguments, "--out", out, status=2))
        self.assertIn("--out and the study's results name the same file", self.report("--study", path.parent, "--out", path, status=2))
        self.assertIn("cannot write", self.report("--study", path, "--out", self.folder / "no/out.html", status=2))
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
