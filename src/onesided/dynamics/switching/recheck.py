"""A second opinion on what a method claims, from the problem alone: complementarity, switches, and ẋ itself.

A motion by steps of its own is integrated anew, step by step: in the mode that the state in the middle of the step
asks for, by extrapolation of the modified midpoint rule, which none of the methods uses. What is left over, divided
by the step and by the largest ẋ, is the share of ẋ that the equations do not explain. Of a method with fixed steps
the difference quotients must lie between the rates at both ends of a step.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.complementarity import solve
from onesided.dynamics.switching.cable_structures import CableStructure
from onesided.dynamics.switching.linear import LinearComplementaritySystem
from onesided.dynamics.switching.runs import Claim
from onesided.dynamics.switching.signals import as_signal, generator_matrix
from onesided.dynamics.switching.slackness import SlacknessSystem

DIVISIONS = (2, 4, 6, 8, 10, 12)  # of a step, for the extrapolation: order 12
EXTRAPOLATED = HALF_DIGITS  # a last change below this share of ẋ is enough
SAMPLES = 200  # points of a nonlinear system that are looked at, beside all its steps

System = LinearComplementaritySystem | SlacknessSystem | CableStructure
Rates = Callable[[Array, Array], Array]  # (k,), (k, n) → (k, n)


class Worst(NamedTuple):
    """The largest violation, relative, and when."""

    value: float
    t: float


def complementarity(system: System, claim: Claim) -> tuple[Array, Worst]:
    """Slacks w (N, m), and how far 0 ≤ s ⊥ w ≥ 0, the switches and the yield tensions are violated."""
    w = slacks(system, claim.t, claim.x, claim.s)
    free = slacks(system, claim.t, claim.x, np.zeros_like(claim.s))
    size_s = max(float(np.abs(a).max(initial=0.0)) for a in (claim.s, claim.peak_s)) or 1.0
    size_w = max(float(np.abs(a).max(initial=0.0)) for a in (free, w, claim.peak_w)) or 1.0
    off = np.abs(np.minimum(claim.s / size_s, w / size_w))
    told = _told_taut(system, claim)
    off = np.maximum(off, np.where(told, np.abs(w) / size_w, np.abs(claim.s) / size_s))
    if isinstance(system, CableStructure):
        off = np.maximum(off, system.overstress(claim.x, claim.s))
    worst = off.max(axis=1, initial=0.0)
    k = int(np.argmax(worst))
    return w, Worst(float(worst[k]), float(claim.t[k]))


def slacks(system: System, t: Array, x: Array, s: Array) -> Array:
    """Slacks w (N, m) at N states with their forces s; those of a linear system at once."""
    if isinstance(system, LinearComplementaritySystem):
        return _Linear(system).slacks(t, x, s)
    return np.array([system.slack(*row) for row in zip(t, x, s, strict=True)]).reshape(s.shape)


def _rates(system: System, claim: Claim) -> Array:
    """ẋ (N, n) at the points of a claim, with its forces."""
    if isinstance(system, LinearComplementaritySystem):
        return _Linear(system).driven(claim.t, claim.x, claim.s)
    return np.array([system.rate(*row) for row in zip(claim.t, claim.x, claim.s, strict=True)])


def _told_taut(system: System, claim: Claim) -> Mask:
    """(N, m): which pairs are taut at the points by the switches that were reported."""
    taut = np.repeat(claim.first_taut[None, :] > 0, len(claim.t), axis=0)
    for switch in claim.switches:
        taut[claim.t >= switch.t, list(system.names).index(switch.name)] = switch.taut
    return taut


def between_rates(system: System, claim: Claim) -> Worst:
    """How far difference quotients lie outside the rates at the two ends of a step, relative to the largest rate."""
    if len(claim.t) < 2:
        return Worst(0.0, float(claim.t[0]))
    f = _rates(system, claim)
    size = _sizes(np.abs(f).max(axis=0))
    f = f / size
    d = np.diff(claim.x[:, : f.shape[1]], axis=0) / np.diff(claim.t)[:, None] / size
    way = np.diff(f, axis=0)
    length = (way * way).sum(axis=1)
    along = ((d - f[:-1]) * way).sum(axis=1) / np.where(length > 0, length, 1.0)
    off = np.abs(d - f[:-1] - np.clip(along, 0.0, 1.0)[:, None] * way)
    noise = EPS * np.abs(claim.x[:, : f.shape[1]]).max(axis=0) / size
    off = np.maximum(off - 8.0 * noise / np.diff(claim.t)[:, None], 0.0).max(axis=1)
    k = int(np.argmax(off))
    return Worst(float(off[k]), float(claim.t[k]))


def integrated_anew(system: System, claim: Claim) -> Worst:
    """Share of ẋ that the equations do not explain, over all steps and points of a claim."""
    most = SAMPLES if isinstance(system, SlacknessSystem) else len(claim.t)  # its functions take one state at a time
    t, x = _all_points(claim, most)
    if len(t) < 2:
        return Worst(0.0, float(t[0]))
    again, largest = x[1:].copy(), np.zeros(x.shape[1])
    for chosen, rates in _modes(system, t, x):
        t0, x0, h = t[:-1][chosen], x[:-1][chosen], np.diff(t)[chosen]
        again[chosen] = _extrapolated(rates, t0, x0, h)
        largest = np.maximum(largest, np.abs(rates(t0, x0)).max(axis=0))
    steps = np.maximum(np.diff(t), (t[-1] - t[0]) / (len(t) - 1))[:, None]
    sizes = np.abs(x).max(axis=0)
    off = np.maximum(np.abs(again - x[1:]) - 64.0 * EPS * sizes, 0.0)
    share = (off / (steps * _sizes(largest))).max(axis=1)
    k = int(np.argmax(share))
    return Worst(float(share[k]), float(t[k]))


def _sizes(largest: Array) -> Array:
    """Sizes of rates to divide by; one that is nothing beside the others is round-off of larger terms."""
    return np.maximum(largest, QUARTER_DIGITS * float(largest.max())) if largest.any() else np.ones_like(largest)


def _all_points(claim: Claim, most: int) -> tuple[Array, Array]:
    """All steps and at most so many points, in order of time."""
    if claim.trail is None:
        return claim.t, claim.x
    some = np.unique(np.linspace(0, len(claim.t) - 1, min(most, len(claim.t))).round().astype(int))
    t, x = np.concatenate([claim.trail.t, claim.t[some]]), np.concatenate([claim.trail.x, claim.x[some]])
    order = np.argsort(t, kind="stable")
    return t[order], x[order]


def _extrapolated(rates: Rates, t: Array, x: Array, h: Array) -> Array:
    """One step for each row by extrapolation of Gragg's midpoint rule (Bulirsch and Stoer), as far as it changes."""
    first, column, found = rates(t, x), list[Array](), np.empty_like(x)
    enough = EXTRAPOLATED * h[:, None] * np.abs(first).max(axis=0, initial=0.0)
    rows = np.arange(len(t))
    for j in range(len(DIVISIONS)):
        column = _next_row(rates, (t[rows], x[rows], h[rows], first[rows]), j, column)
        found[rows] = column[-1]
        if j < 2:
            continue
        going = (np.abs(column[-1] - column[-2]) > enough[rows]).any(axis=1)
        rows, column = rows[going], [entry[going] for entry in column]
        if not len(rows):
            break
    return found


