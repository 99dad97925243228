# SPDX-License-Identifier: Apache-2.0
"""The papers' lists of programs: what they hold, and what a reader of a wrong one is told; the traces made for them, and
the page of all kernels."""

import contextlib
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tests import fake_tools, page_case
from regatta_reproduce import ReproductionError, command, plots, suite
from regatta_reproduce.evaluation import Evaluation

page = page_case.module("suites")
import content  # noqa: E402  # of suites: the page's folder leads the path
import evaluation  # noqa: E402

_spec = importlib.util.spec_from_file_location("prepare", suite.suites_folder / "prepare.py")
prepare = importlib.util.module_from_spec(_spec)
sys.modules["prepare"] = prepare
_spec.loader.exec_module(prepare)

#: Programs of the main list: those that have a kernel, and all that the paper measures.
coverage = {"aging": "10 of 10", "finereg": "18 of 18", "greener": "21 of 21", "register_sharing": "19 of 19",
            "regless": "21 of 21", "scratchpad": "19 of 19", "wir": "34 of 34"}

#: First, middle and last program of each file, those of further lists included, and how many there are.
order = {"aging": (10, "BlackS", "QRandS", "SimConv"), "finereg": (18, "Breath-First Search", "Transpose Vector Multiply", "Transpose"),
         "greener": (21, "backprop", "mri-q", "vectorAdd"), "register_sharing": (19, "backprop", "convolutionSeparable", "NN"),
         "regless": (21, "b+tree", "leukocyte", "streamcluster"), "scratchpad": (36, "backprop", "NN", "Convolution"),
         "wir": (34, "SobelFilter", "MonteCarlo", "heartwall")}

head = 'paper = "P"\nsource = "Table 1"\nmachine = "gtx980"\nwarp_size = 32\naddresses = 32\n'
program = '[[program]]\nname = "bfs"\nkernel = "bfs"\n'


