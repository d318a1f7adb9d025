"""Verbs use what a file or a structure says of itself; `simulate` follows gaps; branches have ends of their own."""

import inspect

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Status, elements
from onesided.base.errors import UsageError

G = 10.0


@pytest.fixture(scope="module")
def toggle():
    return onesided.zoo.load("von-mises-floor")


@pytest.fixture(scope="module")
def truss():
    return onesided.compose(
        elements.Node("a", (0.0, 0.0), fixed=True),
        elements.Node("top", (1.0, 0.5), fixed="x"),
        elements.Bar("rafter", ("a", "top"), stiffness=1.0),
        elements.Force("load", "top", (0.0, -1.0)),
    )


@pytest.fixture(scope="module")
def ball():
    return onesided.System(
        ("y",),
        lambda q, p, th: p * q[0],
        unilateral={"floor": lambda q, p, th: q[0]},
        mass=lambda q, th: jnp.eye(1),
        contacts={"floor": onesided.Contact(restitution=0.5)},
    )


def test_a_loaded_file_needs_no_start(toggle):
    system, task = toggle
    whole = onesided.trace(system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds)
    for asked in (system, toggle):
        path = onesided.trace(asked)
        np.testing.assert_array_equal(path.q, whole.q)
    assert onesided.solve(system).value.p == task.p
    assert len(onesided.diagram(system).paths) >= 2
    assert onesided.drive(system).programme == task.programme


def test_a_composed_structure_starts_where_it_was_composed(truss):
    path = onesided.trace(truss, max_points=5)
    assert (path.p[0], path.q[0, 0]) == (0.0, 0.5)
    assert onesided.solve(truss, p=0.01).value.q[0] < 0.5
    history = onesided.drive(truss, [0.0, 0.01])
    assert history.p[-1] == 0.01
    assert onesided.drive(truss, programme=[0.0, 0.01]).p[-1] == 0.01
    assert onesided.drive(truss, {"top_y": 0.5}, [0.0, 0.01]).p[-1] == 0.01


def test_what_nobody_said_is_asked_for(truss, ball):
    with pytest.raises(UsageError, match="a value of p"):
        onesided.solve(truss)
    with pytest.raises(UsageError, match="no start of its own"):
        onesided.trace(ball)
    with pytest.raises(UsageError, match="needs bounds"):
        onesided.diagram(truss)
    with pytest.raises(UsageError, match="time span is missing"):
        onesided.simulate(ball, [1.0], [0.0])
    with pytest.raises(UsageError, match="no programme"):
        onesided.drive(truss)


def test_a_start_or_a_programme_is_not_guessed():
    model = onesided.loads(
        "energy='x**2+y**2-p*x'\ncoordinates={x=0.0,y=0.0}\ncontrol={range=[0,1], programme=[0, 1]}\n"
    )
    with pytest.raises(UsageError, match="a start or a programme"):
        onesided.drive(model.system, [0.0, 0.5])


def test_one_order_of_arguments():
    for verb, second in (("trace", "q0"), ("diagram", "q0"), ("drive", "q0"), ("simulate", "q0"), ("solve", "start")):
        names = list(inspect.signature(getattr(onesided, verb)).parameters)
        assert names[1] == second, verb
    assert list(inspect.signature(onesided.trace).parameters)[:3] == ["system", "q0", "p0"]


def test_a_branch_has_ends_of_its_own(toggle):
    path = onesided.trace(toggle.system)
    event = path.events[0]
    ray = event.followed
    ahead = onesided.branch(event, ray, max_events=1)
    assert ahead.status is Status.enough
    assert len(ahead.events) == 1
    low, high = event.p - 1e-3, event.p + 1e-3
    near = onesided.branch(event, ray, p_bounds=(low, high), method=onesided.PredictorCorrector.thorough())
    assert near.status is Status.bound_reached
    assert low <= near.p.min() <= near.p.max() <= high
    with pytest.raises(UsageError, match="outside the bounds"):
        onesided.branch(event, ray, p_bounds=(event.p + 1.0, event.p + 2.0))


def test_gaps_are_followed_by_default(ball):
    """Height 1, g, restitution 1/2: the n-th bounce is √(2/g)·(1 + 2(1/2 + … + 1/2ⁿ⁻¹)) after the start."""
    motion = onesided.simulate(ball, [1.0], [0.0], (0.0, 1.2), control=G)
    assert motion.provenance["method"] == "EventDriven"
    bounces = [event.t for event in motion.events if event.kind is onesided.Occurrence.impact][:3]
    first = np.sqrt(2.0 / G)
    assert bounces == pytest.approx([first, 2.0 * first, 2.5 * first], rel=1e-9)
    assert motion.note == ""


def test_p_is_never_nothing_in_silence(ball):
    rises = onesided.simulate(ball, [1.0], [1.0], (0.0, 0.1))
    assert rises.p[-1] == 0.0
    assert "p = 0 throughout" in rises.note
    system, task = onesided.zoo.load("bouncing-ball")
    motion = onesided.simulate(system)
    assert np.all(motion.p == task.p)
    assert motion.t[-1] == task.motion.time[1]


@pytest.mark.slow
def test_many_gaps_are_stepped():
    n = 20
    row = onesided.System(
        tuple(f"y{i}" for i in range(n)),
        lambda q, p, th: G * jnp.sum(q),
        unilateral=onesided.rows("floor", n, lambda q, p, th: q),
        mass=lambda q, th: jnp.eye(n),
    )
    motion = onesided.simulate(row, np.full(n, 0.2), np.zeros(n), (0.0, 0.4))
    assert motion.provenance["method"] == "Moreau"
    assert "chosen for 20 gaps" in motion.note
    np.testing.assert_allclose(motion.q[-1], 0.0, atol=1e-3)
