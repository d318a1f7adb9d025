"""Coefficients of Dormand and Prince's method of order eight."""

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from onesided.base.types import Array

STAGES = 12


class Tableau(NamedTuple):
    """Coefficients of Dormand and Prince's method of order eight, with a row for the end of the step."""

    A: Array
    times: Array
    B: Array
    E3: Array
    E5: Array


@cache
def tableau() -> Tableau:
    """The coefficients as SciPy has them; its integrators are loaded by the first motion, not by a path."""
    rule = scipy.integrate.DOP853
    A, times = np.vstack([rule.A[:STAGES, :STAGES], np.zeros(STAGES)]), np.append(rule.C[:STAGES], 1.0)
    return Tableau(A, times, rule.B, rule.E3[:STAGES], rule.E5[:STAGES])
