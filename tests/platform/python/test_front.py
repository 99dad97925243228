# SPDX-License-Identifier: Apache-2.0
"""regatta, the command that runs the others: dispatch, lists, completions, man pages, versions."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from regatta import programs, tools
from regatta.commands import front
from regatta.version import VERSION

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("REGATTA_BIN") or "nowhere")
BUILT = unittest.skipUnless((BIN / "regatta-sim").exists() and (BIN / "regatta-annotate").exists(), "regatta's tools are not built")


def call(*words):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = front.main(list(words))
        except SystemExit as e:
            status = e.code
    return status, out.getvalue(), errors.getvalue()


class CommandTest(unittest.TestCase):
    def test_help(self):
        for words in ((), ("--help",), ("-h",), ("help",)):
            status, out, errors = call(*words)
            self.assertEqual((status, errors), (0, ""))
            self.assertTrue(out.startswith("usage: regatta COMMAND "), out)
            self.assertLessEqual(out.count("\n"), 40)
            for command in (*programs.TOOLS, *programs.OWN):
                self.assertRegex(out, rf"(?m)^  {command} +\w")
        first = re.findall(r"(?m)^  regatta (\w+) ", out)
        self.assertEqual(first, ["annotate", "sim", "sim"])

    def test_version(self):
        self.assertEqual(call("--version"), (0, f"regatta {VERSION}\n", ""))

    def test_mistakes(self):
        for words, message in {
                ("smi",): "unknown command 'smi'; did you mean 'sim'?",
                ("zzzz",): "unknown command 'zzzz', expected one of annotate, capture, sim, trace, import, study, compare, report, sample, demo, list, "
                           "completion, man, help",
                ("--scheme", "wir"): "unknown option '--scheme'; options of a command come behind it (regatta --help shows the "
                                     "commands)",
                ("list",): "found no WHAT to list, expected one of schemes, machines, schedulers, energy, knobs, statistics, "
                           "kernels",
                ("list", "schemes", "l1"): "found 'l1' behind schemes, expected it behind knobs or statistics only",
                ("list", "kernels", "--scheme", "wir"): "found '--scheme wir' behind kernels, expected it behind knobs or statistics only",
                ("list", "kernel"): "unknown list 'kernel'; did you mean 'kernels'?",
                ("list", "kernels", "--jsn"): "unknown option '--jsn'; did you mean '--json'?",
                ("list", "kernels", "more"): "found 'more' behind kernels, expected it behind knobs or statistics only",
                ("list", "knobs", "l1", "more"): "unexpected argument 'more' (--help shows the options)",
                ("completion",): "found no SHELL, expected it on the command line",
                ("completion", "fish"): "unknown shell 'fish', expected bash or zsh",
                ("man", "studdy"): "unknown command 'studdy'; did you mean 'study'?",
                ("man", "sim", "--out", "x"): "--out writes all pages: found the command 'sim' too, expected none",
                ("help", "comparee"): "unknown command 'comparee'; did you mean 'compare'?",
        }.items():
            self.assertEqual(call(*words), (2, "", f"regatta: {message}\n"), words)


class DispatchTest(unittest.TestCase):
    """The launcher, with other programs beside it."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        launcher = (ROOT / "platform/python/launcher.in").read_text(encoding="utf-8")
        package = os.path.relpath(ROOT / "platform/python", self.folder.resolve())
        self.program("regatta", launcher.replace("@package@", package).replace("@program@", "front"))

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def run_front(self, *words, **settings):
        return subprocess.run([sys.executable, str(self.folder / "regatta"), *words], capture_output=True, text=True, timeout=600,
                              check=False, **settings)

    def test_the_sibling_gets_arguments_input_and_signals_and_gives_the_status(self):
        for tool in programs.TOOLS:
            self.program(f"regatta-{tool}", '#!/bin/sh\necho "$0" "$#" "$@"\ncat\ngrep SigIgn /proc/self/status >&2\nexit 7\n')
            done = self.run_front(tool, "a b", "--help", "--", "-x", input="line\n")
            path = self.folder.resolve() / f"regatta-{tool}"
            self.assertEqual((done.returncode, done.stdout), (7, f"{path} 4 a b --help -- -x\nline\n"))
            # Python ignores SIGPIPE (13) and SIGXFSZ (25); what it becomes does not.
            ignored = int(done.stderr.split()[1], 16)
            self.assertEqual(ignored & (1 << 12 | 1 << 24), 0, done.stderr)

    def test_lists_are_those_of_the_simulator(self):
        self.program("regatta-sim", '#!/bin/sh\necho "$@"\n')
        self.assertEqual(self.run_front("list", "schemes").stdout, "--list schemes\n")
        self.assertEqual(self.run_front("list", "energy", "--json").stdout, "--list energy --json\n")
        self.assertEqual(self.run_front("list", "knobs").stdout, "--list knobs\n")
        self.assertEqual(self.run_front("list", "knobs", "l1", "--scheme", "wir", "--json").stdout,
                         "--list knobs --match=l1 --scheme wir --json\n")

    def test_a_program_that_is_not_there(self):
        done = self.run_front("sim", env={**os.environ, "REGATTA_BIN": str(self.folder)})
        self.assertEqual((done.returncode, done.stderr), (2, f"regatta: REGATTA_BIN: found no program 'regatta-sim' in '{self.folder}', "
                                                             f"expected the folder with regatta's programs\n"))

    def test_the_demo_runs_the_tools_beside_it_and_writes_where_it_is_told(self):
        self.program("regatta-sim", "#!/bin/sh\n")
        script = self.folder / "share/examples/quickstart/run.sh"
        script.parent.mkdir(parents=True)
        (self.folder / "share/traces/kernels").mkdir(parents=True)
        script.write_text('#!/bin/sh\necho "$@"\nexit 5\n')
        script.chmod(0o755)
        code = ("import sys; from pathlib import Path; from regatta import tools; from regatta.commands import front; "
                f"tools.__file__ = {str(self.folder / 'tools.py')!r}; sys.argv[0] = {str(self.folder / 'regatta')!r}; sys.exit(front.main())")
        for words, folder in (([], "regatta-demo"), (["here"], "here")):
            done = subprocess.run([sys.executable, "-B", "-c", code, "demo", *words], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "platform/python")})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (5, f"{self.folder.resolve()} {folder}\n", ""))

    def test_help_of_a_command_is_that_of_its_program(self):
        self.program("regatta-trace", '#!/bin/sh\necho "$@"\n')
        self.assertEqual(self.run_front("help", "trace").stdout, "--help\n")
        self.assertIn("usage: regatta list", self.run_front("help", "list").stdout)


