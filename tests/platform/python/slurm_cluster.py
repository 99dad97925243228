# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of two nodes on this host, for tests: munged, slurmctld and a slurmd per node, on loopback.

It needs root and Debian's slurm-wlm and munge, but neither systemd nor anything of /etc. All its files are in one folder. Each
daemon has a guard, which is this file as a program: the guard is the parent of all that the daemon leaves behind (job steps,
jobs), and kills it when the daemon is to end or when the test has ended, however that ended.
"""

import contextlib
import ctypes
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_DAEMONS = ("munged", "slurmctld", "slurmd")
_CLIENTS = ("sbatch", "scontrol", "scancel", "squeue", "sinfo")
NODES = ("n1", "n2")


def _program(name):
    """Daemons are not in everybody's PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_not():
    """Why there can be no cluster here; empty: there can."""
    absent = [name for name in (*_DAEMONS, *_CLIENTS) if _program(name) is None]
    if absent:
        return f"no {', '.join(absent)} (.cmake/setup-packages.sh --studies-tests)"
    return "" if os.geteuid() == 0 else "Slurm's daemons need root here, to start jobs"


_CONF = """\
ClusterName=regatta
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job of a lost node is run again after so many seconds; by default 120.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SlurmdTimeout={timeout}
KillWait=1
OverTimeLimit=0
InactiveLimit=0
MessageTimeout=5
ReturnToService=2
MinJobAge=300
"""


class PortTaken(Exception):
    """Between the choice of a port and its use somebody else took it."""


def _free_ports(n):
    """Not of those that the kernel gives to outgoing connections: a daemon that asks for another one would take them."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    candidates = [port for port in range(10000, 65000) if not first <= port <= last]
    ports = []
    for port in random.SystemRandom().sample(candidates, len(candidates)):
        with contextlib.suppress(OSError), socket.socket() as s:
            s.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == n:
            return ports
    raise AssertionError(f"Slurm: no {n} free ports on 127.0.0.1 outside {first} to {last}")


class Cluster:
    """Context manager. `slurmd_timeout`: seconds after which a silent node is down, and its jobs with it."""

    def __init__(self, cores=1, slurmd_timeout=5):
        self._cores = cores
        self._timeout = slurmd_timeout
        self._guards = {}

    def __enter__(self):
        for _ in range(4):
            with contextlib.suppress(PortTaken):
                return self._begin()
        return self._begin()

    def _begin(self):
        self.folder = Path(tempfile.mkdtemp(prefix="slurm.", dir="/tmp"))  # short, for a socket's name
        try:
            self._configure()
            self._start("munged", "-F", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={self.folder}/munge.key",
                        f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                        f"--seed-file={self.folder}/munged.seed")
            self._wait("munged's socket", (self.folder / "munge.socket").exists)
            self._start("slurmctld", "-D", "-i", "-f", str(self.conf))
            for node in NODES:
                self.start_node(node)
            self._wait("idle nodes", self._are_idle)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in list(self._guards):
            self._stop(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _configure(self):
        ports = _free_ports(1 + len(NODES))
        host = socket.gethostname().split(".")[0]
        text = _CONF.format(folder=self.folder, ports=ports, host=host, timeout=self._timeout)
        for node, port in zip(NODES, ports[1:]):
            text += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self._cores} RealMemory=1000 State=UNKNOWN\n"
        text += f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP\n"
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(text)
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    def _are_idle(self):
        # slurmd ends then, while slurmctld waits for it.
        if any("Unable to bind listen port" in p.read_text(errors="replace") for p in self.folder.glob("*.out")):
            raise PortTaken
        return all(self.state(node).startswith("IDLE") for node in NODES)

    @property
    def environment(self):
        """For sbatch, and whoever calls it."""
        return {"SLURM_CONF": str(self.conf)}

    # --- daemons ---

    def _start(self, program, *arguments, name=None):
        with open(self.folder / f"{name or program}.out", "ab") as out:
            self._guards[name or program] = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(_program(program)), *arguments], stdin=subprocess.PIPE, stdout=out,
                stderr=out, start_new_session=True, env={**os.environ, **self.environment})

    def _stop(self, name):
        guard = self._guards.pop(name)
        guard.stdin.close()
        guard.wait(600)

    def start_node(self, node):
        (self.folder / f"spool.{node}").mkdir(exist_ok=True)
        self._start("slurmd", "-D", "-N", node, "-f", str(self.conf), name=node)

    def lose_node(self, node):
        """slurmd is killed, and all that it started, as if the node had lost its power."""
        self._stop(node)

    def pid(self, node):
        """Of its slurmd."""
        return int((self.folder / f"slurmd.{node}.pid").read_text())

    def _wait(self, what, is_so, seconds=600):
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                logs = "".join(f"\n--- {p.name}\n{p.read_text(errors='replace')[-2000:]}"
                               for p in sorted((*self.folder.glob("*.log"), *self.folder.glob("*.out"))))
                raise AssertionError(f"Slurm: {what}: not so after {seconds} s{logs}")
            time.sleep(0.1)

    # --- questions ---

    def ask(self, *command):
        return subprocess.run(command, env={**os.environ, **self.environment}, text=True, capture_output=True, check=False).stdout

    def state(self, node):
        """IDLE, ALLOCATED, DOWN, ... with marks of scontrol: IDLE* does not answer."""
        found = re.search(r"State=(\S+)", self.ask("scontrol", "show", "node", node))
        return found[1] if found else ""

    def wait_for_node(self, node, beginning):
        self._wait(f"{node} {beginning}", lambda: self.state(node).startswith(beginning))

    def jobs(self):
        """Fields of scontrol for all jobs that the controller remembers."""
        return [dict(field.split("=", 1) for field in line.split() if "=" in field)
                for line in self.ask("scontrol", "show", "job", "-o", "-a").splitlines() if line.startswith("JobId=")]


# --- the guard ---

def _below(pid):
    """All processes below one, the nearest first."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                parents.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(0), [])
        found += children
        waiting += children
    return found


def _guard(command):
    """Runs the command until its standard input ends, then kills everything that came of it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Of orphans nobody else asks.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def as_usual():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)

    subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=as_usual)
    while os.read(0, 1):
        pass
    # What is killed may have started something meanwhile.
    while below := _below(os.getpid()):
        for pid in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


if __name__ == "__main__":
    _guard(sys.argv[1:])
