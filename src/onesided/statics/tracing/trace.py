"""Tracing: predictor, corrector, step control, events. `Tracer.run` does the work, piece by piece."""

import math
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import replace

import numpy as np

from onesided.base.tolerances import EPS, QUARTER_DIGITS
from onesided.base.types import Array, Status
from onesided.results import Event, Kind, Ray, Rays
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.curves.spectrum import hidden, negative_modes
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.rays.naming import Named, name_idle, name_kink, name_point, with_another
from onesided.statics.rays.rays import rays_at
from onesided.statics.tracing.cells import ControlCells, across, crossing
from onesided.statics.tracing.fork_ahead import fork_ahead
from onesided.statics.tracing.gap_measures import outdated, remeasured
from onesided.statics.tracing.hits import Hit, Trigger, find_hits, locate
from onesided.statics.tracing.home import Home
from onesided.statics.tracing.inside import between
from onesided.statics.tracing.legs import arriving, goes_on, relieves, start_leg, taken_over, told_apart, two_rays
from onesided.statics.tracing.pieces import Origin, Passage, PathItem
from onesided.statics.tracing.quiet import TOGETHER, TRAIL, Change, LegMargins, Quiet
from onesided.statics.tracing.singular import modes_beyond, next_singular, refine_singular
from onesided.statics.tracing.steps import Walker
from onesided.statics.tracing.stretch import Ahead, Located

POINT_LIMIT = 20_000  # points of a path that nothing else ends
CROWD = 30  # so many events or failures in a row without progress end a path
FAR = EPS**-0.75  # scaled distance from its start beyond which a path is no longer followed
LAST = {Kind.continuum: Status.not_unique, Kind.jammed: Status.jammed}  # how a path ends at an event of this kind
Outcome = tuple[Status | None, CurvePoint | None]


