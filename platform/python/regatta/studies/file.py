# SPDX-License-Identifier: Apache-2.0
"""A study file: what is to be simulated. platform/python/STUDIES.md lists its tables and keys."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable

from . import documents
from .campaign import WRITES, Slurm
from .checks import GREATEST, Scalar, Table, name_from, shown
from .knobs import MOST_RUNS, Condition, Knob, condition, knobs, named_values
from .suites import kernels_of

# The study sets these itself, or every run would write the same file.
_TAKEN = {"--machine": "machines", "--scheme": "schemes", "--stats": "[results] statistics"}
_MOST_BYTES = 16 << 20
# At the top of the file or in [study]: after a table's header TOML has no way back to the top.
_BOTH = ("schemes", "machines", "options")
NO_RUN = ("--help", "--version", "--replay", "--describe-stats", "--hierarchy")


@dataclass(frozen=True)
class Program:
    """Either a trace, or a launch file and the options that annotate it."""
    name: str
    trace: Path | None = None
    launch: Path | None = None
    annotate: tuple[str, ...] = ()
    registers: tuple[Scalar, ...] = ()  # budgets that it is annotated with, one after the other; none: its own


@dataclass(frozen=True)
class Point:
    """Of [[points]]: knobs in full; without a scheme or machine, with each of the study."""
    schemes: tuple[str, ...]
    machines: tuple[str, ...]
    knobs: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True)
class Sample:
    count: int
    seed: int


@dataclass(frozen=True)
class Study:
    path: Path
    name: str
    seed: int
    repetitions: int
    seed_knob: str
    group_runs: int  # 0: by estimated time
    keep_traces: bool
    programs: tuple[Program, ...]
    schemes: tuple[str, ...]
    machines: tuple[str, ...]
    knobs: tuple[Knob, ...]
    points: tuple[Point, ...]
    sample: Sample | None
    options: tuple[str, ...]
    statistics: tuple[str, ...]  # patterns; "*": all
    slurm: Slurm = field(default_factory=Slurm)
    text: str = ""  # of the file

    @property
    def folder(self) -> Path:
        """Of everything that the study makes."""
        return self.path.parent / f"{self.name}.study"


_BUDGET = re.compile(r"\d+(:\d+(,\d+)*)?\Z")
_LEAST_REGISTERS, _MOST_REGISTERS = 16, 255


def _registers(table: Table, default: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Budgets of registers: numbers, or texts as regatta-annotate --registers takes them."""
    values = table.content.get("registers", list(default))
    expected = f"a list of numbers from {_LEAST_REGISTERS} to {_MOST_REGISTERS}, and of texts like \"168:24,240\""
    if not isinstance(values, list) or ("registers" in table.content and not values):
        table.fail("registers", shown(values), expected)
    for value in values:
        if isinstance(value, bool) or not (isinstance(value, int) and _LEAST_REGISTERS <= value <= _MOST_REGISTERS or
                                           isinstance(value, str) and _BUDGET.match(value)):
            table.fail("registers", shown(value), expected)
    table.distinct("registers", values)
    return tuple(values)


