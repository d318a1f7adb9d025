"""Cables that yield: against return mapping, closed forms of steps that stop on the way, and refusals."""

import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agree
from hypothesis import example, given, settings
from hypothesis import strategies as st

import onesided
from onesided import Status, System
from onesided.base.errors import ModelError, UsageError
from onesided.elements import Body, Cable, Force, Marker, Node, PlasticCable, Spring, String

K, S, LIMIT = 10.0, 3.0, 2.0  # cable, spring beside it, yield tension
LINE = onesided.compose(
    Node("a", (0.0, 0.0), fixed=True),
    Node("m", (10.0, 0.0), fixed="y"),
    PlasticCable("c", ("a", "m"), stiffness=K, yield_tension=LIMIT, hardening="h"),
    Spring("s", ("a", "m"), stiffness=S),
    Force("P", "m", (1.0, 0.0)),
    parameters={"h": 1.0},
)


def energy_by_hand(q, p, th):
    elastic = K / 2 * (jnp.abs(q[0]) - 10.0 + q[1] - q[2]) ** 2
    return elastic + LIMIT * q[2] + th["h"] / 2 * q[2] ** 2 + S / 2 * (q[0] - 10.0) ** 2 - p * q[0]


WRITTEN = System(
    LINE.coordinates,
    energy_by_hand,
    {"c": lambda q, p, th: q[1], "c_flow": lambda q, p, th: q[2] - th["c_set"]},
    parameters={"h": 1.0, "c_set": 0.0},
)


@given(
    st.tuples(*3 * [st.floats(0.5, 5.0)]), st.floats(0.0, 2.0), st.floats(0.0, 1.0), st.tuples(*2 * [st.floats(0, 3)])
)
@settings(max_examples=30)
def test_the_potential_of_a_step_is_the_hand_written_one(q, h, e0, nu):
    values = {"h": h, "c_set": e0}
    agree(LINE.replace(parameters=values), WRITTEN.replace(parameters=values), q, 0.7, nu)


def return_mapping(programme, hardening):
    """Elastic predictor, plastic corrector over each monotone part: exact for one degree of freedom."""
    e, states = 0.0, []
    for p in programme:
        u = (p + K * e) / (K + S)  # elongation, cable taut and elastic
        tension = K * (u - e)
        if tension < 0:
            u, tension = p / S, 0.0
        elif tension > LIMIT + hardening * e:  # K (u − e) = LIMIT + h e and K (u − e) + S u = p
            u, e = _flow(p, hardening)
            tension = K * (u - e)
        states.append((u, e, tension))
    return states


def _flow(p, h):
    return np.linalg.solve([[K + S, -K], [K, -K - h]], [p, LIMIT])


@given(st.lists(st.floats(-8.0, 12.0), min_size=2, max_size=5), st.sampled_from([0.0, 1.0, 4.0]))
@example([4.0, 0.0, 5.0, -3.0, 0.0], 1.0)
@settings(max_examples=15)
def test_any_programme_gives_what_return_mapping_gives(values, hardening):
    programme = [0.0]
    for value in values:
        if abs(value - programme[-1]) > 0.05:
            programme.append(value)
    if len(programme) < 2:
        return
    system = LINE.replace(parameters={"h": hardening})
    run = onesided.drive(system, system.start, programme)
    corners = _corners(run, programme)
    for (u, e, tension), (q, lam) in zip(return_mapping(programme[1:], hardening), corners, strict=True):
        assert q[0] - 10.0 == pytest.approx(u, abs=1e-8)
        assert q[2] == pytest.approx(e, abs=1e-8)
        assert lam[0] == pytest.approx(tension, abs=1e-7)


def _corners(run, programme):
    """State at every value of the programme."""
    found, paths = [], iter(run.paths)
    for target in programme[1:]:
        path = next(path for path in paths if path.p[-1] == target)
        found.append((path.q[-1], path.lam[-1]))
    return found


def test_a_closed_loop_dissipates_its_area():
    system = LINE.replace(parameters={"h": 0.0})
    run = onesided.drive(system, system.start, [0.0, 5.0, 0.0])
    u, e, _ = return_mapping([5.0], 0.0)[0]
    left = return_mapping([5.0, 0.0], 0.0)[1]
    stored = S / 2 * left[0] ** 2 + K / 2 * max(0.0, left[0] - left[1]) ** 2
    assert e > 0
    assert run.work == pytest.approx(LIMIT * e + stored, rel=1e-9)
    q, p = run.q[:, 0], run.p
    area = float(np.sum((p[1:] + p[:-1]) / 2 * np.diff(q)))  # ∫ p du; the energy contains −p u, zero at both ends
    assert area == pytest.approx(run.work, rel=1e-9)
    assert u > left[0]


