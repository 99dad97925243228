# SPDX-License-Identifier: Apache-2.0
"""The documentation site, made and opened in Chromium from its files: links, every page, search. A small tree: its pages, bytes and faults."""

import html
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from posixpath import dirname, normpath

from .browser import DESKTOP, PHONE, BrowserTest, Keys

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / ".cmake/docs/build.py"
MISSING = [word for word in ("doxygen", "git") if shutil.which(word) is None]
MISSING += [word for word in ("sphinx", "myst_parser", "linkify_it", "furo") if importlib.util.find_spec(word) is None]
NEEDS = unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)} (.cmake/setup-packages.sh --studies-tests)")


def make(root, out):
    return subprocess.run([sys.executable, "-B", BUILD, "--root", root, "--out", out], text=True, capture_output=True, check=False)


def dead_links(site):
    """(links that were followed, 'PAGE: LINK' of those that lead nowhere, addresses outside that a page loads)."""
    texts = {str(file.relative_to(site)): file.read_text(encoding="utf-8") for file in site.rglob("*.html")}
    anchors = {page: set(map(html.unescape, re.findall(r'\sid="([^"]*)"', text))) for page, text in texts.items()}
    followed, dead, loaded = 0, set(), set()
    for page, text in texts.items():
        for tag, target in re.findall(r'<(a|link|script|img|form)\b[^>]*?\s(?:href|src|action)="([^"]*)"', text):
            target = html.unescape(target)
            if re.match(r"[a-z]+:|//", target):
                if tag != "a":
                    loaded.add(target)
                continue
            path, _, name = target.partition("#")
            path = path.partition("?")[0]
            to = normpath(f"{dirname(page)}/{path}".lstrip("/")) if path else page
            followed += 1
            if not (site / to).is_file() or name and name not in anchors[to]:
                dead.add(f"{page}: {target}")
    return followed, sorted(dead), sorted(loaded)


