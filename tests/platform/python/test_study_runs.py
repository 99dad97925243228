# SPDX-License-Identifier: Apache-2.0
"""regatta-study: each run is made once, whatever happens meanwhile, and the results are the same bytes."""

import contextlib
import csv
import io
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from regatta.reports import study_data
from regatta.studies import worker

from . import fake_study
from .fake_study import FolderTest

SNAKEMAKE = unittest.skipUnless(shutil.which("snakemake"), "Snakemake is not installed (.cmake/setup-packages.sh --slurm)")
TRACE = '[[programs]]\ntrace = "a.rgt"\n'


class RunsTest(FolderTest):
    STUDY = 'schemes = ["baseline", "other"]\n[[programs]]\ntrace = "a.rgt"\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n' \
        '[knobs]\nk.a = [1, 2, 3]\nk.b = {values = [0.5, 4.5], only = {scheme = "other"}}\n' \
        '[results]\nstatistics = ["*.reads", "stall_cycles.*"]\n'
    RUNS = 18

    def setUp(self):
        super().setUp()
        self.bin = fake_study.make(self.folder / "bin")
        self.results = self.folder / "s.study"

    def study(self, *arguments, status=0):
        """In this process: what comes out does not depend on who starts the runs."""
        return self.done(fake_study.study_here([arguments[0], "s.toml", *arguments[1:], "--bin", "bin"], self.folder), status)

    def apart(self, *arguments, status=0, **environment):
        """With workers and processes of its own."""
        return self.done(fake_study.study(["run", "s.toml", *arguments, "--bin", "bin"], self.folder, **environment), status)

    def done(self, done, status):
        self.assertEqual(done.returncode, status, done)
        return done

    def start(self, *arguments):
        process = fake_study.start(["run", "s.toml", "--bin", "bin", *arguments], self.folder)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

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

    def test_budgets_of_registers_are_an_axis(self):
        """One trace for each budget, and runs of all of them at every point; tables have the budget as they have a knob."""
        self.write('[study]\nregisters = [32, "168:24,240"]\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n'
                   '[[programs]]\nlaunch = "launch.toml"\nname = "m"\nregisters = [64]\n[knobs]\nk.a = [1, 2]\n'
                   '[results]\nstatistics = ["kernel.*"]\n')
        self.assertIn("6 of 6 runs to make", self.study("run").stdout)
        self.assertEqual(fake_study.calls(self.bin, "annotate"), 3)
        options = sorted(line.split("--registers ")[1].split()[0] for line in (self.bin / "calls").read_text().splitlines()
                         if line.startswith("annotate"))
        self.assertEqual(options, ["168:24,240", "32", "64"])
        self.assertFalse(any("--registers" in line for line in (self.bin / "calls").read_text().splitlines()
                             if line.startswith("simulate")))
        self.assertEqual(self.ask("SELECT r.program, k.value, a.value FROM runs r JOIN knobs k ON k.run = r.id AND k.name = 'registers' "
                                  "JOIN knobs a ON a.run = r.id AND a.name = 'k.a' ORDER BY r.id"),
                         [("l", 32, 1), ("l", 32, 2), ("l", "168:24,240", 1), ("l", "168:24,240", 2), ("m", 64, 1), ("m", 64, 2)])
        with (self.results / "results.csv").open() as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([(row["registers"], row["kernel.registers"], row["kernel.spilled_registers"]) for row in rows][::2],
                         [("32", "40", "5"), ("168:24,240", "40", "5"), ("64", "40", "5")])
        shown = self.study("show", "--by", "cycles").stdout
        self.assertRegex(shown, r"run +scheme +machine +k\.a +registers")
        self.study("run")
        self.assertEqual((self.made(), fake_study.calls(self.bin, "annotate")), (6, 3))

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
        self.study("run")
        first = self.bytes()
        shutil.rmtree(self.results)
        self.write("[study]\nkeep_traces = false\n" + self.STUDY)
        self.apart("--jobs", "4", "--quiet")
        self.assertEqual(self.bytes(), first)
        self.assertEqual(list((self.results / "traces").glob("*.rgt")), [])

    def test_as_many_at_a_time_as_told(self):
        # Three runs wait for each other.
        self.write(TRACE + f"[knobs]\nk.a = {list(range(100, 115))}\n")
        fake_study.during(self.bin, "regatta-sim", "if noted('simulate') <= 3: wait(lambda: noted('simulate') >= 3)")
        self.apart("--jobs", "3")
        running = most = 0
        for line in (self.bin / "calls").read_text().splitlines():
            running += line.startswith("simulate") - line.startswith("ended")
            most = max(most, running)
        self.assertEqual((self.made(), most), (15, 3))

    def kill(self, number, least):
        """A study at whose end so many runs have begun, of which two wait for ever."""
        fake_study.during(self.bin, "regatta-sim", f"if mine > {least - 2}: wait(lambda: False)")
        process = self.start("--jobs", "2")
        fake_study.wait_for(lambda: self.made() == least, "runs under way")
        process.send_signal(number)
        _, errors = process.communicate(timeout=fake_study.LONG)
        fake_study.wait_for(lambda: not fake_study.processes_of(self.bin), "an end of all runs")
        self.assertEqual(self.made(), least, "work goes on behind a study that ended")
        fake_study.during(self.bin, "regatta-sim")
        return process.returncode, errors

    def test_resume(self):
        self.write(self.STUDY)
        self.study("run")
        first = self.bytes()
        shutil.rmtree(self.results)
        (self.bin / "calls").unlink()
        self.assertEqual(self.kill(signal.SIGKILL, 6)[0], -signal.SIGKILL)
        kept = len(list((self.results / "runs").glob("*.gz")))
        self.assertEqual(kept, 4)
        status, errors = self.kill(signal.SIGINT, 11)
        self.assertEqual(status, 130)
        self.assertIn("interrupted; finished runs are kept", errors)
        self.assertEqual(self.ask("SELECT count(*) FROM runs"), [(self.RUNS,)])
        self.assertGreater(self.ask("SELECT count(*) FROM runs WHERE state = 'missing'")[0][0], 0)
        self.assertIn("nothing is running", self.study("status").stdout)
        self.study("run")
        self.assertEqual(self.bytes(), first)
        # The two runs that each signal met were made twice.
        self.assertEqual(self.made(), self.RUNS + 4)
        self.assertEqual(list(self.results.rglob(".*.part")), [])

    def test_a_job_that_is_ended_leaves_nothing_of_its_run(self):
        self.write(TRACE)
        # Slurm signals all processes of a job, in any order: here the program, and later its worker.
        fake_study.during(self.bin, "regatta-sim", "import signal\nworker = os.getppid()\n"
                          "if os.fork(): os.kill(os.getpid(), signal.SIGTERM)\n"
                          "os.closerange(0, 3)\ntime.sleep(0.5)\nos.kill(worker, signal.SIGTERM)\nos._exit(0)\n")
        self.assertIn("runs without a result: 1; the same command makes them: a worker ended with status 143",
                      self.apart("--jobs", "1", status=1).stderr)
        self.assertEqual(list((self.results / "runs").iterdir()), [])
        fake_study.during(self.bin, "regatta-sim")
        self.study("run")
        self.assertEqual(self.ask("SELECT state FROM runs"), [("finished",)])

    def test_a_program_that_is_ended_is_a_failure(self):
        self.write(TRACE)
        fake_study.during(self.bin, "regatta-sim", "import signal\nos.kill(os.getpid(), signal.SIGTERM)")
        with mock.patch.object(worker, "STOP_SECONDS", 0):
            self.assertIn("status 143: ended by signal SIGTERM", self.study("run", status=1).stderr)

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

    def simulated(self):
        """Values of k.a, in the order in which their runs began."""
        return [int(re.search(r"--k\.a (\d+)", line)[1]) for line in (self.bin / "calls").read_text().splitlines()
                if line.startswith("simulate")]

    def fail_fast(self, *arguments):
        return self.done(fake_study.study(["run", "s.toml", "--bin", "bin", "--fail-fast", *arguments], self.folder), 1)

    def test_fail_fast_one_at_a_time(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 13, 2, 3, 4, 5]\n")
        told = self.fail_fast("--jobs", "1")
        self.assertEqual(self.simulated(), [1, 13])
        self.assertIn("4 were not begun after the first failure", told.stdout)
        self.assertIn("1 run failed; the others are kept:\n  run 2, a baseline gtx980 k.a=13: status 3", told.stderr)
        self.study("run", status=1)
        self.assertEqual(self.ask("SELECT count(*) FROM runs WHERE state = 'finished'"), [(5,)])

    def test_fail_fast_lets_end_what_runs(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 13, 2, 3, 4]\n")
        # The first run goes on behind the failure, long enough for another one to begin.
        fake_study.during(self.bin, "regatta-sim", "if after('--k.a') == '13': wait(lambda: noted('simulate') == 2)\n"
                          f"if after('--k.a') == '1':\n    wait(lambda: os.listdir('{self.results}/runs') != [])\n    time.sleep(0.5)")
        self.fail_fast("--jobs", "2")
        self.assertEqual(sorted(self.simulated()), [1, 13])
        self.assertEqual(self.ask("SELECT state FROM runs"), [("finished",), ("failed",)] + [("missing",)] * 3)

    def test_fail_fast_of_an_annotation(self):
        self.write('[[programs]]\nlaunch = "launch.toml"\nname = "bad"\nannotate = ["--refuse"]\n' + TRACE + "[knobs]\nk.a = [1, 2]\n")
        told = self.fail_fast("--jobs", "1")
        self.assertEqual((self.made(), self.ask("SELECT state FROM runs")), (0, [("failed",)] * 2 + [("missing",)] * 2))
        self.assertIn("2 runs failed", told.stderr)

    def test_a_worker_that_is_killed_loses_its_run_only(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2, 3, 4]\n")
        fake_study.during(self.bin, "regatta-sim", "if after('--k.a') == '2': os.kill(os.getppid(), 9)")
        told = self.apart("--jobs", "1", status=1)
        self.assertIn("runs without a result: 1; the same command makes them: a worker ended with status -9", told.stderr)
        self.assertEqual(self.ask("SELECT id FROM runs WHERE state = 'missing'"), [(2,)])
        fake_study.wait_for(lambda: not fake_study.processes_of(self.bin), "an end of all runs")

    def test_without_snakemake(self):
        """Its program is not even looked for."""
        self.write(self.STUDY)
        (self.folder / "snakemake").write_text("#!/bin/sh\ntouch called\nexit 1\n")
        (self.folder / "snakemake").chmod(0o755)
        self.apart("--jobs", "2", PATH=f"{self.folder}:{os.environ['PATH']}")
        self.assertEqual([p for p in (self.folder / "called", self.results / "called", self.results / "Snakefile") if p.exists()], [])

    def test_unknown_names_are_told_before_any_run(self):
        for text, expected in (("[knobs]\n'nosuch.x' = [1, 2]\n", 'knobs."nosuch.x": regatta-sim: command line: unknown option'),
                               ("", "schemes: regatta-sim: --scheme: unknown scheme 'nope'")):
            self.write(f'schemes = ["{"baseline" if text else "nope"}"]\n' + TRACE + text)
            done = self.study("run", status=2)
            self.assertIn(expected, done.stderr)
            self.assertIn(expected, self.study("run", "--dry-run", status=2).stderr)
        self.assertEqual(self.made(), 0)

    def test_a_dry_run_asks_about_values(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2, -1]\nk.b = [1, 2, 3]\n")
        self.assertIn('s.toml: knobs."k.a": regatta-sim: command line: k.a: expected an integer from 0, found -1 (in runs of a baseline '
                      'gtx980 k.a=-1 k.b=1)', self.study("run", "--dry-run", status=2).stderr)
        many = list(range(3, 100)) + [-1]
        self.write(TRACE + f"[knobs]\nk.a = {many}\n")
        with mock.patch("subprocess.run", wraps=subprocess.run) as asked:
            self.study("run", "--dry-run", status=2)
        self.assertLessEqual(asked.call_count, 5)  # however many values there are
        self.write(TRACE + "[knobs]\nk.a = [1, 2]\n")
        self.assertEqual(self.study("run", "--dry-run").stdout, "run 1: a baseline gtx980 k.a=1\nrun 2: a baseline gtx980 k.a=2\n2 of 2 runs to make\n")
        self.assertFalse(self.results.exists())

    def test_a_run_has_one_number(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2]\n")
        self.study("run")
        self.write("# Nothing else.\n[study]\ngroup_runs = 1\n" + TRACE + "[knobs]\nk.a = [1, 2]\n")
        self.assertNotIn("Note", self.study("show").stdout)
        self.study("run")
        self.write(TRACE + "[knobs]\nk.a = [5, 1, 2]\n")
        note = rf"s\.toml was changed since the results in {self.results} were made: they and their numbers of runs are of the text in " \
            r"study\.toml there; regatta-study run makes those of the present text"
        shown = self.study("show")
        self.assertRegex(shown.stdout, rf"^Note: {note}\.\n\na: best 2 of 2")
        self.assertRegex(shown.stdout, r"\n +2  baseline  gtx980 +2 +1,028 ")
        done = self.study("show", "--stats", "2", "two.json")
        self.assertIn('"cycles": 1028', (self.folder / "two.json").read_text())
        self.assertRegex(done.stderr, rf"^regatta-study: note: {note}\n$")
        for arguments in (["status"], ["run", "--dry-run"]):
            self.assertRegex(self.study(*arguments).stdout, rf"Note: {note}\. Numbers of runs here are of the present text\.\n")
        page = study_data.load(self.folder / "s.toml")
        self.assertRegex(page.file_text, rf"^# {note}\.\n\n# Nothing else\.\n(.*\n)*k\.a = \[1, 2\]\n$")
        self.assertIn("--stats: found run '3', expected 1 to 2", self.study("show", "--stats", "3", "x.json", status=2).stderr)
        self.study("run")
        self.assertRegex(self.study("show").stdout, r"^a: best 3 of 3.*\n.*\n.*\n +2  baseline  gtx980 +1 ")
        (self.results / "study.toml").unlink()
        self.assertRegex(self.study("show").stdout, "^Note: .*/study.toml is not there: nobody knows whether the results in")

    def test_numbers_that_no_database_holds(self):
        fake_study.during(self.bin, "regatta-sim", after="stats['stats']['sm0.l1'].update(reads=2 ** 64 + 1, writes=float('nan'))\n"
                                                         "stats['cycles'], stats['energy']['total_nj'] = 2 ** 63, 10 ** 400\n")
        self.write('[results]\nstatistics = ["*"]\n' + TRACE + f"[knobs]\nk.a = [{2 ** 63}, 3]\n")
        self.study("run")
        self.assertEqual(self.ask("SELECT cycles, energy_nj FROM runs"), [(float(2 ** 63), None)] * 2)
        self.assertEqual(self.ask("SELECT value FROM knobs ORDER BY run"), [(str(2 ** 63),), (3,)])
        self.assertEqual(self.ask("SELECT name, value FROM statistics WHERE module = 'sm0.l1' AND run = 1"), [("reads", float(2 ** 64))])
        with open(self.results / "results.csv", newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual((rows[0]["cycles"], rows[0]["k.a"], rows[0]["sm0.l1.reads"]), (str(2 ** 63), str(2 ** 63), str(2 ** 64 + 1)))
        self.study("show", "--by", "sm*.l1.reads")

    def test_a_name_with_everything(self):
        """Of a study, its folder and a trace."""
        folder = self.folder / "a {b} 'c' %41?#"
        folder.mkdir()
        (folder / "my trace.rgt").write_text("trace")
        (folder / "launch file.toml").write_text((self.folder / "launch.toml").read_text().replace("k.ptx", "my k.ptx"))
        (folder / "my k.ptx").write_text("ptx")
        name = "my study.toml"
        (folder / name).write_text('[[programs]]\ntrace = "my trace.rgt"\n[[programs]]\nlaunch = "launch file.toml"\n[knobs]\nk.a = [1, 2]\n')
        done = fake_study.study(["run", name, "--bin", str(self.bin), "--quiet"], folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = fake_study.study_here(["show", name], folder)
        self.assertEqual((shown.returncode, shown.stdout.count("best 2 of 2 by cycles")), (0, 2))

    def test_one_at_a_time_and_one_study_per_folder(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2]\n")
        fake_study.during(self.bin, "regatta-sim", "wait(lambda: False)")
        process = self.start("--jobs", "1")
        fake_study.wait_for(lambda: self.made() == 1, "a run under way")
        self.assertIn("another regatta-study is running this study", self.study("run", status=2).stderr)
        self.assertIn("is making them now", self.study("status").stdout)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=fake_study.LONG)
        self.assertEqual(process.returncode, 130)
        self.write('[study]\nname = "s"\n' + TRACE, "t.toml")
        done = fake_study.study_here(["run", "t.toml", "--bin", "bin"], self.folder)
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

    def test_show_names_a_knob_without_an_effect(self):
        self.write('schemes = ["baseline", "other"]\n[[programs]]\ntrace = "a.rgt"\n[knobs]\n"k.a" = [1, 2]\n"k.c" = [1, 2]\n')
        self.study("run")
        self.assertTrue(self.study("show").stdout.endswith("\n\nk.c has no effect on baseline and other.\n"))

    def test_show(self):
        self.write(self.STUDY)
        self.study("run")
        shown = self.study("show", "--rows", "2").stdout
        self.assertIn("a: best 2 of 9 by cycles", shown)
        self.assertRegex(shown, r"\n +1  baseline  gtx980 +1 +- +1,018 +1\.000\n +2  baseline  gtx980 +2 +- +1,028 +1\.010\n")
        self.assertRegex(shown, r"all programs: best 2 of 9 points, geometric mean\n")
        self.assertNotIn("no effect", shown)
        most = self.study("show", "--by", "sm*.l1.reads", "--most", "--program", "l", "--rows", "1").stdout
        self.assertRegex(most, r"^l: best 1 of 9 by sm\*\.l1\.reads\n.*\n.*\n +12  baseline  gtx980 +3 +- +12 +3\.000\n$")
        self.assertIn("--by: found 'x', expected one of cycles", self.study("show", "--by", "x", status=2).stderr)
        self.study("show", "--stats", "2", "two.json", "--bin", "bin")
        self.assertIn('"cycles": 1028', (self.folder / "two.json").read_text())

    @SNAKEMAKE
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
        self.apart("--slurm", "--jobs", "2", PATH=f"{self.folder}:{os.environ['PATH']}", CI="true")
        self.assertEqual(self.bytes(), first)
        submitted = (self.results / "sbatch.calls").read_text().splitlines()
        self.assertEqual(len(submitted), 3)  # a trace, two groups
        self.assertTrue(all(line.startswith("--parsable --job-name=regatta-s ") for line in submitted))
        self.assertEqual([p.read_text() for p in (self.results / "slurm" / "jobs").iterdir()], ["0\n"] * 3)

    def test_progress_on_a_terminal(self):
        self.write(TRACE + "[knobs]\nk.a = [1, 2, 3, 4, 5, 6]\n")
        go = self.folder / "go"
        fake_study.during(self.bin, "regatta-sim", f'if noted("simulate") > 4: wait(lambda: os.path.exists("{go}"))')
        try:
            ours, theirs = os.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be opened: {error}")  # a container without /dev/pts
        process = subprocess.Popen(
            [sys.executable, "-B", "-m", "regatta.commands.study", "run", "s.toml", "--bin", "bin", "--jobs", "1"],
            cwd=self.folder, stdout=theirs, stderr=theirs,
            env={**os.environ, "PYTHONPATH": str(fake_study.PACKAGE)})
        self.addCleanup(process.kill)
        os.close(theirs)
        told = b""
        with contextlib.suppress(OSError):  # the terminal's end
            while part := os.read(ours, 4096):
                told += part
                if re.search(rb"\r\x1b\[K\[4/6\] +67%, \d+ s, \d+ s left", told):
                    go.touch()
        os.close(ours)
        self.assertEqual(process.wait(fake_study.LONG), 0, told)
        self.assertTrue(go.exists(), told)


def _programs_with_launcher(folder):
    """The programs of the build, and those of Python as the build writes them."""
    for path in Path(os.environ["REGATTA_BIN"]).resolve().glob("regatta-*"):
        (folder / path.name).symlink_to(path)
    for program in ("study", "report"):
        launcher = folder / f"regatta-{program}"
        if not launcher.exists():
            text = (fake_study.PACKAGE / "launcher.in").read_text()
            launcher.write_text(text.replace("@package@", str(fake_study.PACKAGE)).replace("@program@", program))
            launcher.chmod(0o755)
    return folder


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")), "regatta is not built")
class RealTest(unittest.TestCase):
    def test_the_page_followed_literally(self):
        text = (fake_study.PACKAGE / "STUDIES.md").read_text(encoding="utf-8")
        section = text.split("## A study in five minutes\n")[1].split("\n## ")[0]
        blocks = re.findall(r"```(\w*)\n(.*?)```", section, re.DOTALL)
        commands, told = [b for kind, b in blocks if kind == "sh"], [b for kind, b in blocks if not kind]
        self.assertEqual((len(commands), len(told)), (3, 1))
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
            self.assertEqual(form(told[0]).splitlines()[:2], form(done[1].stdout).splitlines()[:2])
            page = (folder / "build/study/first.html").read_text(encoding="utf-8")
            self.assertRegex(page, r"Best of 8 points by cycles: scheme = \w+, dram\.latency = 100")
            connection = sqlite3.connect(folder / "build/study/first.study/results.sqlite")
            rows = connection.execute("SELECT program, count(*), sum(state = 'finished'), min(cycles) > 0 FROM runs GROUP BY program")
            self.assertEqual(rows.fetchall(), [("bfs", 8, 8, 1), ("hotspot", 8, 8, 1)])
            connection.close()

    def test_the_first_readme_followed_literally(self):
        text = (fake_study.PACKAGE.parents[1] / "README.md").read_text(encoding="utf-8")
        section = text.split("## A study in five minutes\n")[1].split("\n## ")[0]
        commands, = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "bin").mkdir()
            path = f"{_programs_with_launcher(folder / 'bin')}:{os.environ['PATH']}"
            done = subprocess.run(["sh", "-euc", commands], cwd=folder, text=True, capture_output=True,
                                  env={**os.environ, "PATH": path})
            self.assertEqual((done.returncode, re.sub(r"(?m)^\[.*\n", "", done.stderr)), (0, ""), done)
            count = re.search(r"(\d+) simulations take", section)[1]
            self.assertIn(f"{count} of {count} runs to make", done.stdout)
            self.assertRegex((folder / "build/study/units.html").read_text(encoding="utf-8"), r"Best of 10 points by cycles")

    def test_the_page_s_campaign_of_a_script(self):
        text = (fake_study.PACKAGE / "CAMPAIGNS.md").read_text(encoding="utf-8")
        code = text.split("```python\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as name:
            work = Path(name).resolve()
            for told in ("1 of 1 runs to make", ""):  # made, then known
                names = {"work": work, "bin_folder": Path(os.environ["REGATTA_BIN"]).resolve(),
                         "launch": Path(os.environ["REGATTA_KERNELS"], "bfs", "launch.small.toml").resolve()}
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(code, names)
                self.assertEqual(out.getvalue()[:len("1 of 1 runs to make")], told)
                stats, kept = names["stats"], names["kept"]
                self.assertGreater(stats["cycles"], 0)
                self.assertEqual(len(kept["ctas"]["cta"]), sum(x["ctas"] for x in stats["launches"]))
                self.assertEqual({e["name"] for e in kept["report"]["entries"]}, {x["kernel"] for x in stats["launches"]})
            self.assertEqual(list((work / "page" / "traces").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
