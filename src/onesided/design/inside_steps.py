"""Points of a curve of events between two nodes, and where a number that changes its sign there vanishes."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.design.event_nodes import EventNode, between
from onesided.design.sightings import Label

Corrected = Callable[[Array, Array, EventNode], EventNode | None]


class SingularError(Exception):
    """The equations cannot be solved at a point."""


class InsideStep:
    """Points on planes across the way from one node to the next, at shares of it; each is computed once.

    Parameters
    ----------
    corrected : the point on the plane through a guess across a direction, with the border of a node.
    """

    def __init__(self, a: EventNode, b: EventNode, corrected: Corrected) -> None:
        self.a, self.way, self._corrected = a, b.w - a.w, corrected
        self.nodes: dict[float, EventNode | None] = {0.0: a, 1.0: b}

    def at(self, share: float) -> EventNode | None:
        """The point at a share, found from the nearest ones that are known; None where there is none."""
        if share not in self.nodes:
            self.nodes[share] = self._corrected(self._guess(share), self.way, self.a)
        return self.nodes[share]

    def _guess(self, share: float) -> Array:
        known = self._known
        i = min(max(int(np.searchsorted([own for own, _ in known], share)), 1), len(known) - 1)
        (start, low), (end, high) = known[i - 1 : i + 1]
        guess = between(low, high, (share - start) / (end - start))
        there = float((guess - self.a.w) @ self.way / (self.way @ self.way))
        return np.asarray(guess + (share - there) * self.way)

    @property
    def _known(self) -> list[tuple[float, EventNode]]:
        """The points that were found, in order."""
        found = [(share, node) for share, node in self.nodes.items() if node is not None]
        return sorted(found, key=lambda one: one[0])

    def number(self, label: Label, share: float) -> float:
        """A watched number at a share; zero where it is not watched."""
        node = self.at(share)
        found = np.nan if node is None else node.seen.numbers.get(label, 0.0)
        if np.isnan(found):
            raise SingularError
        return found

    def zero(self, label: Label) -> float:
        """The share at which a number vanishes that has other signs at both ends."""
        low, high = self._bracket(label)
        return float(brentq(lambda share: self.number(label, share), low, high, xtol=EPS, rtol=4 * EPS, disp=False))

    def _bracket(self, label: Label) -> tuple[float, float]:
        """Two known points next to each other between which a number changes its sign."""
        known = [share for share, node in self._known if label in node.seen.numbers]
        values = np.array([self.number(label, share) for share in known])
        i = int(np.flatnonzero(values[:-1] * values[1:] <= 0.0)[0])
        return known[i], known[i + 1]
