"""What derivatives of events of the bundled models are compared with: differences, extrapolated, and their doubt."""

import numpy as np

import onesided
from onesided import zoo

QUICK = ("von-mises", "von-mises-floor", "two-bar-roller", "corner-limit", "keyboard-dome")
NOT_TRACED = {"bouncing-ball", "heavy-top", "knife-edge", "pendulum", "rolling-disk", "overhead-crane"}  # motion alone
REFUSED = {"platform", "gantry-crane"}  # equilibria in which nothing holds some coordinate: no derivative
LONG = tuple(sorted(set(zoo.names()) - NOT_TRACED - set(QUICK)))
EXACT, ROUNDED = 1e-8, 1e-12  # of the rates; of the unknowns and their sizes, where they hardly depend on a parameter
NONE = 1e-9  # of the sizes: rates that are zero but for rounding
STEPS = ((0.02, 5), (0.1, 5), (0.4, 5), (0.4, 4), (0.01, 5))  # relative changes of a parameter, and halvings of them
THIRD = 20.0**0.5  # third differences of independent roundings are so much larger: 1 + 9 + 9 + 1
NEAR = 1e-7  # relative changes so small that what is left of third differences is rounding


def changes_of(system, rates, q):
    """By how much parameters are changed: by themselves; where they are 0, so that p or q changes by itself."""
    values = np.array(list(system.parameters.values()))
    moved, largest = np.max(np.abs(np.nan_to_num(rates.q_rate)), axis=1), np.max(np.abs(q))
    fast = moved / largest if largest else 0.0 * moved
    fast = np.maximum(fast, np.abs(np.nan_to_num(rates.p_rate)) / abs(rates.p) if rates.p else 0.0)
    return np.where(values != 0.0, values, 1.0 / np.maximum(fast, 1.0))


def extrapolated(function, step, levels):
    """The derivative at 0 by central differences, and by how much it may be off: by its powers, and by rounding."""
    rows = []
    for h in step / 2.0 ** np.arange(levels):
        row = [(function(h) - function(-h)) / (2 * h)]
        for power, coarse in enumerate(rows[-1] if rows else (), start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4.0**power - 1.0))
        rows.append(row)
    near = np.array([function(step * (1.0 + share * NEAR)) for share in range(8)])
    scatter = np.max(np.abs(np.diff(near, n=3, axis=0)), axis=0) / THIRD
    return rows[-1][-1], np.abs(rows[-1][-1] - rows[-1][-2]) + scatter * 2.0**levels / step


def differences(solved, room):
    """θ dx/dθ by differences with a step that leaves no more doubt than this, or the least, and the doubt."""
    found, doubt = np.zeros(1), np.full(1, np.inf)
    for step, levels in STEPS:
        try:
            new, unsure = extrapolated(solved, step, levels)
        except onesided.SolveError:  # so far away there is no such event
            continue
        if np.max(unsure) < np.max(doubt):
            found, doubt = new, unsure
        if np.all(doubt <= room):
            break
    return found, doubt


def by_kind(values, n):
    """The largest of coordinates, of p and of multipliers, for each of them."""
    groups = np.abs(values[:n]), np.abs(values[n : n + 1]), np.abs(values[n + 1 :])
    return np.concatenate([np.full(len(group), group.max(initial=0.0)) for group in groups])


def room_for(own, sizes, n):
    """By how much rates may differ: eight digits, or what is rounding of the sizes."""
    rate, size = by_kind(own, n), by_kind(sizes, n)
    return np.where(rate > ROUNDED * size, EXACT * rate + ROUNDED * size, NONE * size)
