# SPDX-License-Identifier: Apache-2.0
"""regatta-report: results of runs as one page of HTML that needs nothing else."""

import argparse
import os
import sys
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

from ..clashes import FileUse, refuse_clashes
from ..files import is_standard_output
from ..reports.page import Section, write_page
from ..statistics import InputError, load
from .arguments import Parser
from .ending import status_of

_HELP = """\
Makes one page of HTML of what regatta-sim has written: checks, cycles by reason and by source line, energy, counters over time,
configuration, statistics. The page holds everything it needs: open it without a network, send it to others.

  regatta-annotate --launch launch.toml --out k.rgt --listing k.lst
  regatta-sim k.rgt --cpi-lines --stats k.json --sample 1000 --sample-file k.csv
  regatta-report k.json --listing k.lst --samples k.csv --trace k.rgt --out report.html

Without --cpi-lines there are no source lines, without --samples no counters over time. Several runs are compared with the first:

  regatta-report a.json b.json --out report.html

A study of many runs (regatta-study) has its own sections: best points, curves, maps, Pareto fronts, tables:

  regatta-report --study S.toml --out study.html
"""

_STATUS = "Exit status: 0 done; 1 internal error; 2 bad input or usage."


def _parser() -> Parser:
    parser = Parser(prog="regatta-report", description=_HELP, epilog=_STATUS)
    parser.add_argument("stats", nargs="*", metavar="RUN.json",
                        help="statistics of runs (regatta-sim --stats); the first is the reference")
    parser.add_argument("--out", required=True, metavar="R.html", help="the page to write; -: to the terminal")
    parser.add_argument("--title", metavar="TEXT", help="title of the page (default: the kernel)")
    parser.add_argument("--samples", action="append", default=[], metavar="T.csv",
                        help="counters over time (regatta-sim --sample-file) of the first run; repeat it for the second, ...")
    parser.add_argument("--listing", action="append", default=[], metavar="L.txt",
                        help="annotated code of the kernels (regatta-annotate --listing); may be repeated")
    parser.add_argument("--trace", metavar="K.rgt", help="the trace: grids, blocks, registers of its launches and kernels")
    parser.add_argument("--sources", action="append", default=[], metavar="FOLDER",
                        help="where source files are that are not at the place that the run names; may be repeated")
    parser.add_argument("--study", metavar="S.toml",
                        help="a study's results, alone or beside runs: its file, its folder NAME.study, or its results.sqlite")
    parser.add_argument("--statistic", action="append", default=[], metavar="PATTERN",
                        help="a statistic that the study keeps, as 'sm*.l1.*', summed over the modules that match; may be "
                             "repeated (default: the first ones that differ between runs)")
    parser.add_argument("--bin", metavar="FOLDER", help="where regatta-sim is, which knows the presets and what statistics mean "
                                                        "(default: beside this program, then PATH)")
    return parser


def _check(o: argparse.Namespace) -> None:
    if not o.stats and o.study is None:
        raise InputError("found no run, expected one or more files of regatta-sim --stats, or --study")
    if o.statistic and o.study is None:
        raise InputError(f"--statistic: found '{o.statistic[0]}' without --study, expected a study that keeps statistics")
    if len(o.samples) > len(o.stats):
        raise InputError(f"--samples: found {len(o.samples)} files for {len(o.stats)} run{'s' if len(o.stats) > 1 else ''}, "
                         f"expected at most one for each")
    _keep(o, [*(FileUse("a run", path) for path in o.stats), *(FileUse("--samples", path) for path in o.samples),
              *(FileUse("--listing", path) for path in o.listing), FileUse("--trace", o.trace), FileUse("--study", o.study)])
    for folder in o.sources:
        if not os.path.isdir(folder):
            raise InputError(f"--sources: found no folder '{folder}'")


def _keep(o: argparse.Namespace, read: Sequence[FileUse]) -> None:
    """Throws InputError if the page would be written over one of these."""
    refuse_clashes([FileUse("--out", o.out, True), *read])


def _runs(o: argparse.Namespace) -> Tuple[List[Section], List[str], str]:
    """Sections of the runs, their names, and a title."""
    from ..reports import all_statistics, compared, configuration, cpi, energy, listing, samples, source, summary, trace_info
    from ..reports.checks import check
    from ..reports.run_data import Data, short_names
    from ..reports.meanings import Simulator
    runs = []
    for path, name in zip(o.stats, short_names(o.stats)):
        run = load(path)
        check(run.document, path)
        runs.append(Data(run, name))
        _keep(o, [FileUse(role, named) for role, named in run.named_files()])
    simulator = Simulator(o.bin)
    _keep(o, [FileUse("regatta-sim", simulator.path)])
    ran = sorted({str(la["kernel"]) for r in runs for la in r.launches})
    listings = {}
    for path in o.listing:
        of_file = listing.read(path, str(runs[0].document.get("variant", "plain")))
        if not set(of_file) & set(ran):
            raise InputError(f"{path}: found code of {', '.join(of_file)}, expected code of {', '.join(ran)}, which the "
                             f"runs ran")
        listings.update(of_file)
    sampled = [samples.read(path, values=samples.MOST_VALUES // len(o.samples)) for path in o.samples]
    for path, s, r in zip(o.samples, sampled, runs):
        if r.run.ending() == "completed" and s.cycles[-1] != r.run.cycles:
            raise InputError(f"{path}: found {s.cycles[-1]:,} as its last cycle, expected {r.run.cycles:,}, the cycles of "
                             f"{r.name}: it is of another run")
    folders = [*o.sources, *dict.fromkeys(os.path.dirname(path) or "." for path in o.stats)]
    _keep(o, [FileUse("a source file", path) for path in source.files_of(runs, folders)])
    found = [summary.build(runs), *compared.build(runs), cpi.build(runs), source.build(runs, listings, folders),
             energy.build(runs)]
    if sampled:
        found.append(samples.build(runs, [*sampled, *[None] * (len(runs) - len(sampled))], simulator))
    if o.trace:
        trace = trace_info.read_trace(o.trace, simulator)
        _keep(o, [FileUse("the PTX of the trace", path) for path in trace_info.ptx_files(trace)])
        found.append(trace_info.build(o.trace, trace, ran))
    found += [configuration.build(runs, simulator), all_statistics.build(runs, simulator)]
    kernels = list(dict.fromkeys(r.kernels() for r in runs))
    return found, [r.name for r in runs], ", ".join(kernels)


def _study(o: argparse.Namespace) -> Tuple[List[Section], str]:
    """Sections of the study, and a title."""
    from ..reports import study_data, study_sections
    _keep(o, study_data.files_of(Path(o.study)))
    study = study_data.load(Path(o.study), tuple(o.statistic))
    return study_sections.build(study), f"Study {study.name}"


def _report(o: argparse.Namespace) -> int:
    _check(o)
    found, names, title = _runs(o) if o.stats else ([], [], "")
    lead = "Runs of regatta-sim: " + ", ".join(names) if names else ""
    if o.study is not None:
        of_study, title = _study(o)
        found = of_study + found
    size = write_page(o.out, o.title or title, found, names, lead)
    if not is_standard_output(o.out):
        print(f"{o.out}: {len(found)} sections, {size / 1e6:.2f} MB")
    return 0


def main(arguments: Optional[List[str]] = None) -> int:
    return status_of("regatta-report", lambda: _report(_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
