"""Contacts stated as bilateral constraints: where they would have to pull, lift-off is to be expected."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from onesided.base.types import Array
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.watching.dense import DenseOutput
from onesided.dynamics.watching.resolve import Search, SignChange, Signs
from onesided.dynamics.watching.watched import forces_along
from onesided.results import MotionEvent, Occurrence


def lift_offs(mechanics: Mechanics, states: Sequence[MotionState]) -> list[MotionEvent]:
    """An event wherever the multiplier of a contact held together turns negative, the start included."""
    equations = mechanics.equations
    held = [name for name in equations.system.contacts if name in equations.system.bilateral]
    if not held:
        return []
    rows = [equations.names.index(name) for name in held]
    forces = np.array([state.mu[rows] for state in states])
    bands = mechanics.tolerances.force * np.max(np.abs(forces), axis=0)
    found = [_event(states[0], held[k]) for k in np.flatnonzero(forces[0] < -bands)]
    signs = Signs.of(forces[0], bands, states[0].t)
    for before, after in pairwise(states):
        if after.t > before.t:
            pulls = _Pulls(mechanics, before, after, rows)
            found += [pulls.event(crossing, held[crossing.which]) for crossing in pulls.crossings(signs, bands)]
    return found


def _event(state: MotionState, name: str) -> MotionEvent:
    detail = "the contact is held together from here on, its force pulls; state it as one-sided to let it open"
    return MotionEvent(Occurrence.lift_off, state.t, state.q, state.v, name, detail)


class _Pulls:
    """Forces of contacts that are held together, within a step."""

    def __init__(self, mechanics: Mechanics, before: MotionState, after: MotionState, rows: list[int]) -> None:
        self.mechanics, self.before, self.after, self.rows = mechanics, before, after, rows
        self.dense = DenseOutput(mechanics, before, after)

    def crossings(self, signs: Signs, bands: Array) -> list[SignChange]:
        """Where forces turn to pulling."""
        search = Search(self._along, signs, bands, 0.0 * bands, eager=False)
        return [crossing for crossing in search.crossings(self.before.t, self.after.t, 1) if crossing.falling]

    def event(self, crossing: SignChange, name: str) -> MotionEvent:
        """The event at a crossing."""
        q, v = self.dense.at(np.array([crossing.guess]))
        return _event(MotionState(crossing.guess, q[0], v[0], self.before.a, self.before.mu), name)

    def _along(self, times: Array) -> Array:
        q, v = self.dense.at(times)
        if self._plain:
            terms = self.mechanics.equations.terms_along(times, q, v)
            found = forces_along(terms, terms.G, terms.G, terms.gamma)[:, self.rows]
            if np.all(np.isfinite(found)):
                return found
        each = (self._forces(float(t), a, b) for t, a, b in zip(times, q, v, strict=True))
        return np.array(list(each))

    @property
    def _plain(self) -> bool:
        """Whether forces follow from one linear system at each time."""
        equations, system = self.mechanics.equations, self.mechanics.equations.system
        unique = len(self.mechanics.rows) == equations.rows and equations.pattern is None
        return unique and system.friction is None and not system.servo

    def _forces(self, t: float, q: Array, v: Array) -> Array:
        now = self.mechanics.accelerate(t, q, np.zeros_like(q), v, self.before.mu)
        return self.mechanics.multipliers(now.terms, now.a, now.mu)[self.rows]