def test_flow_stops_on_the_way_where_the_length_is_largest():
    """A crank turns one end of the cable round: the cable is longest when the crank points away from the anchor."""
    radius, far = 1.0, 4.0
    system = onesided.compose(
        Body("crank", (0.0, 0.0), angle=2.0, fixed="xy", moves={"angle": 1.0}),
        Marker("pin", "crank", (radius, 0.0)),
        Node("anchor", (far, 0.0), fixed=True),
        PlasticCable("c", ("anchor", "pin"), stiffness=K, yield_tension=LIMIT, hardening=2.0),
    )

    def length(angle):
        return np.sqrt(radius**2 + far**2 - 2 * radius * far * np.cos(angle))

    run = onesided.drive(system, system.start, [0.0, 2.5])  # angle 2 … 4.5, past π
    assert [path.note for path in run.paths] == ["plastic flow stops", ""]
    assert run.paths[0].p[-1] == pytest.approx(np.pi - 2.0, abs=1e-8)
    longest = length(np.pi) - length(2.0)
    e = (K * longest - LIMIT) / (K + 2.0)
    slack, plastic = run.paths[-1].q[-1]
    assert plastic == pytest.approx(e, rel=1e-8)
    assert slack == pytest.approx(e + length(2.0) - length(4.5), rel=1e-7)
    opened = [event for event in run.paths[1].events if event.constraints == ("c",)]
    angle = np.arccos((radius**2 + far**2 - (length(2.0) + e) ** 2) / (2 * radius * far))
    assert opened[0].p == pytest.approx(2 * np.pi - angle - 2.0, rel=1e-8)


def test_flow_stops_at_a_kink_where_a_rope_pulls_back():
    """The node follows a puller through a spring; when the rope to a second puller is taut it is drawn back."""
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("m", (10.0, 0.0), fixed="y"),
        Node("right", (20.0, 0.0), fixed="y", moves={"x": 1.0}),
        Node("left", (5.0, 0.0), fixed="y", moves={"x": -1.0}),
        PlasticCable("c", ("a", "m"), stiffness=K, yield_tension=LIMIT, hardening=1.0),
        Spring("s", ("m", "right"), stiffness=5.0),
        String("rope", ("left", "m"), length=6.0),
    )
    run = onesided.drive(system, system.start, [0.0, 1.5])
    # flowing: 5 (p − u) = 2 + 1·e, 10 (u − e) = 2 + e; taut where 5 + u + p = 6
    u, e, p = np.linalg.solve([[-5.0, -1.0, 5.0], [10.0, -11.0, 0.0], [1.0, 0.0, 1.0]], [2.0, 2.0, 1.0])
    assert e > 0
    assert run.paths[0].p[-1] == pytest.approx(p, rel=1e-8)
    assert run.paths[0].note == "plastic flow stops"
    assert run.paths[0].q[-1, 0] == pytest.approx(10.0 + u, rel=1e-9)
    last = dict(zip(system.coordinates, run.paths[-1].q[-1], strict=True))
    assert last["m_x"] == pytest.approx(11.0 - 1.5, rel=1e-9)
    assert last["c_plastic"] == pytest.approx(e, rel=1e-8)
    assert last["c_slack"] == pytest.approx(10.0 + e - 9.5, rel=1e-8)


def test_a_permanent_set_can_be_given_and_is_where_the_cable_starts():
    system = LINE.replace(parameters={"c_set": 0.4})
    assert system.start == pytest.approx([10.0, 0.4, 0.4])
    state = onesided.solve(system, start=system.start, p=0.9).value
    assert state.q == pytest.approx([10.3, 0.1, 0.4])


def test_words_of_its_two_gaps():
    structure = LINE.structure
    assert structure.words("c").opens == "goes slack"
    assert structure.words("c_flow").opens == "yields"
    assert LINE.history == {"c_set": 2}
    assert MIXED_FREE.history == {}


MIXED_FREE = onesided.compose(
    Node("a", (0.0, 0.0), fixed=True), Node("m", (1.0, 0.0), fixed="y"), Cable("c", ("a", "m"), stiffness=1.0)
)


def test_paths_of_models_that_remember_are_refused():
    for verb in (
        lambda: onesided.trace(LINE, LINE.start, 0.0),
        lambda: next(onesided.iter_trace(LINE, LINE.start, 0.0)),
        lambda: onesided.diagram(LINE, LINE.start, 0.0, p_bounds=(0.0, 1.0)),
    ):
        with pytest.raises(UsageError, match=r"remembers.*c_set.*drive"):
            verb()


