"""What nobody expected while a request is answered: told in words, and the page goes on."""

import logging

import pytest

import onesided
from onesided import zoo
from onesided.live.exchange import Exchange, understood
from onesided.live.live_model import of_model
from onesided.live.stop_flag import StopFlag


@pytest.mark.parametrize(
    ("fault", "kind"), [(TypeError("odd"), "error"), (RuntimeError("odd"), "error"), (KeyboardInterrupt(), "cancelled")]
)
def test_faults_end_a_request_and_not_the_page(fault, kind, monkeypatch, caplog):
    made = Exchange(of_model(zoo.load("von-mises")))

    def broken(*_):
        raise fault

    monkeypatch.setattr(made, "_now", broken)
    with caplog.at_level(logging.CRITICAL):
        (told,) = made.answer(understood({"kind": "move", "turns": [0.0], "serial": 4}), StopFlag())
    assert (told["kind"], told["serial"], told["asked"]) == (kind, 4, "move")


@pytest.mark.parametrize(
    "wrong",
    [
        {"system": None}, {"q0": "here"}, {"q0": [1.0, 2.0, 3.0, 4.0]}, {"p0": None, "p_bounds": 3.0}, {"p0": "now"},
        {"p0": 1j}, {"port": "many"}, {"port": -1}, {"port": 1.5}, {"token": 7}, {"token": "../.."}, {"folder": 3},
        {"name": 5}, {"browser": "yes"},
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_in_words(wrong):
    given = {"system": zoo.load("von-mises").system, "browser": False} | wrong
    with pytest.raises(onesided.OnesidedError):
        onesided.live(**given).close()
