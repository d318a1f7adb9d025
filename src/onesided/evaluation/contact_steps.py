"""Many time steps of Moreau's method as one compiled call.

The formulas of `dynamics.moreau_steps` and `dynamics.impulses` for explicit steps: contacts with friction of all kinds,
compliant ones, joints at rest, forces that depend on velocities. The call ends before the first step that needs an
impact with restitution, a projection, a contact that begins to slide beyond static friction, forces that are hard to
share, or more rounds than usual: that one is left to the caller.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.tolerances import EPS, HALF_DIGITS, MOST_DIGITS
from onesided.evaluation.compiling import compiled
from onesided.evaluation.cone_newton import DEPENDENT, ConeAnswer, ConeNewton, ConeProblem, arranged
from onesided.evaluation.smooth_steps import solved

if TYPE_CHECKING:
    from onesided.evaluation.motion_terms import Control

LONGEST = 64  # steps of one call
ROUNDS = 20  # of forces that depend on velocities
SOLVED = 0.01  # of the accuracy: residual of the impulses of a step
STILL = HALF_DIGITS  # approach below this share of its change is rest where restitution is one
SETTLED = MOST_DIGITS  # a change of velocities, relative, that rounds need not fall below


class LeapRules(NamedTuple):
    """What does not change in a call.

    Size of a step; reach per way, least approach of an impact; sizes of a closed gap and of a violation that are
    allowed; accuracy of the impulses; change of velocities that does not matter, size of velocities; whether forces
    depend on velocities, or on the middle of the step; residual of joints that is allowed.
    """

    h: float
    reach: float
    rest: float
    closed: float
    slack: float
    accuracy: float
    fine: float
    speed: float
    restless: float
    apart: float


class LeapStart(NamedTuple):
    """Time and control; configuration, velocity, impulses of the step before; forces that are held.

    `lead` is what velocities are expected to change by; `jolted` whether they are to be put back onto the joints.
    """

    t: Any
    p: Any
    q: Any
    v: Any
    P: Any
    held: Any
    lead: Any
    jolted: Any


class _LeapWay(NamedTuple):
    """Steps so far, whether the last one was good, where we are, and the rows of all."""

    count: Any
    good: Any
    q: Any
    v: Any
    P: Any
    lead: Any
    jolted: Any
    rows: Any


class _Middle(NamedTuple):
    """The middle of a step: configuration, p and rates; u of all rows, c and gradients of the gaps; b; all responses.

    `gaps` are those at the end without velocities of their own, out of reach where contacts are compliant. `shift` is
    the change of velocity that joints ask for.
    """

    q: Any
    rates: Any
    u: Any
    c: Any
    normals: Any
    gaps: Any
    b: Any
    W: Any
    X: Any
    D: Any
    inverse: Any
    shift: Any


class _Round(NamedTuple):
    """Velocity at the end, impulses (C, w), those of joints, residual, whether all went well; change by this round."""

    v: Any
    P: Any
    R: Any
    off: Any
    good: Any
    change: Any
    count: Any
    going: Any


class Leap:
    """Compiled steps of one system.

    Called with a start, restitution of the contacts, rules, number of steps wanted, parameters and control; returns the
    number of good steps, then a row for each: q, v, velocity at its beginning, impulses of all rows of G, velocities of
    the gaps before, residual of the impulses, change of velocities by the last round, whether the velocity at its
    beginning was put back onto the joints, and whether that at its end is to be. `asked` counts steps that were taken
    one by one: those that would have paid for the compilation.
    """

    def __init__(self, functions: Any) -> None:
        of = self._of = functions
        names = tuple(of.system.unilateral)
        self.cones = arranged(of.gaps_count, of.joints, of.m + of.rolling, of.blocks, names)
        self._newton, self._rows = ConeNewton(self.cones), of.m + of.k
        laws = [of.system.contacts[name].compliance if name in of.system.contacts else None for name in names]
        self._laws = [(i, law) for i, law in enumerate(laws) if law is not None]
        self._soft = np.array([law is not None for law in laws], dtype=bool)
        rubs = [(self.cones.real & (self.cones.owner == i)[:, None]).any() for i in range(len(names))]
        self._rubs = np.array(rubs, dtype=bool)
        self._always = np.r_[0 : of.joints, of.m : of.m + of.rolling]
        self._joints_hold = float(len(self._always) > 0)
        self.steps, self.asked = compiled(self._steps, static_argnums=5), 0

    @property
    def places(self) -> int:
        """Size of the systems that are solved."""
        return int(self.cones.source.size)

    def _steps(
        self, x: LeapStart, e: Any, rules: LeapRules, wanted: Any, vector: Any, control: "Control | None"
    ) -> Any:
        def more(way: _LeapWay) -> Any:
            return way.good & (way.count < wanted)

        def step(way: _LeapWay) -> _LeapWay:
            here = x._replace(t=x.t + way.count * rules.h, q=way.q, v=way.v, P=way.P, lead=way.lead, jolted=way.jolted)
            here = self._settled(here, vector, control)
            q, found, u = self._step(here, e, rules, vector, control)
            P, good = self._impulses(found), found.good
            jolted = self._jolts(way.P, P)
            told = jnp.stack([found.off, found.change, way.jolted, jolted])
            row = jnp.concatenate([q, found.v, here.v, P, u, told])
            rows = lax.dynamic_update_slice(way.rows, row[None], (way.count.astype(int), 0))
            lead = (found.v - here.v) * (1.0 - jolted) * self._joints_hold
            now = _LeapWay(way.count + 1.0, good, q, found.v, P, lead, jolted, rows)
            chosen: _LeapWay = jax.tree.map(lambda a, b: jnp.where(good, a, b), now, way._replace(good=good))
            return chosen

        width = 3 * self._of.n + self._rows + self._of.gaps_count + 4
        none = jnp.zeros(())
        start = _LeapWay(none, none == 0.0, x.q, x.v, x.P, x.lead, x.jolted, jnp.zeros((LONGEST, width)))
        end = lax.while_loop(more, step, start)
        return jnp.concatenate([end.count[None], end.rows.ravel()])

    def _step(
        self, x: LeapStart, e: Any, rules: LeapRules, vector: Any, control: "Control | None"
    ) -> tuple[Any, _Round, Any]:
        """The next configuration, what led there, and the velocities of the gaps before."""
        of, half, gaps = self._of, 0.5 * rules.h, slice(self._of.joints, self._of.m)
        first = of.holonomic(x.q, of.control(control, x.t, x.p)[0], vector)
        fixed = None if self._joints_hold else self._middle(x, half, vector, control)

        def round_(last: _Round) -> _Round:
            mean = 0.5 * (x.v + last.v)
            middle = self._joined(x, last.v, half, vector, control) if fixed is None else fixed
            p, p_dot, _ = middle.rates
            f = of.generalised_force(x.t + half, middle.q, mean, jnp.zeros(of.m), p, vector, p_dot=p_dot) + x.held
            known = self._by_law(middle, mean - x.v, rules.h)
            found = self._pushed(x, middle, (rules.h * f, known), last.P, (e, rules))
            change = jnp.max(jnp.abs(found.v - last.v))
            small = (change <= rules.fine) | ((change >= 0.5 * last.change) & (change <= SETTLED * rules.speed))
            going = (rules.restless > 0.0) & ~(small & (last.count > 0.0)) & found.good & (last.count < ROUNDS)
            return found._replace(change=change, count=last.count + 1.0, going=going)

        none = jnp.zeros(())
        guess, P, R = x.v + x.lead, self._newton.places(x.P), jnp.zeros(len(self._always))
        start = _Round(guess, P, R, none, none == 0.0, none + jnp.inf, none, none == 0.0)
        found = lax.while_loop(lambda r: r.going, round_, start)
        off = jnp.where(rules.restless > 0.0, found.change / rules.speed, 0.0)
        violated = jnp.min(jnp.where(self._soft, 0.0, first[gaps]), initial=0.0) < -rules.slack
        violated |= jnp.max(jnp.abs(first[: of.joints]), initial=0.0) > rules.apart
        good = found.good & ~violated & jnp.all(jnp.isfinite(found.v)) & (found.count <= ROUNDS)
        q, u = self._ended(x, found.v, fixed, half, vector, control)
        return q, found._replace(change=off, good=good & jnp.all(jnp.isfinite(q))), u

    def _ended(
        self, x: LeapStart, v: Any, fixed: _Middle | None, half: Any, vector: Any, control: "Control | None"
    ) -> tuple[Any, Any]:
        """The configuration at the end, and the velocities of the gaps at the beginning."""
        of, gaps, mean = self._of, slice(self._of.joints, self._of.m), 0.5 * (x.v + v)
        if fixed is not None:
            return of.space.wrap(of.space.retract(fixed.q, half * v)), fixed.u[gaps]
        q = of.space.retract(x.q, half * mean)
        rates = of.control(control, x.t + half, x.p)
        u = of.constraint_rates(q, mean, rates, vector)[1]
        back = of.gradients(q, mean, rates[0], vector, (x.v - mean)[:, None])[:, 0]
        return of.space.wrap(of.space.retract(x.q, 2.0 * half * mean)), (u + back)[gaps]

    def _impulses(self, found: _Round) -> Any:
        """Impulses of all rows of G."""
        return self._newton.gathered(found.P, self._rows).at[self._always].set(found.R)

    def _jolts(self, before: Any, after: Any) -> Any:
        """Whether velocities are to be put back onto the joints: they feel contacts that press, or pressed just now."""
        gaps = slice(self._of.joints, self._of.m)
        return jnp.any(jnp.maximum(before[gaps], after[gaps]) > 0.0) * self._joints_hold

    def _settled(self, x: LeapStart, vector: Any, control: "Control | None") -> LeapStart:
        """The start of a step with velocities that the joints allow, after a blow in the step before."""
        if not self._joints_hold:
            return x
        of, n = self._of, self._of.n

        def put_back() -> Any:
            rates = of.control(control, x.t, x.p)
            G = of.gradients(x.q, x.v, rates[0], vector, jnp.eye(n))[self._always]
            off = of.constraint_rates(x.q, x.v, rates, vector)[1][self._always]
            return x.v - self._responses(x.q, x.v, G, vector)[:n, n:] @ off

        return x._replace(v=lax.cond(x.jolted > 0.0, put_back, lambda: x.v))

    def _responses(self, q: Any, v: Any, G: Any, vector: Any) -> Any:
        """The inverse of [[M, Gᵀ], [G, 0]] with the rows that always hold."""
        of, n, m = self._of, self._of.n, len(G)
        M = jax.vmap(lambda d: jax.jvp(lambda w: of.momentum(q, w, vector), (v,), (d,))[1], out_axes=1)(jnp.eye(n))
        K = jnp.block([[M, G.T], [G, jnp.zeros((m, m))]]) if m else M
        return solved(K, jnp.eye(n + m))[0]

    def _joined(self, x: LeapStart, guess: Any, half: Any, vector: Any, control: "Control | None") -> _Middle:
        """The middle of a step on the way to a velocity at its end, so that joints hold there: see `moreau_steps`."""
        of, n, gaps, always = self._of, self._of.n, slice(self._of.joints, self._of.m), self._always
        mean = 0.5 * (x.v + guess)
        q, rates = of.space.retract(x.q, half * mean), of.control(control, x.t + half, x.p)
        last = of.control(control, x.t + 2.0 * half, x.p)[0]
        end = of.holonomic(of.space.retract(x.q, 2.0 * half * mean), last, vector)
        c, u, gamma = of.constraint_rates(q, mean, rates, vector)
        G = of.gradients(q, mean, rates[0], vector, jnp.eye(n))
        tangent = half * gamma[gaps]
        near = jnp.where(self._soft, jnp.inf, end[gaps] - half * (u + G @ (guess - mean))[gaps])
        b = tangent + jnp.maximum(near / half - tangent, 0.0)
        ahead, rolling = G[always] @ (guess - x.v), u[of.m : of.m + of.rolling]
        taken = jnp.concatenate([end[: of.joints] / half, 2.0 * rolling]) - ahead
        inverse = self._responses(q, mean, G[always], vector)
        coupled = self._coupled(G, inverse[:n, :n])
        return _Middle(
            q, rates, u - G @ (mean - x.v), c[gaps], G[gaps], near, b, *coupled, inverse, -inverse[:, n:] @ taken
        )

    def _coupled(self, G: Any, inverse: Any) -> tuple[Any, Any, Any]:
        """W, X = W M⁻¹ and D = W M⁻¹ Wᵀ of the places of all contacts."""
        if not self._of.gaps_count:
            return None, None, None
        W = self._newton.spread(G)
        W = W.at[np.flatnonzero(self._soft), 0].set(0.0)  # their normal impulses are known
        X = W @ inverse.T
        return W, X, self._given(self._newton.coupled(W, X))

    def _middle(self, x: LeapStart, half: Any, vector: Any, control: "Control | None") -> _Middle:
        of, gaps, n = self._of, slice(self._of.joints, self._of.m), self._of.n
        rates, q = of.control(control, x.t + half, x.p), of.space.retract(x.q, half * x.v)
        c, u, gamma = of.constraint_rates(q, x.v, rates, vector)
        G = of.gradients(q, x.v, rates[0], vector, jnp.eye(n))
        inverse = self._responses(q, x.v, G[:0], vector)
        tangent = half * gamma[gaps]
        near = jnp.where(self._soft, jnp.inf, c[gaps] + 0.5 * half * tangent)
        b = tangent + jnp.maximum(near / half - tangent, 0.0)
        coupled = self._coupled(G, inverse)
        return _Middle(q, rates, u, c[gaps], G[gaps], near, b, *coupled, inverse, jnp.zeros(n))

    def _given(self, D: Any) -> Any:
        """D with a diagonal for the normal impulses of compliant contacts."""
        for i, _ in self._laws:
            first, last = i * self._newton.w, (i + 1) * self._newton.w
            most = jnp.max(jnp.diagonal(D[i, :, first:last]))
            D = D.at[i, 0, first].set(jnp.where(most > 0.0, most, 1.0))
        return D

    def _by_law(self, at: _Middle, change: Any, h: Any) -> Any:
        """Normal impulses of compliant contacts at the velocity changed so far, zero for the others."""
        known = jnp.zeros(len(self._soft))
        for i, law in self._laws:
            depth, rate = -at.c[i], -(at.u[self._of.joints + i] + at.normals[i] @ change)
            force = jnp.maximum(law.force(jnp.maximum(depth, 0.0), rate), 0.0)
            known = known.at[i].set(h * jnp.where(depth > 0.0, force, 0.0))
        return known

    def _pushed(
        self, x: LeapStart, at: _Middle, push: tuple[Any, Any], guess: Any, given: tuple[Any, LeapRules]
    ) -> _Round:
        """Velocity at the end and impulses for forces that are known, and normal impulses that are."""
        (e, rules), newton, cones, (f, known) = given, self._newton, self.cones, push
        n, true, pushed = self._of.n, self._of.gaps_count, f + known @ at.normals
        answer = at.inverse[:, :n] @ pushed + at.shift
        if not true:
            good = jnp.all(jnp.isfinite(answer))
            return _Round(x.v + answer[:n], guess, -answer[n:], 0.0 * answer[0], good, answer[0], answer[0], good)
        dv, u = answer[:n], newton.spread(at.u)
        change = at.W @ dv
        own = at.u[self._of.joints : self._of.m]
        free = own + change[:true, 0]
        near = at.gaps <= rules.reach * rules.h * jnp.max(jnp.abs(free), initial=0.0) + rules.closed
        b = jnp.where(near, at.b, 0.0)
        changes = jnp.abs(free - own)
        slow = jnp.where(e < 1.0, rules.rest, STILL) * changes
        slow = jnp.where(e > 0.0, slow, rules.rest * jnp.max(jnp.where(near, changes, 0.0)))
        hits = near & (at.gaps + 0.5 * rules.h * free < 0.0) & (own < -slow) & ((e > 0.0) | self._rubs)
        wanted, held = (u + change).at[:true, 0].add(b), self._soft & self._rubs & (known > 0.0)
        stiff = jnp.stack([at.D[i, 0, i * newton.w] for i in range(true)])
        wanted = wanted.at[:true, 0].set(jnp.where(self._soft, -stiff * known, wanted[:true, 0]))
        taking = (near | held)[cones.owner]
        scale = jnp.maximum(jnp.max(jnp.where(taking[:, None], jnp.abs(wanted), 0.0)), jnp.max(jnp.abs(b)))
        idle = jnp.all(~near | (wanted[:true, 0] >= -EPS * scale)) & ~jnp.any(held)
        limits = self._limits(x, u, rules, scale)
        problem = ConeProblem(at.D, wanted, taking & ~idle, limits, scale)
        found = newton.solve(problem, guess, SOLVED * rules.accuracy)
        found = self._shared(problem, found, rules)
        presses = found.P[:, 0] > rules.accuracy * jnp.max(found.P[:, 0])  # iterations leave traces elsewhere
        P = jnp.where((taking & presses)[:, None] & ~idle, found.P, 0.0)
        P = P.at[:true, 0].set(jnp.where(self._soft, known, P[:true, 0]))
        good = idle | ((found.off <= SOLVED * rules.accuracy) & self._sticks(problem, P, rules))
        after = x.v + dv + jnp.einsum("cw,cwn->n", P, at.X)
        R = -answer[n:] - at.inverse[n:, :n] @ jnp.einsum("cw,cwn->n", P, at.W)
        return _Round(after, P, R, jnp.where(idle, 0.0, found.off), good & ~jnp.any(hits), dv[0], dv[0], good)

    def _limits(self, x: LeapStart, u: Any, rules: LeapRules, scale: Any) -> Any:
        """Limits of friction: those of sticking for cones that did not slide in the step before."""
        cones = self.cones
        if not cones.firm.any():
            return jnp.asarray(cones.kinetic)
        P = self._newton.places(x.P)
        force, most = jnp.linalg.norm(P[:, 1:], axis=1), cones.kinetic * P[:, 0]
        moves = jnp.linalg.norm(u[:, 1:], axis=1) > rules.accuracy * scale
        slid = ~(most > 0.0) | (jnp.abs(force - most) <= jnp.sqrt(rules.accuracy) * most)
        return jnp.where(cones.firm & ~(moves & slid), cones.static, cones.kinetic)

    def _shared(self, problem: ConeProblem, found: ConeAnswer, rules: LeapRules) -> ConeAnswer:
        """The impulses, those of equally compliant contacts where they are not unique."""
        if self._of.gaps_count == 1:
            return found
        w = self._newton.velocities(problem, found.P)
        touching = problem.near & ~(found.P[:, 0] > 0.0) & (w[:, 0] <= rules.accuracy * problem.scale)
        alone = jnp.sum(problem.near[: self._of.gaps_count]) <= 1
        unique = alone | ((found.pivot > DEPENDENT) & ~jnp.any(touching))
        tol = SOLVED * rules.accuracy
        chosen: ConeAnswer = lax.cond(unique, lambda: found, lambda: self._newton.as_compliant(problem, found.P, tol))
        return chosen

    def _sticks(self, problem: ConeProblem, P: Any, rules: LeapRules) -> Any:
        """Whether no contact slides that was to stick by static friction."""
        cones = self.cones
        if not cones.firm.any():
            return True
        slip = jnp.where(cones.real, self._newton.velocities(problem, P)[:, 1:], 0.0)
        beyond = cones.firm & (problem.limits > cones.kinetic) & problem.near
        return ~jnp.any(beyond & (jnp.linalg.norm(slip, axis=1) > jnp.sqrt(rules.accuracy) * problem.scale))
