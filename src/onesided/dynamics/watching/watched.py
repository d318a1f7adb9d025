"""What is watched along a step, in groups of functions that are evaluated together: gaps, forces, user functions."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.sharing import wanted
from onesided.dynamics.contacts.sliding import ContactMode, SlidingMechanics, contact_places, direction
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.watching.dense import DenseOutput
from onesided.evaluation.motion_terms import Terms
from onesided.linalg.interpolants import ROUNDING
from onesided.system.contact_equations import ContactRows
from onesided.system.equations import Equations

FEW = 200  # coordinates up to which all derivatives of the gaps are taken

UserFunction = Callable[[float, Array, Array], float]


class Watched(Protocol):
    """Functions of the state that are looked at together.

    `parts` is the number of pieces of a step to begin with; `eager` as of a `Search`.
    """

    parts: int
    eager: bool

    def along(self, dense: DenseOutput, times: Array) -> Array:
        """Values at times within a step: (N, F)."""

    def real(self, state: MotionState) -> Array:
        """Values at a state that was integrated: (F,)."""

    def doubt(self, dense: DenseOutput, state: MotionState) -> tuple[Array, Array]:
        """What cannot be distinguished from zero, and how far the motion within the step may be off: (F,) each."""


class Gaps:
    """Gaps of contacts that are open."""

    parts, eager = 4, True

    def __init__(self, equations: Equations, chosen: Indices, closed: Callable[[Array], Array] | None = None) -> None:
        self.equations, self.chosen, self._closed = equations, chosen, closed

    def along(self, dense: DenseOutput, times: Array) -> Array:
        """Gaps at times within a step, (times, gaps), from its interpolant."""
        return self.equations.gaps_along(times, dense.at(times)[0])[:, self.chosen]

    def real(self, state: MotionState) -> Array:
        """Gaps at a computed state, (gaps,)."""
        return self.equations.gaps(state.t, state.q)[self.chosen]

    def doubt(self, dense: DenseOutput, state: MotionState) -> tuple[Array, Array]:
        """Round-off of the gaps; where one begins closed, twice what it begins with."""
        terms, errors = sums(self.equations, state.t, state.q, dense.error)
        noise = ROUNDING * terms[self.chosen]
        if self._closed is not None:
            first = np.abs(self.real(state))
            noise = np.where(first <= self._closed(terms)[self.chosen], np.maximum(noise, 2.0 * first), noise)
        return noise, errors[self.chosen]


def sums(equations: Equations, t: float, q: Array, *errors: Array) -> tuple[Array, ...]:
    """Sizes of the terms of every gap, |derivative| × |coordinate| and its own numbers; |derivative| × |error|."""
    sizes = np.column_stack([np.abs(q), *errors])
    if equations.n <= FEW:
        found = np.abs(equations.gap_slopes(t, q, np.eye(equations.n))) @ sizes
    else:
        found = np.abs(equations.gap_slopes(t, q, sizes))
    return (found[:, 0] + equations.gap_terms, *found.T[1:])


def sense(name: str, function: UserFunction) -> int:
    """Which zeros of a user's function count, by its attribute `direction`: 1 rising, −1 falling, 0 all."""
    given = getattr(function, "direction", 0)
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
        raise UsageError(
            f"the direction of event '{name}' is not a number",
            got=repr(given),
            expected="positive for rising, negative for falling, 0 for either",
        )
    return int(np.sign(given))


def crosses(sense_of: int, *, falling: bool) -> bool:
    """Whether a zero counts: `sense_of` is positive for rising ones, negative for falling ones, 0 for both."""
    return sense_of == 0 or (sense_of < 0) == falling


