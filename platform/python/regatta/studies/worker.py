# SPDX-License-Identifier: Apache-2.0
"""Makes traces and runs: the program behind pool.py and behind the jobs of a cluster.

It reads jobs from standard input, a line of JSON each (jobs.py), and answers each with a line on standard output:
{"failed": ..., "error": ...}; an error says which file cannot be written. It ends with its input, and with the program
that started it. A run that ends leaves KEY.json.gz, whatever its status. Nothing is left of a run that a signal to this
program interrupts.
"""

import ctypes
import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Mapping, NoReturn

from ..tools import last_words
from . import extracts, inputs, stored

#: Starts it, without what a user's Python would load.
COMMAND = (sys.executable, "-I", "-S", "-B", "-c",
           "import sys; sys.path.insert(0, sys.argv[1]); from regatta.studies import worker; sys.exit(worker.main())",
           str(Path(__file__).resolve().parents[2]))
_PR_SET_PDEATHSIG = 1
CANNOT_WRITE = "cannot write"
# Signals that ask a program to end.
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STOP_SECONDS = 5.0
# In messages of programs: what they read is not to blame.
_OF_HOST = (CANNOT_WRITE, *map(os.strerror, (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EROFS,
    errno.EACCES, errno.EPERM, errno.ESTALE, errno.EBUSY, errno.ETXTBSY, errno.ENODEV, errno.ENXIO, errno.ETIMEDOUT,
    errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH)))
_child: "subprocess.Popen[str] | None" = None
_known = inputs.Known()


_prctl = ctypes.CDLL(None).prctl


