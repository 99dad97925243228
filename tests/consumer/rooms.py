#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py ROOT: who includes whom, by folder: traces <- compiler, traces <- platform <- models/<idea> <- platform/tool.

The targets hold blocks apart (CMakeLists.txt, room()); this holds the ideas apart, where a target may be linked by mistake. And no
path of a source has more than 90 characters.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]regatta/([a-z_0-9]+)/', re.MULTILINE)
LONGEST = 90
# An idea that stands on another one.
STANDS_ON = {
    ("aging", "greener"): "codecs and windows are axes of the register file whose rows sleep",
    ("finereg", "regmutex"): "vt_regmutex is made in models/finereg",
    ("regmutex", "finereg"): "a section of the pool may forbid that its CTA is switched",
}


def owner(path):
    """The top-level room of a path, or ("models", idea)."""
    if path.parts[0] == "models" and len(path.parts) > 2:
        return ("models", path.parts[1])
    return ("tool",) if path.parts[:2] == ("platform", "tool") else (path.parts[0],)


def headers(root):
    """Name behind regatta/ -> owners of the folders that have it."""
    owners = {}
    for top in ("traces", "compiler", "platform", "models"):
        for folder in sorted((root / top).rglob("include/regatta/*")):
            owners.setdefault(folder.name, set()).add(owner(folder.relative_to(root)))
    return owners


def may(user, used):
    if user == used or used == ("traces",) or user == ("tool",):
        return True
    if user[0] == "models":
        return used == ("platform",) or (used[0] == "models" and (user[1], used[1]) in STANDS_ON)
    return False


def broken(root):
    owners = headers(root)
    found = []
    stands = set()
    for top in ("traces", "compiler", "platform", "models"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            if len(str(path.relative_to(root))) > LONGEST:
                found.append(f"{path.relative_to(root)}: a path of {len(str(path.relative_to(root)))} characters, expected {LONGEST} at most")
            user = owner(path.relative_to(root))
            for name in sorted(set(INCLUDE.findall(path.read_text(encoding="utf-8")))):
                used = owners.get(name, set())
                if not used:
                    found.append(f"{path.relative_to(root)}: includes regatta/{name}/, which no room has")
                elif not any(may(user, one) for one in used):
                    found.append(f"{path.relative_to(root)}: includes regatta/{name}/ of {' or '.join('/'.join(one) for one in sorted(used))}")
                elif user[0] == "models":
                    stands |= {(user[1], one[1]) for one in used if one[0] == "models" and one != user}
    return found, stands


def main():
    found, stands = broken(pathlib.Path(sys.argv[1]))
    for line in found:
        print(line)
    for one in sorted(set(STANDS_ON) - stands):
        print(f"rooms.py: {one[0]} no longer includes {one[1]}: take it from STANDS_ON")
    return bool(found) or stands != set(STANDS_ON)


if __name__ == "__main__":
    sys.exit(main())