def _programs(top: Table, registers: tuple[Scalar, ...]) -> tuple[Program, ...]:
    tables = top.content.get("programs")
    if not isinstance(tables, list) or not tables:
        top.fail("programs", "nothing" if tables is None else shown(tables), "[[programs]] tables")
    found: list[Program] = []
    for number, content in enumerate(tables, 1):
        table = Table(top.file, f"[[programs]] {number}", content)
        kinds = [k for k in ("trace", "launch", "suite") if k in table.content]
        if len(kinds) != 1:
            table.fail("", " and ".join(kinds) or "none of them", "one of trace, launch and suite")
        table.only_keys({"trace": ("trace", "name"), "launch": ("launch", "name", "annotate", "registers"),
                         "suite": ("suite", "kernels", "small", "annotate", "registers")}[kinds[0]])
        own = _registers(table, registers)
        if own and any(word.split("=")[0] == "--registers" for word in table.words("annotate")):
            table.fail("annotate", "--registers", "registers = [...] to say it, or no registers of the study")
        if kinds == ["suite"]:
            found += [Program(name, launch=launch, annotate=options, registers=own)
                      for name, launch, options in kernels_of(table)]
            continue
        path = top.file.parent / table.text(kinds[0])
        if not path.is_file():
            table.fail(kinds[0], f"no file '{path}'", "a trace (.rgt)" if kinds == ["trace"] else "a launch file")
        if kinds == ["trace"]:
            found.append(Program(table.name("name", name_from(path.name.removesuffix(".rgt"))), trace=path))
        else:
            annotate = table.words("annotate")
            for option in ("--out", "-o", "--launch", "--report", "--listing"):
                if any(word == option or word.startswith(option + "=") for word in annotate):
                    table.fail("annotate", option, "options that do not name the trace or its launch file")
            default = path.parent.name if path.name.startswith("launch.") else path.stem
            found.append(Program(table.name("name", name_from(default)), launch=path, annotate=annotate, registers=own))
    names = [p.name for p in found]
    for index, name in enumerate(names):
        if name in names[:index]:
            top.fail("programs", f"two programs named '{name}'", "different names: add name = \"...\" to one of them")
    return tuple(found)


def _points(top: Table, schemes: tuple[str, ...], machines: tuple[str, ...]) -> tuple[Point, ...]:
    tables = top.content.get("points", [])
    if not isinstance(tables, list):
        top.fail("points", shown(tables), "[[points]] tables")
    found = []
    for number, content in enumerate(tables, 1):
        table = Table(top.file, f"[[points]] {number}", content)
        own = {k: (table.text(k),) if k in table.content else all_of_them
               for k, all_of_them in (("scheme", schemes), ("machine", machines))}
        rest = {k: v for k, v in table.content.items() if k not in own}
        values = tuple(named_values(Table(top.file, table.place, rest)))
        _refuse(top, table.place, (f"--{name}" for name, _ in values))
        found.append(Point(own["scheme"], own["machine"], values))
    return tuple(found)


def _refuse(top: Table, key: str, words: Iterable[str]) -> None:
    """Options that a study cannot pass on."""
    for word in words:
        name = word.split("=")[0]
        if name in _TAKEN:
            top.fail(key, name, f"{_TAKEN[name]} to say it")
        if name in WRITES:
            top.fail(key, name, "options that write no file: every run would write the same one")
        if name in NO_RUN:
            top.fail(key, name, "options of a simulation")


def _options(top: Table) -> tuple[str, ...]:
    words = top.words("options")
    _refuse(top, "options", words)
    return words


def _statistics(top: Table) -> tuple[str, ...]:
    table = Table(top.file, "results", top.content.get("results", {}))
    table.only_keys(("statistics",))
    return ("*",) if table.content.get("statistics") == "all" else table.texts("statistics", ())


def _slurm(top: Table) -> Slurm:
    table = Table(top.file, "slurm", top.content.get("slurm", {}))
    keys = ("partition", "account", "time", "memory")
    table.only_keys((*keys, "extra"))
    return Slurm(**{k: table.text(k) for k in keys if k in table.content}, extra=table.words("extra"))


#: The names that regatta-sim --list has, of "schemes" or "machines"; none: they are not known.
Names = Callable[[str], list[str]]


def read(path: str | Path, names: Names | None = None) -> Study:
    """Throws InputError for everything that is not as it should be. Without `names`, those of schemes and machines are not
    checked."""
    path = Path(path)
    content = documents.read(path, _MOST_BYTES)
    return check(documents.parsed(content, path), path.absolute(), content.decode("utf-8-sig"), names)


