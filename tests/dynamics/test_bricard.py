"""IFToMM A04, Bricard's mechanism: five rods and six hinges that leave one freedom where counting leaves none.

Its constraints depend on each other everywhere. Rods are 1 m long with a square section of 0.1 m and a mass of 1 kg;
with the ground they are six edges of a cube, and fall from there. By symmetry three hinges turn by a, the others by b
with sin a + sin b + sin a sin b = 0, so that the motion is also that of one equation for a.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Projected, System, rows, simulate

G, RODS = 9.81, 5
POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]
ALONG, ACROSS = 1.0 / 12, 0.01 / 12  # second moments of a rod along its length and its sides


def all_of(q, ground):
    """Points and axes of all hinges, (6, 3) each; the first and the last are of the ground."""
    points, axes = q.reshape(2, RODS - 1, 3)
    return (jnp.concatenate([g[:1], x, g[1:]]) for x, g in zip((points, axes), ground, strict=True))


@pytest.fixture(scope="module")
def bricard():
    """Coordinates are the points and axes of the four hinges that move: every rod has an edge and two of the axes."""
    ground = tuple(x[[0, -1]] for x in (POINTS, AXES))

    def rigid(q, p, th):
        points, axes = all_of(q, ground)
        edges = jnp.diff(points, axis=0)
        first, second = axes[:-1], axes[1:]
        pairs = ((edges, edges), (edges, first), (edges, second), (first, second), (axes[1:-1], axes[1:-1]))
        values = [jnp.sum(a * b, axis=1) for a, b in pairs]
        return jnp.concatenate([values[0] - 1.0, *values[1:4], values[4] - 1.0])

    def kinetic(q, v, th):
        points, axes = all_of(v, tuple(0.0 * x for x in ground))
        centre, edges = 0.5 * (points[1:] + points[:-1]), jnp.diff(points, axis=0)
        sides = jnp.sum(axes[:-1] ** 2) + jnp.sum(axes[1:] ** 2)
        return 0.5 * (jnp.sum(centre**2) + ALONG * jnp.sum(edges**2) + ACROSS * sides)

    names = tuple(f"{c}{i}" for c in ("p", "u") for i in range(3 * (RODS - 1)))
    count = 4 * RODS + RODS - 1
    return System(
        coordinates=names,
        energy=lambda q, p, th: G * jnp.sum(q[1:12:3]),  # the ends on the ground count for nothing
        bilateral=rows("rod", count, rigid),
        kinetic=kinetic,
    )


def turned(a):
    """Points and axes of the hinges that move, from the closed form of the loop."""
    b = jnp.arcsin(-jnp.sin(a) / (1.0 + jnp.sin(a)))
    frame, point, points, axes = jnp.eye(3), jnp.zeros(3), [], []
    for k in range(RODS - 1):
        angle = (a, b)[k % 2]
        S = jnp.asarray(np.cross(AXES[k], np.eye(3)).T)
        frame = frame @ (jnp.eye(3) + jnp.sin(angle) * S + (1.0 - jnp.cos(angle)) * S @ S)
        point = point + frame @ jnp.asarray(POINTS[k + 1] - POINTS[k])
        points, axes = [*points, point], [*axes, frame @ jnp.asarray(AXES[k + 1])]
    return jnp.concatenate([*points, *axes])


def test_bricard_mechanism_moves_as_its_one_equation(bricard):
    """M ȧ²/2 + U = U₀ and M ä + M' ȧ²/2 + U' = 0 at all points, all of which the closed form gives too."""
    start = np.concatenate([POINTS[1:-1].ravel(), AXES[1:-1].ravel()])
    motion = simulate(bricard, start, np.zeros(24), (0.0, 0.5), method=Projected(rtol=1e-10))
    assert motion.ok
    assert len(motion.not_unique) > 0  # one constraint too many: forces are a choice, and told
    a = np.arctan2(-motion.q[:, 2], motion.q[:, 0])  # the first rod turns about y
    np.testing.assert_allclose(motion.q, jax.jit(jax.vmap(turned))(a), atol=1e-9)

    def along(f):
        """Values and slopes over a."""
        return [np.array(x) for x in jax.jit(jax.vmap(lambda x: jax.jvp(f, (x,), (jnp.ones(()),))))(jnp.asarray(a))]

    def slope(x):
        return jax.jvp(turned, (x,), (jnp.ones(()),))[1]

    d, d_a = along(slope)
    M, M_a = along(lambda x: 2.0 * bricard.kinetic(None, slope(x), None))
    U, U_a = along(lambda x: bricard.energy(turned(x), 0.0, None))
    rate = np.sum(d * motion.v, axis=1) / np.sum(d**2, axis=1)
    bend = np.sum(d * (motion.a - d_a * rate[:, None] ** 2), axis=1) / np.sum(d**2, axis=1)
    np.testing.assert_allclose(0.5 * M * rate**2 + U, U[0], atol=1e-8)
    np.testing.assert_allclose(M * bend, -U_a - 0.5 * M_a * rate**2, atol=1e-6)
    assert np.max(np.abs(a)) > 0.2
