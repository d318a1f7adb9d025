"""Forces that statics would ignore."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import some
from onesided.base.types import Array
from onesided.evaluation.compiling import Compiled, compiled
from onesided.evaluation.user_functions import Parameters

if TYPE_CHECKING:
    from onesided.system.system import System


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
