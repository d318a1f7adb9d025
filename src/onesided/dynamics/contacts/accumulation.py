"""Impacts of one contact that accumulate: recognised by their decay, ended at the limit of a geometric series.

Bodies that rock from edge to edge do so without restitution, too: then all edges come to rest together.
"""

import numpy as np

from onesided.base.types import Array
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.sliding import ContactMode
from onesided.dynamics.mechanics import MotionState
from onesided.evaluation.motion_terms import Terms

FAINT = 0.001  # of its largest impact: where to look whether a contact leaves visibly
SERIES = 32  # intervals that the ratio of a geometric series is taken from


class Accumulations:
    """Times of the impacts of every contact; `ended` counts accumulations, `closed_at` says when each was closed last.

    Impacts slower than `rest` × the largest of the same contact are at their end.
    """

    def __init__(self, world: World, rest: float) -> None:
        self._world, self._rest, self.ended = world, rest, 0
        self._times: dict[int, list[float]] = {}
        self.closed_at = np.full(len(world.names), world.request.first)

    @property
    def rest_below(self) -> Array:
        """Speeds of contacts below which impacts that decay are at their end."""
        return np.asarray(self._rest * self._world.touch.speed)

    def hit(self, i: int, t: float) -> list[float]:
        """Remember an impact of a contact: the times of all so far."""
        times = self._times.setdefault(i, [])
        times.append(t)
        self.closed_at[i] = t
        return times

    def ends(self, i: int, t: float, speed: float, unseen: list[int]) -> bool:
        """Whether impacts of this contact, with this one, decay so that they end within a time that does not matter."""
        self.hit(i, t)
        return (i in unseen or speed <= self.rest_below[i]) and self.decays(i)

    def decays(self, i: int) -> bool:
        """Whether the last impacts of a contact followed each other faster and faster."""
        times = self._times[i]
        if self._world.rows.restitution[i] == 1.0 or len(times) < 3:
            return False
        return times[-1] - times[-2] < times[-2] - times[-3]

    def limit(self, i: int) -> tuple[float, str]:
        """The end of the accumulation, a geometric series of intervals, and what to say about it."""
        times = self._times.pop(i)
        self.ended += 1
        k = min(len(times) - 2, SERIES)
        early, late = times[-1 - k] - times[-2 - k], times[-1] - times[-2]
        ratio = (late / early) ** (1.0 / k)
        if not ratio < 1.0:  # they have not decayed for long
            ratio = late / (times[-2] - times[-3])
        end = times[-1] + late * ratio / (1.0 - ratio)
        words = f"infinitely many end at t = {end:.12g}, {len(times)} of them were followed; closed from here on"
        return min(end, self._world.request.last), words


def unseen_hops(world: World, state: MotionState, terms: Terms, hit: list[int]) -> tuple[list[int], Array]:
    """Contacts that would leave for, or come without restitution from, a height that is round-off: u²/(2 a).

    With them the speeds u of all contacts below which that is so.
    """
    rows, zero, speeds = world.rows, np.zeros_like(state.q), terms.c_dot[world.rows.gaps]
    slow = [i for i in hit if -speeds[i] <= FAINT * world.touch.speed[i]]
    free = world.mechanics(ContactMode())
    a = free.accelerate(state.t, state.q, zero, state.v, np.zeros(free.equations.rows)).a
    pushed = terms.G[rows.gaps] @ a + terms.gamma[rows.gaps]
    unseen = np.sqrt(2.0 * np.maximum(-pushed, 0.0) * world.touch.unseen(terms))
    share = np.where(rows.restitution > 0.0, rows.restitution, 1.0)
    return [i for i in slow if share[i] * -speeds[i] <= unseen[i]], np.minimum(unseen, FAINT * world.touch.speed)
