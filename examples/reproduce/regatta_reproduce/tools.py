# SPDX-License-Identifier: Apache-2.0
"""The programs of a build: what identifies them, and running them."""

import hashlib
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Dict, List, Optional

from . import ReproductionError


def digest_of_file(path: Path) -> str:
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


class ToolFailure(ReproductionError):
    """A program ended with a status other than 0. `status` 2 is its refusal of what it was asked for."""

    def __init__(self, program: str, what: str, status: int, message: str):
        super().__init__(f"{program} ended with status {status} on {what}: {message}")
        self.status = status
        self.message = message


class Tools:
    """regatta-annotate and regatta-sim in the folder `binaries`, called as a user would."""

    def __init__(self, binaries: Path):
        self.binaries = Path(binaries)
        self._digests: Dict[str, str] = {}
        self._lock = threading.Lock()
        self._children: set = set()
        self._stopped = False
        for program in ("regatta-annotate", "regatta-sim"):
            path = self.binaries / program
            if not os.access(path, os.X_OK):
                raise ReproductionError(f"{path} is missing or no program: build regatta first (make build), or say "
                                        f"where its programs are (--bin)")

    def path(self, program: str) -> Path:
        return self.binaries / program

    def digest(self, program: str) -> str:
        """Of the program's bytes: another build is another program."""
        with self._lock:
            if program not in self._digests:
                self._digests[program] = digest_of_file(self.path(program))
            return self._digests[program]

    def run(self, program: str, arguments: List[str], what: str, folder: Optional[Path] = None) -> None:
        """Runs to the end. Throws ToolFailure, with the last line it wrote to stderr, when that is no good one."""
        with self._lock:
            if self._stopped:
                raise ReproductionError("stopped")
            child = subprocess.Popen([str(self.path(program).resolve())] + arguments, cwd=folder,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
            self._children.add(child)
        try:
            _, errors = child.communicate()
        finally:
            with self._lock:
                self._children.discard(child)
        if child.returncode == 0:
            return
        prefix = program + ": "
        lines = [line for line in errors.splitlines() if line.strip()]
        told = [line[len(prefix):] for line in lines if line.startswith(prefix)]
        message = told[-1] if told else lines[-1] if lines else "it said nothing"
        raise ToolFailure(program, what, child.returncode, message)

    def stop(self) -> None:
        """Ends what is running; nothing new starts."""
        with self._lock:
            self._stopped = True
            for child in self._children:
                child.send_signal(signal.SIGTERM)
