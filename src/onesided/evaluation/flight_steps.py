"""Flights between impacts of bodies that touch nothing, many of them as one compiled call.

Steps of `smooth_steps`; along each of them every gap is interpolated as in `dynamics.watching.resolve`, by a
polynomial on four pieces whose last coefficients tell its error. A gap passes where the polynomial is positive beyond
doubt, or monotone or concave with ends that are; where it falls through zero once, the impact is located by steps of
their own and a single contact bounces by Newton's law, with Coulomb friction (`single_impact`). All else is left to the
caller: contacts that touch together, that roll or spin with friction, gaps with kinks, impacts that are slow or come to
rest. What acts from outside and changes with time is looked at as in `dynamics.watching.forcing`: steps that do not
resolve it are cut.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.polynomial import chebyshev

from onesided.base.tolerances import EPS
from onesided.evaluation.compiling import compiled
from onesided.evaluation.outside import Outside, acted, nothing_yet, unresolved
from onesided.evaluation.single_impact import struck
from onesided.evaluation.smooth_steps import (
    LONGEST,
    STRIKE,
    MotionPoint,
    SeenSizes,
    StrideFunctions,
    StrideRules,
    StrideWay,
    Trial,
    TrialTask,
    chosen,
    compared,
    decided,
    grown_sizes,
    limited,
)
from onesided.evaluation.step_curves import along_step, bumped, middle_of_step, step_powers
from onesided.linalg.interpolants import COEFFICIENTS, DEGREE, LAST, NODES, RESOLVED, ROUNDING, SAFETY, SMOOTH

if TYPE_CHECKING:
    from onesided.evaluation.motion_functions import MotionFunctions
    from onesided.evaluation.motion_terms import Control

PARTS = 4
STEP, LOCATE, BOUNCE = 0.0, 1.0, 2.0  # what is done next
BEFORE, AFTER = 1.0, 2.0  # kinds of rows: before and after an impact
FIRST_SLOPE = np.vstack([chebyshev.chebder(np.eye(DEGREE + 1)), np.zeros(DEGREE + 1)])
SLOPE_OF_SLOPE = FIRST_SLOPE @ FIRST_SLOPE
DOUBTFUL = 10.0  # a crossing no deeper than so many errors of the motion within the step is left to the caller
LOOSE = 0.001  # relative error of the motion within a step beyond which the step is halved
NEWTON, SECANTS, UNCLEAR = 8, 12, 6  # steps to an impact, to a zero of a polynomial, halvings of a step
HEAD = 4  # numbers of a row before those of its point: kind, contact, speed, work of the impulse


class Contacts(NamedTuple):
    """Restitution (negative where an impact is left to the caller), largest gaps and speeds so far, each (F,).

    `mu` are coefficients of friction, (F,), `slips` numbers of the rates that are slips, (F, s). `own` are sizes of the
    numbers in each gap, (F,); `gap` is the tolerance of gaps, `rounded` that of their terms; speeds are none below
    `slow` residuals, at rest below a share `rest` of the largest, and `faint` where heights may be too small to be
    distinguished from `unseen` ones. What acts from outside is not looked at within steps shorter than `brief`.
    """

    e: Any
    mu: Any
    slips: Any
    length: Any
    speed: Any
    own: Any
    gap: Any
    rounded: Any
    slow: Any
    rest: Any
    faint: Any
    unseen: Any
    brief: Any


class _Touch(NamedTuple):
    """Gaps at a point, (F,), their derivatives, (F, n), and rates, (F,)."""

    values: Any
    W: Any
    rates: Any


class _Zero(NamedTuple):
    """A zero that is looked for: contact, time into the step, bracket, slope, last trial, what is fine, rounds."""

    f: Any
    tau: Any
    low: Any
    high: Any
    slope: Any
    last: Any
    value: Any
    fine: Any
    rounds: Any


class _Flight(NamedTuple):
    """Steps so far, what is done next, the longest step, when the flight began, contacts, the zero."""

    way: StrideWay
    task: Any
    cap: Any
    since: Any
    contacts: Contacts
    zero: _Zero


class _Seen(NamedTuple):
    """What gaps do along a step: largest values; whether one falls through zero, and how; whether that is clear.

    `outside` says what acts from outside.
    """

    size: Any
    falls: Any
    unclear: Any
    zero: _Zero
    outside: Outside


class FlightFunctions:
    """Compiled flights of one system under one control p(t), None where p is a number.

    `steps` takes (row of a point, next step), sizes, contacts, rules and parameters; it returns the number of rows,
    evaluations, refusals, the next step, sizes, lengths and speeds of the contacts, and the rows.
    """

    def __init__(self, functions: "MotionFunctions", control: "Control | None" = None) -> None:
        self._of, self._control, self._strides = functions, control, StrideFunctions(functions, control)
        self.steps = compiled(self._steps)

    def _steps(
        self, start: tuple[Any, Any], sizes: SeenSizes, contacts: Contacts, rules: StrideRules, vector: Any
    ) -> Any:
        none, at = jnp.zeros(()), self._strides.point(start[0])
        rows = jnp.zeros((LONGEST, HEAD + len(start[0])))
        way = StrideWay(at, start[1], sizes, none, none, none, none, none == 0.0, rows)
        flight = _Flight(way, none, none + jnp.inf, at.t, contacts, _Zero(*[none] * len(_Zero._fields)))
        end = lax.while_loop(lambda x: x.way.going, lambda x: self._go(x, rules, vector), flight)
        way, contacts = end.way, end.contacts
        numbers = jnp.stack([way.count, way.evaluations, way.refused, jnp.minimum(way.h, end.cap)])
        return jnp.concatenate(
            [numbers, way.sizes.q, way.sizes.v, way.sizes.seen, contacts.length, contacts.speed, way.rows.ravel()]
        )

    def _gaps(self, t: Any, q: Any, rules: StrideRules, vector: Any) -> Any:
        return self._of.gaps(q, self._of.control(self._control, t, rules.p)[0], vector)

    def _go(self, x: _Flight, rules: StrideRules, vector: Any) -> _Flight:
        """One trial, and what follows from it."""
        at, way = x.way.at, x.way
        h = jnp.where(x.task == LOCATE, x.zero.tau, limited(jnp.minimum(way.h, x.cap), rules.end - at.t))
        h = jnp.where(x.task == BOUNCE, 0.0, h)
        touch = self._touch(at, rules, vector)
        mine = (jnp.arange(len(touch.values)) == x.zero.f).astype(float)
        rows, u = self._hitting(at, (mine @ touch.W, mine @ touch.rates), x, vector)
        e, mu = mine @ x.contacts.e, mine @ x.contacts.mu
        task = TrialTask(
            jnp.where(x.task == BOUNCE, STRIKE, 1.0),
            (rows, lambda D: struck(D, u, e, mu)),
            x.task != STEP,
            lambda end: middle_of_step(self._of.space, step_powers(self._of.space, at, end, h), at, h),
        )
        found = self._strides.trial(at, h, way.sizes, rules, vector, task)
        found = found._replace(end=found.end._replace(q=self._of.space.wrap(found.end.q)))
        x = x._replace(way=way._replace(evaluations=way.evaluations + found.evaluations))
        what_follows = (
            lambda: self._stepped(x, found, h, touch, rules, vector),
            lambda: self._located(x, found, rules, vector),
            lambda: self._bounced(x, found, (u, rows), rules, vector),
        )
        following: _Flight = lax.switch(x.task.astype(int), what_follows)
        return following

    def _touch(self, at: MotionPoint, rules: StrideRules, vector: Any) -> _Touch:
        """Gaps, derivatives and rates at a point."""
        p, p_dot, _ = self._of.control(self._control, at.t, rules.p)

        def moved(delta: Any, shift: Any) -> Any:
            return self._of.gaps(self._of.space.nudge(at.q, delta), p + shift, vector)

        values, push = jax.linearize(moved, jnp.zeros_like(at.q), jnp.zeros(()))
        W = jax.vmap(lambda d: push(d, jnp.zeros(())), out_axes=1)(jnp.eye(len(at.q)))
        return _Touch(values, W, push(at.v, p_dot))

    def _hitting(self, at: MotionPoint, own: tuple[Any, Any], x: _Flight, vector: Any) -> tuple[Any, Any]:
        """Gradients and velocities of the contact that is to hit, normal (as given) and tangential."""
        gradient, rate = own
        if not x.contacts.slips.shape[1]:
            return gradient[None], rate[None]
        contacts: Any = self._of.system
        rates, push = jax.linearize(lambda v: contacts.contact_motion.nonholonomic(at.q, v, vector), at.v)
        chosen_slips = x.contacts.slips[x.zero.f.astype(int)].astype(int)
        G = jax.vmap(push, out_axes=1)(jnp.eye(len(at.v)))[chosen_slips]
        return jnp.vstack([gradient, G]), jnp.concatenate([rate[None], rates[chosen_slips]])

    # a step

    def _stepped(self, x: _Flight, found: Trial, h: Any, touch: _Touch, rules: StrideRules, vector: Any) -> _Flight:
        way = x.way
        good = self._strides.good(way, found, rules)
        seen = self._seen(x, found, h, touch, rules, vector)
        head = jnp.zeros(HEAD)
        taken = decided(way, found, h, good & ~seen.falls & ~seen.unclear, rules, head)
        shorter = way._replace(h=0.5 * h, tries=way.tries + 1.0, refused=way.refused + 1.0, going=way.tries < UNCLEAR)
        vague = good & seen.unclear
        falls = good & seen.falls & ~seen.unclear
        length = jnp.where(good & ~vague & ~falls, jnp.maximum(x.contacts.length, seen.size), x.contacts.length)
        cap = jnp.where(good & ~vague & ~falls, 2.0 * x.cap, x.cap)
        following = chosen(vague, shorter, chosen(falls, way, taken))
        return x._replace(
            way=following, task=jnp.where(falls, LOCATE, STEP), cap=cap,
            contacts=x.contacts._replace(length=length), zero=chosen(falls, seen.zero, x.zero),
        )  # fmt: skip

    def _seen(self, x: _Flight, found: Trial, h: Any, touch: _Touch, rules: StrideRules, vector: Any) -> _Seen:
        """Follow all gaps along the step, piece after piece, until one of them does something."""
        at, (first, W, rates), space = x.way.at, touch, self._of.space
        powers, off = bumped(space, step_powers(space, at, found.end, h), h, found.middle)
        sums, errors = jnp.abs(W) @ jnp.abs(at.q) + x.contacts.own, jnp.abs(W) @ off
        closed = x.contacts.gap * x.contacts.length + x.contacts.rounded * sums
        doubt = ROUNDING * sums
        leaves = (at.t == x.since) & (jnp.abs(first) <= closed) & (rates >= 0.0)  # later on it is known to be open
        doubt = jnp.where(leaves, jnp.maximum(doubt, 2.0 * jnp.abs(first)), doubt)
        none = jnp.zeros(())

        def piece(state: tuple[Any, _Seen]) -> tuple[Any, _Seen]:
            k, seen = state
            places = (k + 0.5 * (jnp.asarray(NODES) + 1.0)) / PARTS
            q, times = along_step(space, powers, at, places), at.t + h * places
            values = jax.vmap(lambda t, y: self._gaps(t, y, rules, vector))(times, q)
            outside = self._outside(seen.outside, at, times, rules, vector)
            followed = _follow(seen, values, doubt, (errors, leaves & (k == 0.0)), (k, h))
            return k + 1.0, followed._replace(outside=outside)

        outside = nothing_yet(len(at.q) + 3 if self._strides.forced else 0)
        start = _Seen(jnp.zeros(len(first)), none > 0.0, none > 0.0, x.zero, outside)
        _, seen = lax.while_loop(lambda s: (s[0] < PARTS) & ~s[1].falls & ~s[1].unclear, piece, (none, start))
        loose = jnp.max(off / compared(x.way.sizes, rules)[0]) > LOOSE
        missed = (h > x.contacts.brief) & unresolved(seen.outside, len(at.q))
        found_seen: _Seen = seen._replace(unclear=seen.unclear | loose | missed)
        return found_seen

    def _outside(self, seen: Outside, at: MotionPoint, times: Any, rules: StrideRules, vector: Any) -> Outside:
        """What acts from outside at the times of a piece, on the state as it is at the beginning of the step."""
        if not self._strides.forced:
            return seen

        def acts(t: Any) -> Any:
            return self._of.forcing(jnp.concatenate([jnp.stack([t, rules.p]), at.q, at.v]), vector, self._control)

        return acted(seen, jax.vmap(acts)(times))

    # an impact

    def _located(self, x: _Flight, found: Trial, rules: StrideRules, vector: Any) -> _Flight:
        """The secant method for the time of an impact; the point before it where that is found."""
        zero, way, end = x.zero, x.way, found.end
        touch = self._touch(end, rules, vector)
        mine = jnp.arange(len(touch.values)) == zero.f
        value = mine @ touch.values
        change = zero.tau - zero.last
        secant = (value - zero.value) / jnp.where(change == 0.0, 1.0, change)
        slope = jnp.where((zero.rounds > 0.0) & (change != 0.0) & (secant != 0.0), secant, zero.slope)
        step = value / slope
        there = (jnp.abs(value) <= 0.25 * zero.fine) | (jnp.abs(step) <= 2.0 * EPS * jnp.abs(end.t))
        tau = zero.tau - step
        lost = (zero.rounds >= NEWTON) | ~((zero.low <= tau) & (tau <= zero.high))
        plain = self._plain(x.contacts, end, (touch, mine), rules, vector) & (found.off <= rules.residual)
        arrived = there & plain
        row = jnp.concatenate([jnp.stack([BEFORE + 0.0 * value, zero.f, 0.0 * value, 0.0 * value]), end.row])
        rows = lax.dynamic_update_slice(way.rows, row[None], (way.count.astype(int), 0))
        kept = way._replace(at=end, rows=rows, count=way.count + 1.0, sizes=grown_sizes(way.sizes, end, rules))
        stay = way._replace(going=way.going & ~there & ~lost)
        following = zero._replace(tau=tau, last=zero.tau, value=value, slope=slope, rounds=zero.rounds + 1.0)
        return x._replace(way=chosen(arrived, kept, stay), task=jnp.where(arrived, BOUNCE, LOCATE), zero=following)

    def _plain(
        self, contacts: Contacts, end: MotionPoint, at: tuple[_Touch, Any], rules: StrideRules, vector: Any
    ) -> Any:
        """Whether one contact alone hits, fast enough to leave visibly, and bounces by Newton's law."""
        (values, W, rates), mine = at
        sums = jnp.abs(W) @ jnp.abs(end.q) + contacts.own
        touching = values <= contacts.gap * contacts.length + contacts.rounded * sums
        alone = ~jnp.any(touching & ~mine)
        own, e, speed = mine @ W, mine @ contacts.e, mine @ contacts.speed
        u = mine @ rates
        slow = contacts.slow * rules.residual * speed + contacts.rounded * (jnp.abs(own) @ jnp.abs(end.v))

        def along(s: Any) -> Any:
            return mine @ self._gaps(end.t + s, self._of.space.nudge(end.q, s * end.v), rules, vector)

        def rate(s: Any) -> Any:
            return jax.jvp(along, (s,), (jnp.ones(()),))[1]

        bend = jax.jvp(rate, (jnp.zeros(()),), (jnp.ones(()),))[1]
        pushed = own @ end.a + bend
        faint = (-u <= contacts.faint * speed) & ((e * u) ** 2 <= -2.0 * pushed * contacts.unseen * (mine @ sums))
        rests = -u <= contacts.rest * jnp.maximum(speed, -u)
        return alone & (e > 0.0) & (u < -slow) & ~rests & ~faint

    def _bounced(self, x: _Flight, found: Trial, hit: tuple[Any, Any], rules: StrideRules, vector: Any) -> _Flight:
        """The point after an impact; one without impulses that fit, or that gains energy, is left to the caller."""
        way, contacts, P, (u, rows) = x.way, x.contacts, found.impulse, hit
        w = u + rows @ (found.end.v - way.at.v)
        lost, play = 0.5 * P @ (u + w), 0.5 * jnp.abs(P) @ (jnp.abs(u) + jnp.abs(w))
        good = lost <= jnp.sqrt(rules.residual) * play
        end = found.end._replace(work=way.at.work + self._work(way.at, found.end, lost, vector))
        row = jnp.concatenate([jnp.stack([AFTER + 0.0 * lost, x.zero.f, -u[0], lost]), end.row])
        listed = lax.dynamic_update_slice(way.rows, row[None], (way.count.astype(int), 0))
        count, mine = way.count + 1.0, jnp.arange(len(contacts.speed)) == x.zero.f
        fast = jnp.where(mine, jnp.maximum(contacts.speed, -u[0]), contacts.speed)
        going = (count < rules.wanted - 1.0) & (end.t < rules.end)
        after = way._replace(
            at=end, rows=listed, count=count, sizes=grown_sizes(way.sizes, end, rules), tries=0.0 * way.tries,
            going=going,
        )  # fmt: skip
        cap = 0.5 * (end.t - x.since)
        bounced = x._replace(way=after, task=0.0 * lost, cap=cap, since=end.t, contacts=contacts._replace(speed=fast))
        return chosen(good, bounced, x._replace(way=way._replace(going=way.going & good)))

    def _work(self, before: MotionPoint, after: MotionPoint, lost: Any, vector: Any) -> Any:
        """What an impact adds to the energy: also by constraints that are driven, where there is a control."""
        if self._control is None:
            return lost
        first, last = (self._of.momentum(before.q, v, vector) for v in (before.v, after.v))
        return 0.5 * (before.v + after.v) @ (last - first)


