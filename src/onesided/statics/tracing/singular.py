"""Singular points of a curve: the first one of a step, how far the next one is, and where exactly, for any nullity."""

import math
from dataclasses import replace

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, SMALL, Tolerances
from onesided.base.types import Array
from onesided.statics.curves.activity import rounding
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.curves.spectrum import (
    NEAR,
    InseparableError,
    Split,
    second,
    soft_modes,
    split,
    stiffness_on,
    undecided,
)
from onesided.statics.tracing.inside import between, interpolate, is_inside, mean_tangent
from onesided.statics.tracing.singular_place import singular_place

SOFT = 6  # soft modes at either end of a step that are looked at
EARLIER = (0.5, 0.75, 0.9, 0.97)  # shares of the way to a singular point at which modes are counted
SHARES = (*EARLIER, 1.0 - EPS**0.1875)  # another one may be that close before it; closer, branches mingle
CLOSER = tuple(1.0 - 0.5**power for power in range(11, 27))  # where rates say that there is another one
HALVINGS = 20  # of a bracket of modes, from whose ends Newton's method leads elsewhere
REACH = 3.0  # times a step: further away there is no singular point of it
ROUNDS = 30  # of Newton's method: slow where another singular point is close
BLUR = 64.0  # steps ahead within which a singular point is looked for where rounding decides inertia
CLOSE = EPS**0.3  # modes this soft, relative to the reference, are taken to vanish together
ALIKE = (
    EPS**0.1875
)  # so are the softest ones where their stiffnesses differ by no more than this share: symmetric pairs
JUST_BEFORE = 0.99  # share of the way to a singular point at which the path is to head for it
HEADS = 0.5  # cosine of the angle between the path just before a singular point and the way to that, at least


def first_singular(
    curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances, *, shares: tuple[float, ...] = SHARES
) -> CurvePoint | None:
    """The first singular point of a step, of all modes that cross zero in it, in either sense; None if there is none.

    On the soft modes of both ends the stiffness is taken to change linearly: (1 − θ)K_a + θK_b is singular for the
    eigenvalues θ of (K_a − K_b)⁻¹K_a. From there the equations of the singular point are solved.
    """
    curve = curve.measured_at(b.x)
    try:
        fractions = _crossings(curve, a, b, tolerances)
    except InseparableError:
        return None
    together = modes_lost(a, b)
    for fraction in fractions or [0.5]:  # a mode may touch zero: a fork seen from its branch
        guess = replace(a, y=interpolate(a, b, fraction), s=a.s + fraction * (b.s - a.s), t=mean_tangent(a, b))
        guess = replace(guess, x=curve.packed(guess.y))
        found = refine_singular(curve, guess, b.s - a.s, tolerances, together)
        if found is None and undecided(curve, b.x, tolerances):  # steps may be shorter than the blur of a fork
            found = refine_singular(curve, guess, BLUR * (b.s - a.s), tolerances, together)
        t = None if found is None else heading(curve, a, b, found)
        if found is not None and (t is not None or _in_its_blur(curve, a, b, found, tolerances)):
            along = mean_tangent(a, b)
            found = replace(found, s=a.s + float(along @ (found.y - a.y)), t=along if t is None else t)
            return _sooner(curve, a, b, found, tolerances, shares) or found
    return None


def _sooner(
    curve: Curve, a: CurvePoint, b: CurvePoint, found: CurvePoint, tolerances: Tolerances, shares: tuple[float, ...]
) -> CurvePoint | None:
    """A singular point before the one that was found, if modes on the way to it are not those of the start.

    Modes that are lost in rounding towards the point that was found tell of no other.
    """
    reached, along = (found.s - a.s) / (b.s - a.s), mean_tangent(a, b)
    outermost = shares is SHARES and a.negative >= 0  # not within a bracket of a bracket
    certain = outermost and modes_beyond(curve, found.x, -along, tolerances) not in {None, a.negative}
    shares = (*shares, *CLOSER) if certain else shares
    for share in shares if a.negative >= 0 else ():
        middle = between(curve, a, b, share * reached)
        if middle is not None and 0 <= middle.negative != a.negative and (found.y - middle.y) @ along > 0:
            blurred = not certain and undecided(curve.measured_at(middle.x), middle.x, tolerances)
            return None if blurred else _first_of_bracket(curve, a, middle, tolerances)
    return None


