"""Quasi-static loading histories: follow the stable path, jump where it ends, go on."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided._types import Array, Status
from onesided.errors import SolveError, UsageError
from onesided.linalg import one_thread
from onesided.model.system import System
from onesided.results import SILENT, Drive, Equilibrium, Event, Jump, Kind, Path, Progress, Ray, Total
from onesided.statics.collect import collect
from onesided.statics.equilibrium import correct, describe, equilibrium
from onesided.statics.hits import Watch
from onesided.statics.memory import Growth, remember
from onesided.statics.pieces import Item, Origin
from onesided.statics.place import place
from onesided.statics.rays import rays_at
from onesided.statics.relax import Relaxation, relax
from onesided.statics.steps import PredictorCorrector
from onesided.statics.trace import Tracer
from onesided.tolerances import DEFAULT, EPS, Tolerances

IDLE = 4  # so many paths in turn that do not move mean that the history cannot go on


@dataclass(frozen=True)
class _Leg:
    """One stable path towards a value of p, and the event that ended it early, if one did."""

    path: Path
    lost: Event | None


def drive(
    system: System,
    q0: Any,
    programme: Sequence[float],
    *,
    method: PredictorCorrector | None = None,
    tolerances: Tolerances = DEFAULT,
    max_jumps: int = 100,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Drive:
    """Let p follow a programme: stable equilibria are followed, where they end the system jumps to the next stable one.

    Parameters
    ----------
    q0 : configuration to start from; relaxed to an equilibrium at the first value of the programme.
    programme : values of p in turn, at least two.
    max_jumps : the history is given up after so many.

    Notes
    -----
    Models that remember (plastic cables) are followed step by step: where plastic flow stops, at every reversal and at
    every jump a path ends, the permanent sets are taken over (`path.provenance["parameters"]` has those of the path),
    and the next path begins. During a jump plastic elongations grow as in one step.
    """
    values = _check(programme)
    state = equilibrium(system, q0, values[0], tolerances=tolerances).value
    run = _Run(system, method or PredictorCorrector(), tolerances, state, progress)
    progress.begin("drive")
    status, note = Status.bound_reached, ""
    try:
        with one_thread(system.n + len(system.constraint_names)):
            for target in values[1:]:
                status, note = run.go(target, max_jumps)
                if not status.ok:
                    break
    finally:
        progress.end()
    result = Drive(system.control, values, tuple(run.paths), tuple(run.jumps), status, note, run.provenance())
    if throw and not result.ok:
        raise SolveError(status.value, result, got=note)
    return result


def _check(programme: Sequence[float]) -> tuple[float, ...]:
    values = tuple(float(v) for v in programme)
    if len(values) < 2 or not all(np.isfinite(values)):
        raise UsageError("the programme is not usable", got=repr(programme), expected="at least two finite values of p")
    return values


class _Run:
    """State of a running history."""

    def __init__(
        self, system: System, method: PredictorCorrector, tolerances: Tolerances, state: Equilibrium, progress: Progress
    ) -> None:
        self.method, self.tolerances = method, tolerances
        self.progress = Total(progress)
        self.sizes = system.sizes(state.q, state.p)
        self.system, self.state = system, state
        self._arrive(state.q, state.p, state.nu)
        self.paths: list[Path] = []
        self.jumps: list[Jump] = []

    def provenance(self) -> dict[str, Any]:
        """Where the history came from."""
        first = self.paths[0].provenance if self.paths else {}
        return {key: value for key, value in first.items() if key != "p_bounds"}

    def go(self, target: float, max_jumps: int) -> tuple[Status, str]:
        """Bring p to the target, over as many jumps as it takes."""
        lost: Event | None = None
        idle = 0
        while self.state.p != target:
            if lost is not None and self.system.derivatives.large:
                return Status.stalled, f"{lost.words()}; jumps need compose(…, sparse=False)"
            leg = self._leg(target) if idle < IDLE else None
            if leg is not None:
                path = leg.path
                self.paths.append(path)
                self.progress.add(len(path), len(path.events))
                self._arrive(path.q[-1], float(path.p[-1]), np.concatenate([path.mu[-1], path.lam[-1]]))
                lost = leg.lost
                idle = 0 if path.s[-1] > self.method.first_step**2 else idle + 1
                if lost is None and not path.ok:
                    return path.status, path.note
            elif len(self.jumps) >= max_jumps:
                return Status.max_iterations, f"{max_jumps} jumps"
            elif lost is None or not self._jump(lost):
                return Status.stalled, f"no stable state in reach at {self.system.control} = {self.state.p:.10g}"
            else:
                lost = None
        return Status.bound_reached, ""

    def _arrive(self, q: Array, p: float, nu: Array) -> None:
        """Stand at a point; what the model remembers is taken over from it."""
        self.system = remember(self.system, q)
        self.state = describe(self.system, q, p, nu, sizes=self.sizes, tolerances=self.tolerances)

    def _leg(self, target: float) -> _Leg | None:
        """Follow a stable ray towards the target until p arrives or stability is lost."""
        sense = 1 if target > self.state.p else -1
        x = np.concatenate([self.state.q, [self.state.p], self.state.nu])
        where = place(self.system, x, self.sizes, self.tolerances)
        bounds = (min(self.state.p, target), max(self.state.p, target))
        origin = Origin(where, Watch(bounds, {}, self.tolerances), self.method, progress=self.progress)
        for ray in rays_at(where).rays:
            if ray.p_sign == sense:
                leg = self._follow(origin, ray, sense)
                if leg is not None:
                    return leg
        return None

    def _follow(self, origin: Origin, ray: Ray, sense: int) -> _Leg | None:
        """Items along one ray while they are stable and p moves the right way; None if it starts unstable."""
        tracer = Tracer(origin, ray)
        first = Item(tracer.curve, tracer.point, 0)
        items = Growth(self.system, self.tolerances).follow(tracer)
        head = next(items)
        if head.status is None and head.degree > 0:
            return None
        lost: list[Event] = []

        def stable() -> Iterator[Item]:
            for item in itertools.chain([head], items):
                yield item
                if item.event is not None and item.event.kind is not Kind.bound and not _goes_on(item.event, sense):
                    lost.append(item.event)
                    yield Item(item.curve, item.point, 0, status=Status.enough)
                    return

        path = collect(self.system, first, stable(), origin, [])
        return _Leg(path, lost[0] if lost else None)

    def _jump(self, event: Event) -> bool:
        """Relax at constant p from a small push off the lost equilibrium."""
        sizes = self.sizes
        before = self.state.energy
        for push in self._pushes(event):
            q = event.q + self.method.first_step * push / float(np.max(np.abs(push / sizes.length)))
            state = self._relaxed(q, event)
            if state is not None:
                self.jumps.append(
                    Jump(self.system.control, event.p, event.kind, event.q, state.q, before - state.energy)
                )
                self._arrive(state.q, event.p, state.nu)
                return True
        return False

    def _relaxed(self, q: Array, event: Event) -> Equilibrium | None:
        """A stable state below q, away from the event; forces that look small next to a stiff part are tried too."""
        knobs = Relaxation(reach=0.1)
        for accuracy in (knobs.accuracy, EPS**0.5 * knobs.accuracy):
            loose = relax(self.system, q, event.p, self.sizes, replace(knobs, accuracy=accuracy))
            end = correct(self.system, loose.q, event.p, nu=loose.nu, sizes=self.sizes, tolerances=self.tolerances)
            if loose.status is not Status.solved or not end.status.ok:
                continue
            state = describe(self.system, end.q, event.p, end.nu, sizes=self.sizes, tolerances=self.tolerances)
            moved = float(np.max(np.abs(state.q - event.q) / self.sizes.length))
            if state.minimum and moved > self.method.first_step:
                return state
        return None

    def _pushes(self, event: Event) -> list[Array]:
        """Directions in which the lost equilibrium may be left: along its rays first, then along the softest modes."""
        ahead = [event.rays[i].q_dot for i in event.forward]
        e = self.system.evaluate(event.q, event.p, np.concatenate([event.mu, event.lam]))
        modes = self.sizes.length[:, None] * np.linalg.eigh(self.sizes.hessian(e.L_qq))[1]
        soft = [sign * modes[:, i] for i in range(min(3, self.system.n)) for sign in (1.0, -1.0)]
        return [push for push in (*ahead, *soft) if np.max(np.abs(push)) > 0]


def _goes_on(event: Event, sense: int) -> bool:
    """Whether the branch followed after an event is stable and p keeps its sense."""
    if event.followed is None:
        return False
    return event.instability_after == 0 and event.rays[event.followed].p_sign == sense
