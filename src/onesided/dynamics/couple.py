"""Modular integration: two systems joined by a constraint, each by steps of its own, forces exchanged between them.

Over a step H the joint acts on both by kicks of momentum, as in RATTLE: H/2 G₀ᵀλ at the beginning, so that c(q₁, q₂) =
0 at the end, and G₁ᵀν at the end, so that the hidden constraint holds there. In between each system takes steps of its
own. An error of λ changes the residual by H²/2 (D₁ + D₂), D = G M⁻¹Gᵀ of each system.

A Gauss–Seidel sweep gives λ to the first system as it was and lets the second close the joint: λ is corrected with D₂
alone, and its error is multiplied by −D₂⁻¹D₁ [AR, time integration]. Where the first system is the lighter one at the
joint this diverges, whatever the step. The hidden constraint of both systems tells λ by D₁ + D₂, which contracts for
all masses.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eig

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.tolerances import DEFAULT, EPS, HALF_DIGITS, Tolerances
from onesided.base.types import Array, Status
from onesided.dynamics.asked import span_of
from onesided.dynamics.consistent import consistent
from onesided.dynamics.contracts import check_contracts
from onesided.dynamics.mechanics import Mechanics
from onesided.dynamics.smooth.variational import Variational
from onesided.evaluation.joining import Joining, Joint
from onesided.evaluation.variational_steps import Instant, VariationalSteps
from onesided.results import Coupled
from onesided.system.equations import Equations
from onesided.system.system import System

GROWN = 1000.0  # a residual that grows by so much shows that sweeps diverge
ROUNDED = 64.0 * EPS  # residuals below this share of their terms are round-off


class Coupling(Protocol):
    """How forces are corrected between sweeps, and how many sweeps there may be."""

    @property
    def sweeps(self) -> int:
        """The most exchanges of forces in a step."""

    def response(self, first: Array, second: Array) -> Array:
        """The matrix that corrections are made with, of D₁ and D₂."""


@checked
@dataclass(frozen=True)
class HiddenConstraint:
    """Forces by the hidden constraint of both systems, D₁ + D₂: contracts whatever their masses are.

    Attributes
    ----------
    sweeps : the most exchanges of forces in a step.
    """

    sweeps: int = 20

    def response(self, first: Array, second: Array) -> Array:
        """What both sides give way by together, D₁ + D₂."""
        return first + second


@checked
@dataclass(frozen=True)
class GaussSeidelSweeps:
    """Forces by the second system alone, D₂: needs no knowledge of the first, and contracts only if it is heavier.

    Attributes
    ----------
    sweeps : the most exchanges of forces in a step.
    """

    sweeps: int = 100

    def response(self, first: Array, second: Array) -> Array:
        """What the second side alone gives way by, D₂."""
        return second


@checked
def couple(  # noqa: PLR0913 - one verb, all its ends by keyword
    first: System,
    second: System,
    joint: Joint,
    starts: tuple[tuple[Any, Any], tuple[Any, Any]],
    t_span: tuple[float, float],
    *,
    step: float,
    inner: tuple[int, int] = (1, 1),
    coupling: Coupling | None = None,
    tolerances: Tolerances = DEFAULT,
    throw: bool = True,
) -> Coupled:
    """Follow two systems joined by c(q_first, q_second) = 0, each integrated apart by variational steps.

    Parameters
    ----------
    joint : one number or a vector of (q_first, q_second) in `jax.numpy`.
    starts : (q, v) of the first and of the second system, in which the joint is closed.
    step : between two exchanges of forces;  inner : how many steps of its own each system takes within.
    coupling : `HiddenConstraint()` (default) or `GaussSeidelSweeps()`.
    throw : raise a `SolveError` holding the motion so far, or return it with its status. Ctrl-C keeps it too.
    """
    if min(inner) < 1:
        raise UsageError("`inner` is out of range", got=repr(inner), expected="two whole numbers, 1 or more")
    span, method = span_of(t_span), HiddenConstraint() if coupling is None else coupling
    given = zip((first, second), starts, inner, strict=True)
    parts = [_Part(system, start, span, step / n, tolerances) for system, start, n in given]
    run = _CoupledRun(parts, Joining(parts[0].equations, parts[1].equations, joint), method, tolerances)
    run.follow(span, step, inner)
    found = run.result()
    if throw and not found.ok:
        raise SolveError(found.status.value, found, got=found.note)
    return found


class _Part:
    """One system on its way."""

    def __init__(
        self, system: System, start: tuple[Any, Any], span: tuple[float, float], step: float, tolerances: Tolerances
    ) -> None:
        self.equations = Equations(system)
        self.mechanics = Mechanics(self.equations, None, tolerances)
        state, _ = consistent(self.mechanics, span[0], *start, span[1] - span[0])
        check_contracts(self.equations, state.t, state.q, state.v, self.mechanics.sizes.q)
        Variational(step).start(self.mechanics, state, span[1])  # refuses what it does not know
        if system.unilateral:
            raise UsageError("`couple` does not follow contacts", got=", ".join(system.unilateral), expected="no gaps")
        self.steps = VariationalSteps(self.equations, self.mechanics.rows)
        self.now = Instant(state.t, state.q, self.steps.momentum(state.q, state.v), state.v, 0.0, good=True)

    def response(self, G: Array) -> tuple[Array, Array]:
        """M⁻¹Gᵀ on the system's own constraints, (n, m), and M."""
        mechanics, now = self.mechanics, self.now
        terms = self.equations.terms(now.t, now.q, 0.0 * now.q, now.v, np.zeros(self.equations.m))
        factor, none = mechanics.factor(terms), np.zeros(self.equations.rows)
        return np.column_stack([mechanics.solve(factor, row, none)[0] for row in G]), self.equations.matrices(terms)[0]

    def kicked(self, kick: Array, h: float, count: int) -> Instant:
        """Where a kick of momentum leads in so many steps."""
        return self.steps.march(self.now._replace(momentum=self.now.momentum + kick), h, count)

    def energy(self) -> float:
        """Kinetic and potential, less the work of forces."""
        now, none = self.now, np.zeros((1, self.equations.rows))
        found = self.equations.check(np.array([now.t]), now.q[None], now.v[None], 0.0 * now.q[None], none)
        return float(found.energy[0]) - now.work


