"""Many time steps with the same contacts pressing, as one compiled call.

The formulas of `dynamics.impulses` without friction, for contacts whose set is known from the step before. The call
ends before the first step that needs another set, an impact with restitution, a projection, or more accuracy: that one
is left to the caller.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import cho_factor, cho_solve

from onesided.base.tolerances import EPS
from onesided.evaluation.compiling import compiled

if TYPE_CHECKING:
    from onesided.evaluation.motion_functions import Control, MotionFunctions

LONGEST = 64  # steps of one call


class LeapRules(NamedTuple):
    """Size of a step; reach per way, least approach and size of an impact; violation and residual that are allowed."""

    h: float
    reach: float
    rest: float
    closed: float
    slack: float
    accuracy: float


class _LeapWay(NamedTuple):
    """Steps so far, whether the last one was good, where we are, and the rows of all."""

    count: Any
    good: Any
    q: Any
    v: Any
    rows: Any


class Leap:
    """Compiled steps of one system without joints and friction.

    Called with x = (t, p, q, v), contacts (1 for those that press and 0 for the others, restitution), rules, number of
    steps wanted, parameters and control; returns the number of good steps, then a row (q, v, P, residual) for each.
    """

    def __init__(self, functions: "MotionFunctions") -> None:
        self._of = functions
        self.steps = compiled(self._steps, static_argnums=5)

    def _steps(
        self, x: Any, contacts: tuple[Any, Any], rules: LeapRules, wanted: Any, vector: Any, control: "Control | None"
    ) -> Any:
        n, m = self._of.n, self._of.m

        def more(way: _LeapWay) -> Any:
            return way.good & (way.count < wanted)

        def step(way: _LeapWay) -> _LeapWay:
            t = x[0] + way.count * rules.h
            here = jnp.concatenate([t[None], x[1:2], way.q, way.v])
            q, v, P, off, good = self._step(here, contacts, rules, vector, control)
            row = jnp.concatenate([q, v, P, off[None]])
            rows = lax.dynamic_update_slice(way.rows, row[None], (way.count, 0))
            return _LeapWay(way.count + good, good, jnp.where(good, q, way.q), jnp.where(good, v, way.v), rows)

        start = _LeapWay(
            jnp.zeros((), int), jnp.asarray(True), x[2 : 2 + n], x[2 + n :], jnp.zeros((LONGEST, 2 * n + m + 1))
        )
        end = lax.while_loop(more, step, start)
        return jnp.concatenate([end.count[None].astype(jnp.float64), end.rows.ravel()])

    def _step(self, x: Any, contacts: tuple[Any, Any], rules: LeapRules, vector: Any, control: "Control | None") -> Any:
        n, m, half = self._of.n, self._of.m, jnp.asarray(0.5 * rules.h)
        active, e = contacts
        q, v = x[2 : 2 + n], x[2 + n :]
        inside = jnp.concatenate([half[None], x[:2], q, half * v, v, jnp.zeros(m)])
        out = self._of._stepped(inside, vector, control, None)
        first, middle = out[:m], out[m : m + n]
        f, gaps, u, bend = jnp.split(out[m + 2 * n :], [n, n + m, n + 2 * m, n + 3 * m])[:4]
        tangent = half * bend
        gaps = gaps + 0.5 * half * tangent
        M, W = out[-n * (n + m) : -n * m or None].reshape(n, n), out[len(out) - n * m :].reshape(m, n)
        factor = cho_factor(M, lower=True)
        answer = cho_solve(factor, jnp.column_stack([rules.h * f, W.T]))
        dv, X = answer[:, 0], answer[:, 1:]
        free = u + W @ dv
        near = gaps <= rules.reach * rules.h * jnp.max(jnp.abs(free)) + rules.closed
        hits = (
            (gaps + half * free < 0.0) & (u < -jnp.where(e < 1.0, rules.rest, EPS**0.5) * jnp.abs(free - u)) & (e > 0.0)
        )
        b = tangent + jnp.maximum(gaps / half - tangent, 0.0)
        D, want = W @ X, free + b
        closed = active * near
        masked = closed[:, None] * closed[None, :] * D + jnp.diag(1.0 - closed)
        P = -cho_solve(cho_factor(masked, lower=True), closed * want)
        w, stiff = want + D @ P, jnp.diagonal(D)
        off = jnp.max(jnp.where(near, jnp.abs(P - jnp.maximum(0.0, P - w / stiff)), 0.0))
        size = jnp.max(jnp.where(near, jnp.maximum(jnp.abs(want), jnp.abs(b)), 0.0)) / jnp.max(stiff)
        size = jnp.maximum(jnp.maximum(size, jnp.max(jnp.abs(P))), EPS * EPS)
        after = v + dv + X @ P
        good = (off <= rules.accuracy * size) & jnp.all(P >= 0.0) & (jnp.min(first) >= -rules.slack) & ~jnp.any(hits)
        q = self._of.space.wrap(self._of.space.retract(middle, half * after))
        return q, after, P, off / size, good & jnp.all(jnp.isfinite(after)) & jnp.all(jnp.isfinite(P))
