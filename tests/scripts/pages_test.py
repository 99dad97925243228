# SPDX-License-Identifier: Apache-2.0
"""The pages of the repository: links lead somewhere, README.md is short, DOCS.md lists every page; what `make docs` says of planted faults."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".cmake/docs/build.py"
MOST_LINES_OF_README = 130
sys.path.insert(0, str(BUILD.parent))
import pages  # noqa: E402

try:
    HAS_GIT = bool(pages.tracked(ROOT))
except pages.NoGit:
    HAS_GIT = False


class MadeTree(unittest.TestCase):
    """A small git repository without faults."""

    PAGES = {
        "README.md": "<!-- a comment with [a link](nowhere) -->\n# Home\n\nSee [all pages](DOCS.md) and [two](models/README.md#one-two).\n",
        "DOCS.md": "# All pages\n\n## First\n\n| page | content |\n| --- | --- |\n| [home](README.md) | this |\n| [models](models) | those |\n"
                   "| regless | [its page](models/regless/README.md#of-regless) |\n\n## Second\n\n[Schemes](models/SCHEMES.md), [models](models/README.md)\n",
        "models/README.md": "# Models\n\n## `one`, two\n\n## Twice\n\n## Twice\n\n```\n# no heading\n[code](nowhere)\n```\n\n`[more](nowhere)` "
                            "[a](#twice-1) [b](../README.md#home \"text\") [c](https://example.org/nowhere) [d](regless/a.toml) [e](.)\n",
        "models/SCHEMES.md": "# Schemes\n",
        "models/regless/README.md": "# Of regless\n\n[more](BLOCKS.md)\n",
        "models/regless/BLOCKS.md": "# More\n",
        "models/regless/page.md": "# A template {{of}} a [page](nowhere)\n",
        "models/regless/a.toml": "a = 1\n",
    }

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for name, text in self.PAGES.items():
            self.write(name, text)
        self.git("init", "-q")
        self.git("add", ".")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.root, check=True)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def add(self, name, text):
        self.write(name, text)
        self.git("add", name)

    def build(self, **environment):
        return subprocess.run([sys.executable, "-B", BUILD, "--root", self.root, "--out", self.root / "build/docs"], text=True, capture_output=True,
                              env={**os.environ, **environment}, check=False)

    def assert_fails(self, *errors):
        """`make docs` says these lines, and leaves what was there."""
        self.write("build/docs/index.html", "an earlier site")
        done = self.build()
        self.assertEqual(done.stderr.splitlines(), [*errors, f"make docs: errors in pages: {len(errors)}"])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual([p.name for p in (self.root / "build").rglob("*")], ["docs", "index.html"])
        self.assertEqual((self.root / "build/docs/index.html").read_text(), "an earlier site")


@unittest.skipUnless(shutil.which("git"), "no git")
class PlantedFaultsTest(MadeTree):
    def test_none(self):
        self.assertEqual(pages.Tree(self.root).errors, [])

    def test_order(self):
        tree = pages.Tree(self.root)
        self.assertEqual(tree.sections, [("First", ["models/README.md"]), ("Second", ["models/SCHEMES.md"])])
        self.assertEqual(tree.children, {"models/README.md": ["models/regless/README.md"], "models/regless/README.md": ["models/regless/BLOCKS.md"]})
        self.assertEqual(tree.labels, {"models/README.md": "models", "models/regless/README.md": "regless: its page", "models/SCHEMES.md": "Schemes"})

    def test_dead_links(self):
        self.add("models/SCHEMES.md", "# Schemes\n\n```\ncode\n```\nA [link](nowhere/README.md)\nand ![a picture](p.svg)\n\n[e]: ../nowhere.toml\n")
        self.assert_fails(
            "models/SCHEMES.md:6: link 'nowhere/README.md': found no file or folder at models/nowhere/README.md; expected a tracked one",
            "models/SCHEMES.md:7: link 'p.svg': found no file or folder at models/p.svg; expected a tracked one",
            "models/SCHEMES.md:9: link '../nowhere.toml': found no file or folder at nowhere.toml; expected a tracked one")

    def test_dead_anchors(self):
        self.add("models/SCHEMES.md", "# Schemes\n[a](README.md#three) [b](README.md#twice-2)\n[c](README.md#no-heading) [d](#scheme) [e](.#twice)\n")
        why = "expected one of its headings, as GitHub names it"
        self.assert_fails(
            f"models/SCHEMES.md:2: link 'README.md#three': found no heading 'three' in models/README.md; {why}",
            f"models/SCHEMES.md:2: link 'README.md#twice-2': found no heading 'twice-2' in models/README.md; {why}",
            f"models/SCHEMES.md:3: link 'README.md#no-heading': found no heading 'no-heading' in models/README.md; {why}",
            f"models/SCHEMES.md:3: link '#scheme': found no heading 'scheme' in models/SCHEMES.md; {why}")

    def test_a_page_that_docs_does_not_list(self):
        self.add("models/BLOCKS.md", "# Blocks\n")
        self.assert_fails("models/BLOCKS.md: found no link to this page in DOCS.md, nor in a page of its folder that DOCS.md links; expected one")
        self.add("README.md", "# Home\n[not enough](models/BLOCKS.md)\n")
        self.assert_fails("models/BLOCKS.md: found no link to this page in DOCS.md, nor in a page of its folder that DOCS.md links; expected one")

    def test_no_title(self):
        self.add("models/SCHEMES.md", "Schemes\n\n## Of these\n```\n# no heading\n```\n")
        self.assert_fails("models/SCHEMES.md:1: found no heading of the first level; expected one, the page's title")

    def test_a_file_that_git_does_not_have(self):
        self.write("models/b.toml", "")
        self.add("models/SCHEMES.md", "# Schemes\n[a](b.toml)\n")
        self.assert_fails("models/SCHEMES.md:2: link 'b.toml': found a file that git does not track at models/b.toml; expected a tracked one")

    def test_no_index(self):
        self.git("rm", "-q", "-f", "DOCS.md")
        done = self.build()
        self.assertEqual(done.stderr, f"{self.root}: found no DOCS.md or no README.md that git tracks; expected both\nmake docs: errors in pages: 1\n")
        self.assertEqual(done.returncode, 2)

    def test_no_repository(self):
        shutil.rmtree(self.root / ".git")
        done = self.build(GIT_CEILING_DIRECTORIES=str(self.root.parent))
        self.assertRegex(done.stderr, rf"^make docs: {self.root}: git ls-files failed \(fatal: not a git repository.*\); expected a git repository\n$")
        self.assertEqual(done.returncode, 2)

    def test_missing_tools(self):
        self.write("bin/git", f'#!/bin/sh\nexec {shutil.which("git")} "$@"\n')
        (self.root / "bin/git").chmod(0o755)
        done = self.build(PATH=str(self.root / "bin"))
        self.assertRegex(done.stderr, r"^make docs: found no doxygen\b.*; \.cmake/setup-packages\.sh --docs installs what is missing\n$")
        self.assertEqual((done.returncode, (self.root / "build").exists()), (2, False))


class PagesTest(unittest.TestCase):
    def test_readme_is_short(self):
        lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), MOST_LINES_OF_README, "lines of README.md: move a section to a page that DOCS.md lists")

    @unittest.skipUnless(HAS_GIT, "no git, or a copy of the tree without its history")
    def test_links_lead_somewhere_and_docs_lists_every_page(self):
        self.assertEqual(pages.Tree(ROOT).errors, [])


if __name__ == "__main__":
    unittest.main()
