"""Energy balance along a path: U changes by the work ∫ L_p dp over every step, or the step has left its branch.

With L = U − cᵀν, L_q = 0 and c = 0 where ν acts, dU/ds = L_p ṗ along a path. Energies and slopes at the points of a
path are known; where they do not fit, the step is looked at again with points inside it.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, SOME_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.statics.curves.corrections import Plane, newton, scatter
from onesided.statics.curves.curve import Curve

DOUBT = 0.05  # share of step × range of the slope by which work and energy may differ without a closer look
EXACT = SOME_DIGITS  # the same where a step has been looked at
NOISE = 256.0  # roundings in the difference of two energies
LOBATTO = (0.5, 0.5 - (3.0 / 28.0) ** 0.5, 0.5 + (3.0 / 28.0) ** 0.5)  # places of the rule of five, besides both ends
DEPTH = 12  # how often a step is halved
JUMP = 0.1  # share of the change over a step that is left on 1/4096 of it: it jumps there
OFF = 4.0  # times the residual of constraints or the scatter of energies: how far they may be off between points
NUDGES = (2.0, 3.0, 5.0, 7.0)  # times √EPS: changes that hardly store energy, and show its round-off
WELL_INSIDE = 0.2  # share of a step that a place inside it is away from its ends
NONE = np.zeros(0), np.zeros(0)
WINDOW = 4  # points through which the slope is interpolated


class Knot(NamedTuple):
    """A point inside a step: scaled unknowns, unit tangent, energy, slope of the energy along the chord of the step.

    `off` is the energy by which its residual may leave it off the path.
    """

    y: Array
    t: Array
    energy: float
    slope: float
    off: float


def doubtful_steps(
    s: Array, energy: Array, slope: Array, noise: Array, turned: Any = 0.0, inside: tuple[Array, Array] = NONE
) -> Indices:
    """Numbers of the steps of one smooth leg over which energy and work differ clearly.

    Parameters
    ----------
    s, energy, slope : (N,) arc length, U and dU/ds at the points.
    noise : (N,) round-off of the energies.
    turned : (N − 1,) angles by which the path turns on its steps: arcs are longer than their chords.
    inside : arc lengths, growing, of further places, and dU/ds there; steps that hold one are judged by themselves.
    """
    h, gained = np.diff(s), np.diff(energy)
    if len(s) < WINDOW or h.min() <= 0:
        return np.zeros(0, dtype=np.intp)
    h = h * (1.0 + turned**2 / 24.0)
    rounded = noise[1:] + noise[:-1] + NOISE * EPS * h * (abs(slope[1:]) + abs(slope[:-1]))
    off = abs(gained - 0.5 * h * (slope[1:] + slope[:-1])) > DOUBT * h * abs(np.diff(slope)) + rounded
    steps = np.flatnonzero(off)
    if not len(steps):
        return steps
    near = np.clip(steps - 1, 0, len(s) - WINDOW)[:, None] + np.arange(WINDOW)
    h, F = h[steps], slope[near]
    places = (s[near] - s[steps, None]) / h[:, None]
    held, at, there = _held(s, steps, inside)
    F[held, 0], F[held, 1], F[held, 2:] = slope[steps[held]], there, slope[steps[held] + 1, None]
    weights = np.zeros_like(F)
    weights[~held] = _weights(places[~held])
    weights[held, 0], weights[held, 1], weights[held, 2] = _parabola((at - s[steps[held]]) / h[held])
    work = h * (weights * F).sum(axis=1)
    off = abs(gained[steps] - work) > DOUBT * h * np.ptp(F, axis=1) + rounded[steps]
    return np.asarray(steps[off & np.isfinite(work)])


def _held(s: Array, steps: Indices, inside: tuple[Array, Array]) -> tuple[Mask, Array, Array]:
    """Which steps hold one of the further places well inside, where it is, and the slope there."""
    at, there = inside
    if not len(at):
        return np.zeros(len(steps), dtype=bool), at, there
    i = np.minimum(np.searchsorted(at, s[steps]), len(at) - 1)
    share = (at[i] - s[steps]) / (s[steps + 1] - s[steps])
    held = (share >= WELL_INSIDE) & (share <= 1.0 - WELL_INSIDE) & np.isfinite(there[i])
    return held, at[i][held], there[i][held]


def _parabola(f: Array) -> tuple[Array, Array, Array]:
    """Weights of ∫₀¹ of the parabola through values at 0, f and 1."""
    return (3.0 * f - 1.0) / (6.0 * f), 1.0 / (6.0 * f * (1.0 - f)), (2.0 - 3.0 * f) / (6.0 * (1.0 - f))


def round_off(curve: Curve, X: Array, energy: Array, residual: float) -> Array:
    """Round-off of energies at packed points, (N,): of their terms, which may cancel, by sizes and reactions.

    Displacements of |y| sizes store about |y|² energies of that size; constraints that are met to a share `residual` of
    their scales hold back as much of ν c.
    """
    y = X[:, : curve.n] / curve.sizes.length
    stored = curve.sizes.energy * (1.0 + (y * y).sum(axis=1))
    held = np.abs(X[:, curve.n + 1 :]) @ curve.scales.gap
    return np.asarray(NOISE * EPS * (np.abs(energy) + stored) + (NOISE * EPS + OFF * residual) * held)


def _weights(places: Array) -> Array:
    """Weights (N, 4) of ∫₀¹ of the cubic through values at four places each."""
    powers = places[:, None, :] ** np.arange(WINDOW)[None, :, None]
    moments = np.broadcast_to(1.0 / np.arange(1, WINDOW + 1), (len(places), WINDOW))
    return np.asarray(np.linalg.solve(powers, moments[..., None])[..., 0])


def fails_between(curve: Curve, x_a: Array, x_b: Array, noise: float) -> bool:
    """Whether the balance fails over the step between two packed points of a curve, halved as far as it can be."""
    a, b = curve.scaled(x_a), curve.scaled(x_b)
    size = float(np.sqrt((b - a) @ (b - a)))
    along = (b - a) / size
    with np.errstate(all="ignore"):  # what is not finite is no point
        left, right = (_knot(curve, y, along, size) for y in (a, b))
        if left is None or right is None:
            return False
        rate = EXACT * (abs(left.slope) + abs(right.slope))
        noise += NOISE * EPS * size * max(abs(left.slope), abs(right.slope))
        noise += OFF * sum(_scatter(curve, knot) + _drift(curve, knot, along) for knot in (left, right))
        return _fails(curve, (left, right), along, (rate, noise, _change(curve, left, right)), DEPTH)


def _change(curve: Curve, left: Knot, right: Knot) -> float:
    """By how much the linearised equations differ between two points; infinite where that is not looked at."""
    if curve.large:
        return math.inf
    before, after = (curve.jacobian(curve.evaluate(curve.packed(knot.y))) for knot in (left, right))
    return float(np.max(np.abs(after - before)))


def _fails(
    curve: Curve, ends: tuple[Knot, Knot], along: Array, allowed: tuple[float, float, float], depth: int
) -> bool:
    """Whether energies do not differ by the work over an interval, by Simpson's or Lobatto's rule, nor over its halves.

    An interval without a point in its middle leads from one branch to another. So does a corner of the path in the last
    interval, unless the equations jump there, by a share of what they change by over the whole step: so does stiffness.
    """
    (left, right), (rate, noise, change) = ends, allowed
    h = float(along @ (right.y - left.y))
    middle, *beside = (partial(_inside, curve, ends, along, f) for f in LOBATTO)
    m = middle()
    if m is None:
        return True
    gained, ends_both = right.energy - left.energy, left.slope + right.slope
    most = rate * h + noise + left.off + right.off
    if abs(gained - h * (ends_both + 4.0 * m.slope) / 6.0) <= most:
        return False
    slopes = sum(math.nan if knot is None else knot.slope for knot in (place() for place in beside))
    if abs(gained - h * (9.0 * ends_both + 49.0 * slopes + 64.0 * m.slope) / 180.0) <= most:
        return False
    if depth == 0:
        corner = abs(gained - 0.5 * h * ends_both) <= 0.5 * h * abs(right.slope - left.slope) + most
        return not (corner and _change(curve, left, right) > JUMP * change)
    return any(_fails(curve, half, along, allowed, depth - 1) for half in ((left, m), (m, right)))


def _inside(curve: Curve, ends: tuple[Knot, Knot], along: Array, f: float) -> Knot | None:
    """The point at a fraction of an interval, by length along the chord; guessed on the cubic with both tangents."""
    left, right = ends
    move = right.y - left.y
    h, size = float(along @ move), math.sqrt(move @ move)
    bend = (1.0 - f) * (size * left.t - move) - f * (size * right.t - move)
    guess = left.y + f * move + f * (1.0 - f) * (bend - along * float(along @ bend))
    return _knot(curve, guess, along, h)


def _knot(curve: Curve, guess: Array, along: Array, reach: float) -> Knot | None:
    """The point of the curve in the plane across the chord through a guess; None where there is none near."""
    found = newton(curve, guess, Plane(along, float(along @ guess)), target=EPS, limit=12, reach=reach)
    forwards = float(along @ found.tangent)
    if not found.converged or not forwards > 0.0:
        return None
    e, n = found.e, curve.n
    load = float(e.L_p * curve.unit[n])
    slope, size = load * float(found.tangent[n]) / forwards, np.sqrt(found.tangent @ found.tangent)
    return Knot(found.y, found.tangent / size, float(e.energy), slope, OFF * found.error * abs(load))


def _scatter(curve: Curve, knot: Knot) -> float:
    """Round-off of the energy as its second differences along the path show it: terms that cancel leave it behind."""
    steps = [nudge * HALF_DIGITS * knot.t for nudge in NUDGES]
    sums = [_energy(curve, knot.y + step) + _energy(curve, knot.y - step) for step in steps]
    return max(abs(both - 2.0 * knot.energy) for both in sums)


def _drift(curve: Curve, knot: Knot, along: Array) -> float:
    """Work of the load over what rounding of the equations shifts p by, in the plane across the path.

    A reaction of a gap with a small slope says little about p: it grows as the slope changes by rounding.
    """
    if curve.large:
        return 0.0
    x = curve.packed(knot.y)
    e = curve.evaluate(x)
    J = np.vstack([curve.jacobian(e), along])
    if np.linalg.cond(J) >= 1.0 / EPS:
        return 0.0
    shares = np.linalg.solve(J.T, np.eye(1, len(J), curve.n)[0])[:-1]
    rounded = np.abs(shares).sum() * scatter(curve, knot.y, curve.residual(e))
    return float(rounded * abs(e.L_p * curve.unit[curve.n]))


def _energy(curve: Curve, y: Array) -> float:
    return float(curve.system.residual_packed(curve.packed(y))[0])
