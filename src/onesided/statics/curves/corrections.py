"""Newton's method on a curve with one further equation, and the points it makes."""

import math
from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import EPS, ROUND_OFF, SMALL
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.native_newton import FALLS, HOPELESS, ROUGH, SHRINKS, WIDE
from onesided.evaluation.path_steps import rounding
from onesided.statics.curves.curve import Curve, CurvePoint, sense_of
from onesided.statics.curves.factors import FEW, determinant

NEVER = -1.0  # no residual is as small
NUDGES = (2.0, -3.0, 5.0, -7.0)  # changes of all unknowns, in roundings, that show the scatter of the residual


@dataclass(frozen=True)
class Plane:
    """The further equation row·y = level: arc length, a value of p, a vanishing multiplier."""

    row: Array
    level: float

    def __call__(self, e: Evaluation, y: Array) -> tuple[Array, float]:
        """Row and residual at y."""
        return self.row, float(self.row @ y) - self.level


@dataclass(frozen=True)
class Closed:
    """The further equation c_j = 0 for a constraint outside the working set."""

    curve: "Curve"
    j: int

    def __call__(self, e: Evaluation, y: Array) -> tuple[Array, float]:
        """Row and residual at y."""
        curve, scale = self.curve, self.curve.scales.gap[self.j]
        row = np.zeros(curve.size)
        row[: curve.n + 1] = e.constraint_row(self.j)
        return row * curve.unit / scale, float(e.c[self.j] / scale)


@dataclass(slots=True)
class Correction:
    """Outcome of Newton's method on a curve with one further equation."""

    y: Array
    e: Evaluation
    tangent: Array
    orientation: float
    volume: float
    first: float
    error: float
    iterations: int
    converged: bool


@dataclass(slots=True)
class Convergence:
    """How Newton's method comes along, from residuals and lengths of its steps.

    In a curved valley between stiff walls a straight step climbs them by the square of its length, and only the next
    one says what forces are on the ground: residuals alternate, and single steps may lead far along the load and back.
    """

    target: float
    reach: float
    start: float = math.nan
    error: float = math.inf
    distance: float = math.inf
    strayed: bool = False

    @property
    def short(self) -> float:
        """Length of a step that leads nowhere: nothing beside numbers of order one and beside the step of a path."""
        return float(max(SMALL * min(1.0, WIDE * self.reach), 10 * EPS))

    def stalls(self, error: float, distance: float) -> bool:
        """Whether neither the residual nor the steps fall any more."""
        return error >= FALLS * self.error and (distance <= self.short or distance >= SHRINKS * self.distance)

    def settled(self, error: float, distance: float) -> bool:
        """Whether both are small enough, or as small as round-off lets them become."""
        good = error <= self.target and distance <= self.short
        return good or (error <= ROUND_OFF and self.stalls(error, distance))

    def is_hopeless(self, error: float) -> bool:
        """Whether the residual has grown so much that no other step helps."""
        return not error < (math.inf if self.error == math.inf else max(HOPELESS * self.error, self.start))

    def goes_on(self, error: float, distance: float) -> bool:
        """Whether a step of this length may lead on; it is noted as taken."""
        hopeless = self.is_hopeless(error)
        if self.error == math.inf:
            self.start = error
        self.error, self.distance = error, distance
        self.strayed |= not distance < max(self.reach, SMALL)
        return distance < WIDE * self.reach and not hopeless

    def near(self, way: Array) -> bool:
        """Whether the solution is as near to the start as it must be, if a step strayed."""
        return not self.strayed or is_near(way, self.reach)


def is_near(way: Array, reach: float) -> bool:
    """Whether a point is within reach."""
    return bool(math.sqrt(way @ way) < max(reach, SMALL))