def _next_row(rates: Rates, step: tuple[Array, Array, Array, Array], j: int, column: list[Array]) -> list[Array]:
    """The midpoint rule with more divisions, and the extrapolations from the row before."""
    t, x, h, first = step
    part = h / DIVISIONS[j]
    before, now = x, x + part[:, None] * first
    for i in range(1, DIVISIONS[j]):
        before, now = now, before + 2.0 * part[:, None] * rates(t + i * part, now)
    row: list[Array] = [now]
    for k in range(1, j + 1):
        ratio = (DIVISIONS[j] / DIVISIONS[j - k]) ** 2
        row.append(row[-1] + (row[-1] - column[k - 1]) / (ratio - 1.0))
    return row


def _modes(system: System, t: Array, x: Array) -> Iterator[tuple[Indices, Rates]]:
    """Steps in groups of one mode, with the rates in this mode; the middle of a step decides."""
    middle = (t[:-1] + t[1:]) / 2
    if isinstance(system, SlacknessSystem):
        yield from _general(system, t, x, middle)
        return
    guess = _middles(system, t, x)
    if isinstance(system, CableStructure):
        cables = _Cables(system)
        codes = cables.phases(middle, x[:-1], guess)
        for code, chosen in _groups(codes):
            yield chosen, cables.rates(code)
        return
    linear = _Linear(system)
    for code, chosen in _groups(linear.taut(middle, guess)):
        yield chosen, linear.rates(code.astype(bool))


def _groups(codes: Any) -> Iterator[tuple[Array, Indices]]:
    kinds, which = np.unique(codes, axis=0, return_inverse=True)
    for k, code in enumerate(kinds):
        yield code, np.flatnonzero(which.ravel() == k)


def _middles(system: LinearComplementaritySystem | CableStructure, t: Array, x: Array) -> Array:
    """States in the middle of the steps, from states and rates at their ends."""
    if isinstance(system, CableStructure):
        return (x[:-1] + x[1:]) / 2
    linear = _Linear(system)
    f = np.empty_like(x)
    for code, chosen in _groups(linear.taut(t, x)):
        f[chosen] = linear.rates(code.astype(bool))(t[chosen], x[chosen])
    return np.asarray((x[:-1] + x[1:]) / 2 + np.diff(t)[:, None] / 8 * (f[:-1] - f[1:]))


def _generators(t: Array, frequencies: tuple[float, ...]) -> Array:
    """(k, 1 + 2 × frequencies): 1, cos Ωt, sin Ωt and so on."""
    columns = [np.ones_like(t)]
    for om in frequencies:
        columns += [np.cos(om * t), np.sin(om * t)]
    return np.column_stack(columns)


