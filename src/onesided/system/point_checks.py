"""Functions, points, parameters and forces given by users, checked; errors name what is wrong and where."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import check_names, some, unknown_name
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array
from onesided.evaluation.compiling import Compiled, compiled
from onesided.evaluation.rows import Row
from onesided.evaluation.user_functions import Function, Parameters, check_function, compare_derivatives

if TYPE_CHECKING:
    from onesided.system.system import System


def as_point(system: "System", q: Any) -> Array:
    """Check a configuration given by a user (sequence or name → value) and return it as a float64 array."""
    if isinstance(q, Mapping):
        for name in q:
            if name not in system.coordinates:
                raise unknown_name("coordinate", name, system.coordinates)
        missing = [name for name in system.coordinates if name not in q]
        if missing:
            raise ModelError("coordinates are missing in the point", got=", ".join(q), expected=", ".join(missing))
        q = [q[name] for name in system.coordinates]
    array = np.asarray(q)
    if array.dtype == np.float32:
        raise ModelError("the point is in single precision", got="float32", expected="float64")
    if array.shape != (system.n,) or array.dtype.kind not in "fiu":
        raise ModelError(
            "the point has the wrong shape or type",
            got=f"shape {array.shape}, {array.dtype}",
            expected=f"({system.n},) numbers, one per coordinate ({', '.join(system.coordinates)})",
        )
    return array.astype(np.float64)


def check_finite_at(system: "System", q: Array, p: float) -> None:
    """Raise a ModelError that names what is not finite at (q, p): p, or a function and which derivative of it."""
    if not math.isfinite(p):
        raise ModelError(f"{system.control} is not finite", got=repr(p), expected="a number")
    e = system.evaluate(q, p, np.zeros(len(system.constraint_names)))
    if e.finite() and math.isfinite(e.energy):
        return
    at = ", ".join(f"{name} = {value:.6g}" for name, value in zip(system.coordinates, q, strict=True))
    advice = "move the start away from the singular point, or reformulate (square roots and divisions at zero)"
    rows: list[tuple[str, Any]] = [(f"constraint '{name}'", e.c[i]) for i, name in enumerate(system.constraint_names)]
    rows += [(f"the gradient of '{name}'", e.c_q[i]) for i, name in enumerate(system.constraint_names)]
    rows += [("the energy", e.energy), ("the energy's gradient", e.L_q), ("the energy's Hessian", e.L_qq)]
    for label, value in rows:
        if not np.all(np.isfinite(value)):
            raise ModelError(
                f"{label} is not finite at {at}, {system.control} = {p:.6g}", got=str(value), advice=advice
            )


def check_gaps_change(system: "System", q: Array, p: float) -> None:
    """Refuse constraints that do not depend on the coordinates, looked at near q."""
    if not system.constraint_names:
        return
    shifts = np.random.default_rng(0).normal(size=(2, system.n)) * (1.0 + np.abs(q))
    zero, one = np.zeros(len(system.constraint_names)), np.ones(system.n)
    with np.errstate(over="ignore"):
        slopes = [system.evaluate(q + shift, p, zero).gap_sizes(one) for shift in (0.0, *shifts)]
    for i, name in enumerate(system.constraint_names):
        if all(slope[i] == 0.0 for slope in slopes):
            raise ModelError(
                f"constraint '{name}' does not depend on the coordinates",
                expected="a gap that changes when the system moves",
                advice="check its formula, or remove it",
            )


def compared_derivatives(
    system: "System", functions: Iterable[tuple[str, Any]], point: Array, p: float, tolerances: Tolerances
) -> dict[str, float]:
    """Compare supplied with automatic derivatives at (q, p); raise a ModelError where they disagree.

    Returns the largest relative difference per function and derivative.
    """
    found = {}
    for label, function in functions:
        if isinstance(function, Function):
            pairs = compare_derivatives(function, tuple(system.parameters), point, p, dict(system.parameters))
            found.update({f"{label}: {name}": value for name, value in pairs.items()})
    for name, value in found.items():
        if not value <= tolerances.derivative:
            raise ModelError(
                f"the supplied derivative disagrees with the automatic one ({name})",
                got=f"relative difference {value:.3g}",
                expected=f"at most {tolerances.derivative:g}",
                advice="correct the formula, or leave it out: derivatives are automatic",
            )
    return found


def parameter_numbers(parameters: Mapping[str, float]) -> dict[str, float]:
    """The parameters as finite numbers in double precision; anything else is refused by its name."""
    check_names("parameter", parameters)
    values = {}
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
            raise ModelError(f"parameter '{name}' is not a number", got=repr(value), expected="a float")
        if getattr(value, "dtype", None) == np.float32:
            raise ModelError(f"parameter '{name}' is in single precision", got="float32", expected="float64")
        if not math.isfinite(value):
            raise ModelError(f"parameter '{name}' is not finite", got=repr(value), expected="a finite number")
        values[name] = float(value)
    return values


def check_functions(functions: Iterable[tuple[str, Any]], n: int, names: tuple[str, ...]) -> None:
    """Refuse what is not a function (q, p, th) of n coordinates and these parameters that gives one number."""
    for label, function in functions:
        if isinstance(function, Row) and function.index > 0:
            continue  # the family was checked with its first row
        if isinstance(function, Row):
            check_function(f"the family of {label}", function.family, n, names, (function.size,))
        if not callable(function) and not isinstance(function, Function):
            raise ModelError(f"{label} is not a function", got=repr(function), expected="a callable (q, p, th)")
        check_function(label, function, n, names)
        if isinstance(function, Function):
            for rule, name, shape in (
                (function.gradient, "gradient", (n,)),
                (function.hessian, "hessian", (n, n)),
            ):
                if rule is not None:
                    check_function(f"{name} of {label}", rule, n, names, shape)


def check_forces(system: "System", q: Array, p: float) -> None:
    """Refuse, for statics, forces at rest that have no potential: equilibrium paths are made of energies."""
    advice = "model it as an energy, or compute the motion instead"
    for element in () if system.structure is None else system.structure.elements:
        if not element.conservative:
            raise ModelError(
                f"{element.kind} '{element.name}' has no potential: statics cannot treat it",
                got="a force whose work depends on the way: its stiffness is not symmetric, and stability may be lost "
                "by flutter, which no energy shows",
                expected="forces with a potential: a dead `force`, `pressure` in a closed polygon, `surface_pressure`",
                advice="simulate with dampers and a slow `control`; that is valid beyond flutter too",
            )
    if system.force is None:
        return
    shift = np.random.default_rng(0).normal(size=system.n) * (1.0 + np.abs(q))
    places = (0.0, q, p), (0.0, q, p + 1.0), (1.0, q, p), (0.0, q + shift, p)
    given = np.array([[t, *where, control] for t, where, control in places])
    forces = np.asarray(system.resting_force(given, np.array(list(system.parameters.values()), dtype=np.float64)))
    for (t, _, control), found in zip(places, forces, strict=True):
        if np.any(found != 0.0):
            names = [system.coordinates[i] for i in np.flatnonzero(found)]
            raise ModelError(
                f"a force without a potential acts at rest on {some(names)}: statics would ignore it",
                got=f"{found[np.flatnonzero(found)[0]]:.6g} at t = {t:g}, {system.control} = {control:g}",
                expected="forces that vanish with the velocities (damping), or none",
                advice=advice,
            )


def resting_force(system: "System") -> Compiled:
    """Forces at rest as a function of rows (t, q, p) and the parameters."""
    names, rest = tuple(system.parameters), np.zeros(system.n)

    def force(where: Any, values: Any) -> Any:
        th = Parameters(zip(names, values, strict=True))
        return jnp.asarray(system.force(where[0], where[1:-1], rest, where[-1], th))  # type: ignore[misc]

    return compiled(jax.vmap(force, in_axes=(0, None)), rare=True)
