"""Contacts stated wrongly, starts that penetrate, methods that do not fit."""

import jax.numpy as jnp
import numpy as np
import pytest
from contact_models import ball, column, column_start, rocking_block, tilted

from onesided import Contact, EventDriven, ModelError, Moreau, SolveError, Status, System, simulate
from onesided.base.errors import UsageError
from onesided.complementarity.friction import FrictionProblem, solve_friction


@pytest.mark.parametrize("e", [-0.1, 1.1, np.nan])
def test_restitution_out_of_range(e):
    with pytest.raises(ModelError, match="restitution"):
        Contact(restitution=e)


def test_friction_that_makes_no_sense():
    with pytest.raises(ModelError, match="negative"):
        Contact(friction=-0.1, slip=lambda q, v, th: v[0])
    with pytest.raises(ModelError, match="how it slides"):
        Contact(friction=0.3)


def stated(contacts, **changes):
    parts = {
        "coordinates": ("x", "z"),
        "energy": lambda q, p, th: 9.81 * q[1],
        "unilateral": {"floor": lambda q, p, th: q[1]},
        "mass": lambda q, th: jnp.eye(2),
    }
    return System(**{**parts, **changes}, contacts=contacts)


def test_contacts_that_do_not_fit():
    with pytest.raises(ModelError, match="flor"):
        stated({"flor": Contact()})
    with pytest.raises(ModelError, match="shape"):
        stated({"floor": Contact(friction=0.1, slip=lambda q, v, th: jnp.ones(3))})
    with pytest.raises(ModelError, match="does not depend on the velocities"):
        stated({"floor": Contact(friction=0.1, slip=lambda q, p, th: q[0])})
    with pytest.raises(ModelError, match="not a Contact"):
        stated({"floor": 0.5})


def test_a_contact_stated_twice_is_refused():
    twice = stated({}, unilateral={"floor": lambda q, p, th: q[1], "ground": lambda q, p, th: 2.0 * q[1]})
    with pytest.raises(ModelError, match="'floor' and 'ground' are the same"):
        simulate(twice, [0.0, 1.0], [0.0, 0.0], (0.0, 0.1), method=Moreau())


@pytest.mark.parametrize("method", [EventDriven(), Moreau(step=1e-3)], ids=repr)
def test_a_start_that_penetrates_is_projected_and_said(method):
    start = column_start(3, gap=-0.01)
    motion = simulate(column(3), start, np.zeros(3), (0.0, 0.1), method=method)
    assert "penetrated" in motion.note
    assert motion.q[0] == pytest.approx([0.1, 0.3, 0.5])
    assert motion.start.position == pytest.approx(0.03)


def test_a_start_that_cannot_be_freed():
    squeezed = stated({}, unilateral={"floor": lambda q, p, th: q[1], "lid": lambda q, p, th: -1.0 - q[1]})
    with pytest.raises(SolveError):
        simulate(squeezed, [0.0, 0.0], [0.0, 0.0], (0.0, 0.1), method=Moreau())


@pytest.mark.parametrize(
    "make", [lambda: Moreau(step=0.0), lambda: Moreau(accuracy=2.0), lambda: EventDriven(rest=0.0)]
)
def test_knobs(make):
    with pytest.raises(UsageError):
        make()


def test_user_events_stop_the_motion():
    for method in (EventDriven(), Moreau(step=1e-3)):
        motion = simulate(ball(), [1.0], [0.0], (0.0, 2.0), method=method, events={"half": lambda t, q, v: q[0] - 0.5},
                          stop=("half",))  # fmt: skip
        assert motion.status is Status.stopped
        assert motion.events[-1].t == pytest.approx(np.sqrt(1 / 9.81), abs=1e-12 if method == EventDriven() else 1e-5)


def test_too_many_events_are_said():
    motion = simulate(
        rocking_block(), tilted(0.05), np.zeros(3), (0.0, 2.0), method=EventDriven(max_events=1), throw=False
    )
    assert motion.status is Status.max_iterations


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directions", [1, 2])
def test_cone_solver_meets_coulombs_law(seed, directions):
    """Rechecked from the law itself, not from the natural map."""
    rng = np.random.default_rng(seed)
    c, size = 6, 6 * (1 + directions)
    A = rng.normal(size=(size, size + 2))
    D, u = A @ A.T / size, rng.normal(size=size)
    mu = rng.uniform(0.1, 0.9, c)
    P, off = solve_friction(FrictionProblem(D, u, mu, np.full(c, directions, dtype=np.intp)), tol=1e-13)
    assert off < 1e-10
    w = (D @ P + u).reshape(c, -1)
    P = P.reshape(c, -1)
    tangential, slip = np.linalg.norm(P[:, 1:], axis=1), np.linalg.norm(w[:, 1:], axis=1)
    assert P[:, 0].min() >= -1e-9
    assert w[:, 0].min() >= -1e-9
    assert P[:, 0] * w[:, 0] == pytest.approx(0.0, abs=1e-9)
    assert np.all(tangential <= mu * P[:, 0] + 1e-9)
    assert slip * (mu * P[:, 0] - tangential) == pytest.approx(0.0, abs=1e-8)
    assert np.sum(P[:, 1:] * w[:, 1:], axis=1) == pytest.approx(-tangential * slip, abs=1e-8)
