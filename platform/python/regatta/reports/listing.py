# SPDX-License-Identifier: Apache-2.0
"""Annotated listings (regatta-annotate --listing), by kernel."""

import re
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional

from ..statistics import InputError

_KERNEL = re.compile(r"// kernel (\S+) from (.*)\Z")
_INSTRUCTION = re.compile(r" +(\d+) +\d+  (\S.*)\Z")
_BLOCK = re.compile(r"B\d+:")
_VARIANT = re.compile(r"// variant (\w+), ")


class Line(NamedTuple):
    """`instruction`: its index, None for what stands between instructions."""
    instruction: Optional[int]
    text: str


def read(path: str, variant: str = "plain") -> Dict[str, List[Line]]:
    """Kernel to its lines in a variant of the trace, in the first one if the listing has no other; throws InputError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is no text"
        raise InputError(f"{path}: cannot be read: {reason}") from None
    kernels: Dict[str, List[Line]] = {}
    variants: Dict[str, Dict[str, List[Line]]] = {"plain": kernels}
    lines: List[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.rstrip()
        kernel, instruction = _KERNEL.match(line), _INSTRUCTION.match(line)
        another = _VARIANT.match(line)
        if another and kernels:
            kernels = variants.setdefault(another[1], {})
        elif kernel:
            lines = kernels.setdefault(kernel[1], [])
        elif not kernels:
            if line and len(variants) == 1:
                raise InputError(f"{path}:{number}: found '{line[:40]}', expected '// kernel NAME from FILE', as "
                                 f"regatta-annotate --listing writes it")
        elif instruction:
            lines.append(Line(int(instruction[1]), re.sub(r" {2,}//", "  //", instruction[2])))
        elif line and (lines or _BLOCK.match(line)):  # not the kernel's head
            lines.append(Line(None, line))
    if not variants["plain"]:
        raise InputError(f"{path}: found no kernel, expected a listing of regatta-annotate --listing")
    return variants.get(variant, variants["plain"])
