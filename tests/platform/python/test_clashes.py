# SPDX-License-Identifier: Apache-2.0
"""No program writes over what it reads, however the file is named, nor two results into one file."""

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from regatta.clashes import FileUse, refuse_clashes
from regatta.commands import compare, report, sample, study
from regatta.files import write_or_print, write_whole
from regatta.statistics import InputError

from . import fake_study
from .made import document, launch, lines

JINJA = unittest.skipUnless(importlib.util.find_spec("jinja2"), "python3-jinja2 is not installed")


class FolderTest(fake_study.FolderTest):
    """Works in the folder."""

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def content(self):
        return {p.relative_to(self.folder): p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}

    def refused(self, main, words, message):
        """Status 2, exactly this message, and no file has another byte."""
        before = self.content()
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main([str(w) for w in words])
        self.assertEqual((status, out.getvalue(), errors.getvalue()), (2, "", message + "\n"), words)
        self.assertEqual(self.content(), before, words)


class RuleTest(FolderTest):
    def told(self, *files):
        try:
            refuse_clashes([FileUse(*f) for f in files])
        except InputError as e:
            return str(e)
        return None

    def test_names_of_one_file(self):
        Path("a").write_text("1")
        os.symlink("a", "link")
        os.link("a", "hard")
        os.symlink("not_yet", "to_not_yet")
        os.mkdir("folder")
        os.symlink("folder", "also_folder")
        for one in ("a", "./a", "folder/../a", self.folder / "a", "link", "hard"):
            self.assertEqual(self.told(("--one", one, True), ("two", "a")), f"--one and two name the same file '{one}'")
            self.assertEqual(self.told(("two", "a"), ("--one", one, True)), f"--one and two name the same file '{one}'")
            self.assertEqual(self.told(("--one", one, True), ("--two", "a", True)), f"--one and --two name the same file '{one}'")
        for other in ("./not_yet", "to_not_yet", "folder/../not_yet"):
            self.assertEqual(self.told(("--one", "not_yet", True), ("--two", other, True)),
                             "--one and --two name the same file 'not_yet'")
        self.assertEqual(self.told(("--one", "folder/b", True), ("--two", "also_folder/b", True)),
                         "--one and --two name the same file 'folder/b'")
        for harmless in ((("one", "a"), ("two", "a")), (("--one", "a", True), ("--two", "b", True)),
                         (("--one", "", True), ("--two", None, True)), (("--one", "a\0", True), ("--two", "a\0", True))):
            self.assertIsNone(self.told(*harmless))

    def test_devices_and_pipes_may_be_written_more_than_once(self):
        os.mkfifo("pipe")
        for place in ("/dev/null", "pipe"):
            self.assertIsNone(self.told(("--one", place, True), ("--two", place, True)))

    def test_standard_output(self):
        for one, two, message in (("-", "-", "--one and --two name standard output"),
                                  ("-", "/dev/stdout", "--one and --two name standard output"),
                                  ("/dev/stdout", "-", "--one and --two name the same file '/dev/stdout'")):
            self.assertEqual(self.told(("--one", one, True), ("--two", two, True)), message)

    def test_the_program_itself(self):
        ours = Path(compare.__file__)
        self.assertEqual(self.told(("--one", ours, True)), f"--one and the program itself name the same file '{ours}'")
        self.assertIsNone(self.told(("one", ours)))


class WriteTest(FolderTest):
    def test_a_file_keeps_its_mode_and_its_protection(self):
        Path("a").write_text("1")
        os.chmod("a", 0o640)
        write_whole("a", "2")
        self.assertEqual((Path("a").read_text(), os.stat("a").st_mode & 0o777), ("2", 0o640))
        os.chmod("a", 0o440)
        if os.access("a", os.W_OK):
            self.skipTest("root may write everything")
        with self.assertRaisesRegex(InputError, "^cannot write 'a': Permission denied$"):
            write_whole("a", "3")

    def test_names_of_standard_output(self):
        code = "import sys; from regatta.files import write_or_print; write_or_print(sys.argv[1], 'x\\n'); print('y')"
        for place in ("-", "/dev/stdout", "out"):
            with open("out", "w", encoding="utf-8") as out:
                subprocess.run([sys.executable, "-B", "-c", code, place], stdout=out, check=True, timeout=60)
            self.assertEqual(Path("out").read_text(), "x\ny\n", place)
        piped = subprocess.run([sys.executable, "-B", "-c", code, "/dev/stdout"], stdout=subprocess.PIPE, check=True, timeout=60)
        self.assertEqual(piped.stdout, b"x\ny\n")
        write_or_print("elsewhere", "z")
        self.assertEqual(Path("elsewhere").read_text(), "z")


