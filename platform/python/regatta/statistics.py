# SPDX-License-Identifier: Apache-2.0
"""A run's stats.json: its parts with types, numbers by name, sums over modules, and cycles by launch, line and reason."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from .errors import InputError as InputError

if TYPE_CHECKING:
    from .frames import DataFrame


class Cell(NamedTuple):
    """Where cycles went: `source` is a line of the program, "" if the run does not say (--cpi-lines)."""
    launch: int
    kernel: str
    source: str
    reason: str


NO_INSTRUCTION = "no instruction"
_ABSENT = object()


def _find(node: Any, parts: List[str]) -> Any:
    if not parts:
        return node
    if not isinstance(node, dict):
        return _ABSENT
    # A name may itself hold dots ("sm0.l1"): try the longest first.
    for n in range(len(parts), 0, -1):
        name = ".".join(parts[:n])
        if name in node:
            found = _find(node[name], parts[n:])
            if found is not _ABSENT:
                return found
    return _ABSENT


def value(document: Dict[str, Any], key: str, default: Any = _ABSENT) -> Any:
    """document[...][...] of a stats.json by a dotted key ("stats.sm0.l1.reads", "energy.total_nj"); throws InputError, naming
    the key, when it is not there and there is no default."""
    found = _find(document, key.split("."))
    if found is not _ABSENT:
        return found
    if default is not _ABSENT:
        return default
    raise InputError(f"stats.json of {document.get('kernel', '?')} (scheme {document.get('scheme', '?')}): found no '{key}', "
                     f"expected it: the run is of another version of regatta, or of another scheme")


def _of_modules(document: Dict[str, Any], module: str, name: str) -> List[float]:
    """A statistic of the modules whose path matches `module`, a regular expression."""
    pattern = re.compile(module + r"\Z")
    return [group[name] for path, group in document["stats"].items() if name in group and pattern.match(path)]


def of_all_sms(document: Dict[str, Any], module: str, name: str) -> float:
    """A statistic summed over the SMs ("l1", "reads"); `module` is a pattern for what follows "smN.". Throws InputError if
    no module has it."""
    found = _of_modules(document, r"sm\d+\." + module, name)
    if not found:
        raise InputError(f"stats.json of {document.get('kernel', '?')}: found no statistic '{name}' of a module '{module}', "
                         f"expected one in each SM")
    return sum(found)


def shortened(sources: Iterable[str]) -> Dict[str, str]:
    """Paths without the folder that all of them have in common, unless that is the root."""
    sources = set(sources)
    folders = {os.path.dirname(s) for s in sources if s not in ("", NO_INSTRUCTION)}
    try:
        common = os.path.commonpath(list(folders)) if folders and all(folders) else ""
    except ValueError:  # absolute and relative ones
        common = ""
    start = len(os.path.join(common, "")) if common.strip(os.sep) else 0
    return {s: s if s in ("", NO_INSTRUCTION) else s[start:] for s in sources}


class Run:
    """A simulation's results. `document`: what `regatta-sim --stats` has written. `name`: for people. `samples`, `ctas`:
    tables of `regatta-sim --sample-file` and `--cpi-ctas` (CSV), if the run has them."""

    def __init__(self, document: Dict[str, Any], name: str, samples: Optional[str] = None, ctas: Optional[str] = None):
        self.document = document
        self.name = name
        self.samples = samples
        self.ctas = ctas
        for key, kind in (("cycles", int), ("launches", list), ("stats", dict), ("config", dict), ("energy", dict)):
            if not isinstance(document.get(key), kind):
                found = type(document[key]).__name__ if key in document else "nothing"
                raise InputError(f"{name}: '{key}': found {found}, expected {kind.__name__} as in a stats.json of "
                                 f"regatta-sim")
        if document.get("replay"):
            raise InputError(f"{name}: a run with --replay has no cycles to compare; expected a simulation")

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.cycles:,} cycles, {self.energy_nj / 1000:,.1f} uJ>"

    @property
    def cycles(self) -> int:
        """Of the whole program: its launches run one after another."""
        return int(self.document["cycles"])

    @property
    def warp_instructions(self) -> int:
        return int(self.document.get("warp_instructions", 0))

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle, of all simulated SMs together."""
        return self.warp_instructions / self.cycles if self.cycles else 0.0

    @property
    def sms(self) -> int:
        """SMs that were simulated; `config` has those of the whole machine (machine.sms)."""
        return len({path.split(".")[0] for path in self.stats if re.match(r"sm\d+(\.|$)", path)})

    @property
    def stats(self) -> Dict[str, Dict[str, Any]]:
        """Statistics by module and name; `regatta-sim --describe-stats` explains them."""
        found: Dict[str, Dict[str, Any]] = self.document["stats"]
        return found

    @property
    def energy_nj(self) -> float:
        """Dynamic and static, of everything that the energy table covers."""
        return float(self.document["energy"]["total_nj"])

    @property
    def scheme(self) -> str:
        return str(self.document.get("scheme", "?"))

    @property
    def has_lines(self) -> bool:
        return "cpi_lines" in self.document

    def config(self) -> Dict[str, Any]:
        """Knobs by name, and what was run: machine, scheme, trace."""
        keys = ("machine", "scheme", "scheduler", "residency", "kernel")
        return {**{f"run.{k}": self.document[k] for k in keys if k in self.document}, **self.document["config"]}

    def modules(self, module: str) -> List[str]:
        """Paths of the modules that match a regular expression."""
        pattern = re.compile(module + r"\Z")
        return [path for path in self.document["stats"] if pattern.match(path)]

    def values(self, module: str, name: str) -> List[float]:
        """A statistic of each module whose path matches `module`, a regular expression, and that has it."""
        return _of_modules(self.document, module, name)

    def total(self, module: str, name: str) -> float:
        """A statistic summed over the modules whose path matches `module`, a regular expression; 0 without any."""
        return float(sum(self.values(module, name)))

    def named_files(self) -> List[Tuple[str, str]]:
        """(what, path) of the files that the run names: its trace, a machine file, an energy table, sources."""
        document = self.document
        found = [("the trace of a run", document.get("trace")), ("the machine file of a run", document.get("machine")),
                 ("the energy table of a run", document["config"].get("energy.table"))]
        sources = {str(line["source"]).rpartition(":")[0]: None for entry in document.get("cpi_lines", [])
                   for line in entry.get("lines", [])}
        found += [("a source file of a run", source) for source in sources]
        return [(what, path) for what, path in found if isinstance(path, str) and path]

    def ending(self) -> str:
        return str(self.document.get("ending", "?"))

    def schedulers(self, launch: Dict[str, Any]) -> Fraction:
        """Schedulers of all SMs together: scheduler-cycles of a launch over its cycles."""
        if launch["cycles"] == 0:
            return Fraction(1)
        return Fraction(sum(self.scheduler_cycles(launch).values()), launch["cycles"])

    @staticmethod
    def scheduler_cycles(launch: Dict[str, Any]) -> Dict[str, int]:
        """A launch's scheduler-cycles by reason, `structural` by unit."""
        reasons = {"issued": int(launch["issue_cycles"])}
        for reason, cycles in launch["stall_cycles"].items():
            if reason == "structural_by_unit":
                reasons.update({f"structural_{unit}": int(n) for unit, n in cycles.items()})
            elif reason != "structural":
                reasons[reason] = int(cycles)
        return reasons

    def cells(self, lines: bool) -> Iterator[Tuple[Cell, Fraction]]:
        """Every cycle of the run, in cycles (scheduler-cycles over schedulers): they add up to `cycles` exactly.
        `lines`: by source line too."""
        by_line = {entry["launch"]: entry for entry in self.document.get("cpi_lines", [])} if lines else {}
        for index, launch in enumerate(self.document["launches"]):
            schedulers = self.schedulers(launch)
            kernel = str(launch["kernel"])
            if not lines:
                parts = [("", self.scheduler_cycles(launch))]
            elif index in by_line:
                parts = [(line["source"], line["by_reason"]) for line in by_line[index]["lines"]]
                parts.append((NO_INSTRUCTION, by_line[index]["no_instruction"]))
            else:
                raise InputError(f"{self.name}: launch {index}: found no 'cpi_lines' of it, expected one per launch "
                                 f"(regatta-sim --cpi-lines)")
            for source, reasons in parts:
                for reason, cycles in reasons.items():
                    if cycles:
                        yield Cell(index, kernel, source, reason), Fraction(cycles) / schedulers


    def cycles_by_reason(self, launch: int) -> Dict[str, Fraction]:
        """Cycles of a launch by what the schedulers did, "issued" or why not; they add up to its cycles exactly."""
        document = self.document["launches"][launch]
        schedulers = self.schedulers(document)
        return {reason: cycles / schedulers for reason, cycles in self.scheduler_cycles(document).items()}

    def counters(self) -> Iterator[Tuple[str, str, Union[int, float]]]:
        """(module, name, value) of every statistic that is a number. Beside the modules: `stall_cycles` by reason
        (scheduler-cycles) and `energy` by structure (nJ)."""
        modules = {**self.document["stats"], "stall_cycles": self.document.get("stall_cycles", {}),
                   "energy": self.document["energy"].get("by_structure", {})}
        for module, group in modules.items():
            for name, value in group.items():
                if isinstance(value, (int, float)):
                    yield module, name, value

    # --- frames: they need pandas (ImportError without it) ---

    def frame(self) -> DataFrame:
        """One row: what was run (kernel, machine, scheme, scheduler) and its totals. compare() has a row per run."""
        return runs_frame([self])

    def launches_frame(self) -> DataFrame:
        """A row per launch. Columns: kernel, cycles, ctas, warp_instructions, thread_instructions, ipc, `cycles.REASON`
        (they add up to cycles), energy_nj, dynamic_nj, static_nj."""
        from .frames import frame, pandas
        rows: List[Dict[str, Any]] = []
        for index, launch in enumerate(self.document["launches"]):
            row: Dict[str, Any] = {"launch": index, **{k: v for k, v in launch.items() if isinstance(v, (int, float, str))}}
            del row["issue_cycles"]  # scheduler-cycles; cycles.issued are the same in cycles
            row["ipc"] = launch.get("warp_instructions", 0) / launch["cycles"] if launch["cycles"] else 0.0
            row.update({f"cycles.{reason}": float(cycles) for reason, cycles in self.cycles_by_reason(index).items()})
            energy = launch.get("energy", {})
            row.update({"energy_nj" if k == "total_nj" else k: v for k, v in energy.items() if isinstance(v, float)})
            rows.append(row)
        return pandas().DataFrame(rows).set_index("launch") if rows else frame([], ["launch"]).set_index("launch")

    def cycles_frame(self, exact: bool = False, full_paths: bool = False) -> DataFrame:
        """Every cycle of the run by launch, kernel, line and reason.

        `line` is a line of the program ("no instruction": nothing was left to issue), or None in a run without cpi_lines.
        `scheduler_cycles` are whole numbers; `cycles` are these over the schedulers of all SMs, and add up to the run's
        cycles: within the rounding of floats, or with `exact` as fractions.Fraction, exactly. `full_paths`: lines with the
        folder that all of them have in common.
        """
        from .frames import frame
        cells = list(self.cells(self.has_lines))
        short = {c.source: c.source for c, _ in cells} if full_paths else shortened({c.source for c, _ in cells})
        schedulers = [self.schedulers(launch) for launch in self.document["launches"]]
        rows = []
        for cell, cycles in cells:
            line = {"": None, NO_INSTRUCTION: NO_INSTRUCTION}.get(cell.source, short[cell.source])
            rows.append([cell.launch, cell.kernel, line, cell.reason, cycles if exact else float(cycles),
                         int(cycles * schedulers[cell.launch])])
        return frame(rows, ["launch", "kernel", "line", "reason", "cycles", "scheduler_cycles"])

    def energy_frame(self, events: bool = False) -> DataFrame:
        """A row per structure: energy_nj, dynamic_nj, static_nj. With `events`, a row per kind of event: structure, event,
        count, pj (each), nj, and the source of the number."""
        from .frames import frame
        energy = self.document["energy"]
        if events:
            found: List[Dict[str, Any]] = energy.get("by_event", [])
            columns = list(dict.fromkeys(key for event in found for key in event)) or ["structure", "event", "count", "nj"]
            return frame([[event.get(c) for c in columns] for event in found], columns)
        static = energy.get("static_by_structure", {})
        rows = [[name, nj, nj - static.get(name, 0.0), static.get(name, 0.0)]
                for name, nj in energy.get("by_structure", {}).items()]
        return frame(rows, ["structure", "energy_nj", "dynamic_nj", "static_nj"])

    def statistics_frame(self) -> DataFrame:
        """A row per statistic that is a number: module, name, value; as counters()."""
        from .frames import frame
        return frame(self.counters(), ["module", "name", "value"])

    def config_frame(self) -> DataFrame:
        """A row per knob, in the order of `regatta-sim --dump-config`: knob, value. First, what was run (run.machine ...)."""
        from .frames import frame
        return frame(self.config().items(), ["knob", "value"])

    def samples_frame(self) -> DataFrame:
        """Counters over time of a run with `sample=N`; columns as of read_samples(). Throws InputError without samples."""
        from .frames import SAMPLES, of_csv
        if self.samples is None:
            raise InputError(f"{self.name}: found no samples, expected a run with sample=N (regatta-sim --sample-file)")
        return of_csv(self.samples, self.name, *SAMPLES)

    def ctas_frame(self) -> DataFrame:
        """Warp-cycles by CTA of a run with `cpi_ctas=True`; columns as of read_ctas(). Throws InputError without them."""
        from .frames import CTAS, of_csv
        if self.ctas is None:
            raise InputError(f"{self.name}: found no table of CTAs, expected a run with cpi_ctas=True (regatta-sim "
                             f"--cpi-ctas)")
        return of_csv(self.ctas, self.name, *CTAS)


