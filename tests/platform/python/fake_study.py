# SPDX-License-Identifier: Apache-2.0
"""Programs in place of regatta's, for tests of regatta-study: quick, they note their calls, and fail when told to.

A test says what is to happen while a program runs by Python code in the files PROGRAM.before and PROGRAM.after beside the program
(during()): to change what the program reads, or to wait for something. So tests wait for events, not for time.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from regatta.commands import study as command
from regatta.studies import file, points, pool, worker

PACKAGE = Path(__file__).resolve().parents[3] / "platform" / "python"
# A test that waits longer has failed, on the slowest machine.
LONG = 600

_HEAD = """#!{python} -IS
# {salt}
import json, os, re, sys, time
me = os.path.basename(sys.argv[0])
own = os.path.dirname(os.path.abspath(sys.argv[0]))
def after(option, otherwise=None):
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else otherwise
def fail(status, message):
    sys.stderr.write(me + ": " + message + "\\n")
    sys.exit(status)
def note(what):
    # mine: how many notes of the kind there are with this one, whatever others note meanwhile.
    global mine
    with open({calls!r}, "ab") as f:
        f.write((what + " " + " ".join(sys.argv[1:]) + "\\n").encode())
        f.flush()
        end = f.tell()
    with open({calls!r}, "rb") as f: mine = sum(line.startswith(what.encode()) for line in f.read(end).splitlines())
def noted(what):
    with open({calls!r}) as f: return sum(line.startswith(what) for line in f)
def wait(is_so):
    while not is_so(): time.sleep(0.005)
def hook(when):
    if os.path.exists(own + "/" + me + "." + when): exec(open(own + "/" + me + "." + when).read(), globals())
def named(path):
    # What a TOML file names, and what that names ...
    text = open(path).read()
    found = [os.path.join(os.path.dirname(path), x) for x in re.findall('"([^"]*)"', text)]
    return text + "".join(named(x) for x in found if os.path.isfile(x))
"""

_PROGRAMS = {
    "regatta-annotate": """
note("annotate")
hook("before")
launch = named(after("--launch"))
if "--refuse" in sys.argv: fail(2, "a region of 9 registers does not fit")
open(after("--out"), "w").write("trace of " + launch)
hook("after")
""",
    "regatta-sim": """
if "--list" in sys.argv: fail(2, "it lists nothing")
for word in sys.argv:
    if word.startswith("--nosuch"): fail(2, f"command line: unknown option '{{word}}'; did you mean '--such'?")
if after("--scheme") == "nope": fail(2, "--scheme: unknown scheme 'nope'. Known: baseline")
if "--dump-config" in sys.argv and after("--k.a") == "-1": fail(2, "command line: k.a: expected an integer from 0, found -1")
if "--dump-config" in sys.argv: sys.exit(0)
note("simulate")
hook("before")
trace = open(sys.argv[1]).read()
if not trace.startswith("trace"): fail(2, "not a trace")
time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
while time.process_time() < float(os.environ.get("FAKE_PROCESSOR_SECONDS", "0")): pass
a, b = int(after("--k.a", "1")), float(after("--k.b", "1"))
if a == 13: fail(3, "value mismatch in warp 13")
if a == 14: fail(1, "out of memory")
if a == 15: os.kill(os.getpid(), 9)
if "--sample-file" in sys.argv:
    open(after("--sample-file"), "w").write("cycle,launch,l1.reads\\n" + after("--sample") + ",0,7\\n")
if "--cpi-ctas" in sys.argv:
    open(after("--cpi-ctas"), "w").write("launch,sm,cta,launched,finished,warp_cycles\\n0,0,3,1,9,8\\n")
