"""All zeros of d smooth functions on the unit sphere of d + 1 unknowns, with a count behind them.

The functions are replaced by polynomials of rising degree, whose zeros are all known, until what these leave out can
neither move one zero to another nor make or unmake a real one. The signs of the zeros must add up to nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.tolerances import EPS, MOST_DIGITS, SOME_DIGITS
from onesided.base.types import Array
from onesided.linalg.homotopy import Endpoints
from onesided.linalg.polynomials import (
    CirclePolynomial,
    SpherePolynomials,
    fit_on_circle,
    fit_on_sphere,
    terms_on_sphere,
)

Functions = Callable[[Array], Array]
Polynomials = SpherePolynomials | CirclePolynomial

USABLE = 0.1  # error of the polynomials, relative to the functions, beyond which nothing is asked of them
MARGIN = 10.0  # by which a zero must stand clear of what the error of the polynomials can do
HARMONICS = (8, 16, 32)
DEGREES = (3, 5, 7, 9, 11)
MOST_PATHS = 1500
UNDECIDED = "branches that no order examined tells apart"
UNBALANCED = "branches whose signs do not add up to nothing"
WALKERS = 6
BLURRED = EPS**0.4  # how far from singular the ends of paths look that lead to a continuum
SEARCH_STEPS = 30
STARTS = 24  # of the second search, per unknown
WALK = 0.3  # distance walked on the sphere to tell a continuum from a multiple zero
SAME = SOME_DIGITS  # distance on the sphere below which two zeros are one


@dataclass(frozen=True)
class Zeros:
    """Zeros on the sphere.

    Attributes
    ----------
    points, signs : isolated zeros (count, d + 1) and the signs of the determinants of their linearisations.
    separation : distance of each to the nearest other zero, complex ones included.
    members, family : a singular zero, if there is one, and the largest dimension of a continuum (0: there is none).
    error : what the polynomials leave out, relative to the functions.
    reason : why the list may lack some; empty where it does not.
    """

    points: Array
    signs: Array
    separation: Array
    members: Array
    family: int
    error: float
    reason: str = ""


@dataclass(frozen=True)
class _Fit:
    """Polynomials in place of functions that were made equally large; what they leave out, and the functions' noise."""

    polynomials: Polynomials
    functions: Functions
    error: float
    noise: float


def zeros_on_sphere(functions: Functions, d: int, *, noise: float) -> Zeros | None:
    """All zeros of `functions` ((points, d + 1) → (points, d)), or None where the functions cannot be approximated.

    Parameters
    ----------
    noise : size of the round-off in the values of the functions.
    """
    best: Zeros | None = None
    for fit in _fits(functions, d, noise):
        if fit.error <= USABLE:
            best = _zeros_of(fit)
            if not best.reason or fit.error <= MARGIN * fit.noise:
                return best
    return best


def some_zeros(functions: Functions, d: int, *, noise: float) -> Array:
    """Regular zeros, found quickly: all of them for one function, those that real starts lead to for several."""
    for fit in _fits(functions, d, noise):
        if fit.error <= USABLE and isinstance(fit.polynomials, SpherePolynomials):
            return _distinct(_second_search(fit.polynomials, fit.error)[0])
        if fit.error <= USABLE:
            return _zeros_of(fit).points
    return np.zeros((0, d + 1))


def _fits(functions: Functions, d: int, noise: float) -> Iterator[_Fit]:
    """Polynomials of rising degree, of combinations of the functions that do not repeat each other."""
    for degree in HARMONICS if d == 1 else [m for m in DEGREES if 2 * m**d <= MOST_PATHS]:
        points, count = _samples(d, degree)
        values = functions(points)
        if not np.all(np.isfinite(values)):
            return
        W = _whitening(values[:count])
        floor = noise * float(np.max(np.linalg.norm(W, axis=0)))
        if floor > USABLE:  # some combination of the functions is nothing but round-off
            return
        values = values @ W
        if d == 1:
            circle = fit_on_circle(values[:count, 0])
            yield _Fit(circle, _combined(functions, W), max(circle.tail, floor), floor)
        else:
            sphere = fit_on_sphere(points[:count], values[:count], degree)
            error = float(np.max(np.abs(sphere(points) - values)))
            yield _Fit(sphere, _combined(functions, W), max(error, floor), floor)


