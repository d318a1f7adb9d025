"""What a live page keeps: only what was accepted, sliders that a text leaves alone, and what cables remember."""

import json
from collections import deque

import numpy as np
import pytest

from onesided import zoo
from onesided.files.reading import loads
from onesided.live.chosen_folder import ChosenFolder
from onesided.live.exchange import MOST_TURNS, Exchange, HandleMove, understood
from onesided.live.live_model import of_model
from onesided.live.live_session import LiveSession
from onesided.live.stop_flag import StopFlag
from onesided.live.web import in_line

SET = np.linalg.solve([[13.0, -10.0], [10.0, -11.0]], [5.0, 2.0])[1]  # e where p was 5: K (u − e) = limit + h e


@pytest.fixture
def truss(tmp_path):
    made = Exchange(of_model(zoo.load("von-mises")), "von-mises.toml", ChosenFolder.at(tmp_path))
    ask(made, kind="hello")
    return made


@pytest.fixture
def cable(yielding):
    made = Exchange(of_model(loads(yielding)))
    ask(made, kind="hello")
    return made


def ask(exchange, **request):
    return exchange.answer(understood(json.dumps(request)), StopFlag())


def test_a_text_that_is_refused_leaves_what_is_saved(truss, tmp_path):
    ask(truss, kind="change", parameters={"h": 0.6})
    text = truss.first.source.replace("h = 0.5", "h = 0.6").replace('p*y"', 'p*y + log(y - 9)"')
    for wrong in (
        {"kind": "edit", "text": text},
        {"kind": "hello", "standing": {"text": text, "parameters": {}, "p": 0.0, "q": [0.6]}},
    ):
        (told,) = ask(truss, **wrong)
        assert told["kind"] == "error"
    ask(truss, kind="save", what="model", name="w.toml")
    assert "\nh = 0.6 " in (tmp_path / "w.toml").read_text()


def test_a_new_text_changes_only_the_sliders_whose_numbers_it_changes(truss, tmp_path):
    ask(truss, kind="change", parameters={"h": 0.6, "k": 2.0})
    source = truss.first.source
    told = ask(truss, kind="edit", text=source.replace("k = 1.0", "k = 3.0") + "# more\n")
    assert {one["name"]: one["value"] for one in told[0]["parameters"]} == {"k": 3.0, "b": 1.0, "h": 0.6}
    assert truss.session.value("y") == pytest.approx(0.6)
    ask(truss, kind="save", what="model", name="w.toml")
    assert "\nh = 0.6 " in (tmp_path / "w.toml").read_text()
    told = ask(truss, kind="edit", text=source.replace("h = 0.5", "h = 0.7"))
    assert {one["name"]: one["value"] for one in told[0]["parameters"]} == {"k": 1.0, "b": 1.0, "h": 0.7}


def elongation(exchange):
    exchange.rest()
    return exchange.session.value("m_x") - 10.0


def test_a_cable_remembers_over_reload_and_edit_and_forgets_at_a_new_start(cable, yielding):
    (told,) = ask(cable, kind="move", turns=[5.0, 2.0])
    (rested,) = cable.rest() or (told,)
    expected = pytest.approx((2.0 + 10.0 * SET) / 13.0, rel=1e-7)
    assert elongation(cable) == expected
    assert list(rested["memory"].values()) == [pytest.approx(SET, rel=1e-7)]

    parameters = {"s": 3.0, **rested["memory"]}
    standing = {"text": yielding, "parameters": parameters, "p": 2.0, "q": cable.session.q.tolist()}
    loaded = Exchange(of_model(loads(yielding)))
    ask(loaded, kind="hello", standing=standing)
    assert elongation(loaded) == expected

    ask(cable, kind="edit", text=yielding + "# more\n")
    assert elongation(cable) == expected
    for made in (cable, loaded):
        ask(made, kind="restart")
        ask(made, kind="move", turns=[2.0])
        assert elongation(made) == pytest.approx(2.0 / 13.0, rel=1e-7)


def test_a_state_that_does_not_change_with_p_is_exact_at_rest():
    session = LiveSession(of_model(zoo.load("pendulum")))
    for p in (20.0, 0.0, 20.0, 1.7129833428724872, 4.736210131921994, 16.025489304127937):
        session.move([p])
        session.rest()
        assert session.here.exact


def test_joined_movements_are_bounded():
    waiting = deque()
    for _ in range(3):
        waiting = deque(in_line(waiting, HandleMove(kind="move", turns=[0.0, 1.0] * (MOST_TURNS // 2))))
    assert [len(one.turns) for one in waiting] == [MOST_TURNS]
    assert waiting[0].turns[-1] == 1.0
