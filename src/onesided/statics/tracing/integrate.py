"""The papers' own method: integration of the first-order equations [SP1 (2.14)–(2.17), (4.5), (4.6)].

A standard solver integrates q, p and the multipliers of the closed constraints over a path parameter: p itself, or,
near a limit point, the coordinate that moves fastest [SP1 (2.26), (2.27)]. Zeros of gaps, reactions, ṗ and of the
bordered determinant end a piece; there the weakly active constraints are analysed anew. Points are not corrected: an
independent check of the tracer.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from onesided import linalg
from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import INTEGRATED, QUARTER_DIGITS, Tolerances
from onesided.base.types import Array, Status
from onesided.results import Ray
from onesided.statics.curves.curve import Curve, CurvePoint, sense_of
from onesided.statics.rays.rates import shift_with_p
from onesided.statics.tracing.hits import Hit, Trigger
from onesided.statics.tracing.path_method import LegPosition, Origin, PathItem, PathMethod, PathRun
from onesided.statics.tracing.quiet import Change, Quiet
from onesided.statics.tracing.route import Route


@checked
@dataclass(frozen=True)
class FirstOrder(PathMethod):
    """Knobs of the integration.

    Attributes
    ----------
    rtol : relative tolerance of the solver.
    span : length of a piece in scaled units; between pieces the path parameter may change.
    max_evaluations : tangents after which the path is given up; badly scaled ones need very many.
    """

    rtol: float = 1e-12
    span: float = 0.25
    max_evaluations: int = 100_000

    def __post_init__(self) -> None:
        if not (0 < self.rtol < 1 and self.span > 0 and self.max_evaluations > 0):
            raise UsageError("`FirstOrder` has a knob out of range", got=repr(self))

    def begin(self, origin: Origin, ray: Ray) -> PathRun:
        """A run from the origin along the ray, by integration of the first-order equations."""
        return Integrator(replace(origin, watch=replace(origin.watch, tolerances=INTEGRATED)), ray, self)

    def accuracy(self, asked: Tolerances) -> Tolerances:
        """That of points which are not corrected."""
        return INTEGRATED


class Integrator:
    """A trace by integration; events are named and left as in any method, points and places of events are its own.

    Only where idle constraints begin or cease to be so is found as by the other method: signs do not show it.
    """

    def __init__(self, origin: Origin, ray: Ray, knobs: FirstOrder) -> None:
        self.position, self.watch, self.knobs = LegPosition(), origin.watch, knobs
        self.route = Route(origin, ray, self.position)
        self.evaluations = 0
        self._known: tuple[bytes, int, Array] = (b"", -1, np.zeros(0))  # point, parameter, tangent

    @property
    def first(self) -> PathItem:
        """The start, on the leg along which it is left."""
        return self.route.first

    @property
    def curve(self) -> Curve:
        """The equations of the present leg."""
        return self.position.curve

    @property
    def point(self) -> CurvePoint:
        """The point reached on it."""
        return self.position.point

    def pieces(self) -> Iterator[PathItem]:
        """Points and events in order, until something ends the path."""
        route = self.route
        while True:
            if float(np.max(np.abs(self.point.t[: self.curve.n + 1]))) <= self.watch.tolerances.singularity:
                note = "only reactions change ahead: this method has no parameter for that, use the default"
                yield from route.end(Status.step_too_small, note)
                return
            try:
                points, hit = self._integrate()
            except _GivenUpError:
                note = f"after {self.knobs.max_evaluations} tangents; use the default method"
                yield from route.end(Status.max_iterations, note)
                return
            home: CurvePoint | None = None
            quiet: Quiet | None = None
            for point in points:
                home, quiet = route.returns(point), self._quietly(point)
                if quiet is not None or (home is None and hit is not None and point is points[-1]):
                    break
                yield from route.accept(home or point)
                if home is not None:
                    break
            status = Status.closed if home is not None and quiet is None else route.enough()
            if status is None and quiet is not None:
                status = yield from route.meet_idle(quiet, point)
            elif status is None and hit is not None:
                status = yield from self._reach(hit, points[-1])
            if status is None and not points:
                status = Status.step_too_small
            if status is not None:
                yield from route.end(status)
                return

    def _quietly(self, b: CurvePoint) -> Quiet | None:
        """A constraint that begins or ceases to be idle on the way to b: what the event functions cannot see."""
        quiet = self.route.margins.find(self.curve, self.point, b, self.watch.tolerances)
        return quiet if quiet is not None and quiet.change in {Change.arrives, Change.leaves} else None

    def _reach(self, hit: Hit, c: CurvePoint) -> Generator[PathItem, None, Status | None]:
        """Meet the event at c; a limit point is passed with the rates on its far side."""
        beyond = replace(c, sense=-self.point.sense or c.sense, negative=self._negative_beyond(c))
        bifurcates = hit.trigger is Trigger.limit and self._nearly_singular(c)
        status, candidate = yield from self.route.meet(hit, c, beyond, bifurcates=bifurcates)
        if candidate is not None:
            self.position.point = replace(self.point, sense=beyond.sense)
        return Status.closed if status is None and self.route.home.is_at(self.curve, self.point) else status

    def _nearly_singular(self, c: CurvePoint) -> bool:
        """Whether the determinant of (2.27) vanishes at c: a fork, where p turns on its branches."""
        a = self.point
        index = int(np.argmax(np.abs(a.t[: self.curve.n + 1])))
        here, before = (abs(float(np.linalg.det(self._bordered(y, index)[0]))) for y in (c.y, 0.5 * (a.y + c.y)))
        return bool(here <= np.sqrt(self.watch.tolerances.singularity) * before)

    def _negative_beyond(self, c: CurvePoint) -> int:
        """Degree of instability a little further on, by a straight step."""
        return self._negative(c.y + self.knobs.span * 0.02 * c.t)

    def _negative(self, y: Array) -> int:
        return int(np.count_nonzero(np.linalg.eigvalsh(self._reduced(y)[1]) < 0))

    def _reduced(self, y: Array) -> tuple[Array, Array, Array, Array, Any]:
        """T, H, load and the motion of closed constraints with p, at the scaled point y."""
        e = self.curve.evaluate(self.curve.packed(y))
        E = e.c_q[self.curve.rows]
        T = linalg.null_space(E)
        shift = shift_with_p(E, e.c_p[self.curve.rows], self.curve.n)
        return T, T.T @ e.L_qq @ T, T.T @ (e.L_qp + e.L_qq @ shift), shift, e

    def _bordered(self, y: Array, index: int) -> tuple[Array, Array, Array, Any]:
        """Matrix of (2.27) with unknown `index` as path parameter, T, the motion with p, and the blocks."""
        T, H, load, shift, e = self._reduced(y)
        at_p = index == self.curve.n
        row = np.append(np.zeros(T.shape[1]), 1.0) if at_p else np.append(T[index], shift[index])  # (2.26)
        return np.block([[H, load[:, None]], [row[None, :]]]), T, shift, e

    def tangent(self, y: Array, index: int) -> Array:
        """Scaled derivative of the unknowns with respect to unknown `index` (a coordinate or p).

        The last one is kept: event functions ask for it again.
        """
        asked = (y.tobytes(), index)
        if self._known[:2] != asked:
            self._known = (*asked, self._tangent(y, index))
        return self._known[2]

    def _tangent(self, y: Array, index: int) -> Array:
        self.evaluations += 1
        if self.evaluations > self.knobs.max_evaluations:
            raise _GivenUpError
        matrix, T, shift, e = self._bordered(y, index)
        free = T.shape[1]
        solution = _solved(matrix, np.append(np.zeros(free), 1.0))  # (2.27)
        p_dot = solution[free]
        q_dot = T @ solution[:free] + shift * p_dot  # (2.11)
        right = e.L_qq @ q_dot + e.L_qp * p_dot
        E = e.c_q[self.curve.rows]
        nu_dot = np.linalg.lstsq(E.T, right, rcond=None)[0] if len(E) else np.zeros(0)  # (2.15)
        t = np.concatenate([q_dot, [p_dot], nu_dot]) / self.curve.unit
        return np.asarray(t * self.curve.unit[index])

    def _integrate(self) -> tuple[list[CurvePoint], Hit | None]:
        """One piece with one path parameter: its points and the event that ended it."""
        a = self.point
        index = int(np.argmax(np.abs(a.t[: self.curve.n + 1])))
        sign = float(np.sign(a.t[index]))
        events = self._events(index)
        solved = scipy.integrate.solve_ivp(
            lambda _, y: sign * self.tangent(y, index),
            (0.0, self.knobs.span * max(1.0, float(np.max(np.abs(a.y))))),
            a.y,
            method="DOP853",
            rtol=self.knobs.rtol,
            atol=self.knobs.rtol,
            events=[function for _, function in events],
        )
        fired = [(hit, y[0]) for (hit, _), y in zip(events, solved.y_events or [], strict=True) if len(y)]
        points = self._points(list(solved.y.T[1:]), index, sign)
        return (points, fired[-1][0] if solved.status == 1 and fired else None) if points else ([], None)

    def _points(self, found: list[Array], index: int, sign: float) -> list[CurvePoint]:
        points, last = [], self.point
        for y in found:
            t = sign * self.tangent(y, index)
            t = t / np.sqrt(t @ t)
            move = y - last.y
            e = self.curve.evaluate(self.curve.packed(y))
            sense = sense_of(t[self.curve.n]) or last.sense
            last = CurvePoint(
                self.curve.packed(y),
                y,
                t,
                last.s + float(np.sqrt(move @ move)),
                self._negative(y),
                0.0,
                sense,
                *self.curve.margins(e, y, t),
                e.c,
                e.energy,
                float(np.max(np.abs(self.curve.residual(e)))),
            )
            points.append(last)
        return points

    def _events(self, index: int) -> list[tuple[Hit, Callable[[float, Array], float]]]:
        """Event functions that fall through zero: gaps, reactions, bounds, ṗ, the determinant of H, the user's own."""
        n, k, curve, a = self.curve.n, self.curve.k, self.curve, self.point
        events = [self._contact_event(j) for j in range(k, len(curve.scales.gap))]
        for side, level in zip((-1.0, 1.0), self.watch.p_bounds, strict=True):
            if np.isfinite(level):
                scaled = level / curve.unit[n]
                events.append((Hit(Trigger.bound, 0.5, level=scaled, side=side), _bound(n, scaled, side)))
        if index != n and a.sense:
            along = a.sense * float(np.sign(a.t[index]))
            events.append((Hit(Trigger.limit, 0.5), lambda _, y: along * float(self.tangent(y, index)[n])))
        regular = float(np.linalg.det(self._bordered(a.y + QUARTER_DIGITS * a.t, index)[0]))
        if regular:
            events.append(
                (Hit(Trigger.singular, 0.5), lambda _, y: float(np.linalg.det(self._bordered(y, index)[0])) / regular)
            )
        events += [self._user_event(name) for name in self.watch.user]
        for _, function in events:
            function.terminal, function.direction = True, -1.0  # type: ignore[attr-defined]
        return events

    def _user_event(self, name: str) -> tuple[Hit, Callable[[float, Array], float]]:
        """A user's function with the sign that makes it fall: that just beyond the last point, where it is zero."""
        curve, watch = self.curve, self.watch
        side = self.route.sides.get(name) or watch.value(name, self.point.x, curve.n)
        sign = -1.0 if side < 0.0 else 1.0
        hit = Hit(Trigger.user, 0.5, side=-sign, name=name)
        return hit, lambda _, y: sign * watch.value(name, curve.packed(y), curve.n)

    def _contact_event(self, j: int) -> tuple[Hit, Callable[[float, Array], float]]:
        """Gap of an open or multiplier of a closed constraint; one that stays at zero is given room for round-off."""
        curve, a = self.curve, self.point
        idle = abs(a.margins[j - curve.k]) + abs(a.rates[j - curve.k]) <= self.watch.tolerances.gap
        room = self.watch.tolerances.gap if idle else 0.0
        closed = np.flatnonzero(curve.rows == j)
        if len(closed):
            column = curve.n + 1 + int(closed[0])
            return Hit(Trigger.opening, 0.5, j), lambda _, y: float(y[column]) + room
        return Hit(
            Trigger.closing, 0.5, j
        ), lambda _, y: room + float(curve.evaluate(curve.packed(y)).c[j] / curve.scales.gap[j])


class _GivenUpError(Exception):
    """Too many tangents have been asked for."""


def _solved(matrix: Array, right: Array) -> Array:
    """Solution of a square system, the smallest one by least squares where it is singular."""
    try:
        solution = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        solution = np.full(len(right), np.nan)
    return np.asarray(solution if np.all(np.isfinite(solution)) else np.linalg.lstsq(matrix, right, rcond=None)[0])


def _bound(n: int, level: float, side: float) -> Callable[[float, Array], float]:
    return lambda _, y: side * (level - float(y[n]))
