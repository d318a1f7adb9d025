"""One evaluation on the way along a path, for very many paths side by side.

A path is a vector of numbers; `PathLanes.tick` evaluates the model once where it stands, solves one bordered system and
says what comes next: another correction, the middle of the step, an event to be located, the next leg. There are no
loops and no branches in it, so that it can be told as a straight line [`straight`] and run for many paths at once. What
needs more than a point, its closed contacts and a tangent is left to `statics`: the path ends `LEFT` where it stands.

The steps and their checks are those of `path_steps`; contacts are changed one at a time. At a change with margin j
(a gap, or a reaction) the bordered matrix has the gradient of the new margin j as its last row: the solution for a
unit on the right is the tangent along which the new margin grows, the one that goes on.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS, ROUND_OFF, SMALL
from onesided.evaluation.path_steps import FINE, LIMIT, LONG, MIDDLE, ROUNDS, Blocks, integrals, rounding
from onesided.evaluation.resolution import Triple, heads_for_zero, may_fall_below, may_turn, may_vanish

START, STEP, CENTRE, TURNS, BOUND, TOUCH, LEAVE, DONE = range(8)  # what a path is about
AT_LIMIT, OPENS, CLOSES, CORNER_OPENS, CORNER_CLOSES, AT_BOUND, POINT = range(1, 8)  # kinds of rows
ENDED, LEFT = 1, 2  # how a path is done: at a bound, or left to others (with the phase added)
TRIES = 12  # so many steps refused in a row
CLEAR = QUARTER_DIGITS  # a rate, or a sum of terms, whose sign is beyond doubt
CLOSE = EPS**0.35  # a correction so short leaves an error of its square
NARROWED = 4  # Newton iterations for where something happens on a step
LATE = 1.05  # a share of the step that is still on it, with its counterpart at the start


class LaneKnobs(NamedTuple):
    """Step control and tolerances, as in `StepKnobs`; compiled in. `weak`: margins below it are not clear.

    near : a start that is corrected by less is an equilibrium, stable or not.
    points : whether every point of a path is told, not only events.
    """

    first_step: float
    max_step: float
    turn: float
    miss: float
    residual: float
    resolve: float
    event: float
    weak: float
    near: float
    points: bool = False


class LaneData(NamedTuple):
    """What a path is given: parameters, sizes of the unknowns and equations, start and bounds of the scaled p.

    With direction 0 the start is corrected, and that is all.
    """

    th: Any
    unit: Any
    weight: Any
    direction: Any
    low: Any
    high: Any


class Lane(NamedTuple):
    """Where a path is: point a with tangents there, before and in between, a proposed point b, the iterate z.

    `closed` is one for closed constraints, `chosen` for the one whose margin vanishes; `margins` and `rates` belong to
    a, those with a `b_` to b. `s_z` and `p_dot` belong to the iterate before, while ṗ = 0 is located.
    """

    y: Any
    t: Any
    t_1: Any
    t_m: Any
    b_y: Any
    b_t: Any
    z: Any
    closed: Any
    margins: Any
    rates: Any
    b_margins: Any
    b_rates: Any
    chosen: Any
    phase: Any
    s: Any
    s_1: Any
    s_m: Any
    s_b: Any
    known: Any
    volume: Any
    volume_m: Any
    volume_1: Any
    b_volume: Any
    orientation: Any
    b_orientation: Any
    sense: Any
    step: Any
    b_step: Any
    tries: Any
    iterations: Any
    first: Any
    previous: Any
    level: Any
    s_z: Any
    p_dot: Any
    rounds: Any
    parity: Any
    degree: Any
    how: Any
    points: Any
    events: Any


VECTORS = 13  # of `Lane`


class _Solved(NamedTuple):
    """What one evaluation yields at z: blocks, error, correction, unit tangent, sign and size of the determinant.

    Margins are those of the corrected point, to first order. `negative` counts negative pivots of the Hessian on the
    closed constraints, which `counted` says to be sure.
    """

    blocks: Blocks
    error: Any
    delta: Any
    distance: Any
    tangent: Any
    sign: Any
    volume: Any
    noise: Any
    margins: Any
    rates: Any
    negative: Any
    counted: Any


class _Then(NamedTuple):
    """What follows: pairs of a condition and a changed path, and conditions for what all phases have in common.

    examine : look at what happened on the way to b;  accept : go to b;  ahead : predict the next point;  left : give
    up;  shorter : take a shorter step, by `share`;  told : the row is an event.
    """

    changes: tuple[tuple[Any, Lane], ...] = ()
    examine: Any = False
    accept: Any = False
    ahead: Any = False
    left: Any = False
    shorter: Any = False
    share: Any = 0.5
    row: Any = None
    told: Any = False


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
        self._p, self._onesided = np.eye(N)[n], np.arange(m) >= k

    @property
    def places(self) -> tuple[int, int, float]:
        """Where the phase and the number of events stand in a state, and the phase of paths that are done."""
        at = [int(self._ends[Lane._fields.index(name) - 1]) for name in ("phase", "events")]
        return at[0], at[1], float(DONE)

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
            (START, self._started(lane, solved, given)),
            (STEP, self._stepped(lane, solved)),
            (BOUND, self._bounded(lane, solved)),
            (TOUCH, self._touched(lane, solved)),
        )
        cases = [((lane.phase == phase) & settled, then) for phase, then in phases]
        cases.append((lane.phase == CENTRE, self._centred(lane, solved, given)))
        cases.append((lane.phase == TURNS, self._turned(lane, solved, given)))
        cases.append((lane.phase == LEAVE, self._leaving(lane, solved)))
        cases.append((goes, _Then(((True, self._iterated(lane, solved)),))))
        by_newton = (lane.phase < CENTRE) | (lane.phase == BOUND) | (lane.phase == TOUCH)
        failed = by_newton & ~settled & ~goes
        stuck = _Then(left=lane.phase != STEP, shorter=lane.phase == STEP, share=0.4)
        cases.append((failed, stuck))
        return self._carried_out(lane, given, cases)

    def _carried_out(self, lane: Lane, given: LaneData, cases: list[tuple[Any, _Then]]) -> Any:
        """What the phase of a path asks for, in the order in which one thing leads to another."""

        def asked(name: str) -> Any:
            return _some([mask & getattr(then, name) for mask, then in cases if getattr(then, name) is not False])

        row, told, share = jnp.zeros(self.width), jnp.asarray(False), jnp.asarray(0.5)
        for mask, then in cases:
            if then.row is not None:
                row, told = jnp.where(mask, then.row, row), jnp.where(mask, then.told, told)
            if then.shorter is not False:
                share = jnp.where(mask, then.share, share)
        now = _merged(lane, [(mask & here, one) for mask, then in cases for here, one in then.changes])
        found, nothing, lost = self._examined(now, given)
        examine, left = asked("examine"), asked("left")
        now = _merged(now, [(examine & ~nothing, found)])
        accept = asked("accept") | (examine & nothing)
        now = _merged(now, [(accept, _moved(now))])
        if self.knobs.points:
            point = jnp.concatenate(
                [now.y, jnp.stack([1.0 * POINT, now.degree, now.degree, now.s, 0.0]), 0.0 * now.chosen]
            )
            row, told = jnp.where(told, row, jnp.where(accept, point, row)), told | accept
        again, shorter = now._replace(step=share * now.step, tries=now.tries + 1.0), asked("shorter")
        hopeless = shorter & ((again.tries >= TRIES) | (again.step <= self.knobs.resolve))
        now = _merged(now, [(shorter, again)])
        now = _merged(now, [(accept | shorter | asked("ahead"), _ahead(now))])
        left |= (examine & ~nothing & lost) | hopeless
        now = _merged(now, [(left, now._replace(phase=1.0 * DONE, how=LEFT + lane.phase))])
        count = 1.0 * (told & ~left)
        now = now._replace(events=lane.events + count)
        flat = [jnp.ravel(jnp.asarray(value, dtype=float)) for value in now]
        return jnp.concatenate([*flat, row, count[None]])

    def _read(self, state: Any, data: Any) -> tuple[Lane, LaneData]:
        pieces = jnp.split(state, self._ends[:-1])
        lane = Lane(*(piece[0] if i >= VECTORS else piece for i, piece in enumerate(pieces)))
        th, unit, weight, *numbers = jnp.split(data, self._data_ends[:-1])
        return lane, LaneData(th, unit, weight, *(number[0] for number in numbers))

    def _solved(self, lane: Lane, given: LaneData) -> _Solved:
        """Blocks at z; the bordered system with the row of the phase, solved for the correction and the tangent."""
        n, z, closed = self.n, lane.z, lane.closed > 0
        blocks = self._evaluate(z * given.unit, given.th)
        unit, forces, gaps = given.unit[:, None], given.weight[:n], given.weight[n:]
        values = blocks.head[n + 2 :] / gaps
        R = jnp.concatenate([blocks.head[1 : n + 1] / forces, jnp.where(closed, values, 0.0)])
        slopes = blocks.c_x * unit[: n + 1] / gaps  # (n + 1, m)
        row, value = self._border(lane, slopes, values)
        held = jnp.where(closed, slopes, 0.0)
        pushes = -jnp.where(closed, blocks.c_x[:n] * given.unit[n + 1 :], 0.0) / forces[:, None]
        top = jnp.concatenate([(blocks.L_xq * unit[: n + 1] / forces).T, pushes], axis=1)
        bottom = jnp.concatenate([held.T, jnp.diag(jnp.where(closed, 0.0, 1.0))], axis=1)
        M = jnp.concatenate([top, bottom, row[None]])
        right = jnp.stack([-jnp.append(R, value), np.eye(self.size)[-1]], axis=1)
        solution, sign, volume = _eliminated(jnp.concatenate([M, right], axis=1))
        delta, raw = solution[:, 0], solution[:, 1]
        length = jnp.sqrt(raw @ raw)
        tangent, distance = raw / length, jnp.sqrt(delta @ delta)
        rates = jnp.where(closed, tangent[n + 1 :], tangent[: n + 1] @ slopes)
        moved = jnp.where(closed, delta[n + 1 :], delta[: n + 1] @ slopes)
        margins = jnp.where(closed, z[n + 1 :], values) + moved
        error = jnp.maximum(jnp.max(jnp.abs(R)), jnp.abs(value))
        error = jnp.where(jnp.isfinite(distance) & jnp.isfinite(length), error, jnp.inf)
        noise, last = rounding(jnp, M[:-1], z), volume + jnp.log(length)
        columns = np.r_[:n, n + 1 : self.size]
        counted = _negative_pivots(M[:-1][:, columns], n, self.m)
        return _Solved(blocks, error, delta, distance, tangent, sign, last, noise, margins, rates, *counted)

    def _border(self, lane: Lane, slopes: Any, values: Any) -> tuple[Any, Any]:
        """Last row of the bordered matrix, and the residual that belongs to it."""
        n, p, z = self.n, self._p, lane.z
        plane = jnp.where(lane.phase == STEP, lane.t, _along(lane))
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

    def _newton(self, lane: Lane, solved: _Solved, given: LaneData) -> tuple[Any, Any]:
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

    def _draws_near(self, lane: Lane, solved: _Solved) -> Any:
        """Whether the start leads to one equilibrium only, however it is looked for.

        It is one but for little, or the energy is convex around the start and up to the equilibrium: Newton's method
        converges from there by Kantorovich's condition, and so does every descent.
        """
        move = solved.delta[: self.n]
        convex = solved.counted & (solved.negative == 0)
        contracts = (lane.iterations == 0) | (solved.distance <= 0.25 * lane.first)
        return (jnp.sqrt(move @ move) <= self.knobs.near) | (convex & contracts)

    def _iterated(self, lane: Lane, solved: _Solved) -> Lane:
        return lane._replace(
            z=lane.z + solved.delta,
            iterations=lane.iterations + 1.0,
            previous=solved.error,
            first=jnp.where(lane.iterations == 0, solved.distance, lane.first),
        )

    def _started(self, lane: Lane, solved: _Solved, given: LaneData) -> _Then:
        """The start is an equilibrium with clear contacts: the path leaves it; otherwise it is left to others."""
        turned = jnp.where(given.direction < 0, -1.0, 1.0)
        a = lane._replace(
            y=lane.z + solved.delta,
            t=turned * solved.tangent,
            margins=solved.margins,
            rates=turned * solved.rates,
            volume=solved.volume,
            orientation=turned * solved.sign,
            sense=turned,
            degree=solved.negative,
        )
        only = given.direction == 0
        clear = self._all(solved.margins > self.knobs.weak) & (only | solved.counted)
        ended = lane._replace(y=lane.z + solved.delta, phase=1.0 * DONE, how=1.0 * ENDED)
        changes, goes = ((clear & ~only, a), (clear & only, ended)), clear & ~only
        if not self.knobs.points:
            return _Then(changes, ahead=goes, left=~clear)
        row = self._row(lane, solved, 1.0 * POINT, (solved.negative, solved.negative), lane.s)
        return _Then(changes, ahead=goes, left=~clear, row=row, told=goes)

    def _stepped(self, lane: Lane, solved: _Solved) -> _Then:
        """The corrected point is proposed; next the middle of the step is looked at."""
        knobs, z, t, h = self.knobs, lane.z + solved.delta, solved.tangent, lane.step
        move = z - lane.y
        length = jnp.sqrt(move @ move)
        angle = jnp.arccos(jnp.clip(lane.t @ t, -1.0, 1.0))
        first = jnp.where(lane.iterations == 0, solved.distance, lane.first)
        by_angle = knobs.turn / jnp.maximum(angle, EPS)
        by_miss = (0.25 * knobs.miss / jnp.maximum(first / h, EPS)) ** 0.4
        growth = jnp.clip(jnp.minimum(by_angle, by_miss), 0.3, 3.0)
        most = knobs.max_step * jnp.maximum(1.0, LONG * (lane.s + length))
        proposed = lane._replace(
            b_y=z,
            b_t=t,
            b_margins=solved.margins,
            b_rates=solved.rates,
            s_b=lane.s + length,
            b_volume=solved.volume,
            b_orientation=solved.sign,
            b_step=jnp.minimum(h * growth, most),
            z=(lane.y + z) / 2 + length / 8 * (lane.t - t),
            phase=1.0 * CENTRE,
        )
        bent = angle > 2.0 * knobs.turn
        return _Then(((~bent, proposed),), shorter=bent, share=jnp.minimum(growth, 0.5))

    def _centred(self, lane: Lane, solved: _Solved, given: LaneData) -> _Then:
        """The middle of the step: what it says about everything in between."""
        knobs, n, h = self.knobs, self.n, lane.s_b - lane.s
        delta, t = solved.delta, solved.tangent
        resolved = (solved.distance <= MIDDLE * knobs.miss * h) & jnp.isfinite(solved.volume)
        same = lane.b_orientation == lane.orientation
        p = Triple(lane.y[n], h * lane.t[n], lane.z[n] + delta[n], h * t[n], lane.b_y[n], h * lane.b_t[n])
        resolved &= ~may_turn(jnp, p, lane.sense, h)
        ratio = h / (lane.s - lane.s_1)
        trend = jnp.where(lane.known > 0, ratio * (lane.volume - lane.volume_1), 0.0)
        zero = may_vanish(jnp, lane.volume, solved.volume, lane.b_volume, trend)
        zero |= (lane.known > 0) & heads_for_zero(jnp, (lane.volume_1, lane.volume_m, lane.volume), ratio)
        resolved &= ~(same & ((solved.sign != lane.orientation) | zero))
        if self.m:
            f = Triple(lane.margins, h * lane.rates, solved.margins, h * solved.rates, lane.b_margins, h * lane.b_rates)
            resolved &= ~jnp.any(self._onesided & may_fall_below(jnp, f, -knobs.residual))
        passed = lane._replace(t_m=t, s_m=(lane.s + lane.s_b) / 2, volume_m=solved.volume, step=lane.b_step, tries=0.0)
        fine = resolved & same
        return _Then(((fine, passed),), examine=fine, left=resolved & ~same, shorter=~resolved)

    def _examined(self, lane: Lane, given: LaneData) -> tuple[Lane, Any, Any]:
        """What happened first on the way to b, to be located next; whether it is nothing; whether it is hopeless."""
        n, h = self.n, lane.s_b - lane.s
        turned = lane.sense * lane.b_t[n] < 0
        level = jnp.where(lane.b_y[n] > given.high, given.high, given.low)
        outside = (lane.b_y[n] > given.high) | (lane.b_y[n] < given.low)
        f_turn = jnp.where(turned, jnp.clip(lane.t[n] / (lane.t[n] - lane.b_t[n]), 0.0, 1.0), 2.0)
        crossing = _root(lane.y[n] - level, h * lane.t[n], lane.b_y[n] - level, h * lane.b_t[n])
        f_bound = jnp.where(outside, crossing, 2.0)
        best, phase, chosen = f_turn, jnp.where(turned, 1.0 * TURNS, 1.0 * STEP), jnp.zeros(self.m)
        phase, best = jnp.where(f_bound < best, 1.0 * BOUND, phase), jnp.minimum(best, f_bound)
        if self.m > self.k:
            own = slice(self.k, self.m)
            below = lane.b_margins[own] < -self.knobs.residual
            f = _root(lane.margins[own], h * lane.rates[own], lane.b_margins[own], h * lane.b_rates[own])
            f = jnp.where(below, f, 2.0)
            for j in range(self.m - self.k):
                sooner = f[j] < best
                best, phase = jnp.where(sooner, f[j], best), jnp.where(sooner, 1.0 * TOUCH, phase)
                chosen = jnp.where(sooner, np.eye(self.m)[self.k + j], chosen)
        start = (2 * best**3 - 3 * best**2 + 1) * lane.y + (best**3 - 2 * best**2 + best) * h * lane.t
        z = start + (3 * best**2 - 2 * best**3) * lane.b_y + (best**3 - best**2) * h * lane.b_t
        located = lane._replace(
            z=z,
            level=jnp.where(phase == BOUND, level, _along(lane) @ z),
            phase=phase,
            chosen=chosen,
            s_z=jnp.where(best < 0.5, lane.s_b, lane.s),  # the end that is farther away
            p_dot=jnp.where(best < 0.5, lane.b_t[n], lane.t[n]),
            rounds=lane.rounds + 1.0,
            **_AFRESH,
        )
        return located, phase == STEP, located.rounds > ROUNDS

    def _turned(self, lane: Lane, solved: _Solved, given: LaneData) -> _Then:
        """Secants for ṗ = 0, each with one correction; at the end the limit point."""
        n, h, t, along = self.n, lane.s_b - lane.s, solved.tangent, _along(lane)
        w = lane.z + solved.delta
        s = lane.s + along @ (w - lane.y)
        move = self._secant(lane, s, t[n])
        exact = (jnp.abs(move) <= self.knobs.event * h) | (jnp.abs(t[n]) <= 4 * EPS)
        exact &= (solved.distance <= SMALL) & (solved.error <= jnp.maximum(ROUND_OFF, solved.noise))
        z = w + move * t
        narrowed = lane._replace(z=z, level=along @ z, s_z=s, p_dot=t[n], rounds=lane.rounds + 1.0)
        inside = (jnp.abs(s + move - (lane.s + lane.s_b) / 2) <= (LATE - 0.5) * h) & jnp.isfinite(solved.error)
        hopeless = ~inside | (lane.rounds > ROUNDS)
        sooner = self._any(solved.margins < -self.knobs.residual) | (w[n] > given.high) | (w[n] < given.low)
        moves, pushes = t[:n] * given.unit[:n], t[n + 1 :] * given.unit[n + 1 :]
        terms = jnp.concatenate([moves * solved.blocks.L_xq[n], -pushes * solved.blocks.c_x[n]])
        lean = jnp.sum(terms)
        # vᵀL_qq v = −ṗ (q̇ᵀL_qp − ν̇ᵀc_p) + O(ṗ²) for the part v of q̇ with c_q v = 0
        degree = lane.degree + jnp.where(lane.sense * lean > 0, -1.0, 1.0)
        clear = (jnp.abs(lean) > CLEAR * jnp.sum(jnp.abs(terms))) & (degree >= 0)
        clear &= self._all(solved.margins > self.knobs.weak)
        beyond = self._any(lane.b_margins < -self.knobs.residual)
        beyond |= (lane.b_y[n] > given.high) | (lane.b_y[n] < given.low)
        after = lane._replace(sense=-lane.sense, degree=degree)
        here = self._cut(lane, solved, 1.0)
        short = here._replace(sense=-lane.sense, degree=degree, step=jnp.minimum(lane.step, lane.s_b - s))
        found = exact & ~sooner & clear
        changes = (
            (~exact, narrowed),
            (exact & sooner, here),
            (found & ~beyond, after),
            (found & beyond, short),
        )
        row = self._row(lane, solved, 1.0 * AT_LIMIT, (lane.degree, degree), s)
        left = hopeless | (exact & ~sooner & ~clear)
        return _Then(changes, examine=exact & sooner, accept=found, left=left, row=row, told=found & ~left)

    def _secant(self, lane: Lane, s: Any, p_dot: Any) -> Any:
        """How far ahead ṗ vanishes: by the iterate before, or by the end beyond the zero where that leads past it."""
        before = lane.sense * p_dot > 0
        s_end, end = jnp.where(before, lane.s_b, lane.s), jnp.where(before, lane.b_t[self.n], lane.t[self.n])
        close, far = -p_dot * (s - lane.s_z) / (p_dot - lane.p_dot), -p_dot * (s - s_end) / (p_dot - end)
        within = (close * (s_end - s) > 0) & (jnp.abs(close) < jnp.abs(s_end - s))
        return jnp.where(within, close, jnp.where(p_dot == lane.p_dot, 0.0, far))

    def _bounded(self, lane: Lane, solved: _Solved) -> _Then:
        """The bound of p: the path ends, unless something comes before."""
        turned = jnp.where(solved.tangent @ (lane.t + lane.b_t) < 0, -1.0, 1.0)
        here = self._cut(lane, solved, turned)
        sooner = self._any(solved.margins < -self.knobs.residual) | (lane.sense * here.b_t[self.n] < 0)
        clear = self._inside(lane) & (turned * solved.sign == lane.orientation)
        clear &= sooner | ~solved.counted | (solved.negative == lane.degree)  # all that was counted agrees
        ended = lane._replace(phase=1.0 * DONE, how=1.0 * ENDED, y=lane.z, t=here.b_t, margins=solved.margins)
        row = self._row(lane, solved, 1.0 * AT_BOUND, (lane.degree, lane.degree), here.s_b)
        changes = ((clear & sooner, here), (clear & ~sooner, ended))
        return _Then(changes, examine=clear & sooner, left=~clear, row=row, told=clear & ~sooner)

    def _touched(self, lane: Lane, solved: _Solved) -> _Then:
        """One margin vanishes: the contact is changed, unless something comes before."""
        knobs, n, t = self.knobs, self.n, -solved.tangent  # along it the margin falls
        here = self._cut(lane, solved, -1.0)
        others = lane.chosen < 1
        sooner = self._any((solved.margins < -knobs.residual) & others) | (lane.sense * t[n] < 0)
        clear = self._inside(lane) & (t @ lane.t > 0) & (-solved.sign == lane.orientation)
        alone = self._all((solved.margins > knobs.weak) | ~others)
        alone &= (lane.chosen @ solved.rates > CLEAR) & (jnp.abs(t[n]) > HALF_DIGITS)
        after = lane._replace(
            y=lane.z + solved.delta,
            t=t,
            closed=jnp.where(others, lane.closed, 1.0 - lane.closed),
            parity=jnp.sign(t[n]) * -solved.sign,
            s=here.s_b,
            b_y=lane.y,  # where others go on, should it not be clear how
            phase=1.0 * LEAVE,
        )
        changes = ((clear & sooner, here), (clear & alone & ~sooner, after))
        return _Then(changes, examine=clear & sooner, left=~(clear & (sooner | alone)))

    def _leaving(self, lane: Lane, solved: _Solved) -> _Then:
        """The leg beyond a contact change: its tangent is the one along which the new margin grows.

        The sign of the determinant tells whether the number of negative modes is even: a constraint more or less
        changes it by one at most.
        """
        n, t = self.n, solved.tangent
        closes = jnp.sum(lane.chosen * lane.closed) > 0
        parity = jnp.sign(t[n]) * solved.sign
        degree = lane.degree + jnp.where(parity == lane.parity, 0.0, jnp.where(closes, -1.0, 1.0))
        clear = (jnp.abs(t[n]) > HALF_DIGITS) & (degree >= 0) & jnp.isfinite(solved.error)
        clear &= lane.chosen @ solved.rates > CLEAR
        corner = lane.sense * t[n] < 0
        kind = jnp.where(closes, jnp.where(corner, CORNER_CLOSES, CLOSES), jnp.where(corner, CORNER_OPENS, OPENS))
        row = self._row(lane, solved, 1.0 * kind, (lane.degree, degree), lane.s)
        on = lane._replace(
            t=t,
            margins=solved.margins,
            rates=solved.rates,
            volume=solved.volume,
            orientation=solved.sign,
            sense=jnp.sign(t[n]),
            degree=degree,
            known=0.0,
            s_1=lane.s - 1.0,
            step=jnp.minimum(lane.step, 4.0 * self.knobs.first_step),
            rounds=0.0,
            chosen=jnp.zeros(self.m),
        )
        back = lane._replace(y=lane.b_y)
        return _Then(((clear, on), (~clear, back)), ahead=clear, left=~clear, row=row, told=clear)

    def _cut(self, lane: Lane, solved: _Solved, turned: Any) -> Lane:
        """The step only as far as z."""
        return lane._replace(
            b_y=lane.z + solved.delta,
            b_t=turned * solved.tangent,
            b_margins=solved.margins,
            b_rates=turned * solved.rates,
            s_b=lane.s + _along(lane) @ (lane.z - lane.y),
            b_volume=solved.volume,
            chosen=jnp.zeros(self.m),
        )

    def _inside(self, lane: Lane) -> Any:
        """Whether z lies on the step, give or take a little."""
        share, h = _along(lane) @ (lane.z - lane.y), lane.s_b - lane.s
        return jnp.abs(share - h / 2) <= (LATE - 0.5) * h

    def _row(self, lane: Lane, solved: _Solved, kind: Any, degrees: tuple[Any, Any], s: Any) -> Any:
        numbers = jnp.stack([jnp.asarray(kind), *degrees, s, solved.error])
        return jnp.concatenate([lane.z + solved.delta, numbers, lane.chosen])

    def _all(self, truths: Any) -> Any:
        return jnp.all(truths | ~self._onesided) if self.m else jnp.asarray(True)

    def _any(self, truths: Any) -> Any:
        return jnp.any(truths & self._onesided) if self.m else jnp.asarray(False)


_AFRESH: dict[str, Any] = {"iterations": 0.0, "first": 0.0, "previous": jnp.inf}


def _along(lane: Lane) -> Any:
    """Unit vector along the step from a to b."""
    along = lane.t + lane.b_t
    return along / jnp.sqrt(along @ along)


def _moved(lane: Lane) -> Lane:
    """At b, with a as history."""
    return lane._replace(
        y=lane.b_y,
        t=lane.b_t,
        t_1=lane.t,
        margins=lane.b_margins,
        rates=lane.b_rates,
        s=lane.s_b,
        s_1=lane.s,
        volume=lane.b_volume,
        volume_1=lane.volume,
        known=jnp.where(lane.s_b - lane.s_m > 0.1 * (lane.s_m - lane.s), 1.0, 0.0),
        rounds=0.0,
        points=lane.points + 1.0,
    )


def _ahead(lane: Lane) -> Lane:
    """Predict the next point: the tangents at a, before it and in between extrapolated and integrated."""
    h, d1, d2 = lane.step, lane.s - lane.s_m, lane.s - lane.s_1
    near, late = (lane.t - lane.t_m) / d1, (lane.t_m - lane.t_1) / (lane.s_m - lane.s_1)
    _, second, third, _ = integrals(h, d1, d2)
    bent = second * near + third * (near - late) / d2
    z = lane.y + h * lane.t + jnp.where(lane.known > 0, bent, 0.0)
    return lane._replace(z=z, level=lane.t @ z, phase=1.0 * STEP, **_AFRESH)


def _root(va: Any, ra: Any, vb: Any, rb: Any) -> Any:
    """About where the cubic with these values, of opposite signs, and slopes vanishes: Newton's method in a bracket."""
    lead, linear = 2 * (va - vb) + ra + rb, 3 * (vb - va) - 2 * ra - rb
    low, high, f = 0.0 * va, 0.0 * va + 1.0, jnp.clip(va / (va - vb), 0.0, 1.0)
    for _ in range(NARROWED):
        value, slope = ((lead * f + linear) * f + ra) * f + va, (3 * lead * f + 2 * linear) * f + ra
        before = value * va > 0
        low, high = jnp.where(before, f, low), jnp.where(before, high, f)
        better = f - value / slope
        f = jnp.where((better > low) & (better < high), better, (low + high) / 2)
    return f


