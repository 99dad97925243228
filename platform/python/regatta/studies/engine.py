# SPDX-License-Identifier: Apache-2.0
"""Makes a study's missing runs: a workflow for Snakemake, which runs the jobs here or on a cluster.

The workflow holds only what is missing, and its state is thrown away before each run of the study: what there is
already is known by content (plan.py), not by the times of files. A job is one trace, or a group of runs.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator

from ..statistics import InputError
from . import worker
from .groups import CLUSTER_SECONDS, LOCAL_SECONDS, Group, estimates, groups
from .outcome import LASTING, Outcome, outcome
from .plan import Plan, Run, Trace, write_whole
from .progress import Progress
from .slurm import write_profile

_WORKFLOW = """\
# Written by regatta-study, anew for each run of the study.
import json

with open("jobs.json", encoding="utf-8") as f:
    jobs = json.load(f)


rule all:
    input: expand("groups/{{group}}.done", group=list(jobs["groups"]))


rule annotate:
    output: record="traces/{{trace}}.json", trace={trace}
    shell: {annotate}


rule simulate:
    input: lambda w: [f"traces/{{t}}.{{x}}" for t in jobs["groups"][w.group] for x in ("json", "rgt")]
    output: touch("groups/{{group}}.done")
    shell: {simulate}