class Users:
    """Functions given by a user."""

    parts, eager = 1, False

    def __init__(self, functions: Mapping[str, UserFunction]) -> None:
        self.functions = list(functions.values())
        self.senses = [sense(name, function) for name, function in functions.items()]
        self._largest = np.zeros(len(self.functions))

    def along(self, dense: DenseOutput, times: Array) -> Array:
        """Values at times within a step, (times, functions), from its interpolant."""
        q, v = dense.at(times)
        found = np.array([self._values(t, a, b) for t, a, b in zip(times.tolist(), q, v, strict=True)])
        self._largest = np.fmax(self._largest, np.max(np.abs(found), axis=0))
        return found

    def real(self, state: MotionState) -> Array:
        """Values at a computed state, (functions,)."""
        return np.array(self._values(state.t, state.q, state.v))

    def _values(self, t: float, q: Array, v: Array) -> list[float]:
        return [float(function(t, q, v)) for function in self.functions]

    def passed(self, earlier: MotionState, before: MotionState, after: MotionState) -> list[int]:
        """Functions that come to zero just where contacts change the motion, or jump through it there.

        Changes of sign before `earlier` were reported already.
        """
        if not self.functions:
            return []
        band = ROUNDING * self._largest
        old, now, new = (np.where(np.abs(f) <= band, 0.0, np.sign(f)) for f in map(self.real, (earlier, before, after)))
        comes, jumps = (np.abs(old) == 1.0) & (now == 0.0), (np.abs(now) == 1.0) & (now * new <= 0.0)
        rises = np.where(comes, old, now) < 0.0
        return [int(f) for f in np.flatnonzero(comes | jumps) if crosses(self.senses[f], falling=not rises[f])]

    def doubt(self, dense: DenseOutput, state: MotionState) -> tuple[Array, Array]:
        """Round-off of the largest value so far; nothing else is known about them."""
        return ROUNDING * self._largest, np.zeros(len(self.functions))


def forces_along(terms: Terms, G: Array, F: Array, gamma: Array) -> Array:
    """Multipliers of M a = h + Fᵀ λ, G a + γ = 0 at all times at once; NaN where they are not determined."""
    n, r = G.shape[2], G.shape[1]
    K = np.zeros((len(G), n + r, n + r))
    K[:, :n, :n], K[:, :n, n:], K[:, n:, :n] = terms.M, -F.swapaxes(1, 2), G
    try:
        return np.asarray(np.linalg.solve(K, np.concatenate([terms.h, -gamma], axis=1)[..., None])[:, n:, 0])
    except np.linalg.LinAlgError:
        return np.full((len(G), r), np.nan)


