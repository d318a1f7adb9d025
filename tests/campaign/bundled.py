"""Bundled models in other words: `python -m tests.campaign.bundled SEED`.

q = q₀ + A q', p = p₀ + s p', energies and gaps in other units, a constant added to the energy, coordinates mixed,
constraints in another order, a coordinate more that nothing moves: the same events, kinds, degrees and numbers of rays.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

import onesided
from onesided import Path, System, zoo

from .verdicts import Fact, Truth, Verdict, compare, facts_of

MODELS = (
    "von-mises-floor",
    "von-mises",
    "bead-on-ring",
    "bistable-chain",
    "column-stop",
    "column",
    "corner-limit",
    "end-point",
    "flat-contact",
    "keyboard-dome",
    "two-bar-roller",
    "two-supports",
    "wedge",
)
ACCURACY = 1e-6


@dataclass(frozen=True)
class Words:
    """Another way to state a model; `idle` coordinates more."""

    A: np.ndarray
    q_at: np.ndarray
    p_unit: float
    p_at: float
    energy: float
    offset: float
    gap: float
    backwards: bool
    idle: int

    def outer(self, q: np.ndarray, p: float) -> tuple[np.ndarray, float]:
        """Coordinates and p of the other statement."""
        return np.linalg.solve(self.A, np.append(q, np.zeros(self.idle)) - self.q_at), (p - self.p_at) / self.p_unit

    def back(self, fact: Fact) -> Fact:
        """The way back for an event."""
        q = self.q_at + self.A @ np.array(fact.q)
        return replace(fact, p=self.p_at + self.p_unit * fact.p, q=tuple(float(v) for v in q[: len(q) - self.idle]))


@cache
def plain(name: str) -> tuple[System, Path]:
    """A bundled model, traced as it is stated."""
    system, _ = zoo.load(name)
    return system, onesided.trace(system, throw=False)


def start_of(system: System) -> tuple[np.ndarray, float]:
    return np.asarray(system.task.start, dtype=float), float(system.task.p)


def stated(system: System, words: Words) -> System:
    """The model in other words."""
    n, usual = system.n, system.sizes(*start_of(system)).energy

    def inner(function: Callable[..., Any], unit: float) -> Callable[..., Any]:
        def value(q: Any, p: Any, th: Any) -> Any:
            return unit * function((words.q_at + jnp.asarray(words.A) @ q)[:n], words.p_at + words.p_unit * p, th)

        return value

    def energy(q: Any, p: Any, th: Any) -> Any:
        more = (words.q_at + jnp.asarray(words.A) @ q)[n:]
        own = inner(system.energy, 1.0)(q, p, th) + words.offset
        return words.energy * (own + usual * jnp.sum(more**2))

    order = -1 if words.backwards else 1
    unilateral = {name: inner(g, words.gap) for name, g in list(system.unilateral.items())[::order]}
    bilateral = {name: inner(g, words.gap) for name, g in list(system.bilateral.items())[::order]}
    names = tuple(f"c{i}" for i in range(n + words.idle))
    return System(names, energy, unilateral=unilateral, bilateral=bilateral, parameters=system.parameters)


def words_of(rng: np.random.Generator, path: Path) -> Words:
    """Units of 1e-6 to 1e6, origins up to a hundred sizes away, condition up to 1e3."""
    idle = int(rng.integers(0, 2))
    n = path.q.shape[1] + idle
    size = max(float(np.ptp(path.q, axis=0).max()), 1e-3)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = turn @ np.diag(10 ** rng.uniform(-1.5, 1.5, n)) @ np.linalg.qr(rng.normal(size=(n, n)))[0]
    away = rng.choice([0.0, 1.0, 100.0])
    span = float(np.ptp(path.p)) or 1.0
    return Words(
        A=A * 10 ** rng.uniform(-6, 6),
        q_at=away * size * rng.normal(size=n) * (np.arange(n) < n - idle),
        p_unit=float(rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-6, 6)),
        p_at=float(rng.choice([0.0, 1.0, 100.0])) * span,
        energy=float(10 ** rng.uniform(-6, 6)),
        offset=0.0,
        gap=float(10 ** rng.uniform(-6, 6)),
        backwards=bool(rng.integers(2)),
        idle=idle,
    )


def truth(path: Path, lengths: np.ndarray) -> Truth:
    """The events of the model as it is stated; the tracer is held against itself."""
    special = {event.index for event in path.events}
    s = {i: float(path.s[i]) for i in special}
    facts = [replace(fact, s=s[e.index]) for fact, e in zip(facts_of(path), path.events, strict=True)]
    sizes = np.maximum(np.ptp(path.q, axis=0), 0.1 * lengths)
    return Truth(tuple(facts), path.status, float(path.s[-1]), float(np.ptp(path.p)) or 1.0, tuple(sizes), ACCURACY)


def found(name: str, words: Words) -> Path:
    system, path = plain(name)
    q, p = words.outer(path.q[0], float(path.p[0]))
    low, high = sorted((b - words.p_at) / words.p_unit for b in system.task.p_bounds)
    sense = int(system.task.direction * np.sign(words.p_unit))
    return onesided.trace(
        stated(system, words), q, min(max(p, low), high), direction=sense, p_bounds=(low, high), throw=False
    )


def judge(seed: int) -> Verdict:
    name = MODELS[seed % len(MODELS)]
    system, path = plain(name)
    words = words_of(np.random.default_rng([seed, 29]), path)
    other = found(name, words)
    verdict = compare(truth(path, system.sizes(*start_of(system)).length), other, words.back)
    if verdict.outcome == "right" and [len(e.rays) for e in other.events] != [len(e.rays) for e in path.events]:
        return Verdict("silent", 1.0, f"{name}: other numbers of rays")
    return replace(verdict, why=f"{name}: {verdict.why}")


def main(seed: int) -> None:
    """Print the verdict."""
    sys.stdout.write(repr(judge(seed)) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
