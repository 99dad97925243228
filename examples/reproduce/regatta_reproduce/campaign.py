# SPDX-License-Identifier: Apache-2.0
"""Traces and simulations: each made once, several at a time, resumable.

A result is kept under a key of everything that it depends on: the program's bytes, its options, the launch file, the
PTX and data files that it names. So a campaign that was interrupted goes on where it was, one after a change of the
tools starts anew, and none is ever out of date. Traces are large and are thrown away when the simulations that need
them are done (unless kept); they are no part of what is kept, for the key of a simulation is that of its trace's making.
"""

import csv
import hashlib
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import ReproductionError
from .progress import Progress
from .tools import ToolFailure, Tools, digest_of_file

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

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


@dataclass(frozen=True)
class Accesses:
    """Cycles in which a warp accesses each of its registers, out of --pipeline: those in which an instruction has all
    its operands (reads) or is written back."""
    launch: int
    cta: int = 0
    warp: int = 0


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


def _files_named_in(document: Any, folder: Path) -> List[Path]:
    """Files that a launch file refers to, whatever the key: every text in it that is the name of a file beside it."""
    found: List[Path] = []
    if isinstance(document, dict):
        for value in document.values():
            found += _files_named_in(value, folder)
    elif isinstance(document, list):
        for value in document:
            found += _files_named_in(value, folder)
    elif isinstance(document, str) and document and "\0" not in document and (folder / document).is_file():
        found.append(folder / document)
    return found


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Campaign:
    """Runs asked for by add() and made by execute()."""

    def __init__(self, tools: Tools, work: Path, jobs: int, keep_traces: bool = False, progress: bool = True):
        if jobs < 1:
            raise ReproductionError(f"--jobs: found {jobs}, expected at least 1")
        self.tools = tools
        self.jobs = jobs
        self.keep_traces = keep_traces
        self.results_folder = Path(work) / "results"
        self.traces_folder = Path(work) / "traces"
        self.show_progress = progress
        self._runs: Dict[Tuple[str, str], Run] = {}
        self._inputs: Dict[Path, List[List[str]]] = {}

    def add(self, run: Run) -> None:
        """A run is known by its trace's kernel and its name."""
        key = (run.trace.kernel, run.name)
        if self._runs.get(key, run) != run:
            raise ReproductionError(f"two different runs of {run.trace.kernel} are called '{run.name}'")
        self._runs[key] = run

    # --- keys ---

    def trace_key(self, trace: Trace) -> str:
        if trace.launch not in self._inputs:
            try:
                with open(trace.launch, "rb") as f:
                    document = tomllib.load(f)
            except OSError as e:
                raise ReproductionError(f"cannot read '{trace.launch}': {e.strerror}") from e
            except tomllib.TOMLDecodeError as e:
                raise ReproductionError(f"{trace.launch}: {e}") from e
            files = sorted(set(_files_named_in(document, trace.launch.parent)) | {trace.launch})
            self._inputs[trace.launch] = [[f.name, digest_of_file(f)] for f in files]
        return _digest({"annotate": self.tools.digest("regatta-annotate"), "inputs": self._inputs[trace.launch],
                        "options": trace.options})

    def run_key(self, run: Run) -> str:
        samples = None if run.samples is None else [run.samples.every, run.samples.columns]
        parts = {"trace": self.trace_key(run.trace), "sim": self.tools.digest("regatta-sim"), "options": run.options,
                 "samples": samples}
        if run.accesses is not None:
            parts["accesses"] = [run.accesses.launch, run.accesses.cta, run.accesses.warp]
        if run.tables:
            parts["tables"] = run.tables
        return _digest(parts)

    # --- what is kept ---

    def _kept(self, run: Run) -> Optional[Result]:
        try:
            with open(self.results_folder / f"{self.run_key(run)}.json", encoding="utf-8") as f:
                d = json.load(f)
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return Result(run, d["stats"], d["samples"], d["report"], d["refused"], d.get("accesses"), d.get("tables", {}))

    def _keep(self, result: Result) -> None:
        self.results_folder.mkdir(parents=True, exist_ok=True)
        path = self.results_folder / f"{self.run_key(result.run)}.json"
        partial = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.part")
        with open(partial, "w", encoding="utf-8") as f:
            json.dump({"stats": result.stats, "samples": result.samples, "report": result.report,
                       "refused": result.refused, "accesses": result.accesses, "tables": result.tables}, f)
        os.replace(partial, path)

    # --- making ---

    def execute(self) -> Dict[Tuple[str, str], Result]:
        """All runs' results by (kernel, name). Throws, when all that can be made is, if some failed."""
        results: Dict[Tuple[str, str], Result] = {}
        missing: Dict[Trace, List[Run]] = {}
        for key, run in self._runs.items():
            kept = self._kept(run)
            if kept is not None:
                results[key] = kept
            else:
                missing.setdefault(run.trace, []).append(run)
        count = sum(len(runs) for runs in missing.values())
        progress = Progress(count, len(results), self.show_progress)
        failures: List[str] = []
        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            # One trace at a time and worker: as few traces on disk as there are workers.
            futures = [pool.submit(self._make, trace, runs, progress) for trace, runs in missing.items()]
            try:
                for future in as_completed(futures):
                    made, failed = future.result()
                    failures += failed
                    for result in made:
                        results[(result.run.trace.kernel, result.run.name)] = result
            except BaseException:
                self.tools.stop()
                for future in futures:
                    future.cancel()
                raise
        progress.finish()
        if failures:
            shown = "\n  ".join(failures[:12])
            more = f"\n  and {len(failures) - 12} more" if len(failures) > 12 else ""
            raise ReproductionError(f"{len(failures)} of {len(self._runs)} runs failed; the others are kept and will "
                                    f"not be made again:\n  {shown}{more}")
        return results

    def _make(self, trace: Trace, runs: Sequence[Run], progress: Progress) -> Tuple[List[Result], List[str]]:
        made: List[Result] = []
        failed: List[str] = []
        try:
            path, report = self._annotate(trace, progress)
        except ToolFailure as e:
            for run in runs:
                progress.done(run.what, "its trace failed")
            return made, [str(e)]
        try:
            for run in runs:
                begin = time.monotonic()
                try:
                    result = self._simulate(run, path)
                    result.report = report
                except ToolFailure as e:
                    if not (e.status == 2 and run.may_be_refused):
                        failed.append(str(e))
                        progress.done(run.what, "failed")
                        continue
                    result = Result(run, report=report, refused=e.message)
                self._keep(result)
                made.append(result)
                progress.done(run.what, f"{time.monotonic() - begin:.1f} s")
        finally:
            if not self.keep_traces:
                path.unlink(missing_ok=True)
                path.with_suffix(".report.json").unlink(missing_ok=True)
        return made, failed

    def _annotate(self, trace: Trace, progress: Progress) -> Tuple[Path, Dict[str, Any]]:
        self.traces_folder.mkdir(parents=True, exist_ok=True)
        path = (self.traces_folder / f"{trace.kernel}-{self.trace_key(trace)[:16]}.rgt").resolve()
        report = path.with_suffix(".report.json")
        if not (path.exists() and report.exists()):
            progress.begin(f"annotating {trace.kernel}")
            self.tools.run("regatta-annotate",
                           ["--launch", str(trace.launch.resolve()), "--out", str(path), "--report", str(report)] +
                           list(trace.options), f"{trace.kernel} {' '.join(trace.options)}".strip())
        with open(report, encoding="utf-8") as f:
            return path, json.load(f)

    def _simulate(self, run: Run, trace: Path) -> Result:
        scratch = trace.parent / f"{self.run_key(run)[:24]}"
        stats = scratch.with_suffix(".stats.json")
        sampled = scratch.with_suffix(".samples.csv")
        arguments = [str(trace), "--stats", str(stats)] + list(run.options)
        if run.samples is not None:
            arguments += ["--sample", str(run.samples.every), "--sample-file", str(sampled)]
        pipeline = scratch.with_suffix(".kanata")
        if run.accesses is not None:
            arguments += ["--pipeline", str(pipeline), "--pipeline-ctas", f"{run.accesses.cta}:{run.accesses.cta}"]
        tables = {name: scratch.with_suffix(f".{name}.csv") for name, _ in run.tables}
        for name, option in run.tables:
            arguments += [option, str(tables[name])]
        try:
            self.tools.run("regatta-sim", arguments, run.what)
            with open(stats, encoding="utf-8") as f:
                document = json.load(f)
            # Of the host and of where the trace lay; all else is the same wherever it is made.
            document.pop("host", None)
            document["trace"] = run.trace.kernel
            samples = None if run.samples is None else read_samples(sampled, run.samples)
            accesses = None if run.accesses is None else read_accesses(pipeline, run.accesses)
            return Result(run, document, samples, accesses=accesses,
                          tables={name: read_table(path) for name, path in tables.items()})
        finally:
            for path in (stats, sampled, pipeline, *tables.values()):
                path.unlink(missing_ok=True)


