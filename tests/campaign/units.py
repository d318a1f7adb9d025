"""The same systems in other units, origins and coordinates: `python -m tests.campaign.units SEED`.

Even seeds state a system of one coordinate in units from 1e-9 to 1e9, either sign, with origins up to 1e6 sizes away.
Odd seeds hide it among further coordinates behind a linear map with condition number 1 to 1e6.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np

import onesided
from onesided import Path, System

from . import one_coordinate
from .line import MOST
from .one_coordinate import Case, Units, first_case
from .verdicts import Fact, Truth, Verdict, compare, facts_of

ACCURACY = 1e-6  # relative to the sizes of the path, for origins 1e6 sizes away or condition 1e6
EXTRA = 3


def far_units(rng: np.random.Generator) -> Units:
    """Any unit, any origin."""
    q_unit, p_unit = rng.choice([-1.0, 1.0], 2) * 10 ** rng.uniform(-9, 9, 2)
    q_off, p_off = rng.choice([0.0, 1.0, -1e3, 1e3, 1e6], 2)
    energy, gap = 10 ** rng.uniform(-9, 9, 2)
    return Units(*(float(v) for v in (q_off * q_unit, q_unit, p_off * p_unit, p_unit, energy, gap)))


def case_of(seed: int) -> Case:
    return first_case(seed, lambda case: bool(one_coordinate.truth(case).facts), far_units)


def back_from(units: Units) -> Callable[[Fact], Fact]:
    """From the stated units to the plain ones."""
    return lambda fact: replace(
        fact, p=(fact.p - units.p_at) / units.p_unit, q=((fact.q[0] - units.q_at) / units.q_unit,)
    )


def blurred(truth: Truth, case: Case) -> Truth:
    """To the accuracy asked for, relative to the whole system where the path itself is short."""
    low, high = case.line.bounds
    q_size, p_size = max(truth.q_size[0], case.line.size), max(truth.p_size, high - low)
    return replace(truth, blur=ACCURACY, p_size=p_size, q_size=(q_size,))


@dataclass(frozen=True)
class Hidden:
    """A case of one coordinate among further ones z = s p, behind (x, z) = A q."""

    case: Case
    A: np.ndarray
    s: np.ndarray
    k: np.ndarray


def coordinates(q: Any, th: Any, n: int) -> list[Any]:
    return [sum(getattr(th, f"A{i}{j}") * q[j] for j in range(n)) for i in range(n)]


def energy(n: int, q: Any, p: Any, th: Any) -> Any:
    x, *z = coordinates(q, th, n)
    springs = sum(getattr(th, f"k{i}") * (z[i] - getattr(th, f"s{i}") * p) ** 2 / 2 for i in range(n - 1))
    return one_coordinate.energy(jnp.stack([x]), p, th) + springs


def gap(n: int, i: int, q: Any, p: Any, th: Any) -> Any:
    return one_coordinate.gap(i, jnp.stack([coordinates(q, th, n)[0]]), p, th)


@lru_cache
def template(n: int, gaps: int) -> System:
    """One compiled system for each number of coordinates and gaps."""
    more = {f"A{i}{j}": float(i == j) for i in range(n) for j in range(n)}
    more |= {f"{c}{i}": 1.0 for i in range(n - 1) for c in "sk"}
    walls = {f"w{i}": partial(gap, n, i) for i in range(gaps)}
    numbers = {**one_coordinate.template(gaps).parameters, **more}
    return System(tuple(f"q{i}" for i in range(n)), partial(energy, n), unilateral=walls, parameters=numbers)


def hidden_of(seed: int) -> Hidden:
    rng = np.random.default_rng(seed)
    case = one_coordinate.case_of(seed)
    n, condition = 2 + len(case.line.gaps) % EXTRA, 10 ** rng.uniform(0, 6)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    stretch = condition ** -np.linspace(0, 1, n) * 10 ** rng.uniform(-3, 3)
    return Hidden(case, left @ np.diag(stretch) @ right, rng.normal(size=n - 1), 10 ** rng.uniform(-1, 1, n - 1))


def found_hidden(hidden: Hidden) -> Path:
    line, start = hidden.case.line, hidden.case.start
    plain = one_coordinate.stated(line, hidden.case.units).parameters
    n = len(hidden.A)
    more = {f"A{i}{j}": float(hidden.A[i, j]) for i in range(n) for j in range(n)}
    more |= {f"{c}{i}": float(v) for c, values in (("s", hidden.s), ("k", hidden.k)) for i, v in enumerate(values)}
    system = template(n, len(line.gaps)).replace(parameters={**plain, **more})
    q = np.linalg.solve(hidden.A, [start.x, *(hidden.s * start.p)])
    ends = {"max_points": 3000, "max_events": 2 * MOST}
    return onesided.trace(
        system, q, start.p, direction=hidden.case.direction, p_bounds=line.bounds, throw=False, **ends
    )


def true_hidden(hidden: Hidden) -> Truth:
    truth = one_coordinate.truth(hidden.case)
    facts = tuple(replace(fact, q=(*fact.q, *(hidden.s * fact.p))) for fact in truth.facts)
    truth = blurred(truth, hidden.case)
    sizes = (*truth.q_size, *np.maximum(np.abs(hidden.s), 1.0) * truth.p_size)
    return replace(truth, facts=facts, q_size=sizes)


def judged(seed: int) -> tuple[str, Truth, Path, Callable[[Fact], Fact]]:
    """What is asked, what is true, what was found, and the way back to the variables of the truth."""
    if seed % 2:
        hidden = hidden_of(seed)
        return (
            repr(hidden),
            true_hidden(hidden),
            found_hidden(hidden),
            lambda fact: replace(fact, q=tuple(float(v) for v in hidden.A @ np.array(fact.q))),
        )
    case = case_of(seed)
    truth = blurred(one_coordinate.truth(case), case)
    return repr(case), truth, one_coordinate.found(case), back_from(case.units)


def judge(seed: int) -> Verdict:
    _, truth, path, back = judged(seed)
    return compare(truth, path, back)


def main(seed: int) -> None:
    """Print truth and result, in the variables of the truth."""
    asked, truth, path, back = judged(seed)
    lines = [asked, "TRUE", truth.words(), "FOUND", *(back(fact).words() for fact in facts_of(path)[:20])]
    lines += [f"ends: {path.status.name} {path.note} ({len(path)} points)", repr(compare(truth, path, back))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
