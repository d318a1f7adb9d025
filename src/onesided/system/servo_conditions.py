"""Servo constraints: conditions s(q, p(t)) = 0 met by inputs u through forces B(q) u, solved for u by differentiation.

A condition is differentiated along the motion until an input appears: y₀ = s, y₁ = ẏ₀, …, y_r contains u. All y_i
before are hidden constraints, y_r = 0 gives u. The index of the equations is r + 1: 3 for inputs that act like
joints, 5 when the input acts through a spring. Derivatives are automatic, of any order. Joints and non-holonomic
constraints hold at the same time: accelerations under an input are those of the constrained system.

Several conditions may see the inputs in one combination only, as a crane's load sees trolley and winch through the
rope: then that combination is taken from one condition and put into the other, which becomes a hidden constraint and is
differentiated further (the structure algorithm of nonlinear control).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Indices
from onesided.evaluation.compiling import compiled
from onesided.evaluation.motion_functions import MotionFunctions
from onesided.evaluation.motion_terms import Control

if TYPE_CHECKING:
    from onesided.system.equations import Equations


class Inputs(NamedTuple):
    """Inputs u, their force B u (n,), the hidden constraints and their gradients by (q, v)."""

    u: Array
    force: Array
    hidden: Array
    gradient: Array


Level = Callable[[Any, Any], Any]
MAX_LEVEL = 8
PROBES = 3  # states at which levels are looked at for inputs


class ServoFunctions:
    """Levels of the conditions and their compiled derivatives.

    The state is z = (t, q, v); in a configuration space with rotations velocities and positions move along the group.
    `rows` are independent constraints beside the conditions.
    """

    def __init__(self, equations: "Equations", z: Array, rows: Indices) -> None:
        self.functions: MotionFunctions = equations.functions
        self.n, self.inputs = equations.n, len(equations.system.servo)
        self._control: Control | None = equations.control
        self._p, self._vector = equations.p, equations.parameters
        self.rows, self.holonomic = rows, rows[rows < equations.m]
        if equations.system.friction is not None:
            raise ModelError(
                "servo conditions together with friction in joints are not offered",
                expected="forces that do not depend on the joint forces",
                advice="leave `friction` out, or state it as a `force` of velocities",
            )
        self._moves = jax.jit(self._flow)
        self.hidden: list[Level] = []
        self.top: list[Level] = []
        self.index = 0  # of the equations: one more than derivatives needed until all inputs are determined
        states = z + 0.1 * np.random.default_rng(0).normal(size=(PROBES, len(z)))
        self._probes = [self._unpack(jnp.asarray(state)) for state in (z, *states)]
        self._differentiate({name: self._position(f) for name, f in equations.system.servo.items()})
        self.evaluate = compiled(self._evaluate)

    def _p_at(self, t: Any) -> Any:
        return self.functions.control(self._control, t, jnp.asarray(self._p))[0]

    def _flow(self, z: Any, u: Any) -> tuple[Any, Any, Any]:
        """ṫ, velocity and acceleration at z under inputs u."""
        t, q, v = z
        functions, vector = self.functions, self._vector
        rates = functions.control(self._control, t, jnp.asarray(self._p))
        h = functions.generalised_force(t, q, v, jnp.zeros(functions.m), rates[0], vector, p_dot=rates[1])
        M = jax.jacfwd(lambda w: functions.momentum(q, w, vector))(v)
        G = functions.gradients(q, v, rates[0], vector, jnp.eye(self.n))[self.rows]
        _, _, gamma = functions.constraint_rates(q, v, rates, vector)
        K = jnp.block([[M, G.T], [G, jnp.zeros((len(self.rows),) * 2)]])
        right = jnp.concatenate([h + functions.actuation(q, vector) @ u, -gamma[self.rows]])
        return jnp.ones(()), v, jnp.linalg.solve(K, right)[: self.n]

    def _along(self, level: Level) -> Level:
        """The derivative of a level along the motion."""

        def derivative(z: Any, u: Any) -> Any:
            rate = self._moves(z, u)

            def moved(s: Any) -> Any:
                t, q, v = z
                return level((t + s, self.functions.space.nudge(q, s * rate[1]), v + s * rate[2]), u)

            return jax.jvp(moved, (jnp.zeros(()),), (jnp.ones(()),))[1]

        return jax.jit(derivative)  # traced once, however often it is differentiated

    def _position(self, condition: Any) -> Level:
        def position(state: Any, u: Any) -> Any:
            t, q, _ = state
            return condition(q, self._p_at(t), self.functions.parameters(self._vector))

        return jax.jit(position)

    def _differentiate(self, levels: dict[str, Level]) -> None:
        """Differentiate conditions until each determines an input that the others do not."""
        limit = min(MAX_LEVEL, 2 * self.n)  # what has not appeared after as many derivatives as states never will
        told = np.zeros((PROBES + 1, 0, self.inputs))
        for count in range(1, limit + 1):
            self.hidden += levels.values()
            levels = {name: self._along(level) for name, level in levels.items()}
            effects = dict(zip(levels, np.moveaxis(self._effects(tuple(levels.values())), 1, 0), strict=True))
            for name in sorted(levels, key=lambda n: -np.max(np.abs(effects[n][0]))):  # where it acts at the start
                effect = effects[name][:, None]
                if not np.any(effect[1:]):
                    continue
                if _independent(np.concatenate([told, effect], axis=1)[1:]):
                    told = np.concatenate([told, effect], axis=1)
                    self.top.append(levels.pop(name))
                    self.index = max(self.index, count + 1)
                else:
                    levels[name] = self._without_inputs(levels[name])
            if not levels:
                return
        raise ModelError(
            f"servo condition '{next(iter(levels))}' is not moved by any input" + (" of its own" if self.top else ""),
            got=f"no input appears in {limit} derivatives",
            expected="an input that reaches the condition, as many independent inputs as conditions",
            advice="check `actuation`",
        )

    def _effects(self, levels: tuple[Level, ...]) -> Array:
        """What inputs do to levels at the start and at a few states about it, (states, levels, inputs)."""

        def probe(state: Any) -> Any:
            values, push = jax.linearize(lambda u: jnp.stack([f(state, u) for f in levels]), jnp.zeros(self.inputs))
            return jnp.column_stack([jax.vmap(push, out_axes=1)(jnp.eye(self.inputs)), values])

        probed = compiled(probe, rare=True)
        found = np.array([probed(state) for state in self._probes])
        slopes, values = found[..., :-1], found[..., -1:]
        return np.asarray(np.where(np.abs(slopes) > DEFAULT.rank * np.maximum(1.0, np.abs(values)), slopes, 0.0))

    def _without_inputs(self, level: Level) -> Level:
        """A level minus those before it that contain the same inputs: zero too, and without inputs."""
        known = tuple(self.top)

        def reduced(state: Any, u: Any) -> Any:
            zero = jnp.zeros(self.inputs)

            def before(w: Any) -> Any:
                return jnp.stack([f(state, w) for f in known])

            every = jnp.eye(self.inputs)
            values, push = jax.linearize(before, zero)
            value, push_one = jax.linearize(lambda w: level(state, w), zero)
            D, d = jax.vmap(push, out_axes=1)(every), jax.vmap(push_one)(every)
            return value - jnp.linalg.solve(D @ D.T, D @ d) @ values

        return jax.jit(reduced)

    def _unpack(self, z: Any) -> tuple[Any, Any, Any]:
        return z[0], z[1 : 1 + self.n], z[1 + self.n :]

    def _evaluate(self, z: Any) -> Any:
        """Hidden constraints with their gradients by (q, v), and the linear equations for u at them."""
        zero, still = jnp.zeros(self.inputs), jnp.zeros(2 * self.n)
        state = self._unpack(z)

        def nudged(d: Any) -> Any:
            t, q, v = state
            return t, self.functions.space.nudge(q, d[: self.n]), v + d[self.n :]

        def all_hidden(d: Any) -> Any:
            moved = nudged(d)
            rates = self.functions.control(self._control, moved[0], jnp.asarray(self._p))
            c, c_dot, _ = self.functions.constraint_rates(moved[1], moved[2], rates, self._vector)
            servo = jnp.stack([level(moved, zero) for level in self.hidden])
            return jnp.concatenate([servo, c[self.holonomic], c_dot[self.rows]])

        def top(u: Any) -> Any:
            return jnp.stack([level(state, u) for level in self.top])

        B = self.functions.actuation(state[1], self._vector)
        hidden, push = jax.linearize(all_hidden, still)
        values, push_top = jax.linearize(top, zero)
        gradient, D = (jax.vmap(f, out_axes=1)(jnp.eye(k)) for f, k in ((push, 2 * self.n), (push_top, self.inputs)))
        parts = [hidden, gradient, values, D, B]
        return jnp.concatenate([part.ravel() for part in parts], dtype=jnp.float64)

    def solve(self, t: float, q: Array, v: Array) -> Inputs:
        """Inputs and hidden constraints at a state."""
        out = np.asarray(self.evaluate(np.concatenate([[t], q, v])))
        k, n = self.inputs, self.n
        count = len(self.hidden) + len(self.holonomic) + len(self.rows)
        hidden, gradient, y, D, B = np.split(out, np.cumsum([count, count * 2 * n, k, k * k]))
        D = D.reshape(k, k)
        if np.linalg.cond(D) * DEFAULT.rank > 1.0:
            raise ModelError(
                "the servo conditions do not distinguish the inputs",
                got="a singular decoupling matrix",
                expected="as many independent inputs as conditions",
            )
        u = np.linalg.solve(D, -y)
        return Inputs(u, B.reshape(n, k) @ u, hidden, gradient.reshape(count, 2 * n))


def _independent(D: Array) -> bool:
    """Whether the rows of every matrix (levels, inputs) are independent."""
    unit = D / np.maximum(np.linalg.norm(D, axis=2), np.finfo(float).tiny)[..., None]
    return bool(np.all(np.linalg.matrix_rank(unit, tol=np.sqrt(DEFAULT.rank)) == D.shape[1]))
