# SPDX-License-Identifier: Apache-2.0
"""Numbers out of stats.json by name, and means over runs."""

import unittest

from regatta.means import geomean, mean, pareto, rank_correlation
from regatta.statistics import InputError, of_all_sms, value


class NumbersTest(unittest.TestCase):
    def test_keys_with_dots_and_nested_ones_are_found(self):
        d = {"kernel": "k", "stats": {"sm0.l1": {"reads": 3}, "regless": {"preloads": 7, "regions.executed": 9},
                                      "regless.osu": {"reads": 2}}}
        self.assertEqual(value(d, "stats.sm0.l1.reads"), 3)
        self.assertEqual(value(d, "stats.regless.preloads"), 7)
        self.assertEqual(value(d, "stats.regless.regions.executed"), 9)
        self.assertEqual(value(d, "stats.regless.osu.reads"), 2)
        self.assertEqual(value(d, "stats.nothing", None), None)
        with self.assertRaisesRegex(InputError, r"stats.json of k \(scheme \?\): found no 'stats.regless.misses', expected it"):
            value(d, "stats.regless.misses")

    def test_statistics_of_all_sms(self):
        d = {"stats": {"sm0.l1": {"reads": 3}, "sm1.l1": {"reads": 4}, "sm10.l1x": {"reads": 50}, "l1": {"reads": 9}}}
        self.assertEqual(of_all_sms(d, "l1", "reads"), 7)
        with self.assertRaisesRegex(InputError, "no statistic 'hits' of a module 'l1'"):
            of_all_sms(d, "l1", "hits")

    def test_means(self):
        self.assertAlmostEqual(geomean([0.5, 2.0, 1.0]), 1.0)
        self.assertEqual(mean([1, 2, 6]), 3)
        for bad in ([], [1.0, 0.0]):
            with self.assertRaisesRegex(InputError, "geometric mean needs"):
                geomean(bad)

    def test_rank_correlation(self):
        self.assertEqual(rank_correlation([1, 2, 3], [10, 20, 90]), 1)
        self.assertEqual(rank_correlation([1, 2, 3], [3, 2, 1]), -1)
        self.assertAlmostEqual(rank_correlation([1, 2, 2, 4], [1, 2, 3, 4]), 0.9486833)
        with self.assertRaisesRegex(InputError, "same length"):
            rank_correlation([1], [1])

    def test_pareto_frontier_by_brute_force(self):
        points = [((7 * i) % 11 / 3, (5 * i) % 13 / 2) for i in range(40)]
        front = {points[i] for i in pareto(points)}
        for p in points:
            beaten = any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)
            self.assertEqual(p in front, not beaten, p)


if __name__ == "__main__":
    unittest.main()
