"""Features on straight paths, from 1e-4 of the path to all of it: `python -m tests.campaign.straight SEED`.

Nothing bends the path before the feature, so nothing warns a step control: unstable windows, pairs of pitchforks, two
modes that buckle nearly at once, bumps and pegs in the way.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

import onesided
from onesided import Kind, Path, Status, System

from .verdicts import Fact, Truth, Verdict, compare, facts_of

SAMPLES = 4001  # of a contact arc, between which its folds are bracketed


@dataclass(frozen=True)
class Case:
    """A named system with its parameters, the length of the path, and the true events."""

    name: str
    numbers: dict[str, float]
    length: float
    facts: tuple[Fact, ...]


def window(q: Any, p: Any, th: Any) -> Any:
    """Unstable where exp(−((p − m)/w)²) (1 + d) > 1."""
    k = 1 - (1 + th.d) * jnp.exp(-(((p - th.m) / th.w) ** 2))
    return (q[0] - th.a * p) ** 2 / 2 + k * q[1] ** 2 / 2 + th.b * q[1] ** 4 / 4


def pair(q: Any, p: Any, th: Any) -> Any:
    """Pitchforks at m ∓ w."""
    k = ((p - th.m) ** 2 - th.w**2) / th.d**2
    return (q[0] - th.a * p) ** 2 / 2 + k * q[1] ** 2 / 2 + th.b * q[1] ** 4 / 4


def modes(q: Any, p: Any, th: Any) -> Any:
    """Two modes that change their sign at m − w and m + w, the second in either sense."""
    first, second = (th.m - th.w - p) / th.d, th.a * (th.m + th.w - p) / th.d
    return first * q[0] ** 2 / 2 + second * q[1] ** 2 / 2 + th.b * (q[0] ** 4 + q[1] ** 4) / 4


def pulled(q: Any, p: Any, th: Any) -> Any:
    return (q[0] - p) ** 2 / 2 + q[1] ** 2 / 2


def bump(q: Any, p: Any, th: Any) -> Any:
    return q[1] + th.d - th.b * jnp.exp(-(((q[0] - th.m) / th.w) ** 2))


def peg(q: Any, p: Any, th: Any) -> Any:
    return jnp.sqrt((q[0] - th.m) ** 2 + (q[1] + th.d) ** 2) - th.w


ENERGIES = {"window": window, "pair": pair, "modes": modes, "bump": pulled, "peg": pulled}
GAPS = {"bump": bump, "peg": peg}


@lru_cache
def template(name: str) -> System:
    walls = {name: GAPS[name]} if name in GAPS else {}
    return System(("x", "y"), ENERGIES[name], unilateral=walls, parameters=dict.fromkeys("mwdab", 1.0))


def forks(places: list[tuple[float, int, int]], slope: float) -> tuple[Fact, ...]:
    """Bifurcations on the line x = slope p, y = 0."""
    return tuple(Fact((Kind.smooth_bifurcation,), p, (slope * p, 0.0), before, after) for p, before, after in places)


def in_the_way(contact: tuple[float, float], Y: Callable[..., Any], p_of: Callable[..., Any]) -> tuple[Fact, ...]:
    """The arc y = Y(x) between the points of contact, where p = x + Y Y'; it is unstable where p falls."""
    first, last = contact
    x = np.linspace(first, last, SAMPLES)
    p = p_of(x)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(p))))
    way = last - first  # of p: a path that misses the contact is wrong there, however far it should have climbed
    facts = [Fact((Kind.closes,), first, (first, 0.0), 0, 0, extent=way)]
    for number, i in enumerate(turns):
        at = _extremum(p_of, float(x[i]), float(x[i + 2]))
        facts.append(Fact((Kind.limit,), float(p_of(at)), (at, float(Y(at))), number % 2, 1 - number % 2))
    return (*facts, Fact((Kind.opens,), last, (last, 0.0), 0, 0, extent=way))


def _extremum(p_of: Callable[..., Any], low: float, high: float) -> float:
    h = 1e-3 * (high - low)

    def slope(x: float) -> float:
        return float(p_of(x + h) - p_of(x - h))

    return float(brentq(slope, low, high, xtol=1e-15 * abs(high)))


def make_window(rng: np.random.Generator, length: float, m: float, w: float) -> Case:
    d, a = 10 ** rng.uniform(-2, 1), rng.normal()
    reach = w * np.sqrt(np.log1p(d))
    numbers = {"m": m, "w": w, "d": d, "a": a, "b": 10 ** rng.uniform(-1, 1)}
    return Case("window", numbers, length, forks([(m - reach, 0, 1), (m + reach, 1, 0)], a))


