# SPDX-License-Identifier: Apache-2.0
"""Makes a campaign's missing runs and traces: by worker processes of this host (pool.py), or on a cluster (cluster.py).

What there is already is known by content (campaign.py), so a campaign resumes wherever it was ended.
"""

import contextlib
import fcntl
import os
import re
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Sequence

from ..files import write_whole
from ..statistics import InputError
from . import slurm
from .campaign import Campaign, Simulation, Trace
from .checks import Scalar
from .cluster import Cluster
from .jobs import Settings as Settings
from .jobs import made
from .outcome import Outcome, outcome
from .plan import Plan, Run
from .pool import Local
from .progress import Progress, estimates

# Who only looks whether a campaign is locked has the lock himself for a moment.
_LOOKS = 20
# Values of a knob that are tried without a run.
_TRIED = 32


class Unfinished(InputError):
    """Runs have no result, for no fault of theirs."""


@contextlib.contextmanager
def locked(folder: Path, busy: str = "another regatta-study is running this study") -> Iterator[None]:
    """Only one program works in a campaign's folder. The kernel gives the lock back, however this program ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as f:
        for attempt in range(_LOOKS):
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if attempt == _LOOKS - 1:
                    raise InputError(f"{folder}: {busy}; wait for its end") from None
                time.sleep(0.01)
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
        if o is None or not o.lasts or (retry and not o.is_result(run)):
            found.setdefault(run.key, run)
    return list(found.values())


def check_names(plan: Plan, runs: Sequence[Run], values: bool = False) -> None:
    """A knob, scheme or machine that the simulator does not know is a mistake of the file: no run is begun. `values`: so is a
    value that it refuses; of a knob with very many values the least and the greatest are tried."""
    wanted: set[tuple[Any, ...]] = {(run.scheme, run.machine, tuple(k for k, _ in run.knobs)) for run in runs}
    if values:
        wanted |= _values(runs)
    for run in runs:
        own = {(run.scheme, run.machine, tuple(k for k, _ in run.knobs)),
               *((run.scheme, run.machine, k, v) for k, v in run.knobs)}
        if wanted.isdisjoint(own):
            continue
        wanted -= own
        status, said = plan.tools.refused(run.arguments[1:], plan.study.path.parent)
        if status and (values or (status == 2 and "unknown" in said)):
            place = next((f'knobs."{k}"' for k, _ in run.knobs if re.search(rf"(?<![\w.]){re.escape(k)}(?![\w.])", said)), "")
            if not place:
                place = "schemes" if "--scheme" in said else "machines" if "--machine" in said else "options"
            raise InputError(f"{plan.study.path}: {place}: regatta-sim: {said} (in runs of {run.what})")


def _values(runs: Sequence[Run]) -> set[tuple[Any, ...]]:
    """Of each scheme, machine and knob."""
    found: dict[tuple[str, str, str], set[Scalar]] = {}
    for run in runs:
        for k, v in run.knobs:
            found.setdefault((run.scheme, run.machine, k), set()).add(v)
    for what, of_knob in found.items():
        numbers = [v for v in of_knob if isinstance(v, (int, float))]
        if len(numbers) > _TRIED:
            found[what] = {v for v in of_knob if isinstance(v, str)} | {min(numbers), max(numbers)}
    return {(*what, v) for what, of_knob in found.items() for v in of_knob}


def _to_make(traces: Iterable[Trace]) -> list[Trace]:
    """Each once, with its report if one of them wants it. Failures are tried again: something needs these traces."""
    records = {trace: made(trace) for trace in dict.fromkeys(sorted(traces, key=lambda trace: not trace.report))}
    return [trace for trace, record in records.items() if record is None or record["status"] != 0]


def is_alive(process: int) -> bool:
    """Whether a process with this number runs on this host. One that was killed keeps its number until somebody asks for its
    status."""
    try:
        os.kill(process, 0)
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except ProcessLookupError:
        return False
    except (OSError, IndexError):  # it is somebody else's, or there is no /proc
        return True


# Of files.write_whole(), beside a file; of workers and of the programs that they start: jobs of Slurm outlive a killed study,
# so the host counts too.
_PART = re.compile(r"\.(\d+)\.part\Z")
_SCRATCH = re.compile(rf"\.{re.escape(os.uname().nodename)}\.(\d+)\.")


def remove_scratch(folder: Path, name: "re.Pattern[str]" = _SCRATCH) -> None:
    """What processes of this host that are gone have left half made."""
    for part in folder.glob(".*"):
        found = name.search(part.name)
        if found and not is_alive(int(found[1])):
            with contextlib.suppress(OSError):
                part.unlink()


def clean(campaign: Campaign) -> None:
    """Removes what is half made. The campaign is locked()."""
    for folder in (campaign.folder, campaign.folder / "slurm"):
        remove_scratch(folder, _PART)
    for folder in (campaign.folder / "traces", campaign.results):
        remove_scratch(folder)


def _forget(campaign: Campaign, todo: Sequence[Simulation], traces: Sequence[Trace]) -> None:
    """Removes what would be taken for made."""
    for run in todo:
        # A campaign that shares the results may have made it by now.
        o = outcome(campaign, run)
        if o is None or not o.is_result(run):
            campaign.marker(run).unlink(missing_ok=True)
    for trace in traces:
        trace.remove()


def make(campaign: Campaign, todo: Sequence[Simulation], known: dict[int, Outcome], settings: Settings,
         tell: Callable[[str], None], traces: Sequence[Trace] = ()) -> None:
    """Makes the runs, and these further traces. The caller has the campaign locked(). Throws Unfinished if something could not
    be made for no fault of its own: a full disk, a job that a cluster ended."""
    wanted = _to_make(traces)
    if not (todo or wanted):
        return
    # Jobs of a study that was killed; the runs that they have finished are kept.
    slurm.cancel(campaign.folder, campaign.name)
    needed = _to_make([*traces, *(r.trace for r in todo if r.trace)])
    temporary = set() if campaign.keep_traces else {r.trace for r in campaign.runs if r.trace} - set(traces)
    seconds = estimates(campaign, known)
    maker: Cluster | Local = Cluster(campaign, todo, needed, temporary, settings, seconds) if settings.slurm else \
        Local(campaign, todo, needed, temporary, settings)
    clean(campaign)
    _forget(campaign, todo, needed)
    what = "runs" if todo else "traces"
    tell((f"{len(todo)} of {len(campaign.runs)} runs to make, " if todo else f"{len(wanted)} traces to make, ") + maker.told)
    progress = Progress({**{r.key: seconds[r.id] for r in todo}, **dict.fromkeys((t.name for t in wanted), 1.0)}, settings.shown)
    try:
        with contextlib.closing(maker.ends()) as ends:
            for ended in ends:
                progress.show(ended)
    finally:
        progress.finish()
        clean(campaign)
        for trace in temporary:
            trace.remove()
    left = progress.left
    if left and not (progress.failed and settings.fail_fast):
        raise Unfinished(f"{what} without a result: {left}; the same command makes them: " + "\n  ".join(maker.why))
    tell(f"{progress.done} {what} in {progress.seconds:.0f} s" +
         (f"; {left} were not begun after the first failure" if left else ""))


def own(plan: Plan) -> None:
    """The folder belongs to one study file."""
    mark = plan.folder / "study"
    name = plan.study.path.name
    found = mark.read_text(encoding="utf-8", errors="replace").strip() if mark.exists() else name
    if found != name:
        raise InputError(f"{plan.study.path}: study.name: found '{plan.study.name}', whose folder belongs to {found}; "
                         f"expected another name")
    write_whole(mark, name + "\n")
