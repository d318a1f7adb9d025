"""The verb `steer`: optimal control of a constrained system by direct collocation, rechecked by `simulate`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided._version import __version__
from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import SILENT, InnerProgress, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.dynamics.asked import span_of
from onesided.dynamics.contacts.event_driven import EventDriven
from onesided.dynamics.simulate import simulate
from onesided.dynamics.smooth.explicit import Projected
from onesided.dynamics.steering.program import Answer, Solver, TrustRegion, WatchedProgram
from onesided.dynamics.steering.steer_asked import SteerAsked, completed_steering
from onesided.dynamics.steering.steer_problem import (
    Phase,
    SteeringProblem,
    grid_of,
    halved,
    limits_of,
    modes_of,
    stated,
    straight,
    units_of,
)
from onesided.dynamics.steering.transcription import Grid, NodeBounds, Nodes, Transcription, Units
from onesided.evaluation.collocation import Collocation
from onesided.evaluation.motion_terms import Control
from onesided.linalg import one_thread
from onesided.results import Motion, Steering
from onesided.system.inputs import Cost, Force, with_inputs
from onesided.system.system import System

Recheck = tuple[tuple[Motion, ...], float]
RECHECK = 0.001  # of the accuracy asked for: that of the motion it is compared with


@checked
@dataclass(frozen=True)
class DirectCollocation:
    """Hermite–Simpson collocation of order 4 on the constraint manifold.

    Attributes
    ----------
    intervals : to begin with; doubled until the recheck is as accurate as asked.
    accuracy : largest difference between nodes and the motion under the inputs, relative to coordinates and velocities.
    most : the largest number of intervals.
    solver : of the nonlinear program: `TrustRegion()` of SciPy (default), or `Uno()` of the extra `onesided[steer]`.
    """

    intervals: int = 20
    accuracy: float = 1e-4
    most: int = 160
    solver: Solver | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.intervals <= self.most:
            raise UsageError("`intervals` is out of range", got=repr(self.intervals), expected=f"1 to {self.most}")
        if not 0 < self.accuracy < 1:
            raise UsageError("`accuracy` is out of range", got=repr(self.accuracy), expected="between 0 and 1")


@checked
def steer(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System,
    start: tuple[Any, Any] | None = None,
    goal: tuple[Any, Any] | None = None,
    inputs: Mapping[str, str | Force] | None = None,
    objective: Cost | None = None,
    *,
    t_span: tuple[float, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    modes: Sequence[tuple[float, Sequence[str]]] | None = None,
    control: float | Control | None = None,
    method: DirectCollocation | None = None,
    guess: Steering | None = None,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Steering:
    """Find inputs that bring a system from one state to another at the least cost.

    What is not given is what the model file's `[steer]` says.

    Parameters
    ----------
    start : (q, v), made consistent with the constraints first.
    goal : (q, v), sequences or name → value; names that are left out are free.
    inputs : name → coordinate it pushes, or name → function (q, th) → (n,) in `jax.numpy`, the generalised force of an
        input of one.
    objective : running cost (t, q, v, u, th) in `jax.numpy`; by default uᵀu.
    t_span : first and last time.
    bounds : name of a coordinate, of a velocity (`x_dot`) or of an input → (least, largest).
    modes : (end time, names of the gaps closed until then), one after the other; by default all gaps stay open.
        Contacts close and open without impact; friction is not offered.
    control : as of `simulate`.
    guess : an earlier result to begin with.
    progress : notified of evaluations, with the cost.
    throw : raise a `SolveError` holding what was achieved, or return it with its status. Ctrl-C keeps it too: inputs of
        a coarser grid, rechecked, or else those of the last iteration.

    Notes
    -----
    Local optima are found: which one depends on the guess, by default a straight way without inputs. The inputs are
    parabolas on the intervals, continuous but where a mode ends; `simulate` is run under them and compared at all
    nodes.
    """
    asked = completed_steering(system, SteerAsked(start, goal, inputs, objective, t_span, bounds, modes, control))
    problem = stated(
        (system, asked.control), (asked.start, asked.goal), asked.inputs, asked.objective, span_of(asked.t_span),
        tolerances,
    )  # fmt: skip
    phases, names = modes_of(problem, asked.modes), tuple(asked.inputs)
    limits = limits_of(problem, asked.bounds, names, phases[-1][1])
    progress.begin("steer")
    try:
        with one_thread():
            found = _refined(
                problem, method or _method(system), (phases, limits), names, guess, InnerProgress(progress)
            )
    finally:
        progress.end()
    if throw and not found.ok:
        raise SolveError(found.status.value, found, got=found.note)
    return found


def _method(system: System) -> DirectCollocation:
    """The file's grid and accuracy, or the usual ones."""
    task = None if system.task is None else system.task.steer
    given = {} if task is None else {"intervals": task.intervals, "accuracy": task.accuracy}
    return DirectCollocation(**{name: value for name, value in given.items() if value is not None})


