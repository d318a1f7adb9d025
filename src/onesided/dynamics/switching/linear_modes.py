"""The modes of a linear complementarity system, also at starts and switches where several pairs are at zero."""

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Mask
from onesided.complementarity import LCP, solve
from onesided.dynamics.switching.exact import NOISE
from onesided.dynamics.switching.exact_run import Automaton, LinearMode
from onesided.dynamics.switching.linear import LinearComplementaritySystem

MINORS_LIMIT = 12  # pairs up to which all principal minors are looked at


class LinearModes(Automaton):
    """Modes of ż = A z + B s, w = C z + D s with a P-matrix D: s is then unique at every state."""

    def __init__(self, system: LinearComplementaritySystem) -> None:
        require_p_matrix(np.asarray(system.D))
        self.names, self.frequencies = tuple(system.names), system.frequencies
        self._full, self._D = system.full, np.asarray(system.D)
        self._modes: dict[tuple[bool, ...], LinearMode] = {}

    def begin(self, z: Array, sizes: Array) -> LinearMode:
        """Mode right after the start."""
        return self._at(z, sizes, None)

    def after(self, z: Array, mode: LinearMode, hit: int, sizes: Array) -> LinearMode:
        """Mode right after pair `hit` came to zero."""
        return self._at(z, sizes, hit)

    def _at(self, z: Array, sizes: Array, hit: int | None) -> LinearMode:
        """The signs of the first right-hand derivatives of (s, w) that are not zero decide."""
        A, B, C = self._full.A, self._full.B, self._full.C
        m = len(self.names)
        taut, open_ = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        S_size = np.zeros(m)
        for order in range(len(z) + 2):
            q, q_size = C @ z, np.abs(C) @ sizes
            s = self._forces(q, taut, open_)
            w = q + self._D @ s
            S_size = np.maximum(np.abs(np.linalg.solve(self._D, np.diag(q_size))).sum(axis=1), np.abs(s))
            weak = ~taut & ~open_
            taut |= weak & (s > NOISE * S_size)
            open_ |= weak & ~taut & (w > NOISE * (q_size + np.abs(self._D) @ S_size))
            if order == 0 and hit is not None:
                taut[hit] = open_[hit] = False
            if (taut | open_).all():
                break
            z, sizes = A @ z + B @ s, np.abs(A) @ sizes + np.abs(B) @ S_size
        return self._mode(tuple(bool(value) for value in taut))

    def _forces(self, q: Array, taut: Mask, open_: Mask) -> Array:
        """Return s with w = 0 where taut, s = 0 where open, and complementary elsewhere."""
        D, s, weak = self._D, np.zeros(len(q)), ~taut & ~open_
        D_tt = D[np.ix_(taut, taut)]
        if weak.any():
            X = np.linalg.solve(D_tt, np.column_stack([D[np.ix_(taut, weak)], q[taut]]))
            M = D[np.ix_(weak, weak)] - D[np.ix_(weak, taut)] @ X[:, :-1]
            s[weak] = solve(LCP(M, q[weak] - D[np.ix_(weak, taut)] @ X[:, -1])).value
        s[taut] = -np.linalg.solve(D_tt, q[taut] + D[np.ix_(taut, weak)] @ s[weak])
        return s

    def _mode(self, taut: tuple[bool, ...]) -> LinearMode:
        if taut not in self._modes:
            a, C = np.array(taut, dtype=bool), self._full.C
            S = np.zeros_like(C)
            S[a] = -np.linalg.solve(self._D[np.ix_(a, a)], C[a])
            W = C + self._D @ S
            W[a] = 0.0
            guards = np.where(a[:, None], S, W)
            self._modes[taut] = LinearMode(taut, self._full.A + self._full.B @ S, guards, S, W, taut)
        return self._modes[taut]


def require_p_matrix(D: Array) -> None:
    """Refuse a D for which s need not exist or be unique at a state: all principal minors must be positive."""
    m = len(D)
    if m == 0 or np.linalg.eigvalsh((D + D.T) / 2)[0] > DEFAULT.rank * np.abs(D).max():
        return
    if m <= MINORS_LIMIT:
        sets = ([i for i in range(m) if mask >> i & 1] for mask in range(1, 1 << m))
        if all(np.linalg.det(D[np.ix_(a, a)]) > 0 for a in sets):
            return
    raise UsageError(
        "event-driven integration needs a force that every state determines",
        got="a matrix D that is not known to be a P-matrix (all principal minors positive)",
        expected="D with positive principal minors, such as the flexibilities of cables",
        advice="TimeStepping(step, theta=1.0), which takes any D for which its step can be solved",
    )
