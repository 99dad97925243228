# SPDX-License-Identifier: Apache-2.0
"""One trace or one run, without Snakemake: the keys, jobs, worker and files of studies, in a folder of their own.

The worker is a process: Ctrl-C in the calling program ends it, and with it the program that it runs.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tools
from ..statistics import InputError
from . import engine, worker
from .campaign import Campaign, Keep, Simulation, Tools, Trace
from .checks import Scalar, Table, option_text
from .file import NO_RUN, WRITES, Program
from .groups import Group
from .knobs import named_values
from .outcome import outcome, result

# They are read and written as a whole, by any thread.
_digests = threading.Lock()
# A cached trace comes without the files that these would write, or is no trace at all.
_NO_TRACE = ("out", "launch", "report", "listing", "dump_buffer", "check", "entry", "list_instructions", "help", "version")


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
    """Options of regatta-annotate from keywords: rfv=True, rfh=3, region_registers=48."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
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
    name = re.sub(r"[^A-Za-z0-9_.+-]", "_", name)
    return Program(name, launch=file, annotate=words) if is_launch else Program(name, trace=file)


def _campaign(cache: Path, folder: tools.PathLike | None) -> Campaign:
    """Of one run or trace, whose files are in the cache. Relative paths are those of the current folder."""
    programs = Tools(tools.find("regatta-sim", folder), tools.find("regatta-annotate", folder))
    return Campaign("cache", cache, Path.cwd(), programs, cache / "runs")


def _work(job: dict[str, Any], parts: Path) -> None:
    """Does a job of worker.py. `parts`: the folder in which it leaves parts of files if it is ended."""
    # A folder of its own: workers share the places of the folder in which their job is.
    with tempfile.TemporaryDirectory(prefix="regatta.") as folder:
        file = Path(folder) / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        # A process group of its own: Ctrl-C of a terminal reaches this program only, which then ends the worker.
        child = subprocess.Popen([sys.executable, "-I", "-S", "-B", str(Path(worker.__file__).resolve()), str(file)],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 errors="replace", process_group=0)
        try:
            _, errors = child.communicate()
        except BaseException:
            child.terminate()
            child.wait()
            for part in parts.glob(f".*.{os.uname().nodename}.{child.pid}.*"):
                with contextlib.suppress(OSError):
                    part.unlink()
            raise
    if child.returncode != 0:
        said = errors.strip().splitlines()[-1:]
        raise InputError(f"{parts}: nothing was made: {said[0] if said else f'status {child.returncode}'}")


def _make_trace(campaign: Campaign, trace: Trace) -> None:
    """Makes the trace if it is not there. A failure is no result here: it is tried again."""
    record = engine.made(trace)
    if record is None or record["status"] != 0:
        jobs = engine.jobs_of(campaign, [], {trace.path.stem: trace}, engine.Settings(1))
        _work(jobs[trace.path.stem], trace.path.parent)
        record = engine.made(trace)
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
    found = tuple(option_text(w) for w in words)
    taken = {"--machine": "machine=...", "--scheme": "scheme=...", "--sample": "sample=...", "--sample-file": "sample=...",
             "--cpi-ctas": "cpi_ctas=True", "--stats": "options without it: the Run has the statistics"}
    for name in (w.split("=")[0] for w in found):
        if name in taken:
            raise InputError(f"run: options: found {name}, expected {taken[name]}")
        if name in NO_RUN or name == "--dump-config":
            raise InputError(f"run: options: found {name}, expected options of a simulation")
    return found


def simulate(of: Program, scheme: str, machine: str, knobs: Mapping[str, Any], options: Sequence[Scalar],
             keeps: tuple[Keep, ...], cache: Path, folder: tools.PathLike | None) -> Result:
    """One run, made if it is not in the cache."""
    values = list(named_values(Table(Path("run"), "knobs", dict(knobs))))
    words = ("--machine", machine, "--scheme", scheme, *(w for k, v in values for w in (f"--{k}", option_text(v))),
             *_options(options))
    campaign = _campaign(cache, folder)
    with _digests:
        trace = campaign.trace(of.name, of.launch, of.annotate) if of.launch is not None else None
        path = of.trace if trace is None else trace.path
        assert path is not None
        key = campaign.run_key(campaign.file_key(path) if trace is None else trace, words, keeps)
        campaign.keep_digests()
    if trace is not None:
        _make_trace(campaign, trace)
    run = Simulation(id=1, key=key, program=of.name, arguments=(str(path), *words), trace=trace, keeps=keeps)
    what = " ".join((of.name, scheme, machine, *(f"{k}={option_text(v)}" for k, v in values)))
    known = outcome(campaign, run)
    # Files of the user's own are written anew.
    if known is None or known.status != 0 or any(w.split("=")[0] in WRITES for w in words):
        document, kept = _make_run(campaign, run, what)
    else:
        document, kept = result(campaign, run)
    assert document is not None
    return Result(document, what, kept)


def _make_run(campaign: Campaign, run: Simulation, what: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """In a folder of its own: others may make the same run at the same time. Only a finished run goes to the cache."""
    campaign.results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".run.", dir=campaign.folder) as own:
        apart = Campaign(campaign.name, campaign.folder, campaign.base, campaign.tools, Path(own))
        group = Group((run,), 0.0)
        _work(engine.jobs_of(apart, [group], {}, engine.Settings(1))[group.name], apart.results)
        known = outcome(apart, run)
        if known is None:
            raise InputError(f"{apart.marker(run)}: found no result after the run, expected nobody else to remove it")
        if known.status != 0:
            raise tools.RunFailed("regatta-sim", known.status, known.message, what)
        found = result(apart, run)
        os.replace(apart.marker(run), campaign.marker(run))
        return found
