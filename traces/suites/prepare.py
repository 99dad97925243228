#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Annotates the kernels of traces/kernels at full size: a trace each, ready for regatta-sim. See --help."""

import argparse
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Tuple

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "examples" / "reproduce"))

from regatta_reproduce import command, suite  # noqa: E402
from regatta_reproduce.campaign import Campaign, Trace  # noqa: E402
from regatta_reproduce.progress import Progress  # noqa: E402
from regatta_reproduce.tools import ToolFailure, Tools  # noqa: E402

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
    trace: Trace
    path: Path  # of the .rgt
    key: str

    @property
    def report(self) -> Path:
        return self.path.with_suffix(".report.json")

    @property
    def key_file(self) -> Path:
        return self.path.with_suffix(".key")

    def up_to_date(self) -> bool:
        try:
            return self.path.exists() and self.report.exists() and self.key_file.read_text(encoding="utf-8") == self.key
        except OSError:
            return False


def make(job: Job, tools: Tools) -> None:
    """Leaves nothing that looks up to date unless all of it is."""
    job.path.parent.mkdir(parents=True, exist_ok=True)
    job.key_file.unlink(missing_ok=True)
    mark = f".{os.getpid()}.{threading.get_ident()}.part"
    trace, report = job.path.with_name(job.path.name + mark), job.report.with_name(job.report.name + mark)
    try:
        tools.run("regatta-annotate", ["--launch", str(job.trace.launch.resolve()), "--out", str(trace.resolve()),
                                       "--report", str(report.resolve())] + list(job.trace.options), job.trace.kernel)
        os.replace(report, job.report)
        os.replace(trace, job.path)
        job.key_file.write_text(job.key, encoding="utf-8")
    finally:
        trace.unlink(missing_ok=True)
        report.unlink(missing_ok=True)


def time_left(seconds: float) -> str:
    return f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{seconds:.0f} s left"


def make_all(jobs: List[Job], workers: int, tools: Tools, shown: bool) -> List[str]:
    """Makes what is not up to date. Returns failures, in sentences."""
    missing = [j for j in jobs if not j.up_to_date()]
    progress = Progress(len(missing), len(jobs) - len(missing), shown)
    failures: List[str] = []
    begin, done = time.monotonic(), 0

    def one(job: Job) -> Tuple[Job, float, str]:
        progress.begin(f"annotating {job.trace.kernel}")
        started = time.monotonic()
        try:
            make(job, tools)
        except ToolFailure as e:
            return job, time.monotonic() - started, str(e)
        return job, time.monotonic() - started, ""

    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(one, job) for job in missing]
        try:
            for future in as_completed(futures):
                job, seconds, failure = future.result()
                done += 1
                left = (time.monotonic() - begin) / done * (len(missing) - done)
                size = "failed" if failure else f"{job.path.stat().st_size / 2**20:.0f} MiB"
                progress.done(job.trace.kernel, f"{size}, {seconds:.1f} s" + (f"; {time_left(left)}" if left else ""))
                if failure:
                    failures.append(failure)
        except BaseException:
            tools.stop()
            for future in futures:
                future.cancel()
            raise
    progress.finish()
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
    tools = Tools(options.bin)
    keys = Campaign(tools, out, options.jobs)  # only for its keys
    jobs = []
    for kernel in kernels:
        trace = Trace(kernel, command.launch_file(kernel, options.small), annotate_options)
        jobs.append(Job(trace, out / f"{kernel}.rgt", keys.trace_key(trace)))
    if options.list:
        for job in jobs:
            print(f"{'up to date' if job.up_to_date() else 'to be made'}  {job.path}")
        return 0
    failures = make_all(jobs, options.jobs, tools, not options.quiet)
    print(f"{len(jobs) - len(failures)} of {len(jobs)} traces are in {out}" +
          (f" (regatta-annotate {' '.join(annotate_options)})" if annotate_options else ""))
    if failures:
        sys.stderr.write(f"{len(failures)} failed:\n" + "".join(f"  {f}\n" for f in sorted(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(command.main(run))
