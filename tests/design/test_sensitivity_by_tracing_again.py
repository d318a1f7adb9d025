"""Derivatives of events of the bundled models against differences of paths that are traced again.

With every change of a parameter the whole path is traced anew and the same event is looked for on it: nothing of the
event's own equations is used. Differences are extrapolated; what is left of their powers and of rounding is their
doubt. Rates must agree to eight digits or to that doubt, which must leave most of the digits.
"""

import numpy as np
import pytest
from event_differences import LONG, QUICK, REFUSED, by_kind, changes_of, differences, room_for

import onesided
from onesided import zoo

EVENTS = 2  # of each model
DOUBTED = 1e-5  # of the sizes: less is known of an event that rounding hides


class TracedAgain:
    """Events of a model traced again with a parameter changed by size · (exp(change) − 1); each path once."""

    def __init__(self, system, name, size, count):
        self.system, self.name, self.size, self.count = system, name, size, count
        self.known = {}

    def events(self, change):
        if change not in self.known:
            value = self.system.parameters[self.name] + self.size * float(np.expm1(change))
            changed = self.system.replace(parameters={self.name: value})
            self.known[change] = onesided.trace(changed, max_events=self.count, throw=False).events
        return self.known[change]

    def find(self, event, change):
        """The nearest event of the same kind and contacts, as (q, p, ν)."""
        alike = [_packed(one) for one in self.events(change) if _same(one, event)]
        if not alike:
            raise onesided.SolveError("no such event so far away", None)
        return min(alike, key=lambda one: float(np.max(np.abs(one - _packed(event)))))


def _same(one, other):
    """Contacts that close or open may be named by what the path does there."""
    return one.constraints == other.constraints and (one.kind is other.kind or bool(one.constraints))


def _packed(event):
    return np.concatenate([event.q, [event.p], event.mu, event.lam])


def _own(rates, number, size):
    """Rates with one parameter, of q, p, ν."""
    parts = rates.q_rate, rates.p_rate[:, None], rates.mu_rate, rates.lam_rate
    return np.concatenate([part[number] for part in parts]) * size


def _compare(event, rates, system, number, name):
    """Own rates of an event against those of paths traced again."""
    size = changes_of(system, rates, event.q)[number]
    own, sizes = _own(rates, number, size), np.abs(_packed(event)) + event.origin.where.unit
    if rates.exponent[number] != 1.0 or np.isnan(own).any():
        assert rates.notes[name]  # there is no derivative, which is told
        return
    room, traced = room_for(own, sizes, system.n), TracedAgain(system, name, size, EVENTS)
    again, doubt = differences(lambda change: traced.find(event, change), room)
    doubt = by_kind(doubt, system.n)
    assert np.all(doubt <= DOUBTED * by_kind(sizes, system.n) + room), (event.words(), name)
    assert np.all(np.abs(own - again) <= np.maximum(room, doubt)), (event.words(), name)


@pytest.mark.parametrize(
    "model", [*QUICK[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in (*QUICK[2:], *LONG))]
)
def test_as_events_of_paths_traced_again(model):
    system = zoo.load(model).system
    for event in onesided.trace(system, max_events=EVENTS, throw=False).events[:EVENTS]:
        if model in REFUSED or event.kind is onesided.Kind.idle:
            continue
        rates = onesided.sensitivity(event)
        for number, name in enumerate(system.parameters):
            _compare(event, rates, system, number, name)
