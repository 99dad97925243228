# SPDX-License-Identifier: Apache-2.0
"""Frames of pandas. The only module that imports pandas, and only when a frame is asked for."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Sequence, Type, Union

from .errors import InputError

if TYPE_CHECKING:
    # Debian's pandas has no types; with stubs or a newer pandas, callers see DataFrame.
    from pandas import DataFrame as DataFrame  # type: ignore[import]


def pandas() -> Any:
    """The module, or an ImportError that says how to get it."""
    try:
        import pandas as module
    except ImportError:
        raise ImportError("frames need pandas, which is not installed here: apt-get install python3-pandas (Debian, "
                          "Ubuntu), or pip install pandas") from None
    return module


def frame(rows: Iterable[Sequence[Any]], columns: Sequence[str], with_gaps: Iterable[str] = ()) -> DataFrame:
    """Columns keep their names and order when there are no rows. `with_gaps`: columns that may lack values; their whole
    numbers stay whole numbers, where pandas would make them floats."""
    found = [list(row) for row in rows]
    columns = list(columns)
    made = pandas().DataFrame(found, columns=columns)
    for column in with_gaps:
        values = [row[columns.index(column)] for row in found]
        there = [v for v in values if v is not None]
        if 0 < len(there) < len(values) and all(isinstance(v, int) and not isinstance(v, bool) for v in there):
            made[column] = pandas().array(values, dtype="Int64")
    return made


def of_tuples(kind: Type[Any], rows: Iterable[Any], index: str) -> DataFrame:
    """Of named tuples, numbered from 0 in the index."""
    found = frame(rows, kind._fields)
    found.index.name = index
    return found


def of_instructions(instructions: List[Dict[str, Any]]) -> DataFrame:
    columns = list(instructions[0]) if instructions else ["index"]
    rows = [[tuple(v) if isinstance(v, list) else v for v in i.values()] for i in instructions]
    return frame(rows, columns, ("branch_target", "ptx_line", "source_line")).set_index("index")


def of_csv(text: str, name: str, first: Sequence[str], written_by: str) -> DataFrame:
    """A table that regatta-sim writes; its first columns are known."""
    header = text.split("\n", 1)[0].strip().split(",")
    if header[:len(first)] != list(first):
        raise InputError(f"{name}:1: found the columns '{','.join(header[:4])[:60]}', expected '{','.join(first)}, ...' as "
                         f"regatta-sim {written_by} writes them")
    module = pandas()
    try:
        found = module.read_csv(io.StringIO(text))
        for column in found:
            found[column] = module.to_numeric(found[column])
    except ValueError as e:
        raise InputError(f"{name}: {' '.join(str(e).split())}; expected a table as regatta-sim {written_by} writes it") from None
    return found


SAMPLES = (("cycle", "launch"), "--sample-file")
CTAS = (("launch", "sm", "cta", "launched", "finished"), "--cpi-ctas")


def _read(path: Union[str, "os.PathLike[str]"]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path}: cannot be read: {e.strerror if isinstance(e, OSError) else 'it is no text'}") from None


def read_samples(path: Union[str, "os.PathLike[str]"]) -> DataFrame:
    """The file of `regatta-sim --sample N --sample-file`: a row per interval. Columns: `cycle` (the end of the
    interval), `launch`, and the increments of each counter, module.name; `total.` columns sum the SMs. Throws
    InputError."""
    return of_csv(_read(path), str(path), *SAMPLES)


def read_ctas(path: Union[str, "os.PathLike[str]"]) -> DataFrame:
    """The file of `regatta-sim --cpi-ctas`: a row per CTA. Columns: launch, sm, cta, `launched` and `finished` (cycles),
    `warps`, and the warp-cycles by state, which add up to `warp_cycles`. Throws InputError."""
    return of_csv(_read(path), str(path), *CTAS)
