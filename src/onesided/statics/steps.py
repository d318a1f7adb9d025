"""Steps along a curve: predictor, corrector, step control, and whether a step can be trusted."""

import math
from dataclasses import dataclass

import numpy as np

from onesided._types import Array
from onesided.errors import UsageError
from onesided.model.stepping import CHUNK, Knobs
from onesided.statics.curve import Curve, Plane, Point, make_point, newton
from onesided.statics.hits import Watch, dips, explained, hidden
from onesided.statics.stretch import Ahead, Located, Track, stretch
from onesided.tolerances import EPS


@dataclass(frozen=True)
class PredictorCorrector:
    """Pseudo-arclength continuation in the scaled metric of q, p and λ; the defaults need no tuning.

    Attributes
    ----------
    first_step, max_step : arc length in scaled units.
    turn : angle [rad] between successive tangents that the step control aims at.
    miss : largest distance between predicted and corrected point, relative to the step: keeps a path on its branch.
    compile_after : points after which whole stretches of steps are compiled, which takes about a second once per model;
        0 where many paths of one model are wanted, `math.inf` for never.
    """

    first_step: float = 0.01
    max_step: float = 0.5
    turn: float = 0.25
    miss: float = 0.03
    compile_after: float = 1000

    def __post_init__(self) -> None:
        if not (
            0 < self.first_step <= self.max_step and 0 < self.turn < 1 and 0 < self.miss < 1 and self.compile_after >= 0
        ):
            raise UsageError("`PredictorCorrector` has a knob out of range", got=repr(self))


class Walker:
    """A point that moves along curves by steps that can be trusted.

    `previous` and `earlier` are the points before it on the same leg. `ahead` holds points that a compiled call made,
    from number `taken` on still to be examined; `located` is what it found on the way to the last one taken.
    `landing` is a known point of the leg, scaled, to which the first step goes: away from a singular point.
    """

    curve: Curve
    point: Point
    previous: Point | None
    earlier: Point | None
    landing: Array | None = None

    def __init__(self, method: PredictorCorrector, watch: Watch, most: int) -> None:
        self.method, self.watch, self.most = method, watch, most
        self.points, self.step, self.blind = 0, method.first_step, False
        self.ahead: Ahead | None = None
        self.taken = 0
        self.located: Located | None = None

    def _advance(self) -> Point | None:
        """One step of the curve that can be trusted; None when the step becomes too small."""
        landed = self._land()
        if landed is not None:
            return landed
        self._look_ahead()
        if self.ahead is not None:
            i = self.taken
            point, h, self.located = self.ahead.points.point(i), float(self.ahead.steps[i]), self.ahead.located.get(i)
            point.sense = point.sense or self.point.sense
            self._take(i + 1)
            if self._trusted(self.point, point, h):
                return point
            self.ahead = None
            self.step = min(self.step, 0.5 * h)
        self.located = None
        return self._try_steps()

    def _land(self) -> Point | None:
        """The step to the known point of a leg that leaves a singular point, where there is one."""
        y, self.landing = self.landing, None
        if y is None:
            return None
        a, target = self.point, 0.01 * self.watch.tolerances.residual
        found = newton(self.curve, y, Plane(a.t, float(a.t @ y)), target=target, limit=5)
        if not found.converged:
            return None
        move = found.y - a.y
        b = make_point(self.curve, found, a.t, a.s + math.sqrt(move @ move))
        b.sense = b.sense or a.sense
        self.step = min(b.s - a.s, self.method.first_step)
        return b

    def _look_ahead(self) -> None:
        """On a long path, have a whole stretch of points made by one compiled call."""
        long = self.points >= self.method.compile_after and not self.curve.large
        if long and self.ahead is None and self.point.orientation:
            track = Track(self.point, self.previous, self.earlier)
            self.ahead, self.taken = stretch(self.curve, track, self._knobs(), self.watch), 0

    def _take(self, count: int) -> None:
        """Have the first `count` of the points ahead been taken."""
        if self.ahead is not None:
            self.step, self.taken = float(self.ahead.following[count - 1]), count
            if count == len(self.ahead.following):
                self.ahead = None

    def _knobs(self) -> Knobs:
        method, tolerances, unit = self.method, self.watch.tolerances, self.curve.unit[self.curve.n]
        low, high = self.watch.p_bounds
        return Knobs(
            step=self.step,
            turn=method.turn,
            miss=method.miss,
            max_step=method.max_step,
            minimum_step=tolerances.minimum_step,
            residual=tolerances.residual,
            event=tolerances.event,
            low=low / unit,
            high=high / unit,
            wanted=min(CHUNK, self.most - self.points),
        )

    def _try_steps(self) -> Point | None:
        """One step that can be trusted, shorter and shorter."""
        a, method = self.point, self.method
        target = 0.01 * self.watch.tolerances.residual
        while self.step > self.watch.tolerances.minimum_step:
            h = self.step
            y = self._predict(h)
            found = newton(self.curve, y, Plane(a.t, float(a.t @ y)), target=target, limit=5, reach=method.miss * h)
            if found.converged:
                move = found.y - a.y
                b = make_point(self.curve, found, a.t, a.s + math.sqrt(move @ move))
                b.sense = b.sense or a.sense
                angle = math.acos(min(1.0, float(a.t @ b.t)))
                self.step = h * self._growth(angle, found.first / h)
                if angle <= 2.0 * method.turn and self._trusted(a, b, h):
                    self.step = min(self.step, method.max_step * max(1.0, float(abs(b.y).max())))
                    return b
                self.step = min(self.step, 0.5 * h)
            else:
                self.step, self.blind = 0.4 * h, not math.isfinite(found.error + found.e.energy)
        return None

    def _predict(self, h: float) -> Array:
        """Extrapolate the tangent through the last points of the leg and integrate it over the step."""
        a, p, pp = self.point, self.previous, self.earlier
        y = a.y + h * a.t
        if p is None:
            return y
        first = (a.t - p.t) / (a.s - p.s)
        if pp is None:
            return np.asarray(y + 0.5 * h * h * first)
        second = (first - (p.t - pp.t) / (p.s - pp.s)) / (a.s - pp.s)
        return np.asarray(y + 0.5 * h * h * first + (h**3 / 3.0 + 0.5 * h * h * (a.s - p.s)) * second)

    def _growth(self, angle: float, miss: float) -> float:
        """Factor for the next step: tangents turn by `turn`, the predictor misses by a quarter of what is allowed."""
        by_angle = self.method.turn / max(angle, EPS)
        by_miss = (0.25 * self.method.miss / max(miss, EPS)) ** 0.4
        return float(min(3.0, max(0.3, min(by_angle, by_miss))))

    def _trusted(self, a: Point, b: Point, h: float) -> bool:
        """Whether nothing was skipped: no condition changed twice, and inertia and events explain each other."""
        if hidden(self.curve, a, b, self.watch.tolerances):
            return False
        if h > self.method.first_step and dips(self.previous, a, b):
            return False
        return explained(a, b) or h <= self.method.first_step**2

    def _move(self, b: Point) -> None:
        """Go on to b, keeping the two points before it for the predictor."""
        if b.s - self.point.s > EPS:
            self.earlier, self.previous = self.previous, self.point
        self.point = b
