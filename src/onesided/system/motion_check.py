"""What a model says about motion, checked when it is stated: shapes, and functions that cannot be evaluated."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import SOME_DIGITS
from onesided.base.types import Array
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.user_functions import Parameters
from onesided.groups import Group

if TYPE_CHECKING:
    from onesided.system.system import System

SAME = SOME_DIGITS  # relative differences below this are round-off of functions that a user may write


def check_motion(system: "System") -> None:
    """Refuse functions of the wrong shape, and parts that do not fit together."""
    n, m, inputs = system.n, len(system.bilateral), len(system.servo)
    _check_parts(system)
    square, vector, scalar = (n, n), (n,), ()
    wanted: list[tuple[str, Any, str, tuple[tuple[int, ...], ...], tuple[int, ...]]] = [
        ("`kinetic`", system.kinetic, "(q, v, th)", (vector, vector), scalar),
        ("`mass`", system.mass, "(q, th)", (vector,), square),
        ("`force`", system.force, "(t, q, v, p, th)", (scalar, vector, vector, scalar), vector),
        ("`friction`", system.friction, "(q, v, mu, th)", (vector, vector, (m,)), vector),
        ("`actuation`", system.actuation, "(q, th)", (vector,), (n, inputs)),
    ]
    wanted += [
        (f"non-holonomic constraint '{name}'", f, "(q, v, th)", (vector, vector), scalar)
        for name, f in system.nonholonomic.items()
    ]
    wanted += [
        (f"servo condition '{name}'", f, "(q, p, th)", (vector, scalar), scalar) for name, f in system.servo.items()
    ]
    for label, function, form, shapes, result in wanted:
        if function is not None:
            _check(label, function, form, shapes, result, tuple(system.parameters))


def _check_parts(system: "System") -> None:
    if system.kinetic is not None and system.mass is not None:
        raise ModelError("both `kinetic` and `mass` are given", expected="one of them", advice="leave one out")
    if bool(system.servo) != (system.actuation is not None):
        raise ModelError(
            "`servo` and `actuation` belong together",
            got="only one of them",
            expected="conditions s(q, p, th) = 0 and the directions B(q, th) of the inputs that meet them",
        )
    if system.space is None:
        return
    if not isinstance(system.space, Group):
        raise ModelError("`space` is no configuration space", got=repr(system.space), expected="a group, such as SO3()")
    if system.space.size != system.n:
        raise ModelError(
            "`space` does not fit the coordinates",
            got=f"{system.space.words} with {system.space.size} numbers",
            expected=f"{system.n}: one per coordinate",
            advice="Product(Vector(3), SO3(), …)",
        )


def _check(
    label: str,
    function: Any,
    form: str,
    shapes: tuple[tuple[int, ...], ...],
    result: tuple[int, ...],
    names: tuple[str, ...],
) -> None:
    prepare_jax()
    if not callable(function):
        raise ModelError(f"{label} is not a function", got=repr(function), expected=f"a callable {form}")
    shape_of: Any = jax.ShapeDtypeStruct

    def call(vector: Any, *arguments: Any) -> Any:
        return jnp.asarray(function(*arguments, Parameters(zip(names, vector, strict=True))))

    arguments = [shape_of(shape, jnp.float64) for shape in ((len(names),), *shapes)]
    out = _evaluate(label, call, form, arguments)
    if tuple(out.shape) != result:
        raise ModelError(
            f"{label} returned shape {tuple(out.shape)}",
            expected=f"shape {result}" if result else "one number",
            advice="return a scalar" if not result else "jnp.array([…]) with one entry per coordinate",
        )


def _evaluate(label: str, call: Callable[..., Any], form: str, arguments: list[Any]) -> Any:
    try:
        return jax.eval_shape(call, *arguments)
    except ModelError:
        raise
    except (TypeError, ValueError, AttributeError, IndexError, NameError, ArithmeticError) as e:
        raise ModelError(
            f"{label} cannot be evaluated",
            got=f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}",
            expected=f"a function {form} written in jax.numpy",
            advice="jnp.cos instead of np.cos or math.cos, jnp.where instead of `if`",
        ) from e


def check_mass(system: "System", q: Array) -> None:
    """Refuse a mass matrix that is not symmetric at a configuration: only half of it would be used."""
    if system.mass is None or system.structure is not None:
        return
    M = np.asarray(system.mass(jnp.asarray(q), Parameters(system.parameters)), dtype=float)
    size = float(np.max(np.abs(M), initial=0.0))
    i, j = np.unravel_index(int(np.argmax(np.abs(M - M.T))), M.shape)
    if np.isfinite(size) and abs(M[i, j] - M[j, i]) > SAME * size:
        names = system.coordinates
        raise ModelError(
            "the mass matrix is not symmetric",
            got=f"{M[i, j]:.9g} for ({names[i]}, {names[j]}) and {M[j, i]:.9g} for ({names[j]}, {names[i]})",
            expected="M = Mᵀ",
        )
