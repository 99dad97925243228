# SPDX-License-Identifier: Apache-2.0
"""Campaigns and pages by Snakemake and processes of their own: what is on disk meanwhile, and interruptions."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from tests import fake_tools
from tests.test_campaign import Scratch
from regatta_reproduce import ReproductionError
from regatta_reproduce.campaign import Run, Samples, Trace

regless = Path(__file__).resolve().parents[1] / "regless" / "run.py"


class EngineTest(Scratch):
    def test_all_kinds_of_runs_and_no_trace_is_left(self):
        other = self.folder / "other.toml"
        other.write_text(self.launch.read_text())
        samples = Samples(100, (("accesses", ("register_file.reads", "register_file.writes")),))
        bad = Trace("bad", other, ("--refuse",))
        runs = [*self.two_runs(), Run("sampled", Trace("k", other), (), samples), Run("tiny", Trace("k", other),
                ("--osu.entries", "-1"), may_be_refused=True), Run("table", Trace("k", other), ("--scheme", "argo"), tables=(("bits", "--wear.bits_file"),))]
        failing = [Run("broken", Trace("k", self.launch), ("--fail",)), Run("x", bad), Run("y", bad, ("--sms", "2"))]
        with self.assertRaises(ReproductionError) as caught:
            self.execute(runs + failing)
        self.assertEqual(str(caught.exception).splitlines(), [
            "3 of 8 runs failed; the others are kept and will not be made again:",
            "  regatta-sim ended with status 3 on k (broken): value mismatch in warp 3",
            "  regatta-annotate ended with status 2 on bad --refuse: a region of 9 registers does not fit"])
        self.assertEqual(self.traces(), [])
        calls = fake_tools.calls(self.bin)
        results = self.execute(runs)
        self.assertEqual(fake_tools.calls(self.bin), calls)
        self.assertEqual(results[("k", "small")].stats["cycles"], 14000)
        self.assertEqual(results[("k", "small")].report["entries"][0]["regions"], 12)
        self.assertEqual(results[("k", "sampled")].samples["accesses"][:2], [3, 4])
        self.assertEqual(results[("k", "tiny")].refused, "osu.entries: found -1, too few")
        self.assertEqual(results[("k", "table")].tables["bits"]["bit"], list(range(64)))

    def test_few_traces_are_on_disk_at_a_time(self):
        """The fake simulator counts them."""
        simulator = self.bin / "regatta-sim"
        simulator.write_text(simulator.read_text().replace('note("sim")', 'note("sim")\nnote("there " + str(sum(n.endswith(".rgt") for n in '
                                                           'os.listdir(os.path.dirname(sys.argv[1])))))'))
        traces = [Trace(f"k{i}", self.launch, ("--region-registers", str(i))) for i in range(9)]
        self.execute([Run(str(n), t, ("--sms", str(n))) for t in traces for n in range(4)])
        there = [int(line.split()[1]) for line in (self.bin / "calls").read_text().splitlines() if line.startswith("there ")]
        self.assertEqual(len(there), 36)
        # Two for each job: its own, and one that is made meanwhile or whose removal is under way.
        self.assertLessEqual(max(there), 4)
        self.assertEqual(self.traces(), [])


class InterruptionTest(Scratch):
    """Two kernels of RegLess's page in a process of its own."""

    def command(self):
        return [sys.executable, "-B", str(regless), "--bin", str(self.bin), "--work", str(self.folder / "work"), "--out",
                str(self.folder / "page"), "--kernels", "bfs,hotspot", "--no-plots", "--jobs", "2"]

    def kept(self):
        return len(list((self.folder / "work" / "results").glob("*.json.gz")))

    def test_interrupted_it_ends_soon_and_goes_on_from_there(self):
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            child = subprocess.Popen(self.command(), env={**os.environ, "FAKE_SECONDS": "0.3"}, stderr=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL, text=True, start_new_session=True)
            self.addCleanup(child.kill)
            before = self.kept()
            deadline = time.monotonic() + 150
            while self.kept() < before + 2:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            child.send_signal(stop)
            _, told = child.communicate(timeout=150)
            if stop == signal.SIGKILL:
                self.assertEqual(child.returncode, -stop)
            else:
                self.assertEqual(child.returncode, 130)
                self.assertIn("interrupted: what is done is kept, the same command goes on from there", told)
            self.assertNotIn("Traceback", told)
            time.sleep(0.5)  # the kernel ends processes one after another
            calls = fake_tools.calls(self.bin)
            time.sleep(1)
            self.assertEqual(fake_tools.calls(self.bin), calls, "work goes on behind a page that ended")
        kept, calls = self.kept(), fake_tools.calls(self.bin, "sim")
        done = subprocess.run(self.command(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        made = fake_tools.calls(self.bin, "sim") - calls
        self.assertIn(f"{made} of {kept + made} runs to make", done.stderr)
        self.assertGreater(made, 0)
        self.assertEqual(self.kept(), kept + made)
        self.assertEqual(list((self.folder / "work" / "regless" / "traces").iterdir()), [])

    def test_a_page_is_made_once_at_a_time(self):
        with mock.patch.dict(os.environ, {"FAKE_SECONDS": "0.3"}):
            child = subprocess.Popen(self.command(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.addCleanup(child.wait)
            self.addCleanup(child.terminate)
            while not fake_tools.calls(self.bin):
                time.sleep(0.02)
            second = subprocess.run(self.command(), capture_output=True, text=True)
        self.assertEqual(second.returncode, 1)
        self.assertIn("work/regless: this page is being made already; wait for its end", second.stderr)


if __name__ == "__main__":
    unittest.main()
