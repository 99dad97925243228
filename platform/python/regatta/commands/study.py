# SPDX-License-Identifier: Apache-2.0
"""regatta-study: many simulations described by one file, made once each; their results as one database and table."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from ..statistics import InputError
from .arguments import Parser
from .ending import status_of

_HELP = """\
Runs a study: programs, schemes, machines and knobs in one TOML file, every combination simulated once, the results in one
SQLite database and one CSV file.

  regatta-study run S.toml --jobs 8      make what is missing; the same command resumes after an interruption
  regatta-study status S.toml            how many runs there are, which failed, what is left
  regatta-study show S.toml --by cycles  the best points of each program

A small study, S.toml:

  schemes = ["baseline", "regless"]
  [[programs]]
  trace = "sgemm.rgt"                    # or launch = "launch.toml", or suite = "regless"
  [knobs]
  "dram.latency" = [100, 200]            # a grid; or {from = 100, to = 800, steps = 8, scale = "log"}
  "osu.entries" = {values = [256, 512], only = {scheme = "regless"}}

Further tables and keys: [study] name, seed, repetitions; [[points]]; [sample] count, seed for random points; options; [results]
statistics; [slurm]. platform/python/STUDIES.md explains each.

Everything that a study makes is in NAME.study beside the file: results.sqlite, results.csv, host.csv (times of this host), runs/,
and traces/. A run is identified by the content of the program, the trace and all options. It is
made again only if one of them changes.
"""

_STATUS = """\
Exit status: 0 done; 1 some runs failed (they are listed, the others are kept); 2 bad input or usage; 130 interrupted."""


def _plan(o: argparse.Namespace) -> Any:
    from ..studies import files
    from ..studies.campaign import Tools
    from ..studies.file import read
    from ..studies.plan import Plan
    def found() -> Tools:
        return Tools.find(o.bin, Path(sys.argv[0]).resolve().parent)

    study = read(o.study, lambda kind: found().names(kind))
    files.check(study)
    return Plan(study, found())


def _failures(plan: Any, known: dict[int, Any], rows: int) -> list[str]:
    from ..studies.results import message
    failed = [(run, known[run.id]) for run in plan.runs if run.id in known and known[run.id].status]
    lines = [f"  run {run.id}, {run.what}: status {o.status}: {message(plan, o)}" for run, o in failed[:rows]]
    if len(failed) > rows:
        lines.append(f"  and {len(failed) - rows} more (results.csv)")
    again = sum(not o.lasts for _, o in failed)
    if again:
        lines.append(f"  The next run of the study makes {'them' if again == len(failed) else f'{again} of them'} again: a file "
                     f"changed meanwhile, or this host failed")
    count = f"{len(failed)} {'runs' if len(failed) > 1 else 'run'}"
    return [f"{count} failed; the others are kept:"] + lines if failed else []


def _tell_disagreement(plan: Any) -> None:
    """Numbers of runs here are those of the present text."""
    from ..studies.agreement import disagreement
    if note := disagreement(plan.study):
        print(f"Note: {note}. Numbers of runs here are of the present text.")


def _run(o: argparse.Namespace) -> int:
    from ..studies import engine
    from ..studies.complete import complete
    from ..studies.outcome import ended

    def tell(text: str) -> None:
        if not o.quiet:
            print(text, flush=True)

    if o.jobs < 1:
        raise InputError(f"--jobs: found {o.jobs}, expected 1 or more")
    def warn(text: str) -> None:
        print(f"regatta-study: {text}", file=sys.stderr, flush=True)

    plan = _plan(o)
    settings = engine.Settings(o.jobs, o.slurm, o.fail_fast, o.retry, not o.quiet, o.snakemake)
    if o.dry_run:
        damaged: list[str] = []
        todo: list[Any] = engine.missing(plan, ended(plan, damaged), settings.retry)
        engine.check_names(plan, todo, values=True)
        for run in todo:
            print(f"run {run.id}: {run.what}")
        print(f"{len(todo)} of {len(plan.runs)} runs to make")
        _tell_disagreement(plan)
        for sentence in damaged:
            warn(sentence)
        return 0
    known, lost = complete(plan, settings, tell, warn)
    tell(f"results: {os.path.relpath(plan.folder)}/results.sqlite, results.csv")
    failures = _failures(plan, known, 20)
    sys.stderr.write("".join(line + "\n" for line in failures + lost))
    return 1 if failures or len(known) < len(plan.runs) else 0


def _status(o: argparse.Namespace) -> int:
    from ..studies import engine
    from ..studies.outcome import ended
    from ..studies.progress import duration, estimates
    from ..studies.results import state_of
    from ..text import table
    plan = _plan(o)
    damaged: list[str] = []
    known = ended(plan, damaged)
    cells = [["program", "finished", "failed", "missing"]]
    for program in dict.fromkeys(r.program for r in plan.runs):
        states = [state_of(known.get(r.id)) for r in plan.runs if r.program == program]
        cells.append([program, *(str(states.count(s)) for s in cells[0][1:])])
    sys.stdout.write(table(cells))
    todo = engine.missing(plan, known, False)
    seconds = estimates(plan, known)
    if todo:
        print(f"{len(todo)} {'runs' if len(todo) > 1 else 'run'} to make: about {duration(sum(seconds[r.id] for r in todo))} of one core")
    print("a regatta-study is making them now" if engine.is_running(plan.folder) else
          "nothing is running" if todo else "nothing is left to do")
    sys.stdout.write("".join(line + "\n" for line in _failures(plan, known, 20) + damaged))
    _tell_disagreement(plan)
    return 0


def _show(o: argparse.Namespace) -> int:
    from ..studies.file import read
    from ..studies.show import show
    if o.rows < 1:
        raise InputError(f"--rows: found {o.rows}, expected 1 or more")
    _keep(o)
    if o.stats:
        return _write_stats(o)
    sys.stdout.write(show(read(o.study), o.by, o.most, o.rows, o.program))
    return 0


def _keep(o: argparse.Namespace) -> None:
    """Throws InputError if the statistics would be written over a file of the study."""
    from ..clashes import FileUse, refuse_clashes
    from ..studies import files
    from ..studies.file import read
    if o.stats:
        study = read(o.study)
        refuse_clashes([FileUse("--stats", o.stats[1], True), *files.inputs(study), *files.made(study.folder)])


def _write_stats(o: argparse.Namespace) -> int:
    from ..files import write_or_print
    from ..studies.agreement import disagreement
    from ..studies.file import read
    from ..studies.show import statistics_of
    study = read(o.study)
    number, file = o.stats
    write_or_print(file, json.dumps(statistics_of(study, number), indent=1) + "\n")
    if note := disagreement(study):
        print(f"regatta-study: note: {note}", file=sys.stderr)
    return 0


def _parser() -> Parser:
    parser = Parser(prog="regatta-study", description=_HELP, epilog=_STATUS)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, help_text: str) -> Parser:
        p: Parser = commands.add_parser(name, help=help_text, description=help_text, epilog=_STATUS)
        p.add_argument("study", metavar="S.toml", help="the study file")
        p.add_argument("--bin", metavar="FOLDER", help="where regatta-sim and regatta-annotate are (default: beside this "
                                                       "program, then PATH)")
        return p

    run = command("run", "make the runs that are missing, and write the results")
    run.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                     help="runs at a time (default: one per core); with --slurm: jobs in the queue")
    run.add_argument("--slurm", action="store_true", help="submit the jobs to Slurm, by the profile that is written to "
                                                          "NAME.study/slurm ([slurm] in the study file)")
    run.add_argument("--keep-going", action="store_false", dest="fail_fast", default=False,
                     help="a failed run stops no other (the default)")
    run.add_argument("--fail-fast", action="store_true", help="start no further run after the first failed one")
    run.add_argument("--retry", action="store_true", help="make failed runs again, those too that would fail the same way "
                                                          "(status 2 and 3)")
    run.add_argument("--dry-run", action="store_true", help="list the runs to make, and make none")
    run.add_argument("--quiet", action="store_true", help="tell failures only")
    run.add_argument("--snakemake", default="snakemake", metavar="PROGRAM", help="Snakemake 7, for --slurm (default: of PATH)")
    command("status", "how many runs there are, which failed, what is left")
    shown = command("show", "the best points of each program, and of all programs together")
    shown.add_argument("--by", default="cycles", metavar="STATISTIC",
                       help="cycles, energy_nj, ipc ..., or a statistic that the study keeps, summed over the modules that "
                            "match: 'sm*.l1.read_misses' (default cycles)")
    shown.add_argument("--most", action="store_true", help="the greatest value is best (default: the least)")
    shown.add_argument("--rows", type=int, default=5, metavar="N", help="points per program (default 5)")
    shown.add_argument("--program", default="", metavar="NAME", help="only this program")
    shown.add_argument("--stats", nargs=2, metavar=("RUN", "FILE"), help="write the stats.json of a run instead, for "
                                                                         "regatta-compare")
    return parser


def _interrupted(number: int, _frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> int:
    if sys.version_info < (3, 11):
        print(f"regatta-study: found Python {sys.version.split()[0]}, expected 3.11 or newer", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    commands = {"run": _run, "status": _status, "show": _show}

    def work() -> int:
        o = _parser().parse_args(arguments)
        return commands[o.command](o)

    return status_of("regatta-study", work, "interrupted; finished runs are kept, the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
