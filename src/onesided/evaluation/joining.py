"""A joint between two systems that are integrated apart: its value and gradients in the coordinates of both."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.evaluation.compiling import compiled

if TYPE_CHECKING:
    from onesided.system.equations import Equations

Joint = Callable[[Any, Any], Any]


class Joined(NamedTuple):
    """c(q₁, q₂), (m,), and its gradients, (m, n₁) and (m, n₂)."""

    c: Array
    first: Array
    second: Array


class Joining:
    """The joint c(q₁, q₂) = 0 of two systems, compiled."""

    def __init__(self, first: "Equations", second: "Equations", joint: Joint) -> None:
        self._spaces, self._joint = (first.space, second.space), joint
        self._n = first.n, second.n
        self.size = self._checked()
        self._compiled = compiled(self._evaluate)

    def _checked(self) -> int:
        """The number of equations of the joint, which is tried without numbers."""
        try:
            shape = jax.eval_shape(self._values, *(jnp.zeros(n) for n in self._n)).shape
        except (TypeError, ValueError, AttributeError, IndexError, NameError) as e:
            raise ModelError(
                "the joint cannot be evaluated",
                got=f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}",
                expected="a function (q_first, q_second) in jax.numpy",
            ) from e
        if len(shape) != 1 or not shape[0]:
            raise ModelError(f"the joint returned shape {tuple(shape)}", expected="one number, or a vector")
        return int(shape[0])

    def _values(self, first: Any, second: Any) -> Any:
        return jnp.atleast_1d(jnp.asarray(self._joint(first, second)))

    def at(self, first: Array, second: Array) -> Joined:
        """The joint's equations (c,) and their gradients (c, n₁), (c, n₂) at two configurations."""
        out = np.asarray(self._compiled(np.concatenate([first, second])))
        c, a, b = np.split(out, [self.size, self.size * (1 + self._n[0])])
        return Joined(c, a.reshape(self.size, -1), b.reshape(self.size, -1))

    def _evaluate(self, x: Any) -> Any:
        places = x[: self._n[0]], x[self._n[0] :]

        def moved(*shifts: Any) -> Any:
            return self._values(*(s.nudge(q, d) for s, q, d in zip(self._spaces, places, shifts, strict=True)))

        zeros = tuple(jnp.zeros(n) for n in self._n)
        gradients = jax.jacfwd(moved, argnums=(0, 1))(*zeros)
        return jnp.concatenate([moved(*zeros), *(G.ravel() for G in gradients)], dtype=jnp.float64)
