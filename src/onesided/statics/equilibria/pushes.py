"""Leaving a stationary point along a direction in which the energy falls."""

from dataclasses import dataclass

import numpy as np

from onesided.base.tolerances import DEFAULT, EPS, QUARTER_DIGITS, SOME_DIGITS
from onesided.base.types import Array, Mask
from onesided.statics.curves.spectrum import spectrum_at
from onesided.statics.equilibria.clearance import keeps_clear
from onesided.statics.equilibria.proximal import ALMOST, restored
from onesided.statics.equilibria.settling import LocalModel

FIRST = SOME_DIGITS  # first of the distances at which a push is looked at
PUSHED = EPS**0.125  # a push must find lower energies within this distance
FASTER = 1.9  # a slope that grows by this factor over twice the distance: the fall still gets faster
CLEAR = 100.0  # times round-off: a slope that is believed
SHORT = EPS**0.0625  # a straight push that ends sooner may follow a valley further
VALLEY = QUARTER_DIGITS  # first of the distances at which a valley is looked at
MARGIN = 2.5  # shifts exceed a negative stiffness along the way by this factor
STIFFEST = EPS**-0.4  # shifts beyond which a matrix is not made definite
INVERSE = 30  # inverse iterations for a mode
CORRECTIONS = 8  # Newton steps into a valley


@dataclass(frozen=True, eq=False)
class Push:
    """An admissible point with lower energy, how far it is, and shift and reach to go on with."""

    end: LocalModel
    shift: float
    reach: float


def push(here: LocalModel, t: Array, closed: Mask, limit: float) -> Push | None:
    """Leave a stationary point along t while the energy falls ever faster and no gap closes; None where it does not.

    Straight on first; where that is stiff, along the valley of the energy that t leads into.
    """
    t = t / float(np.max(np.abs(t)))
    found = _straight(here, t, closed, limit)
    if found is None or found.reach < min(SHORT, limit):
        valley = _along_valley(here, t, closed, limit)
        if valley is not None and (found is None or valley.reach > found.reach):
            return valley
    return found


def _straight(here: LocalModel, t: Array, closed: Mask, limit: float) -> Push | None:
    """The furthest good point of the straight line."""
    clear = CLEAR * here.noise_along(t)
    best, before, s, last = 0.0, 0.0, FIRST, here
    while s <= limit:
        force, c = here.problem.forces(here.z + s * t, here.nu)
        slope = float(force @ t)
        if not np.isfinite(slope) or _closes(here, c, closed, s) or (best and slope > FASTER * before):
            break
        there = here.problem.at(here.z + s * t, here.nu) if len(c) > here.problem.k else last
        if not keeps_clear(last, there, closed):
            break
        last = there
        if slope < -clear:
            best, before = s, slope
        elif s > PUSHED:
            break
        s *= 2.0
    end = restored(here.problem.at(here.z + best * t, here.nu)) if best else None
    return None if end is None else _pushed(end, before, best, t)


def _along_valley(here: LocalModel, t: Array, closed: Mask, limit: float) -> Push | None:
    """The furthest good point of the valley: the lowest energy at every distance along t."""
    clear = CLEAR * here.noise_along(t)
    best: LocalModel | None = None
    far, before, s, guess = 0.0, 0.0, VALLEY, here.z + VALLEY * t
    while s <= limit:
        found = _lowest_at(here, t, closed, s, guess)
        if found is None or _closes(here, found[0].c, closed, s) or (far and found[1] > FASTER * before):
            break
        if not keeps_clear(best or here, found[0], closed):
            break
        if found[1] < -clear:
            best, (_, before), far = found[0], found, s
        elif s > PUSHED:
            break
        guess, s = here.z + 2.0 * (found[0].z - here.z), 2.0 * s
    return None if best is None else _pushed(best, before, far, t)


def _pushed(end: LocalModel, slope: float, s: float, t: Array) -> Push:
    """The outcome, with a shift above the negative stiffness that a slope growing like s² shows."""
    return Push(end, 2.0 * MARGIN * abs(slope) / (s * float(t @ t)), s)


def _closes(here: LocalModel, c: Array, closed: Mask, s: float) -> bool:
    """Whether an open gap has closed on the way."""
    return bool(np.any(c[~closed] < np.minimum(here.c[~closed], 0.0) - ALMOST * s))


def _lowest_at(here: LocalModel, t: Array, closed: Mask, s: float, guess: Array) -> tuple[LocalModel, float] | None:
    """The stationary point at a distance along t, and the slope there: U_z − Eᵀν = κ t with t·(z − z₀) = s t·t."""
    problem, size, tt = here.problem, np.inf, float(t @ t)
    local = problem.at(guess, here.nu)
    for _ in range(CORRECTIONS):
        if not local.finite:
            return None
        problem.programme.factor(local, 0.0, closed)  # indefinite, as it has to be
        d, nu = problem.programme.solve(-local.f, problem.programme.soft * local.nu - local.c)
        along, turned = problem.programme.solve(t, problem.none)
        kappa = (s * tt - float(t @ (local.z - here.z + d))) / float(t @ along)
        d, previous = d + kappa * along, size
        size = float(np.max(np.abs(d)))
        if not size < previous:
            return None
        local = problem.at(local.z + d, nu + kappa * turned)
        if size <= PUSHED * s:
            return local, kappa * tt
    return None


def lowest_mode(here: LocalModel, closed: Mask) -> Array | None:
    """The mode of the lowest stiffness on the closed constraints; None where nothing can move."""
    if here.problem.programme.keeps:
        return _lowest_sparse(here, closed)
    modes = spectrum_at(here.blocks, here.blocks.c_q[closed], here.problem.sizes, DEFAULT).modes
    return modes[:, 0] if modes.shape[1] else None


def definite_shift(here: LocalModel, closed: Mask) -> float | None:
    """A small shift that makes the stiffness on the closed constraints definite; its matrix is left factorised."""
    shift = float(ALMOST)
    while not here.problem.programme.factor(here, shift, closed):
        shift *= 8.0
        if shift > STIFFEST:
            return None
    return shift


def _lowest_sparse(here: LocalModel, closed: Mask) -> Array | None:
    """The same by inverse iteration with a matrix that is just definite."""
    if definite_shift(here, closed) is None:
        return None
    v: Array = np.cos(1.0 + np.arange(len(here.z), dtype=np.float64))
    for _ in range(INVERSE):
        v = here.problem.programme.solve(v, here.problem.none)[0]
        v = v / np.sqrt(v @ v)
    return v