@NEEDS
@unittest.skipUnless((ROOT / ".git").exists(), "a copy of the tree without its history")
class SiteTest(BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = Path(folder.name).resolve() / "docs"
        done = make(ROOT, cls.site)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"status {done.returncode}\n{done.stderr}")
        told = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
        cls.pages = [re.sub(r"(^|/)README\.md$", r"\1index", name).removesuffix(".md") + ".html" for name in told if Path(name).name != "page.md"]

    def search(self, words):
        """Addresses of the results in order, relative to the site."""
        self.open(self.site / "models/regless/index.html")
        self.find(".sidebar-search").send_keys(words, Keys.ENTER)
        self.wait("return /Search finished|did not match any/.test(document.querySelector('#search-results')?.textContent)")
        found = self.js("return [...document.querySelectorAll('#search-results li a')].map((a) => a.href)")
        return [re.sub(r"[?].*?(?=#|$)", "", address.removeprefix(self.site.as_uri() + "/")) for address in found]

    def test_all_links_lead_somewhere_and_nothing_comes_from_outside(self):
        followed, dead, loaded = dead_links(self.site)
        self.assertEqual(dead, [])
        self.assertEqual(loaded, [])
        self.assertGreater(followed, 10_000)
        for sheet in self.site.rglob("*.css"):
            for target in re.findall(r"url\((?!data:|[\"']data:)[\"']?([^)\"']+)", sheet.read_text(encoding="utf-8")):
                self.assertTrue((sheet.parent / target).is_file(), f"{sheet.name} loads {target}")

    def test_every_page_opens(self):
        self.assertGreater(len(self.pages), 120)
        reference = sorted(str(file.relative_to(self.site)) for folder in ("api", "files") for file in (self.site / folder).rglob("*.html"))
        self.assertGreater(len(reference), 300)
        for page in self.pages + reference[::12]:
            with self.subTest(page):
                self.open(self.site / page)
                shown = self.js("return {title: document.querySelector('article h1').textContent, text: document.querySelector('article').innerText, "
                                "broken: [...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)}")
                self.assertTrue(shown["title"].strip("#\n "))
                self.assertEqual(shown["broken"], [])
                if page in self.pages:
                    self.assertNotIn("SPDX-License", shown["text"])
                self.fits()
                self.no_errors()

    def test_phone(self):
        for page in ("index.html", "models/SCHEMES.html", "examples/reproduce/wir/index.html", "api/regatta/protocol/residency.html", "api/models/wir.html",
                     "compiler/passes/index.html", "files/traces/suites/wir.toml.html"):
            with self.subTest(page):
                self.open(self.site / page, PHONE)
                self.fits()

    def test_follow_links(self):
        self.open(self.site / "index.html")
        self.find(".sidebar-tree a[href='models/SCHEMES.html']").click()
        self.assertEqual(self.find("article h1").text, "Schemes")
        self.assertEqual(self.js("return [...document.querySelectorAll('.sidebar-tree .current-page > a')].map((a) => a.textContent)"), ["Schemes"])
        self.find("article a[href='regless/index.html']").click()
        self.find("article a[href='capacity_manager/index.html']").click()
        self.assertEqual(self.find("article h1").text, "Capacity manager")
        # An anchor as GitHub names it, a file that is no page, a folder, a header, a class that a header names.
        self.open(self.site / "DOCS.html")
        self.js("arguments[0].click()", self.find("article a[href$='traces/suites/index.html#a-suites-file']"))
        self.assertEqual(self.js("return document.querySelector(location.hash).querySelector('h2').firstChild.textContent"), "A suite's file")
        self.open(self.site / "examples/reproduce/wir/index.html")
        self.js("arguments[0].click()", self.find("article a[href$='files/traces/suites/wir.toml.html']"))
        self.assertIn("[[program]]", self.find("article pre").text)
        self.open(self.site / "files/models/wir/vsb.html")
        self.find("article a[href$='api/regatta/wir/vsb.html']").click()
        self.assertEqual(self.find("article h1").text, "vsb.h")
        self.open(self.site / "api/regatta/regless/osu_bank.html")
        self.js("arguments[0].click()", self.find("dt a[href='osu_bank_access.html#models::OsuBankAccess']"))
        self.assertEqual(self.js("return document.getElementById(decodeURIComponent(location.hash.slice(1))).querySelector('.descname').textContent"),
                         "OsuBankAccess")

    def test_search(self):
        self.assertEqual(self.search("capacity manager")[:2], ["models/regless/capacity_manager/index.html", "api/regatta/regless/capacity_manager.html"])
        self.assertEqual(self.search("OsuBank")[0], "api/regatta/regless/osu_bank.html#osubank")
        self.assertIn("models/regless/osu/index.html", self.search("osu.entries")[:5])
        self.assertIn("api/regatta/regless/osu_bank_access.html", self.search("book_read_out")[:3])
        self.assertEqual(self.search("nosuchword"), [])

    def test_dark(self):
        ground = "return getComputedStyle(document.body).getPropertyValue('--color-background-primary').trim()"
        self.open(self.site / "index.html", DESKTOP, "light")
        light = self.js(ground)
        self.open(self.site / "index.html", DESKTOP, "dark")
        dark = self.js(ground)
        self.assertNotEqual(dark, light)
        self.find(".theme-toggle-content .theme-toggle").click()
        self.assertEqual(self.js(ground), light)
        self.addCleanup(self.js, "localStorage.clear()")
        self.driver.refresh()
        self.assertEqual(self.js(ground), light)


