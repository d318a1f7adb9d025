"""Consistent initial values: a start given by a user, moved onto the constraints, with a report of what was changed."""

from typing import Any

import numpy as np
from scipy import sparse

from onesided.base.errors import ModelError, SolveError, UsageError
from onesided.base.tolerances import QUARTER_DIGITS, SOME_DIGITS
from onesided.base.types import Array
from onesided.dynamics.mechanics import Mechanics, MotionSizes, MotionState, Settled
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import RankKKT, SparseKkt
from onesided.results import StartCorrection

GUESSED = 0.001  # of sizes that are guessed from forces and time: what errors of steps are compared with at first
SEEN = SOME_DIGITS  # of coordinates: ways, and over the time span speeds, that round-off leaves some digits of
NAMED = 1000  # up to so many coordinates the motions without inertia are named, which takes dense matrices


def consistent(mechanics: Mechanics, t: float, q0: Any, v0: Any, span: float) -> tuple[MotionState, StartCorrection]:
    """Positions and velocities on the constraints, accelerations and multipliers that belong to them.

    Raises
    ------
    ModelError
        Values that are not finite, a mass matrix that is singular on the null space of the constraints.
    SolveError
        Constraints that cannot be met near the start.
    """
    equations = mechanics.equations
    q, v = equations.system.point(q0), velocities(mechanics, v0)
    q = equations.space.wrap(q)
    mechanics.prepare(t, q, v)
    terms = equations.terms(t, q, np.zeros(equations.n), v, np.zeros(equations.m))
    _check_finite(mechanics, t, q, v, terms)
    mechanics.choose_rows(terms)
    _check_mass(mechanics, terms)
    _set_sizes(mechanics, q, v, terms, span)
    settled = mechanics.settle(t, q, v, np.zeros(equations.rows))
    if not settled.status.ok:
        raise SolveError(settled.status.value, settled.state, got=f"{settled.worst} at t = {t:g}")
    terms = settled.accelerated.terms
    mechanics.choose_rows(terms)
    _check_mass(mechanics, terms)
    settled = mechanics.settle(t, settled.state.q, settled.state.v, np.zeros(equations.rows))
    _set_sizes(mechanics, settled.state.q, settled.state.v, terms, span, settled.state.a)
    mechanics.closest = 1.0
    return settled.state, _report(mechanics, q, v, settled)


def velocities(mechanics: Mechanics, v0: Any) -> Array:
    """Check velocities given by a user (sequence, or name → value with zero for those left out)."""
    system = mechanics.equations.system
    if isinstance(v0, dict):
        v0 = {**dict.fromkeys(system.coordinates, 0.0), **v0}
    try:
        return system.point(v0)
    except ModelError as e:
        raise UsageError(f"velocities: {e.what}", got=e.got, expected=e.expected, advice=e.advice) from None


def _check_finite(mechanics: Mechanics, t: float, q: Array, v: Array, terms: Terms) -> None:
    equations = mechanics.equations
    for label, value in (
        ("the mass matrix", terms.M),
        ("the force", terms.h),
        ("a constraint", terms.c),
        ("the gradient of a constraint", terms.G),
        ("a hidden constraint", np.append(terms.c_dot, terms.gamma)),
    ):
        if not np.all(np.isfinite(value)):
            names = equations.system.coordinates
            at = ", ".join(f"{name} = {a:.6g} (velocity {b:.6g})" for name, a, b in zip(names, q, v, strict=True))
            raise ModelError(
                f"{label} is not finite at t = {t:.6g}, {at}", got=str(value), advice="check the model there"
            )


