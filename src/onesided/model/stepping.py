"""Many steps along a curve of equilibria, and the way to a limit point, each as one compiled call.

The same formulas as in `statics.curve.newton` and `statics.trace.Tracer`, for paths that are long enough to pay for their
compilation. All constraints stay in the matrices, an open one as the equation ν = 0, and sizes are arguments: nothing is
compiled anew when a contact changes. Every point is evaluated, with its tangent, where it is returned.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided._types import Array
from onesided.tolerances import EPS, ROUND_OFF, SMALL

CHUNK = 32  # most points of one call
TRIES = 8  # so many steps refused in a row are left to the caller
LIMIT, FINE = 5, 12  # Newton iterations of a step, and of a point that is located
MOST = 80  # points on the way to a limit point


class Frame(NamedTuple):
    """The scaled variables of a curve: sizes of all unknowns (q, p, ν), of all equations, and the constraints.

    `closed` tells which constraints are equations, `onesided` which of them are unilateral.
    """

    unit: Any
    weight: Any
    closed: Any
    onesided: Any


class Ends(NamedTuple):
    """Residual aimed at, iterations allowed, longest way to the solution."""

    target: Any
    limit: Any
    reach: Any


class Corrected(NamedTuple):
    """Outcome of Newton's method: the point, the packed blocks there, the direction of the curve, the bordered LU."""

    y: Any
    blocks: Any
    tangent: Any
    orientation: Any
    pivot: Any
    first: Any
    error: Any
    iterations: Any
    converged: Any


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
    """First step, step control of the caller, what counts as negative, bounds of the scaled p, points wanted."""

    step: float
    turn: float
    miss: float
    max_step: float
    minimum_step: float
    residual: float
    low: float
    high: float
    wanted: int


class Span(NamedTuple):
    """The two ends of a step of length h, with tangents."""

    y_a: Any
    t_a: Any
    y_b: Any
    t_b: Any
    h: Any


class Stretch(NamedTuple):
    """Points in a row: scaled unknowns, tangents, packed blocks, and per point (s, step, next step, orientation,
    pivot, error)."""

    y: Any
    t: Any
    blocks: Any
    numbers: Any


