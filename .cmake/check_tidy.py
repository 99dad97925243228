#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy, with the checks of .clang-tidy, over the sources of every library, model and tool; not over tests.

Most of its time goes into SystemC's headers and the standard library's, so that sources of one folder (platform/sm, models/wir)
are read as one file. Where names of two sources clash in that, the folder is halved until they do not.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOMS = ("traces", "compiler", "platform", "models", "examples")


@dataclasses.dataclass(frozen=True)
class Source:
    """One file that the compiler is given: our own, or CMake's one of several."""

    file: Path
    room: str
    options: tuple  # each a tuple of one argument or two


def sources(build):
    """Those of the compilation database that are ours and no tests, each once: some are compiled for several instruction sets."""
    root = Path.cwd()
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        base = build if file.is_relative_to(build) else root
        if not file.is_relative_to(base):
            continue
        parts = file.relative_to(base).parts
        # In the build folder only what CMake joined: the rest is generated, by us or by Verilator.
        generated = base == build and ("Unity" not in parts or any(p.endswith("_verilated.dir") for p in parts))
        if parts[0] not in ROOMS or generated or file in found:
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if re.search(r"\+\+(-\d+)?$", word))  # behind what caches its results
        arguments = iter(words[compiler + 1 :])
        options = []
        for argument in arguments:
            if argument in ("-o", "-c"):
                next(arguments)
            elif argument == "-include":
                next(arguments)  # compiled headers: a source includes what it uses
            elif argument == "-isystem":
                options.append((argument, next(arguments)))
            else:
                options.append((argument,))
        found[file] = Source(file, "/".join(parts[:2]), tuple(options))
    return list(found.values())


class Tidy:
    def __init__(self, build):
        self._build = build
        self._folder = build / "tidy"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        self._numbers = itertools.count()

    def check(self, group):
        """Output of clang-tidy; empty when it found nothing."""
        # Numbered: CMake names what it joined alike (unity_0_cxx) in every target of a room.
        folder = self._folder / f"{next(self._numbers)}.{group[0].room.replace('/', '_')}.{group[0].file.stem}"
        folder.mkdir()
        file = group[0].file
        if len(group) > 1:
            file = folder / "all.cpp"
            file.write_text("".join(f'#include "{source.file}"\n' for source in group))
        options = dict.fromkeys(option for source in group for option in source.options)
        command = shlex.join(["c++", *(argument for option in options for argument in option), "-c", str(file)])
        (folder / "compile_commands.json").write_text(json.dumps([{"directory": str(self._build), "file": str(file), "command": command}]))
        done = subprocess.run(["clang-tidy", "-p", str(folder), f"--config-file={Path.cwd() / '.clang-tidy'}", "--quiet", str(file)],
                              text=True, capture_output=True, check=False)
        if done.returncode == 0:
            return ""
        if len(group) > 1 and "[clang-diagnostic-error]" in done.stdout:
            half = len(group) // 2
            return self.check(group[:half]) + self.check(group[half:])
        return done.stdout or done.stderr or f"{file}: clang-tidy ended with status {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="has compile_commands.json and generated headers, as build/release after make tools")
    parser.add_argument("jobs", type=int, nargs="?", default=os.cpu_count())
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="of which folders only, as models/wir")
    arguments = parser.parse_args()
    if shutil.which("clang-tidy") is None:
        sys.exit("check_tidy.py: clang-tidy is missing (.cmake/setup-packages.sh --ci installs it)")
    groups = {}
    for source in sources(arguments.build.resolve()):
        if not arguments.rooms or source.room in arguments.rooms:
            groups.setdefault(source.room, []).append(source)
    if not groups:
        sys.exit(f"check_tidy.py: no sources of {' '.join(arguments.rooms) or 'ours'} in {arguments.build}/compile_commands.json")
    tidy = Tidy(arguments.build.resolve())
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        # The longest first.
        for found in pool.map(tidy.check, sorted(groups.values(), key=len, reverse=True)):
            if found:
                bad += 1
                print(found, flush=True)
    print(f"{sum(map(len, groups.values()))} files of {len(groups)} folders: {f'{bad} folders are not tidy' if bad else 'tidy'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
