# SPDX-License-Identifier: Apache-2.0
"""Results of regatta-study and regatta.run() whose inputs change while they are made, or which are damaged afterwards: the
next run gives what a fresh one gives."""

import contextlib
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import regatta
from regatta.studies import engine, inputs, single, stored, worker
from regatta.studies.campaign import Campaign, Simulation, Tools
from regatta.studies.outcome import Outcome

from . import fake_study
from .fake_study import FolderTest

# In a program: other content while it runs, then the old one again.
SWAP = """
path = {path!r}
os.rename(path, path + ".old")
with open(path, "w") as f: f.write(open(path + ".old").read() + {more!r})
os.chmod(path, 0o755)
"""
RESTORE = 'os.replace({path!r} + ".old", {path!r})\n'
# The same file, content of the same length, and the old time of its last change.
IN_PLACE = """
path, kept = {path!r}, os.stat({path!r})
old = open(path).read()
open(path, "w").write(old[:-1] + "#")
"""
IN_PLACE_RESTORE = "open(path, 'w').write(old)\nos.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))\n"
SWAP_LINK = "path = {path!r}\ntarget = os.readlink(path)\nos.remove(path)\nos.symlink({other!r}, path)\n"
RESTORE_LINK = "os.remove(path)\nos.symlink(target, path)\n"


def files_of_every_kind(folder: Path) -> None:
    """A launch file with PTX and data; a machine, based on another with an energy table; a configuration without an ending that
    names a machine. A link leads to the data."""
    (folder / "launch.toml").write_text('ptx = "k.ptx"\nentry = "k"\n[[param]]\nbuffer = 4\nseed = 5\ninit = "file"\nfile = "link/data.bin"\n')
    (folder / "k.ptx").write_text("ptx")
    for name in ("data", "other"):
        (folder / name).mkdir()
        (folder / name / "data.bin").write_text(f"{name} ")
    (folder / "link").symlink_to("data")
    (folder / "m.toml").write_text('[machine]\nbase = "./base.cfg"\n')
    (folder / "base.cfg").write_text('[energy]\ntable = "./table"\n')
    (folder / "table").write_text("base = 'maxwell28'\n")
    (folder / "config").write_text('\ufeff[run]\nmachine = "./named"\n')
    (folder / "named").write_text("[sm]\nwarps = 8\n")


