# SPDX-License-Identifier: Apache-2.0
"""Makes a campaign's missing runs and traces: a workflow for Snakemake, which runs the jobs here or on a cluster.

The workflow holds only what is missing, and its state is thrown away before each run of the campaign: what there is
already is known by content (campaign.py), not by the times of files. A job is one trace, or a group of runs.
"""

import contextlib
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Sequence

from ..files import write_whole
from ..statistics import InputError
from . import worker
from .campaign import Campaign, Simulation, Trace
from .groups import CLUSTER_LEAST_SECONDS, CLUSTER_SECONDS, LOCAL_SECONDS, Group, estimates, groups
from .outcome import LASTING, Outcome, outcome
from .plan import Plan, Run
from .progress import Progress
from .slurm import cancel, failed_jobs, unfinished_jobs, write_profile

_WORKFLOW = """\
# Written anew each time.
import json

with open("jobs.json", encoding="utf-8") as f:
    jobs = json.load(f)


rule all:
    input:
        expand("groups/{{group}}.done", group=list(jobs["groups"])),
        expand("traces/{{trace}}.rgt", trace=jobs["traces"])


rule annotate:
    output: record="traces/{{trace}}.json", trace={trace}
    shell: {annotate}


rule simulate:
    input: lambda w: [f"traces/{{t}}.{{x}}" for t in jobs["groups"][w.group] for x in ("json", "rgt")]
    output: touch("groups/{{group}}.done")
    priority: 1  # before the next trace, which takes space
    shell: {simulate}


ruleorder: annotate > simulate
"""


# Jobs of a worker that is started before Snakemake.
_AHEAD = 32
_WORKER = (sys.executable, "-I", "-S", "-B", str(Path(worker.__file__).resolve()))


@dataclass(frozen=True)
class Settings:
    jobs: int
    slurm: bool = False
    fail_fast: bool = False
    retry: bool = False  # failures too that would come out the same
    shown: bool = True
    snakemake: str = "snakemake"


class Unfinished(InputError):
    """Runs have no result, for no fault of theirs."""


