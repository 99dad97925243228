# SPDX-License-Identifier: Apache-2.0
"""A study from Python, and its results as frames."""

from __future__ import annotations

import operator
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, SupportsIndex, Tuple, Union

from .. import tools
from ..statistics import InputError, Run
from ..traces import Trace

if TYPE_CHECKING:
    from ..frames import DataFrame
    from .plan import Plan
    from .show import Results

# Keys of [study], which the keyword form has beside the tables.
_OF_STUDY = ("name", "seed", "repetitions", "seed_knob", "group_runs", "keep_traces", "registers")
_FIRST = ("program", "scheme", "machine")
_LAST = ("seed", "repetition", "state", "status", "message", "cycles", "warp_instructions", "thread_instructions", "ipc",
         "energy_nj", "dynamic_nj", "static_nj")


class StudyResult:
    """A study's runs and results. `folder`: NAME.study, with the files that README.md lists.

    Frames (they need pandas) have one row per run, with the run's number as index.
    """

    def __init__(self, plan: Plan):
        from .outcome import ended
        self._plan = plan
        self._known = ended(plan)
        self.folder: Path = plan.folder

    def __len__(self) -> int:
        """Runs of the study, in whatever state."""
        return len(self._plan.runs)

    def __repr__(self) -> str:
        finished = sum(o.status == 0 for o in self._known.values())
        return f"<StudyResult {self._plan.study.name}: {finished} of {len(self)} runs finished>"

    @property
    def runs(self) -> DataFrame:
        """program, scheme, machine; a column per knob (None: the knob does not apply to this run); seed, repetition; state
        (finished, failed, missing), exit status and message; cycles, warp_instructions, thread_instructions, ipc,
        energy_nj, dynamic_nj, static_nj (None unless finished)."""
        from ..frames import frame
        knobs = self._knobs()
        with self._results() as results:
            rows = results.ask(f"SELECT id, {', '.join(_FIRST + _LAST)} FROM runs ORDER BY id")
        values = {run.id: dict(run.axes) for run in self._plan.runs}
        first = 1 + len(_FIRST)
        whole = (*knobs, "status", "cycles", "warp_instructions", "thread_instructions")
        return frame([[*row[:first], *(values[row[0]].get(k) for k in knobs), *row[first:]] for row in rows],
                     ["run", *_FIRST, *knobs, *_LAST], whole).set_index("run")

    @property
    def statistics(self) -> DataFrame:
        """The statistics that the study keeps ([results] statistics), a row each: run, module, name, value."""
        from ..frames import frame
        with self._results() as results:
            rows = results.ask("SELECT run, module, name, value FROM statistics ORDER BY run, module, name")
        return frame(rows, ["run", "module", "name", "value"])

    @property
    def failures(self) -> DataFrame:
        """The rows of `runs` that are not finished: program, scheme, machine, knobs, state, status, message."""
        runs = self.runs
        return runs[runs["state"] != "finished"][[*_FIRST, *self._knobs(), "state", "status", "message"]]

    def best(self, by: str = "cycles", most: bool = False, rows: int = 1) -> DataFrame:
        """Of each program the `rows` best finished runs, best first.

        `by`: cycles, energy_nj, ipc ..., or a statistic that the study keeps, summed over the modules that match:
        "sm*.l1.read_misses". `most`: great values are best. Columns: program, scheme, machine, knobs, the value, and
        `of_first`, the value over that of the program's first finished run (None if that is 0). Throws InputError for an
        unknown statistic.
        """
        found = self._finished(by)
        first = found.groupby("program")[by].transform("first")
        found["of_first"] = (found[by] / first).where(first != 0)
        order = list(dict.fromkeys(run.program for run in self._plan.runs))
        found = found.sort_values(by, ascending=not most, kind="stable")
        found = found.sort_values("program", key=lambda column: column.map(order.index), kind="stable")
        return found.groupby("program", sort=False).head(rows)[[*_FIRST, *self._knobs(), by, "of_first"]]

    def pivot(self, index: Union[str, Sequence[str]], columns: Union[str, Sequence[str]], by: str = "cycles",
              aggregate: Optional[str] = None) -> DataFrame:
        """A table of a result: `index` and `columns` are program, scheme, machine, repetition or knobs; `by` as of best().

        Runs that share a cell are an error unless `aggregate` says what to do with them: "mean", "min", "max" ...
        Runs to which a knob of `index` or `columns` does not apply have the value "-" there. Throws InputError.
        """
        names = [[n] if isinstance(n, str) else list(n) for n in (index, columns)]
        known = (*_FIRST, "seed", "repetition", *self._knobs())
        for name in names[0] + names[1]:
            if name not in known:
                raise InputError(f"pivot: found '{name}', expected one of {', '.join(known)}")
        found = self._finished(by)
        for name in names[0] + names[1]:
            found[name] = found[name].astype(object).where(found[name].notna(), "-")
        if aggregate is None:
            double = found[found.duplicated(names[0] + names[1], keep=False)]
            if len(double):
                vary = [k for k in known if double[k].nunique(dropna=False) > 1 and k not in names[0] + names[1]]
                raise InputError(f"pivot: found {len(double)} runs that share cells ({', '.join(vary) or 'alike'} vary), "
                                 f"expected one run per cell: name more of these, or say aggregate=\"mean\"")
        return found.pivot_table(index=names[0], columns=names[1], values=by, aggfunc=aggregate or "first", sort=False)

    def load(self, run: SupportsIndex) -> Run:
        """The whole results of a finished run, by its number. Throws InputError, or RunFailed for a failed run."""
        from .outcome import statistics
        number = operator.index(run)
        found = next((r for r in self._plan.runs if r.id == number), None)
        if found is None:
            raise InputError(f"load: found run {number}, expected 1 to {len(self)}")
        outcome = self._known.get(number)
        if outcome is None:
            raise InputError(f"load: run {number} ({found.what}) has not ended, expected a finished run")
        if outcome.status != 0:
            raise tools.RunFailed("regatta-sim", outcome.status, outcome.message, f"run {number}, {found.what}")
        return Run(statistics(self._plan, found), found.what)

    def _results(self) -> Results:
        from .show import Results
        path = self.folder / "results.sqlite"
        with Results(path) as results:
            keys = [key for key, in results.ask("SELECT key FROM runs ORDER BY id")]
        if keys != [run.key for run in self._plan.runs]:
            raise InputError(f"{self.folder}: found the results of other runs: this study was changed and made again since; "
                             f"expected those of this StudyResult, which regatta.study() makes anew")
        return Results(path)

    def _knobs(self) -> List[str]:
        return list(dict.fromkeys(k for run in self._plan.runs for k, _ in run.axes))

    def _finished(self, by: str) -> DataFrame:
        """Finished runs with a column `by`."""
        runs = self.runs
        with self._results() as results:
            values = results.values(by, "by")
        found = runs[runs.index.isin(list(values))].copy()
        found[by] = [values[number] for number in found.index]
        return found


