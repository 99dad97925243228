# SPDX-License-Identifier: Apache-2.0
"""Where regatta's programs are, and how one is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List, Optional, Sequence, Union

from .statistics import InputError

PathLike = Union[str, "os.PathLike[str]"]


class RunFailed(Exception):
    """A program of regatta ended with another status than 0.

    `tool`: its name. `status`: its exit status; 2 is bad input, 3 a failed check, 128 + N the signal N. `message`: the
    last line it said, without its name. `what`: what it was to do.
    """

    def __init__(self, tool: str, status: int, message: str, what: str):
        super().__init__(f"{what}: {tool} ended with status {status}: {message}")
        self.tool, self.status, self.message, self.what = tool, status, message, what


def beside_package(what: str = "bin") -> List[Path]:
    """The folders in which the programs ("bin"), or kernels and examples ("share"), of this package's own wheel, installation or
    checkout may be."""
    package = Path(__file__).resolve().parent
    if (package / what).is_dir():  # a wheel brings its own
        return [package / what]
    if [p.name for p in package.parents[:2]] == ["python", "regatta"]:
        # PREFIX/lib/regatta/python/regatta; the library folder may have two parts (lib/x86_64-linux-gnu).
        return [p / "bin" if what == "bin" else p / "share" / "regatta" for p in package.parents[3:5]]
    root = package.parents[2]
    return [root / "build" / "release" / "bin", root / "build" / "bin"] if what == "bin" else [root]


def find(name: str, folder: Optional[PathLike] = None) -> Path:
    """The program `name`: in `folder` if one is given; else in the folder REGATTA_BIN if the environment has it; else
    beside the package (installed, or a checkout's build/release/bin); else of PATH. Throws InputError."""
    asked = ("bin", os.fspath(folder)) if folder is not None else ("REGATTA_BIN", os.environ.get("REGATTA_BIN", ""))
    if asked[1]:
        path = shutil.which(os.path.join(asked[1], name))
        if path is None:
            raise InputError(f"{asked[0]}: found no program '{name}' in '{asked[1]}', expected the folder with regatta's "
                             f"programs")
        return Path(path).resolve()
    for place in beside_package():
        path = shutil.which(str(place / name))
        if path is not None:
            return Path(path).resolve()
    path = shutil.which(name)
    if path is None:
        raise InputError(f"found no program '{name}' in {', '.join(f'{p}' for p in beside_package())} or PATH, expected "
                         f"regatta's programs there: build them (make tools), or set REGATTA_BIN to their folder")
    return Path(path).resolve()


def of_option(name: str, folder: Optional[PathLike], beside: Path) -> Path:
    """The program `name` for a program with the option --bin: in the `folder` that it names; without one in `beside`, the
    folder of the program itself, or else of PATH. Throws InputError."""
    place = Path(folder) if folder else beside
    path = shutil.which(str(place / name)) or (None if folder else shutil.which(name))
    if path is None:
        raise InputError(f"--bin: found no program '{name}' in '{place}'" + ("" if folder else " and in PATH") +
                         ", expected the folder with regatta's programs")
    return Path(path).resolve()


def last_words(name: str, errors: str) -> str:
    """Of what a program wrote to stderr, the last line with its name in front, or else the last line."""
    prefix = name + ": "
    lines = [line for line in errors.splitlines() if line.strip()]
    told = [line[len(prefix):] for line in lines if line.startswith(prefix)]
    return told[-1] if told else lines[-1] if lines else "it said nothing"


def output(name: str, arguments: Sequence[str], what: str, folder: Optional[PathLike] = None) -> str:
    """What the program writes to stdout. Throws RunFailed."""
    done = subprocess.run([str(find(name, folder)), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        status = done.returncode if done.returncode > 0 else 128 - done.returncode
        raise RunFailed(name, status, last_words(name, done.stderr), what)
    return done.stdout


def need_python(what: str) -> None:
    """What runs simulations shares the engine of studies, which needs a newer Python than the rest."""
    if sys.version_info < (3, 11):
        raise InputError(f"{what}: found Python {sys.version.split()[0]}, expected 3.11 or newer")


def cache_folder() -> Path:
    """Where traces and results of run() and annotate() are kept by their content: REGATTA_CACHE of the environment, or
    regatta in XDG_CACHE_HOME, or ~/.cache/regatta. It may be removed at any time."""
    own = os.environ.get("REGATTA_CACHE")
    if own:
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "regatta"
