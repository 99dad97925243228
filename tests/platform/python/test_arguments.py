# SPDX-License-Identifier: Apache-2.0
"""Command lines of the package's programs: --version, and mistakes told in one line."""

import contextlib
import io
import os
import subprocess
import unittest

from regatta.commands import compare, front, report, sample, study
from regatta.version import VERSION

PROGRAMS = {"regatta": front.main, "regatta-compare": compare.main, "regatta-report": report.main, "regatta-sample": sample.main,
            "regatta-study": study.main}


def call(main, *words):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = main(list(words))
        except SystemExit as e:
            status = e.code
    return status, out.getvalue(), errors.getvalue()


class ArgumentsTest(unittest.TestCase):
    def test_version(self):
        simulator = os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")
        if os.path.exists(simulator):  # CMake reads the same line
            self.assertEqual(subprocess.run([simulator, "--version"], capture_output=True, text=True).stdout, f"regatta-sim {VERSION}\n")
        for name, main in PROGRAMS.items():
            self.assertEqual(call(main, "--version"), (0, f"{name} {VERSION}\n", ""))

    def test_help(self):
        for name, main in PROGRAMS.items():
            status, out, errors = call(main, "--help")
            self.assertEqual((status, errors), (0, ""))
            self.assertTrue(out.startswith(f"usage: {name} "), out)
            self.assertIn("--version", out)
        self.assertNotIn("--version", call(study.main, "run", "--help")[1])

    def test_mistakes(self):
        for words, message in {
                ("compare", "--htlm", "x", "a", "b"): "unknown option '--htlm'; did you mean '--html'?",
                ("compare", "--htm=x", "a", "b"): "unknown option '--htm'; did you mean '--html'?",  # no abbreviations
                ("compare", "-q", "a", "b"): "unknown option '-q' (--help shows the options)",
                ("compare", "a", "b", "--json"): "option '--json' needs a value",
                ("compare", "a", "b", "--rows", "two"): "--rows: found 'two', expected a whole number",
                ("compare",): "found no STATS.json, expected it on the command line",
                ("report", "a"): "found no --out, expected it on the command line",
                ("report", "a", "--out", "x", "--lisitng", "l"): "unknown option '--lisitng'; did you mean '--listing'?",
                ("sample",): "found no K.rgt, expected it on the command line",
                ("sample", "--exact=1", "k"): "option '--exact' takes no value, found '1'",
                ("sample", "k", "--eror", "5%"): "unknown option '--eror'; options of regatta-sim come after '--'",
                ("sample", "k", "l"): "unexpected argument 'l'; options of regatta-sim come after '--'",
                ("study",): "found no COMMAND, expected it on the command line",
                ("study", "rum", "s.toml"): "unknown command 'rum'; did you mean 'run'?",
                ("study", "make", "s.toml"): "unknown command 'make' (--help shows the options)",
                ("study", "run", "s.toml", "--job", "2"): "unknown option '--job'; did you mean '--jobs'?",
                ("study", "run", "s.toml", "t.toml"): "unexpected argument 't.toml' (--help shows the options)",
                ("study", "show", "s.toml", "--stats", "1"): "option '--stats' needs 2 values",
        }.items():
            name = f"regatta-{words[0]}"
            self.assertEqual(call(PROGRAMS[name], *words[1:]), (2, "", f"{name}: {message}\n"), words)


if __name__ == "__main__":
    unittest.main()
