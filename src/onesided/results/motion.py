"""Motion: arrays along time, events, what was rechecked, and a dense output in between."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import scipy

from onesided.base.errors import UsageError
from onesided.base.tolerances import CUBE_ROOT
from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.groups import Group, Vector
from onesided.results.member_series import Members
from onesided.results.over_time import OverTime
from onesided.results.path import format_number
from onesided.results.sketch import Sketch
from onesided.results.wording import line_by_line

ALIKE = 0.05  # ratio of neighbouring steps that are interpolated together
FAR = 2.0  # a turn [rad] beyond which points do not share local coordinates


class Occurrence(Enum):
    """What happens at a special moment of a motion."""

    user = "user event"
    singular = "nearly singular configuration"
    contact = "gap closes"
    impact = "impact"
    opens = "contact opens"
    accumulation = "impacts accumulate"
    lift_off = "lift-off expected"
    not_closest = "contact points no longer closest"
    conformal = "conformal contact"
    irregular = "outline not regular"
    sticks = "contact sticks"
    slips = "contact slips"
    jams = "sliding contact jams"


@dataclass(frozen=True, eq=False, repr=False)
class MotionEvent:
    """A special moment: what, when, where, and what it rests on in words; `called` where it is no contact's."""

    kind: Occurrence
    t: float
    q: Array
    v: Array
    name: str = ""
    detail: str = ""
    called: str = ""

    def words(self) -> str:
        """The event as a sentence, with its name and time."""
        noun, _, verb = self.called.partition(" ")
        named = f" '{self.name}'" if self.name else ""
        what = f"{noun}{named} {verb}" if self.called else f"{self.kind.value}{named}"
        return f"{what} at t = {format_number(self.t)}" + (f": {self.detail}" if self.detail else "")

    def __repr__(self) -> str:
        return f"<MotionEvent: {self.words()}>"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return str(views("report").motion_event_html(self))


class Drift(NamedTuple):
    """Largest violations at every point, relative to the size of coordinates, velocities and forces: (N,) each.

    `position`, `velocity` and `acceleration` are the constraints and the hidden ones [AR (2b), (3a), (3b)]; `balance`
    is the force balance; `energy` the change of energy that no work explains.
    """

    position: Array
    velocity: Array
    acceleration: Array
    balance: Array
    energy: Array

    @property
    def worst(self) -> float:
        """Largest of all but the energy."""
        return float(max(np.max(values, initial=0.0) for values in self[:4]))

    def __repr__(self) -> str:
        largest = zip(self._fields, (float(np.max(values, initial=0.0)) for values in self), strict=True)
        return "<Drift: largest " + ", ".join(f"{name} {value:.1e}" for name, value in largest) + ">"


@dataclass(frozen=True)
class StartCorrection:
    """What was changed to make the start consistent."""

    position: float
    velocity: float
    redundant: tuple[str, ...]

    def words(self) -> str:
        """In words; empty when nothing was changed."""
        parts = []
        if self.position > 0:
            parts.append(f"coordinates were moved by up to {self.position:.3g} to meet the constraints")
        if self.velocity > 0:
            parts.append(f"velocities were changed by up to {self.velocity:.3g} to meet the hidden constraints")
        if self.redundant:
            parts.append(
                f"constraints depend on each other: the multipliers of {', '.join(self.redundant)} are not unique"
            )
        return "; ".join(parts)


