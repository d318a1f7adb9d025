"""Every threshold of the library, with its unit and meaning."""

from dataclasses import dataclass, fields

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError

EPS = float(np.finfo(np.float64).eps)
HALF_DIGITS = EPS**0.5  # what is left of a number after its square, or of a first difference
QUARTER_DIGITS = EPS**0.25  # what is left after a second difference, or beside a double zero
MOST_DIGITS = EPS**0.75  # agreement where a quarter of the digits may be lost
SOME_DIGITS = EPS**0.375  # computed places closer than this are one: half of the digits, less two for conditioning
CUBE_ROOT = EPS ** (1.0 / 3.0)  # best relative step of a central difference: truncation and rounding are equal
SMALL = EPS**0.625  # nothing beside numbers of order one: one more Newton step from here reaches round-off
ROUNDING = 64.0 * EPS  # stiffness below this share of what is usual cannot be distinguished from none
ROUND_OFF = EPS**0.625  # a scaled residual below this that no longer falls is as small as it gets


@checked
@dataclass(frozen=True)
class Tolerances:
    """Thresholds, all relative: to the system's length, force or stiffness scale, or to the size of the data.

    Attributes
    ----------
    gap : float
        A gap below `gap` × its scale counts as closed.
    force : float
        A multiplier below `force` × its scale counts as zero (weakly active).
    residual : float
        A force balance or constraint residual below `residual` × its scale counts as met.
    rank : float
        A singular value below `rank` × the largest counts as zero.
    singularity : float
        An eigenvalue below `singularity` × the stiffness scale counts as zero.
    complementarity : float
        The natural-map residual of an LCP below `complementarity` × the size of its data counts as solved.
    event : float
        Width, relative to the step, to which an event is located.
    minimum_step : float
        A step below `minimum_step` × the length scale means that the method cannot go on.
    derivative : float
        Agreement asked of user-supplied derivatives with automatic ones.
    energy : float
        A motion whose energy changes by more than `energy` × the energy in play without work is called inaccurate.
    defect : float
        Share of ẋ that the equations may leave unexplained in a motion with located switches.
    quotient : float
        The same of difference quotients over explicit steps: how far they may lie outside the rates at the ends.
    """

    gap: float = 1e-9
    force: float = 1e-9
    residual: float = 1e-10
    rank: float = 1e-10
    singularity: float = 1e-9
    complementarity: float = 1e-9
    event: float = 1e-12
    minimum_step: float = 1e-10
    derivative: float = 1e-7
    energy: float = 1e-3
    defect: float = 1e-5
    quotient: float = 0.2

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < 1:
                raise UsageError(
                    f"tolerance `{field.name}` is out of range", got=repr(value), expected="a number between 0 and 1"
                )


DEFAULT = Tolerances()

# for points that come from integration and are not corrected
INTEGRATED = Tolerances(gap=1e-7, force=1e-7, residual=1e-8, singularity=1e-6)
