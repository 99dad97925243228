#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""follow_page.py PAGE FOLDER [--skip TEXT]: does what a page tells its reader to do, in an empty folder.

All ```sh blocks run in order in one shell. A ```text block or a table right behind one is what it must print: its lines
must come in that order. Spaces do not count. Numbers may differ by a tenth or by 5, whichever is more, so that a page
need not change with every cycle; single digits must agree. Blocks of code (cmake, cpp, systemverilog) must be in a file of the page's folder, as
they are. --skip: the block that has this text is not run, as somebody has done it already; there must be such a block.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?$")
CODE = ("cmake", "cpp", "systemverilog")


def blocks(text):
    """[(kind, lines)] of fenced blocks and tables; kind "prose" for any other line that is not empty."""
    found, lines, i = [], text.splitlines(), 0
    while i < len(lines):
        fence = re.match(r"```(\w+)$", lines[i])
        begin = i + 1
        if fence:
            i = lines.index("```", begin)
            found.append((fence[1], lines[begin:i]))
            i += 1
        elif lines[i].startswith("|"):
            while i < len(lines) and lines[i].startswith("|"):
                i += 1
            found.append(("table", lines[begin - 1:i]))
        else:
            if lines[i].strip():
                found.append(("prose", [lines[i]]))
            i += 1
    return found


def same(expected, printed):
    a, b = expected.split(), printed.split()
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x == y:
            continue
        x, y = x.rstrip(".,:;"), y.rstrip(".,:;")
        if not (NUMBER.match(x) and NUMBER.match(y)):
            return False
        if len(x) == 1 or len(y) == 1:
            return False
        m, n = float(x.replace(",", "")), float(y.replace(",", ""))
        if abs(m - n) > max(5, 0.1 * abs(m)):
            return False
    return True


def missing(expected, printed):
    """The first expected line that does not come, in order; None if all do."""
    rest = iter(printed)
    for line in expected:
        if not any(same(line, other) for other in rest):
            return line
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--skip")
    options = parser.parse_args()
    page = options.page.resolve()
    found = blocks(page.read_text())
    failures, script, expected, skipped = [], ["set -eu"], [], 0

    sources = [f.read_text(errors="replace") for f in page.parent.iterdir() if f.is_file() and f != page]
    for kind, lines in found:
        if kind in CODE and not any("\n".join(lines) in source for source in sources):
            failures.append(f"no file beside the page has its {kind} block:\n" + "\n".join(lines))

    for i, (kind, lines) in enumerate(found):
        if kind != "sh":
            continue
        if options.skip and options.skip in "\n".join(lines):
            skipped += 1
            continue
        follows = found[i + 1] if i + 1 < len(found) else ("", [])
        expected.append((lines, follows[1] if follows[0] in ("text", "table") else []))
        script += lines + [f"echo '=== end of block {len(expected)}'"]
    if not expected:
        sys.exit(f"follow_page.py: {page}: no sh block to run; expected one or more")
    if options.skip and skipped != 1:
        sys.exit(f"follow_page.py: {page}: {skipped} sh blocks have '{options.skip}'; expected 1")

    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    run = subprocess.run(["sh"], input="\n".join(script) + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         cwd=options.folder, text=True)
    print(run.stdout)
    if run.returncode != 0:
        failures.append(f"a command ended with status {run.returncode}; expected 0")
    outputs = re.split(r"^=== end of block \d+\n", run.stdout, flags=re.M)
    for (lines, wanted), printed in zip(expected, outputs):
        line = missing(wanted, printed.splitlines())
        if line is not None:
            failures.append("after\n  " + "\n  ".join(lines) + f"\nthe page shows\n  {line}\nwhich was not printed, or not in this place")
    for failure in failures:
        print(f"FAILED: {page}: {failure}")
    print(f"{len(expected)} blocks of commands, {sum(len(w) for _, w in expected)} lines of output compared")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