class Suites(unittest.TestCase):
    def test_every_paper_has_its_list(self):
        self.assertEqual({name: str(s.coverage()) for name, s in suite.read_all().items()}, coverage)

    def test_order_is_the_paper_s(self):
        found = {}
        for name, s in suite.read_all().items():
            names = [p.name for p in s.programs]
            found[name] = (len(names), names[0], names[len(names) // 2], names[-1])
        self.assertEqual(found, order)
        self.assertEqual([p.name for p in suite.read(suite.suites_folder / "regless.toml").programs][:4],
                         ["b+tree", "backprop", "bfs", "dwt2d"])
        wir = suite.read(suite.suites_folder / "wir.toml").programs
        self.assertEqual((wir[0].abbreviation, wir[-1].abbreviation), ("SF", "HW"))

    def test_suites_of_our_own_are_of_no_paper(self):
        own = suite.own()
        self.assertEqual(list(own), ["modern"])
        self.assertFalse(set(own) & set(suite.read_all()))
        self.assertEqual(suite.names(), sorted([*own, *suite.read_all()]))
        self.assertEqual((own["modern"].paper, own["modern"].source, own["modern"].machine), ("", "", "h100"))
        self.assertEqual(own["modern"].annotate_options(), ())
        self.assertEqual(sorted([*own["modern"].kernels, *suite.kernels_beside_own()]), suite.kernel_names())

    def test_means_count_a_kernel_once_for_each_of_its_programs(self):
        greener = suite.of_paper("greener")
        self.assertEqual(greener.names_by_kernel()["bfs"], ["BFS1", "BFS2"])
        e = Evaluation(greener, ["bfs", "vector_add"], {})
        self.assertEqual(e.counted, ["bfs", "bfs", "vector_add"])
        self.assertEqual(e.average(lambda k: {"bfs": 3.0, "vector_add": 0.0}[k]), 2.0)
        self.assertEqual((e.short("bfs"), e.short("vector_add")), ("BFS1, BFS2", "VA"))

    def test_options_follow_the_machine(self):
        self.assertEqual(suite.read(suite.suites_folder / "wir.toml").annotate_options(),
                         ("--addresses", "32", "--max-registers", "63"))
        self.assertIn("--warp-size", suite.read(suite.suites_folder / "aging.toml").annotate_options())

    def message_of(self, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.toml"
            path.write_text(text, encoding="utf-8")
            with self.assertRaises(ReproductionError) as caught:
                suite.read(path)
            return str(caught.exception).replace(str(path), "s.toml")

    def test_errors_name_file_program_and_key(self):
        self.assertEqual(self.message_of(head), "s.toml: 'program' is missing, expected [[program]] tables")
        self.assertEqual(self.message_of(program), "s.toml: 'machine' is missing")
        self.assertEqual(self.message_of('source = "Table 1"\n' + program), "s.toml: 'paper' is missing")
        self.assertEqual(self.message_of('paper = "P"\n' + program), "s.toml: 'source' is missing")
        self.assertTrue(self.message_of(head + "colour = 1\n" + program).startswith(
            "s.toml: unknown key 'colour', expected paper, "))
        self.assertTrue(self.message_of(head.replace("gtx980", "gtx") + program).startswith(
            "s.toml: machine: found 'gtx', expected one of "))
        self.assertEqual(self.message_of(head.replace("addresses = 32", "addresses = 16") + program),
                         "s.toml: addresses: found 16, expected 32 or 64")
        self.assertEqual(self.message_of(head + '[[program]]\nname = "x"\n'),
                         "s.toml: program 1 (x): 'kernel' or 'missing': both are missing, expected one of them")
        self.assertTrue(self.message_of(head + '[[program]]\nname = "x"\nkernel = "nothing"\n').startswith(
            "s.toml: program 1 (x): kernel: 'nothing' is no kernel, expected a folder of "))
        self.assertTrue(self.message_of(head + program + 'entries = ["none"]\n').startswith(
            "s.toml: program 1 (bfs): entries: bfs.sm75.ptx has no entry 'none', expected some of "))
        self.assertTrue(self.message_of(head + program + "block = 0\n").startswith(
            "s.toml: program 1 (bfs): block: found 0, expected a whole number above 0"))
        self.assertTrue(self.message_of(head + program + program).startswith(
            "s.toml: program 2 (bfs): there is another program of this name"))

    def test_the_page_and_the_readme_state_the_coverage_that_is_computed(self):
        text = (page.here / "README.md").read_text(encoding="utf-8")
        readme = (suite.suites_folder / "README.md").read_text(encoding="utf-8")
        for name, s in suite.read_all().items():
            row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}` |"))
            self.assertTrue(row.endswith(f"| {s.coverage()} |"), row)
            for group in ["", *s.groups]:
                listed = f"{content.paper_name(s)}, {group}" if group else content.paper_name(s)
                row = next(line for line in text.splitlines() if line.startswith(f"| {listed} |"))
                self.assertIn(f"| {s.coverage(group)} |", row)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.toml"
            path.write_text(head + program + '[[program]]\nname = "x"\nmissing = "no source"\n', encoding="utf-8")
            s = suite.read(path)
            self.assertEqual(str(s.coverage()), "1 of 2")
            rows, entries = kept()
            text = content.page(rows, entries, {"s": s}, "full", True).page
            self.assertIn("| 1 of 2 |", text)
            self.assertIn("- s: x: no source", text)

    def test_more_errors(self):
        self.assertEqual(self.message_of(head + program + 'missing = "no"\n'),
                         "s.toml: program 1 (bfs): 'kernel' or 'missing': both are there, expected one of them")
        self.assertEqual(self.message_of(head + '[[program]]\nname = "x"\nmissing = "no"\nentries = ["a"]\n'),
                         "s.toml: program 1 (x): 'entries' needs 'kernel'")
        self.assertEqual(self.message_of(head + '[[program]]\nkernel = "bfs"\n'), "s.toml: program 1: 'name' is missing")
        self.assertTrue(self.message_of(head + program + "blocks = 1\n").startswith(
            "s.toml: program 1 (bfs): unknown key 'blocks', expected name, "))
        self.assertTrue(self.message_of(head + program + 'entries = "bfs"\n').startswith(
            "s.toml: program 1 (bfs): entries: found 'bfs', expected a list of texts"))
        self.assertIn("s.toml: ", self.message_of("paper = "))
        with self.assertRaisesRegex(ReproductionError, "cannot read '.*gone.toml': No such file"):
            suite.read(Path("gone.toml"))

    def test_prepare_explains_itself_and_refuses_an_unknown_suite(self):
        prepare = suite.suites_folder / "prepare.py"
        help_text = subprocess.run([sys.executable, "-B", str(prepare), "--help"], capture_output=True, text=True)
        self.assertEqual(help_text.returncode, 0)
        self.assertIn("make traces SUITE=wir", help_text.stdout)
        wrong = subprocess.run([sys.executable, "-B", str(prepare), "--suite", "nothing"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("nothing", wrong.stderr)


def kept():
    return (evaluation.read(evaluation.Numbers, page.here / "results.csv"),
            evaluation.read(evaluation.EntryNumbers, page.here / "entries.csv"))


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def called(self, run, *arguments):
        """Status, stdout, stderr; a refusal's text."""
        told, complaints = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(complaints):
            try:
                status = run([str(a) for a in arguments])
            except command.UsageError as e:
                return 2, told.getvalue(), str(e)
        return status, told.getvalue(), complaints.getvalue()


class Prepare(Scratch):
    def setUp(self):
        super().setUp()
        self.bin = fake_tools.make(self.folder / "bin")
        fake_tools.patch(self, of_programs=False)

    def prepare(self, *arguments):
        return self.called(prepare.run, "--bin", self.bin, "--out", self.folder / "out", "--small", "--jobs", 2, *arguments)

    def test_makes_what_is_not_up_to_date(self):
        two = ("--kernels", "hotspot,vector_add")
        status, told, progress = self.prepare(*two)
        self.assertEqual(status, 0)
        self.assertIn(f"2 of 2 traces are in {self.folder / 'out'}", told)
        self.assertRegex(progress, r"^2 traces to make, 2 at a time\n2 traces in \d+ s\n$")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()),
                         [f"{k}.{suffix}" for k in ("hotspot", "vector_add") for suffix in ("key", "report.json", "rgt")])
        _, _, progress = self.prepare(*two)
        self.assertEqual((fake_tools.calls(self.bin), progress), (2, ""))
        (self.folder / "out" / "hotspot.rgt").unlink()  # one that is gone
        self.prepare(*two)
        self.assertEqual(fake_tools.calls(self.bin), 3)
        self.prepare(*two, "--suite", "greener", "--kernels", "vector_add")  # other options
        self.assertEqual(fake_tools.calls(self.bin), 4)
        fake_tools.make(self.bin, salt="another build")
        _, listed, _ = self.prepare(*two, "--list")
        self.assertEqual([line.split("  ")[0] for line in listed.splitlines()], ["to be made", "to be made"])
        self.prepare(*two)
        self.assertEqual(fake_tools.calls(self.bin), 6)

    def test_a_suite_gives_the_options_of_its_machine(self):
        self.prepare("--suite", "aging", "--kernels", "scan")
        self.prepare("--suite", "wir", "--kernels", "scan", "--quiet")
        first, second = (self.bin / "calls").read_text().splitlines()
        self.assertTrue(first.endswith(" --warp-size 64"))
        self.assertTrue(second.endswith(" --addresses 32 --max-registers 63"))

    def test_failures_are_listed_and_the_others_kept(self):
        annotate = self.bin / "regatta-annotate"
        annotate.write_text(annotate.read_text().replace('note("annotate")', 'note("annotate")\n'
                                                         'if "hotspot" in out: fail(3, "no memory")'))
        status, told, complaints = self.prepare("--kernels", "hotspot,vector_add", "--quiet")
        self.assertEqual(status, 1)
        self.assertIn("1 of 2 traces", told)
        self.assertEqual(complaints, "1 failed:\n  regatta-annotate ended with status 3 on hotspot: no memory\n")
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()),
                         ["vector_add.key", "vector_add.report.json", "vector_add.rgt"])
        self.prepare("--kernels", "hotspot,vector_add", "--quiet")
        self.assertEqual(fake_tools.calls(self.bin), 3)

    def test_refusals(self):
        for arguments, message in (
                (("--suite", "none"), "--suite: found 'none', expected one of aging, "),
                (("--suite", "aging", "--kernels", "bfs"), "--kernels: found 'bfs', expected some of "),
                (("--kernels", "nothing"), "--kernels: found 'nothing', expected some of "),
                (("--jobs", 0), "--jobs: found 0, expected at least 1")):
            status, _, refusal = self.prepare(*arguments)
            self.assertEqual(status, 2)
            self.assertTrue(refusal.startswith(message), refusal)
        self.assertIn("--small does not make", self.called(prepare.run, "--small")[2])


class Kernels(Scratch):
    def test_the_page_is_what_run_makes_of_the_numbers_that_are_kept(self):
        rows, entries = kept()
        self.assertEqual([r.kernel for r in rows], sorted(r.kernel for r in rows))
        for name, text in content.page(rows, entries, suite.read_all(), "full", True).files().items():
            self.assertEqual(text, (page.here / name).read_text(encoding="utf-8"),
                             "examples/reproduce/suites/run.py --from-results makes it anew")
        for kind, numbers, name in ((evaluation.Numbers, rows, "results.csv"), (evaluation.EntryNumbers, entries, "entries.csv")):
            self.assertEqual(evaluation.text_of(kind, numbers), (page.here / name).read_text(encoding="utf-8"))

    def test_every_program_s_kernel_has_numbers(self):
        rows, entries = kept()
        known = {e.entry for e in entries}
        for s in suite.read_all().values():
            self.assertEqual([k for k in s.kernels if evaluation.of_kernel(rows, k) is None], [])
            self.assertEqual([e for p in s.programs for e in p.entries if e not in known], [])

    def test_from_results(self):
        draw = [] if plots.available() else ["--no-plots"]
        status, told, complaints = self.called(page.run, "--from-results", "--out", self.folder / "a", *draw)
        self.assertEqual((status, complaints), (0, ""))
        self.assertIn("README.md: written", told)
        if not draw:
            self.assertEqual((self.folder / "a" / "README.md").read_bytes(), (page.here / "README.md").read_bytes())
            self.assertTrue((self.folder / "a" / "figures" / "registers_locality.png").exists())
        status, _, _ = self.called(page.run, "--from-results", "--out", self.folder / "b", "--kernels", "bfs", "--no-plots")
        self.assertEqual(status, 0)
        self.assertEqual(len((self.folder / "b" / "results.csv").read_text().splitlines()), 2)

    def test_refusals(self):
        for arguments, message in ((("--kernels", "nothing"), "--kernels: found 'nothing', expected some of "),
                                   (("--small",), "--small does not make the page that is kept in "),
                                   (("--no-plots",), "--no-plots does not make the page that is kept in ")):
            status, _, refusal = self.called(page.run, *arguments)
            self.assertEqual(status, 2)
            self.assertTrue(refusal.startswith(message), refusal)
        with self.assertRaisesRegex(ReproductionError, "x.csv: its columns are a, b; expected kernel, "):
            evaluation.rows_of(evaluation.Numbers, "a,b\n", "x.csv")
        header = evaluation.text_of(evaluation.EntryNumbers, [])
        with self.assertRaisesRegex(ReproductionError, "x.csv:2: found 'k,e,one,1,1,1,1,1', expected 8 cells"):
            evaluation.rows_of(evaluation.EntryNumbers, header + "k,e,one,1,1,1,1,1\n", "x.csv")

    def test_occupancy_is_regatta_s(self):
        gtx980 = {"sm.ctas": 32, "sm.warps": 64, "sm.threads": 2048, "sm.lanes": 32, "sm.register_granularity": 8,
                  "sm.sub_cores": 4, "register_file.registers": 2048, "shared.bytes": 98304, "shared.granularity": 256}
        for threads, registers, shared, ctas, limit in (
                (256, 32, 0, 8, "threads and registers"), (256, 33, 0, 6, "registers"), (32, 16, 0, 32, "CTAs"),
                (128, 44, 7200, 10, "registers"), (32, 63, 9216, 10, "shared memory"), (512, 20, 512, 4, "threads")):
            o = evaluation.occupancy(gtx980, threads, registers, shared)
            self.assertEqual((o.ctas, o.limit), (ctas, limit))


if __name__ == "__main__":
    unittest.main()
