"""Energies that are no polynomials, with walls: `python -m tests.campaign.waves SEED`.

Pendulums and washboards, fine waves on a coarse well, exponentials, poles, rational hills, with one coordinate or
hidden among others: springs and pendulums that follow p, a coordinate tied by a nonlinear bilateral constraint, a wall
stated twice, an energy with a large offset, all behind a linear change of coordinates. Every event is a root of a
function of x alone [`line`].
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.polynomial import Polynomial

import onesided
from onesided import Kind, Path, Status, System

from . import drives
from .line import MOST, Gap, Line, Spot, admissible, degree_of, departing, equilibria, truth_of
from .one_coordinate import Units
from .polynomials import UndecidedError
from .smooth import Smooth, as_smooth, growth, hill, pole, wave
from .verdicts import Fact, Truth, Verdict, compare, facts_of

WALLS = 2
LANDS = 1e-6  # accuracy of a state, in units of x
OFF = (Gap(20.0, 1.0, 0.0, 0.0), Gap(30.0, 1.0, 0.0, 0.0))  # walls so far away that no path meets them
TERMS = {"wave": (3, ("h", "w", "f")), "grow": (2, ("h", "r")), "pole": (2, ("h", "c")), "hill": (2, ("h", "c", "w"))}
IDLE = {"wave": (0.0, 1.0, 0.0), "grow": (0.0, 1.0), "pole": (0.0, 1e3), "hill": (0.0, 0.0, 1.0)}
MAKERS: dict[str, Callable[..., Smooth]] = {"wave": wave, "grow": growth, "pole": pole, "hill": hill}
Rows = dict[str, list[tuple[float, ...]]]


@dataclass(frozen=True)
class Hidden:
    """Coordinates q = A (x, z₁, …, w) · units, where springs z follow `follow` · p; offsets of energy and of p.

    Attributes
    ----------
    others : number of springs z; tied : whether there is a w = sin x + p; twice : whether each wall is stated twice.
    """

    A: np.ndarray
    follow: np.ndarray
    tied: bool = False
    twice: bool = False
    offset: float = 0.0
    q_at: float = 0.0
    p_at: float = 0.0

    @property
    def others(self) -> int:
        return len(self.follow)

    def outer(self, x: float, p: float) -> np.ndarray:
        """Coordinates of the library of an equilibrium."""
        inner = [x, *(self.follow * p), *([np.sin(x) + p] if self.tied else [])]
        return np.asarray(self.A @ np.array(inner) + self.q_at)

    def inner(self, q: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.solve(self.A, np.asarray(q) - self.q_at))


@dataclass(frozen=True)
class Case:
    """A system of one coordinate with what its energy is made of, a start, a direction of p, and its disguise."""

    line: Line
    rows: Rows
    well: tuple[float, float, float]
    start: Spot
    direction: int
    hidden: Hidden


def inner_of(n: int, q: Any, p: Any, th: Any) -> tuple[list[Any], Any]:
    """Coordinates of the statement and p."""
    return [sum(th[f"i{i}{j}"] * (q[j] - th.q_at) for j in range(n)) for i in range(n)], p - th.p_at


def energy(n: int, others: int, q: Any, p: Any, th: Any) -> Any:
    (x, *z), load = inner_of(n, q, p, th)
    V = th.b2 * x**2 / 2 + th.b3 * x**3 / 3 + th.b4 * x**4 / 4 - load * x + th.c * load * x**2
    V += sum(th[f"wave{k}h"] * jnp.cos(th[f"wave{k}w"] * x + th[f"wave{k}f"]) for k in range(3))
    V += sum(th[f"grow{k}h"] * jnp.exp(th[f"grow{k}r"] * x) for k in range(2))
    V += sum(th[f"pole{k}h"] / jnp.abs(x - th[f"pole{k}c"]) for k in range(2))
    V += sum(th[f"hill{k}h"] / (1 + ((x - th[f"hill{k}c"]) / th[f"hill{k}w"]) ** 2) for k in range(2))
    for i in range(others):
        off = z[i] - th[f"s{i}"] * load
        V += off**2 / 2 if i % 2 else 1 - jnp.cos(off)
    return th.offset * (1 + load) + V


def gap(n: int, i: int, q: Any, p: Any, th: Any) -> Any:
    (x, *_), load = inner_of(n, q, p, th)
    a, b, e, d = (th[f"{letter}{i}"] for letter in "abed")
    return a + b * x + e * x**2 + d * load


def again(n: int, i: int, q: Any, p: Any, th: Any) -> Any:
    """The same wall in other words."""
    return (2 + jnp.cos(inner_of(n, q, p, th)[0][0])) * gap(n, i, q, p, th)


def tie(n: int, q: Any, p: Any, th: Any) -> Any:
    (x, *_, w), load = inner_of(n, q, p, th)
    return w - jnp.sin(x) - load


@lru_cache
def template(others: int, tied: bool, twice: bool) -> System:
    """One compiled system for each form."""
    n = 1 + others + tied
    names = [
        f"{kind}{k}{letter}" for kind, (count, letters) in TERMS.items() for k in range(count) for letter in letters
    ]
    names += ["b2", "b3", "b4", "c", "offset", "q_at", "p_at", *(f"s{i}" for i in range(others))]
    names += [f"{letter}{i}" for i in range(WALLS) for letter in "abed"]
    names += [f"i{i}{j}" for i in range(n) for j in range(n)]
    walls = {f"w{i}": partial(gap, n, i) for i in range(WALLS)}
    walls |= {f"again{i}": partial(again, n, i) for i in range(WALLS)} if twice else {}
    return System(
        tuple(f"q{i}" for i in range(n)),
        partial(energy, n, others),
        bilateral={"tie": partial(tie, n)} if tied else {},
        unilateral=walls,
        parameters=dict.fromkeys(names, 1.0),
    )


def walls_of(case: Case) -> tuple[Gap, ...]:
    """As many walls as are stated."""
    return (*case.line.gaps, *OFF)[:WALLS]


def stated(case: Case) -> System:
    """The system of the library."""
    hidden, numbers = case.hidden, {}
    for kind, (count, letters) in TERMS.items():
        for k in range(count):
            values = case.rows[kind][k] if k < len(case.rows.get(kind, [])) else IDLE[kind]
            numbers |= {f"{kind}{k}{letter}": value for letter, value in zip(letters, values, strict=True)}
    gaps = walls_of(case)
    numbers |= {f"{letter}{i}": getattr(g, letter) for i, g in enumerate(gaps) for letter in "abed"}
    numbers |= dict(zip(("b2", "b3", "b4"), case.well, strict=True)) | {"c": case.line.c}
    numbers |= {f"s{i}": v for i, v in enumerate(hidden.follow)}
    numbers |= {f"i{i}{j}": v for (i, j), v in np.ndenumerate(np.linalg.inv(hidden.A))}
    numbers |= {"offset": hidden.offset, "q_at": hidden.q_at, "p_at": hidden.p_at}
    form = template(hidden.others, hidden.tied, hidden.twice)
    return form.replace(parameters={key: float(value) for key, value in numbers.items()})


def found(case: Case) -> Path:
    """What the library traces."""
    p_at = case.hidden.p_at
    return onesided.trace(
        stated(case),
        case.hidden.outer(case.start.x, case.start.p),
        case.start.p + p_at,
        direction=case.direction,
        p_bounds=(case.line.bounds[0] + p_at, case.line.bounds[1] + p_at),
        throw=False,
        max_points=5000,
        max_events=2 * MOST,
    )


def truth(case: Case) -> Truth:
    """What is true, unless a wall pushes x over a pole."""
    found = truth_of(case.line, departing(case.line, case.start, case.direction))
    low, high = case.line.V.ends
    if not all(low < fact.q[0] < high for fact in found.facts):
        raise UndecidedError("a pole is passed")
    return found


def back(case: Case, fact: Fact) -> Fact:
    """From the coordinates of the library to x."""
    return replace(fact, q=(float(case.hidden.inner(np.array(fact.q))[0]),), p=fact.p - case.hidden.p_at)


def pick(rng: np.random.Generator, kind: str) -> tuple[Rows, tuple[float, float, float]]:
    """Terms of the energy besides the well b₂x²/2 + b₃x³/3 + b₄x⁴/4, and the well."""
    low, high = rng.uniform(0.5, 3.0, 2)
    if kind == "pendulum":
        waves = [(rng.normal(), rng.uniform(0.5, 4.0), rng.uniform(0, 6.3)) for _ in range(rng.integers(1, 4))]
        return {"wave": waves}, (rng.choice([0.0, rng.uniform(0.1, 1.0)]), 0.0, 0.0)
    if kind == "washboard":
        w = 10 ** rng.uniform(1.0, 2.0)
        return {"wave": [(rng.uniform(0.2, 2.0) / w**2, w, rng.uniform(0, 6.3))]}, (rng.normal(), rng.normal(), low)
    if kind == "growth":
        return {"grow": [(rng.normal(), low), (rng.uniform(0.1, 1.0), -high)]}, (rng.normal(), rng.normal(), 0.0)
    if kind == "poles":
        poles = [(rng.uniform(0.1, 1.0), -low - 0.5), (rng.uniform(0.1, 1.0), high + 0.5)]
        return {"pole": poles, "wave": [(rng.normal(), rng.uniform(2, 8), 0.0)]}, (rng.normal(), rng.normal(), 0.0)
    hills = [(rng.normal(), rng.uniform(-1, 1), 10 ** rng.uniform(-1.3, 0)) for _ in range(2)]
    return {"hill": hills}, (rng.uniform(0.0, 2.0), 0.0, rng.uniform(0.0, 2.0))


KINDS = ("pendulum", "washboard", "growth", "poles", "hills")


def random_gap(rng: np.random.Generator, height: float) -> Gap:
    """A wall, fixed or moved by p, or a slot."""
    at, sign, moves = rng.uniform(-1.5, 1.5), rng.choice([-1.0, 1.0]), rng.choice([0.0, rng.normal() / height])
    if rng.random() < 0.7:
        return Gap(-sign * at, sign, 0.0, moves)
    r = 10 ** rng.uniform(-1, 0)
    return Gap(sign * (at**2 - r**2), -2 * sign * at, sign, moves * r)


def hide(rng: np.random.Generator, seed: int) -> Hidden:
    """One coordinate as it is, or up to five of them."""
    form = (seed // len(KINDS)) % 4
    others, tied, twice = ((0, False, False), (1, False, False), (1, True, False), (3, True, True))[form]
    n = 1 + others + tied
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = turn * 10 ** rng.uniform(-1, 1, n) if form else np.array([[10 ** rng.uniform(-3, 3)]])
    offset = float(rng.choice([0.0, 0.0, 1.0, 1e3, 1e6]))
    origin = float(rng.choice([0.0, 0.0, 10.0])) * float(np.abs(A).max())
    return Hidden(A, 0.5 * rng.normal(size=others), tied, twice, offset, origin, float(rng.choice([0.0, 0.0, 100.0])))


def random_line(rng: np.random.Generator, kind: str) -> tuple[Line, Rows, tuple[float, float, float]]:
    rows, well = pick(rng, kind)
    V = as_smooth(Polynomial([0.0, 0.0, well[0] / 2, well[1] / 3, well[2] / 4]))
    for name, terms in rows.items():
        for term in terms:
            V = V + MAKERS[name](*term)
    x = np.linspace(-1.1, 1.1, 400)
    values = V.deriv()(x[(x > V.ends[0] + 0.1) & (x < V.ends[1] - 0.1)])
    middle, height = (values.max() + values.min()) / 2, float(np.ptp(values))
    c = float(rng.choice([0.0, 0.0, rng.uniform(-0.1, 0.1)]))
    gaps = tuple(random_gap(rng, height) for _ in range(rng.integers(0, WALLS + 1)))
    low, high = middle - height * rng.uniform(0.3, 1.0), middle + height * rng.uniform(0.3, 1.0)
    return Line(V, c, gaps, (float(low), float(high))), rows, well


def case_of(seed: int) -> Case:
    """The first case of a seed whose truth does not hang on round-off; three of four have more than one event."""
    rng = np.random.default_rng([seed, 13])
    kind = KINDS[seed % len(KINDS)]
    while True:
        line, rows, well = random_line(rng, kind)
        p = float(rng.uniform(*line.bounds))
        try:
            spots = equilibria(line, p)
            if not spots:
                continue
            spot = spots[rng.integers(len(spots))]
            case = Case(line, rows, well, spot, int(rng.choice([-1, 1])), hide(rng, seed))
            if len(truth(case).facts) > min(seed % 4, 1):
                return case
        except UndecidedError:
            continue


def judge(seed: int) -> Verdict:
    """Of every twenty seeds in turn paths, histories, single equilibria and diagrams."""
    case = case_of(seed)
    verb = (trace_right, trace_right, drive_right, solve_right, diagram_right)[(seed // 20) % 5]
    return verb(case, np.random.default_rng([seed, 17]))


def trace_right(case: Case, _: np.random.Generator) -> Verdict:
    return compare(truth(case), found(case), partial(back, case))


def drive_right(case: Case, rng: np.random.Generator) -> Verdict:
    """All jumps of a history that begins in a stable state, and where it ends."""
    targets = tuple(float(v) for v in rng.uniform(*case.line.bounds, 3))
    plan = drives.Case(case.line, case.start, targets, Units())
    if degree_of(case.line, case.start):
        return trace_right(case, rng)
    try:
        slides, x_end = drives.history(plan)
    except UndecidedError:
        return trace_right(case, rng)
    hidden = case.hidden
    programme = [p + hidden.p_at for p in (case.start.p, *targets)]
    drive = onesided.drive(stated(case), hidden.outer(case.start.x, case.start.p), programme, throw=False)
    x = [float(hidden.inner(q)[0]) for jump in drive.jumps for q in (jump.q_from, jump.q_to)]
    got = [(jump.p - hidden.p_at, *x[2 * k : 2 * k + 2]) for k, jump in enumerate(drive.jumps)]
    true = [(slide.p, slide.x_from, slide.x_to) for slide in slides]
    end = float(hidden.inner(drive.paths[-1].q[-1])[0]) if drive.paths else np.nan
    sizes = np.array([case.line.bounds[1] - case.line.bounds[0], 1e3, 1.0])
    alike = len(got) == len(true) and bool(np.all(np.abs(np.subtract(got, true)).reshape(-1, 3) <= LANDS * sizes))
    if drive.ok and alike and abs(end - x_end) <= LANDS:
        return Verdict("right")
    why = f"{drive.status.name} {drive.note}; true {true} to {x_end}; found {got} to {end}"
    return Verdict("silent" if drive.ok and not drive.note else "flagged", 1.0, why)


def solve_right(case: Case, rng: np.random.Generator) -> Verdict:
    """An equilibrium from beside the start is one of all of them, as stable as it is."""
    guess = case.hidden.outer(case.start.x + 0.3 * float(rng.normal()), case.start.p)
    solution = onesided.solve(stated(case), guess, case.start.p + case.hidden.p_at, throw=False)
    if not solution.ok and solution.status is not Status.dependent:
        return Verdict("flagged", 1.0, f"{solution.status.name} {solution.note}")
    x = float(case.hidden.inner(solution.value.q)[0])
    line = replace(case.line, gaps=walls_of(case))
    low, high = as_smooth(line.V).ends
    if not low < x < high:
        return Verdict("undecided", 1.0, "the list of all equilibria ends at poles")
    here = Spot(None, x, case.start.p)  # it ends some way from the walls, too
    known = equilibria(line, case.start.p) or []
    far = [here] if all(abs(x) > abs(spot.x) + LANDS for spot in known) and balances(line, here) else []
    near = [spot for spot in (*known, *far) if abs(spot.x - x) <= LANDS]
    if len(near) == 1 and degree_of(case.line, near[0]) == solution.value.instability:
        return Verdict("right")
    return Verdict("silent", 1.0, f"x = {x}, degree {solution.value.instability}; true {near}")


def balances(line: Line, spot: Spot) -> bool:
    """Whether the force changes its sign within the accuracy of a state, and no wall is in the way."""
    sides = [line.force(spot.x + side, spot.p) for side in (-LANDS, LANDS)]
    return sides[0] * sides[1] < 0 and admissible(line, spot)


def diagram_right(case: Case, rng: np.random.Generator) -> Verdict:
    """The special points of the path to either side, each once."""
    try:
        both = [truth(replace(case, direction=sense)) for sense in (1, -1)]
    except UndecidedError:
        return trace_right(case, rng)
    p_at, low, high = case.hidden.p_at, *case.line.bounds
    q, p, ends = case.hidden.outer(case.start.x, case.start.p), case.start.p + p_at, (low + p_at, high + p_at)
    diagram = onesided.diagram(stated(case), q, p, p_bounds=ends)
    own = [fact for one in both for fact in one.facts if Kind.bound not in fact.kinds and not fact.part]
    true = {(round(fact.p / (high - low), 5), round(fact.q[0], 4)) for fact in own}
    got = {
        (round((event.p - p_at) / (high - low), 5), round(float(case.hidden.inner(event.q)[0]), 4))
        for event in diagram.events
        if event.p not in ends
    }
    if same_places(true, got):
        return Verdict("right")
    why = f"{diagram!r} {diagram.note}; true {sorted(true)}; found {sorted(got)}"
    return Verdict("silent" if diagram.complete else "flagged", 1.0, why)


def same_places(a: set[tuple[float, float]], b: set[tuple[float, float]]) -> bool:
    """Whether every place of one set is in the other."""

    def within(some: set[tuple[float, float]], others: set[tuple[float, float]]) -> bool:
        return all(any(abs(p - r) < 1e-4 and abs(x - y) < 1e-3 for r, y in others) for p, x in some)

    return within(a, b) and within(b, a)


def main(seed: int) -> None:
    """Print truth and result."""
    case = case_of(seed)
    path = found(case)
    lines = [repr(case), "TRUE", truth(case).words(), "FOUND", *(back(case, f).words() for f in facts_of(path)[:30])]
    lines += [f"ends: {path.status.name} {path.note} ({len(path)} points)"]
    sys.stdout.write("\n".join([*lines, repr(compare(truth(case), path, partial(back, case)))]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
