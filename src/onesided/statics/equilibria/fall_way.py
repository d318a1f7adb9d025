"""The way of a fall for pictures: admissible states of falling energy, close enough to be played."""

import itertools

import numpy as np

from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array
from onesided.results import FallStates
from onesided.statics.equilibria.falls import Fall, Landing, standing
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.equilibria.proximal import restored
from onesided.statics.equilibria.settling import LocalModel

FRAMES = 32  # about how many states a fall is told by
MEASURED = HALF_DIGITS  # share of the energy released by which energies may rise by rounding


def way_of(where: Standpoint, landing: Landing, how: Fall) -> FallStates:
    """States from a lost equilibrium to where it lands: those that the descent has seen, and some between them.

    A state between two others lies on the line that joins them, mended to meet the constraints. States that are not
    admissible or whose energy is not between that of their neighbours are left out: what is played falls everywhere.
    """
    system, start = where.system, standing(where)
    problem, q_from = start.problem, where.x[: system.n]
    reached = problem.at(landing.state.q / where.sizes.length, problem.scaled(landing.state.nu))
    kept = _falling([start, *_mended(start, landing.seen), reached])
    filled = _falling(list(_between(kept)))
    q = np.array([q_from, *(one.z * where.sizes.length for one in filled[1:-1]), landing.state.q])
    energy = np.array([one.U for one in filled]) * where.sizes.energy
    gaps = np.array([one.c[problem.k :] * problem.gap[problem.k :] for one in filled])
    p = np.full(len(q), where.x[system.n])
    motion = "descent" if how == "descent" else "damped"
    return FallStates(q, energy, np.maximum(gaps, 0.0), system.measured(q, p), motion)


def _mended(start: LocalModel, seen: tuple[tuple[Array, Array], ...]) -> list[LocalModel]:
    """Points of a descent that meet the constraints: its steps do so a little less than exactly."""
    found = (restored(start.problem.at(z, nu)) for z, nu in _some(start.z, seen))
    return [one for one in found if one is not None and one.finite]


def _some(first: Array, seen: tuple[tuple[Array, Array], ...]) -> list[tuple[Array, Array]]:
    """Of many points those that are some distance from each other."""
    way = np.cumsum([np.max(np.abs(b - a), initial=0.0) for a, b in itertools.pairwise([first, *(z for z, _ in seen)])])
    cells = np.floor(FRAMES * way / (way[-1] or 1.0)) if len(way) else way
    return [point for i, point in enumerate(seen) if i == 0 or cells[i] != cells[i - 1]]


def _falling(points: list[LocalModel]) -> list[LocalModel]:
    """First and last point, and those between whose energies fall from the first to the last."""
    last = points[-1]
    noise = MEASURED * abs(points[0].U - last.U)
    kept = points[:1]
    for one in points[1:-1]:
        if last.U - noise <= one.U < kept[-1].U:
            kept.append(one)
    return [*kept, last]


def _between(points: list[LocalModel]) -> list[LocalModel]:
    """The points, with others between those that are far from each other."""
    steps = [float(np.max(np.abs(b.z - a.z), initial=0.0)) for a, b in itertools.pairwise(points)]
    found = points[:1]
    for a, b, step in zip(points, points[1:], steps, strict=False):
        for share in np.linspace(0.0, 1.0, max(round(FRAMES * step / (sum(steps) or 1.0)), 1) + 1)[1:-1]:
            one = restored(a.problem.at(a.z + share * (b.z - a.z), a.problem.none))
            if one is not None and one.finite and b.U <= one.U <= a.U:
                found.append(one)
        found.append(b)
    return found
