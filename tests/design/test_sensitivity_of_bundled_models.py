"""Derivatives of events of the bundled models against differences of events solved again.

The event's own equations are solved at other parameters by Newton's method, which asks for residuals alone; differences
of these solutions are extrapolated. What rounding makes of them is estimated by the differences themselves.
"""

from itertools import pairwise

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.base.tolerances import DEFAULT
from onesided.design.event_curves import curve_of_events, refuse_broken

EVENTS = 3  # of each model
QUICK = ("von-mises", "von-mises-floor", "two-bar-roller", "corner-limit", "keyboard-dome")
LONG = (
    "arch-on-floor", "bead-on-ring", "bimetal-strip", "bistable-chain", "column", "column-stop", "end-point-horizontal", "flat-contact",
    "guyed-mast", "lee-frame", "scissor-lift", "singular-corner", "slider-crank", "suspended-deck",
    "tensegrity-prism", "tripod-truss", "two-supports", "von-mises-truss", "wedge", "williams-toggle",
)  # fmt: skip
EXACT, ROUNDED = 1e-8, 1e-12  # of the rates; of the unknowns, where these hardly depend on a parameter
STEPS = (0.4, 0.1, 0.02, 0.005)  # relative changes of a parameter


def _again(event, system, number, change):
    """(q, p, ν) at the event with a parameter multiplied by exp(change), or with `change` itself where it is 0."""
    value, direction = list(system.parameters.values())[number], np.zeros(len(system.parameters))
    direction[number] = value * np.expm1(change) if value else change
    events = curve_of_events(event, system, direction, DEFAULT)
    refuse_broken(events)
    return events.spot(events.moved_to(1.0)).x


def _extrapolated(function, step, levels=6):
    """The derivative at 0 where its estimates agree best, and by how much they differ."""
    columns = [[(function(h) - function(-h)) / (2 * h) for h in step / 2.0 ** np.arange(levels)]]
    for power in range(1, levels):
        last = columns[-1]
        columns.append([b + (b - a) / (4.0**power - 1.0) for a, b in pairwise(last)])
    pairs = [(np.abs(b - a), b) for column in columns for a, b in pairwise(column)]
    doubts = np.array([doubt for doubt, _ in pairs])
    best, places = np.argmin(doubts, axis=0), np.arange(doubts.shape[1])
    return np.array([found for _, found in pairs])[best, places], doubts[best, places]


def _differences(event, system, number):
    """θ dx/dθ by differences with the steps that lead to the least doubt."""
    found, doubt = None, np.inf
    for step in STEPS:
        try:
            new, unsure = _extrapolated(lambda change: _again(event, system, number, change), step)
        except onesided.SolveError:  # so far away there is no such event
            continue
        if found is None:
            found, doubt = new, unsure
        found, doubt = np.where(unsure < doubt, new, found), np.minimum(unsure, doubt)
        if np.all(doubt <= ROUNDED * np.max(np.abs(found))):
            break
    return found, doubt


def _by_kind(values, n):
    """The largest of coordinates, of p and of multipliers, for each of them."""
    groups = np.abs(values[:n]), np.abs(values[n : n + 1]), np.abs(values[n + 1 :])
    return np.concatenate([np.full(len(group), group.max(initial=0.0)) for group in groups])


@pytest.mark.parametrize("model", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_every_parameter_of_every_event(model):
    system = zoo.load(model).system
    for event in onesided.trace(system, max_events=EVENTS, throw=False).events[:EVENTS]:
        rates = onesided.sensitivity(event)
        x = np.concatenate([event.q, [event.p], event.mu, event.lam])
        for number, (name, value) in enumerate(system.parameters.items()):
            parts = (rates.q_rate, rates.p_rate[:, None], rates.mu_rate, rates.lam_rate)
            own = np.concatenate([part[number] for part in parts]) * (value or 1.0)
            if rates.exponent[number] != 1.0 or np.isnan(own).any():
                assert rates.notes[name]
                continue
            again, doubt = _differences(event, system, number)
            room = EXACT * _by_kind(own, system.n) + ROUNDED * _by_kind(x, system.n)
            assert np.all(doubt <= room), (event.words(), name, np.max(doubt / room))
            assert np.all(np.abs(own - again) <= room), (event.words(), name, np.max(np.abs(own - again) / room))