@unittest.skipUnless(sys.version_info >= (3, 11), "regatta.run needs Python 3.11")
class ChangedTest(FolderTest):
    """Of every kind of file that a run depends on."""

    def setUp(self):
        super().setUp()
        files_of_every_kind(self.folder)
        self.bin = fake_study.make(self.folder / "bin")
        self.enterContext(contextlib.chdir(self.folder))
        self.enterContext(mock.patch.object(single, "Pool", fake_study.PoolHere))

    def run_it(self, cache, program="launch.toml"):
        return regatta.run(self.folder / program, machine="m.toml", options=["--config", "config"], bin=self.bin, cache=cache).cycles

    def poisoned(self, program, before, after, path, trace="launch.toml"):
        """A run in which that happens is a failure, and leaves nothing that a later run would take for its result."""
        fake_study.during(self.bin, program, before, after)
        with self.assertRaises(regatta.RunFailed) as caught:
            self.run_it(self.folder / "cache", trace)
        self.assertEqual(caught.exception.message, f"{path} was changed meanwhile: the result is discarded")
        fake_study.during(self.bin, program)

    def test_a_file_that_is_changed_and_put_back(self):
        expected = self.run_it(False)
        link, other = str(self.folder / "link"), str(self.folder / "other")
        self.poisoned("regatta-annotate", SWAP_LINK.format(path=link, other=other), RESTORE_LINK, f"{link}/data.bin")
        (self.folder / "given.rgt").write_text("trace")
        for program, name, more in (
                ("regatta-annotate", "launch.toml", "# more\n"), ("regatta-annotate", "k.ptx", "more"),
                ("regatta-annotate", "link/data.bin", "more"), ("regatta-annotate", "bin/regatta-annotate", "# more\n"),
                ("regatta-sim", "m.toml", "# more\n"), ("regatta-sim", "base.cfg", "# more\n"), ("regatta-sim", "table", "# more\n"),
                ("regatta-sim", "config", "# more\n"), ("regatta-sim", "named", "# more\n"),
                ("regatta-sim", "bin/regatta-sim", "# slower\n"), ("regatta-sim", "given.rgt", "more")):
            with self.subTest(name):
                path = str(self.folder / name)
                self.poisoned(program, SWAP.format(path=path, more=more), RESTORE.format(path=path), path,
                              name if name == "given.rgt" else "launch.toml")
        path = str(self.folder / "named")
        self.poisoned("regatta-sim", IN_PLACE.format(path=path), IN_PLACE_RESTORE, path)
        self.assertEqual(self.run_it(self.folder / "cache"), expected)

    def test_what_is_named_counts_wherever_it_is_named(self):
        first = self.run_it(self.folder / "cache")
        made = fake_study.calls(self.bin, "simulate")
        for name in ("table", "named", "base.cfg", "config"):
            old = (self.folder / name).read_bytes()
            (self.folder / name).write_bytes(old + b"# 10 bytes\n")
            self.assertEqual(self.run_it(self.folder / "cache"), first + 100 * 11, name)
            (self.folder / name).write_bytes(old)
        self.assertEqual(self.run_it(self.folder / "cache"), first)
        self.assertEqual(fake_study.calls(self.bin, "simulate"), made + 4)

    def test_content_counts_with_its_place(self):
        """Two files of the same name that change places are other inputs."""
        launch = self.folder / "launch.toml"
        launch.write_text('a = "data/data.bin"\nb = "other/data.bin"\n')
        folder = Campaign("c", self.folder / "c", self.folder, Tools.find(self.bin), self.folder / "c")
        first = folder.trace("k", launch, ()).key
        for one, two in (("data", "x"), ("other", "data"), ("x", "other")):
            (self.folder / one).rename(self.folder / two)
        again = Campaign("c", self.folder / "c", self.folder, Tools.find(self.bin), self.folder / "c")
        self.assertNotEqual(again.trace("k", launch, ()).key, first)

    def test_files_that_name_each_other_in_a_circle(self):
        (self.folder / "named").write_text('[machine]\nbase = "../' + self.folder.name + '/config"\n')
        (self.folder / "m.toml").write_text('[machine]\nbase = "./m.toml"\n')
        with mock.patch.object(fake_study, "_PROGRAMS", {**fake_study._PROGRAMS, "regatta-sim": "note('simulate')\nfail(2, 'a circle')"}):
            fake_study.make(self.bin)
        with self.assertRaisesRegex(regatta.RunFailed, "a circle"):
            self.run_it(False, "a.rgt")

    def test_a_file_that_files_are_written_to_is_no_input(self):
        out = self.folder / "out.vcd"
        for content in (None, "old"):
            if content:
                out.write_text(content)
            for words in (["--vcd", str(out)], [f"--vcd={out}", "--vcd", str(out)]):
                regatta.run(self.folder / "a.rgt", options=words, bin=self.bin, cache=self.folder / "cache")
        self.assertEqual(out.read_text(), "dump")

    def test_a_pipe_is_refused(self):
        os.mkfifo(self.folder / "pipe")
        with self.assertRaisesRegex(regatta.InputError, "/pipe: found a pipe or a device, expected a file"):
            regatta.run(self.folder / "a.rgt", options=["--config=pipe"], bin=self.bin, cache=False)

    def test_a_result_that_is_damaged_is_made_again(self):
        first = self.run_it(self.folder / "cache")
        marker, = (self.folder / "cache" / "runs").glob("*.gz")
        lines = gzip.decompress(marker.read_bytes()).splitlines()
        for damage in (marker.read_bytes()[:-9], b"", b"x" + marker.read_bytes()[1:],
                       gzip.compress(b"\n".join([lines[0], lines[1].replace(b'"cycles": 1', b'"cycles": 2')]))):
            made = fake_study.calls(self.bin, "simulate")
            marker.write_bytes(damage)
            self.assertEqual(self.run_it(self.folder / "cache"), first)
            self.assertEqual(fake_study.calls(self.bin, "simulate"), made + 1)


