# SPDX-License-Identifier: Apache-2.0
"""One trace or one run: the keys, jobs, workers and files of studies, in a folder of their own.

The worker is a process: Ctrl-C in the calling program ends it, and with it the program that it runs.
"""

import contextlib
import copy
import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tools
from ..statistics import InputError
from . import engine, jobs
from .campaign import Campaign, Keep, Simulation, Tools, Trace
from .checks import Scalar, Table, name_from, option_text
from .file import NO_RUN, WRITES, Program
from .knobs import named_values
from .outcome import outcome, result
from .pool import Pool

# They are read and written as a whole, by any thread.
_digests = threading.Lock()
# A cached trace comes without the files that these would write, or is no trace at all.
_NO_TRACE = ("out", "launch", "trace", "report", "listing", "dump_buffer", "check", "entry", "list_instructions", "help", "version")


@dataclass(frozen=True)
class Made:
    path: Path
    name: str


@dataclass(frozen=True)
class Result:
    """`kept`: what was asked for beside the statistics, by the name of the Keep."""
    document: dict[str, Any]
    what: str
    kept: dict[str, Any]


def option_words(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Options of regatta-annotate from keywords: rfh=3, region_registers=48, for_="all"."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")  # "for" is a word of Python's
        if name in _NO_TRACE:
            raise InputError(f"annotate: {name}: found an option without a trace or for a further file, expected others; "
                             f"run regatta-annotate {option} itself")
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is True:
                words.append(option)
            elif v is not None and v is not False:
                words.append(f"{option}={os.fspath(v) if isinstance(v, os.PathLike) else v}")
    return tuple(words)


def absolute(path: tools.PathLike) -> Path:
    file = Path(path)
    return file.resolve() if ".." in file.parts else file.absolute()


def program(path: tools.PathLike, words: tuple[str, ...] = (), name: str = "") -> Program:
    """Of a trace, or of a launch file (.toml), which the words annotate."""
    file = absolute(path)
    is_launch = file.suffix == ".toml"
    if not file.is_file():
        raise InputError(f"{file}: found no file, expected a trace (.rgt) or a launch file (.toml)")
    if words and not is_launch:
        raise InputError(f"{file}: annotate: found options, expected none with a trace: it is annotated already")
    if not name:
        name = file.parent.name if file.name.startswith("launch.") else file.name.removesuffix(file.suffix)
    name = name_from(name)
    return Program(name, launch=file, annotate=words) if is_launch else Program(name, trace=file)


def _campaign(cache: Path, folder: tools.PathLike | None) -> Campaign:
    """Of one run or trace, whose files are in the cache. Relative paths are those of the current folder."""
    programs = Tools(tools.find("regatta-sim", folder), tools.find("regatta-annotate", folder))
    return Campaign("cache", cache, Path.cwd(), programs, cache / "runs")


def _work(job: jobs.Job, parts: Path) -> None:
    """Does a job by a worker. `parts`: the folder in which that leaves parts of files if it is ended."""
    workers = Pool(1)
    try:
        workers.begin("", job)
        while not (ended := workers.wait()):
            pass
    finally:
        workers.end()
        engine.remove_scratch(parts)
    if error := ended[0][2]:
        raise InputError(f"{parts}: nothing was made: {error}")


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Only one process, and one thread of it, at a time. The file is there meanwhile."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with open(lock, "a", encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            try:
                is_ours = os.path.samestat(os.fstat(f.fileno()), os.stat(lock))
            except FileNotFoundError:
                is_ours = False
            if is_ours:  # or who had it has removed it
                try:
                    yield
                finally:
                    lock.unlink(missing_ok=True)
                return


def _make_trace(campaign: Campaign, trace: Trace) -> None:
    """Makes the trace if it is not there. A failure is no result here: it is tried again."""
    record = jobs.made(trace)
    if record is None or record["status"] != 0:
        # Whoever made it a second time would take it away from those who read it.
        with _alone(trace.path.with_suffix(".lock")):
            record = jobs.made(trace)
            if record is None or record["status"] != 0:
                _work(jobs.of_trace(campaign, trace), trace.path.parent)
                record = jobs.made(trace)
    if record is None:
        raise InputError(f"{trace.path}: found no trace after its making, expected nobody else to remove it")
    if record["status"] != 0:
        trace.path.unlink(missing_ok=True)
        raise tools.RunFailed("regatta-annotate", int(record["status"]), str(record["message"]), str(trace.source))


