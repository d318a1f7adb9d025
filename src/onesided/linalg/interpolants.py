"""Constants of interpolants in time: Chebyshev points on a piece, quintic Hermite polynomials over a step."""

import numpy as np
from numpy.polynomial import chebyshev

from onesided.base.tolerances import EPS, QUARTER_DIGITS

DEGREE = 16
NODES = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(NODES, DEGREE))  # of Chebyshev polynomials, from values at the nodes
LAST = 3  # coefficients that tell the error
SAFETY = 24.0  # error of the interpolant of a kink, in units of the last coefficients: 8, and a factor of 3
RESOLVED = QUARTER_DIGITS  # last coefficients against the range of a function whose zeros are certain
SMOOTH = 4.0  # an error of so many units of round-off comes from round-off
ROUNDING = 16.0 * EPS  # of values, relative to the largest on the step

# δ = Σ data × powers of x; data are δ, h δ̇, h² δ̈ at the beginning, then at the end
HERMITE = np.array([
    [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
    [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
    [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
    [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
    [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
])  # fmt: skip
BUMP = np.array([0.0, 0.0, 0.0, 1.0, -3.0, 3.0, -1.0])
BEND = -0.375  # second derivative of the bump in the middle
TOP = 1.0 / 64.0  # its value there
STEEPEST = 0.12 / 5.0**0.5  # the largest slope of the bump, where x (1 − x) = 1/5
