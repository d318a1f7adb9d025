"""Of all impulses that make the same motion, the smallest: dependent contacts share what they must do."""

from typing import TYPE_CHECKING

import numpy as np

from onesided.base.tolerances import EPS, SMALL
from onesided.base.types import Array, Mask

if TYPE_CHECKING:
    from onesided.complementarity.friction import FrictionProblem

NULL = SMALL  # singular values of D below this share of the largest are zero
HALVINGS = 40


def least(problem: "FrictionProblem", P: Array, *, resting: float) -> Array:
    """The solution P moved towards the smallest one, as far as signs and cones allow; w = D P + u stays as it is.

    Velocities below `resting` are zero: contacts that neither separate nor slide may press and stick as they like,
    those that slide with friction against it.
    """
    B = _freedom(problem, problem.D @ P + problem.u, P, resting)
    if B.shape[1] < 2:
        return P
    _, values, vectors = np.linalg.svd(problem.D @ B)
    loose = B @ vectors[np.count_nonzero(values > NULL * values[0]) :].T
    if not loose.shape[1]:
        return P
    step = -loose @ (loose.T @ P)
    share = _share(problem, P, step)
    return np.asarray(P + share * step)


def _freedom(problem: "FrictionProblem", w: Array, P: Array, resting: float) -> Array:
    """Orthonormal columns of impulses that contacts at rest may add."""
    columns = []
    for n, d, mu in zip(problem.normal, problem.directions, problem.mu, strict=True):
        if w[n] > resting and not P[n] > 0.0:
            continue
        slip = w[n + 1 : n + 1 + d]
        speed = float(np.linalg.norm(slip))
        slides = d > 0 and speed > resting
        whole = np.zeros((len(w), 1 if slides else 1 + d))
        whole[n : n + 1 + d, :] = np.eye(1 + d)[:, : whole.shape[1]]
        if slides:
            whole[n + 1 : n + 1 + d, 0] = -mu * slip / speed
            whole /= np.hypot(1.0, mu)
        columns.append(whole)
    return np.hstack(columns) if columns else np.zeros((len(w), 0))


def _share(problem: "FrictionProblem", P: Array, step: Array) -> float:
    """The largest part of a step that keeps signs and cones, by bisection: the set is convex."""
    allowed = _slack(problem, P)
    if np.all(_slack(problem, P + step) >= np.minimum(allowed, 0.0)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        good = bool(np.all(_slack(problem, P + middle * step) >= np.minimum(allowed, 0.0)))
        low, high = (middle, high) if good else (low, middle)
    return low


def _slack(problem: "FrictionProblem", P: Array) -> Array:
    """How far impulses are inside their cones, up to round-off."""
    normal, noise = P[problem.normal], 8.0 * EPS * float(np.max(np.abs(P), initial=0.0))
    friction = np.array(
        [np.linalg.norm(P[n + 1 : n + 1 + d]) for n, d in zip(problem.normal, problem.directions, strict=True)]
    )
    finite: Mask = np.isfinite(problem.mu)
    room = np.where(finite, np.where(finite, problem.mu, 0.0) * normal - friction, 0.0)
    return np.concatenate([normal, np.where(problem.directions > 0, room, 0.0)]) + noise
