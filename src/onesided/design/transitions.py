"""All stable states that slow loading up and down can reach, and the jumps between them.

Every stable branch is traced once, to both its ends. Where it ends within the range of p the system falls; the state
it lands in lies on a branch that is known, or on a new one, whose ends are looked at in turn.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import SILENT, Progress, Total
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.design.known_branches import KnownBranches
from onesided.linalg import one_thread
from onesided.results import Equilibrium, Event, Kind, Path, Ray, State
from onesided.results.state_graph import StableBranch, Transition, Transitions
from onesided.statics.equilibria.falls import Fall, Lost
from onesided.statics.equilibria.falls import fall as fall_from
from onesided.statics.equilibria.find_equilibrium import equilibrium
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.notes import noted, refuse_history
from onesided.statics.rays.naming import held_by
from onesided.statics.stable_legs import known_rays, leading_rays, loses_stability, stable_leg, starts_stable
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.path_method import Origin
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.defaults import bounds_of
from onesided.system.defaults import where as asked
from onesided.system.system import System

IDLE = 4  # so many legs in turn that do not move mean that a branch cannot go on
LIMIT = "the limit of {} stable branches was reached: raise `max_states`"


@checked
def transitions(  # noqa: PLR0913 - each knob is a need of its own
    system: System,
    p_range: tuple[float, float] | None = None,
    *,
    q0: Any = None,
    p0: float | None = None,
    max_states: int = 1000,
    fall: Fall = "descent",
    method: PredictorCorrector | None = None,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Transitions:
    """The graph of the stable branches that slow loading within a range of p can reach, and of the jumps between them.

    Parameters
    ----------
    p_range : least and largest p; by default the file's.
    q0, p0 : configuration to start from, relaxed at p0, or a list of several; by default that of the file.
    max_states : the search ends after so many branches, and says so (`complete`).
    fall : how jumps are computed, as for `drive`; "both" tells where landings are sensitive.
    throw : after Ctrl-C raise a `SolveError` that holds the graph so far, or return it.
    """
    refuse_history(system)
    start = asked(system, q0, p0, bounds_of(system, p_range))
    if not start.bounds[0] <= start.p <= start.bounds[1] or not np.all(np.isfinite(start.bounds)):
        raise UsageError(
            f"the start is outside the range of {system.control}, or the range is not finite",
            got=f"{start.p:g} in {start.bounds}", expected="low ≤ p0 ≤ high",
        )  # fmt: skip
    several = not hasattr(start.q, "keys") and np.ndim(start.q) == 2
    states = [equilibrium(system, q, start.p, tolerances=tolerances).value for q in (start.q if several else [start.q])]
    search = _GraphSearch(Origin(_standing(system, states[0], tolerances), PathWatch(start.bounds, {}, tolerances),
                            method or PredictorCorrector(), progress=Total(progress)), fall, max_states)  # fmt: skip
    progress.begin("transitions")
    try:
        with one_thread():
            search.run(states)
    except KeyboardInterrupt:
        search.stop(Status.interrupted, "interrupted")
    finally:
        progress.end()
    found = search.result()
    if throw and found.status is Status.interrupted:
        raise SolveError(found.status.value, found, got=found.note)
    return found


def _standing(system: System, state: Equilibrium, tolerances: Tolerances) -> Standpoint:
    """The place of a first state, with sizes of its own, which are kept from then on."""
    return place(system, _packed(state), system.sizes(state.q, state.p), tolerances)


def _packed(state: Equilibrium) -> Array:
    return np.concatenate([state.q, [state.p], state.nu])


@dataclass(frozen=True)
class _BranchEnd:
    """Where a branch ends: the place, the event there, stable rays that lead on, or why nothing more is known."""

    where: Standpoint
    event: Event | None = None
    onward: tuple[Ray, ...] = ()
    failure: str = ""

    @property
    def open(self) -> bool:
        """Whether there is something to find out beyond: it is not the end of the range."""
        return self.event is not None or bool(self.failure)


class _GraphSearch:
    """The branches and transitions found so far, and the ends that wait."""

    def __init__(self, origin: Origin, how: Fall, most: int) -> None:
        self.origin, self.how, self.most = origin, how, most
        self.system, self.total = origin.where.system, origin.progress
        self.known = KnownBranches(self.system, origin.where.sizes, origin.where.tolerances)
        self.states: list[StableBranch] = []
        self.edges: list[Transition] = []
        self.starts: list[int] = []
        self.waiting: deque[tuple[int, int, _BranchEnd]] = deque()
        self.status, self.notes = Status.solved, list[str]()
        self.provenance: dict[str, Any] = {}

    def run(self, states: list[Equilibrium]) -> None:
        """Exhaust what can be reached from some states."""
        for state in states:
            number = self._enter(self._stable(state))
            if number is not None and number not in self.starts:
                self.starts.append(number)
        while self.waiting and self.status is Status.solved:
            self._pursue(*self.waiting.popleft())

    def stop(self, status: Status, note: str) -> None:
        """End the search early, with a status and a note."""
        self.status = status
        self.notes.append(note)

    def result(self) -> Transitions:
        """The graph of the states and transitions found so far."""
        sensitive = sum(1 for edge in self.edges if edge.target is not None and edge.note)
        remarks = [*self.notes, *([f"{sensitive} transitions have remarks on their landings"] if sensitive else [])]
        return Transitions(
            self.system.coordinates, self.system.control, self.origin.watch.p_bounds, tuple(self.states),
            tuple(self.edges), tuple(self.starts), complete=not self.notes, status=self.status,
            note=noted(self.system, "; ".join(remarks)), provenance={**self.provenance, "fall": self.how},
        )  # fmt: skip

    def _place(self, x: Array) -> Standpoint:
        return place(self.system, x, self.origin.where.sizes, self.origin.where.tolerances)

    def _stable(self, state: Equilibrium) -> Equilibrium:
        """The state itself, or the stable one below it."""
        if state.instability == 0:
            return state
        found = fall_from(Lost(self._place(_packed(state)), None, 1), self.how)
        if isinstance(found, Status):
            raise SolveError("no stable state is in reach of the start", state, got=found.value)
        return found.state

    def _enter(self, state: Equilibrium) -> int | None:
        """The number of the branch a state lies on, which is traced where it is new; None at the limit."""
        number = self.known.find(state.q, state.p)
        if number is not None:
            return number
        if len(self.states) == self.most:
            self.stop(Status.enough, LIMIT.format(self.most))
            return None
        where = self._place(_packed(state))
        rays = known_rays(where)
        (down, low), (up, high) = (self._half(where, rays, sense) for sense in (-1, 1))
        branch = _joined(self.system, state, down, up)
        number = self.known.same_ends(branch.p[[0, -1]], branch.q[[0, -1]])
        if number is not None:
            return number
        self.states.append(branch)
        self.known.add(branch.p, branch.q)
        number = len(self.states) - 1
        self.waiting.extend((number, sense, end) for sense, end in ((-1, low), (1, high)) if end.open)
        return number

    def _half(self, where: Standpoint, rays: tuple[Ray, ...], sense: int) -> tuple[list[Path], _BranchEnd]:
        """The stable paths one after the other from a place towards one end of the branch, and that end."""
        bounds, p = self.origin.watch.p_bounds, float(where.x[self.system.n])
        paths: list[Path] = []
        if p == bounds[0 if sense < 0 else 1]:
            return paths, _BranchEnd(where)
        ways = leading_rays(where, rays, sense)
        event: Event | None = None
        for _ in range(self.most * IDLE):
            origin = self._from(where)
            leg = next((leg for ray in ways if (leg := stable_leg(origin, ray, sense, _may_end))), None)
            if leg is None:
                return paths, _BranchEnd(where, event, failure="" if event else "no stable branch leads on from here")
            paths.append(leg.path)
            self._count(leg.path)
            where, event = self._place(_end_of(leg.path)), leg.lost
            if event is None:
                good = leg.path.status is Status.bound_reached
                return paths, _BranchEnd(where, failure="" if good else _why(leg.path))
            ways = self._onward(where, event, sense)
            if len(ways) != 1 or len(self._onward(where, event, -sense)) > 1:
                return paths, _BranchEnd(where, event, ways)
        return paths, _BranchEnd(where, event, failure="the branch changes without end")

    def _onward(self, where: Standpoint, event: Event, sense: int) -> tuple[Ray, ...]:
        """Rays of an event along which states are stable and p goes on."""
        origin = self._from(where)
        return tuple(ray for ray in event.rays.rays if ray.p_sign == sense and starts_stable(origin, ray))

    def _from(self, where: Standpoint) -> Origin:
        return Origin(where, self.origin.watch, self.origin.method, progress=self.total)

    def _count(self, path: Path) -> None:
        """Add a path to the reported progress; one that Ctrl-C ended ends the search."""
        self.provenance = self.provenance or {k: v for k, v in path.provenance.items() if k != "p_bounds"}
        if path.status is Status.interrupted:
            raise KeyboardInterrupt
        if isinstance(self.total, Total):
            self.total.add(len(path), len(path.events))

    def _pursue(self, source: int, sense: int, end: _BranchEnd) -> None:
        """Find out what follows the end of a branch."""
        self.total.update(control=float(end.where.x[self.system.n]), points=0, events=0, step=0.0)
        if end.failure or end.event is None:
            self._lead_nowhere(source, sense, end, end.failure, missing=True)
        elif end.onward:
            for ray in end.onward:
                self._touch(source, sense, end, ray)
        else:
            self._fall(source, sense, end)

    def _fall(self, source: int, sense: int, end: _BranchEnd) -> None:
        """Fall from the end of a branch, unless a rigid stop holds p there."""
        held = "" if self.system.derivatives.large else held_by(end.where, sense)[0]
        if held:
            return self._lead_nowhere(source, sense, end, held, missing=False)
        found = fall_from(Lost(end.where, end.event, sense), self.how)
        if isinstance(found, Status):
            return self._lead_nowhere(source, sense, end, f"no stable state in reach: {found.value}", missing=True)
        target = self._enter(found.state)
        if target is not None:
            before = float(self.states[source].energy[0 if sense < 0 else -1])
            self._link(source, sense, end, target, before - found.state.energy, _told(found.state, found.note))
        return None

    def _touch(self, source: int, sense: int, end: _BranchEnd, ray: Ray) -> None:
        """Go on without a jump to a branch that begins where this one ends."""
        leg = stable_leg(self._from(end.where), ray, sense, _may_end)
        if leg is None:
            return
        self._count(leg.path)
        middle = len(leg.path) // 2
        x = np.concatenate([part[middle] for part in (leg.path.q, leg.path.p[:, None], leg.path.mu, leg.path.lam)])
        found = equilibrium(self.system, x[: self.system.n], float(x[self.system.n]), throw=False).value
        target = self._enter(found)
        if target is not None:
            several = "one of several branches that lead on: an imperfection decides" if len(end.onward) > 1 else ""
            self._link(source, sense, end, target, 0.0, several)

    def _lead_nowhere(self, source: int, sense: int, end: _BranchEnd, why: str, *, missing: bool) -> None:
        self._link(source, sense, end, None, 0.0, why)
        if missing:
            self.notes.append(f"state {source}: {why}")

    def _link(self, source: int, sense: int, end: _BranchEnd, target: int | None, energy: float, note: str) -> None:
        reason = Kind.end if end.event is None else end.event.kind
        p = float(end.where.x[self.system.n])
        self.edges.append(Transition(self.system.control, source, target, sense, p, reason, energy, note))


def _may_end(event: Event, sense: int) -> bool:
    """Whether a branch may end at an event: stability is lost, or several stable branches may meet there."""
    stable = [ray.p_sign for ray in event.rays.rays if not (ray.instability if ray.beyond is None else ray.beyond)]
    return loses_stability(event, sense) or stable.count(sense) > 1 or stable.count(-sense) > 1


def _end_of(path: Path) -> Array:
    """The last point, packed as (q, p, μ, λ)."""
    return np.concatenate([path.q[-1], path.p[-1:], path.mu[-1], path.lam[-1]])


def _why(path: Path) -> str:
    return f"{path.status.value} ({path.note})" if path.note else path.status.value


def _told(state: Equilibrium, note: str) -> str:
    """The note of a landing, with the contacts there that carry nothing."""
    weak = [state.unilateral[i] for i in state.active.weak]
    touching = f"lands where {', '.join(weak)} closes without force" if weak else ""
    return "; ".join(text for text in (note, touching) if text)


def _passed(paths: list[Path]) -> list[Event]:
    """The events on the way, without the one at the end."""
    last = len(paths[-1]) - 1 if paths else 0
    return [event for path in paths for event in path.events if path is not paths[-1] or event.index < last]


def _joined(system: System, state: Equilibrium, down: list[Path], up: list[Path]) -> StableBranch:
    """One branch with growing p from the paths to both sides of a state."""
    parts = [
        *((path.p[:0:-1], path.q[:0:-1], path.energy[:0:-1]) for path in reversed(down)),
        (np.array([state.p]), state.q[None], np.array([state.energy])),
        *((path.p[1:], path.q[1:], path.energy[1:]) for path in up),
    ]
    p, q, energy = (np.concatenate(series) for series in zip(*parts, strict=True))
    inner = [event.words() for paths in (down, up) for event in _passed(paths)]
    closed = tuple(
        name for name, code in zip(state.unilateral, state.active.codes, strict=True) if code != State.inactive
    )
    return StableBranch(system.control, p, q, energy, closed, tuple(inner))
