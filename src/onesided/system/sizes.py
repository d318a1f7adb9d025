"""Typical sizes of a system at a point: what makes every tolerance relative.

Each coordinate has its own length: displacements that store like energies, as large as it takes to change the stiffness
or the directions of the constraints by half. What follows a change of units exactly needs no tuning by the user;
coordinates of several kinds whose units differ by many orders of magnitude need `Scales(unit=(…))`. Structures know
their units: lengths are measured by the extent when they are compared with angles.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.linalg import eigvalsh, lapack

from onesided.base.arguments import stated
from onesided.base.errors import ModelError
from onesided.base.tolerances import HALF_DIGITS, ROUNDING, SMALL
from onesided.base.types import Array, Indices
from onesided.evaluation.derivatives import FEW, Derivatives
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.system.control_size import STIFF, GivingWay, greatest, ratios, size_of_control
from onesided.system.crossing import ALIKE, CHANGE, DECADES, FAR, NEAR, first_crossing


@dataclass(frozen=True)
class Probe:
    """The model without reactions; `together` evaluates several points by one compiled call."""

    derivatives: Derivatives
    vector: Any
    together: bool
    units: Array

    def __call__(self, q: Array, p: float) -> Evaluation:
        """All blocks at one point."""
        return self.derivatives.evaluate(self._packed([q], [p], 1)[0], self.vector)

    def some(self, Q: Sequence[Array] | Array, P: Sequence[float]) -> Iterable[Evaluation]:
        """All blocks at some points: one after the other, or those of all points in one."""
        if self.together:
            return [self.derivatives.evaluate_few(self._packed(Q, P, FEW), self.vector)]
        return (self.derivatives.evaluate(x, self.vector) for x in self._packed(Q, P, len(P)))

    def in_pairs(
        self, first: tuple[Array, Array], second: tuple[Array, Array], P: tuple[float, float]
    ) -> tuple[Iterable[Evaluation], Iterable[Evaluation]]:
        """The blocks at two points, and at two others with the same p: those of a pair in one, by one call for all."""
        if not self.together:
            return self.some(first, P), self.some(second, P)
        found = self.derivatives.evaluate_few(self._packed((*first, *second), (*P, *P), FEW), self.vector)
        return [found.pick(slice(0, 2))], [found.pick(slice(2, 4))]

    def _packed(self, Q: Sequence[Array] | Array, P: Sequence[float], rows: int) -> Array:
        """The points, the last of them more than once where there are not `rows` of them."""
        n, given = self.derivatives.n, len(P)
        X = np.zeros((rows, n + 1 + self.derivatives.m))
        X[:given, :n], X[:given, n] = Q, P
        X[given:] = X[given - 1]
        return X


SPREAD = 30.0  # largest ratio of lengths that is estimated
DECADES_ALIKE = 3  # decades over which growth by like powers is a law
LEAST = 0.01  # share of the end of such a law that is taken, however far below it begins
LEFT = HALF_DIGITS  # share of the first reference in those of other points: for directions in which no element is stiff


@stated
@dataclass(frozen=True)
class Scales:
    """Typical sizes given by the user; None means: estimate it at the start point.

    Attributes
    ----------
    length : a change of the coordinates that matters; one number, or one per coordinate.
    unit : numbers in which coordinates of several kinds are comparable, one per coordinate: (1000, 1) for a distance
        in millimetres beside an angle. Structures know theirs.
    force : a generalised force that matters.
    stiffness : a typical entry of the energy's Hessian.
    """

    length: float | Sequence[float] | None = None
    force: float | None = None
    stiffness: float | None = None
    unit: float | Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("length", "force", "stiffness", "unit"):
            value = getattr(self, name)
            if value is not None and not (np.all(np.isfinite(value)) and np.all(np.asarray(value) > 0)):
                raise ModelError(f"scale `{name}` is not usable", got=repr(value), expected="a positive number or None")

    def lengths(self, n: int) -> Array | None:
        """The lengths given, one per coordinate."""
        return self._each("length", n)

    def units(self, n: int) -> Array | None:
        """The units given, one per coordinate."""
        return self._each("unit", n)

    def on(self, kept: Indices | list[int], n: int) -> "Scales":
        """Those of some of the n coordinates."""
        each: dict[str, Any] = {name: tuple(np.asarray(self._each(name, n))[kept].tolist()) for name in self._listed}
        return replace(self, **each)

    def beside(self, extra: int) -> "Scales":
        """The same with so many coordinates more, whose sizes are one."""
        each: dict[str, Any] = {name: (*getattr(self, name), *[1.0] * extra) for name in self._listed}
        return replace(self, **each)

    @property
    def _listed(self) -> list[str]:
        """What is given for each coordinate."""
        return [name for name in ("length", "unit") if np.ndim(getattr(self, name)) > 0]

    def _each(self, name: str, n: int) -> Array | None:
        if getattr(self, name) is None:
            return None
        given = np.asarray(getattr(self, name), dtype=np.float64)
        if given.shape not in {(), (n,)}:
            raise ModelError(f"scale `{name}` has the wrong shape", got=str(given.shape), expected=f"one number or {n}")
        return np.broadcast_to(given, (n,)).copy()


@dataclass(frozen=True, eq=False)
class Sizes:
    """Sizes at one point: a length per coordinate, an energy, a change of p.

    A force that matters is energy / length, a stiffness energy / length²; both are vectors over the coordinates.
    """

    length: Array
    energy: float
    control: float
    stiffnesses: Callable[[], Iterable[Array]] | None = field(default=None, repr=False)
    combine: Callable[[list[Array]], Array] | None = field(default=None, repr=False)
    local: Callable[[Array, Array], Array] | None = field(default=None, repr=False)
    first: "Sizes | None" = field(default=None, repr=False)

    @cached_property
    def reference(self) -> Array:
        """Reference stiffness M, (n, n), symmetric positive definite, without units: what "stiff" means here.

        The mean of |K| at the point for p as it is and a size to either side. Directions without any stiffness are
        measured like the stiffest: nothing is known about them. For sparse systems: the entries [`SparseEvaluation`].
        """
        found = [K for K in (self.stiffnesses or tuple)() if np.all(np.isfinite(K))]
        if self.combine is not None:
            return self.combine(found)
        if not found:
            return np.eye(len(self.length))
        values, modes = np.linalg.eigh(sum(_magnitude(K) for K in found) / len(found))
        usual = max(float(values[-1]), 1.0)
        none = values <= ROUNDING * usual
        values = np.where(none, usual, values)
        return np.asarray((modes * values) @ modes.T)

    @cached_property
    def _flexibility(self) -> Array:
        """Inverse of the reference stiffness."""
        return np.asarray(np.linalg.inv(self.reference))

    def softness(self, directions: Array) -> Array:
        """How far the system gives way to forces in directions, rows of scaled coordinates: 1 where it is stiffest.

        Much more where soft modes take them up: what counts as a small force is smaller there. Of large systems it is
        not known, and taken to be 1.
        """
        if self.reference.ndim < 2:
            return np.ones(len(directions))
        lengths = np.maximum((directions * directions).sum(axis=1), SMALL)
        return np.asarray(
            np.maximum(1.0, np.einsum("ij,jk,ik->i", directions, self._flexibility, directions) / lengths)
        )

    def at(self, x: Array) -> "Sizes":
        """The same with the reference stiffness of the packed point x.

        A stiff structure that has turned is soft in directions in which it was stiff: its elements tell how soft, or,
        where they are not known, its stiffness there.
        """
        local, first = self.local, self.first or self
        if local is None:
            return self

        def combine(_: list[Array]) -> Array:
            return local(x, first.reference)

        return replace(first, stiffnesses=None, combine=combine, first=first)

    @property
    def force(self) -> Array:
        """Generalised forces that matter, (n,)."""
        return np.asarray(self.energy / self.length)

    @property
    def stiffness(self) -> float:
        """One typical stiffness: energy over the squared geometric mean of the lengths."""
        return float(self.energy / np.exp(2.0 * np.mean(np.log(self.length))))

    def hessian(self, L_qq: Array) -> Array:
        """A Hessian (n, n) without units: entries times lengths, over the energy."""
        return np.asarray(self.length[:, None] * L_qq * self.length / self.energy)


def _magnitude(K: Array) -> Array:
    """|K|: the same modes, absolute values of the eigenvalues; K itself where it is positive definite."""
    if lapack.dpotrf(K)[1] == 0:
        return K
    values, modes = np.linalg.eigh(K)
    return np.asarray((modes * np.abs(values)) @ modes.T)


def sizes_at(evaluate: Probe, q: Array, p: float, given: Scales) -> Sizes:
    """Sizes at (q, p); those that were asked for last are known."""
    derivatives, wanted = evaluate.derivatives, (q.tobytes(), p, evaluate.together)
    vector, scales, key, sizes = derivatives.kept.sizes
    if vector is not evaluate.vector or scales is not given or key != wanted:
        sizes = _estimate(evaluate, q, p, given)
        if not derivatives.large:  # they keep the blocks
            derivatives.kept.sizes = evaluate.vector, given, wanted, sizes
    return cast(Sizes, sizes)


def _estimate(evaluate: Probe, q: Array, p: float, given: Scales) -> Sizes:
    e = evaluate(q, p)
    d = _weights(e.stiffest(evaluate.units), evaluate.units)
    if given.stiffness is not None:
        d = np.full(len(q), given.stiffness**-0.5)
    t, d, usual = _lengths(evaluate, e, q, p, d, fixed=given.stiffness is not None)
    length = t * d
    energy = _without_stiffness((e, usual), length, p) or t * t
    chosen = given.lengths(len(q))
    if chosen is not None:
        length = chosen
        largest = greatest(e.scaled_hessian(length))
        energy = given.stiffness * float(np.max(length)) ** 2 if given.stiffness is not None else largest or t * t
    if given.force is not None:
        energy = given.force * float(np.max(length))
    sizes = Sizes(length, energy, 1.0)

    def way() -> GivingWay:
        """Made anew where it is asked: it keeps factors, which must not outlive their thread as results do."""
        return GivingWay(evaluate, e, usual, q, p, sizes)

    control = size_of_control(way())

    def stiffnesses() -> Iterable[Array]:
        states = way().beside(control) if usual is e else [usual]
        return (state.scaled_hessian(length) / energy for state in states)

    combine = cast(Any, e).reference if evaluate.derivatives.large else None
    start = np.append(q, p)

    def local(x: Array, reference: Array) -> Array:
        if not evaluate.derivatives.elementwise:
            K = evaluate.derivatives.evaluate(x, evaluate.vector).scaled_hessian(length) / energy
            return _turned(reference, K)
        own = evaluate.derivatives.magnitude(x, start, evaluate.vector, length).scaled_hessian(length) / energy
        return np.asarray(own + LEFT * reference if np.all(np.isfinite(own)) else reference)

    known = evaluate.derivatives.elementwise or not evaluate.derivatives.large
    return Sizes(length, energy, control, stiffnesses, combine, local if known else None)


def _without_stiffness(states: tuple[Evaluation, Evaluation], length: Array, p: float) -> float:
    """Size of the energy of what has no stiffness at all, but weights or loads and stops; 0 where there is some."""
    e = states[0]
    forces, stiffness = greatest(e.L_q * length), max(greatest(state.scaled_hessian(length)) for state in states)
    if not stiffness <= ROUNDING * forces < math.inf:
        return 0.0
    return forces or greatest(e.L_qp * length) * (abs(p) or 1.0)


def _turned(reference: Array, K: Array) -> Array:
    """The reference stiffness with the modes of K in place of its own, in the order of their stiffness.

    Only where stiff directions have clearly turned: some mode is much stiffer than the reference says.
    """
    if not np.isfinite(K).all():
        return reference
    usual = np.linalg.eigvalsh(reference)
    if usual[-1] <= STIFF * usual[0] or float(eigvalsh(K, reference)[-1]) <= STIFF:
        return reference
    values, modes = np.linalg.eigh(K)
    modes = modes[:, np.argsort(np.abs(values))]
    return np.asarray((modes * usual) @ modes.T)


def _lengths(
    evaluate: Probe, e: Evaluation, q: Array, p: float, d: Array, *, fixed: bool
) -> tuple[float, Array, Evaluation]:
    """How far the system moves until it changes, the weights of the coordinates, and a state of usual stiffness.

    Stiffness may vanish at one point: the weights are made anew with that found a reach away.
    """
    guess = _linear_reach(e, q, p, d) or 1.0
    t, usual = _reach(evaluate, e, q, p, d, guess), e
    if t is None and guess != 1.0 and not q.any():  # forces that cancel up to rounding are all that is known
        t = _reach(evaluate, e, q, p, d, guess * 10.0**DECADES)
    if t is not None and not fixed:
        near, t = t, _past_power_law(evaluate, q, p, d, t) if len(d) == 1 else t
        usual = e if t == near else evaluate(q + t * d * _zigzag(len(d)), p)
        aside = t * d * _zigzag(len(d))
        states = e, *evaluate.some((q + aside, q - aside), (p, p))
        rows = np.vstack([state.stiffest(evaluate.units) for state in states])
        again = _weights(np.asarray(rows[np.isfinite(rows).all(axis=1)].max(axis=0)), evaluate.units)
        if np.any(np.abs(again - d) > (NEAR - 1.0) * d):
            d, t = again, _reach(evaluate, e, q, p, again, t)
    return t or _reach_under_load(evaluate, e, q, p, d, guess) or guess, d, usual


def _past_power_law(evaluate: Probe, q: Array, p: float, d: Array, t: float) -> float:
    """A reach at which the stiffness of a system of one coordinate is usual, should it nearly vanish at the point.

    Beside a limit point stiffness grows in proportion to the distance, over decades: the reach says nothing then. Where
    such growth goes on for `DECADES_ALIKE` decades and ends, the size lies closer to the end, on a logarithmic scale.
    """

    def largest(step: float) -> float:
        aside = step * d
        return max(greatest(one.scaled_hessian(d)) for one in evaluate.some((q + aside, q - aside), (p, p)))

    end = 10.0 * t
    here = largest(end)
    slope: float | None = None
    for _ in range(DECADES):
        there = largest(10.0 * end)
        grown = math.log10(there / here) if 0.0 < here < there < math.inf else 0.0
        if (slope is not None and abs(grown - slope) > ALIKE) or not abs(grown - 1.0) <= ALIKE:
            break
        slope, here, end = grown, there, 10.0 * end
    else:
        return t
    decades = math.log10(end / t)
    return max(t**0.25 * end**0.75, LEAST * end) if decades >= DECADES_ALIKE else t


def _zigzag(n: int) -> Array:
    return np.where(np.arange(n) % 2, -1.0, 1.0)


def _weights(rows: Array, units: Array) -> Array:
    """Displacements of the coordinates that store like energies, within a factor of `SPREAD` of each other.

    They are compared in units of their own, in which `rows` are. A coordinate without stiffness of its own is measured
    like the stiffest: nothing is known about it.
    """
    stiffest = float(np.max(rows, initial=0.0)) or 1.0
    soft = rows <= HALF_DIGITS * stiffest
    softness = np.sqrt(stiffest / np.where(soft, stiffest, rows))
    return np.asarray(units * np.minimum(softness, SPREAD) / math.sqrt(stiffest))


def _reach(evaluate: Probe, e: Evaluation, q: Array, p: float, d: Array, guess: float) -> float | None:
    """How far along ±d the system moves until its stiffness or its constraint directions change by half."""
    norms = e.gap_sizes(d)
    patterns = [d] if len(d) == 1 else [d, d * _zigzag(len(d))]
    directions = np.array([sign * pattern for pattern in patterns for sign in (1.0, -1.0)])
    hessian, m = e.scaled_hessian(d), len(norms)

    def change(t: float) -> float:
        largest = 0.0
        for other in evaluate.some(q + t * directions, [p] * len(directions)):
            largest = max(largest, greatest(other.scaled_hessian(d) - hessian))
            if m:
                largest = max(largest, greatest(ratios(e.turning(other, d), norms)))
            if largest >= FAR * CHANGE:
                break
        return largest

    return first_crossing(change, guess, ROUNDING * greatest(q / d))


def _reach_under_load(evaluate: Probe, e: Evaluation, q: Array, p: float, d: Array, guess: float) -> float | None:
    """The same where the system is linear at this p, but not at another."""
    step = size_of_control(GivingWay(evaluate, e, e, q, p, Sizes(guess * d, guess * guess, 1.0)))
    other = evaluate(q, p + step)
    return _reach(evaluate, other, q, p + step, d, guess) if other.finite() else None


def _linear_reach(e: Evaluation, q: Array, p: float, d: Array) -> float:
    """For linear systems: the largest of the coordinates, the distances to contacts, and the motion that p causes.

    Where all of that is round-off of the motion that reactions prevent, it is that motion.
    """
    norms = e.gap_sizes(d)
    distances, pushed = ratios(e.c, norms), ratios(e.c_p * p, norms)
    found = max(greatest(q / d), greatest(distances), greatest(pushed), greatest(e.L_qp * d * p))
    prevented = greatest(e.L_q * d)
    return prevented if found <= HALF_DIGITS * prevented < math.inf else found
