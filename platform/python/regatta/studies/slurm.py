# SPDX-License-Identifier: Apache-2.0
"""Snakemake's profile for Slurm: how a job is submitted, asked about and cancelled.

Job states come from `scontrol show job`, which needs no accounting database. Slurm forgets a job some minutes after
its end (MinJobAge), so each job also leaves its exit status in a file, which is looked at first.
"""

import json
import os
import shlex
from pathlib import Path

from .campaign import Slurm, write_whole

_JOB = """\
#!/bin/sh
# properties = {{properties}}
# Snakemake's command ends this shell itself.
trap 'status=$?; echo $status >{jobs}/.$SLURM_JOB_ID && mv {jobs}/.$SLURM_JOB_ID {jobs}/$SLURM_JOB_ID; exit $status' EXIT
{{exec_job}}
"""

_STATUS = """\
#!/bin/sh
# Prints running, success or failed, as Snakemake asks.
if [ -f {jobs}/"$1" ]; then
  [ "$(cat {jobs}/"$1")" = 0 ] && echo success || echo failed
  exit 0
fi
state=$(scontrol show job -o "$1" 2>/dev/null | sed -n 's/.* JobState=\\([A-Z_]*\\).*/\\1/p')
case $state in
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | STOPPED | RESIZING | SIGNALING | STAGE_OUT) echo running ;;
  REQUEUED | REQUEUE_HOLD) echo running ;;
  COMPLETED) echo success ;;
  # The controller forgot the job, or does not answer: then it is asked again later.
  "") scontrol ping 2>/dev/null | grep -q 'is UP' && echo failed || echo running ;;
  *) echo failed ;;
esac
"""


def submit_command(name: str, options: Slurm, logs: Path) -> str:
    words = ["sbatch", "--parsable", f"--job-name=regatta-{name}", f"--output={logs}/%j.log", "--ntasks=1",
             "--cpus-per-task=1", "--no-requeue"]
    for option, value in (("partition", options.partition), ("account", options.account), ("time", options.time),
                          ("mem", options.memory)):
        if value:
            words.append(f"--{option}={value}")
    # Braces are Snakemake's in this text.
    return shlex.join(words + list(options.extra)).replace("{", "{{").replace("}", "}}")


def write_profile(folder: Path, name: str, options: Slurm, snakemake_major: int) -> Path:
    """The folder for --profile. Not tested with Snakemake 8 and later (which need the plugin cluster-generic)."""
    profile, jobs = folder / "slurm", folder / "slurm" / "jobs"
    jobs.mkdir(parents=True, exist_ok=True)
    for old in jobs.iterdir():
        old.unlink()
    quoted = shlex.quote(str(jobs))
    # Within the quotes of trap; braces are Snakemake's in this text.
    inner = quoted.replace("'", "'\\''").replace("{", "{{").replace("}", "}}")
    write_whole(profile / "job.sh", _JOB.format(jobs=inner))
    status = profile / "status.sh"
    write_whole(status, _STATUS.format(jobs=quoted))
    os.chmod(status, 0o755)
    submit = submit_command(name, options, jobs.parent)
    settings: dict[str, object] = {"jobscript": str(profile / "job.sh"), "latency-wait": 60}
    if snakemake_major < 8:
        settings.update({"cluster": submit, "cluster-status": shlex.quote(str(status)), "cluster-cancel": "scancel",
                         "max-jobs-per-second": 20, "max-status-checks-per-second": 20})
    else:
        settings.update({"executor": "cluster-generic", "cluster-generic-submit-cmd": submit,
                         "cluster-generic-status-cmd": shlex.quote(str(status)), "cluster-generic-cancel-cmd": "scancel"})
    # JSON's texts and numbers are YAML's.
    write_whole(profile / "config.yaml", "".join(f"{k}: {json.dumps(v)}\n" for k, v in settings.items()))
    return profile