ruleorder: annotate > simulate
"""


@dataclass(frozen=True)
class Settings:
    jobs: int
    slurm: bool = False
    fail_fast: bool = False
    retry: bool = False  # failures too that would come out the same
    shown: bool = True
    snakemake: str = "snakemake"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one regatta-study works in a study's folder. The kernel gives the lock back, however this program ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{folder}: another regatta-study is running this study; wait for its end") from None
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


def missing(plan: Plan, known: dict[int, Outcome], retry: bool) -> list[Run]:
    """To be made, each key once."""
    found: dict[str, Run] = {}
    for run in plan.runs:
        o = known.get(run.id)
        if o is None or o.status not in LASTING or (retry and o.status != 0):
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


def check_names(plan: Plan, runs: list[Run]) -> None:
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


def _traces(plan: Plan, runs: list[Run]) -> dict[str, Trace]:
    """That these runs need and that are not there, by file name without its end."""
    found = {}
    for run in runs:
        trace = run.trace
        if trace is None or trace.path.stem in found:
            continue
        try:
            made = json.loads(trace.record.read_text(encoding="utf-8"))["status"] == 0 and trace.path.exists()
        except (OSError, ValueError, KeyError):
            made = False
        if not made:
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


def _write_workflow(plan: Plan, todo: list[Group], settings: Settings) -> int:
    """Jobs of the workflow. Everything that Snakemake remembers or would take for made is removed first."""
    folder = plan.folder
    for old in (".snakemake", "groups", "jobs"):
        shutil.rmtree(folder / old, ignore_errors=True)
    for part in (*folder.glob("runs/.*"), *folder.glob("traces/.*")):
        if _left_behind(part.name):
            part.unlink(missing_ok=True)
    runs = [run for group in todo for run in group.runs]
    for run in runs:
        plan.marker(run).unlink(missing_ok=True)
    traces = _traces(plan, runs)
    common = {"folder": str(plan.study.path.parent), "leash": not settings.slurm, "fail_fast": settings.fail_fast}
    for name, trace in traces.items():
        trace.path.unlink(missing_ok=True)
        trace.record.unlink(missing_ok=True)
        job: dict[str, Any] = {**common, "kind": "annotate", "program": str(plan.tools.annotate),
                               "source": str(trace.source), "path": str(trace.path), "launch": trace.launch,
                               "options": list(trace.options)}
        write_whole(folder / "jobs" / f"{name}.json", json.dumps(job))
    needs: dict[str, list[str]] = {}
    for group in todo:
        job = {**common, "kind": "simulate", "program": str(plan.tools.simulate), "results": str(folder / "runs"),
               "runs": [{"key": r.key, "arguments": list(r.arguments), "record": str(r.trace.record) if r.trace else ""}
                        for r in group.runs]}
        write_whole(folder / "jobs" / f"{group.name}.json", json.dumps(job))
        needs[group.name] = sorted({r.trace.path.stem for r in group.runs if r.trace and r.trace.path.stem in traces})
    write_whole(folder / "jobs.json", json.dumps({"groups": needs}))
    # `exec`: the worker is a child of Snakemake, and is told when that ends.
    begin = f"exec {shlex.quote(sys.executable)} -I -S -B {shlex.quote(str(Path(worker.__file__).resolve()))} jobs/"
    begin = begin.replace("{", "{{").replace("}", "}}")
    write_whole(folder / "Snakefile", _WORKFLOW.format(
        trace='"traces/{trace}.rgt"' if plan.study.keep_traces else 'temp("traces/{trace}.rgt")',
        annotate=json.dumps(begin + "{wildcards.trace}.json"), simulate=json.dumps(begin + "{wildcards.group}.json")))
    return len(needs) + len(traces)


def _start(plan: Plan, settings: Settings, path: str) -> "subprocess.Popen[bytes]":
    arguments = [path, "--snakefile", "Snakefile", "--directory", str(plan.folder), "--jobs", str(settings.jobs),
                 "--nolock", "--scheduler", "greedy", "--rerun-triggers", "mtime", "--drop-metadata", "--quiet", "all"]
    if not settings.fail_fast:
        arguments.append("--keep-going")
    if settings.slurm:
        arguments += ["--profile", str(write_profile(plan.folder, plan.study.name, plan.study.slurm,
                                                   _major_version(path)))]
    # It would write into the home folder otherwise, which may be read-only on a cluster.
    environment = {**os.environ, "XDG_CACHE_HOME": str(plan.folder / ".snakemake" / "cache")}
    with open(plan.folder / "snakemake.log", "wb") as log:
        # A process group of its own: Ctrl-C reaches this program only, which then ends all of it.
        return subprocess.Popen(arguments, cwd=plan.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT, process_group=0, preexec_fn=worker.leash)


def _end(child: "subprocess.Popen[bytes]", slurm: bool) -> None:
    """Ends Snakemake, and its jobs with it. On SIGINT it cancels those of a cluster."""
    if slurm and child.poll() is None:
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(30)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def make(plan: Plan, todo: list[Run], known: dict[int, Outcome], settings: Settings,
         tell: Callable[[str], None]) -> None:
    """Makes the runs. Throws InputError if Snakemake fails for another reason than a run."""
    snakemake = _snakemake(settings.snakemake)
    seconds = estimates(plan, known)
    target = CLUSTER_SECONDS if settings.slurm else LOCAL_SECONDS
    parts = groups(todo, seconds, settings.jobs, target, plan.study.group_runs)
    count = _write_workflow(plan, parts, settings)
    tell(f"{len(todo)} of {len(plan.runs)} runs to make, in {count} jobs, {settings.jobs} at a time")
    weights = {r.key: seconds[r.id] for r in todo}
    progress = Progress(weights, settings.shown)
    by_key = {r.key: r for r in todo}
    done: set[str] = set()
    failed = 0
    child = _start(plan, settings, snakemake)
    try:
        while child.poll() is None:
            for key in _done(plan, weights) - done:
                done.add(key)
                o = outcome(plan, by_key[key])
                failed += o is not None and o.status != 0
            progress.show(done, failed)
            time.sleep(0.1)
    finally:
        _end(child, settings.slurm)
        progress.finish()
    left = set(weights) - _done(plan, weights)
    if left and not settings.fail_fast:
        log = (plan.folder / "snakemake.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise InputError(f"Snakemake ended with status {child.returncode} and left {len(left)} runs; "
                         f"{plan.folder / 'snakemake.log'} ends with:\n  " + "\n  ".join(log[-8:]))
    tell(f"{len(weights) - len(left)} runs in {progress.seconds:.0f} s")


def _done(plan: Plan, weights: dict[str, float]) -> set[str]:
    try:
        with os.scandir(plan.folder / "runs") as entries:
            return {key for e in entries if (key := e.name.removesuffix(".json.gz")) in weights}
    except FileNotFoundError:
        return set()


def own(plan: Plan) -> None:
    """The folder belongs to one study file."""
    mark = plan.folder / "study"
    name = plan.study.path.name
    found = mark.read_text(encoding="utf-8").strip() if mark.exists() else name
    if found != name:
        raise InputError(f"{plan.study.path}: study.name: found '{plan.study.name}', whose folder belongs to {found}; "
                         f"expected another name")
    write_whole(mark, name + "\n")
