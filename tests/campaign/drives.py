"""Histories of one coordinate with folds, stops and jumps: `python -m tests.campaign.drives SEED`.

Where a stable path turns back the coordinate slides at constant p to the next root of the force or to the next stop.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

import onesided
from onesided import Drive

from .line import REACH, STILL, Gap, Line, Spot, degree_of, departing, equilibria, meet, next_event, p_sense
from .one_coordinate import Units, plain_units, random_line, stated
from .polynomials import UndecidedError, real_roots
from .verdicts import Verdict

BLUR = 1e-7
SPLIT = 1e-4  # distance of what is left of a double root that is not divided out
MOST = 30  # events between two turning points of the programme


@dataclass(frozen=True)
class Slide:
    """A jump at constant p."""

    p: float
    x_from: float
    x_to: float

    def words(self) -> str:
        return f"p = {self.p:.9g}: {self.x_from:.9g} -> {self.x_to:.9g}"


@dataclass(frozen=True)
class Case:
    """A stable start, and the values of p to go to in turn."""

    line: Line
    start: Spot
    targets: tuple[float, ...]
    units: Units


def history(case: Case) -> tuple[list[Slide], float]:
    """All jumps, and where the coordinate is in the end."""
    spot, slides = case.start, []
    for target in case.targets:
        for end, slide in _leg(case.line, spot, target):
            spot = end
            slides += [slide] if slide else []
    return slides, spot.x


def _leg(line: Line, spot: Spot, target: float) -> Iterator[tuple[Spot, Slide | None]]:
    """From one turning point of the programme to the next, state by state."""
    sense = 1 if target > spot.p else -1
    there = replace(line, bounds=(target, target))
    spot = departing(line, spot, sense)
    for _ in range(MOST):
        clear = STILL * (line.size if spot.gap is None or line.gaps[spot.gap].d else line.bounds[1] - line.bounds[0])
        what, stop = next_event(there, spot, clear)
        if what == "bound":
            yield stop, None
            return
        _, onward, end = meet(line, what, stop, 0)
        if end is not None or onward is None:
            raise UndecidedError("the stable path ends without a jump")
        spot = onward
        if what == "limit" or degree_of(line, onward) > 0 or p_sense(line, onward) != sense:
            landed = landing(line, stop, what, sense)
            spot = departing(line, landed, sense)
            yield spot, Slide(stop.p, stop.x, landed.x)
    raise UndecidedError("too many events")


def landing(line: Line, stop: Spot, what: object, sense: int) -> Spot:
    """The first equilibrium that a coordinate meets when it slides away at constant p."""
    force = line.V_x - stop.p * line.D
    if what == "limit":
        towards, force = np.sign(float(line.D(stop.x)) * sense), without(without(force, stop.x), stop.x)
    else:
        assert stop.gap is not None
        towards, force = np.sign(line.gaps[stop.gap].slope(stop.x)), without(force, stop.x)
    places: list[tuple[float, int | None]] = [(x, None) for x in real_roots(force, line.size)]
    for j, gap in enumerate(line.gaps):
        places += [(x, j) for x in real_roots(_other(gap, stop, j), line.size)]
    clear = (STILL if isinstance(force, Polynomial) else SPLIT) * line.size
    ahead = [(towards * (x - stop.x), x, gap) for x, gap in places if towards * (x - stop.x) > clear]
    if not ahead:
        raise UndecidedError("nothing stops the slide")
    _, x, which = min(ahead, key=lambda place: place[0])
    if abs(x) > REACH * line.size:
        raise UndecidedError("so far out that the polynomial is inaccurate")
    return Spot(which, x, stop.p)


def _other(gap: Gap, stop: Spot, j: int) -> Polynomial:
    """A gap at constant p, without the root that has just been left."""
    values = gap.of_x + gap.d * stop.p
    return without(values, stop.x) if stop.gap == j else values


def without(f: Any, root: float) -> Any:
    """f / (x − root); what is no polynomial keeps its root."""
    if not isinstance(f, Polynomial):
        return f
    f = f.trim()
    return f // Polynomial([-root, 1.0]) if f.degree() > 0 else f


def case_of(seed: int) -> Case:
    """The first case of a seed whose history is decided; two of three have a jump."""
    rng = np.random.default_rng(seed)
    while True:
        line = random_line(rng)
        p, *targets = (float(v) for v in rng.uniform(*line.bounds, 4))
        try:
            spots = [spot for spot in equilibria(line, p) if degree_of(line, spot) == 0]
            if not spots:
                continue
            case = Case(line, spots[rng.integers(len(spots))], tuple(targets), units_of(rng, seed))
            if history(case)[0] or seed % 3 == 0:
                return case
        except UndecidedError:
            continue


def units_of(rng: np.random.Generator, seed: int) -> Units:
    """Every fourth in units far from one."""
    plain = plain_units(rng)
    if seed % 4:
        return plain
    q_unit, p_unit = (float(v) for v in 10 ** rng.uniform(-3, 3, 2))
    return replace(plain, q_unit=q_unit, p_unit=p_unit, q_at=float(rng.normal()) * q_unit)


def found(case: Case) -> Drive:
    u = case.units
    programme = [u.p_at + u.p_unit * p for p in (case.start.p, *case.targets)]
    return onesided.drive(stated(case.line, u), [u.q_at + u.q_unit * case.start.x], programme, throw=False)


def slides_of(case: Case, drive: Drive) -> tuple[list[Slide], float]:
    """What was found, in plain units."""
    u = case.units

    def x(q: np.ndarray) -> float:
        return float((q[0] - u.q_at) / u.q_unit)

    slides = [Slide((j.p - u.p_at) / u.p_unit, x(j.q_from), x(j.q_to)) for j in drive.jumps]
    return slides, x(drive.paths[-1].q[-1]) if drive.paths else np.nan


def compare(case: Case, drive: Drive) -> Verdict:
    """All jumps in order, and the same state in the end."""
    (true, true_end), (got, got_end) = history(case), slides_of(case, drive)
    k = next((k for k, pair in enumerate(zip(true, got, strict=False)) if not _same(case, *pair)), None)
    k = min(len(true), len(got)) if k is None and len(true) != len(got) else k
    if k is None and drive.ok and abs(got_end - true_end) <= BLUR * case.line.size:
        return Verdict("right")
    told = [slides[k].words() if k is not None and k < len(slides) else "no jump" for slides in (true, got)]
    why = f"jump {k}: true {told[0]}; found {told[1]}; ends at {true_end:.9g}, found {got_end:.9g}"
    width = abs(true[k].x_to - true[k].x_from) / case.line.size if k is not None and k < len(true) else 1.0
    outcome = "silent" if drive.ok and not drive.note else "flagged"
    return Verdict(outcome, width, f"{drive.status.name} {drive.note}; {why}")


def _same(case: Case, a: Slide, b: Slide) -> bool:
    span = case.line.bounds[1] - case.line.bounds[0]
    return (
        abs(a.p - b.p) <= BLUR * span
        and abs(a.x_from - b.x_from) <= BLUR**0.5 * case.line.size
        and abs(a.x_to - b.x_to) <= BLUR * case.line.size
    )


def judge(seed: int) -> Verdict:
    case = case_of(seed)
    return compare(case, found(case))


def main(seed: int) -> None:
    """Print truth and result."""
    case = case_of(seed)
    drive = found(case)
    lines = [repr(case)]
    for title, (slides, end) in (("TRUE", history(case)), ("FOUND", slides_of(case, drive))):
        lines += [title, *(slide.words() for slide in slides), f"ends at {end:.9g}"]
    lines += [f"{drive.status.name} {drive.note}", repr(compare(case, drive))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
