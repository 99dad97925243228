# SPDX-License-Identifier: Apache-2.0
"""regatta-study: the points of a study file, its mistakes, and its parts."""

import random
import subprocess
import unittest
from dataclasses import replace
from pathlib import Path

from regatta.statistics import InputError
from regatta.studies import file, points, slurm
from regatta.studies.campaign import Simulation, Trace
from regatta.studies.cluster import groups
from regatta.studies.plan import reseeded

from . import fake_study
from .fake_study import FolderTest

TRACE = '[[programs]]\ntrace = "a.rgt"\n'


class PointsTest(FolderTest):
    def test_grid_in_the_order_of_the_file(self):
        found = self.points('schemes = ["x", "y"]\nmachines = ["m", "n"]\n' + TRACE + "[knobs]\nk.a = [1, 2]\n\"k.b\" = [true, 'z']\n")
        self.assertEqual(len(found), 16)
        self.assertEqual([(p.machine, p.scheme) for p in found[::4]], [("m", "x"), ("m", "y"), ("n", "x"), ("n", "y")])
        self.assertEqual([dict(p.knobs) for p in found[:3]],
                         [{"k.a": 1, "k.b": True}, {"k.a": 1, "k.b": "z"}, {"k.a": 2, "k.b": True}])

    def test_steps(self):
        self.assertEqual([k["a"] for k in self.knobs(TRACE + "[knobs]\na = {from = 64, to = 512, steps = 4, scale = 'log'}")],
                         [64, 128, 256, 512])
        self.assertEqual([k["a"] for k in self.knobs(TRACE + "[knobs]\na = {from = 0.1, to = 0.4, steps = 4}")],
                         [0.1, 0.2, 0.3, 0.4])
        self.assertEqual([k["a"] for k in self.knobs(TRACE + "[knobs]\na = {from = 32, to = 128, steps = 9, multiple_of = 32}")],
                         [32, 64, 96, 128])

    def test_conditions(self):
        text = 'schemes = ["x", "y"]\n' + TRACE + '[knobs]\na = {values = [1, 2], only = {scheme = "x"}}\n' \
            "b = {values = [8, 9], only = {a = [2]}}\n"
        self.assertEqual(self.knobs(text), [{"a": 1}, {"a": 2, "b": 8}, {"a": 2, "b": 9}, {}])

    def test_explicit_points(self):
        text = 'schemes = ["x", "y"]\n' + TRACE + '[[points]]\nscheme = "y"\nk.a = 3\n[[points]]\n"k.a" = 3\n'
        found = self.points(text)
        self.assertEqual([(p.scheme, dict(p.knobs)) for p in found], [("y", {"k.a": 3}), ("x", {"k.a": 3})])
        both = self.points(text + "[knobs]\nk.a = [1, 3]\n")
        self.assertEqual([(p.scheme, p.knobs[0][1]) for p in both], [("x", 1), ("x", 3), ("y", 1), ("y", 3)])

    def test_samples(self):
        text = TRACE + "[sample]\ncount = 5\nseed = 4\n[knobs]\na = {from = 1, to = 10, steps = 10}\nb = [1, 2, 3]\n"
        found = self.points(text)
        self.assertEqual(len(set(found)), 5)
        self.assertEqual(found, self.points(text))
        self.assertNotEqual(found, self.points(text.replace("seed = 4", "seed = 5")))
        self.assertEqual(len(self.points(text.replace("count = 5", "count = 30"))), 30)
        with self.assertRaisesRegex(InputError, "sample.count: found 31, expected at most 30, the points of the grid"):
            self.points(text.replace("count = 5", "count = 31"))

    def test_a_sample_of_one_range(self):
        text = TRACE + "[sample]\ncount = 3\n[knobs]\na = {low = 1.0, high = 2.0}\n"
        found = [k["a"] for k in self.knobs(text)]
        self.assertEqual((len(set(found)), all(1 <= a <= 2 for a in found)), (3, True))
        # A range of whole numbers has as many points as values.
        text = TRACE + "[sample]\ncount = 4\n[knobs]\na = {low = 8, high = 32, multiple_of = 8}\n"
        self.assertEqual([k["a"] for k in self.knobs(text)], [8, 16, 24, 32])
        with self.assertRaisesRegex(InputError, "sample.count: found 5, expected at most 4, the points of the grid"):
            self.points(text.replace("count = 4", "count = 5"))

    def test_values_of_different_kinds_are_different_points(self):
        text = TRACE + "[knobs]\na = [1, 1.0, true]\n"
        self.assertEqual([repr(k["a"]) for k in self.knobs(text)], ["1", "1.0", "True"])
        self.assertEqual(len(self.points(text + "[sample]\ncount = 3\n")), 3)

    def test_a_grid_is_counted_before_it_is_made(self):
        """Against grids that are made: as many points as counted, for random conditions."""
        dice = random.Random(3)
        for _ in range(60):
            text, names = 'schemes = ["x", "y"]\nmachines = ["m", "n"]\n' + TRACE + "[knobs]\n", {"scheme": ["x", "y"], "machine": ["m", "n"]}
            for name in "abcde"[:dice.randrange(1, 6)]:
                values = list(range(dice.randrange(1, 4)))
                only = {n: dice.sample(v, dice.randrange(1, len(v) + 1)) for n, v in names.items() if dice.random() < 0.3}
                shown = ", ".join(f"{n} = {v!r}" for n, v in only.items())
                text += f"{name} = {{values = {values}, only = {{{shown}}}}}\n"
                names[name] = values
            study = file.read(self.write(text))
            self.assertEqual(points._size(study), len(list(points._grid(study))), text)

    def test_a_grid_that_is_too_large_is_refused_with_its_number(self):
        thousand = f"{{from = 1, to = 1000, steps = 1000}}"
        for knobs, found in ((f"a = {thousand}\nb = {thousand}\n", r"1,000,000 runs \(1,000,000 points\)"),
                             ("".join(f"k{i} = {thousand}\n" for i in range(8)), r"1,000,000,000,000,000,000,000,000 runs"),
                             (f"a = {thousand}\nb = {{values = [0, 1], only = {{a = 7}}}}\nc = {thousand}\n", r"1,001,000 runs")):
            with self.assertRaisesRegex(InputError, rf"s\.toml: found {found}.*, expected at most 100,000: fewer values, or \[sample\] count = N"):
                self.points(TRACE + "[knobs]\n" + knobs)
        self.write("[study]\nrepetitions = 60000\nseed_knob = 'x'\n" + TRACE + TRACE.replace("a.rgt", "b.rgt"))
        with self.assertRaisesRegex(InputError, r"found 120,000 runs \(2 programs x 60,000 repetitions\), expected at most 100,000"):
            points.points(file.read(self.folder / "s.toml"))

    def test_a_file_with_a_space_in_its_name(self):
        for name, expected in (("a study.toml", "a_study"), ("µ-x.toml", "x"), ("_.toml", "study")):
            self.assertEqual(file.read(self.write(TRACE, name)).name, expected)
        (self.folder / "my trace.rgt").write_text("trace")
        (self.folder / "my launch.toml").write_text('ptx = "k.ptx"\n')
        study = file.read(self.write('[[programs]]\ntrace = "my trace.rgt"\n[[programs]]\nlaunch = "my launch.toml"\n'))
        self.assertEqual([p.name for p in study.programs], ["my_trace", "my_launch"])

    def test_ranges_are_drawn(self):
        text = TRACE + "[sample]\ncount = 400\n[knobs]\na = {low = 64, high = 4096, multiple_of = 64}\n" \
            'b = {low = 0.001, high = 1.0, scale = "log"}\n'
        found = self.knobs(text)
        self.assertTrue(all(k["a"] % 64 == 0 and 64 <= k["a"] <= 4096 and 0.001 <= k["b"] <= 1 for k in found))
        self.assertTrue(160 < sum(k["b"] < 0.0316 for k in found) < 240)  # half of them, on a logarithmic scale

    def test_suite(self):
        study = file.read(self.write('[[programs]]\nsuite = "finereg"\nkernels = ["atax", "bicg"]\nsmall = true\nannotate = ["--rfv"]\n'))
        self.assertEqual([p.name for p in study.programs], ["atax", "bicg"])
        self.assertEqual(study.programs[0].launch.name, "launch.small.toml")
        self.assertEqual(study.programs[0].annotate, ("--addresses", "32", "--max-registers", "63", "--rfv"))


