# SPDX-License-Identifier: Apache-2.0
"""examples/notebook: every cell runs, with matplotlib and without; the committed file has no outputs."""

import os
import unittest
from pathlib import Path

import nbclient
import nbformat

from .fake_study import FolderTest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "examples" / "notebook" / "study.ipynb"


class NotebookTest(FolderTest):
    def execute(self, **environment):
        """In a checkout of links, so that what it writes is nowhere else. Throws if a cell fails."""
        place = self.folder / "checkout" / "examples" / "notebook"
        place.mkdir(parents=True)
        for name in ("traces", "platform"):
            (self.folder / "checkout" / name).symlink_to(ROOT / name)
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        before = dict(os.environ)
        os.environ.update(REGATTA_CACHE=str(self.folder / "cache"), IPYTHONDIR=str(self.folder / "ipython"),
                          JUPYTER_RUNTIME_DIR=str(self.folder / "jupyter"), MPLCONFIGDIR=str(self.folder / "matplotlib"),
                          **environment)
        try:
            nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(place)}}).execute()
        finally:
            os.environ.clear()
            os.environ.update(before)
        return notebook

    def outputs(self, notebook):
        """By kind of content, of each code cell that shows something."""
        cells = [c for c in notebook.cells if c.cell_type == "code"]
        self.assertEqual([c.execution_count for c in cells], list(range(1, len(cells) + 1)))
        errors = [o for c in cells for o in c.outputs if o.output_type == "stream" and o.name == "stderr" and "[" not in o.text]
        self.assertEqual(errors, [])
        return [{kind for o in c.outputs for kind in o.get("data", {})} for c in cells if c.outputs]

    def test_with_matplotlib(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("matplotlib is not installed")
        notebook = self.execute()
        shown = self.outputs(notebook)
        self.assertIn("image/png", shown[-1])
        self.assertGreaterEqual(sum("text/html" in kinds for kinds in shown), 9)
        text = nbformat.writes(notebook)
        self.assertIn("more cycles than A", text)
        self.assertTrue((self.folder / "checkout" / "build" / "notebook" / "capacity.study" / "results.csv").is_file())

    def test_without_matplotlib(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError('not here')\n")
        path = f"{self.folder}:{os.environ.get('PYTHONPATH', '')}"
        # Jupyter's own use of matplotlib falls back, too.
        shown = self.outputs(self.execute(PYTHONPATH=path, MPLBACKEND=""))
        self.assertIn("application/vnd.vegalite.v5+json", shown[-1])

    def test_the_file_is_committed_without_outputs(self):
        notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                self.assertEqual((cell.outputs, cell.execution_count), ([], None))
        self.assertLess(NOTEBOOK.stat().st_size, 20_000)


if __name__ == "__main__":
    unittest.main()
