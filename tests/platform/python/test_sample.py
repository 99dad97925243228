# SPDX-License-Identifier: Apache-2.0
"""Sampling of launches: intervals hold the true value as often as they say, all launches give it exactly, and
regatta-sample does it with real runs."""

import contextlib
import io
import json
import math
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from regatta.commands.sample import main
from regatta.sampling import estimate, population
from regatta.sampling.plan import LEAST_FREEDOM, Sample, Settings, run
from regatta.sampling.runs import launches_text
from regatta.sampling.strata import Stratum, clusters, k_means, stratify
from regatta.sampling.student import two_sided
from regatta.statistics import InputError


def launch(n, instructions, kernel=0, **more):
    return {"launch": n, "kernel": f"k{kernel}", "kernel_index": kernel, "ctas": 1, "threads_per_cta": 32,
            "registers_per_thread": 8, "shared_bytes_per_cta": 0, "warp_instructions": instructions,
            "thread_instructions": 32 * instructions, "classes": {"load": instructions}, "values": {"raw": instructions},
            "lines": instructions // 4, "requests": instructions // 2, "bytes": 2 * instructions, **more}


def made(sizes, kernels=None):
    return population({"launches": [launch(n, s, kernels[n] if kernels else 0) for n, s in enumerate(sizes)]})


def covered(true, estimates):
    return sum(e.interval[0] <= true <= e.interval[1] for e in estimates)


def least_of(draws):
    """Fewer intervals than this hold the true value with a probability below 0.1 % if 95 % do on average."""
    return 0.95 * draws - 3.09 * math.sqrt(draws * 0.95 * 0.05)


DRAWS = 200  # of each population, 1,000 in all


class StudentTest(unittest.TestCase):
    def test_known_quantiles(self):
        for confidence, freedom, t in ((0.95, 1, 12.7062), (0.95, 2, 4.3027), (0.95, 5, 2.5706), (0.99, 10, 3.1693),
                                       (0.9, 30, 1.6973), (0.95, 1e12, 1.95996)):
            self.assertAlmostEqual(two_sided(confidence, freedom), t, places=4)
        self.assertTrue(two_sided(0.95, 3) < two_sided(0.95, 2.5) < two_sided(0.95, 2))
        self.assertRaises(ValueError, two_sided, 1.0, 3)
        self.assertRaises(ValueError, two_sided, 0.95, 0)


class StrataTest(unittest.TestCase):
    def test_k_means_finds_groups_that_are_apart(self):
        points = [[0.0, 0.0], [10.0, 0.0], [0.1, 0.0], [10.0, 0.2], [0.0, 20.0]]
        labels, inside = k_means(points, 3)
        self.assertEqual(labels, [0, 1, 0, 1, 2])
        self.assertAlmostEqual(inside, 2 * 0.05 ** 2 + 2 * 0.1 ** 2)
        self.assertEqual(k_means(points, 9)[1], 0.0)
        self.assertEqual(k_means([[1.0], [1.0]], 2), ([0, 0], 0.0))

    def test_the_number_of_clusters_is_that_of_the_groups(self):
        alike = made([100] * 6)
        self.assertEqual([[u.number for u in c] for c in clusters(alike, 4)], [[0, 1, 2, 3, 4, 5]])
        groups = made([100, 1000, 101, 1001, 100000, 99, 999, 100100])
        self.assertEqual([[u.number for u in c] for c in clusters(groups, 6)], [[0, 2, 5], [1, 3, 6], [4, 7]])
        self.assertEqual(len(clusters(groups, 2)), 2)

    def test_strata_hold_every_launch_once_and_none_of_two_kernels(self):
        rng = random.Random(1)
        for n in (1, 2, 3, 7, 50, 400):
            kernels = [rng.randrange(3) for _ in range(n)]
            launches = made([rng.randrange(1, 10000) for _ in range(n)], kernels)
            for budget in (1, 1000, 10**5, 10**9):
                strata = stratify(launches, budget)
                self.assertEqual(sorted(i for s in strata for i in s.members), list(range(n)))
                for s in strata:
                    self.assertEqual({kernels[i] for i in s.members}, {s.kernel_index})
                    self.assertTrue(s.certain or len(s.members) > 2)

    def test_the_biggest_launches_are_certain(self):
        launches = made([100] * 200 + [1500])
        self.assertIn(Stratum("k0", 0, -1, (200,), True), stratify(launches, 6000))


class CoverageTest(unittest.TestCase):
    POPULATIONS = {
        "proportional": lambda rng, size: 2 * size * (1 + 0.1 * rng.gauss(0, 1)),
        "constant and slope": lambda rng, size: 5000 + size + 300 * rng.gauss(0, 1),
        "two speeds": lambda rng, size: size * (1 if rng.random() < 0.5 else 1.5),
        "curved": lambda rng, size: size ** 1.3 * (1 + 0.02 * rng.gauss(0, 1)),
        "skewed": lambda rng, size: size * (1 + 0.1 * rng.expovariate(1)),
    }

    def populations(self):
        for name, rule in self.POPULATIONS.items():
            rng = random.Random(name)
            sizes = [rng.randrange(1000, 20000) for _ in range(120)]
            yield name, made(sizes, [n % 2 for n in range(120)]), [rule(rng, s) for s in sizes]

    def test_intervals_of_fixed_samples(self):
        inside = 0
        for name, launches, values in self.populations():
            strata = stratify(launches, 0.2 * sum(u.cost for u in launches))
            draws = []
            for seed in range(DRAWS):
                rng = random.Random(seed)
                drawn = [n for s in strata for n in (s.members if s.certain else rng.sample(s.members, 2))]
                draws.append(estimate(launches, strata, {n: values[n] for n in drawn}))
            with self.subTest(name):
                self.assertGreaterEqual(covered(sum(values), draws), least_of(DRAWS))
                # An interval that were always right by being wide would be of no use.
                self.assertLess(sorted(e.relative for e in draws)[DRAWS // 2], 0.2)
                mean = sum(e.total for e in draws) / len(draws)
                self.assertLess(abs(mean / sum(values) - 1), 0.01)
            inside += covered(sum(values), draws)
        self.assertGreaterEqual(inside, least_of(5 * DRAWS))

    def test_intervals_of_samples_that_grow(self):
        covers = []
        for _, launches, values in self.populations():
            draws = [run(launches, Settings(error=0.06, budget=0.25, seed=seed), lambda ns: {n: values[n] for n in ns})
                     for seed in range(DRAWS)]
            covers.append(covered(sum(values), [d.estimate for d in draws]))
            for d in draws:
                self.assertEqual(d.reached, d.estimate.relative <= 0.06)
                self.assertLessEqual(d.sample.cost(), 0.25 * sum(u.cost for u in launches))
        self.assertGreaterEqual(sum(covers), least_of(5 * DRAWS))
        self.assertGreaterEqual(min(covers), least_of(DRAWS))

    def test_two_launches_that_agree_are_not_enough(self):
        launches = made([1000] * 300)
        asked = []

        def simulate(numbers):
            asked.extend(numbers)
            return {n: 500.0 for n in numbers}

        found = run(launches, Settings(error=0.05, budget=0.03), simulate)
        self.assertEqual((found.reached, found.estimate.total, found.estimate.relative), (True, 150000.0, 0.0))
        # Strata with n launches have n - 1 degrees of freedom each.
        self.assertGreaterEqual(len(asked) - len(found.sample.strata), LEAST_FREEDOM)
        self.assertLessEqual(len(asked), 9)
        self.assertEqual(run(launches, Settings(error=0.05, budget=0.007), simulate).stages, 1)  # nothing more to spend

    def test_the_allowance_widens_in_proportion_to_what_was_not_simulated(self):
        launches = made([100] * 10)
        strata = stratify(launches, 300)
        results = {n: 100.0 for n in range(4)}
        narrow, wide = (estimate(launches, strata, results, allowance=a) for a in (0.0, 0.1))
        self.assertEqual(narrow.half_width, 0.0)
        self.assertAlmostEqual(wide.half_width, 0.1 * 1000 * 0.6)

    def test_all_launches_are_exact(self):
        rng = random.Random(3)
        launches = made([rng.randrange(1, 500) for _ in range(30)], [n % 4 for n in range(30)])
        values = {n: float(rng.randrange(1000)) for n in range(30)}
        for budget in (10.0, 10**6):
            e = estimate(launches, stratify(launches, budget), values, allowance=0.5)
            self.assertEqual(e.interval, (sum(values.values()),) * 2)

    def test_a_sample_too_small_is_refused(self):
        launches = made([100] * 10)
        strata = stratify(launches, 300)
        self.assertRaises(ValueError, estimate, launches, strata, {0: 1.0})
        self.assertRaises(ValueError, estimate, launches, strata, {})

    def test_samples_depend_on_the_seed_alone(self):
        launches = made([100 + n for n in range(100)])
        lists = [Sample(launches, Settings(seed=s)).numbers() for s in (1, 1, 2)]
        self.assertEqual(lists[0], lists[1])
        self.assertNotEqual(lists[0], lists[2])


class PopulationTest(unittest.TestCase):
    def test_other_documents_are_refused(self):
        for document in ({}, {"launches": [{}]}, {"launches": [launch(1, 10)]}, {"launches": 3}):
            with self.assertRaises(InputError):
                population(document)

    def test_lists(self):
        self.assertEqual(launches_text([0, 5, 7, 8, 9]), "0,5,7:9")
        self.assertEqual(launches_text([3]), "3")


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")), "no regatta-sim")
class ProgramTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bin = Path(os.environ["REGATTA_BIN"])
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = str(Path(cls.folder.name) / "k.rgt")
        launch_file = Path(os.environ["REGATTA_KERNELS"]) / "gaussian" / "launch.small.toml"
        subprocess.run([cls.bin / "regatta-annotate", "--launch", launch_file, "--out", cls.trace], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stats = Path(cls.folder.name) / "plain.json"
        subprocess.run([cls.bin / "regatta-sim", cls.trace, "--machine", "gtx480", "--stats", stats], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.plain = json.loads(stats.read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def sample(self, *arguments):
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = main([self.trace, "--bin", str(self.bin), *arguments])
        return status, output.getvalue(), errors.getvalue()

    def document(self, *arguments):
        status, text, errors = self.sample("--json", "-", *arguments)
        self.assertEqual((status, errors), (0, ""))
        result = json.loads(text)
        result.pop("host")
        return result

    def test_a_sample_of_a_real_program(self):
        options = ("--budget", "30%", "--stat", "memory.l2_*.reads", "--", "--machine", "gtx480", "--log-level", "error")
        result = self.document(*options)
        s = result["sampling"]
        self.assertEqual(s["launches"], len(self.plain["launches"]))
        self.assertLess(s["simulated_launches"], s["launches"])
        self.assertEqual(s["fraction"], s["simulated_warp_instructions"] / self.plain["warp_instructions"])
        self.assertEqual(result["warp_instructions"], self.plain["warp_instructions"])
        self.assertEqual(result["config"], self.plain["config"])
        low, high = s["intervals"]["cycles"]
        self.assertTrue(low <= self.plain["cycles"] <= high)
        low, high = s["intervals"]["energy.total_nj"]
        self.assertTrue(low <= self.plain["energy"]["total_nj"] <= high)
        reads = sum(group.get("reads", 0) for name, group in self.plain["stats"].items() if name.startswith("memory.l2_"))
        low, high = s["intervals"]["stats.memory.l2_*.reads"]
        self.assertTrue(low <= reads <= high)
        self.assertEqual(self.document(*options), result)
        self.assertNotEqual(self.document("--seed", "1", *options)["sampling"]["simulated"], s["simulated"])

    def test_exact_and_a_budget_of_everything_are_the_plain_run(self):
        for how in (("--exact",), ("--budget", "1", "--error", "0.0001%")):
            result = self.document(*how, "--", "--machine", "gtx480", "--log-level", "error")
            self.assertEqual(result["cycles"], self.plain["cycles"])
            self.assertEqual(result["issue_cycles"], self.plain["issue_cycles"])
            for key in ("total_nj", "dynamic_nj", "static_nj", "by_structure"):
                self.assertEqual(result["energy"][key], self.plain["energy"][key])
            self.assertEqual(result["sampling"]["fraction"], 1.0)
            for low, high in result["sampling"]["intervals"].values():
                self.assertEqual(low, high)
            self.assertTrue(result["sampling"]["reached"])

    def test_the_report_says_if_the_error_is_not_reached(self):
        status, text, _ = self.sample("--budget", "5%", "--error", "0.01%", "--", "--log-level", "error")
        self.assertEqual(status, 0)
        self.assertIn("Not reached: the interval of the cycles is ", text)

    def test_the_report_says_which_launches_a_group_has(self):
        sampled = self.sample("--budget", "30%")[1]
        exact = self.sample("--exact")[1]
        groups = self.document("--budget", "30%")["sampling"]["strata"]
        for group in groups:
            least, most = group["warp_instructions"]
            self.assertIn(f"{least:,}" + (f" to {most:,}" if most > least else ""), sampled)
        self.assertEqual(sum(launch["warp_instructions"] for launch in self.plain["launches"]), self.plain["warp_instructions"])
        self.assertIn("interval", sampled)
        self.assertNotIn("interval", exact)
        self.assertIn(f"all {len(self.plain['launches'])} launches simulated", exact)

    def test_options_of_the_simulator_in_the_wrong_place(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(main([self.trace, "--scheme", "regless"]), 2)
        self.assertEqual(errors.getvalue(), "regatta-sample: unknown option '--scheme'; options of regatta-sim come after '--'\n")

    def test_bad_input_is_refused(self):
        for arguments, message in (
                (("--error", "x"), "--error: found 'x', expected a fraction above 0 and up to 1, or a percentage"),
                (("--budget", "0"), "--budget: found '0', expected a fraction above 0 and up to 1, or a percentage"),
                (("--warm", "-1"), "--warm: found -1, expected 0 or more"),
                (("--json", self.trace), f"--json and the trace name the same file '{self.trace}'"),
                (("--", "--launches", "1"), "'--launches' after '--': regatta-sample sets it itself"),
                (("--", "--replay"), "'--replay' after '--': it simulates nothing, expected options of a simulation")):
            self.assertEqual(self.sample(*arguments), (2, "", f"regatta-sample: {message}\n"))
        self.assertEqual(self.sample("--", "--machine", "none")[:2], (2, ""))
        self.assertEqual(self.sample("--stat", "sm0.l1.nothing")[:2], (2, ""))


if __name__ == "__main__":
    unittest.main()
