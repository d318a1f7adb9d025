"""Derivatives of events of the bundled models against differences of events solved again.

The event's own equations are solved at other parameters by Newton's method, which asks for residuals alone,
limit points in extended precision [`long_events`]; differences of these solutions are extrapolated. What rounding makes
of them is estimated by the differences themselves, and must leave eight digits.
"""

import numpy as np
import pytest
from long_events import EXTENDED, LongLimitPoints

import onesided
from onesided import zoo
from onesided.base.tolerances import DEFAULT
from onesided.design.event_curves import curve_of_events, refuse_broken

EVENTS = 3  # of each model
QUICK = ("von-mises", "von-mises-floor", "two-bar-roller", "corner-limit", "keyboard-dome")
NOT_TRACED = {"bouncing-ball", "heavy-top", "knife-edge", "pendulum", "rolling-disk", "overhead-crane"}  # motion alone
REFUSED = {"platform", "gantry-crane"}  # equilibria in which nothing holds some coordinate: no derivative
LONG = tuple(sorted(set(zoo.names()) - NOT_TRACED - set(QUICK)))
EXACT, ROUNDED = 1e-8, 1e-12  # of the rates; of the unknowns and their sizes, where they hardly depend on a parameter
NONE = 1e-9  # of the sizes: rates that are zero but for rounding
STEPS = (0.02, 0.1, 0.4, 0.01)  # relative changes of a parameter
NEAR = 1e-7  # relative changes so small that what is left of third differences is rounding
NOISY = (
    "guyed-mast",
    "column-between-walls",
)  # stiff members beside soft ones: solutions themselves are known less well


def _sizes(system, rates, q):
    """By how much parameters are changed: by themselves; where they are 0, so that p or q changes by itself."""
    values = np.array(list(system.parameters.values()))
    moved, largest = np.max(np.abs(np.nan_to_num(rates.q_rate)), axis=1), np.max(np.abs(q))
    fast = moved / largest if largest else 0.0 * moved
    fast = np.maximum(fast, np.abs(np.nan_to_num(rates.p_rate)) / abs(rates.p) if rates.p else 0.0)
    return np.where(values != 0.0, values, 1.0 / np.maximum(fast, 1.0))


def _again(event, system, number, size):
    """Of a change: (q, p, ν) at the event with a parameter changed by size · (exp(change) − 1)."""
    direction = np.zeros(len(system.parameters))
    direction[number] = size
    events = curve_of_events(event, system, direction, DEFAULT)
    refuse_broken(events)
    sharper = LongLimitPoints(events) if event.kind is onesided.Kind.limit and EXTENDED else None

    def solved(change):
        w = events.moved_to(float(np.expm1(change)))
        return events.spot(w).x if sharper is None or events.curve.large else sharper.refined(w)

    return solved


def _extrapolated(function, step, levels=5):
    """The derivative at 0 by central differences, and by how much it may be off: by its powers, and by rounding."""
    rows = []
    for h in step / 2.0 ** np.arange(levels):
        row = [(function(h) - function(-h)) / (2 * h)]
        for power, coarse in enumerate(rows[-1] if rows else (), start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4.0**power - 1.0))
        rows.append(row)
    near = np.array([function(step * (1.0 + share * NEAR)) for share in range(8)])
    scatter = np.max(np.abs(np.diff(near, n=3, axis=0)), axis=0)
    return rows[-1][-1], np.abs(rows[-1][-1] - rows[-1][-2]) + scatter * 2.0**levels / step


def _differences(solved, room):
    """θ dx/dθ by differences with a step that leaves no more doubt than this, or the least, and the doubt."""
    found, doubt = np.zeros(1), np.full(1, np.inf)
    for step in STEPS:
        try:
            new, unsure = _extrapolated(solved, step)
        except onesided.SolveError:  # so far away there is no such event
            continue
        if np.max(unsure) < np.max(doubt):
            found, doubt = new, unsure
        if np.all(doubt <= room):
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
        if model in REFUSED or event.kind is onesided.Kind.idle:  # redundant all along
            with pytest.raises(onesided.UsageError, match="degenerate"):
                onesided.sensitivity(event)
            continue
        rates = onesided.sensitivity(event)
        x = np.concatenate([event.q, [event.p], event.mu, event.lam])
        sizes, changes = np.abs(x) + event.origin.where.unit, _sizes(system, rates, event.q)
        for number, name in enumerate(system.parameters):
            parts = (rates.q_rate, rates.p_rate[:, None], rates.mu_rate, rates.lam_rate)
            own = np.concatenate([part[number] for part in parts]) * changes[number]
            if rates.exponent[number] != 1.0 or np.isnan(own).any():
                assert rates.notes[name]
                continue
            rate, size = _by_kind(own, system.n), _by_kind(sizes, system.n)
            room = np.where(rate > ROUNDED * size, EXACT * rate + ROUNDED * size, NONE * size)
            again, doubt = _differences(_again(event, system, number, changes[number]), room)
            doubt = _by_kind(doubt, system.n)
            assert np.all(doubt <= (100.0 if model in NOISY else 1.0) * room), (event.words(), name)
            assert np.all(np.abs(own - again) <= np.maximum(room, doubt)), (event.words(), name)
