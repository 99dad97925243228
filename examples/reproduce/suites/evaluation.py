# SPDX-License-Identifier: Apache-2.0
"""Numbers of kernels and of their entries: from three runs a kernel, and from results.csv and entries.csv. The page is
made from the latter."""

import csv
import io
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

from regatta.statistics import of_all_sms, value
from regatta_reproduce import ReproductionError
from regatta_reproduce.campaign import Result, Run, Trace
from regatta_reproduce.page import csv_text
from regatta_reproduce.suite import launches_of

wide, narrow, locality = "addresses-64", "addresses-32", "locality"


def runs_of(kernel: str, launch: Path) -> List[Run]:
    gtx980 = ("--machine", "gtx980", "--sms", "2")
    gtx480 = ("--machine", "gtx480", "--sms", "1", "--scheme", "wir", "--wir.repeats", "true")
    return [Run(wide, Trace(kernel, launch), gtx980),
            Run(narrow, Trace(kernel, launch, ("--addresses", "32")), gtx980),
            Run(locality, Trace(kernel, launch, ("--max-registers", "63")), gtx480)]


@dataclass(frozen=True)
class Numbers:
    """A row of results.csv. `main` is the entry that executes the most warp instructions."""
    kernel: str
    entries: int
    launches: int
    warp_instructions: int
    active_lanes: float  # mean per warp instruction
    floating_point: float  # fraction of the warp instructions: f32 and f64 add, sub, mul, fma, min, max, compare
    special: float  # fraction: divisions, square roots, other special functions
    registers_64: int  # most of all entries, per thread
    registers_32: int
    shared_bytes: int  # most of all launches, per CTA
    main: str
    main_threads: int  # per CTA
    main_registers: int
    main_shared_bytes: int
    ctas_64: int  # of `main`, per SM of gtx980
    limit_64: str
    ctas_32: int
    limit_32: str
    repeated: float  # fraction of the warp instructions that repeat a computation of their window of 1,000
    bypass: float  # fraction that WIR takes from the reuse buffer
    spilled_63: int  # registers spilled at --max-registers 63, most of all entries
    cycles_64: int
    cycles_32: int
    operands_checked: int
    mismatches: int


@dataclass(frozen=True)
class EntryNumbers:
    """A row of entries.csv."""
    kernel: str
    entry: str
    launches: int
    warp_instructions: int
    threads: int  # most, per CTA
    registers_64: int
    registers_32: int
    shared_bytes: int  # most, per CTA


@dataclass(frozen=True)
class Occupancy:
    """CTAs that an SM holds at a time by each limit: regatta's own rule (platform/baseline/occupancy)."""
    by: Dict[str, int]

    @property
    def ctas(self) -> int:
        return min(self.by.values())

    @property
    def limit(self) -> str:
        return " and ".join(name for name, ctas in self.by.items() if ctas == self.ctas)


def occupancy(config: Mapping[str, Any], threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """`config`: of stats.json."""
    lanes, granularity, sub_cores = config["sm.lanes"], config["sm.register_granularity"], config["sm.sub_cores"]
    warps = -(-threads // lanes)
    allocated = max(1, -(-registers // granularity)) * granularity
    by = {"CTAs": config["sm.ctas"],
          "threads": min(config["sm.warps"] // warps, config["sm.threads"] // (warps * lanes)),
          # All registers of a warp are in one sub-core.
          "registers": config["register_file.registers"] // sub_cores // allocated * sub_cores // warps}
    if shared_bytes > 0:
        unit = config["shared.granularity"]
        by["shared memory"] = config["shared.bytes"] // (-(-shared_bytes // unit) * unit)
    return Occupancy(by)


def entries_of(kernel: str, launch: Path, results: Mapping[Tuple[str, str], Result]) -> List[EntryNumbers]:
    """In the order of the launch file."""
    reports = {name: results[(kernel, name)].report for name in (wide, narrow)}
    entries = {name: {e["name"]: e for e in report["entries"]} for name, report in reports.items()}
    out = []
    shapes = launches_of(launch)
    for entry in dict.fromkeys(s.entry for s in shapes):
        of_it = [s for s in shapes if s.entry == entry]
        launched = [x for x in reports[wide]["launches"] if x["entry"] == entry]
        out.append(EntryNumbers(
            kernel, entry, len(launched), sum(x["warp_instructions"] for x in launched), max(s.threads for s in of_it),
            entries[wide][entry]["registers"], entries[narrow][entry]["registers"],
            entries[wide][entry]["shared_bytes"] + max(s.dynamic_shared for s in of_it)))
    return out


def numbers_of(kernel: str, launch: Path, results: Mapping[Tuple[str, str], Result]) -> Numbers:
    runs = {name: results[(kernel, name)] for name in (wide, narrow, locality)}
    d = {name: r.stats for name, r in runs.items()}
    entries = entries_of(kernel, launch, results)
    main = max(entries, key=lambda e: e.warp_instructions)
    fits = [occupancy(d[name]["config"], main.threads, registers, main.shared_bytes)
            for name, registers in ((wide, main.registers_64), (narrow, main.registers_32))]
    instructions = d[wide]["warp_instructions"]

    def executed(*uses: str) -> float:
        return sum(of_all_sms(d[wide], r"pipeline\.execution", f"{u}_instructions") for u in uses) / instructions

    return Numbers(
        kernel, len(entries), sum(e.launches for e in entries), instructions, d[wide]["thread_instructions"] / instructions,
        executed("fp32", "fp64"), executed("special"), max(e.registers_64 for e in entries),
        max(e.registers_32 for e in entries), max(e.shared_bytes for e in entries), main.entry, main.threads,
        main.registers_64, main.shared_bytes, fits[0].ctas, fits[0].limit, fits[1].ctas, fits[1].limit,
        value(d[locality], "stats.wir.repeated_fraction_1k"), value(d[locality], "stats.wir.bypass_fraction"),
        max(e["spills"] for e in runs[locality].report["entries"]), d[wide]["cycles"], d[narrow]["cycles"],
        sum(x["checks"]["operands_checked"] for x in d.values()), sum(x["checks"]["mismatches"] for x in d.values()))


# --- results.csv and entries.csv ---

Row = TypeVar("Row", Numbers, EntryNumbers)
_types = {"str": str, "int": int, "float": float, str: str, int: int, float: float}


def text_of(kind: Type[Row], rows: Sequence[Row]) -> str:
    columns = [f.name for f in fields(kind)]
    return csv_text(columns, [[getattr(r, c) for c in columns] for r in rows])


def rows_of(kind: Type[Row], text: str, where: str) -> List[Row]:
    columns = [f.name for f in fields(kind)]
    header, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    if header != columns:
        raise ReproductionError(f"{where}: its columns are {', '.join(header) or 'none'}; expected {', '.join(columns)}")
    out = []
    for line, row in enumerate(rows, 2):
        try:
            if len(row) != len(columns):
                raise ValueError
            out.append(kind(*(_types[f.type](cell) for f, cell in zip(fields(kind), row))))
        except ValueError:
            raise ReproductionError(f"{where}:{line}: found '{','.join(row)}', expected {len(columns)} cells of the "
                                    f"columns' types") from None
    return out


def read(kind: Type[Row], path: Path) -> List[Row]:
    try:
        return rows_of(kind, path.read_text(encoding="utf-8"), str(path))
    except OSError as e:
        raise ReproductionError(f"cannot read '{path}': {e.strerror}; run this without --from-results first") from e


def of_kernel(rows: Sequence[Numbers], kernel: str) -> Optional[Numbers]:
    return next((r for r in rows if r.kernel == kernel), None)
