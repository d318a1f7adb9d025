"""Inputs of a system: generalised forces with a size that is free, and the system under inputs that are known."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import check_names, unknown_name
from onesided.base.types import Array
from onesided.evaluation.user_functions import Parameters
from onesided.system.system import System

Force = Callable[[Any, Any], Any]
Cost = Callable[[Any, Any, Any, Any, Any], Any]


def input_forces(system: System, inputs: Mapping[str, str | Force]) -> tuple[Force, ...]:
    """Per input, the generalised force (q, th) → (n,) of an input of one; a coordinate's name is a force on it."""
    check_names("input", inputs)
    if not inputs:
        raise ModelError("there is no input", expected="name → coordinate, or name → function (q, th)")
    return tuple(_force(system, name, what) for name, what in inputs.items())


def _force(system: System, name: str, what: str | Force) -> Force:
    if isinstance(what, str):
        if what not in system.coordinates:
            raise unknown_name("coordinate", what, system.coordinates)
        unit = np.eye(system.n)[system.coordinates.index(what)]
        return lambda q, th: jnp.asarray(unit)
    _check_shape(system, f"input '{name}'", lambda q, v, u, th: what(q, th), 1, (system.n,), "(q, th)")
    return what


def check_cost(system: System, cost: Cost, inputs: int) -> None:
    """Refuse an objective that is no number."""
    zero = jnp.zeros(())
    _check_shape(system, "the objective", lambda q, v, u, th: cost(zero, q, v, u, th), inputs, (), "(t, q, v, u, th)")


def _check_shape(
    system: System, label: str, call: Callable[..., Any], inputs: int, shape: tuple[int, ...], form: str
) -> None:
    th, n = Parameters(system.parameters), jnp.zeros(system.n)
    try:
        found = jax.eval_shape(lambda q, v, u: jnp.asarray(call(q, v, u, th)), n, n, jnp.zeros(inputs)).shape
    except (TypeError, ValueError, AttributeError, IndexError, NameError) as e:
        raise ModelError(
            f"{label} cannot be evaluated",
            got=f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}",
            expected=f"a function {form} in jax.numpy",
        ) from e
    if tuple(found) != shape:
        raise ModelError(f"{label} returned shape {tuple(found)}", expected=f"shape {shape}" if shape else "one number")


def squares(t: Any, q: Any, v: Any, u: Any, th: Any) -> Any:
    """Cost uᵀu of the inputs, the default objective."""
    return u @ u


def pushes(system: System, forces: tuple[Force, ...], q: Array) -> Array:
    """Directions B(q) in which the inputs act, (n, inputs)."""
    th = Parameters(system.parameters)
    return np.stack([np.asarray(force(jnp.asarray(q), th), dtype=float) for force in forces], axis=1)


def with_inputs(system: System, forces: tuple[Force, ...], t: Array, u: Array) -> System:
    """The system under inputs that are parabolas between the times t; u (N, 3, inputs) as of `Steering`."""
    th, own = Parameters(system.parameters), system.force
    times, steps, table = jnp.asarray(t), jnp.asarray(np.diff(t)), jnp.asarray(u)

    def force(now: Any, q: Any, v: Any, p: Any, given: Any) -> Any:
        k = jnp.clip(jnp.searchsorted(times, now, side="right") - 1, 0, len(t) - 2)
        s = (now - times[k]) / steps[k]
        shape = jnp.stack([(1.0 - s) * (1.0 - 2.0 * s), 4.0 * s * (1.0 - s), s * (2.0 * s - 1.0)])
        total = jnp.stack([one(q, th) for one in forces], axis=1) @ (shape @ table[k])
        return total if own is None else total + own(now, q, v, p, given)

    return replace(system, force=force)
