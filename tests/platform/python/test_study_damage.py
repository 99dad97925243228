# SPDX-License-Identifier: Apache-2.0
"""Files of a study that are damaged: every command of regatta-study ends with a sentence, and the next run makes what is missing."""

import json
import shutil
import sqlite3
import unittest

from regatta.studies import stored

from . import fake_study
from .fake_study import FolderTest

VALUES = (None, -1, 2 ** 70, 1.5, "x\0", [[1]], {})
BYTES = (b"", b"\xff\xfe\0", b"[" * 5000, b'{"a":' * 5000, b"9" * 5000)
COMMANDS = (["status"], ["show"], ["show", "--by", "*.reads"], ["show", "--stats", "1", "out.json"], ["run", "--dry-run"])


def mutations(document):
    """The document with each of its parts replaced by each value, and without it."""
    yield from VALUES
    if isinstance(document, (dict, list)):
        for key, part in document.items() if isinstance(document, dict) else enumerate(document):
            for other in mutations(part):
                copy = document.copy()
                copy[key] = other
                yield copy
            if isinstance(document, dict):
                yield {k: v for k, v in document.items() if k != key}


class DamageTest(FolderTest):
    TEXT = '[[programs]]\nlaunch = "launch.toml"\nname = "l"\n[knobs]\nk.a = [1, 2]\n[results]\nstatistics = ["*.reads"]\n'

    def setUp(self):
        super().setUp()
        self.bin = fake_study.make(self.folder / "bin")
        self.write(self.TEXT)
        self.results = self.folder / "s.study"
        self.run_it(["run"])
        self.tables = self.bytes()

    def bytes(self):
        return [(self.results / name).read_bytes() for name in ("results.sqlite", "results.csv", "study.toml")]

    def run_it(self, command, statuses=(0,)):
        # Of progress there are lines on a slow machine.
        quiet = ["--quiet"] if command[0] == "run" else []
        done = fake_study.study_here([command[0], "s.toml", *command[1:], *quiet, "--bin", "bin"], self.folder)
        self.assertIn(done.returncode, statuses, done)
        self.assertTrue(done.returncode == 0 or done.stderr.startswith("regatta-study: "), done)

    def damaged(self, path, contents, run=True, commands=COMMANDS):
        """All commands end well with each of the contents, and the tables are those from before at the end."""
        old = path.read_bytes()
        for content in contents:
            path.write_bytes(content)
            for command in commands:
                with self.subTest(path.name, content=content[:200], command=command):
                    self.run_it(command, (0, 2))
        if run:
            self.run_it(["run"])
            self.assertEqual(self.bytes(), self.tables, path)
        path.write_bytes(old)

    def test_what_a_study_keeps(self):
        run, other = sorted((self.results / "runs").glob("*.gz"))
        trace, record = (next((self.results / "traces").glob(f"*.{end}")) for end in ("rgt", "json"))
        kept = stored.Result(run, run.name[:64])
        document, further = kept.content()
        records = [stored.result(run.name[:64], m, document, further) for m in mutations(kept.record) if isinstance(m, dict)]
        documents = [stored.result(run.name[:64], kept.record, m, further) for m in mutations({"stats": {"sm0.l1": {"reads": 3}}, "energy": {
            "by_structure": {"dram": 1.5}}, "cycles": 7})]
        # Whole, and with their digest: what a program that is not regatta's could write. These are not told from results.
        self.damaged(run, records + documents, run=False, commands=(["status"], ["show", "--stats", "1", "out.json"]))
        run.write_bytes(documents[1])
        self.run_it(["run"])
        self.damaged(run, [*BYTES, other.read_bytes(), run.read_bytes()[:-4]])
        for path in (trace, record, self.results / "digests.json"):
            for part in (run, other):
                part.unlink()  # or nobody would look at traces
            content = path.read_bytes()
            self.damaged(path, [*BYTES, content[:-9]], commands=(["run", "--dry-run"],))
        for path in (self.results / name for name in ("results.csv", "host.csv", "study.toml")):
            self.damaged(path, BYTES)
        records = [stored.seal({**m, "key": "x"}) for m in mutations({"files": {"x": ["y", [[1, 2, 3, 4]]]}}) if isinstance(m, dict)]
        self.damaged(self.results / "digests.json", records, commands=(["status"],))
        self.damaged(self.results / "study", [b"\xff\n", b"", b"other.toml\n"], run=False, commands=(["run"],))

    def test_its_database(self):
        path = self.results / "results.sqlite"
        contents = [*BYTES, self.tables[0][:5000], self.tables[0][:4096] + b"\xff" * 4096 + self.tables[0][8192:]]
        copy = self.folder / "copy"
        for table, columns in (("runs", "id program scheme machine state cycles key"), ("knobs", "run name value"),
                               ("statistics", "run module name value")):
            for column in columns.split():
                for statement in (f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
                                  f"UPDATE {table} SET {column} = CAST(x'ff00' AS TEXT)", f"UPDATE {table} SET {column} = x'00'",
                                  f"UPDATE {table} SET {column} = 'x'"):
                    shutil.copy(path, copy)
                    connection = sqlite3.connect(copy)
                    try:
                        connection.execute("PRAGMA synchronous = OFF")
                        connection.execute(statement)
                        connection.commit()
                        contents.append(copy.read_bytes())
                    except sqlite3.Error:
                        pass  # the table refuses it
                    connection.close()
        self.assertGreater(len(contents), 40)
        self.damaged(path, contents, commands=COMMANDS[1:4])

    def test_its_inputs(self):
        launch = self.folder / "launch.toml"
        self.damaged(launch, [b"", b"x = 1", *BYTES], run=False, commands=(["status"], ["run", "--dry-run"]))
        document = {"study": {"name": "s", "seed": 1, "options": ["--x", 1]}, "programs": [{"launch": "launch.toml", "annotate": ["--y"]}],
                    "knobs": {"k.a": [1, 2], "k.b": {"from": 1, "to": 2, "steps": 2, "only": {"k.a": [1]}}}, "sample": {"count": 1},
                    "points": [{"scheme": "x", "k.a": 1}], "slurm": {"extra": ["x"]}, "results": {"statistics": ["x"]}}
        texts = [toml(m).encode() for m in mutations(document) if isinstance(m, dict)]
        self.damaged(self.folder / "s.toml", [*BYTES, *texts], run=False, commands=(["show"],))
        for command in COMMANDS:
            self.damaged(self.folder / "s.toml", BYTES, run=False, commands=(command,))


def toml(value, top=True):
    if isinstance(value, dict):
        lines = [f"{json.dumps(k)} = {toml(v, False)}" for k, v in value.items()]
        return "\n".join(lines) if top else "{" + ", ".join(lines) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(v, False) for v in value) + "]"
    return "2020-01-01" if value is None else json.dumps(value)


if __name__ == "__main__":
    unittest.main()