class KernelsTest(unittest.TestCase):
    def test_every_kernel_of_the_checkout(self):
        with mock.patch.dict(os.environ, {"REGATTA_KERNELS": str(ROOT / "traces/kernels")}):
            status, out, errors = call("list", "kernels", "--json")
            table = call("list", "kernels")[1]
        self.assertEqual((status, errors), (0, ""))
        listed = json.loads(out)
        folders = sorted(p.name for p in (ROOT / "traces/kernels").iterdir() if (p / "launch.toml").exists())
        self.assertEqual([k["name"] for k in listed], folders)
        for kernel in listed:
            self.assertTrue(kernel["full_size"] and kernel["exercises"], kernel)
            self.assertTrue(Path(kernel["launch"]).is_file())
            self.assertRegex(table, rf"(?m)^{kernel['name']} ")
        self.assertLessEqual(max(len(line) for line in table.split("\n")[:-2]), 118)
        by_name = {k["name"]: k for k in listed}
        self.assertEqual(by_name["hotspot"]["launches"], 10)
        self.assertEqual(by_name["hotspot"]["programs"], ["Hotspot"])
        self.assertEqual(by_name["sobel"]["programs"], ["SobelFilter"])

    def test_an_installation_says_where_kernels_are(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
            os.environ.pop("REGATTA_KERNELS", None)
            installed = Path(folder).resolve()
            with mock.patch.object(tools, "__file__", str(installed / "lib/regatta/python/regatta/tools.py")):
                status, out, errors = call("list", "kernels")
                self.assertEqual((status, out), (2, ""))
                self.assertEqual(errors, f"regatta: found no folder traces/kernels in {installed}/share/regatta, "
                                         f"{installed.parent}/share/regatta; expected the kernels of an installation or of a checkout "
                                         f"there: name the folder by REGATTA_KERNELS\n")
                self.assertEqual(call("demo")[2], f"regatta: found no demo in {installed}/share/regatta, {installed.parent}/share/regatta; "
                                                  f"expected examples/quickstart/run.sh there, as an installation and a checkout have it\n")
                kernel = installed / "share/regatta/traces/kernels/k"
                kernel.mkdir(parents=True)
                (kernel / "launch.toml").touch()
                self.assertEqual([k["launch"] for k in json.loads(call("list", "kernels", "--json")[1])], [str(kernel / "launch.toml")])
            with mock.patch.object(tools, "__file__", str(installed / "site-packages/regatta/tools.py")):
                kernel = installed / "site-packages/regatta/share/traces/kernels/w"
                kernel.mkdir(parents=True)
                (kernel / "launch.toml").touch()
                self.assertEqual([k["name"] for k in json.loads(call("list", "kernels", "--json")[1])], ["w"])
            os.environ["REGATTA_KERNELS"] = f"{folder}/none"
            self.assertEqual(call("list", "kernels")[2], f"regatta: REGATTA_KERNELS: found no folder '{folder}/none', expected "
                                                         f"traces/kernels of a checkout\n")
            os.environ["REGATTA_KERNELS"] = folder
            self.assertEqual(call("list", "kernels")[2],
                             f"regatta: found no kernel in '{folder}', expected folders with launch.toml\n")


class ParseTest(unittest.TestCase):
    """Help pages of all three forms that the programs have."""

    def options(self, text):
        return [(o.names, o.value, o.attached, o.help, o.group) for o in programs.parse("p", text).options]

    def test_the_form_of_the_simulator(self):
        page = programs.parse("p", "usage: p [options] [TRACE]\nWhat it does.\n\narguments:\n  TRACE       a trace\n\noptions:\n"
                                   "  --machine NAME   preset\n                   or file\n  --dump[=FILE]    write it\n"
                                   "  --flag           a flag\n\nl1:\n  --l1.on true|false\n                   use it [default true]\n"
                                   "  --l1.map TEXT    how [one of a_b, c, d; default c]\n")
        self.assertEqual(page.arguments, ["TRACE"])
        self.assertEqual([(o.names, o.value, o.attached, o.help, o.group) for o in page.options],
                         [(["--machine"], "NAME", False, "preset or file", "options"), (["--dump"], "FILE", True, "write it", "options"),
                          (["--flag"], "", False, "a flag", "options"),
                          (["--l1.on"], "true|false", False, "use it [default true]", "l1"),
                          (["--l1.map"], "TEXT", False, "how [one of a_b, c, d; default c]", "l1")])
        self.assertEqual([o.words() for o in page.options], [[], [], [], ["true", "false"], ["a_b", "c", "d"]])

    def test_the_form_of_boost(self):
        self.assertEqual(self.options("p 1.0: does it\n\n  p --not an option\n\nOptions:\n  -h [ --help ]          this text\n"
                                      "  -o [ --out ] FILE      write it\n  --most N (=255)        so many \n"
                                      "                         at most\n  --races [=RULE(=all)]  find them\n"
                                      "  --very-long N (=2147483648) a limit\n"),
                         [(["-h", "--help"], "", False, "this text", "Options"), (["-o", "--out"], "FILE", False, "write it", "Options"),
                          (["--most"], "N", False, "so many at most", "Options"), (["--races"], "RULE", True, "find them", "Options"),
                          (["--very-long"], "N", False, "a limit", "Options")])

    def test_the_form_of_argparse(self):
        page = programs.parse("p", "usage: p [-h] COMMAND ...\n\npositional arguments:\n  COMMAND\n    run    make it\n    show   print it\n\n"
                                   "options:\n  -h, --help   show this\n  --stats RUN FILE\n               write it\n\nExit status: 0.\n")
        self.assertEqual(programs._commands(page), ["run", "show"])
        self.assertEqual([(o.names, o.value) for o in page.options], [(["-h", "--help"], ""), (["--stats"], "RUN FILE")])
        self.assertEqual(page.options[-1].help, "write it")


@BUILT
class ToolsTest(unittest.TestCase):
    """The programs of the build."""

    def run_tool(self, *words, **settings):
        return subprocess.run([str(BIN / words[0]), *words[1:]], capture_output=True, text=True, timeout=600, check=False, **settings)

    def test_every_program_says_its_version_alike(self):
        # Programs of our own work, which are not installed.
        ours = ("regatta-bench", "regatta-registers", "regatta-hardware")
        found = sorted(p.name for p in BIN.glob("regatta*") if p.name not in ours and not p.name.startswith("regatta_bench"))
        self.assertEqual(found, sorted(["regatta", *(f"regatta-{tool}" for tool in programs.TOOLS)]))
        for name in found:
            done = self.run_tool(name, "--version")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{name} {VERSION}\n", ""))

    def test_every_program_has_help_that_is_understood(self):
        for tool in programs.TOOLS:
            page = programs.page_of(tool)
            names = [name for option in page.options for name in option.names]
            self.assertIn("--version", names)
            self.assertIn("--help", names)
            written = set(re.findall(r"(?m)^  (?:-\w,? \[? ?)?(--[a-z][\w.-]*)", "\n".join(page.lines)))
            self.assertEqual(written - set(names), set())
            self.assertTrue(all(option.help for option in page.options), tool)
        self.assertEqual(list(programs.page_of("study").commands), ["run", "status", "show"])
        self.assertEqual(list(programs.page_of("trace").commands), ["info", "dump", "verify", "signatures"])

    def test_a_knob(self):
        said = self.run_tool("regatta", "list", "knobs", "ARBITRATION", "--scheme", "regless")
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertRegex(said.stdout, r"(?m)^osu\.arbitration +\d+ +0 to \d+ +cycles +\S")
        self.assertNotIn("l1.", said.stdout)
        said = self.run_tool("regatta", "list", "statistics", "l2_*.reads")
        self.assertRegex(said.stdout, r"(?m)^memory\.l2_\*\.reads +accesses +\S")
        self.assertEqual(self.run_tool("regatta", "help", "l1.size_bytes").stdout,
                         "l1.size_bytes: capacity of an SM's L1\n\n"
                         "  value      49152 bytes\n"
                         "  range      32 to 1073741824\n"
                         "  schemes    all\n"
                         "  to set it  regatta sim K.rgt --l1.size_bytes 49152\n")
        self.assertIn("  value      true, of the machine\n  default    false\n  range      true or false\n",
                      self.run_tool("regatta", "help", "icache.enabled").stdout)
        self.assertIn("  value      0.1, of the machine or the setting of the scheme's paper\n  default    0\n",
                      self.run_tool("regatta", "help", "scratchpad_multiplexing.t").stdout)
        self.assertEqual(self.run_tool("regatta", "help", "--osu.entries").stdout,
                         "osu.entries: warp registers in the operand staging units of an SM (RegLess section 6.2: 512)\n\n"
                         "  value      512 warp registers\n"
                         "  range      1 to 65536\n"
                         "  schemes    regless\n"
                         "  to set it  regatta sim K.rgt --osu.entries 512\n")
        for name, near in (("l1.size", "; did you mean 'l1.size_bytes'?"), ("osu.entires", "; did you mean 'osu.entries'"),
                           ("zz.qqqqqq", "; regatta list knobs PATTERN finds one\n")):
            said = self.run_tool("regatta", "help", name)
            self.assertEqual(said.returncode, 2)
            self.assertTrue(said.stderr.startswith(f"regatta: unknown knob '{name}'{near}"), said.stderr)

    def test_lists(self):
        schemes = [one["name"] for one in json.loads(self.run_tool("regatta", "list", "schemes", "--json").stdout)]
        page = (ROOT / "models/SCHEMES.md").read_text(encoding="utf-8")
        self.assertEqual(schemes, re.findall(r"(?m)^\| `(\w+)` \|", page.split("| scheme |")[1].split("\n\n")[0]))
        for what in programs.LISTS:
            done = self.run_tool("regatta", "list", what)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, self.run_tool("regatta-sim", "--list", what).stdout)


