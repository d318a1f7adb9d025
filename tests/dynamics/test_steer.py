"""Optimal control: closed forms, a second route, a published optimum, modes of contacts, and failures."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, solve

import onesided
from onesided import DirectCollocation, System, steer
from onesided.groups import SO3

G = 9.81


@pytest.fixture(scope="module")
def mass():
    """A mass above a floor."""
    return System(
        coordinates=("z",),
        energy=lambda q, p, th: th.g * q[0],
        mass=lambda q, th: th.m * jnp.eye(1),
        unilateral={"floor": lambda q, p, th: q[0]},
        parameters={"g": G, "m": 1.0},
    )


@pytest.fixture(scope="module")
def trolleys():
    """Trolley and load, coupled as by small sway: linear."""
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: th.k * (q[1] - q[0]) ** 2 / 2,
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 0.5])),
        parameters={"k": 5.0},
    )


def test_a_hop_with_a_mode_sequence_has_the_closed_form_cost(mass):
    """At rest on the floor nothing is needed; then z̈ = 6 − 12τ + g against gravity: cost 12 + g²; inputs jump."""
    found = steer(
        mass, ([0.0], [0.0]), ([1.0], [0.0]), {"u": "z"}, t_span=(0, 2), modes=[(1.0, ("floor",)), (2.0, ())],
        method=DirectCollocation(intervals=8),
    )  # fmt: skip
    assert found.cost == pytest.approx(12 + G**2, rel=1e-9)
    assert found.at(0.5) == pytest.approx(0.0, abs=1e-6)
    assert found.at([1.0, 2.0])[:, 0] == pytest.approx([6 + G, -6 + G], rel=1e-6)
    assert found.error < 1e-8
    assert [event.kind.name for motion in found.motions for event in motion.events] == ["opens"]


@pytest.mark.slow
def test_a_contact_cannot_pull(mass):
    """Inputs that must pull a mass off a floor it is said to rest on."""
    asked = (mass, ([0.0], [0.0]), ([0.0], [0.0]), {"u": "z"}, lambda t, q, v, u, th: (u[0] - 2 * G) ** 2)
    found = steer(*asked, t_span=(0, 1), modes=[(1.0, ("floor",))], method=DirectCollocation(intervals=4))
    assert found.cost == pytest.approx(G**2, rel=1e-3)
    assert np.max(found.u) <= G * (1 + 1e-9)
    with pytest.raises(onesided.OnesidedError, match="goal does not fit"):
        steer(mass, ([0.0], [0.0]), ([1.0], [0.0]), {"u": "z"}, t_span=(0, 1), modes=[(1.0, ("floor",))])


def test_minimum_energy_without_residual_sway_is_that_of_the_gramian(trolleys):
    T, d = 2.0, np.array([1.0, 1.0, 0.0, 0.0])
    M, K = np.diag([1.0, 0.5]), 5.0 * np.array([[1, -1], [-1, 1]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-solve(M, K), np.zeros((2, 2))]])
    B = np.array([[0.0, 0.0, 1.0, 0.0]]).T
    E = expm(T * np.block([[-A, B @ B.T], [np.zeros((4, 4)), A.T]]))
    exact = d @ solve(E[4:, 4:].T @ E[:4, 4:], d)
    found = steer(
        trolleys, ([0.0, 0.0], [0.0, 0.0]), ([1.0, 1.0], [0.0, 0.0]), {"u": "x"}, t_span=(0, T),
        method=DirectCollocation(intervals=40),
    )  # fmt: skip
    assert found.cost == pytest.approx(exact, rel=1e-5)
    assert found.motions[-1].q[-1] == pytest.approx([1.0, 1.0], abs=1e-4)


@pytest.mark.slow
def test_joints_and_minimal_coordinates_have_the_same_optimum():
    """A crane: load on a rope as a constraint, against the angle of the rope as a coordinate."""
    rope = System(
        coordinates=("x", "X", "Y"),
        energy=lambda q, p, th: 0.5 * G * q[2],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 0.5, 0.5])),
        bilateral={"rope": lambda q, p, th: ((q[1] - q[0]) ** 2 + q[2] ** 2 - 1.0) / 2},
    )

    def kinetic(q, v, th):
        return 0.5 * v[0] ** 2 + 0.25 * ((v[0] + v[1] * jnp.cos(q[1])) ** 2 + (v[1] * jnp.sin(q[1])) ** 2)

    angle = System(("x", "a"), energy=lambda q, p, th: -0.5 * G * jnp.cos(q[1]), kinetic=kinetic)
    costs = [
        steer(system, (start, [0.0] * len(start)), (goal, [0.0] * len(start)), {"u": "x"}, t_span=(0, 2)).cost
        for system, start, goal in (
            (rope, [0.0, 0.0, -1.0], [1.0, 1.0, -1.0]),
            (angle, [0.0, 0.0], [1.0, 0.0]),
        )
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)


@pytest.mark.slow
def test_cart_and_pole_swing_up_is_the_published_optimum():
    """Kelly (2017), section 6: 58.839 N² s by Dymos' own test, which asks for a last force of zero besides."""
    m1, m2, length = 1.0, 0.3, 0.5

    def kinetic(q, v, th):
        x, y = v[0] + length * v[1] * jnp.cos(q[1]), length * v[1] * jnp.sin(q[1])
        return 0.5 * m1 * v[0] ** 2 + 0.5 * m2 * (x**2 + y**2)

    cart = System(("x", "a"), energy=lambda q, p, th: -m2 * G * length * jnp.cos(q[1]), kinetic=kinetic)
    found = steer(
        cart, ([0.0, 0.0], [0.0, 0.0]), ([1.0, np.pi], [0.0, 0.0]), {"u": "x"}, t_span=(0, 2),
        bounds={"x": (-2, 2), "u": (-20, 20)}, method=DirectCollocation(intervals=40, accuracy=1e-3),
    )  # fmt: skip
    assert found.cost == pytest.approx(58.83924863, rel=1e-3)
    assert found.cost <= 58.8393
    assert found.motions[0].q[-1] == pytest.approx([1.0, np.pi], abs=1e-2)