def _follow(seen: _Seen, values: Any, doubt: Any, given: tuple[Any, Any], where: tuple[Any, Any]) -> _Seen:
    """Gaps (17, F) on one piece: whether they stay positive, fall through zero once, or cannot be decided.

    A gap that is left by an impact begins at zero; any other has to be positive beyond doubt at both ends, since a kink
    right after the first sample hides in the error.
    """
    errors, leaves = given
    c = jnp.asarray(COEFFICIENTS) @ values
    size = jnp.maximum(seen.size, jnp.max(jnp.abs(values), axis=0))
    error = SAFETY * jnp.max(jnp.abs(c[-LAST:]), axis=0)
    noise = jnp.maximum(doubt, ROUNDING * size)
    spread = jnp.sum(jnp.abs(c[1:]), axis=0)
    slope, bend = jnp.asarray(FIRST_SLOPE) @ c, jnp.asarray(SLOPE_OF_SLOPE) @ c
    resolved = (error <= SMOOTH * noise) | (error <= SAFETY * RESOLVED * spread)
    monotone = jnp.abs(slope[0]) > jnp.sum(jnp.abs(slope[1:]), axis=0)
    concave = -bend[0] > jnp.sum(jnp.abs(bend[1:]), axis=0)
    left, right, most = values[0], values[-1], jnp.max(values, axis=0)
    clear = c[0] - spread - error > noise + errors
    shaped = resolved & (monotone | concave)
    surely = noise + error + errors
    stays = clear | (shaped & (left >= jnp.where(leaves, -noise, surely)) & (right > surely))
    starts = (left > noise + error) | (concave & (jnp.abs(left) <= noise) & (most > noise + error))
    falls = shaped & starts & (right < -(noise + error + DOUBTFUL * errors)) & ~stays
    f = jnp.argmax(falls)
    unclear = jnp.any(~stays & ~falls) | (jnp.sum(falls) > 1)
    zero = _root(c[:, f], values[:, f], where)
    zero = zero._replace(f=f.astype(float), fine=ROUNDING * jnp.maximum(seen.size, most)[f])
    any_falls = jnp.any(falls)
    return seen._replace(size=size, falls=any_falls, unclear=unclear, zero=chosen(any_falls, zero, seen.zero))


