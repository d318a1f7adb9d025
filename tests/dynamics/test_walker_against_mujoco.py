"""A walker read from a file falls on its feet as in MuJoCo, where its soft contacts are what restitution says.

MuJoCo's contact is a critically damped spring in the direction of the gap that does not pull. Such a spring sends a
mass that hits it back with e⁻² of its speed: x = v t exp(−t/τ) until the force is zero, at t = 2τ. For a time constant
that is short, and steps that are short against it, both motions are one.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import onesided
from onesided.elements import PlaneContact

mujoco = pytest.importorskip("mujoco")

WALKER = Path(__file__).parents[2] / "examples" / "robots" / "walker.xml"
LEFT, RIGHT = 1.0, -0.7  # angular velocities of the legs
END = 0.25  # both feet have landed


def own():
    """Places of the bodies by `EventDriven`."""
    parts = [
        replace(part, restitution=float(np.exp(-2.0))) if isinstance(part, PlaneContact) else part
        for part in onesided.read_robot(WALKER, leave_out=("contacts",))
    ]
    system = onesided.compose(*parts)
    start = {"left_x": -0.45 * LEFT, "left_ry": LEFT, "right_x": -0.8 * RIGHT, "right_ry": RIGHT}
    motion = onesided.simulate(system, system.start, start, (0.0, END), method=onesided.EventDriven())
    assert {event.name for event in motion.events} == {"floor_right_foot", "floor_left_leg_0"}
    first = [system.coordinates.index(f"{name}_x") for name in ("hip", "left", "right")]
    return np.array([motion.q[-1, i : i + 3] for i in first])


def theirs(step, constant):
    """The same by MuJoCo's Euler steps, without friction."""
    made = mujoco.MjSpec.from_file(str(WALKER))
    for geom in made.geoms:
        geom.condim, geom.solref, geom.solimp = 1, [constant, 1.0], [0.9999, 0.9999, 0.001, 0.5, 2.0]
    model = made.compile()
    model.opt.timestep, model.opt.tolerance, model.opt.iterations = step, 1e-14, 200
    data = mujoco.MjData(model)
    for name, speed in (("left_hip", LEFT), ("right_hip", RIGHT)):
        data.qvel[model.joint(name).dofadr[0]] = speed
    for _ in range(round(END / step)):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    return np.array([data.xipos[model.body(name).id] for name in ("hip", "left", "right")])


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_walker_lands_as_in_mujoco():
    """What differs falls with the steps to how deep feet sink: 6e-4, 4e-4, 2e-5, 3e-5 m for 2, 1, 0.5, 0.25 µs."""
    exact = own()
    coarse, fine = (float(np.max(np.abs(theirs(step, 5e-5) - exact))) for step in (2e-6, 5e-7))
    assert fine < 5e-5
    assert fine < 0.5 * coarse
