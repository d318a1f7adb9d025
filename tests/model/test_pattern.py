"""Patterns of Hessians: never too empty, and blocks made by few directions equal those made by all."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from onesided import System
from onesided.evaluation.sparsity import directions

N = 12
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(N)
FEW = {  # with the number of directions that do
    "chain": (lambda q: jnp.sum(jnp.sqrt(1 + jnp.diff(q) ** 2)), 3),
    "ring": (lambda q: jnp.sum(jnp.cos(q - jnp.roll(q, 1))), 3),
    "apart": (lambda q: jnp.sum(jnp.where(q > 0, q**3, jnp.exp(q))), 1),
    "pairs": (lambda q: jnp.sum(jnp.prod(q.reshape(-1, 2), axis=1)), None),
    "padded": (lambda q: jnp.sum(jnp.pad(q, 1)[2:] * jnp.pad(q[::-1], 1)[:-2]), None),
    "turned": (lambda q: jnp.sum(jnp.sin(q.reshape(3, 4)).T[1:] * q.reshape(3, 4).T[:-1] ** 2), None),
    "stretched": (lambda q: jnp.sum(jnp.outer(q[:3], q[3:6]) ** 2) + jnp.sum(q[6::2] * q[7::2] ** 2), None),
    "halves": (lambda q: jnp.sum(jnp.multiply(*jnp.split(q, 2)) ** 2) + jnp.linalg.norm(q[:2]), None),
    "one by one": (lambda q: sum((q[i + 1] - q[i]) ** 4 for i in range(N - 1)), 3),
}
DENSE = {
    "sum": lambda q: jnp.sum(q) ** 2,
    "matrix": lambda q: q @ jnp.asarray(RNG.normal(size=(N, N))) @ q,
    "sorted": lambda q: jnp.sum(jnp.sort(q)[1:] * jnp.sort(q)[:-1]),
    "gathered": lambda q: jnp.sum(q[ORDER] * q),
    "summed up": lambda q: jnp.sum(jnp.cumsum(q) ** 3),
}


def exact(function, q):
    return np.asarray(jax.jit(jax.hessian(function))(q))


@pytest.mark.parametrize("name", FEW | DENSE)
def test_no_entry_is_missing(name):
    function = FEW[name][0] if name in FEW else DENSE[name]
    found = directions(jax.grad(function), N, N, ())
    if found is None:
        assert name not in FEW or FEW[name][1] is None
        return
    assert name in FEW and len(found.seeds) == (FEW[name][1] or len(found.seeds))
    assert np.all(found.seeds.sum(axis=0) == 1)
    q = RNG.normal(size=N)
    H = exact(function, q)
    assert not np.any(H[~found.mask])
    np.testing.assert_allclose(np.where(found.mask, found.seeds.T @ (found.seeds @ H), 0.0), H, atol=1e-12)


def test_blocks_are_those_of_all_directions():
    """A chain on walls, with p in the stiffness: against the Hessian of the Lagrangian by one function."""
    gaps = {f"wall{i}": (lambda q, p, th, i=i: 1 - q[i] ** 2 + 0.1 * q[i + 1] * p) for i in range(0, N - 1, 3)}

    def energy(q, p, th):
        return th.k * jnp.sum(jnp.diff(q) ** 4) + (1 + p) * jnp.sum(jnp.cos(q)) - p**2 * q[-1]

    system = System(tuple(f"q{i}" for i in range(N)), energy, unilateral=gaps, parameters={"k": 0.7})
    q, p, nu = RNG.normal(size=N), 0.3, RNG.uniform(size=len(gaps))
    th = system.parameters

    def lagrangian(z):
        class Th:
            k = th["k"]

        return energy(z[:N], z[N], Th) - sum(v * g(z[:N], z[N], Th) for v, g in zip(nu, gaps.values(), strict=True))

    H = np.asarray(jax.jit(jax.hessian(lagrangian))(np.append(q, p)))
    assert system.derivatives._few_directions(nu, jnp.asarray([0.7])) is not None
    np.testing.assert_allclose(system.evaluate(q, p, nu).L_qx, H[:N], atol=1e-12)