def _first_of_bracket(curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances) -> CurvePoint | None:
    """The first singular point between two that differ in their modes, halved until its equations lead to it."""
    for _ in range(HALVINGS):
        found, middle = first_singular(curve, a, b, tolerances, shares=EARLIER), between(curve, a, b, 0.5)
        if found is not None or middle is None or middle.negative < 0:
            return found
        a, b = (a, middle) if middle.negative != a.negative else (middle, b)
    return None


def modes_lost(a: CurvePoint, b: CurvePoint) -> int:
    """How many modes change their sign on a step, as far as that is known: so many may vanish together."""
    return abs(a.negative - b.negative) if min(a.negative, b.negative) >= 0 else 1


def heading(curve: Curve, a: CurvePoint, b: CurvePoint, found: CurvePoint) -> Array | None:
    """Tangent of the curve just before a singular point within a step; None where the curve does not lead there.

    Close to a symmetric path there are other branches, on which a mode is singular but for rounding.
    """
    if not is_inside(a, b, found):
        return None
    along = mean_tangent(a, b)
    reached = float(along @ (found.y - a.y)) / (b.s - a.s)
    before = between(curve, a, b, JUST_BEFORE * reached, inertia=False)
    if before is None:
        return along
    way = found.y - before.y
    return before.t if before.t @ way >= HEADS * math.sqrt(way @ way) else None


def _in_its_blur(curve: Curve, a: CurvePoint, b: CurvePoint, found: CurvePoint, tolerances: Tolerances) -> bool:
    """Whether a singular point lies just ahead of a step that ends where rounding decides inertia and sense of p.

    A fork seen from its branch: stiffness and the change of p vanish towards it, and are lost in rounding before.
    """
    ahead = float(mean_tangent(a, b) @ (found.y - b.y))
    if ahead <= 0.0 or not undecided(curve, b.x, tolerances):
        return False
    middle = between(curve, b, replace(found, s=b.s + ahead), 0.5, inertia=False)
    return middle is None or undecided(curve, middle.x, tolerances)


def modes_beyond(curve: Curve, x: Array, t: Array, tolerances: Tolerances) -> int | None:
    """Negative modes just beyond a point at which one mode vanishes, by its rate along t; None where that says nothing.

    Further away there may be others: the same mode may vanish once more.
    """
    curve = curve.measured_at(x)
    try:
        parts = split(curve, x, tolerances)
    except InseparableError:
        return None
    kappa = np.diagonal(parts.linear)
    zero = np.flatnonzero(np.abs(kappa) <= parts.floor)
    if len(zero) != 1 or zero[0] >= len(kappa):
        return None
    rate = float(parts.tests[:, zero[0]] @ second(curve, x, t, parts.span[:, zero])[:, 0])
    known = max(SMALL, math.sqrt(float(np.max(parts.noise, initial=0.0))))  # as well as a double zero is located
    return parts.negative() + int(rate < 0.0) if abs(rate) > known else None


def next_singular(curve: Curve, point: CurvePoint, tolerances: Tolerances) -> float:
    """Distance along the tangent at which the next soft mode should vanish, from the rates of all of them."""
    try:
        parts = split(curve, point.x, tolerances)
    except InseparableError:
        return math.inf
    count = len(parts.linear)
    if not count:
        return math.inf
    rates = np.diagonal(parts.tests.T @ second(curve, point.x, point.t, parts.span[:, :count]))
    kappa = np.diagonal(parts.linear)
    ahead = (np.abs(kappa) > parts.floor) & (kappa * rates < 0)
    return float(np.min(np.abs(kappa[ahead] / rates[ahead]), initial=math.inf))


