# SPDX-License-Identifier: Apache-2.0
"""A page's simulations: what a page asks for, and what it gets. The package regatta makes them, each once, resumable
(regatta.studies): it knows them by their content, so pages that ask for the same share it, and a change of the tools, of a
launch file or of what that names makes anew what it concerns. Traces are large and are thrown away when the simulations that
need them are done (unless kept)."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from regatta.statistics import InputError
from regatta.studies import campaign, engine, outcome
from regatta.studies.campaign import Keep, Simulation, Tools

from . import ReproductionError

Options = Tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """A launch file annotated with some options."""
    kernel: str
    launch: Path
    options: Options = ()


@dataclass(frozen=True)
class Samples:
    """Columns of --sample-file to be kept: the sum of those that end so, by a name of ours."""
    every: int
    columns: Tuple[Tuple[str, Tuple[str, ...]], ...]

    @property
    def keep(self) -> Keep:
        return Keep("samples", ("--sample", str(self.every), "--sample-file", "{file}"), "sums",
                    {name: list(columns) for name, columns in self.columns})


@dataclass(frozen=True)
class Accesses:
    """Cycles in which a warp accesses each of its registers, out of --pipeline: those in which an instruction has all
    its operands (reads) or is written back."""
    launch: int
    cta: int = 0
    warp: int = 0

    @property
    def keep(self) -> Keep:
        return Keep("accesses", ("--pipeline", "{file}", "--pipeline-ctas", f"{self.cta}:{self.cta}"), "accesses",
                    {"launch": self.launch, "cta": self.cta, "warp": self.warp})


@dataclass(frozen=True)
class Run:
    """A simulation. `name` is what tables call it; it is no part of the key."""
    name: str
    trace: Trace
    options: Options = ()
    samples: Optional[Samples] = None
    accesses: Optional[Accesses] = None
    tables: Tuple[Tuple[str, str], ...] = ()  # a name of ours and the option that writes it: CSV of numbers, all kept
    may_be_refused: bool = False  # status 2 is a result then: "this does not fit"

    @property
    def what(self) -> str:
        return f"{self.trace.kernel} ({self.name})"

    @property
    def keeps(self) -> Tuple[Keep, ...]:
        found = [x.keep for x in (self.samples, self.accesses) if x is not None]
        return (*found, *(Keep(f"tables/{name}", (option, "{file}")) for name, option in self.tables))


@dataclass
class Result:
    """What became of a run: its stats.json, or why it was refused."""
    run: Run
    stats: Optional[Dict[str, Any]] = None
    samples: Optional[Dict[str, List[float]]] = None
    report: Optional[Dict[str, Any]] = None  # of the annotation
    refused: str = ""
    accesses: Optional[Dict[str, List[int]]] = None  # by register; "life": the warp's first and last cycle
    tables: Dict[str, Dict[str, List[float]]] = field(default_factory=dict)  # by name, columns by title


@dataclass(frozen=True, kw_only=True)
class _Simulation(Simulation):
    run: Run


class Campaign:
    """Runs asked for by add() and made by execute(). `work`/`name` holds what is needed meanwhile, `work`/results the
    results of all pages."""

    def __init__(self, tools: Tools, work: Path, name: str, settings: engine.Settings, keep_traces: bool = False):
        if settings.jobs < 1:
            raise ReproductionError(f"--jobs: found {settings.jobs}, expected at least 1")
        work = Path(work).resolve()
        self._settings = settings
        self._made = campaign.Campaign(name, work / name, work, tools, work / "results", keep_traces)
        self._runs: Dict[Tuple[str, str], Run] = {}
        self._found: Dict[Run, Result] = {}

    def add(self, run: Run) -> None:
        """A run is known by its trace's kernel and its name."""
        key = (run.trace.kernel, run.name)
        if self._runs.get(key, run) != run:
            raise ReproductionError(f"two different runs of {run.trace.kernel} are called '{run.name}'")
        self._runs[key] = run

    def execute(self) -> Dict[Tuple[str, str], Result]:
        """All runs' results by (kernel, name). Throws, when all that can be made is, if some failed."""
        made = self._made
        # Those of a trace after one another: it can be removed soon.
        traces = {trace: None for trace in (run.trace for run in self._runs.values())}
        order = [run for trace in traces for run in self._runs.values() if run.trace == trace]
        made.runs = [self._simulation(number, run) for number, run in enumerate(order, 1)]
        with engine.locked(made.folder, "this page is being made already"):
            known = self._read()
            made.keep_digests()
            todo = engine.missing(made, known, retry=True)
            if todo:
                engine.make(made, todo, known, self._settings, self._tell)
                known = self._read()
        self._refuse_failures(known)
        return {key: self._found[run] for key, run in self._runs.items()}

    def _read(self) -> Dict[int, outcome.Outcome]:
        """What became of runs, by their number; reads the results that are new. A damaged file is removed: the run is made
        again."""
        known = outcome.ended(self._made)
        for s in self._made.runs:
            if s.id in known and known[s.id].is_result(s) and s.run not in self._found:
                try:
                    self._found[s.run] = self._result(s, known[s.id])
                except InputError:
                    self._made.marker(s).unlink(missing_ok=True)
                    del known[s.id]
        return known

    def _simulation(self, number: int, run: Run) -> _Simulation:
        trace = self._made.trace(run.trace.kernel, run.trace.launch.resolve(), run.trace.options, report=True)
        return _Simulation(id=number, key=self._made.run_key(trace, run.options, run.keeps), program=run.trace.kernel,
                           arguments=(str(trace.path), *run.options), trace=trace, keeps=run.keeps,
                           accepted=(0, 2) if run.may_be_refused else (0,), run=run)

    def _tell(self, text: str) -> None:
        if self._settings.shown:
            print(text, file=sys.stderr, flush=True)

    def _refuse_failures(self, known: Dict[int, outcome.Outcome]) -> None:
        failed = [s for s in self._made.runs if not known[s.id].is_result(s)]
        if not failed:
            return
        told: Dict[str, None] = {}
        for s in failed:
            o, program, what = known[s.id], "regatta-sim", s.run.what
            if o.no_trace:  # once for all runs of the trace
                program, what = "regatta-annotate", " ".join((s.run.trace.kernel, *s.run.trace.options))
            message = o.message.removeprefix("no trace: regatta-annotate: ")
            told[f"{program} ended with status {o.status} on {what}: {message}"] = None
        lines = list(told)
        shown = "\n  ".join(lines[:12])
        more = f"\n  and {len(lines) - 12} more" if len(lines) > 12 else ""
        raise ReproductionError(f"{len(failed)} of {len(self._runs)} runs failed; the others are kept and will not be made "
                                f"again:\n  {shown}{more}")

    def _result(self, simulation: _Simulation, ended: outcome.Outcome) -> Result:
        document, kept = outcome.result(self._made, simulation)
        if document is not None:
            # Of the host and of where the trace lay; all else is the same wherever it is made.
            document.pop("host", None)
            document["trace"] = simulation.run.trace.kernel
        tables = {name.partition("/")[2]: columns for name, columns in kept.items() if name.startswith("tables/")}
        return Result(simulation.run, document, kept.get("samples"), kept.get("report"), ended.message,
                      kept.get("accesses"), tables)
