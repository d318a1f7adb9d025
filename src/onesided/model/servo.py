"""Servo constraints: conditions s(q, p(t)) = 0 met by inputs u through forces B(q) u, solved for u by differentiation.

A condition is differentiated along the motion until an input appears: y₀ = s, y₁ = ẏ₀, …, y_r contains u. All y_i
before are hidden constraints, y_r = 0 gives u. The index of the equations is r + 1: 3 for inputs that act like
joints, 5 when the input acts through a spring. Derivatives are automatic, of any order.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from onesided._types import Array
from onesided.errors import ModelError
from onesided.model.motion import Control, MotionFunctions
from onesided.tolerances import DEFAULT

if TYPE_CHECKING:
    from onesided.model.equations import Equations


class Inputs(NamedTuple):
    """Inputs u, their force B u (n,), the hidden constraints and their gradients by (q, v)."""

    u: Array
    force: Array
    hidden: Array
    gradient: Array


Level = Callable[[Any, Any], Any]
MAX_LEVEL = 8


class ServoFunctions:
    """Levels of one condition and their compiled derivatives.

    The state is z = (t, q, v); in a configuration space with rotations velocities and positions move along the group.
    """

    def __init__(self, equations: "Equations", z: Array) -> None:
        self.functions: MotionFunctions = equations.functions
        self.n, self.inputs = equations.n, len(equations.system.servo)
        self._control: Control | None = equations.control
        self._p, self._vector = equations.p, equations.parameters
        if equations.rows:
            raise ModelError(
                "servo conditions together with joints are not offered",
                expected="coordinates that need no constraints",
                advice="choose minimal coordinates, or state the joint as a servo condition",
            )
        self.levels = [self._levels(f, name, z) for name, f in equations.system.servo.items()]
        self.evaluate = jax.jit(self._evaluate)

    @property
    def index(self) -> int:
        """Index of the equations: one more than derivatives needed until inputs appear."""
        return max(len(levels) for levels in self.levels)

    def _p_at(self, t: Any) -> Any:
        return self.functions.control(self._control, t, jnp.asarray(self._p))[0]

    def _flow(self, z: Any, u: Any) -> tuple[Any, Any, Any]:
        """ṫ, velocity and acceleration at z under inputs u."""
        t, q, v = z
        h = self.functions.generalised_force(t, q, v, jnp.zeros(0), self._p_at(t), self._vector)
        M = jax.jacfwd(lambda w: self.functions.momentum(q, w, self._vector))(v)
        return jnp.ones(()), v, jnp.linalg.solve(M, h + self.functions.actuation(q, self._vector) @ u)

    def _along(self, level: Level) -> Level:
        """The derivative of a level along the motion."""

        def derivative(z: Any, u: Any) -> Any:
            rate = self._flow(z, u)

            def moved(s: Any) -> Any:
                t, q, v = z
                return level((t + s, self.functions.space.nudge(q, s * rate[1]), v + s * rate[2]), u)

            return jax.jvp(moved, (jnp.zeros(()),), (jnp.ones(()),))[1]

        return derivative

    def _levels(self, condition: Any, name: str, z: Array) -> list[Level]:
        """y₀, y₁, … up to the first that contains an input."""

        def position(state: Any, u: Any) -> Any:
            t, q, _ = state
            return condition(q, self._p_at(t), self.functions.parameters(self._vector))

        levels: list[Level] = [position]
        rng = np.random.default_rng(0)
        limit = min(
            MAX_LEVEL, 2 * self.n
        )  # an input that has not appeared after as many derivatives as states never will
        while len(levels) <= limit:
            following = self._along(levels[-1])
            levels.append(following)
            state = self._unpack(jnp.asarray(z + 0.1 * rng.normal(size=len(z))))
            probe = jax.jit(lambda s, u, f=following: jnp.append(jax.jacfwd(f, argnums=1)(s, u), f(s, u)))
            *slopes, value = np.asarray(probe(state, jnp.zeros(self.inputs)))
            if np.max(np.abs(slopes)) > DEFAULT.rank * max(1.0, abs(value)):
                return levels
        raise ModelError(
            f"servo condition '{name}' is not moved by any input",
            got=f"no input appears in {limit} derivatives",
            expected="an input that reaches the condition",
            advice="check `actuation`",
        )

    def _unpack(self, z: Any) -> tuple[Any, Any, Any]:
        return z[0], z[1 : 1 + self.n], z[1 + self.n :]

    def _evaluate(self, z: Any) -> Any:
        """Hidden constraints with their gradients by (q, v), and the linear equations for u at them."""
        zero, still = jnp.zeros(self.inputs), jnp.zeros(2 * self.n)
        state = self._unpack(z)

        def nudged(d: Any) -> Any:
            t, q, v = state
            return t, self.functions.space.nudge(q, d[: self.n]), v + d[self.n :]

        hidden = [level for levels in self.levels for level in levels[:-1]]

        def all_hidden(d: Any) -> Any:
            return jnp.stack([level(nudged(d), zero) for level in hidden])

        def top(u: Any) -> Any:
            return jnp.stack([levels[-1](state, u) for levels in self.levels])

        B = self.functions.actuation(state[1], self._vector)
        parts = [all_hidden(still), jax.jacfwd(all_hidden)(still), top(zero), jax.jacfwd(top)(zero), B]
        return jnp.concatenate([part.ravel() for part in parts], dtype=jnp.float64)

    def solve(self, t: float, q: Array, v: Array) -> Inputs:
        """Inputs and hidden constraints at a state."""
        out = np.asarray(self.evaluate(np.concatenate([[t], q, v])))
        count, k, n = sum(len(levels) - 1 for levels in self.levels), self.inputs, self.n
        hidden, gradient, y, D, B = np.split(out, np.cumsum([count, count * 2 * n, k, k * k]))
        D = D.reshape(k, k)
        if np.linalg.cond(D) * DEFAULT.rank > 1.0:
            raise ModelError(
                "the inputs cannot be told apart by the servo conditions",
                got="a singular decoupling matrix",
                expected="as many independent inputs as conditions",
            )
        u = np.linalg.solve(D, -y)
        return Inputs(u, B.reshape(n, k) @ u, hidden, gradient.reshape(count, 2 * n))
