#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_page.py [--fix] [PAGE [TABLES]]: whether this page's numbers are those of the last `make demo`.

Every line of the page's tables, and every percentage in its text, has to be in TABLES (build/quickstart/tables.txt).
--fix replaces lines of tables. Status: 0 they are; 1 some are not; 2 there is no file.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def stale(page, tables):
    """(line number from 1, what the page says, what the demo gives or '') of all that is not in the demo's tables."""
    lines = [line.rstrip() for line in tables.splitlines() if line.strip()]
    by_name = {line.split()[0]: line for line in lines}
    percentages = set(re.findall(r"[\d.]+ %", tables))
    found, in_block = [], False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            in_block = not in_block
        elif in_block and line.strip() and line.rstrip() not in lines:
            found.append((number, line, by_name.get(line.split()[0], "")))
        elif not in_block:
            found += [(number, share, "") for share in re.findall(r"[\d.]+ %", line) if share not in percentages]
    return found


def main(words):
    fix = "--fix" in words
    usual = [HERE / "README.md", HERE.parents[1] / "build" / "quickstart" / "tables.txt"]
    given = [Path(word) for word in words if word != "--fix"]
    page, tables = (given + usual[len(given):])[:2]
    for path in (page, tables):
        if not path.is_file():
            print(f"check_page.py: {path}: found no file, expected {'a page' if path == page else 'what `make demo` writes'}",
                  file=sys.stderr)
            return 2
    text = page.read_text(encoding="utf-8")
    wrong = stale(text, tables.read_text(encoding="utf-8"))
    lines = text.splitlines()
    for number, says, gives in wrong:
        if fix and gives:
            lines[number - 1] = gives
        else:
            print(f"{page}:{number}: found '{says.strip()}', expected what the demo prints" + (f", '{gives.strip()}'" if gives else ""))
    if fix:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if [gives for _, _, gives in wrong if not (fix and gives)] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
