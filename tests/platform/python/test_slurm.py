# SPDX-License-Identifier: Apache-2.0
"""regatta-study on a Slurm of two nodes, started here: the same bytes as on a laptop, whatever is lost on the way."""

import os
import signal
import time
import unittest
from pathlib import Path

from . import fake_study, slurm_cluster
from .fake_study import FolderTest
from .slurm_cluster import NODES, Cluster


class SlurmTest(FolderTest):
    """A study s.toml on a cluster of its own, whose two nodes see this host's files."""

    def setUp(self):
        if reason := slurm_cluster.why_not():
            self.skipTest(reason)
        super().setUp()
        self.cluster = self.enterContext(Cluster())
        self.bin = fake_study.make(self.folder / "bin")

    def start(self, folder, *arguments, **environment):
        return fake_study.start(["run", "s.toml", "--bin", str(self.bin), "--quiet", *arguments], folder,
                                # Snakemake looks at its jobs every second then, instead of every ten.
                                CI="true", **self.cluster.environment, **environment)

    def run_study(self, folder, *arguments, status=0, **environment):
        """What it says of failures."""
        process = self.start(folder, *arguments, **environment)
        out, errors = process.communicate(timeout=fake_study.LONG)
        log = folder / "s.study" / "snakemake.log"
        self.assertEqual(process.returncode, status, (out, errors, log.read_text() if log.exists() else ""))
        return errors

    def wait(self, what, is_so, seconds=fake_study.LONG):
        deadline = time.monotonic() + seconds
        while not is_so():
            self.assertLess(time.monotonic(), deadline, f"{what}: not so after {seconds} s; jobs: {self.states()}")
            time.sleep(0.05)

    def made(self):
        return fake_study.calls(self.bin, "simulate")

    def text(self, runs, group, slurm=""):
        knob = list(range(100, 100 + runs))
        self.write(f'[study]\ngroup_runs = {group}\n[[programs]]\ntrace = "a.rgt"\n[knobs]\nk.a = {knob}\n{slurm}')

    def hold(self, which):
        """Runs for which that is so wait. Nothing: none does any more."""
        held = f"if {which}: wait(lambda: not os.path.exists(own + '/' + me + '.before'))" if which else ""
        fake_study.during(self.bin, "regatta-sim", held)

    def states(self):
        return sorted(job["JobState"] for job in self.cluster.jobs())


def finished(folder):
    return len(list((folder / "s.study" / "runs").glob("*.json.gz")))


def results(folder):
    return [(folder / "s.study" / name).read_bytes() for name in ("results.sqlite", "results.csv")]


class RealTest(SlurmTest):
    """204 points of six kernels, each simulated well below a second."""
    TEXT = """\
schemes = ["baseline", "regless"]
[[programs]]
suite = "regless"
kernels = ["btree", "hotspot", "lud", "nearest_neighbour", "needleman_wunsch", "pathfinder"]
small = true
[knobs]
"dram.latency" = {from = 100, to = 420, steps = 17}
[results]
statistics = ["*.l1.read_misses"]
"""
    RUNS = 6 * 2 * 17

    def study_in(self, name):
        folder = self.folder / name
        folder.mkdir()
        (folder / "s.toml").write_text(self.TEXT)
        return folder

    def setUp(self):
        super().setUp()
        self.bin = Path(os.environ["REGATTA_BIN"]).resolve()

    def test_the_same_bytes_as_on_a_laptop_whatever_is_lost(self):
        laptop = self.study_in("laptop")
        self.run_study(laptop, "--jobs", "2")
        expected = results(laptop)
        self.assertEqual(finished(laptop), self.RUNS)

        whole = self.study_in("whole")
        self.run_study(whole, "--slurm", "--jobs", "4")
        self.assertEqual(results(whole), expected)
        jobs = self.cluster.jobs()
        self.assertEqual({job["NodeList"] for job in jobs}, set(NODES))
        # Six traces, and the runs in groups.
        self.assertLess(len(jobs), 6 + self.RUNS / 10)

        broken = self.study_in("broken")
        process = self.start(broken, "--slurm", "--jobs", "4")
        self.wait("n2 at work", lambda: finished(broken) > 40 and any(
            job["JobState"] == "RUNNING" and job["NodeList"] == "n2" for job in self.cluster.jobs()))
        self.cluster.lose_node("n2")
        at_loss = finished(broken)
        self.wait("further results", lambda: finished(broken) > at_loss + 30)
        process.kill()
        process.communicate(timeout=fake_study.LONG)
        self.cluster.start_node("n2")
        self.run_study(broken, "--slurm", "--jobs", "4")
        self.assertEqual(results(broken), expected)


