"""An independent look between the points of a motion, for gaps that become negative where no contact presses."""

from typing import Any, NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.touching import ROUNDED
from onesided.dynamics.monitors import Arrays
from onesided.dynamics.watching.dense import hermite
from onesided.dynamics.watching.watched import sums
from onesided.groups import Group
from onesided.results.motion import local_ends
from onesided.system.equations import Equations

PLACES = np.array([0.0, 0.1270166538, 0.3819660113, 0.6180339887, 0.8729833462, 1.0])  # not those of a watch
CLOSER, ROUNDS = 17, 6  # places about a minimum, and how often it is looked at closer
CHORD = 1.0 / 8.0  # of the way in a step: a straight step along a round body cuts it by less
TRIES = 4  # directions in which the slope of a gap is looked at
MOST = 1024  # minima that are looked at closer
DEEP = {True: EPS**0.3125, False: EPS**0.1875}  # of the gaps at both ends: what interpolation may be off by


class Dip(NamedTuple):
    """The deepest place below zero of a gap."""

    contact: int
    t: float
    depth: float


def dips(equations: Equations, points: Arrays, pressing: Any, *, smooth: bool, none: float = 0.0) -> list[Dip]:
    """Gaps that are negative within a step although they do not press in it, the deepest of each contact.

    `pressing` (steps, contacts) says where a contact is a joint; `smooth` whether interpolation is that of a smooth
    motion, or straight; `none` is a length that is none.
    """
    steps = np.flatnonzero(np.diff(points.t) > 0.0)
    if not len(steps) or not equations.system.unilateral:
        return []
    look = _Look(equations, points, smooth=smooth)
    gaps = look.gaps(np.repeat(steps, len(PLACES)), np.tile(PLACES, len(steps))).reshape(len(steps), len(PLACES), -1)
    slack = (
        DEEP[smooth] * (np.abs(gaps[:, 0]) + np.abs(gaps[:, -1])) + _tiny(gaps) + _rounding(equations, points) + none
    )
    slack = slack + np.maximum(0.0, -2.0 * np.minimum(gaps[:, 0], gaps[:, -1]))  # points are judged by themselves
    change = np.abs(np.diff(gaps, axis=1))
    lowest = np.argmin(gaps[:, 1:-1], axis=1)[:, None] + 1
    value = np.take_along_axis(gaps, lowest, axis=1)[:, 0]
    beside = np.maximum(*(np.take_along_axis(change, lowest - k, axis=1)[:, 0] for k in (0, 1)))
    doubt = (value - beside < -slack) & ~pressing[steps]
    rows, contacts = np.nonzero(doubt)
    nearest = np.argsort((value / np.where(beside > 0.0, beside, 1.0))[rows, contacts])[:MOST]
    rows, contacts = rows[nearest], contacts[nearest]
    around = lowest[rows, 0, contacts], value[rows, contacts], slack[rows, contacts]
    where, depth = look.closer(steps[rows], contacts, *around)
    wrong = depth < -slack[rows, contacts]
    if not smooth:
        wrong &= _deeper_than_chords(look, steps[rows], contacts, np.ptp(gaps, axis=1)[rows, contacts])
    t = points.t[steps[rows]] + where * np.diff(points.t)[steps[rows]]
    found: dict[int, Dip] = {}
    for k in np.flatnonzero(wrong):
        dip = Dip(int(contacts[k]), float(t[k]), -float(depth[k]))
        found[dip.contact] = max(dip, found.get(dip.contact, dip), key=lambda d: d.depth)
    return list(found.values())


def _deeper_than_chords(look: "_Look", steps: Indices, contacts: Indices, change: Array) -> Any:
    """Whether gaps change by more than the chord of a body that goes along another one would make them."""
    signs = np.where(np.random.default_rng(0).random((look.equations.n, TRIES)) < 0.5, -1.0, 1.0)
    way = {
        i: np.max(np.abs(look.equations.gap_slopes(look.points.t[i], look.points.q[i], signs)), axis=1)
        * float(np.max(np.abs(look.equations.space.local(look.points.q[[i]], look.points.q[[i + 1]]))))
        for i in set(steps.tolist())
    }
    return change > CHORD * np.array([way[i][k] for i, k in zip(steps.tolist(), contacts.tolist(), strict=True)])


