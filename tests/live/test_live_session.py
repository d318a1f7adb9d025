"""The logic of a live page on closed forms: jumps where the handle passes the limit load, hysteresis, memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onesided
from onesided import zoo
from onesided.base.errors import UsageError
from onesided.elements import Force, Node, PlasticCable, Spring
from onesided.live import live_session
from onesided.live.live_model import LiveModel, of_model, of_system
from onesided.live.live_session import LiveSession
from onesided.live.stop_flag import CancelledError, StopFlag
from onesided.live.web import turning

K, B, H = 1.0, 1.0, 0.5


def limit_load(h):
    """p = 2 k b ((l0/b)^(2/3) − 1)^(3/2) of the von Mises truss."""
    return 2 * K * B * ((np.hypot(B, h) / B) ** (2 / 3) - 1) ** 1.5


def force(y, p, h):
    """dU/dy of two springs and the load."""
    length = np.hypot(B, y)
    return 2 * K * (length - np.hypot(B, h)) * y / length + p


@pytest.fixture(scope="module")
def model():
    return of_model(zoo.load("von-mises"))


@pytest.fixture
def session(model):
    return LiveSession(model)


def test_it_jumps_where_the_handle_passes_the_limit_load_and_stays_down_on_return(session):
    limit = limit_load(H)
    assert session.move([limit * (1 - 1e-9)]) == []
    assert session.value("y") > 0
    (jump,) = session.move([limit * (1 + 1e-9)])
    assert jump.passage.kind == "jump"
    assert jump.passage.p == pytest.approx(limit, rel=1e-9)
    assert session.value("y") < -H
    assert session.move([0.0]) == []
    assert session.value("y") == pytest.approx(-H, abs=1e-4)
    session.rest()
    assert session.value("y") == pytest.approx(-H, abs=1e-12)
    assert session.move([-limit * (1 - 1e-9)]) == []
    (back,) = session.move([-0.1])
    assert back.passage.p == pytest.approx(-limit, rel=1e-9)
    assert (back.number, session.value("y") > H) == (2, True)


def test_all_states_on_the_way_are_equilibria_of_the_closed_form(session):
    for p in np.linspace(-0.1, 0.1, 41):
        session.move([p])
        assert session.p == p
        assert abs(force(session.value("y"), p, H)) < 2e-4 * K * B
        session.rest()
        assert abs(force(session.value("y"), p, H)) < 1e-9 * K * B
    passed = np.array([row for row in session.way if row is not None])[:, [session.names.index(c) for c in ("y", "p")]]
    assert np.max(np.abs(force(*passed.T, H))) < 2e-4 * K * B


def test_one_long_movement_tells_every_jump_in_turn(session):
    told = session.move([0.1, -0.1, 0.1])
    assert [one.passage.kind for one in told] == ["jump"] * 3
    assert np.sign([one.passage.p for one in told]).tolist() == [1, -1, 1]
    assert [one.number for one in told] == [1, 2, 3]
    assert sum(row is None for row in session.way) == 3  # breaks of the curve that is drawn


def test_only_the_turns_of_the_handle_matter(model):
    every, turns = LiveSession(model), LiveSession(model)  # both stand in the same state all the time

    @settings(max_examples=12, deadline=None)
    @given(st.lists(st.floats(-0.1, 0.1).map(lambda v: round(v, 3)), min_size=1, max_size=8))
    def same(values):
        kept = turning([turns.p, *values])
        every.move(values)
        turns.move(kept)
        assert (every.p, every.value("y")) == pytest.approx((turns.p, turns.value("y")), abs=1e-7)
        assert len(every.log) == len(turns.log)

    same()
    assert every.log


def test_a_state_is_kept_while_parameters_change(session):
    session.move([0.1, 0.0])
    for h in (0.52, 0.56, 0.6):
        session.change({"h": h})
        assert session.value("y") == pytest.approx(-h, rel=1e-9)  # it was down and stays down
        assert session.p == 0.0
    (back,) = session.move([-0.1])
    assert back.passage.p == pytest.approx(-limit_load(0.6), rel=1e-9)


def test_a_state_that_a_parameter_takes_away_falls_to_the_next(session):
    p = 0.5 * (limit_load(0.4) + limit_load(0.5))
    session.move([p])
    assert session.value("y") > 0
    session.change({"h": 0.4})
    assert session.value("y") < 0
    assert force(session.value("y"), p, 0.4) == pytest.approx(0.0, abs=1e-9)


def test_what_does_not_work_leaves_everything_as_it_was(session):
    session.move([0.02])
    before = session.p, session.value("y")
    with pytest.raises(UsageError, match="no parameter 'hh'"):
        session.change({"hh": 1.0})
    stop = StopFlag()
    stop.ask()
    with pytest.raises(CancelledError):
        session.move([-0.1], stop)
    assert (session.p, session.value("y")) == before
    session.move([-0.05])
    assert session.p == -0.05


def test_a_computation_that_takes_too_long_is_given_up(session):
    with pytest.raises(onesided.SolveError, match="took too long"):
        session.move([-0.05], StopFlag(0.0))


def test_a_rigid_stop_holds_the_handle_and_lets_it_go_back():
    text = "energy='x**2/2 - x'\n[coordinates]\nx=0.2\n[control]\nrange=[0,2]\n[unilateral]\nfloor='x'\nwall='1-p-x'"
    session = LiveSession(of_model(onesided.loads(text)))
    session.move([0.5])
    session.rest()
    assert session.value("x") == pytest.approx(0.5)
    session.move([2.0])
    assert session.p == pytest.approx(1.0)
    assert session.note
    session.move([0.25])
    assert (session.value("x"), session.note) == (pytest.approx(0.75), "")


def test_a_cable_that_yielded_remembers_it_also_when_parameters_change():
    stiffness, beside, limit, hardening = 10.0, 3.0, 2.0, 1.0
    line = onesided.compose(
        Node("a", (0.0, 0.0), fixed=True),
        Node("m", (10.0, 0.0), fixed="y"),
        PlasticCable("c", ("a", "m"), stiffness=stiffness, yield_tension=limit, hardening=hardening),
        Spring("s", ("a", "m"), stiffness="s"),
        Force("P", "m", (1.0, 0.0)),
        parameters={"s": beside},
    )
    session = LiveSession(of_system(line, None, None, (-8.0, 12.0)))
    session.move([1.0, 5.0, 2.0, 4.0])  # it yields on the way to 5: K (u − e) = limit + h e, K (u − e) + S u = 5
    _, e = np.linalg.solve([[stiffness + beside, -stiffness], [stiffness, -stiffness - hardening]], [5.0, limit])
    session.rest()
    assert session.value("m_x") - 10.0 == pytest.approx((4.0 + stiffness * e) / (stiffness + beside), rel=1e-8)
    session.change({"s": 4.0})
    assert session.value("m_x") - 10.0 == pytest.approx((4.0 + stiffness * e) / (stiffness + 4.0), rel=1e-8)
    session.move([-4.0])  # slack: the spring alone
    session.rest()
    assert session.value("m_x") - 10.0 == pytest.approx(-1.0, rel=1e-8)


def test_where_nothing_stable_leads_on_the_state_is_shown_with_a_note():
    text = "energy='-x**2/2 + p*x'\n[coordinates]\nx=0\n[control]\nrange=[-1,1]\nstart=0"
    session = LiveSession(of_model(onesided.loads(text)))
    assert (session.value("x"), session.here.degree) == (0.0, 1)
    assert session.note


def test_what_was_done_is_a_drive(session):
    session.move([0.03, 0.06, 0.0])
    done = session.history()
    assert done.programme == pytest.approx((0.0, 0.06, 0.0))
    assert [jump.p for jump in done.jumps] == [pytest.approx(limit_load(H))]


def test_it_goes_on_where_it_stood(model):
    again = LiveSession(model, (np.array([-0.5]), 0.0))
    assert again.value("y") == pytest.approx(-0.5)
    elsewhere = LiveSession(model, (np.array([np.nan]), 7.0))  # nonsense: from the start
    assert (elsewhere.p, elsewhere.value("y")) == (0.0, pytest.approx(0.5))


def test_sliders_have_ranges_of_their_sign(model):
    ranges = {one["name"]: one["range"] for one in model.sliders()}
    assert ranges["h"] == pytest.approx([0.1, 1.0])
    dome = {one["name"]: one["range"] for one in of_model(zoo.load("keyboard-dome")).sliders()}
    assert dome["k"] == [0.1, 20.0]  # what the file's [design] says


def test_a_handle_needs_a_finite_range(model):
    with pytest.raises(UsageError, match="finite range"):
        LiveModel(model.system, model.q, 0.0, (-np.inf, 1.0))
    with pytest.raises(UsageError, match="finite range"):
        of_system(model.system, [0.5], 3.0, (-1.0, 1.0))


def test_of_very_many_turns_the_last_ones_are_kept(model, monkeypatch):
    """The history begins in the state that the system had at the first turn that is kept."""
    monkeypatch.setattr(live_session, "MOST_TURNS", 4)
    session = LiveSession(model)
    assert len(session.move([0.1])) == 1  # it snaps through, and stays down
    for k in range(20):
        session.move([0.08 + 0.005 * (k % 3), 0.1])
    record = session.record()
    assert len(record.programme) == 4 and record.programme[-1] == 0.1
    done = session.history()
    assert not done.jumps and done.q[-1] == pytest.approx(session.q)
