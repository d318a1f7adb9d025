"""What nobody expected while a request is answered: told in words, and the page goes on."""

import logging

import pytest

from onesided import zoo
from onesided.live.exchange import Exchange, understood
from onesided.live.live_model import of_model
from onesided.live.live_session import StopFlag


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
