# SPDX-License-Identifier: Apache-2.0
"""Quantiles of Student's t for any positive number of degrees of freedom."""

from __future__ import annotations

import functools
import math


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 400):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1.0 + numerator * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + numerator / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-14:
            break
    return value


def _beta(a: float, b: float, x: float) -> float:
    """Regularized incomplete beta function."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b


@functools.lru_cache(maxsize=4096)
def two_sided(confidence: float, freedom: float) -> float:
    """t such that |T| <= t with this probability; `freedom` may be infinite."""
    if not 0.0 < confidence < 1.0 or not freedom > 0.0:
        raise ValueError(f"two_sided({confidence}, {freedom})")
    freedom = min(freedom, 1e7)  # beyond, the normal distribution to all digits that matter

    def outside(t: float) -> float:
        return _beta(freedom / 2, 0.5, freedom / (freedom + t * t))

    low, high = 0.0, 1.0
    while outside(high) > 1.0 - confidence:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if outside(middle) > 1.0 - confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2