def _eliminated(A: Any) -> tuple[Any, Any, Any]:
    """Solution of [M, B] by elimination with partial pivoting, every row on its own; sign and log size of det M."""
    rows, sign, size = list(A), jnp.ones(()), len(A)
    volume = jnp.ones(())
    for k in range(size):
        for i in range(k + 1, size):
            swap = jnp.abs(rows[i][k]) > jnp.abs(rows[k][k])
            upper, lower = rows[k][k:], rows[i][k:]
            rows[k] = rows[k].at[k:].set(jnp.where(swap, lower, upper))
            rows[i] = rows[i].at[k:].set(jnp.where(swap, upper, lower))
            sign = jnp.where(swap, -sign, sign)
        volume *= rows[k][k]
        inverse = 1.0 / rows[k][k]
        for i in range(k + 1, size):
            rows[i] = rows[i].at[k + 1 :].add(-rows[i][k] * inverse * rows[k][k + 1 :])
    solution: list[Any] = [None] * size
    for k in reversed(range(size)):
        rest = rows[k][size:]
        for i in range(k + 1, size):
            rest = rest - rows[k][i] * solution[i]
        solution[k] = rest / rows[k][k]
    return jnp.stack(solution), sign * jnp.sign(volume), jnp.log(jnp.abs(volume))


