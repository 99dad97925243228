#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the statements of all pages in the same way, from the tables that are kept, and writes the front page (README.md here) and the
summary in the repository's README.md. No run is needed. Status: 0 done, 1 a page cannot be counted, 2 bad usage, 3 --check found a file that is out of date."""

import argparse
import os
import sys
from pathlib import Path
from typing import Dict, List, Optional

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from regatta_reproduce import ReproductionError, front  # noqa: E402
from regatta_reproduce.findings import Findings  # noqa: E402
from regatta_reproduce.kept import Kept, supported  # noqa: E402
from regatta_reproduce.page import write_if_changed  # noqa: E402

#: Pages of a paper, in the order of the front page.
pages = ["regless", "wir", "greener", "aging", "finereg", "sharing", "sharing/scratchpad"]
#: Pages that repeat statements of several papers: a statement is counted on its paper's page.
repeating = ["modern", "storage"]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--root", type=Path, default=here, metavar="FOLDER", help="where the pages and the front page are (default: %(default)s)")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; name the files that are out of date")
    what.add_argument("--pages", action="store_true", help="rewrite the pages' verdicts, counts and supporting runs as well")
    what.add_argument("--marked", action="store_true", help="list the comparisons that do not count, with the reasons, and write nothing")
    return p


def main(arguments: Optional[List[str]] = None) -> int:
    options = parser().parse_args(arguments)
    options.root = options.root.resolve()
    try:
        return _run(options)
    except (ReproductionError, OSError) as e:
        sys.stderr.write(f"count.py: {e}\n")
        return 1


def _run(options: argparse.Namespace) -> int:
    kept = {name: Kept(options.root / name) for name in pages}
    if options.marked:
        for name, k in kept.items():
            for c in k.comparisons.all.values():
                if not c.counts:
                    print(f"{name}: {c.stated.id}: {c.stated.mark}: {c.stated.reason}")
        return 0
    files: Dict[Path, str] = {}  # what they should be
    for name, k in kept.items():
        files.update((options.root / name / file, text) for file, text in k.rewritten().items())
    for name in repeating:
        findings = options.root / name / "findings.md"
        if findings.exists():
            files[findings] = supported(findings.read_text(encoding="utf-8"), Findings(options.root / name / "findings.toml"))
    readme = options.root / "README.md"
    summary = options.root.parents[1] / "README.md"
    written = {readme: front.replaced(readme.read_text(encoding="utf-8"), front.block(kept), readme),
               summary: front.replaced_in_short(summary.read_text(encoding="utf-8"), front.in_short(kept), summary)}
    if options.check:
        stale = [p for p, text in {**files, **written}.items() if p.read_text(encoding="utf-8") != text]
        for p in stale:
            sys.stderr.write(f"{_shown(p, options.root)}: out of date, count.py{'' if p in written else ' --pages'} makes it anew\n")
        return 3 if stale else 0
    for p, text in ({**files, **written} if options.pages else written).items():
        if write_if_changed(p, text):
            print(f"{_shown(p, options.root)}: written")
    return 0


def _shown(path: Path, root: Path) -> str:
    return os.path.relpath(path, root)


if __name__ == "__main__":
    sys.exit(main())
