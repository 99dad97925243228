# SPDX-License-Identifier: Apache-2.0
"""python_package.py PREFIX LIBDIR KERNELS: the installed Python package imports, finds its programs, and runs."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

prefix, library, kernels = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3])
sys.path.insert(0, str(prefix / library / "regatta" / "python"))
os.environ.pop("REGATTA_BIN", None)
os.environ.pop("REGATTA_KERNELS", None)
# Nothing of another installation or of the build.
os.environ["PATH"] = "/usr/bin:/bin"

import regatta  # noqa: E402
from regatta import tools  # noqa: E402
from regatta.version import VERSION  # noqa: E402

package = Path(regatta.__file__).resolve().parent
assert package.is_relative_to(prefix), package
assert (package / "py.typed").is_file(), "py.typed is not installed"
for name in regatta.__all__:
    getattr(regatta, name)
for name in ("regatta-sim", "regatta-annotate", "regatta-import", "regatta-trace"):
    assert tools.find(name) == prefix / "bin" / name, tools.find(name)

# The command regatta, its man pages and completions.
def front(*words):
    return subprocess.run([str(prefix / "bin" / "regatta"), *words], capture_output=True, text=True, check=False)


for name in ("annotate", "sim", "trace", "import", "compare", "report", "sample", "study"):
    done = front(name, "--version")
    assert done.stdout == f"regatta-{name} {VERSION}\n", (name, done)
    assert (prefix / "share/man/man1" / f"regatta-{name}.1").is_file(), f"no man page of regatta-{name}"
done = front("list", "kernels")
assert done.returncode == 0 and f"{prefix}/share/regatta/traces/kernels/NAME/launch.toml" in done.stdout, done
assert (prefix / "share/regatta/traces/kernels/srad/launch.toml").is_file(), "the kernels are not installed"
for name in ("man/man1/regatta.1", "bash-completion/completions/regatta", "zsh/site-functions/_regatta"):
    assert (prefix / "share" / name).is_file(), f"share/{name} is not installed"

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