class Stepping:
    """Compiled steps for one set of functions.

    Parameters
    ----------
    n, m : number of coordinates and of constraints.
    evaluate : (x, parameter vector) → packed blocks, as in `Derivatives`.
    """

    def __init__(self, n: int, m: int, evaluate: Callable[[Any, Any], Any]) -> None:
        self.n, self.m, self.size, self._evaluate = n, m, n + 1 + m, evaluate
        self._march = jax.jit(self._steps)
        self._turn = jax.jit(self._limit)

    def frame(self, unit: Array, weight: Array, closed: Array, onesided: Array) -> Frame:
        """The scaled variables of a curve, put where compiled functions find them at once."""
        return Frame(*(jnp.asarray(values) for values in (unit, weight, closed, onesided)))

    def march(self, here: Here, knobs: Knobs, frame: Frame, th: Any) -> Stretch:
        """Steps from `here` on, until `wanted` are made, some fail, or something seems to happen at the last point."""
        stretch, count = self._march(here, knobs, frame, th)
        return Stretch(*(np.asarray(part)[: int(count)] for part in stretch))

    def turn(self, span: Span, event: float, frame: Frame, th: Any) -> tuple[float, Corrected]:
        """Where ṗ vanishes in a step: the fraction of it, to within `event`, and the point."""
        fraction, found = self._turn(span, event, frame, th)
        return float(fraction), Corrected(*(np.asarray(part) for part in found))

    def _system(self, y: Any, row: Any, value: Any, frame: Frame, th: Any) -> tuple[Any, Any, Any]:
        """Packed blocks, scaled residual, and the bordered matrix with both right-hand sides at y."""
        n, m = self.n, self.m
        blocks = self._evaluate(y * frame.unit, th)
        first, second, third = n + 2, n + 2 + m, n + 2 + m + n * (n + 1)
        c, L_qx, c_x = blocks[first:second], blocks[second:third].reshape(n, n + 1), blocks[third:].reshape(m, n + 1)
        closed = frame.closed[:, None]
        R = jnp.concatenate([blocks[1 : n + 1], jnp.where(frame.closed, c, 0.0)]) / frame.weight
        top = jnp.concatenate([L_qx, -jnp.where(closed, c_x[:, :n], 0.0).T], axis=1) * frame.unit
        bottom = jnp.where(closed, c_x, 0.0) * frame.unit[: n + 1]
        J = jnp.concatenate([top, jnp.pad(bottom, ((0, 0), (0, m)))]) / frame.weight[:, None]
        J = J.at[n:, n + 1 :].add(jnp.diag(jnp.where(frame.closed, 0.0, 1.0)))
        right = jnp.zeros((self.size, 2)).at[:, 0].set(-jnp.append(R, value)).at[-1, 1].set(1.0)
        return blocks, R, jnp.concatenate([jnp.vstack([J, row]), right], axis=1)

    def _solve(self, augmented: Any, closed: Any) -> tuple[Any, Any, Any]:
        """Solution, sign of the determinant, smallest pivot: eliminating [M, B] leaves L⁻¹PB beside U."""
        size = self.size
        lu, pivots, _ = lax.linalg.lu(augmented)
        solution = lax.linalg.triangular_solve(lu[:, :size], lu[:, size:], left_side=True, lower=False)
        diagonal, open_ = jnp.diagonal(lu), jnp.sum(~closed)  # the unit entry of an open row is off the diagonal by one
        flips = jnp.sum(pivots != jnp.arange(size)) + jnp.sum(diagonal < 0) + open_
        counts = jnp.concatenate([jnp.ones(self.n + 1, dtype=bool), closed])
        return solution, jnp.where(flips % 2 == 1, -1.0, 1.0), jnp.min(jnp.where(counts, jnp.abs(diagonal), jnp.inf))

    def _newton(self, guess: Any, row: Any, ends: Ends, frame: Frame, th: Any) -> Corrected:
        """Newton's method on the curve, in the plane through `guess` across `row`."""
        level = row @ guess

        def iterate(state: tuple[Corrected, Any, Any]) -> tuple[Corrected, Any, Any]:
            last, previous, _ = state
            value = row @ last.y - level
            blocks, R, augmented = self._system(last.y, row, value, frame, th)
            error = jnp.maximum(jnp.max(jnp.abs(R)), jnp.abs(value))
            solution, orientation, pivot = self._solve(augmented, frame.closed)
            delta = solution[:, 0]
            distance = jnp.sqrt(delta @ delta)
            good = (error <= ends.target) & ((distance <= SMALL) | (error <= 10 * EPS))
            settled = good | ((error <= ROUND_OFF) & (error >= 0.25 * previous))
            settled &= jnp.isfinite(blocks[0]) & (pivot > 0)
            goes = ~settled & (distance < ends.reach) & (error < 1e3 * previous) & (last.iterations < ends.limit)
            y = jnp.where(goes, last.y + delta, last.y)
            first = jnp.where(goes & (last.first == 0), distance, last.first)
            count = last.iterations + goes
            found = Corrected(y, blocks, solution[:, 1], orientation, pivot, first, error, count, settled)
            return found, jnp.where(goes, error, previous), goes

        start = (self._nothing(guess, th), jnp.inf * jnp.ones(()), jnp.asarray(True))
        found, _, _ = lax.while_loop(lambda state: state[2], iterate, start)
        return found

    def _nothing(self, y: Any, th: Any) -> Corrected:
        """A correction yet to be made, at y."""
        zero, blocks = jnp.zeros(()), jnp.zeros(jax.eval_shape(self._evaluate, y, th).shape)
        return Corrected(y, blocks, jnp.zeros_like(y), zero, zero, zero, zero, 0, jnp.asarray(False))

    def _limit(self, span: Span, event: Any, frame: Frame, th: Any) -> tuple[Any, Corrected]:
        """Regula falsi with the Illinois modification on corrected points."""
        n, along = self.n, span.t_a + span.t_b
        along = along / jnp.sqrt(along @ along)

        def at(z: Any) -> tuple[Corrected, Any]:
            found = self._newton(_interpolate(span, z), along, Ends(EPS, FINE, span.h), frame, th)
            t = found.tangent  # across the plane by definition: along it like `along`
            return found, t[n] / jnp.sqrt(t @ t)

        def narrow(state: tuple[Any, ...]) -> tuple[Any, ...]:
            x, fx, y, fy, _, _, count, _ = state
            z = (x * fy - y * fx) / (fy - fx)
            found, fz = at(z)
            crossed = fz * fy < 0
            done = (jnp.abs(z - y) <= event) | (jnp.abs(fz) <= 4 * EPS) | ~found.converged | (count >= MOST)
            return jnp.where(crossed, y, x), jnp.where(crossed, fy, fx / 2), z, fz, z, found, count + 1, done

        zero, one = jnp.zeros(()), jnp.ones(())
        start = (zero, span.t_a[n], one, span.t_b[n], one, self._nothing(span.y_a, th), 0, jnp.asarray(False))
        state = lax.while_loop(lambda state: ~state[-1], narrow, start)
        return state[4], state[5]

    def _steps(self, here: Here, knobs: Knobs, frame: Frame, th: Any) -> tuple[Stretch, Any]:
        """Predictor, corrector and step control, point after point."""
        n, m, size = self.n, self.m, self.size

        def advance(state: tuple[Here, Any, Stretch, Any, Any]) -> tuple[Here, Any, Stretch, Any, Any]:
            a, h, stretch, count, tries = state
            guess = _predict(a, h)
            found = self._newton(guess, a.t, Ends(0.01 * knobs.residual, LIMIT, knobs.miss * h), frame, th)
            b, angle = _move(a, found)
            longer = h * _growth(angle, found.first / h, knobs)
            accepted = found.converged & (angle <= 2.0 * knobs.turn)
            most = knobs.max_step * jnp.maximum(1.0, jnp.max(jnp.abs(b.y)))
            shorter = jnp.where(found.converged, jnp.minimum(longer, 0.5 * h), 0.4 * h)
            following = jnp.where(accepted, jnp.minimum(longer, most), shorter)
            numbers = jnp.stack([b.s, h, following, b.orientation, found.pivot, found.error])
            stretch = Stretch(*(A.at[count].set(v) for A, v in zip(stretch, (b.y, b.t, found.blocks, numbers), strict=True)))
            margins = jnp.where(frame.closed, b.y[n + 1 :], found.blocks[n + 2 : n + 2 + m] / frame.weight[n:])
            happened = jnp.any(frame.onesided & (margins < -knobs.residual)) | (b.y[n] < knobs.low) | (b.y[n] > knobs.high)
            happened |= (b.t[n] * a.t[n] < 0) | (b.orientation != a.orientation)
            count = count + accepted
            done = (accepted & happened) | (count >= knobs.wanted) | (following <= knobs.minimum_step)
            tries = jnp.where(done, TRIES, jnp.where(accepted, 0, tries + 1))
            here = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), b, a)
            return here, following, stretch, count, tries

        width = jax.eval_shape(self._evaluate, here.y, th).shape[0]
        empty = Stretch(*(jnp.zeros((CHUNK, columns)) for columns in (size, size, width, 6)))
        none = jnp.zeros((), dtype=int)
        state = (jax.tree.map(jnp.asarray, here), jnp.asarray(knobs.step), empty, none, none)
        _, _, stretch, count, _ = lax.while_loop(lambda state: state[4] < TRIES, advance, state)
        return stretch, count