def annotate(launch: tools.PathLike, words: tuple[str, ...], cache: tools.PathLike | None,
             folder: tools.PathLike | None) -> Made:
    """The trace of a launch file, made if it is not in the cache."""
    of = program(launch, words)
    if of.launch is None:
        raise InputError(f"{launch}: found no launch file, expected one (.toml)")
    campaign = _campaign(tools.cache_folder() if cache is None else Path(cache).absolute(), folder)
    with _digests:
        trace = campaign.trace(of.name, of.launch, of.annotate)
        campaign.keep_digests()
    _make_trace(campaign, trace)
    return Made(trace.path, of.name)


def _options(words: Sequence[Scalar]) -> tuple[str, ...]:
    plain = [os.fspath(w) if isinstance(w, os.PathLike) else w.tolist() if hasattr(w, "tolist") else w for w in words]
    found = Table(Path("run"), "", {"options": plain}).words("options")
    taken = {"--machine": "machine=...", "--scheme": "scheme=...", "--sample": "sample=...", "--sample-file": "sample=...",
             "--cpi-ctas": "cpi_ctas=True", "--stats": "options without it: the Run has the statistics"}
    for name in (w.split("=")[0] for w in found):
        if name in taken:
            raise InputError(f"run: options: found {name}, expected {taken[name]}")
        if name in NO_RUN or name == "--dump-config":
            raise InputError(f"run: options: found {name}, expected options of a simulation")
    return found


def _text(argument: str, value: Any, expected: str) -> str:
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str) or not text:
        raise InputError(f"run: {argument}: found {value!r:.60}, expected {expected}")
    return Table(Path("run"), "", {argument: text}).text(argument)


def simulate(of: Program, scheme: Any, machine: Any, knobs: Any, options: Any, keeps: tuple[Keep, ...], cache: Path,
             folder: tools.PathLike | None, cpi_lines: bool = False) -> Result:
    """One run, made if it is not in the cache."""
    scheme = _text("scheme", scheme, "the name of a scheme")
    machine = _text("machine", machine, "the name of a machine or the path of a .toml file")
    if not isinstance(knobs, Mapping):
        raise InputError(f"run: knobs: found {knobs!r:.60}, expected values by name, as {{\"l1.ways\": 2}}")
    if isinstance(options, (str, bytes)) or not isinstance(options, Sequence):
        raise InputError(f"run: options: found {options!r:.60}, expected a list of options and their values, as [\"--sms\", 2]")
    values = list(named_values(Table(Path("run"), "knobs", dict(knobs))))
    words = ("--machine", machine, "--scheme", scheme, *(w for k, v in values for w in (f"--{k}", option_text(v))),
             *_options(options), *(["--cpi-lines"] if cpi_lines else []))
    campaign = _campaign(cache, folder)
    with _digests:
        trace = campaign.trace(of.name, of.launch, of.annotate) if of.launch is not None else None
        path = of.trace if trace is None else trace.path
        assert path is not None
        key = campaign.run_key(campaign.given(path) if trace is None else trace, words, keeps)
        campaign.keep_digests()
    run = Simulation(id=1, key=key, program=of.name, arguments=(str(path), *words), trace=trace, keeps=keeps)
    what = " ".join((of.name, scheme, machine, *(f"{k}={option_text(v)}" for k, v in values)))
    known = outcome(campaign, run)
    # Files of the user's own are written anew.
    if known is None or known.status != 0 or any(w.split("=")[0] in WRITES for w in words):
        # Before a trace is made, which may take minutes.
        status, said = campaign.tools.refused(words, campaign.base)
        if status:
            raise tools.RunFailed("regatta-sim", status, said, what)
        if trace is not None:
            _make_trace(campaign, trace)
        document, kept = _make_run(campaign, run, what)
    else:
        document, kept = result(campaign, run)
    assert document is not None
    return Result(document, what, kept)


def _clean(campaign: Campaign) -> None:
    """Removes the folders of runs whose process was killed."""
    for left in campaign.folder.glob(".run.*"):
        process = left.name.removeprefix(f".run.{os.uname().nodename}.").split(".")[0]
        if process.isdigit() and not engine.is_alive(int(process)):
            shutil.rmtree(left, ignore_errors=True)


def _make_run(campaign: Campaign, run: Simulation, what: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """In a folder of its own: others may make the same run at the same time. Only a finished run goes to the cache."""
    campaign.results.mkdir(parents=True, exist_ok=True)
    _clean(campaign)
    prefix = f".run.{os.uname().nodename}.{os.getpid()}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir=campaign.folder) as own:
        apart = copy.copy(campaign)
        apart.results = Path(own)
        _work(jobs.of_runs(apart, [run]), apart.results)
        known = outcome(apart, run)
        if known is None:
            raise InputError(f"{apart.marker(run)}: found no result after the run, expected nobody else to remove it")
        if known.status != 0:
            raise tools.RunFailed("regatta-sim", known.status, known.message, what)
        found = result(apart, run)
        os.replace(apart.marker(run), campaign.marker(run))
        return found
