"""Three coordinates behind a curved map, with curved gaps of their own: `python -m tests.campaign.curved SEED`.

A system of one coordinate x is joined by two springs z = s p with a stop each. All three are hidden behind
z₂ = v, z₁ = u + c v², x = w + a u² + b v, with (w, u, v) in units of their own: gaps become curved surfaces, the energy
a polynomial of high degree. Equilibria, degrees and events are those of the parts, in the order of p along the path.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np

import onesided
from onesided import Kind, Path, System

from . import one_coordinate
from .line import MOST, legs, samples
from .line import departing as departing_from
from .one_coordinate import Case
from .verdicts import Fact, Truth, Verdict, compare, facts_of

ACCURACY = 1e-7
APART = 1e-2  # share of the range of p by which a stop keeps away from all other events
STOPS = 2


@dataclass(frozen=True)
class Curved:
    """A case of one coordinate, two springs of rate s with stops at p = at, a bend (a, b, c), three units."""

    case: Case
    s: np.ndarray
    at: np.ndarray
    bend: np.ndarray
    units: np.ndarray

    def inner(self, q: np.ndarray) -> np.ndarray:
        """(x, z₁, z₂) of the coordinates of the library."""
        w, u, v = np.asarray(q) * self.units
        a, b, c = self.bend
        return np.array([w + a * u**2 + b * v, u + c * v**2, v])

    def outer(self, inner: np.ndarray) -> np.ndarray:
        """The way back."""
        x, z1, v = inner
        a, b, c = self.bend
        u = z1 - c * v**2
        return np.array([x - a * u**2 - b * v, u, v]) / self.units

    def springs(self, p: float) -> np.ndarray:
        """Where the springs are: they follow p as far as the stops."""
        return np.asarray(self.s * np.minimum(p, self.at))


def inner(q: Any, th: Any) -> tuple[Any, Any, Any]:
    w, u, v = (q[i] * getattr(th, f"unit{i}") for i in range(3))
    return w + th.bend0 * u**2 + th.bend1 * v, u + th.bend2 * v**2, v


def energy(q: Any, p: Any, th: Any) -> Any:
    x, *z = inner(q, th)
    springs = sum((z[i] - getattr(th, f"s{i}") * p) ** 2 / 2 for i in range(STOPS))
    return one_coordinate.energy(jnp.stack([x]), p, th) + springs


def wall(i: int, q: Any, p: Any, th: Any) -> Any:
    return one_coordinate.gap(i, jnp.stack([inner(q, th)[0]]), p, th)


def stop(i: int, q: Any, p: Any, th: Any) -> Any:
    return jnp.sign(getattr(th, f"s{i}")) * (getattr(th, f"s{i}") * getattr(th, f"at{i}") - inner(q, th)[1 + i])


@lru_cache
def template(gaps: int) -> System:
    """One compiled system for each number of gaps."""
    names = [
        f"{name}{i}" for name, count in (("s", STOPS), ("at", STOPS), ("bend", 3), ("unit", 3)) for i in range(count)
    ]
    walls = {f"w{i}": partial(wall, i) for i in range(gaps)} | {f"stop{i}": partial(stop, i) for i in range(STOPS)}
    numbers = {**one_coordinate.template(gaps).parameters, **dict.fromkeys(names, 1.0)}
    return System(("w", "u", "v"), energy, unilateral=walls, parameters=numbers)


def case_of(seed: int) -> Curved:
    """The first case of a seed whose stops are hit apart from all other events."""
    rng = np.random.default_rng([seed, STOPS])
    for further in range(MOST):
        case = one_coordinate.case_of(seed + further * 1_000_003)
        truth = one_coordinate.truth(case)
        low, high = case.line.bounds
        special = np.array([case.start.p, low, high, *(fact.p for fact in truth.facts)])
        for _ in range(MOST):
            at, s = rng.uniform(low, high, STOPS), rng.normal(size=STOPS) / (high - low)
            both = np.abs(np.subtract.outer([*at, *special], at)) + (high - low) * np.eye(STOPS + len(special), STOPS)
            if both.min() > APART * (high - low) and np.abs(s).min() > APART / (high - low):
                bend, units = rng.normal(size=3) * [0.5, 1.0, 0.5], 10 ** rng.uniform(-2, 2, 3) ** (seed % 2)
                return Curved(case, s, at, bend, np.ones(3) * units)
    raise AssertionError(f"seed {seed} has no case")


def crossings(curved: Curved, p: np.ndarray) -> Iterator[tuple[float, int]]:
    """Where the values of p along a stretch pass stops, in order, as a fractional index, and which."""
    found = [
        (float(k + (at - p[k]) / (p[k + 1] - p[k])), i)
        for i, at in enumerate(curved.at)
        for k in np.flatnonzero((p[:-1] - at) * (p[1:] - at) < 0)
    ]
    return iter(sorted(found))


def truth_of(curved: Curved) -> Truth:
    """The events of the one coordinate, and those of the stops between them."""
    case = curved.case
    plain = one_coordinate.truth(case)
    sizes = np.array([plain.q_size[0], plain.p_size])
    given, facts, s, degree = iter(plain.facts), [], 0.0, None
    for leg in legs(case.line, departing_from(case.line, case.start, case.direction)):
        curve = samples(case.line, leg)
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0) / sizes, axis=1))])
        own = [next(given) for _ in leg.facts]
        degree = own[0].before if own else degree
        for place, i in crossings(curved, curve[:, 1]):
            kind = Kind.closes if curve[-1, 1] > curve[0, 1] else Kind.opens
            x = float(np.interp(place, np.arange(len(curve)), curve[:, 0]))
            near = float(np.interp(place, np.arange(len(along)), along))
            facts.append(Fact((kind,), float(curved.at[i]), (x,), degree or 0, degree or 0, s + near))
        s += along[-1]
        facts += own
        degree = own[-1].after if own else degree
    return _whole(curved, replace(plain, facts=tuple(facts), blur=ACCURACY))


def _whole(curved: Curved, truth: Truth) -> Truth:
    """With all coordinates; x at a stop is interpolated, and known to that accuracy only."""
    facts = tuple(replace(fact, q=(*fact.q, *curved.springs(fact.p))) for fact in truth.facts)
    line = curved.case.line
    x_size = max(truth.q_size[0], line.size)
    return replace(truth, facts=facts, p_size=line.bounds[1] - line.bounds[0], q_size=(x_size, 1.0, 1.0))


def found(curved: Curved) -> Path:
    case = curved.case
    groups = {"s": curved.s, "at": curved.at, "bend": curved.bend, "unit": curved.units}
    numbers = {f"{name}{i}": float(v) for name, values in groups.items() for i, v in enumerate(values)}
    plain = one_coordinate.stated(case.line, case.units).parameters
    system = template(len(case.line.gaps)).replace(parameters={**plain, **numbers})
    start = curved.outer(np.array([case.start.x, *curved.springs(case.start.p)]))
    ends = {"max_points": 3000, "max_events": 4 * MOST, "p_bounds": case.line.bounds}
    return onesided.trace(system, start, case.start.p, direction=case.direction, throw=False, **ends)


def back_from(curved: Curved, truth: Truth):
    """From the coordinates of the library to the plain ones; x at a stop is taken for true where it is close."""
    at_stops = [fact for fact in truth.facts if fact.p in curved.at]

    def back(fact: Fact) -> Fact:
        x, *z = (float(v) for v in curved.inner(np.array(fact.q)))
        near = [one.q[0] for one in at_stops if abs(one.p - fact.p) < ACCURACY and abs(one.q[0] - x) < APART]
        return replace(fact, q=(min(near, key=lambda other: abs(other - x)) if near else x, *z))

    return back


def judge(seed: int) -> Verdict:
    curved = case_of(seed)
    truth = truth_of(curved)
    return compare(truth, found(curved), back_from(curved, truth))


def main(seed: int) -> None:
    """Print truth and result."""
    curved = case_of(seed)
    truth, path = truth_of(curved), found(curved)
    back = back_from(curved, truth)
    lines = [repr(curved), "TRUE", truth.words(), "FOUND", *(back(fact).words() for fact in facts_of(path)[:20])]
    lines += [f"ends: {path.status.name} {path.note} ({len(path)} points)", repr(compare(truth, path, back))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