#: Command lines, and what completes the last word: these candidates among others, and none of those.
LINES = {
    "regatta ": ("annotate capture sim trace import study compare report sample list completion man help", "schemes"),
    "regatta s": ("sim study sample", "trace"),
    "regatta list ": ("schemes machines schedulers energy knobs statistics kernels", "sim"),
    "regatta list --": ("--json --scheme --help", "--machine"),
    "regatta list knobs --scheme reg": ("regless reg_dram register_sharing", "wir"),
    "regatta-sim --list ": ("knobs statistics schemes", "kernels"),
    "regatta sim --scheme reg": ("regless reg_dram register_sharing", "wir"),
    "regatta-sim --scheme=reg": ("regless reg_dram register_sharing", "wir"),
    "regatta-sim --machine ": ("gtx980 gtx480 k20x mine.toml", "greener k.rgt"),
    "regatta-sim --energy ": ("maxwell28 fermi40 mine.toml", "gtx980"),
    "regatta-sim --scheduler ": ("gto lrr two_level owf", "mine.toml"),
    "regatta-sim --icache.enabled ": ("true false", "k.rgt"),
    "regatta-sim --register_file.mapping ": ("sub_core", "true"),
    "regatta-sim --scheme regless --osu.": ("--osu.entries --osu.banks", "--greener.threshold"),
    "regatta-sim --scheme finereg+greener --greener.": ("--greener.threshold", "--osu.entries"),
    "regatta-sim --sta": ("--stats", "--scheme"),
    "regatta-sim --scheme regless ": ("k.rgt", "mine.toml r.json"),
    "regatta-sim --stats ": ("k.rgt mine.toml r.json", "regless"),
    "regatta trace ": ("info dump verify signatures", "k.rgt"),
    "regatta trace dump --": ("--cta --warp --limit", "--json"),
    "regatta trace info ": ("k.rgt", "r.json dump"),
    "regatta-study ": ("run status show", "mine.toml"),
    "regatta study run --s": ("--slurm --snakemake", "--stats --by"),
    "regatta study run ": ("mine.toml", "k.rgt"),
    "regatta-compare ": ("r.json", "k.rgt"),
    "regatta-sample k.rgt --e": ("--error --exact", "--scheme"),
    "regatta-sample k.rgt -- --sche": ("--scheme --scheduler", "--error"),
    "regatta annotate --launch ": ("mine.toml", "r.json"),
}


