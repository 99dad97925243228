# SPDX-License-Identifier: Apache-2.0
"""Blocks of a scheme that hold warps back, and changed knobs in the order of their effects."""

import unittest

from regatta import waits
from regatta.causes import suspects
from regatta.comparison import compare
from regatta.compare_text import text
from regatta.difference import Difference
from regatta.effects import Candidate, explained, unit, warps
from regatta.statistics import InputError, Run

from .made import document, launch

WAITS = [{"statistic": "sm*.compressor*.place_wait_cycles", "of": "module", "knobs": ["compressor.lines"]},
         {"statistic": "sm*.compressor*.fetch_wait_cycles", "of": "module", "knobs": ["compressor.lines", "compressor.fetches"]},
         {"statistic": "sm*.manager.shard*.preload_cycles", "of": "warps", "knobs": ["osu.entries"]},
         {"statistic": "sm*.osu.bank*.reads", "of": "warps", "knobs": ["osu.latency"], "latency_at_least": 1},
         {"statistic": "sm*.engine.wait_cycles", "of": "ctas", "knobs": ["switching.latency"]},
         {"statistic": "sm*.pipeline.resident_cta_cycles", "of": "residents", "knobs": ["osu.backed"]}]
KNOBS = {"compressor.lines": 12, "compressor.fetches": 2, "osu.entries": 512, "osu.latency": 3, "switching.latency": 20, "osu.backed": 0}


def made(name, cycles, warps_=8, ctas=4, scheme="baseline", stats=None, config=None, gate=0, **more):
    d = document([launch("k", cycles, memory=40, issue_gate=gate)], scheme=scheme, config={"dram.latency": 100, **(config or {})}, **more)
    d["stats"]["sm0.pipeline"] = {"resident_warp_cycles": warps_ * cycles, "resident_cta_cycles": ctas * cycles}
    for path, value in (stats or {}).items():
        module, _, statistic = path.rpartition(".")
        d["stats"].setdefault(module, {})[statistic] = value
    return Run(d, name)


def regless(cycles=200, stats=None, config=None, ctas=4, **more):
    return made("b", cycles, scheme="regless", stats=stats, config={**KNOBS, **(config or {})}, waits=WAITS, gate=150, ctas=ctas, **more)


class WaitsTest(unittest.TestCase):
    def found(self, *stats, **more):
        of = regless(stats=dict(stats), **more)
        return [(f.block, round(f.share, 3), round(f.of_worst, 3), f.worst.name, f.knobs) for f in waits.losses(made("a", 100), of)]

    def test_shares(self):
        # Two compressors for 200 cycles; the second wait has two knobs.
        self.assertEqual(self.found(("sm0.compressor0.place_wait_cycles", 50), ("sm0.compressor1.place_wait_cycles", 30),
                                    ("sm0.compressor0.fetch_wait_cycles", 100), ("sm0.compressor1.fetch_wait_cycles", 0)),
                         [("compressor", 0.45, 0.25, "fetch_wait_cycles", (("compressor.lines", 12), ("compressor.fetches", 2)))])
        # Eight warps for 200 cycles.
        self.assertEqual(self.found(("sm0.manager.shard3.preload_cycles", 400)),
                         [("manager", 0.25, 0.25, "preload_cycles", (("osu.entries", 512),))])
        # 400 reads, of which each takes two cycles more than it has to.
        self.assertEqual(self.found(("sm0.osu.bank0.reads", 300), ("sm0.osu.bank11.reads", 100)),
                         [("osu", 0.5, 0.5, "reads", (("osu.latency", 3),))])
        self.assertEqual(self.found(("sm0.osu.bank0.reads", 300), config={"osu.latency": 1}), [])
        self.assertEqual(self.found(("sm0.engine.wait_cycles", 80)), [("engine", 0.1, 0.1, "wait_cycles", (("switching.latency", 20),))])
        # A third of the CTAs that the other run has.
        self.assertEqual(self.found(ctas=3), [("resident CTAs", 0.333, 0.333, "resident_cta_cycles", (("osu.backed", 0),))])

    def test_the_largest_first_and_less_what_the_other_run_loses_too(self):
        a = regless(100, {"sm0.compressor0.place_wait_cycles": 40, "sm0.manager.shard0.preload_cycles": 0})
        b = regless(200, {"sm0.compressor0.place_wait_cycles": 180, "sm0.manager.shard0.preload_cycles": 1200})
        self.assertEqual([(f.block, round(f.share, 3)) for f in waits.losses(a, b)], [("manager", 0.75), ("compressor", 0.5)])

    def test_damaged(self):
        for entry in (["waits"], [{"statistic": "a.b"}], [{"statistic": "a.b", "of": "warps", "knobs": ["x"], "latency_at_least": "one"}],
                      [{"statistic": "a.b", "of": "warps", "knobs": 3}]):
            with self.assertRaisesRegex(InputError, "^x: 'waits': found list of another form, expected them as in a stats.json"):
                waits.of_run(Run(document([launch("k", 10)], waits=entry), "x"))
        self.assertEqual(waits.of_run(made("a", 10)), [])