class LossTest(SlurmTest):
    """Programs that wait: what becomes of jobs that Slurm ends, and of the queue of a study that is interrupted."""

    def test_an_interruption_empties_the_queue(self):
        self.text(6, group=1)
        self.hold("True")
        process = self.start(self.folder, "--slurm", "--jobs", "6")
        self.wait("two jobs at work and four in the queue",
                  lambda: self.made() == 2 and self.states() == ["PENDING"] * 4 + ["RUNNING"] * 2)
        process.send_signal(signal.SIGINT)
        self.assertIn("interrupted; finished runs are kept", process.communicate(timeout=fake_study.LONG)[1])
        self.assertEqual(process.returncode, 130)
        self.wait("cancelled jobs", lambda: self.states() == ["CANCELLED"] * 6)
        self.assertEqual((self.made(), finished(self.folder)), (2, 0))
        self.hold("")
        self.run_study(self.folder, "--slurm", "--jobs", "6")
        self.assertEqual(finished(self.folder), 6)

    def test_jobs_of_a_killed_study_are_cancelled_by_the_next_run(self):
        self.text(4, group=1)
        self.hold("noted('simulate') <= 2")
        process = self.start(self.folder, "--slurm", "--jobs", "4")
        self.wait("two jobs at work", lambda: self.made() == 2 and len(self.states()) == 4)
        process.kill()
        process.communicate(timeout=fake_study.LONG)
        time.sleep(2)
        self.assertEqual(self.states(), ["PENDING"] * 2 + ["RUNNING"] * 2)
        self.run_study(self.folder, "--slurm", "--jobs", "4")
        self.assertEqual(finished(self.folder), 4)
        self.wait("two jobs for each group", lambda: self.states() == ["CANCELLED"] * 4 + ["COMPLETED"] * 4)

    def lose_n2(self):
        """In the second of a job's three runs. What the study says."""
        self.hold("after('--k.a') not in ('100', '103')")
        process = self.start(self.folder, "--slurm", "--jobs", "2")
        self.wait("both nodes in their second runs", lambda: finished(self.folder) == 2 and self.made() == 4)
        self.cluster.lose_node("n2")
        self.hold("")
        errors = process.communicate(timeout=fake_study.LONG)[1]
        return process.returncode, errors

    def test_jobs_of_a_lost_node_run_again_on_the_other(self):
        self.text(6, group=3)
        self.assertEqual(self.lose_n2(), (0, ""))
        self.assertEqual(sorted((job["JobState"], job["BatchHost"], job["Restarts"]) for job in self.cluster.jobs()),
                         [("COMPLETED", "n1", "0"), ("COMPLETED", "n1", "1")])
        self.assertEqual((finished(self.folder), self.made()), (6, 7))

    def test_without_requeue_jobs_of_a_lost_node_are_told(self):
        self.text(6, group=3, slurm='[slurm]\nextra = ["--no-requeue"]\n')
        status, errors = self.lose_n2()
        self.assertEqual((status, finished(self.folder)), (1, 4), errors)
        self.assertRegex(errors, r"^runs without a result: 2; the same command makes them: their jobs failed\n"
                                 r"  job [12]: NODE_FAIL after 00:00:\d\d on n2 \(.*/s\.study/slurm/[12]\.log\)\n$")
        self.run_study(self.folder, "--slurm", "--jobs", "2")
        self.assertEqual((finished(self.folder), self.made()), (6, 7))


class LimitTest(SlurmTest):
    """In a class of its own: Slurm's shortest limit is a minute, and it looks every half minute."""

    def test_a_job_that_slurm_ends_is_told_and_made_again(self):
        self.text(3, group=3, slurm='[slurm]\ntime = "1"\n')
        self.hold("after('--k.a') != '100'")
        errors = self.run_study(self.folder, "--slurm", status=1)
        self.assertEqual(finished(self.folder), 1)
        self.assertRegex(errors, r"runs without a result: 2; the same command makes them: their jobs failed\n"
                                 r"  job 1: TIMEOUT after 00:0\d:\d\d on n1 \(.*/s\.study/slurm/1\.log\)\n$")
        self.hold("")
        made = self.made()
        self.run_study(self.folder, "--slurm")
        self.assertEqual((finished(self.folder), self.made() - made), (3, 2))


if __name__ == "__main__":
    unittest.main()