def leash(parent: int) -> None:
    """The kernel ends this process when its parent ends, even by SIGKILL: no work goes on behind a study that died."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before
        os._exit(128 + signal.SIGKILL)


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


def call(arguments: list[str], folder: str) -> tuple[int, str, float]:
    """(status, message, seconds). A program that a signal ended has 128 + the signal, as in a shell."""
    global _child
    begin, own = time.monotonic(), os.getpid()
    try:
        _child = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors="replace",
                                  preexec_fn=lambda: leash(own))
    except OSError as e:
        return 127, f"cannot start {arguments[0]}: {e.strerror}", 0.0
    _, errors = _child.communicate()
    status = _child.returncode
    _child = None
    seconds = time.monotonic() - begin
    if status == 0:
        return 0, "", seconds
    if -status in STOPS:
        # Whoever ends a job signals all its processes, the program perhaps before this one: stop() ends the wait.
        time.sleep(STOP_SECONDS)
    if status < 0:
        return 128 - status, f"ended by signal {signal.Signals(-status).name}", seconds
    return status, last_words(os.path.basename(arguments[0]), errors), seconds


def is_of_host(message: str) -> bool:
    """Whether a program failed for want of space, memory, rights and so on: a later run may succeed."""
    return any(text in message for text in _OF_HOST)


def watched(files: Mapping[str, str | None], arguments: list[str], folder: str) -> dict[str, Any]:
    """Runs a program that reads these files, and gives its record. "again": the failure is none of what it read. If one of the
    files changes meanwhile, nobody knows which content the program saw: that is a failure, whatever it did."""
    record: dict[str, Any] = {"status": 1, "message": "", "seconds": 0.0}
    try:
        watch = inputs.Watch(files, _known)
    except inputs.Changed as e:
        return {**record, "message": f"{e} after the runs were planned", "again": True}
    status, message, seconds = call(arguments, folder)
    record.update(status=status, message=message, seconds=seconds)
    if status != 0 and is_of_host(message):
        record["again"] = True
    try:
        watch.end()
    except inputs.Changed as e:
        record.update(status=1, message=f"{e} meanwhile: the result is discarded", again=True)
    return record


class Unreadable(Exception):
    """A run has not written what is to be kept of it."""


def record_of(file: Path, key: str) -> dict[str, Any] | None:
    """Of the trace with this key. None: it is to be made."""
    try:
        record = stored.unseal(file.read_bytes())
    except (OSError, stored.Damaged):
        return None
    return record if record.pop("key", None) == key else None


def keep_record(file: Path, key: str, record: dict[str, Any], trace: Path) -> None:
    """With the digest of the trace: runs find out if it changes."""
    if record["status"] == 0:
        try:
            digest, state = inputs.digest(str(trace))
            record.update(trace=digest, state=[] if inputs.unsettled(state) else state)
        except (OSError, inputs.Changed):
            record.update(status=1, message=f"{trace} went away", again=True)
    replace(file, stored.seal({**record, "key": key}))


def annotate(job: dict[str, Any]) -> dict[str, Any]:
    """Leaves the trace and a record of its making, which it returns. A trace that cannot be made is empty."""
    path = Path(job["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    source = Path(job["source"])
    files = dict(job["files"])
    if job["launch"]:
        source = path.with_suffix(".launch.toml")
        replace(source, job["launch"].encode())
        files[str(source)] = hashlib.sha256(job["launch"].encode()).hexdigest()
    partial, report = scratch(path, "part"), scratch(path, "report")
    options = (["--report", str(report)] if job["report"] else []) + job["options"]
    arguments = [job["program"], "--launch", str(source), "--out", str(partial), *options]
    record = watched(files, arguments, job["folder"])
    record["message"] = record["message"].replace(str(partial), "the trace").replace(str(report), "the report")
    if record["status"] == 0 and job["report"]:
        try:
            record["report"] = json.loads(report.read_bytes())
        except (OSError, ValueError, RecursionError) as e:
            record.update(status=1, message=f"its report cannot be read: {type(e).__name__}")
    report.unlink(missing_ok=True)
    try:
        if record["status"] == 0:
            os.replace(partial, path)
        else:
            path.write_bytes(b"")
        keep_record(path.with_suffix(".json"), job["key"], record, path)
    finally:
        partial.unlink(missing_ok=True)
    return record


def extracted(keep: dict[str, Any], file: Path) -> Any:
    """What is kept of a further file of a run."""
    try:
        return extracts.READERS[keep["reader"]](file, keep["wanted"])
    except extracts.Missing as e:
        raise Unreadable(str(e)) from None
    except extracts.ERRORS as e:
        raise Unreadable(f"its {keep['name']} cannot be read: {type(e).__name__}") from None


def is_result(record: dict[str, Any], run: dict[str, Any]) -> bool:
    return record["status"] in run["accepted"] and not (record.get("no_trace") or record.get("again"))


def marker_of(job: dict[str, Any], key: str) -> Path:
    return Path(job["results"]) / f"{key}.json.gz"


def without_trace(made: dict[str, Any]) -> dict[str, Any]:
    """The record of a run whose trace has this record, of a failure."""
    message = f"no trace: regatta-annotate: {made['message']}"
    record = {"status": made["status"], "message": message, "seconds": 0.0, "no_trace": True}
    return {**record, "again": True} if made.get("again") else record


def simulate(job: dict[str, Any], run: dict[str, Any]) -> bool:
    """Whether it has a result."""
    marker = marker_of(job, run["key"])
    try:
        return is_result(stored.Result(marker, run["key"]).record, run)
    except (OSError, stored.Damaged):
        pass
    document: Any = None
    kept: dict[str, Any] = {}
    files = dict(run["files"])
    record: dict[str, Any] = {"status": 0}
    if run["record"]:
        made = record_of(Path(run["record"]), run["trace_key"])
        if made is None:
            record = {"status": 1, "message": "no trace: the record of its making went away", "seconds": 0.0, "again": True}
        elif made["status"] != 0:
            record = without_trace(made)
        else:
            trace = run["arguments"][0]
            files[trace] = made["trace"]
            _known.learn({trace: [made["trace"], made["state"]]})
        if made is not None and "report" in made:
            kept["report"] = made["report"]
    if record["status"] == 0:
        stats = scratch(Path(job["results"]) / run["key"], "stats")
        own = [stats.with_suffix(f".kept{i}") for i in range(len(run["keeps"]))]
        further = [o.replace("{file}", str(file)) for keep, file in zip(run["keeps"], own) for o in keep["options"]]
        try:
            record = watched(files, [job["program"], *run["arguments"], "--stats", str(stats), *further], job["folder"])
            record["message"] = record["message"].replace(str(stats), "the statistics")
            if record["status"] == 0:
                document = stored.as_statistics(json.loads(stats.read_bytes()))
                kept.update({keep["name"]: extracted(keep, file) for keep, file in zip(run["keeps"], own)})
        except (OSError, ValueError, RecursionError) as e:
            record.update(status=1, message=f"its statistics cannot be read: {type(e).__name__}")
        except Unreadable as e:
            record.update(status=1, message=str(e))
        finally:
            for file in (stats, *own):
                file.unlink(missing_ok=True)
    if record["status"] != 0:
        document = None
    replace(marker, stored.result(run["key"], record, document, kept))
    return is_result(record, run)


def work(job: dict[str, Any]) -> bool:
    """Whether all went well."""
    over = Path(job["over"]) if job["over"] else None  # there as soon as a failure is to end the study
    _known.learn(job["known"])
    Path(job["results"]).mkdir(parents=True, exist_ok=True)
    if over and over.exists():
        return False
    if job["kind"] == "annotate":
        record = annotate(job)
        if record["status"] == 0:
            return True
        if over:
            over.touch()
        for key in job["runs"]:
            replace(marker_of(job, key), stored.result(key, without_trace(record), None, {}))
        return False
    well = True
    for run in job["runs"]:
        if not simulate(job, run):
            well = False  # a failure does not end the group unless it ends the study
            if over:
                over.touch()
        if over and over.exists():
            return False
    return well


def answer(job: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"failed": not work(job), "error": ""}
    except OSError as e:
        return {"failed": True, "error": f"{CANNOT_WRITE} '{e.filename}': {e.strerror}"}


def main() -> int:
    """The exit status: 1 after an error, and after a failure that ends the study."""
    if len(sys.argv) > 2:
        leash(int(sys.argv[2]))
    for number in STOPS:
        signal.signal(number, stop)
    status = 0
    for line in sys.stdin:
        job = json.loads(line)
        told = answer(job)
        if told["error"] or (told["failed"] and job["over"]):
            status = 1
        print(json.dumps(told), flush=True)
    return status
