"""Points inside a step of a curve: interpolated, corrected, and where a function of them vanishes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Indices
from onesided.statics.curves.curve import Curve, CurvePoint, Plane, make_point, newton

FALLS = 0.9  # share of a value below which the next one has fallen


class StepEnds(Protocol):
    """A step, whatever else is known of it."""

    @property
    def a(self) -> CurvePoint:
        """The point it leaves."""

    @property
    def b(self) -> CurvePoint:
        """The point it reaches."""


def between(curve: Curve, a: CurvePoint, b: CurvePoint, fraction: float, *, inertia: bool = True) -> CurvePoint | None:
    """The point of the curve at a fraction of the step, corrected; None where Newton fails."""
    h = b.s - a.s
    guess = interpolate(a, b, fraction)
    along = a.t + b.t
    along = along / np.sqrt(along @ along)
    found = newton(curve, guess, Plane(along, float(along @ guess)), target=EPS, limit=12, reach=h)
    return make_point(curve, found, along, a.s + fraction * h, inertia=inertia) if found.converged else None


def interpolate(a: CurvePoint, b: CurvePoint, fraction: Any) -> Array:
    """Cubic Hermite interpolation of the scaled unknowns; for many fractions, a column, a row each."""
    f, h = fraction, b.s - a.s
    square = f * f
    late, left, right = square * (3.0 - 2.0 * f), h * f * (1.0 - f) ** 2, h * square * (f - 1.0)
    return np.asarray(a.y + late * (b.y - a.y) + left * a.t + right * b.t)


def spread(counts: Indices) -> tuple[Indices, Array]:
    """Numbers of the steps of all places, and the fractions of these at which they are."""
    owner = np.repeat(np.arange(len(counts)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.asarray((np.arange(len(owner)) - first + 1.0) / (counts[owner] + 1.0))


def interpolate_many(steps: Sequence[StepEnds], owner: Indices, f: Array) -> Array:
    """The same in many places of several steps, whose numbers are the owners."""
    if len(steps) == 1:
        return interpolate(steps[0].a, steps[0].b, f)
    ends = [(step.a.y, step.b.y - step.a.y, (h := step.b.s - step.a.s) * step.a.t, h * step.b.t) for step in steps]
    y, move, left, right = np.array(ends).transpose(1, 0, 2)
    square = f * f
    bends = (f * (1.0 - f) ** 2) * left[owner] + (square * (f - 1.0)) * right[owner]
    return np.asarray(y[owner] + (square * (3.0 - 2.0 * f)) * move[owner] + bends)


def halfway(a: CurvePoint, b: CurvePoint) -> Array:
    """The same in the middle."""
    return np.asarray(0.5 * (a.y + b.y) + (0.125 * (b.s - a.s)) * (a.t - b.t))


def mean_tangent(a: CurvePoint, b: CurvePoint) -> Array:
    """Unit vector half-way between the tangents of two points."""
    along = a.t + b.t
    return np.asarray(along / np.sqrt(along @ along))


def is_inside(a: CurvePoint, b: CurvePoint, c: CurvePoint) -> bool:
    """Whether a point lies between two others, along the mean of their tangents."""
    along = mean_tangent(a, b)
    return float(along @ (a.y - c.y)) <= 0.0 <= float(along @ (b.y - c.y))


def root_between(
    curve: Curve, a: CurvePoint, b: CurvePoint, function: Callable[[CurvePoint], float], width: float
) -> CurvePoint | None:
    """Regula falsi on corrected points, to round-off, with the modification of Anderson and Björck.

    The end that is kept counts for less, by how much the function fell at the other: of order 1.7. Values that have
    become small and no longer fall are noise.
    """
    (x, fx), (y, fy) = (0.0, function(a)), (1.0, function(b))
    best: CurvePoint | None = None
    if abs(fx) <= 4 * EPS and fy:
        return replace(a)
    if not fx * fy < 0:
        return None
    noise, smallest, worse = HALF_DIGITS * max(abs(fx), abs(fy)), np.inf, 0
    for _ in range(80):
        z = (x * fy - y * fx) / (fy - fx)
        middle = between(curve, a, b, z, inertia=False)
        if middle is None:
            return best
        fz = function(middle)
        worse = 0 if abs(fz) < FALLS * smallest else worse + 1
        best, smallest = (middle, abs(fz)) if abs(fz) < smallest else (best, smallest)
        less = 1.0 - fz / fy
        (x, fx) = (y, fy) if fz * fy < 0 else (x, fx * (less if less > 0 else 0.5))
        done = abs(z - y) <= width or abs(fz) <= 4 * EPS or (worse > 1 and smallest <= noise)
        y, fy = z, fz
        if done:
            break
    return best
