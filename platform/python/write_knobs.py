#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write_knobs.py [--bin FOLDER]: writes regatta/knobs.py, the types of regatta-sim's knobs, as a build has them."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from regatta.reports.meanings import Simulator, read_config  # noqa: E402
from regatta.statistics import InputError  # noqa: E402

_HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""Names, types and units of regatta-sim's knobs, of all schemes: for type checkers and editors. Written by
platform/python/write_knobs.py; blocks of your own may have further ones."""

from typing import TypedDict

Knobs = TypedDict("Knobs", {
'''


def schemes(simulator: Simulator) -> "list[str]":
    """Each of which may have knobs of its own."""
    done = subprocess.run([str(simulator.path), "--scheme", "?"], capture_output=True, text=True, check=False)
    return re.findall(r"\w+", done.stderr.split("Known:")[1].split(".")[0])


def kind(simulator: Simulator, scheme: str, name: str, value: object) -> str:
    """A default may be whole where the knob is not: regatta-sim says what it expects."""
    if type(value) is not int:
        return type(value).__name__
    try:
        simulator.ask("--scheme", scheme, f"--{name}", "x", "--dump-config")
    except InputError as e:
        return "int" if "an integer" in str(e) else "float"
    return "str"


def text(folder: str) -> str:
    simulator = Simulator(folder)
    found = {}
    for scheme in schemes(simulator):
        for name, knob in read_config(simulator.ask("--scheme", scheme, "--dump-config")).items():
            if name not in found:
                found[name] = (kind(simulator, scheme, name, knob.value), knob.unit)
    lines = [f'    "{name}": {kind_of},{f"  # {unit}" if unit else ""}\n' for name, (kind_of, unit) in sorted(found.items())]
    return _HEAD + "".join(lines) + "}, total=False)\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=str(HERE.parents[1] / "build" / "release" / "bin"), metavar="FOLDER", help="of regatta-sim")
    (HERE / "regatta" / "knobs.py").write_text(text(parser.parse_args().bin), encoding="utf-8")