def make_pair(rng: np.random.Generator, length: float, m: float, w: float) -> Case:
    a = rng.normal()
    numbers = {"m": m, "w": w, "d": length * rng.uniform(0.1, 1), "a": a, "b": 10 ** rng.uniform(-1, 1)}
    return Case("pair", numbers, length, forks([(m - w, 0, 1), (m + w, 1, 0)], a))


def make_modes(rng: np.random.Generator, length: float, m: float, w: float) -> Case:
    a = rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-1, 1)
    numbers = {"m": m, "w": w, "d": length * rng.uniform(0.1, 1), "a": a, "b": 10 ** rng.uniform(-1, 1)}
    degrees = (0, 1, 2) if a > 0 else (1, 2, 1)
    return Case("modes", numbers, length, forks([(m - w, *degrees[:2]), (m + w, *degrees[1:])], 0.0))


def make_bump(rng: np.random.Generator, length: float, m: float, w: float) -> Case:
    d = w * 10 ** rng.uniform(-2, 0.5)
    b = d * (1 + 10 ** rng.uniform(-1, 1))
    reach = w * np.sqrt(np.log(b / d))

    def hill(x: Any) -> Any:
        return b * np.exp(-(((x - m) / w) ** 2))

    facts = in_the_way(
        (m - reach, m + reach), lambda x: hill(x) - d, lambda x: x - (hill(x) - d) * hill(x) * 2 * (x - m) / w**2
    )
    return Case("bump", {"m": m, "w": w, "d": d, "a": 1.0, "b": b}, length, facts)


def make_peg(rng: np.random.Generator, length: float, m: float, w: float) -> Case:
    d = w * rng.uniform(0.05, 0.95)
    reach = np.sqrt(w**2 - d**2)

    def p_of(x: Any) -> Any:
        root = np.sqrt(w**2 - (x - m) ** 2)
        return x - (root - d) * (x - m) / root

    facts = in_the_way((m - reach, m + reach), lambda x: np.sqrt(w**2 - (x - m) ** 2) - d, p_of)
    return Case("peg", {"m": m, "w": w, "d": d, "a": 1.0, "b": 1.0}, length, facts)


MAKERS = (make_window, make_pair, make_modes, make_bump, make_peg)


def case_of(seed: int) -> Case:
    """The first feature of a seed that lies within the path, in p as well."""
    rng = np.random.default_rng(seed)
    while True:
        length = 10 ** rng.uniform(-2, 2)
        m, w = length * rng.uniform(0.1, 0.9), length * 10 ** rng.uniform(-4.3, -0.5)
        case = MAKERS[seed % len(MAKERS)](rng, length, m, w)
        if all(0.01 * length < fact.p < 0.99 * length for fact in case.facts):
            return case


def truth(case: Case) -> Truth:
    """Positions are measured by p and x, which are of one size."""
    degree = case.facts[-1].after
    end = Fact((Kind.bound,), case.length, (case.numbers["a"] * case.length, 0.0), degree or 0, None)
    if case.name == "modes":
        end = replace(end, q=(0.0, 0.0))
    size = max(case.length, abs(end.q[0]))
    return Truth(_placed((*case.facts, end)), Status.bound_reached, case.length, case.length, (size, case.length))


def _placed(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """With arc length: the longer of the ways in p and in q[0]."""
    s, p, x, placed = 0.0, 0.0, 0.0, []
    for fact in facts:
        s += max(abs(fact.p - p), abs(fact.q[0] - x) if fact.kinds[0] is Kind.limit else 0.0)
        p, x = fact.p, fact.q[0]
        placed.append(replace(fact, s=s))
    return tuple(placed)


def found(case: Case) -> Path:
    system = template(case.name).replace(parameters={k: float(v) for k, v in case.numbers.items()})
    bounds = (-0.05 * case.length, case.length)
    return onesided.trace(system, [0.0, 0.0], 0.0, p_bounds=bounds, throw=False, max_points=20000, max_events=20)


def judge(seed: int) -> Verdict:
    case = case_of(seed)
    return compare(truth(case), found(case))


def main(seed: int) -> None:
    """Print truth and result."""
    case = case_of(seed)
    path = found(case)
    lines = [f"{case.name} {case.numbers} length {case.length}", "TRUE", truth(case).words(), "FOUND"]
    lines += [*(fact.words() for fact in facts_of(path)), f"ends: {path.status.name} {path.note} ({len(path)} points)"]
    sys.stdout.write("\n".join([*lines, repr(compare(truth(case), path))]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