class NamesTest(FolderTest):
    NAMES = {"schemes": ["baseline", "regless", "greener"], "machines": ["gtx980", "k20x"]}

    def test_names_are_checked_before_the_conditions_of_knobs(self):
        """Otherwise the right name in the condition would be blamed."""
        knobs = '[knobs]\n"osu.entries" = {values = [1, 2], only = {scheme = "regless"}}\n'
        text = 'schemes = ["baseline", "%s"]\n' + TRACE + knobs
        self.assertEqual(file.read(self.write(text % "regless"), self.NAMES.get).schemes, ("baseline", "regless"))
        self.assertEqual(file.read(self.write('schemes = ["regless+greener"]\n' + TRACE), self.NAMES.get).schemes, ("regless+greener",))
        for written, message in (
                (text % "reglss", "schemes: found \"reglss\"; did you mean 'regless'?"),
                ('schemes = ["regless+grener"]\n' + TRACE, "schemes: found \"grener\"; did you mean 'greener'?"),
                ('schemes = ["zz"]\n' + TRACE, 'schemes: found "zz", expected one of baseline, regless, greener'),
                ('machines = ["gtx90"]\n' + TRACE, "machines: found \"gtx90\"; did you mean 'gtx980'?"),
                (TRACE + '[[points]]\nscheme = "basline"\n', "[[points]] 1.scheme: found \"basline\"; did you mean 'baseline'?"),
                ((text % "regless").replace('{scheme = "regless"', '{scheme = "reglss"'),
                 "knobs.osu.entries.only.scheme: found \"reglss\"; did you mean 'regless'?")):
            with self.assertRaises(InputError) as refused:
                file.read(self.write(written), self.NAMES.get)
            self.assertEqual(str(refused.exception), f"{self.folder / 's.toml'}: {message}")
        # Of a simulator that lists nothing, names are not known.
        file.read(self.write('schemes = ["mine"]\n' + TRACE), lambda kind: [])


