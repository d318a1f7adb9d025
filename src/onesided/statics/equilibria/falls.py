"""From a lost equilibrium to the stable state below it, at constant p.

The lost point is left along its falling direction: the critical mode, in the sense in which the load pushes it. From
there the energy is lowered until a minimum confirms itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from onesided.base.tolerances import EPS, SOME_DIGITS
from onesided.base.types import Array, Indices, Mask, Status
from onesided.results import Equilibrium, Event, Kind
from onesided.statics.curves.spectrum import spectrum_at
from onesided.statics.curves.stability import falling_direction
from onesided.statics.equilibria.find_equilibrium import confirmed, describe
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.equilibria.pushes import definite_shift, lowest_mode, push
from onesided.statics.equilibria.relax import Relaxation, Relaxed, descend
from onesided.statics.equilibria.settling import DescentProblem, LocalModel

Fall = Literal["descent", "damped", "both"]
SAME = SOME_DIGITS  # landings that differ by less, in units of length, are the same
UNDECIDED = SOME_DIGITS  # share of its terms below which the load does not push a mode to either side
VERGE = SOME_DIGITS  # stiffness, relative to the usual one, of states that vanish within rounding of p
AGAIN = 4  # landings that turn out not to be minima, and are left
SENSITIVE = "the landing is sensitive: descent and overdamped motion reach different states"
EITHER = "either side is as good: an imperfection decides which of two states is reached"
NEUTRAL = "a mode of the state reached is neutral"


@dataclass(frozen=True)
class Landing:
    """The state reached, what is to be said about it, the factorisations it took, and points on the way, scaled."""

    state: Equilibrium
    note: str
    factorisations: int
    seen: tuple[tuple[Array, Array], ...] = ()


@dataclass(frozen=True)
class Lost:
    """An equilibrium that was lost: where, what happened there, and in which sense p was going."""

    where: Standpoint
    event: Event | None
    sense: int


@dataclass(frozen=True)
class WayOut:
    """A direction in which a point may be left, with the constraints held on the way."""

    t: Array
    closed: Mask
    either: bool = False


def fall(lost: Lost, how: Fall) -> Landing | Status:
    """The stable state below a lost equilibrium, or why there is none."""
    if how != "both":
        return _fall(lost, Relaxation(damped=how == "damped"))
    quick, slow = (_fall(lost, Relaxation(damped=damped)) for damped in (False, True))
    if not isinstance(slow, Landing) or not isinstance(quick, Landing):
        return quick if isinstance(quick, Landing) else slow
    apart = float(np.max(np.abs(quick.state.q - slow.state.q) / lost.where.sizes.length))
    notes = [slow.note, SENSITIVE if apart > SAME else ""]
    told = "; ".join(n for n in notes if n)
    return Landing(slow.state, told, quick.factorisations + slow.factorisations, slow.seen)


def _fall(lost: Lost, knobs: Relaxation) -> Landing | Status:
    """Try the ways off the lost point in turn; the first that leads to a stable state is taken."""
    here, why = standing(lost.where), Status.stalled
    for way in _ways(lost, here):
        pushed = push(here, way.t, way.closed, knobs.push)
        if pushed is None:
            continue
        found = _land(lost, descend(pushed.end, knobs, shift=pushed.shift, reach=pushed.reach), knobs)
        if isinstance(found, Landing) and _is_below(found.state, here):
            both = way.either and push(here, -way.t, way.closed, knobs.push) is not None
            return replace(found, note=EITHER if both else found.note, factorisations=here.problem.programme.count)
        why = why if isinstance(found, Landing) else found
    return why


def _is_below(state: Equilibrium, here: LocalModel) -> bool:
    """Whether a state lies elsewhere, and not higher; the descent saw the energy fall where round-off hides it."""
    before = float(here.blocks.energy)
    moved = float(np.max(np.abs(state.q / here.problem.sizes.length - here.z), initial=0.0))
    return moved > SAME and state.energy <= before + EPS * (abs(before) + abs(state.energy))


def standing(where: Standpoint) -> LocalModel:
    """The point of a place in scaled variables."""
    n, system = where.system.n, where.system
    problem = DescentProblem(system, where.x[:n], float(where.x[n]), where.sizes)
    return problem.at(where.x[:n] / where.sizes.length, problem.scaled(where.x[n + 1 :]))


def _land(lost: Lost, end: Relaxed, knobs: Relaxation) -> Landing | Status:
    """Confirm that a descent ended in a minimum; where it did not, go on from there."""
    where, tolerances = lost.where, lost.where.tolerances
    system, p, sizes = where.system, float(where.x[where.system.n]), where.sizes
    seen: tuple[tuple[Array, Array], ...] = ()
    for _ in range(AGAIN):
        if end.status is not Status.solved:
            return end.status
        seen += end.seen
        found = confirmed(system, p, end, sizes, tolerances)
        state = describe(system, found.q, p, found.nu, sizes=sizes, tolerances=tolerances)
        told = Landing(state, EITHER if end.either else "", end.factorisations, seen)
        there = place(system, np.concatenate([found.q, [p], found.nu]), sizes, tolerances)
        here = standing(there)
        if state.minimum and not _on_the_verge(there, here):
            return told
        ways = _modes(Lost(there, None, lost.sense), here, set())
        pushes = (push(here, way.t, way.closed, knobs.push) for way in ways)
        pushed = next((one for one in pushes if one is not None), None)
        if pushed is None and state.minimum is not False:
            return told
        if pushed is None:
            return replace(told, note=NEUTRAL) if not state.instability else Status.stalled
        end = descend(pushed.end, knobs, shift=pushed.shift, reach=pushed.reach)
    return Status.stalled if state.minimum is False else Status.max_iterations  # from one such state to the next


def _on_the_verge(where: Standpoint, here: LocalModel) -> bool:
    """Whether a state is so soft that it may be about to vanish: at a limit point p is known to rounding only."""
    if where.system.derivatives.large:
        return False
    found = spectrum_at(here.blocks, here.blocks.c_q[where.strong], where.sizes, where.tolerances)
    return bool(np.any(found.kappa <= VERGE))


def _ways(lost: Lost, here: LocalModel) -> Iterator[WayOut]:
    """Directions off a lost point, the most likely first."""
    event, tried = lost.event, set[bytes]()
    if event is not None and event.kind is Kind.limit:
        yield from _along_rays(lost, event)
    yield from _modes(lost, here, tried)
    if event is not None:
        yield from _along_rays(lost, event)
        rows = (np.array(event.rays[i].rows, dtype=np.intp) for i in event.forward)
        yield from _modes_on(lost, here, rows, tried)  # of which there may be hundreds


def _along_rays(lost: Lost, event: Event) -> Iterator[WayOut]:
    """The directions in which equilibria lead on."""
    for i in event.forward:
        ray = event.rays[i]
        if np.any(ray.q_dot):
            yield WayOut(ray.q_dot / lost.where.sizes.length, _mask(lost.where, np.array(ray.rows, dtype=np.intp)))


def _modes(lost: Lost, here: LocalModel, tried: set[bytes]) -> Iterator[WayOut]:
    """Lowest modes with the weakly active constraints open, and closed, to both sides; one that all of them admit."""
    where = lost.where
    plain = [where.strong, *([np.concatenate([where.strong, where.weak])] if len(where.weak) else [])]
    yield from _modes_on(lost, here, plain, tried)
    if len(where.weak) > 1 and not where.system.derivatives.large:
        yield from _inside_the_cone(where)


def _modes_on(lost: Lost, here: LocalModel, sets: Iterable[Indices], tried: set[bytes]) -> Iterator[WayOut]:
    """Lowest modes on sets of closed constraints that have not been tried yet, to both sides."""
    for mask in (_mask(lost.where, rows) for rows in sets):
        mode = None if mask.tobytes() in tried else lowest_mode(here, mask)
        tried.add(mask.tobytes())
        if mode is not None:
            side, either = _side(lost, here, mode, mask)
            yield from (WayOut(side * mode, mask, either), WayOut(-side * mode, mask, either))


def _inside_the_cone(where: Standpoint) -> Iterator[WayOut]:
    """A falling direction that several weakly active constraints admit together."""
    e = where.system.evaluate_packed(where.x)
    t = falling_direction(e, where.strong, where.weak, where.sizes, where.tolerances)
    if t is not None:
        yield WayOut(t, _mask(where, where.strong))


def _side(lost: Lost, here: LocalModel, mode: Array, closed: Mask) -> tuple[float, bool]:
    """The sign of a mode to which the load pushes as p goes on, and whether it pushes to neither."""
    if definite_shift(here, closed) is None:
        return 1.0, True
    sizes, gap = lost.where.sizes, here.problem.gap
    load = here.blocks.L_qp * sizes.length / sizes.energy
    moved, _ = here.problem.programme.solve(-load, -here.blocks.c_p / gap)
    pushed, terms = lost.sense * float(moved @ mode), float(np.abs(moved) @ np.abs(mode))
    return (1.0 if pushed > 0 else -1.0), abs(pushed) <= UNDECIDED * terms


def _mask(where: Standpoint, rows: Indices) -> Mask:
    """Truth per constraint: whether it is among the closed rows."""
    mask = np.zeros(len(where.system.constraint_names), dtype=bool)
    mask[rows] = True
    return mask
