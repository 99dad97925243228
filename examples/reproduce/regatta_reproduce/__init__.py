# SPDX-License-Identifier: Apache-2.0
"""Papers' evaluations, run again: annotate and simulate by regatta's command line, compare, plot, write a page.

What a paper's script needs is in these modules; none of them knows a paper.

    tools       the programs of a build, what identifies them, and running them
    campaign    traces and simulations to be made, in parallel, each once, resumable
    evaluation  what is asked of runs; a paper's own derives from it
    stats       numbers out of stats.json and means over kernels
    paper       what a paper states, and how ours compares to it
    findings    hand-written explanations, each bound to the numbers that it explains
    plots       grouped bars, scatter with Pareto frontier, lines: SVG and PNG, the same bytes every time
    page        Markdown tables and a README from a template
    command     the command line that all papers' scripts share
    reproduction  a page from its parts
"""


class ReproductionError(Exception):
    """What went wrong, as a sentence for the user."""
