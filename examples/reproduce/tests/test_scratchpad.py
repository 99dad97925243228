# SPDX-License-Identifier: Apache-2.0
"""The page of scratchpad sharing with the compiler's help, from tools that only pretend. The whole page has its runs' results
made up in this process: a Python process for each of its runs would take minutes."""

import unittest
from unittest import mock

from tests import fake_tools, page_case
from regatta_reproduce import command, plots, programs, suite
from regatta_reproduce.campaign import Result

scratchpad = page_case.module("sharing/scratchpad")
import evaluation  # noqa: E402  # the page's: its folder leads the path

part = ["srad2", "neural_network"]
#: Cycles of a launch, by what the compiler did.
cycles_of = {"none": 9000, "postdom": 8500, "optimal": 8000}


class MadeUp:
    """In place of a campaign: every run takes 10,000 cycles in each launch, those with sharing fewer, and an SM holds as many
    CTAs as the formula allows."""

    def __init__(self, *arguments):
        self.runs = []

    def add(self, run):
        self.runs.append(run)

    def execute(self):
        return {(r.trace.kernel, r.name): self.result(r) for r in self.runs}

    @staticmethod
    def result(run):
        options = dict(zip(run.options[::2], run.options[1::2]))
        shares = options.get("--scheme") == "scratchpad_sharing" and not run.name.startswith("s3")
        cycles = cycles_of[options["--scratchpad_sharing.relssp"]] if shares else 10000
        inserted = 2 if shares and "--scratchpad-layout" in run.trace.options and options["--scratchpad_sharing.relssp"] != "none" else 0
        launches, spans, entries = [], {"launch": [], "sm": [], "launched": [], "finished": []}, []
        for i, shape in enumerate(suite.launches_of(run.trace.launch)):
            threads, size = evaluation.own_ctas.get(shape.entry, (shape.threads, 0))
            stalls = {r: 100 for r in ("scoreboard", "issue_gate", "structural", "memory", "barrier", "instruction_fetch", "idle")}
            launches.append({"kernel": shape.entry, "cycles": cycles, "ctas": 6, "warp_instructions": 9000, "thread_instructions": 270000,
                             "issue_cycles": 9000 + 6 * inserted * -(-threads // 32), "stall_cycles": stalls})
            entries.append({"name": shape.entry, "registers": 20, "registers_needed": 20, "shared_bytes": size, "sharing": {
                "variables": 1, "common_variables": 1, "shared_bytes": size, "boundary": size // 10, "common_range": 100, "relssp_optimal": 2,
                "relssp_optimal_jumps": 1, "relssp_postdom": 1}})
            plan = programs.Plan(1, 1)
            if size:
                most = int(options.get("--sm.ctas", 16)), int(options.get("--sm.threads", 3072))
                plan = evaluation.plan_on(int(options["--shared.bytes"]), threads, size, *most)
            for _ in range(plan.ctas if shares else plan.conventional):
                for column, value in zip(spans.values(), (i, 0, 1, cycles)):
                    column.append(value)
        stats = {"sm0.pipeline.icache": {"misses": 30}, "sm0.l1": {"read_misses": 200}, "memory.l2_0": {"read_misses": 40},
                 "memory.dram_0": {"busy_cycles": 500}}
        stats["scratchpad_sharing"] = {"acquires": 50, "waits": 20, "wait_cycles": 1000, "common_accesses": 70, "releases": 9}
        document = {"kernel": launches[0]["kernel"], "cycles": cycles * len(launches), "launches": launches, "stats": stats,
                    "checks": {"operands_checked": 5, "mismatches": 0}}
        return Result(run, document, report={"entries": entries}, tables={"ctas": spans})


class ScratchpadPageTest(page_case.PageCase):
    page = scratchpad

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
        # 10,000 cycles become 8,000 with relssp at the optimal points, 9,000 without.
        self.assertIn("| IPC over Unshared-LRR, Shared-OWF-OPT, Set-1 and Set-2 | Sec 3.4.1.2, Fig 3.9 | 19 % | 25 % |", page)
        self.assertIn("NoOpt +11.1 %; OWF +11.1 %; OWF-Reorder +11.1 %; OWF-PostDom +17.6 %; OWF-OPT +25.0 %", page)
        self.assertIn("| fewer cycles than Unshared-LRR, mean, Shared-OWF-OPT | Sec 3.4.1.5, Fig 3.11 | 15.4 % | 20 % |", page)
        # CTAs by the formula, and those of the simulation.
        self.assertIn("| DCT1 | 7 | 14 | 14 | 7 | 14 |", page)
        self.assertIn("| FDTD3d | 4 | 6 | 6 | 4 | 6 |", page)
        # Two warp instructions for each warp, and a jump on one of two paths.
        self.assertIn("| backprop | 1 | 1 | 1,088 | 108 | 100 | 2 | 1 | 1 or 2 | 2.00 | 2.00 |", page)
        self.whole("b")
        self.assert_same_files("a", "b")

    def test_a_part_is_a_page_too(self):
        status, _, complaints = self.make("part", "--kernels", ",".join(part), "--small", "--no-plots")
        self.assertEqual((status, complaints), (0, ""))
        self.assertEqual(fake_tools.calls(self.bin, "sim"), sum(len(scratchpad.runs_of(k, small=True)) for k in part))
        self.assertIn("| SRAD1 | Set-1 | srad2_gradients | 256 |", self.text("part"))
        self.assertIn("| NN | Set-3 | neural_network_second |", self.text("part"))

    def test_counts_of_ctas_are_those_of_the_thesis(self):
        of = {n: p for s in evaluation.limited for n, p in programs.programs_of(scratchpad.programs, s).items()}
        for n in ("DCT1", "DCT2"):
            self.assertEqual(evaluation.plan(of[n]), programs.Plan(7, 14))
        for n in ("DCT3", "DCT4"):
            self.assertEqual(evaluation.plan(of[n]), programs.Plan(7, 12))
        self.assertEqual(evaluation.plan(of["FDTD3d"]), programs.Plan(4, 6))
        for n in set(of) - {"DCT1", "DCT2", "DCT3", "DCT4", "FDTD3d", *evaluation.few}:
            self.assertEqual(evaluation.plan(of[n]), programs.Plan(1, 2), n)

    def test_a_scaled_scratchpad_holds_the_ctas_of_the_thesis(self):
        for of_set, sizes in ((evaluation.larger, (48, 64)), (evaluation.multiplexed, (16,))):
            for n, p in programs.programs_of(scratchpad.programs, of_set).items():
                for k in sizes:
                    if evaluation.theirs(p):
                        ours = programs.plan_of(evaluation.size_of(p, k), evaluation.own_cta(p)[1], 90, 100)
                        self.assertEqual(ours, programs.plan_of(1024 * k, evaluation.theirs(p), 90, 100), (n, k))
        # 384 CTAs of 64 threads are NQU's 24,576; one thread of each has no jump in Table 3.5.
        self.assertEqual(2 * 24576 - 48768, 24576 // 64)
        self.assertEqual(64 * 10 * 4 * 4 + 64 * 4, evaluation.assumed_bytes["NQU"])

    def test_every_run_has_a_name_of_its_own(self):
        for k in scratchpad.programs.kernels:
            names = [r.name for r in scratchpad.runs_of(k, small=True)]
            self.assertEqual(len(names), len(set(names)), k)
            self.assertTrue(names, k)

    def test_only_sharing_with_relssp_or_layout_runs_the_laid_out_trace(self):
        for r in scratchpad.runs_of("dct8x8", small=True):
            laid_out = "--scratchpad-layout" in r.trace.options
            self.assertIn("--shared-values", r.trace.options)
            if "--scheme" not in r.options:
                self.assertFalse(laid_out, r.name)
            elif "postdom" in r.options or "optimal" in r.options:
                self.assertTrue(laid_out, r.name)


if __name__ == "__main__":
    unittest.main()
