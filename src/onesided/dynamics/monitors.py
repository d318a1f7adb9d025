"""Rechecking a motion from the model: constraints, hidden constraints, force balance, energy, continuity."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Status
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.evaluation.motion_terms import Check
from onesided.results import Drift
from onesided.system.equations import Equations


class Arrays(NamedTuple):
    """States as arrays with a row per point: t (N,), q, v, a (N, n), mu (N, rows), work (N,), u (N, inputs)."""

    t: Array
    q: Array
    v: Array
    a: Array
    mu: Array
    work: Array
    u: Array


def stack(states: Sequence[MotionState]) -> Arrays:
    """States one below the other."""
    columns = ([getattr(s, name) for s in states] for name in Arrays._fields)
    return Arrays(*(np.asarray(list(column), dtype=float) for column in columns))


def recheck(mechanics: Mechanics, points: Arrays, found: Check | None = None) -> tuple[Drift, Check]:
    """Evaluate the model afresh at every point, unless that was done, and measure what is violated."""
    if found is None:
        found = mechanics.equations.check(points.t, points.q, points.v, points.a, np.hstack([points.mu, points.u]))
    steep = steepness(mechanics.equations, points)
    length = max(float(np.max(np.abs(points.q), initial=0.0)), float(mechanics.sizes.q.max()))
    speed = max(float(np.max(np.abs(points.v), initial=0.0)), float(mechanics.sizes.v.max()))
    cancelled = HALF_DIGITS * float(np.max(np.abs(found.energy - found.kinetic), initial=0.0)) / length  # inside of U
    force = max(force_size(found, points.mu, steep), cancelled)
    position = _largest(found.c / steep[: mechanics.equations.m]) / length
    velocity = _largest(found.c_dot / steep) / speed
    bend = speed / length * speed + float(np.max(np.abs(points.a), initial=0.0))
    acceleration = _largest(found.c_ddot / steep) / (bend or 1.0)
    balance = _largest(found.balance) / force
    return Drift(position, velocity, acceleration, balance, energy_error(found, points.work)), found


def steepness(equations: Equations, points: Arrays) -> Array:
    """Size of the gradient of every constraint along the motion."""
    zero = np.zeros(equations.n)
    norms = []
    for i in {0, len(points.t) // 2, len(points.t) - 1}:
        terms = equations.terms(points.t[i], points.q[i], zero, points.v[i], points.mu[i])
        norms.append(np.abs(terms.G).sum(axis=1))
    return np.asarray(np.maximum(np.max(norms, axis=0), EPS))


def force_size(found: Check, mu: Array, steep: Array) -> float:
    """Size of the largest force, also of those that cancel each other."""
    return max(float(np.max(found.forces, initial=0.0)), float(np.max(np.abs(mu) * steep, initial=0.0))) or 1.0


def _largest(values: Array) -> Array:
    return np.asarray(np.max(np.abs(values), axis=1, initial=0.0))


def energy_error(found: Check, work: Array) -> Array:
    """E − E₀ − work, relative to the energy in play; of a system at rest nothing but round-off is in play."""
    potential = found.energy - found.kinetic
    play = float(np.max(found.kinetic) + np.ptp(potential) + np.max(np.abs(work)))
    play = max(play, HALF_DIGITS * float(np.max(np.abs(potential))))
    return np.asarray(np.abs(found.energy - found.energy[0] - (work - work[0])) / (play or 1.0))


def verdict(mechanics: Mechanics, drift: Drift, limit: float, drifts: tuple[str, ...]) -> str:
    """What is wrong with a motion, in words; empty when nothing is."""
    tolerance = mechanics.tolerances
    words = []
    for name in ("position", "velocity", "acceleration", "balance"):
        bound = tolerance.energy if name in drifts else 100.0 * tolerance.residual
        worst = float(np.max(getattr(drift, name), initial=0.0))
        if not worst <= bound:
            words.append(f"{name} residual {worst:.2g} (relative)")
    lost = float(np.max(drift.energy, initial=0.0))
    if not lost <= limit:
        words.append(f"energy changes by {lost:.2g} of the energy in play without work")
    return "; ".join(words)


def status_after(status: Status, wrong: str) -> Status:
    """A good end of a motion that does not stand the recheck is no good end."""
    return Status.inaccurate if wrong and status.ok else status