def words(equations: Equations, found: list[Dip]) -> list[str]:
    """What is wrong, in words."""
    names = tuple(equations.system.unilateral)
    return [
        f"contact '{names[dip.contact]}' penetrates by {dip.depth:.2g} between points, at t = {dip.t:.9g}"
        for dip in found
    ]


def _tiny(gaps: Array) -> Array:
    return np.asarray(HALF_DIGITS * DEEP[True] * np.max(np.abs(gaps), axis=(0, 1)))


def _rounding(equations: Equations, points: Arrays) -> Array:
    """What round-off makes of the gaps, from the terms they are made of."""
    few = {0, len(points.t) // 2, len(points.t) - 1}
    return np.asarray(ROUNDED * np.max([sums(equations, points.t[i], points.q[i])[0] for i in few], axis=0))


class _Look:
    """Gaps at places x within steps i."""

    def __init__(self, equations: Equations, points: Arrays, *, smooth: bool) -> None:
        self.equations, self.points, self.smooth = equations, points, smooth

    def gaps(self, i: Indices, x: Array) -> Array:
        """All gaps: (number of places, contacts)."""
        t = self.points.t
        q = positions(self.equations.space, self.points, i, x, smooth=self.smooth)
        return self.equations.gaps_along(t[i] + x * (t[i + 1] - t[i]), q)

    def closer(self, i: Indices, contacts: Indices, lowest: Indices, value: Array, slack: Array) -> tuple[Array, Array]:
        """Minima of single gaps about the lowest place, and their values, as long as they may be below the slack."""
        low, high, where, value = PLACES[lowest - 1], PLACES[lowest + 1], PLACES[lowest], value.copy()
        doubtful = np.arange(len(i))
        for _ in range(ROUNDS):
            if not len(doubtful):
                break
            some, each = i[doubtful], np.arange(len(doubtful))
            x = low[doubtful, None] + (high - low)[doubtful, None] * np.linspace(0.0, 1.0, CLOSER)
            found = self.gaps(np.repeat(some, CLOSER), x.ravel()).reshape(len(some), CLOSER, -1)
            found = found[each, :, contacts[doubtful]]
            k = np.argmin(found, axis=1)
            left, right = np.maximum(k - 1, 0), np.minimum(k + 1, CLOSER - 1)
            where[doubtful], value[doubtful] = x[each, k], np.minimum(value[doubtful], found[each, k])
            low[doubtful], high[doubtful] = x[each, left], x[each, right]
            beside = np.maximum(found[each, left], found[each, right]) - found[each, k]
            doubtful = doubtful[found[each, k] - beside < -slack[doubtful]]
        return where, value


def positions(space: Group, points: Arrays, i: Indices, x: Array, *, smooth: bool) -> Array:
    """Configurations at places x of steps i: by Hermite interpolation, or straight."""
    steps, of = np.unique(i, return_inverse=True)
    first, last = points.q[steps], points.q[steps + 1]
    delta = space.local(first, last)
    if not smooth:
        return np.asarray(space.wrap(space.retract(first[of], x[:, None] * delta[of])))
    h = (points.t[steps + 1] - points.t[steps])[:, None]
    begin, end = (local_ends(space, d, points.v[j], points.a[j]) for d, j in ((0.0 * delta, steps), (delta, steps + 1)))
    data = np.stack([0.0 * delta, h * begin[0], h**2 * begin[1], delta, h * end[0], h**2 * end[1]])
    return np.asarray(space.wrap(space.retract(first[of], np.einsum("kd,dkn->kn", hermite(x), data[:, of]))))
