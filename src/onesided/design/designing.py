"""The verb `design`: parameters within bounds with which events and jumps are as asked for.

Variables are scaled to u ∈ [0, 1]. Aims with "=" and with ">=" become constraints r(u) = 0 and r(u) ≥ 0, relative to
their sizes; the objective is the one quantity to be made least or largest, or else the change ½ |u − u₀|². Where there
are more equations than variables their sum of squares is made least. SciPy's sequential quadratic programming (SLSQP)
gets exact gradients from `sensitivity`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.names import unknown_name
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Status
from onesided.design.aims import DesignAim, read_aim
from onesided.design.measured import AbsentError, Loading, TriedDesign
from onesided.results import AimReached, Designed
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.system import System

ITERATIONS = 40  # of SLSQP; where it goes on for longer the aims contradict each other
NOTES = 4  # changes of events on the way that the note tells
PROGRESS, PATIENCE = 0.7, 4  # after so many gradients without that much progress the least squares are taken
SEARCHED = 8  # evaluations between two gradients from which on they count thrice: steps come to nothing
RESTARTS = 16  # times that the search may step back or go on from where it stopped
ROOM = 0.5  # share of the way to where an event disappeared that the next attempt may go
NEAR = HALF_DIGITS  # agreement with the targets that is asked for, relative
Aims = str | Sequence[str]


@checked
def design(  # noqa: PLR0913 - each knob is a need of its own
    system: System,
    variables: Mapping[str, tuple[float, float]] | None = None,
    goal: Aims | None = None,
    subject_to: Aims = (),
    *,
    q0: Any = None,
    p0: float | None = None,
    direction: int | None = None,
    p_bounds: tuple[float, float] | None = None,
    programme: Sequence[float] | None = None,
    max_gradients: int = 100,
    method: PredictorCorrector | None = None,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Designed:
    """Change parameters within bounds until events and jumps are as asked for.

    Parameters
    ----------
    variables : name of a parameter → (low, high); by default those of the file's `[design]`.
    goal : what is wanted, in words, or several: "p at limit = 0.05", "dissipated = 0.1", "maximise p at corner-limit".
        With "=" the nearest parameters are looked for that meet it.
    subject_to : what must hold as well: "p at closes floor >= p at limit", "p at loss of stability >= 3".
    q0, p0, direction, p_bounds : of the path on which events are looked for, as for `trace`.
    programme : of the history in which jumps are looked for, as for `drive`.
    max_gradients : the search ends after so many.
    throw : raise a `SolveError` that holds the best parameters found where an aim is not met, or return them.

    Notes
    -----
    Where an event that an aim is about disappears, the search steps back and takes shorter steps; where another one
    overtakes it, the search goes on with the one that is first now. Both are reported in the note of the result.
    """
    asked = _asked(system, variables, goal, subject_to)
    options = {} if method is None else {"method": method}
    values = None if programme is None else tuple(float(p) for p in programme)
    loading = Loading(q0, p0, direction, p_bounds, values, options)
    search = _DesignSearch(system, asked, loading, max_gradients, progress)
    progress.begin("design")
    try:
        status = search.run()
    except KeyboardInterrupt:
        status = Status.interrupted
    finally:
        progress.end()
    found = search.result(status)
    if throw and not found.ok:
        raise SolveError(found.status.value, found, got=found.note)
    return found


@dataclass(frozen=True)
class _Asked:
    """Variables with their bounds, and aims: the objective is the first or none."""

    names: tuple[str, ...]
    low: Array
    high: Array
    aims: tuple[DesignAim, ...]

    def parameters(self, u: Array) -> dict[str, float]:
        """Values of the variables; the bounds themselves where they are reached."""
        values = np.clip(self.low + u * (self.high - self.low), self.low, self.high)
        return dict(zip(self.names, values.tolist(), strict=True))

    def rows(self, *senses: str) -> list[int]:
        """Numbers of the aims of some senses."""
        return [i for i, aim in enumerate(self.aims) if aim.sense in senses]


def _asked(system: System, variables: Mapping[str, Any] | None, goal: Aims | None, further: Aims) -> _Asked:
    """What is asked for, completed from the file and checked."""
    table = getattr(system.task, "design", None)
    if table is not None:
        variables = table.variables if variables is None else variables
        goal, further = (table.goal, table.subject_to) if goal is None else (goal, further)
    if not variables or not goal:
        raise UsageError("a design needs variables and a goal", expected='{name: (low, high)} and "p at limit = …"')
    for name, (low, high) in variables.items():
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters)
        if not low <= system.parameters[name] <= high or not 0.0 < high - low < np.inf:
            raise UsageError(
                f"'{name}' does not lie within its bounds, or they are not usable",
                got=f"{system.parameters[name]:g}",
                expected=f"a value between {low:g} and {high:g}, both finite",
            )
    goals, conditions = ([read_aim(text) for text in ([aims] if isinstance(aims, str) else aims)]
                         for aims in (goal, further))  # fmt: skip
    best = [aim for aim in (*goals, *conditions) if aim.sense in {"min", "max"}]
    if len(best) > 1 or any(aim in best for aim in conditions):
        raise UsageError("there is one objective, and it is a goal", got="; ".join(aim.text for aim in best))
    low, high = (np.array([bounds[i] for bounds in variables.values()], dtype=float) for i in (0, 1))
    return _Asked(tuple(variables), low, high, (*goals, *conditions))


class _EnoughError(Exception):
    """The number of gradients allowed was used up."""


class _SlowError(Exception):
    """The equations come no nearer to being met: they may contradict each other."""


@dataclass
class _DesignSearch:
    """State of a running search."""

    system: System
    asked: _Asked
    loading: Loading
    most: int
    progress: Progress
    gradients: int = 0
    evaluations: int = 0
    searched: int = 0  # evaluations at the last gradient
    nearest: bool = False  # whether the least sum of squares is looked for, since the equations could not be met
    notes: list[str] = field(default_factory=list)
    room: float = 1.0
    slow: int = 0  # gradients since the equations were last clearly nearer to being met
    least: float = np.inf
    known: dict[bytes, TriedDesign] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = list(self.system.parameters)
        self.columns = [names.index(name) for name in self.asked.names]
        start = np.array([self.system.parameters[name] for name in self.asked.names])
        self.start = (start - self.asked.low) / (self.asked.high - self.asked.low)
        try:
            self.first = self._trial(self.start)
            self.size = self.first.sizes()
        except AbsentError as error:
            raise UsageError(
                f"{error}, before anything is changed", advice="a wider range of p, or another start"
            ) from None
        self.best = self.start
        self.signature = self.first.signature()

    def run(self) -> Status:
        """Search until the aims are met, stepping back where an event disappears."""
        for _ in range(RESTARTS):
            begin, room = self.best, self.room
            self.slow, self.least = 0, np.inf
            try:
                found = self._attempt(begin)
            except _SlowError:
                self.nearest = True
                continue
            except AbsentError as error:
                far = float(np.max(np.abs(self.tried - self.best)))
                if far <= HALF_DIGITS:
                    self.notes.append(f"{error} at {self._words(self.tried)}")
                    return Status.stalled
                self.room = ROOM * far
                self.notes.append(f"{error} at {self._words(self.tried)}: stepped back")
                continue
            except _EnoughError:
                self.notes.append(f"{self.most} gradients")
                return Status.max_iterations
            self.best = found.x
            inside = room >= 1.0 or float(np.max(np.abs(found.x - begin))) < room * (1 - HALF_DIGITS)
            if inside and self.met() and (found.success or not self.asked.rows("min", "max")):
                return Status.solved
            if inside and (self.nearest or np.array_equal(found.x, begin)):
                break
            self.nearest = inside and not self.met()
            self.room = min(1.0, 2.0 * room)
        return Status.stalled

    def met(self) -> bool:
        """Whether all equations and conditions hold at the best point."""
        return all(self._holds(i, self._trial(self.best)) for i in range(len(self.asked.aims)))

    def _holds(self, i: int, trial: TriedDesign) -> bool:
        relative, sense = trial.values[i] / self.size[i], self.asked.aims[i].sense
        low, high = sense in {"=", ">="}, sense in {"=", "<="}
        return bool((not low or relative >= -10 * NEAR) and (not high or relative <= 10 * NEAR))

    def _attempt(self, begin: Array) -> Any:
        """One run of SLSQP within some room about where it begins."""
        bounds = [(max(0.0, u - self.room), min(1.0, u + self.room)) for u in begin]
        value, slope = self._objective()
        equal, upper = (self.asked.rows(sense) for sense in ("=", "<="))
        signs = np.where([aim.sense == "<=" for aim in self.asked.aims], -1.0, 1.0)
        parts = (("eq", [] if self._by_squares() else equal), ("ineq", [*self.asked.rows(">="), *upper]))
        constraints = [self._constraint(kind, rows, signs[rows]) for kind, rows in parts if rows]
        smallest = NEAR**2 if self._by_squares() else NEAR
        return minimize(
            cast(Any, value), begin, jac=cast(Any, slope), bounds=bounds, constraints=cast(Any, constraints),
            method="SLSQP", options={"maxiter": ITERATIONS, "ftol": smallest},
        )  # fmt: skip

    def _constraint(self, kind: str, rows: list[int], signs: Array) -> dict[str, Any]:
        """Some aims as SciPy wants them."""
        return {
            "type": kind,
            "fun": lambda u: signs * self._residual(u)[rows],
            "jac": lambda u: signs[:, None] * self._jacobian(u)[rows],
        }

    def _by_squares(self) -> bool:
        """Whether equations are met as well as can be: they are many, could not be met, or there is little room."""
        many = len(self.asked.rows("=")) > len(self.start)
        return not self.asked.rows("min", "max") and (self.nearest or self.room < 1.0 or many)

    def _objective(self) -> tuple[Callable[[Array], float], Callable[[Array], Array]]:
        """What is made least, and its gradient."""
        best = self.asked.rows("min", "max")
        if best:
            i, sign = best[0], 1.0 if self.asked.aims[best[0]].sense == "min" else -1.0
            return (lambda u: sign * float(self._residual(u)[i])), (lambda u: sign * self._jacobian(u)[i])
        if self._by_squares():
            rows = self.asked.rows("=")
            return (lambda u: 0.5 * float(np.sum(self._residual(u)[rows] ** 2))), (
                lambda u: self._residual(u)[rows] @ self._jacobian(u)[rows]
            )
        return (lambda u: 0.5 * float((u - self.start) @ (u - self.start))), (lambda u: u - self.start)

    def _trial(self, u: Array) -> TriedDesign:
        """The system at u; each is computed once."""
        self.tried, key = np.array(u, dtype=float), np.asarray(u, dtype=float).tobytes()
        if key not in self.known:
            trial = TriedDesign(self.system.replace(parameters=self.asked.parameters(u)), self.asked.aims, self.loading)
            self.evaluations += 1
            _ = trial.values
            self.known[key] = trial
        return self.known[key]

    def _residual(self, u: Array) -> Array:
        """Values of the aims less their targets, relative; what never comes counts as late enough."""
        relative = self._trial(u).values / self.size
        return np.where(np.isfinite(relative), relative, np.sign(relative))

    def _jacobian(self, u: Array) -> Array:
        """(A, V) its derivatives with the scaled variables."""
        trial = self._trial(u)
        if "gradients" not in vars(trial):
            self._count(trial, np.array(u))
        self.best = self.tried if len(trial.gradients) else self.best
        return trial.gradients[:, self.columns] * (self.asked.high - self.asked.low) / self.size[:, None]

    def _count(self, trial: TriedDesign, u: Array) -> None:
        """One more gradient: report it, and note where the events on the way have changed."""
        if self.gradients == self.most:
            raise _EnoughError
        self.gradients += 1
        worst = float(np.max(np.abs(self._residual(u)), initial=0.0))
        self.progress.update(control=worst, points=self.evaluations, events=self.gradients, step=worst)
        lost = 3 if self.evaluations - self.searched > SEARCHED else 1
        self.slow, self.least = (0, worst) if worst < PROGRESS * self.least else (self.slow + lost, self.least)
        self.searched = self.evaluations
        if self.slow > PATIENCE and not self._by_squares() and not self.asked.rows("min", "max"):
            raise _SlowError
        signature = trial.signature()
        if signature != self.signature:
            old, new = (", ".join(events) or "none" for events in (self.signature, signature))
            self.notes.append(f"at {self._words(u)} the events on the way are others: {new}; before: {old}")
            self.signature = signature

    def _words(self, u: Array) -> str:
        shown = list(self.asked.parameters(u).items())
        return ", ".join(f"{name} = {value:.6g}" for name, value in shown[:4]) + (", …" if len(shown) > 4 else "")

    def _idle(self, trial: TriedDesign) -> list[str]:
        """Variables that nothing depends on, in words."""
        if "gradients" not in vars(trial):  # none was needed there
            return []
        moved = np.any(trial.gradients[:, self.columns] != 0.0, axis=0)
        names = [name for name, some in zip(self.asked.names, moved, strict=True) if not some]
        return [f"nothing that is asked for depends on {', '.join(map(repr, names))}"] if names else []

    def result(self, status: Status) -> Designed:
        """The best parameters with the values of all aims, and a note on what is not met."""
        last, aims = self._trial(self.best), self.asked.aims
        unmet = [aim.text for i, aim in enumerate(aims) if not self._holds(i, last)]
        notes = list(dict.fromkeys(self.notes))
        more = len(notes) - NOTES
        told = [*notes[:NOTES], f"{more} more such changes"] if more > 0 else notes
        note = [*told, *self._idle(last), *([f"not met: {'; '.join(unmet)}"] if unmet else [])]
        before, after = (trial.values + [aim.target for aim in aims] for trial in (self.first, last))
        reached = [
            AimReached(aim.text, float(a), float(b), met=self._holds(i, last))
            for i, (aim, a, b) in enumerate(zip(aims, before, after, strict=True))
        ]
        names, values = self.asked.names, self.asked.parameters(self.best)
        return Designed(
            {name: self.system.parameters[name] for name in names}, values,
            dict(zip(names, zip(self.asked.low.tolist(), self.asked.high.tolist(), strict=True), strict=True)),
            tuple(reached), self.first.results, last.results, self.gradients, self.evaluations, status,
            "; ".join(note), dict(last.results[0].provenance),
        )  # fmt: skip
