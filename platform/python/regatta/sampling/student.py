# SPDX-License-Identifier: Apache-2.0
"""Quantiles of Student's t, by scipy: the only module that imports it, and only when an interval is asked for."""

import functools
import importlib.util

from ..statistics import InputError


def need_scipy() -> None:
    """To be asked before simulations that end in an interval. Throws InputError."""
    if importlib.util.find_spec("scipy") is None:
        raise InputError("intervals need scipy, which is not installed for this Python: apt-get install python3-scipy (Debian, "
                         "Ubuntu), or pip install scipy")


@functools.lru_cache(maxsize=4096)
def two_sided(confidence: float, freedom: float) -> float:
    """t such that |T| <= t with this probability; `freedom` may be any positive number, and infinite."""
    from scipy.special import stdtrit  # type: ignore[import]
    if not 0.0 < confidence < 1.0 or not freedom > 0.0:
        raise ValueError(f"two_sided({confidence}, {freedom})")
    # Beyond, it is the normal distribution to all digits that matter.
    return float(stdtrit(min(freedom, 1e7), 0.5 + confidence / 2))
