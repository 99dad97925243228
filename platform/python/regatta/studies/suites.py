# SPDX-License-Identifier: Apache-2.0
"""The programs of a paper, traces/suites/SUITE.toml of the repository, as launch files and annotation options."""

from pathlib import Path
from typing import Iterator

from ..statistics import InputError
from . import documents
from .checks import Table, shown

# platform/python/regatta/studies/suites.py. An installed package has no kernels: a suite is then named by its path.
ROOT = Path(__file__).resolve().parents[4]


# A machine is based on few others.
_MOST_BASES = 8


def _registers_of_thread(root: Path, machine: str) -> int:
    """Most registers that a thread of a preset can have; a preset without a number has its base's."""
    for _ in range(_MOST_BASES):
        path = root / "platform" / "machines" / f"{machine}.toml"
        top = Table(path, "", documents.toml(path))
        sm = Table(path, "sm", top.content.get("sm", {}))
        if "registers_per_thread" in sm.content:
            return min(255, sm.whole("registers_per_thread", 255, 1))
        of_machine = Table(path, "machine", top.content.get("machine", {}))
        if "base" not in of_machine.content:
            return 255
        machine = of_machine.text("base")
    raise InputError(f"{path}: machine.base: found more than {_MOST_BASES} machines, each based on the next, expected an end")


def annotate_options(root: Path, machine: str, warp_size: int, addresses: int) -> tuple[str, ...]:
    """Options of regatta-annotate that make a trace for a suite's machine. `root`: of the repository; `addresses`: bits."""
    options: tuple[str, ...] = ()
    if addresses != 64:
        options += ("--addresses", str(addresses))
    if warp_size != 32:
        options += ("--warp-size", str(warp_size))
    most = _registers_of_thread(root, machine)
    if most < 255:
        options += ("--max-registers", str(most))
    return options


def _suite_file(table: Table) -> Path:
    name = table.text("suite")
    if name.endswith(".toml"):
        path = table.file.parent / name
        if not path.is_file():
            table.fail("suite", f"no file '{path}'", "a suite's file of traces/suites")
        return path.resolve()
    folder = ROOT / "traces" / "suites"
    path = folder / f"{name}.toml"
    if not path.is_file():
        known = sorted(p.stem for p in folder.glob("*.toml"))
        table.unknown("suite", f'"{name}"', name, known, "" if known else
                      "the path of a file of traces/suites: an installed regatta has no suites of its own")
    return path


def kernels_of(table: Table) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """(kernel, launch file, options) of a [[programs]] table with the key suite."""
    path = _suite_file(table)
    root = path.parents[2]
    suite = Table(path, "", documents.toml(path))
    programs = suite.content.get("program", [])
    if not isinstance(programs, list):
        suite.fail("program", shown(programs), "[[program]] tables")
    tables = [Table(path, f"[[program]] {number}", content) for number, content in enumerate(programs, 1)]
    known = list(dict.fromkeys(t.text("kernel") for t in tables if "kernel" in t.content))
    if not known or "machine" not in suite.content:
        table.fail("suite", f"'{path}' without programs or machine", "a suite's file of traces/suites")
    options = annotate_options(root, suite.text("machine"), suite.whole("warp_size", 32, 1), suite.whole("addresses", 64, 1))
    options += table.words("annotate")
    launch = "launch.small.toml" if table.flag("small", False) else "launch.toml"
    for kernel in table.texts("kernels", tuple(known)):
        if kernel not in known:
            table.unknown("kernels", f'"{kernel}"', kernel, known, "some of " + ", ".join(known))
        file = root / "traces" / "kernels" / kernel / launch
        if not file.is_file():
            table.fail("kernels", f"no file '{file}'", "a launch file of each kernel")
        yield kernel, file, options
