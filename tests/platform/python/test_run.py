# SPDX-License-Identifier: Apache-2.0
"""regatta.run() and annotate(): what is kept and what is made again, failures, interruption, and where programs are."""

import concurrent.futures
import fcntl
import importlib.util
import inspect
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import regatta
from regatta import tools

from . import fake_study
from .fake_study import FolderTest, processes_of


def python(code, folder, **environment):
    return subprocess.Popen([sys.executable, "-B", "-c", code], cwd=folder, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(fake_study.PACKAGE), **environment})


@unittest.skipUnless(sys.version_info >= (3, 11), "regatta.run needs Python 3.11")
class RunTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.bin = fake_study.make(self.folder / "bin")
        self.cache = self.folder / "cache"
        self.options = {"cache": self.cache, "bin": self.bin}

    def made(self, what="simulate"):
        return fake_study.calls(self.bin, what)

    def run_it(self, program="a.rgt", **options):
        return regatta.run(self.folder / program, **{**self.options, **options})

    def test_a_run_is_made_once(self):
        first = self.run_it(knobs={"k.a": 2})
        self.assertEqual((first.cycles, first.energy_nj, first.scheme), (1028, 2.5 * 1028, "baseline"))
        self.assertEqual(first.name, "a baseline gtx980 k.a=2")
        self.assertEqual(self.run_it(knobs={"k.a": 2}, name="mine").name, "mine")
        self.assertEqual(self.made(), 1)
        self.assertEqual(self.run_it(knobs={"k.a": 3}).cycles, 1038)
        self.assertEqual(self.run_it(scheme="other", knobs={"k.a": 2}).cycles, 1528)
        self.assertEqual(self.run_it(options=["--k.a", 2]).cycles, 1028)  # the same words
        self.assertEqual(self.made(), 3)
        (self.folder / "a.rgt").write_text("trace aa")
        self.assertEqual(self.run_it(knobs={"k.a": 2}).cycles, 1029)
        fake_study.make(self.bin, "changed")
        self.run_it(knobs={"k.a": 2})
        self.assertEqual(self.made(), 5)

    def test_a_machine_can_be_a_path(self):
        (self.folder / "m.toml").write_text("x = 1")
        self.assertEqual(self.run_it(machine=self.folder / "m.toml").cycles, 1018 + 100 * len("x = 1"))

    def test_what_a_killed_run_left_is_removed(self):
        left, stays = (self.cache / f".run.{os.uname().nodename}.{process}.x" for process in (4194305, os.getpid()))
        for folder in (left, stays):
            folder.mkdir(parents=True)
        self.run_it()
        self.assertEqual((left.exists(), stays.exists()), (False, True))

    def test_nothing_is_kept_without_a_cache(self):
        for _ in range(2):
            self.run_it("launch.toml", cache=False)
        self.assertEqual((self.made(), self.made("annotate")), (2, 2))
        self.assertFalse(self.cache.exists())

    def test_a_launch_file_is_annotated_once(self):
        for scheme in ("baseline", "other"):
            self.run_it("launch.toml", scheme=scheme)
        self.assertEqual((self.made(), self.made("annotate")), (2, 1))
        trace = regatta.annotate(self.folder / "launch.toml", **self.options)
        self.assertEqual(trace.path.read_text()[:5], "trace")
        self.assertEqual(trace.path.parent, self.cache / "traces")
        self.assertEqual(self.run_it(os.fspath(trace)).cycles, self.run_it("launch.toml").cycles)
        self.assertEqual(self.made("annotate"), 1)
        # Options and the files that the launch file names count.
        self.run_it("launch.toml", annotate={"rfv": True, "rfh": 3, "rfv_table": None, "for_": "rc,rfv", "dump": ["x", "y"]})
        self.assertIn("--rfv --rfh=3 --for=rc,rfv --dump=x --dump=y\n", (self.bin / "calls").read_text())
        (self.folder / "k.ptx").write_text("other")
        out = regatta.annotate(self.folder / "launch.toml", out=self.folder / "out.rgt", name="mine", **self.options)
        self.assertEqual((self.made("annotate"), out.path, out.name), (3, self.folder / "out.rgt", "mine"))
        self.assertEqual(sorted(p.name for p in self.folder.glob("*.part")), [])
        # A trace that was removed is made again.
        shutil.rmtree(self.cache / "traces")
        regatta.annotate(self.folder / "launch.toml", **self.options)
        self.assertEqual(self.made("annotate"), 4)

    def test_further_files(self):
        run = self.run_it(sample=500, cpi_ctas=True)
        self.assertEqual((run.samples, run.ctas.splitlines()[1]), ("cycle,launch,l1.reads\n500,0,7\n", "0,0,3,1,9,8"))
        self.assertIsNone(self.run_it().samples)
        self.assertEqual(self.run_it(sample=500, cpi_ctas=True).samples, run.samples)
        self.assertEqual(self.made(), 2)
        self.assertEqual(self.run_it(sample=600).samples.splitlines()[1], "600,0,7")
        for _ in range(2):
            self.run_it(options=["--vcd", self.folder / "v.vcd"])
            (self.folder / "v.vcd").unlink()
        self.assertEqual(self.made(), 5)

    def test_failures_have_status_and_message(self):
        for a, status, message in ((13, 3, "value mismatch in warp 13"), (14, 1, "out of memory"),
                                   (15, 137, "ended by signal SIGKILL")):
            with self.assertRaises(regatta.RunFailed) as caught:
                self.run_it(knobs={"k.a": a})
            error = caught.exception
            self.assertEqual((error.tool, error.status, error.message), ("regatta-sim", status, message))
            self.assertEqual(str(error), f"a baseline gtx980 k.a={a}: regatta-sim ended with status {status}: {message}")
        with self.assertRaises(regatta.RunFailed) as caught:
            self.run_it(knobs={"nosuch.x": 1})
        self.assertEqual((caught.exception.status, caught.exception.message[:40]), (2, "command line: unknown option '--nosuch.x"))
        # Of the knobs a mistake is told before a trace is made.
        annotated = fake_study.calls(self.bin, "annotate")
        for knobs, message in (({"nosuch.x": 1}, "unknown option '--nosuch.x'; did you mean '--such'?"), ({"k.a": -1}, "k.a: expected an integer from 0, found -1")):
            with self.assertRaises(regatta.RunFailed) as caught:
                self.run_it("launch.toml", knobs=knobs)
            self.assertIn(message, str(caught.exception))
        self.assertEqual(fake_study.calls(self.bin, "annotate"), annotated)
        # A failure is no result: it is tried again.
        before = self.made()
        with self.assertRaises(regatta.RunFailed):
            self.run_it(knobs={"k.a": 13})
        self.assertEqual(self.made(), before + 1)
        with self.assertRaisesRegex(regatta.RunFailed, r"launch\.toml: regatta-annotate ended with status 2: a region of 9"):
            self.run_it("launch.toml", annotate={"refuse": True})
        self.assertEqual(list((self.cache / "traces").glob("*.rgt")), [])

    def test_bad_arguments(self):
        for options, expected in (
                ({"program": "none.rgt"}, r"none\.rgt: found no file, expected a trace \(\.rgt\) or a launch file"),
                ({"annotate": {"rfv": True}}, r"a\.rgt: annotate: found options, expected none with a trace"),
                ({"knobs": {"k.a": [1, 2]}}, r"run: knobs\.k\.a: found \[1, 2\], expected a number, a text, true or false"),
                ({"options": ["--scheme=wir"]}, r"run: options: found --scheme, expected scheme=\.\.\."),
                ({"options": ["--stats", "s.json"]}, r"run: options: found --stats, expected options without it"),
                ({"options": ["--replay"]}, r"run: options: found --replay, expected options of a simulation"),
                ({"machine": None}, r"run: machine: found None, expected the name of a machine or the path of a \.toml file"),
                ({"machine": "\ud800"}, r"run: machine: found a text with a zero byte or half a character"),
                ({"knobs": {"k.a": "\0"}}, r"run: knobs\.k\.a: found a text with a zero byte"),
                ({"machine": 480}, r"run: machine: found 480, expected"), ({"machine": ""}, r"run: machine: found '', expected"),
                ({"scheme": None}, r"run: scheme: found None, expected the name of a scheme"),
                ({"knobs": ["k.a"]}, r"run: knobs: found \['k\.a'\], expected values by name"),
                ({"options": "--sms 2"}, r"run: options: found '--sms 2', expected a list of options and their values"),
                ({"options": [None]}, r"run: options: found \[None\], expected a list of options and their values"),
                ({"sample": "1"}, r"run: sample: found '1', expected a number of cycles"),
                ({"sample": 0}, r"run: sample: found 0, expected a number of cycles of at least 1"),
                ({"program": "launch.toml", "annotate": {"report": "r.json"}}, r"annotate: report: found an option without a trace"),
                ({"bin": "nowhere"}, r"bin: found no program 'regatta-sim' in 'nowhere', expected the folder")):
            with self.subTest(options), self.assertRaisesRegex(regatta.InputError, expected):
                self.run_it(**options)
        self.assertEqual(self.made(), 0)
        with self.assertRaisesRegex(regatta.InputError, r"a\.rgt: found no launch file, expected one"):
            regatta.annotate(self.folder / "a.rgt", **self.options)
        with mock.patch.object(sys, "version_info", (3, 9)), self.assertRaisesRegex(regatta.InputError, "expected 3.11 or newer"):
            self.run_it()

    def test_many_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            runs = list(pool.map(lambda a: self.run_it("launch.toml", knobs={"k.a": a}).cycles, [1, 2, 3, 1, 2, 3]))
        self.assertEqual(runs, [runs[0], runs[0] + 10, runs[0] + 20] * 2)
        # A trace that is made twice would be another file for those who read the first.
        self.assertEqual(self.made("annotate"), 1)
        self.assertEqual([p for p in self.cache.rglob(".*")], [])

    def test_runs_share_nothing_in_the_folder_of_temporary_files(self):
        place = self.folder / "temporary"
        place.mkdir()
        # A worker whose place this were would wait for its end.
        with open(place / "place.0", "w", encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            code = f"import regatta\nprint(regatta.run('launch.toml', bin={str(self.bin)!r}, cache='cache').cycles)"
            process = python(code, self.folder, TMPDIR=str(place))
            self.addCleanup(process.kill)
            self.assertEqual(process.communicate(timeout=fake_study.LONG)[1], "")
        self.assertEqual([p.name for p in place.iterdir()], ["place.0"])

    def interrupted(self, number):
        code = f"import regatta\ntry:\n    regatta.run('a.rgt', bin={str(self.bin)!r}, cache='cache')\n" \
            "except KeyboardInterrupt:\n    print('interrupted')\n"
        fake_study.during(self.bin, "regatta-sim", "wait(lambda: False)")
        process = python(code, self.folder)
        fake_study.wait_for(self.made, "a run under way")
        process.send_signal(number)
        out, errors = process.communicate(timeout=fake_study.LONG)
        fake_study.wait_for(lambda: not processes_of(self.bin), "an end of the simulation")
        return out, errors

    def test_interruption_ends_the_simulation(self):
        self.assertEqual(self.interrupted(signal.SIGINT), ("interrupted\n", ""))
        self.assertLessEqual({p.name for p in self.cache.rglob("*") if p.is_file()}, {"digests.json"})

    def test_its_death_ends_the_simulation(self):
        self.assertEqual(self.interrupted(signal.SIGKILL), ("", ""))


class ToolsTest(FolderTest):
    def test_places_of_the_programs(self):
        asked = fake_study.make(self.folder / "asked")
        environment = fake_study.make(self.folder / "environment")
        path = fake_study.make(self.folder / "path")
        with mock.patch.dict(os.environ, {"REGATTA_BIN": str(environment), "PATH": str(path)}), \
                mock.patch.object(tools, "beside_package", lambda: [self.folder / "none"]):
            self.assertEqual(tools.find("regatta-sim", asked), asked / "regatta-sim")
            self.assertEqual(tools.find("regatta-sim"), environment / "regatta-sim")
            (environment / "regatta-sim").unlink()
            # What was asked for is not replaced by another version.
            with self.assertRaisesRegex(regatta.InputError, "REGATTA_BIN: found no program 'regatta-sim' in '.*/environment'"):
                tools.find("regatta-sim")
            del os.environ["REGATTA_BIN"]
            self.assertEqual(tools.find("regatta-sim"), path / "regatta-sim")
            with mock.patch.object(tools, "beside_package", lambda: [self.folder / "none", asked]):
                self.assertEqual(tools.find("regatta-sim"), asked / "regatta-sim")
            with self.assertRaisesRegex(regatta.InputError, "found no program 'regatta-x' in .*/none or PATH, expected .*REGATTA_BIN"):
                tools.find("regatta-x")

    def test_beside_an_installed_package(self):
        for library in ("lib", "lib/x86_64-linux-gnu"):
            prefix = self.folder / library.replace("/", "_")
            shutil.copytree(fake_study.PACKAGE / "regatta", prefix / library / "regatta" / "python" / "regatta")
            fake_study.make(prefix / "bin")
            process = python("from regatta import tools; print(tools.find('regatta-annotate'))", self.folder,
                             PYTHONPATH=str(prefix / library / "regatta" / "python"), REGATTA_BIN="")
            self.assertEqual(process.communicate()[0], f"{prefix}/bin/regatta-annotate\n")

    def test_beside_a_checkout(self):
        root = fake_study.PACKAGE.parents[1]
        self.assertEqual(tools.beside_package()[0], root / "build" / "release" / "bin")

    def test_cache_folder(self):
        with mock.patch.dict(os.environ, {"REGATTA_CACHE": "/x", "XDG_CACHE_HOME": "/y", "HOME": "/z"}):
            self.assertEqual(regatta.cache_folder(), Path("/x"))
            del os.environ["REGATTA_CACHE"]
            self.assertEqual(regatta.cache_folder(), Path("/y/regatta"))
            del os.environ["XDG_CACHE_HOME"]
            self.assertEqual(regatta.cache_folder(), Path("/z/.cache/regatta"))


class PackageTest(FolderTest):
    def test_only_what_is_needed_is_imported(self):
        code = "import regatta, sys; print([m for m in ('pandas', 'sqlite3', 'tomllib', 'regatta.studies') if m in sys.modules])"
        self.assertEqual(python(code, self.folder).communicate(), ("[]\n", ""))

    def test_names_are_there_and_explained(self):
        for name in regatta.__all__:
            found = getattr(regatta, name)
            self.assertTrue(inspect.getdoc(found), name)
            for member, value in vars(found).items() if inspect.isclass(found) and found.__module__.startswith("regatta") else ():
                if inspect.isfunction(value) and member.endswith("frame"):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{member}")
        self.assertLessEqual(set(regatta.__all__), set(dir(regatta)))
        with self.assertRaisesRegex(AttributeError, "module 'regatta' has no attribute 'nosuch'"):
            regatta.nosuch

    def test_a_missing_pandas_is_told_by_the_name_of_its_package(self):
        run = regatta.Run({"cycles": 1, "launches": [], "stats": {}, "config": {}, "energy": {"total_nj": 1.0}}, "r")
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaisesRegex(ImportError, "apt-get install python3-pandas"):
            run.statistics_frame()


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")), "regatta is not built")
@unittest.skipUnless(sys.version_info >= (3, 11), "regatta.run needs Python 3.11")
class RealTest(FolderTest):
    def test_trace_and_run(self):
        launch = Path(os.environ["REGATTA_KERNELS"]) / "bfs" / "launch.small.toml"
        trace = regatta.annotate(launch, cache=self.folder)
        self.assertEqual([k.name for k in trace.kernels], ["bfs_init", "bfs_expand", "bfs_commit"])
        self.assertEqual(sum(la.warp_instructions for la in trace.launches), trace.warp_instructions)
        run = regatta.run(trace, cache=self.folder, cpi_lines=True, sample=1000)
        self.assertEqual((run.name, run.warp_instructions), ("bfs baseline gtx980", trace.warp_instructions))
        self.assertEqual([la["kernel"] for la in run.document["launches"]], [la.kernel for la in trace.launches])
        self.assertEqual(sum(cycles for _, cycles in run.cells(True)), run.cycles)
        column = run.samples.splitlines()[0].split(",").index("sm0.pipeline.warp_instructions")
        self.assertEqual(sum(int(row.split(",")[column]) for row in run.samples.splitlines()[1:]), run.warp_instructions)
        with self.assertRaisesRegex(regatta.RunFailed, "unknown scheme 'nope'"):
            regatta.run(trace, cache=self.folder, scheme="nope")
        with self.assertRaisesRegex(regatta.RunFailed, "not a regatta trace"):
            _ = regatta.Trace(self.folder / "a.rgt").kernels


@unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("REGATTA_BIN", ""), "regatta-sim")), "regatta is not built")
class KnobsTest(unittest.TestCase):
    def test_their_types_are_those_of_the_simulator(self):
        place = importlib.util.spec_from_file_location("write_knobs", fake_study.PACKAGE / "write_knobs.py")
        write_knobs = importlib.util.module_from_spec(place)
        place.loader.exec_module(write_knobs)
        self.assertEqual((fake_study.PACKAGE / "regatta" / "knobs.py").read_text(), write_knobs.text(os.environ["REGATTA_BIN"]),
                         "run platform/python/write_knobs.py")


if __name__ == "__main__":
    unittest.main()
