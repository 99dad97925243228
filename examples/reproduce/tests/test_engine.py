# SPDX-License-Identifier: Apache-2.0
"""Campaigns and pages by workers and processes of their own: what is on disk meanwhile, and interruptions."""

import signal
import subprocess
import sys
import unittest
from pathlib import Path

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
        # One for each job: the next one is made after the runs of those before.
        self.assertLessEqual(max(there), 2)
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
            # Two runs more, and then two that wait for ever.
            before, calls = self.kept(), fake_tools.calls(self.bin, "sim")
            fake_tools.hold(self.bin, calls + 2)
            child = subprocess.Popen(self.command(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                     start_new_session=True)
            self.addCleanup(child.kill)
            fake_tools.wait_for(lambda: fake_tools.calls(self.bin, "sim") == calls + 4, "runs under way")
            child.send_signal(stop)
            _, told = child.communicate(timeout=fake_tools.LONG)
            if stop == signal.SIGKILL:
                self.assertEqual(child.returncode, -stop)
            else:
                self.assertEqual(child.returncode, 130)
                self.assertIn("interrupted: what is done is kept, the same command goes on from there", told)
            self.assertNotIn("Traceback", told)
            fake_tools.wait_for(lambda: not fake_tools.running(self.bin), "an end of all runs")
            self.assertEqual((fake_tools.calls(self.bin, "sim"), self.kept()), (calls + 4, before + 2))
        fake_tools.hold(self.bin, None)
        kept, calls = self.kept(), fake_tools.calls(self.bin, "sim")
        done = subprocess.run(self.command(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        made = fake_tools.calls(self.bin, "sim") - calls
        self.assertIn(f"{made} of {kept + made} runs to make", done.stderr)
        self.assertGreater(made, 0)
        self.assertEqual(self.kept(), kept + made)
        self.assertEqual(list((self.folder / "work" / "regless" / "traces").iterdir()), [])

    def test_a_page_is_made_once_at_a_time(self):
        fake_tools.hold(self.bin, 0)
        child = subprocess.Popen(self.command(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.terminate)
        fake_tools.wait_for(lambda: fake_tools.calls(self.bin) > 0, "a page under way")
        second = subprocess.run(self.command(), capture_output=True, text=True)
        self.assertEqual(second.returncode, 1)
        self.assertIn("work/regless: this page is being made already; wait for its end", second.stderr)


if __name__ == "__main__":
    unittest.main()
