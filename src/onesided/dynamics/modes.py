"""Linearisation about an equilibrium: modes and frequencies with joints and closed contacts as constraints."""

from typing import Any

import numpy as np
from scipy.linalg import eig, eigh

from onesided.base.arguments import checked
from onesided.base.errors import ModelError, UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices
from onesided.groups import Vector
from onesided.linalg import null_space
from onesided.results.vibration import Modes
from onesided.system.equations import Equations
from onesided.system.system import System

MOST_DRAWN = 3  # modes in a picture
TRIAL = 0.01  # of the largest coordinate: to find out how far points move
SEEN = 0.12  # of the size of a picture: how far they are to move


@checked
def modes(system: System, q: Any, p: float, *, tolerances: Tolerances = DEFAULT) -> Modes:
    """Frequencies and shapes of small vibrations about the equilibrium (q, p).

    Joints and closed contacts are constraints: on their null space Z, Zᵀ K Z y = ω² Zᵀ M Z y with K the second
    derivative of the Lagrangian. With damping or gyroscopic forces `eigenvalues` are those of M s² + C s + K.

    Raises
    ------
    UsageError
        If (q, p) is not an equilibrium, or a contact would pull.
    """
    point = system.point(q)
    equations = Equations(system, p)
    if system.nonholonomic:
        raise UsageError("modes with non-holonomic constraints are not offered", advice="leave them out")
    found = np.asarray(equations.functions.linearised(point, p, equations.parameters))
    n, m, k = system.n, len(system.bilateral), len(system.unilateral)
    force, rest = found[:n], found[n:]
    c, rest = rest[: m + k], rest[m + k :]
    E, rest = rest[: (m + k) * n].reshape(m + k, n), rest[(m + k) * n :]
    closed = _closed(system, c[m:], E[m:], point, tolerances)
    _refuse_soft(system, closed)
    kept = np.concatenate([np.arange(m), m + closed]).astype(int)
    nu = _multipliers(system, force, E[kept], tolerances)
    note = _check_contacts(system, closed, nu[m:], tolerances)
    full = np.zeros(m + k)
    full[kept] = nu
    K, C, M = np.asarray(equations.functions.stiffness(point, p, full, equations.parameters)).reshape(3, n, n)
    return _solve(system, point, p, (K, C, M, E[kept]), (full[:m], full[m:], closed, note))


def _closed(system: System, gaps: Array, E: Array, q: Array, tolerances: Tolerances) -> Indices:
    size = float(np.max(np.abs(q), initial=0.0)) or 1.0
    scale = np.maximum(np.abs(E).sum(axis=1), np.finfo(float).tiny) * size
    for name, gap, one in zip(system.unilateral, gaps, scale, strict=True):
        if gap < -np.sqrt(tolerances.gap) * one:
            raise UsageError(f"gap '{name}' is violated", got=f"{gap:.6g}", expected="0 or more")
    return np.flatnonzero(gaps <= np.sqrt(tolerances.gap) * scale)


def _refuse_soft(system: System, closed: Indices) -> None:
    """Refuse compliant contacts that touch: they would count as hard ones."""
    names = [name for i, name in enumerate(system.unilateral) if i in closed and name in system.contacts]
    soft = [name for name in names if system.contacts[name].compliance is not None]
    if soft:
        raise UsageError("modes with compliant contacts are not offered", got=", ".join(soft), expected="hard contacts")


def _multipliers(system: System, force: Array, E: Array, tolerances: Tolerances) -> Array:
    """ν of force + Eᵀν = 0; what is left over must be small."""
    nu = np.linalg.lstsq(E.T, -force, rcond=None)[0] if len(E) else np.zeros(0)
    left = force + E.T @ nu
    size = max(float(np.max(np.abs(E.T * nu), initial=0.0)), float(np.max(np.abs(force), initial=0.0)), 1.0)
    if not np.max(np.abs(left)) <= np.sqrt(tolerances.residual) * size:
        worst = int(np.argmax(np.abs(left)))
        raise UsageError(
            "this is not an equilibrium",
            got=f"a force of {left[worst]:.3g} in the direction of {system.coordinates[worst]}",
            advice="solve(system, start=q, p=p) first",
        )
    return np.asarray(nu)


def _check_contacts(system: System, closed: Indices, lam: Array, tolerances: Tolerances) -> str:
    names, size = tuple(system.unilateral), float(np.max(np.abs(lam), initial=0.0)) or 1.0
    for i, value in zip(closed, lam, strict=True):
        if value < -np.sqrt(tolerances.force) * size:
            raise UsageError(f"contact '{names[i]}' would pull", got=f"{value:.6g}", expected="a reaction of 0 or more")
    weak = [names[i] for i, value in zip(closed, lam, strict=True) if value <= np.sqrt(tolerances.force) * size]
    return f"{', '.join(weak)} touch without force: vibrations that open them are not linear" if weak else ""


def _solve(
    system: System,
    q: Array,
    p: float,
    matrices: tuple[Array, Array, Array, Array],
    known: tuple[Array, Array, Indices, str],
) -> Modes:
    K, C, M, E = matrices
    mu, lam, closed, note = known
    Z = null_space(E)
    reduced = [Z.T @ A @ Z for A in (K, C, M)]
    try:
        squares, shapes = eigh(reduced[0], reduced[2])
    except np.linalg.LinAlgError:
        raise ModelError(
            "the mass matrix is singular for motions that the constraints allow", advice="give every coordinate mass"
        ) from None
    size = len(squares)
    A = np.block([[np.zeros((size, size)), np.eye(size)], [-reduced[0], -reduced[1]]])
    B = np.block([[np.eye(size), np.zeros((size, size))], [np.zeros((size, size)), reduced[2]]])
    values = eig(A, B, right=False) if size else np.zeros(0, dtype=complex)
    return Modes(
        system.coordinates,
        q,
        p,
        np.sign(squares) * np.sqrt(np.abs(squares)),
        Z @ shapes,
        np.asarray(values[np.argsort(np.abs(values))]),
        tuple(name for i, name in enumerate(system.unilateral) if i in closed),
        mu,
        lam,
        note,
        system.sketch,
        _swings(system, q, p, Z @ shapes),
    )


def _swings(system: System, q: Array, p: float, shapes: Array) -> dict[str, Array]:
    """What a drawing needs: at rest, then displaced in each of the slowest modes, enlarged to be seen."""
    if system.sketch is None:
        return {}
    space = system.space or Vector(system.n)
    chosen = [shape / np.max(np.abs(shape)) * TRIAL * (np.max(np.abs(q)) or 1.0) for shape in shapes.T[:MOST_DRAWN]]
    places = system.sketch.positions(_columns(system, np.array([q, *(space.retract(q, d) for d in chosen)]), p))
    points = np.stack(list(places.values()), axis=1)
    size = float(np.max(np.ptp(points[0], axis=0))) or 1.0
    moved = np.max(np.linalg.norm(points[1:] - points[0], axis=2), axis=1, initial=0.0)
    scale = np.divide(SEEN * size, moved, out=np.zeros(len(moved)), where=moved > 0)
    rows = np.array([q, *(space.retract(q, a * d) for a, d in zip(scale, chosen, strict=True))])
    return _columns(system, rows, p)


def _columns(system: System, q: Array, p: float) -> dict[str, Array]:
    control = np.full(len(q), p)
    values = dict(zip(system.coordinates, q.T, strict=True))
    return {system.control: control, **values, **system.measured(q, control)}
