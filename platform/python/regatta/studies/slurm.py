# SPDX-License-Identifier: Apache-2.0
"""Snakemake's profile for Slurm: how a job is submitted, asked about and cancelled; and what Slurm did to jobs.

Job states come from `scontrol show job`, which needs no accounting database. Slurm forgets a job some minutes after
its end (MinJobAge), so each job also leaves its exit status in a file, which is looked at first.

Files of NAME.study/slurm: `submitted` has the number of each job, `jobs/NUMBER` the exit status of each that ended by
itself, `failed` number, state, time and node of each that failed or that Slurm ended.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

from ..files import write_whole
from .campaign import Slurm

_JOB = """\
#!/bin/sh
# properties = {{properties}}
# Snakemake's command ends this shell itself.
trap 'status=$?; echo $status >{jobs}/.$SLURM_JOB_ID && mv {jobs}/.$SLURM_JOB_ID {jobs}/$SLURM_JOB_ID; exit $status' EXIT
{{exec_job}}
"""

_SUBMIT = """\
#!/bin/sh
# Prints the job's number. With several clusters, sbatch adds the cluster's name to it.
number=$({sbatch} "$@") || exit
number=${{number%%;*}}
echo "$number" >>{folder}/submitted
echo "$number"
"""

_STATUS = """\
#!/bin/sh
# Prints running, success or failed, as Snakemake asks.
# Read once for each question: the job may end between two looks.
ended() {{ cat {folder}/jobs/"$1" 2>/dev/null; }}
if [ "$(ended "$1")" = 0 ]; then
  echo success
  exit 0
fi
job=$(scontrol show job -o "$1" 2>/dev/null)
value() {{ echo "$job" | tr ' ' '\\n' | sed -n "s/^$1=//p"; }}
state=$(value JobState)
case $state in
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | STOPPED | RESIZING | SIGNALING | STAGE_OUT) echo running ;;
  REQUEUED | REQUEUE_HOLD) echo running ;;
  COMPLETED) echo success ;;
  "")
    # The controller did not answer, and is asked again later; or it has forgotten the job, which it does some time after
    # the job's end: then the job has left its status, or was ended without it.
    forgotten=$(scontrol ping 2>/dev/null | grep -q 'is UP' && ! scontrol show job -o "$1" >/dev/null 2>&1 && echo yes)
    case $(ended "$1")/$forgotten in
      0/*) echo success ;;
      /) echo running ;;
      *) echo failed ;;
    esac
    ;;
  *)
    echo "$1 $state $(value RunTime) $(value NodeList)" >>{folder}/failed
    echo failed
    ;;
esac
"""


def _job_name(name: str) -> str:
    return f"regatta-{name}"


def submit_command(name: str, options: Slurm, logs: Path) -> str:
    # --requeue: if a node is lost, Slurm runs its jobs again on another one.
    words = ["sbatch", "--parsable", f"--job-name={_job_name(name)}", f"--output={logs}/%j.log", "--ntasks=1",
             "--cpus-per-task=1", "--requeue"]
    for option, value in (("partition", options.partition), ("account", options.account), ("time", options.time),
                          ("mem", options.memory)):
        if value:
            words.append(f"--{option}={value}")
    return shlex.join(words + list(options.extra))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def unfinished_jobs(folder: Path) -> list[str]:
    """Numbers of the jobs of the last run that have not ended with status 0."""
    profile = folder / "slurm"
    return [n for n in _lines(profile / "submitted") if n.isdigit() and _lines(profile / "jobs" / n) != ["0"]]


def cancel(folder: Path, name: str) -> None:
    """Cancels the jobs of the last run that have not ended: those in the queue, and those that a killed study left."""
    left = unfinished_jobs(folder)
    for begin in range(0, len(left), 200):
        # The name: a folder that was copied to another cluster has numbers of other jobs.
        command = ["scancel", "--quiet", f"--name={_job_name(name)}", *left[begin:begin + 200]]
        try:
            subprocess.run(command, timeout=60, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            return  # the next run tries it again
    (folder / "slurm" / "submitted").unlink(missing_ok=True)


def failed_jobs(folder: Path) -> list[str]:
    """A line for each job of the last run that failed or that Slurm ended."""
    told = []
    for line in dict.fromkeys(_lines(folder / "slurm" / "failed")):
        number, state, seconds, node = (line.split() + [""] * 4)[:4]
        told.append(f"job {number}: {state} after {seconds}{' on ' * bool(node)}{node} "
                    f"({folder / 'slurm' / (number + '.log')})")
    return told


def write_profile(folder: Path, name: str, options: Slurm) -> Path:
    """The folder for --profile. Snakemake's own executor for Slurm asks sacct, which needs Slurm's accounting database."""
    profile, jobs = folder / "slurm", folder / "slurm" / "jobs"
    jobs.mkdir(parents=True, exist_ok=True)
    for old in (*jobs.iterdir(), *profile.glob("*.log"), profile / "submitted", profile / "failed"):
        old.unlink(missing_ok=True)
    # Within the quotes of trap; braces are Snakemake's in this text.
    inner = shlex.quote(str(jobs)).replace("'", "'\\''").replace("{", "{{").replace("}", "}}")
    write_whole(profile / "job.sh", _JOB.format(jobs=inner))
    submit, status = profile / "submit.sh", profile / "status.sh"
    quoted = shlex.quote(str(profile))
    write_whole(submit, _SUBMIT.format(sbatch=submit_command(name, options, profile), folder=quoted))
    write_whole(status, _STATUS.format(folder=quoted))
    for script in (submit, status):
        os.chmod(script, 0o755)
    # Snakemake replaces braces in this one, but not in the other.
    submit_call = shlex.quote(str(submit)).replace("{", "{{").replace("}", "}}")
    settings = {"jobscript": str(profile / "job.sh"), "latency-wait": 60, "cluster": submit_call,
                "cluster-status": shlex.quote(str(status)), "cluster-cancel": "scancel", "max-jobs-per-second": 20,
                "max-status-checks-per-second": 20}
    # JSON's texts and numbers are YAML's.
    write_whole(profile / "config.yaml", "".join(f"{k}: {json.dumps(v)}\n" for k, v in settings.items()))
    return profile