def _check_names(top: Table, schemes: tuple[str, ...], machines: tuple[str, ...], names: Names) -> None:
    """Before names are looked for in the conditions of knobs: there, the right ones would be blamed."""
    tables = top.content.get("points")
    points = [t for t in tables if isinstance(t, dict)] if isinstance(tables, list) else []
    for key, used in (("scheme", schemes), ("machine", machines)):
        known = names(f"{key}s")
        places = [(f"{key}s", name) for name in used]
        places += [(f"[[points]] {i}.{key}", t[key]) for i, t in enumerate(points, 1) if isinstance(t.get(key), str)]
        for place, name in places:
            if key == "machine" and _is_machine_file(name):
                continue
            for part in name.split("+") if key == "scheme" else [name]:
                if known and part not in known:
                    top.unknown(place, shown(part), part, known)


def _is_machine_file(machine: str) -> bool:
    return "/" in machine or machine.endswith(".toml")


def check(document: dict[str, Any], path: Path, text: str = "", names: Names | None = None) -> Study:
    """`path`: of the file with this text, absolute, or of one that could be in its place: paths are relative to it, and
    messages name it. Throws InputError."""
    top = Table(path, "", document)
    top.only_keys(("study", "programs", "schemes", "machines", "knobs", "points", "sample", "options", "results",
                   "slurm"))
    study = Table(path, "study", document.get("study", {}))
    for key in _BOTH:
        if key in study.content:
            if key in document:
                top.fail(key, f"{key} and study.{key}", "one of them")
            document[key] = study.content.pop(key)
    study.only_keys((*_BOTH, "registers", "name", "seed", "repetitions", "seed_knob", "group_runs", "keep_traces"))
    schemes, machines = top.texts("schemes", ("baseline",)), top.texts("machines", ("gtx980",))
    for machine in machines:
        if _is_machine_file(machine):
            if not (path.parent / machine).is_file():
                top.fail("machines", f"no file '{path.parent / machine}'", "a preset or a machine file")
    if names is not None:
        _check_names(top, schemes, machines, names)
    programs = _programs(top, _registers(study, ()))
    if "registers" in study.content:
        for program in programs:
            if program.trace is not None:
                study.fail("registers", f"budgets, but program '{program.name}' is a trace",
                           "launch files, which are annotated again for each budget")
    repetitions = study.whole("repetitions", 1, 1, MOST_RUNS)
    seed_knob = study.text("seed_knob") if "seed_knob" in study.content else ""
    if repetitions > 1 and not seed_knob:
        for program in programs:
            if program.trace is not None:
                study.fail("repetitions", f"{repetitions}, but program '{program.name}' is a trace",
                           "1, launch files (their inputs get other seeds), or a seed_knob: repetitions of a "
                           "simulation without one are all the same")
    sample = None
    if "sample" in document:
        table = Table(path, "sample", document["sample"])
        table.only_keys(("count", "seed"))
        if "count" not in table.content:
            table.fail("count", "nothing", "a number of points")
        sample = Sample(table.whole("count", 1, 1, MOST_RUNS), table.whole("seed", study.whole("seed", 1, 0), 0))
    all_knobs = knobs(Table(path, "knobs", document.get("knobs", {})), schemes, machines)
    _refuse(top, "knobs", (f"--{knob.name}" for knob in all_knobs))
    if sample is None:
        for knob in all_knobs:
            if knob.is_range:
                top.fail(f"knobs.{knob.name}", "a range (low, high)",
                         "a list or from, to, steps; or [sample] count = N for random points")
    elif not all_knobs:
        top.fail("sample", "a sample without knobs", "[knobs] to draw from")
    name = study.name("name", name_from(path.name.removesuffix(".toml")))
    return Study(path, name, study.whole("seed", 1, 0, GREATEST - MOST_RUNS), repetitions, seed_knob,
                 study.whole("group_runs", 0, 0), study.flag("keep_traces", True), programs, schemes, machines, all_knobs,
                 _points(top, schemes, machines), sample, _options(top), _statistics(top), _slurm(top), text)


__all__ = ["Condition", "Knob", "Point", "Program", "Sample", "Slurm", "Study", "WRITES", "check", "condition", "read"]
