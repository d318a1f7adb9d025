"""All zeros of functions of time: interpolants by Chebyshev polynomials, subdivided until they are resolved.

On a piece of time every function is known at 17 Chebyshev points, hence as a polynomial of degree 16 whose last
coefficients tell its error. A piece is settled for a function that stays farther from zero than that error, and for one
whose polynomial is resolved (its last coefficients are small against its range, or round-off): the polynomial is
monotone between its stationary points, so that its signs there tell all zeros. Any other piece is cut into four,
the earliest first: a search for the first zero does not look at what comes after it.

What is found: every zero of a function that has on the piece no feature narrower than the distance of the samples (a
step has at least 65) which leaves no trace in them. A distance passes this test however narrow the obstacle: it
approaches from afar, and its kink is seen.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import brentq

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Mask
from onesided.linalg.interpolants import COEFFICIENTS, DEGREE, LAST, NODES, RESOLVED, ROUNDING, SAFETY, SMOOTH

FINE, PARTS = 64, 4
_SAMPLED = chebyshev.chebvander(-np.cos(np.pi * np.arange(FINE + 1) / FINE), DEGREE)
_BEYOND = 1.0 / np.cos(0.5 * np.pi * DEGREE / FINE)  # a polynomial between such samples (Bernstein's inequality)
ROUNDS = 600  # pieces of one search that are cut before it is given up
PER_ZERO = 48  # more of them for every zero that is found
ISOLATED = 2.0**20  # shortest pieces between two jumps of a function that is not noise
SHORTEST = 64.0  # spacings of time: a piece that is not cut

Look = Callable[[Array], Array]


def node_times(ends: Array) -> Array:
    """Times of the samples on neighbouring pieces, one piece after the other."""
    return np.asarray((ends[:-1, None] + 0.5 * np.diff(ends)[:, None] * (NODES + 1.0)).ravel())


def tails(values: Array) -> Array:
    """The largest of the last coefficients of functions sampled on pieces: (…, samples, F) to (…, F)."""
    return np.asarray(np.max(np.abs((COEFFICIENTS @ values)[..., -LAST:, :]), axis=-2))


class SignChange(NamedTuple):
    """A change of sign between two times, with a guess of the zero and the slope there.

    `depth` is how far the function gets beyond zero at `high`. `touch` says that the function stays on its side, within
    the error of the motion that it is a function of: whether it crosses is to be found out at `high`.
    """

    guess: float
    which: int
    low: float
    high: float
    slope: float
    falling: bool
    depth: float
    touch: bool = False


@dataclass(eq=False)
class _Piece:
    low: float
    high: float
    open: Mask  # functions that are not settled
    values: Array | None = None

    @property
    def times(self) -> Array:
        found = self.low + 0.5 * (self.high - self.low) * (NODES + 1.0)
        found[-1] = self.high
        return found

    def children(self, undecided: Mask) -> list["_Piece"]:
        ends = np.linspace(self.low, self.high, PARTS + 1)
        ends[-1] = self.high
        return [_Piece(float(a), float(b), undecided) for a, b in pairwise(ends)]


@dataclass(eq=False)
class Signs:
    """The last sign of each function that is beyond doubt, and when; 0 where none was yet."""

    sign: Array
    since: Array

    @classmethod
    def of(cls, values: Array, bands: Array, t: float) -> "Signs":
        """The signs at a time, 0 where a value lies within its band."""
        return cls(np.where(np.abs(values) > bands, np.sign(values), 0.0), np.full(len(values), t))


@dataclass(eq=False)
class Search:
    """Zeros of functions between two times, in order of time.

    Attributes
    ----------
    look : values of all functions at times (N,): (N, F).
    signs : what is known at `low`; brought up to date.
    bands : (F,) values that cannot be distinguished from zero;
    errors : (F,) of the motion that the functions are looked at on.
    eager : whether falling from zero at the beginning is a crossing;  rounds : pieces that are cut before giving up.
    size : (F,) largest value seen.
    vague : functions that could not be resolved, with the time.
    """

    look: Look
    signs: Signs
    bands: Array
    errors: Array
    eager: bool = True
    rounds: int = ROUNDS
    vague: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = np.zeros(len(self.bands))
        self._left, self._shortest, self._last = self.rounds, 0.0, -np.inf

    def crossings(self, low: float, high: float, parts: int = PARTS) -> Iterator[SignChange]:
        """Changes of sign in order of time."""
        every = np.ones(len(self.bands), dtype=bool)
        self._shortest = SHORTEST * float(np.spacing(max(abs(low), abs(high))))
        ends = np.linspace(low, high, parts + 1)
        ends[-1] = high
        stack = [_Piece(float(a), float(b), every) for a, b in pairwise(ends)][::-1]
        found: list[SignChange] = []
        while stack:
            if stack[-1].values is None:
                self._evaluate(stack[-PARTS:])
            piece = stack.pop()
            piece.open = piece.open & ~np.isin(np.arange(len(self.bands)), list(self.vague))
            news, undecided = self._settle(piece)
            for crossing in news:
                heappush(found, crossing)
            stack += piece.children(undecided)[::-1] if undecided.any() else []
            now = stack[-1].low if stack else np.inf
            while found and found[0].guess <= now:
                crossing = heappop(found)
                self._reward(crossing)
                yield crossing

    def _reward(self, crossing: SignChange) -> None:
        """Go on for longer after a zero; but noise, which has zeros without slope side by side, is to end."""
        apart = crossing.guess - self._last > ISOLATED * self._shortest
        self._left += PER_ZERO if crossing.slope or apart else 0
        self._last = crossing.guess

    def _evaluate(self, pieces: list[_Piece]) -> None:
        new = [piece for piece in pieces if piece.values is None]
        values = self.look(np.concatenate([piece.times for piece in new]))
        known = np.where(np.isfinite(values), np.abs(values), 0.0)
        self.size = np.maximum(self.size, np.max(known, axis=0))
        for piece, some in zip(new, values.reshape(len(new), DEGREE + 1, -1), strict=True):
            piece.values = some

    def _settle(self, piece: _Piece) -> tuple[list[SignChange], Mask]:
        """Crossings of the functions that are settled on a piece, and which are not."""
        values = piece.values
        assert values is not None  # noqa: S101 - evaluated by the caller
        coefficients = COEFFICIENTS @ values
        tail = np.max(np.abs(coefficients[-LAST:]), axis=0)
        fine = _SAMPLED @ coefficients
        top, bottom = fine.max(axis=0), fine.min(axis=0)
        middle, reach = 0.5 * (top + bottom), 0.5 * (top - bottom)
        noise = np.maximum(self.bands, ROUNDING * self.size)
        error = SAFETY * tail
        clear = np.abs(middle) - _BEYOND * reach - error > noise + self.errors
        resolved = (tail <= RESOLVED * reach) | (error <= SMOOTH * noise)
        found = [c for f in np.flatnonzero(clear & piece.open) for c in self._one_sided(piece, int(f), middle[f])]
        undecided = np.zeros(len(tail), dtype=bool)
        for f in np.flatnonzero(~clear & piece.open):
            some = self._monotone(piece, int(f), coefficients[:, f], error[f], noise[f]) if resolved[f] else None
            if some is None and not self._give_up(piece, int(f)):
                undecided[f] = True
            elif f not in self.vague:
                found += self._sampled(piece, int(f), noise[f]) if some is None else some
        return found, undecided

    def _give_up(self, piece: _Piece, f: int) -> bool:
        """Whether a piece is cut no more: it is as short as time allows (a jump), or the search has lasted too long."""
        self._left -= 1
        if piece.high - piece.low <= self._shortest:
            return True
        if self._left > 0 and np.all(np.isfinite(piece.values[:, f])):  # type: ignore[index]
            return False
        self.vague.setdefault(f, piece.low)
        self.signs.sign[f] = 0.0
        return True

    def _one_sided(self, piece: _Piece, f: int, value: float) -> list[SignChange]:
        return self._knots(piece, f, np.array([piece.low, piece.high]), np.array([value, value]), None)

    def _sampled(self, piece: _Piece, f: int, noise: float) -> list[SignChange]:
        """From the ends of a piece alone: what lies between is a jump, or unknown."""
        ends = [0, DEGREE]
        values = piece.values[ends, f]  # type: ignore[index]
        known = np.isfinite(values)
        values = np.where(np.abs(values) > noise, values, 0.0)
        return self._knots(piece, f, piece.times[ends][known], values[known], None)

    def _monotone(self, piece: _Piece, f: int, c: Array, error: float, noise: float) -> list[SignChange] | None:
        """Crossings of a polynomial between its stationary points; None where its error leaves a sign open."""
        x = np.concatenate([[-1.0], _inside(chebyshev.chebder(c)), [1.0]])
        values = chebyshev.chebval(x, c)
        doubtful = np.abs(values) <= error + noise
        if error > SMOOTH * noise and doubtful.any():
            return None
        times = piece.low + 0.5 * (piece.high - piece.low) * (x + 1.0)
        times[-1] = piece.high
        return self._knots(piece, f, times, np.where(np.abs(values) > noise, values, 0.0), c)

    def _knots(self, piece: _Piece, f: int, times: Array, values: Array, c: Array | None) -> list[SignChange]:
        """Follow the sign over times between which the function is monotone; zero where it is in doubt."""
        found = []
        for k, (t, value) in enumerate(zip(times, values, strict=True)):
            sign, since = self.signs.sign[f], self.signs.since[f]
            if value * sign < 0.0 or (self.eager and sign == 0.0 and value < 0.0):
                guess, slope = self._zero(piece, c, since, float(t), value)
                depth = abs(float(value))
                found.append(SignChange(guess, f, float(since), float(t), slope, bool(value < 0.0), depth))
            elif sign and 0 < k < len(times) - 1 and abs(value) <= self.errors[f] and c is not None:
                found.append(SignChange(float(t), f, float(since), float(t), 0.0, bool(sign > 0.0), 0.0, True))
            if value:
                self.signs.sign[f], self.signs.since[f] = np.sign(value), t
        return found

    def _zero(self, piece: _Piece, c: Array | None, since: float, t: float, value: float) -> tuple[float, float]:
        """Where the function vanishes between two times, and its slope there."""
        start = max(since, piece.low)
        if c is None:
            return float(0.5 * (since + t)), 0.0
        half = 0.5 * (piece.high - piece.low)
        low, high = (start - piece.low) / half - 1.0, (t - piece.low) / half - 1.0
        below = float(chebyshev.chebval(low, c))
        x = float(brentq(chebyshev.chebval, low, high, args=(c,))) if below * value < 0.0 else low
        return float(piece.low + half * (x + 1.0)), float(chebyshev.chebval(x, chebyshev.chebder(c))) / half


def _inside(c: Array) -> Array:
    """Real zeros of a Chebyshev series within (−1, 1), a little generously about real."""
    size = np.max(np.abs(c))
    if size == 0.0:
        return np.zeros(0)
    last = int(np.flatnonzero(np.abs(c) > EPS * size)[-1])
    roots = chebyshev.chebroots(c[: last + 1])
    real = np.sort(roots.real[(np.abs(roots.imag) < RESOLVED) & (np.abs(roots.real) < 1.0)])
    return np.asarray(real)
