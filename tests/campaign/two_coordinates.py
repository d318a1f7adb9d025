"""Random quartics of two coordinates with up to two gaps: `python -m tests.campaign.two_coordinates SEED`.

Paths are held against a walk in tiny steps; of every third seed the whole diagram, against that walk and all
Kuhn–Tucker points at several values of p.
"""

import sys
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

import onesided
from onesided import Diagram, Path, System

from .kkt import holds, points_at
from .plane import Plane, State, Vector, Walk, Wall, corrected, degree, reactions, truth_of
from .polynomials import UndecidedError
from .verdicts import Truth, Verdict, compare, facts_of

STEP = 4e-3
FINER = 8  # steps of the second walk before anything is called an error
POWERS = [(i, j) for i in range(5) for j in range(5 - i) if i + j]
EXACT = 1e-7


@dataclass(frozen=True)
class Case:
    """A system, an equilibrium with the gaps closed there, and the direction of p."""

    plane: Plane
    closed: tuple[int, ...]
    start: Vector
    direction: int


def energy(q: Any, p: Any, th: Any) -> Any:
    x, y = q[0], q[1]
    V = sum(getattr(th, f"c{i}{j}") * x**i * y**j for i, j in POWERS)
    return V + p * (th.b1 * x + th.b2 * y + (th.k1 * x**2 + 2 * th.k2 * x * y + th.k3 * y**2) / 2)


def gap(i: int, q: Any, p: Any, th: Any) -> Any:
    a, b, c, e, d = (getattr(th, f"{name}_{i}") for name in "abced")
    return a + b * q[0] + c * q[1] + e * (q[0] ** 2 + q[1] ** 2) + d * p


@lru_cache
def template(walls: int) -> System:
    """One compiled system for each number of gaps."""
    names = [f"c{i}{j}" for i, j in POWERS] + ["b1", "b2", "k1", "k2", "k3"]
    names += [f"{name}_{i}" for i in range(walls) for name in "abced"]
    gaps = {f"w{i}": partial(gap, i) for i in range(walls)}
    return System(("x", "y"), energy, unilateral=gaps, parameters=dict.fromkeys(names, 1.0))


def stated(plane: Plane) -> System:
    numbers = {f"c{i}{j}": c for i, j, c in plane.terms} | dict(
        zip(("b1", "b2", "k1", "k2", "k3"), plane.load, strict=True)
    )
    numbers |= {f"{name}_{i}": getattr(wall, name) for i, wall in enumerate(plane.walls) for name in "abced"}
    return template(len(plane.walls)).replace(parameters=numbers)


def random_wall(rng: np.random.Generator) -> Wall:
    """A line, or the outside or inside of a circle; some move with p."""
    angle, d = rng.uniform(0, 2 * np.pi), float(rng.choice([0.0, rng.normal() * 0.3]))
    x, y = rng.uniform(-1, 1, 2)
    if rng.random() < 0.6:
        b, c = np.cos(angle), np.sin(angle)
        return Wall(float(-b * x - c * y), float(b), float(c), 0.0, d)
    r, sign = 10 ** rng.uniform(-1.5, 0), float(rng.choice([-1.0, 1.0]))
    r = r if sign > 0 else r + 0.5
    return Wall(float(sign * (x * x + y * y - r * r)), float(-2 * sign * x), float(-2 * sign * y), sign, d)


def random_plane(rng: np.random.Generator) -> Plane:
    """Coercive: the quartic form is (x² + y²)² and a little more."""
    terms = {(i, j): rng.normal() * {1: 0.3, 2: 1.0, 3: 0.7, 4: 0.15}[i + j] for i, j in POWERS}
    for power, c in (((4, 0), 1.0), ((2, 2), 2.0), ((0, 4), 1.0), ((2, 0), -1.0), ((0, 2), -1.0)):
        terms[power] += c
    load = (*rng.normal(size=2), *(0.5 * rng.normal(size=3)))
    walls = tuple(random_wall(rng) for _ in range(rng.integers(0, 3)))
    span = float(rng.uniform(0.5, 3))
    return Plane(
        tuple((i, j, float(c)) for (i, j), c in terms.items()), tuple(float(v) for v in load), walls, (-span, span)
    )


def case_of(seed: int) -> Case:
    """The first case of a seed whose truth is decided; four of five have events on the way."""
    rng = np.random.default_rng(seed)
    while True:
        plane = random_plane(rng)
        p = float(rng.uniform(*plane.bounds))
        try:
            places = points_at(plane, p)
            if places:
                closed, z = places[rng.integers(len(places))]
                case = Case(plane, closed, z, int(rng.choice([-1, 1])))
                if len(walk(case, STEP).facts) > 1 or seed % 5 == 0:
                    return case
        except UndecidedError:
            continue