def run_document(cycles):
    """A run that names a trace, a machine file, an energy table and a source file."""
    return document([launch("k", cycles, memory=60)], trace="k.rgt", machine="m.toml", config={"energy.table": "e.toml"},
                    cpi_lines=[lines(0, "k", {"k.cu:1": {"issued": 2 * cycles - 60, "memory": 60}}, {})])


class RunsTest(FolderTest):
    """regatta-compare and regatta-report."""

    NAMED = {"k.rgt": "the trace of a run", "m.toml": "the machine file of a run", "e.toml": "the energy table of a run",
             "k.cu": "a source file of a run"}

    def setUp(self):
        super().setUp()
        for name, cycles in (("a.json", 100), ("b.json", 120)):
            Path(name).write_text(json.dumps(run_document(cycles)))
        for name in self.NAMED:
            Path(name).write_text("text\n")
        os.symlink("a.json", "link")
        os.link("b.json", "hard")

    def test_compare(self):
        for option in ("--json", "--html"):
            for path, role in {**self.NAMED, "a.json": "a run", "./b.json": "a run", "link": "a run", "hard": "a run"}.items():
                self.refused(compare.main, ["a.json", "b.json", option, path],
                             f"regatta-compare: {option} and {role} name the same file '{path}'")
        os.symlink("new", "to_new")
        for json_, html in (("new", "new"), ("new", "to_new"), ("./new", "new")):
            self.refused(compare.main, ["a.json", "b.json", "--json", json_, "--html", html],
                         f"regatta-compare: --json and --html name the same file '{json_}'")
        self.refused(compare.main, ["a.json", "b.json", "--json", "-", "--html", "-"],
                     "regatta-compare: --json and --html name standard output")

    def report(self, words, role, path):
        self.refused(report.main, [*words, "--out", path], f"regatta-report: --out and {role} name the same file '{path}'")

    @JINJA
    def test_report(self):
        for path, role in {**self.NAMED, "a.json": "a run", "hard": "a run", "link": "a run"}.items():
            self.report(["a.json", "b.json"], role, path)
        Path("s.csv").write_text("cycle,launch\n100,0\n")
        Path("l.txt").write_text("// kernel k from k.ptx\nB0:\n     0    1  op0 R0;      // 10; live none\n")
        self.report(["a.json", "--samples", "s.csv"], "--samples", "./s.csv")
        self.report(["a.json", "--listing", "l.txt"], "--listing", "l.txt")
        self.report(["a.json", "--trace", "t.rgt"], "--trace", "t.rgt")

    @JINJA
    def test_report_over_a_source_that_it_finds_elsewhere(self):
        os.remove("k.cu")
        for place in ("src/k.cu", "other/k.cu"):
            Path(place).parent.mkdir()
            Path(place).write_text("text\n")
        self.report(["a.json", "--sources", "src"], "a source file", "src/k.cu")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(report.main(["a.json", "--sources", "src", "--out", "other/k.cu"]), 0)

    @JINJA
    def test_report_over_the_ptx_of_a_trace(self):
        Path("k.ptx").write_text("ptx\n")
        Path("bin").mkdir()
        for name in ("regatta-trace", "regatta-sim"):
            Path("bin", name).write_text("#!/bin/sh\necho 'trace t.rgt'\necho 'kernel 0: k'\necho '  PTX   k.ptx'\n")
            Path("bin", name).chmod(0o755)
        words = ["a.json", "--trace", "t.rgt", "--bin", "bin"]
        self.report(words, "the PTX of the trace", "k.ptx")
        self.report(words, "regatta-sim", "bin/regatta-sim")


