"""Typical sizes of a system at a point: what makes every tolerance relative.

Each coordinate has its own length: displacements that store like energies, as large as it takes to change the stiffness
or the directions of the constraints by half. What follows a change of units exactly needs no tuning by the user;
coordinates whose units differ by many orders of magnitude need `Scales(length=(…))`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from onesided._types import Array
from onesided.errors import ModelError
from onesided.model.derivatives import Evaluation
from onesided.tolerances import EPS

Evaluate = Callable[[Array, float], Evaluation]

CHANGE = 0.5  # what counts as a change of order one
SPREAD = 30.0  # largest ratio of lengths that is estimated
DECADES = 18  # how far sizes are searched for


@dataclass(frozen=True)
class Scales:
    """Typical sizes given by the user; None means: estimate it at the start point.

    Attributes
    ----------
    length : a change of the coordinates that matters; one number, or one per coordinate.
    force : a generalised force that matters.
    stiffness : a typical entry of the energy's Hessian.
    """

    length: float | Sequence[float] | None = None
    force: float | None = None
    stiffness: float | None = None

    def __post_init__(self) -> None:
        for name in ("length", "force", "stiffness"):
            value = getattr(self, name)
            if value is not None and not (np.all(np.isfinite(value)) and np.all(np.asarray(value) > 0)):
                raise ModelError(f"scale `{name}` is not usable", got=repr(value), expected="a positive number or None")

    def lengths(self, n: int) -> Array | None:
        """The lengths given, one per coordinate."""
        if self.length is None:
            return None
        given = np.asarray(self.length, dtype=np.float64)
        if given.shape not in {(), (n,)}:
            raise ModelError("scale `length` has the wrong shape", got=str(given.shape), expected=f"one number or {n}")
        return np.broadcast_to(given, (n,)).copy()


@dataclass(frozen=True, eq=False)
class Sizes:
    """Sizes at one point: a length per coordinate, an energy, a change of p.

    A force that matters is energy / length, a stiffness energy / length²; both are vectors over the coordinates.
    """

    length: Array
    energy: float
    control: float

    @property
    def force(self) -> Array:
        """Generalised forces that matter, (n,)."""
        return np.asarray(self.energy / self.length)

    @property
    def stiffness(self) -> float:
        """One typical stiffness."""
        return float(self.energy / np.exp(2.0 * np.mean(np.log(self.length))))

    def hessian(self, L_qq: Array) -> Array:
        """A Hessian without units."""
        return np.asarray(self.length[:, None] * L_qq * self.length / self.energy)


def estimate(evaluate: Evaluate, q: Array, p: float, given: Scales) -> Sizes:
    """Sizes at (q, p); `evaluate` gives the blocks with zero multipliers."""
    e = evaluate(q, p)
    d = _weights(_stiffness(evaluate, e, q, p))
    if given.stiffness is not None:
        d = np.full(len(q), given.stiffness**-0.5)
    guess = _linear_reach(e, q, p, d) or 1.0
    t = _reach(evaluate, e, q, p, d, guess) or _reach_under_load(evaluate, e, q, p, d, guess) or guess
    length, energy = t * d, t * t
    chosen = given.lengths(len(q))
    if chosen is not None:
        length = chosen
        largest = _largest(e.scaled_hessian(length))
        energy = given.stiffness * float(np.max(length)) ** 2 if given.stiffness is not None else largest or t * t
    if given.force is not None:
        energy = given.force * float(np.max(length))
    sizes = Sizes(length, energy, 1.0)
    return Sizes(length, energy, _control(evaluate, e, q, p, sizes))


def _stiffness(evaluate: Evaluate, e: Evaluation, q: Array, p: float) -> Array:
    """Largest entry in each row of the Hessian here, without load, and a little aside: it may vanish at one point."""
    aside = 0.1 * float(np.max(np.abs(q), initial=0.0)) * _zigzag(len(q))
    near = [e, *(evaluate(a, b) for a, b in ((q, 0.0), (q + aside, p), (q - aside, p)))]
    return np.asarray(np.max([rows for rows in (one.stiffest() for one in near) if np.all(np.isfinite(rows))], axis=0))


def _zigzag(n: int) -> Array:
    return np.where(np.arange(n) % 2, -1.0, 1.0)


def _weights(rows: Array) -> Array:
    """Displacements of the coordinates that store like energies, within a factor of `SPREAD` of each other.

    A coordinate without stiffness of its own is measured like the stiffest: nothing is known about it.
    """
    stiffest = float(np.max(rows, initial=0.0)) or 1.0
    soft = rows <= EPS**0.5 * stiffest
    softness = np.sqrt(stiffest / np.where(soft, stiffest, rows))
    return np.asarray(np.minimum(softness, SPREAD) / math.sqrt(stiffest))


def _reach(evaluate: Evaluate, e: Evaluation, q: Array, p: float, d: Array, guess: float) -> float | None:
    """How far along ±d the system moves until its stiffness or its constraint directions change by half."""
    norms = e.gap_sizes(d)
    patterns = [d] if len(d) == 1 else [d, d * _zigzag(len(d))]
    directions = [sign * pattern for pattern in patterns for sign in (1.0, -1.0)]

    hessian = e.scaled_hessian(d)

    def changes(t: float, direction: Array) -> bool:
        other = evaluate(q + t * direction, p)
        if _largest(other.scaled_hessian(d) - hessian) >= CHANGE:
            return True
        turned = np.divide(e.turning(other, d), norms, out=np.zeros_like(norms), where=norms > 0)
        return _largest(turned) >= CHANGE

    return _first_crossing(lambda t: any(changes(t, direction) for direction in directions), guess)


def _reach_under_load(evaluate: Evaluate, e: Evaluation, q: Array, p: float, d: Array, guess: float) -> float | None:
    """The same where the system is linear at this p, but not at another."""
    step = _control(evaluate, e, q, p, Sizes(guess * d, guess * guess, 1.0))
    other = evaluate(q, p + step)
    return _reach(evaluate, other, q, p + step, d, guess) if other.finite() else None


def _linear_reach(e: Evaluation, q: Array, p: float, d: Array) -> float:
    """For linear systems: the largest of the coordinates, the distances to contacts, and the motion that p causes."""
    norms = e.gap_sizes(d)
    distances = np.divide(np.abs(e.c), norms, out=np.zeros_like(norms), where=norms > 0)
    pushed = np.divide(np.abs(e.c_p * p), norms, out=np.zeros_like(norms), where=norms > 0)
    return max(_largest(q / d), _largest(distances), _largest(pushed), _largest(e.L_qp * d * p))


def _control(evaluate: Evaluate, e: Evaluation, q: Array, p: float, sizes: Sizes) -> float:
    """The change of p that changes forces, stiffness or gaps by a size that matters."""
    gaps = e.gap_sizes(sizes.length)
    soft, hessian = e.response(sizes.length, sizes.energy), e.scaled_hessian(sizes.length)

    def changes(step: float) -> bool:
        other = evaluate(q, p + step)
        moved = np.divide(np.abs(other.c - e.c), gaps, out=np.zeros_like(gaps), where=gaps > 0)
        forces = (other.L_q - e.L_q) / sizes.force
        stiffened = (other.scaled_hessian(sizes.length) - hessian) / sizes.energy
        return any(_largest(values) >= CHANGE for values in (forces, stiffened, moved))

    def any_changes(step: float) -> bool:
        return soft * step >= CHANGE or changes(step) or changes(-step)

    return _first_crossing(any_changes, abs(p) or 1.0) or abs(p) or 1.0


def _largest(values: Array) -> float:
    """Largest absolute value; what is not finite counts as infinitely large."""
    size = float(abs(values).max()) if values.size else 0.0
    return size if math.isfinite(size) else math.inf


def _first_crossing(changes: Callable[[float], bool], guess: float) -> float | None:
    """The size, near `guess` and over many decades, from which on something changes; None if it never does."""
    size, large = guess, changes(guess)
    for _ in range(DECADES):
        other = size / 10.0 if large else size * 10.0
        if changes(other) != large:
            return _bisect(changes, min(size, other), max(size, other))
        size = other
    return size if large else None


def _bisect(changes: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(6):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if changes(middle) else (middle, high)
    return high
