"""Quantiles without scipy: the normal one for 95 %, and Student's t by inverting the incomplete beta function."""

import math
from functools import lru_cache

Z95 = 1.959963984540054
"""97.5 % quantile of the standard normal distribution: two-sided 95 %."""


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function I_x(a, b), 0-1, for a, b > 0 and x in 0-1.

    Continued fraction of Abramowitz & Stegun 26.5.8, evaluated by Lentz's method.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1)) or tiny)
    fraction = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / ((1.0 + numerator * d) or tiny)
            c = (1.0 + numerator / c) or tiny
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return front * fraction


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t distribution with df > 0 degrees of freedom, for p strictly between 0 and 1."""
    if p < 0.5:
        return -t_quantile(1.0 - p, df)
    tail = 2.0 * (1.0 - p)
    low, high = 0.0, 1.0
    # P(|T| > t) = I_y(df / 2, 1 / 2) with y = df / (df + t * t): falls as t grows.
    while incomplete_beta(df / 2, 0.5, df / (df + high * high)) > tail:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if incomplete_beta(df / 2, 0.5, df / (df + middle * middle)) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def t95(df: float) -> float:
    """97.5 % quantile of Student's t distribution: two-sided 95 %."""
    return t_quantile(0.975, df)