class StudyTest(FolderTest):
    """regatta-study show --stats, and regatta-report --study."""

    def setUp(self):
        super().setUp()
        self.bin = fake_study.make(self.folder / "bin")
        (self.folder / "m.toml").write_text('[machine]\nbase = "gtx480"\n')
        (self.folder / "c.config").write_text('[energy]\ntable = "e.toml"\n')
        (self.folder / "e.toml").write_text("[values]\n")
        (self.folder / "data.bin").write_text("data")
        (self.folder / "launch.toml").write_text('ptx = "k.ptx"\nentry = "k"\n[[param]]\nbuffer = 4\nfile = "data.bin"\n')
        self.write('machines = ["m.toml"]\noptions = ["--config", "c.config"]\n[[programs]]\ntrace = "a.rgt"\n'
                   '[[programs]]\nlaunch = "launch.toml"\nname = "l"\n')
        results = self.folder / "s.study"
        for name in ("results.sqlite", "results.csv", "host.csv", "digests.json", "runs/x.json.gz", "traces/l.rgt"):
            path = results / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("kept")
        (self.folder / "link").symlink_to("a.rgt")
        os.link(self.folder / "k.ptx", self.folder / "hard")

    INPUTS = ("a.rgt", "link", "hard", "launch.toml", "k.ptx", "data.bin", "m.toml", "c.config", "e.toml")

    def test_show_stats(self):
        inputs = {**dict.fromkeys(self.INPUTS, "an input of the study"),
                  "s.toml": "the study file", "./s.toml": "the study file"}
        made = ("results.sqlite", "results.csv", "host.csv", "digests.json", "runs/x.json.gz", "traces/l.rgt")
        for path, role in {**inputs, **{f"s.study/{name}": "a file of the study" for name in made}}.items():
            self.refused(study.main, ["show", "s.toml", "--bin", "bin", "--stats", "1", path],
                         f"regatta-study: --stats and {role} name the same file '{path}'")

    def test_results_in_the_place_of_an_input(self):
        for name in ("results.sqlite", "results.csv", "host.csv"):
            self.write(f'[[programs]]\ntrace = "s.study/{name}"\n')
            where = self.folder / "s.study" / name
            self.refused(study.main, ["run", "s.toml", "--bin", "bin"],
                         f"regatta-study: {name} and an input of the study name the same file '{where}'")

    @JINJA
    def test_report(self):
        roles = {**dict.fromkeys(self.INPUTS, "an input of the study"), "s.toml": "--study",
                 "s.study/results.sqlite": "the study's results", "s.study/host.csv": "the study's results"}
        for path, role in roles.items():
            self.refused(report.main, ["--study", "s.toml", "--out", path],
                         f"regatta-report: --out and {role} name the same file '{path}'")


class SampleTest(FolderTest):
    def test_json(self):
        Path("bin").mkdir()
        for name in ("regatta-trace", "regatta-sim"):
            Path("bin", name).write_text("#!/bin/sh\nexit 1\n")
            Path("bin", name).chmod(0o755)
        for name in ("k.rgt", "c.config", "e.toml", "m.toml"):
            Path(name).write_text("")
        Path("c.config").write_text('[energy]\ntable = "e.toml"\n')
        os.symlink("c.config", "link")
        behind = "a file of regatta-sim's options"
        for path, role in {"k.rgt": "the trace", "./k.rgt": "the trace", "c.config": behind, "link": behind, "e.toml": behind,
                           "m.toml": behind, "new.vcd": behind, "new.csv": behind, "bin/regatta-sim": "regatta-sim",
                           "bin/regatta-trace": "regatta-trace"}.items():
            self.refused(sample.main, ["k.rgt", "--bin", "bin", "--json", path, "--", "--config", "c.config", "--machine=m.toml",
                                       "--vcd", "./new.vcd", "--cpi-ctas=new.csv"],
                         f"regatta-sample: --json and {role} name the same file '{path}'")


if __name__ == "__main__":
    unittest.main()
