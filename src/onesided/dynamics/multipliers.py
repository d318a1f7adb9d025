"""Which multipliers to report when redundant constraints leave a choice; the motion does not depend on it.

Dependent constraints give unique accelerations but only the sum Gᵀμ of their forces [AR, redundant constraints]. How it
is shared is a matter of the stiffness of the real parts, which the model has to state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Mask
from onesided.linalg import null_space


@dataclass(frozen=True)
class MinimalNorm:
    """The smallest multipliers. Depends on how the constraints are scaled: multiplying one by ten changes the share."""

    def weights(self, names: tuple[str, ...]) -> Array:
        """Square roots of the compliances, equal for all."""
        return np.ones(len(names))


@checked
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


@checked
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


def share_on(rule: Rule, names: tuple[str, ...], combinations: Any, mu: Array) -> Array:
    """The same for large systems: μ plus combinations y (m, some), sparse, that exert no force: Gᵀy = 0."""
    weights = rule.weights(names)
    left_out = np.isinf(weights)
    if np.any(left_out):
        return _reduced(combinations.toarray(), left_out, mu)
    weighted = sparse.diags_array(weights) @ combinations
    factor = splu(sparse.csc_matrix(weighted.T @ weighted))
    return np.asarray(mu - combinations @ factor.solve(weighted.T @ (weights * mu)))


def _reduced(Y: Array, left_out: Mask, mu: Array) -> Array:
    """No force of those left out, as far as that goes; then the smallest."""
    removed = mu - Y @ np.linalg.lstsq(Y[left_out], mu[left_out], rcond=DEFAULT.rank)[0]
    free = Y @ null_space(Y[left_out])
    found = removed - free @ np.linalg.lstsq(free, removed, rcond=DEFAULT.rank)[0] if free.size else removed
    return np.asarray(np.where(left_out, 0.0, found))


def not_unique(G: Array) -> tuple[int, ...]:
    """Rows of G whose multipliers are not determined by Gᵀμ."""
    norms = np.linalg.norm(G, axis=1)
    U, sigma, _ = np.linalg.svd(G / np.where(norms > 0, norms, 1.0)[:, None], full_matrices=True)
    r = int(np.count_nonzero(sigma > DEFAULT.rank * sigma[0])) if len(sigma) and sigma[0] > 0 else 0
    loose = np.linalg.norm(U[:, r:], axis=1) > np.sqrt(DEFAULT.rank)
    return tuple(int(i) for i in np.flatnonzero(loose))
