#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""synth.py [--check [--slow]] [--only TOP]: gates, flip-flops, memory bits and the longest path of every block in twins.txt.

Writes the table of README.md anew; --check compares it with a fresh run instead, and ends with status 1 if it differs.
Blocks that twins.txt calls slow, because yosys takes minutes, are compared with --slow only. --only prints the rows of one top module, for work on it. Needs yosys; the table is that of one version.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BEGIN, END = "<!-- synth.py writes the table -->", "<!-- end of the table -->"
# In NAND2 gates: transistors in static CMOS, by 4. A flip-flop has 24 (two latches of transmission gates).
WEIGHTS = {"NAND": 1, "NOR": 1, "NOT": 0.5}
FLIP_FLOP = 6
HEAD = """| block | parameters | NAND2 | NOR2 | NOT | logic, in NAND2 | flip-flops | with them, in NAND2 | memory bits | longest path, gates | the paper states |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


class Twin:
    def __init__(self, line, number):
        parts = [part.strip() for part in line.split("|")]
        if len(parts) not in (5, 6) or not all(parts[i] for i in (0, 2, 3, 4)) or parts[5:] not in ([], ["slow"]):
            sys.exit(f"twins.txt, line {number}: expected 'top | parameters | folder | files | what the paper states', and maybe '| slow', found: {line}")
        self.top, self.parameters, folder, files, self.paper = parts[:5]
        self.slow = len(parts) == 6
        self.folder = ROOT / folder
        self.files = files.split()
        for file in self.files:
            if not (self.folder / file).is_file():
                sys.exit(f"twins.txt, line {number}: no file {folder}/{file}")
        for parameter in self.parameters.split():
            if not re.fullmatch(r"\w+=\w+", parameter):
                sys.exit(f"twins.txt, line {number}: parameter '{parameter}'; expected NAME=VALUE")


def twins():
    lines = enumerate((HERE / "twins.txt").read_text().splitlines(), 1)
    return [Twin(line, number) for number, line in lines if line.strip() and not line.startswith("#")]


def version():
    try:
        text = subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        sys.exit("synth.py: yosys is missing (.cmake/setup-packages.sh --cosim installs it)")
    return " ".join(text.split()[:2])


def measure(twin):
    """The row of a block: {name: number}."""
    parameters = " ".join("-chparam " + p.replace("=", " ") for p in twin.parameters.split())
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        # Arrays stay whole: they would be memories, not flip-flops. Resets become gates; an enable is a part of its
        # flip-flop, as with clock gating.
        script = f"""
            read_verilog -sv {' '.join(twin.files)}
            hierarchy -check -top {twin.top} {parameters}
            proc; flatten; tee -q -o {out}/memories stat
            synth -flatten -top {twin.top} -run begin:fine
            opt -fast -full; opt -undriven -fine; techmap; opt -fast
            dfflegalize -cell $_DFF_P_ x -cell $_DFFE_PP_ x
            abc -g cmos2; opt_clean
            tee -q -o {out}/cells stat
            tee -q -o {out}/path ltp -noff"""
        run = subprocess.run(["yosys", "-q", "-p", script], cwd=twin.folder, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"synth.py: {twin.top}: yosys ended with status {run.returncode}\n{run.stdout}{run.stderr}")
        memories, cells_text, path = ((out / name).read_text() for name in ("memories", "cells", "path"))
    cells = {kind: int(count) for kind, count in re.findall(r"^ +(\$\S+) +(\d+)$", cells_text, re.M)}
    row = {"memory bits": int(re.search(r"Number of memory bits: +(\d+)", memories)[1]),
           "path": int(re.search(r"length=(\d+)", path)[1]), "flip-flops": 0, "logic": 0.0}
    for kind, count in cells.items():
        name = kind.strip("$_").split("_")[0]
        if name in WEIGHTS:
            row[name] = count
            row["logic"] += WEIGHTS[name] * count
        elif name in ("DFF", "DFFE"):
            row["flip-flops"] += count
        elif not kind.startswith("$mem"):
            sys.exit(f"synth.py: {twin.top}: {count} cells {kind} are left; expected gates, flip-flops and memories")
    row["all"] = row["logic"] + FLIP_FLOP * row["flip-flops"]
    return row


def table(some, known=None):
    """`known`: a table whose rows of slow blocks are taken over."""
    lines = [HEAD]
    for twin in some:
        link = f"| [{twin.top}](../../../{twin.folder.relative_to(ROOT)}/{twin.files[0]}) | {twin.parameters} |"
        rows = [line for line in (known or "").splitlines() if line.startswith(link)]
        if twin.slow and rows:
            lines += rows
            continue
        row = measure(twin)
        numbers = [row.get("NAND", 0), row.get("NOR", 0), row.get("NOT", 0), round(row["logic"]), row["flip-flops"],
                   round(row["all"]), row["memory bits"], row["path"]]
        lines.append(" | ".join([f"{link} {numbers[0]:,}", *(f"{n:,}" for n in numbers[1:]), f"{twin.paper} |"]))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--only", metavar="TOP")
    options = parser.parse_args()
    if options.only:
        some = [twin for twin in twins() if twin.top == options.only]
        if not some:
            sys.exit(f"synth.py: twins.txt has no {options.only}; it has: {', '.join(sorted({t.top for t in twins()}))}")
        print(table(some))
        return
    page = HERE / "README.md"
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    if not after:
        sys.exit(f"synth.py: README.md has no lines '{BEGIN}' and '{END}'")
    made_by = version()
    new = f"\n\nMade by {made_by}.\n\n{table(twins(), old if options.check and not options.slow else None)}\n\n"
    if not options.check:
        page.write_text(before + BEGIN + new + END + after)
    elif made_by not in old:
        print(f"not compared: the table is not made by {made_by}")
    elif old != new:
        lines = set(old.splitlines())
        print("synth.py: README.md is not what a fresh run gives (make synthesis writes it). New lines:")
        print("\n".join(line for line in new.splitlines() if line not in lines))
        sys.exit(1)
    else:
        print(f"the table agrees with {made_by}")


if __name__ == "__main__":
    main()