def _combined(functions: Functions, W: Array) -> Functions:
    return lambda b: functions(b) @ W


def _samples(d: int, degree: int) -> tuple[Array, int]:
    """Points on the sphere, and how many of them are for the fit; the rest shows its error."""
    if d == 1:
        angles = 2.0 * np.pi * np.arange(2 * degree + 1) / (2 * degree + 1)
        return np.column_stack([np.cos(angles), np.sin(angles)]), len(angles)
    count = 2 * terms_on_sphere(d + 1, degree)
    points = np.random.default_rng(degree).normal(size=(count + count // 4, d + 1))
    return points / np.linalg.norm(points, axis=1)[:, None], count


def _whitening(values: Array) -> Array:
    """Combinations of the functions that are equally large on the sphere and do not repeat each other."""
    _, sigma, Vt = np.linalg.svd(values / np.sqrt(len(values)), full_matrices=False)
    return np.asarray(Vt.T / np.maximum(sigma, EPS * sigma[0] + np.finfo(float).tiny))


def _zeros_of(fit: _Fit) -> Zeros:
    """The zeros of the polynomials, judged by what their error can do; a second try counts paths anew."""
    polynomials, error = fit.polynomials, fit.error
    if isinstance(polynomials, CirclePolynomial):
        return _judge(polynomials, polynomials.zeros(), error, None)
    regular, singular = _second_search(polynomials, error)
    if len(singular):
        return _degenerate(fit, _distinct(regular), singular)
    first = _judge(polynomials, polynomials.zeros(), error, regular)
    return _judge(polynomials, polynomials.zeros(seed=1), error, regular) if first.reason == UNBALANCED else first


def _judge(polynomials: Polynomials, ends: Endpoints, error: float, others: Array | None) -> Zeros:
    """The real zeros among all, and whether they can be relied upon; `others` were found by a second search."""
    near = ends.points[np.max(np.abs(ends.points), axis=1, initial=0.0) < MARGIN]
    near = _polished(polynomials, near)
    b, doubtful = _real_ones(near, _smallest(polynomials, near), error)
    signs = np.sign(np.linalg.det(_matrix(polynomials, b))) if len(b) else np.zeros(0)
    distance = _separation(b, near)
    reason = ""
    if doubtful or np.any(distance * _smallest(polynomials, b) <= MARGIN * error):
        reason = "branches too close to each other"
    elif ends.lost or _missing(b, others) or abs(np.sum(signs)) > 0:
        reason = UNBALANCED
    return Zeros(b, signs, distance, b[:0], 0, error, reason)


def _degenerate(fit: _Fit, b: Array, singular: Array) -> Zeros:
    """Singular zeros: of a continuum where one can walk away from them on zeros of the functions, or multiple ones.

    The isolated zeros beside a continuum are complete where as many paths lead to regular real zeros.
    """
    polynomials = fit.polynomials
    family = _dimension(fit, singular)
    signs = np.sign(np.linalg.det(_matrix(polynomials, b))) if len(b) else np.zeros(0)
    found = Zeros(b, signs, _separation(b, b), singular[:1], family, fit.error, UNDECIDED)
    if not family:
        return found
    ends = _polished(polynomials, polynomials.zeros().points)
    beside, _ = _real_ones(ends, _smallest(polynomials, ends), max(fit.error, BLURRED))
    return replace(found, reason="") if len(beside) == len(b) else found


def _dimension(fit: _Fit, singular: Array) -> int:
    """Largest dimension of the continua to which the singular zeros belong; 0 where one of them belongs to none."""
    largest = 0
    for b in singular[:WALKERS]:
        _, sigma, Vt = np.linalg.svd(_matrix(fit.polynomials, b[None])[0])
        free = Vt[sigma <= MARGIN * fit.error]
        walked = np.concatenate([b + WALK * free, b - WALK * free])
        for _ in range(WALKERS):
            walked = walked / np.linalg.norm(walked, axis=1)[:, None]
            values = np.column_stack([fit.functions(walked), np.zeros(len(walked))])
            inverse = np.linalg.pinv(_matrix(fit.polynomials, walked), rcond=MARGIN * fit.error)
            walked = walked - (inverse @ values[..., None])[..., 0]
        met = np.max(np.abs(values), axis=1) <= MARGIN * fit.noise
        away = np.linalg.norm(walked - b, axis=1) > 0.5 * WALK
        if not np.all(met & away):
            return 0
        largest = max(largest, len(free))
    return largest


def _matrix(polynomials: Polynomials, b: Array) -> Array:
    """Linearisations with the sphere as last equation."""
    return np.concatenate([polynomials.jacobian(b), b[:, None, :]], axis=1)


def _smallest(polynomials: Polynomials, b: Array) -> Array:
    return np.asarray(np.linalg.svd(_matrix(polynomials, b), compute_uv=False)[:, -1]) if len(b) else np.zeros(0)


def _values(polynomials: Polynomials, b: Array) -> Array:
    return np.column_stack([polynomials(b), (np.sum(b * b, axis=1) - 1.0) / 2.0])


def _newton(polynomials: Polynomials, b: Array, steps: int) -> Array:
    """Gauss–Newton steps of least norm, for many points at once."""
    for _ in range(steps):
        move = np.linalg.pinv(_matrix(polynomials, b), rcond=MOST_DIGITS) @ _values(polynomials, b)[..., None]
        b = b - move[..., 0]
    return b


def _polished(polynomials: Polynomials, b: Array) -> Array:
    """The same zeros to round-off, where Newton's method does not leave them."""
    moved = _newton(polynomials, b, 2) if len(b) else b
    stays = np.max(np.abs(moved - b), axis=1, initial=0.0) <= SAME
    return np.where(stays[:, None], moved, b)


def _real_ones(b: Array, sigma: Array, error: float) -> tuple[Array, bool]:
    """Real zeros, each once, and whether a complex one could be real or a real one is there twice."""
    off = np.max(np.abs(b.imag), axis=1, initial=0.0)
    real = (off <= SAME) & (off * sigma <= MOST_DIGITS) & (sigma > MARGIN * error)
    doubtful = bool(np.any(~real & (off * np.maximum(sigma, off) <= MARGIN * error)))
    found = b[real].real
    kept = _distinct(found)
    return kept, doubtful or len(kept) < len(found)


def _distinct(points: Array) -> Array:
    """Points on the sphere, each once."""
    kept: list[Array] = []
    for point in points:
        unit = point / np.linalg.norm(point)
        if all(np.linalg.norm(unit - other) > SAME for other in kept):
            kept.append(unit)
    return np.array(kept).reshape(-1, points.shape[1])


def _second_search(polynomials: SpherePolynomials, error: float) -> tuple[Array, Array]:
    """Zeros by Gauss–Newton from real starts all over the sphere: regular ones, and singular ones."""
    variables = polynomials.variables
    b = np.random.default_rng(variables).normal(size=(STARTS * variables, variables))
    b = b / np.linalg.norm(b, axis=1)[:, None]
    for _ in range(SEARCH_STEPS):
        step = _newton(polynomials, b, 1) - b
        length = np.linalg.norm(step, axis=1)[:, None]
        b = b + step * np.minimum(1.0, WALK / np.maximum(length, EPS))
        b = b / np.linalg.norm(b, axis=1)[:, None]
    met = np.max(np.abs(_values(polynomials, b)), axis=1) <= error
    singular = _smallest(polynomials, b) <= MARGIN * error
    return b[met & ~singular], b[met & singular]


def _separation(b: Array, near: Array) -> Array:
    """Distance of each point to the nearest one among all zeros but itself."""
    if len(near) < 2:
        return np.full(len(b), 1.0)
    distance = np.sort(np.linalg.norm(b[:, None, :] - near[None], axis=-1), axis=1)
    return np.asarray(distance[:, 1])


def _missing(b: Array, others: Array | None) -> bool:
    """Whether the second search found a zero that the first one lacks."""
    if others is None or not len(others):
        return False
    if not len(b):
        return True
    distance = np.linalg.norm(others[:, None, :] - b[None], axis=-1)
    return bool(np.any(np.min(distance, axis=1) > SAME))
