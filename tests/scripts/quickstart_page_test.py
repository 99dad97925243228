# SPDX-License-Identifier: Apache-2.0
"""examples/quickstart/check_page.py finds every number that the demo does not give."""

import contextlib
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "quickstart"
_spec = importlib.util.spec_from_file_location("check_page", FOLDER / "check_page.py")
check_page = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_page)

TABLES = "\n  scheme    cycles\n  baseline      100\n  regless       120\n\n  It took 12.5 % more.\n"
PAGE = "# Page\n\nIt takes 12.5 % more, not 13 %.\n\n```\n  scheme    cycles\n  baseline      100\n  regless       121\n  other         1\n```\n"


class PageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page, self.tables = Path(folder.name) / "page.md", Path(folder.name) / "tables.txt"
        self.page.write_text(PAGE)
        self.tables.write_text(TABLES)

    def check(self, *words):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = check_page.main([*words, str(self.page), str(self.tables)])
        return status, (out.getvalue() + errors.getvalue()).replace(str(self.page.parent) + "/", "")

    OTHERS = "page.md:3: found '13 %', expected what the demo prints\n", "page.md:9: found 'other         1', expected what the demo prints\n"

    def test_what_is_stale(self):
        row = "page.md:8: found 'regless       121', expected what the demo prints, 'regless       120'\n"
        self.assertEqual(self.check(), (1, self.OTHERS[0] + row + self.OTHERS[1]))
        self.assertEqual(self.page.read_text(), PAGE)

    def test_fix(self):
        self.assertEqual(self.check("--fix"), (1, "".join(self.OTHERS)))
        self.assertEqual(self.page.read_text(), PAGE.replace("121", "120"))
        self.page.write_text(PAGE.replace("121", "120").replace(", not 13 %", "").replace("  other         1\n", ""))
        self.assertEqual(self.check(), (0, ""))

    def test_no_demo(self):
        self.tables.unlink()
        self.assertEqual(self.check(), (2, "check_page.py: tables.txt: found no file, expected what `make demo` writes\n"))

    def test_the_page_has_numbers(self):
        """Nothing of it is in an empty run."""
        self.assertGreater(len(check_page.stale((FOLDER / "README.md").read_text(encoding="utf-8"), "")), 8)


if __name__ == "__main__":
    unittest.main()
