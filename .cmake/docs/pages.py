# SPDX-License-Identifier: Apache-2.0
"""The Markdown pages of a tree: their links and anchors, and the order that DOCS.md gives them."""

import dataclasses
import re
import subprocess
from pathlib import Path, PurePosixPath
from posixpath import normpath

INDEX = "DOCS.md"
HOME = "README.md"
TEMPLATE = "page.md"  # of the page of a reproduction, which examples/reproduce fills with numbers


class NoGit(Exception):
    pass


def tracked(root):
    """Paths of the files that git has, relative to root, in order."""
    try:
        told = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", None)
        raise NoGit(f"make docs: {root}: git ls-files failed ({why.decode().strip() if why else error}); expected a git repository") from None
    return sorted(name for name in told.split("\0") if name and (Path(root) / name).is_file())


def github_name(heading, taken):
    """GitHub's anchor of a heading, and a note of it in `taken`: the second of two equal ones ends in -1."""
    name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    count = 0
    while name + (f"-{count}" if count else "") in taken:
        count += 1
    name += f"-{count}" if count else ""
    taken.add(name)
    return name


def without_code(text):
    """The text with its lines, but without code and comments."""
    def lines(match):
        return "\n" * match[0].count("\n")
    text = re.sub(r"^( *)(```+).*?^ *\2 *$", lines, text, flags=re.S | re.M)
    return re.sub(r"<!--.*?-->", lines, text, flags=re.S)


@dataclasses.dataclass(frozen=True)
class Link:
    line: int
    target: str  # as written
    text: str
    picture: bool  # shown, not linked
    row: str  # first cell of the table row that has the link; "" if there is none
    section: str  # heading of the second level above it


class Page:
    def __init__(self, root, path):
        self.path = path
        text = without_code((Path(root) / path).read_text(encoding="utf-8"))
        self.anchors = set()
        self.title = False
        self.links = []  # to files and anchors, pictures included; not those with a scheme (https:)
        section = ""
        for number, line in enumerate(text.splitlines(), 1):
            heading = re.match(r"(#{1,6}) +(.*?)[ #]*$", line)
            if heading:
                shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[2])
                self.title |= len(heading[1]) == 1
                github_name(shown, self.anchors)
                section = shown if len(heading[1]) == 2 else section
            row = re.match(r"\| *([^|]*?) *\|", line)
            line = re.sub(r"`[^`]*`", lambda code: code[0].replace("](", ") ("), line)
            found = [(m[3], m[2] or "", bool(m[1]))
                     for m in re.finditer(r"(?:(!?)\[([^\[\]]*))?\]\(<?([^)\s>]+)>?(?: +\"[^\"]*\")?\)", line)]
            found += [(m[1], "", False) for m in re.finditer(r"^ {0,3}\[[^\]^]+\]: +(\S+)", line)]
            self.links += [Link(number, target, text, picture, row[1] if row else "", section)
                           for target, text, picture in found if not re.match(r"[a-z]+:", target)]

    def leads_to(self, target):
        """Path of the file or folder that a link names, relative to the root; "" is the root."""
        path = target.partition("#")[0]
        if not path:
            return self.path
        to = normpath(PurePosixPath(self.path).parent / path)
        return "" if to == "." else to


class Tree:
    """All pages. `errors` says what is wrong with them, a line each."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = tracked(root)
        self.folders = {str(parent) for name in self.files for parent in PurePosixPath(name).parents} - {"."} | {""}
        self.pages = {name: Page(root, name) for name in self.files
                      if name.endswith(".md") and PurePosixPath(name).name != TEMPLATE}
        self.errors = []
        if INDEX not in self.pages or HOME not in self.pages:
            self.errors.append(f"{root}: found no {INDEX} or no {HOME} that git tracks; expected both")
            return
        for page in self.pages.values():
            self.errors += [] if page.title else [f"{page.path}:1: found no heading of the first level; expected one, the page's title"]
            self.errors += filter(None, (self._error(page, link) for link in page.links))
        self._order()

    def page_of(self, path):
        """The page that shows a file or folder on GitHub; None for what is no page."""
        if path in self.folders:
            path = f"{path}/README.md".lstrip("/")
        return path if path in self.pages else None

    def _error(self, page, link):
        path, name = page.leads_to(link.target), link.target.partition("#")[2]
        where = f"{page.path}:{link.line}: link '{link.target}': "
        if path not in self.folders and path not in self.files:
            there = "a file that git does not track" if (self.root / path).exists() else "no file or folder"
            return f"{where}found {there} at {path}; expected a tracked one"
        to = self.page_of(path)
        if name and to and name not in self.pages[to].anchors:
            return f"{where}found no heading '{name}' in {to}; expected one of its headings, as GitHub names it"
        return None

    def _order(self):
        """`sections`: [(heading of DOCS.md, [path])]; `children`: {path: [path]}; `labels`: {path: what DOCS.md calls it}."""
        self.sections, self.children, self.labels = [], {}, {}
        listed = {}
        for link in self.pages[INDEX].links:
            to = self.page_of(self.pages[INDEX].leads_to(link.target))
            if to in (None, INDEX, HOME) or to in self.labels:
                continue
            plain = link.row and "](" not in link.row and link.text not in link.row
            self.labels[to] = (f"{link.row}: " if plain else "") + link.text.replace("`", "")
            listed.setdefault(link.section, []).append(to)
        # Inside a section, a page is below the README of its folder or of the nearest one around it.
        for section, paths in listed.items():
            tops = []
            for path in paths:
                folders = list(PurePosixPath(path).parents)[1 if path.endswith("/README.md") else 0:]
                above = next((f"{folder}/README.md" for folder in folders if f"{folder}/README.md" in paths), None)
                (self.children.setdefault(above, []) if above else tops).append(path)
            self.sections.append((section, tops))
        # A page that DOCS.md does not list may be part of a page beside it that it lists.
        known = {INDEX, HOME, *self.labels}
        for path in list(self.labels):
            for link in self.pages[path].links:
                to = self.page_of(self.pages[path].leads_to(link.target))
                if to and to not in known and PurePosixPath(to).parent == PurePosixPath(path).parent:
                    known.add(to)
                    self.children.setdefault(path, []).append(to)
        self.errors += [f"{path}: found no link to this page in {INDEX}, nor in a page of its folder that {INDEX} links; expected one"
                        for path in self.pages if path not in known]