class MistakesTest(FolderTest):
    CASES = (
        ("a = ,", r"s\.toml: found no TOML: Invalid value \(at line 1, column 5\)"),
        ("nonsense = 1", r"s\.toml: nonsense: found an unknown key, expected one of study, programs"),
        ('[nobs]\n"k.a" = [1]\n' + TRACE, r"s\.toml: nobs: found an unknown table; did you mean 'knobs'\?\Z"),
        ('[[program]]\ntrace = "a.rgt"', r"s\.toml: program: found an unknown table; did you mean 'programs'\?\Z"),
        ('[[programs]]\nsuite = "regless"\nkernels = ["streamclustr"]',
         r"\[\[programs\]\] 1\.kernels: found \"streamclustr\"; did you mean 'streamcluster'\?\Z"),
        ('[[programs]]\nsuite = "regles"', r"\[\[programs\]\] 1\.suite: found \"regles\"; did you mean 'regless'\?\Z"),
        ("", r"programs: found nothing, expected \[\[programs\]\] tables"),
        ("programs = 3", r"programs: found 3, expected \[\[programs\]\] tables"),
        ("[[programs]]\n", r"\[\[programs\]\] 1: found none of them, expected one of trace, launch and suite"),
        ('[[programs]]\ntrace = "a.rgt"\nlaunch = "launch.toml"', r"\[\[programs\]\] 1: found trace and launch, expected one of"),
        ('[[programs]]\ntrace = "c.rgt"', r"\[\[programs\]\] 1\.trace: found no file '.*/c\.rgt', expected a trace"),
        ('[[programs]]\ntrace = "a.rgt"\nsmall = true', r"\[\[programs\]\] 1\.small: found an unknown key, expected one of trace, name"),
        ('[[programs]]\ntrace = "a.rgt"\nname = "a b"', r'\[\[programs\]\] 1\.name: found "a b", expected letters, digits'),
        ('[[programs]]\nlaunch = "launch.toml"\nannotate = ["--out", "x"]', r"annotate: found --out, expected options that do not name"),
        (TRACE + TRACE, r"programs: found two programs named 'a', expected different names"),
        ('[[programs]]\nsuite = "nosuch"', r'\[\[programs\]\] 1\.suite: found "nosuch", expected one of aging, finereg'),
        ('[[programs]]\nsuite = "wir"\nkernels = ["nosuch"]', r'kernels: found "nosuch", expected some of '),
        ("schemes = []\n" + TRACE, r"schemes: found \[\], expected a list of texts"),
        ('schemes = ["x", "x"]\n' + TRACE, r'schemes: found "x" twice, expected each value once'),
        ('machines = ["./m.toml"]\n' + TRACE, r"machines: found no file '.*m\.toml', expected a preset or a machine file"),
        (TRACE + 'schemes = ["x"]', r"\[\[programs\]\] 1\.schemes: found a key of the study, expected schemes at the top of the file"),
        ('schemes = ["x"]\n[study]\nschemes = ["x"]\n' + TRACE, r"schemes: found schemes and study\.schemes, expected one of them"),
        ("[study]\nseeds = 1\n" + TRACE, r"study\.seeds: found an unknown key"),
        ("[study]\nrepetitions = 0\n" + TRACE, r"study\.repetitions: found 0, expected a whole number of at least 1"),
        ("[study]\nrepetitions = 2\n" + TRACE, r"study\.repetitions: found 2, but program 'a' is a trace, expected 1, launch files"),
        ('[study]\nname = "../x"\n' + TRACE, r'study\.name: found "\.\./x", expected letters'),
        ("[study]\nkeep_traces = 1\n" + TRACE, r"study\.keep_traces: found 1, expected true or false"),
        ("[study]\nregisters = [32]\n" + TRACE, r"study\.registers: found budgets, but program 'a' is a trace, expected launch files"),
        ("[study]\nregisters = []\n" + TRACE, r"study\.registers: found \[\], expected a list of numbers from 16 to 255, and of texts like"),
        ('[[programs]]\ntrace = "a.rgt"\nregisters = [32]', r"\[\[programs\]\] 1\.registers: found an unknown key, expected one of trace, name"),
        ('[[programs]]\nlaunch = "launch.toml"\nregisters = [8]', r"\[\[programs\]\] 1\.registers: found 8, expected a list of numbers"),
        ('[[programs]]\nlaunch = "launch.toml"\nregisters = [32, "32"]', r'registers: found "32" twice, expected each value once'),
        ('[[programs]]\nlaunch = "launch.toml"\nregisters = ["24,"]', r'registers: found "24,", expected a list of numbers'),
        ('[[programs]]\nlaunch = "launch.toml"\nregisters = [32]\nannotate = ["--registers", 40]',
         r"\[\[programs\]\] 1\.annotate: found --registers, expected registers = \[\.\.\.\] to say it"),
        (TRACE + "[knobs]\na = 3", r"knobs\.a: found 3, expected a list of values, \{from, to, steps\} or \{low, high\}"),
        (TRACE + "[knobs]\na = []", r"knobs\.a\.values: found \[\], expected a list of numbers"),
        (TRACE + "[knobs]\na = [1, 1]", r"knobs\.a\.values: found 1 twice"),
        (TRACE + "[knobs]\na = {from = 1, to = 2}", r"knobs\.a\.steps: found nothing, expected a number of values of at least 2"),
        (TRACE + "[knobs]\na = {from = 1, steps = 2}", r"knobs\.a\.to: found nothing, expected a number"),
        (TRACE + "[knobs]\na = {from = 3, to = 2, steps = 2}", r"knobs\.a\.to: found 2, expected more than from = 3"),
        (TRACE + "[knobs]\na = {from = 0, to = 2, steps = 2, scale = 'log'}", r"knobs\.a\.from: found 0, expected a number above 0"),
        (TRACE + "[knobs]\na = {from = 0, to = 2, steps = 2, scale = 'x'}", r'knobs\.a\.scale: found "x", expected "linear" or "log"'),
        (TRACE + "[knobs]\na = {from = 1, to = 8, steps = 2, multiple_of = 4}", r"multiple_of: found 4, expected a number that divides from"),
        (TRACE + "[knobs]\na = {low = 1, high = 2}", r"knobs\.a: found a range \(low, high\), expected a list or from, to, steps; or \[sample\]"),
        (TRACE + '[knobs]\na = {values = [1], only = {b = 2}}', r"knobs\.a\.only\.b: found an unknown name, expected scheme, machine, or a knob above"),
        (TRACE + '[knobs]\na = {values = [1], only = {scheme = "x"}}', r'knobs\.a\.only\.scheme: found "x", expected one of "baseline"'),
        (TRACE + "[knobs]\nscheme = ['x']", r"knobs\.scheme: found a knob, expected schemes = \[\.\.\.\]"),
        (TRACE + "[sample]\nseed = 1\n[knobs]\na = [1]", r"sample\.count: found nothing, expected a number of points"),
        (TRACE + "[sample]\ncount = 1", r"sample: found a sample without knobs, expected \[knobs\]"),
        (TRACE + "[[points]]\na = [1]", r"\[\[points\]\] 1\.a: found \[1\], expected a number, a text"),
        ("options = ['--stats', 'x']\n" + TRACE, r"options: found --stats, expected \[results\] statistics"),
        ("options = ['--scheme=x']\n" + TRACE, r"options: found --scheme, expected schemes to say it"),
        ("options = ['--vcd', 'x']\n" + TRACE, r"options: found --vcd, expected options that write no file"),
        ("options = ['--timeline=x']\n" + TRACE, r"options: found --timeline, expected options that write no file"),
        (TRACE + "[results]\nstatistics = 'some'", r'results\.statistics: found "some", expected a list of texts'),
        (TRACE + "[slurm]\nqueue = 'x'", r"slurm\.queue: found an unknown key, expected one of partition, account, time"),
    )

    # Of the kinds of mistakes that no person makes, but a program that writes study files.
    STRANGE = (
        ("a = " + "[" * 10_000, r"s\.toml: found tables or lists nested too deep, expected up to 64 levels"),
        (f"a = {'[' * 70}{']' * 70}", "nested too deep"), ("a." * 10_000 + "a = 1", "nested too deep"), ("a = " + "9" * 5000, "found no TOML"),
        ("\0", "found no TOML"), ("[knobs]\n" + "".join(f"k{i} = [1]\n" for i in range(300)) + TRACE, r"knobs: found more than 200 knobs"),
        ("study = 1\n" + TRACE, r"study: found 1, expected a table"), ("programs = [1]", r"\[\[programs\]\] 1: found 1, expected a table"),
        ("programs = {a = 1}", r"programs: found a table, expected \[\[programs\]\] tables"),
        ("[[programs]]\ntrace = 2020-01-01", r"\[\[programs\]\] 1\.trace: found 2020-01-01, expected a text"),
        ('schemes = ["\\u0000"]\n' + TRACE, r"schemes: found a text with a zero byte or half a character, expected one without"),
        (f"[study]\nseed = {2 ** 63 - 1}\n" + TRACE, r"study\.seed: found 9223372036854775807, expected a whole number of at most"),
        ("[study]\nrepetitions = 1000000000\nseed_knob = 'x'\n" + TRACE, r"study\.repetitions: found 1000000000, expected a whole number of at most 100,000"),
        (TRACE + "[knobs]\na = [nan]", r"knobs\.a\.values: found nan, expected a finite number"),
        (TRACE + f"[knobs]\na = [0x{'f' * 5000}]", r"knobs\.a\.values: found 0xf+\.\.\., expected a finite number"),
        (TRACE + "[knobs]\na = [[1]]", r"knobs\.a\.values: found \[\[1\]\], expected a list of numbers"),
        (TRACE + "[knobs]\na = {from = 1, to = 2, steps = 1000000000}", r"knobs\.a\.steps: found 1000000000, expected a whole number of at most 100,000"),
        (TRACE + "[knobs]\na = {from = 0, to = 1e300, steps = 2}", r"knobs\.a\.to: found 1e\+300, expected a number, up to 9\.2e\+18"),
        (TRACE + "[knobs]\na.b = [1]\n'a.b' = [2]", r"knobs\.a\.b: found this knob twice, expected each knob once"),
        (TRACE + "[[points]]\na.b = 1\n'a.b' = 2", r"\[\[points\]\] 1\.a\.b: found this knob twice"),
        (TRACE + "[knobs]\nstats = ['x']", r"knobs: found --stats, expected \[results\] statistics to say it"),
        (TRACE + "[[points]]\nvcd = 'x'", r"\[\[points\]\] 1: found --vcd, expected options that write no file"),
        (TRACE + "[sample]\ncount = 1000000\n[knobs]\na = {low = 0.0, high = 1.0}", r"sample\.count: found 1000000, expected a whole number of at most 100,000"),
        ('[[programs]]\nsuite = "t/s/x.toml"', r"t/s/x\.toml: \[\[program\]\] 1: found 3, expected a table"),
        ('[[programs]]\nsuite = "t/s/y.toml"', r"machines/m\.toml: machine\.base: found more than 8 machines, each based on the next"),
    )

    def test_strange_ones_are_named_too(self):
        (self.folder / "t" / "s").mkdir(parents=True)
        (self.folder / "platform" / "machines").mkdir(parents=True)
        (self.folder / "t" / "s" / "x.toml").write_text('machine = "m"\nprogram = [3]\n')
        (self.folder / "t" / "s" / "y.toml").write_text('machine = "m"\n[[program]]\nkernel = "k"\n')
        (self.folder / "platform" / "machines" / "m.toml").write_text('[machine]\nbase = "m"\n')
        for text, expected in self.STRANGE:
            with self.subTest(text[:60]), self.assertRaisesRegex(InputError, expected):
                self.points(text)

    def test_each_is_named(self):
        for text, expected in self.CASES:
            with self.subTest(text), self.assertRaisesRegex(InputError, expected):
                self.points(text)

    def test_status_2(self):
        bin_folder = fake_study.make(self.folder / "bin")
        self.write("a = ")
        for arguments, expected in (
                (["run", "s.toml"], "found no TOML"), (["run", "none.toml"], "none.toml: cannot be read: No such file"),
                (["run", "s.toml", "--jobs", "0"], "--jobs: found 0, expected 1 or more"),
                (["show", "s.toml", "--rows", "0"], "--rows: found 0, expected 1 or more")):
            done = fake_study.study(arguments + ["--bin", str(bin_folder)] * (arguments[0] == "run"), self.folder)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("regatta-study: ", done.stderr)
            self.assertIn(expected, done.stderr)
        self.write(TRACE)
        done = fake_study.study(["run", "s.toml", "--bin", "nowhere"], self.folder)
        self.assertEqual((done.returncode, done.stderr.count("found no program 'regatta-sim' in 'nowhere'")), (2, 1), done)
        done = fake_study.study(["show", "s.toml"], self.folder)
        self.assertEqual((done.returncode, done.stderr.count("there are no results yet")), (2, 1), done)
        done = fake_study.study(["run", "s.toml", "--bin", "bin", "--slurm", "--snakemake", "nosuch"], self.folder)
        self.assertEqual((done.returncode, done.stderr.count("found no program 'nosuch', expected Snakemake")), (2, 1), done)


