# SPDX-License-Identifier: Apache-2.0
"""Makes a campaign's runs and traces on a cluster: a workflow for Snakemake, which submits its jobs to Slurm.

The workflow holds only what is missing, and its state is thrown away before each run of the campaign: what there is already is
known by content (campaign.py), not by the times of files. A job is one trace, or a group of runs.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from typing import Collection, Sequence

from ..files import write_whole
from ..statistics import InputError
from . import jobs, slurm, worker
from .campaign import Campaign, Simulation, Trace
from .outcome import outcome

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
# Of a job: of longer ones too few are left to share at the end. It waits in the queue and then starts Snakemake, which takes
# some seconds.
_SECONDS, _LEAST_SECONDS = 300.0, 20.0
# Jobs for each that runs at a time: many, so that all end at about the same time.
_MANY = 16


def _snakemake(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise InputError(f"--snakemake: found no program '{program}', expected Snakemake 7, which --slurm needs: run "
                         f".cmake/setup-packages.sh --slurm, or install Debian's package snakemake")
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not told.startswith("7."):
        raise InputError(f"--snakemake: '{program} --version' says '{told}', expected version 7 (8 has other options for clusters)")
    return path


def groups(runs: Sequence[Simulation], seconds: dict[int, float], jobs_at_a_time: int, most: int, *,
           apart: bool = False) -> list[list[Simulation]]:
    """Runs that share one job, in their order. `seconds`: expected, by run. `most`: runs of a group; 0: by time. `apart`: runs of
    different traces are not in one group, so that each trace can soon be removed."""
    enough = max(1, -(-len(runs) // (_MANY * jobs_at_a_time)))
    found: list[list[Simulation]] = []
    total = 0.0
    for run in runs:
        if not found or (apart and found[-1][-1].trace != run.trace) or (
                len(found[-1]) >= most if most else
                total + seconds[run.id] > _SECONDS or (total >= _LEAST_SECONDS and len(found[-1]) >= enough)):
            found.append([])
            total = 0.0
        found[-1].append(run)
        total += seconds[run.id]
    return found


class Cluster:
    """As pool.Local. `seconds`: that runs are expected to take."""

    def __init__(self, campaign: Campaign, todo: Sequence[Simulation], traces: Sequence[Trace], temporary: Collection[Trace],
                 settings: jobs.Settings, seconds: dict[int, float]):
        self._snakemake = _snakemake(settings.snakemake)
        self._campaign, self._settings = campaign, settings
        self._left: dict[str, Simulation | Trace] = {trace.name: trace for trace in traces}
        self._left.update((run.key, run) for run in todo)
        parts = groups(todo, seconds, settings.jobs, campaign.group_runs, apart=not campaign.keep_traces)
        self.told = f"in {len(parts) + len(traces)} jobs, {settings.jobs} at a time"
        self._write_workflow({f"runs{number}": part for number, part in enumerate(parts, 1)}, traces, temporary)

    def _write_workflow(self, parts: dict[str, list[Simulation]], traces: Sequence[Trace], temporary: Collection[Trace]) -> None:
        """Everything that Snakemake remembers or would take for made is removed first."""
        folder = self._campaign.folder
        for old in (".snakemake", "groups", "jobs"):
            shutil.rmtree(folder / old, ignore_errors=True)
        over = str(folder / "jobs" / "failed") if self._settings.fail_fast else ""
        dependent: dict[Trace | None, list[str]] = {trace: [] for trace in traces}
        for run in (run for part in parts.values() for run in part):
            dependent.setdefault(run.trace, []).append(run.key)
        made = {trace.name: jobs.of_trace(self._campaign, trace, dependent[trace], over) for trace in traces}
        made.update((name, jobs.of_runs(self._campaign, part, over)) for name, part in parts.items())
        for name, job in made.items():
            write_whole(folder / "jobs" / f"{name}.json", json.dumps(job) + "\n", parents=True)
        needs = {name: sorted({r.trace.name for r in part if r.trace and r.trace.name in made}) for name, part in parts.items()}
        wanted = [trace.name for trace in traces if trace not in temporary]
        write_whole(folder / "jobs.json", json.dumps({"groups": needs, "traces": wanted}))
        begin = f"exec {shlex.join(worker.COMMAND)} <jobs/".replace("{", "{{").replace("}", "}}")
        write_whole(folder / "Snakefile", _WORKFLOW.format(
            trace='"traces/{trace}.rgt"' if self._campaign.keep_traces else 'temp("traces/{trace}.rgt")',
            annotate=json.dumps(begin + "{wildcards.trace}.json"), simulate=json.dumps(begin + "{wildcards.group}.json")))

    def _start(self) -> "subprocess.Popen[bytes]":
        campaign = self._campaign
        profile = slurm.write_profile(campaign.folder, campaign.name, campaign.slurm)
        arguments = [self._snakemake, "--snakefile", "Snakefile", "--directory", str(campaign.folder), "--jobs",
                     str(self._settings.jobs), "--nolock", "--scheduler", "greedy", "--rerun-triggers", "mtime",
                     "--drop-metadata", "--quiet", "all", "--profile", str(profile)]
        if not self._settings.fail_fast:
            arguments.append("--keep-going")
        # It would write into the home folder otherwise, which may be read-only on a cluster.
        environment = {**os.environ, "XDG_CACHE_HOME": str(campaign.folder / ".snakemake" / "cache")}
        parent = os.getpid()
        with open(campaign.folder / "snakemake.log", "wb") as log:
            # A process group of its own: Ctrl-C reaches this program only, which then ends all of it.
            return subprocess.Popen(arguments, cwd=campaign.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=subprocess.STDOUT, process_group=0, preexec_fn=lambda: worker.leash(parent))

    def ends(self) -> jobs.Ends:
        child = self._start()
        pause = 0.1
        try:
            running = True
            # Jobs end in peace, also after the last result.
            while running and (self._left or slurm.unfinished_jobs(self._campaign.folder)):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(pause)
                    running = False
                begin = time.monotonic()
                yield self._look()
                # Looking for the ends of very many runs takes a while.
                pause = max(0.1, 20 * (time.monotonic() - begin))
        finally:
            # Snakemake is not killed while it submits a job, whose number would be lost. It cancels jobs too, if Slurm is quick:
            # also one that has just ended, if Slurm has not heard of that yet. So it is not asked once nothing is left.
            if self._left or slurm.unfinished_jobs(self._campaign.folder):
                child.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(30)
            slurm.cancel(self._campaign.folder, self._campaign.name)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            self._status = child.wait()

    def _look(self) -> list[tuple[str, bool]]:
        ended = [name for name, x in self._left.items() if (x.record if isinstance(x, Trace) else self._campaign.marker(x)).exists()]
        return [(name, self._has_failed(self._left.pop(name))) for name in ended]

    def _has_failed(self, what: Simulation | Trace) -> bool:
        if isinstance(what, Trace):
            record = jobs.made(what)
            return record is None or record["status"] != 0
        o = outcome(self._campaign, what)
        return o is not None and not o.is_result(what)

    @property
    def why(self) -> list[str]:
        """What Slurm did to jobs, or what Snakemake said, after the end."""
        if told := slurm.failed_jobs(self._campaign.folder):
            return ["their jobs failed", *told]
        path = self._campaign.folder / "snakemake.log"
        log = path.read_text(encoding="utf-8", errors="replace").strip().splitlines() if path.exists() else []
        return [f"Snakemake ended with status {self._status}; {path} ends with", *(log[-8:] or ["nothing"])]