@pytest.mark.slow
def test_a_satellite_turns_about_one_axis_as_a_cubic():
    """Torque J (6 − 12 s) θ/T², cost 12 J² θ²/T³; the other axes rest."""
    J, angle, T = np.diag([1.0, 2.0, 3.0]), 2.0, 2.0
    body = System(("a", "b", "c"), energy=lambda q, p, th: 0.0 * q[0], mass=lambda q, th: jnp.asarray(J), space=SO3())
    found = steer(
        body, ([0.0] * 3, [0.0] * 3), ([0.0, 0.0, angle], [0.0] * 3), {"ta": "a", "tb": "b", "tc": "c"},
        t_span=(0, T), method=DirectCollocation(intervals=4),
    )  # fmt: skip
    s = found.t / T
    assert found.cost == pytest.approx(12 * 9.0 * angle**2 / T**3, rel=1e-9)
    assert found.q[:, 2] == pytest.approx(angle * (3 * s**2 - 2 * s**3), abs=1e-8)


@pytest.mark.slow
def test_bounds_are_kept_and_what_cannot_be_reached_is_said(trolleys):
    asked = (trolleys, ([0.0, 0.0], [0.0, 0.0]), ([1.0, 1.0], {}), {"u": "x"})
    found = steer(*asked, t_span=(0, 2), bounds={"u": (-2.0, 0.9)}, method=DirectCollocation(10, accuracy=1e-3))
    assert np.max(found.u) == pytest.approx(0.9, rel=1e-4)
    method = DirectCollocation(10, solver=onesided.TrustRegion(iterations=40))
    with pytest.raises(onesided.SolveError) as failure:
        steer(*asked, t_span=(0, 2), bounds={"u": (-0.1, 0.1)}, method=method)
    assert failure.value.partial.status is onesided.Status.infeasible


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inputs": {}}, "no input"),
        ({"inputs": {"u": "z"}}, "unknown coordinate"),
        ({"inputs": {"u": lambda q, th: jnp.zeros(3)}}, "shape"),
        ({"inputs": {"u": lambda q, th: jnp.zeros(2)}}, "pushes nothing"),
        ({"goal": [1.0, 1.0]}, "not a state"),
        ({"goal": ({"w": 1.0}, {})}, "unknown coordinate"),
        ({"bounds": {"u": (1.0, 0.0)}}, "empty"),
        ({"bounds": {"w": (0.0, 1.0)}}, "unknown coordinate, velocity or input"),
        ({"modes": [(0.5, ())]}, "end too early"),
        ({"modes": [(1.0, ("floor",))]}, "unknown gap"),
        ({"objective": lambda t, q, v, u, th: q}, "shape"),
    ],
)
def test_bad_requests_are_refused(trolleys, change, words):
    request = {"start": ([0.0, 0.0], [0.0, 0.0]), "goal": ([1.0, 1.0], [0.0, 0.0]), "inputs": {"u": "x"}, **change}
    with pytest.raises(onesided.OnesidedError, match=words):
        steer(trolleys, request.pop("start"), request.pop("goal"), request.pop("inputs"), t_span=(0, 1), **request)


def test_uno_agrees(trolleys):
    pytest.importorskip("unopy")
    asked = (trolleys, ([0.0, 0.0], [0.0, 0.0]), ([1.0, 1.0], [0.0, 0.0]), {"u": "x"})
    costs = [
        steer(*asked, t_span=(0, 2), method=DirectCollocation(10, accuracy=1e-2, solver=solver)).cost
        for solver in (onesided.Uno(), onesided.TrustRegion())
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-7)


def test_contacts_with_friction_are_refused(mass):
    rough = onesided.with_contacts(mass, {"floor": onesided.Contact(friction=0.3, slip=lambda q, v, th: v[0])})
    with pytest.raises(onesided.OnesidedError, match="without friction"):
        steer(rough, ([0.0], [0.0]), ([1.0], [0.0]), {"u": "z"}, t_span=(0, 1))
