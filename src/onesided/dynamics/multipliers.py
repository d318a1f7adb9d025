"""Which multipliers to report when redundant constraints leave a choice; the motion does not depend on it.

Dependent constraints give unique accelerations but only the sum Gᵀμ of their forces [AR, redundant constraints]. How it
is shared is a matter of the stiffness of the real parts, which the model has to state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from onesided._types import Array
from onesided.errors import UsageError
from onesided.model.names import unknown_name
from onesided.tolerances import DEFAULT


@dataclass(frozen=True)
class MinimalNorm:
    """The smallest multipliers. Depends on how the constraints are scaled: multiplying one by ten changes the share."""

    def weights(self, names: tuple[str, ...]) -> Array:
        """Square roots of the compliances, equal for all."""
        return np.ones(len(names))


@dataclass(frozen=True)
class Compliances:
    """Shares as of joints with compliances ε² [AR (1)]: minimises Σ ε²μ². Those not named have compliance 1."""

    values: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if not 0 < value < np.inf:
                raise UsageError(f"the compliance of '{name}' is out of range", got=repr(value), expected="above 0")

    def weights(self, names: tuple[str, ...]) -> Array:
        """Square roots of the compliances."""
        _known(self.values, names)
        return np.sqrt([self.values.get(name, 1.0) for name in names])


@dataclass(frozen=True)
class ReducedSet:
    """As if some redundant constraints were not there: those named `without`, the others share by minimal norm."""

    without: tuple[str, ...] = field(default=())

    def weights(self, names: tuple[str, ...]) -> Array:
        """Infinite for the constraints left out."""
        _known(self.without, names)
        return np.array([np.inf if name in self.without else 1.0 for name in names])


Rule = MinimalNorm | Compliances | ReducedSet


def _known(given: Iterable[str], names: tuple[str, ...]) -> None:
    for name in given:
        if name not in names:
            raise unknown_name("constraint", name, names)


def share(rule: Rule, names: tuple[str, ...], G: Array, force: Array) -> Array:
    """Multipliers μ (m,) with Gᵀμ = force (n,), of the share that the rule states."""
    inverse = 1.0 / rule.weights(names)
    return np.asarray(inverse * np.linalg.lstsq((G * inverse[:, None]).T, force, rcond=DEFAULT.rank)[0])


def not_unique(G: Array) -> tuple[int, ...]:
    """Rows of G whose multipliers are not determined by Gᵀμ."""
    norms = np.linalg.norm(G, axis=1)
    U, sigma, _ = np.linalg.svd(G / np.where(norms > 0, norms, 1.0)[:, None], full_matrices=True)
    r = int(np.count_nonzero(sigma > DEFAULT.rank * sigma[0])) if len(sigma) and sigma[0] > 0 else 0
    loose = np.linalg.norm(U[:, r:], axis=1) > np.sqrt(DEFAULT.rank)
    return tuple(int(i) for i in np.flatnonzero(loose))