def study(file_or_tables: Union[tools.PathLike, Mapping[str, Any], None] = None, /, *, jobs: Optional[int] = None,
          slurm: Union[bool, Mapping[str, Any]] = False, folder: Optional[tools.PathLike] = None, retry: bool = False,
          fail_fast: bool = False, quiet: bool = False, bin: Optional[tools.PathLike] = None,  # noqa: A002
          snakemake: str = "snakemake", **tables: Any) -> StudyResult:
    """Makes what is missing of a study, as `regatta-study run`, and returns its results.

    The study is a file, or a mapping with the tables and keys of a study file (README.md, "A study file"), or these as
    keywords: programs=["k.rgt"], schemes=["baseline", "wir"], knobs={"l1.ways": [2, 4]}. The keys of [study] (name, seed,
    repetitions ...) may stand among them. A program may be a path (trace or launch file) or a Trace in place of a table.
    Without a file, paths are relative to `folder` (default: the current one), and NAME.study is made there (default name:
    study).

    `jobs`: runs at a time (default: one per core); with `slurm`: jobs in the queue. `slurm`: True, or the options of [slurm].
    `retry`: makes failed runs again. `fail_fast`: starts no further run after a failed one. `quiet`: no progress. `bin`: the
    folder of regatta's programs.

    Throws InputError for a mistake in the study, before any run, and if jobs are lost (the same call makes the rest).
    Failed runs are results: see StudyResult.failures. Ctrl-C ends all runs; finished ones are kept, and the same call makes
    the rest. Needs Python 3.11; with `slurm`, Snakemake 7.
    """
    tools.need_python("regatta.study")
    from . import engine
    from .campaign import Tools
    from .complete import complete
    from .plan import Plan
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs: found {jobs}, expected 1 or more")
    def programs() -> Tools:
        return Tools(tools.find("regatta-sim", bin), tools.find("regatta-annotate", bin))

    found = _study(file_or_tables, tables, slurm, folder, lambda kind: programs().names(kind))
    plan = Plan(found, programs())

    def tell(text: str) -> None:
        if not quiet:
            print(text, flush=True)

    settings = engine.Settings(jobs or os.cpu_count() or 1, bool(slurm), fail_fast, retry, not quiet, snakemake)
    _, lost = complete(plan, settings, tell, lambda text: warnings.warn(text, stacklevel=3))
    if lost:
        raise InputError(lost[0])
    return StudyResult(plan)


def _study(given: Union[tools.PathLike, Mapping[str, Any], None], tables: Dict[str, Any],
           slurm: Union[bool, Mapping[str, Any]], folder: Optional[tools.PathLike], names: Callable[[str], List[str]]) -> Any:
    from .file import check, read
    if given is not None and not isinstance(given, Mapping):
        if tables or folder is not None or isinstance(slurm, Mapping):
            raise InputError(f"{os.fspath(given)}: found a file and {', '.join([*tables][:3]) or 'folder or slurm options'}, "
                             f"expected these in the file")
        return read(os.fspath(given), names)
    document = _plain({**(given or {}), **tables, **({"slurm": slurm} if isinstance(slurm, Mapping) else {})})
    own = document.setdefault("study", {})
    if isinstance(own, dict):
        own.update({key: document.pop(key) for key in _OF_STUDY if key in document})
        own.setdefault("name", "study")
    programs = document.get("programs")
    if isinstance(programs, list):
        document["programs"] = [_program(p) for p in programs]
    name = own.get("name") if isinstance(own, dict) else "study"
    return check(document, Path(folder or ".").absolute() / f"{name} (dictionary)", names=names)


def _program(given: Any) -> Any:
    """A path as a table; a table as it is."""
    if not isinstance(given, str):
        return given
    return {"launch" if given.endswith(".toml") else "trace": given}


def _plain(value: Any) -> Any:
    """As TOML would give it: tuples, ranges, paths and numbers of numpy become lists, texts and numbers."""
    if isinstance(value, Trace):
        return {"trace": str(value.path), "name": _name(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(v) for v in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return value


def _name(trace: Trace) -> str:
    from .checks import name_from
    return name_from(trace.name)


__all__: Tuple[str, ...] = ("StudyResult", "study")
