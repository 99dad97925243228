# SPDX-License-Identifier: Apache-2.0
"""What a worker is told to do: one trace, or runs that follow one another. And what became of a trace."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generator, Iterable, Sequence

from . import inputs, worker
from .campaign import Campaign, Simulation, Trace


@dataclass(frozen=True)
class Settings:
    jobs: int
    slurm: bool = False
    fail_fast: bool = False
    retry: bool = False  # failures too that would come out the same
    shown: bool = True
    snakemake: str = "snakemake"


#: A job, as JSON can hold it.
Job = dict[str, Any]
#: Keys of what has ended since the last time, and whether it failed; now and then nothing. Closed, it ends all.
Ends = Generator[list[tuple[str, bool]], None, None]


def _job(campaign: Campaign, kind: str, program: Path, over: str, keys: Iterable[str]) -> Job:
    """What all jobs have. `known`: digests of the files that the program reads, with the states in which they are right."""
    known = campaign.digests()
    paths = {path for key in keys for path in campaign.files(key)}
    return {"kind": kind, "program": str(program), "folder": str(campaign.base), "results": str(campaign.results), "over": over,
            "known": {path: known[path] for path in sorted(paths) if path in known}}


def of_trace(campaign: Campaign, trace: Trace, runs: Iterable[str] = (), over: str = "") -> Job:
    """`runs`: keys of the runs that need it, which fail with it. `over`: a file that is there when nothing more is to begin (on a
    cluster)."""
    return {**_job(campaign, "annotate", campaign.tools.annotate, over, [trace.key]), "key": trace.key,
            "files": campaign.files(trace.key), "source": str(trace.source), "path": str(trace.path), "launch": trace.launch,
            "options": trace.options, "report": trace.report, "runs": list(runs)}


def of_runs(campaign: Campaign, runs: Sequence[Simulation], over: str = "") -> Job:
    return {**_job(campaign, "simulate", campaign.tools.simulate, over, [run.key for run in runs]), "runs": [
        {"key": r.key, "arguments": r.arguments, "keeps": [asdict(k) for k in r.keeps], "accepted": r.accepted,
         "files": campaign.files(r.key), "record": str(r.trace.record) if r.trace else "",
         "trace_key": r.trace.key if r.trace else ""} for r in runs]}


def made(trace: Trace) -> dict[str, Any] | None:
    """The record of its making: status, message, seconds, report (if it has one). None: it is to be made, for there is none,
    or not the one that was made."""
    record = worker.record_of(trace.record, trace.key)
    if record is None or record["status"] != 0:
        return record
    if trace.report and "report" not in record:
        return None
    path = str(trace.path)
    try:
        found, _ = inputs.Known({path: [record["trace"], record["state"]]}).of(path)
    except (OSError, inputs.Changed):
        return None
    return record if found == record["trace"] else None
