"""When a contact is closed and when it is at rest: by its own lengths and speeds, whatever else the system does."""

import numpy as np

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array, Indices
from onesided.evaluation.motion_terms import Terms
from onesided.system.contact_equations import ContactRows

ROUNDED = 1024.0 * EPS  # a gap or speed below this share of the terms it is made of comes from round-off
UNSEEN = 128.0 * EPS  # heights of hops below this share of these terms cannot be followed
SLOW = 10.0  # tolerances of the residual within which a speed is zero


class Touch:
    """The largest gap and the largest speed of each contact so far; `own` are sizes of the numbers in its gap."""

    def __init__(self, rows: ContactRows, tolerances: Tolerances, start: Terms, own: Array) -> None:
        self._rows, self._tolerances, self.own = rows.gaps, tolerances, own
        self.length = np.abs(start.c[rows.gaps])
        self.speed = np.abs(start.c_dot[rows.gaps])

    def saw(self, chosen: Indices, gaps: Array) -> None:
        """Raise the sizes of the chosen gaps to the values `gaps` that they have had."""
        self.length[chosen] = np.maximum(self.length[chosen], gaps)

    def hit(self, speeds: Array, touching: Indices) -> None:
        """Take an impact into account: contacts that touch each other's bodies share its speed."""
        fast = float(np.max(np.abs(speeds[touching]), initial=0.0))
        self.speed[touching] = np.maximum(self.speed[touching], fast)

    def closed_below(self, sums: Array) -> Array:
        """Gaps that count as closed, from the sizes of their terms."""
        return np.asarray(self._tolerances.gap * self.length + ROUNDED * sums)

    def unseen(self, terms: Terms) -> Array:
        """Heights of hops that cannot be told from round-off of a place."""
        return np.asarray(UNSEEN * self.sums(terms))

    def closed(self, terms: Terms) -> Array:
        """Which gaps are closed at a state."""
        return np.asarray(terms.c[self._rows] <= self.closed_below(self.sums(terms)))

    def sums(self, terms: Terms) -> Array:
        """Σ |∂g/∂q| |q| and the gap's own numbers: sizes of its terms."""
        return np.asarray(np.abs(terms.G[self._rows]) @ np.abs(terms.q) + self.own)

    def at_rest_below(self, terms: Terms) -> Array:
        """Speeds of gaps that count as none."""
        sums = np.abs(terms.G[self._rows]) @ np.abs(terms.rate)
        return np.asarray(SLOW * self._tolerances.residual * self.speed + ROUNDED * sums)
