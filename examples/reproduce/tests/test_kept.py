# SPDX-License-Identifier: Apache-2.0
"""The pages as they are kept: what a reader meets, and how much of it. The limits of figures hold for the whole tree."""

import csv
import re
import subprocess
import unittest
from pathlib import Path

from regatta_reproduce import parts
from regatta_reproduce.findings import Findings

here = Path(__file__).resolve().parents[1]
root = here.parents[1]
pages = sorted(p.parent for p in here.glob("**/page.md"))
most_of_a_figure = 150 * 1024
most_of_all_figures = 3 * 1024 * 1024
pictures = (".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")


def tracked():
    """The repository's files; none in a copy without git."""
    try:
        told = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return []
    return [root / name for name in told.split("\0") if name and (root / name).is_file()]


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def links(page):
    """Paths and anchors."""
    return [tuple(target.split("#")) if "#" in target else (target, "")
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))) if not re.match(r"[a-z]+:", target)]


def linked(page, folder):
    return {target for target, _ in links(page) if target.startswith(folder + "/")}


class KeptPagesTest(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertGreater(len(pages), 8)

    def test_a_page_is_short(self):
        for folder in pages:
            with self.subTest(str(folder.relative_to(here))):
                self.assertEqual(parts.Parts((folder / "README.md").read_text(encoding="utf-8")).complaints(), [])

    def test_the_order_is_verdict_picture_table(self):
        for folder in pages:
            with self.subTest(str(folder.relative_to(here))):
                text = (folder / "README.md").read_text(encoding="utf-8")
                picture = text.index("\n![")
                self.assertLess(text.find("**Verdict.**"), picture)
                self.assertLess(picture, text.index("\n| "))

    def test_a_page_has_all_its_tables_and_no_others(self):
        for folder in pages:
            with self.subTest(str(folder.relative_to(here))):
                tables = {f"tables/{p.name}" for p in (folder / "tables").iterdir()}
                self.assertEqual(tables, linked(folder / "README.md", "tables"))
                for name in tables:
                    header, *rows = csv.reader((folder / name).read_text(encoding="utf-8").splitlines())
                    self.assertEqual({len(row) for row in rows}, {len(header)}, name)

    def test_a_page_has_all_its_findings(self):
        for folder in pages:
            with self.subTest(str(folder.relative_to(here))):
                titles = [f.title.rstrip(".") for f in Findings(folder / "findings.toml").all]
                if titles:
                    headings = re.findall(r"^### (.*)$", (folder / "findings.md").read_text(encoding="utf-8"), re.M)
                    self.assertEqual(sorted(headings), sorted(titles))
                    self.assertEqual(re.findall(r"^- \[(.*)\]\(findings\.md#", (folder / "README.md").read_text(encoding="utf-8"), re.M), headings)

    def test_a_page_shows_all_its_figures(self):
        for folder in pages:
            with self.subTest(str(folder.relative_to(here))):
                figures = {f"figures/{p.name}" for p in (folder / "figures").iterdir()}
                self.assertEqual(figures, linked(folder / "README.md", "figures"))
                self.assertEqual({Path(name).suffix for name in figures}, {".png"})


@unittest.skipUnless(tracked(), "no git, or a copy of the tree without its history")
class TreeTest(unittest.TestCase):
    def test_figures_are_few_and_small(self):
        figures = [p for p in tracked() if p.suffix in pictures]
        self.assertEqual([str(p) for p in figures if p.stat().st_size > most_of_a_figure], [])
        self.assertLessEqual(sum(p.stat().st_size for p in figures), most_of_all_figures)
        stems = [p.with_suffix("") for p in figures]
        self.assertEqual(sorted(str(s) for s in stems if stems.count(s) > 1), [], "one format for a figure")


if __name__ == "__main__":
    unittest.main()