class StudyTest(FolderTest):
    """The same for a study of several runs, with its tables."""
    TEXT = 'machines = ["m.toml"]\noptions = ["--config", "config"]\n[[programs]]\nlaunch = "launch.toml"\nname = "l"\n' \
        '[[programs]]\ntrace = "a.rgt"\n[knobs]\nk.a = [1, 2, 3]\n'

    def setUp(self):
        super().setUp()
        files_of_every_kind(self.folder)
        self.bin = fake_study.make(self.folder / "bin")
        self.write(self.TEXT)

    def study(self, *arguments, status=0, file="s.toml"):
        done = fake_study.study_here([arguments[0], file, *arguments[1:], "--bin", "bin"], self.folder)
        self.assertEqual(done.returncode, status, done)
        return done

    def tables(self, name="s"):
        return [(self.folder / f"{name}.study" / file).read_bytes() for file in ("results.sqlite", "results.csv")]

    def fresh(self):
        """The tables of the same study without a past."""
        self.write(self.TEXT, "fresh.toml")
        self.study("run", file="fresh.toml")
        return self.tables("fresh")

    def test_changes_during_a_study(self):
        # After the first run all others find another file than planned.
        for name in ("bin/regatta-sim", "named", "m.toml"):
            path = str(self.folder / name)
            fake_study.during(self.bin, "regatta-sim", after=f'if noted("simulate") % 6 == 1:\n' + SWAP.format(path=path, more="# slower\n").replace(
                "\n", "\n    "))
            before = fake_study.calls(self.bin, "simulate")
            done = self.study("run", status=1)
            self.assertEqual(fake_study.calls(self.bin, "simulate"), before + 1)
            self.assertIn("6 runs failed; the others are kept:", done.stderr)
            self.assertEqual(done.stderr.count(f"status 1: {name} was changed after the runs were planned"), 5, done)
            self.assertEqual(done.stderr.count(f"status 1: {name} was changed meanwhile: the result is discarded"), 1, done)
            self.assertIn("The next run of the study makes them again: a file changed meanwhile, or this host failed", done.stderr)
            os.replace(path + ".old", path)
            (self.bin / "calls").write_text("")
        fake_study.during(self.bin, "regatta-sim")
        self.study("run")
        self.assertEqual(self.tables(), self.fresh())

    def test_results_that_are_damaged_are_told_and_made_again(self):
        self.study("run")
        first, made = self.tables(), fake_study.calls(self.bin, "simulate")
        runs = sorted((self.folder / "s.study" / "runs").glob("*.gz"))
        runs[0].write_bytes(runs[1].read_bytes())
        runs[2].write_bytes(runs[2].read_bytes()[:50])
        told = self.study("status")
        self.assertIn("found a damaged result (it is the result of another run), expected that of run", told.stdout)
        self.assertIn("found a damaged result (it is cut off), expected that of run", told.stdout)
        done = self.study("run")
        self.assertEqual(done.stderr.count("found a damaged result"), 2)
        self.assertIn("2 of 6 runs to make", done.stdout)
        self.assertEqual((self.tables(), fake_study.calls(self.bin, "simulate")), (first, made + 2))
        # Traces and what is known of files, too.
        annotated = fake_study.calls(self.bin, "annotate")
        trace, = (self.folder / "s.study" / "traces").glob("*.rgt")
        trace.write_text("trace, another one")
        (self.folder / "s.study" / "digests.json").write_text('{"files": [1], "sha256": "x"}')
        for run in runs:
            run.unlink()
        self.study("run")
        self.assertEqual((self.tables(), fake_study.calls(self.bin, "annotate")), (first, annotated + 1))

    def test_failures_of_the_host_are_made_again_and_failures_of_the_input_are_kept(self):
        self.TEXT = TEXT = self.TEXT.replace("[1, 2, 3]", "[1, 13]")
        self.write(TEXT)
        for program, code in (
                ("regatta-sim", "fail(2, \"cannot write '/x': No space left on device\")"), ("regatta-sim", "fail(1, 'out of memory')"),
                ("regatta-sim", "fail(2, 'cannot read x: Input/output error')"), ("regatta-sim", "os.kill(os.getpid(), 9)"),
                ("regatta-annotate", "fail(2, \"cannot write '/x': File too large\")"), ("regatta-annotate", "os.kill(os.getpid(), 9)")):
            with self.subTest(code):
                fake_study.during(self.bin, program, code)
                self.assertIn("again: a file changed meanwhile, or this host failed", self.study("run", status=1).stderr)
        fake_study.during(self.bin, "regatta-sim", "os.rename(sys.argv[1], sys.argv[1] + '.away')\n")
        self.assertRegex(self.study("run", status=1).stderr, r"a\.rgt went away meanwhile: the result is discarded")
        fake_study.during(self.bin, "regatta-sim")
        (self.folder / "a.rgt.away").rename(self.folder / "a.rgt")
        self.study("run", status=1)
        made = fake_study.calls(self.bin, "simulate")
        self.study("run", status=1)
        self.assertEqual(fake_study.calls(self.bin, "simulate"), made)
        tables = self.tables()
        self.write(TEXT, "fresh.toml")
        self.study("run", file="fresh.toml", status=1)
        self.assertEqual(tables, self.tables("fresh"))

    def test_a_failure_of_the_host_is_no_refusal(self):
        """Where one is expected, as on pages of papers."""
        run = Simulation(id=1, key="k", program="p", arguments=(), trace=None, accepted=(0, 2))
        self.assertEqual([Outcome(2, "", 0.0, again=again).is_result(run) for again in (False, True)], [True, False])
        self.assertEqual([worker.is_result({"status": 2, **more}, {"accepted": [0, 2]}) for more in ({}, {"again": True})], [True, False])

    def test_a_full_disk(self):
        """A limit on the size of files is as good: of less than a job needs, than a result, than the database."""
        expected = self.fresh()
        study = [sys.executable, "-B", "-m", "regatta.commands.study", "run", "s.toml", "--bin", "bin", "--quiet"]
        environment = {**os.environ, "PYTHONPATH": str(fake_study.PACKAGE)}
        for blocks, told in ((1, "cannot write '"), (4, "cannot write '"), (12, "cannot write '.*/results.sqlite': "), ("unlimited", "")):
            done = subprocess.run(["bash", "-c", f'ulimit -f {blocks}; exec "$@"', "bash", *study], cwd=self.folder, text=True,
                                  capture_output=True, env=environment)
            self.assertRegex(done.stderr, rf"^(regatta-study: {told}.*\n)?$" if told else "^$")
            self.assertEqual(done.returncode, 2 if told else 0, done)
        self.assertEqual((self.tables(), [*(self.folder / "s.study").rglob(".*.part")]), (expected, []))

    def test_two_studies_in_one_folder_at_the_same_time(self):
        expected = self.fresh()
        self.write(self.TEXT, "other.toml")
        # The runs of the one wait for the end of the other.
        fake_study.during(self.bin, "regatta-sim", "if 's.study' in after('--stats'): wait(lambda: os.path.exists('ended'))")
        process = fake_study.start(["run", "s.toml", "--bin", "bin", "--quiet"], self.folder)
        self.addCleanup(process.kill)
        begun = fake_study.calls(self.bin, "simulate")
        fake_study.wait_for(lambda: fake_study.calls(self.bin, "simulate") > begun)
        self.study("run", file="other.toml")
        (self.folder / "ended").touch()
        self.assertEqual(process.communicate(timeout=fake_study.LONG)[1], "")
        self.assertEqual((process.returncode, self.tables(), self.tables("other")), (0, expected, expected))

    def test_what_killed_programs_left_is_removed(self):
        self.study("run")
        first = self.tables()
        folder, host = self.folder / "s.study", os.uname().nodename
        gone = 4194305  # more than a process can have
        left = [folder / f".results.{gone}.part", folder / f".results.csv.{gone}.part", folder / "runs" / f".key.{host}.{gone}.part",
                folder / "runs" / f".key.{host}.{gone}.stats.partial.{gone}-0a", folder / "traces" / f".l.rgt.{host}.{gone}.report"]
        stay = [folder / f".results.{os.getppid()}.part", folder / "runs" / f".key.elsewhere.{gone}.part"]
        for path in left + stay:
            path.touch()
        self.study("run")
        self.assertEqual(([p for p in left if p.exists()], [p for p in stay if not p.exists()], self.tables()), ([], [], first))


