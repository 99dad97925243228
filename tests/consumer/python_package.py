# SPDX-License-Identifier: Apache-2.0
"""python_package.py PREFIX LIBDIR KERNELS: the installed Python package imports, finds its programs, and runs."""

import os
import sys
import tempfile
from pathlib import Path

prefix, library, kernels = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3])
sys.path.insert(0, str(prefix / library / "regatta" / "python"))
os.environ.pop("REGATTA_BIN", None)
# Nothing of another installation or of the build.
os.environ["PATH"] = "/usr/bin:/bin"

import regatta  # noqa: E402
from regatta import tools  # noqa: E402

package = Path(regatta.__file__).resolve().parent
assert package.is_relative_to(prefix), package
assert (package / "py.typed").is_file(), "py.typed is not installed"
for name in regatta.__all__:
    getattr(regatta, name)
for name in ("regatta-sim", "regatta-annotate", "regatta-trace"):
    assert tools.find(name) == prefix / "bin" / name, tools.find(name)

if sys.version_info >= (3, 11):
    with tempfile.TemporaryDirectory() as folder:
        trace = regatta.annotate(kernels / "vector_add" / "launch.small.toml", cache=folder)
        run = regatta.run(trace, cache=folder, cpi_lines=True)
        assert run.warp_instructions == trace.warp_instructions > 0
        assert sum(cycles for _, cycles in run.cells(True)) == run.cycles
        assert len(regatta.compare([run, run]).verdicts) == 1
        study = regatta.study(programs=[trace], folder=folder, quiet=True)
        assert study.load(1).cycles == run.cycles
print("ok")
