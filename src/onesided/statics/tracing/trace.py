"""Tracing step by step: a stepper moves on, a finder looks at the way, a route meets what was found."""

import math
from collections.abc import Generator, Iterator

from onesided.base.types import Status
from onesided.results import Ray
from onesided.statics.curves.curve import CurvePoint
from onesided.statics.curves.spectrum import hidden, resists, undecided
from onesided.statics.tracing.fork_ahead import fork_ahead
from onesided.statics.tracing.hits import EventFinder, Hit, Located, Trigger, against_its_sense, find_hits, with_located
from onesided.statics.tracing.legs import relieves
from onesided.statics.tracing.path_method import Origin, Passage, PathItem, PathStepper
from onesided.statics.tracing.quiet import Change, Quiet, bend
from onesided.statics.tracing.route import RETURNS, Outcome, Route
from onesided.statics.tracing.singular import refine_singular

EARLIER = (2, 4, 8, 16)  # points back from which a fork is looked for that rounding hides at the last ones
CROWD = 30  # so many events or failures in a row without progress end a path


class Tracer:
    """A running trace; made for one run.

    Parameters
    ----------
    origin : place, limits and method.
    ray : direction in which to leave the place.
    stepper : makes the points of the path.
    """

    def __init__(self, origin: Origin, ray: Ray, stepper: PathStepper) -> None:
        self.stepper, self.watch = stepper, origin.watch
        self.route = Route(origin, ray, stepper)
        self.crowd = 0
        self.taken_over = self.bent = -math.inf  # arc lengths at which idle constraints, other stiffness were asked for

    @property
    def first(self) -> PathItem:
        """The start, on the leg along which it is left."""
        return self.route.first

    def pieces(self) -> Iterator[PathItem | Passage]:
        """Points and events in order, until something ends the path; the last item carries the status."""
        stepper, route = self.stepper, self.route
        status, note, b = None, "", self._advance()
        while status is None:
            candidate: CurvePoint | None = None
            corner = self._corner() if b is None else None
            if corner is not None:
                status = yield from route.meet_idle(corner, corner.beyond)
                stepper.step = route.first_step()
                b = self._advance() if status is None else None
                continue
            b = b or route.forks.join() or self._fork()
            if b is None:
                status, note = self._why_stuck()
                break
            hit, c, quiet = self._first_change(b)
            home = None if c is None else self._passes_home(hit, c)
            if quiet is not None and quiet.change is Change.dips:
                candidate, stepper.located = quiet.point, None
                stepper.forget()
            elif home is not None:
                yield from route.accept(home)
                status = Status.closed
            elif quiet is not None and quiet.change is not Change.touches:
                status = yield from route.meet_idle(quiet, b)
            elif hit is None and route.kink(b) is not None:
                status = yield from route.turn(b)
            elif hit is None:
                yield from route.accept(b)
                yield from route.stroll()
                status = route.enough()
            elif self._crowded(c):
                status, note = Status.step_too_small, f"events crowd together {self._why_stuck()[1]}"
            elif c is None:  # the step had left its branch, or holds more than one event: look closer
                stepper.step = 0.25 * (b.s - stepper.point.s)
                stepper.forget()
            else:
                status, candidate = yield from self._meet(hit, c, b)
            b = b if status is not None else candidate or self._advance()
        yield from route.end(status, note)

    def _advance(self) -> CurvePoint | None:
        """The next point, or a fork ahead where steps fail and rounding decides inertia: it may look like a corner."""
        b, curve, tolerances = self.stepper.advance(), self.stepper.curve, self.watch.tolerances
        if b is None:
            here = self.stepper.point.x
            b = self._fork() if undecided(curve.measured_at(here), here, tolerances) else None
        return b

    def _first_change(self, b: CurvePoint) -> tuple[Hit | None, CurvePoint | None, Quiet | None]:
        """The first thing to happen on the way to b: what it is, where (b if nothing happens), and whether quietly."""
        curve, a, route = self.stepper.curve, self.stepper.point, self.route
        idle = route.margins.idle  # their margins are looked at by themselves
        hits = [hit for hit in self._hits(b) if hit.row not in idle]
        if not hits and route.forks.passed(b):
            return Hit(Trigger.singular, 0.0), None, None
        if self._is_lost(b, hits):  # in rounding a limit point is none; the fork that its branch leads to is looked for
            fork = fork_ahead(curve, a, self.watch.tolerances, [b, *self._on_the_way()])
            if fork is not None or hits:
                self.stepper.located = None
                return Hit(Trigger.singular, 0.0), fork, None
        hit, c = self._earliest(b, hits) if hits else (None, b)
        quiet = None if c is None else route.margins.find(curve, a, c, self.watch.tolerances)
        if quiet is None and hit is not None and c is not None and hit.trigger is Trigger.closing:
            quiet = relieves(route.origin.where, curve, hit.row, c, b)
        return (hit, c, None) if quiet is None else (quiet.hit(curve), quiet.point, quiet)

    def _hits(self, b: CurvePoint) -> list[Hit]:
        """What happens on the way to b, in order."""
        stepper = self.stepper
        hits = find_hits(stepper.curve, stepper.point, b, self.watch, self.route.sides)
        return with_located(hits, stepper.point, b, stepper.located)

    def _earliest(self, b: CurvePoint, hits: list[Hit]) -> tuple[Hit, CurvePoint | None]:
        """The first of these, and where it is."""
        stepper = self.stepper
        finder = EventFinder(stepper.curve, stepper.point, self.watch, self.route.sides, stepper.located)
        stepper.located = None
        return finder.earliest(b, hits)

    def _meet(self, hit: Hit, c: CurvePoint, b: CurvePoint) -> Generator[PathItem, None, Outcome]:
        """Meet the event at c; whether the path goes on, and with which point that is known already."""
        route, stepper = self.route, self.stepper
        yield from route.log.settle(c, b)
        c, bifurcates = self._sharpen(hit, c, b)
        status, candidate = yield from route.meet(hit, c, b, bifurcates=bifurcates)
        if status is None and stepper.points >= RETURNS and route.home.is_at(stepper.curve, stepper.point):
            status = Status.closed
        elif status is None and stepper.points >= route.origin.most:
            status = Status.enough
        if candidate is None:  # points beyond are those of the same leg, or of no use
            stepper.forget()
        return status, candidate

    def _corner(self) -> Quiet | None:
        """A corner of the path at the last point: a constraint closes to stay idle, stiffness jumps, idle ones carry.

        The latter two are asked for once at a place: it would go to and fro.
        """
        curve, point, margins = self.stepper.curve, self.stepper.point, self.route.margins
        here, contacts = (curve, point, self.stepper.first_step**2), not curve.large and len(point.margins) > 0
        corner = margins.at_corner(*here) if contacts else None
        if corner is None and point.s > self.bent + here[2]:
            corner, self.bent = bend(*here, self.watch.tolerances), point.s
        if corner is None and contacts and point.s > self.taken_over:
            corner, self.taken_over = margins.not_carried_on(*here), point.s
        return corner

    def _fork(self) -> CurvePoint | None:
        """A fork ahead of a path that is lost in rounding: the end of a step that leads there at once."""
        stepper = self.stepper
        b = fork_ahead(stepper.curve, stepper.point, self.watch.tolerances, self._on_the_way())
        if b is not None:
            stepper.located = Located(Trigger.singular, b, stepper.curve.evaluate(b.x))
            stepper.step = self.route.first_step()
            stepper.forget()
        return b

    def _on_the_way(self) -> list[CurvePoint]:
        """Some points of the leg, the last ones first."""
        trail = self.route.margins.trail
        return [trail[-count] for count in EARLIER if count <= len(trail)]

    def _is_lost(self, b: CurvePoint, hits: list[Hit]) -> bool:
        """Whether rounding hides how p changes on a step along modes that it hides: those of a fork that is close."""
        curve, a, tolerances = self.stepper.curve, self.stepper.point, self.watch.tolerances
        unsure = hits[0].trigger in {Trigger.limit, Trigger.singular} if hits else against_its_sense(curve, a, b)
        if not unsure or resists(curve, a.x, a.t):
            return False
        return all(undecided(curve.measured_at(point.x), point.x, tolerances) for point in (a, b))

    def _passes_home(self, hit: Hit | None, c: CurvePoint) -> CurvePoint | None:
        """The start of the path, where it lies on the way to c; at an event that is reported first."""
        home = self.route.returns(c)
        return None if home is not None and hit is not None and self.route.home.same(home.y, c.y) else home

    def _crowded(self, c: CurvePoint | None) -> bool:
        """Whether there have been too many events or failures without progress."""
        stepper = self.stepper
        self.crowd = self.crowd + 1 if c is None or c.s - stepper.point.s < stepper.first_step**2 else 0
        return self.crowd > max(CROWD, 2 * len(stepper.curve.scales.gap))  # a fine mesh lies down node by node

    def _sharpen(self, hit: Hit, c: CurvePoint, b: CurvePoint) -> tuple[CurvePoint, bool]:
        """A limit point at which the bordered matrix is nearly singular may be a bifurcation seen from its branch."""
        curve, a = self.stepper.curve, self.stepper.point
        regular = not curve.large and c.volume > max(a.volume, b.volume) - 1.0
        if hit.trigger is not Trigger.limit or regular:
            return c, False
        here, before, after = (abs(curve.distance_to_singular(point)) for point in (c, a, b))
        near = max(before, after)  # as small all along the step: badly scaled, but no singular point of its own
        if here > max(0.05 * near, min(0.1 * self.stepper.first_step, 0.5 * near)):
            return c, False
        exact = refine_singular(curve, c, b.s - a.s, self.watch.tolerances)
        if exact is None or float((exact.y - a.y) @ a.t) <= 0.01 * (c.s - a.s):
            return c, False  # there is none, or it is the one that has been passed
        return exact, True

    def _why_stuck(self) -> tuple[Status, str]:
        stepper = self.stepper
        at = f"after {self.route.origin.where.system.control} = {stepper.point.x[stepper.curve.n]:.10g}"
        unsure = "" if stepper.blind else hidden(stepper.curve, stepper.point.x, self.watch.tolerances, stuck=True)
        return (Status.not_finite if stepper.blind else Status.step_too_small), "; ".join(filter(None, (at, unsure)))
