# SPDX-License-Identifier: Apache-2.0
"""What of the tree is in the site, and under which names."""

import posixpath
import shutil
from pathlib import PurePosixPath

import api

PICTURES = (".png", ".svg", ".jpg", ".gif")
LANGUAGES = {".cmake": "cmake", ".cpp": "cpp", ".cu": "cpp", ".h": "cpp", ".ipynb": "json", ".json": "json", ".proto": "protobuf", ".py": "python",
             ".sh": "bash", ".sv": "systemverilog", ".svh": "systemverilog", ".toml": "toml", ".yml": "yaml", ".cff": "yaml"}


class Names:
    """Documents of Sphinx, by the paths of the tree: pages under their own names (README is index), public headers under api/,
    other files and folders that a page links under files/."""

    def __init__(self, tree):
        self._tree = tree
        self._headers = api.headers(tree.files)
        self._pages = {self.document(path): path for path in tree.pages}
        self.files, self.folders = [], []
        seen = set()
        for page in tree.pages.values():
            for link in page.links:
                if not link.picture:
                    self._show(page.leads_to(link.target), seen)
        self.files.sort()
        self.folders.sort()

    def _show(self, path, seen):
        if path in seen or path not in self._tree.folders and path not in self._tree.files:
            return
        seen.add(path)
        if self._tree.page_of(path) or path in self._headers:
            return
        if path in self._tree.folders:
            self.folders.append(path)
            for file in self.inside(path):
                self._show(file, seen)
        else:
            self.files.append(path)

    def inside(self, folder):
        return [file for file in self._tree.files if file.startswith(folder + "/")]

    def page(self, document):
        return self._pages.get(document)

    def document(self, path):
        page = self._tree.page_of(path)
        if page:
            folder, name = posixpath.split(page.removesuffix(".md"))
            return posixpath.join(folder, "index" if name == "README" else name)
        if path in self._headers:
            return api.document(self._headers[path]["include"])
        return f"files/{path}"

    def address(self, document, path):
        """The link from a document to a file or folder."""
        return posixpath.relpath(f"{self.document(path)}.html", posixpath.dirname(document) or ".")


def shown_file(tree, path):
    """A page with a file."""
    text = f":orphan:\n:nosearch:\n\n{api.title(path, '=')}"
    if path.endswith(PICTURES):
        return f"{text}.. image:: /{path}\n"
    language = LANGUAGES.get(PurePosixPath(path).suffix, "text")
    return f"{text}.. code-block:: {language}\n\n" + api.indented((tree.root / path).read_text(encoding="utf-8", errors="replace"))


def shown_folder(names, path):
    """A page with the names of a folder's files."""
    return f":orphan:\n:nosearch:\n\n{api.title(path + '/', '=')}" + "".join(
        f"- :doc:`{file.removeprefix(path + '/')} </{names.document(file)}>`\n" for file in names.inside(path))


def stage(tree, folder):
    """Copies pages and pictures, and makes pages of the files and folders that they link."""
    names = Names(tree)
    copies = {f"{names.document(path)}.md": path for path in tree.pages}
    copies.update({path: path for path in tree.files if path.endswith(PICTURES)})
    texts = {f"files/{path}.rst": shown_file(tree, path) for path in names.files}
    texts.update({f"files/{path}.rst": shown_folder(names, path) for path in names.folders})
    for name in (*copies, *texts):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    for name, path in copies.items():
        shutil.copyfile(tree.root / path, folder / name)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