def _set_sizes(mechanics: Mechanics, q: Array, v: Array, terms: Terms, span: float, a: Array | None = None) -> None:
    """Typical sizes: coordinates as given or as they are, velocities as they are or as accelerations make them."""
    equations, units = mechanics.equations, mechanics.units
    given = equations.system.scales.lengths(len(q))
    largest, fast = (float(np.max(np.abs(x) / units, initial=0.0)) for x in (q, v))
    push = float(np.max(np.abs(a) / units, initial=0.0)) if a is not None else 0.0
    reach = max(fast * span, push * span**2 / 2.0)
    length = largest or reach or 1.0
    lengths = np.maximum(np.abs(q), length * units) if given is None else given
    told = given is None and equations.control is None and reach > 0.0  # whether the start determines the way
    speed = max(fast, (push * (min(length, reach) if told else length)) ** 0.5) or length / span
    least, close, share = np.inf, np.inf, 1.0
    if given is None and fast == 0.0 and largest == 0.0:
        least, close, share = GUESSED * length, GUESSED * length, GUESSED
    elif told:
        least, close = max(reach, QUARTER_DIGITS * largest), max(GUESSED * reach, SEEN * largest)
        share = min(1.0, max(GUESSED, SEEN * length / (span * speed))) if fast == 0.0 else 1.0
    elif given is None and largest > 0.0 and equations.control is not None:  # it may go anywhere, if not at once
        close = max(GUESSED * reach, QUARTER_DIGITS * largest)
    mechanics.sizes = MotionSizes(
        np.array(lengths, dtype=float), speed * np.ones(len(q)) * units, np.array(q, dtype=float), least, close, share,
        units=units, fastest=speed,
    )  # fmt: skip


def _check_mass(mechanics: Mechanics, terms: Terms) -> None:
    if mechanics.equations.pattern is not None and _inertia_is_right(mechanics, terms):
        return
    shown = "some of many coordinates"
    if mechanics.equations.pattern is None or mechanics.equations.n <= NAMED:
        M, G = mechanics.equations.matrices(terms)
        unit = np.diagonal(M) ** -0.5 if np.all(np.diagonal(M) > 0.0) else np.ones(len(M))  # whatever the units are
        factor = RankKKT(M * unit * unit[:, None], G * unit)
        if factor.pivot > mechanics.tolerances.rank:
            return
        names, mode = mechanics.equations.system.coordinates, factor.weakest
        largest = np.argsort(-np.abs(mode))[:3]
        shown = ", ".join(names[i] for i in largest if abs(mode[i]) > 0.1 * np.max(np.abs(mode)))
    raise ModelError(
        "the mass matrix is singular, or negative, for motions that the constraints allow",
        got=f"no inertia against a motion of {shown}",
        expected="positive kinetic energy for every admissible velocity",
        advice="give these coordinates mass, or a constraint",
    )


def _inertia_is_right(mechanics: Mechanics, terms: Terms) -> bool:
    """Whether M − σ is positive on the null space of G: its KKT matrix has a negative eigenvalue per kept row only."""
    pattern, rows = mechanics.equations.pattern, mechanics.rows
    assert pattern is not None  # noqa: S101 - asked for large systems only
    M, n = pattern.M.sparse(terms.M), mechanics.equations.n
    shift = mechanics.tolerances.rank * float(np.max(np.abs(M).sum(axis=1)))
    lower, G = sparse.coo_array(sparse.tril(M)), sparse.coo_array(pattern.G.sparse(terms.G)[rows])
    (i, j), (row, column) = ((a.coords[0].astype(np.intp), a.coords[1].astype(np.intp)) for a in (lower, G))
    factor = SparseKkt(n, len(rows), (i, j), (row, column))
    gradients = G.data * mechanics.weights[rows[row]]
    factor.factor(lower.data - shift * (i == j), gradients, np.ones(len(rows), dtype=bool))
    return factor.inertia == (n, len(rows), 0)


def _report(mechanics: Mechanics, q: Array, v: Array, settled: Settled) -> StartCorrection:
    space, tolerance = mechanics.equations.space, mechanics.tolerances.residual
    moved = float(np.max(np.abs(space.local(q, settled.state.q)), initial=0.0))
    changed = float(np.max(np.abs(settled.state.v - v), initial=0.0))
    names = tuple(mechanics.equations.names[i] for i in mechanics.loose)
    return StartCorrection(
        moved if moved > tolerance * mechanics.sizes.q.max() else 0.0,
        changed if changed > tolerance * mechanics.sizes.v.max() else 0.0,
        names,
    )
