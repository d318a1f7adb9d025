"""Servo constraint: which force makes a load follow a path?

      u →  [m1] ~~k~~ [m2]      the load m2 should move from 0 to 1 in two seconds;
                                only the trolley m1 is driven, through a spring

You will learn

* to state a condition (`servo`) and where inputs act (`actuation`): the input is not a force along the condition;
* that such equations have a higher index, here 5, and that the result reports it;
* that the input comes out in `motion.u`.
"""

import jax.numpy as jnp
import numpy as np

from onesided import Projected, System, simulate

M1, M2, K, T = 1.0, 2.0, 50.0, 2.0


def path(t):
    """From rest to rest, with four smooth derivatives."""
    s = t / T
    return s**5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + s * 70.0))))


crane = System(
    coordinates=("trolley", "load"),
    energy=lambda q, p, th: K / 2 * (q[1] - q[0]) ** 2,
    servo={"follow": lambda q, p, th: q[1] - p},
    actuation=lambda q, th: jnp.array([[1.0], [0.0]]),
    mass=lambda q, th: jnp.diag(jnp.array([M1, M2])),
)
motion = simulate(crane, [0.0, 0.0], [0.0, 0.0], (0.0, T), control=path, method=Projected(rtol=1e-9, max_step=0.02))
largest = float(np.max(motion.u))


def visualize():
    """The input over time."""
    import matplotlib.pyplot as plt

    plt.plot(motion.t, motion.u)
    plt.xlabel("t")
    plt.ylabel("driving force u")
    plt.show()


if __name__ == "__main__":
    visualize()