class _Linear:
    """A linear complementarity system at many states at once."""

    def __init__(self, system: LinearComplementaritySystem) -> None:
        self.system = system
        self.A, self.B, self.C, self.D = (np.asarray(a) for a in (system.A, system.B, system.C, system.D))
        self.F = as_signal(system.input, "input", system.n).matrix(system.frequencies)
        self.E = as_signal(system.offset, "offset", system.m).matrix(system.frequencies)

    def taut(self, t: Array, x: Array) -> Mask:
        """(k, m): where s > 0 at the states."""
        if self.system.uncoupled:
            return self._free(t, x) < 0
        return np.array([solve(self.system.problem(a, b)).value > 0 for a, b in zip(t, x, strict=True)])

    def _free(self, t: Array, x: Array) -> Array:
        """Slacks without forces: C x + offset(t)."""
        return np.asarray(x @ self.C.T + _generators(t, self.system.frequencies) @ self.E.T)

    def slacks(self, t: Array, x: Array, s: Array) -> Array:
        """Slacks with the forces s (k, m): D s + C x + offset(t)."""
        return np.asarray(self._free(t, x) + s @ self.D.T)

    def driven(self, t: Array, x: Array, s: Array) -> Array:
        """ẋ with the forces s (k, m): A x + B s + input(t)."""
        return np.asarray(x @ self.A.T + s @ self.B.T + _generators(t, self.system.frequencies) @ self.F.T)

    def rates(self, taut: Mask) -> Rates:
        """ẋ while these pairs are taut."""
        S = -np.linalg.solve(self.D[np.ix_(taut, taut)], np.hstack([self.C, self.E])[taut])
        K = np.hstack([self.A, self.F]) + self.B[:, taut] @ S
        frequencies, n = self.system.frequencies, len(self.A)
        return lambda t, x: np.asarray(x @ K[:, :n].T + _generators(t, frequencies) @ K[:, n:].T)


class _Cables:
    """A structure with cables that remember, at many states at once; phases: 0 slack, 1 elastic, 2 yielding."""

    def __init__(self, structure: CableStructure) -> None:
        self.structure, self.frequencies = structure, structure.frequencies
        self.n, m = structure.n - structure.m, structure.m
        self.F = as_signal(structure.input, "input", self.n).matrix(self.frequencies)
        self.E = as_signal(structure.offset, "offset", m).matrix(self.frequencies)
        self.A, self.B, self.C = (np.asarray(a) for a in (structure.A, structure.B, structure.C))
        self.R = generator_matrix(self.frequencies)
        laws = structure.laws
        self.k, self.limit = np.array([law.stiffness for law in laws]), np.array([law.limit for law in laws])
        self.hardening = np.array([law.hardening for law in laws])

    def phases(self, t: Array, start: Array, middle: Array) -> Array:
        """What cables with the memory they have at the start of a step do in its middle (k, m)."""
        plastic = start[:, self.n :]
        trial = self.k * (self._elongation(t, middle) - plastic)
        limit = self.limit + np.where(np.isfinite(self.limit), self.hardening * plastic, 0.0)
        return np.where(trial <= 0, 0, np.where(trial <= limit, 1, 2))

    def _elongation(self, t: Array, x: Array) -> Array:
        return np.asarray(x[:, : self.n] @ self.C.T + _generators(t, self.frequencies) @ self.E.T)

    def rates(self, phases: Array) -> Rates:
        """Rates of the state and of the plastic elongations in these phases."""
        yielding, elastic = phases == 2, phases == 1
        limit = np.where(yielding, self.limit, 0.0)
        share = np.where(yielding, self.k / (self.k + self.hardening), 0.0)

        def rates(t: Array, x: Array) -> Array:
            g, plastic = _generators(t, self.frequencies), x[:, self.n :]
            tension = np.where(elastic, self.k * (self._elongation(t, x) - plastic), 0.0)
            s = np.where(yielding, limit + self.hardening * plastic, tension)
            x_dot = x[:, : self.n] @ self.A.T + s @ self.B.T + g @ self.F.T
            return np.hstack([x_dot, share * (x_dot @ self.C.T + g @ self.R.T @ self.E.T)])

        return rates


def _general(system: SlacknessSystem, t: Array, x: Array, middle: Array) -> Iterator[tuple[Indices, Rates]]:
    """A slackness system: its functions take one state at a time."""
    none = np.zeros(system.m, dtype=bool)
    tauts = [system.taut_at(a, b, none) for a, b in zip(t, x, strict=True)]
    f = [system.rate(a, b, system.forces(a, b, taut)) for a, b, taut in zip(t, x, tauts, strict=True)]
    guess = (x[:-1] + x[1:]) / 2 + np.diff(t)[:, None] / 8 * (np.array(f[:-1]) - np.array(f[1:]))
    codes = np.array([system.taut_at(a, b, none) for a, b in zip(middle, guess, strict=True)])

    def rates_of(taut: Mask) -> Rates:
        return lambda times, states: np.array(
            [system.rate(a, b, system.forces(a, b, taut)) for a, b in zip(times, states, strict=True)]
        )

    for code, chosen in _groups(codes):
        yield chosen, rates_of(code.astype(bool))
