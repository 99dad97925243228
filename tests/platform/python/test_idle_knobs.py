# SPDX-License-Identifier: Apache-2.0
"""Knobs of a study that change no cycles."""

import unittest

from regatta.idle_knobs import Measured, idle_knobs, sentences


def run(scheme, cycles, program="p", **knobs):
    return Measured(scheme, (program, "gtx980", 0), knobs, cycles)


class IdleKnobsTest(unittest.TestCase):
    def test_all_else_equal(self):
        runs = [run("baseline", 100, l1=1, l2=1), run("baseline", 100, l1=2, l2=1), run("baseline", 90, l1=1, l2=2),
                run("baseline", 90, l1=2, l2=2), run("regless", 120, l1=1, osu=1), run("regless", 110, l1=2, osu=1)]
        self.assertEqual(idle_knobs(runs), [("l1", "baseline")])
        self.assertEqual(sentences(idle_knobs(runs)), ["l1 has no effect on baseline."])
        # One program on which it has an effect is enough; so is one point.
        self.assertEqual(idle_knobs([*runs, run("baseline", 7, "q", l1=1), run("baseline", 8, "q", l1=2)]), [])
        self.assertEqual(idle_knobs([run("baseline", 1, l1=1), run("baseline", 1, "q", l1=2)]), [])

    def test_a_knob_is_told_once(self):
        self.assertEqual(sentences([("a", "x"), ("b", "x"), ("a", "y"), ("a", "z")]), ["a has no effect on x, y and z.", "b has no effect on x."])


if __name__ == "__main__":
    unittest.main()
