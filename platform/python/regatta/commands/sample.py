# SPDX-License-Identifier: Apache-2.0
"""regatta-sample: the totals of a long program from a simulation of some of its launches."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any, List, NoReturn, Optional

from ..clashes import FileUse, refuse_clashes
from ..files import is_standard_output, write_or_print
from ..sampling import estimate
from ..sampling.plan import Outcome, Sample, Settings, run
from ..sampling.report import document, text
from ..sampling.runs import Failed, Simulator, refuse_options, signatures
from ..sampling.student import need_scipy
from ..statistics import InputError
from ..tools import of_option
from .arguments import Parser
from .ending import status_of

_HELP = """\
Estimates cycles, energy and statistics of a program of many launches. Only a sample of the launches is simulated: drawn at
random from groups of launches that are alike by kernel, size and signature (instruction mix, memory footprint, values).
Every estimate has an interval. More launches are added until that of the cycles is as short as --error asks, or the
budget is used up. Launches that are skipped directly before a simulated one warm the caches.

  regatta-sample K.rgt --error 5% -- --machine gtx480 --scheme regless
  regatta-sample K.rgt --stat 'memory.dram_*.bytes_read' --json estimate.json
"""
_STATUS = """\
Options of regatta-sim come after '--'. Exit status: 0 done, also if the error was not reached (the report says so); 2 bad
input or usage; otherwise as regatta-sim."""


def _fraction(option: str, what: str, low: float, high: float) -> float:
    try:
        value = float(what[:-1]) / 100 if what.endswith("%") else float(what)
    except ValueError:
        value = float("nan")
    if not low < value <= high:
        raise InputError(f"{option}: found '{what}', expected a fraction above {low:g} and up to {high:g}, or a percentage")
    return value


def _tool(name: str, folder: Optional[str]) -> Path:
    return of_option(name, folder, Path(sys.argv[0]).resolve().parent)


def _parser() -> Parser:
    parser = Parser(prog="regatta-sample", description=_HELP, epilog=_STATUS,
                    usage="regatta-sample K.rgt [OPTION ...] [-- OPTION of regatta-sim ...]")
    parser.add_argument("trace", metavar="K.rgt", help="trace of a program of many launches")
    parser.add_argument("--error", default="5%", metavar="PERCENT",
                        help="wanted: half the width of the cycles' interval over the estimate (default 5%%)")
    parser.add_argument("--budget", default="10%", metavar="PERCENT",
                        help="of the program's warp instructions, to be simulated at most (default 10%%). At least two "
                             "launches of each kernel are, whatever they cost")
    parser.add_argument("--confidence", default="95%", metavar="PERCENT", help="of the intervals (default 95%%)")
    parser.add_argument("--allowance", default="1%", metavar="PERCENT",
                        help="by which intervals are widened on both sides for caches that are not warmed exactly "
                             "(default 1%%)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws another sample (default 0)")
    parser.add_argument("--exact", action="store_true", help="simulate all launches: no estimate, no interval")
    parser.add_argument("--warm", type=int, metavar="N", help="as regatta-sim --warm: how far back skipped launches warm "
                                                              "the L2, in multiples of its capacity")
    parser.add_argument("--stat", action="append", default=[], metavar="NAME",
                        help="estimate this statistic too, a sum over what matches: memory.l2_*.read_misses")
    parser.add_argument("--json", metavar="FILE", help="write the estimates as JSON; -: to the terminal, without text")
    parser.add_argument("--bin", metavar="FOLDER", help="where regatta-sim and regatta-trace are (default: beside this "
                                                        "program, then PATH)")
    return parser


def _sample(o: argparse.Namespace, options: List[str]) -> int:
    refuse_options(options)
    simulator_program, trace_program = _tool("regatta-sim", o.bin), _tool("regatta-trace", o.bin)
    refuse_clashes([FileUse("--json", o.json, True), FileUse("the trace", o.trace), *_behind(options),
                    FileUse("regatta-sim", simulator_program), FileUse("regatta-trace", trace_program)])
    if o.warm is not None and o.warm < 0:
        raise InputError(f"--warm: found {o.warm}, expected 0 or more")
    settings = Settings(error=_fraction("--error", o.error, 0, 1), budget=_fraction("--budget", o.budget, 0, 1),
                        confidence=_fraction("--confidence", o.confidence, 0, 0.9999),
                        allowance=_fraction("--allowance", o.allowance, -1e-12, 1), seed=o.seed)
    if not o.exact:
        need_scipy()
    launches = signatures(trace_program, o.trace)
    if not launches:
        raise InputError(f"'{o.trace}' has no launch, expected at least one to simulate")
    simulator = Simulator(simulator_program, o.trace, options, o.stat, o.warm)
    outcome: Optional[Outcome] = None
    if not o.exact:

        def simulate(numbers: List[int]) -> Any:
            # All at once is a plain run, in which every launch finds what the one before left.
            simulator.simulate(None if len(numbers) == len(launches) else numbers)
            return simulator.values(simulator.quantities()["cycles"])

        outcome = run(launches, settings, simulate)
    if outcome is None or (outcome.sample.is_everything() and outcome.stages > 1):
        simulator = Simulator(simulator_program, o.trace, options, o.stat, o.warm)
        simulator.simulate(None)
        sample = Sample(launches, settings)
        values = simulator.values(simulator.quantities()["cycles"])
        outcome = Outcome(sample, estimate(launches, sample.strata, values), True, 1)
    estimates = {name: estimate(launches, outcome.sample.strata, simulator.values(quantity), settings.confidence,
                                settings.allowance)
                 for name, quantity in simulator.quantities().items()}
    result = document(launches, simulator, outcome, estimates)
    if o.json:
        write_or_print(o.json, json.dumps(result, indent=1) + "\n")
    if not (o.json and is_standard_output(o.json)):
        sys.stdout.write(text(result, estimates))
    return 0


def _sample_or_status(o: argparse.Namespace, options: List[str]) -> int:
    try:
        return _sample(o, options)
    except Failed as e:
        return e.status


def _options(words: List[str]) -> argparse.Namespace:
    o, unknown = _parser().parse_known_args(words)
    if unknown:
        kind = "unknown option" if unknown[0].startswith("-") else "unexpected argument"
        raise InputError(f"{kind} '{unknown[0]}'; options of regatta-sim come after '--'")
    return o


def _behind(options: List[str]) -> List[FileUse]:
    """Files that the options of regatta-sim name, and those that these name."""
    found = dict.fromkeys(text for word in options for text in (word, word.split("=", 1)[-1]) if not text.startswith("-"))
    paths = [Path(text) for text in found]
    if sys.version_info >= (3, 11):
        from ..studies.files import named_files
        paths = [path for text in found for path in named_files(Path(text))]
    return [FileUse("a file of regatta-sim's options", path) for path in paths]


def _interrupted(number: int, _frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Optional[List[str]] = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    at = words.index("--") if "--" in words else len(words)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    return status_of("regatta-sample", lambda: _sample_or_status(_options(words[:at]), words[at + 1:]))


if __name__ == "__main__":
    sys.exit(main())
