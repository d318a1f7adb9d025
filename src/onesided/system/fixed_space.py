"""The configurations that a symmetry group leaves as they are, and the system of fewer coordinates that lives there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array, Indices
from onesided.evaluation.rows import Row
from onesided.system.sizes import Scales
from onesided.system.symmetry import Symmetry
from onesided.system.system import System


@dataclass(frozen=True, eq=False)
class FixedSpace:
    """Symmetric configurations q = centre + B (z − z_centre); the z are coordinates of q that determine the others.

    On symmetric states one constraint stands for its orbit, c_z = W c; the multiplier of the representative is the sum
    over the orbit, ν = Wᵀ ν_z gives every member its share. Equilibria of the energy U(q(z), p) with these constraints
    are equilibria of the whole system (principle of symmetric criticality).
    """

    system: System
    symmetry: Symmetry

    @cached_property
    def kept(self) -> Indices:
        """Numbers of the coordinates that determine the others: the first ones that do so nearly as well as any."""
        left = self.symmetry.basis.copy()
        found: list[int] = []
        for _ in range(left.shape[1]):
            sizes = np.linalg.norm(left, axis=1)
            found.append(int(np.argmax(sizes >= 0.5 * np.max(sizes))))
            axis = left[found[-1]] / sizes[found[-1]]
            left = left - np.outer(left @ axis, axis)
        return np.sort(np.array(found, dtype=np.intp))

    @cached_property
    def B(self) -> Array:
        """(n, r) symmetric displacements, the identity in the rows that are kept."""
        basis = self.symmetry.basis
        return np.asarray(np.linalg.solve(basis[self.kept].T, basis.T).T)

    def lift(self, z: Any) -> Any:
        """The whole configuration (n,) of the reduced one z (r,)."""
        return self.symmetry.centre + self.B @ (z - self.symmetry.centre[self.kept])

    @cached_property
    def orbit(self) -> Indices:
        """For each one-sided constraint the number of its representative among those of the reduced system."""
        symmetry, k = self.symmetry, len(self.system.bilateral)
        first = np.min(symmetry.rows[:, k:], axis=0)
        own = symmetry.representatives[symmetry.representatives >= k]
        return np.asarray(np.searchsorted(own, first), dtype=np.intp)

    def reduced(self) -> System:
        """The system on the fixed space; parameters of a composed structure keep their values."""
        system = self.system
        names, k = system.constraint_names, len(system.bilateral)
        chosen = [int(j) for j in self.symmetry.representatives]
        rows = {names[j]: Row(self._constraints, i, len(chosen)) for i, j in enumerate(chosen)}
        return System(
            coordinates=tuple(system.coordinates[i] for i in self.kept),
            energy=self._energy,
            bilateral={name: row for (name, row), j in zip(rows.items(), chosen, strict=True) if j < k},
            unilateral={name: row for (name, row), j in zip(rows.items(), chosen, strict=True) if j >= k},
            parameters=system.parameters if system.structure is None else {},
            control=system.control,
            scales=self._scales(),
            words={names[j]: system.words_for(names[j]) for j in chosen if j >= k},
            kinks=system.kinks if system.structure is None else system.control_kinks,
        )

    def _energy(self, z: Any, p: Any, th: Any) -> Any:
        return self._values(z, p, th)[0]

    def _constraints(self, z: Any, p: Any, th: Any) -> Any:
        return self.symmetry.shares @ self._values(z, p, th)[1]

    def _values(self, z: Any, p: Any, th: Any) -> tuple[Any, Any]:
        return self.system.derivatives.values(self.lift(jnp.asarray(z)), p, self._vector(th))

    @cached_property
    def _vector(self) -> Callable[[Mapping[str, Any]], Any]:
        """Parameters of the reduced system → what the whole system's functions take for its own."""
        if self.system.structure is not None:
            constants = self.system.derivatives.constants(self.system.parameters)
            return lambda th: constants
        names = tuple(self.system.parameters)
        return lambda th: jnp.array([th[name] for name in names])

    def _scales(self) -> Scales:
        given = self.system.scales.on(self.kept, self.system.n)
        return replace(given, unit=tuple(self.system.units[self.kept].tolist()))
