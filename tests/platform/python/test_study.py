# SPDX-License-Identifier: Apache-2.0
"""regatta-study: the points of a study file, its mistakes, and that each run is made once, whatever happens meanwhile."""

import csv
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from regatta.statistics import InputError
from regatta.studies import file, points, slurm
from regatta.studies.groups import groups
from regatta.studies.plan import Run, reseeded

from . import fake_study

SNAKEMAKE = unittest.skipUnless(shutil.which("snakemake"), "Snakemake is not installed (.cmake/setup-packages.sh --study)")
TRACE = '[[programs]]\ntrace = "a.rgt"\n'


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        for name in ("a", "b"):
            (self.folder / f"{name}.rgt").write_text(f"trace {name}")
        (self.folder / "launch.toml").write_text('ptx = "k.ptx"\nentry = "k"\n[[param]]\nbuffer = 4\nseed = 5\n')
        (self.folder / "k.ptx").write_text("ptx")

    def write(self, text, name="s.toml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def points(self, text):
        return points.points(file.read(self.write(text)))

    def knobs(self, text):
        return [dict(p.knobs) for p in self.points(text)]


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
        return Run(number, f"key{number}", "p", "s", "m", 1, 0, (), (), None, 0)

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
        self.assertIn("--partition=p --time=1:00:00 '--qos=x y'", text)
        self.assertIn(f'cluster-status: "{profile}/status.sh"', text)
        (profile / "jobs" / "12").write_text("0\n")
        (profile / "jobs" / "13").write_text("1\n")

        def told(job):
            return subprocess.run([profile / "status.sh", str(job)], capture_output=True, text=True, check=True,
                                  env={"PATH": f"{self.folder}:/bin:/usr/bin"}).stdout
        self.assertEqual([told(12), told(13)], ["success\n", "failed\n"])
        scontrol = self.folder / "scontrol"
        for state, expected in (("RUNNING", "running"), ("PENDING", "running"), ("COMPLETED", "success"), ("NODE_FAIL", "failed")):
            scontrol.write_text(f"#!/bin/sh\necho JobId=$4 JobName=x JobState={state} Reason=None\n")
            scontrol.chmod(0o755)
            self.assertEqual(told(14), expected + "\n")
        for answer, expected in (("Slurmctld(primary) at h is UP", "failed"), ("Slurmctld(primary) at h is DOWN", "running")):
            scontrol.write_text(f'#!/bin/sh\n[ "$1" = ping ] && echo "{answer}"\n')
            self.assertEqual(told(14), expected + "\n")


@SNAKEMAKE
class RunsTest(FolderTest):
    STUDY = 'schemes = ["baseline", "other"]\n[[programs]]\ntrace = "a.rgt"\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n' \
        '[knobs]\nk.a = [1, 2, 3]\nk.b = {values = [0.5, 4.5], only = {scheme = "other"}}\n' \
        '[results]\nstatistics = ["*.reads", "stall_cycles.*"]\n'
    RUNS = 18

    def setUp(self):
        super().setUp()
        self.bin = fake_study.make(self.folder / "bin")
        self.results = self.folder / "s.study"

    def study(self, *arguments, status=0, **environment):
        done = fake_study.study([arguments[0], "s.toml", *arguments[1:]] + ([] if arguments[0] == "show" else ["--bin", "bin"]),
                                self.folder, **environment)
        self.assertEqual(done.returncode, status, done)
        return done

    def made(self):
        return fake_study.calls(self.bin, "simulate")

    def bytes(self):
        return [(self.results / name).read_bytes() for name in ("results.sqlite", "results.csv")]

    def ask(self, question):
        connection = sqlite3.connect(self.results / "results.sqlite")
        try:
            return connection.execute(question).fetchall()
        finally:
            connection.close()

    def test_results_and_what_is_made_again(self):
        self.write(self.STUDY)
        done = self.study("run", "--jobs", "3")
        self.assertIn("18 of 18 runs to make", done.stdout)
        self.assertEqual((self.made(), fake_study.calls(self.bin, "annotate")), (self.RUNS, 1))
        first = self.bytes()
        self.assertEqual(self.ask("SELECT count(*), sum(state = 'finished'), sum(status) FROM runs"), [(18, 18, 0)])
        self.assertEqual(self.ask("SELECT program, scheme, cycles, energy_nj FROM runs WHERE id = 1"),
                         [("a", "baseline", 1018, 2.5 * 1018)])
        self.assertEqual(self.ask("SELECT name, value FROM knobs WHERE run = 5"), [("k.a", 1), ("k.b", 4.5)])
        self.assertEqual(self.ask("SELECT module, name, value FROM statistics WHERE run = 2"),
                         [("sm0.l1", "reads", 6), ("sm1.l1", "reads", 2), ("stall_cycles", "memory", 7)])
        with open(self.results / "results.csv", newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual((rows[4]["k.b"], rows[0]["k.b"], rows[1]["sm0.l1.reads"], rows[17]["program"]), ("4.5", "", "6", "l"))
        # The same again: nothing is made, nothing changes.
        self.assertIn("all 18 runs are there already", self.study("run").stdout)
        self.assertEqual((self.made(), self.bytes()), (self.RUNS, first))
        # One more value: only its runs.
        self.write(self.STUDY.replace("[1, 2, 3]", "[1, 2, 3, 4]"))
        self.assertIn("6 of 24 runs to make", self.study("run").stdout)
        self.assertEqual(self.made(), self.RUNS + 6)
        # Another program of the same name: everything. The same options in other bytes of a trace: that program's runs.
        self.write(self.STUDY)
        fake_study.make(self.bin, "changed")
        self.study("run")
        self.assertEqual((self.made(), fake_study.calls(self.bin, "annotate")), (2 * self.RUNS + 6, 2))
        self.assertNotEqual(self.bytes(), first)
        (self.folder / "a.rgt").write_text("trace a, longer")
        self.assertIn("9 of 18 runs to make", self.study("run", "--dry-run").stdout + self.study("run").stdout)
        # What a launch file names counts as well, and so does what is annotated from it.
        (self.folder / "k.ptx").write_text("other ptx")
        self.assertIn("9 of 18 runs to make", self.study("run").stdout)
        fake_study.make(self.bin)
        (self.folder / "a.rgt").write_text("trace a")
        (self.folder / "k.ptx").write_text("ptx")
        before = self.made()
        self.study("run")
        self.assertEqual((self.made(), self.bytes()), (before, first))  # all of that was known

    def test_any_order_gives_the_same_bytes(self):
        self.write(self.STUDY)
        self.study("run", "--jobs", "1")
        first = self.bytes()
        shutil.rmtree(self.results)
        self.write("[study]\ngroup_runs = 1\nkeep_traces = false\n" + self.STUDY)
        self.study("run", "--jobs", "4", "--quiet")
        self.assertEqual(self.bytes(), first)
        self.assertEqual(list((self.results / "traces").glob("*.rgt")), [])

    def kill(self, number, least=4):
        process = fake_study.start(["run", "s.toml", "--bin", "bin", "--jobs", "2"], self.folder, FAKE_SECONDS="0.3")
        deadline = time.monotonic() + 150
        while self.made() < least and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        out, errors = process.communicate(timeout=150)
        at_end = self.made()
        time.sleep(1.0)
        self.assertEqual(self.made(), at_end, "work goes on behind a study that ended")
        self.assertTrue(least <= at_end < self.RUNS, at_end)
        return process.returncode, errors

    def test_resume(self):
        self.write(self.STUDY)
        self.study("run")
        first = self.bytes()
        shutil.rmtree(self.results)
        (self.bin / "calls").unlink()
        self.assertEqual(self.kill(signal.SIGKILL)[0], -signal.SIGKILL)
        kept = len(list((self.results / "runs").glob("*.gz")))
        self.assertGreater(kept, 0)
        before = self.made()
        status, errors = self.kill(signal.SIGINT, before + 2)
        self.assertEqual(status, 130)
        self.assertIn("interrupted; finished runs are kept", errors)
        self.assertIn((f"{self.RUNS}",), [(str(n),) for n, in self.ask("SELECT count(*) FROM runs")])
        self.assertGreater(self.ask("SELECT count(*) FROM runs WHERE state = 'missing'")[0][0], 0)
        self.assertIn("nothing is running", self.study("status").stdout)
        self.study("run")
        self.assertEqual(self.bytes(), first)
        # At most the two runs that each signal met were made twice.
        self.assertLessEqual(self.made(), self.RUNS + 4)

    def test_failures_are_kept_and_told(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 13, 14, 15, 2]\n"
                           '[[programs]]\nlaunch = "launch.toml"\nname = "bad"\nannotate = ["--refuse"]\n')
        done = self.study("run", status=1)
        self.assertIn("8 runs failed; the others are kept:\n  run 2, a baseline gtx980 k.a=13: status 3: value mismatch in warp 13\n"
                      "  run 3, a baseline gtx980 k.a=14: status 1: out of memory\n"
                      "  run 4, a baseline gtx980 k.a=15: status 137: ended by signal SIGKILL\n", done.stderr)
        self.assertIn("status 2: no trace: regatta-annotate: a region of 9 registers does not fit", done.stderr)
        self.assertEqual(self.ask("SELECT state, status, message, cycles FROM runs WHERE id = 2"),
                         [("failed", 3, "value mismatch in warp 13", None)])
        self.assertIn("a               2       3        0", self.study("status").stdout)
        # Only what may have been the machine's doing is tried again, unless all is to be.
        before, first = self.made(), self.bytes()
        self.study("run", status=1)
        self.assertEqual((self.made() - before, self.bytes()), (2, first))
        self.study("run", "--retry", status=1)
        self.assertEqual((self.made() - before, self.bytes()), (2 + 3, first))

    def test_fail_fast(self):
        self.write("[study]\ngroup_runs = 1\n" + TRACE + "[knobs]\nk.a = [13, 1, 2, 3, 4, 5]\n")
        self.study("run", "--fail-fast", "--jobs", "1", status=1)
        self.assertLess(self.made(), 6)
        self.study("run", "--jobs", "1", status=1)
        self.assertEqual(self.ask("SELECT count(*) FROM runs WHERE state = 'finished'"), [(5,)])

    def test_unknown_names_are_told_before_any_run(self):
        for text, expected in (("[knobs]\n'nosuch.x' = [1, 2]\n", 'knobs."nosuch.x": regatta-sim: command line: unknown option'),
                               ("", "schemes: regatta-sim: --scheme: unknown scheme 'nope'")):
            self.write(f'schemes = ["{"baseline" if text else "nope"}"]\n' + TRACE + text)
            done = self.study("run", status=2)
            self.assertIn(expected, done.stderr)
        self.assertEqual(self.made(), 0)

    def test_one_at_a_time_and_one_study_per_folder(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2]\n")
        process = fake_study.start(["run", "s.toml", "--bin", "bin", "--jobs", "1"], self.folder, FAKE_SECONDS="2")
        while not self.made():
            time.sleep(0.02)
        self.assertIn("another regatta-study is running this study", self.study("run", status=2).stderr)
        self.assertIn("is making them now", self.study("status").stdout)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.write('[study]\nname = "s"\n' + TRACE, "t.toml")
        done = fake_study.study(["run", "t.toml", "--bin", "bin"], self.folder)
        self.assertEqual((done.returncode, done.stderr.count("folder belongs to s.toml")), (2, 1), done)

    def test_repetitions(self):
        self.write('[study]\nrepetitions = 3\nseed = 20\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n')
        self.study("run")
        self.assertEqual(self.ask("SELECT seed, repetition FROM runs"), [(20, 0), (21, 1), (22, 2)])
        texts = sorted(p.read_text() for p in (self.results / "traces").glob("*.rgt"))
        self.assertEqual(sorted(int(n) for t in texts for n in re.findall(r"seed = (\d+)", t)), [5, 6, 7])
        self.write('[study]\nrepetitions = 2\nseed_knob = "k.a"\n' + TRACE)
        self.study("run")
        self.assertEqual(self.ask("SELECT cycles FROM runs"), [(1018,), (1028,)])

    def test_show(self):
        self.write(self.STUDY)
        self.study("run")
        shown = self.study("show", "--rows", "2").stdout
        self.assertIn("a: best 2 of 9 by cycles", shown)
        self.assertRegex(shown, r"\n +1  baseline  gtx980 +1 +- +1,018 +1\.000\n +2  baseline  gtx980 +2 +- +1,028 +1\.010\n")
        self.assertRegex(shown, r"all programs: best 2 of 9 points, geometric mean\n")
        most = self.study("show", "--by", "sm*.l1.reads", "--most", "--program", "l", "--rows", "1").stdout
        self.assertRegex(most, r"^l: best 1 of 9 by sm\*\.l1\.reads\n.*\n.*\n +12  baseline  gtx980 +3 +- +12 +3\.000\n$")
        self.assertIn("--by: found 'x', expected one of cycles", self.study("show", "--by", "x", status=2).stderr)
        self.study("show", "--stats", "2", "two.json", "--bin", "bin")
        self.assertIn('"cycles": 1028', (self.folder / "two.json").read_text())

    def test_slurm_with_stand_ins(self):
        self.write("[study]\ngroup_runs = 9\n" + self.STUDY)
        self.study("run")
        first = self.bytes()
        shutil.rmtree(self.results)
        (self.folder / "sbatch").write_text("""#!/bin/sh
            for last; do :; done
            echo "$@" >>sbatch.calls
            SLURM_JOB_ID=$$ sh "$last" >/dev/null 2>&1 </dev/null &
            echo $$""")
        (self.folder / "sbatch").chmod(0o755)
        # With CI, Snakemake does not sleep 10 s between two looks at its jobs.
        self.study("run", "--slurm", "--jobs", "2", PATH=f"{self.folder}:{os.environ['PATH']}", CI="true")
        self.assertEqual(self.bytes(), first)
        submitted = (self.results / "sbatch.calls").read_text().splitlines()
        self.assertEqual(len(submitted), 3)  # a trace, two groups
        self.assertTrue(all(line.startswith("--parsable --job-name=regatta-s ") for line in submitted))
        self.assertEqual([p.read_text() for p in (self.results / "slurm" / "jobs").iterdir()], ["0\n"] * 3)

    def test_progress_on_a_terminal(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2, 3, 4, 5, 6]\n")
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-B", "-m", "regatta.study", "run", "s.toml", "--bin", "bin", "--jobs", "1"], cwd=self.folder,
            stdout=theirs, stderr=theirs, env={**os.environ, "PYTHONPATH": str(fake_study.PACKAGE), "FAKE_SECONDS": "0.3"})
        os.close(theirs)
        told = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            told += part
        os.close(ours)
        self.assertEqual(process.wait(60), 0)
        self.assertRegex(told.decode(), r"\r\x1b\[K\[4/6\]  67%, \d s, \d s left")


