# SPDX-License-Identifier: Apache-2.0
import errno
import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from regatta.statistics import InputError
from regatta.studies import worker
from regatta.studies.campaign import Tools
from regatta.studies.engine import Settings
from tests import fake_tools
from regatta_reproduce import ReproductionError
from regatta_reproduce.campaign import Accesses, Campaign, Run, Samples, Trace


class Scratch(unittest.TestCase):
    """Tools that only pretend, and a launch file."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.bin = fake_tools.make(self.folder / "bin")
        self.launch = self.folder / "launch.toml"
        self.launch.write_text('ptx = "k.ptx"\n[[param]]\nfile = "data.bin"\n')
        (self.folder / "k.ptx").write_text("code")
        (self.folder / "data.bin").write_text("data")

    def campaign(self, **more):
        return Campaign(Tools.find(self.bin), self.folder / "work", "page", Settings(2, shown=False), **more)

    def two_runs(self, trace_options=()):
        trace = Trace("k", self.launch, trace_options)
        return [Run("baseline", trace), Run("small", trace, ("--scheme", "regless", "--osu.entries", "128"))]

    def execute(self, runs, **more):
        c = self.campaign(**more)
        for r in runs:
            c.add(r)
        return c.execute()

    def traces(self):
        return list((self.folder / "work" / "page" / "traces").iterdir())


class CampaignTest(Scratch):
    """Without processes of workers."""

    def setUp(self):
        super().setUp()
        fake_tools.patch(self)

    def test_runs_of_one_trace_annotate_once_and_leave_no_trace(self):
        results = self.execute(self.two_runs())
        self.assertEqual(results[("k", "baseline")].stats["cycles"], 10000)
        self.assertEqual(results[("k", "small")].stats["cycles"], 14000)
        self.assertEqual(results[("k", "small")].report["entries"][0]["regions"], 12)
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), 1)
        self.assertEqual(self.traces(), [])

    def test_tables_are_kept_by_column_and_are_part_of_the_key(self):
        trace = Trace("k", self.launch)
        plain = Run("plain", trace, ("--scheme", "argo"))
        bits = Run("bits", trace, ("--scheme", "argo"), tables=(("bits", "--wear.bits_file"),))
        for _ in range(2):  # made, then kept
            results = self.execute([plain, bits])
            self.assertEqual(results[("k", "plain")].tables, {})
            table = results[("k", "bits")].tables["bits"]
            self.assertEqual(list(table), ["sm", "bit", "zero", "one", "off"])
            self.assertEqual(table["bit"], list(range(64)))
            self.assertAlmostEqual(table["zero"][5], 0.6)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 2)
        self.assertEqual(self.traces(), [])

    def test_what_depends_on_host_or_place_is_not_kept(self):
        stats = self.execute(self.two_runs())[("k", "baseline")].stats
        self.assertNotIn("host", stats)
        self.assertEqual(stats["trace"], "k")

    def test_a_second_time_nothing_runs_and_results_are_the_same(self):
        first = self.execute(self.two_runs())
        second = self.execute(self.two_runs())
        self.assertEqual(fake_tools.calls(self.bin), 3)
        self.assertEqual({k: r.stats for k, r in first.items()}, {k: r.stats for k, r in second.items()})

    def test_another_run_of_the_same_trace_makes_only_that_one(self):
        self.execute(self.two_runs()[:1])
        self.execute(self.two_runs())
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 2)

    def test_whatever_a_result_depends_on_makes_it_anew(self):
        changes = {
            "launch file": lambda: self.launch.write_text(self.launch.read_text() + "# more\n"),
            "PTX": lambda: (self.folder / "k.ptx").write_text("other code"),
            "data file": lambda: (self.folder / "data.bin").write_text("other data"),
            "tools": lambda: fake_tools.make(self.bin, salt="another build"),
        }
        self.execute(self.two_runs())
        for what, change in changes.items():
            with self.subTest(what):
                before = fake_tools.calls(self.bin, "sim")
                change()
                self.execute(self.two_runs())
                self.assertEqual(fake_tools.calls(self.bin, "sim"), before + 2)
        before = fake_tools.calls(self.bin, "annotate")
        self.execute(self.two_runs(("--region-registers", "16")))
        self.assertEqual(fake_tools.calls(self.bin, "annotate"), before + 1)

    def test_a_failure_is_told_with_its_reason_and_the_others_are_kept(self):
        runs = self.two_runs() + [Run("broken", Trace("k", self.launch), ("--fail",))]
        with self.assertRaisesRegex(ReproductionError, r"1 of 3 runs failed.*\n  regatta-sim ended with status 3 on k "
                                                       r"\(broken\): value mismatch in warp 3"):
            self.execute(runs)
        self.assertEqual(len(self.execute(self.two_runs())), 2)
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 3)

    def test_a_trace_that_cannot_be_made_fails_its_runs(self):
        refused = r"2 of 3 runs failed.*:\n  regatta-annotate ended with status 2 on k --refuse: a region of 9 registers does not fit$"
        good = Run("good", Trace("k", self.launch))
        for _ in range(2):  # tried again: it may be the page that is wrong
            with self.assertRaisesRegex(ReproductionError, refused):
                self.execute([*self.two_runs(("--refuse",)), good])
        self.assertEqual((fake_tools.calls(self.bin, "annotate"), fake_tools.calls(self.bin, "sim")), (3, 1))
        # No refusal of a simulation.
        with self.assertRaisesRegex(ReproductionError, "regatta-annotate ended with status 2"):
            self.execute([Run("tiny", Trace("k", self.launch, ("--refuse",)), may_be_refused=True)])

    def test_a_refusal_is_a_result_where_one_is_expected(self):
        run = Run("tiny", Trace("k", self.launch), ("--osu.entries", "-1"), may_be_refused=True)
        result = self.execute([run])[("k", "tiny")]
        self.assertIsNone(result.stats)
        self.assertEqual(result.refused, "osu.entries: found -1, too few")
        self.execute([run])
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 1)
        with self.assertRaisesRegex(ReproductionError, "too few"):
            self.execute([Run("not so tiny", run.trace, run.options + ("--sms", "1"))])

    def test_samples_are_summed_by_name_and_totals_left_out(self):
        samples = Samples(100, (("accesses", ("register_file.reads", "register_file.writes")),))
        r = self.execute([Run("s", Trace("k", self.launch), (), samples)])[("k", "s")]
        self.assertEqual(r.samples["cycle"][:2], [100, 200])
        self.assertEqual(r.samples["accesses"][:2], [3, 4])
        wrong = Samples(100, (("x", ("nothing.of_it",)),))
        with self.assertRaisesRegex(ReproductionError, "no counter of the run is called nothing.of_it"):
            self.execute([Run("s", Trace("k", self.launch), (), wrong)])

    def test_accesses_are_of_one_warp_of_one_launch(self):
        # Three instructions of three cycles each, after one another with two others: read in their second, written then.
        run = Run("a", Trace("k", self.launch), (), accesses=Accesses(1))
        expected = {"life": [100, 115], "R2": [102, 108, 114], "R3": [108], "R10": [108]}
        self.assertEqual(self.execute([run])[("k", "a")].accesses, expected)
        self.assertEqual(self.execute([run])[("k", "a")].accesses, expected)  # kept
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 1)
        with self.assertRaisesRegex(ReproductionError, "launch 2 has no CTA 0 with a warp 0"):
            self.execute([Run("b", Trace("k", self.launch), (), accesses=Accesses(2))])

    def test_a_result_that_was_cut_off_is_made_again(self):
        self.execute(self.two_runs())
        for kept in (self.folder / "work" / "results").iterdir():
            kept.write_bytes(kept.read_bytes()[:100])
        self.execute(self.two_runs())
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 4)

    def test_results_are_shared_between_pages_that_ask_for_the_same(self):
        self.execute(self.two_runs())
        other = Campaign(Tools.find(self.bin), self.folder / "work", "other page", Settings(2, shown=False))
        other.add(Run("another name", Trace("k", self.launch)))
        self.assertEqual(other.execute()[("k", "another name")].stats["cycles"], 10000)
        self.assertEqual(fake_tools.calls(self.bin), 3)

    def test_a_failure_is_tried_again(self):
        for _ in range(2):
            with self.assertRaisesRegex(ReproductionError, "1 of 1 runs failed"):
                self.execute([Run("broken", Trace("k", self.launch), ("--fail",))])
        self.assertEqual(fake_tools.calls(self.bin, "sim"), 2)

    def test_output_that_cannot_be_read_is_a_failure(self):
        table = Run("table", Trace("k", self.launch), ("--scheme", "argo"), tables=(("t", "--garbage-table"),))
        with self.assertRaisesRegex(ReproductionError, r"2 of 3 runs failed.*\n  regatta-sim ended with status 1 on k \(garbage\): its "
                                                       r"statistics cannot be read: JSONDecodeError\n  regatta-sim ended with status 1 on "
                                                       r"k \(table\): its tables/t cannot be read: ValueError"):
            self.execute([Run("garbage", Trace("k", self.launch), ("--garbage",)), table, self.two_runs()[0]])
        self.assertEqual([p.name for p in (self.folder / "work" / "results").iterdir() if p.name.startswith(".")], [])

    def test_what_is_missing_or_contradicts_itself_is_refused(self):
        with self.assertRaisesRegex(InputError, "--bin: found no program 'regatta-sim' in '.*nowhere', expected the folder with"):
            Tools.find(self.folder / "nowhere")
        with self.assertRaisesRegex(InputError, "gone.toml: cannot be read: No such file"):
            self.execute([Run("x", Trace("k", self.folder / "gone.toml"))])
        self.launch.write_text("ptx = ")
        with self.assertRaisesRegex(InputError, "launch.toml: found no TOML: "):
            self.execute(self.two_runs())
        c = self.campaign()
        c.add(Run("x", Trace("k", self.launch)))
        with self.assertRaisesRegex(ReproductionError, "two different runs of k are called 'x'"):
            c.add(Run("x", Trace("k", self.launch), ("--sms", "2")))
        with self.assertRaisesRegex(ReproductionError, "--jobs: found 0, expected at least 1"):
            Campaign(Tools.find(self.bin), self.folder, "page", Settings(0))

    def test_nothing_more_is_made_where_nothing_can_be_written(self):
        runs = [Run(str(i), Trace("k", self.launch, ("--region-registers", str(i)))) for i in (1, 2, 3)]
        full = OSError(errno.ENOSPC, "No space left on device", "the record")
        with mock.patch.object(worker, "replace", side_effect=full), self.assertRaisesRegex(
                InputError, "runs without a result: 3; the same command makes them: cannot write 'the record': No space left on device$"):
            self.execute(runs)
        self.assertEqual((fake_tools.calls(self.bin, "annotate"), fake_tools.calls(self.bin, "sim")), (1, 0))
        self.assertEqual(len(self.execute(runs)), 3)

    def test_traces_are_kept_when_asked_for(self):
        self.execute(self.two_runs(), keep_traces=True)
        self.assertEqual([p.suffix for p in sorted(self.traces())], [".json", ".rgt"])


class WorkerTest(Scratch):
    def test_a_cluster_needs_snakemake(self):
        c = Campaign(Tools.find(self.bin), self.folder / "work", "page", Settings(2, slurm=True, shown=False, snakemake="nosuch"))
        for r in self.two_runs():
            c.add(r)
        with self.assertRaisesRegex(InputError, "--snakemake: found no program 'nosuch', expected Snakemake 7, which --slurm needs"):
            c.execute()

    def test_a_worker_that_cannot_write_says_where(self):
        """As on a full disk."""
        job = {"kind": "simulate", "program": "/bin/true", "folder": "/", "over": "", "known": {},
               "results": str(self.launch / "results"), "runs": [{"key": "k", "arguments": [], "record": "", "keeps": [], "accepted": [0], "files": {}}]}
        done = subprocess.run(worker.COMMAND, capture_output=True, text=True, input=json.dumps(job) + "\n")
        told = {"failed": True, "error": f"cannot write '{self.launch / 'results'}': Not a directory"}
        self.assertEqual((done.returncode, json.loads(done.stdout), done.stderr), (1, told, ""))


if __name__ == "__main__":
    unittest.main()
