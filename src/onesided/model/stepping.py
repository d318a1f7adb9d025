"""Many steps along a curve of equilibria, up to and onto a limit point, as one compiled call.

The formulas of `statics.curve.newton`, of the steps in `statics` and of regula falsi in `statics.hits`, for paths that
are long enough to pay for their compilation. All constraints stay in the matrices, an open one as the equation ν = 0,
and sizes are arguments: nothing is compiled anew when a contact changes. Every point is evaluated, with its tangent,
where it is returned.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.model.compiling import compiled
from onesided.tolerances import EPS, ROUND_OFF, SMALL

CHUNK = 32  # most points of one call
TRIES = 8  # so many steps refused in a row are left to the caller
LIMIT, FINE = 5, 12  # Newton iterations of a step, and of a point that is located
ROUNDS = 80  # a limit point not located by then is left to the caller


class Frame(NamedTuple):
    """The scaled variables of a curve: sizes of all unknowns (q, p, ν), of all equations, and the constraints.

    `closed` tells which constraints are equations, `onesided` which of them are unilateral.
    """

    unit: Any
    weight: Any
    closed: Any
    onesided: Any


class Here(NamedTuple):
    """Where a curve stands: point, tangent, arc length, orientation, and tangents of the `known` points before it."""

    y: Any
    t: Any
    s: Any
    orientation: Any
    t_1: Any
    s_1: Any
    t_2: Any
    s_2: Any
    known: Any


class Knobs(NamedTuple):
    """First step, step control, tolerances, bounds of the scaled p, and the number of points wanted."""

    step: float
    turn: float
    miss: float
    max_step: float
    minimum_step: float
    residual: float
    event: float
    low: float
    high: float
    wanted: int


class Stretch(NamedTuple):
    """Points in a row: scaled unknowns, unit tangents, packed blocks, and `numbers`.

    The numbers of a point are its arc length, the step that led to it, the step to go on with, the orientation, the
    smallest pivot and the residual. If `turned`, ṗ vanishes at the last point, which lies between the two before it.
    """

    y: Any
    t: Any
    blocks: Any
    numbers: Any
    turned: Any


class _Plane(NamedTuple):
    """A point to start from, the plane through it across `row`, and what Newton's method may do."""

    guess: Any
    row: Any
    target: Any
    limit: Any
    reach: Any


class _Found(NamedTuple):
    """Outcome of Newton's method: the point, with the packed blocks and the tangent there, oriented like the row."""

    y: Any
    blocks: Any
    tangent: Any
    orientation: Any
    pivot: Any
    first: Any
    error: Any
    iterations: Any
    converged: Any


class _Bracket(NamedTuple):
    """A step from a to b, two fractions of it with ṗ of opposite signs, and how often they were narrowed."""

    a: Here
    b: Here
    x: Any
    fx: Any
    z: Any
    fz: Any
    rounds: Any


class _Way(NamedTuple):
    """What is known on the way: the last point, the next step, points and failures so far, a limit point in sight."""

    here: Here
    step: Any
    count: Any
    tries: Any
    locating: Any
    turned: Any
    bracket: _Bracket


