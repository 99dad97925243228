# SPDX-License-Identifier: Apache-2.0
"""The page of resource sharing, from tools that only pretend. The whole page has its runs' results made up in this
process: a Python process for each of its runs would take minutes."""

import unittest
from unittest import mock

from tests import fake_tools, page_case
from regatta_reproduce import command, plots, programs, suite
from regatta_reproduce.campaign import Result

sharing = page_case.module("sharing")
import evaluation  # noqa: E402  # the page's: its folder leads the path

part = ["hotspot", "gaussian"]


class MadeUp:
    """In place of a campaign: every run takes 10,000 cycles in each launch, those of register sharing fewer, and an SM
    holds as many CTAs as the formula allows."""

    def __init__(self, *arguments):
        self.runs = []

    def add(self, run):
        self.runs.append(run)

    def execute(self):
        return {(r.trace.kernel, r.name): self.result(r) for r in self.runs}

    @staticmethod
    def result(run):
        shapes = suite.launches_of(run.trace.launch)
        options = dict(zip(run.options[::2], run.options[1::2]))
        scheme = options.get("--scheme", "baseline")
        t = options.get("--register_sharing.t", options.get("--scratchpad_sharing.t", "0.1"))
        share = round(100 * (1 - float(t))) if scheme.endswith("_sharing") else 0
        needed = dict(zip(run.trace.options[::2], run.trace.options[1::2]))
        registers = int(needed.get("--min-registers", 20))
        cycles = 8000 if share == 90 else 9000 if "owf" in run.options else 10000
        sizes = {p.entries[0]: p.shared_bytes or 0 for p in sharing.programs.listed()}
        launches, spans = [], {"launch": [], "sm": [], "launched": [], "finished": []}
        for i, shape in enumerate(shapes):
            stalls = {r: 100 for r in ("scoreboard", "issue_gate", "structural", "memory", "barrier", "instruction_fetch", "idle")}
            launches.append({"kernel": shape.entry, "cycles": cycles, "warp_instructions": 9000, "thread_instructions": 270000, "issue_cycles": 9000,
                             "stall_cycles": stalls})
            plan = evaluation.register_plan(shape.threads, registers, share)
            if run.name.startswith("pad") and sizes.get(shape.entry):
                plan = evaluation.pad_plan(shape.threads, sizes[shape.entry], share)
            for _ in range(plan.ctas):
                for column, value in zip(spans.values(), (i, 0, 1, cycles)):
                    column.append(value)
        stats = {"sm0.pipeline.icache": {"misses": 30}, "sm0.l1": {"read_misses": 200}, "memory.l2_0": {"read_misses": 40}, "memory.dram_0": {"busy_cycles": 500}}
        stats["register_sharing"] = {"acquires": 50, "waits": 20, "wait_cycles": 1000, "transfers": 9, "storage_bits": 273}
        stats["scratchpad_sharing"] = {**stats["register_sharing"], "storage_bits": 93}
        stats["warp_level_divergence"] = {"partial_ctas": 3, "late_warps": 7}
        report = {"entries": [{"name": s.entry, "registers": registers, "registers_needed": registers, "shared_bytes": sizes.get(s.entry, 0)}
                              for s in shapes]}
        document = {"kernel": shapes[0].entry, "cycles": cycles * len(launches), "launches": launches, "stats": stats,
                    "checks": {"operands_checked": 5, "mismatches": 0}}
        return Result(run, document, report=report, tables={"ctas": spans})


class SharingPageTest(page_case.PageCase):
    page = sharing

    def whole(self, out):
        draw = [] if plots.available() else ["--no-plots"]
        with mock.patch.object(command, "Campaign", MadeUp):
            return self.make(out, *draw)

    def test_the_whole_page_twice_the_same(self):
        status, _, complaints = self.whole("a")
        self.assertEqual(status, 0)
        page = self.text("a")
        self.assertNotIn("{{", page)
        self.assertNotIn("nothing of ours is held beside it", complaints)
        # 10,000 cycles become 8,000; OWF alone has 9,000.
        self.assertIn("| IPC over Unshared-LRR, register sharing, Set-1 | Sec 2.5.1.2, Fig 2.13a | 11 % | 25 % |", page)
        self.assertIn("| sharing, OWF, reordered, dynamic | +25.0 % |", page)
        self.assertIn("OWF without sharing +11.1 %; sharing over OWF +12.5 %", page)
        self.assertIn("| IPC over Unshared-LRR, scratchpad sharing, Set-2 | Sec 2.5.1.2, Fig 2.13b | 12.5 % | 25 % |", page)
        self.assertIn("| SRAD2 | 3 / 3 | 3 / 3 | 3 / 3 | 3 / 3 | 3 / 3 | 5 / 5 |", page)
        self.assertIn("| hotspot | 3 / 3 | 3 / 3 | 3 / 3 | 4 / 4 | 4 / 4 | 6 / 6 |", page)
        self.whole("b")
        self.assert_same_files("a", "b")

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", ",".join(part), "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        self.assertEqual(fake_tools.calls(self.bin, "sim"), sum(len(sharing.runs_of(k, small=True)) for k in part))
        self.assertIn("| hotspot | Set-1 | hotspot | 256 |", self.text("part"))

    def test_the_formula_gives_all_counts_of_the_thesis(self):
        values = evaluation_values()
        counted = 0
        for first, names, of_set in ((116, evaluation.register_programs, "Set-1"), (206, evaluation.pad_programs, "Set-2")):
            programs = evaluation.programs_of(sharing.programs, of_set)
            for k, n in enumerate(names):
                p = programs[n]
                for share in evaluation.shares:
                    plan = (evaluation.register_plan(p.block, p.registers, share) if of_set == "Set-1" else
                            evaluation.plan_of(evaluation.scratchpad_bytes, p.shared_bytes, share, evaluation.most_by_threads(p.block)))
                    self.assertEqual(plan.ctas, values[evaluation.table_id(first, k, share)].value, (n, share))
                    counted += 1
        self.assertEqual(counted, 90)

    def test_sharing_is_exact(self):
        # 3 + 0.2 / 0.1 is 5, which floating point misses; and never more than two CTAs for a conventional one.
        self.assertEqual(evaluation.plan_of(16384, 5120, 90, 8).ctas, 5)
        self.assertEqual(evaluation.plan_of(16384, 6144, 90, 8).ctas, 4)
        self.assertEqual(evaluation.plan_of(1024, 256, 90, 8), evaluation.Plan(4, 4))

    def test_the_most_ctas_at_a_time(self):
        # One ends in the cycle in which the next begins: they are not there together.
        self.assertEqual(max(n for _, n in programs.occupancy([(0, 10), (0, 20), (10, 30)])), 2)

    def test_every_run_has_a_name_of_its_own(self):
        for k in sharing.programs.kernels:
            names = [r.name for r in sharing.runs_of(k, small=True)]
            self.assertEqual(len(names), len(set(names)), k)

    def test_register_counts_are_those_of_the_thesis(self):
        options = next(r for r in sharing.runs_of("hotspot", small=False) if r.name == evaluation.shared).trace.options
        self.assertEqual(options[options.index("--max-registers") + 1], "36")
        self.assertEqual(options[options.index("--min-registers") + 1], "36")
        self.assertIn("--reorder-registers", options)


def evaluation_values():
    from regatta_reproduce.paper import Paper
    return Paper(sharing.here / "paper.json").values


if __name__ == "__main__":
    unittest.main()
