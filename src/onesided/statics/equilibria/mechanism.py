"""Mechanisms: equilibria that form a continuum at constant p, since nothing resists a finite motion."""

import numpy as np

from onesided.base.names import moving
from onesided.base.tolerances import HALF_DIGITS, MOST_DIGITS, QUARTER_DIGITS, Tolerances
from onesided.base.types import Array, Indices
from onesided.linalg import kkt_matrix, null_space
from onesided.results import Equilibrium
from onesided.statics.curves.activity import working_rows
from onesided.system.sizes import Sizes
from onesided.system.system import System

STEP = 0.01  # of the free motion that is tried, relative to the size of the coordinates
ROUNDS = 12
REACHED = MOST_DIGITS  # residual, relative to the forces that the step would cause in a stiff direction


def free_motion(system: System, state: Equilibrium, sizes: Sizes, tolerances: Tolerances) -> str:
    """The motion that nothing resists at an equilibrium, in words; empty where none was found.

    A direction without stiffness that keeps the closed constraints is followed by a finite step, and corrected by the
    shortest way: in a mechanism equilibria are found there, at a mere critical point there are none.
    """
    if system.derivatives.large:
        return ""
    rows = working_rows(system, state.active, weak=True)
    e = system.evaluate(state.q, state.p, state.nu)
    T = null_space((e.c_q * sizes.length)[rows])
    H = T.T @ (e.L_qq * np.outer(sizes.length, sizes.length)) @ T
    values, modes = np.linalg.eigh((H + H.T) / 2) if H.size else (np.zeros(0), H)
    whole = float(np.max(np.abs(e.L_qq * np.outer(sizes.length, sizes.length)), initial=0.0))
    for value, mode in zip(values, modes.T, strict=True):
        if abs(value) <= tolerances.singularity * whole:
            direction = sizes.length * (T @ mode)
            if _goes_on(system, state, rows, direction, sizes, whole):
                return moving(system.coordinates, direction, QUARTER_DIGITS)
    return ""


def _goes_on(system: System, state: Equilibrium, rows: Indices, direction: Array, sizes: Sizes, whole: float) -> bool:
    """Whether there is an equilibrium a finite step away, with the same constraints closed."""
    n, length = system.n, sizes.length
    begin = state.q + STEP * direction / np.max(np.abs(direction / length))
    q, nu = begin.copy(), state.nu.copy()
    for _ in range(ROUNDS):
        e = system.evaluate(q, state.p, nu)
        G = (e.c_q * length)[rows]
        K = kkt_matrix(e.L_qq * np.outer(length, length), G, -G)
        residual = np.concatenate([e.L_q * length, e.c[rows]])
        if not np.all(np.isfinite(residual)) or not np.all(np.isfinite(K)):
            return False
        step = np.linalg.lstsq(K, -residual, rcond=HALF_DIGITS)[0]
        q, nu[rows] = q + length * step[:n], nu[rows] + step[n:]
    moved = float(np.max(np.abs(q - state.q) / length))
    stiff = STEP * whole
    open_rows = np.setdiff1d(np.arange(len(system.bilateral), len(e.c)), rows)
    return bool(np.max(np.abs(residual)) <= REACHED * stiff and moved > STEP / 2 and np.all(e.c[open_rows] >= 0.0))