class Stepping:
    """Compiled steps for one set of functions.

    Parameters
    ----------
    n, m : number of coordinates and of constraints.
    evaluate : (x, parameter vector) → packed blocks, as in `Derivatives`.
    """

    def __init__(self, n: int, m: int, evaluate: Callable[[Any, Any], Any]) -> None:
        self.n, self.m, self.size, self._evaluate = n, m, n + 1 + m, evaluate
        self._march = compiled(self._steps)

    def march(self, here: Here, knobs: Knobs, frame: Frame, th: Any) -> Stretch:
        """Steps from `here` on, until `wanted` are made, some fail, or something seems to happen at the last point."""
        made, count = self._march(here, knobs, frame, th)
        rows = int(count)
        y, t, blocks, numbers = (np.asarray(part)[:rows] for part in made[:-1])
        return Stretch(y, t, blocks, numbers, bool(made.turned))

    def _steps(self, here: Here, knobs: Knobs, frame: Frame, th: Any) -> tuple[Stretch, Any]:
        """One use of Newton's method after the other: for the next point, or for a limit point just passed."""

        def go(state: tuple[_Way, list[Any]]) -> tuple[_Way, list[Any]]:
            way, rows = state
            plane = _where(way.locating, _plane_inside(way.bracket), _plane_ahead(way.here, way.step, knobs))
            found = self._newton(plane, frame, th)
            after, s = lax.cond(way.locating, self._narrow, self._advance, way, found, knobs, frame)
            numbers = jnp.stack([s, way.step, after.step, found.orientation, found.pivot, found.error])
            values = (found.y, found.tangent, found.blocks, numbers)  # overwritten unless the point was counted
            return after, [A.at[way.count].set(value) for A, value in zip(rows, values, strict=True)]

        here = jax.tree.map(jnp.asarray, here)
        zero, none, no = jnp.zeros(()), jnp.zeros((), dtype=int), jnp.asarray(False)
        width = jax.eval_shape(self._evaluate, here.y, th).shape[0]
        rows = [jnp.zeros((CHUNK + 1, columns)) for columns in (self.size, self.size, width, 6)]
        bracket = _Bracket(here, here, zero, zero, zero, zero, none)
        start = _Way(here, jnp.asarray(knobs.step), none, none, no, no, bracket)
        way, rows = lax.while_loop(lambda state: state[0].tries < TRIES, go, (start, rows))
        return Stretch(rows[0], rows[1], rows[2], rows[3], way.turned), way.count

    def _advance(self, way: _Way, found: _Found, knobs: Knobs, frame: Frame) -> tuple[_Way, Any]:
        """Accept the point or shorten the step; stop where something seems to have happened. Returns its arc length."""
        n, m, a, h = self.n, self.m, way.here, way.step
        b, angle = _reached(a, found)
        longer = h * _growth(angle, found.first / h, knobs)
        accepted = found.converged & (angle <= 2.0 * knobs.turn)
        most = knobs.max_step * jnp.maximum(1.0, jnp.max(jnp.abs(b.y)))
        shorter = jnp.where(found.converged, jnp.minimum(longer, 0.5 * h), 0.4 * h)
        step = jnp.where(accepted, jnp.minimum(longer, most), shorter)
        margins = jnp.where(frame.closed, b.y[n + 1 :], found.blocks[n + 2 : n + 2 + m] / frame.weight[n:])
        happened = jnp.any(frame.onesided & (margins < -knobs.residual)) | (b.y[n] < knobs.low) | (b.y[n] > knobs.high)
        happened |= b.orientation != a.orientation
        turned = accepted & ~happened & (b.t[n] * a.t[n] < 0)
        count = way.count + accepted
        done = (accepted & happened) | ((count >= knobs.wanted) & ~turned) | (step <= knobs.minimum_step)
        tries = jnp.where(done, TRIES, jnp.where(accepted, 0, way.tries + 1))
        bracket = _Bracket(a, b, jnp.zeros(()), a.t[n], jnp.ones(()), b.t[n], 0)
        return _Way(_where(accepted, b, a), step, count, tries, turned, way.turned, bracket), b.s

    def _narrow(self, way: _Way, found: _Found, knobs: Knobs, frame: Frame) -> tuple[_Way, Any]:
        """Regula falsi with the Illinois modification, to round-off; the point goes behind those of the steps."""
        a, b, x, fx, y, fy, rounds = way.bracket
        z, fz = _fraction(way.bracket), found.tangent[self.n]
        crossed = fz * fy < 0
        bracket = _Bracket(a, b, jnp.where(crossed, y, x), jnp.where(crossed, fy, fx / 2), z, fz, rounds + 1)
        exact = found.converged & ((jnp.abs(z - y) <= knobs.event) | (jnp.abs(fz) <= 4 * EPS))
        tries = jnp.where(exact | ~found.converged | (rounds >= ROUNDS), TRIES, way.tries)
        return way._replace(count=way.count + exact, tries=tries, turned=exact, bracket=bracket), a.s + z * (b.s - a.s)

    def _newton(self, plane: _Plane, frame: Frame, th: Any) -> _Found:
        level = plane.row @ plane.guess

        def iterate(state: tuple[_Found, Any, Any]) -> tuple[_Found, Any, Any]:
            last, previous, _ = state
            value = plane.row @ last.y - level
            blocks, R, augmented = self._linearised(last.y, plane.row, value, frame, th)
            error = jnp.maximum(jnp.max(jnp.abs(R)), jnp.abs(value))
            solution, orientation, pivot = self._solve(augmented, frame.closed)
            delta = solution[:, 0]
            distance = jnp.sqrt(delta @ delta)
            good = (error <= plane.target) & ((distance <= SMALL) | (error <= 10 * EPS))
            settled = good | ((error <= ROUND_OFF) & (error >= 0.25 * previous))
            settled &= jnp.isfinite(blocks[0]) & (pivot > 0)
            goes = ~settled & (distance < plane.reach) & (error < 1e3 * previous) & (last.iterations < plane.limit)
            y = jnp.where(goes, last.y + delta, last.y)
            first = jnp.where(goes & (last.first == 0), distance, last.first)
            count = last.iterations + goes
            found = _Found(y, blocks, solution[:, 1], orientation, pivot, first, error, count, settled)
            return found, jnp.where(goes, error, previous), goes

        zero, blocks = jnp.zeros(()), jnp.zeros(jax.eval_shape(self._evaluate, plane.guess, th).shape)
        start = _Found(plane.guess, blocks, plane.row, zero, zero, zero, zero, 0, jnp.asarray(False))
        state = (start, jnp.inf * jnp.ones(()), jnp.asarray(True))
        found: _Found = lax.while_loop(lambda state: state[2], iterate, state)[0]
        return found._replace(tangent=found.tangent / jnp.sqrt(found.tangent @ found.tangent))

    def _linearised(self, y: Any, row: Any, value: Any, frame: Frame, th: Any) -> tuple[Any, Any, Any]:
        """Packed blocks, scaled residual, and the bordered matrix with both right-hand sides at y."""
        n, m = self.n, self.m
        blocks = self._evaluate(y * frame.unit, th)
        first, second, third = n + 2, n + 2 + m, n + 2 + m + n * (n + 1)
        c, L_qx, c_x = blocks[first:second], blocks[second:third].reshape(n, n + 1), blocks[third:].reshape(m, n + 1)
        closed = frame.closed[:, None]
        R = jnp.concatenate([blocks[1 : n + 1], jnp.where(frame.closed, c, 0.0)]) / frame.weight
        c_x = jnp.where(closed, c_x, 0.0)
        top = jnp.concatenate([L_qx, -c_x[:, :n].T], axis=1) * frame.unit / frame.weight[:n, None]
        bottom = c_x * frame.unit[: n + 1] / frame.weight[n:, None]
        idle = jnp.diag(jnp.where(frame.closed, 0.0, 1.0))
        M = jnp.concatenate([top, jnp.concatenate([bottom, idle], axis=1), row[None]])
        right = jnp.zeros((self.size, 2)).at[:, 0].set(-jnp.append(R, value)).at[-1, 1].set(1.0)
        return blocks, R, jnp.concatenate([M, right], axis=1)

    def _solve(self, augmented: Any, closed: Any) -> tuple[Any, Any, Any]:
        """Solution, sign of the determinant, smallest pivot: eliminating [M, B] leaves L⁻¹PB beside U."""
        size = self.size
        lu, pivots, _ = lax.linalg.lu(augmented)
        solution = lax.linalg.triangular_solve(lu[:, :size], lu[:, size:], left_side=True, lower=False)
        diagonal, idle = jnp.diagonal(lu), jnp.sum(~closed)  # the unit entry of an open row is off the diagonal by one
        flips = jnp.sum(pivots != jnp.arange(size)) + jnp.sum(diagonal < 0) + idle
        counts = jnp.concatenate([jnp.ones(self.n + 1, dtype=bool), closed])
        return solution, jnp.where(flips % 2 == 1, -1.0, 1.0), jnp.min(jnp.where(counts, jnp.abs(diagonal), jnp.inf))


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def _plane_ahead(a: Here, h: Any, knobs: Knobs) -> _Plane:
    """Extrapolate the tangent through the last points and integrate it over the step."""
    first = jnp.where(a.known >= 1, (a.t - a.t_1) / (a.s - a.s_1), 0.0)
    before = (a.t_1 - a.t_2) / (a.s_1 - a.s_2)
    second = jnp.where(a.known >= 2, (first - before) / (a.s - a.s_2), 0.0)
    guess = a.y + h * a.t + 0.5 * h * h * first + (h**3 / 3.0 + 0.5 * h * h * (a.s - a.s_1)) * second
    return _Plane(guess, a.t, 0.01 * knobs.residual, LIMIT, knobs.miss * h)


