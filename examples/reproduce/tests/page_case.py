# SPDX-License-Identifier: Apache-2.0
"""A paper's page, made from tools that only pretend: what the tests of all pages need. A page's own module is its
folder's run.py; the folders' modules have the same names, so each is made in a process of its own test module."""

import contextlib
import csv
import io
import sys
import tempfile
import unittest
from pathlib import Path

from tests import fake_tools


def module(paper: str):
    """run.py of examples/reproduce/PAPER."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / paper))
    import run
    return run


def _rows(table):
    header, *rows = csv.reader(table.read_text().splitlines())
    if header[-1] == "verdict":
        rows = [row if row[-1].split(": ")[-1].startswith("agrees") else [*row[:-1], f"**{row[-1]}**"] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, *rows])


class PageCase(unittest.TestCase):
    page = None  # the run.py

    @property
    def kernels(self):
        """Of the page."""
        return self.page.programs.kernels

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.bin = fake_tools.make(self.folder / "bin")
        fake_tools.patch(self)

    def make(self, out, *arguments):
        """Status, stdout, stderr."""
        told, complaints = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(complaints):
            status = self.page.run(["--bin", str(self.bin), "--work", str(self.folder / "work"), "--quiet", "--jobs", "2",
                                    "--out", str(self.folder / out), *arguments])
        return status, told.getvalue(), complaints.getvalue()

    def text(self, out):
        """The whole page: README.md, findings.md, and the tables as README.md would have them."""
        folder = self.folder / out
        pages = [p.read_text() for p in (folder / "README.md", folder / "findings.md") if p.exists()]
        return "\n".join([*pages, *(_rows(p) for p in sorted((folder / "tables").glob("*.csv")))])

    def assert_same_files(self, a, b):
        names = sorted(p.relative_to(self.folder / a) for p in (self.folder / a).rglob("*"))
        self.assertEqual(names, sorted(p.relative_to(self.folder / b) for p in (self.folder / b).rglob("*")))
        for name in names:
            if (self.folder / a / name).is_file():
                self.assertEqual((self.folder / a / name).read_bytes(), (self.folder / b / name).read_bytes(), name)
