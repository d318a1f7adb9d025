"""Quasi-static loading histories: follow the stable path, jump where it ends, go on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import SILENT, Progress, Total
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.linalg import one_thread
from onesided.results import Drive, Equilibrium, Event, Jump, Kind, Path
from onesided.statics.equilibria.fall_way import way_of
from onesided.statics.equilibria.falls import Fall, Landing, Lost
from onesided.statics.equilibria.falls import fall as fall_from
from onesided.statics.equilibria.find_equilibrium import describe, equilibrium
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.notes import noted
from onesided.statics.rays.naming import held_by
from onesided.statics.stable_legs import StableLeg, known_rays, leading_rays, stable_leg
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.memory import remember
from onesided.statics.tracing.path_method import Origin
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.defaults import programme_of
from onesided.system.system import System

IDLE = 4  # so many paths in turn that do not move mean that the history cannot go on


@checked
def drive(  # noqa: PLR0913 - each knob is a need of its own
    system: System,
    q0: Any = None,
    programme: Sequence[float] | None = None,
    *,
    method: PredictorCorrector | None = None,
    tolerances: Tolerances = DEFAULT,
    max_jumps: int = 100,
    fall: Fall = "descent",
    progress: Progress = SILENT,
    throw: bool = True,
) -> Drive:
    """Let p follow a programme: stable equilibria are followed, where they end the system jumps to the next stable one.

    Parameters
    ----------
    q0 : configuration to start from, relaxed to an equilibrium at the first value of the programme; by default that of
        the file or of the composed structure.
    programme : values of p in turn, at least two; by default the file's. `drive(system, programme)` will do as well.
    max_jumps : the history is given up after so many.
    fall : how a jump is computed. "descent" lowers the energy by steps as long as it lets them be; "damped" integrates
        the overdamped motion with error control; "both" does both, takes where the motion lands, and the note of the
        jump says where they differ.

    Notes
    -----
    Models that remember (plastic cables) are followed step by step: where plastic flow stops, at every reversal and at
    every jump a path ends, the permanent sets are taken over (`path.provenance["parameters"]` has those of the path),
    and the next path begins. During a jump plastic elongations grow as in one step.
    """
    q0, programme = programme_of(system, q0, programme)
    values = _check(programme)
    state = _start(system, q0, values[0], tolerances)
    sense = 1 if values[1] > values[0] else -1
    run = _History(system, method or PredictorCorrector(), tolerances, state, fall, progress)
    progress.begin("drive")
    status, note = Status.bound_reached, ""
    try:
        with one_thread():
            run.leave_unstable_start(sense)
            for target in values[1:]:
                status, note = run.go(target, max_jumps)
                if status is not Status.bound_reached:
                    break
    except KeyboardInterrupt:  # during a fall; paths keep theirs
        status, note = Status.interrupted, f"at {system.control} = {run.state.p:.6g}"
    finally:
        progress.end()
    result = Drive(
        system.control,
        values,
        tuple(run.paths),
        tuple(run.jumps),
        status,
        noted(system, note, _passed(run.paths)),
        run.provenance(),
    )
    if throw and not result.ok:
        raise SolveError(status.value, result, got=note)
    return result


def _start(system: System, q0: Any, p: float, tolerances: Tolerances) -> Equilibrium:
    """The state to start from; reactions that are not unique do not matter."""
    found = equilibrium(system, q0, p, tolerances=tolerances, throw=False)
    if not found.ok and found.status is not Status.dependent:
        raise SolveError(found.status.value, found, got=found.note or f"best relative residual {found.residual:.3g}")
    return found.value


def _check(programme: Any) -> tuple[float, ...]:
    try:
        values = tuple(float(v) for v in programme)
    except (TypeError, ValueError):
        values = ()
    if len(values) < 2 or not all(np.isfinite(values)):
        raise UsageError("the programme is not usable", got=repr(programme), expected="at least two finite values of p")
    return values


class _History:
    """State of a running history."""

    def __init__(
        self,
        system: System,
        method: PredictorCorrector,
        tolerances: Tolerances,
        state: Equilibrium,
        how: Fall,
        progress: Progress,
    ) -> None:
        self.method, self.tolerances, self.how = method, tolerances, how
        self.progress = Total(progress)
        self.sizes = system.sizes(state.q, state.p)
        self.system, self.state = system, state
        self._arrive(state.q, state.p, state.nu)
        self.paths: list[Path] = []
        self.jumps: list[Jump] = []
        self.factorisations: list[int] = []

    def provenance(self) -> dict[str, Any]:
        """Where the history came from."""
        first = self.paths[0].provenance if self.paths else {}
        own = {"fall": self.how, "factorisations": self.factorisations}
        return {key: value for key, value in first.items() if key != "p_bounds"} | own

    def go(self, target: float, max_jumps: int) -> tuple[Status, str]:
        """Bring p to the target, over as many jumps as it takes."""
        lost: Event | None = None
        idle = 0
        sense = 1 if target > self.state.p else -1
        while self.state.p != target:
            leg = self._leg(target) if idle < IDLE and not self._falls(lost, sense) else None
            if leg is not None and lost is not None and self._stuck(leg.path):
                leg = None  # the event at which stability was lost stands
            if leg is not None:
                path = leg.path
                self.paths.append(path)
                self.progress.add(len(path), len(path.events))
                self._arrive(path.q[-1], float(path.p[-1]), np.concatenate([path.mu[-1], path.lam[-1]]))
                lost = leg.lost
                idle = 0 if self._moved(path) else idle + 1
                if not path.ok:
                    return (Status.blocked if path.status is Status.jammed else path.status), path.note
            elif len(self.jumps) >= max_jumps:
                return Status.max_iterations, f"{max_jumps} jumps"
            else:
                held = self._held(sense)
                if held:
                    return Status.blocked, held
                status = Status.stalled if lost is None else self._jump(lost, sense)
                if not status.ok:
                    at = f"{self.system.control} = {self.state.p:.10g}"
                    return status, f"no stable state in reach at {at}{_why(status)}"
                lost, idle = None, 0
        return Status.bound_reached, ""

    def _falls(self, lost: Event | None, sense: int) -> bool:
        """Whether an event that was met is known to lead nowhere in the sense of p: all its rays turn back."""
        if lost is None or self.system.history or not lost.rays.complete or not len(lost.rays):
            return False
        return lost.kind is Kind.limit and all(ray.p_sign == -sense for ray in lost.rays.rays)

    def _moved(self, path: Path) -> bool:
        return bool(path.s[-1] > self.method.first_step**2)

    def _stuck(self, path: Path) -> bool:
        """Whether a path fails where it starts."""
        return not path.ok and not self._moved(path)

    def _arrive(self, q: Array, p: float, nu: Array) -> None:
        """Stand at a point; what the model remembers is taken over from it."""
        self.system = remember(self.system, q)
        self.state = describe(self.system, q, p, nu, sizes=self.sizes, tolerances=self.tolerances)

    def _leg(self, target: float) -> StableLeg | None:
        """Follow a stable ray towards the target until p arrives or stability is lost.

        Where none leads there, reactions may grow at constant p until one does.
        """
        sense = 1 if target > self.state.p else -1
        where = self._place()
        bounds = (min(self.state.p, target), max(self.state.p, target))
        origin = Origin(where, PathWatch(bounds, {}, self.tolerances), self.method, progress=self.progress)
        for ray in leading_rays(where, known_rays(where), sense):
            leg = stable_leg(origin, ray, sense)
            if leg is not None:
                return leg
        return None

    def _held(self, sense: int) -> str:
        """What keeps p from going on where the history stands, in words; empty if nothing does."""
        where = self._place()
        held = "" if where.system.derivatives.large else held_by(where, sense)[0]
        return f"at {self.system.control} = {self.state.p:.10g} {held}" if held else ""

    def _place(self) -> Standpoint:
        """The present state as a point from which paths are traced."""
        x = np.concatenate([self.state.q, [self.state.p], self.state.nu])
        return place(self.system, x, self.sizes, self.tolerances)

    def leave_unstable_start(self, sense: int) -> None:
        """Fall from a start that is an equilibrium, but not a stable one; where that fails the history ends there."""
        if self.state.instability > 0:
            found = self._fall(None, sense)
            if not isinstance(found, Status):
                self._arrive(found.state.q, self.state.p, found.state.nu)

    def _fall(self, event: Event | None, sense: int) -> Landing | Status:
        """The stable state below where the history stands."""
        return fall_from(Lost(self._place(), event, sense), self.how)

    def _jump(self, event: Event, sense: int) -> Status:
        """Fall at constant p from the lost equilibrium to the stable state below it."""
        found = self._fall(event, sense)
        if isinstance(found, Status):
            return found
        state, released = found.state, self.state.energy - found.state.energy
        way = None if self.system.sketch is None else way_of(self._place(), found, self.how)
        self.jumps.append(Jump(self.system.control, event.p, event.kind, event.q, state.q, released, found.note, way))
        self.factorisations.append(found.factorisations)
        if self.system.history:
            self._arrive(state.q, event.p, state.nu)
        else:
            self.state = state
        return Status.solved


def _why(status: Status) -> str:
    """What a fall that did not land says besides its status."""
    if status is Status.max_iterations:
        return ": the energy still falls after many steps; check the loads, or add the missing stop"
    return ""


def _passed(paths: Sequence[Path]) -> Array:
    """Values of p at all points of the paths, in order."""
    return np.concatenate([np.zeros(0), *(path.p for path in paths)])
