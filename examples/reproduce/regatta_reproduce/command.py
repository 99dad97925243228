# SPDX-License-Identifier: Apache-2.0
"""The command line that all papers' scripts share, and their ends."""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Callable, List, Optional, Sequence

from regatta.clashes import FileUse, refuse_clashes
from regatta.statistics import InputError
from regatta.studies.campaign import Tools
from regatta.studies.engine import Settings

from . import ReproductionError
from .campaign import Campaign


class UsageError(ReproductionError):
    pass


root = Path(__file__).resolve().parents[3]
kernels_folder = root / "traces" / "kernels"


def parser(description: str, page: Path) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--bin", type=Path, default=root / "build" / "release" / "bin", metavar="FOLDER",
                   help="where regatta-annotate and regatta-sim are")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="simulations at a time")
    p.add_argument("--work", type=Path, default=root / "build" / "reproduce", metavar="FOLDER",
                   help="results that are kept, and traces while they are needed")
    p.add_argument("--out", type=Path, default=page, metavar="FOLDER", help="where README.md and the other files of the page go")
    p.add_argument("--kernels", metavar="A,B,...", help="only these of the page's kernels (needs --out)")
    p.add_argument("--small", action="store_true", help="the kernels' small sizes (needs --out)")
    p.add_argument("--keep-traces", action="store_true", help="do not throw traces away when their runs are done")
    p.add_argument("--no-plots", action="store_true", help="tables only (needs --out)")
    p.add_argument("--slurm", action="store_true", help="submit the simulations to Slurm, --jobs of them at a time")
    p.add_argument("--quiet", action="store_true", help="no progress")
    p.add_argument("--strict", action="store_true",
                   help="end with status 3 when a difference has no finding or a finding is out of date")
    p.set_defaults(page=page)
    return p


def checked(options: argparse.Namespace, known: Sequence[str]) -> argparse.Namespace:
    """Refuses what does not fit; --kernels becomes a list in the order of `known`, the page's kernels."""
    chosen = list(known) if options.kernels is None else [k for k in options.kernels.split(",") if k]
    for k in chosen:
        if k not in known:
            raise UsageError(f"--kernels: found '{k}', expected some of {', '.join(known)}")
    if not chosen:
        raise UsageError(f"--kernels: found none, expected some of {', '.join(known)}")
    in_place = options.out.resolve() == options.page.resolve()
    for given, name in ((options.kernels is not None, "--kernels"), (options.small, "--small"),
                        (options.no_plots, "--no-plots")):
        if given and in_place:
            raise UsageError(f"{name} does not make the page that is kept in {options.page}: say where this one "
                                    f"goes (--out FOLDER)")
    options.kernels = [k for k in known if k in chosen]
    _keep_sources(options)
    return options


def _keep_sources(options: argparse.Namespace) -> None:
    """A link in --out may lead back to what the page is made from."""
    written = [FileUse("--out", options.out / name, True) for name in ("README.md", "findings.md", "results.csv")]
    read = [FileUse("a source of the page", options.page / name) for name in ("page.md", "paper.json", "findings.toml")]
    try:
        refuse_clashes([*written, *read])
    except InputError as e:
        raise UsageError(str(e)) from None


def campaign(options: argparse.Namespace) -> Campaign:
    """As the command line wants it. A page's name is that of its folder."""
    settings = Settings(options.jobs, options.slurm, shown=not options.quiet)
    return Campaign(Tools.find(options.bin), options.work, options.page.name, settings, options.keep_traces)


def launch_file(kernel: str, small: bool) -> Path:
    return kernels_folder / kernel / ("launch.small.toml" if small else "launch.toml")


def main(run: Callable[[Optional[List[str]]], int]) -> int:
    """Status: 0 done, 1 something failed, 2 bad usage, 3 --strict found something, 130 interrupted."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return run(None)
    except InputError as e:
        sys.stderr.write(f"{Path(sys.argv[0]).name}: {e}\n")
        return 2 if isinstance(e, UsageError) else 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: what is done is kept, the same command goes on from there\n")
        return 130
