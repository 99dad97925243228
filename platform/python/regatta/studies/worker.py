# SPDX-License-Identifier: Apache-2.0
"""Makes one group of runs, or one trace. Started by Snakemake with `python3 -I -S worker.py JOB.json`.

Stands alone, so that it starts in a few hundredths of a second on any node. One worker makes all runs of its group. A
run that ends leaves runs/KEY.json.gz, whatever its status, and the next run follows. Nothing is left of a run that a
signal to this program interrupts.
"""

import ctypes
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1
_child: "subprocess.Popen[str] | None" = None


def leash() -> None:
    """The kernel ends this process when its parent ends, even by SIGKILL: no work goes on behind a study that died."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def stop(number: int, _frame: Any) -> NoReturn:
    if _child is not None:
        _child.kill()
    os._exit(128 + number)


def replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.part")
    partial.write_bytes(content)
    os.replace(partial, path)


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


def annotate(job: dict[str, Any]) -> None:
    """Leaves the trace and a record of its making. A trace that cannot be made is empty: the runs that need it say so."""
    path = Path(job["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    source = Path(job["source"])
    if job["launch"]:
        source = path.with_suffix(".launch.toml")
        replace(source, job["launch"].encode())
    partial = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.part")
    status, message, seconds = call([job["program"], "--launch", str(source), "--out", str(partial)] + job["options"],
                                    job["folder"], job["leash"])
    if status == 0:
        os.replace(partial, path)
    else:
        partial.unlink(missing_ok=True)
        path.write_bytes(b"")
    record = {"status": status, "message": message, "seconds": seconds}
    replace(path.with_suffix(".json"), json.dumps(record).encode())


def simulate(job: dict[str, Any], run: dict[str, Any]) -> int:
    """The run's status."""
    marker = Path(job["results"]) / f"{run['key']}.json.gz"
    if marker.exists():
        return 0
    record: dict[str, Any] = {"status": 0, "message": "", "seconds": 0.0}
    result = "null"
    if run["record"]:
        made = json.loads(Path(run["record"]).read_text(encoding="utf-8"))
        if made["status"] != 0:
            record.update(status=made["status"], message=f"no trace: regatta-annotate: {made['message']}")
    if record["status"] == 0:
        stats = marker.with_name(f".{run['key']}.{os.uname().nodename}.{os.getpid()}.stats")
        try:
            status, message, seconds = call([job["program"]] + run["arguments"] + ["--stats", str(stats)],
                                            job["folder"], job["leash"])
            record.update(status=status, message=message.replace(str(stats), "the statistics"), seconds=seconds)
            if status == 0:
                # On one line, the second of the file: to read a run's status, its first line is enough.
                result = json.dumps(json.loads(stats.read_bytes()))
        except (OSError, ValueError) as e:
            record.update(status=1, message=f"its statistics cannot be read: {type(e).__name__}")
        finally:
            stats.unlink(missing_ok=True)
    replace(marker, gzip.compress(f"{json.dumps(record)}\n{result}\n".encode(), 1, mtime=0))
    return int(record["status"])


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    if job["leash"]:
        leash()
    if job["kind"] == "annotate":
        annotate(job)
        return 0
    Path(job["results"]).mkdir(parents=True, exist_ok=True)
    for run in job["runs"]:
        # Statistics of a failed run are no result; its group goes on unless the first failure is to end the study.
        if simulate(job, run) != 0 and job["fail_fast"]:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
