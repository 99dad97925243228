#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Annotates the kernels of traces/kernels at full size: a trace each, ready for regatta-sim. See --help."""

import argparse
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "examples" / "reproduce"))

from regatta_reproduce import command, suite  # noqa: E402
from regatta.files import write_whole  # noqa: E402
from regatta.studies import engine  # noqa: E402
from regatta.studies.campaign import Campaign, Tools, Trace  # noqa: E402
from regatta.studies.jobs import made  # noqa: E402

description = """Annotates the kernels of traces/kernels at full size, several at a time.

  make traces                        all kernels: build/traces/KERNEL.rgt, KERNEL.report.json beside it
  make traces SUITE=wir              the kernels of one paper, for that paper's machine: build/traces/wir/KERNEL.rgt
  make traces SUITE=wir JOBS=4       four at a time
  regatta-sim build/traces/wir/sobel.rgt --machine gtx480

traces/suites/SUITE.toml lists a paper's programs. It also determines the options of regatta-annotate: the size of an
address, the lanes of a warp, and the registers that a thread of the paper's machine can have. Without a suite the
options are regatta-annotate's defaults (64-bit addresses, warps of 32, 255 registers)."""

epilog = """A trace that is up to date is not made again. KERNEL.key beside it is a digest of regatta-annotate, the launch
file, the files that it names, and the options; when one of them changes, the trace is made anew. So the same command
resumes an interrupted run. A kernel that fails does not stop the others; failures are listed at the end.
All kernels together take a few minutes and several GB.

Exit status: 0 done; 1 a kernel failed; 2 bad usage; 130 interrupted."""


@dataclass(frozen=True)
class Job:
    kernel: str
    trace: Trace  # as the engine makes it
    path: Path  # where it is to be

    @property
    def report(self) -> Path:
        return self.path.with_suffix(".report.json")

    @property
    def key_file(self) -> Path:
        return self.path.with_suffix(".key")

    def up_to_date(self) -> bool:
        try:
            return self.path.exists() and self.report.exists() and self.key_file.read_text(encoding="utf-8") == self.trace.key
        except OSError:
            return False

    def settle(self) -> str:
        """Puts what has been made into its place; the failure, in a sentence, if it was none. Leaves nothing that looks up to
        date unless all of it is."""
        record = made(self.trace)
        if record is None:
            return ""
        if record["status"] != 0:
            return f"regatta-annotate ended with status {record['status']} on {self.kernel}: {record['message']}"
        self.key_file.unlink(missing_ok=True)
        write_whole(self.report, json.dumps(record["report"], indent=2) + "\n")
        os.replace(self.trace.path, self.path)
        write_whole(self.key_file, self.trace.key)
        return ""


def make_all(campaign: Campaign, jobs: List[Job], settings: engine.Settings) -> List[str]:
    """Makes what is not up to date. Returns failures, in sentences."""
    missing = [j for j in jobs if not j.up_to_date()]
    if not missing:
        return []

    def tell(text: str) -> None:
        if settings.shown:
            print(text, file=sys.stderr, flush=True)

    failures: List[str] = []
    with engine.locked(campaign.folder, "these traces are being made already"):
        try:
            engine.make(campaign, [], {}, settings, tell, [j.trace for j in missing])
        finally:
            failures = [told for told in (j.settle() for j in missing) if told]
    shutil.rmtree(campaign.folder)
    return failures


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="prepare.py", description=description, epilog=epilog,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--suite", metavar="SUITE", default="", help=f"one paper: {', '.join(suite.names())} [default: all kernels]")
    p.add_argument("--kernels", metavar="A,B,...", help="only these of traces/kernels, or of the suite")
    p.add_argument("--small", action="store_true", help="the kernels' small sizes, for a quick try (needs --out)")
    p.add_argument("--bin", type=Path, default=root / "build" / "release" / "bin", metavar="FOLDER",
                   help="where regatta-annotate and regatta-sim are [default: build/release/bin]")
    p.add_argument("--out", type=Path, metavar="FOLDER",
                   help="where the traces go [default: build/traces, or build/traces/SUITE]")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                   help="kernels at a time [default: one per core]")
    p.add_argument("--list", action="store_true", help="list the kernels and what would be made; run nothing")
    p.add_argument("--quiet", action="store_true", help="no progress")
    return p


def run(arguments: Optional[List[str]] = None) -> int:
    """The exit status."""
    options = parser().parse_args(arguments)
    if options.suite and options.suite not in suite.names():
        raise command.UsageError(f"--suite: found '{options.suite}', expected one of {', '.join(suite.names())}")
    if options.jobs < 1:
        raise command.UsageError(f"--jobs: found {options.jobs}, expected at least 1")
    if options.small and options.out is None:
        raise command.UsageError("--small does not make the traces of build/traces: say where these go (--out FOLDER)")
    chosen_suite = suite.read(suite.suites_folder / f"{options.suite}.toml") if options.suite else None
    known = chosen_suite.kernels if chosen_suite else suite.kernel_names()
    kernels = known if options.kernels is None else [k for k in dict.fromkeys(options.kernels.split(",")) if k]
    for kernel in kernels:
        if kernel not in known:
            raise command.UsageError(f"--kernels: found '{kernel}', expected some of {', '.join(known)}")
    out = options.out or root / "build" / "traces" / options.suite
    annotate_options = chosen_suite.annotate_options() if chosen_suite else ()
    out = out.resolve()
    folder = out / ".making"
    campaign = Campaign("traces", folder, out, Tools.find(options.bin), folder / "runs")
    jobs = [Job(k, campaign.trace(k, command.launch_file(k, options.small), annotate_options, report=True), out / f"{k}.rgt")
            for k in kernels]
    if options.list:
        for job in jobs:
            print(f"{'up to date' if job.up_to_date() else 'to be made'}  {job.path}")
        return 0
    failures = make_all(campaign, jobs, engine.Settings(options.jobs, shown=not options.quiet))
    print(f"{len(jobs) - len(failures)} of {len(jobs)} traces are in {out}" +
          (f" (regatta-annotate {' '.join(annotate_options)})" if annotate_options else ""))
    if failures:
        sys.stderr.write(f"{len(failures)} failed:\n" + "".join(f"  {f}\n" for f in sorted(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(command.main(run))
