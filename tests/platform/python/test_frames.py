# SPDX-License-Identifier: Apache-2.0
"""Frames of runs, comparisons, traces and studies: columns, units, exact sums, and what they refuse."""

import os
import random
import signal
import sys
import unittest
from fractions import Fraction
from pathlib import Path

import pandas
import regatta
from regatta.statistics import Run

from . import fake_study, made
from .fake_study import FolderTest
from .test_compare import slower
from .test_run import processes_of, python


class RunFramesTest(unittest.TestCase):
    def test_cycles_add_up_exactly(self):
        dice = random.Random(2)
        for _ in range(50):
            launches = []
            for _ in range(dice.randint(1, 5)):
                cycles, stalls = dice.randint(1, 10**6), {}
                schedulers = dice.choice((2, 3, 7, 30))
                rest = schedulers * cycles
                for reason in ("memory", "barrier", "structural_lsu", "idle"):
                    stalls[reason] = dice.randint(0, rest)
                    rest -= stalls[reason]
                launch = made.launch(dice.choice("pqr"), cycles, **stalls)
                launch["issue_cycles"] += (schedulers - made.SCHEDULERS) * cycles
                launches.append(launch)
            run = Run(made.document(launches), "r")
            exact, rounded = run.cycles_frame(exact=True), run.cycles_frame()
            self.assertEqual(exact["cycles"].sum(), run.cycles)
            self.assertIsInstance(exact["cycles"].iloc[0], Fraction)
            self.assertAlmostEqual(rounded["cycles"].sum(), run.cycles, delta=1e-9 * run.cycles)
            by_launch = exact.groupby("launch")["cycles"].sum()
            self.assertEqual(list(by_launch), [launch["cycles"] for launch in launches])
            self.assertEqual(rounded["scheduler_cycles"].dtype, "int64")
            for index, launch in enumerate(launches):
                of_launch = rounded[rounded["launch"] == index]
                self.assertEqual(of_launch["scheduler_cycles"].sum(), sum(run.scheduler_cycles(launch).values()))
            frame = run.launches_frame()
            reasons = [c for c in frame if c.startswith("cycles.")]
            self.assertTrue(((frame[reasons].sum(axis=1) - frame["cycles"]).abs() < 1e-6).all())

    def test_lines(self):
        a, _ = slower()
        frame = a.cycles_frame()
        self.assertEqual(list(frame.columns), ["launch", "kernel", "line", "reason", "cycles", "scheduler_cycles"])
        self.assertEqual(list(frame.iloc[0]), [0, "k", "k.cu:3", "issued", 50.0, 100])
        del a.document["cpi_lines"]
        self.assertTrue(a.cycles_frame()["line"].isna().all())

    def test_the_folder_of_all_lines_is_left_out(self):
        run = Run(made.document([made.launch("k", 20)], cpi_lines=[made.lines(0, "k", {
            "/a/b/x.cu:1": {"issued": 30}, "/a/b/c/y.h:2": {"issued": 10}}, {"idle": 0})]), "r")
        self.assertEqual(list(run.cycles_frame()["line"]), ["x.cu:1", "c/y.h:2"])
        self.assertEqual(list(run.cycles_frame(full_paths=True)["line"]), ["/a/b/x.cu:1", "/a/b/c/y.h:2"])

    def test_energy(self):
        run = Run(made.document([made.launch("k", 1)], energy={
            "total_nj": 5.0, "dynamic_nj": 3.5, "static_nj": 1.5, "by_structure": {"dram": 3.0, "l2": 2.0},
            "static_by_structure": {"dram": 1.5}, "by_event": [
                {"structure": "l2", "event": "l2.read", "count": 4.0, "pj": 500.0, "nj": 2.0},
                {"structure": "dram", "event": "dram.on", "nj": 1.5, "mw": 3.0}]}), "r")
        frame = run.energy_frame().set_index("structure")
        self.assertEqual(frame.loc["dram"].tolist(), [3.0, 1.5, 1.5])
        self.assertEqual(frame["energy_nj"].sum(), run.energy_nj)
        events = run.energy_frame(events=True)
        self.assertEqual(list(events.columns), ["structure", "event", "count", "pj", "nj", "mw"])
        self.assertEqual(events.loc[0, "nj"], 2.0)
        self.assertTrue(pandas.isna(events.loc[1, "count"]))

    def test_statistics_config_and_summary(self):
        a, _ = slower()
        a.document["stall_cycles"] = {"memory": 60, "structural_by_unit": {"sp": 1}}
        a.document["stats"]["x"] = {"name": "text", "list": [1]}
        self.assertEqual(a.statistics_frame().values.tolist()[0], ["memory.dram_0", "reads", 10.0])
        self.assertEqual(len(a.statistics_frame()), 4 + 1 + 2)  # no text, no list
        self.assertEqual(a.config_frame().set_index("knob")["value"].to_dict(),
                         {"run.machine": "m", "run.scheme": "baseline", "run.scheduler": "gto", "run.kernel": "k",
                          "dram.latency": 100})
        row = a.frame().iloc[0]
        self.assertEqual((row["run"], row["cycles"], row["energy_nj"], row["machine"]), ("a.json", 100, 5000.0, "m"))

    def test_samples_and_ctas(self):
        run = Run(made.document([made.launch("k", 1)]), "r", "cycle,launch,l1.reads\n500,0,7\n700,0,2\n",
                  "launch,sm,cta,launched,finished,warp_cycles\n0,0,3,1,9,8\n")
        self.assertEqual(run.samples_frame()["l1.reads"].tolist(), [7, 2])
        self.assertEqual(run.ctas_frame().loc[0, "finished"], 9)
        bare = Run(made.document([made.launch("k", 1)]), "bare")
        with self.assertRaisesRegex(regatta.InputError, r"bare: found no samples, expected a run with sample=N"):
            bare.samples_frame()
        with self.assertRaisesRegex(regatta.InputError, r"bare: found no table of CTAs, expected a run with cpi_ctas=True"):
            bare.ctas_frame()

    def test_a_run_without_launches_has_empty_frames(self):
        run = Run(made.document([]), "r")
        self.assertEqual(len(run.launches_frame()) + len(run.cycles_frame()), 0)
        self.assertIn("cycles", run.cycles_frame())


