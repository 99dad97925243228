# SPDX-License-Identifier: Apache-2.0
"""Programs in place of regatta's, for tests of regatta-study: quick, they note their calls, and fail when told to."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from regatta.studies import file, points

PACKAGE = Path(__file__).resolve().parents[3] / "platform" / "python"

_HEAD = """#!{python} -IS
# {salt}
import json, os, sys, time
def after(option, otherwise=None):
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else otherwise
def fail(status, message):
    sys.stderr.write(os.path.basename(sys.argv[0]) + ": " + message + "\\n")
    sys.exit(status)
def note(what):
    with open({calls!r}, "a") as f: f.write(what + " " + " ".join(sys.argv[1:]) + "\\n")
"""

_PROGRAMS = {
    "regatta-annotate": """
note("annotate")
launch = open(after("--launch")).read()
if "--refuse" in sys.argv: fail(2, "a region of 9 registers does not fit")
open(after("--out"), "w").write("trace of " + launch)
""",
    "regatta-sim": """
for word in sys.argv:
    if word.startswith("--nosuch"): fail(2, f"command line: unknown option '{{word}}' (nearest known: '--such')")
if after("--scheme") == "nope": fail(2, "--scheme: unknown scheme 'nope'. Known: baseline")
if "--dump-config" in sys.argv: sys.exit(0)
note("simulate")
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
cycles = 1000 + 10 * a + int(b) + len(trace) + (500 if after("--scheme") == "other" else 0)
json.dump({{"cycles": cycles, "warp_instructions": 50, "thread_instructions": 1600, "ipc": 50 / cycles, "trace": sys.argv[1],
            "launches": [], "config": {{"k.a": a, "k.b": b}}, "scheme": after("--scheme"), "machine": after("--machine"),
            "host": {{"seconds": time.time()}}, "stall_cycles": {{"memory": 7, "structural_by_unit": {{"sp": 1}}}},
            "energy": {{"total_nj": 2.5 * cycles, "dynamic_nj": 2.0 * cycles, "static_nj": 0.5 * cycles,
                        "by_structure": {{"dram": 1.5 * cycles}}}},
            "stats": {{"sm0.l1": {{"reads": 3 * a, "writes": 4}}, "sm1.l1": {{"reads": a}}}}}}, open(after("--stats"), "w"))
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
    out, errors = process.communicate(timeout=200)
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


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
