# SPDX-License-Identifier: Apache-2.0
"""The kernels that come with regatta: their folders, and what its pages and tables say of them."""

import csv
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Optional

from .errors import InputError
from .tools import beside_package


def share() -> Optional[Path]:
    """The folder with traces/kernels and examples: of the wheel, of the installation or of the checkout that this package is in."""
    for place in beside_package("share"):
        if (place / "traces" / "kernels").is_dir():
            return place
    return None


def folder() -> Optional[Path]:
    """traces/kernels: REGATTA_KERNELS of the environment, or what this regatta brought."""
    asked = os.environ.get("REGATTA_KERNELS")
    if asked:
        return Path(asked)
    place = share()
    return place / "traces" / "kernels" if place is not None else None


def needed_folder() -> Path:
    place = folder()
    if place is None:
        raise InputError(f"found no folder traces/kernels in {', '.join(f'{p}' for p in beside_package('share'))}; expected the kernels "
                         "of an installation or of a checkout there: name the folder by REGATTA_KERNELS")
    if not place.is_dir():
        raise InputError(f"REGATTA_KERNELS: found no folder '{place}', expected traces/kernels of a checkout")
    return place


def _programs(suites: Path) -> Dict[str, List[str]]:
    """Names in the papers, by the kernel that stands for them. A suite's file is TOML of one key a line."""
    found: Dict[str, List[str]] = {}
    for path in sorted(suites.glob("*.toml")):
        name, text = "", path.read_text(encoding="utf-8")
        if not re.search(r"(?m)^paper = ", text):
            continue
        for key, value in re.findall(r'(?m)^(name|kernel) = "([^"]*)"', text):
            if key == "name":
                name = value
            else:
                known = found.setdefault(value, [])
                if name.lower() not in (k.lower() for k in known):
                    known.append(name)
    return found


def _launches(results: Path) -> Dict[str, int]:
    """At full size, as the papers' programs were counted."""
    if not results.is_file():
        return {}
    with results.open(encoding="utf-8", newline="") as file:
        return {row["kernel"]: int(row["launches"]) for row in csv.DictReader(file)}


def _described(page: Path) -> Dict[str, List[str]]:
    """Full size and what the kernel exercises, of the tables of the page."""
    if not page.is_file():
        return {}
    text = page.read_text(encoding="utf-8").split("What was left out")[0]
    rows = re.findall(r"(?m)^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", text)
    return {name: [size.replace("`", "").strip(), what.replace("`", "").strip()] for name, size, what in rows}


def kernels() -> List[Dict[str, Any]]:
    """name, programs (names in the papers), launches (at full size, or None), full_size, exercises, launch (the file). Throws
    InputError without kernels."""
    place = needed_folder()
    programs = _programs(place.parent / "suites")
    launches = _launches(place.parents[1] / "examples" / "reproduce" / "suites" / "results.csv")
    described = _described(place / "README.md")
    found = []
    for path in sorted(place.glob("*/launch.toml")):
        name = path.parent.name
        size, what = described.get(name, ["", ""])
        found.append({"name": name, "programs": programs.get(name, []), "launches": launches.get(name), "full_size": size,
                      "exercises": what, "launch": str(path)})
    if not found:
        raise InputError(f"found no kernel in '{place}', expected folders with launch.toml")
    return found
