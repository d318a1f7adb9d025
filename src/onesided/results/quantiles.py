"""Quantiles of a sample with bounds that hold for any distribution."""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from onesided.base.types import Array


class Quantile(NamedTuple):
    """A quantile, and bounds between which the true one lies with the confidence asked for.

    A bound is infinite where the sample is too small to give one.
    """

    share: float
    value: float
    low: float
    high: float
    confidence: float


def quantile(values: Array, unknown: int, share: float, confidence: float) -> Quantile:
    """The quantile of independent values by order statistics.

    The k-th smallest of n values lies above the true quantile with the probability P(B < k), B binomial (n, share).

    Parameters
    ----------
    values : (N,) sorted or not; +∞ for a value that is known to be beyond all others.
    unknown : how many further values are not known: they count as −∞ for the lower bound, as +∞ for the upper one.
    """
    ranked = np.sort(np.asarray(values, dtype=float))
    n, error = len(ranked) + unknown, (1.0 - confidence) / 2.0
    numbers = np.arange(n + 1)
    below = binom.cdf(numbers - 1, n, share)  # P(B < k): how probable it is that the k-th lies above
    low = int(np.max(numbers[below <= error], initial=0))  # the k-th smallest is above with at most this probability
    enough = numbers[(below >= 1.0 - error) & (numbers >= 1)]
    lowest, highest = np.full(unknown, -np.inf), np.full(unknown, np.inf)
    bounds = (
        np.concatenate([[-np.inf], lowest, ranked])[low],
        (float(np.concatenate([ranked, highest])[enough[0] - 1]) if len(enough) else np.inf),
    )
    middle = float(np.quantile(ranked, share, method="inverted_cdf")) if len(ranked) else np.nan
    return Quantile(share, middle, float(bounds[0]), bounds[1], confidence)
