"""One evaluation on the way along a path, for very many paths side by side.

A path is a vector of numbers; `PathLanes.tick` evaluates the model once where it stands, solves one bordered system and
says what comes next: another correction, the middle of the step, an event to be located, the next leg. There are no
loops and no branches in it, so that it can be written as a straight line [`straight`] and run for many paths at once.
What needs more than a point, its closed contacts and a tangent is left to `statics`: the path ends `LEFT` there.

The steps and their checks are those of `path_steps`; contacts are changed one at a time. At a change with margin j
(a gap, or a reaction) the bordered matrix has the gradient of the new margin j as its last row: the solution for a
unit on the right is the tangent along which the new margin grows, the one that goes on.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.base.tolerances import EPS, ROUND_OFF, SMALL
from onesided.evaluation.lane_algebra import eliminated_rows, negative_pivots
from onesided.evaluation.lane_phases import LanePhases
from onesided.evaluation.lane_state import (
    BOUND,
    CENTRE,
    DONE,
    LEAVE,
    LEFT,
    POINT,
    START,
    STEP,
    TOUCH,
    TURNS,
    VECTORS,
    Lane,
    LaneData,
    LaneKnobs,
    LaneSolved,
    LaneThen,
    ahead,
    along_step,
    merged,
    moved,
    one_of,
)
from onesided.evaluation.path_steps import FINE, rounding
from onesided.evaluation.step_data import Blocks
from onesided.evaluation.step_planes import LIMIT

TRIES = 12  # so many steps refused in a row
CLOSE = EPS**0.35  # a correction so short leaves an error of its square


class PathLanes:
    """Paths of one set of functions.

    Parameters
    ----------
    n, m, k : number of coordinates, of constraints, and how many of these are bilateral.
    evaluate : (x, parameter vector) → `Blocks`.
    parameters : length of the parameter vector.
    """

    def __init__(
        self, n: int, m: int, k: int, evaluate: Callable[[Any, Any], Blocks], parameters: int, knobs: LaneKnobs
    ) -> None:
        self.n, self.m, self.k, self.size, self._evaluate, self.knobs = n, m, k, n + 1 + m, evaluate, knobs
        N = self.size
        self._ends = np.cumsum([*[N] * 7, *[m] * 6, *[1] * (len(Lane._fields) - VECTORS)])
        self._data_ends = np.cumsum([parameters, N, n + m, 1, 1, 1])
        self.length, self.given = int(self._ends[-1]), int(self._data_ends[-1])
        self.width = N + 5 + m  # of a row: unknowns, kind, degrees, arc length, precision, which constraint
        self._p, self._phases = np.eye(N)[n], LanePhases(n, m, k, knobs)

    @property
    def places(self) -> tuple[int, int, float]:
        """Where the phase and the number of events stand in a state, and the phase of paths that are done."""
        at = [int(self._ends[Lane._fields.index(name) - 1]) for name in ("phase", "events")]
        return at[0], at[1], float(DONE)

    def columns(self, *names: str) -> list[int]:
        """Where numbers and vectors stand in a state."""
        spans = {
            name: range(*ends) for name, ends in zip(Lane._fields, pairwise([0, *self._ends.tolist()]), strict=True)
        }
        return [place for name in names for place in spans[name]]

    def start(self, y: Any, closed: Any) -> Any:
        """The states of paths that stand before their start: (B, N), (B, m) → (B, length)."""
        made = np.zeros((len(y), self.length))
        lane = self.unpacked(made)
        lane.z[:], lane.closed[:], lane.previous[:] = y, closed, np.inf
        lane.step[:], lane.s_1[:], lane.level[:] = self.knobs.first_step, -1.0, y[:, self.n]
        return made

    def unpacked(self, states: Any) -> Lane:
        """The numbers of many paths by name, as views: vectors (B, …), numbers (B,)."""
        starts = [0, *self._ends[:-1]]
        views = [states[:, a:b] for a, b in zip(starts, self._ends, strict=True)]
        return Lane(*(view[:, 0] if i >= VECTORS else view for i, view in enumerate(views)))

    def tick(self, state: Any, data: Any) -> Any:
        """The next state of a path, then a row for the table of events and whether it is one."""
        lane, given = self._read(state, data)
        solved = self._solved(lane, given)
        settled, goes = self._newton(lane, solved, given)
        phases = (
            (START, self._phases.started(lane, solved, given)),
            (STEP, self._phases.stepped(lane, solved)),
            (BOUND, self._phases.bounded(lane, solved)),
            (TOUCH, self._phases.touched(lane, solved)),
        )
        cases = [((lane.phase == phase) & settled, then) for phase, then in phases]
        cases.append((lane.phase == CENTRE, self._phases.centred(lane, solved, given)))
        cases.append((lane.phase == TURNS, self._phases.turned(lane, solved, given)))
        cases.append((lane.phase == LEAVE, self._phases.leaving(lane, solved)))
        cases.append((goes, LaneThen(((True, self._phases.iterated(lane, solved)),))))
        by_newton = (lane.phase < CENTRE) | (lane.phase == BOUND) | (lane.phase == TOUCH)
        failed = by_newton & ~settled & ~goes
        stuck = LaneThen(left=lane.phase != STEP, shorter=lane.phase == STEP, share=0.4)
        cases.append((failed, stuck))
        return self._carried_out(lane, given, cases)

    def _carried_out(self, lane: Lane, given: LaneData, cases: list[tuple[Any, LaneThen]]) -> Any:
        """What the phase of a path asks for, in the order in which one thing leads to another."""

        def asked(name: str) -> Any:
            return one_of([mask & getattr(then, name) for mask, then in cases if getattr(then, name) is not False])

        row, told, share = jnp.zeros(self.width), jnp.asarray(False), jnp.asarray(0.5)
        for mask, then in cases:
            if then.row is not None:
                row, told = jnp.where(mask, then.row, row), jnp.where(mask, then.told, told)
            if then.shorter is not False:
                share = jnp.where(mask, then.share, share)
        now = merged(lane, [(mask & here, one) for mask, then in cases for here, one in then.changes])
        found, nothing, lost = self._phases.examined(now, given)
        examine, left = asked("examine"), asked("left")
        now = merged(now, [(examine & ~nothing, found)])
        accept = asked("accept") | (examine & nothing)
        now = merged(now, [(accept, moved(now))])
        if self.knobs.points:
            point = jnp.concatenate(
                [now.y, jnp.stack([1.0 * POINT, now.degree, now.degree, now.s, 0.0]), 0.0 * now.chosen]
            )
            row, told = jnp.where(told, row, jnp.where(accept, point, row)), told | accept
        again, shorter = now._replace(step=share * now.step, tries=now.tries + 1.0), asked("shorter")
        hopeless = shorter & ((again.tries >= TRIES) | (again.step <= self.knobs.resolve))
        now = merged(now, [(shorter, again)])
        now = merged(now, [(accept | shorter | asked("ahead"), ahead(now))])
        left |= (examine & ~nothing & lost) | hopeless
        now = merged(now, [(left, now._replace(phase=1.0 * DONE, how=1.0 * LEFT))])
        count = 1.0 * (told & ~left)
        now = now._replace(events=lane.events + count)
        flat = [jnp.ravel(jnp.asarray(value, dtype=float)) for value in now]
        return jnp.concatenate([*flat, row, count[None]])

    def _read(self, state: Any, data: Any) -> tuple[Lane, LaneData]:
        pieces = jnp.split(state, self._ends[:-1])
        lane = Lane(*(piece[0] if i >= VECTORS else piece for i, piece in enumerate(pieces)))
        th, unit, weight, *numbers = jnp.split(data, self._data_ends[:-1])
        return lane, LaneData(th, unit, weight, *(number[0] for number in numbers))

    def _solved(self, lane: Lane, given: LaneData) -> LaneSolved:
        """Blocks at z; the bordered system with the row of the phase, solved for the correction and the tangent."""
        n, z, closed = self.n, lane.z, lane.closed > 0
        blocks = self._evaluate(z * given.unit, given.th)
        unit, inverse = given.unit[:, None], 1.0 / given.weight  # divisions take as long as some ten products
        per_force, per_gap = inverse[:n], inverse[n:]
        values = blocks.head[n + 2 :] * per_gap
        R = jnp.concatenate([blocks.head[1 : n + 1] * per_force, jnp.where(closed, values, 0.0)])
        slopes = blocks.c_x * unit[: n + 1] * per_gap  # (n + 1, m)
        row, value = self._border(lane, slopes, values)
        held = jnp.where(closed, slopes, 0.0)
        pushes = -jnp.where(closed, blocks.c_x[:n] * given.unit[n + 1 :], 0.0) * per_force[:, None]
        top = jnp.concatenate([(blocks.L_xq * unit[: n + 1] * per_force).T, pushes], axis=1)
        bottom = jnp.concatenate([held.T, jnp.diag(jnp.where(closed, 0.0, 1.0))], axis=1)
        M = jnp.concatenate([top, bottom, row[None]])
        right = jnp.stack([-jnp.append(R, value), np.eye(self.size)[-1]], axis=1)
        solution, sign, volume = eliminated_rows(jnp.concatenate([M, right], axis=1))
        delta, raw = solution[:, 0], solution[:, 1]
        length = jnp.sqrt(raw @ raw)
        tangent, distance = raw * (1.0 / length), jnp.sqrt(delta @ delta)
        rates = jnp.where(closed, tangent[n + 1 :], tangent[: n + 1] @ slopes)
        moved = jnp.where(closed, delta[n + 1 :], delta[: n + 1] @ slopes)
        margins = jnp.where(closed, z[n + 1 :], values) + moved
        error = jnp.maximum(jnp.max(jnp.abs(R)), jnp.abs(value))
        error = jnp.where(jnp.isfinite(distance) & jnp.isfinite(length), error, jnp.inf)
        noise, last = rounding(jnp, M[:-1], z), volume + jnp.log(length)
        columns = np.r_[:n, n + 1 : self.size]
        counted = negative_pivots(M[:-1][:, columns], n, self.m)
        return LaneSolved(blocks, error, delta, distance, tangent, sign, last, noise, margins, rates, *counted)

    def _border(self, lane: Lane, slopes: Any, values: Any) -> tuple[Any, Any]:
        """Last row of the bordered matrix, and the residual that belongs to it."""
        n, p, z = self.n, self._p, lane.z
        plane = jnp.where(lane.phase == STEP, lane.t, along_step(lane))
        row, value = plane, jnp.where(lane.phase == CENTRE, 0.0, plane @ z - lane.level)
        at_p = (lane.phase == START) | (lane.phase == BOUND)
        row, value = jnp.where(at_p, p, row), jnp.where(at_p, z[n] - lane.level, value)
        if not self.m:
            return row, value
        chosen, closed = lane.chosen, lane.closed
        touch = jnp.concatenate([slopes @ (chosen * (1.0 - closed)), chosen * closed])
        margin = chosen @ jnp.where(closed > 0, z[n + 1 :], values)
        at_margin = (lane.phase == TOUCH) | (lane.phase == LEAVE)
        return jnp.where(at_margin, touch, row), jnp.where(at_margin, margin, value)

    def _newton(self, lane: Lane, solved: LaneSolved, given: LaneData) -> tuple[Any, Any]:
        """Whether the iterate is as good as it gets, or is to be corrected once more [`path_steps`].

        A step is good enough where one more correction leaves the square of a small number.
        """
        stepping, knobs, error = lane.phase == STEP, self.knobs, solved.error
        reach = jnp.where(stepping, knobs.miss * lane.step, jnp.where(lane.phase == START, 1.0, 2.0 * lane.step))
        limit = jnp.where(stepping, LIMIT, 2.0 * FINE)
        good = (error <= EPS) & ((solved.distance <= SMALL) | (error <= 10 * EPS))
        stuck = (error <= jnp.maximum(ROUND_OFF, solved.noise)) & (error >= 0.25 * lane.previous)
        near = stepping & (solved.distance <= CLOSE)
        settled = (good | stuck | near) & jnp.isfinite(solved.blocks.head[0]) & jnp.isfinite(error)
        goes = ~settled & (solved.distance < reach) & (error < 1e3 * lane.previous) & (lane.iterations < limit)
        by_newton = (lane.phase < CENTRE) | (lane.phase == BOUND) | (lane.phase == TOUCH)
        return settled, goes & by_newton & (
            (lane.phase != START) | (given.direction == 0) | self._draws_near(lane, solved)
        )

    def _draws_near(self, lane: Lane, solved: LaneSolved) -> Any:
        """Whether the start leads to one equilibrium only, however it is looked for.

        It is one but for little, or the energy is convex around the start and up to the equilibrium: Newton's method
        converges from there by Kantorovich's condition, and so does every descent.
        """
        move = solved.delta[: self.n]
        convex = solved.counted & (solved.negative == 0)
        contracts = (lane.iterations == 0) | (solved.distance <= 0.25 * lane.first)
        return (jnp.sqrt(move @ move) <= self.knobs.near) | (convex & contracts)
