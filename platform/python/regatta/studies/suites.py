# SPDX-License-Identifier: Apache-2.0
"""The programs of a paper, traces/suites/SUITE.toml of the repository, as launch files and annotation options."""

import tomllib
from pathlib import Path
from typing import Any, Iterator

from ..statistics import InputError
from .checks import Table

# platform/python/regatta/studies/suites.py. An installed package has no kernels: a suite is then named by its path.
ROOT = Path(__file__).resolve().parents[4]


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise InputError(f"{path}: cannot be read: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise InputError(f"{path}: found no TOML: {e}") from None


def _registers_of_thread(root: Path, machine: str) -> int:
    """Most registers that a thread of a preset can have; a preset without a number has its base's."""
    document = _load(root / "platform" / "machines" / f"{machine}.toml")
    found = document.get("sm", {}).get("registers_per_thread")
    base = document.get("machine", {}).get("base", "")
    return _registers_of_thread(root, base) if found is None and base else min(255, 255 if found is None else int(found))


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
        known = ", ".join(sorted(p.stem for p in folder.glob("*.toml")))
        table.fail("suite", f'"{name}"', f"one of {known}" if known else
                   "the path of a file of traces/suites: an installed regatta has no suites of its own")
    return path


def kernels_of(table: Table) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """(kernel, launch file, options) of a [[programs]] table with the key suite."""
    path = _suite_file(table)
    root = path.parents[2]
    document = _load(path)
    known = list(dict.fromkeys(p["kernel"] for p in document.get("program", []) if "kernel" in p))
    if not known or "machine" not in document:
        table.fail("suite", f"'{path}' without programs or machine", "a suite's file of traces/suites")
    options = annotate_options(root, document["machine"], document.get("warp_size", 32), document.get("addresses", 64))
    options += table.words("annotate")
    launch = "launch.small.toml" if table.flag("small", False) else "launch.toml"
    for kernel in table.texts("kernels", tuple(known)):
        if kernel not in known:
            table.fail("kernels", f'"{kernel}"', "some of " + ", ".join(known))
        file = root / "traces" / "kernels" / kernel / launch
        if not file.is_file():
            table.fail("kernels", f"no file '{file}'", "a launch file of each kernel")
        yield kernel, file, options
