# SPDX-License-Identifier: Apache-2.0
"""regatta-study: the points of a study file, its mistakes, and its parts."""

import subprocess
import unittest
from dataclasses import replace
from pathlib import Path

from regatta.statistics import InputError
from regatta.studies import file, slurm
from regatta.studies.campaign import Simulation, Trace
from regatta.studies.groups import groups
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


class MistakesTest(FolderTest):
    CASES = (
        ("a = ,", r"s\.toml: found no TOML: Invalid value \(at line 1, column 5\)"),
        ("nonsense = 1", r"s\.toml: nonsense: found an unknown key, expected one of study, programs"),
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
        done = fake_study.study(["run", "s.toml", "--bin", "bin", "--snakemake", "nosuch"], self.folder)
        self.assertEqual((done.returncode, done.stderr.count("found no program 'nosuch', expected Snakemake")), (2, 1), done)


class PartsTest(FolderTest):
    def run_of(self, number):
        return Simulation(id=number, key=f"key{number}", program="p", arguments=(), trace=None)

    def test_groups(self):
        runs = [self.run_of(i) for i in range(100)]
        short = groups(runs, {r.id: 0.5 for r in runs}, 2, 20.0, 0)
        self.assertEqual([len(g.runs) for g in short], [6] * 16 + [4])  # three seconds
        tiny = groups(runs, {r.id: 0.01 for r in runs}, 2, 20.0, 0)
        self.assertEqual([len(g.runs) for g in tiny], [13] * 7 + [9])  # four jobs for each of two at a time
        long = groups(runs, {r.id: 15.0 for r in runs}, 2, 20.0, 0)
        self.assertEqual({len(g.runs) for g in long}, {1})
        self.assertEqual([len(g.runs) for g in groups(runs, {r.id: 15.0 for r in runs}, 2, 20.0, 30)], [30, 30, 30, 10])
        self.assertEqual([r for g in short for r in g.runs], runs)
        # On a cluster with a hundred jobs at a time, a job is worth being queued all the same.
        queued = groups(runs, {r.id: 0.5 for r in runs}, 100, 300.0, 0, least=20.0)
        self.assertEqual([len(g.runs) for g in queued], [40, 40, 20])

    def test_groups_of_different_traces(self):
        traces = [Trace(f"key{i}", Path(f"{i}.rgt"), Path("launch.toml"), "", ()) for i in range(3)]
        runs = [replace(self.run_of(i), trace=traces[i // 8]) for i in range(24)]
        together, apart = (groups(runs, {r.id: 0.5 for r in runs}, 1, 20.0, 0, apart=a) for a in (False, True))
        self.assertEqual([len(g.runs) for g in together], [6] * 4)
        self.assertEqual([len(g.runs) for g in apart], [6, 2] * 3)

    def test_a_repeated_launch_file_has_other_seeds(self):
        text = reseeded(self.folder / "launch.toml", 2)
        self.assertIn("seed = 7", text)
        self.assertIn(f'ptx = "{self.folder}/k.ptx"', text)
        (self.folder / "k.toml").write_text('ptx = "k.ptx"\n')
        with self.assertRaisesRegex(InputError, "k.toml: found no line 'seed = N', expected one in a launch file that is repeated"):
            reseeded(self.folder / "k.toml", 1)

    def test_slurm_profile(self):
        profile = slurm.write_profile(self.folder, "s", file.Slurm(partition="p", time="1:00:00", extra=("--qos=x y",)), 7)
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


if __name__ == "__main__":
    unittest.main()