def read_table(path: Path) -> Dict[str, List[float]]:
    """The columns of a file of numbers, by title."""
    with open(path, newline="", encoding="utf-8") as f:
        header, *rows = csv.reader(f)
    return {title: [float(row[i]) for row in rows] for i, title in enumerate(header)}


def read_samples(path: Path, wanted: Samples) -> Dict[str, List[float]]:
    """{"cycle": [...], name: [...]}: for each wanted name the sum of the columns that it names."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = csv.reader(f)
        header = next(rows)
        places: Dict[str, List[int]] = {}
        for name, columns in wanted.columns:
            places[name] = [i for i, title in enumerate(header)
                            if any(title == c or title.endswith("." + c) for c in columns)
                            and not title.startswith("total.")]
            if not places[name]:
                raise ReproductionError(f"no counter of the run is called {' or '.join(columns)}")
        cycle = header.index("cycle")
        out: Dict[str, List[float]] = {"cycle": []}
        out.update({name: [] for name in places})
        for row in rows:
            out["cycle"].append(int(row[cycle]))
            for name, columns in places.items():
                out[name].append(sum(int(row[i]) for i in columns))
    return out


def read_accesses(path: Path, wanted: Accesses) -> Dict[str, List[int]]:
    """{"life": [first cycle, last cycle], "R1": [...]}: of one warp, from a file for the viewer Konata. Its second
    label names destinations and sources, "launch 1, slot 0, unit sp, R4 <- R4 R6, PTX line 74"."""
    cycle = 0
    ours: Dict[str, Tuple[List[str], List[str]]] = {}  # of instructions under way: registers written, and read
    mine: set = set()
    found: Dict[str, set] = {}
    life: List[int] = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            what, *fields = line.rstrip("\n").split("\t")
            if what == "C=":
                cycle = int(fields[0])
            elif what == "C":
                cycle += int(fields[0])
            elif what == "L" and fields[1] == "0":
                if f" CTA {wanted.cta} warp {wanted.warp}:" in fields[2]:
                    mine.add(fields[0])
            elif what == "L" and fields[0] in mine:
                parts = fields[2].split(", ")
                if parts[0] != f"launch {wanted.launch}":
                    mine.discard(fields[0])
                    continue
                registers = next((p for p in parts[3:] if "R" in p and not p.startswith("PTX")), "")
                written, _, read = registers.partition("<-")
                ours[fields[0]] = (written.split(), read.split())
            elif what in ("S", "E") and fields[0] in ours:
                life = [life[0] if life else cycle, cycle]
                at = {("E", "O"): 1, ("S", "W"): 0}.get((what, fields[2]))
                if at is not None:
                    for register in ours[fields[0]][at]:
                        found.setdefault(register, set()).add(cycle)
    if not life:
        raise ReproductionError(f"launch {wanted.launch} has no CTA {wanted.cta} with a warp {wanted.warp}")
    return {"life": life, **{r: sorted(c) for r, c in sorted(found.items(), key=lambda i: int(i[0][1:]))}}
