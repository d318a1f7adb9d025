"""Many steps of Dormand and Prince's method with projection as one compiled call.

The formulas of `dynamics.explicit`, `dynamics.mechanics` and `dynamics.stepper`, for systems whose constraints do not
depend on each other and on which nothing acts that changes with time. The call ends before the first step that is near
a singular configuration, leaves its branch or is too small: that one is left to the caller.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.evaluation.compiling import compiled
from onesided.evaluation.dormand_prince import STAGES, tableau
from onesided.evaluation.lane_algebra import eliminated, substituted
from onesided.evaluation.path_steps import SMALL_SIZE
from onesided.groups.group import MOST_TURN

if TYPE_CHECKING:
    from onesided.evaluation.motion_functions import MotionFunctions
    from onesided.evaluation.motion_terms import Control

Branch = TypeVar("Branch", bound=tuple[Any, ...])
LONGEST = 128  # points of one call
STRIKE, SETTLE, MIDDLE = STAGES, STAGES + 1, 64  # evaluations after the stages: of a blow, of the end, of the middle
PROJECTIONS = 12
ORDER = 8
SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
FLOOR = 0.01  # of the largest coordinate or velocity: what errors are at least compared with
NEAR = 0.01  # pivots below this share of the start's count as nearly singular
BRANCH = 100.0  # a projection longer than so many tolerances has left the branch
TRIES = 24  # refused in a row
STAGE_TIMES = 2.0  # roundings of time: what forces that know it change by within so many is no error of a step


class StrideRules(NamedTuple):
    """What does not change: last time, control p, accuracy, limits of steps, residual, weights of rows, pivot.

    `home`, `close` and `share` are those of `dynamics.mechanics.MotionSizes`; steps below a share `tiny` of the time
    left are left to the caller; `wanted` is the number of points; `units` those of coordinates.
    """

    end: Any
    p: Any
    rtol: Any
    longest: Any
    smallest: Any
    residual: Any
    weights: Any
    reference: Any
    home: Any
    close: Any
    share: Any
    tiny: Any
    wanted: Any
    units: Any


class SeenSizes(NamedTuple):
    """Sizes of coordinates and velocities so far; the longest way from home and the largest velocity seen."""

    q: Any
    v: Any
    seen: Any


class MotionPoint(NamedTuple):
    """Time, coordinates, velocities, accelerations and multipliers, as in `dynamics.mechanics.MotionState`."""

    t: Any
    q: Any
    v: Any
    a: Any
    mu: Any
    power: Any
    work: Any

    @property
    def row(self) -> Any:
        """All numbers one after the other."""
        numbers = jnp.stack([self.t, self.power, self.work])
        return jnp.concatenate([numbers, self.q, self.v, self.a, self.mu])


class Trial(NamedTuple):
    """A step that is tried: the next evaluation, what is known, the point reached.

    `ahead` is the way from the configuration at the end that is still to go, dq and dv what it took to get back to the
    constraints; `impulse` (r,) is that of a blow; `middle` the acceleration in the middle of the step; `turn` the
    largest angle by which the step turns a body.
    """

    i: Any
    stages: Any
    end: MotionPoint
    ahead: Any
    dq: Any
    dv: Any
    error: Any
    off: Any
    best: Any
    nearest: Any
    evaluations: Any
    impulse: Any
    middle: Any
    turn: Any
    done: Any


class TrialTask(NamedTuple):
    """What a trial is to do.

    Attributes
    ----------
    first : the evaluation to begin with.
    blow : directions of an impulse (r, n), and its numbers (r,) as a function of how these answer to it, (r, r).
    sure : whether the error does not matter.
    middle : a function of the end that gives configuration and velocity in the middle, to be accelerated there.
    """

    first: Any = 1.0
    blow: tuple[Any, Any] | None = None
    sure: Any = False
    middle: Any = None


class StrideWay(NamedTuple):
    """Where we are: the last point, the next step, refusals in a row and in all, points, evaluations, whether to go on.

    `rows` holds the points.
    """

    at: MotionPoint
    h: Any
    sizes: SeenSizes
    tries: Any
    refused: Any
    count: Any
    evaluations: Any
    going: Any
    rows: Any


class StrideFunctions:
    """Compiled steps of one system under one control p(t), None where p is a number.

    `steps` takes a start as (row of a point, next step), sizes, rules and parameters; it returns the number of points,
    evaluations, refusals, the next step, sizes, and a row for each point. `asked` counts steps that were taken one by
    one: those that would have paid for the compilation.
    """

    def __init__(self, functions: "MotionFunctions", control: "Control | None" = None) -> None:
        self.of, self.n, self.rows = functions, functions.n, functions.m + functions.k
        self._control, self.forced = control, control is not None or functions.depends_on_time
        self._cuts = np.cumsum([self.n, self.n, self.n, functions.m, self.rows, self.rows, self.rows, 1]).tolist()
        self.steps, self.asked = compiled(self._steps), 0

    def point(self, row: Any) -> MotionPoint:
        """A point from its numbers."""
        n = self.n
        return MotionPoint(row[0], row[3 : 3 + n], row[3 + n : 3 + 2 * n], row[3 + 2 * n : 3 + 3 * n], row[3 + 3 * n :],
                     row[1], row[2])  # fmt: skip

    def _steps(self, start: tuple[Any, Any], sizes: SeenSizes, rules: StrideRules, vector: Any) -> Any:
        none, at = jnp.zeros(()), self.point(start[0])
        rows = jnp.zeros((LONGEST, len(start[0])))
        way = StrideWay(at, start[1], sizes, none, none, none, none, none == 0.0, rows)
        end = lax.while_loop(lambda w: w.going, lambda w: self._step(w, rules, vector), way)
        numbers = jnp.stack([end.count, end.evaluations, end.refused, end.h])
        return jnp.concatenate([numbers, end.sizes.q, end.sizes.v, end.sizes.seen, end.rows.ravel()])

    def _step(self, way: StrideWay, rules: StrideRules, vector: Any) -> StrideWay:
        h = limited(way.h, rules.end - way.at.t)
        found = self.trial(way.at, h, way.sizes, rules, vector)
        found = found._replace(end=found.end._replace(q=self.of.space.wrap(found.end.q)))
        way = way._replace(evaluations=way.evaluations + found.evaluations)
        good = self.good(way, found, rules)
        return decided(way, found, h, good, rules)

    def good(self, way: StrideWay, found: Trial, rules: StrideRules) -> Any:
        """Whether the end of a step is on the constraints, near the step, and explained by it."""
        at, end = way.at, found.end
        moved = found.dq
        far = norm(moved, found.dv, compared(way.sizes, rules), rules.units) / rules.rtol
        speed, bend = top(at.v) + top(end.v), top(at.a) + top(end.a)
        h = end.t - at.t
        jumps = top(moved) > h * speed + h * h * bend + HALF_DIGITS * jnp.max(way.sizes.q)
        near = (far <= BRANCH) & (found.turn <= MOST_TURN) & ~jumps
        return (found.error <= 1.0) & (found.off <= rules.residual) & near

    def trial(
        self,
        at: MotionPoint,
        h: Any,
        sizes: SeenSizes,
        rules: StrideRules,
        vector: Any,
        task: "TrialTask | None" = None,
    ) -> Trial:
        """A step of size h, evaluation after evaluation."""
        first, blow, sure, middle = task or TrialTask()
        n = self.n
        stages = jnp.zeros((STAGES, 2 * n + 1)).at[0].set(jnp.concatenate([at.v, at.a, at.power[None]]))
        none, zero = jnp.zeros(()), jnp.zeros(n)
        push, law = (zero[None], lambda D: 0.0 * D[0]) if blow is None else blow
        start = Trial(
            none + first, stages, at._replace(t=at.t + h), zero, zero, zero, none, none + jnp.inf, none + jnp.inf,
            none + 1.0, none, 0.0 * push[:, 0], zero, none, none > 0.0,
        )  # fmt: skip

        def evaluate(x: Trial) -> Trial:
            stage = x.i < STAGES
            k = jnp.minimum(x.i, STAGES).astype(int)
            y = h * (jnp.asarray(tableau().A)[k] @ x.stages)
            q, v = (jnp.where(stage, a, b) for a, b in ((at.q, x.end.q), (at.v + y[n : 2 * n], x.end.v)))
            if middle is not None:
                q, v = lax.cond(x.i >= MIDDLE, middle, lambda _, other=(q, v): other, x.end)
            delta = jnp.where(stage, y[:n], x.ahead)
            now = self._accelerated(
                at.t + jnp.asarray(tableau().times)[k] * h, (q, delta, v), push, (sizes, rules), vector
            )
            x = x._replace(
                nearest=jnp.where(now.pivot < x.nearest, now.pivot, x.nearest), evaluations=x.evaluations + 1.0
            )
            after = self._after_stage(x, at, h, now, (sizes, rules, sure))
            impulse = lax.cond(x.i == STRIKE, law, lambda D: 0.0 * D[0], push @ now.pushed)
            struck = x._replace(end=x.end._replace(v=x.end.v + now.pushed @ impulse), impulse=impulse, i=none + SETTLE)
            rest = self._settled(x, now, rules, middle is not None)
            last = x._replace(middle=now.a, done=none == 0.0)
            found = chosen(stage, after, chosen(x.i == STRIKE, struck, rest))
            return chosen(x.i >= MIDDLE, last, found) if middle is not None else found

        found: Trial = lax.while_loop(lambda x: ~x.done, evaluate, start)
        return found

    def _after_stage(
        self, x: Trial, at: MotionPoint, h: Any, now: "_Now", given: tuple[SeenSizes, StrideRules, Any]
    ) -> Trial:
        n, (sizes, rules, sure) = self.n, given
        row = jnp.concatenate([now.rate, now.a, now.power[None]])
        stages = lax.dynamic_update_slice(x.stages, row[None], (x.i.astype(int), 0))
        last = x.i == STAGES - 1
        y = h * (jnp.asarray(tableau().B) @ stages)
        late = STAGE_TIMES * EPS * jnp.abs(at.t) * (jnp.max(stages, axis=0) - jnp.min(stages, axis=0))
        late = late if self.forced else 0.0 * late
        five, three = (
            norm(e[:n], e[n : 2 * n], compared(sizes, rules), rules.units) / rules.rtol
            for e in (beyond(h * (jnp.asarray(E) @ stages), late) for E in (tableau().E5, tableau().E3))
        )
        size = jnp.sqrt(five * five + 0.01 * three * three)
        error = jnp.where(five == 0.0, 0.0, five * five / jnp.where(size == 0.0, 1.0, size))
        end = x.end._replace(v=at.v + y[n : 2 * n], work=at.work + y[2 * n])
        x = x._replace(stages=stages, i=x.i + 1.0)
        turn = 0.0 * error if self.of.space.flat else self.of.space.turn(y[:n])
        done = ~((error <= 1.0) | sure)
        ready = x._replace(i=x.i * 0.0 + SETTLE, end=end, ahead=y[:n], error=error, turn=turn, done=done)
        return chosen(last, ready, x)

    def _settled(self, x: Trial, now: "_Now", rules: StrideRules, look: bool) -> Trial:
        """Whether the end is on the constraints, or how to get there."""
        target, off = 0.01 * rules.residual, now.off
        enough = ~jnp.isfinite(off) | (off <= target) | ((off <= 100.0 * target) & (off >= 0.5 * x.best))
        enough = enough | (x.i >= SETTLE + PROJECTIONS - 1)
        end = x.end._replace(q=now.q, a=now.a, mu=now.mu, power=now.power)
        i = x.i * 0.0 + MIDDLE if look else x.i
        there = x._replace(end=end, ahead=0.0 * x.ahead, off=off, done=(x.i >= 0.0) & (not look), i=i)
        moved = x.end._replace(q=now.q, v=x.end.v + now.change)
        on = x._replace(
            end=moved, ahead=now.step, dq=x.dq + now.step, dv=x.dv + now.change, best=jnp.minimum(x.best, off),
            i=x.i + 1.0,
        )  # fmt: skip
        return chosen(enough, there, on)

    def _accelerated(
        self, t: Any, where: tuple[Any, Any, Any], push: Any, given: tuple[SeenSizes, StrideRules], vector: Any
    ) -> "_Now":
        """Acceleration, multipliers, steps back to the constraints and the answer to an impulse at one state."""
        n, (q, delta, v), (sizes, rules) = self.n, where, given
        x = jnp.concatenate([jnp.stack([t, rules.p]), q, delta, v, jnp.zeros(self.of.m)])
        out = self.of.terms_once(x, vector, self._control, None)
        parts = jnp.split(out, self._cuts)
        q, rate, f, c, c_dot, gamma, Gv, power, rest = parts
        M, G = rest[: n * n].reshape(n, n), rest[n * n :].reshape(self.rows, n)
        W = rules.weights[:, None] * G
        K = jnp.block([[M, W.T], [W, jnp.zeros((self.rows, self.rows))]])
        none = jnp.zeros(n)
        pad = jnp.zeros(self.rows).at[: self.of.m].set(c)
        known = jnp.stack([
            jnp.concatenate([f, -rules.weights * gamma]), jnp.concatenate([none, -rules.weights * pad]),
            jnp.concatenate([none, -rules.weights * c_dot]),
        ], axis=1)  # fmt: skip
        right = jnp.hstack([known, jnp.vstack([push.T, jnp.zeros((self.rows, len(push)))])])
        X, pivot = solved(K, right)
        mu = -X[n:, 0] * rules.weights
        steep = jnp.maximum(jnp.sum(jnp.abs(G), axis=1), EPS)
        position = top(c / steep[: self.of.m]) / jnp.max(sizes.q)
        off = jnp.maximum(position, top(c_dot / steep) / jnp.max(sizes.v))
        return _Now(q, X[:n, 0], mu, power[0] + mu @ Gv, rate, X[:n, 1], X[:n, 2], X[:n, 3:], off,
                    pivot / rules.reference)  # fmt: skip


class _Now(NamedTuple):
    """One evaluation at a trial state: accelerations, multipliers, what projections need, and the residual `off`."""

    q: Any
    a: Any
    mu: Any
    power: Any
    rate: Any
    step: Any
    change: Any
    pushed: Any
    off: Any
    pivot: Any


def decided(way: StrideWay, found: Trial, h: Any, good: Any, rules: StrideRules, head: Any = None) -> StrideWay:
    """Take a step, refuse it and try a smaller one, or leave it to the caller; `head` goes before its row."""
    leave = (found.nearest < NEAR) | (h < rules.tiny * (rules.end - way.at.t))
    taken, refused = good & ~leave, ~good & ~leave
    factor = jnp.where(found.error > 0.0, SAFETY * found.error ** (-1.0 / ORDER), GROW)
    calm = way.tries == 0.0
    grown = h * jnp.minimum(jnp.where(calm, GROW, 1.0), jnp.maximum(SHRINK, factor))
    grown = jnp.where((h < way.h) & calm, jnp.maximum(grown, way.h), grown)
    grown = jnp.minimum(grown, SAFETY * h * MOST_TURN / jnp.where(found.turn > 0.0, found.turn, FLOOR))
    less = h * jnp.minimum(0.5, jnp.maximum(SHRINK, factor))
    less = jnp.where(jnp.isfinite(found.error), less, SHRINK * h)
    tries = jnp.where(taken, 0.0, way.tries + 1.0)
    at: MotionPoint = chosen(taken, found.end, way.at)
    h = jnp.where(taken, jnp.minimum(grown, rules.longest), jnp.where(refused, less, way.h))
    count = way.count + taken
    row = found.end.row if head is None else jnp.concatenate([head, found.end.row])
    rows = lax.dynamic_update_slice(way.rows, row[None], (way.count.astype(int), 0))
    small = h < jnp.maximum(rules.smallest, 4.0 * EPS * jnp.abs(at.t))
    going = ~leave & ~small & (count < rules.wanted) & (at.t < rules.end) & (tries < TRIES)
    return way._replace(
        at=at, h=h, sizes=chosen(taken, grown_sizes(way.sizes, found.end, rules), way.sizes), tries=tries,
        refused=way.refused + refused, count=count, going=going, rows=rows,
    )  # fmt: skip


def grown_sizes(sizes: SeenSizes, end: MotionPoint, rules: StrideRules) -> SeenSizes:
    """Take a state into account."""
    fast = top(end.v / rules.units)
    seen = jnp.maximum(sizes.seen, jnp.stack([top((end.q - rules.home) / rules.units), fast]))
    return SeenSizes(jnp.maximum(sizes.q, jnp.abs(end.q)), jnp.maximum(sizes.v, fast * rules.units), seen)


def compared(sizes: SeenSizes, rules: StrideRules) -> tuple[Any, Any]:
    """Sizes that errors of steps are compared with."""
    lengths = jnp.minimum(sizes.q, jnp.maximum(rules.close, sizes.seen[0]) * rules.units)
    speeds = jnp.maximum(rules.share * sizes.v, sizes.seen[1] * rules.units)
    return lengths, jnp.where(rules.share == 1.0, sizes.v, speeds)


def norm(dq: Any, dv: Any, compare: tuple[Any, Any], units: Any) -> Any:
    """Root mean square of changes relative to sizes (lengths, speeds), at least a share of the largest in the units."""
    q, v = (x / jnp.maximum(s, FLOOR * jnp.max(s / units) * units) for x, s in zip((dq, dv), compare, strict=True))
    return jnp.sqrt((q @ q + v @ v) / (2 * len(dq)))


def limited(h: Any, left: Any) -> Any:
    """The step, stretched or halved so that no tiny one is left over."""
    return jnp.where(h >= left * 0.999, left, jnp.where(h < 0.5 * left, h, 0.5 * left))


def beyond(errors: Any, rounding: Any) -> Any:
    """Errors without what rounding explains."""
    return jnp.sign(errors) * jnp.maximum(jnp.abs(errors) - rounding, 0.0)


def solved(K: Any, right: Any) -> tuple[Any, Any]:
    """K⁻¹ right, and the smallest over the largest pivot."""
    size = len(K)
    if size <= SMALL_SIZE:
        lu, _ = eliminated(jnp.concatenate([K, right], axis=1))
        X = substituted(lu[:, :size], lu[:, size:])
    else:
        lu, _, _ = lax.linalg.lu(jnp.concatenate([K, right], axis=1))
        X = lax.linalg.triangular_solve(lu[:, :size], lu[:, size:], left_side=True, lower=False)
    pivots = jnp.abs(jnp.diagonal(lu))
    return X, jnp.min(pivots) / jnp.max(pivots)


def top(values: Any) -> Any:
    """Largest absolute value; 0 of nothing."""
    return jnp.max(jnp.abs(values), initial=0.0)


def chosen(condition: Any, yes: Branch, no: Branch) -> Branch:
    """One or the other of two tuples of arrays."""
    return type(yes)(*(
        chosen(condition, a, b) if isinstance(a, tuple) else jnp.where(condition, a, b)
        for a, b in zip(yes, no, strict=True)
    ))  # fmt: skip
