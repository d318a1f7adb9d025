"""What `steer` was asked for, checked: states at both ends, bounds, modes of contacts, sizes, and a first guess."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.errors import ModelError, SolveError, UsageError
from onesided.base.names import unknown_name
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Mask
from onesided.dynamics.consistent import consistent
from onesided.dynamics.contracts import check_contracts
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.steering.transcription import Grid, NodeBounds, Nodes, Units
from onesided.evaluation.motion_terms import Control
from onesided.linalg import independent_rows
from onesided.system.contact import Contact
from onesided.system.equations import Equations
from onesided.system.inputs import Cost, Force, check_cost, input_forces, pushes
from onesided.system.system import System

SMALL = 0.01  # of the largest coordinate: smaller ones are scaled with the largest
Phase = tuple[float, Mask]


@dataclass(frozen=True, eq=False)
class SteeringProblem:
    """A system, its start, its goal (NaN where free), inputs, cost and time."""

    system: System
    mechanics: Mechanics
    start: MotionState
    goal: tuple[Array, Array]
    forces: tuple[Force, ...]
    cost: Cost
    end: float

    @property
    def span(self) -> float:
        """Duration: last time − first time."""
        return self.end - self.start.t


def stated(
    moved: tuple[System, float | Control],
    ends: tuple[Any, Any],
    inputs: Mapping[str, str | Force],
    cost: Cost,
    t_span: tuple[float, float],
    tolerances: Tolerances,
) -> SteeringProblem:
    """The problem, with both ends on the constraints; `moved` is a system and its control."""
    system, control = moved
    _refuse(system)
    forces = input_forces(system, inputs)
    check_cost(system, cost, len(forces))
    mechanics = Mechanics(Equations(system, control), None, tolerances)
    (first, last), (start, goal) = t_span, (_pair("start", end) for end in ends)
    goal_q, goal_v = _partial(system, goal[0]), _partial(system, goal[1])
    state, _ = consistent(mechanics, first, *start, last - first)
    check_contracts(mechanics.equations, state.t, state.q, state.v, mechanics.sizes.q)
    return SteeringProblem(system, mechanics, state, _settled(mechanics, last, goal_q, goal_v), forces, cost, last)


def _refuse(system: System) -> None:
    for part, there in (("servo conditions", system.servo), ("friction in joints", system.friction is not None)):
        if there:
            raise UsageError(f"`steer` does not know {part}", expected="a system without")
    special = [name for name, contact in system.contacts.items() if contact != Contact(contact.restitution)]
    if special:
        raise UsageError(
            "`steer` knows contacts without friction only",
            got=", ".join(special),
            expected="Contact(restitution=…), or none",
        )


def _pair(what: str, end: Any) -> tuple[Any, Any]:
    if not isinstance(end, tuple | list) or len(end) != 2 or any(np.isscalar(part) for part in end):
        raise UsageError(f"`{what}` is not a state", got=repr(end), expected="(coordinates, velocities)")
    return end[0], end[1]


def _partial(system: System, values: Any) -> Array:
    """Values by coordinate, NaN where a mapping leaves one out."""
    if not isinstance(values, Mapping):
        return system.point(values)
    for name in values:
        if name not in system.coordinates:
            raise unknown_name("coordinate", name, system.coordinates)
    if values and not system.motion.space.flat and len(values) < system.n:
        raise UsageError("a goal on rotations is given in parts", got=", ".join(values), expected="all coordinates")
    return np.array([float(values.get(name, np.nan)) for name in system.coordinates])


def _settled(mechanics: Mechanics, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """A goal that is given completely, moved onto the constraints."""
    if np.any(np.isnan(q)):
        return q, v
    settled = mechanics.settle(t, q, np.nan_to_num(v), np.zeros(mechanics.equations.rows))
    if not settled.status.ok:
        raise SolveError(settled.status.value, settled.state, got=f"{settled.worst} at the goal")
    return settled.state.q, v if np.any(np.isnan(v)) else settled.state.v


def modes_of(problem: SteeringProblem, modes: Sequence[tuple[float, Sequence[str]]]) -> list[Phase]:
    """Phases as (end time, closed gaps); one with all gaps open where none is given."""
    names = tuple(problem.system.unilateral)
    phases: list[Phase] = []
    before = problem.start.t
    for until, closed in modes or ((problem.end, ()),):
        for name in closed:
            if name not in names:
                raise unknown_name("gap", name, names)
        if not before < until <= problem.end:
            raise UsageError("the times of the modes do not ascend", got=f"{until:g} after {before:g}")
        phases.append((float(until), np.array([name in closed for name in names], dtype=bool)))
        before = until
    if before != problem.end:
        raise UsageError("the modes end too early", got=f"{before:g}", expected=f"{problem.end:g}")
    _check_end(problem, "the start does not fit the first mode", problem.start.t, phases[0][1], at_start=True)
    if not np.any(np.isnan(problem.goal[0])):
        _check_end(problem, "the goal does not fit the last mode", problem.end, phases[-1][1], at_start=False)
    return phases


def _check_end(problem: SteeringProblem, what: str, t: float, closed: Mask, *, at_start: bool) -> None:
    """Gaps of a mode must be closed and stay so where it begins or ends, none may be violated."""
    names, equations = tuple(problem.system.unilateral), problem.mechanics.equations
    if not names:
        return
    q, v = (problem.start.q, problem.start.v) if at_start else problem.goal
    slopes = equations.gap_slopes(t, q, np.eye(equations.n))
    gaps, rates = equations.gaps(t, q), np.nan_to_num(slopes @ v)
    reach = np.sqrt(problem.mechanics.tolerances.gap) * np.abs(slopes).sum(axis=1)
    lengths, speeds = reach * problem.mechanics.sizes.q.max(), reach * problem.mechanics.sizes.v.max()
    wrong = np.where(closed, (np.abs(gaps) > lengths) | (np.abs(rates) > speeds), gaps < -lengths)
    for i in np.flatnonzero(wrong):
        raise UsageError(
            f"{what}: gap '{names[i]}'",
            got=f"{gaps[i]:.6g}, its rate {rates[i]:.6g}",
            expected="closed, and its rate zero" if closed[i] else "0 or more",
        )


def grid_of(problem: SteeringProblem, phases: Sequence[Phase], intervals: int) -> Grid:
    """Nodes evenly in every phase, the intervals shared by duration, two at least in each."""
    times, closed, before = [np.array([problem.start.t])], [], problem.start.t
    for until, gaps in phases:
        count = max(2, round(intervals * (until - before) / problem.span)) if len(phases) > 1 else intervals
        times.append(np.linspace(before, until, count + 1)[1:])
        closed.append(np.tile(gaps, (count, 1)))
        before = until
    return Grid(np.concatenate(times), np.vstack(closed))


def limits_of(
    problem: SteeringProblem, bounds: Mapping[str, tuple[float, float]], inputs: tuple[str, ...], closed: Mask
) -> NodeBounds:
    """Bounds by name, and the rows that the last node states itself."""
    names = (*problem.system.coordinates, *(f"{name}_dot" for name in problem.system.coordinates), *inputs)
    low, high, n = np.full(len(names), -np.inf), np.full(len(names), np.inf), problem.system.n
    for name, (least, largest) in bounds.items():
        if name not in names:
            raise unknown_name("coordinate, velocity or input", name, names)
        if not least < largest:
            raise UsageError(f"the bounds of '{name}' are empty", got=f"{least:g} to {largest:g}")
        low[names.index(name)], high[names.index(name)] = least, largest
    sides = [tuple(np.split(side, [n, 2 * n])) for side in (low, high)]
    start = (problem.start.q, problem.start.v)
    positions, velocities = _last_rows(problem, closed)
    return NodeBounds(sides[0], sides[1], start, problem.goal, positions, velocities)  # type: ignore[arg-type]


def _last_rows(problem: SteeringProblem, closed: Mask) -> tuple[Mask, Mask]:
    """Rows of positions (holonomic, gaps) and velocities (holonomic, rolling, gaps) that what is given leaves open."""
    G, kinds = gradients(problem, problem.end, np.where(np.isnan(problem.goal[0]), problem.start.q, problem.goal[0]))
    held, rolling = kinds == 0, kinds == 2
    active = np.where(kinds == 1, np.isin(np.arange(len(kinds)) - np.sum(held), np.flatnonzero(closed)), True)
    free_q, free_v = np.isnan(problem.goal[0]), np.isnan(problem.goal[1])
    positions = _open(G[:, free_q], active & ~rolling)[~rolling]
    positions[np.sum(held) :] |= ~closed & np.any(free_q)
    velocities = _open(G[:, free_v], active)
    return positions, np.concatenate([velocities[held], velocities[rolling], velocities[kinds == 1]])


def _open(G: Array, active: Mask) -> Mask:
    """Rows among the active ones whose gradients are independent on the free columns."""
    out, chosen = np.zeros(len(G), dtype=bool), np.flatnonzero(active)
    if G.shape[1] and len(chosen):
        out[chosen[independent_rows(G[chosen])]] = True
    return out


def gradients(problem: SteeringProblem, t: float, q: Array) -> tuple[Array, Array]:
    """Gradients of all rows that collocation knows (holonomic, gaps, rolling), and their kinds 0, 1, 2."""
    mechanics, n = problem.mechanics, problem.system.n
    equations, zero = mechanics.equations, np.zeros(n)
    _, G = equations.matrices(equations.terms(t, q, zero, zero, np.zeros(equations.m)))
    kept, gaps = G[mechanics.rows], equations.gap_slopes(t, q, np.eye(n))
    held = int(np.sum(mechanics.rows < equations.m))
    kinds = np.repeat([0, 1, 2], [held, len(gaps), len(kept) - held])
    return np.vstack([kept[:held], gaps, kept[held:]]), kinds


def units_of(problem: SteeringProblem) -> Units:
    """Typical sizes: of the way, of velocities on it, of inputs that move the masses so far in the time."""
    start, equations, T = problem.start, problem.mechanics.equations, problem.span
    way = np.abs(np.nan_to_num(equations.space.local(start.q, _filled(problem))))
    q = np.maximum(np.abs(start.q), way)
    largest = float(np.max(q)) or float(np.max(problem.mechanics.sizes.q))
    q = np.where(q < SMALL * largest, largest, q)
    v = np.maximum(q / T, np.abs(start.v))
    terms = equations.terms(start.t, start.q, 0.0 * start.q, start.v, np.zeros(equations.m))
    M, _ = equations.matrices(terms)
    mass = np.diagonal(M).copy()
    mass = np.where(mass > 0.0, mass, np.max(mass))
    G, _ = gradients(problem, start.t, start.q)
    rows = np.linalg.norm(G, axis=1)
    return Units(q, v, _input_sizes(problem, mass, q), np.where(rows > 0.0, rows, 1.0), mass, T)


def _filled(problem: SteeringProblem) -> Array:
    return np.where(np.isnan(problem.goal[0]), problem.start.q, problem.goal[0])


def _input_sizes(problem: SteeringProblem, mass: Array, q: Array) -> Array:
    """Inputs whose forces move the masses by q in the time, in the metric of the masses."""
    places = (problem.start.q, _filled(problem), straight(problem, np.array([0.0, 0.5, 1.0])).q[1])
    B = [pushes(problem.system, problem.forces, place) for place in places]
    strength = np.max([np.sqrt(np.sum(b**2 / mass[:, None], axis=0)) for b in B], axis=0)
    if not np.all(strength > 0.0):
        raise ModelError("an input pushes nothing", got="no force at the start, the goal and between")
    return np.asarray(np.sqrt(np.sum(mass * q**2)) / problem.span**2 / strength)


def straight(problem: SteeringProblem, share: Array) -> Nodes:
    """A straight way from start to goal at constant velocity, on the constraints, without inputs."""
    mechanics, start = problem.mechanics, problem.start
    space, none = mechanics.equations.space, np.zeros(mechanics.equations.rows)
    way = space.local(start.q, _filled(problem))
    settled = [
        mechanics.settle(start.t + s * problem.span, space.retract(start.q, s * way), way / problem.span, none).state
        for s in share
    ]
    q, v = np.array([s.q for s in settled]), np.array([s.v for s in settled])
    return Nodes(q, v, np.zeros((len(q) - 1, 3, len(problem.forces))))


def halved(problem: SteeringProblem, nodes: Nodes, t: Array) -> Nodes:
    """The same on intervals of half the length: cubics through the states, parabolas through the inputs."""
    space, h = problem.mechanics.equations.space, np.diff(t)[:, None]
    delta = space.local(nodes.q[:-1], nodes.q[1:])
    rate = space.rate(delta, nodes.v[1:])
    q = space.retract(nodes.q[:-1], 0.5 * delta + h / 8.0 * (nodes.v[:-1] - rate))
    v = 1.5 * delta / h - 0.25 * (nodes.v[:-1] + rate)
    a, m, b = (nodes.u[:, i] for i in range(3))
    early, late = 0.375 * a + 0.75 * m - 0.125 * b, -0.125 * a + 0.75 * m + 0.375 * b
    u = np.stack([np.stack([a, early, m], axis=1), np.stack([m, late, b], axis=1)], axis=1)
    return Nodes(_woven(nodes.q, q), _woven(nodes.v, v), u.reshape(-1, 3, a.shape[1]))


def _woven(nodes: Array, middles: Array) -> Array:
    out = np.empty((len(nodes) + len(middles), nodes.shape[1]))
    out[::2], out[1::2] = nodes, middles
    return out
