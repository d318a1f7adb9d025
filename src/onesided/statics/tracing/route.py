"""A path under way, whatever moves it on: points accepted, events named and left along one of their rays."""

import math
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import replace

import numpy as np

from onesided.base.tolerances import EPS, QUARTER_DIGITS
from onesided.base.types import Array, Status
from onesided.results import Kind, Ray, Rays
from onesided.statics.curves.curve import CurvePoint
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.rays.naming import Named, name_idle, name_kink, name_point
from onesided.statics.rays.rays import rays_at
from onesided.statics.tracing.cells import ControlCells, across, crossing
from onesided.statics.tracing.event_log import CloseForks, EventLog
from onesided.statics.tracing.hits import Hit, Trigger
from onesided.statics.tracing.legs import Home, arriving, goes_on, held, start_leg, taken_over, told_apart, two_rays
from onesided.statics.tracing.path_method import LegPosition, Origin, Passage, PathItem
from onesided.statics.tracing.quiet import TOGETHER, TRAIL, LegMargins, Quiet, outdated, remeasured
from onesided.statics.tracing.singular import next_singular

CREEPS = 0.1  # share of the first step: a path whose steps are shorter on average does not get on
CREPT = "its steps stayed much shorter than the first: rounding hides where it leads, or very many events are close"
LAST = {Kind.continuum: Status.not_unique, Kind.jammed: Status.jammed}  # how a path ends at an event of this kind
JUMPS = "the stiffness jumps"
BEYOND_A_KINK = "branches beyond the kink of the loading"
ROUNDINGS = 4.0  # of a point that is located
RETURNS = 3  # points after which a path may have come back to its start
Outcome = tuple[Status | None, CurvePoint | None]