def _negative_pivots(A: Any, n: int, m: int) -> tuple[Any, Any]:
    """Negative modes of the first n unknowns on the constraints, and whether no pivot is too small to count.

    Elimination without exchanges of [[K, −Cᵀ], [C, 0]], whose rows were scaled by positive numbers: the signs of its
    pivots are those of the symmetric matrix, but for the rows of constraints, where each has the opposite one. That
    matrix has a negative mode more for every constraint.
    """
    rows, negative, clear = list(A), jnp.zeros(()), jnp.asarray(True)
    for k in range(n + m):
        pivot, size = rows[k][k], jnp.max(jnp.abs(rows[k]))
        clear &= jnp.abs(pivot) > HALF_DIGITS * size
        negative += jnp.where(pivot < 0, 1.0 if k < n else -1.0, 0.0)
        for i in range(k + 1, n + m):
            rows[i] = rows[i].at[k + 1 :].add(-rows[i][k] / pivot * rows[k][k + 1 :])
    return negative, clear


def _some(truths: list[Any]) -> Any:
    """Whether one of them is true."""
    return reduce(jnp.logical_or, truths) if truths else jnp.asarray(False)


def _merged(lane: Lane, changes: list[tuple[Any, Lane]]) -> Lane:
    """The path with what changes where a condition holds; no two hold at once for the same number."""
    made = list(lane)
    for condition, other in changes:
        for i, (old, new) in enumerate(zip(lane, other, strict=True)):
            if new is not old:
                made[i] = jnp.where(condition, new, made[i])
    return Lane(*made)