def test_what_cannot_work_is_refused():
    places = [Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.0))]

    def refused(match, parameters=None, **values):
        with pytest.raises(ModelError, match=match):
            onesided.compose(places, PlasticCable("c", ("a", "b"), stiffness=1.0, **values), parameters=parameters)

    refused("plastic_cable 'c': has no `yield_tension`")
    refused("yield tension is not positive", yield_tension=0.0)
    refused("hardening is negative", yield_tension=1.0, hardening=-1.0)
    refused("beyond yield", yield_tension=0.2, pretension=0.5)
    refused("permanent set is negative", {"c_set": -1.0}, yield_tension=1.0)


def test_a_stay_stretched_by_a_snap_leaves_the_truss_its_own_limit_loads():
    """The jump yields the stay for good: afterwards it is slack where the elastic truss snaps back and again."""
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (2.0, 0.0), fixed=True),
        Node("top", (1.0, 0.5), fixed="x"),
        Node("roof", (1.0, 2.0), fixed=True),
        Spring("l", ("a", "top"), stiffness=10.0),
        Spring("r", ("b", "top"), stiffness=10.0),
        PlasticCable("stay", ("roof", "top"), stiffness=1.0, yield_tension=0.1, hardening=0.1),
        Force("P", "top", (0.0, -1.0)),
    )
    run = onesided.drive(system, system.start, [0.0, 1.0, -1.0, 0.5])
    bare = 20.0 * (1.25 ** (1 / 3) - 1.0) ** 1.5  # von Mises truss of two springs: 2k (l^(2/3) − 1)^(3/2)
    assert [jump.p for jump in run.jumps[1:]] == pytest.approx([-bare, bare], rel=1e-9)
    assert run.jumps[0].p > bare
    sets = [path.provenance["parameters"]["stay_set"] for path in run.paths]
    assert sets == sorted(sets)
    assert np.all(np.diff(run.q[:, 2]) >= -1e-12)


def _parallel():
    return onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("b", (0.0, 0.0), fixed=True),
        Node("m", (10.0, 0.0), fixed="y"),
        PlasticCable("c", ("a", "m"), stiffness=10.0, yield_tension=2.0, hardening=1.0),
        PlasticCable("d", ("b", "m"), stiffness=4.0, yield_tension=1.5, pretension=0.5),
        Spring("s", ("a", "m"), stiffness=3.0, length=10.0 + 0.5 / 3.0),
        Force("P", "m", (1.0, 0.0)),
    )


@given(st.lists(st.floats(-6.0, 12.0), min_size=2, max_size=4))
@example([5.0, -2.0, 7.0])
@settings(max_examples=8)
def test_two_cables_share_the_load_as_bisection_and_return_mapping_say(values):
    programme = [0.0, *(v for v, w in zip(values, [0.0, *values], strict=False) if abs(v - w) > 0.05)]
    if len(programme) < 2:
        return
    run = onesided.drive(PARALLEL, PARALLEL.start, programme)
    cables = {"c": (10.0, 2.0, 1.0, 0.0), "d": (4.0, 1.5, 0.0, 0.5)}
    sets = dict.fromkeys(cables, 0.0)
    for target, (q, _) in zip(programme[1:], _corners(run, programme), strict=True):
        u = _balance(target, cables, sets)
        sets = {name: _mapped(u, *cables[name], sets[name])[1] for name in cables}
        now = dict(zip(PARALLEL.coordinates, q, strict=True))
        assert now["m_x"] - 10.0 == pytest.approx(u, abs=1e-8)
        assert [now["c_plastic"], now["d_plastic"]] == pytest.approx(list(sets.values()), abs=1e-8)


PARALLEL = _parallel()


def _mapped(u, k, limit, h, before, e):
    """Tension and plastic elongation at the elongation u, by return mapping from e."""
    trial = max(0.0, before + k * (u - e))
    flow = max(0.0, trial - limit - h * e) / (k + h)
    return trial - k * flow, e + flow


def _balance(load, cables, sets):
    low, high = -9.0, 9.0
    for _ in range(80):
        u = (low + high) / 2
        pull = 3.0 * u - 0.5 + sum(_mapped(u, *cables[name], sets[name])[0] for name in cables)
        low, high = (u, high) if pull < load else (low, u)
    return u


def test_beyond_the_limit_of_perfect_plasticity_nothing_stands():
    system = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("m", (10.0, 0.0), fixed="y"),
        PlasticCable("c", ("a", "m"), stiffness=10.0, yield_tension=2.0),
        Force("P", "m", (1.0, 0.0)),
    )
    run = onesided.drive(system, system.start, [0.0, 3.0], throw=False)
    assert run.status is Status.stalled
    assert "p = 2" in run.note
    assert run.p[-1] == pytest.approx(2.0)
