# SPDX-License-Identifier: Apache-2.0
"""What all evaluations ask of their runs. A paper's own derives from it."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from regatta.means import mean
from regatta.statistics import value

from .campaign import Result
from .paper import Comparisons
from .suite import Program, Suite

#: The run that all others are held against.
baseline = "baseline"


class Evaluation:
    """Everything is by kernel, in `kernels`' order; None where a run was refused."""

    def __init__(self, suite: Suite, kernels: Sequence[str], results: Dict[Tuple[str, str], Result]):
        self.suite = suite
        self.kernels = list(kernels)
        self.results = results
        #: The paper's programs that were run.
        self.programs: List[Program] = [p for p in suite.listed() if p.kernel in self.kernels]
        #: Their kernels. Means are taken over these: a kernel counts once for each program that it stands for.
        self.counted: List[str] = [p.kernel for p in self.programs]
        #: The paper's name of a program -> its kernel.
        self.counterparts: Dict[str, str] = {p.abbreviation or p.name: p.kernel for p in self.programs}

    # --- one run ---

    def document(self, kernel: str, name: str) -> Optional[Dict[str, Any]]:
        """stats.json."""
        return self.results[(kernel, name)].stats

    def statistic(self, kernel: str, name: str, key: str, *default: Any) -> Any:
        """A number of stats.json by its dotted key."""
        d = self.document(kernel, name)
        return None if d is None else value(d, key, *default)

    def relative(self, kernel: str, name: str, key: str, to: str = baseline) -> Optional[float]:
        """A number of stats.json over that of another run."""
        d = self.document(kernel, name)
        return None if d is None else value(d, key) / value(self.document(kernel, to), key)

    def run_time(self, kernel: str, name: str, to: str = baseline) -> Optional[float]:
        """Cycles over the baseline's."""
        return self.relative(kernel, name, "cycles", to)

    def gpu_energy(self, kernel: str, name: str, to: str = baseline) -> Optional[float]:
        return self.relative(kernel, name, "energy.total_nj", to)

    # --- over the kernels ---

    def fitting(self, name: str, among: Optional[Sequence[str]] = None) -> List[str]:
        """Kernels that ran, once for each program."""
        return [k for k in (self.counted if among is None else among) if self.document(k, name) is not None]

    def refused(self) -> List[Tuple[str, str, str]]:
        return [(k, name, r.refused) for (k, name), r in self.results.items() if r.stats is None]

    def average(self, of: Callable[[str], float], among: Optional[Sequence[str]] = None) -> float:
        """The mean of something over the programs."""
        return mean(of(k) for k in (self.counted if among is None else among))

    def checks(self) -> Tuple[int, int]:
        """Operands checked in all runs together, and mismatches among them."""
        documents = [r.stats for r in self.results.values() if r.stats]
        return (sum(d["checks"]["operands_checked"] for d in documents),
                sum(d["checks"]["mismatches"] for d in documents))

    def structures(self, names: Sequence[str]) -> List[str]:
        """Structures of the energy's breakdown in any of these runs, in the order in which they are met."""
        found: Dict[str, None] = {}
        for name in names:
            for k in self.fitting(name):
                found.update(dict.fromkeys(self.document(k, name)["energy"]["by_structure"]))
        return list(found)

    def energy_share(self, kernel: str, name: str, structure: str, to: str = baseline) -> float:
        """Of the baseline's energy, what a structure needs in a run."""
        return (self.document(kernel, name)["energy"]["by_structure"].get(structure, 0.0) /
                self.document(kernel, to)["energy"]["total_nj"])

    # --- names ---

    def theirs(self, kernel: str, otherwise: str = "-") -> str:
        """The paper's names of the programs that a kernel stands for."""
        return ", ".join(name for name, ours in self.counterparts.items() if ours == kernel) or otherwise

    def short(self, kernel: str) -> str:
        """What tables and figures call a kernel: as the paper does."""
        return self.theirs(kernel, kernel)

    # --- beside the paper ---

    def compare(self, comparisons: Comparisons) -> None:
        raise NotImplementedError
