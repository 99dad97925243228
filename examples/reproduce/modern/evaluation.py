# SPDX-License-Identifier: Apache-2.0
"""What each idea claims, on each machine, over a baseline of the same machine, code and scheduler."""

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Tuple

from regatta.means import geomean, mean
from regatta.statistics import of_all_sms, value
from regatta_reproduce import evaluation
from regatta_reproduce.paper import Comparisons

from ideas import Options, Place, bits, changes, ideas, modern, places

percent = 100.0
everywhere: Dict[str, Place] = {**places, **changes}


def scheme_name(idea: str, place: str) -> str:
    return f"{idea} on {place}"


def _baselines() -> Dict[Tuple[Options, Options], str]:
    """Names, by options of regatta-annotate and of regatta-sim: ideas share what is the same."""
    names: Dict[Tuple[Options, Options], str] = {}
    for key, place in everywhere.items():
        for i in place.ideas:
            names.setdefault(place.baseline(ideas[i]), f"baseline of {i} on {key}")
    return names


baseline_names = _baselines()


def baseline_name(idea: str, place: str) -> str:
    return baseline_names[everywhere[place].baseline(ideas[idea])]


@dataclass(frozen=True)
class Measure:
    """`over` the kernels; the ratio of a saving is what is left."""
    title: str
    of: Callable[["Evaluation", str, str, str], float]  # kernel, idea, place
    over: Callable[..., float] = geomean
    saving: bool = False
    share: bool = False
    inverse: bool = False

    def text(self, x: Optional[float]) -> str:
        return "-" if x is None else f"{percent * x:.1f} %" if self.saving or self.share else f"{x:.3f}"


class Evaluation(evaluation.Evaluation):
    # --- one run ---

    def ran(self, idea: str, place: str) -> bool:
        return all(self.document(k, scheme_name(idea, place)) is not None for k in self.kernels)

    def ratio(self, kernel: str, idea: str, place: str, key: str) -> float:
        """A number of stats.json over the baseline's."""
        return self.relative(kernel, scheme_name(idea, place), key, baseline_name(idea, place))

    def time(self, kernel: str, idea: str, place: str) -> float:
        return self.ratio(kernel, idea, place, "cycles")

    def energy(self, kernel: str, idea: str, place: str) -> float:
        return self.ratio(kernel, idea, place, "energy.total_nj")

    def register_energy(self, kernel: str, idea: str, place: str) -> float:
        """Of what holds registers: structures of that name, and those that the baseline does not have (tables of renaming, of
        reuse, of locks, of switched CTAs)."""
        known = value(self.document(kernel, baseline_name(idea, place)), "energy.by_structure")
        parts = value(self.document(kernel, scheme_name(idea, place)), "energy.by_structure")
        own = parts["register_structures"] + sum(nj for s, nj in parts.items() if s not in known)
        return own / known["register_structures"]

    def leakage(self, kernel: str, idea: str, place: str) -> float:
        return self.ratio(kernel, idea, place, "energy.static_by_structure.register_structures")

    def ctas(self, kernel: str, idea: str, place: str) -> float:
        """CTAs on the SM, mean over the cycles in which it has any, over the baseline's."""
        return self.resident(kernel, scheme_name(idea, place)) / self.resident(kernel, baseline_name(idea, place))

    def resident(self, kernel: str, name: str) -> float:
        return of_all_sms(self.document(kernel, name), "pipeline", "resident_ctas_mean")

    def main_reads(self, kernel: str, idea: str, place: str) -> float:
        """Of the reads of operands, those that the main register file serves."""
        reads = {level: value(self.document(kernel, scheme_name(idea, place)), f"stats.rfh.{level}_reads") for level in ("mrf", "orf", "lrf")}
        return reads["mrf"] / sum(reads.values())

    def bypassed(self, kernel: str, idea: str, place: str) -> float:
        return value(self.document(kernel, scheme_name(idea, place)), "stats.wir.bypass_fraction")

    def registers(self, kernel: str, name: str) -> int:
        """Of a thread, the most of any entry of the program."""
        return max(x["registers"] for x in self.results[(kernel, name)].report["entries"])

    # --- over the kernels ---

    def of(self, measure: str, idea: str, place: str) -> Optional[float]:
        """None: refused."""
        m = measures[measure]
        if not self.ran(idea, place):
            return None
        x = m.over([m.of(self, k, idea, place) for k in self.kernels])
        return 1 - x if m.saving else 1 / x if m.inverse else x

    def text(self, measure: str, idea: str, place: str) -> str:
        return measures[measure].text(self.of(measure, idea, place))

    def refusal(self, idea: str) -> str:
        """What the machine that obeys control bits says of the scheme; empty: it runs."""
        told = {self.results[(k, scheme_name(idea, bits))].refused for k in self.kernels}
        return " ".join(sorted(told - {""}))

    # --- what the ideas promise ---

    def compare(self, c: Comparisons) -> None:
        for value_id, (measure, idea, bound) in claims.items():
            x = self.of(measure, idea, modern)
            c.add(value_id, x > bound if measures[measure].saving or measures[measure].inverse or measure == "ctas" else x < bound,
                  self.text(measure, idea, modern))