@lru_cache(maxsize=4)
def walk(case: Case, step: float) -> Walk:
    """The path in tiny steps of one length."""
    state = State(case.closed, corrected(case.plane, case.closed, case.start), 1)
    if state.ahead(case.plane)[2] * case.direction < 0:
        state = replace(state, sense=-1)
    return Walk(case.plane, state, step).run()


def truth(case: Case, step: float = STEP) -> Truth:
    return truth_of(walk(case, step))


def found(case: Case) -> Path:
    ends = {"max_points": 3000, "max_events": 100}
    x, y, p = case.start
    return onesided.trace(
        stated(case.plane), [x, y], p, direction=case.direction, p_bounds=case.plane.bounds, throw=False, **ends
    )


def judge_path(case: Case, path: Path) -> Verdict:
    """The path against the walk; where they differ, against a finer walk."""
    wrong = strange_point(case.plane, path)
    if wrong and path.ok and not path.note:
        return Verdict("silent", 1.0, wrong)
    verdict = compare(truth(case), path)
    if verdict.outcome == "right":
        return verdict
    try:
        return compare(truth(case, STEP / FINER), path)
    except UndecidedError:
        return Verdict("undecided", why=f"not decided by finer steps; {verdict.why}")


def strange_point(plane: Plane, path: Path) -> str:
    """The first point of a path that is no Kuhn–Tucker point of the degree told, in words; events are left out."""
    special = {event.index for event in path.events} | {0}
    for k in range(len(path)):
        closed = tuple(int(i) for i in np.flatnonzero(path.codes[k] == 2))
        z = (float(path.q[k, 0]), float(path.q[k, 1]), float(path.p[k]))
        if k in special or len(closed) > 2:
            continue
        off = np.hypot(*np.subtract(corrected(plane, closed, z), z)[:2])
        if off > EXACT or not holds(plane, closed, z, EXACT) or degree(plane, closed, z) != path.instability[k]:
            told = f"degree {path.instability[k]}, true {degree(plane, closed, z)}"
            forces = f"reactions {reactions(plane, closed, z)}"
            return f"point {k} at {z} with {closed} closed is off by {off:.2g}; {told}; {forces}"
    return ""


def crossings(points: list[tuple[Any, Vector]], p: float) -> int:
    """How often a polyline passes a value of p."""
    side = np.sign([z[2] - p for _, z in points])
    return int((side[1:] * side[:-1] < 0).sum())


def judge_diagram(case: Case, diagram: Diagram) -> Verdict:
    """Every crossing of a level is a Kuhn–Tucker point, and all that hang together with the start are there."""
    both = [walk(replace(case, direction=sense), STEP) for sense in (1, -1)]
    if both[0].end is onesided.Status.closed:
        both = both[:1]
    low, high = case.plane.bounds
    for p in np.linspace(low, high, 5)[1:-1] + 0.01 * (high - low):
        known = len(points_at(case.plane, float(p)))
        true = sum(crossings(one.points, float(p)) for one in both)
        got = sum(
            crossings([((), (*q, v)) for q, v in zip(path.q, path.p, strict=True)], float(p)) for path in diagram.paths
        )
        if got != true:
            why = f"p = {p:.6g}: {got} crossings, true {true} of {known} Kuhn-Tucker points"
            return Verdict("flagged" if not diagram.complete else "silent", 1.0, why + f"; {diagram!r} {diagram.note}")
        if true > known:
            raise UndecidedError("the walk and the resultants disagree")
    wrong = "".join(strange_point(case.plane, path) for path in diagram.paths)
    return Verdict("silent", 1.0, wrong) if wrong else Verdict("right")


def judge(seed: int) -> Verdict:
    case = case_of(seed)
    if seed % 3 == 0:
        try:
            x, y, p = case.start
            walk(replace(case, direction=-case.direction), STEP)
            diagram = onesided.diagram(stated(case.plane), [x, y], p, p_bounds=case.plane.bounds)
            return judge_diagram(case, diagram)
        except UndecidedError:
            pass
    return judge_path(case, found(case))


def main(seed: int) -> None:
    """Print truth and result."""
    case = case_of(seed)
    path = found(case)
    lines = [repr(case), "TRUE", truth(case).words(), "FOUND", *(fact.words() for fact in facts_of(path)[:20])]
    lines += [f"ends: {path.status.name} {path.note} ({len(path)} points)", repr(judge(seed))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
