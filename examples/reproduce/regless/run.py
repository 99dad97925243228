#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RegLess's evaluation (MICRO-50, 2017), run again on regatta: tables, figures, README.md. See --help."""

import sys
from pathlib import Path
from typing import Dict, List, Optional

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from regatta_reproduce import command  # noqa: E402
from regatta_reproduce.campaign import Campaign, Run, Samples, Trace  # noqa: E402
from regatta_reproduce.findings import Findings  # noqa: E402
from regatta_reproduce.page import Page, missing_values, write_if_changed  # noqa: E402
from regatta_reproduce.paper import Comparisons, Paper  # noqa: E402
from regatta_reproduce.tools import Tools  # noqa: E402

import content  # noqa: E402
from evaluation import Evaluation, chosen, sizes  # noqa: E402

machine = ["--machine", "gtx980", "--sms", "1"]
window = ["--working-set", "100"]
shards = 4
banks = 8
sampled_kernel = "hotspot"
storage_samples = Samples(100, (("accesses", ("register_file.reads", "register_file.writes")),))
l1_samples = Samples(100, (("accesses", ("l1.accesses_register_read", "l1.accesses_register_write")),))


def trace_of(kernel: str, entries: int, small: bool) -> Trace:
    """Annotated for a staging unit of `entries`: a region takes no more than half a shard. Larger units than the one
    that the paper chooses run the code of that one."""
    entries = min(entries, chosen)
    shard = entries // shards
    return Trace(kernel, command.launch_file(kernel, small),
                 ("--region-registers", str(shard // 2), "--region-bank-lines", str(shard // banks)))


def runs_of(kernel: str, small: bool) -> List[Run]:
    sampled = kernel == sampled_kernel
    usual = trace_of(kernel, chosen, small)
    runs = [
        Run("baseline", usual, tuple(machine + ["--scheduler", "gto"] + window), storage_samples if sampled else None),
        Run("two_level", usual, tuple(machine + ["--scheduler", "two_level"] + window)),
        # The scheduler that the paper cites lets 8 warps of an SM be active, ours by default 8 of each scheduler.
        Run("two_level-8", usual, tuple(machine + ["--scheduler", "two_level", "--scheduler.active_warps",
                                                   str(8 // shards)] + window)),
    ]
    for entries in sizes:
        options = machine + ["--scheduler", "gto", "--scheme", "regless", "--osu.entries", str(entries)]
        trace = trace_of(kernel, entries, small)
        runs.append(Run(f"regless-{entries}", trace, tuple(options),
                        l1_samples if sampled and entries == chosen else None, may_be_refused=entries < chosen))
        if entries == chosen:
            runs.append(Run("no-compressor", trace, tuple(options + ["--compressor.enabled", "false"])))
    return runs


def run(arguments: Optional[List[str]] = None) -> int:
    options = command.checked(command.parser(__doc__, here).parse_args(arguments))
    paper = Paper(here / "paper.json")
    findings = Findings(here / "findings.toml")
    campaign = Campaign(Tools(options.bin), options.work, options.jobs, options.keep_traces, not options.quiet)
    for kernel in options.kernels:
        for r in runs_of(kernel, options.small):
            campaign.add(r)
    e = Evaluation(options.kernels, campaign.execute())
    whole = options.kernels == command.kernel_names() and not options.small
    comparisons = Comparisons(paper)
    e.compare(comparisons)
    page = Page(comparisons, findings, partial=not whole)
    content.fill(page, e, options.out / "figures", options.small, not options.no_plots)
    page.put("missing", missing_values(comparisons))
    changed = write_if_changed(options.out / "README.md", page.render(here / "page.md"))
    write_if_changed(options.out / "results.csv", content.csv(e))
    print(f"{options.out / 'README.md'}: {'written' if changed else 'as it was'}")
    complaints: List[str] = []
    if whole:
        complaints = findings.complaints(comparisons)
        complaints += [f"{i} is stated, and nothing of ours is held beside it" for i in comparisons.forgotten()]
    for c in complaints:
        print(f"  {c}", file=sys.stderr)
    return 3 if complaints and options.strict else 0


if __name__ == "__main__":
    sys.exit(command.main(run))
