# SPDX-License-Identifier: Apache-2.0
"""What all evaluations ask of their runs. A paper's own derives from it."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .campaign import Result
from .paper import Comparisons
from .stats import mean, value

#: The run that all others are held against.
baseline = "baseline"


class Evaluation:
    """Everything is by kernel, in `kernels`' order; None where a run was refused."""

    #: The paper's name of a benchmark -> our kernel of the same algorithm.
    counterparts: Dict[str, str] = {}

    def __init__(self, kernels: Sequence[str], results: Dict[Tuple[str, str], Result]):
        self.kernels = list(kernels)
        self.results = results

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
        """Kernels that ran."""
        return [k for k in (self.kernels if among is None else among) if self.document(k, name) is not None]

    def refused(self) -> List[Tuple[str, str, str]]:
        return [(k, name, r.refused) for (k, name), r in self.results.items() if r.stats is None]

    def average(self, of: Callable[[str], float], among: Optional[Sequence[str]] = None) -> float:
        """The mean of something over the kernels."""
        return mean(of(k) for k in (self.kernels if among is None else among))

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
        """The paper's name of a kernel of ours."""
        return next((name for name, ours in self.counterparts.items() if ours == kernel), otherwise)

    def short(self, kernel: str) -> str:
        """A kernel's name, with the benchmark's where that is another one."""
        name = self.theirs(kernel, kernel)
        return kernel if name == kernel else f"{kernel} ({name})"

    def shared_kernels(self) -> List[str]:
        return [k for k in self.counterparts.values() if k in self.kernels]

    # --- beside the paper ---

    def compare(self, comparisons: Comparisons) -> None:
        raise NotImplementedError
