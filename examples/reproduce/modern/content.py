# SPDX-License-Identifier: Apache-2.0
"""The page's tables and figures."""

from pathlib import Path
from typing import Any, List, Optional

from regatta.statistics import value
from regatta_reproduce import plots
from regatta_reproduce.page import Page, csv_text, fixed, table

from evaluation import Evaluation, baseline_name, changes, claims, everywhere, measures, rows
from ideas import bits, fewest_papers, gpu, ideas, modern, most_warp_instructions, old, older, places

shown_ideas = [i for i, of in ideas.items() if not of.is_reference]
per_kernel = ("time", "gpu", "ctas")


def fill(page: Page, e: Evaluation, figures: Optional[Path], small: bool) -> None:
    _numbers(page, e)
    _figure(page, e, figures)
    _first(page, e)
    page.compare_known("claims", list(claims))
    _scaled(page)
    _programs(page, e)
    _bits(page, e)
    _changes(page, e)
    _kernels(page, e)


def _numbers(page: Page, e: Evaluation) -> None:
    """Single numbers that text and findings use, such as {{time/regless/h100}} and {{time/regless/h100/sgemm}}; and of each kernel."""
    for key, place in everywhere.items():
        for i in place.ideas:
            own = {m for idea, m, _ in rows if idea == i}
            for name in [m for m in measures if m in own or m in ("time", "speed", "gpu", "registers", "ctas")]:
                page.put(f"{name}/{i}/{key}", e.text(name, i, key))
                for k in e.suite.kernels:
                    ran = k in e.kernels and e.ran(i, key)
                    page.put(f"{name}/{i}/{key}/{k}", _of_kernel(e, name, k, i, key) if ran else "-")
    gaussian = [e.document("gaussian", baseline_name("finereg", p))["cycles"] for p in ("launches", modern)] if "gaussian" in e.kernels else []
    page.put("launches/gaussian", fixed(gaussian[0] / gaussian[1], 2) if gaussian else "-")
    page.put("fewest", str(fewest_papers))
    page.put("largest", f"{most_warp_instructions:,}")
    page.put("names", ", ".join(f"`{k}`" for k in e.kernels))
    page.put("agree/claims", str(len(claims) - len(page.comparisons.different(list(claims)))))
    page.put("claims", str(len(claims)))
    page.put("living", " and ".join(ideas[i].title for i in shown_ideas if not e.refusal(i)))


def _of_kernel(e: Evaluation, name: str, kernel: str, idea: str, place: str) -> str:
    m = measures[name]
    x = m.of(e, kernel, idea, place)
    return m.text(1 - x if m.saving else 1 / x if m.inverse else x)


def _figure(page: Page, e: Evaluation, figures: Optional[Path]) -> None:
    shown = (old, modern, older)
    for name, measure, what in (("run_time", "time", "run time (baseline = 1)"), ("gpu_energy", "gpu", "GPU energy (baseline = 1)")):
        if figures is not None:
            series = {places[p].title: [_left(e, measure, i, p) for i in shown_ideas] for p in shown}
            plots.grouped_bars(figures / name, [t.title.replace(" ", "\n") for t in map(ideas.get, shown_ideas)], series, what, one=True)
    page.figure("run_time", "Run time of each idea, over the same machine without it; geometric means")
    page.figure("gpu_energy", "Energy of the GPU, likewise")


def _left(e: Evaluation, measure: str, idea: str, place: str) -> Optional[float]:
    x = e.of(measure, idea, place)
    return x if x is None or not measures[measure].saving else 1 - x


def _first(page: Page, e: Evaluation) -> None:
    stated = page.comparisons.paper.values
    out: List[List[Any]] = []
    for n, (i, m, of_paper) in enumerate(rows):
        first = n == 0 or rows[n - 1][0] != i
        out.append([f"**{ideas[i].title}**" if first else "", measures[m].title, stated[of_paper].text() if of_paper else "-"] +
                   [e.text(m, i, p) if e.ran(i, p) else "refused" for p in (old, modern, older, bits)])
    page.put("table:ideas", table(["idea", "", "paper", "its machine", "`h100`", "collectors", "control bits"], out, left=2))


def _scaled(page: Page) -> None:
    out = [[i.title, f"`{k.name}`", k.rule, k.published, i.sized(k, "h100")] for i in ideas.values() for k in i.knobs]
    page.put("table:scaled", table(["idea", "knob", "scaled", "its machine", "`h100`"], out, left=3))


def _programs(page: Page, e: Evaluation) -> None:
    """How much room registers leave: by the code of the papers' machines, and by that of sm_90."""
    file, granularity = gpu("h100").registers, 8
    out = []
    for k in e.kernels:
        cells: List[Any] = [k]
        for idea, place in (("regless", old), ("regless", modern)):
            name = baseline_name(idea, place)
            registers = e.registers(k, name)
            cells += [value(e.document(k, name), "warp_instructions"), registers, min(64, file // (-(-registers // granularity) * granularity)),
                      fixed(e.resident(k, name), 1)]
        cells.append(fixed(e.resident(k, baseline_name("register_sharing", old)), 1))
        out.append(cells)
    page.put("table:programs", table(["program", "warp instructions, gtx980", "registers", "warps that they allow", "CTAs on the SM",
                                      "warp instructions, h100", "registers", "warps that they allow", "CTAs on the SM", "CTAs on fermi_sharing"], out))


def _bits(page: Page, e: Evaluation) -> None:
    for i in shown_ideas:
        page.put(f"refusal/{i}", e.refusal(i) or "none")


def _changes(page: Page, e: Evaluation) -> None:
    out = []
    for key, place in changes.items():
        for i in place.ideas:
            out.append([ideas[i].title, place.title] + [e.text(m, i, p) if i in everywhere[p].ideas else "-"
                                                             for m in ("time", "registers", "gpu", "ctas") for p in (modern, key)])
    page.put("table:changes", table(["idea", "the change", "run time", "with it", "register energy saved", "with it", "GPU energy saved", "with it",
                                     "CTAs", "with it"], out, left=2))


def _kernels(page: Page, e: Evaluation) -> None:
    for m in per_kernel:
        columns = [(i, p) for i in shown_ideas for p in (old, modern, older)]
        out = [[k] + [_of_kernel(e, m, k, i, p) for i, p in columns] for k in e.kernels]
        page.put(f"table:{m}", table([measures[m].title] + [f"{ideas[i].title}, {places[p].title}" for i, p in columns], out))


def csv(e: Evaluation) -> str:
    """A row per run, with the numbers behind the tables."""
    out = []
    for (kernel, name), r in sorted(e.results.items()):
        d = r.stats
        if d is None:
            out.append([kernel, name, " ".join(r.run.trace.options)] + [None] * 6)
            continue
        out.append([kernel, name, " ".join(r.run.trace.options), d["cycles"], d["warp_instructions"], f"{d['energy']['total_nj']:.1f}",
                    f"{value(d, 'energy.by_structure.register_structures'):.1f}", e.resident(kernel, name), d["checks"]["mismatches"]])
    return csv_text(["kernel", "run", "annotated", "cycles", "warp_instructions", "energy_nj", "register_structures_nj", "resident_ctas", "mismatches"], out)