class Route:
    """The legs of a path so far; where its events are is found by those who move it on.

    Parameters
    ----------
    origin : place, limits and method.
    ray : direction in which to leave the place.
    position : where the path is; it is moved on from outside.
    """

    def __init__(self, origin: Origin, ray: Ray, position: LegPosition) -> None:
        self.origin, self.watch, self.position = origin, origin.watch, position
        self.log = EventLog(origin, position)
        self.forks = CloseForks(position, self.log, self.watch.tolerances)
        self.sides: dict[str, float] = {}  # signs just beyond of user functions that are zero at the last point
        self.cells = ControlCells(origin.where.system, origin.where.sizes.control)
        self.margins = LegMargins(set())
        self.leave(*self._set_out(origin.where, ray), 0.0)
        position.step = self.first_step()
        self.home = Home(position.curve, position.point, self.watch.tolerances)

    @property
    def first(self) -> PathItem:
        """Start of the path, as an item of the run."""
        return PathItem(self.home.curve, self.home.point, 0)

    def _set_out(self, where: Standpoint, ray: Ray) -> tuple[Standpoint, Ray]:
        """The start and its ray; at a kink of p those of the side to which the ray leads."""
        if not self.cells or not ray.p_sign:
            return where, ray
        p = float(where.x[where.system.n])
        cell = self.position.cell = self.cells.around(p, ray.p_sign)
        beyond, other = across(where, cell, ray.p_sign, ray.rows) if self.cells.near(p) else (where, ray)
        return (beyond, other) if other is not None else (where, ray)

    def leave(self, where: Standpoint, ray: Ray, s: float) -> None:
        """Start a new leg at a place along a ray; inertia is unknown until its first regular point."""
        self.log.degree = None
        self.forks.leave()
        self.margins = LegMargins({where.system.constraint_names.index(name) for name in ray.idle})
        curve, point = start_leg(where, ray, s)
        self.position.leave(curve, point, None if ray.ahead is None else curve.scaled(ray.ahead))

    def first_step(self) -> float:
        """Length of the first step of a leg: tiny where the start is singular: nothing can be compared there.

        Another mode that is about to vanish is not to be passed by it.
        """
        first, point = self.position.first_step, self.position.point
        if point.negative >= 0:
            return first
        return min(first * first, 0.25 * next_singular(self.position.curve, point, self.watch.tolerances))

    def accept(self, b: CurvePoint) -> Iterator[PathItem]:
        """Go on to b, where nothing has happened on the way."""
        position, log = self.position, self.log
        if log.degree is None:
            log.degree = b.negative
        log.neutral = b.neutral
        yield from log.release(log.degree)
        position.move(b)
        self.margins.pass_by(position.curve, b, self.watch.tolerances)
        position.points += 1
        self.sides = {}
        item = PathItem(position.curve, b, log.degree)
        self._measure_gaps(position.gap_sizes)
        yield item

    def stroll(self) -> Iterator[Passage]:
        """Go on to points that are known ahead, as far as nothing happens on the way to them."""
        position, log, curve = self.position, self.log, self.position.curve
        taken = position.calm(lambda points, first, last: self.home.until(curve, points, first, last))
        if taken is None:
            return
        points, gap_sizes = taken
        self.margins.pass_by(curve, position.point, self.watch.tolerances)
        log.neutral = position.point.neutral
        passage = Passage(curve, points, log.degree or 0)
        self._measure_gaps(gap_sizes)
        yield passage

    def _measure_gaps(self, sizes: Array | None) -> None:
        """Measure gaps anew whose sizes have become others."""
        old, point = self.position.curve, self.position.point
        other = None if sizes is None else outdated(old, point.c, sizes)
        if sizes is not None and other is not None and other.any():
            curve = old.with_gaps(np.where(other, sizes, old.scales.gap))
            self.position.measure(curve, remeasured(old, curve, point))
            self.margins.trail = deque((remeasured(old, curve, point) for point in self.margins.trail), TRAIL)

    def meet(
        self, hit: Hit, c: CurvePoint, b: CurvePoint, *, bifurcates: bool = False
    ) -> Generator[PathItem, None, Outcome]:
        """Name the event at c and go on along a ray that leaves it; returns (status or None, next point or None).

        A limit point is simple unless it is known that it `bifurcates`.
        """
        position, log = self.position, self.log
        yield from log.settle(c, b)
        c = self._snap(c)
        there = place(self.origin.where.system, c.x, position.curve.sizes, self.watch.tolerances)
        where = held(there, position.curve, c)
        if hit.trigger in {Trigger.closing, Trigger.opening}:
            where = told_apart(where, position.curve, c, hit.row)
        position.points += 1
        if hit.trigger in {Trigger.bound, Trigger.user}:
            return (yield from self.pass_by(hit, c, where, b.s))
        self._keep_sides(c)
        simple = hit.trigger is Trigger.limit and not len(where.weak) and not bifurcates
        rays = self._rays(where, c, b, simple=simple)
        named = name_point(where, rays, position.curve, c)
        if simple and self._turns_sharply(c, b):
            named = replace(named, kind=Kind.corner_limit, detail=JUMPS)
        if named.followed is not None and (named.kind is None or self._has_left(hit, named, rays[named.followed])):
            self._go_on(where, rays[named.followed], c.s)
            return None, None
        log.remember(named, rays, where, c, b.s)
        alone = hit.trigger is Trigger.singular and not rays.cluster
        if alone:
            self.forks.arrive(c, b)
        log.events += 1
        if named.followed is None:
            position.point = c
            return LAST.get(named.kind or Kind.end, Status.path_ended), None
        if log.events == self.origin.max_events:
            return Status.enough, None
        if simple:
            log.degree = b.negative
            yield from log.release(b.negative)
            sense = float(rays[named.followed].p_sign)
            position.move(replace(c, negative=b.negative, orientation=b.orientation, sense=sense))
            return None, b
        self._go_on(where, rays[named.followed], c.s)
        if alone and not position.curve.large:
            self.forks.expect()
        return None, None

    def _turns_sharply(self, c: CurvePoint, b: CurvePoint) -> bool:
        """Whether p turns and nowhere is its slope zero, by more than the rounding of the point explains.

        Where a path starts beside a limit point, the size of p is so small that the slope changes within a rounding.
        """
        a, n = self.position.point, self.position.curve.n
        rounded = ROUNDINGS * EPS * float(np.max(np.abs(c.y))) * abs(float(b.t[n] - a.t[n]))
        return bool((abs(float(c.t[n])) - QUARTER_DIGITS) * (b.s - a.s) > rounded)

    def _has_left(self, hit: Hit, named: Named, ray: Ray) -> bool:
        """Whether a contact is said to open that this leg has left already: its gap is still zero but for rounding."""
        curve, names = self.position.curve, self.origin.where.system.constraint_names
        again = hit.trigger is Trigger.closing and named.kind is Kind.opens and named.constraints == (names[hit.row],)
        return again and hit.row not in self.margins.idle and ray.rows == tuple(curve.rows.tolist())

    def _go_on(self, where: Standpoint, ray: Ray, s: float) -> None:
        """Leave an event along a ray, by steps no longer than the last."""
        self.leave(where, ray, s)
        self.position.step = min(self.position.step, self.first_step())

    def _keep_sides(self, c: CurvePoint) -> None:
        """Keep the signs of user functions that are zero at an event: they are still to be reported."""
        n, a = self.position.curve.n, self.position.point
        for name in self.watch.user:
            if name not in self.sides and self.watch.value(name, c.x, n) == 0.0:
                self.sides[name] = self.watch.value(name, a.x, n)

    def _rays(self, where: Standpoint, c: CurvePoint, b: CurvePoint, *, simple: bool) -> Rays:
        """The rays that leave an event at c on the way to b; of a simple limit point there are two."""
        position = self.position
        beyond = position.point.sense, b.sense, min(self.log.degree or 0, b.negative)
        rays = Rays(two_rays(where, position.curve, c, beyond)) if simple else rays_at(where)
        if self.cells.near(float(c.x[position.curve.n])):  # only the rays of this cell are known
            return replace(rays, complete=False, reason=BEYOND_A_KINK)
        return rays

    def meet_idle(self, quiet: Quiet, b: CurvePoint) -> Generator[PathItem, None, Status | None]:
        """Constraints begin or cease to be idle; the path goes on as it was, or with others that carry."""
        position, log, curve = self.position, self.log, self.position.curve
        c = arriving(curve, position.point, quiet.point)
        where = place(self.origin.where.system, c.x, curve.sizes, self.watch.tolerances)
        back, on = two_rays(where, curve, c, (c.sense, c.sense, min(log.degree or 0, b.negative)))
        names, idle = where.system.constraint_names, self.margins.idle ^ set(quiet.rows)
        ahead: Ray | None = replace(goes_on(curve, on, quiet), idle=tuple(names[row] for row in sorted(idle)))
        if quiet.crosses(curve):
            located = TOGETHER if self.margins.idle & set(quiet.rows) else QUARTER_DIGITS
            ahead = taken_over(where, curve, quiet, on.p_sign, located=located)
        if ahead is None and quiet.beyond.y is quiet.point.y:  # nothing is known beyond
            return Status.step_too_small
        if ahead is None:  # other branches may leave here: that is to be decided from derivatives
            was_idle = self.margins.idle & set(quiet.rows)
            self.margins.idle.difference_update(quiet.rows)
            return (yield from self.meet(quiet.hit(curve), quiet.beyond if was_idle else quiet.point, b))[0]
        yield from log.settle(c, b)
        detail, changed = name_idle(where, set(curve.rows.tolist()), self.margins.idle, ahead)
        kind = Kind.corner_limit if back.p_sign * ahead.p_sign > 0 else Kind.idle
        if quiet.rows or kind is Kind.corner_limit:  # a path that merely bends where stiffness jumps has no event
            position.points += 1
            log.events += 1
            log.remember(Named(kind, 0, 1, changed, detail or JUMPS), Rays((back, ahead)), where, c, b.s)
        if log.events == self.origin.max_events:
            return Status.enough
        self.leave(where, ahead, c.s)
        position.point = replace(position.point, negative=-1, orientation=0.0)  # the stiffness may jump here
        position.step, position.located = min(position.step, self.first_step()), None
        position.forget()
        return None

    def kink(self, b: CurvePoint) -> float | None:
        """The kink of p at which a step has arrived."""
        cell = self.position.cell
        return None if cell is None else cell.kink_at(float(b.x[self.position.curve.n]), b.sense)

    def turn(self, b: CurvePoint) -> Generator[PathItem, None, Status | None]:
        """Go on from a kink of p in the next cell; a bound at the kink ends the path."""
        position, log, curve = self.position, self.log, self.position.curve
        yield from log.settle(b, b)
        sense, x = b.sense, b.x.copy()
        x[curve.n] = self.kink(b)
        c = replace(b, x=x, y=curve.scaled(x))
        where = place(self.origin.where.system, b.x, curve.sizes, self.watch.tolerances)
        position.points += 1
        if not self.watch.p_bounds[0] < x[curve.n] < self.watch.p_bounds[1]:
            return (yield from self.pass_by(Hit(Trigger.bound, 1.0), c, where, b.s))[0]
        back, _ = two_rays(where, curve, b, (sense, sense, log.degree or 0))
        cell = self.cells.around(float(x[curve.n]), sense)
        found = crossing(where, cell, sense, tuple(curve.rows.tolist()))
        on = next(iter((*found.leading, *found.returning)), None)
        rays = Rays((back, *found.leading, *found.returning))
        if self._folds_at(b, float(c.y[curve.n] - b.y[curve.n])):
            rays = replace(rays, complete=False, reason=BEYOND_A_KINK)
        log.remember(name_kink(where, back, on), rays, found.beyond, c, b.s)
        if found.leading or on is None:
            position.cell = cell
        if on is None:
            position.point = c
            return Status.path_ended
        self.leave(found.beyond if found.leading else where, on, b.s)
        position.step, position.located = self.first_step(), None  # the cell left behind may be narrower than any step
        return None

    def _folds_at(self, b: CurvePoint, room: float) -> bool:
        """Whether p would turn about where it has come to a kink, which is known to within some `room` of scaled p."""
        curve = self.position.curve
        rise = 0.5 * abs(float(b.t[curve.n])) * next_singular(curve, b, self.watch.tolerances)
        return rise <= ROUNDINGS * abs(room)

    def _snap(self, c: CurvePoint) -> CurvePoint:
        """Take p for a bound or for zero where they differ by round-off only."""
        curve = self.position.curve
        n, unit = curve.n, curve.unit[curve.n]
        for value in (*self.watch.p_bounds, 0.0):
            if c.x[n] == value:
                return c
            if math.isfinite(value) and abs(c.x[n] - value) <= 8 * EPS * max(abs(value), unit):
                x = c.x.copy()
                x[n] = value
                return replace(c, x=x, y=curve.scaled(x))
        return c

    def pass_by(self, hit: Hit, c: CurvePoint, where: Standpoint, end: float) -> Generator[PathItem, None, Outcome]:
        """Bounds end the path, user events do not change it."""
        kind, detail = (Kind.bound, "") if hit.trigger is Trigger.bound else (Kind.user, hit.name)
        self.log.remember(Named(kind, None, None, (), detail), Rays(()), where, c, end)
        yield from self.log.release(self.log.degree)
        if hit.trigger is Trigger.bound:
            self.position.move(c)
            return Status.bound_reached, None
        self.position.move(self._as_before(c))
        self.sides[hit.name] = hit.side
        return None, None

    def _as_before(self, c: CurvePoint) -> CurvePoint:
        """The point with the inertia and the senses of the last one: nothing has happened on the way to it."""
        a, curve = self.position.point, self.position.curve
        if a.negative < 0 and c.s > a.s:
            negative, neutral = curve.modes(curve.evaluate(c.x))
            return replace(c, negative=negative, neutral=neutral, sense=c.sense or a.sense)
        return replace(c, negative=a.negative, neutral=a.neutral, orientation=a.orientation, sense=a.sense)

    def returns(self, b: CurvePoint) -> CurvePoint | None:
        """The start of the path, if the way to b leads through it again."""
        position = self.position
        return self.home.between(position.curve, position.point, b) if position.points >= RETURNS else None

    def enough(self) -> Status | None:
        """Whether the path has points enough, or is far away."""
        if self.position.points >= self.origin.most:
            return Status.enough
        return Status.far if self.home.is_far(self.position.point.y) else None

    def end(self, status: Status, note: str = "") -> Iterator[PathItem]:
        """The last event and the end of the path."""
        position, log = self.position, self.log
        yield from log.release(None)
        if status is Status.enough and self.origin.max_points is None and position.points >= self.origin.most:
            control, most = self.origin.where.system.control, self.origin.most
            note = f"nothing had ended it after {most} points: give a larger `max_points`, or bounds of {control}"
        if status is Status.enough and position.point.s < CREEPS * position.points * position.first_step:
            note = "; ".join(filter(None, (note, CREPT)))
        yield PathItem(position.curve, position.point, log.degree or 0, status=status, note=note)