@contextlib.contextmanager
def locked(folder: Path, busy: str = "another regatta-study is running this study") -> Iterator[None]:
    """Only one program works in a campaign's folder. The kernel gives the lock back, however this program ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{folder}: {busy}; wait for its end") from None
        yield


def is_running(folder: Path) -> bool:
    try:
        with open(folder / "lock", encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


def missing(campaign: Campaign, known: dict[int, Outcome], retry: bool) -> list[Simulation]:
    """To be made, each key once."""
    found: dict[str, Simulation] = {}
    for run in campaign.runs:
        o = known.get(run.id)
        if o is None or o.status not in LASTING or (retry and not o.is_result(run)):
            found.setdefault(run.key, run)
    return list(found.values())


def _snakemake(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise InputError(f"--snakemake: found no program '{program}', expected Snakemake: run "
                         f".cmake/setup-packages.sh --study, or install Debian's package snakemake")
    return path


def _major_version(snakemake: str) -> int:
    told = subprocess.run([snakemake, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not told.split(".")[0].isdigit():
        raise InputError(f"--snakemake: '{snakemake} --version' says '{told}', expected the version of Snakemake")
    return int(told.split(".")[0])


def check_names(plan: Plan, runs: Sequence[Run]) -> None:
    """A knob, scheme or machine that the simulator does not know is a mistake of the file: no run is begun."""
    asked = set()
    for run in runs:
        what = (run.scheme, run.machine, tuple(k for k, _ in run.knobs))
        if what in asked:
            continue
        asked.add(what)
        done = subprocess.run([str(plan.tools.simulate), *run.arguments[1:], "--dump-config"], text=True,
                              cwd=plan.study.path.parent, capture_output=True, errors="replace", check=False)
        said = done.stderr.strip().splitlines()[-1:]
        if done.returncode == 2 and said and "unknown" in said[0]:
            place = next((f'knobs."{k}"' for k, _ in run.knobs if f"--{k}'" in said[0]), "")
            if not place:
                place = "schemes" if "--scheme" in said[0] else "machines" if "--machine" in said[0] else "options"
            raise InputError(f"{plan.study.path}: {place}: {said[0]} (in runs of {run.what})")


def made(trace: Trace) -> dict[str, Any] | None:
    """The record of its making: status, message, seconds, report (if it has one). None: it is to be made."""
    try:
        record = json.loads(trace.record.read_text(encoding="utf-8"))
        there = record["status"] != 0 or (trace.path.exists() and ("report" in record or not trace.report))
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return dict(record) if there else None


def _to_make(traces: Iterable[Trace]) -> dict[str, Trace]:
    """By file name without its end. Failures are tried again: something needs these traces."""
    found = {}
    for trace in traces:
        record = made(trace)
        if record is None or record["status"] != 0:
            found[trace.path.stem] = trace
    return found


def _left_behind(name: str) -> bool:
    """Whether a worker of this host that is gone wrote it: ...HOST.PID.part. Jobs of Slurm outlive a killed study."""
    *rest, number, _ = name.split(".")
    if not number.isdigit() or not ".".join(rest).endswith("." + os.uname().nodename):
        return False
    try:
        os.kill(int(number), 0)
        return False
    except ProcessLookupError:
        return True
    except PermissionError:
        return False


def jobs_of(campaign: Campaign, todo: Sequence[Group], traces: dict[str, Trace], settings: Settings) -> dict[str, dict[str, Any]]:
    """What workers do, by name: the annotations first."""
    common = {"folder": str(campaign.base), "places": 0 if settings.slurm else settings.jobs, "fail_fast": settings.fail_fast}
    found: dict[str, dict[str, Any]] = {}
    for name, trace in traces.items():
        found[name] = {**common, "kind": "annotate", "program": str(campaign.tools.annotate), "source": str(trace.source),
                       "path": str(trace.path), "launch": trace.launch, "options": list(trace.options),
                       "report": trace.report}
    for group in todo:
        found[group.name] = {**common, "kind": "simulate", "program": str(campaign.tools.simulate),
                             "results": str(campaign.results), "runs": [
                                 {"key": r.key, "arguments": list(r.arguments), "keeps": [asdict(k) for k in r.keeps],
                                  "accepted": list(r.accepted), "record": str(r.trace.record) if r.trace else ""}
                                 for r in group.runs]}
    return found


@dataclass(frozen=True)
class _Workflow:
    """`first`: names of jobs that need no other."""
    jobs: int
    first: list[str]


def _write_workflow(campaign: Campaign, todo: list[Group], traces: dict[str, Trace], wanted: list[str],
                    settings: Settings) -> _Workflow:
    """Everything that Snakemake remembers or would take for made is removed first. `traces`: to be made, of which those that
    are `wanted` stay."""
    folder = campaign.folder
    for old in (".snakemake", "groups", "jobs"):
        shutil.rmtree(folder / old, ignore_errors=True)
    for part in (*campaign.results.glob(".*"), *folder.glob("traces/.*")):
        if part.name.endswith(".ahead") or _left_behind(part.name):
            part.unlink(missing_ok=True)
    for run in (run for group in todo for run in group.runs):
        # A campaign that shares the results may have made it by now.
        o = outcome(campaign, run)
        if o is None or not o.is_result(run):
            campaign.marker(run).unlink(missing_ok=True)
    for trace in traces.values():
        trace.path.unlink(missing_ok=True)
        trace.record.unlink(missing_ok=True)
    jobs = jobs_of(campaign, todo, traces, settings)
    for name, job in jobs.items():
        job["lock"] = str(folder / "lock")
        write_whole(folder / "jobs" / f"{name}.json", json.dumps(job), parents=True)
    needs = {group.name: sorted({r.trace.path.stem for r in group.runs if r.trace and r.trace.path.stem in traces})
             for group in todo}
    write_whole(folder / "jobs.json", json.dumps({"groups": needs, "traces": wanted}))
    # `exec`: the worker is a child of Snakemake, and is told when that ends.
    begin = f"exec {shlex.join(_WORKER)} jobs/"
    begin = begin.replace("{", "{{").replace("}", "}}")
    write_whole(folder / "Snakefile", _WORKFLOW.format(
        trace='"traces/{trace}.rgt"' if campaign.keep_traces else 'temp("traces/{trace}.rgt")',
        annotate=json.dumps(begin + "{wildcards.trace}.json"), simulate=json.dumps(begin + "{wildcards.group}.json")))
    # Few traces at a time where each is to be removed soon.
    ahead = list(traces) if campaign.keep_traces else list(traces)[:settings.jobs]
    return _Workflow(len(jobs), ahead + [group for group, traces_of in needs.items() if not traces_of])


def _work_ahead(campaign: Campaign, first: Sequence[str], jobs: int, started: "list[subprocess.Popen[bytes]]") -> None:
    """Starts workers with the first jobs, since Snakemake's start takes a second, and ten on a busy machine. Snakemake
    starts these jobs too: its workers then find them made."""
    for begin in range(min(jobs, len(first))):
        files = [f"jobs/{name}.json" for name in first[begin::jobs][:_AHEAD]]
        started.append(subprocess.Popen([*_WORKER, "--ahead", *files], cwd=campaign.folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0))


def _start(campaign: Campaign, settings: Settings, path: str) -> "subprocess.Popen[bytes]":
    arguments = [path, "--snakefile", "Snakefile", "--directory", str(campaign.folder), "--jobs", str(settings.jobs),
                 "--nolock", "--scheduler", "greedy", "--rerun-triggers", "mtime", "--drop-metadata", "--quiet", "all"]
    if not settings.fail_fast:
        arguments.append("--keep-going")
    if settings.slurm:
        arguments += ["--profile", str(write_profile(campaign.folder, campaign.name, campaign.slurm,
                                                   _major_version(path)))]
    # It would write into the home folder otherwise, which may be read-only on a cluster.
    environment = {**os.environ, "XDG_CACHE_HOME": str(campaign.folder / ".snakemake" / "cache")}
    with open(campaign.folder / "snakemake.log", "wb") as log:
        # A process group of its own: Ctrl-C reaches this program only, which then ends all of it.
        return subprocess.Popen(arguments, cwd=campaign.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT, process_group=0, preexec_fn=worker.leash)


def _end(campaign: Campaign, children: "list[subprocess.Popen[bytes]]", slurm: bool) -> None:
    """Ends workers and Snakemake, and its jobs with it."""
    if slurm:
        # Snakemake is not killed while it submits a job, whose number would be lost. It cancels jobs too, if Slurm is quick.
        for child in children:
            child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(30)
        cancel(campaign.folder, campaign.name)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def make(campaign: Campaign, todo: Sequence[Simulation], known: dict[int, Outcome], settings: Settings,
         tell: Callable[[str], None], traces: Sequence[Trace] = ()) -> None:
    """Makes the runs, and these further traces. The caller has the campaign locked(), for workers end without the lock.
    Throws Unfinished if a cluster ends jobs, and InputError if Snakemake fails for another reason than one of the runs."""
    wanted = _to_make(traces)
    if not (todo or wanted):
        return
    snakemake = _snakemake(settings.snakemake)
    # Jobs of a study that was killed; the runs that they have finished are kept.
    cancel(campaign.folder, campaign.name)
    seconds = estimates(campaign, known)
    target, least = (CLUSTER_SECONDS, CLUSTER_LEAST_SECONDS) if settings.slurm else (LOCAL_SECONDS, 0.0)
    parts = groups(todo, seconds, settings.jobs, target, campaign.group_runs, least=least, apart=not campaign.keep_traces)
    workflow = _write_workflow(campaign, parts, {**wanted, **_to_make(r.trace for r in todo if r.trace)}, list(wanted),
                               settings)
    tell((f"{len(todo)} of {len(campaign.runs)} runs to make, in {workflow.jobs} jobs" if todo else
          f"{workflow.jobs} traces to make") + f", {settings.jobs} at a time")
    weights = {**{r.key: seconds[r.id] for r in todo}, **dict.fromkeys(wanted, 1.0)}
    left: dict[str, Simulation | Trace] = {**{r.key: r for r in todo}, **wanted}
    progress = Progress(weights, settings.shown)
    failed = 0
    pause = 0.1
    children: list[subprocess.Popen[bytes]] = []
    try:
        if not settings.slurm:
            _work_ahead(campaign, workflow.first, settings.jobs, children)
        child = _start(campaign, settings, snakemake)
        children.append(child)
        running = True
        # With the last result everything is there. What Snakemake does then nobody needs, but jobs of a cluster end in peace.
        while running and (left or (settings.slurm and unfinished_jobs(campaign.folder))):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(pause)
                running = False
            begin = time.monotonic()
            for name in [name for name, x in left.items() if _end_of(campaign, x).exists()]:
                failed += _has_failed(campaign, left.pop(name))
            progress.show(weights.keys() - left.keys(), failed)
            # Looking for the ends of very many runs takes a while.
            pause = max(0.1, 20 * (time.monotonic() - begin))
    finally:
        _end(campaign, children, settings.slurm)
        progress.finish()
        if not campaign.keep_traces:
            for trace in {r.trace for r in campaign.runs if r.trace and r.trace not in traces}:
                trace.path.unlink(missing_ok=True)
                trace.record.unlink(missing_ok=True)
    if left and settings.slurm and (ended := failed_jobs(campaign.folder)):
        raise Unfinished("\n  ".join([f"{'runs' if todo else 'traces'} without a result: {len(left)}. Their jobs failed; the "
                                      f"same command makes them:", *ended]))
    if left and not settings.fail_fast:
        log = (campaign.folder / "snakemake.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise InputError(f"Snakemake ended with status {child.returncode} and left {len(left)} "
                         f"{'runs' if todo else 'traces'}; {campaign.folder / 'snakemake.log'} ends with:\n  " +
                         "\n  ".join(log[-8:]))
    tell(f"{len(weights) - len(left)} {'runs' if todo else 'traces'} in {progress.seconds:.0f} s")


def _end_of(campaign: Campaign, what: Simulation | Trace) -> Path:
    """The file that is there when it has ended."""
    return what.record if isinstance(what, Trace) else campaign.marker(what)


def _has_failed(campaign: Campaign, what: Simulation | Trace) -> bool:
    if isinstance(what, Trace):
        record = made(what)
        return record is None or record["status"] != 0
    o = outcome(campaign, what)
    return o is not None and not o.is_result(what)


def own(plan: Plan) -> None:
    """The folder belongs to one study file."""
    mark = plan.folder / "study"
    name = plan.study.path.name
    found = mark.read_text(encoding="utf-8").strip() if mark.exists() else name
    if found != name:
        raise InputError(f"{plan.study.path}: study.name: found '{plan.study.name}', whose folder belongs to {found}; "
                         f"expected another name")
    write_whole(mark, name + "\n")
