# SPDX-License-Identifier: Apache-2.0
"""The programs that a paper measures, and the kernels of ours that stand for them: traces/suites/SUITE.toml.

    paper = "Authors: Title. Venue"         the citation; a suite of no paper has neither this nor the next
    source = "Table 2, Sec 6.1"             where the paper lists its programs
    machine = "gtx980"                      preset of the paper's GPU (platform/machines)
    warp_size = 32
    addresses = 32                          bits: 32 or 64
    [[program]]                             in the paper's order
    name = "nw"                             as the paper prints it
    abbreviation = "NW1"                    optional, as the next six
    suite = "Rodinia"                       where the program comes from
    class = "Set-2"                         the paper's class of it
    group = "Table 3.7"                     a further list of programs, apart from the main one
    registers = 24                          per thread, if the paper states them
    block = 256                             threads per CTA, likewise
    shared_bytes = 2180                     per CTA, likewise
    kernel = "needleman_wunsch"             a folder of traces/kernels; or
    missing = "no source"                   why there is none
    entries = ["needleman_wunsch_tiles"]    optional: the kernel's entries that the paper measures
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from regatta.studies import suites

from . import ReproductionError
from .command import kernels_folder, root

suites_folder = root / "traces" / "suites"
machines_folder = root / "platform" / "machines"


@dataclass(frozen=True)
class Program:
    name: str
    abbreviation: str = ""
    suite: str = ""
    paper_class: str = ""
    group: str = ""
    registers: Optional[int] = None
    block: Optional[int] = None
    shared_bytes: Optional[int] = None
    kernel: str = ""
    missing: str = ""
    entries: Tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name, with the abbreviation where that says more."""
        return f"{self.name} ({self.abbreviation})" if self.abbreviation not in ("", self.name) else self.name


@dataclass(frozen=True)
class Coverage:
    covered: int
    total: int

    def __str__(self) -> str:
        return f"{self.covered} of {self.total}"


@dataclass(frozen=True)
class Suite:
    name: str  # of the file
    machine: str
    warp_size: int
    addresses: int
    paper: str = ""  # none: a suite of our own
    source: str = ""
    programs: Tuple[Program, ...] = field(default=())

    @property
    def groups(self) -> List[str]:
        """Names of the lists beside the main one, in the file's order."""
        return list(dict.fromkeys(p.group for p in self.programs if p.group))

    def listed(self, group: str = "") -> List[Program]:
        """The programs of the main list, or of a group."""
        return [p for p in self.programs if p.group == group]

    @property
    def kernels(self) -> List[str]:
        """Kernels that stand for any program, each once, in the file's order."""
        return list(dict.fromkeys(p.kernel for p in self.programs if p.kernel))

    def coverage(self, group: str = "") -> Coverage:
        """Programs of the main list, or of a group, that have a kernel."""
        listed = self.listed(group)
        return Coverage(sum(bool(p.kernel) for p in listed), len(listed))

    def missing(self) -> List[Program]:
        return [p for p in self.programs if not p.kernel]

    def names_by_kernel(self, group: str = "") -> Dict[str, List[str]]:
        """The paper's names (abbreviations where it has them) of the programs that each kernel stands for."""
        found: Dict[str, List[str]] = {}
        for p in self.listed(group):
            if p.kernel:
                found.setdefault(p.kernel, []).append(p.abbreviation or p.name)
        return found

    def annotate_options(self) -> Tuple[str, ...]:
        """Options of regatta-annotate that make a trace for the paper's machine."""
        return suites.annotate_options(root, self.machine, self.warp_size, self.addresses)


def _load(path: Path) -> Dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise ReproductionError(f"cannot read '{path}': {e.strerror}") from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ReproductionError(f"{path}: {e}") from e


# --- reading ---

_text, _count, _names = "a text", "a whole number above 0", "a list of texts"
_suite_keys = {"paper": _text, "source": _text, "machine": _text, "warp_size": _count, "addresses": _count}
_program_keys = {"name": _text, "abbreviation": _text, "suite": _text, "class": _text, "group": _text,
                 "registers": _count, "block": _count, "shared_bytes": _count, "kernel": _text, "missing": _text,
                 "entries": _names}


def _fits(value: Any, kind: str) -> bool:
    if kind == _text:
        return isinstance(value, str) and value.strip() != ""
    if kind == _count:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    return isinstance(value, list) and value != [] and all(_fits(v, _text) for v in value)


