"""Derivatives of events of the bundled models against differences of events solved again.

The event's own equations are solved at other parameters by Newton's method, which asks for residuals alone,
limit points and contact changes in extended precision [`long_events`]; differences of these solutions are
extrapolated. What rounding makes of them is estimated by the differences themselves, and must leave eight digits.
"""

import numpy as np
import pytest
from event_differences import LONG, QUICK, REFUSED, by_kind, changes_of, differences, room_for
from long_events import EXTENDED, LongEvents

import onesided
from onesided import zoo
from onesided.base.tolerances import DEFAULT
from onesided.design.conditions import Meets, Release, Turn
from onesided.design.event_curves import curve_of_events, refuse_broken

EVENTS = 3  # of each model


def _again(event, system, number, size):
    """Of a change: (q, p, ν) at the event with a parameter changed by size · (exp(change) − 1)."""
    direction = np.zeros(len(system.parameters))
    direction[number] = size
    events = curve_of_events(event, system, direction, DEFAULT)
    refuse_broken(events)
    sharper = LongEvents(events) if EXTENDED and isinstance(events.condition, Turn | Meets | Release) else None

    def solved(change):
        w = events.moved_to(float(np.expm1(change)))
        return events.spot(w).x if sharper is None or events.curve.large else sharper.refined(w)

    return solved


@pytest.mark.parametrize("model", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_every_parameter_of_every_event(model):
    system = zoo.load(model).system
    for event in onesided.trace(system, max_events=EVENTS, throw=False).events[:EVENTS]:
        if model in REFUSED or event.kind is onesided.Kind.idle:  # redundant all along
            with pytest.raises(onesided.UsageError, match="degenerate"):
                onesided.sensitivity(event)
            continue
        rates = onesided.sensitivity(event)
        x = np.concatenate([event.q, [event.p], event.mu, event.lam])
        sizes, changes = np.abs(x) + event.origin.where.unit, changes_of(system, rates, event.q)
        for number, name in enumerate(system.parameters):
            parts = (rates.q_rate, rates.p_rate[:, None], rates.mu_rate, rates.lam_rate)
            own = np.concatenate([part[number] for part in parts]) * changes[number]
            if rates.exponent[number] != 1.0 or np.isnan(own).any():
                assert rates.notes[name]
                continue
            room = room_for(own, sizes, system.n)
            again, doubt = differences(_again(event, system, number, changes[number]), room)
            doubt = by_kind(doubt, system.n)
            assert np.all(doubt <= room), (event.words(), name)
            assert np.all(np.abs(own - again) <= np.maximum(room, doubt)), (event.words(), name)
