"""How large the numbers are that gaps are computed from, constants in them too: from the noise of their values.

A gap √((x − x₀)² + (y − y₀)²) − r is rounded like its largest number, which may be r or x₀ and not a coordinate. Along
a line, high differences of a smooth function vanish, and those of its round-off are left; round-off is what does not
shrink when the places are set closer (the smooth part does, and so does a kink).
"""

import math

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.dynamics.watching.watched import sums
from onesided.system.equations import Equations

ORDER, LINE = 6, 9  # of the differences; places on the line
SPACINGS = np.array([2.0**-k for k in range(20, 41, 3)])  # of the places, relative to the sizes of the coordinates
SAME = 4.0  # times smaller at most: noise of two spacings that is the same
WEIGHTS = np.array([(-1.0) ** k * math.comb(ORDER, k) for k in range(ORDER + 1)])
SPREAD = math.sqrt(math.comb(2 * ORDER, ORDER))  # of a difference, for noise of one


def find_gap_terms(equations: Equations, t: float, q: Array, sizes: Array) -> None:
    """Keep in the equations how large the numbers are that each gap is made of, where they exceed the coordinates."""
    if not len(equations.gap_terms):
        return
    rng = np.random.default_rng(1)
    way = sizes * rng.choice([-1.0, 1.0], len(q)) * rng.uniform(0.5, 1.0, len(q))  # not a round number in any sense
    places = np.outer(SPACINGS, np.arange(LINE) - LINE // 2).reshape(-1, 1)
    line = equations.space.retract(np.broadcast_to(q, (len(places), len(q))), places * way)
    values = equations.gaps_along(np.full(len(line), t), line).reshape(len(SPACINGS), LINE, -1)
    differences = np.array([WEIGHTS @ values[:, k : k + ORDER + 1] for k in range(LINE - ORDER)]) / SPREAD
    with np.errstate(invalid="ignore"):
        noise = np.sqrt(np.mean(differences**2, axis=0))
        stays = noise[:-1] <= SAME * noise[1:]
    first = np.argmax(stays, axis=0)
    level = np.take_along_axis(noise, first[None] + 1, axis=0)[0]
    found = np.where(stays.any(axis=0), level, 0.0) / EPS
    at, along = sums(equations, t, q, np.abs(way))
    equations.gap_terms[:] = np.where(found > at + LINE * SPACINGS[0] * along, found, 0.0)  # not of the coordinates
