"""An event while the parameters move along a line θ(τ) = θ₀ + τ d: a curve in (y, τ), corrected and continued.

Near a point w = (y, τ) the solutions of R = 0 are w + (a, 0) + C c: a = −M⁻¹R removes the residual, the columns of C
are the directions that R leaves free (along the equilibria, and with τ). The conditions of the event fix all c but one.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from onesided.base.errors import ModelError, SolveError
from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS, SMALL, Tolerances
from onesided.base.types import Array, Indices
from onesided.design.conditions import Condition
from onesided.design.event_equations import equations_of
from onesided.design.forks import Fork, fork_of
from onesided.design.spots import NOISE, Spot
from onesided.results import Event, Kind
from onesided.statics.curves.curve import Curve
from onesided.statics.curves.large import make_curve
from onesided.statics.curves.spectrum import split
from onesided.statics.equilibria.place import Standpoint
from onesided.system.system import System

NEWTON = 12  # steps of Newton's method
SHORTEST = HALF_DIGITS  # share of the way to other parameters
SLOW = 0.5  # error of a step relative to the one before, above which it does not converge
FAR = 0.5  # scaled distance that one correction may move the event, relative where it has gone far itself


@dataclass(frozen=True, eq=False)
class ParameterLine:
    """Parameters θ₀ + τ d of a system; d is a change of all of them, (P,)."""

    system: System
    direction: Array

    def at(self, tau: float) -> System:
        """The system with these parameters."""
        values = np.array([*self.system.parameters.values()], dtype=float) + tau * self.direction
        changed = {
            name: float(v) for name, v, d in zip(self.system.parameters, values, self.direction, strict=True) if d
        }
        return self.system.replace(parameters=changed) if tau else self.system


@dataclass(frozen=True, eq=False)
class Loose:
    """What the equations leave free near a point, and the conditions on it.

    Attributes
    ----------
    back : (size + 1,) change of w that removes the residual;  free : (size + 1, k + 1) directions that R leaves free.
    wrong : (k,) values of the conditions after that change;  rates : (k, k + 1) their rates along the free directions.
    """

    back: Array
    free: Array
    wrong: Array
    rates: Array

    @property
    def crossing(self) -> float:
        """How clearly the conditions are crossed at fixed parameters: det of their rates along unit directions."""
        return float(np.linalg.det(self.rates[:, :-1] / np.linalg.norm(self.free[:, :-1], axis=0)))

    @property
    def clear(self) -> Array:
        """(k,) largest rate of each condition along unit directions: none where it is met all around."""
        return np.asarray(np.max(np.abs(self.rates) / np.linalg.norm(self.free, axis=0), axis=1))

    def tangent(self, like: Array | None) -> Array:
        """Direction of unit length along the curve of events, in the sense of an earlier one."""
        sizes = np.linalg.norm(self.rates, axis=1, keepdims=True)
        null = np.linalg.svd(self.rates / np.where(sizes > 0, sizes, 1.0))[2][-1]
        t = self.free @ null
        t = t / np.linalg.norm(t)
        return np.asarray(-t if like is not None and t @ like < 0 else t)

    def step(self, normal: Array, off: float) -> Array:
        """Change of w that meets the conditions and the plane normal·w = …, which is missed by `off`."""
        matrix = np.vstack([self.rates, normal @ self.free])
        right = -np.append(self.wrong, off + normal @ self.back)
        try:
            return np.asarray(self.back + self.free @ np.linalg.solve(matrix, right))
        except np.linalg.LinAlgError:
            return np.full(len(normal), np.nan)


@dataclass(frozen=True, eq=False)
class CurveOfEvents:
    """The equations of an event along a line of parameters.

    Attributes
    ----------
    where : the event;  curve : the equilibria it lies on, at τ = 0;  border : scaled direction along them.
    condition : what makes it an event; None for a fork.
    """

    event: Event
    where: Standpoint
    curve: Curve
    border: Array
    condition: Condition | None
    line: ParameterLine
    tolerances: Tolerances

    @cached_property
    def start(self) -> Array:
        """The event in w = (y, τ)."""
        return np.append(self.curve.scaled(self.where.x), 0.0)

    def curve_at(self, tau: float) -> Curve:
        """The equilibria at other parameters, in the same scales."""
        return self.curve_on(self.line.at(tau), self.curve.rows)

    def curve_on(self, system: System, rows: Indices) -> Curve:
        """The equilibria with some constraints closed, in the same scales."""
        return make_curve(system, rows, self.curve.sizes, self.curve.scales)

    def spot(self, w: Array, border: Array | None = None, *, about: bool = False) -> Spot:
        """The linearised equations at w."""
        curve, lines = self.curve_at(float(w[-1])), self.line.direction[None, :]
        return Spot(curve, curve.packed(w[:-1]), self.border if border is None else border, lines, about=about)

    def loose(self, spot: Spot) -> Loose | None:
        """What is free near a point; None where the equations cannot be evaluated or are singular."""
        if not spot.e.finite():
            return None
        if self.condition is None:
            return self._loose_fork(spot)
        if not spot.regular:
            return None
        back, moved = -spot.solve(spot.residual), spot.shift[:, 0]
        rates = self.condition.rates(spot, np.stack([back, spot.t, moved], axis=1))
        with_tau = rates[2] + self.condition.slopes(spot)[0]
        wrong = np.array([self.condition.value(spot) + rates[0]])
        free = _with_tau(np.stack([spot.t, moved], axis=1))
        return Loose(np.append(back, 0.0), free, wrong, np.array([[rates[1], with_tau]]))

    def _loose_fork(self, spot: Spot) -> Loose | None:
        """Both null vectors are free, and zᵀJ v = 0 is asked of both of them [`singular._refine`]."""
        curve, x = spot.curve.measured_at(spot.x), spot.x
        with np.errstate(divide="ignore", invalid="ignore"):  # another mode without stiffness at all
            parts = split(curve, x, self.tolerances, keep=1)
            z, null = parts.tests[:, 0], parts.span
            back, moved = -parts.regular(spot.residual), -parts.regular(spot.R_theta[0])
        if not np.all(np.isfinite(np.concatenate([back, moved, null.ravel()]))):
            return None
        bends = [z @ spot.R_yy(one, null) if np.any(one) else np.zeros(2) for one in (back, *null.T, moved)]
        change = np.array([float(spot.R_y_theta(one)[0] @ z) for one in null.T])
        rates = np.stack([bends[1], bends[2], bends[3] + change], axis=1)
        free = _with_tau(np.column_stack([null, moved]))
        return Loose(np.append(back, 0.0), free, parts.linear[0] + bends[0], rates)

    def corrected(self, w: Array, normal: Array, border: Array | None = None) -> Array | None:
        """The event on the plane through w across `normal`; None where there is none near."""
        here, before = w, np.inf
        for _ in range(NEWTON):
            loose = self._loose_at(here, border, about=True)  # those of the point before are good enough
            if loose is None:
                return None
            move = loose.step(normal, float(normal @ (here - w)))
            size = float(np.max(np.abs(move) / (1.0 + np.abs(here))))
            here = here + move
            if not np.isfinite(size) or _apart(here, w) > FAR:
                return None
            stalled = size > SLOW * before
            settles = before < np.inf and size * (size / before) <= 16.0 * EPS  # the next step, at the rate of this one
            if settles or size <= 16.0 * EPS or (stalled and size <= SMALL):
                return here
            if stalled and size <= QUARTER_DIGITS and size <= self._rounding(here, normal, border):
                return here
            before = size
        return here if before <= SMALL else None

    def _rounding(self, w: Array, normal: Array, border: Array | None) -> float:
        """Corrections that rounding of the residual asks for at an event: it is not known any better."""
        try:
            spot = self.spot(w, border, about=True)
            loose = self.loose(spot)
        except (ModelError, ArithmeticError):
            return 0.0
        if loose is None:
            return 0.0
        moves = [
            replace(loose, back=np.append(one, 0.0), wrong=self._wrong_by(spot, one)).step(normal, 0.0)
            for one in self._rounded(spot).T
        ]
        return NOISE * float(np.max(np.abs(moves) / (1.0 + np.abs(w))))

    def _rounded(self, spot: Spot) -> Array:
        """Changes of the unknowns that rounding of the residual makes; at a fork those that it does not leave free."""
        if self.condition is not None:
            return spot.rounded
        parts = split(spot.curve.measured_at(spot.x), spot.x, self.tolerances, keep=1)
        return np.stack([parts.regular(one) for one in spot.noise.T], axis=1)

    def _wrong_by(self, spot: Spot, change: Array) -> Array:
        """By how much a change of y alters the conditions."""
        if self.condition is not None:
            return np.asarray(self.condition.rates(spot, change[:, None]))
        parts = split(spot.curve.measured_at(spot.x), spot.x, self.tolerances, keep=1)
        return np.asarray(parts.tests[:, 0] @ spot.R_yy(change, parts.span))

    def _loose_at(self, w: Array, border: Array | None, *, about: bool = False) -> Loose | None:
        """What is free near w; None also where there is no system with such parameters."""
        try:
            return self.loose(self.spot(w, border, about=about))
        except (ModelError, ArithmeticError):
            return None

    def tangent(self, w: Array, like: Array | None = None, border: Array | None = None) -> Array | None:
        """Direction along the curve of events; None where the equations are singular."""
        loose = self._loose_at(w, border)
        return None if loose is None else loose.tangent(like)

    def moved_to(self, tau: float) -> Array:
        """The event at τ, followed from τ = 0 with as many steps as it takes.

        It must not meet another of its kind: beyond that it is not known which of them is meant.
        """
        w, step, side = self.start, tau, 0.0
        normal = np.eye(1, len(w), len(w) - 1)[0]
        while w[-1] != tau:
            step = step if abs(step) < abs(tau - w[-1]) else tau - w[-1]
            loose = self._loose_at(w, None)
            t = None if loose is None else loose.tangent(None)
            here = self._side(loose)
            if here * side < 0.0:
                raise self._merged(float(w[-1] / tau))
            side = side or here
            guess = w + t * (step / t[-1]) if t is not None and t[-1] else np.full(len(w), np.nan)
            guess[-1] = tau if step == tau - w[-1] else w[-1] + step
            found = self.corrected(guess, normal) if _apart(guess[:-1], w[:-1]) <= FAR else None
            if found is None:
                step /= 2.0
                if abs(step) < SHORTEST * abs(tau):
                    raise self._lost(float(w[-1] / tau))
            else:
                found[-1], w, step = guess[-1], found, 2.0 * step
        loose = self._loose_at(w, None)
        if self._side(loose) * side < 0.0:
            raise self._merged(1.0)
        return w

    def _side(self, loose: Loose | None) -> float:
        """In which sense the condition is crossed; 0 where that is not known, as at forks, whose modes have no sign."""
        return 0.0 if loose is None or self.condition is None else loose.crossing

    def _merged(self, share: float) -> SolveError:
        return SolveError(
            "on the way to these parameters the event meets another of its kind: which goes on is not known",
            None,
            got=f"{self.event.kind.value} at {self.event.control} = {self.event.p:.10g}, within {share:.3g} of the way",
            advice="`onesided.follow` says where; or trace again",
        )

    def _lost(self, share: float) -> SolveError:
        return SolveError(
            "the event was lost on the way to these parameters",
            None,
            got=f"{self.event.kind.value} at {self.event.control} = {self.event.p:.10g}, after {share:.3g} of the way",
            advice="`onesided.follow` says where it ends; or trace again",
        )

    def violated(self, spot: Spot) -> str:
        """In words what makes a point no equilibrium of the system: a gap or a reaction below zero; else empty."""
        k = len(spot.curve.system.bilateral)
        margins, _ = spot.curve.margins(spot.e, spot.y, np.zeros(spot.curve.size))
        names = spot.curve.system.constraint_names
        low = np.flatnonzero(margins < -self.tolerances.gap)
        return ", ".join(f"'{names[k + int(j)]}' is passed by {-margins[j]:.3g}" for j in low)


def curve_of_events(event: Event, system: System | None, direction: Array, tolerances: Tolerances) -> CurveOfEvents:
    """The equations of an event along a direction in its parameters.

    Of several constraints that change at once the first is followed.
    """
    if event.kind is Kind.smooth_bifurcation:
        where, fork = fork_of(event, system, tolerances)
        line = ParameterLine(where.system, direction)
        return CurveOfEvents(event, where, fork.curve, fork.t, None, line, tolerances)
    made = equations_of(event, system)
    line = ParameterLine(made.where.system, direction)
    return CurveOfEvents(event, made.where, made.curve, made.border, made.conditions[0], line, tolerances)


def refuse_broken(events: CurveOfEvents) -> None:
    """Refuse a direction of the parameters that breaks a fork: there is no curve of forks along it."""
    if events.condition is not None:
        return
    spot = events.spot(events.start)
    fork = Fork(
        spot.curve.measured_at(spot.x),
        spot.x,
        split(spot.curve.measured_at(spot.x), spot.x, events.tolerances),
        symmetric=True,
    )
    change = np.stack([spot.R_y_theta(one) @ fork.z for one in fork.null.T], axis=1)
    if fork.breaking(spot, change)[1][0]:
        raise SolveError(
            "the parameters break the bifurcation: it cannot be followed",
            None,
            got=f"{events.event.kind.value} at {events.event.control} = {events.event.p:.10g}",
            advice="`onesided.sensitivity` tells the power law; follow the limit point that takes its place",
        )


def _apart(a: Array, b: Array) -> float:
    """Largest difference of entries, relative where they are large."""
    return float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b))))


def _with_tau(columns: Array) -> Array:
    """Directions in y with their part along τ: none, but for the last."""
    last = np.zeros(columns.shape[1])
    last[-1] = 1.0
    return np.vstack([columns, last])