def _fraction(bracket: _Bracket) -> Any:
    _, _, x, fx, y, fy, _ = bracket
    return (x * fy - y * fx) / (fy - fx)


def _plane_inside(bracket: _Bracket) -> _Plane:
    """Cubic Hermite interpolation where ṗ should vanish."""
    a, b, f = bracket.a, bracket.b, _fraction(bracket)
    h, along = b.s - a.s, a.t + b.t
    left = (2 * f**3 - 3 * f**2 + 1) * a.y + (f**3 - 2 * f**2 + f) * h * a.t
    right = (3 * f**2 - 2 * f**3) * b.y + (f**3 - f**2) * h * b.t
    return _Plane(left + right, along / jnp.sqrt(along @ along), EPS, FINE, h)


def _reached(a: Here, found: _Found) -> tuple[Here, Any]:
    """The point reached, and the angle between its tangent and that of a."""
    move = found.y - a.y
    s = a.s + jnp.sqrt(move @ move)
    b = Here(found.y, found.tangent, s, found.orientation, a.t, a.s, a.t_1, a.s_1, jnp.minimum(a.known + 1, 2))
    return b, jnp.arccos(jnp.minimum(1.0, a.t @ b.t))


def _growth(angle: Any, miss: Any, knobs: Knobs) -> Any:
    """Factor for the next step, as in `Tracer`."""
    by_angle = knobs.turn / jnp.maximum(angle, EPS)
    by_miss = (0.25 * knobs.miss / jnp.maximum(miss, EPS)) ** 0.4
    return jnp.clip(jnp.minimum(by_angle, by_miss), 0.3, 3.0)