class _CoupledRun:
    """Both systems and what was found so far."""

    def __init__(self, parts: list[_Part], joining: Joining, method: Coupling, tolerances: Tolerances) -> None:
        self.parts, self.joining, self.method, self.tolerances = parts, joining, method, tolerances
        self.status, self.note = Status.finished, ""
        self.records: list[tuple[Any, ...]] = []
        self._check_start()
        self._push: Array = np.zeros(joining.size)
        done, alpha = self._at_rest()
        if not done:
            self._fail(alpha)
        self._record(alpha, 0)

    def _joined(self) -> Any:
        return self.joining.at(*(part.now.q for part in self.parts))

    def _size(self, gradients: tuple[Array, Array], values: tuple[Array, Array]) -> float:
        """Sum of the absolute terms of a residual."""
        return sum(float(np.max(np.abs(G) @ np.abs(x))) for G, x in zip(gradients, values, strict=True)) or 1.0

    def _check_start(self) -> None:
        joined = self._joined()
        size = self._size(joined[1:], (self.parts[0].mechanics.sizes.q, self.parts[1].mechanics.sizes.q))
        if np.max(np.abs(joined.c)) > np.sqrt(self.tolerances.residual) * size:
            raise UsageError("the joint is open at the start", got=f"{np.max(np.abs(joined.c)):.3g}", expected="0")

    def _responses(self) -> tuple[Any, list[Array], list[Array], list[Array]]:
        joined = self._joined()
        both = [part.response(G) for part, G in zip(self.parts, joined[1:], strict=True)]
        D = [G @ X for G, (X, _) in zip(joined[1:], both, strict=True)]
        return joined, [X for X, _ in both], [M for _, M in both], D

    def follow(self, span: tuple[float, float], step: float, inner: tuple[int, int]) -> None:
        """All steps, until the end or a failure."""
        count = max(1, round((span[1] - span[0]) / step))
        h = (span[1] - span[0]) / count
        try:
            for _ in range(count):
                if not self.status.ok:
                    return
                self._advance(h, inner)
        except KeyboardInterrupt:
            self.status, self.note = Status.interrupted, f"at t = {self.records[-1][0]:.6g}"

    def _advance(self, h: float, inner: tuple[int, int]) -> None:
        joined, _, _, D = self._responses()
        alpha = _contraction(D)
        response = 0.5 * h * h * self.method.response(*D)
        push: Array = self._push.copy()
        first = np.inf
        for sweep in range(1, self.method.sweeps + 1):
            ends = [
                part.kicked(0.5 * h * G.T @ push, h / n, n)
                for part, G, n in zip(self.parts, joined[1:], inner, strict=True)
            ]
            if not all(end.good for end in ends):
                return self._fail(alpha)
            off = self.joining.at(ends[0].q, ends[1].q).c
            size, first = float(np.max(np.abs(off))), min(first, float(np.max(np.abs(off))))
            if size <= ROUNDED * self._size(joined[1:], (ends[0].q, ends[1].q)):
                return self._arrive(ends, push, sweep)
            if not size <= GROWN * first:
                break
            push = _corrected(push, response, off)
        return self._fail(alpha)

    def _arrive(self, ends: list[Instant], push: Array, sweeps: int) -> None:
        for part, end in zip(self.parts, ends, strict=True):
            part.now = end
        self._push = push
        done, alpha = self._at_rest()
        if not done:
            self._fail(alpha)
        self._record(alpha, sweeps)

    def _at_rest(self) -> tuple[bool, float]:
        """Close the joint at velocity level, by sweeps too; whether they converged, and how they contract."""
        joined, X, M, D = self._responses()
        speed = [part.now.v for part in self.parts]
        off = sum(G @ v for G, v in zip(joined[1:], speed, strict=True))
        noise, start = ROUNDED * self._size(joined[1:], (speed[0], speed[1])), float(np.max(np.abs(off)))
        push: Array = np.zeros(self.joining.size)
        whole, response = D[0] + D[1], self.method.response(*D)
        for _ in range(self.method.sweeps):
            size = float(np.max(np.abs(off + whole @ push)))
            if size <= noise or not size <= GROWN * start:
                break
            push = _corrected(push, response, off + whole @ push)
        done = float(np.max(np.abs(off + whole @ push))) <= max(noise, HALF_DIGITS * start)
        for part, x, m in zip(self.parts, X, M, strict=True) if done else ():
            v = part.now.v + x @ push
            part.now = part.now._replace(v=v, momentum=part.now.momentum + m @ x @ push)
        return done, _contraction(D)

    def _fail(self, alpha: float) -> None:
        self.status = Status.stalled
        t = self.parts[0].now.t
        self.note = (
            f"the exchange of forces did not converge at t = {t:.6g}; a Gauss–Seidel sweep multiplies errors by "
        )
        self.note += f"{alpha:.3g}" + (
            ": exchange the two systems, or use HiddenConstraint()" if alpha >= 1.0 else ": a shorter step, more sweeps"
        )

    def _record(self, alpha: float, sweeps: int) -> None:
        joined, (a, b) = self._joined(), self.parts
        energy = a.energy() + b.energy()
        off = float(np.max(np.abs(joined.c)))
        self.records.append((a.now.t, a.now.q, b.now.q, a.now.v, b.now.v, self._push, off, energy, alpha, sweeps))

    def result(self) -> Coupled:
        """What was found, as arrays."""
        t, qa, qb, va, vb, force, off, energy, alpha, sweeps = (
            np.array(list(column)) for column in zip(*self.records, strict=True)
        )
        first, second = (part.equations.system for part in self.parts)
        labels = {f"{prefix} {name}": list(pair)
                  for prefix, system in (("first", first), ("second", second)) for name, pair in system.labels.items()
                  if name in system.coordinates}  # fmt: skip
        note = self.note
        if not note and float(np.max(alpha)) >= 1.0:
            note = f"a Gauss–Seidel sweep would multiply errors by up to {np.max(alpha):.3g}: in this order it diverges"
        ways = {"labels": labels} if labels else {}
        names = first.coordinates, second.coordinates
        return Coupled(names, t, (qa, qb), (va, vb), force, off, energy, alpha, sweeps, self.status, note, ways)


def _contraction(D: list[Array]) -> float:
    """Spectral radius of D₂⁻¹D₁; infinite where the second system cannot move at the joint."""
    alpha, beta = eig(D[0], D[1], right=False, homogeneous_eigvals=True)
    still = np.abs(beta) <= EPS * float(np.max(np.abs(D[0]) + np.abs(D[1])))
    return np.inf if np.any(still) else float(np.max(np.abs(alpha / beta)))


def _corrected(push: Array, response: Array, off: Array) -> Array:
    """Forces less what the response says of a residual; NaN where it says nothing."""
    try:
        return np.asarray(push - np.linalg.solve(response, off))
    except np.linalg.LinAlgError:
        return np.full_like(push, np.nan)