class Forces:
    """Forces of closed contacts, Coulomb's limit of those that stick, slip and determinacy of those that slide."""

    parts, eager = 1, True

    def __init__(
        self, mechanics: Mechanics, mode: ContactMode, rows: ContactRows, slacks: Callable[[Array, Array], Array]
    ) -> None:
        self.mechanics, self.mode, self.rows, self._slacks = mechanics, mode, rows, slacks
        phase: Any = mechanics.equations
        self._phase, self._places = phase, {int(row): place for place, row in enumerate(phase.chosen)}

    def along(self, dense: DenseOutput, times: Array) -> Array:
        """Values at times within a step, (times, functions), from its interpolant."""
        q, v = dense.at(times)
        terms = self._phase.pushed(self._phase.whole.terms_along(times, q, v))
        return self._values(terms, self._multipliers(terms, dense.before, (times, q, v)))

    def real(self, state: MotionState) -> Array:
        """Values at a computed state, (functions,)."""
        terms = self._phase.whole.terms(
            state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(self._phase.whole.m)
        )
        one = Terms(*(np.asarray(value)[None] for value in terms))  # type: ignore[arg-type]
        return np.asarray(self._values(one, state.mu[None])[0])

    def doubt(self, dense: DenseOutput, state: MotionState) -> tuple[Array, Array]:
        """Forces and slips that count as none; slips may be off by the velocities within the step."""
        found = self._slacks(state.mu, self.real(state))
        errors = np.zeros_like(found)
        if self.mode.sliding:
            whole = self._phase.whole
            G = whole.terms(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(whole.m)).G
            sliding = zip(self.mode.sliding, self._references, strict=True)
            each = [np.abs(d @ G[list(self.rows.slips[b])]) @ dense.error_of_rate for (b, _), d in sliding]
            first = len(self.mode.closed) + len(self.mode.sticking)
            errors[first : first + len(each)] = each
        return found, errors

    def _multipliers(self, terms: Terms, before: MotionState, places: tuple[Array, Array, Array]) -> Array:
        mechanics = self.mechanics
        if len(mechanics.rows) == self._phase.rows and self._phase.system.friction is None:
            chosen = self._phase.chosen
            found = forces_along(terms, terms.G[:, chosen], self._pushes(terms), terms.gamma[:, chosen])
            if np.all(np.isfinite(found)):
                return found
        each = []
        for t, q, v in zip(*places, strict=True):
            now = mechanics.accelerate(float(t), q, np.zeros_like(q), v, before.mu)
            each.append(mechanics.multipliers(now.terms, now.a, now.mu))
        return np.array(each)

    def _pushes(self, terms: Terms) -> Array:
        """F: directions in which multipliers push."""
        F = terms.G[:, self._phase.chosen].copy()
        mechanics = self.mechanics
        none = mechanics.none if isinstance(mechanics, SlidingMechanics) else 0.0
        for (i, _), d in zip(self.mode.sliding, self._references, strict=True):
            slips, place = list(self.rows.slips[i]), self._normal(i)
            along = np.array([direction(slip, d, none) for slip in terms.c_dot[:, slips]])
            F[:, place] -= self.rows.friction[i] * np.einsum("ns,nsj->nj", along, terms.G[:, slips])
        return F

    @property
    def _references(self) -> list[Array]:
        """Directions that slips are compared with."""
        return self.mechanics.references if isinstance(self.mechanics, SlidingMechanics) else []

    def _normal(self, block: int) -> int:
        """Place of the multiplier that limits a block."""
        return self._places[int(self.rows.gaps[self.rows.owner[block]])]

    def _values(self, terms: Terms, mu: Array) -> Array:
        rows, places = self.rows, self._places
        columns = [mu[:, places[int(rows.gaps[i])]] for i in self.mode.closed]
        for i in self.mode.sticking:
            tangential = mu[:, [places[row] for row in rows.slips[i]]]
            columns.append(rows.static[i] * mu[:, self._normal(i)] - np.linalg.norm(tangential, axis=1))
        sliding = zip(self.mode.sliding, self._references, strict=True)
        columns += [terms.c_dot[:, list(rows.slips[i])] @ d for (i, _), d in sliding]
        columns += list(self._idle(terms, mu))
        if isinstance(self.mechanics, SlidingMechanics):
            columns.append(self._determinacy(terms))
        return np.column_stack(columns)

    def _idle(self, terms: Terms, mu: Array) -> Array:
        """How far contacts without force are from pressing, (idle, times)."""
        rows, chosen, contact = self.rows, self._phase.chosen, contact_places(self._phase, self.rows)
        gaps = rows.gaps[list(self.mode.idle)]
        gradients = terms.G * self.mechanics.units
        each = [-wanted(found, G[chosen], G[gaps], contact) for found, G in zip(mu, gradients, strict=True)]
        return np.array(each).reshape(len(mu), len(gaps)).T

    def _determinacy(self, terms: Terms) -> Array:
        """det(G M⁻¹ Fᵀ)/det(G M⁻¹ Gᵀ), as `SlidingMechanics.determinacy`."""
        kept = self.mechanics.rows
        G, F = terms.G[:, self._phase.chosen][:, kept], self._pushes(terms)[:, kept]
        X = self._by_mass(terms.M, G.swapaxes(1, 2))
        XT = X.swapaxes(1, 2)
        return np.asarray(np.linalg.det(np.linalg.solve(XT @ G.swapaxes(1, 2), XT @ F.swapaxes(1, 2))))

    def _by_mass(self, M: Array, right: Array) -> Array:
        try:
            return np.asarray(np.linalg.solve(M, right))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.pinv(M, hermitian=True) @ right)
