"""The smallest impulses that make the same motion, inside compiled steps: the formulas of `complementarity.least`.

Impulses that contacts at rest may add are the columns of B, and those that move nothing the null space of D B. It is
found by elimination with complete pivoting; what is near the edge of a rank, or would leave a cone on the way to the
smallest impulses, is left to the caller.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from onesided.base.tolerances import EPS, MOST_DIGITS, SOME_DIGITS
from onesided.evaluation.smooth_steps import solved

if TYPE_CHECKING:
    from onesided.evaluation.cone_newton import ConeProblem, ConeRows

ZERO, CLEAR = MOST_DIGITS, SOME_DIGITS  # pivots, relative to the largest, that are zero, and that are not
NOISE = 8.0  # round-off units that an impulse may be outside of its cone


class _Reduced(NamedTuple):
    """A matrix on the way to its reduced form: rows and columns that have a pivot, and the row of each column's."""

    A: Any
    rows: Any
    columns: Any
    row_of: Any
    count: Any
    going: Any
    unclear: Any


def least(cones: "ConeRows", problem: "ConeProblem", w: Any, P: Any, resting: Any) -> tuple[Any, Any]:
    """The impulses without what moves nothing, and whether that is sure; w are the velocities, at rest below that."""
    C, width = P.shape
    B = _freedom(cones, problem, w, P, resting)
    A = jnp.einsum("skw,kwv->skv", problem.D.reshape(C * width, C, width), B).reshape(C * width, C * width)
    active = jnp.any(B != 0.0, axis=1).ravel()
    loose, sure = _null_space(A, active)
    z = jnp.einsum("kwv,kw->kv", B, P).ravel()
    gram = loose.T @ loose
    gram = gram + jnp.diag(jnp.where(jnp.diagonal(gram) > 0.0, 0.0, 1.0))
    x, _ = solved(gram, (loose.T @ z)[:, None])
    found = P - jnp.einsum("kwv,kv->kw", B, (loose @ x[:, 0]).reshape(C, width))
    return found, sure & _inside(cones, problem, P, found)


def _freedom(cones: "ConeRows", problem: "ConeProblem", w: Any, P: Any, resting: Any) -> Any:
    """Orthonormal columns of impulses that cones at rest may add, (C, w, w); zero where there is none."""
    width = P.shape[1]
    slip, mu = jnp.where(cones.real, w[:, 1:], 0.0), jnp.where(jnp.isinf(problem.limits), 0.0, problem.limits)
    speed = jnp.sqrt(jnp.sum(slip * slip, axis=1))
    rests = problem.near & ((w[:, 0] <= resting) | (P[:, 0] > 0.0))
    slides = speed > resting
    against = -mu[:, None] * slip / jnp.where(speed > 0.0, speed, 1.0)[:, None]
    column = jnp.concatenate([jnp.ones((len(P), 1)), against], axis=1) / jnp.sqrt(1.0 + mu * mu)[:, None]
    there = jnp.concatenate([jnp.ones((len(P), 1)), cones.real], axis=1)
    whole = there[:, :, None] * jnp.eye(width)
    sliding = jnp.zeros_like(whole).at[:, :, 0].set(column)
    return jnp.where(rests[:, None, None], jnp.where(slides[:, None, None], sliding, whole), 0.0)


def _null_space(A: Any, active: Any) -> tuple[Any, Any]:
    """Columns y with A y = 0 of active columns only, zero for columns with a pivot; and whether the rank is sure."""
    size = len(A)
    none = jnp.zeros(())
    A = jnp.where(active, A, 0.0)
    largest = jnp.max(jnp.abs(A))

    def step(x: _Reduced) -> _Reduced:
        left = jnp.where(x.rows[:, None] | x.columns, 0.0, jnp.abs(x.A))
        place = jnp.argmax(left)
        i, j = place // size, place % size
        pivot = x.A[i, j]
        good = jnp.abs(pivot) > ZERO * largest
        line = x.A[i] / jnp.where(good, pivot, 1.0)
        own = jnp.arange(size) == i
        reduced = jnp.where(own[:, None], line, x.A - x.A[:, j][:, None] * line)
        after = _Reduced(
            reduced, x.rows | own, x.columns | (jnp.arange(size) == j), x.row_of.at[j].set(i * 1.0), x.count + 1.0,
            x.count + 1.0 < size, x.unclear | (jnp.abs(pivot) < CLEAR * largest),
        )  # fmt: skip
        stop = x._replace(going=none > 0.0)
        return _Reduced(*(jnp.where(good, a, b) for a, b in zip(after, stop, strict=True)))

    no = jnp.zeros(size) > 0.0
    start = _Reduced(A, no, no, jnp.zeros(size), none, largest > 0.0, none > 0.0)
    end = lax.while_loop(lambda x: x.going, step, start)
    free = active & ~end.columns
    shares = jnp.where(end.columns[:, None], end.A[end.row_of.astype(int)], 0.0)
    return jnp.where(free, jnp.eye(size) - shares, 0.0), ~end.unclear


def _inside(cones: "ConeRows", problem: "ConeProblem", before: Any, after: Any) -> Any:
    """Whether signs and cones are kept, as far as they were."""

    def slack(P: Any) -> Any:
        rough = jnp.isinf(problem.limits)
        rub = jnp.sqrt(jnp.sum(P[:, 1:] ** 2, axis=1))
        room = jnp.where(rough, 0.0, jnp.where(rough, 0.0, problem.limits) * P[:, 0] - rub)
        room = jnp.where(jnp.any(cones.real, axis=1), room, 0.0)
        return jnp.concatenate([P[:, 0], room]) + NOISE * EPS * jnp.max(jnp.abs(P))

    return jnp.all(slack(after) >= jnp.minimum(slack(before), 0.0))