class InsideTest(unittest.TestCase):
    STATS = {"sm0.compressor0.place_wait_cycles": 120, "sm0.manager.shard0.preload_cycles": 400, "sm0.osu.bank0.reads": 40}

    def test_a_scheme_that_is_slower(self):
        for found in (compare(made("a", 100), regless(stats=self.STATS)), compare(regless(stats=self.STATS), made("a", 100))):
            self.assertEqual([s["structure"] for s in found["suspects"][:4]],
                             ["scheme of operand storage", "compressor", "manager", "osu"])
            said = " ".join(found["verdict"])
            self.assertIn("The likeliest cause is the scheme of operand storage: run.scheme is ", said)
            self.assertTrue(said.endswith(
                "Within regless, most time is lost in the compressor (place_wait_cycles: 60 % of the cycles; compressor.lines is 12), then in "
                "the manager (preload_cycles: 25 % of the warps' time; osu.entries is 512)."), said)
            self.assertEqual(found["suspects"][1]["to_try"], [{"knob": "compressor.lines", "value": 12}])
            self.assertEqual((found["suspects"][1]["share"], found["suspects"][1]["of"]), (0.6, "module"))
            told = text(found)
            self.assertIn("compressor.lines 12", told)
            self.assertIn("sm*.compressor*.place_wait_cycles, 60.0 % of the cycles", told)

    def test_a_scheme_that_is_faster(self):
        """What it loses is no cause of the difference, and comes last."""
        found = compare(made("a", 200), regless(100, stats={**self.STATS, "sm0.compressor0.place_wait_cycles": 60}))
        self.assertEqual([s["structure"] for s in found["suspects"]][-3:], ["compressor", "manager", "osu"])
        self.assertIn("Within regless, most time is lost in the compressor (place_wait_cycles: 60 % of the cycles", found["verdict"][-1])

    def test_two_schemes(self):
        """The slower one's blocks come first, and are told."""
        other = [{"statistic": "sm*.gate.wait_cycles", "of": "warps", "knobs": ["pool.entries"]}]
        a = made("a", 100, scheme="pool", stats={"sm0.gate.wait_cycles": 700}, config={"pool.entries": 5}, waits=other)
        found = compare(a, regless(stats=self.STATS))
        self.assertEqual([s["structure"] for s in found["suspects"] if "share" in s], ["compressor", "manager", "osu", "gate"])
        self.assertTrue(found["verdict"][-1].startswith("Within regless, "), found["verdict"])

    def test_a_changed_knob_of_a_block(self):
        """Both runs have the scheme: the block whose waits the knob shortens is the cause."""
        a = regless(100, {"sm0.compressor0.place_wait_cycles": 0})
        b = regless(200, {"sm0.compressor0.place_wait_cycles": 150}, config={"compressor.lines": 2, "osu.write_queue": 3})
        a.document["config"]["osu.write_queue"] = 4
        found = compare(a, b)
        self.assertEqual(found["suspects"][0]["structure"], "compressor")
        self.assertIn("The likeliest cause is the compressor: compressor.lines is 2 instead of 12.", " ".join(found["verdict"]))


class EffectsTest(unittest.TestCase):
    def growth(self, a, b):
        return {r: 100 * float(c) / a.cycles for r, c in Difference(a, b).by_reason().items() if c > 0}

    def explained(self, a, b, *candidates):
        return explained(a, b, self.growth(a, b), candidates)

    def test_the_larger_time_first(self):
        """Waits of warps, and a unit's busy cycles, of runs that wait longer for results."""
        a = made("a", 100, stats={"sm0.x.slow": 0, "sm0.y.slow": 0})
        b = made("b", 200, stats={"sm0.x.slow": 400, "sm0.y.slow": 100}, gate=0)
        b.document["launches"][0] = launch("k", 200, memory=240)
        by = {name: warps(lambda run, m=name: run.total(rf"sm\d+\.{m}", "slow")) for name in "xy"}
        candidates = [Candidate(name, ("memory",), (), (time,)) for name, time in by.items()]
        both = self.explained(a, b, *candidates)
        self.assertGreater(both["x"], 2 * both["y"])
        busy = unit(lambda run: run.total(r"sm\d+\.y", "slow"), r"sm\d+\.pipeline")  # 100 of 200 cycles
        both = self.explained(a, b, candidates[0], Candidate("y", ("memory",), (), (busy,)))
        self.assertGreater(both["y"], both["x"])
        # An instance each, and pipelines each.
        self.assertEqual(unit(lambda run: 60.0, r"sm\d+\.pipeline", "unit.sp").cycles(made("a", 10, config={"unit.sp": 3}), made("b", 10)), 20.0)

    def test_only_the_reasons_of_a_structure_count(self):
        a, b = made("a", 100, stats={"sm0.x.slow": 0, "sm0.y.slow": 0}), made("b", 200, stats={"sm0.x.slow": 100, "sm0.y.slow": 400})
        b.document["launches"][0] = launch("k", 200, memory=240)
        by = {name: warps(lambda run, m=name: run.total(rf"sm\d+\.{m}", "slow")) for name in "xy"}
        both = self.explained(a, b, Candidate("x", ("memory",), (), (by["x"],)), Candidate("y", ("barrier",), (), (by["y"],)))
        self.assertGreater(both["x"], both["y"])

    def test_the_scheduler_has_what_others_leave(self):
        a = made("a", 100, stats={"sm0.x.slow": 0})
        for slow, first in ((10, "warp scheduler"), (4000, "x")):
            b = made("b", 200, stats={"sm0.x.slow": slow})
            b.document["launches"][0] = launch("k", 200, memory=240)
            time = warps(lambda run: run.total(r"sm\d+\.x", "slow"))
            both = self.explained(a, b, Candidate("x", ("memory",), (), (time,)), Candidate("warp scheduler", ("memory",), ()))
            self.assertEqual(max(both, key=lambda name: both[name]), first)

    def test_equal_runs_have_no_suspect(self):
        a, b = made("a", 100), made("b", 100, config={"dram.latency": 500})
        self.assertEqual(suspects(Difference(a, b)), [])


if __name__ == "__main__":
    unittest.main()