if "--vcd" in sys.argv: open(after("--vcd"), "w").write("dump")
files = "".join(named(word) for word in (after("--machine", ""), after("--config", "")) if os.path.isfile(word))
cycles = 1000 + 10 * a + int(b) + len(trace) + 100 * len(files) + (500 if after("--scheme") == "other" else 0)
cycles += sum(line.startswith("# slower") for line in open(sys.argv[0]))
stats = {{"cycles": cycles, "warp_instructions": 50, "thread_instructions": 1600, "ipc": 50 / cycles, "trace": sys.argv[1],
          "launches": [], "config": {{"k.a": a, "k.b": b}}, "scheme": after("--scheme"), "machine": after("--machine"),
          "host": {{"seconds": time.time()}}, "stall_cycles": {{"memory": 7, "structural_by_unit": {{"sp": 1}}}},
          "energy": {{"total_nj": 2.5 * cycles, "dynamic_nj": 2.0 * cycles, "static_nj": 0.5 * cycles,
                      "by_structure": {{"dram": 1.5 * cycles}}}},
          "program": {{"kernels": [{{"registers": 40, "spilled_registers": 2}}, {{"registers": 9, "spilled_registers": 3}}]}},
          "stats": {{"sm0.l1": {{"reads": 3 * a, "writes": 4}}, "sm1.l1": {{"reads": a}}}}}}
hook("after")
json.dump(stats, open(after("--stats"), "w"))
note("ended")
""",
}


def make(folder: Path, salt: str = "") -> Path:
    """Another salt makes other programs. Calls are noted in folder/calls."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in _PROGRAMS.items():
        path = folder / name
        path.write_text((_HEAD + body).format(python=sys.executable, salt=salt, calls=str(folder / "calls")))
        path.chmod(0o755)
    return folder


def during(folder: Path, program: str, before: str = "", after: str = "") -> None:
    """What is to happen when a program begins, and before it writes what it has found. Without code: nothing."""
    for when, code in (("before", before), ("after", after)):
        path = folder / f"{program}.{when}"
        path.unlink(missing_ok=True)
        if code:
            partial = path.with_suffix(".part")
            partial.write_text(code)
            os.replace(partial, path)


def wait_for(is_so, what: str = "what a test waits for") -> None:
    deadline = time.monotonic() + LONG
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not so after {LONG} s")
        time.sleep(0.01)


def processes_of(folder: Path):
    """Running programs that were started from this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if any(word.startswith(os.fsencode(folder)) for word in words):
                found.append(int(entry.name))
    return found


def calls(folder: Path, what: str) -> int:
    log = folder / "calls"
    return sum(line.startswith(what) for line in log.read_text().splitlines()) if log.exists() else 0


def start(arguments, folder: Path, **environment) -> "subprocess.Popen[str]":
    """regatta-study in a process of its own."""
    return subprocess.Popen([sys.executable, "-B", "-m", "regatta.commands.study", *arguments], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})


def study(arguments, folder: Path, **environment) -> "subprocess.CompletedProcess[str]":
    process = start(arguments, folder, **environment)
    out, errors = process.communicate(timeout=LONG)
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


class PoolHere:
    """In place of pool.Pool: the jobs one after another in this process, of those that could run at a time the last one first."""

    def __init__(self, size):
        self._size, self._jobs = size, []

    def is_full(self):
        return len(self._jobs) >= self._size

    def is_idle(self):
        return not self._jobs

    def begin(self, name, job):
        self._jobs.append((name, json.dumps(job)))

    def wait(self, _seconds=None):
        name, job = self._jobs.pop()
        told = worker.answer(json.loads(job))
        return [(name, told["failed"], told["error"])]

    def end(self):
        self._jobs.clear()


def study_here(arguments, folder: Path) -> "subprocess.CompletedProcess[str]":
    """regatta-study in this process, and only the programs of its runs in others: for tests of what comes out."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        for context in (mock.patch.object(pool, "Pool", PoolHere), contextlib.redirect_stdout(out),
                        contextlib.redirect_stderr(errors), contextlib.chdir(folder)):
            stack.enter_context(context)
        status = command.main(list(map(str, arguments)))
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())


class FolderTest(unittest.TestCase):
    """Each test in a folder with two traces and a launch file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        for name in ("a", "b"):
            (self.folder / f"{name}.rgt").write_text(f"trace {name}")
        (self.folder / "launch.toml").write_text('ptx = "k.ptx"\nentry = "k"\n[[param]]\nbuffer = 4\nseed = 5\n')
        (self.folder / "k.ptx").write_text("ptx")

    def write(self, text, name="s.toml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def points(self, text):
        return points.points(file.read(self.write(text)))

    def knobs(self, text):
        return [dict(p.knobs) for p in self.points(text)]
