"""A bar on a stop snaps through where the stop lets go: a corner limit point.

          p →
      ╲  ○            A rigid bar on a hinge leans on a stop and is pulled over by a spring.
       ╲ │ stop       The load is largest not where the stiffness vanishes, but where the stop opens.
        ╲│
    ─────○─────

You will learn

* to load a model and trace its equilibrium path;
* to read events: what happens, at which load, and why;
* to follow the same loading as a history with jumps.
"""

import onesided

system, task = onesided.zoo.load("corner-limit")
path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
corner = next(event for event in path.events if event.kind is onesided.Kind.corner_limit)
history = onesided.drive(system, task.start, [-1.0, 1.0])
released = history.jumps[0].energy


def visualize():
    """The path with its events."""
    import matplotlib.pyplot as plt

    path.plot()
    plt.show()


if __name__ == "__main__":
    for event in path.events:
        print(event)
    print(f"snapping at p = {corner.p:.6g} releases the energy {released:.6g}")
    visualize()
