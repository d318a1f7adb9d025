"""Moreau's time stepping: impulses over a step, any number of contacts, impact and Coulomb friction.

With q_B = q∘exp((1 − θ) h v) and θ = ½ by default:

    M (v⁺ − v) = h f + Gᵀ R + W_Nᵀ P_N + W_Tᵀ P_T,     q⁺ = q_B∘exp(θ h v⁺),

with M, G, W and the gaps at q_B, and impulses as in `impulses`. The forces f are those at q_B and the mean velocity;
with `theta` given they are those at q∘exp(θ h v_θ), v_θ = (1 − θ) v + θ v⁺, found by Newton's method: for stiff
springs. With joints, q_B = q∘exp((1 − θ) h v_θ) and q⁺ = q∘exp(h v_θ): forces in the middle of the step keep the joints
at its end, and do no work if these are quadratic; after a blow velocities return to the joints. What penetrates after a
step is projected out in the metric of the mass. Of second order where nothing happens and θ = ½, of first order across
impacts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.types import Array, Mask, Status
from onesided.dynamics.contacts.contact_run import Outcome, World, check_events, collect
from onesided.dynamics.contacts.impulses import Impulses, answer
from onesided.dynamics.contacts.impulses_sparse import SparseImpulses
from onesided.dynamics.contacts.moreau_check import Scheme, Shift, audit, middles, not_unique
from onesided.dynamics.contacts.moreau_events import UserZeros, friction_events
from onesided.dynamics.contacts.moreau_leaps import SLACK, Leaps
from onesided.dynamics.contacts.moreau_steps import Begin, MoreauSteps, Stepped
from onesided.dynamics.contacts.rule_matters import SharesMatter, names_that_matter
from onesided.dynamics.contacts.soft import off_law
from onesided.dynamics.feedback import FeedbackError
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.monitors import Arrays
from onesided.dynamics.motion_run import Request
from onesided.evaluation.motion_terms import Terms
from onesided.results import Motion, MotionEvent, Occurrence
from onesided.results.path import format_number
from onesided.system.contact_equations import ContactEquations

BLOW = 0.5  # a contact force that changes by this share in a step comes with a blow to the joints
JUMP = 0.5  # of the velocities, which a constraint asks for at the end of a step but does not keep
TURNED = (0.1, 2.5)  # of the change of its drive: how far the rate of a constraint is off where that turns at once
CROWDED = "too many contacts of bodies that touch each other to share their forces by a rule"
GROW = 32  # typical sizes are brought up to date after so many steps


@checked
@dataclass(frozen=True)
class Moreau:
    """Time stepping of Moreau and Jean for contacts with impact and friction.

    Attributes
    ----------
    step : size of a step.
    accuracy : residual of the complementarity conditions, relative to the impulses, at which a step counts as solved.
    theta : None for explicit forces, which is fast and needs steps below 2/(largest frequency); ½ to 1 for implicit
        forces, stable at any step: ½ keeps the energy of linear springs, 1 damps what steps do not resolve.
    """

    step: float = 1e-3
    accuracy: float = 1e-10
    theta: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.step < np.inf:
            raise UsageError("`step` is out of range", got=repr(self.step), expected="a positive number")
        if not 0.0 < self.accuracy < 1.0:
            raise UsageError("`accuracy` is out of range", got=repr(self.accuracy), expected="between 0 and 1")
        if self.theta is not None and not 0.5 <= self.theta <= 1.0:
            raise UsageError("`theta` is out of range", got=repr(self.theta), expected="½ to 1, or None for explicit")

    def begin(self, request: Request) -> "March":
        """Make a motion that can begin."""
        world = World(request)
        if world.pace.sampled and self.theta == 1.0:
            raise UsageError("feedback needs another `theta`", got="theta = 1", expected="None, or ½ to below 1")
        if len(world.rows.soft) and self.theta is not None:
            raise UsageError(
                "compliant contacts need explicit forces",
                got=f"{', '.join(world.names[i] for i in world.rows.soft)} with theta = {self.theta:g}",
                expected="Moreau(step=…) with steps that resolve their vibration, or EventDriven()",
            )
        check_events(request.events, request.stop, world.start)
        return March(world, self)


class March:
    """One motion in progress, all steps of the same size."""

    def __init__(self, world: World, method: Moreau) -> None:
        self.world, self.method = world, method
        self.events: list[MotionEvent] = []
        self.status, self.note = Status.finished, ""
        request, n, rows = world.request, world.equations.n, world.equations.rows
        count = world.pace.steps(method.step)
        self.h = (request.last - request.first) / count
        if count > request.max_steps:
            self.status, count = Status.max_iterations, request.max_steps
            self.note = f"{count} steps do not reach the end"
        self.count, self.points = count, 0
        theta = 0.5 if method.theta is None else method.theta
        self.scheme = Scheme(self.h, theta, method.theta is not None, bool(len(world.rows.always)))
        self.equations, self.impulses = world.equations, Impulses(world, self.h, theta * self.h, method.accuracy)
        if method.theta is None and not len(world.rows.always) and not len(world.rows.soft):
            self._use_pattern()
        self.steps = MoreauSteps(world, self.scheme, self.impulses, self.equations)
        sizes = ((), (n,), (n,), (n,), (rows,), (), (0,))
        self._log = Arrays(*(np.empty((count + 1, *size)) for size in sizes))
        self._log.t[:] = request.first + np.arange(count + 1) * self.h
        self._log.q[0], self._log.v[0], self._log.a[0], self._log.mu[0] = world.start.q, world.start.v, world.start.a, 0
        self._shifts: list[Shift] = []
        self._jolted, self._unsettled = False, 0.0
        self._drives: list[Array] = []  # rates at which joints are moved, in the last steps
        self._given = np.zeros(count + 1)  # energy that a sampled control brought in
        self._pressing = np.zeros(len(world.names), dtype=bool)
        self._flat = world.equations.space.flat
        self._leaps, self._ahead = Leaps(world, self.steps, self.impulses, self.h), 0
        self._zeros = UserZeros(world)

    def _use_pattern(self) -> None:
        """For many contacts: derivatives and matrices with few entries only."""
        world, start = self.world, self.world.start
        equations = ContactEquations(world.request.system, world.request.control)
        equations.held = world.equations.held
        equations.find_pattern(start.t, start.q, start.v)
        if equations.pattern is not None:
            self.equations = world.patterned = equations
            self.impulses = SparseImpulses(world, equations.pattern, self.h, self.method.accuracy)

    @property
    def state(self) -> MotionState:
        """The last point that was reached."""
        i, log = self.points - 1, self._log
        return MotionState(float(log.t[i]), log.q[i], log.v[i], log.a[i], log.mu[i])

    def items(self) -> Iterator[int]:
        """Step after step: the number of points so far."""
        world = self.world
        for i in range(self.count + 1):
            if i >= self._ahead and i < self.count and self._leaps.due(self.count - i):
                self._leap(i)
            terms = self._settled(i) if i >= self._ahead else None
            if terms is not None and 0 < i < self.count and world.pace.sampled:
                terms = self._fed_back(i, terms)
            self.points = i + 1
            if i % GROW == 0 or i == self.count:
                recent = slice(max(0, i - GROW), i + 1)
                self.world.sizes.grow(self._log.q[recent], self._log.v[recent])
            yield self.points
            if not self.status.ok and self.status is not Status.max_iterations:
                return
            if i and self.world.request.events and self._users():
                return
            if terms is not None and i < self.count and not self._advance(i, terms):
                return

    def motion(self) -> Motion:
        """What was found so far, rechecked."""
        with np.errstate(over="ignore", invalid="ignore"):  # of motions beyond all bounds
            return self._rechecked()

    def _rechecked(self) -> Motion:
        points = Arrays(*(values[: self.points] for values in self._log))
        shifts = [shift for shift in self._shifts if shift.point < self.points]
        found = audit(self.world, points, self.scheme, shifts)
        if self.world.pace.sampled:
            work = found.points.work + np.cumsum(self._given[: self.points])
            found = found._replace(points=found.points._replace(work=work))
        wrong = []
        if self.impulses.worst > 100.0 * self.method.accuracy:
            wrong.append(f"complementarity of a step is met to {self.impulses.worst:.2g} only (relative)")
        if self.impulses.unfinished > self.world.tolerances.energy:
            wrong.append("contacts hit each other more often in a step than can be followed: try smaller steps")
        if self._unsettled > np.sqrt(self.world.tolerances.residual):
            wrong.append(f"forces and velocities of a step settle to {self._unsettled:.2g} only: try smaller steps")
        decided = names_that_matter(self.world, points)
        loose = not_unique(self.world, points)
        decided = SharesMatter(decided.names, decided.unknown or loose.unknown)
        if decided.names and self.impulses.unshared:
            wrong.append(f"{self.impulses.unshared} times contacts did not share their forces by the rule")
        crowd = self.impulses.crowded and (decided.names or decided.unknown)
        note = "; ".join(text for text in (self.note, CROWDED if crowd else "", decided.words) if text)
        wrong += off_law(self.world.equations, middles(self.world.equations, points, self.scheme, shifts))
        told = friction_events(self.world, points)
        facts = {
            "complementarity": self.impulses.worst, "contacts": self.impulses.most, "projections": len(shifts),
            "momentum balance": float(np.max(found.balance, initial=0.0)),
            "work of projections": float(found.projection[-1]),
        }  # fmt: skip
        return collect(
            self.world, Outcome(found.points, (*self.events, *told), self.status, note, self.method, False,
                                tuple(wrong), facts, found.balance, found.projection, self.scheme.theta > 0.5,
                                found.lost, loose.names, decided.names),
        )  # fmt: skip

    def _settled(self, i: int) -> Terms:
        """The equations of the step that begins at point i, which is put back onto the allowed side before."""
        first, terms = self._evaluate(i)
        world, rows, log = self.world, self.world.rows, self._log
        size = float(world.sizes.q.max())
        joints = float(np.max(np.abs(first[rows.joints]), initial=0.0))
        away = (
            np.delete(first[rows.gaps], rows.soft).min(initial=0.0) < -SLACK * world.round_off
            or joints > world.tolerances.residual * size
        )
        kinked = self.scheme.joined and self._driven(i, terms)
        if not self.status.ok and self.status is not Status.max_iterations:
            return terms
        if away or self._jolted or kinked:
            if not self._blow(i):
                self._shifts.append(Shift(i, log.q[i].copy(), log.v[i].copy(), kinked and not self._jolted))
            if away:
                self.impulses.forget()  # joints that were thought to depend on others may have come apart
                log.q[i], _ = world.project(float(log.t[i]), log.q[i].copy(), log.v[i])
            if self._jolted or kinked:
                log.v[i] = self._tangent(i)
            self._jolted = False
            _, terms = self._evaluate(i)
        return terms

    def _fed_back(self, i: int, terms: Terms) -> Terms:
        """The equations of the step that begins at point i, with a sample where one is due."""
        pace, log = self.world.pace, self._log
        if log.t[i] < pace.until() - 0.5 * self.h:
            return terms
        state = MotionState(pace.until(), log.q[i], log.v[i], log.a[i], log.mu[i])
        try:
            self._given[i] = pace.sample(state).work
        except FeedbackError as error:
            self.status, self.note = Status.feedback_failed, str(error)
            return terms
        return self._evaluate(i)[1]

    def _driven(self, i: int, terms: Terms) -> bool:
        """Whether a joint was given another velocity at once in the step to point i; one that jumped ends the motion.

        Then the joint is kept there, but not its rate: by as much as the drive turned, or by more.
        """
        joints, v = self.world.rows.joints, self._log.v[i]
        self._drives = [*self._drives[-2:], (terms.c_dot - terms.Gv)[joints]]
        rate, turned = np.abs(terms.c_dot - self.scheme.late * terms.gamma)[joints], np.ptp(self._drives, axis=0)
        steep = np.abs(terms.G[joints])
        noise = np.sqrt(self.world.tolerances.residual) * np.sum(steep, axis=1) * float(self.world.sizes.v.max())
        off = (rate > noise) & (i > 0) & (not self._jolted)
        jumps = off & (rate > TURNED[1] * turned) & (rate > JUMP * (steep @ np.abs(v)))
        if jumps.any() and np.max(np.abs(v - self._log.v[i - 1])) > JUMP * np.max(np.abs(v)):
            name = self.world.equations.names[joints[np.flatnonzero(jumps)[0]]]
            self.status = Status.step_too_small
            self.note = f"constraint '{name}' jumps just before t = {self._log.t[i]:.6g}"
        return bool(np.any(off & (rate > TURNED[0] * turned) & (rate <= TURNED[1] * turned)))

    def _tangent(self, i: int) -> Array:
        """The velocity at point i with the joints kept at its end: after a blow in the middle of the step before."""
        log, terms = self._log, self.world.terms(float(self._log.t[i]), self._log.q[i], self._log.v[i])
        kept = self.impulses.held(terms.G)
        none = np.zeros((len(log.v[i]), 1))
        return np.asarray(log.v[i] + answer(terms.M, terms.G[kept], none, terms.c_dot[kept])[:, 0])

    def _leap(self, i: int) -> None:
        """Several steps in one call."""
        log, h = self._log, self.h
        most = self.count - i
        if self.world.pace.sampled:
            most = min(most, round((self.world.pace.until() - float(log.t[i])) / h))
        lead = h * log.a[i] if self.scheme.joined and i and not self._jolted else np.zeros_like(log.v[i])
        begin = (float(log.t[i]), log.q[i], log.v[i], h * log.mu[i])
        found = self._leaps.go(begin, lead, most, jolted=self._jolted)
        if found is None:
            return
        k = len(found)
        ends = np.vstack([log.v[i], found.v])
        log.q[i + 1 : i + k + 1], log.v[i : i + k + 1] = found.q, np.vstack([found.begin, found.v[-1:]])
        log.a[i + 1 : i + k + 1] = (found.v - found.begin) / h
        self._jolted = bool(found.jolted[-1])
        self._shifts += [
            Shift(i + int(j), log.q[i + j].copy(), ends[j], False) for j in np.flatnonzero(found.jolted[:-1])
        ]
        log.mu[i + 1 : i + k + 1] = found.impulses / h
        pressing = log.mu[i + 1 : i + k + 1, self.world.rows.gaps] > 0.0
        self.impulses.note(found.off, int(np.max(np.sum(pressing, axis=1))))
        self._unsettled, self._ahead = max(self._unsettled, found.unsettled), i + k
        for step, u in enumerate(found.u):
            self._tell_blows(i + step, pressing[step], u)

    def _evaluate(self, i: int) -> tuple[Array, Terms]:
        log, late = self._log, self.scheme.late
        return self.equations.stepped(late, log.t[i], log.q[i], late * log.v[i], log.v[i], log.mu[i])

    def _advance(self, i: int, terms: Terms) -> bool:
        """From point i to the next; whether there is one."""
        log, h, space = self._log, self.h, self.world.equations.space
        guess = log.v[i] + h * log.a[i] if i and not self._blow(i) else log.v[i]
        found = self.steps.advance(Begin(float(log.t[i]), log.q[i], log.v[i], log.mu[i], guess), terms)
        if not (np.isfinite(found.v).all() and np.isfinite(found.q).all()):
            self.status, self.note = Status.not_finite, f"at t = {log.t[i + 1]:.6g}"
            return False
        q = found.q if found.stopped is None else found.stopped
        log.q[i + 1] = q if self._flat else space.wrap(q)
        if found.stopped is not None:
            self._shifts.append(Shift(i + 1, found.q, found.v.copy()))
        log.v[i + 1] = found.v
        log.a[i + 1] = (found.v - log.v[i]) / h
        log.mu[i + 1] = found.rows / h
        self._unsettled = max(self._unsettled, found.off)
        self._tell(i, found)
        return True

    def _blow(self, i: int) -> bool:
        """Whether velocities jumped in the step to point i."""
        return bool(self._shifts) and self._shifts[-1].point == i

    def _tell(self, i: int, found: Stepped) -> None:
        """Contacts that close with a blow, and whether joints feel it."""
        log, rows = self._log, self.world.rows.gaps
        force, before = log.mu[i + 1][rows], log.mu[i][rows]
        pressing = force > 0.0
        blow = np.abs(force - before) > BLOW * np.maximum(force, before)
        still = self.world.equations.control is None  # then putting velocities back costs next to nothing
        self._jolted = self.scheme.joined and bool(np.any(blow) or (still and pressing.any()))
        self._tell_blows(i, pressing, found.u)

    def _tell_blows(self, i: int, pressing: Mask, u: Array) -> None:
        """Contacts that begin to press in the step from point i, with velocities u before."""
        log, fresh = self._log, pressing & ~self._pressing
        self._pressing = pressing
        for j in np.flatnonzero(fresh):
            speed = -float(u[j])
            if speed > self.world.at_rest_below:
                soft = j in self.world.rows.soft
                detail = f"{'compliant, ' if soft else ''}speed {format_number(speed)}"
                kind = Occurrence.contact if soft else Occurrence.impact
                self.events.append(
                    MotionEvent(kind, float(log.t[i + 1]), log.q[i], log.v[i], self.world.names[j], detail)
                )

    def _users(self) -> bool:
        """Zeros of the user's functions in the last step; whether one of them ends the motion."""
        i, log = self.points - 1, self._log
        ends = [MotionState(float(log.t[k]), log.q[k], log.v[k], log.a[k], log.mu[k]) for k in (i - 1, i)]
        for name, t in self._zeros.between(*ends):
            self.events.append(MotionEvent(Occurrence.user, t, log.q[i], log.v[i], name))
            if name in self.world.request.stop:
                self.status, self.note = Status.stopped, self.events[-1].words()
                return True
        return False