def _programs_with_launcher(folder):
    """The programs of the build, and regatta-study as the build writes it."""
    for path in Path(os.environ["REGATTA_BIN"]).resolve().glob("regatta-*"):
        (folder / path.name).symlink_to(path)
    launcher = folder / "regatta-study"
    if not launcher.exists():
        text = (fake_study.PACKAGE / "launcher.in").read_text()
        launcher.write_text(text.replace("@package@", str(fake_study.PACKAGE)).replace("@module@", "study"))
        launcher.chmod(0o755)
    return folder


@SNAKEMAKE
@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")), "regatta is not built")
class RealTest(unittest.TestCase):
    def test_the_readme_followed_literally(self):
        text = (fake_study.PACKAGE / "README.md").read_text(encoding="utf-8")
        section = text.split("## A study in five minutes\n")[1].split("\n## ")[0]
        blocks = re.findall(r"```(\w*)\n(.*?)```", section, re.DOTALL)
        commands, told = [b for kind, b in blocks if kind == "sh"], [b for kind, b in blocks if not kind]
        self.assertEqual((len(commands), len(told)), (2, 1))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "bin").mkdir()
            path = f"{_programs_with_launcher(folder / 'bin')}:{os.environ['PATH']}"
            done = [subprocess.run(["sh", "-euc", c], cwd=folder, text=True, capture_output=True, env={**os.environ, "PATH": path})
                    for c in commands]
            for d in done:
                # Of progress there are lines on a slow machine.
                self.assertEqual((d.returncode, re.sub(r"(?m)^\[.*\n", "", d.stderr)), (0, ""), d)
            # Digits may change with the models; the README shows what comes out, in its form.
            def form(text):
                return re.sub(r"[\d.,]+", "0", re.sub(r" +|-+", " ", text))
            self.assertEqual(form(told[0]).splitlines()[:2], form(done[-1].stdout).splitlines()[:2])
            connection = sqlite3.connect(folder / "build/study/first.study/results.sqlite")
            rows = connection.execute("SELECT program, count(*), sum(state = 'finished'), min(cycles) > 0 FROM runs GROUP BY program")
            self.assertEqual(rows.fetchall(), [("bfs", 8, 8, 1), ("hotspot", 8, 8, 1)])
            connection.close()


if __name__ == "__main__":
    unittest.main()