class Tracer(Walker):
    """A running trace; made for one run.

    Parameters
    ----------
    origin : place, limits and method.
    ray : direction in which to leave the place.
    """

    def __init__(self, origin: Origin, ray: Ray) -> None:
        super().__init__(origin.method, origin.watch, origin.max_points or POINT_LIMIT)
        self.origin = origin
        self.degree: int | None = None
        self.expected: int | None = None  # degree just beyond the singular point at which a leg starts
        self.refused: CurvePoint | None = None  # a first step from there to where it is another one
        self.pending: PathItem | None = None
        self.events = 0
        self.crowd = 0
        self.taken_over = -math.inf  # arc length at which idle constraints were last asked to carry
        self.neutral = False
        self.sides: dict[str, float] = {}  # of user functions that are zero at the last point
        self.cells = ControlCells(origin.where.system, origin.where.sizes.control)
        self.curve, self.point = self._leave(*self._set_out(origin.where, ray), 0.0)
        self.step = self._first_step()
        self._home = Home(self.curve, self.point, self.watch.tolerances)
        self._origin = self.point.y[: self.curve.n + 1]

    def run(self) -> Iterator[PathItem]:
        """Points and events in order, until something ends the path; the last item carries the status."""
        return (item for piece in self.pieces() for item in piece.items())

    def pieces(self) -> Iterator[PathItem | Passage]:
        """The same with points in a row together where they are known together."""
        status, note, b = None, "", self._advance()
        while status is None:
            candidate: CurvePoint | None = None
            corner = self._corner() if b is None else None
            if corner is not None:
                status = yield from self._meet_idle(corner, corner.beyond)
                self.step = self._first_step()
                b = self._advance() if status is None else None
                continue
            b = b or self._join_another() or self._fork()
            if b is None:
                status, note = self._why_stuck()
                break
            hit, c, quiet = self._first_change(b)
            home = None if c is None else self._passes_home(hit, c)
            if quiet is not None and quiet.change is Change.dips:
                candidate, self.ahead, self.located = quiet.point, None, None
            elif home is not None:
                yield from self._accept(home)
                status = Status.closed
            elif quiet is not None and quiet.change is not Change.touches:
                status = yield from self._meet_idle(quiet, b)
            elif hit is None and self._kink(b) is not None:
                status = yield from self._turn(b)
            elif hit is None:
                yield from self._accept(b)
                if self.ahead is not None:
                    yield from self._stroll(self.ahead)
                status = self._enough(self.point)
            elif self._crowded(c):
                status, note = Status.step_too_small, f"events crowd together {self._why_stuck()[1]}"
            elif c is None:  # the step had left its branch, or holds more than one event: look closer
                self.step, self.ahead = 0.25 * (b.s - self.point.s), None
            else:
                status, candidate = yield from self._meet(hit, c, b)
                status = status or self._after_event()
                self.ahead = self.ahead if candidate else None  # points beyond are those of the same leg, or of no use
            b = b if status is not None else candidate or self._advance()
        yield from self._end(status, note)

    def _first_change(self, b: CurvePoint) -> tuple[Hit | None, CurvePoint | None, Quiet | None]:
        """The first thing to happen on the way to b: what it is, where (b if nothing happens), and whether quietly."""
        hits = [hit for hit in self._hits(b) if self._told(hit)]
        if not hits and self._passed_another(b):
            return Hit(Trigger.singular, 0.0), None, None
        hit, c = self._earliest(b, hits) if hits else (None, b)
        quiet = None if c is None else self.margins.find(self.curve, self.point, c, self.watch.tolerances)
        if quiet is None and hit is not None and c is not None and hit.trigger is Trigger.closing:
            quiet = relieves(self.origin.where, self.curve, hit.row, c, b)
        return (hit, c, None) if quiet is None else (quiet.hit(self.curve), quiet.point, quiet)

    def _corner(self) -> Quiet | None:
        """A corner of the path at the last point, at which a constraint closes to stay idle, or idle ones take over."""
        if self.curve.large or not len(self.point.margins):
            return None
        here = self.curve, self.point, self.method.first_step**2
        corner = self.margins.at_corner(*here)
        if corner is None and self.point.s > self.taken_over:  # once at a place: it would go to and fro
            corner, self.taken_over = self.margins.not_carried_on(*here), self.point.s
        return corner

    def _fork(self) -> CurvePoint | None:
        """A fork ahead of a path that is lost in rounding: the end of a step that leads there at once."""
        b = None if self.curve.large else fork_ahead(self.curve, self.point, self.watch.tolerances)
        if b is not None:
            self.located = Located(Trigger.singular, b, self.curve.evaluate(b.x))
            self.step, self.ahead = self._first_step(), None
        return b

    def _passes_home(self, hit: Hit | None, c: CurvePoint) -> CurvePoint | None:
        """The start of the path, where it lies on the way to c; at an event that is reported first."""
        home = self._returns(c)
        return None if home is not None and hit is not None and self._home.same(home.y, c.y) else home

    def _crowded(self, c: CurvePoint | None) -> bool:
        """Whether there have been too many events or failures without progress."""
        self.crowd = self.crowd + 1 if c is None or c.s - self.point.s < self.method.first_step**2 else 0
        return self.crowd > max(CROWD, 2 * len(self.curve.scales.gap))  # a fine mesh lies down node by node

    def _after_event(self) -> Status | None:
        """Whether the path has come home with an event, or is long enough."""
        if self.points >= 3 and self._home.is_at(self.curve, self.point):
            return Status.closed
        return Status.enough if self.points >= self.most else None

    def _set_out(self, where: Standpoint, ray: Ray) -> tuple[Standpoint, Ray]:
        """The start and its ray; at a kink of p those of the side to which the ray leads."""
        if not self.cells or not ray.p_sign:
            return where, ray
        p = float(where.x[where.system.n])
        self.cell = self.cells.around(p, ray.p_sign)
        beyond, other = across(where, self.cell, ray.p_sign, ray.rows) if self.cells.near(p) else (where, ray)
        return (beyond, other) if other is not None else (where, ray)

    def _passed_another(self, b: CurvePoint) -> bool:
        """Whether the first step from a singular point leads past another one; one that is too close belongs to it."""
        if self.expected in {None, b.negative} or b.negative < 0 or self.degree is not None:
            return False
        self.refused = self.refused or b
        if b.s - self.point.s > self.method.first_step**4:
            return True
        self._join_another()
        return False

    def _came_past_another(self, c: CurvePoint) -> bool:
        """Whether there is another degree just before a singular point than on the way to it."""
        if self.curve.large or self.point.negative < 0:
            return False
        return modes_beyond(self.curve, c.x, -c.t, self.watch.tolerances) not in {None, self.degree}

    def _join_another(self) -> CurvePoint | None:
        """Tell the last singular point and the next as one; the first step past both of them."""
        b, self.refused, self.expected = self.refused, None, None
        if b is not None and self.pending is not None and self.pending.event is not None:
            self.pending.event = with_another(self.pending.event)
        return b

    def _kink(self, b: CurvePoint) -> float | None:
        """The kink of p at which a step has arrived."""
        return None if self.cell is None else self.cell.kink_at(float(b.x[self.curve.n]), b.sense)

    def _turn(self, b: CurvePoint) -> Generator[PathItem, None, Status | None]:
        """Go on from a kink of p in the next cell; a bound at the kink ends the path."""
        yield from self._settle_degree(b, b)
        kink, sense, system = self._kink(b), b.sense, self.origin.where.system
        x = b.x.copy()
        x[self.curve.n] = kink
        c = replace(b, x=x, y=self.curve.scaled(x))
        where = place(system, b.x, self.curve.sizes, self.watch.tolerances)
        self.points += 1
        if not self.watch.p_bounds[0] < x[self.curve.n] < self.watch.p_bounds[1]:
            return (yield from self._pass(Hit(Trigger.bound, 1.0), c, where, b.s))[0]
        back, _ = two_rays(where, self.curve, b, (sense, sense, self.degree or 0))
        kept, self.cell = self.cell, self.cells.around(float(x[self.curve.n]), sense)
        found = crossing(where, self.cell, sense, tuple(self.curve.rows.tolist()))
        on = next(iter((*found.leading, *found.returning)), None)
        self._remember(name_kink(where, back, on), Rays((back, *found.leading, *found.returning)), found.beyond, c, b.s)
        if on is None:
            self.point = c
            return Status.path_ended
        if not found.leading:
            self.cell = kept
        self.curve, self.point = self._leave(found.beyond if found.leading else where, on, b.s)
        self.step, self.located = self._first_step(), None  # the cell left behind may be narrower than any step
        return None

    def _leave(self, where: Standpoint, ray: Ray, s: float) -> tuple[Curve, CurvePoint]:
        """Start a new leg at a place along a ray; inertia is unknown until its first regular point."""
        self.previous = self.earlier = self.middle = self.proposed = None
        self.degree = self.expected = self.refused = None
        self.margins = LegMargins({where.system.constraint_names.index(name) for name in ray.idle})
        curve, point = start_leg(where, ray, s)
        self.landing = None if ray.ahead is None else curve.scaled(ray.ahead)
        return curve, point

    def _first_step(self) -> float:
        """Length of the first step of a leg: tiny where the start is singular: nothing can be compared there.

        Another mode that is about to vanish is not to be passed by it.
        """
        first = self.method.first_step
        if self.point.negative >= 0:
            return first
        return min(first * first, 0.25 * next_singular(self.curve, self.point, self.watch.tolerances))

    def _accept(self, b: CurvePoint) -> Iterator[PathItem]:
        if self.degree is None:
            self.degree = b.negative
        self.neutral = b.neutral
        yield from self._release(self.degree)
        self._move(b)
        self.margins.pass_by(self.curve, b, self.watch.tolerances)
        self.points, self.sides = self.points + 1, {}
        item = PathItem(self.curve, b, self.degree)
        self._measure_gaps(self.gap_sizes)
        yield item

    def _measure_gaps(self, sizes: Array | None) -> None:
        """Measure gaps anew whose sizes have become others."""
        old, other = self.curve, None if sizes is None else outdated(self.curve, self.point.c, sizes)
        if sizes is not None and other is not None and other.any():
            self.curve = old.with_gaps(np.where(other, sizes, old.scales.gap))
            self.point = remeasured(old, self.curve, self.point)
            self.margins.trail = deque((remeasured(old, self.curve, point) for point in self.margins.trail), TRAIL)

    def _stroll(self, ahead: Ahead) -> Iterator[Passage]:
        """Take the points of a compiled stretch on the way to which nothing happens, as far as they come in a row."""
        first, last = self.taken, self._on_the_way(ahead, self.taken, ahead.calm_until(self.taken))
        if last <= first:
            return
        for i in range(max(first, last - 3), last):
            self.proposed = ahead.middle(i)
            self._move(ahead.points.point(i))
        self.margins.pass_by(self.curve, self.point, self.watch.tolerances)
        self._take(last)
        self.points += last - first
        self.neutral = self.point.neutral
        passage = Passage(self.curve, ahead.points.pick(slice(first, last)), self.degree or 0)
        self._measure_gaps(ahead.gap_sizes[last - 1])
        yield passage

    def _on_the_way(self, ahead: Ahead, first: int, last: int) -> int:
        """Number of the first of these points that is far away or on a step past the start of the path, or `last`."""
        points, before = ahead.points, slice(first - 1, last - 1)
        special = abs(points.y[first:last, : len(self._origin)] - self._origin).max(axis=1) > FAR
        home = self._home.on(self.curve)
        if home is not None:
            to_home = ((home[0] - points.y[before]) * points.t[before]).sum(axis=1)
            special |= (to_home >= 0) & (to_home <= points.s[first:last] - points.s[before])
        return first + int(special.argmax()) if special.any() else last

    def _release(self, after: int | None) -> Iterator[PathItem]:
        """Hand out the last event once the degree of instability beyond it is known."""
        if self.pending is not None and self.pending.event is not None:
            self.pending.event = replace(self.pending.event, instability_after=after, neutral=self.neutral)
            yield self.pending
        self.pending = None

    def _hits(self, b: CurvePoint) -> list[Hit]:
        """What happens on the way to b; a singular point that was located is among it, whatever the signs say."""
        hits = find_hits(self.curve, self.point, b, self.watch, self.sides)
        known = self.located
        if known is not None and known.trigger is Trigger.singular:
            others = [hit for hit in hits if hit.trigger not in {Trigger.singular, Trigger.limit}]
            fraction = (known.point.s - self.point.s) / (b.s - self.point.s)
            hits = sorted([*others, Hit(Trigger.singular, fraction)], key=lambda hit: hit.fraction)
        return hits

    def _earliest(self, b: CurvePoint, hits: list[Hit]) -> tuple[Hit, CurvePoint | None]:
        """Locate the first event of the step: nothing else may happen before it."""
        a = self.point
        found: tuple[Hit, CurvePoint | None] = hits[0], None
        known, self.located = self.located, None
        for hit in hits:
            if known is not None and hit.trigger is known.trigger:
                c: CurvePoint | None = known.point
                self.curve.system.keep(known.point.x, known.e)
            elif hit.name in self.sides:  # it changes its sign at a, or once more close to it, which a short step tells
                c = replace(a) if self._value(hit.name, a) == 0.0 else None
            else:
                c = locate(self.curve, a, b, hit, self.watch)
            if c is not None:
                found = hit, c
                break
        for _ in range(20):
            sooner = None if found[1] is None else self._sooner(found[0], found[1])
            if sooner is None:
                break
            found = sooner
        return found

    def _sooner(self, hit: Hit, c: CurvePoint) -> tuple[Hit, CurvePoint | None] | None:
        """An event before the one at c. Smooth events count only where c is none itself: they are close as it is.

        A singular point that was clearly passed but not located comes without a point: it asks for shorter steps.
        """
        a, smooth = self.point, {Trigger.limit, Trigger.singular}
        if c.s - a.s <= self.watch.tolerances.minimum_step:
            return None
        for other in find_hits(self.curve, a, c, self.watch, self.sides):
            same = (other.trigger, other.row, other.name) == (hit.trigger, hit.row, hit.name)
            if not same and not smooth >= {other.trigger, hit.trigger}:
                found = locate(self.curve, a, c, other, self.watch)
                if found is not None and float((found.y - c.y) @ c.t) < 0:
                    return other, found
                if found is None and other.trigger is Trigger.singular and self._clearly_passed(c):
                    return other, None
        return None

    def _clearly_passed(self, c: CurvePoint) -> bool:
        """Whether the number of negative modes at c differs from that before by more than rounding can do."""
        return 0 <= self.point.negative != negative_modes(self.curve.measured_at(c.x), c.x, self.watch.tolerances)

    def _told(self, hit: Hit) -> bool:
        """Whether a hit is an event as it is: margins of idle constraints are looked at by themselves."""
        return hit.row not in self.margins.idle

    def _meet_idle(self, quiet: Quiet, b: CurvePoint) -> Generator[PathItem, None, Status | None]:
        """Constraints begin or cease to be idle; the path goes on as it was, or with others that carry."""
        c = arriving(self.curve, self.point, quiet.point)
        where = place(self.origin.where.system, c.x, self.curve.sizes, self.watch.tolerances)
        back, on = two_rays(where, self.curve, c, (c.sense, c.sense, min(self.degree or 0, b.negative)))
        names, idle = where.system.constraint_names, self.margins.idle ^ set(quiet.rows)
        ahead: Ray | None = replace(goes_on(self.curve, on, quiet), idle=tuple(names[row] for row in sorted(idle)))
        if quiet.crosses(self.curve):
            located = TOGETHER if self.margins.idle & set(quiet.rows) else QUARTER_DIGITS
            ahead = taken_over(where, self.curve, quiet, on.p_sign, located=located)
        if ahead is None and quiet.beyond.y is quiet.point.y:  # nothing is known beyond
            return Status.step_too_small
        if ahead is None:  # other branches may leave here: that is to be decided from derivatives
            was_idle = self.margins.idle & set(quiet.rows)
            self.margins.idle.difference_update(quiet.rows)
            return (yield from self._meet(quiet.hit(self.curve), quiet.beyond if was_idle else quiet.point, b))[0]
        yield from self._settle_degree(c, b)
        detail, changed = name_idle(where, set(self.curve.rows.tolist()), self.margins.idle, ahead)
        self.points, self.events = self.points + 1, self.events + 1
        kind = Kind.corner_limit if back.p_sign * ahead.p_sign > 0 else Kind.idle
        self._remember(Named(kind, 0, 1, changed, detail), Rays((back, ahead)), where, c, b.s)
        if self.events == self.origin.max_events:
            return Status.enough
        self.curve, self.point = self._leave(where, ahead, c.s)
        self.point = replace(self.point, negative=-1, orientation=0.0)  # the stiffness may jump here
        self.step, self.ahead, self.located = min(self.step, self._first_step()), None, None
        return None

    def _beyond(self, b: CurvePoint) -> tuple[float, float, int]:
        """Senses of p before and beyond an event on the way to b, and the lower degree of instability."""
        return self.point.sense, b.sense, min(self.degree or 0, b.negative)

    def _settle_degree(self, c: CurvePoint, b: CurvePoint) -> Iterator[PathItem]:
        """Say what the degree of instability is on the way to c, where that is not known yet."""
        if self.degree is None:
            middle = between(self.curve, self.point, c, 0.5) if c.s > self.point.s else b
            self.degree = middle.negative if middle is not None else c.negative
        yield from self._release(self.degree)

    def _meet(self, hit: Hit, c: CurvePoint, b: CurvePoint) -> Generator[PathItem, None, Outcome]:
        """Name the event at c and go on along a ray that leaves it; returns (status or None, next point or None)."""
        yield from self._settle_degree(c, b)
        c, bifurcates = self._sharpen(hit, c, b)
        c = self._snap(c)
        where = place(self.origin.where.system, c.x, self.curve.sizes, self.watch.tolerances)
        if hit.trigger in {Trigger.closing, Trigger.opening}:
            where = told_apart(where, self.curve, c, hit.row)
        self.points += 1
        if hit.trigger in {Trigger.bound, Trigger.user}:
            return (yield from self._pass(hit, c, where, b.s))
        zero = [name for name in self.watch.user if name not in self.sides and self._value(name, c) == 0.0]
        self.sides |= {name: self._value(name, self.point) for name in zero}  # still to be reported
        simple = hit.trigger is Trigger.limit and not len(where.weak) and not bifurcates
        rays = Rays(two_rays(where, self.curve, c, self._beyond(b))) if simple else rays_at(where)
        if self.cells.near(float(c.x[self.curve.n])):  # only the rays of this cell are known
            rays = replace(rays, complete=False, reason="branches beyond the kink of the loading")
        named = name_point(where, rays, self.curve, c)
        if named.kind is None and named.followed is not None:
            self.curve, self.point = self._leave(where, rays[named.followed], c.s)
            self.step = min(self.step, self._first_step())
            return None, None
        self._remember(named, rays, where, c, b.s)
        if hit.trigger is Trigger.singular and not rays.cluster and self._came_past_another(c):
            self.refused = b
            self._join_another()
        self.events += 1
        if named.followed is None:
            self.point = c
            return LAST.get(named.kind or Kind.end, Status.path_ended), None
        if self.events == self.origin.max_events:
            return Status.enough, None
        if simple:
            sense = float(rays[named.followed].p_sign)
            self.degree = b.negative
            yield from self._release(b.negative)
            self._move(replace(c, negative=b.negative, orientation=b.orientation, sense=sense))
            return None, b
        self.curve, self.point = self._leave(where, rays[named.followed], c.s)
        self.step = min(self.step, self._first_step())
        if hit.trigger is Trigger.singular and not self.curve.large and not rays.cluster:
            self.expected = modes_beyond(self.curve, self.point.x, self.point.t, self.watch.tolerances)
        return None, None

    def _snap(self, c: CurvePoint) -> CurvePoint:
        """Take p for a bound or for zero where only round-off tells them apart."""
        n, unit = self.curve.n, self.curve.unit[self.curve.n]
        for value in (*self.watch.p_bounds, 0.0):
            if c.x[n] == value:
                return c
            if math.isfinite(value) and abs(c.x[n] - value) <= 8 * EPS * max(abs(value), unit):
                x = c.x.copy()
                x[n] = value
                return replace(c, x=x, y=self.curve.scaled(x))
        return c

    def _sharpen(self, hit: Hit, c: CurvePoint, b: CurvePoint) -> tuple[CurvePoint, bool]:
        """A limit point at which the bordered matrix is nearly singular may be a bifurcation seen from its branch."""
        regular = not self.curve.large and c.volume > max(self.point.volume, b.volume) - 1.0
        if hit.trigger is not Trigger.limit or regular:
            return c, False
        here, before, after = (abs(self.curve.distance_to_singular(point)) for point in (c, self.point, b))
        near = max(before, after)  # as small all along the step: badly scaled, but no singular point of its own
        if here > max(0.05 * near, min(0.1 * self.method.first_step, 0.5 * near)):
            return c, False
        exact = refine_singular(self.curve, c, b.s - self.point.s, self.watch.tolerances)
        if exact is None or float((exact.y - self.point.y) @ self.point.t) <= 0.01 * (c.s - self.point.s):
            return c, False  # there is none, or it is the one that has been passed
        return exact, True

    def _pass(self, hit: Hit, c: CurvePoint, where: Standpoint, end: float) -> Generator[PathItem, None, Outcome]:
        """Bounds end the path, user events do not change it."""
        kind, detail = (Kind.bound, "") if hit.trigger is Trigger.bound else (Kind.user, hit.name)
        named = Named(kind, None, None, (), detail)
        self._remember(named, Rays(()), where, c, end)
        yield from self._release(self.degree)
        if hit.trigger is Trigger.bound:
            self._move(c)
            return Status.bound_reached, None
        self._move(self._as_before(c))
        self.sides[hit.name] = hit.side
        return None, None

    def _value(self, name: str, point: CurvePoint) -> float:
        """Value of a user function."""
        return self.watch.user[name](point.x[: self.curve.n], float(point.x[self.curve.n]))

    def _as_before(self, c: CurvePoint) -> CurvePoint:
        """The point with the inertia and the senses of the last one: nothing has happened on the way to it."""
        a = self.point
        if a.negative < 0 and c.s > a.s:
            negative, neutral = self.curve.modes(self.curve.evaluate(c.x))
            return replace(c, negative=negative, neutral=neutral, sense=c.sense or a.sense)
        return replace(c, negative=a.negative, neutral=a.neutral, orientation=a.orientation, sense=a.sense)

    def _remember(self, named: Named, rays: Rays, where: Standpoint, c: CurvePoint, end: float) -> None:
        n, k = where.system.n, len(where.system.bilateral)
        event = Event(
            kind=named.kind or Kind.idle,
            control=where.system.control,
            p=float(c.x[n]),
            q=c.x[:n],
            mu=c.x[n + 1 : n + 1 + k],
            lam=c.x[n + 1 + k :],
            constraints=named.constraints,
            instability_before=self.degree or 0,
            instability_after=None,
            rays=rays,
            incoming=named.incoming,
            followed=named.followed,
            bracket=(self.point.s, end),
            precision=_precision(self.curve, c),
            index=self.points,
            detail=named.detail,
            origin=replace(self.origin, where=replace(where)),  # without the curves that it knows
        )
        self.pending = PathItem(self.curve, c, self.degree or 0, event)

    def _returns(self, b: CurvePoint) -> CurvePoint | None:
        """The start of the path, if the way to b leads through it again."""
        return self._home.between(self.curve, self.point, b) if self.points >= 3 else None

    def _enough(self, b: CurvePoint) -> Status | None:
        if self.points >= self.most:
            return Status.enough
        known = len(self._origin)
        moved, reactions = abs(b.y[:known] - self._origin), abs(b.y[known:])
        return Status.far if max(float(moved.max()), float(reactions.max(initial=0.0))) > FAR else None

    def _why_stuck(self) -> tuple[Status, str]:
        at = f"after {self.origin.where.system.control} = {self.point.x[self.curve.n]:.10g}"
        unsure = "" if self.blind else hidden(self.curve, self.point.x, self.watch.tolerances, stuck=True)
        return (Status.not_finite if self.blind else Status.step_too_small), "; ".join(filter(None, (at, unsure)))

    def _end(self, status: Status, note: str = "") -> Iterator[PathItem]:
        yield from self._release(None)
        if status is Status.enough and self.origin.max_points is None and self.points >= self.most:
            control = self.origin.where.system.control
            note = f"nothing had ended it after {self.most} points: give a larger `max_points`, or bounds of {control}"
        yield PathItem(self.curve, self.point, self.degree or 0, status=status, note=note)


def _precision(curve: Curve, c: CurvePoint) -> float:
    """Relative residual of the equilibrium equations at a located point."""
    residual: Array = curve.residual(curve.evaluate(c.x))
    return float(np.max(np.abs(residual), initial=0.0))
