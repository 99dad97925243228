# SPDX-License-Identifier: Apache-2.0
"""Runs that differ in more than knobs: it is said first, and nothing is blamed for it."""

import copy
import unittest

from regatta.comparison import compare
from regatta.compare_text import text
from regatta.statistics import Run

from .made import document, launch


def run(name, *, cycles=100, kernel="k", code="c0", data="d0", mix=None, launches=1, registers=14, sms=1, ran=None, **more):
    """`ran`: the launches that were simulated, if not all."""
    ran = range(launches) if ran is None else ran
    d = document([launch(kernel, cycles, memory=cycles // 2) for _ in ran], kernel=kernel, program={
        "kernels": [{"name": kernel, "instructions": 78, "registers": registers, "code": code}], "launches": launches, "data": data,
        "warp_instructions": mix or {"int_add": 100}}, **more)
    for i in range(sms):
        d["stats"][f"sm{i}.pipeline"] = {"resident_warp_cycles": 8 * cycles}
    if len(ran) < launches:
        d["sampling"] = {"launches": launches, "simulated": ",".join(map(str, ran))}
    return Run(d, name)


def old(of):
    """As an earlier version would have written it."""
    d = copy.deepcopy(of.document)
    del d["program"]
    return Run(d, of.name)


class NotesTest(unittest.TestCase):
    def told(self, a, b, *notes, cause=False):
        """These notes come first; a structure is blamed or not."""
        found = compare(a, b)
        self.assertEqual(found["notes"], list(notes))
        self.assertEqual(found["verdict"][:len(notes)], list(notes))
        self.assertRegex(found["verdict"][len(notes)], "^(B takes|Both take)")
        said = " ".join(found["verdict"][len(notes):])
        self.assertEqual("cause" in said or "points to" in said, cause, said)
        self.assertEqual(bool(found["suspects"]), cause)
        for note in notes:
            self.assertIn(note, text(found))

    def slower(self, **more):
        """120 cycles, with slower memory."""
        config = {"dram.latency": 300, **more.pop("config", {})}
        return run("b", cycles=120, config=config, **more)

    def test_nothing_to_say(self):
        self.told(run("a"), self.slower(), cause=True)
        self.told(old(run("a")), old(self.slower()), cause=True)

    def test_other_programs(self):
        note = "A and B ran different programs: k and l."
        self.told(run("a"), self.slower(kernel="l"), note)
        self.told(old(run("a")), old(self.slower(kernel="l")), note)
        self.told(run("a"), old(self.slower(kernel="l")), note)

    def test_other_code(self):
        self.told(run("a"), self.slower(code="c1", registers=20),
                  "A and B ran different code of k (k: both 78 instructions, 14 and 20 registers): it was compiled from other sources or "
                  "with other options.")

    def test_other_inputs(self):
        self.told(run("a"), self.slower(mix={"int_add": 90}, data="d1"),
                  "A and B ran the same kernels on other inputs or grids: they executed other numbers of instructions.")
        self.told(run("a"), self.slower(launches=2, data="d1"),
                  "A and B ran the same kernels on other inputs or grids: they executed other numbers of instructions.")
        self.told(old(run("a", warp_instructions=100)), old(self.slower(warp_instructions=90)),
                  "A and B ran the same kernels on other inputs or grids: they executed other numbers of instructions.")
        # Only values differ: the machine may be the cause all the same.
        self.told(run("a"), self.slower(data="d1"),
                  "A and B ran the same code with other data: other inputs, or other options of regatta-annotate.", cause=True)

    def test_what_a_scheme_inserts_is_no_other_program(self):
        inserted = run("b", cycles=120, scheme="rc", warp_instructions=104)
        self.assertEqual(compare(run("a"), inserted)["notes"], [])
        self.assertEqual(compare(old(run("a")), old(inserted))["notes"], [])

    def test_a_part_of_the_launches(self):
        whole = run("a", launches=4)
        self.told(whole, self.slower(launches=4, ran=(1, 3), mix={"int_add": 50}),
                  "A simulated all launches, B simulated 2 of 4 launches (1,3).")
        self.told(run("a", launches=4, ran=(0, 3)), self.slower(launches=4, ran=(1, 3)),
                  "A simulated 2 of 4 launches (0,3), B simulated 2 of 4 launches (1,3).")
        self.told(old(whole), old(self.slower(launches=4, ran=(1, 3))), "A simulated all launches, B simulated 2 of 4 launches (1,3).")
        self.told(run("a", launches=4, ran=(1, 3)), self.slower(launches=4, ran=(1, 3)), cause=True)

    def test_other_machines_and_numbers_of_sms(self):
        self.told(run("a", sms=1), self.slower(sms=4),
                  "A simulated 1 SM, B 4 SMs: the same CTAs are spread over other numbers of SMs.")
        self.told(run("a", config={"dram.latency": 100, "machine.sms": 16}), self.slower(config={"machine.sms": 15}),
                  "A is a part of a machine of 16 SMs, B of 15: their shares of the L2 and of DRAM differ.", cause=True)
        self.told(run("a", config={"dram.latency": 100, "l1.ways": 4}), self.slower(config={"l1.ways": 2}, machine="n"),
                  "A ran on the machine m, B on n: 2 knobs differ.", cause=True)
        said = compare(run("a", config={"dram.latency": 100, "l1.ways": 4}), self.slower(config={"l1.ways": 2}, machine="n"))["verdict"]
        self.assertIn("Most of it points to the DRAM", " ".join(said))

    def test_more_than_the_scheme(self):
        """A scheme's own knobs are a part of it, also those that another scheme has with another value."""
        base = {"dram.latency": 100, "sm.scheduler": "gto", "sleep_transistors.wake_off": 2}
        a = run("a", config=base)
        b = run("b", cycles=120, scheme="register_sharing", config={**base, "register_sharing.t": "0.1", "sleep_transistors.wake_off": 10})
        self.assertEqual(compare(a, b)["notes"], [])
        b.document["config"]["sm.scheduler"] = "owf"
        self.assertEqual(compare(a, b)["notes"], [
            "A and B differ in more than the scheme (baseline and register_sharing): sm.scheduler is owf instead of gto. To see what the "
            "scheme alone does, run baseline with B's other options."])

    def test_a_run_that_did_not_end(self):
        b = self.slower(kernel="l")
        b.document["ending"] = "deadlock"
        self.told(run("a"), b, "B stopped in a deadlock: its numbers are of the part before.", "A and B ran different programs: k and l.")


if __name__ == "__main__":
    unittest.main()
