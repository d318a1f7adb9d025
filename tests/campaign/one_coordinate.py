"""Random systems of one coordinate with up to three gaps: `python -m tests.campaign.one_coordinate SEED`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

import onesided
from onesided import Path, System

from .line import MOST, Gap, Line, Spot, departing, equilibria, truth_of
from .polynomials import UndecidedError
from .verdicts import Truth, Verdict, compare, facts_of

DEGREE = 8
SHOWN = 20  # events that are printed


@dataclass(frozen=True)
class Units:
    """x = (q − q_at)/q_unit, p = (load − p_at)/p_unit, energy in `energy`, gap i in `gap`."""

    q_at: float = 0.0
    q_unit: float = 1.0
    p_at: float = 0.0
    p_unit: float = 1.0
    energy: float = 1.0
    gap: float = 1.0


@dataclass(frozen=True)
class Case:
    """A system, a start, the direction in which p begins to change, and the units it is stated in."""

    line: Line
    start: Spot
    direction: int
    units: Units = Units()


def energy(q: Any, p: Any, th: Any) -> Any:
    x, load = (q[0] - th.q_at) / th.q_unit, (p - th.p_at) / th.p_unit
    V = sum(getattr(th, f"v{k}") * x**k for k in range(1, DEGREE + 1))
    return th.energy * (V - load * x + th.c * load * x**2)


def gap(i: int, q: Any, p: Any, th: Any) -> Any:
    x, load = (q[0] - th.q_at) / th.q_unit, (p - th.p_at) / th.p_unit
    a, b, e, d = (getattr(th, f"{letter}{i}") for letter in "abed")
    return th.gap * (a + b * x + e * x**2 + d * load)


@lru_cache
def template(gaps: int) -> System:
    """One compiled system for each number of gaps."""
    numbers = {f"v{k}": 1.0 for k in range(1, DEGREE + 1)} | {f"{c}{i}": 1.0 for i in range(gaps) for c in "abed"}
    units = dict.fromkeys(Units.__dataclass_fields__, 1.0)
    walls = {f"w{i}": partial(gap, i) for i in range(gaps)}
    return System(("x",), energy, unilateral=walls, parameters={**numbers, "c": 0.0, **units})


def stated(line: Line, units: Units) -> System:
    """The system of the library."""
    v = {f"v{k}": float(line.V.coef[k]) if k < len(line.V.coef) else 0.0 for k in range(1, DEGREE + 1)}
    walls = {f"{name}{i}": getattr(g, name) for i, g in enumerate(line.gaps) for name in "abed"}
    return template(len(line.gaps)).replace(parameters={**v, **walls, "c": line.c, **vars(units)})


def found(case: Case) -> Path:
    """What the library traces."""
    u = case.units
    low, high = sorted(u.p_at + u.p_unit * b for b in case.line.bounds)
    q, p = u.q_at + u.q_unit * case.start.x, u.p_at + u.p_unit * case.start.p
    p = min(max(p, low), high)
    return onesided.trace(
        stated(case.line, u),
        [q],
        p,
        direction=case.direction if u.p_unit > 0 else -case.direction,
        p_bounds=(low, high),
        throw=False,
        max_points=3000,
        max_events=2 * MOST,
    )


def truth(case: Case) -> Truth:
    """What is true, in the units of the plain system."""
    return truth_of(case.line, departing(case.line, case.start, case.direction))


def random_gap(rng: np.random.Generator, height: float) -> Gap:
    """Linear or quadratic, fixed or moving with p."""
    at, sign = rng.uniform(-1.2, 1.2), rng.choice([-1.0, 1.0])
    moves = rng.choice([0.0, rng.normal() / height])
    if rng.random() < 0.6:
        return Gap(-sign * at, sign, 0.0, moves)
    r = 10 ** rng.uniform(-4, 0)  # a peg, or a slot
    return Gap(sign * (at**2 - r**2), -2 * sign * at, sign, moves * r)


def random_line(rng: np.random.Generator) -> Line:
    """A wavy polynomial; bounds that cut it somewhere."""
    degree = int(rng.integers(1, DEGREE))
    coefficients = rng.normal(size=degree + 1) * np.linspace(1, 0.5, degree + 1)
    P = Chebyshev(coefficients).convert(kind=Polynomial)
    P *= 10 ** rng.uniform(-1, 1)
    values = P(np.linspace(-1.1, 1.1, 60))
    middle, height = (values.max() + values.min()) / 2, float(np.ptp(values))
    c = rng.choice([0.0, rng.uniform(-0.3, 0.3)])
    gaps = tuple(random_gap(rng, height) for _ in range(rng.integers(0, 4)))
    low, high = middle - height * rng.uniform(0.3, 1.0), middle + height * rng.uniform(0.3, 1.0)
    return Line(P.integ(), float(c), gaps, (float(low), float(high)))


def first_case(seed: int, decided: Callable[[Case], bool], units: Callable[[np.random.Generator], Units]) -> Case:
    """The first case drawn from a seed whose truth does not hang on round-off."""
    rng = np.random.default_rng(seed)
    while True:
        line = random_line(rng)
        p = float(rng.uniform(*line.bounds))
        try:
            spots = equilibria(line, p)
            if not spots:
                continue
            case = Case(line, spots[rng.integers(len(spots))], int(rng.choice([-1, 1])), units(rng))
            if decided(case):
                return case
        except UndecidedError:
            continue


def plain_units(rng: np.random.Generator) -> Units:
    """Of the order of one."""
    return Units(energy=float(10 ** rng.uniform(-1, 1)), gap=float(10 ** rng.uniform(-1, 1)))


def case_of(seed: int) -> Case:
    return first_case(seed, lambda case: bool(truth(case).facts), plain_units)


def judge(seed: int) -> Verdict:
    case = case_of(seed)
    return compare(truth(case), found(case))


def main(seed: int, make: Callable[[int], Case] = case_of) -> None:
    """Print truth and result side by side."""
    case = make(seed)
    path = found(case)
    lines = [repr(case), "TRUE", truth(case).words(), "FOUND", *(fact.words() for fact in facts_of(path)[:SHOWN])]
    lines += [f"ends: {path.status.name} {path.note} ({len(path)} points)", repr(compare(truth(case), path))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
