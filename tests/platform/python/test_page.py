# SPDX-License-Identifier: Apache-2.0
"""The page "Regatta in Python": its examples run as they stand, and print what it shows."""

import os
import re
import subprocess
import sys
import unittest

from .fake_study import PACKAGE, FolderTest


def form(text):
    """Digits may change with the models; the page shows what comes out, in its form."""
    return [re.sub(r"-?\d[\d.,]*", "0", re.sub(r"\s+", " ", line)).strip() for line in text.strip().splitlines()]


class PageTest(FolderTest):
    def test_in_python(self):
        text = (PACKAGE / "PYTHON.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL)
        self.assertEqual([kind for kind, _ in blocks], ["python", "", "python", "", "python", ""])
        for name in ("traces", "platform"):
            (self.folder / name).symlink_to(PACKAGE.parents[1] / name)
        # One after the other in one Python, with a line between what each prints.
        code = "print('=====')\n".join(body for kind, body in blocks if kind)
        done = subprocess.run([sys.executable, "-B", "-c", code], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "REGATTA_CACHE": str(self.folder / "cache")})
        self.assertEqual((done.returncode, re.sub(r"(?m)^\[.*\n", "", done.stderr)), (0, ""))
        printed, told = done.stdout.split("=====\n"), [body for kind, body in blocks if not kind]
        self.assertEqual([len(form(p)) for p in printed], [len(form(t)) for t in told])
        first, second, third = ((form(p), form(t)) for p, t in zip(printed, told))
        self.assertEqual(first[0][:2], first[1][:2])
        self.assertEqual(second[0][0].split(". ")[0], second[1][0].split(". ")[0])
        self.assertEqual(second[0][1], second[1][1])
        self.assertEqual(*third)

    def test_what_the_tables_name_is_there(self):
        import regatta
        text = (PACKAGE / "PYTHON.md").read_text(encoding="utf-8")
        for name in ("annotate", "run", "load", "compare", "study", "read_samples", "read_ctas"):
            self.assertIn(f"`{name}(", text)
            self.assertTrue(callable(getattr(regatta, name)))
        of_row = {"Trace": regatta.Trace, "Comparison": regatta.Comparison, "StudyResult": regatta.StudyResult, "Run": regatta.Run}
        for row in text.splitlines():
            found = re.search(r"\| `(\w+)`: (.*) \|$", row)
            if found:
                for name in re.findall(r"`(\w+)(?:\(.*?\))?`", found[2]):
                    self.assertTrue(name == "str" or hasattr(of_row[found[1]], name), f"{found[1]}.{name}")
        for name in re.findall(r"`(\w+_frame|frame)\(\)`", text.split("| frame of a `Run` |")[1]):
            self.assertTrue(hasattr(regatta.Run, name), name)


if __name__ == "__main__":
    unittest.main()