def _refined(
    problem: SteeringProblem,
    method: DirectCollocation,
    asked: tuple[Sequence[Phase], NodeBounds],
    names: tuple[str, ...],
    guess: Steering | None,
    progress: InnerProgress,
) -> Steering:
    """Solve on grids that are halved until the recheck is as accurate as asked."""
    phases, limits = asked
    collocation = Collocation(problem.mechanics.equations, problem.mechanics.rows, problem.forces, problem.cost)
    solver, units = method.solver or TrustRegion(), units_of(problem)
    grid = grid_of(problem, phases, method.intervals)
    nodes, iterations = _first(problem, grid, guess), 0
    best: Steering | None = None
    while True:
        trial = Transcription(collocation, grid, limits, units)
        size = abs(trial.slopes(trial.vector(nodes._replace(u=nodes.u + units.u))).cost)
        program = Transcription(collocation, grid, limits, replace(units, cost=size or 1.0))
        answer = solver.solve(_watched(program, size or 1.0, progress), program.vector(nodes))
        iterations += answer.iterations
        nodes = program.nodes(answer.y)
        cost = program.slopes(answer.y).cost * (size or 1.0)
        if answer.status is Status.interrupted and best is not None:
            return replace(best, status=Status.interrupted, note=f"while {len(grid.closed)} intervals were tried")
        recheck = _rechecked(problem, grid, nodes, units, (method.accuracy, answer.status, progress))
        found = _result(problem, names, (grid, nodes, cost), recheck, answer, method)
        best = found = replace(found, iterations=iterations, provenance=_provenance(problem, method, solver))
        if not found.status.ok and found.status is not Status.inaccurate:
            return found
        if found.error <= method.accuracy or 2 * len(grid.closed) > method.most:
            return found
        nodes = halved(problem, nodes, grid.t)
        grid = Grid(_halves(grid.t), np.repeat(grid.closed, 2, axis=0))


def _watched(program: Transcription, unit: float, progress: InnerProgress) -> WatchedProgram:
    """The program, which reports its cost as progress."""

    def tell(cost: float) -> None:
        progress.value = cost * unit
        progress.add(1, 0)
        progress.update(control=progress.value, points=0, events=0, step=0.0)

    return WatchedProgram(program, tell)


def _halves(t: Array) -> Array:
    return np.sort(np.concatenate([t, 0.5 * (t[1:] + t[:-1])]))


def _first(problem: SteeringProblem, grid: Grid, guess: Steering | None) -> Nodes:
    if guess is None:
        return straight(problem, (grid.t - grid.t[0]) / problem.span)
    if guess.coordinates != problem.system.coordinates or guess.u.shape[2] != len(problem.forces):
        raise UsageError("the guess is of another system", got=repr(guess))
    if not (guess.t[0] == grid.t[0] and guess.t[-1] == grid.t[-1]):
        raise UsageError("the guess covers another time", got=repr(guess), expected="the same `t_span`")
    q, v = (np.stack([np.interp(grid.t, guess.t, x) for x in part.T], axis=1) for part in (guess.q, guess.v))
    times = np.stack([grid.t[:-1], 0.5 * (grid.t[1:] + grid.t[:-1]), grid.t[1:]], axis=1)
    return Nodes(q, v, guess.at(times))


def _rechecked(
    problem: SteeringProblem, grid: Grid, nodes: Nodes, units: Units, asked: tuple[float, Status, Progress]
) -> Recheck:
    """The motions under the inputs found, one per mode, and how far they are from the nodes; none after Ctrl-C."""
    motions: list[Motion] = []
    accuracy, status, progress = asked
    if status is Status.interrupted:
        return (), np.inf
    state, error = (nodes.q[0], nodes.v[0]), 0.0
    breaks = np.flatnonzero(np.any(grid.closed[1:] != grid.closed[:-1], axis=1)) + 1
    for part in np.split(np.arange(len(grid.closed)), breaks):
        ends = np.append(part, part[-1] + 1)
        motions.append(_moved(problem, grid.t[ends], nodes.u[part], state, (accuracy, progress)))
        if motions[-1].t[-1] < grid.t[ends[-1]]:
            return tuple(motions), np.inf
        q, v = motions[-1].at(grid.t[ends])
        away = problem.mechanics.equations.space.local(q, nodes.q[ends])
        error = max(error, float(np.max(np.abs(away) / units.q)), float(np.max(np.abs(v - nodes.v[ends]) / units.v)))
        state = motions[-1].q[-1], motions[-1].v[-1]
    return tuple(motions), error


def _moved(
    problem: SteeringProblem, t: Array, u: Array, state: tuple[Array, Array], asked: tuple[float, Progress]
) -> Motion:
    """The motion within one mode; steps end where the inputs bend."""
    accuracy, progress = asked
    equations, system = problem.mechanics.equations, with_inputs(problem.system, problem.forces, t, u)
    control = equations.p if equations.control is None else equations.control
    contacts = EventDriven(rtol=RECHECK * accuracy), Projected(step=0.5 * (t[1] - t[0]))
    method = contacts[0] if system.unilateral else contacts[1]
    return simulate(system, *state, (t[0], t[-1]), method=method, control=control, progress=progress, throw=False)


def _result(
    problem: SteeringProblem,
    names: tuple[str, ...],
    found: tuple[Grid, Nodes, float],
    recheck: Recheck,
    answer: Answer,
    method: DirectCollocation,
) -> Steering:
    (grid, nodes, cost), (motions, error) = found, recheck
    status, notes = answer.status, [answer.note]
    if any(motion.status is Status.interrupted for motion in motions):
        status = Status.interrupted
    if status.ok and not error <= method.accuracy:
        status = Status.inaccurate
        notes.append(f"the motion under the inputs is {error:.2g} from the nodes: raise `most`, or `accuracy`")
    notes += [f"the recheck at t = {motion.t[-1]:.6g}: {motion.note}" for motion in motions if not motion.ok]
    return Steering(
        problem.system.coordinates, names, grid.t, *nodes, cost, error, motions, status,
        "; ".join(note for note in notes if note),
    )  # fmt: skip


def _provenance(problem: SteeringProblem, method: DirectCollocation, solver: Solver) -> dict[str, Any]:
    return {
        "verb": "steer",
        "method": type(method).__name__,
        "solver": type(solver).__name__,
        "version": __version__,
        "parameters": dict(problem.system.parameters),
        "labels": {name: list(pair) for name, pair in problem.system.labels.items()},
    }
