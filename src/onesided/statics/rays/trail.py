"""A half-branch followed inwards to the singular point it leaves: its tangent, and the change of p along it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, MOST_DIGITS, QUARTER_DIGITS, SOME_DIGITS
from onesided.base.types import Array
from onesided.statics.rays.reduced import Crossing, Reduced

NEAR = 0.3  # how far a zero may be from where it was expected, relative to the distance to the next one
INNERMOST = 1.0 / 256.0  # distance from the point, in scaled units
HALF = 0.5
SHORTEST = 0.95  # ratio of successive levels at which a half-branch is said to turn back
STEADY = 0.05  # change of a direction from level to level below which extrapolation tells the rest
FURTHER = 24  # steps beyond the innermost level
UNCERTAIN = EPS**0.1875  # error of a direction by round-off beyond which it is not followed
PLACED = QUARTER_DIGITS  # error of a point, relative to its distance, beyond which no path begins there
CERTAIN = SOME_DIGITS  # one below which round-off is no excuse for losing it
START = EPS**0.3  # distance from the point, in scaled unknowns, at which a branch can be entered
LEAP = 1.0 / 16.0  # ratio of levels on the way there
PRECISE = MOST_DIGITS  # relative to p: changes below are round-off
DOUBT = 4.0  # how many times the error of the point's own p a change of p must be
FIRST_ORDER = HALF_DIGITS  # share of p in a tangent below which higher orders decide


@dataclass(frozen=True, eq=False)
class Trail:
    """Points of a half-branch on ellipsoids of falling level.

    Attributes
    ----------
    levels, crossings : λ and where the half-branch crosses, from the outermost inwards.
    inner : level inside which the point does not look like one, but like several close together.
    """

    reduced: Reduced
    levels: tuple[float, ...]
    crossings: tuple[Crossing, ...]
    inner: float

    @property
    def to_the_point(self) -> bool:
        """Whether they were followed to where only the point itself is left, not a cluster."""
        return self.inner * float(np.max(self.reduced.radii)) <= INNERMOST or self.reduced.is_alone

    @property
    def still_turns(self) -> bool:
        """Whether it is seen from too far away for its direction at the point, which still changes on the way in."""
        if not 1 < len(self.levels) < FURTHER or self.levels[-1] <= self.inner:
            return False
        return float(np.linalg.norm(self.crossings[-1].b - self.crossings[-2].b)) > STEADY

    def inwards(self, level: float) -> "Trail | None":
        """The trail with one more point, at `level` or halfway to it where that is too far; None if there is none."""
        last = self.levels[-1]
        while level < SHORTEST * last:
            expected = self._expected(level)
            found = self.reduced.on_branch(self._start(expected, level), level)
            if found is not None and np.linalg.norm(found.b - expected) <= NEAR:
                return replace(self, levels=(*self.levels, level), crossings=(*self.crossings, found))
            level = (level * last) ** 0.5
        return None

    def near(self, level: float) -> Crossing:
        """The crossing whose level is closest to this one."""
        nearest = min(range(len(self.levels)), key=lambda i: abs(np.log(self.levels[i] / level)))
        return self.crossings[nearest]

    def _expected(self, level: float) -> Array:
        """Direction at another level, by extrapolation from the last two."""
        b = self.crossings[-1].b
        if len(self.levels) > 1:
            slope = (b - self.crossings[-2].b) / (self.levels[-1] - self.levels[-2])
            b = b + slope * (level - self.levels[-1])
        return np.asarray(b / np.linalg.norm(b))

    def _start(self, b: Array, level: float) -> Array:
        """A point of another level in this direction: what bends out of the null space goes with the square."""
        reduced = self.reduced
        last = self.crossings[-1].y - reduced.y
        bend = last - reduced.N @ (reduced.G @ last)
        return np.asarray(reduced.y + reduced.N @ (level * reduced.radii * b) + (level / self.levels[-1]) ** 2 * bend)

    def limit(self) -> tuple[Array, float]:
        """Direction at the point itself, and about its error: extrapolated in λ, or in √λ if that settles (a cusp)."""
        tries = [
            _extrapolated(np.array(self.levels) ** power, [one.b for one in self.crossings]) for power in (1.0, 0.5)
        ]
        return min(tries, key=lambda found: found[1])

    def until_sign(self, share: float) -> "Trail":
        """Follow the trail further in, to where p changes as its share in the tangent says, if it does not yet."""
        trail = self
        for _ in range(FURTHER):
            if not trail._first_order(share) or not self.to_the_point or trail._changes()[-1] * share > 0:
                return trail
            further = trail.inwards(HALF * trail.levels[-1])
            if further is None:
                return self
            trail = further
        return self

    def entry(self) -> Crossing | None:
        """A crossing as close to the point as round-off leaves certain; None where the branch turns back before.

        Closer still rounding may hide how p changes along the branch.
        """
        trail = self
        while trail._distance(-1) > START and trail.levels[-1] > 2.0 * self.inner:
            level = max(LEAP, HALF * START / trail._distance(-1)) * trail.levels[-1]
            further = trail.inwards(max(level, self.inner))
            if further is None and trail.crossings[-1].moved <= CERTAIN:
                return None
            if further is None or further.crossings[-1].moved > CERTAIN:
                break
            trail = further
        return trail.visible() or trail.crossings[-1]

    def visible(self) -> Crossing | None:
        """The innermost crossing at which p has changed by more than rounding may; None where it has not."""
        changes = np.abs(self._changes())
        known = [abs(one.b[0]) > DOUBT * one.uncertainty and one.moved <= PLACED for one in self.crossings]
        clear = np.flatnonzero((changes > self.reduced.blurred) & np.array(known))
        return self.crossings[int(clear[-1])] if len(clear) else None

    def _changes(self) -> Array:
        n = self.reduced.piece.n
        return np.array([float(one.y[n] - self.reduced.y[n]) for one in self.crossings])

    def _first_order(self, share: float) -> bool:
        """Whether the share of p in the tangent is more than what comes from the place of the point."""
        return abs(share) > FIRST_ORDER and abs(share) * self._distance(-1) > self._unsure

    @property
    def _unsure(self) -> float:
        """Change of p that the place of the point, and rounding, may stand for."""
        return max(DOUBT * self.reduced.misplaced, self.reduced.blurred)

    def change_of_p(self, share: float) -> tuple[int, int]:
        """Sign of the change of p and the power of the distance with which it goes; zeros where p stays."""
        changes = self._changes()
        if self._first_order(share) and changes[-1] * share > 0:
            return int(np.sign(share)), 1
        noise = PRECISE * (1.0 + abs(float(self.reduced.y[self.reduced.piece.n]))) + self._unsure
        clear = np.flatnonzero(np.abs(changes) > noise)
        if not len(clear):
            return 0, 0
        i = int(clear[-1])
        least = 1 if abs(share) > FIRST_ORDER or not self.reduced.d else 2
        if i == 0:
            return int(np.sign(changes[0])), least
        ratio = np.log(abs(changes[i - 1] / changes[i])) / np.log(self.levels[i - 1] / self.levels[i])
        return int(np.sign(changes[i])), max(least, round(float(ratio)))

    def _distance(self, i: int) -> float:
        return float(np.linalg.norm(self.crossings[i].y - self.reduced.y))


def follow_inwards(reduced: Reduced, b: Array, separation: float, inner: float, *, ratio: float = HALF) -> Trail | None:
    """The half-branch through the zero b of the outer ellipsoid, or None where no equilibrium confirms it.

    Parameters
    ----------
    separation : distance to the nearest other zero.
    inner : level inside which the point does not look like one, but like several close together.
    ratio : of successive levels.
    """
    reached = reduced.at(b)
    first = None if reached is None else reduced.on_branch(reached.y, 1.0)
    if first is None or np.linalg.norm(first.b - b) > NEAR * min(1.0, separation):
        return None
    innermost = INNERMOST / float(np.max(reduced.radii))
    trail = Trail(reduced, (1.0,), (first,), inner)
    while trail.levels[-1] > max(innermost, min(inner, ratio)) or trail.still_turns:
        least = innermost if trail.levels[-1] > innermost else 0.0
        further = trail.inwards(max(ratio * trail.levels[-1], least))
        if further is None and trail.crossings[-1].uncertainty <= CERTAIN:
            return None
        if further is None or further.crossings[-1].uncertainty > UNCERTAIN:
            break
        trail = further
    return trail


def _extrapolated(nodes: Array, values: Sequence[Array]) -> tuple[Array, float]:
    """Value at zero of the polynomial through values at nodes (Neville), and how much the outermost node matters."""
    table = [np.asarray(value) for value in values]
    count = len(table)
    for width in range(1, count):
        last = table[-1]
        table = [
            (nodes[i] * table[i + 1] - nodes[i + width] * table[i]) / (nodes[i] - nodes[i + width])
            for i in range(count - width)
        ]
        change = float(np.linalg.norm(table[0] - last))
    return table[0], change if count > 1 else 0.0


def sign_of_p_along(reduced: Reduced) -> tuple[int, int]:
    """Sign and order of the change of p along a regular curve, in the sense of the only column of N."""
    first = reduced.on_branch(reduced.y + reduced.N @ reduced.radii, 1.0)
    if first is None:
        return 0, 0
    trail: Trail | None = Trail(reduced, (1.0,), (first,), 0.0)
    while trail is not None and trail.levels[-1] * float(np.max(reduced.radii)) > INNERMOST:
        trail = trail.inwards(HALF * trail.levels[-1])
    return (0, 0) if trail is None else trail.change_of_p(0.0)
