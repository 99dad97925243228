# SPDX-License-Identifier: Apache-2.0
"""Makes one group of runs, or one trace.

Started by Snakemake with `python3 -I -S worker.py JOB.json`. With --ahead and several jobs, it is started before Snakemake,
and makes these jobs one after another until Snakemake has begun. "lock" of a job: of its study. "places": how many workers
of the job's folder may work at a time on this host, and end with the program that started them; 0: on a cluster.

Stands alone, so that it starts in a few hundredths of a second on any node. One worker makes all runs of its group. A
run that ends leaves KEY.json.gz, whatever its status, and the next run follows. Nothing is left of a run that a signal to
this program interrupts.
"""

import ctypes
import fcntl
import gzip
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, NoReturn

_PR_SET_PDEATHSIG = 1
_child: "subprocess.Popen[str] | None" = None


def leash() -> None:
    """The kernel ends this process when its parent ends, even by SIGKILL: no work goes on behind a study that died."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def has_ended(lock: str) -> bool:
    """Whether the study has ended, whose lock this is. It may have before leash(), while this program was starting."""
    with open(lock, encoding="utf-8") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def stop(number: int, _frame: Any) -> NoReturn:
    if _child is not None:
        _child.kill()
    os._exit(128 + number)


def scratch(path: Path, end: str) -> Path:
    """For a file of this process beside `path`."""
    return path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.{end}")


def replace(path: Path, content: bytes) -> None:
    """Under its final name only when it is whole."""
    partial = scratch(path, "part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as e:
        partial.unlink(missing_ok=True)
        raise OSError(e.errno, e.strerror, str(path)) from None


def call(arguments: list[str], folder: str, leashed: bool) -> tuple[int, str, float]:
    """(status, message, seconds). A program that a signal ended has 128 + the signal, as in a shell."""
    global _child
    begin = time.monotonic()
    try:
        _child = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors="replace",
                                  preexec_fn=leash if leashed else None)
    except OSError as e:
        return 127, f"cannot start {arguments[0]}: {e.strerror}", 0.0
    _, errors = _child.communicate()
    status = _child.returncode
    _child = None
    seconds = time.monotonic() - begin
    if status == 0:
        return 0, "", seconds
    prefix = os.path.basename(arguments[0]) + ": "
    lines = [line for line in errors.splitlines() if line.strip()]
    told = [line[len(prefix):] for line in lines if line.startswith(prefix)]
    said = told[-1] if told else lines[-1] if lines else "it said nothing"
    if status < 0:
        return 128 - status, f"ended by signal {signal.Signals(-status).name}", seconds
    return status, said, seconds


class Unreadable(Exception):
    """A run has not written what is to be kept of it."""


def made_ahead(path: Path) -> Path:
    """Where a trace or its record is until Snakemake has begun, which removes a file before the job that makes it."""
    return path.with_name(f".{path.name}.ahead")


def annotate(job: dict[str, Any], ahead: bool) -> None:
    """Leaves the trace and a record of its making. A trace that cannot be made is empty: the runs that need it say so."""
    path = final = Path(job["path"])
    final_record = path.with_suffix(".json")
    if ahead:
        final, final_record = made_ahead(final), made_ahead(final_record)
    elif made_ahead(final_record).exists():
        os.replace(made_ahead(final), final)
        os.replace(made_ahead(final_record), final_record)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    source = Path(job["source"])
    if job["launch"]:
        source = path.with_suffix(".launch.toml")
        replace(source, job["launch"].encode())
    partial, report = scratch(path, "part"), scratch(path, "report")
    options = (["--report", str(report)] if job["report"] else []) + job["options"]
    status, message, seconds = call([job["program"], "--launch", str(source), "--out", str(partial)] + options,
                                    job["folder"], job["places"] > 0)
    record: dict[str, Any] = {"status": status, "message": message, "seconds": seconds}
    if status == 0 and job["report"]:
        try:
            record["report"] = json.loads(report.read_bytes())
        except (OSError, ValueError) as e:
            record.update(status=1, message=f"its report cannot be read: {type(e).__name__}")
    report.unlink(missing_ok=True)
    if record["status"] == 0:
        os.replace(partial, final)
    else:
        partial.unlink(missing_ok=True)
        final.write_bytes(b"")
    replace(final_record, json.dumps(record).encode())


def extracted(keep: dict[str, Any], file: Path) -> Any:
    """What is kept of a further file of a run."""
    place = importlib.util.spec_from_file_location("extracts", Path(__file__).with_name("extracts.py"))
    assert place is not None and place.loader is not None
    extracts = importlib.util.module_from_spec(place)
    place.loader.exec_module(extracts)
    try:
        return extracts.READERS[keep["reader"]](file, keep["wanted"])
    except extracts.Missing as e:
        raise Unreadable(str(e)) from None
    except (OSError, ValueError, LookupError) as e:
        raise Unreadable(f"its {keep['name']} cannot be read: {type(e).__name__}") from None


def is_result(record: dict[str, Any], run: dict[str, Any]) -> bool:
    return record["status"] in run["accepted"] and not record.get("no_trace")


def simulate(job: dict[str, Any], run: dict[str, Any]) -> bool:
    """Whether it has a result."""
    marker = Path(job["results"]) / f"{run['key']}.json.gz"
    if marker.exists():
        with gzip.open(marker, "rb") as f:
            return is_result(json.loads(f.readline()), run)
    record: dict[str, Any] = {"status": 0, "message": "", "seconds": 0.0}
    # One line each, after that of the record: to read a run's status, the first line is enough.
    lines: list[Any] = [None]
    kept: dict[str, Any] = {}
    if run["record"]:
        made = json.loads(Path(run["record"]).read_text(encoding="utf-8"))
        if made["status"] != 0:
            record.update(status=made["status"], message=f"no trace: regatta-annotate: {made['message']}", no_trace=True)
        if "report" in made:
            kept["report"] = made["report"]
    if record["status"] == 0:
        stats = scratch(Path(job["results"]) / run["key"], "stats")
        files = [stats.with_suffix(f".kept{i}") for i in range(len(run["keeps"]))]
        further = [o.replace("{file}", str(file)) for keep, file in zip(run["keeps"], files) for o in keep["options"]]
        try:
            status, message, seconds = call([job["program"]] + run["arguments"] + ["--stats", str(stats)] + further,
                                            job["folder"], job["places"] > 0)
            record.update(status=status, message=message.replace(str(stats), "the statistics"), seconds=seconds)
            if status == 0:
                lines[0] = json.loads(stats.read_bytes())
                kept.update({keep["name"]: extracted(keep, file) for keep, file in zip(run["keeps"], files)})
        except (OSError, ValueError) as e:
            record.update(status=1, message=f"its statistics cannot be read: {type(e).__name__}")
        except Unreadable as e:
            lines[0] = None
            record.update(status=1, message=str(e))
        finally:
            for file in (stats, *files):
                file.unlink(missing_ok=True)
    lines += [kept] if kept else []
    replace(marker, gzip.compress("".join(json.dumps(x) + "\n" for x in (record, *lines)).encode(), 1, mtime=0))
    return is_result(record, run)


def work(job: dict[str, Any], ahead: bool = False) -> int:
    """The exit status."""
    if job["kind"] == "annotate":
        annotate(job, ahead)
        return 0
    Path(job["results"]).mkdir(parents=True, exist_ok=True)
    for run in job["runs"]:
        # Statistics of a failed run are no result; its group goes on unless the first failure is to end the study.
        if not simulate(job, run) and job["fail_fast"]:
            return 1
    return 0


def place(folder: Path, count: int) -> IO[str]:
    """Waits until fewer than `count` workers work. The file that it returns is to stay open meanwhile."""
    places = [open(folder / f"place.{i}", "w", encoding="utf-8") for i in range(count)]
    while True:
        for file in places:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            except BlockingIOError:
                pass
        time.sleep(0.02)


def make(file: Path, ahead: bool) -> int:
    """The exit status."""
    begun = file.with_name("begun")
    with open(file, "r+", encoding="utf-8") as f:
        job = json.load(f)
        if not job["places"]:
            return work(job, ahead)
        leash()
        if not ahead:
            begun.touch()
        # If two workers have the same job, one waits, and then finds everything made.
        fcntl.flock(f, fcntl.LOCK_EX)
        with place(file.parent, job["places"]):
            if "lock" in job and has_ended(job["lock"]):
                return 1
            status = work(job, ahead)
        if status:
            begun.touch()
        return status


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    ahead = sys.argv[1] == "--ahead"
    files = [Path(name) for name in sys.argv[1 + ahead:]]
    try:
        for file in files:
            if ahead and file.with_name("begun").exists():
                break
            if make(file, ahead) != 0:
                return 1
        return 0
    except OSError as e:
        print(f"cannot write '{e.filename}': {e.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
