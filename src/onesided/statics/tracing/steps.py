"""Steps along a curve: predictor, corrector, step control, and whether a step can be trusted."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.path_steps import CHUNK, LONG
from onesided.evaluation.resolution import integrals
from onesided.evaluation.step_data import StepKnobs
from onesided.results import Ray
from onesided.statics.curves.corrections import Correction, Plane, make_point, newton
from onesided.statics.curves.curve import Curve, CurvePoint, CurvePoints
from onesided.statics.tracing.cells import to_the_edge, turns_inside
from onesided.statics.tracing.hits import Located, PathWatch, Trigger, explained, is_calm
from onesided.statics.tracing.inside import Middle, resolved
from onesided.statics.tracing.path_method import (
    COMPILE_AFTER,
    FIRST_STEP,
    NEWTON,
    Origin,
    PathMethod,
    PathRun,
    PathStepper,
)
from onesided.statics.tracing.quiet import outdated
from onesided.statics.tracing.singular import first_singular
from onesided.statics.tracing.stretch import Ahead, ReachedEnd, Track, in_a_row, stretch
from onesided.statics.tracing.survey import Survey
from onesided.statics.tracing.trace import Tracer
from onesided.system.system import System

SHARE = 0.01  # of the residual that a path may have: what its points are corrected to
NODES = 4  # tangents that the predictor uses at most
OFF_CENTRE = 0.1  # share of a step by which a place may be off its middle
ROW = 16  # most single steps in a row: what is seen on the first makes the others useless
SHORT = 0.1  # steps along which stiffness is taken to change linearly on soft modes


@checked
@dataclass(frozen=True)
class PredictorCorrector(PathMethod):
    """Pseudo-arclength continuation in the scaled metric of q, p and λ; the defaults need no tuning.

    Attributes
    ----------
    first_step, max_step : arc length in scaled units.
    turn : angle [rad] between successive tangents that the step control aims at.
    miss : largest distance between predicted and corrected point, relative to the step: keeps a path on its branch.
    resolution : gaps and stiffness are looked at in places this far apart on straight stretches, where no bend limits
        the steps, and twice as far on others, as a share of the path (of its range of p, if that is bounded, or of its
        length so far); wider features are not missed. Systems with more than 40 unknowns are looked at in fewer places,
        and on bent steps few matrices of more than some ten unknowns are made; `math.inf` for none.
    compile_after : points after which whole stretches of steps are compiled, which takes about a second once per model;
        0 where many paths of one model are wanted, `math.inf` for never.
    """

    first_step: float = FIRST_STEP
    max_step: float = 0.5
    turn: float = 0.25
    miss: float = 0.03
    resolution: float = 5e-4
    compile_after: float = COMPILE_AFTER

    def __post_init__(self) -> None:
        if not (
            0 < self.first_step <= self.max_step
            and 0 < self.turn < 1
            and 0 < self.miss < 1
            and self.resolution > 0
            and self.compile_after >= 0
        ):
            raise UsageError("`PredictorCorrector` has a knob out of range", got=repr(self))

    def begin(self, origin: Origin, ray: Ray) -> PathRun:
        """A trace by steps, with everything on the way of them looked for."""
        return Tracer(origin, ray, Steps(self, origin.watch, origin.most))

    def refuse(self, system: System) -> None:
        """Nothing: the method is for all systems."""

    def compiles(self, points: int) -> bool:
        """Whether the path is long enough to pay for a compilation."""
        return points >= self.compile_after

    @classmethod
    def fast(cls) -> "PredictorCorrector":
        """For many paths of models that are known: straight stretches are not looked into."""
        return cls(resolution=math.inf)

    @classmethod
    def thorough(cls) -> "PredictorCorrector":
        """For certification: shorter steps everywhere, ten times as many looks on straight stretches."""
        return cls(max_step=0.1, turn=0.1, miss=0.01, resolution=0.1 * cls.resolution)

    def shortened(self, share: float) -> "PredictorCorrector":
        """The same with steps that are this share as long."""
        shorter = {name: share * getattr(self, name) for name in ("first_step", "max_step", "turn", "miss")}
        return replace(self, **shorter)


class Steps(PathStepper):
    """A point that moves along curves by steps that can be trusted.

    `previous` and `earlier` are the points before it on the same leg. `ahead` holds points that a compiled call made,
    from number `taken` on still to be examined; `located` is what it found on the way to the last one taken.
    `landing` is a known point of the leg, scaled, to which the first step goes: away from a singular point.
    `gap_sizes` are those at the point to which the last step leads, where they are known.
    """

    previous: CurvePoint | None = None
    earlier: CurvePoint | None = None
    landing: Array | None = None

    def __init__(self, method: PredictorCorrector, watch: PathWatch, most: int) -> None:
        super().__init__(method.first_step)
        self.method, self.watch, self.most = method, watch, most
        self.ahead: Ahead | None = None
        self.taken = 0
        self.tried: tuple[float, Any] = method.first_step, None  # the last step, and the blocks at its end
        self.survey = Survey(method, watch)
        self.middle: Middle | None = None  # of the last step
        self.proposed: Middle | None = None  # of the next

    def leave(self, curve: Curve, point: CurvePoint, landing: Array | None) -> None:
        """Begin a leg: nothing is known before its start."""
        super().leave(curve, point, landing)
        self.previous = self.earlier = self.middle = self.proposed = None
        self.landing = landing

    def forget(self) -> None:
        """Drop points ahead that are not taken yet."""
        self.ahead = None

    def advance(self) -> CurvePoint | None:
        """One step of the curve that can be trusted; None when the step becomes too small."""
        landed = self._land()
        if landed is not None:
            return landed
        self._look_ahead()
        if self.ahead is not None:
            i = self.taken
            point, h, self.located = self.ahead.points.point(i), float(self.ahead.steps[i]), self.ahead.located.get(i)
            point.sense, self.proposed = point.sense or self.point.sense, self.ahead.middle(i)
            self.gap_sizes = self.ahead.gap_sizes[i]
            self._take(i + 1)
            if self._explained(self.point, point, h):
                return point
            self.ahead = None
            self.step = min(self.step, 0.5 * h)
        self.located = None
        b = self._try_steps()
        self.gap_sizes = None if b is None else self.tried[1].gap_sizes(self.curve.sizes.length)
        return b

    def _land(self) -> CurvePoint | None:
        """The step to the known point of a leg that leaves a singular point, where there is one."""
        y, self.landing, self.gap_sizes = self.landing, None, None
        if y is None:
            return None
        b = self.corrected(y, target=SHARE * self.watch.tolerances.residual)
        if b is not None:
            self.step = min(b.s - self.point.s, self.method.first_step)
        return b

    def _look_ahead(self) -> None:
        """Have points in a row made: on a long path by one compiled call, on others by single steps."""
        if self.ahead is not None or self.curve.large or not self.point.orientation or self.cell is not None:
            return
        if self._compiles():
            track = Track(self.point, self.previous, self.earlier, self._between())
            made = stretch(self.curve, track, self._knobs(), self.watch)
        else:
            made = None if self.watch.user else self._row()
        self.taken = 0
        self.ahead = made and self._survey(self._measured(made))

    def _row(self) -> Ahead | None:
        """Single steps in a row, up to the first on which something may happen; None where none succeeds."""
        known = self.point, self.previous, self.earlier, self.middle, self.step
        made: list[ReachedEnd] = []
        while len(made) < min(ROW, self.most - self.points):
            a, b = self.point, self._try_steps(alone=False)
            if b is None:
                break
            calm = self.located is None and is_calm(self.curve, a, b, self.watch)
            made.append(ReachedEnd(b, *self.tried, self.step, self.proposed, self.located, calm))
            if not calm:
                break
            self.move(b)
        if not made:
            return None
        self.point, self.previous, self.earlier, self.middle, self.step = known
        self.proposed = self.located = None
        return in_a_row(self.curve, made)

    def _measured(self, made: Ahead) -> Ahead:
        """The points of a stretch up to the first at which gaps are to be measured anew."""
        ends = outdated(self.curve, made.points.c, made.gap_sizes).any(axis=1)
        return made.until(int(ends.argmax()) + 1) if ends.any() else made

    def _survey(self, made: Ahead) -> Ahead | None:
        """The points of a compiled stretch up to the first straight step on which something is seen."""
        if self.method.resolution == math.inf:
            return made
        found = self.survey.ahead(self.curve, self.point, made, self.points, compiled=self._compiles())
        if found is None:
            return made
        i, fraction = found
        self.step = fraction * float(made.steps[i])
        return made.until(i) if i else None

    def _take(self, count: int) -> None:
        """Have the first `count` of the points ahead been taken."""
        if self.ahead is not None:
            self.step, self.taken = float(self.ahead.following[count - 1]), count
            if count == len(self.ahead.following):
                self.ahead = None

    def _knobs(self) -> StepKnobs:
        method, tolerances, unit = self.method, self.watch.tolerances, self.curve.unit[self.curve.n]
        low, high = self.watch.p_bounds
        return StepKnobs(
            step=self.step,
            turn=method.turn,
            miss=method.miss,
            max_step=method.max_step,
            resolve=self._finest(),
            minimum_step=tolerances.minimum_step,
            residual=tolerances.residual,
            event=tolerances.event,
            low=low / unit,
            high=high / unit,
            wanted=min(CHUNK, self.most - self.points),
        )

    def _try_steps(self, *, alone: bool = True) -> CurvePoint | None:
        """One step that can be trusted, shorter and shorter; of those `alone` straight ones are looked into at once."""
        a, method = self.point, self.method
        target = SHARE * self.watch.tolerances.residual
        while self.step > self.watch.tolerances.minimum_step:
            h, self.located = self.step, None
            y, border, h = self._aim(h)
            found = newton(self.curve, y, border, target=target, limit=NEWTON, reach=method.miss * h)
            if found.converged and self._in_cell(found.y):
                b, found = self._arrived(found, border, method.miss * h)
                angle = math.acos(min(1.0, float(a.t @ b.t)))
                self.step = h * self._growth(angle, found.first / h)
                inside = self.cell is None or turns_inside(self.curve, a, b, self.cell)
                if angle <= 2.0 * method.turn and inside and self._resolved(a, b, h) and self._explained(a, b, h):
                    until = self._surveyed(a, b, found.e) if alone else 1.0
                    if until == 1.0:
                        self.step, self.tried = min(self.step, method.max_step * max(1.0, LONG * b.s)), (h, found.e)
                        return b
                    self.step = until * h
                else:
                    self.step = min(self.step, 0.5 * h)
            else:
                self.step, self.blind = 0.4 * h, not math.isfinite(found.error + found.e.energy)
        return None

    def _point(self, found: Correction) -> CurvePoint:
        """A corrected place as a point of the path."""
        move = found.y - self.point.y
        b = make_point(self.curve, found, self.point.t, self.point.s + math.sqrt(move @ move))
        b.sense = b.sense or self.point.sense
        return b

    def _arrived(self, found: Correction, border: Plane, reach: float) -> tuple[CurvePoint, Correction]:
        """The end of a step; where its signs are not those of the start, corrected to the last digit before.

        What is left of a residual on stiff modes is a stiffness of soft ones, which may be as large as their own.
        """
        a, b = self.point, self._point(found)
        if (a.negative, a.orientation, a.sense) == (b.negative, b.orientation, b.sense) or found.error <= EPS:
            return b, found
        exact = newton(self.curve, found.y, border, target=EPS, limit=NEWTON, reach=reach)
        exact.first = found.first
        return (self._point(exact), exact) if exact.converged else (b, found)

    def _aim(self, h: float) -> tuple[Array, Plane, float]:
        """Where a step leads by prediction, the plane in which it is corrected, its length: up to a kink of p."""
        a, y = self.point, self._predict(h)
        edge = None if self.cell is None else to_the_edge(self.curve, a, y, self.cell)
        if edge is None:
            return y, Plane(a.t, float(a.t @ y)), h
        return *edge, math.dist(edge[0], a.y)

    def _in_cell(self, y: Array) -> bool:
        """Whether a point lies on this side of all kinks of p."""
        return self.cell is None or self.cell.holds(float(y[self.curve.n]), self.curve.unit[self.curve.n])

    def _predict(self, h: float) -> Array:
        """Extrapolate the tangent through the last points and the middle of the last step; integrate it."""
        a, known = self.point, (self._between(), self.previous, self.earlier)
        nodes = [(a.s, a.t), *((node.s, node.t) for node in known if node is not None)][:NODES]
        s, slopes = [node[0] for node in nodes], [node[1] for node in nodes]
        y = a.y
        for order, weight in enumerate(integrals(h, *(a.s - one for one in (*s[1:3], a.s, a.s)[:2]))[: len(nodes)]):
            y = y + weight * slopes[0]
            slopes = [(slopes[i] - slopes[i + 1]) / (s[i] - s[i + order + 1]) for i in range(len(slopes) - 1)]
        return np.asarray(y)

    def _between(self) -> Middle | None:
        """The middle of the last step, where that was not cut short by an event."""
        m, p = self.middle, self.previous
        if m is None or p is None:
            return None
        off = abs(p.s + self.point.s - 2 * m.s)
        return m if off <= OFF_CENTRE * (self.point.s - p.s) else None

    def _growth(self, angle: float, miss: float) -> float:
        """Factor for the next step: tangents turn by `turn`, the predictor misses by a quarter of what is allowed."""
        by_angle = self.method.turn / max(angle, EPS)
        by_miss = (0.25 * self.method.miss / max(miss, EPS)) ** 0.4
        return float(min(3.0, max(0.3, min(by_angle, by_miss))))

    def _finest(self) -> float:
        """Length of a step that is not looked into any further."""
        return self.method.first_step**2

    def _resolved(self, a: CurvePoint, b: CurvePoint, h: float) -> bool:
        """Whether the middle of the step agrees with its ends, or the first singular point inside has been located."""
        if h <= self._finest():
            return True
        p = self.previous
        volume = math.nan if self.middle is None else self.middle.volume
        before = None if p is None or not a.s > p.s else (p.volume, volume, a.s - p.s)
        middle = resolved(self.curve, a, b, before, self.method.miss, self.watch.tolerances)
        if middle is not None:
            self.proposed, b.s_middle, b.middle_slope = middle, middle.s, middle.slope
            return True
        return h <= SHORT and a.orientation * b.orientation > 0 and self._singular(a, b)

    def _explained(self, a: CurvePoint, b: CurvePoint, h: float) -> bool:
        """Whether inertia and events explain each other: nothing, one limit point, one singular point to begin with."""
        if explained(a, b) or self.located is not None:
            return True
        return (h <= SHORT and a.sense * b.sense > 0 and self._singular(a, b)) or h <= self._finest()

    def _surveyed(self, a: CurvePoint, b: CurvePoint, e: Evaluation) -> float:
        """Fraction of a step up to which nothing is seen on it: 1, unless something is."""
        if self.located is not None or self.curve.large:
            return 1.0
        return self.survey.until(self.curve, a, b, e, self.points, compiled=self._compiles())

    def _compiles(self) -> bool:
        """Whether the path is long enough for whole stretches in one call."""
        return self.method.compiles(self.points)

    def _singular(self, a: CurvePoint, b: CurvePoint) -> bool:
        """Locate the first singular point of a short step; what follows it is traced from there."""
        found = first_singular(self.curve, a, b, self.watch.tolerances)
        if found is None:
            return False
        self.located = Located(Trigger.singular, found, self.curve.evaluate(found.x))
        return True

    def move(self, b: CurvePoint) -> None:
        """Go on to b, keeping the two points before it for the predictor."""
        if b.s - self.point.s > EPS:
            self.earlier, self.previous = self.previous, self.point
            self.middle, self.proposed = self.proposed, None
        self.point = b

    def calm(self, until: Callable[[CurvePoints, int, int], int]) -> tuple[CurvePoints, Array] | None:
        """The points of a stretch on the way to which nothing happens, as far as they come in a row."""
        ahead, first = self.ahead, self.taken
        last = first if ahead is None else until(ahead.points, first, ahead.calm_until(first))
        if ahead is None or last <= first:
            return None
        for i in range(max(first, last - 3), last):
            self.proposed = ahead.middle(i)
            self.move(ahead.points.point(i))
        self._take(last)
        self.points += last - first
        return ahead.points.pick(slice(first, last)), ahead.gap_sizes[last - 1]
