# SPDX-License-Identifier: Apache-2.0
"""A paper's page from its parts: what every run.py does."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple, Type

from . import command, counting, parts, plots
from .campaign import Result, Run
from .evaluation import Evaluation
from .findings import Findings
from .page import Page, missing_values, write, write_if_changed
from .paper import Comparisons, Paper
from .suite import Suite


@dataclass(frozen=True)
class Reproduction:
    """`folder` holds paper.json, findings.toml and page.md; README.md, findings.md, tables/, figures/ and results.csv go
    there. The page's kernels are those of `suite`."""
    description: str
    folder: Path
    suite: Suite
    runs_of: Callable[[str, bool], List[Run]]  # a kernel's runs, at small size or full
    evaluation: Type[Evaluation]
    fill: Callable[[Page, Evaluation, Optional[Path], bool], None]  # figures' folder (None: none are drawn), small
    csv: Callable[[Evaluation], str]
    #: Runs of a kernel whose options depend on the results of its runs_of().
    later_runs: Optional[Callable[[str, bool, Dict[Tuple[str, str], Result]], List[Run]]] = None

    def run(self, arguments: Optional[List[str]] = None) -> int:
        """The exit status."""
        options = command.checked(command.parser(self.description, self.folder).parse_args(arguments), self.suite.kernels)
        if not options.no_plots:
            plots.require()
        paper = Paper(self.folder / "paper.json")
        findings = Findings(self.folder / "findings.toml")
        campaign = command.campaign(options)
        for kernel in options.kernels:
            for r in self.runs_of(kernel, options.small):
                campaign.add(r)
        results = campaign.execute()
        if self.later_runs is not None:
            for kernel in options.kernels:
                for r in self.later_runs(kernel, options.small, results):
                    campaign.add(r)
            results = campaign.execute()
        e = self.evaluation(self.suite, options.kernels, results)
        whole = options.kernels == self.suite.kernels and not options.small
        comparisons = Comparisons(paper)
        e.compare(comparisons)
        page = Page(comparisons, findings, partial=not whole)
        self._facts(page, e, paper, findings, options.small)
        self.fill(page, e, None if options.no_plots else options.out / "figures", options.small)
        page.put("missing", missing_values(comparisons))
        made = parts.split(page.render(self.folder / "page.md"))
        changed = write(options.out, made)
        write_if_changed(options.out / "results.csv", self.csv(e))
        print(f"{options.out / 'README.md'}: {'written' if changed else 'as it was'}")
        complaints: List[str] = []
        if whole:
            complaints = findings.complaints(comparisons)
            complaints += [f"{i} is stated, and nothing of ours is held beside it" for i in comparisons.forgotten()]
            complaints += made.complaints()
        for c in complaints:
            print(f"  {c}", file=sys.stderr)
        return 3 if complaints and options.strict else 0

    def _facts(self, page: Page, e: Evaluation, paper: Paper, findings: Findings, small: bool) -> None:
        """{{kernels}}, {{programs}}, {{size}}, {{runs}}, {{operands_checked}}, {{mismatches}}; {{counts}}: sentences on the
        statements that agree, and on the reasons of the others."""
        checked, wrong = e.checks()
        done = page.comparisons
        page.put("programs", str(self.suite.coverage()))
        page.put("counts", counting.head(counting.count(done.all.values(), len(paper.values)), findings))
        page.put("kernels", str(len(e.kernels)))
        page.put("size", "small" if small else "full")
        page.put("runs", str(len(e.results)))
        page.put("operands_checked", f"{checked:,}")
        page.put("mismatches", str(wrong))