@BUILT
class CompletionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name in ("k.rgt", "mine.toml", "r.json"):
            (Path(cls.folder.name) / name).touch()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def script(self, shell):
        done = subprocess.run([str(BIN / "regatta"), "completion", shell], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        path = Path(self.folder.name) / f"script.{shell}-completion"
        path.write_text(done.stdout, encoding="utf-8")
        return path

    def check_candidates(self, answers):
        self.assertEqual(len(answers), len(LINES))
        for (line, (wanted, unwanted)), answer in zip(LINES.items(), answers):
            self.assertEqual(set(wanted.split()) - set(answer), set(), f"missing: '{line}': {answer}")
            self.assertEqual(set(unwanted.split()) & set(answer), set(), f"too many: '{line}': {answer}")

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash(self):
        # As bash splits a line: '=' is a word.
        calls = []
        for line in LINES:
            words = [w for w in re.split(r"\s+|(=)", line) if w]
            words += [""] if line.endswith(" ") else []
            calls.append("COMP_WORDS=({}); COMP_CWORD={}; COMPREPLY=(); _regatta; printf '%s ' \"${{COMPREPLY[@]}}\"; echo".format(
                " ".join(f"'{w}'" for w in words), len(words) - 1))
        done = subprocess.run(["bash", "--norc", "-eu", "-c", "\n".join([f"source '{self.script('bash')}'", *calls])], cwd=self.folder.name,
                              capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_candidates([line.split() for line in done.stdout.splitlines()])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        done = subprocess.run(["zsh", "-f", str(Path(__file__).with_name("complete.zsh")), str(self.script("zsh")), *LINES],
                              cwd=self.folder.name, capture_output=True, text=True, timeout=900, check=False,
                              env={**os.environ, "TERM": "xterm", "HOME": self.folder.name})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_candidates([line.split() for line in done.stdout.splitlines()])

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_several_schemes_are_joined(self):
        calls = [f"COMP_WORDS=({words}); COMP_CWORD=2; COMPREPLY=(); _regatta; echo \"${{COMPREPLY[@]}}\"" for words in
                 ("regatta-sim --scheme finereg+gree", "regatta-sim --scheme rfv+sleep", "regatta-annotate --for rfv,sleep")]
        done = subprocess.run(["bash", "--norc", "-eu", "-c", "\n".join([f"source '{self.script('bash')}'", *calls])], capture_output=True,
                              text=True, timeout=600, check=False)
        self.assertEqual((done.stdout, done.stderr), ("finereg+greener\nrfv+sleep_reg\nrfv,sleep_reg\n", ""))


@BUILT
class ManTest(unittest.TestCase):
    CHECKERS = {"mandoc": ["mandoc", "-T", "lint", "-W", "warning"], "groff": ["groff", "-man", "-Tutf8", "-ww", "-z"],
                "man": ["man", "--warnings", "-l"]}

    def test_pages(self):
        with tempfile.TemporaryDirectory() as name:
            done = subprocess.run([str(BIN / "regatta"), "man", "--out", name], capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            pages = sorted((Path(name) / "man/man1").iterdir())
            self.assertEqual([p.name for p in pages], sorted(["regatta.1", *(f"regatta-{tool}.1" for tool in programs.TOOLS)]))
            checked = 0
            for program, command in self.CHECKERS.items():
                if shutil.which(program) is None:
                    continue
                for page in pages:
                    told = subprocess.run([*command, str(page)], capture_output=True, text=True, timeout=600, check=False,
                                          env={**os.environ, "LC_ALL": "C.UTF-8"})
                    self.assertEqual((told.returncode, told.stderr), (0, ""), f"{program} {page.name}")
                    self.assertEqual(told.stdout if program == "mandoc" else "", "", page.name)
                    checked += 1
            if checked == 0:
                self.skipTest("none of mandoc, groff and man is installed")
            for page in pages:
                text = page.read_text(encoding="utf-8")
                self.assertIn(".SH NAME", text)
                self.assertIn(f"regatta {VERSION}", text)
            simulator = (Path(name) / "man/man1/regatta-sim.1").read_text(encoding="utf-8")
            for entry in ("\\fB\\-\\-scheme NAME\\fR", "\\fB\\-\\-l1.ways ways\\fR", "\\fB\\-\\-osu.entries N\\fR",
                          ".SH KNOBS OF WIR"):
                self.assertTrue(entry in simulator, entry)
            for path in ("bash-completion/completions/regatta", "zsh/site-functions/_regatta"):
                self.assertTrue("regatta-sample" in (Path(name) / path).read_text(encoding="utf-8"), path)
            loaded = subprocess.run(["bash", "--norc", "-c", f"source '{name}/bash-completion/completions/regatta-sim'; complete -p regatta-sim"],
                                    capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(loaded.stdout, "complete -F _regatta regatta-sim\n")

    def test_one_page_as_text(self):
        done = subprocess.run([str(BIN / "regatta"), "man", "compare"], capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith(f'.TH REGATTA-COMPARE 1 "1970-01-02" "regatta {VERSION}" "regatta"\n'), done.stdout)
        self.assertIn("\\fB\\-\\-json FILE\\fR\nwrite the comparison as JSON; \\-: to the terminal, without text\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
