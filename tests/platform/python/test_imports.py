# SPDX-License-Identifier: Apache-2.0
"""No module of the package imports another one that leads back to it: neither at its top, nor in a function, nor for types."""

import ast
import tempfile
import unittest
from pathlib import Path

from .fake_study import PACKAGE


def modules_of(folder):
    """Files by the name of their module."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name, path, modules):
    """Modules that this one names. That a package is loaded with its modules is no import."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in modules)
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base


def circles(folder):
    """As lists of modules, each of which imports the next one, and the last the first."""
    modules = modules_of(folder)
    graph = {name: sorted(set(imports_of(name, path, modules)) & modules.keys()) for name, path in modules.items()}
    found, done = [], set()

    def walk(name, way):
        if name in way:
            found.append(way[way.index(name):])
        elif name not in done:
            for other in graph[name]:
                walk(other, [*way, name])
            done.add(name)

    for name in graph:
        walk(name, [])
    return found


class ImportsTest(unittest.TestCase):
    def test_no_circle(self):
        self.assertGreater(len(modules_of(PACKAGE / "regatta")), 80)
        self.assertEqual([" -> ".join(c) for c in circles(PACKAGE / "regatta")], [])

    def test_a_circle_is_found(self):
        """However it is hidden."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "p"
            (folder / "q").mkdir(parents=True)
            for file, text in (("__init__", ""), ("a", "def f():\n    from .q import b\n"), ("q/__init__", ""), ("q/b", "from ..c import x\n"),
                               ("c", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.a\n"), ("d", "from . import a, c\n")):
                (folder / f"{file}.py").write_text(text)
            self.assertEqual(circles(folder), [["p.a", "p.q.b", "p.c"]])


if __name__ == "__main__":
    unittest.main()
