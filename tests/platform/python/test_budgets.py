# SPDX-License-Identifier: Apache-2.0
"""examples/budgets: what its page says of a study that sweeps registers."""

import contextlib
import importlib.util
import io
import json
import sqlite3
import sys
from pathlib import Path

from regatta.studies import results as tables

from . import fake_study
from .fake_study import FolderTest

HERE = Path(__file__).resolve().parents[3] / "examples" / "budgets"
_spec = importlib.util.spec_from_file_location("budgets", HERE / "budgets.py")
budgets = importlib.util.module_from_spec(_spec)
sys.modules["budgets"] = budgets
_spec.loader.exec_module(budgets)


class PageTest(FolderTest):
    def database(self, runs, machine="m"):
        """`runs`: program, scheme, budget, cycles (None: refused), spilled."""
        path = self.folder / "results.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(tables._SCHEMA)
        for run, (program, scheme, budget, cycles, spilled) in enumerate(runs, 1):
            state = "failed" if cycles is None else "finished"
            connection.execute("INSERT INTO runs (id, program, scheme, machine, seed, repetition, state, message, cycles, energy_nj, key) "
                               "VALUES (?, ?, ?, ?, 1, 0, ?, ?, ?, ?, '')",
                               (run, program, scheme, machine, state, "no way" if cycles is None else "", cycles,
                                None if cycles is None else 2.0 * cycles))
            if budget is not None:
                connection.execute("INSERT INTO knobs VALUES (?, 'registers', ?)", (run, budget))
            for module, name, value in (("kernel", "registers", 40), ("kernel", "spilled_registers", spilled),
                                        ("sm0.pipeline", "active_cycles", 100), ("sm0.pipeline", "resident_warp_cycles", 3200)):
                connection.execute("INSERT INTO statistics VALUES (?, ?, ?, ?)", (run, module, name, value))
        connection.commit()
        connection.close()
        return path

    RUNS = [("a", "baseline", 24, 900, 6), ("a", "baseline", 255, 1000, 0), ("a", "other", 24, 1100, 6), ("a", "other", 255, 1200, 0),
            ("b", "baseline", 24, 2010, 0), ("b", "baseline", 255, 2000, 0), ("b", "other", 24, None, 0), ("b", "other", 255, 1000, 0),
            ("c", "baseline", "64:24,80", 500, 9), ("c", "baseline", "168:24,240", 400, 0),
            ("c", "other", "64:24,80", 500, 9), ("c", "other", "168:24,240", 400, 0)]

    def test_numbers(self):
        r = budgets.read(self.database(self.RUNS))
        self.assertEqual((r.programs, r.schemes), (["a", "b", "c"], ["baseline", "other"]))
        self.assertEqual(r.budgets, {"a": ["24", "255"], "b": ["24", "255"], "c": ["64:24,80", "168:24,240"]})
        self.assertEqual(r.best("a", "baseline"), (0.9, "24"))
        self.assertEqual(r.best("b", "other"), (0.5, "255"))
        self.assertEqual(r.relative("a", "other", "255"), 1.2)
        self.assertIsNone(r.relative("b", "other", "24"))
        self.assertEqual(r.points["a", "baseline", "24"].warps, 32)
        self.assertEqual([budgets.limited(r, p) for p in r.programs],
                         ["fewer registers are faster", "as fast from 24 on", "needs all that it has"])

    def test_page(self):
        r = budgets.read(self.database(self.RUNS))
        page = budgets.page(r, "m", "budgets.svg")
        self.assertIn("On machine m, 1 of 3 programs are faster with fewer registers than they ask for: a.", page)
        # Best budgets of other: 1.1, 0.5 and 1; of the baseline: 0.9, 1 and 1.
        self.assertIn("other takes the fewest cycles: 0.82 of those that baseline takes", page)
        self.assertIn("| a | 40 | 32.0 | 24 | 0.90 | 0.90 | 32.0 | 6 | fewer registers are faster |", page)
        self.assertIn("| program | 24 | 255 |", page)
        self.assertIn("| c | 1.25 / 9 | 1.00 / 0 |", page)
        self.assertIn("- b under other: no way", page)
        document = budgets.document(r, "m")
        self.assertEqual((len(document["runs"]), document["refused"][0]["message"]), (11, "no way"))
        self.assertIn(">baseline</text>", budgets.svg(r))

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "found no budget of registers in run 1 of 'a', expected registers"):
            budgets.read(self.database([("a", "baseline", None, 1, 0)]))
        (self.folder / "results.sqlite").unlink()
        with self.assertRaisesRegex(ValueError, "several machines, or none"):
            budgets.read(self.database([]))

    def test_the_whole_way(self):
        fake_study.make(self.folder / "bin")
        study = self.write('schemes = ["baseline"]\n[study]\nregisters = [32, 255]\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n'
                           '[results]\nstatistics = ["kernel.*"]\n', "b.toml")
        files = {name: self.folder / f"page.{name}" for name in ("md", "svg", "json")}
        with contextlib.redirect_stdout(io.StringIO()):
            status = budgets.main(["--study", str(study), "--bin", str(self.folder / "bin"), "--jobs", "1", "--work",
                                   str(self.folder / "work"), "--page", str(files["md"]), "--picture", str(files["svg"]),
                                   "--table", str(files["json"])])
        self.assertEqual(status, 0)
        self.assertIn("| l | 40 |", files["md"].read_text())
        self.assertEqual([r["registers"] for r in json.loads(files["json"].read_text())["runs"]], ["32", "255"])

    def test_the_study_of_the_page(self):
        from regatta.studies import file
        study = file.read(HERE / "budgets.toml")
        self.assertEqual(study.machines, ("h100",))
        self.assertTrue(all(program.registers for program in study.programs))
        self.assertEqual(study.programs[-1].registers[-1], "168:240,24")
