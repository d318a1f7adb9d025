"""Penalty joint: what a rigid joint idealises.

      ○
       ⟋     a rod that is a stiff spring of energy c²/ε²,
      ⟋      c its elongation (half the square of it)
     ●

You will learn

* to turn joints into stiff springs with `with_penalty`, and how the motion tends to the rigid one for ε → 0;
* that the joint force does **not** converge when the motion starts on the rigid constraint: it swings between nothing
  and twice its size, however stiff the spring;
* that `prepared` initial data make everything converge with ε².
"""

import jax.numpy as jnp
import numpy as np

from onesided import Projected, System, prepared, simulate, with_penalty

ANGLE, METHOD = np.pi / 3, Projected(rtol=1e-9)
RIGID = System(
    coordinates=("x", "y"),
    energy=lambda q, p, th: 9.81 * q[1],
    bilateral={"rod": lambda q, p, th: 0.5 * (q @ q - 1.0)},
    mass=lambda q, th: jnp.eye(2),
)
START = np.array([np.sin(ANGLE), -np.cos(ANGLE)]), np.zeros(2)


def largest_force(eps: float, *, ready: bool) -> float:
    """Largest multiplier of the penalty joint in the first second."""
    q0, v0 = prepared(RIGID, eps, *START) if ready else START
    motion = simulate(with_penalty(RIGID, eps), q0, v0, (0.0, 1.0), method=METHOD)
    q, _ = motion.at(np.linspace(0.0, 1.0, 2000))
    return float(np.max((np.sum(q**2, axis=1) - 1.0) / eps**2))


rigid = float(np.max(-simulate(RIGID, *START, (0.0, 1.0), method=METHOD).mu))
ringing, smooth = (largest_force(0.005, ready=ready) for ready in (False, True))
excess = (ringing / rigid - 1.0, smooth / rigid - 1.0)


def visualize():
    """Joint forces over time for both starts."""
    import matplotlib.pyplot as plt

    plt.bar(["on the rigid constraint", "prepared"], excess)
    plt.ylabel("excess of the largest joint force")
    plt.show()


if __name__ == "__main__":
    visualize()