class PartsTest(FolderTest):
    def run_of(self, number):
        return Simulation(id=number, key=f"key{number}", program="p", arguments=(), trace=None)

    def test_groups(self):
        """Of jobs on a cluster."""
        runs = [self.run_of(i) for i in range(1000)]
        short = groups(runs, {r.id: 0.5 for r in runs}, 2, 0)
        self.assertEqual([len(g) for g in short], [40] * 25)  # 20 s: it is worth being queued
        self.assertEqual([r for g in short for r in g], runs)
        many = groups(runs, {r.id: 2.0 for r in runs}, 2, 0)
        self.assertEqual([len(g) for g in many], [32] * 31 + [8])  # 16 jobs for each of two at a time
        long = groups(runs, {r.id: 200.0 for r in runs}, 2, 0)
        self.assertEqual({len(g) for g in long}, {1})  # 300 s
        self.assertEqual([len(g) for g in groups(runs[:100], {r.id: 200.0 for r in runs}, 2, 30)], [30, 30, 30, 10])

    def test_groups_of_different_traces(self):
        traces = [Trace(f"key{i}", Path(f"{i}.rgt"), Path("launch.toml"), "", ()) for i in range(3)]
        runs = [replace(self.run_of(i), trace=traces[i // 8]) for i in range(24)]
        together, apart = (groups(runs, {r.id: 5.0 for r in runs}, 1, 6, apart=a) for a in (False, True))
        self.assertEqual([len(g) for g in together], [6] * 4)
        self.assertEqual([len(g) for g in apart], [6, 2] * 3)

    def test_a_repeated_launch_file_has_other_seeds(self):
        text = reseeded(self.folder / "launch.toml", 2)
        self.assertIn("seed = 7", text)
        self.assertIn(f'ptx = "{self.folder}/k.ptx"', text)
        (self.folder / "k.toml").write_text('ptx = "k.ptx"\n')
        with self.assertRaisesRegex(InputError, "k.toml: found no 'seed = N', expected one in a launch file that is repeated"):
            reseeded(self.folder / "k.toml", 1)
        (self.folder / "k.toml").write_text("""ptx = ["a.ptx",  # it's seed = 1], file = "no.bin"
  'sub/b.ptx']
[[step]]
steps = [{ fill = "seed = 3", init = "uniform", seed = 4 }, { load = "x", file = "x.bin" }]
""")
        self.assertEqual(reseeded(self.folder / "k.toml", 5), f"""ptx = ["{self.folder}/a.ptx",  # it's seed = 1], file = "no.bin"
  "{self.folder}/sub/b.ptx"]
[[step]]
steps = [{{ fill = "seed = 3", init = "uniform", seed = 9 }}, {{ load = "x", file = "{self.folder}/x.bin" }}]
""")

    def test_slurm_profile(self):
        profile = slurm.write_profile(self.folder, "s", file.Slurm(partition="p", time="1:00:00", extra=("--qos=x y",)))
        text = (profile / "config.yaml").read_text()
        self.assertIn("--partition=p --time=1:00:00 '--qos=x y'", (profile / "submit.sh").read_text())
        self.assertIn(f'cluster: "{profile}/submit.sh"', text)
        self.assertIn(f'cluster-status: "{profile}/status.sh"', text)
        (profile / "jobs" / "12").write_text("0\n")
        (profile / "jobs" / "13").write_text("1\n")

        def told(job):
            return subprocess.run([profile / "status.sh", str(job)], capture_output=True, text=True, check=True,
                                  env={"PATH": f"{self.folder}:/bin:/usr/bin"}).stdout
        self.assertEqual([told(12), told(13)], ["success\n", "failed\n"])
        scontrol = self.folder / "scontrol"
        for state, expected in (("RUNNING", "running"), ("PENDING", "running"), ("COMPLETED", "success"), ("NODE_FAIL", "failed")):
            scontrol.write_text(f"#!/bin/sh\necho JobId=$4 JobName=x JobState={state} Reason=None NodeList=n7 RunTime=00:01:02\n")
            scontrol.chmod(0o755)
            self.assertEqual(told(14), expected + "\n")
        self.assertEqual(slurm.failed_jobs(self.folder), [f"job 14: NODE_FAIL after 00:01:02 on n7 ({profile}/14.log)"])
        for answer, expected in (("Slurmctld(primary) at h is UP", "failed"), ("Slurmctld(primary) at h is DOWN", "running")):
            scontrol.write_text(f'#!/bin/sh\n[ "$1" = ping ] && echo "{answer}"\n')
            self.assertEqual(told(14), expected + "\n")

        # A job that ends with 0 just behind a look at its file.
        for looks in (1, 2):
            cat = self.folder / "cat"
            cat.write_text(f"""#!/bin/sh
                /bin/cat "$@"
                echo >>{self.folder}/looks.{looks}
                [ $(/usr/bin/wc -l <{self.folder}/looks.{looks}) != {looks} ] || echo 0 >{profile}/jobs/{20 + looks}""")
            cat.chmod(0o755)
            self.assertEqual(told(20 + looks), {1: "success\n", 2: "running\n"}[looks])
        # A controller that did not answer once does not make a job fail that it knows.
        scontrol.write_text(f"""#!/bin/sh
            if [ "$1" = ping ]; then echo Slurmctld is UP; exit; fi
            [ -e {self.folder}/asked ] && echo JobId=$4 JobState=RUNNING && exit
            touch {self.folder}/asked
            exit 1""")
        self.assertEqual(told(14), "running\n")


if __name__ == "__main__":
    unittest.main()
