"""Many steps along a curve of equilibria, across limit points and up to a bound of p, as one compiled call.

The formulas of `statics.curve.newton`, of the steps in `statics` and of regula falsi in `statics.hits`, for paths that
are long enough to pay for their compilation. All constraints stay in the matrices, an open one as the equation ν = 0,
and sizes are arguments: nothing is compiled anew when a contact changes. Every point is evaluated, with its tangent,
where it is returned.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.tolerances import EPS, ROUND_OFF, SMALL
from onesided.evaluation.compiling import compiled, joined
from onesided.evaluation.lane_algebra import eliminated, substituted
from onesided.evaluation.resolution import Triple, heads_for_zero, may_fall_below, may_turn, may_vanish
from onesided.evaluation.step_data import (
    Blocks,
    CurveFrame,
    Here,
    NewtonEnd,
    PathStretch,
    PathWay,
    PointAt,
    StepKnobs,
    StepPlane,
)
from onesided.evaluation.step_planes import chosen_tree, plane_ahead, plane_in_the_middle

CHUNK = 128  # most points of one call
HOT, HOT_ENTRIES = 16, 2_000  # calls after which a loop is compiled thoroughly, at least; those of matrices so large
VECTORS = 7  # of `Here`
SMALL_SIZE = 16  # unknowns up to which elimination by loops beats calling the library
LAST = 9  # numbers of a point besides unknowns, tangent and blocks
TURN, BOUND, CHECK = 1, 2, 3  # what is located: a limit point, a bound of p; or a step is looked at in its middle
TURNED_OVER = 2.0  # what seems to have happened: the determinant has changed its sign
TRIES = 8  # so many steps refused in a row are left to the caller
FINE = 12  # Newton iterations of a point that is located
MIDDLE = 0.25  # how far the middle of a step may lie off the cubic through its ends, as a share of what a step may miss
LONG = 0.1  # steps may grow with the path: by this share of `max_step` per unit of length
NOISE = 4.0  # roundings of a unit in a residual
SHRINKS = 0.25  # corrections with old factors are this much shorter each time, or new factors are made
ROUNDS = 80  # a limit point not located by then is left to the caller


class Stepping:
    """Compiled steps for one set of functions.

    Parameters
    ----------
    n, m : number of coordinates and of constraints.
    evaluate : (x, parameter vector) → `Blocks`.
    residual : (x, parameter vector) → (energy, L_q, c), packed.
    """

    def __init__(
        self, n: int, m: int, evaluate: Callable[[Any, Any], Blocks], residual: Callable[[Any, Any], Any]
    ) -> None:
        self.n, self.m, self.size, self._evaluate, self._residual = n, m, n + 1 + m, evaluate, residual
        # a loop that is not optimised takes several times as long, but that of a small system still next to nothing
        self._march = compiled(self._steps, hot=max(HOT, HOT_ENTRIES // self.size**2))

    def march(self, here: Here, knobs: StepKnobs, frame: CurveFrame, th: Any) -> PathStretch:
        """Steps from `here` on, past limit points, until `wanted` points are made, some fail, or something happens.

        A compiled call costs about a microsecond per array: all numbers travel in one vector, and come back in one.
        """
        made = np.asarray(self._march(np.concatenate([*here[:VECTORS], here[VECTORS:], knobs, *frame]), th))
        rows, ends = made[: int(made[-1, 0])], np.cumsum([self.size, self.size, made.shape[1] - 2 * self.size - LAST])
        return PathStretch(*np.split(rows, ends, axis=1))

    def _unpacked(self, numbers: Any) -> tuple[PointAt, PathWay, StepKnobs, CurveFrame]:
        """The start, the knobs and the frame in the vector of `march`."""
        n, m, size = self.n, self.m, self.size
        lengths = (VECTORS * size, len(Here._fields) - VECTORS, len(StepKnobs._fields), size, n + m, m, m)
        vectors, scalars, knobs, unit, weight, closed, onesided = jnp.split(numbers, np.cumsum(lengths)[:-1])
        here = vectors.reshape(VECTORS, size)
        chosen, frame = StepKnobs(*knobs), CurveFrame(unit, weight, closed > 0, onesided > 0)
        return PointAt(*jnp.concatenate([here, here[:1]])), PathWay(*(*scalars, chosen.step)), chosen, frame

    def _steps(self, numbers: Any, th: Any) -> Any:
        """One use of Newton's method after the other: for the next point, or for a limit point just passed."""
        start, outset, knobs, frame = self._unpacked(numbers)

        small = self.size <= SMALL_SIZE  # then all is one piece
        aimed, judged = (self._aimed, self._judged) if small else (joined(self._aimed), joined(self._judged))

        def go(state: tuple[Any, Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any, Any]:
            here, ahead, way, table, middles = state  # tables are never read: they would be copied in every round
            plane = aimed(here, ahead, way, knobs)
            found = self._newton(plane, frame, th)
            known = found._replace(blocks=found.blocks._replace(L_xq=jnp.zeros((self.n + 1, 0))))
            tangent, numbers, at, inside, after = judged(here, ahead, way, known, knobs, frame)
            row = [found.y, tangent, *map(jnp.ravel, found.blocks), numbers]
            count, checking = at[0].astype(int), at[1] > 0
            table = table.at[jnp.where(checking, CHUNK + 2, count)].set(jnp.concatenate(row))  # until it is counted
            middles = middles.at[jnp.where(checking, count, CHUNK + 2)].set(inside)
            return *after, table, middles

        width = sum(math.prod(block.shape) for block in jax.eval_shape(self._evaluate, start.y, th))
        table, middles = jnp.zeros((CHUNK + 3, 2 * self.size + width + LAST)), jnp.full((CHUNK + 3, 2), jnp.nan)
        numbers = jnp.stack([jnp.asarray(value, dtype=float) for value in outset])
        here = jnp.stack(start)
        begin = here, here, numbers, table, middles
        _, _, way, table, middles = lax.while_loop(lambda state: PathWay(*state[2]).tries < TRIES, go, begin)
        return table.at[:, -2:].set(middles).at[-1, 0].set(PathWay(*way).count)

    def _aimed(self, here: Any, ahead: Any, numbers: Any, knobs: StepKnobs) -> StepPlane:
        """Where Newton's method starts, for what is to be done next."""
        at, way = PointAt(*here), PathWay(*numbers)
        checking = way.locating == CHECK
        inside, middle = self._plane_inside(at, way, knobs), plane_in_the_middle(at, PointAt(*ahead), way)
        special = chosen_tree(checking, middle, inside)
        plane: StepPlane = chosen_tree(way.locating > 0, special, plane_ahead(at, way, knobs))
        return plane

    def _judged(
        self, here: Any, ahead: Any, numbers: Any, end: NewtonEnd, knobs: StepKnobs, frame: CurveFrame
    ) -> tuple[Any, ...]:
        """What follows from the outcome: a row of numbers, its place and the middle for the table, the next state."""
        at, b, way = PointAt(*here), PointAt(*ahead), PathWay(*numbers)
        checking, locating = way.locating == CHECK, (way.locating > 0) & (way.locating < CHECK)
        found = _oriented(end, at.t)
        narrowed, s_turn = self._narrow(at, way, found, knobs)
        beyond, stepped, s_next = self._advance(at, way, found, (knobs, frame))
        arrived, checked = self._checked(at, way, b, found, (knobs, frame))
        after = jnp.where(locating, jnp.stack(narrowed), jnp.stack(stepped))
        after = jnp.where(checking, jnp.stack(checked), after)
        s, following = jnp.where(locating, s_turn, s_next), PathWay(*after).step
        told = s, way.step, following, found.orientation, found.volume, found.error, way.locating, jnp.nan, jnp.nan
        inside = jnp.stack([(way.s + way.s_b) / 2, self._slope(found, frame)])
        place = jnp.stack([way.count, 1.0 * checking])
        state = jnp.where(checking, jnp.stack(arrived), here), jnp.where(way.locating > 0, ahead, jnp.stack(beyond))
        return found.tangent, jnp.stack(told), place, inside, (*state, after)

    def _advance(
        self, a: PointAt, way: PathWay, found: NewtonEnd, given: tuple[StepKnobs, CurveFrame]
    ) -> tuple[PointAt, PathWay, Any]:
        """Propose the point, or shorten the step; tell whether something has happened. Returns its arc length."""
        knobs, frame = given
        n, h, y, t = self.n, way.step, found.y, found.tangent
        move = y - a.y
        s, angle = way.s + jnp.sqrt(move @ move), jnp.arccos(jnp.minimum(1.0, a.t @ t))
        longer = h * _growth(angle, found.first / h, knobs)
        margins, rates = self._margins(y, t, found.blocks, frame)
        outside, turned = (y[n] < knobs.low) | (y[n] > knobs.high), t[n] * a.t[n] < 0
        happened = jnp.any(frame.onesided & (margins[n + 1 :] < -knobs.residual))
        happened |= (found.orientation != way.orientation) | (outside & turned)
        accepted = found.converged & (angle <= 2.0 * knobs.turn)
        beyond = PointAt(y, t, a.t, a.t_1, t, margins, rates, a.y)  # the middle is not known yet
        most = knobs.max_step * jnp.maximum(1.0, LONG * s)
        shorter = jnp.where(found.converged, jnp.minimum(longer, 0.5 * h), 0.4 * h)
        step = jnp.where(accepted, jnp.minimum(longer, most), shorter)
        locating = jnp.where(accepted & ~happened, TURN * turned + BOUND * outside, 0)
        share = (_level(y[n], knobs) - a.y[n]) / (y[n] - a.y[n])
        crossing = (0.0, 1.0, share, 0.0)  # of which `_fraction` makes the share
        bracket = chosen_tree(outside, crossing, (0.0, a.t[n], 1.0, t[n]))
        stop = jnp.where(found.orientation != way.orientation, TURNED_OVER, 1.0 * happened)
        done = (step <= knobs.minimum_step) | (~accepted & (way.tries >= TRIES - 1))
        tries = jnp.where(done, TRIES, jnp.where(accepted, way.tries, way.tries + 1.0))
        told = way._replace(
            step=step,
            tries=tries,
            locating=jnp.where(accepted, 1.0 * CHECK, 0.0),
            left=bracket[0],
            f_left=bracket[1],
            right=bracket[2],
            f_right=bracket[3],
            rounds=0.0,
            tried=h,
            s_b=s,
            volume_b=found.volume,
            next_phase=1.0 * locating,
            stop=stop,
        )
        return beyond, told, s

    def _slope(self, found: NewtonEnd, frame: CurveFrame) -> Any:
        """Slope dU/ds = L_p ṗ of the energy along the curve."""
        return found.blocks.head[self.n + 1] * found.tangent[self.n] * frame.unit[self.n]

    def _margins(self, y: Any, t: Any, blocks: Blocks, frame: CurveFrame) -> tuple[Any, Any]:
        """Gaps of open and multipliers of closed constraints with their rates, behind n + 1 zeros."""
        n, zeros = self.n, jnp.zeros(self.n + 1)
        gaps = blocks.head[n + 2 :] / frame.weight[n:]
        speeds = (t[: n + 1] * frame.unit[: n + 1]) @ blocks.c_x / frame.weight[n:]
        values, rates = chosen_tree(frame.closed, (y[n + 1 :], t[n + 1 :]), (gaps, speeds))
        return jnp.concatenate([zeros, values]), jnp.concatenate([zeros, rates])

    def _checked(
        self, a: PointAt, way: PathWay, b: PointAt, found: NewtonEnd, given: tuple[StepKnobs, CurveFrame]
    ) -> tuple[PointAt, PathWay]:
        """Go on to b if the middle of the step agrees with its ends; otherwise halve the step."""
        knobs, _ = given
        resolved = self._resolved(a, way, b, found, given)
        count, step = way.count + resolved, jnp.where(resolved, way.step, 0.5 * way.tried)
        locating = jnp.where(resolved, way.next_phase, 0.0)
        failed = ~resolved & ((way.tries >= TRIES - 1) | (step <= knobs.resolve))  # left to the caller
        enough = resolved & ((way.stop > 0) | ((count >= knobs.wanted) & (locating == 0)))
        tries = jnp.where(failed | enough, TRIES, jnp.where(resolved, 0.0, way.tries + 1.0))
        moved = way._replace(
            s=way.s_b,
            s_1=way.s,
            s_2=way.s_1,
            s_m=(way.s + way.s_b) / 2,
            known=jnp.minimum(way.known + 1.0, 2.0),
            volume=way.volume_b,
            volume_m=found.volume,
            volume_1=way.volume,
        )
        after = chosen_tree(resolved, moved, way)._replace(step=step, count=count, tries=tries, locating=locating)
        return chosen_tree(resolved, b._replace(t_m=found.tangent), a), after

    def _resolved(
        self, a: PointAt, way: PathWay, b: PointAt, found: NewtonEnd, given: tuple[StepKnobs, CurveFrame]
    ) -> Any:
        """Whether the middle of a step agrees with its ends: as `statics.steps.resolved`."""
        knobs, frame = given
        n, h = self.n, way.s_b - way.s
        delta, t = found.delta, found.tangent
        values, rates = self._margins(found.y, t, found.blocks, frame)
        shift = self._margins(delta, delta, found.blocks, frame)[1]
        margins = Triple(a.margins, h * a.rates, values + shift, h * rates, b.margins, h * b.rates)
        p = Triple(a.y[n], h * a.t[n], found.y[n] + delta[n], h * t[n], b.y[n], h * b.t[n])
        same = way.stop != TURNED_OVER
        far = ~(jnp.sqrt(delta @ delta) <= MIDDLE * knobs.miss * h) | ~jnp.isfinite(found.volume)
        ratio = h / (way.s - way.s_1)
        zero = may_vanish(jnp, way.volume, found.volume, way.volume_b, ratio * (way.volume - way.volume_1))
        zero |= heads_for_zero(jnp, (way.volume_1, way.volume_m, way.volume), ratio)
        lost = same & ((found.orientation != way.orientation) | zero)
        below = frame.onesided & may_fall_below(jnp, margins, -knobs.residual)[n + 1 :]
        return ~(far | lost | jnp.any(below) | may_turn(jnp, p, jnp.sign(a.t[n]), h))

    def _plane_inside(self, at: PointAt, way: PathWay, knobs: StepKnobs) -> StepPlane:
        """Cubic Hermite interpolation on the last step, where ṗ should vanish or a bound should be."""
        f, h, along, p = _fraction(way), way.s - way.s_1, at.t_1 + at.t, np.eye(self.size)[self.n]
        left = (2 * f**3 - 3 * f**2 + 1) * at.y_1 + (f**3 - 2 * f**2 + f) * h * at.t_1
        guess = left + (3 * f**2 - 2 * f**3) * at.y + (f**3 - f**2) * h * at.t
        there = jnp.where(p > 0, _level(at.y[self.n], knobs), guess)
        guess, row = chosen_tree(way.locating == BOUND, (there, p), (guess, along / jnp.sqrt(along @ along)))
        return StepPlane(guess, row, EPS, FINE, h)

    def _narrow(self, at: PointAt, way: PathWay, found: NewtonEnd, knobs: StepKnobs) -> tuple[PathWay, Any]:
        """Regula falsi as in `statics.inside.root_between`, to round-off; the point goes behind those of the steps.

        On a bound Newton's method needs no narrowing.
        """
        bound, h, along = way.locating == BOUND, way.s - way.s_1, at.t_1 + at.t
        share = along @ (found.y - at.y_1) / (h * jnp.sqrt(along @ along))
        z, f_z = jnp.where(bound, jnp.clip(share, 0.0, 1.0), _fraction(way)), found.tangent[self.n]
        crossed = f_z * way.f_right < 0
        less = 1.0 - f_z / way.f_right
        kept = way.f_left * jnp.where(less > 0, less, 0.5)
        left, f_left = jnp.where(crossed, way.right, way.left), jnp.where(crossed, way.f_right, kept)
        narrow = (jnp.abs(z - way.right) <= knobs.event) | (jnp.abs(f_z) <= 4 * EPS)
        exact = found.converged & jnp.where(bound, jnp.abs(share - z) <= 0.05, narrow)
        count = way.count + exact
        stop = bound | (exact & (count >= knobs.wanted)) | ~found.converged | (way.rounds >= ROUNDS)
        after = way._replace(
            count=count,
            tries=jnp.where(stop, float(TRIES), 0.0),
            locating=jnp.where(exact, 0.0, way.locating),
            left=left,
            f_left=f_left,
            right=z,
            f_right=f_z,
            rounds=way.rounds + 1.0,
        )
        return after, way.s_1 + z * h

    def _newton(self, plane: StepPlane, frame: CurveFrame, th: Any) -> NewtonEnd:
        level = plane.row @ plane.guess

        def iterate(state: tuple[NewtonEnd, Any, Any]) -> tuple[NewtonEnd, Any, Any]:
            last, previous, _ = state
            value = plane.row @ last.y - level
            blocks, R, augmented = self._linearised(last.y, plane.row, value, frame, th)
            error = jnp.maximum(jnp.max(jnp.abs(R)), jnp.abs(value))
            solution, orientation, volume, again = self._solve(augmented.T, frame.closed)
            delta = solution[:, 0]
            distance = jnp.sqrt(delta @ delta)
            good = (error <= plane.target) & ((distance <= SMALL) | (error <= 10 * EPS))
            noise = rounding(jnp, augmented[: self.size].T, last.y)
            settled = good | ((error <= jnp.maximum(ROUND_OFF, noise)) & (error >= 0.25 * previous))
            settled &= jnp.isfinite(blocks.head[0]) & jnp.isfinite(volume)
            goes = ~settled & (distance < plane.reach) & (error < 1e3 * previous) & (last.iterations < plane.limit)
            y = jnp.where(goes, last.y + delta, last.y)
            if again is not None:
                y = self._chords(y, jnp.where(goes, distance, 0.0), again, (plane, frame, th))
            first = jnp.where(goes & (last.first == 0), distance, last.first)
            count = last.iterations + goes
            found = NewtonEnd(y, blocks, solution[:, 1], orientation, volume, first, error, count, settled, delta)
            return found, jnp.where(goes, error, previous), goes

        zero, shapes = jnp.zeros(()), jax.eval_shape(self._evaluate, plane.guess, th)
        blocks = Blocks(*(jnp.zeros(block.shape) for block in shapes))
        start = NewtonEnd(plane.guess, blocks, plane.row, zero, zero, zero, zero, 0, jnp.asarray(False), plane.guess)
        state = (start, jnp.inf * jnp.ones(()), jnp.asarray(True))
        found: NewtonEnd = lax.while_loop(lambda state: state[2], iterate, state)[0]
        return found._replace(tangent=found.tangent / jnp.sqrt(found.tangent @ found.tangent))

    def _chords(self, y: Any, moved: Any, again: Callable[[Any], Any], given: tuple[StepPlane, CurveFrame, Any]) -> Any:
        """Further corrections with the factors at hand, as long as each is much shorter than the one before it."""
        plane, frame, th = given
        level = plane.row @ plane.guess

        def go(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            y, moved, _ = state
            R = self._scaled(self._residual(y * frame.unit, th)[1:], frame)
            value = plane.row @ y - level
            delta = again(-jnp.append(R, value))
            distance = jnp.sqrt(delta @ delta)
            fine = jnp.maximum(jnp.max(jnp.abs(R)), jnp.abs(value)) <= plane.target
            goes = ~fine & (distance <= SHRINKS * moved)
            return jnp.where(goes, y + delta, y), distance, goes

        made: Any = lax.while_loop(lambda state: state[2], go, (y, moved, moved > 0))[0]
        return made

    def _scaled(self, values: Any, frame: CurveFrame) -> Any:
        """Scaled residual of (L_q, c), zero for open constraints."""
        return jnp.concatenate([values[: self.n], jnp.where(frame.closed, values[self.n :], 0.0)]) / frame.weight

    def _linearised(self, y: Any, row: Any, value: Any, frame: CurveFrame, th: Any) -> tuple[Blocks, Any, Any]:
        """Blocks, scaled residual, and the bordered matrix with both right-hand sides at y, transposed.

        A row per unknown is how derivatives come, and what the library that factorises takes without copying.
        """
        n, m = self.n, self.m
        blocks = self._evaluate(y * frame.unit, th)
        unit, forces, gaps = frame.unit[:, None], frame.weight[:n], frame.weight[n:]
        R = self._scaled(jnp.concatenate([blocks.head[1 : n + 1], blocks.head[n + 2 :]]), frame)
        columns = [blocks.L_xq * unit[: n + 1] / forces]
        if m:
            c_x = jnp.where(frame.closed, blocks.c_x, 0.0)
            idle = jnp.diag(jnp.where(frame.closed, 0.0, 1.0))
            pushes = -c_x[:n].T * unit[n + 1 :] / forces
            rates = jnp.concatenate([c_x * unit[: n + 1] / gaps, idle])
            columns = [jnp.concatenate([columns[0], pushes]), rates]
        right = jnp.zeros((2, self.size)).at[0].set(-jnp.append(R, value)).at[1, -1].set(1.0)
        return blocks, R, jnp.concatenate([jnp.concatenate([*columns, row[:, None]], axis=1), right])

    def _solve(self, augmented: Any, closed: Any) -> tuple[Any, Any, Any, Callable[[Any], Any] | None]:
        """Solution, sign and logarithm of the determinant, what solves once more: [M, B] leaves L⁻¹PB beside U.

        Of small systems it costs less to start anew.
        """
        size, again = self.size, None
        if size <= SMALL_SIZE:
            lu, swaps = eliminated(augmented)
            solution = substituted(lu[:, :size], lu[:, size:])
        else:
            lu, pivots, _ = lax.linalg.lu(augmented)
            swaps, M = jnp.sum(pivots != jnp.arange(size)), lu[:, :size]
            upper = partial(lax.linalg.triangular_solve, M, left_side=True, lower=False)
            lower = partial(lax.linalg.triangular_solve, M, left_side=True, lower=True, unit_diagonal=True)
            solution = upper(lu[:, size:])

            def again(right: Any) -> Any:
                order = lax.linalg.lu_pivots_to_permutation(pivots, size)
                return upper(lower(right[order][:, None]))[:, 0]

        diagonal, idle = jnp.diagonal(lu), jnp.sum(~closed)  # the unit entry of an open row is off the diagonal by one
        flips = swaps + jnp.sum(diagonal < 0) + idle
        counts = jnp.concatenate([jnp.ones(self.n + 1, dtype=bool), closed])
        volume = jnp.sum(jnp.where(counts, jnp.log(jnp.abs(diagonal)), 0.0))
        volume += 0.5 * jnp.log(solution[:, 1] @ solution[:, 1])
        return solution, jnp.where(flips % 2 == 1, -1.0, 1.0), volume, again


def rounding(xp: Any, M: Any, y: Any) -> Any:
    """What rounding of the unknowns y makes of residuals with the matrix M."""
    return NOISE * EPS * xp.max(xp.abs(M) @ xp.abs(y))


def _fraction(way: PathWay) -> Any:
    return (way.left * way.f_right - way.right * way.f_left) / (way.f_right - way.f_left)


def _level(p: Any, knobs: StepKnobs) -> Any:
    """The bound that p is nearer to, or beyond."""
    return jnp.where(p > knobs.high, knobs.high, knobs.low)


def _oriented(found: NewtonEnd, t: Any) -> NewtonEnd:
    """With the tangent in the sense of t: only across a bound it may have the other one."""
    sign = jnp.where(found.tangent @ t < 0, -1.0, 1.0)
    return found._replace(tangent=sign * found.tangent, orientation=sign * found.orientation)


def _growth(angle: Any, miss: Any, knobs: StepKnobs) -> Any:
    """Factor for the next step, as in `Tracer`."""
    by_angle = knobs.turn / jnp.maximum(angle, EPS)
    by_miss = (0.25 * knobs.miss / jnp.maximum(miss, EPS)) ** 0.4
    return jnp.clip(jnp.minimum(by_angle, by_miss), 0.3, 3.0)
