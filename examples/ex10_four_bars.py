"""N-four-bar mechanism that passes ten singular configurations.

      B0 ───── B1 ───── B2         N + 1 vertical rods on fixed pivots, joined by N horizontal ones;
      │        │        │          1 m and 1 kg each. One degree of freedom, 2N + 1 constraints.
      ○        ○        ○          When all rods lie on one line the mechanism could fold another way.

You will learn

* to state a mechanism by functions, with many constraints from one vector-valued function (`rows`);
* that singular configurations are passed on the right branch, and listed as events;
* that the cost grows with N only linearly: the matrices are banded.
"""

import jax.numpy as jnp
import numpy as np

from onesided import Projected, System, rows, simulate

G = 9.81


def four_bars(N: int) -> System:
    """The mechanism in the coordinates of the points B0 … BN; uniform rods have the mass matrix [[2, 1], [1, 2]]/6."""
    base = np.column_stack([np.arange(N + 1.0), np.zeros(N + 1)])

    def lengths(q, p, th):
        B = q.reshape(N + 1, 2)
        upright, across = B - base, B[1:] - B[:-1]
        return 0.5 * (jnp.concatenate([jnp.sum(upright**2, axis=1), jnp.sum(across**2, axis=1)]) - 1.0)

    m, weight = np.eye(N + 1) / 3, np.full(N + 1, 0.5)
    for i in range(N):
        m[i : i + 2, i : i + 2] += np.array([[2.0, 1.0], [1.0, 2.0]]) / 6
        weight[i : i + 2] += 0.5
    M = np.kron(m, np.eye(2))
    return System(
        coordinates=tuple(f"{c}{i}" for i in range(N + 1) for c in "xy"),
        energy=lambda q, p, th: G * (weight @ q.reshape(N + 1, 2)[:, 1]),
        bilateral=rows("rod", 2 * N + 1, lengths),
        mass=lambda q, th: jnp.asarray(M),
    )


def four_bars_start(N: int, side: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Upright (side = 1) or hanging (−1), all points at the same horizontal speed."""
    q = np.column_stack([np.arange(N + 1.0), np.full(N + 1, side)])
    return q.ravel(), np.tile([speed, 0.0], N + 1)


motion = simulate(four_bars(1), *four_bars_start(1, 1.0, 1.0), (0.0, 10.0), method=Projected(rtol=1e-9))
end = motion.q[-1, :2]


def visualize():
    """Height of B0 over time, with the singular configurations."""
    import matplotlib.pyplot as plt

    t = np.linspace(*motion.t[[0, -1]], 1000)
    plt.plot(t, motion.at(t)[0][:, 1], label="height of B0")
    plt.plot([event.t for event in motion.events], [event.q[1] for event in motion.events], "o", label="singular")
    plt.legend()
    plt.show()


if __name__ == "__main__":
    visualize()