def runs_frame(runs: Sequence[Run]) -> DataFrame:
    """A row per run; knobs that differ between runs that have them are columns."""
    from .frames import frame
    configs = [run.document["config"] for run in runs]
    names = list(dict.fromkeys(k for config in configs for k in config))
    differ = [k for k in names if len({str(config[k]) for config in configs if k in config}) > 1]
    columns = ["run", "kernel", "machine", "scheme", "scheduler", *differ, "cycles", "warp_instructions",
               "thread_instructions", "ipc", "energy_nj", "dynamic_nj", "static_nj"]
    rows = []
    for run, config in zip(runs, configs):
        d, energy = run.document, run.document["energy"]
        rows.append([run.name, *(d.get(k) for k in ("kernel", "machine", "scheme", "scheduler")),
                     *(config.get(k) for k in differ),
                     *(d.get(k) for k in ("cycles", "warp_instructions", "thread_instructions", "ipc")),
                     *(energy.get(k) for k in ("total_nj", "dynamic_nj", "static_nj"))])
    return frame(rows, columns, differ)


def load(path: Union[str, Path], name: Optional[str] = None) -> Run:
    """Reads a stats.json; throws InputError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is no text"
        raise InputError(f"{path}: cannot be read: {reason}") from None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as e:
        raise InputError(f"{path}:{e.lineno}:{e.colno}: found no JSON there ({e.msg}), expected the statistics that "
                         f"regatta-sim --stats writes") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: found {type(document).__name__}, expected an object as regatta-sim --stats writes it")
    try:
        return Run(document, name or str(path))
    except (KeyError, TypeError, ValueError) as e:
        raise InputError(f"{path}: found no {e} of a run, expected the statistics that regatta-sim --stats writes"
                         ) from None