def _interpolate(span: Span, f: Any) -> Any:
    """Cubic Hermite interpolation."""
    y_a, t_a, y_b, t_b, h = span
    return (2 * f**3 - 3 * f**2 + 1) * y_a + (f**3 - 2 * f**2 + f) * h * t_a + (3 * f**2 - 2 * f**3) * y_b + (f**3 - f**2) * h * t_b


def _predict(a: Here, h: Any) -> Any:
    """Extrapolate the tangent through the last points and integrate it over the step."""
    first = jnp.where(a.known >= 1, (a.t - a.t_1) / (a.s - a.s_1), 0.0)
    before = (a.t_1 - a.t_2) / (a.s_1 - a.s_2)
    second = jnp.where(a.known >= 2, (first - before) / (a.s - a.s_2), 0.0)
    return a.y + h * a.t + 0.5 * h * h * first + (h**3 / 3.0 + 0.5 * h * h * (a.s - a.s_1)) * second


def _move(a: Here, found: Corrected) -> tuple[Here, Any]:
    """The point reached, with its unit tangent and the angle to that of a."""
    t = found.tangent / jnp.sqrt(found.tangent @ found.tangent)
    side = jnp.where(t @ a.t < 0, -1.0, 1.0)
    t, move = side * t, found.y - a.y
    s = a.s + jnp.sqrt(move @ move)
    b = Here(found.y, t, s, side * found.orientation, a.t, a.s, a.t_1, a.s_1, jnp.minimum(a.known + 1, 2))
    return b, jnp.arccos(jnp.minimum(1.0, a.t @ t))


def _growth(angle: Any, miss: Any, knobs: Knobs) -> Any:
    """Factor for the next step, as in `Tracer`."""
    by_angle = knobs.turn / jnp.maximum(angle, EPS)
    by_miss = (0.25 * knobs.miss / jnp.maximum(miss, EPS)) ** 0.4
    return jnp.clip(jnp.minimum(by_angle, by_miss), 0.3, 3.0)