@NEEDS
class MadeSiteTest(unittest.TestCase):
    """Of a small tree."""

    FILES = {
        "README.md": "<!-- SPDX -->\n# Home\n\n[pages](DOCS.md), ![drawn](models/a.svg)\n",
        "DOCS.md": "# All pages\n\n## First\n\n[models](models/README.md)\n",
        "models/README.md": "# Models\n\n## `one`, two\n\n[a](#one-two) [b](a.toml) [c](a) [d](a/include/regatta/a/thing.h) [e](a.svg) [f](../README.md#home)\n",
        "models/a.toml": "x = 1  # first\n",
        "models/a.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle cx="4" cy="4" r="4"/></svg>\n',
        "models/a/include/regatta/a/thing.h":
            "// SPDX\n//\n// Things that `a` has.\n#pragma once\nnamespace regatta::a {\n/// A base.\nstruct Base {\n  /// Says how many, as Base does.\n"
            "  virtual int count(int of = 3) const = 0;\n};\n/// Either.\nenum class Kind { red, blue };\n/// A thing.\nclass Thing final : public Base {\n public:\n"
            "  int count(int of = 3) const override;\n  /// Of these: `x < y`.\n  template <class T>\n  T get(const T& x, Kind kind = Kind::red);\n\n"
            " protected:\n  int kept_ = 1;\n\n private:\n  int hidden_ = 0;\n};\n}  // namespace regatta::a\n",
    }

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "tree"
        for name, text in self.FILES.items():
            self.write(name, text)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self.site = self.root / "build/docs"

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def make(self):
        subprocess.run(["git", "add", "."], cwd=self.root, check=True)
        done = make(self.root, self.site)
        shutil.rmtree(self.root / "again", ignore_errors=True)
        return done

    def text(self, page):
        """What a page shows, without marks."""
        found = re.search(r"<article.*?</article>", (self.site / page).read_text(encoding="utf-8"), re.S)[0]
        return " ".join(html.unescape(re.sub(r"<[^>]+>", "", found)).split())

    def test_pages(self):
        done = self.make()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        pages = sorted(str(file.relative_to(self.site)) for file in self.site.rglob("*.html"))
        self.assertEqual(pages, ["DOCS.html", "api/index.html", "api/models/a.html", "api/regatta/a/thing.html", "files/models/a.html",
                                 "files/models/a.svg.html", "files/models/a.toml.html", "index.html", "models/index.html", "search.html"])
        self.assertEqual(done.stdout, f"{len(pages)} pages: {self.site / 'index.html'}\n")
        self.assertEqual(dead_links(self.site)[1:], ([], []))
        self.assertIn("x = 1 # first", self.text("files/models/a.toml.html"))
        self.assertNotIn("SPDX", self.text("index.html"))
        shown = self.text("api/regatta/a/thing.html")
        for text in ("Things that a has.", "#include <regatta/a/thing.h> // namespace regatta::a", "class Thing final : public regatta::a::Base",
                     "virtual int count(int of = 3) const = 0", "Says how many, as Base does.", "enum class Kind", "blue", "A thing.",
                     "template <class T>T get(const T & x, Kind kind = Kind::red)", "Of these: x < y.", "protected int kept_ = 1", "Overrides, described where they are declared: count."):
            self.assertIn(text, shown)
        self.assertNotIn("hidden_", shown)
        # Nothing of the making is left, and git need not know of it.
        self.assertEqual([file.name for file in self.site.parent.iterdir()], ["docs"])

    def bytes(self):
        return {str(file.relative_to(self.site)): file.read_bytes() for file in self.site.rglob("*") if file.is_file()}

    def test_the_same_bytes_again_and_elsewhere(self):
        self.make()
        first = self.bytes()
        self.assertEqual(self.make().returncode, 0)
        self.assertEqual(self.bytes(), first)
        moved = self.root.with_name("elsewhere")
        self.root.rename(moved)
        self.root, self.site = moved, moved / "build/docs"
        shutil.rmtree(self.site)
        self.assertEqual(self.make().returncode, 0)
        self.assertEqual(self.bytes(), first)
        self.assertFalse([name for name, text in first.items() if os.fsencode(self.root.parent) in text])

    def test_a_comment_that_doxygen_does_not_understand(self):
        self.make()
        first = self.bytes()
        header = "models/a/include/regatta/a/thing.h"
        self.write(header, self.FILES[header].replace("A base.", "A <block>."))
        done = self.make()
        self.assertEqual(done.stderr, f"{header}:6: warning: Unsupported xml/html tag <block> found\n"
                                      "make docs: doxygen found errors in comments of headers (status 0)\n")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(self.bytes(), first)

    def test_a_page_that_sphinx_does_not_understand(self):
        self.write("models/README.md", "# Models\n\n```nolanguage\nx\n```\n")
        done = self.make()
        self.assertRegex(done.stderr, r"^models/README\.md:3: WARNING: Pygments lexer name 'nolanguage' is not known\n(.*\n)*make docs: sphinx ended with status 1\n$")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(list(self.site.parent.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