@dataclass(frozen=True, eq=False, repr=False)
class Motion(OverTime):
    """A motion: arrays over time, with the force of a constraint being (gradient)ᵀ × multiplier.

    Attributes
    ----------
    t : (N,), q, v, a : (N, n).
    mu : (N, k) multipliers of the bilateral constraints, then of the non-holonomic ones;  lam : (N, m) of the gaps.
    tangential : (N, directions) friction forces of contacts, in the order of the gaps; then moments against
        rolling and spinning.
    smooth : whether points come from a smooth motion between events (two points at one time: before and after), or from
        time stepping, where forces are means over a step and interpolation is linear.
    u : (N, inputs) of servo conditions;  p : (N,) control.
    energy : (N,) kinetic and potential;  work : (N,) done by forces without potential and by moving constraints.
    projection : (N,) of time stepping: energy that came from putting positions back onto the allowed side, which is no
        work of any force; energy − work − projection is constant.
    drift : rechecked violations.
    not_unique : names of constraints whose multipliers are a choice;  start : what the start needed.
    events, status, note, provenance, measures, sketch : as of a `Path`.
    """

    coordinates: tuple[str, ...]
    bilateral: tuple[str, ...]
    nonholonomic: tuple[str, ...]
    unilateral: tuple[str, ...]
    servo: tuple[str, ...]
    control: str
    t: Array
    q: Array
    v: Array
    a: Array
    mu: Array
    lam: Array
    u: Array
    p: Array
    energy: Array
    work: Array
    drift: Drift
    events: tuple[MotionEvent, ...]
    status: Status
    note: str
    start: StartCorrection
    not_unique: tuple[str, ...] = ()
    space: Group | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    tangential: Array = field(default_factory=lambda: np.zeros((0, 0)))
    smooth: bool = True
    projection: Array = field(default_factory=lambda: np.zeros(0))
    measures: Mapping[str, Array] = field(default_factory=dict)
    members: Members = field(default_factory=Members)
    sketch: Sketch | None = None

    def __post_init__(self) -> None:
        line_by_line(self, "events")

    def __repr__(self) -> str:
        span = f"t from {format_number(self.t[0])} to {format_number(self.t[-1])}"
        how = f", {self.provenance['method']}" if "method" in self.provenance else ""
        return f"<Motion: {len(self)} points, {span}, {len(self.events)} events, {self.status.name}{how}>"

    @property
    def happenings(self) -> tuple[MotionEvent, ...]:
        """The events, in the order of time."""
        return self.events

    def plot(self, *names: str, x: str = "t", ax: Any = None, title: str = "") -> Any:
        """Draw columns against time; see `onesided.plots.history`. Returns matplotlib axes."""
        return views("plots").history(self, *names, x=x, ax=ax, title=title)

    def at(self, t: Any) -> tuple[Array, Array]:
        """Configurations and velocities at times t within the motion (dense output): (…, n) each.

        Interpolation in local coordinates from positions, velocities and accelerations at the ends of the step and at
        one point beyond either end, which is more accurate than the steps themselves.
        """
        times = np.asarray(t, dtype=float)
        low, high = self.t[0], self.t[-1]
        if np.any(times < low) or np.any(times > high) or not np.all(np.isfinite(times)):
            raise UsageError("a time lies outside the motion", got=str(t), expected=f"{low:g} to {high:g}")
        flat = np.atleast_1d(times).ravel()
        steps = np.clip(np.searchsorted(self.t, flat, side="right") - 1, 0, max(len(self.t) - 2, 0))
        q, v = np.empty((len(flat), self.q.shape[1])), np.empty((len(flat), self.q.shape[1]))
        for i in np.unique(steps[flat < high]):
            here = (steps == i) & (flat < high)
            near = self._neighbours(int(i))
            points = NeighbourPoints(self.t[near], self.q[near], self.v[near], self.a[near])
            space = self.space or Vector(self.q.shape[1])
            method = interpolate if self.smooth else straight
            q[here], v[here] = method(space, points, i - near.start, flat[here])
        q[flat == high], v[flat == high] = self.q[-1], self.v[-1]  # the last of several points at one time
        return q.reshape(*times.shape, -1), v.reshape(*times.shape, -1)

    def _neighbours(self, i: int) -> slice:
        """Points to interpolate through in step i: the step and one point on either side.

        Not across an event, and not over steps of another size, which would magnify round-off.
        """
        if not self.smooth:
            return slice(i, i + 2)
        begin = max(i - 1, 0)
        ratio = np.diff(self.t[begin : i + 3]) / (self.t[i + 1] - self.t[i])
        jumps = np.flatnonzero((ratio < ALIKE) | (ratio * ALIKE > 1.0)) + begin
        first = max([max(i - 1, 0), *(int(j) + 1 for j in jumps if j < i)])
        last = min([i + 3, *(int(j) + 1 for j in jumps if j > i)])
        return slice(first, last)


class NeighbourPoints(NamedTuple):
    """A few neighbouring points of a motion."""

    t: Array
    q: Array
    v: Array
    a: Array


def interpolate(space: Group, points: NeighbourPoints, i: int, times: Array) -> tuple[Array, Array]:
    """Hermite interpolation through all points, in local coordinates of point i: q and v at the times, (N, n)."""
    if len(points.t) == 1:
        return np.repeat(points.q, len(times), axis=0), np.repeat(points.v, len(times), axis=0)
    delta = space.local(np.broadcast_to(points.q[i], points.q.shape), points.q)
    if not space.flat:  # neighbours that are turned too far have no place in one chart
        turned = np.append(0.0, np.cumsum(space.turn(space.local(points.q[:-1], points.q[1:]))))
        keep = (np.abs(turned - turned[i]) <= FAR) | (np.abs(np.arange(len(delta)) - i - 0.5) < 1.0)
        points, delta, i = NeighbourPoints(*(a[keep] for a in points)), delta[keep], i - int(np.sum(~keep[:i]))
    rate, curve = local_ends(space, delta, points.v, points.a)
    origin, unit = points.t[i], float(np.max(np.abs(np.diff(points.t))))
    nodes = np.repeat((points.t - origin) / unit, 3)
    data = np.stack([delta, unit * rate, unit**2 * curve], axis=1).reshape(len(nodes), -1)
    polynomial = scipy.interpolate.KroghInterpolator(nodes, data)
    place, slope = polynomial.derivatives((times - origin) / unit, 2)
    base = np.broadcast_to(points.q[i], place.shape)
    return space.wrap(space.retract(base, place)), local_velocity(space, place, slope / unit)


def straight(space: Group, points: NeighbourPoints, i: int, times: Array) -> tuple[Array, Array]:
    """Linear interpolation from point i to the next."""
    if len(points.t) == i + 1:
        return np.repeat(points.q[i:], len(times), axis=0), np.repeat(points.v[i:], len(times), axis=0)
    share = ((times - points.t[i]) / (points.t[i + 1] - points.t[i]))[:, None]
    base = np.broadcast_to(points.q[i], (len(times), len(points.q[i])))
    q = space.retract(base, share * space.local(points.q[i], points.q[i + 1]))
    return space.wrap(q), (1.0 - share) * points.v[i] + share * points.v[i + 1]


def local_ends(space: Group, delta: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """δ̇ and δ̈ at the end of a step."""
    rate = space.rate(delta, v)
    if space.flat:
        return rate, a
    size = CUBE_ROOT / np.maximum(np.max(np.abs(rate), axis=-1, keepdims=True), 1.0)
    change = (space.rate(delta + size * rate, v) - space.rate(delta - size * rate, v)) / (2.0 * size)
    return rate, space.rate(delta, a) + change


def local_velocity(space: Group, delta: Array, slope: Array) -> Array:
    """The velocity v of δ̇: the inverse of `rate`, which is linear in v."""
    if space.flat:
        return slope
    identity = np.eye(space.size)
    columns = [space.rate(delta, np.broadcast_to(identity[j], delta.shape)) for j in range(space.size)]
    return np.asarray(np.linalg.solve(np.stack(columns, axis=-1), slope[..., None])[..., 0])
