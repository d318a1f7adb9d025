"""Penalty joints: constraints as stiff springs [AR (1)], to study what rigid joints idealise."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array
from onesided.dynamics.consistent import consistent
from onesided.dynamics.mechanics import Mechanics
from onesided.system.equations import Equations
from onesided.system.system import System
from onesided.system.travel import made_by

ROUNDS = 20


@checked
def with_penalty(system: System, epsilon: float | Mapping[str, float]) -> System:
    """The system with bilateral constraints replaced by springs of energy c²/ε² [AR (1)].

    The force of such a joint is −(2/ε²) c_qᵀ c, so μ_ε = −2c/ε² takes the place of the multiplier μ.

    Parameters
    ----------
    epsilon : one number for all bilateral constraints, or name → number for those to be replaced.
    """
    chosen = dict(epsilon) if isinstance(epsilon, Mapping) else dict.fromkeys(system.bilateral, float(epsilon))
    for name, value in chosen.items():
        if name not in system.bilateral:
            raise unknown_name("bilateral constraint", name, system.bilateral)
        if not 0 < value < np.inf:
            raise UsageError(f"ε of '{name}' is out of range", got=repr(value), expected="above 0")
    soft: dict[str, Any] = {name: system.bilateral[name] for name in chosen}
    rigid = {name: f for name, f in system.bilateral.items() if name not in chosen}
    plain: Any = system.energy

    def energy(q: Any, p: Any, th: Any) -> Any:
        return plain(q, p, th) + sum(f(q, p, th) ** 2 / chosen[name] ** 2 for name, f in soft.items())

    return made_by(replace(system, energy=energy, bilateral=rigid), with_penalty, system, epsilon)


@checked
def prepared(
    system: System, epsilon: float, q0: Any, v0: Any, *, t: float = 0.0, control: float = 0.0
) -> tuple[Array, Array]:
    """Initial data for `with_penalty(system, ε)` without oscillations: c = −ε²μ/2, ċ = −ε²μ̇/2, μ of the rigid joint.

    Data on the constraints themselves make the joint forces oscillate between nothing and twice their size, however
    small ε is.
    """
    mechanics = Mechanics(Equations(system, control))
    state, _ = consistent(mechanics, t, q0, v0, 1.0)
    tiny = 0.001 * float(mechanics.sizes.q.max() / mechanics.sizes.v.max())
    ahead, behind = (_multipliers(mechanics, state, sign * tiny) for sign in (1.0, -1.0))
    c = -(epsilon**2) * state.mu / 2.0
    c_dot = -(epsilon**2) * (ahead - behind) / (4.0 * tiny)
    q, v, space = state.q, state.v, mechanics.equations.space
    zero = np.zeros_like(q)
    for _ in range(ROUNDS):
        now = mechanics.accelerate(t, q, zero, v, state.mu)
        off = np.concatenate([c - now.terms.c, c_dot - now.terms.c_dot])
        if np.max(np.abs(off), initial=0.0) <= mechanics.tolerances.residual * float(np.max(np.abs(c), initial=0.0)):
            return q, v
        q = space.retract(q, mechanics.solve(now.factor, zero, c - now.terms.c)[0])
        v = v + mechanics.solve(now.factor, zero, c_dot - now.terms.c_dot)[0]
    raise SolveError("the prepared data were not found", (q, v), advice="a smaller ε")


def _multipliers(mechanics: Mechanics, state: Any, dt: float) -> Array:
    """μ a little later or earlier on the rigid motion, to second order in time."""
    delta = dt * state.v + 0.5 * dt**2 * state.a
    settled = mechanics.settle(
        state.t + dt, mechanics.equations.space.retract(state.q, delta), state.v + dt * state.a, state.mu
    )
    return settled.state.mu