def _crossings(curve: Curve, a: CurvePoint, b: CurvePoint, tolerances: Tolerances) -> list[float]:
    """Fractions of a step at which soft modes cross zero, in order, if stiffness changes linearly on them."""
    ends = [curve.evaluate(point.x) for point in (a, b)]
    chosen = [soft_modes(curve, e, SOFT, tolerances) for e in ends]
    basis, sigma, _ = np.linalg.svd(np.hstack(chosen) / np.linalg.norm(np.hstack(chosen), axis=0), full_matrices=False)
    basis = basis[:, sigma > NEAR * sigma[0]] if len(sigma) else basis
    A, B = (stiffness_on(curve, e, basis) for e in ends)
    roots = np.linalg.eigvals(np.linalg.lstsq(A - B, A, rcond=None)[0]) if len(A) else np.zeros(0)
    real = np.abs(roots.imag) <= HALF_DIGITS
    return sorted(float(r.real) for r in roots[real] if 0.0 < r.real < 1.0)


def refine_singular(
    curve: Curve, point: CurvePoint, step: float, tolerances: Tolerances, together: int = 1
) -> CurvePoint | None:
    """Move a nearly singular point to where J loses rank exactly; None where there is no such point near.

    `together` modes change their sign close to it: all of them may vanish at once.
    """
    curve = curve.measured_at(point.x)
    try:
        kappa = np.abs(split(curve, point.x, tolerances).kappa)
        softest = float(np.min(kappa, initial=math.inf))
        close = int(np.count_nonzero(kappa <= max(CLOSE, (1.0 + ALIKE) * softest)))
        for refine in (_refine, _refine_gently):
            for keep in sorted({max(close, 1), min(max(together, 1), SOFT), 1}, reverse=True):
                refined = refine(curve, point, step, tolerances, keep)
                if refined is not None and is_singular_equilibrium(curve, refined, tolerances):
                    return refined
    except InseparableError:
        return None
    return None


def is_singular_equilibrium(curve: Curve, point: CurvePoint, tolerances: Tolerances) -> bool:
    """Whether the point is an equilibrium at which J loses rank."""
    e = curve.evaluate(point.x)
    error = float(np.max(np.abs(curve.residual(e)), initial=0.0))
    allowed = max(tolerances.residual, rounding(e, point.x, curve.sizes, curve.scales))
    return error <= allowed and split(curve, point.x, tolerances).N.shape[1] > 1


def _refine_gently(
    curve: Curve, point: CurvePoint, step: float, tolerances: Tolerances, keep: int
) -> CurvePoint | None:
    """The same as `_refine` by moves that keep to a curved valley."""
    y = singular_place(curve, point.y, keep, REACH * step, tolerances)
    return None if y is None else replace(point, x=curve.packed(y), y=y)


def _refine(curve: Curve, point: CurvePoint, step: float, tolerances: Tolerances, keep: int) -> CurvePoint | None:
    """Gauss–Newton on zᵀJ v = 0 for all v and z of the singular space of `keep` modes and the response to p.

    These are more equations than unknowns unless `keep` is one; symmetry makes them consistent. The rest of the
    residual is removed outside that space, so that rounding does not lead away from a symmetric path.
    """
    y = point.y
    parts: Split | None = None
    for _ in range(ROUNDS):
        x = curve.packed(y)
        e = curve.evaluate(x)
        if not e.finite():
            return None
        parts = split(curve, x, tolerances, keep=keep, like=parts)
        back = -parts.regular(curve.residual(e))
        bends = [second(curve, x, v, parts.span).T @ parts.tests for v in (back, *parts.span.T)]
        matrix = np.stack([block.ravel() for block in bends[1:]], axis=1)
        right = (parts.linear.T + bends[0]).ravel()
        move = back - parts.span @ np.linalg.lstsq(matrix, right, rcond=HALF_DIGITS)[0]
        y = y + move
        far = y - point.y
        if not math.hypot(*far.tolist()) <= REACH * step:
            return None  # there is no singular point here
        if float(np.max(np.abs(move) / (1.0 + np.abs(y)))) <= 10 * EPS:
            break
    return replace(point, x=curve.packed(y), y=y)
