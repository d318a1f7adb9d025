"""What follows for one of many paths, phase by phase: a start, a step and its middle, events, legs."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS, ROUND_OFF, SMALL
from onesided.evaluation.lane_algebra import first_root
from onesided.evaluation.lane_state import (
    AFRESH,
    AT_BOUND,
    AT_LIMIT,
    BOUND,
    CENTRE,
    CLOSES,
    CORNER_CLOSES,
    CORNER_OPENS,
    DONE,
    ENDED,
    LEAVE,
    OPENS,
    POINT,
    STEP,
    TOUCH,
    TURNS,
    Lane,
    LaneData,
    LaneKnobs,
    LaneSolved,
    LaneThen,
    along_step,
)
from onesided.evaluation.path_steps import LONG, MIDDLE, ROUNDS
from onesided.evaluation.resolution import Triple, heads_for_zero, may_fall_below, may_turn, may_vanish

CLEAR = QUARTER_DIGITS  # a rate, or a sum of terms, whose sign is beyond doubt
LATE = 1.05  # a share of the step that is still on it, with its counterpart at the start


class LanePhases:
    """The phases of paths with n coordinates and m constraints, k of them bilateral."""

    def __init__(self, n: int, m: int, k: int, knobs: LaneKnobs) -> None:
        self.n, self.m, self.k, self.knobs = n, m, k, knobs
        self._onesided = np.arange(m) >= k

    def iterated(self, lane: Lane, solved: LaneSolved) -> Lane:
        """One correction of Newton's method further."""
        return lane._replace(
            z=lane.z + solved.delta,
            iterations=lane.iterations + 1.0,
            previous=solved.error,
            first=jnp.where(lane.iterations == 0, solved.distance, lane.first),
        )

    def started(self, lane: Lane, solved: LaneSolved, given: LaneData) -> LaneThen:
        """The start is an equilibrium with clear contacts: the path leaves it; otherwise it is left to others."""
        turned = jnp.where(given.direction < 0, -1.0, 1.0)
        a = lane._replace(
            y=lane.z + solved.delta,
            t=turned * solved.tangent,
            margins=solved.margins,
            rates=turned * solved.rates,
            volume=solved.volume,
            orientation=turned * solved.sign,
            sense=turned,
            degree=solved.negative,
        )
        only = given.direction == 0
        clear = self._all(solved.margins > self.knobs.weak) & (only | solved.counted)
        ended = lane._replace(y=lane.z + solved.delta, phase=1.0 * DONE, how=1.0 * ENDED)
        changes, goes = ((clear & ~only, a), (clear & only, ended)), clear & ~only
        if not self.knobs.points:
            return LaneThen(changes, ahead=goes, left=~clear)
        row = self._row(lane, solved, 1.0 * POINT, (solved.negative, solved.negative), lane.s)
        return LaneThen(changes, ahead=goes, left=~clear, row=row, told=goes)

    def stepped(self, lane: Lane, solved: LaneSolved) -> LaneThen:
        """The corrected point is proposed; next the middle of the step is looked at."""
        knobs, z, t, h = self.knobs, lane.z + solved.delta, solved.tangent, lane.step
        move = z - lane.y
        length = jnp.sqrt(move @ move)
        angle = jnp.arccos(jnp.clip(lane.t @ t, -1.0, 1.0))
        first = jnp.where(lane.iterations == 0, solved.distance, lane.first)
        by_angle = knobs.turn / jnp.maximum(angle, EPS)
        by_miss = (0.25 * knobs.miss / jnp.maximum(first / h, EPS)) ** 0.4
        growth = jnp.clip(jnp.minimum(by_angle, by_miss), 0.3, 3.0)
        most = knobs.max_step * jnp.maximum(1.0, LONG * (lane.s + length))
        proposed = lane._replace(
            b_y=z,
            b_t=t,
            b_margins=solved.margins,
            b_rates=solved.rates,
            s_b=lane.s + length,
            b_volume=solved.volume,
            b_orientation=solved.sign,
            b_step=jnp.minimum(h * growth, most),
            z=(lane.y + z) / 2 + length / 8 * (lane.t - t),
            phase=1.0 * CENTRE,
        )
        bent = angle > 2.0 * knobs.turn
        return LaneThen(((~bent, proposed),), shorter=bent, share=jnp.minimum(growth, 0.5))

    def centred(self, lane: Lane, solved: LaneSolved, given: LaneData) -> LaneThen:
        """The middle of the step: what it says about everything in between."""
        knobs, n, h = self.knobs, self.n, lane.s_b - lane.s
        delta, t = solved.delta, solved.tangent
        resolved = (solved.distance <= MIDDLE * knobs.miss * h) & jnp.isfinite(solved.volume)
        same = lane.b_orientation == lane.orientation
        p = Triple(lane.y[n], h * lane.t[n], lane.z[n] + delta[n], h * t[n], lane.b_y[n], h * lane.b_t[n])
        resolved &= ~may_turn(jnp, p, lane.sense, h)
        ratio = h / (lane.s - lane.s_1)
        trend = jnp.where(lane.known > 0, ratio * (lane.volume - lane.volume_1), 0.0)
        zero = may_vanish(jnp, lane.volume, solved.volume, lane.b_volume, trend)
        zero |= (lane.known > 0) & heads_for_zero(jnp, (lane.volume_1, lane.volume_m, lane.volume), ratio)
        resolved &= ~(same & ((solved.sign != lane.orientation) | zero))
        if self.m:
            f = Triple(lane.margins, h * lane.rates, solved.margins, h * solved.rates, lane.b_margins, h * lane.b_rates)
            resolved &= ~jnp.any(self._onesided & may_fall_below(jnp, f, -knobs.residual))
        passed = lane._replace(t_m=t, s_m=(lane.s + lane.s_b) / 2, volume_m=solved.volume, step=lane.b_step, tries=0.0)
        fine = resolved & same
        return LaneThen(((fine, passed),), examine=fine, left=resolved & ~same, shorter=~resolved)

    def examined(self, lane: Lane, given: LaneData) -> tuple[Lane, Any, Any]:
        """What happened first on the way to b, to be located next; whether it is nothing; whether it is hopeless."""
        n, h = self.n, lane.s_b - lane.s
        turned = lane.sense * lane.b_t[n] < 0
        level = jnp.where(lane.b_y[n] > given.high, given.high, given.low)
        outside = (lane.b_y[n] > given.high) | (lane.b_y[n] < given.low)
        f_turn = jnp.where(turned, jnp.clip(lane.t[n] / (lane.t[n] - lane.b_t[n]), 0.0, 1.0), 2.0)
        crossing = first_root(lane.y[n] - level, h * lane.t[n], lane.b_y[n] - level, h * lane.b_t[n])
        f_bound = jnp.where(outside, crossing, 2.0)
        best, phase, chosen = f_turn, jnp.where(turned, 1.0 * TURNS, 1.0 * STEP), jnp.zeros(self.m)
        phase, best = jnp.where(f_bound < best, 1.0 * BOUND, phase), jnp.minimum(best, f_bound)
        if self.m > self.k:
            own = slice(self.k, self.m)
            below = lane.b_margins[own] < -self.knobs.residual
            f = first_root(lane.margins[own], h * lane.rates[own], lane.b_margins[own], h * lane.b_rates[own])
            f = jnp.where(below, f, 2.0)
            for j in range(self.m - self.k):
                sooner = f[j] < best
                best, phase = jnp.where(sooner, f[j], best), jnp.where(sooner, 1.0 * TOUCH, phase)
                chosen = jnp.where(sooner, np.eye(self.m)[self.k + j], chosen)
        start = (2 * best**3 - 3 * best**2 + 1) * lane.y + (best**3 - 2 * best**2 + best) * h * lane.t
        z = start + (3 * best**2 - 2 * best**3) * lane.b_y + (best**3 - best**2) * h * lane.b_t
        located = lane._replace(
            z=z,
            level=jnp.where(phase == BOUND, level, along_step(lane) @ z),
            phase=phase,
            chosen=chosen,
            s_z=jnp.where(best < 0.5, lane.s_b, lane.s),  # the end that is farther away
            p_dot=jnp.where(best < 0.5, lane.b_t[n], lane.t[n]),
            rounds=lane.rounds + 1.0,
            **AFRESH,
        )
        return located, phase == STEP, located.rounds > ROUNDS

    def turned(self, lane: Lane, solved: LaneSolved, given: LaneData) -> LaneThen:
        """Secants for ṗ = 0, each with one correction; at the end the limit point."""
        n, h, t, along = self.n, lane.s_b - lane.s, solved.tangent, along_step(lane)
        w = lane.z + solved.delta
        s = lane.s + along @ (w - lane.y)
        move = self._secant(lane, s, t[n])
        exact = (jnp.abs(move) <= self.knobs.event * h) | (jnp.abs(t[n]) <= 4 * EPS)
        exact &= (solved.distance <= SMALL) & (solved.error <= jnp.maximum(ROUND_OFF, solved.noise))
        z = w + move * t
        narrowed = lane._replace(z=z, level=along @ z, s_z=s, p_dot=t[n], rounds=lane.rounds + 1.0)
        inside = (jnp.abs(s + move - (lane.s + lane.s_b) / 2) <= (LATE - 0.5) * h) & jnp.isfinite(solved.error)
        hopeless = ~inside | (lane.rounds > ROUNDS)
        sooner = self._any(solved.margins < -self.knobs.residual) | (w[n] > given.high) | (w[n] < given.low)
        moves, pushes = t[:n] * given.unit[:n], t[n + 1 :] * given.unit[n + 1 :]
        terms = jnp.concatenate([moves * solved.blocks.L_xq[n], -pushes * solved.blocks.c_x[n]])
        lean = jnp.sum(terms)
        # vᵀL_qq v = −ṗ (q̇ᵀL_qp − ν̇ᵀc_p) + O(ṗ²) for the part v of q̇ with c_q v = 0
        degree = lane.degree + jnp.where(lane.sense * lean > 0, -1.0, 1.0)
        clear = (jnp.abs(lean) > CLEAR * jnp.sum(jnp.abs(terms))) & (degree >= 0)
        clear &= self._all(solved.margins > self.knobs.weak)
        beyond = self._any(lane.b_margins < -self.knobs.residual)
        beyond |= (lane.b_y[n] > given.high) | (lane.b_y[n] < given.low)
        after = lane._replace(sense=-lane.sense, degree=degree)
        here = self._cut(lane, solved, 1.0)
        short = here._replace(sense=-lane.sense, degree=degree, step=jnp.minimum(lane.step, lane.s_b - s))
        exact, lost = exact & ~hopeless, exact & ~sooner & ~clear
        found = exact & ~sooner & clear
        changes = (
            (~exact, narrowed),
            (exact & sooner, here),
            (found & ~beyond, after),
            (found & beyond, short),
        )
        row = self._row(lane, solved, 1.0 * AT_LIMIT, (lane.degree, degree), s)
        return LaneThen(changes, examine=exact & sooner, accept=found, left=hopeless | lost, row=row, told=found)

    def _secant(self, lane: Lane, s: Any, p_dot: Any) -> Any:
        """How far ahead ṗ vanishes: by the iterate before, or by the end beyond the zero where that leads past it."""
        before = lane.sense * p_dot > 0
        s_end, end = jnp.where(before, lane.s_b, lane.s), jnp.where(before, lane.b_t[self.n], lane.t[self.n])
        close, far = -p_dot * (s - lane.s_z) / (p_dot - lane.p_dot), -p_dot * (s - s_end) / (p_dot - end)
        within = (close * (s_end - s) > 0) & (jnp.abs(close) < jnp.abs(s_end - s))
        return jnp.where(within, close, jnp.where(p_dot == lane.p_dot, 0.0, far))

    def bounded(self, lane: Lane, solved: LaneSolved) -> LaneThen:
        """The bound of p: the path ends, unless something comes before."""
        turned = jnp.where(solved.tangent @ (lane.t + lane.b_t) < 0, -1.0, 1.0)
        here = self._cut(lane, solved, turned)
        sooner = self._any(solved.margins < -self.knobs.residual) | (lane.sense * here.b_t[self.n] < 0)
        clear = self._inside(lane) & (turned * solved.sign == lane.orientation)
        clear &= sooner | ~solved.counted | (solved.negative == lane.degree)  # all that was counted agrees
        ended = lane._replace(phase=1.0 * DONE, how=1.0 * ENDED, y=lane.z, t=here.b_t, margins=solved.margins)
        row = self._row(lane, solved, 1.0 * AT_BOUND, (lane.degree, lane.degree), here.s_b)
        changes = ((clear & sooner, here), (clear & ~sooner, ended))
        return LaneThen(changes, examine=clear & sooner, left=~clear, row=row, told=clear & ~sooner)

    def touched(self, lane: Lane, solved: LaneSolved) -> LaneThen:
        """One margin vanishes: the contact is changed, unless something comes before."""
        knobs, n, t = self.knobs, self.n, -solved.tangent  # along it the margin falls
        here = self._cut(lane, solved, -1.0)
        others = lane.chosen < 1
        sooner = self._any((solved.margins < -knobs.residual) & others) | (lane.sense * t[n] < 0)
        clear = self._inside(lane) & (t @ lane.t > 0) & (-solved.sign == lane.orientation)
        alone = self._all((solved.margins > knobs.weak) | ~others)
        alone &= (lane.chosen @ solved.rates > CLEAR) & (jnp.abs(t[n]) > HALF_DIGITS)
        after = lane._replace(
            y=lane.z + solved.delta,
            t=t,
            closed=jnp.where(others, lane.closed, 1.0 - lane.closed),
            parity=jnp.sign(t[n]) * -solved.sign,
            s=here.s_b,
            b_y=lane.y,  # where others go on, should it not be clear how
            phase=1.0 * LEAVE,
        )
        changes = ((clear & sooner, here), (clear & alone & ~sooner, after))
        return LaneThen(changes, examine=clear & sooner, left=~(clear & (sooner | alone)))

    def leaving(self, lane: Lane, solved: LaneSolved) -> LaneThen:
        """The leg beyond a contact change: its tangent is the one along which the new margin grows.

        The sign of the determinant tells whether the number of negative modes is even: a constraint more or less
        changes it by one at most.
        """
        n, t = self.n, solved.tangent
        closes = jnp.sum(lane.chosen * lane.closed) > 0
        parity = jnp.sign(t[n]) * solved.sign
        degree = lane.degree + jnp.where(parity == lane.parity, 0.0, jnp.where(closes, -1.0, 1.0))
        clear = (jnp.abs(t[n]) > HALF_DIGITS) & (degree >= 0) & jnp.isfinite(solved.error)
        clear &= lane.chosen @ solved.rates > CLEAR
        corner = lane.sense * t[n] < 0
        kind = jnp.where(closes, jnp.where(corner, CORNER_CLOSES, CLOSES), jnp.where(corner, CORNER_OPENS, OPENS))
        row = self._row(lane, solved, 1.0 * kind, (lane.degree, degree), lane.s)
        on = lane._replace(
            t=t,
            margins=solved.margins,
            rates=solved.rates,
            volume=solved.volume,
            orientation=solved.sign,
            sense=jnp.sign(t[n]),
            degree=degree,
            known=0.0,
            s_1=lane.s - 1.0,
            step=jnp.minimum(lane.step, 4.0 * self.knobs.first_step),
            rounds=0.0,
            chosen=jnp.zeros(self.m),
        )
        back = lane._replace(y=lane.b_y)
        return LaneThen(((clear, on), (~clear, back)), ahead=clear, left=~clear, row=row, told=clear)

    def _cut(self, lane: Lane, solved: LaneSolved, turned: Any) -> Lane:
        """The step only as far as z."""
        return lane._replace(
            b_y=lane.z + solved.delta,
            b_t=turned * solved.tangent,
            b_margins=solved.margins,
            b_rates=turned * solved.rates,
            s_b=lane.s + along_step(lane) @ (lane.z - lane.y),
            b_volume=solved.volume,
            chosen=jnp.zeros(self.m),
        )

    def _inside(self, lane: Lane) -> Any:
        """Whether z lies on the step, give or take a little."""
        share, h = along_step(lane) @ (lane.z - lane.y), lane.s_b - lane.s
        return jnp.abs(share - h / 2) <= (LATE - 0.5) * h

    def _row(self, lane: Lane, solved: LaneSolved, kind: Any, degrees: tuple[Any, Any], s: Any) -> Any:
        numbers = jnp.stack([jnp.asarray(kind), *degrees, s, solved.error])
        return jnp.concatenate([lane.z + solved.delta, numbers, lane.chosen])

    def _all(self, truths: Any) -> Any:
        return jnp.all(truths | ~self._onesided) if self.m else jnp.asarray(True)

    def _any(self, truths: Any) -> Any:
        return jnp.any(truths & self._onesided) if self.m else jnp.asarray(False)
