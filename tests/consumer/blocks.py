#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""blocks.py ROOT: a block is called as its folder is.

In models/<idea>/<block>: a library of that folder is called <block>, or <idea>_<block> (models/<idea>/core has the idea's own); its tests
lie in tests/models/<idea>. Each of the design's seven blocks has a header and a class of the folder's name. models/README.md
names for every block its class and folder, and no folder that has modules is missing there.
"""
import pathlib
import re
import sys

LIBRARY = re.compile(r"^regatta_library\((\w+)", re.MULTILINE)
MODULE = re.compile(r"^class (\w+)[^;{]*\bsc_core::sc_module\b", re.MULTILINE)
# Block -> header and class.
SEVEN = {
    "regless/capacity_manager": "CapacityManager", "regless/osu": "Osu", "regless/compressor": "Compressor",
    "wir/reuse_buffer": "ReuseBuffer", "wir/vsb": "Vsb", "finereg/rmu": "Rmu",
    "greener/sleep_transistors": "SleepTransistorController",
}
# What is inside of a block that the page has, or no hardware.
PARTS = {"wir/core", "wir/checkers", "wir/rtl", "aging/wear"}


def libraries(models):
    """Faults of the names of libraries."""
    for path in sorted(models.glob("*/*/CMakeLists.txt")):
        block, idea = path.parent.name, path.parent.parent.name
        for name in LIBRARY.findall(path.read_text(encoding="utf-8")):
            allowed = {block, f"{idea}_{block}"} | ({idea} if block == "core" else set())
            if name not in allowed:
                yield f"{path.relative_to(models.parent)}: the library {name}, expected {' or '.join(sorted(allowed))}"


def seven(models):
    for folder, name in SEVEN.items():
        idea, block = folder.split("/")
        header = models / folder / "include/regatta" / idea / f"{block}.h"
        if not header.exists():
            yield f"models/{folder}: no header {header.relative_to(models.parent)}"
        elif not re.search(rf"^class {name}\b", header.read_text(encoding="utf-8"), re.MULTILINE):
            yield f"{header.relative_to(models.parent)}: no class {name}"


def rows(page):
    """(line, classes, folder) of the table of blocks."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.split(" | ")
        if line.startswith("| ") and len(cells) == 6 and "](" in cells[1]:
            for classes, folder in re.findall(r"((?:`\w+`, )+)\[[^]]*\]\(([^)]*)\)", cells[1]):
                yield number, re.findall(r"`(\w+)`", classes), folder


def page_of_blocks(models):
    page = models / "README.md"
    named = set()
    for number, classes, folder in rows(page):
        named.add(folder)
        headers = "".join(h.read_text(encoding="utf-8") for h in sorted((models / folder).rglob("*.h")))
        for name in classes:
            if not re.search(rf"^class {name}\b", headers, re.MULTILINE):
                yield f"models/README.md:{number}: no header in {folder} has a class {name}"
    if not named:
        yield "models/README.md: no row with a class and a folder"
    for folder in sorted(f for f in models.glob("*/*") if f.is_dir()):
        name = str(folder.relative_to(models))
        has_module = any(MODULE.search(h.read_text(encoding="utf-8")) for h in folder.glob("include/regatta/*/*.h"))
        if has_module and name not in named | PARTS:
            yield f"models/README.md: no row names models/{name}"


def main():
    models = pathlib.Path(sys.argv[1]) / "models"
    found = [*libraries(models), *seven(models), *page_of_blocks(models)]
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
