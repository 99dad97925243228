# SPDX-License-Identifier: Apache-2.0
"""The runs of a study: a campaign whose runs are the points of a design space (campaign.py has the keys)."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..statistics import InputError
from .campaign import Campaign, Given, Simulation, Tools, Trace
from .checks import Scalar, option_text
from .file import Program, Study
from .points import DesignPoint, points


@dataclass(frozen=True, kw_only=True)
class Run(Simulation):
    scheme: str
    machine: str
    seed: int
    repetition: int
    knobs: tuple[tuple[str, Scalar], ...]
    registers: Scalar | None = None  # the budget that its trace was annotated with

    @property
    def axes(self) -> tuple[tuple[str, Scalar], ...]:
        """What runs of a program on a machine under a scheme differ in, for tables: knobs, and the budget of registers."""
        return self.knobs if self.registers is None else ((REGISTERS, self.registers), *self.knobs)

    @property
    def what(self) -> str:
        knobs = " ".join(f"{k}={option_text(v)}" for k, v in self.axes)
        return " ".join(x for x in (self.program, self.scheme, self.machine, knobs) if x)


#: The name of the budget of registers, an axis like a knob.
REGISTERS = "registers"

_TEXT = r"""(?:"[^"\\\n]*"|'[^'\n]*')"""
# In a launch file: comments and texts, so that nothing within them is taken for a key; seeds; names of files, in tables of every
# kind, and in the array of several PTX files.
_PARTS = re.compile(rf"""\#[^\n]* | (?<![\w.-])(?P<seed>seed\s*=\s*)(?P<number>\d+)
    | (?<![\w.-])(?P<key>(?:ptx|file|expect)\s*=\s*)(?P<files>{_TEXT}|\[(?:\#[^\n]*|{_TEXT}|[^\]\#"'])*\]) | {_TEXT}""", re.VERBOSE)


def reseeded(launch: Path, more: int) -> str:
    """A launch file's text with every seed greater by `more`, and its files named from anywhere."""
    seeds = 0

    def absolute(match: re.Match[str]) -> str:
        if match[0].startswith("#"):
            return match[0]
        return json.dumps(str((launch.parent / match[0][1:-1]).resolve()), ensure_ascii=False)

    def changed(match: re.Match[str]) -> str:
        nonlocal seeds
        if match["seed"]:
            seeds += 1
            return f"{match['seed']}{int(match['number']) + more}"
        return match["key"] + re.sub(rf"#[^\n]*|{_TEXT}", absolute, match["files"]) if match["key"] else match[0]

    text = _PARTS.sub(changed, launch.read_text(encoding="utf-8"))
    if not seeds:
        raise InputError(f"{launch}: found no 'seed = N', expected one in a launch file that is repeated "
                         f"(study.repetitions): all repetitions would be the same")
    return text


class Plan(Campaign):
    """All runs, in the order of the study file: programs, points, repetitions."""

    def __init__(self, study: Study, tools: Tools):
        super().__init__(study.name, study.folder, study.path.parent, tools, study.folder / "runs", study.keep_traces,
                         study.group_runs, study.slurm)
        self.study = study
        self.runs: list[Run] = []
        design = points(study)
        for program in study.programs:
            for repetition in range(study.repetitions):
                for registers in program.registers or (None,):
                    trace, path, key = self._trace_of(program, repetition, registers)
                    megabytes = 0.0 if isinstance(key, Trace) else path.stat().st_size / 1e6
                    for point in design:
                        self.runs.append(self._run(program, point, repetition, registers, trace, path, key, megabytes))

    def _trace_of(self, program: Program, repetition: int,
                  registers: Scalar | None) -> tuple[Trace | None, Path, Trace | Given]:
        """What is made, if it is; where it lies; what run_key() takes."""
        if program.trace is not None:
            return None, program.trace, self.given(program.trace)
        assert program.launch is not None
        # With a knob for the seed, the inputs stay as they are.
        text = reseeded(program.launch, repetition) if repetition and not self.study.seed_knob else ""
        budget = () if registers is None else ("--registers", option_text(registers))
        trace = self.trace(program.name, program.launch, program.annotate + budget, text)
        return trace, trace.path, trace

    def _run(self, program: Program, point: DesignPoint, repetition: int, registers: Scalar | None, trace: Trace | None,
             path: Path, key: Trace | Given, megabytes: float) -> Run:
        seed = self.study.seed + repetition
        words = ["--machine", point.machine, "--scheme", point.scheme]
        for name, value in point.knobs:
            words += [f"--{name}", option_text(value)]
        if self.study.seed_knob:
            words += [f"--{self.study.seed_knob}", str(seed)]
        words += self.study.options
        return Run(id=len(self.runs) + 1, key=self.run_key(key, tuple(words)), program=program.name,
                   arguments=(str(path), *words), trace=trace, megabytes=megabytes, scheme=point.scheme,
                   machine=point.machine, seed=seed, repetition=repetition, knobs=point.knobs,
                   registers=registers)