measures: Dict[str, Measure] = {
    "time": Measure("run time", Evaluation.time),
    "speed": Measure("speed", Evaluation.time, inverse=True),
    "gpu": Measure("energy of the GPU saved", Evaluation.energy, saving=True),
    "registers": Measure("energy of the register structures saved", Evaluation.register_energy, saving=True),
    "leakage": Measure("leakage of the register file saved", Evaluation.leakage, saving=True),
    "ctas": Measure("CTAs on the SM", Evaluation.ctas),
    "main_reads": Measure("reads that the main file serves", Evaluation.main_reads, mean, share=True),
    "bypassed": Measure("instructions that bypass execution", Evaluation.bypassed, mean, share=True),
}

#: Rows of the page's first table: an idea, what it is measured by, and the paper's number, by its name in paper.json.
rows: List[Tuple[str, str, str]] = [
    ("regless", "time", "REGLESS-TIME"), ("regless", "registers", "REGLESS-REGISTERS"), ("regless", "gpu", "REGLESS-GPU"),
    ("rfh", "main_reads", ""), ("rfh", "registers", "RFH-REGISTERS"), ("rfh", "gpu", "RFH-GPU"), ("rfh", "time", ""),
    ("wir", "bypassed", "WIR-BYPASSED"), ("wir", "gpu", "WIR-GPU"), ("wir", "time", ""),
    ("finereg", "ctas", "FINEREG-CTAS"), ("finereg", "speed", "FINEREG-SPEED"),
    ("virtual_thread", "ctas", ""), ("virtual_thread", "speed", ""),
    ("greener", "leakage", "GREENER-LEAKAGE"), ("greener", "gpu", ""), ("greener", "time", "GREENER-TIME"),
    ("register_sharing", "ctas", ""), ("register_sharing", "speed", "SHARING-SPEED"),
    ("scratchpad_sharing", "ctas", ""), ("scratchpad_sharing", "speed", "SCRATCHPAD-SPEED"),
]

#: What each idea promises, as a statement about h100: a measure and its bound.
claims: Dict[str, Tuple[str, str, float]] = {
    "PAYS-REGLESS-TIME": ("time", "regless", 1.01), "PAYS-REGLESS-GPU": ("gpu", "regless", 0.0),
    "PAYS-RFH-GPU": ("gpu", "rfh", 0.0),
    "PAYS-WIR-GPU": ("gpu", "wir", 0.0),
    "PAYS-FINEREG-CTAS": ("ctas", "finereg", 1.01), "PAYS-FINEREG-SPEED": ("speed", "finereg", 1.0),
    "PAYS-GREENER-GPU": ("gpu", "greener", 0.0), "PAYS-GREENER-TIME": ("time", "greener", 1.01),
    "PAYS-SHARING-SPEED": ("speed", "register_sharing", 1.0),
    "PAYS-SCRATCHPAD-SPEED": ("speed", "scratchpad_sharing", 1.0),
}