def _checked(table: Dict[str, Any], keys: Dict[str, str], required: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ReproductionError(f"{where}: unknown key '{key}', expected {', '.join(keys)}")
    for key in required:
        if key not in table:
            raise ReproductionError(f"{where}: '{key}' is missing")
    for key, value in table.items():
        if not _fits(value, keys[key]):
            raise ReproductionError(f"{where}: {key}: found {value!r}, expected {keys[key]}")


class _Kernels:
    """Folders of kernels, and the entries of their PTX."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self._entries: Dict[str, List[str]] = {}

    def _ptx(self, kernel: str) -> Path:
        """The file that the launch file names."""
        return self.folder / kernel / _load(self.folder / kernel / "launch.toml")["ptx"]

    def check(self, kernel: str, entries: Sequence[str], where: str) -> None:
        if "/" in kernel or not (self.folder / kernel / "launch.toml").is_file():
            raise ReproductionError(f"{where}: kernel: '{kernel}' is no kernel, expected a folder of {self.folder} with "
                                    f"a launch.toml")
        if entries and kernel not in self._entries:
            self._entries[kernel] = entries_of(self._ptx(kernel))
        for entry in entries:
            if entry not in self._entries[kernel]:
                raise ReproductionError(f"{where}: entries: {self._ptx(kernel).name} has no entry '{entry}', expected some of "
                                        f"{', '.join(self._entries[kernel])}")


def read(path: Path, kernels: Path = kernels_folder) -> Suite:
    """A suite's file. Throws, naming file, program and key, when something in it is not as it should be."""
    path = Path(path)
    document = _load(path)
    programs = document.pop("program", None)
    of_paper_keys = {"paper", "source"}
    required = [k for k in _suite_keys if k not in of_paper_keys or of_paper_keys & set(document)]
    _checked(document, _suite_keys, required, str(path))
    if not (machines_folder / f"{document['machine']}.toml").is_file():
        known = sorted(p.stem for p in machines_folder.glob("*.toml"))
        raise ReproductionError(f"{path}: machine: found '{document['machine']}', expected one of {', '.join(known)}")
    for key, allowed in (("warp_size", (32, 64)), ("addresses", (32, 64))):
        if document[key] not in allowed:
            raise ReproductionError(f"{path}: {key}: found {document[key]}, expected {' or '.join(map(str, allowed))}")
    if not isinstance(programs, list) or not programs:
        raise ReproductionError(f"{path}: 'program' is missing, expected [[program]] tables")
    known_kernels = _Kernels(kernels)
    out: List[Program] = []
    for number, table in enumerate(programs, 1):
        where = f"{path}: program {number}"
        if not isinstance(table, dict):
            raise ReproductionError(f"{where}: found {table!r}, expected a table")
        if isinstance(table.get("name"), str):
            where += f" ({table['name']})"
        _checked(table, _program_keys, ["name"], where)
        if ("kernel" in table) == ("missing" in table):
            both = "both are there" if "kernel" in table else "both are missing"
            raise ReproductionError(f"{where}: 'kernel' or 'missing': {both}, expected one of them")
        if "entries" in table and "kernel" not in table:
            raise ReproductionError(f"{where}: 'entries' needs 'kernel'")
        if "kernel" in table:
            known_kernels.check(table["kernel"], table.get("entries", []), where)
        fields = {"paper_class" if k == "class" else k: v for k, v in table.items()}
        program = Program(**{**fields, "entries": tuple(table.get("entries", ()))})
        if any((p.name, p.abbreviation, p.group, p.entries) ==
               (program.name, program.abbreviation, program.group, program.entries) for p in out):
            raise ReproductionError(f"{where}: there is another program of this name, with the same abbreviation, group "
                                    f"and entries")
        out.append(program)
    return Suite(path.stem, programs=tuple(out), **document)


def names(folder: Path = suites_folder) -> List[str]:
    return sorted(p.stem for p in Path(folder).glob("*.toml"))


def of_paper(name: str) -> Suite:
    return read(suites_folder / f"{name}.toml")


def read_all(folder: Path = suites_folder, kernels: Path = kernels_folder) -> Dict[str, Suite]:
    """Those of papers."""
    return {name: s for name, s in _read_each(folder, kernels).items() if s.paper}


def own(folder: Path = suites_folder, kernels: Path = kernels_folder) -> Dict[str, Suite]:
    """Those of no paper."""
    return {name: s for name, s in _read_each(folder, kernels).items() if not s.paper}


def _read_each(folder: Path, kernels: Path) -> Dict[str, Suite]:
    return {name: read(Path(folder) / f"{name}.toml", kernels) for name in names(folder)}


# --- kernels ---

def kernel_names(folder: Path = kernels_folder) -> List[str]:
    """All kernels, those too that no paper measures."""
    return sorted(p.parent.name for p in Path(folder).glob("*/launch.toml"))


def kernels_beside_own(folder: Path = kernels_folder) -> List[str]:
    """All kernels but those that only suites of our own have."""
    of_papers = {k for s in read_all(kernels=folder).values() for k in s.kernels}
    own_kernels = {k for s in own(kernels=folder).values() for k in s.kernels}
    return [k for k in kernel_names(folder) if k in of_papers or k not in own_kernels]


def entries_of(ptx: Path) -> List[str]:
    """Names of a PTX file's kernels, in its order."""
    try:
        return re.findall(r"\.entry\s+([A-Za-z0-9_$]+)", Path(ptx).read_text(encoding="utf-8"))
    except OSError as e:
        raise ReproductionError(f"cannot read '{ptx}': {e.strerror}") from e


@dataclass(frozen=True)
class Shape:
    """A launch of a launch file, as far as its CTAs go."""
    entry: str
    threads: int
    dynamic_shared: int


def launches_of(path: Path) -> List[Shape]:
    document = _load(path)
    launches = document.get("launch", [document])
    out = []
    for launch in launches:
        threads = 1
        for n in launch["block"]:
            threads *= n
        out.append(Shape(launch["entry"], threads, launch.get("dynamic_shared", 0)))
    return out
