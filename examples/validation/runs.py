# SPDX-License-Identifier: Apache-2.0
"""Runs of regatta's tools whose results stay in a folder, named by what they were made from."""
import hashlib
import os
import pathlib
import subprocess


def digest(*parts):
    """A name for what depends on these: files count by their contents."""
    h = hashlib.sha256()
    for part in parts:
        h.update(part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode())
        h.update(b"\0")
    return h.hexdigest()[:16]


def run(command, file):
    """Makes `file` by the command, to which the name of a file beside it is added last."""
    if file.exists():
        return
    part = file.with_name(f"{file.stem}.{os.getpid()}.part{file.suffix}")
    done = subprocess.run([*map(str, command), str(part)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        part.unlink(missing_ok=True)
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    part.replace(file)


def knobs(programs, machine):
    """All values of the machine, those of the files on which it builds too."""
    done = subprocess.run([programs / "regatta-sim", "--machine", machine, "--dump-config"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"--machine {machine}: {done.stderr}")
    return done.stdout


def write(path, text):
    part = pathlib.Path(f"{path}.part")
    part.write_text(text)
    part.replace(path)


def percent(share, digits):
    return f"{100 * share:.{digits}f} %"