class ProcessTest(unittest.TestCase):
    def test_a_process_that_was_killed_is_gone_before_its_parent_asks(self):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        self.assertTrue(engine.is_alive(child.pid))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self.assertFalse(engine.is_alive(child.pid))
        child.communicate()
        self.assertFalse(engine.is_alive(child.pid))


class InputsTest(FolderTest):
    def test_a_state_tells_every_change(self):
        path = self.folder / "x"
        path.write_text("one")
        known = inputs.Known()
        found, before = known.of(str(path))
        self.assertEqual(known.of(str(path)), (found, before))
        with mock.patch.object(inputs, "digest", side_effect=AssertionError):
            time.sleep(inputs.unsettled(before))
            self.assertRaises(AssertionError, known.of, str(path))  # that state was too new to be remembered
        known.of(str(path))
        with mock.patch.object(inputs, "digest", side_effect=AssertionError):
            self.assertEqual(known.of(str(path)), (found, before))
        again = inputs.Known(json.loads(json.dumps(known.entries())))
        with mock.patch.object(inputs, "digest", side_effect=AssertionError):
            self.assertEqual(again.of(str(path)), (found, before))
        for change in (lambda: path.write_text("two"), lambda: os.utime(path), lambda: os.replace(shutil.copy2(path, f"{path}2"), path)):
            change()
            self.assertNotEqual(inputs.state(str(path)), before)
            before = inputs.state(str(path))

    def test_whole_seconds_take_longer_to_settle(self):
        now = time.time()
        fine, coarse = [[1, 0, int(now * 1e9) | 1, 1]], [[1, 0, int(now) * 1_000_000_000, 1]]
        with mock.patch("time.time", lambda: now + 1):
            self.assertEqual(inputs.unsettled(fine), 0)
            self.assertGreater(inputs.unsettled(coarse), 0)
        # A link that was changed is as good as a file.
        self.assertGreater(inputs.unsettled([[1, 0, 1, 1], [int(now * 1e9), 5]]), 0)

    def test_links_on_the_way(self):
        (self.folder / "d").mkdir()
        (self.folder / "d" / "x").write_text("x")
        (self.folder / "l").symlink_to(self.folder / "d")
        (self.folder / "d" / "y").symlink_to("../l/x")
        self.assertEqual(len(inputs.state(str(self.folder / "l" / "y"))), 1 + 3)
        self.assertEqual(inputs.state(str(self.folder / "l" / "y"))[0], inputs.state(str(self.folder / "d" / "x"))[0])
        (self.folder / "round").symlink_to("round")
        for nothing in ("round", "d", "none", "d/x/y", "zero\0byte"):
            self.assertIsNone(inputs.state(str(self.folder / nothing)))

    def test_a_file_that_was_not_there(self):
        known = inputs.Known()
        path = str(self.folder / "late")
        watch = inputs.Watch({path: None}, known)
        watch.end()
        Path(path).touch()
        self.assertRaisesRegex(inputs.Changed, "late appeared$", watch.end)
        self.assertRaisesRegex(inputs.Changed, "late appeared$", inputs.Watch, {path: None}, known)


