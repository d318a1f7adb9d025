"""Stable branches found so far, and whether a state lies on one of them."""

import numpy as np

from onesided.base.tolerances import HALF_DIGITS, SOME_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.statics.equilibria.find_equilibrium import correct
from onesided.system.sizes import Sizes
from onesided.system.system import System

SAME = SOME_DIGITS  # states that differ by less, in units of length, are the same
SHARP = HALF_DIGITS  # the same of p, in units of its size: ends of branches are limit points, which are known so well


class KnownBranches:
    """Branches as points with growing p; a state is compared with the corrected point of a branch at the same p."""

    def __init__(self, system: System, sizes: Sizes, tolerances: Tolerances) -> None:
        self.system, self.sizes, self.tolerances = system, sizes, tolerances
        self.branches: list[tuple[Array, Array]] = []
        self._low = self._high = np.zeros((0, system.n + 1))
        self._loads = np.zeros((0, 2))  # at both ends

    def add(self, p: Array, q: Array) -> None:
        """Know one more, by its points."""
        points = np.column_stack([q / self.sizes.length, p])
        chords = np.abs(np.diff(points, axis=0))
        room = np.max(chords, axis=0, initial=0.0) + SAME  # between its points a branch may bulge by a share of a step
        room[-1] = SHARP * self.sizes.control
        self._low = np.vstack([self._low, points.min(axis=0) - room])
        self._high = np.vstack([self._high, points.max(axis=0) + room])
        self._loads = np.vstack([self._loads, p[[0, -1]]])
        self.branches.append((p, q))

    def find(self, q: Array, p: float) -> int | None:
        """The number of the branch that (q, p) lies on."""
        point = np.append(q / self.sizes.length, p)
        inside = np.all((self._low <= point) & (point <= self._high), axis=1)
        return next((int(i) for i in np.flatnonzero(inside) if self._passes(int(i), q, p)), None)

    def _passes(self, number: int, q: Array, p: float) -> bool:
        """Whether a branch, corrected at p, is at q."""
        series, points = self.branches[number]
        after = int(np.clip(np.searchsorted(series, p), 1, max(len(series) - 1, 1)))
        if len(series) == 1:
            guess, chord = points[0], 0.0
        else:
            a, b = after - 1, after
            share = (p - series[a]) / (series[b] - series[a]) if series[b] > series[a] else 0.0
            guess = points[a] + np.clip(share, 0.0, 1.0) * (points[b] - points[a])
            chord = self._apart(points[a], points[b])
        if self._apart(guess, q) > chord + SAME:
            return False
        own = correct(self.system, guess, p, sizes=self.sizes, tolerances=self.tolerances)
        if not own.status.ok or self._apart(own.q, guess) > chord + SAME:
            return bool(self._apart(guess, q) <= SAME)
        return bool(self._apart(own.q, q) <= SAME)

    def same_ends(self, p: Array, q: Array) -> int | None:
        """Number of a branch between the same two ends: a state that no branch was recognised for lies on it."""
        near = np.all(np.abs(self._loads - p) <= SHARP * self.sizes.control, axis=1)
        same = (int(i) for i in np.flatnonzero(near) if self._apart(self.branches[i][1][[0, -1]], q) <= SAME)
        return next(same, None)

    def _apart(self, a: Array, b: Array) -> float:
        """Distance in units of length."""
        return float(np.max(np.abs(a - b) / self.sizes.length, initial=0.0))