def newton(
    curve: Curve, y: Array, border: Plane | Closed, *, target: float, limit: int = 8, reach: float = np.inf
) -> Correction:
    """Solve R = 0 with one further equation, from y, until the scaled residual is below `target` or round-off.

    The model is evaluated at the very point that is returned: residual, tangent and inertia are its own. A point whose
    equations overflow, so that no tangent is left, is not one.
    """
    if curve.large:
        return curve.newton(y, border, target=target, limit=limit, reach=reach)
    if isinstance(border, Plane) and not curve.loose and curve.system.derivatives.corrections_pay():
        found = _newton_natively(curve, y, border, (target, reach, limit))
        if found is not None:
            return found
    first, start, going = 0.0, y, Convergence(target, reach)
    right = np.zeros((curve.size, 2), order="F")
    right[-1, 1] = 1.0
    for iteration in range(limit + 1):
        e = curve.evaluate(curve.packed(y))
        row, value = border(e, y)
        R = curve.residual(e)
        right[:-1, 0], right[-1, 0] = -R, -value
        error = max(_largest(R), abs(value))
        solution, factors = curve.solve_bordered(e, row, right)
        delta = solution[:, 0]
        size = math.sqrt(delta @ delta)
        done = going.settled(error, size)
        if not done and error <= ROUGH and (going.stalls(error, size) or going.is_hopeless(error)):
            done = error <= rounding(np, curve.matrix(e, row), y) or error <= scatter(curve, y, R)
        if done and math.isfinite(e.energy) and 0.0 < float(solution[:, 1] @ solution[:, 1]) < math.inf:
            converged, ends = going.near(y - start), determinant(factors)
            return Correction(y, e, solution[:, 1], *ends, first, error, iteration, converged=converged)
        if not going.goes_on(error, size):
            break
        first, y = first or size, y + delta
    return Correction(y, e, solution[:, 1], 0.0, math.nan, first, error, iteration, converged=False)


def newton_step(curve: Curve, y: Array, row: Array) -> Correction:
    """One step of Newton's method from y in the plane through it, where it leads, and the determinant at y."""
    plane = Plane(row, float(row @ y))
    if not curve.loose and curve.system.derivatives.corrections_pay():
        found = _newton_natively(curve, y, plane, (NEVER, math.inf, 0))
        if found is not None:
            return found
    e = curve.evaluate(curve.packed(y))
    R = curve.residual(e)
    right = np.zeros((curve.size, 2), order="F")
    right[:-1, 0], right[-1, 1] = -R, 1.0
    solution, factors = curve.solve_bordered(e, row, right)
    delta, tangent = solution.T
    size, error = math.sqrt(delta @ delta), _largest(R)
    return Correction(y + delta, e, tangent, *determinant(factors), size, error, 0, converged=False)


def _newton_natively(curve: Curve, y: Array, plane: Plane, knobs: tuple[float, float, int]) -> Correction | None:
    """The same in one call; None where it takes a closer look."""
    native = curve.native_newton
    found = None if native is None else native(y, plane.row, plane.level, knobs)
    if found is None:
        return None
    e = curve.system.derivatives.unpack(found.blocks)
    orientation, volume, first, error, iterations = found.told
    converged = found.converged and (not found.strayed or is_near(found.y - y, knobs[1]))
    return Correction(
        found.y, e, found.tangent, orientation, volume, first, error, int(iterations), converged=converged
    )


def _largest(R: Array) -> float:
    """Largest absolute value: of few numbers one by one, which is faster. One that is none is the largest."""
    if len(R) > FEW:
        return float(abs(R).max())
    sizes = [abs(value) for value in R.tolist()]
    return max(sizes) if sum(sizes) < math.inf else math.nan


def settled(error: float, previous: float, target: float, distance: float) -> bool:
    """Whether residual and distance to the solution are small enough, or as small as round-off lets them become."""
    good = error <= target and (distance <= SMALL or error <= 10 * EPS)
    return good or (error <= ROUND_OFF and error >= 0.25 * previous)


def scatter(curve: Curve, y: Array, R: Array, directions: Array | None = None) -> float:
    """Round-off of the residual as it shows at points that hardly differ: terms that cancel leave it behind.

    Of all equations, or of their combinations by the columns of some `directions`.
    """
    nearby = [curve.residual(curve.evaluate(curve.packed(y * (1.0 + nudge * EPS)))) for nudge in NUDGES]
    moved = np.array(nearby) - R
    return 2.0 * float(np.max(np.abs(moved if directions is None else moved @ directions), initial=0.0))


def make_point(curve: Curve, found: Correction, along: Array, s: float, *, inertia: bool = True) -> CurvePoint:
    """A point with its unit tangent (oriented like `along`), margins and, unless it is only passed, inertia."""
    length = math.sqrt(found.tangent @ found.tangent)
    t, orientation = found.tangent / length, found.orientation
    if t @ along < 0:
        t, orientation = -t, -orientation
    y, sense = found.y, sense_of(t[curve.n])
    negative, neutral = curve.modes_of_sign(found.e, orientation * sense) if inertia else (-1, False)
    margins, rates = curve.margins(found.e, y, t)
    return CurvePoint(
        curve.packed(y),
        y,
        t,
        s,
        negative,
        orientation,
        sense,
        margins,
        rates,
        found.e.c.copy(),  # not a view that would keep all blocks alive
        found.e.energy,
        found.error,
        found.volume + math.log(length),
        neutral,
        found.e.L_p,
    )