class StoredTest(FolderTest):
    def test_round_trip_and_every_damage(self):
        record, document, kept = {"status": 0, "message": "ä"}, {"cycles": 2 ** 70, "x": [1.5, None]}, {"table": {"a": [1]}}
        path = self.folder / "r"
        content = stored.result("k", record, document, kept)
        path.write_bytes(content)
        found = stored.Result(path, "k")
        self.assertEqual((found.record, found.content()), (record, (document, kept)))
        path.write_bytes(stored.result("k", record, None, {}))
        self.assertEqual(stored.Result(path, "k").content(), (None, {}))
        self.assertRaisesRegex(stored.Damaged, "another run", stored.Result, path, "other")
        for place in range(len(content)):
            for damage in (content[:place], content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1:]):
                path.write_bytes(damage)
                try:
                    same = stored.Result(path, "k")
                    self.assertEqual((same.record, same.content()), (record, (document, kept)))  # a byte of a header without meaning
                except stored.Damaged:
                    pass

    def test_documents(self):
        sealed = stored.seal({"a": [1, "x"]})
        self.assertEqual(stored.unseal(sealed), {"a": [1, "x"]})
        for damage in (sealed[:-5], b"", b"[]", b"{}", b"[" * 100_000, b'{"sha256": 1}', b'{"sha256": "x"}', sealed.replace(b"1", b"2", 1),
                       b"\xff", b"9" * 5000):
            self.assertRaises(stored.Damaged, stored.unseal, damage)


if __name__ == "__main__":
    unittest.main()
