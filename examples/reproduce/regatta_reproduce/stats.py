# SPDX-License-Identifier: Apache-2.0
"""Numbers out of stats.json, and means over kernels."""

import math
import re
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from . import ReproductionError

_absent = object()


def _find(node: Any, parts: List[str]) -> Any:
    if not parts:
        return node
    if not isinstance(node, dict):
        return _absent
    # A name may itself hold dots ("sm0.l1"): try the longest first.
    for n in range(len(parts), 0, -1):
        name = ".".join(parts[:n])
        if name in node:
            found = _find(node[name], parts[n:])
            if found is not _absent:
                return found
    return _absent


def value(document: Dict[str, Any], key: str, default: Any = _absent) -> Any:
    """document[...][...] by a dotted key; throws, naming the key, when it is not there and there is no default."""
    found = _find(document, key.split("."))
    if found is not _absent:
        return found
    if default is not _absent:
        return default
    raise ReproductionError(f"stats.json of {document.get('kernel', '?')} (scheme {document.get('scheme', '?')}) has "
                            f"no '{key}': these tools and this page are of different versions")


def of_all_sms(document: Dict[str, Any], module: str, name: str) -> float:
    """A module's statistic summed over the SMs ("l1", "reads"); `module` is a pattern for what follows "smN."."""
    pattern = re.compile(r"sm\d+\." + module + r"\Z")
    found = [group[name] for path, group in document["stats"].items() if pattern.match(path) and name in group]
    if not found:
        raise ReproductionError(f"stats.json of {document.get('kernel', '?')} has no statistic '{name}' of a module "
                                f"'{module}'")
    return sum(found)


def geomean(values: Iterable[float]) -> float:
    logs = []
    for v in values:
        if not v > 0:
            raise ReproductionError(f"a geometric mean needs positive values, found {v}")
        logs.append(math.log(v))
    if not logs:
        raise ReproductionError("a geometric mean needs values, found none")
    return math.exp(math.fsum(logs) / len(logs))


def mean(values: Iterable[float]) -> float:
    all_values = list(values)
    if not all_values:
        raise ReproductionError("a mean needs values, found none")
    return math.fsum(all_values) / len(all_values)


def ratio(a: float, b: float) -> Optional[float]:
    """a / b; None when there is nothing to divide by."""
    return a / b if b else None


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's: 1 for the same order, -1 for the opposite one. Equal values share their mean rank."""
    def ranks(values: Sequence[float]) -> List[float]:
        return [sum(u < v for u in values) + (sum(u == v for u in values) - 1) / 2 for v in values]
    if len(a) != len(b) or len(a) < 2:
        raise ReproductionError(f"a rank correlation needs two lists of the same length, found {len(a)} and {len(b)}")
    x, y = ranks(a), ranks(b)
    centre = (len(x) - 1) / 2
    spread = math.sqrt(sum((u - centre) ** 2 for u in x) * sum((v - centre) ** 2 for v in y))
    return sum((u - centre) * (v - centre) for u, v in zip(x, y)) / spread if spread else 0.0


def pareto(points: List[Tuple[float, float]]) -> List[int]:
    """Indices, by growing x, of the points that no other point equals or beats in both (less is better)."""
    best = math.inf
    front = []
    for i in sorted(range(len(points)), key=lambda i: (points[i], i)):
        if points[i][1] < best:
            best = points[i][1]
            front.append(i)
    return front
