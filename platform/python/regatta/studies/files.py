# SPDX-License-Identifier: Apache-2.0
"""The files of a study: what its runs read, and what it has made, so that nothing is written over them."""

from pathlib import Path

from ..clashes import FileUse, refuse_clashes
from ..statistics import InputError
from . import documents
from .file import Study

_MOST_BYTES = 1 << 20  # of a file that may name others
_INPUT = "an input of the study"
RESULTS = ("results.sqlite", "results.csv", "host.csv")
# Files and folders of a study's folder; others are the user's.
_OWN = (*RESULTS, "digests.json", "jobs.json", "study", "lock", "Snakefile", "snakemake.log")
_OWN_FOLDERS = ("runs", "traces", "groups", "jobs", "slurm", ".snakemake")


def inputs(study: Study) -> list[FileUse]:
    """The study file, its traces and launch files, and the files that they name, and those that these name ..."""
    files = [path for program in study.programs for path in (program.trace, program.launch) if path]
    words = [word for program in study.programs for word in program.annotate] + [*study.options, *study.machines]
    files += [path for word in words if (path := _existing(study.path.parent, word.split("=", 1)[-1]))]
    found = dict.fromkeys([*named_files(study.path)[1:], *(path for file in files for path in named_files(file))])
    return [FileUse("the study file", study.path), *(FileUse(_INPUT, path) for path in found)]


def made(folder: Path) -> list[FileUse]:
    """Files that regatta-study keeps in a study's folder."""
    parts = [folder / name for name in _OWN]
    parts += [path for name in _OWN_FOLDERS for path in (folder / name).rglob("*")]
    return [FileUse("a file of the study", path) for path in parts if path.is_file()]


def check(study: Study) -> None:
    """Throws InputError when a study's results would be written over one of its inputs."""
    refuse_clashes([*(FileUse(name, study.folder / name, True) for name in RESULTS), *inputs(study)])


def named_files(path: Path) -> list[Path]:
    """A file, and the files that it names if it is TOML, whatever the key, and those that these name ..."""
    found: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = None
            waiting += [named for text in _texts(file) if (named := _existing(file.parent, text))]
    return list(found)


def _texts(path: Path) -> list[str]:
    """In a TOML file of any name. None in one that is no TOML; whoever reads it for its content says so."""
    try:
        return [text for _, text in documents.texts(documents.parsed(documents.read(path, _MOST_BYTES), path))]
    except InputError:
        return []


def _existing(folder: Path, text: str) -> Path | None:
    try:
        return folder / text if text and (folder / text).is_file() else None
    except (OSError, ValueError):  # no name that a file can have
        return None
