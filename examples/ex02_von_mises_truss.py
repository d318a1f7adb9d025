"""A shallow truss of two bars snaps through, and a floor below catches it.

           │ p
           ▼
        ○             Two elastic bars, a load on the top, a floor below. Without it the top falls to the mirrored
      ╱   ╲           state; here the fall ends on the floor, which pushes from then on.
    ○       ○
    ═════════ floor

You will learn

* to build a structure from parts, with a one-sided contact;
* that the limit load is the closed form 2 k l (1 − c^(2/3))^(3/2), with c the cosine of the first angle;
* that a jump ends where the real thing ends, and what energy it releases.
"""

import numpy as np

import onesided
from onesided.elements import Bar, Force, Node, PlaneContact

HEIGHT, FLOOR, STIFFNESS = 0.3, -0.1, 1.0
length = float(np.hypot(1.0, HEIGHT))

parts = [
    Node("left", (-1.0, 0.0), fixed=True),
    Node("right", (1.0, 0.0), fixed=True),
    Node("top", (0.0, HEIGHT)),
    Bar("a", ("left", "top"), stiffness=STIFFNESS),
    Bar("b", ("right", "top"), stiffness=STIFFNESS),
    Force("load", "top", (0.0, -1.0)),
]
truss = onesided.compose(parts)
path = onesided.trace(truss, truss.start, 0.0, p_bounds=(-0.1, 0.1))
limit = max(event.p for event in path.events if event.kind is onesided.Kind.limit)

caught = onesided.compose([*parts, PlaneContact("floor", "top", normal=(0.0, 1.0), through=(0.0, FLOOR))])
history = onesided.drive(caught, caught.start, [0.0, 0.02])
landing = history.jumps[0].q_to

exact = 2.0 * STIFFNESS * length * (1.0 - (1.0 / length) ** (2.0 / 3.0)) ** 1.5


def visualize():
    """Load over height of the top, with the limit points."""
    import matplotlib.pyplot as plt

    path.plot()
    plt.show()


if __name__ == "__main__":
    print(f"limit load {limit:.10f}, closed form {exact:.10f}")
    visualize()
