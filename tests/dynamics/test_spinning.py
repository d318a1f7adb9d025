"""Bodies that spin steadily: nothing bends, so steps could be long; the motion within them has a closed form."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from onesided import EventDriven, GeneralizedAlpha, Projected, Radau, System, simulate
from onesided.dynamics.smooth import strides
from onesided.groups import SE3, SO2, SO3, Product, Vector, rotate

TURNED = np.array([0.3, 0.2, 0.1])
SPIN = np.array([0.0, 0.0, 40.0])  # about a principal axis
SPACES = {"SO3": SO3(), "product": Product(Vector(1), SO3(), SO2()), "SE3": SE3()}


def spinning(name, **more):
    space = SPACES[name]
    inertia = jnp.asarray(
        {"SO3": [1.0, 2.0, 3.0], "product": [1.0, 1.0, 2.0, 3.0, 1.0], "SE3": [1.0] * 3 + [1, 2, 3]}[name]
    )
    return System(
        coordinates=tuple("abcdef"[: space.size]),
        energy=lambda q, p, th: 0.0 * q[0],
        mass=lambda q, th: jnp.diag(inertia),
        space=space,
        **more,
    )


def start(name):
    first = {"SO3": 0, "product": 1, "SE3": 3}[name]
    q, v = np.zeros(SPACES[name].size), np.zeros(SPACES[name].size)
    q[first : first + 3], v[first : first + 3] = TURNED, SPIN
    if name == "product":
        v[-1] = 70.0
    return q, v, slice(first, first + 3)


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, Projected()) for name in SPACES] + [("SO3", Radau()), ("product", GeneralizedAlpha())],
    ids=str,
)
def test_the_turn_within_steps_is_the_one_of_the_spin(name, method):
    q, v, turned = start(name)
    motion = simulate(spinning(name), q, v, (0.0, 1.0), method=method)
    times = np.linspace(0.0, 1.0, 101)
    found, _ = motion.at(times)
    true = Rotation.from_rotvec(TURNED) * Rotation.from_rotvec(np.outer(times, SPIN))
    assert (true.inv() * Rotation.from_rotvec(found[:, turned])).magnitude().max() <= 1e-6
    if name == "product":
        np.testing.assert_allclose(np.exp(1j * found[:, -1]), np.exp(70j * times), rtol=0.0, atol=1e-6)


def test_many_steps_in_one_call_turn_as_little(monkeypatch):
    monkeypatch.setattr(strides, "WORTH", 0)
    q, v, turned = start("product")
    system = spinning("product")
    motion = simulate(system, q, v, (0.0, 2.0), method=Projected())
    assert system.motion.strides.steps.ready
    times = np.linspace(0.0, 2.0, 201)
    true = Rotation.from_rotvec(TURNED) * Rotation.from_rotvec(np.outer(times, SPIN))
    assert (true.inv() * Rotation.from_rotvec(motion.at(times)[0][:, turned])).magnitude().max() <= 1e-6


def test_every_pass_of_a_mark_on_a_spinning_body_is_seen():
    """The mark passes twice in each turn; about the axis of the spin its angle is 40 t."""
    q, v, _ = start("SO3")

    def mark(t, q, v):
        away = Rotation.from_rotvec(TURNED).inv().apply(np.asarray(rotate(q, np.array([1.0, 0.0, 0.0]))))
        return float(away[0])

    motion = simulate(spinning("SO3"), q, v, (0.0, 2.0), method=EventDriven(), events={"mark": mark})
    times = [event.t for event in motion.events]
    np.testing.assert_allclose(times, (0.5 + np.arange(len(times))) * np.pi / 40.0, rtol=0.0, atol=1e-9)
    assert len(times) == int(2.0 * 40.0 / np.pi + 0.5)


def test_a_spinning_blade_meets_a_post(pace=83.0):
    """A blade turns about a fixed axis and sinks; a post stands beside it, as high as it is thick."""
    system = System(
        coordinates=("z", "a", "b", "c"),
        energy=lambda q, p, th: 0.0 * q[0],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, 1.0])),
        space=Product(Vector(1), SO3()),
        unilateral={"post": lambda q, p, th: q[0] + 0.02 * rotate(q[1:], jnp.array([1.0, 0.0, 0.0]))[0]},
    )
    motion = simulate(system, [0.05, 0.0, 0.0, 0.0], [-0.03, 0.0, 0.0, pace], (0.0, 1.6), method=EventDriven())
    times = np.linspace(0.0, 1.6, 400_001)
    first = times[np.argmax(0.05 - 0.03 * times + 0.02 * np.cos(pace * times) < 0.0)]
    assert motion.events[0].t == pytest.approx(first, abs=5e-6)
