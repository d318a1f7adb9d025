"""Heavy top: a body on rotations, its tip held by a joint.

          ●   centre of mass, 1 m from the tip
         /    spinning at 150 rad/s about its axis
        /
       △      tip, fixed

You will learn

* to put coordinates on a configuration space: ℝ³ × SO(3), three numbers for the rotation and nothing to normalise;
* that velocities of rotations are angular velocities in the axes of the body;
* to state a joint between the position of the centre of mass and the tip.
"""

import jax.numpy as jnp
import numpy as np

from onesided import Projected, System, rows, simulate
from onesided.groups import SO3, Group, Product, Vector, rotate

G = 9.81
MASS, INERTIA = 15.0, np.diag([0.234375, 0.46875, 0.234375])
ARM, SPIN = np.array([0.0, 1.0, 0.0]), np.array([0.0, 150.0, -4.61538])


def heavy_top(space: Group | None = None) -> System:
    """Position and rotation vector of the top; three constraints hold its tip."""
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = MASS * np.eye(3), INERTIA
    return System(
        coordinates=("x", "y", "z", "a", "b", "c"),
        energy=lambda q, p, th: MASS * G * q[2],
        bilateral=rows("tip", 3, lambda q, p, th: q[:3] - rotate(q[3:], jnp.asarray(ARM))),
        mass=lambda q, th: jnp.asarray(M),
        space=space or Product(Vector(3), SO3()),
    )


START = np.r_[ARM, 0.0, 0.0, 0.0]
SPEED = np.r_[np.cross(SPIN, ARM), SPIN]
motion = simulate(heavy_top(), START, SPEED, (0.0, 1.0), method=Projected(rtol=1e-8))
end = motion.q[-1, :3]


def visualize():
    """The path of the centre of mass."""
    import matplotlib.pyplot as plt

    plt.figure().add_subplot(projection="3d").plot(*motion.at(np.linspace(0, 1, 2000))[0][:, :3].T)
    plt.show()


if __name__ == "__main__":
    visualize()