def _root(c: Any, values: Any, where: tuple[Any, Any]) -> _Zero:
    """The zero of a polynomial after its largest sample, in time from the beginning of the step, and its slope."""
    k, h = where
    orders = np.arange(DEGREE + 1.0)

    def at(x: Any) -> Any:
        return jnp.cos(orders * jnp.arccos(jnp.clip(x, -1.0, 1.0)))

    j = jnp.argmax(values)

    def closer(_: Any, state: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
        low, high, f_low, f_high = state
        x = low + (high - low) * f_low / (f_low - f_high)
        f = c @ at(x)
        above = f > 0.0
        return (
            jnp.where(above, x, low), jnp.where(above, high, x), jnp.where(above, f, 0.5 * f_low),
            jnp.where(above, 0.5 * f_high, f),
        )  # fmt: skip

    start = (jnp.asarray(NODES)[j], jnp.ones(()), values[j], values[-1])
    low, high, _, _ = lax.fori_loop(0, SECANTS, closer, start)
    x = 0.5 * (low + high)
    width = h / PARTS
    slope = (jnp.asarray(FIRST_SLOPE) @ c) @ at(x) * 2.0 / width
    begin = (k + 0.5 * (jnp.asarray(NODES)[j] + 1.0)) * width
    none = 0.0 * x
    return _Zero(none, (k + 0.5 * (x + 1.0)) * width, begin, (k + 1.0) * width, slope, none, none, none, none)
