"""Motion of composed structures: the same equations, with energy, constraints and forces summed over the elements."""

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from onesided.evaluation.flat import Retraced
from onesided.evaluation.motion_functions import MotionFunctions
from onesided.evaluation.rows import families
from onesided.groups import SO3, Group, Product, Vector
from onesided.structures.rubbing import rates_of
from onesided.system.contact import Leaping, StructureRate, blocks_of, unfolded

if TYPE_CHECKING:
    from onesided.system.system import System


class StructureMotion(MotionFunctions):
    """Equations of motion of a structure; constants are (data of the elements, parameters)."""

    def __init__(self, system: "System") -> None:
        self._assembly: Any = system.derivatives
        super().__init__(system)
        self.space = _space(system.n, system.structure.moving.rotations)

    def constants(self, system: "System") -> Any:
        """Data of the elements, and the parameters themselves, which masses depend on."""
        data = self._assembly.constants(system.parameters)
        return jnp.asarray(data), jnp.asarray(np.array([*system.parameters.values()], dtype=np.float64))

    @Retraced
    def potential(self, q: Any, p: Any, vector: Any) -> Any:
        """Potential energy U(q, p), a scalar."""
        return self._assembly.values(q, p, vector[0])[0]

    @Retraced
    def holonomic(self, q: Any, p: Any, vector: Any) -> Any:
        """Holonomic constraints c(q, p), (m,)."""
        return self._assembly.values(q, p, vector[0])[1][: self.m]

    @Retraced
    def gaps(self, q: Any, p: Any, vector: Any) -> Any:
        """Gaps of the unilateral constraints."""
        return self._assembly.values(q, p, vector[0])[1][self.m :]

    def parameters(self, vector: Any) -> Any:
        """The parameters by name, from their vector."""
        return super().parameters(vector[1])

    @Retraced
    def force(self, t: Any, q: Any, v: Any, mu: Any, p: Any, vector: Any, *, p_dot: Any = 0.0) -> Any:
        """Forces without a potential, (n,): of the user's function, and of dampers and followers."""
        if self.system.force is None:
            return jnp.zeros(self.n)
        own, moving, at = self.system.force, self.system.structure.moving, (t, q, v, p, vector[0])
        if not moving.carried:
            return own(*at)
        carried = moving.force(self._assembly, *at, p_dot=p_dot)
        if getattr(own, "func", None) == moving.force:
            return carried
        return own(*at) + (carried - moving.force(self._assembly, *at))  # inputs of a controller beside them


class ContactsOfStructure(StructureMotion, Leaping):
    """The same with rows for all gaps and slips, as `ContactFunctions`."""

    def __init__(self, system: "System") -> None:
        super().__init__(system)
        self.joints, self.gaps_count = len(system.bilateral), len(system.unilateral)
        self.blocks = blocks_of(system)
        self._rolling = families(unfolded(system, self.blocks).nonholonomic.values())
        self.m, self.rolling = self.joints + self.gaps_count, len(system.nonholonomic)
        self.k = self.rolling + sum(block.size for block in self.blocks)

    @Retraced
    def gaps(self, q: Any, p: Any, vector: Any) -> Any:
        """Gaps of the unilateral constraints."""
        return self.holonomic(q, p, vector)[self.joints :]

    @Retraced
    def nonholonomic(self, q: Any, v: Any, vector: Any) -> Any:
        """Rates of rolling conditions, and slip velocities of contacts."""
        th, own = self.parameters(vector), self._own_rates(q, v, vector)
        found = [own[f.key] if isinstance(f, StructureRate) else jnp.atleast_1d(f(q, v, th)) for f in self._rolling]
        return jnp.concatenate(found) if found else jnp.zeros(0)

    def _own_rates(self, q: Any, v: Any, vector: Any) -> dict[tuple[str, str], Any]:
        """Slip, rolling and spinning that elements state."""
        if not any(isinstance(f, StructureRate) for f in self._rolling):
            return {}
        return rates_of(self._assembly, q, v, vector[0])


def _space(n: int, rotations: tuple[tuple[int, ...], ...]) -> Group:
    """Vectors, with SO(3) where three neighbouring coordinates are a rotation vector."""
    parts: list[Group] = []
    first = 0
    for start in sorted(columns[0] for columns in rotations):
        if start > first:
            parts.append(Vector(start - first))
        parts.append(SO3())
        first = start + 3
    if first < n:
        parts.append(Vector(n - first))
    return parts[0] if len(parts) == 1 else Product(*parts)
