"""Where a change becomes one of order one: a crossing that is sought over many decades, from little knowledge."""

import math
from collections.abc import Callable
from itertools import pairwise

from onesided.base.tolerances import HALF_DIGITS, ROUNDING

Sample = tuple[float, float]  # a size, and the change it makes
Change = Callable[[float], float]
CHANGE = 0.5  # what counts as a change of order one
FAR = 1e3  # times that much: a change that need not be known better
SOME = 0.125  # a change that ends here, or at more, is one too
FINE, CLOSE = 2.3, 12  # ratio of sizes that are compared, and how many tell what happens within two decades
DECADES = 18  # how far sizes are searched for
NEAR = 1.05  # a size this close to the one sought is as good
ALIKE = 0.2  # powers that differ by no more are the same


def first_crossing(change: Change, guess: float, floor: float = 0.0) -> float | None:
    """The smallest size, near `guess` and over many decades, at which `change` is CHANGE; None if it never is.

    A change need not grow for ever (stiffness may be periodic, and sizes larger than its period tell nothing): first a
    size is sought under which it vanishes like a power, then the crossing above that. Sizes below `floor` are rounding.
    """
    low, power, high = _vanishing(change, guess, floor)
    return high[0] if low is None else _upwards(change, low, power, high)


def _vanishing(change: Change, guess: float, floor: float) -> tuple[Sample | None, float, Sample]:
    """The first sample downwards from `guess` under which the change vanishes, its power, and a large one above."""
    here, high = (guess, change(guess)), (math.inf, math.inf)
    for _ in range(2 * DECADES):
        if here[0] < floor and high[1] < math.inf:
            return None, 0.0, high
        if here[1] >= CHANGE:
            high, size = here, here[0] * min(max(_factor(here[1], 1.0), 0.1), 1.0 / FINE)
            here = size, change(size)
            continue
        below = [(here[0] / ratio, change(here[0] / ratio)) for ratio in (FINE, FINE * FINE)]
        power = _power(here[1], *(value for _, value in below))
        if power is not None:
            return here, power, high
        high, here = next((one for one in below if one[1] >= CHANGE), high), below[-1]
    return None, 0.0, here


def _power(*values: float) -> float | None:
    """The power by which samples `FINE` apart fall, 0 where they are nothing; None where they do not fall alike."""
    if max(values) <= HALF_DIGITS:
        return 0.0
    if not (all(values) and max(values) < math.inf):
        return None
    first, second = (math.log(a / b) / math.log(FINE) for a, b in pairwise(values))
    return first if abs(first - second) <= ALIKE * max(first, 1.0) and second >= ALIKE else None


def _upwards(change: Change, low: Sample, power: float, high: Sample) -> float | None:
    """The crossing above a sample below which the change vanishes by a power, and below a large one where known.

    Where the change no longer grows so, it is looked at more closely: its summit will do if it comes near CHANGE.
    """
    here = low
    for _ in range(DECADES):
        ratio = min(max(_factor(here[1], power), NEAR), 10.0) if power and here[1] > HALF_DIGITS else 10.0
        if here[0] * ratio >= high[0]:
            return _narrow(change, here, high)
        there = here[0] * ratio, change(here[0] * ratio)
        if there[1] >= CHANGE:
            return _narrow(change, here, there)
        if here[1] <= HALF_DIGITS < there[1]:  # a stiffness that jumps, perhaps more than once in between
            within = _closely(change, here, there)
            if within[1] >= SOME:
                return within[0]
        if here[1] > HALF_DIGITS and there[1] < here[1] * ratio ** (0.5 * power):
            largest = _closely(change, here, high)
            if largest[1] >= SOME:
                return largest[0]
            power = 0.0
        elif here[1] > HALF_DIGITS and not power:
            power = 1.0
        here = there
    return None


def _closely(change: Change, here: Sample, high: Sample) -> Sample:
    """Of samples above one, over two decades: the first that is large, or the first summit worth the name."""
    first = here[0]
    for i in range(1, CLOSE + 1):
        size = first * 100.0 ** (i / CLOSE)
        there = size, change(size)
        if there[1] >= CHANGE or size >= high[0]:
            return there
        if there[1] < here[1] and here[1] >= SOME:
            break
        here = there
    return here


def _factor(change: float, power: float) -> float:
    """By how much to multiply a size so that its change, if it grows by a power, comes just above CHANGE."""
    wanted = math.sqrt(NEAR) * CHANGE
    if not 0.0 < change < math.inf:
        return math.inf if change == 0.0 else 0.0
    return float((wanted / change) ** (1.0 / power))


def _narrow(change: Change, low: Sample, high: Sample) -> float | None:
    """The crossing between two sizes with their changes, to a few per cent: most grow like a power of the size.

    None where nothing changes at all until the model has no value: points that coincide after so large a displacement
    that their distances are lost in round-off tell nothing of a linear system.
    """
    for _ in range(6):
        (a, before), (b, after) = low, high
        if b <= NEAR * a or after <= NEAR * CHANGE:
            break
        known = before > 0.0 and after < math.inf
        power = max(math.log(after / before) / math.log(b / a), 0.1) if known else 0.0
        middle = a * _factor(before, power) if power else 0.0
        if not a * (b / a) ** 0.05 < middle < b * (a / b) ** 0.05:
            middle = math.sqrt(a * b)
        value = change(middle)
        low, high = (low, (middle, value)) if value >= CHANGE else ((middle, value), high)
    return None if low[1] <= ROUNDING and high[1] == math.inf else high[0]