class FilesTest(FolderTest):
    def test_tables_of_the_simulator(self):
        path = self.write("cycle,launch,total.l1.reads\n1000,0,5\n1500,0,4\n", "s.csv")
        self.assertEqual(regatta.read_samples(path)["total.l1.reads"].sum(), 9)
        for text, expected in (("a,b\n1,2\n", r"s\.csv:1: found the columns 'a,b', expected 'cycle,launch, \.\.\.' as regatta-sim "
                                              r"--sample-file writes them"),
                               ("", r"s\.csv:1: found the columns '', expected"),
                               ("cycle,launch,x\n1,2,oops\n", r"s\.csv: Unable to parse string .oops.*; expected a table"),
                               ("cycle,launch,x\n1,2,3\n1,2,3,4,5\n", r"s\.csv: .*; expected a table as regatta-sim")):
            with self.subTest(text), self.assertRaisesRegex(regatta.InputError, expected):
                regatta.read_samples(self.write(text, "s.csv"))
        with self.assertRaisesRegex(regatta.InputError, r"none\.csv: cannot be read: No such file"):
            regatta.read_ctas(self.folder / "none.csv")
        with self.assertRaisesRegex(regatta.InputError, r"expected 'launch,sm,cta,launched,finished, \.\.\.'"):
            regatta.read_ctas(path)


class CompareTest(unittest.TestCase):
    def test_frames(self):
        a, b = slower()
        found = regatta.compare([a, b, a])
        frame = found.frame()
        self.assertEqual(frame["dram.latency"].tolist(), [100, 300, 100])
        self.assertEqual(frame["cycles_ratio"].tolist(), [1.0, 1.25, 1.0])
        reasons = found.reasons_frame()
        first = reasons[reasons["run"] == "b.json"]
        self.assertAlmostEqual(first["points"].sum(), 25.0)
        self.assertEqual(first["more"].sum(), 25)
        self.assertEqual(found.lines_frame().iloc[0].tolist()[:3], ["b.json", "k", "k.cu:7"])
        self.assertEqual(found.suspects_frame().iloc[0]["structure"], "DRAM")
        self.assertEqual(found.verdicts[0][:28], "B takes 25.0 % more cycles t")
        self.assertIn("Suspects, the likeliest first", str(found))
        self.assertIn("<!doctype html>", found.page())
        self.assertIn("<b>b.json</b> against a.json", found._repr_html_())

    def test_a_knob_of_one_scheme_only_is_no_column(self):
        a, b = slower()
        b.document["config"]["osu.entries"] = 512
        c = Run({**b.document, "config": {**b.document["config"], "osu.entries": 256}}, "c")
        self.assertNotIn("osu.entries", regatta.compare([a, b]).frame())
        column = regatta.compare([a, b, c]).frame()["osu.entries"]
        self.assertEqual((column.dtype, column.tolist()[1:]), ("Int64", [512, 256]))

    def test_mistakes(self):
        a, b = slower()
        with self.assertRaisesRegex(regatta.InputError, "compare: found 1 runs, expected two or more"):
            regatta.compare([a])
        with self.assertRaisesRegex(regatta.InputError, "compare: rows: found 0, expected 1 or more"):
            regatta.compare([a, b], rows=0)
        with self.assertRaisesRegex(regatta.InputError, "nowhere.json: cannot be read"):
            regatta.compare([a, "nowhere.json"])


class StudyTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.bin = fake_study.make(self.folder / "bin")

    def study(self, *arguments, **tables):
        folder = {} if arguments and not isinstance(arguments[0], dict) else {"folder": self.folder}
        return regatta.study(*arguments, jobs=2, bin=self.bin, quiet=True, **folder, **tables)

    def test_keywords_dictionary_and_file_are_the_same_study(self):
        study = self.study(programs=[self.folder / "a.rgt", {"launch": "launch.toml", "name": "l"}], schemes=("baseline", "other"),
                           knobs={"k.a": range(1, 4), "k.b": {"values": [0.5, 4.5], "only": {"scheme": "other"}}},
                           results={"statistics": ["*.reads", "stall_cycles.*"]}, name="s")
        self.assertEqual(repr(study), "<StudyResult s: 18 of 18 runs finished>")
        self.assertEqual((len(study), study.folder), (18, self.folder / "s.study"))
        text = 'schemes = ["baseline", "other"]\n[[programs]]\ntrace = "a.rgt"\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n' \
            '[knobs]\nk.a = [1, 2, 3]\nk.b = {values = [0.5, 4.5], only = {scheme = "other"}}\n' \
            '[results]\nstatistics = ["*.reads", "stall_cycles.*"]\n'
        from_file = self.study(self.write(text, "f.toml"))
        pandas.testing.assert_frame_equal(study.runs, from_file.runs)
        before = fake_study.calls(self.bin, "simulate")
        tables = {"study": {"name": "s"}, "programs": ["a.rgt"], "schemes": ["baseline"], "knobs": {"k.a": [1]}}
        changed = self.study(tables)
        self.assertEqual((len(changed), fake_study.calls(self.bin, "simulate")), (1, before))  # it has been made
        with self.assertRaisesRegex(regatta.InputError, r"s\.study: found the results of other runs"):
            _ = study.runs
        study = from_file

        runs = study.runs
        self.assertEqual(list(runs.columns[:7]), ["program", "scheme", "machine", "k.a", "k.b", "seed", "repetition"])
        self.assertEqual(runs.loc[5, ["k.a", "k.b", "cycles"]].tolist(), [1, 4.5, 1521])
        self.assertTrue(pandas.isna(runs.loc[1, "k.b"]))
        statistics = study.statistics
        self.assertEqual(statistics[statistics["run"] == 2].values.tolist(),
                         [[2, "sm0.l1", "reads", 6], [2, "sm1.l1", "reads", 2], [2, "stall_cycles", "memory", 7]])
        self.assertEqual(len(study.failures), 0)

        best = study.best()
        self.assertEqual((best.index.tolist(), best["cycles"].tolist()), ([1, 10], [1018, runs.loc[10, "cycles"]]))
        most = study.best("sm*.l1.reads", most=True, rows=2)
        self.assertEqual(most["sm*.l1.reads"].tolist(), [12] * 4)
        self.assertEqual(most["of_first"].tolist(), [3.0] * 4)
        pivot = study.pivot(["program", "k.a"], ["scheme", "k.b"])
        self.assertEqual(pivot.loc[("a", 2), ("other", 0.5)], 1000 + 20 + 0 + 7 + 500)
        self.assertEqual(pivot.loc[("a", 2), ("baseline", "-")], 1028)
        mean = study.pivot("program", "scheme", "energy_nj", aggregate="mean")
        self.assertAlmostEqual(mean.loc["a", "baseline"], 2.5 * 1028)
        self.assertEqual(study.load(best.index[0]).cycles, 1018)

        for call, expected in ((lambda: study.pivot("program", "scheme"), r"pivot: found 18 runs that share cells \(k\.a, k\.b vary\)"),
                               (lambda: study.pivot("program", "x"), "pivot: found 'x', expected one of program, scheme"),
                               (lambda: study.best("x"), "by: found 'x', expected one of cycles"),
                               (lambda: study.load(0), "load: found run 0, expected 1 to 18")):
            with self.assertRaisesRegex(regatta.InputError, expected):
                call()

    def test_failures(self):
        study = self.study(programs=["a.rgt"], knobs={"k.a": [1, 13, 14]})
        failures = study.failures
        self.assertEqual(failures.index.tolist(), [2, 3])
        self.assertEqual(failures[["k.a", "state", "status", "message"]].values.tolist(),
                         [[13, "failed", 3, "value mismatch in warp 13"], [14, "failed", 1, "out of memory"]])
        self.assertEqual(study.best(rows=9).index.tolist(), [1])
        with self.assertRaises(regatta.RunFailed) as caught:
            study.load(2)
        self.assertEqual((caught.exception.status, caught.exception.what), (3, "run 2, a baseline gtx980 k.a=13"))
        self.assertEqual(study.runs["cycles"].dtype, "Int64")

    def test_interruption(self):
        code = "import regatta\ntry:\n    regatta.study(programs=['a.rgt'], knobs={'k.a': list(range(1, 9))}, jobs=2, bin='bin', " \
            "quiet=True, group_runs=1)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        fake_study.during(self.bin, "regatta-sim", "if noted('simulate') > 2: wait(lambda: False)")
        process = python(code, self.folder)
        fake_study.wait_for(lambda: fake_study.calls(self.bin, "simulate") == 4, "runs under way")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=fake_study.LONG), ("interrupted\n", ""))
        fake_study.wait_for(lambda: not processes_of(self.bin), "an end of the runs")
        fake_study.during(self.bin, "regatta-sim")
        self.assertEqual(fake_study.calls(self.bin, "simulate"), 4)
        study = self.study(programs=["a.rgt"], knobs={"k.a": range(1, 9)}, group_runs=1)
        self.assertTrue((study.runs["state"] == "finished").all())
        # The two runs that were interrupted were made twice.
        self.assertEqual(fake_study.calls(self.bin, "simulate"), 8 + 2)

    def test_mistakes(self):
        for arguments, expected in (
                ({"programs": ["none.rgt"]}, r"study \(dictionary\): \[\[programs\]\] 1\.trace: found no file '.*none\.rgt'"),
                ({"programs": ["a.rgt"], "knob": 1}, r"study \(dictionary\): knob: found an unknown key; did you mean 'knobs'\?"),
                ({"programs": ["a.rgt"], "name": "a b"}, r'study\.name: found "a b", expected letters'),
                ({"programs": ["a.rgt"], "knobs": {"nosuch.x": [1]}}, r'knobs\."nosuch\.x": regatta-sim: command line: unknown option'),
                ({"programs": ["a.rgt"], "slurm": {"partion": "p"}}, r"slurm\.partion: found an unknown key")):
            with self.subTest(arguments), self.assertRaisesRegex(regatta.InputError, expected):
                self.study(**arguments)
        with self.assertRaisesRegex(regatta.InputError, "jobs: found 0, expected 1 or more"):
            regatta.study(programs=["a.rgt"], jobs=0)
        with self.assertRaisesRegex(regatta.InputError, "s.toml: found a file and schemes, expected these in the file"):
            regatta.study(self.write("", "s.toml"), schemes=["x"])
        with self.assertRaisesRegex(regatta.InputError, "--snakemake: found no program 'nosuch'"):
            self.study(programs=["a.rgt"], slurm=True, snakemake="nosuch")
        self.assertEqual(fake_study.calls(self.bin, "simulate"), 0)


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")), "regatta is not built")
class RealTest(FolderTest):
    def test_a_kernel(self):
        launch = Path(os.environ["REGATTA_KERNELS"]) / "bfs" / "launch.small.toml"
        trace = regatta.annotate(launch, cache=self.folder)
        self.assertEqual(trace.kernels_frame()["registers"].tolist(), [k.registers for k in trace.kernels])
        self.assertEqual(trace.launches_frame()["warp_instructions"].sum(), trace.warp_instructions)
        code = trace.instructions_frame("bfs_expand")
        self.assertEqual(len(code), trace.kernels[1].instructions)
        used = {r for column in ("sources", "destinations") for registers in code[column] for r in registers}
        self.assertEqual(max(used) + 1, trace.kernels[1].registers)
        self.assertTrue(code[code["class"] == "branch"]["branch_target"].notna().all())
        self.assertTrue((code["ptx_line"] > 0).all())
        with self.assertRaisesRegex(regatta.InputError, r"kernel: found nothing, expected the name or number of one of bfs_init \(0\)"):
            trace.instructions_frame()
        run = regatta.run(trace, cache=self.folder, cpi_lines=True, sample=2000, cpi_ctas=True)
        self.assertEqual(run.cycles_frame(exact=True)["cycles"].sum(), run.cycles)
        self.assertEqual(run.launches_frame()["cycles"].sum(), run.cycles)
        self.assertAlmostEqual(run.energy_frame()["energy_nj"].sum(), run.energy_nj, places=3)
        self.assertAlmostEqual(run.energy_frame(events=True)["nj"].sum(), run.energy_nj, places=3)
        self.assertEqual(run.samples_frame()["sm0.pipeline.warp_instructions"].sum(), run.warp_instructions)
        self.assertEqual(len(run.ctas_frame()), run.launches_frame()["ctas"].sum())


if __name__ == "__main__":
    sys.exit(unittest.main())
