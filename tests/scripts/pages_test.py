# SPDX-License-Identifier: Apache-2.0
"""The pages of the repository: links lead somewhere, README.md is short, DOCS.md lists every page."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES_OF_README = 130


def tracked_pages():
    """The repository's pages; none in a copy without git."""
    try:
        told = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return []
    return [ROOT / name for name in told.split("\0") if name and (ROOT / name).is_file()]


def without_blocks(text):
    return re.sub(r"^( *)(```+).*?^ *\2 *$", "", text, flags=re.S | re.M)


def anchors(page):
    """GitHub's names of the headings: the second of two equal ones ends in -1."""
    found = set()
    for heading in re.findall(r"^#{1,6} +(.*?)[ #]*$", without_blocks(page.read_text(encoding="utf-8")), re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        count = 0
        while name + (f"-{count}" if count else "") in found:
            count += 1
        found.add(name + (f"-{count}" if count else ""))
    return found


def links(page):
    """Targets of links and pictures, except those with a scheme (https:)."""
    text = re.sub(r"`[^`\n]*`", "", without_blocks(page.read_text(encoding="utf-8")))
    targets = re.findall(r"\]\(<?([^)\s>]+)>?(?: +\"[^\"]*\")?\)", text) + re.findall(r"^ {0,3}\[[^\]^]+\]: +(\S+)", text, re.M)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def broken_links(page):
    """'TARGET: why' for each link of the page that leads nowhere."""
    found = []
    for target in links(page):
        path, _, name = target.partition("#")
        to = page.parent / path if path else page
        if not to.exists():
            found.append(f"{target}: no such file")
        elif name and to.suffix == ".md" and name not in anchors(to):
            found.append(f"{target}: no such heading")
    return found


class BrokenLinksTest(unittest.TestCase):
    def test_planted_links_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            page, other = Path(name) / "page.txt", Path(name) / "README.md"
            other.write_text("# A title\n## `one`, two\n## Twice\n## Twice\n```\n# no heading\n```\n")
            page.write_text("[a](README.md) [b](README.md#one-two) [c](README.md#twice-1) ![d](README.md#a-title \"text\") `[e](nowhere)`\n"
                            "```\n[f](nowhere)\n```\n[g](https://example.org/nowhere) [h]: nothing\n")
            self.assertEqual(broken_links(page), [])
            page.write_text("[a](nowhere/README.md) [b](README.md#three) [c](README.md#twice-2) [d](README.md#no-heading)\n\n[e]: nowhere.svg\n")
            self.assertEqual(broken_links(page),
                             ["nowhere/README.md: no such file", "README.md#three: no such heading", "README.md#twice-2: no such heading",
                              "README.md#no-heading: no such heading", "nowhere.svg: no such file"])


class PagesTest(unittest.TestCase):
    def test_readme_is_short(self):
        lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), MOST_LINES_OF_README, "lines of README.md: move a section to a page that DOCS.md lists")

    @unittest.skipUnless(tracked_pages(), "no git, or a copy of the tree without its history")
    def test_links_of_all_pages_lead_somewhere(self):
        for page in tracked_pages():
            with self.subTest(str(page.relative_to(ROOT))):
                self.assertEqual(broken_links(page), [])

    @unittest.skipUnless(tracked_pages(), "no git, or a copy of the tree without its history")
    def test_docs_lists_every_page(self):
        """Except templates, and findings, which the page beside them links."""
        listed = {(ROOT / target.partition("#")[0]).resolve() for target in links(ROOT / "DOCS.md")}
        missing = [str(page.relative_to(ROOT)) for page in tracked_pages()
                   if page.name not in ("DOCS.md", "page.md", "findings.md") and page.resolve() not in listed]
        self.assertEqual(missing, [], "pages that DOCS.md does not link")


if __name__ == "__main__":
    unittest.main()
