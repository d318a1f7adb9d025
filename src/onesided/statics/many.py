"""Very many paths of one model at once: `trace_many`.

Paths run side by side in compiled code [`evaluation.path_lanes`] as long as one thing happens at a time: limit points,
contacts that open or close one by one, corner limit points, bounds. A path at which more happens is handed to `trace`,
from the last point before it. Events are rechecked from the model by other code.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import OnesidedError, SolveError, UsageError
from onesided.base.names import unknown_name
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices, Mask, Status
from onesided.evaluation.lane_runs import LaneEngine, engine_for
from onesided.evaluation.native_lanes import LaneTable
from onesided.evaluation.path_lanes import (
    AT_BOUND,
    AT_LIMIT,
    CLOSES,
    CORNER_CLOSES,
    CORNER_OPENS,
    ENDED,
    OPENS,
    POINT,
    LaneKnobs,
)
from onesided.results import Kind, Path
from onesided.results.many_paths import ManyPaths
from onesided.statics.many_samples import LaneFrame, ManyTracks, sampled
from onesided.statics.paths import start_of, trace
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.defaults import Where, where
from onesided.system.system import System

KINDS = {AT_LIMIT: Kind.limit, OPENS: Kind.opens, CLOSES: Kind.closes, AT_BOUND: Kind.bound}
KINDS |= {CORNER_OPENS: Kind.corner_limit, CORNER_CLOSES: Kind.corner_limit}
NAMES = np.array([KINDS[code].name if code in KINDS else "" for code in range(POINT + 1)], dtype=object)
GROUPS = 64  # of paths with parameters of the same orders of magnitude, each with sizes of its own
MOST_UNKNOWNS = 40  # beyond which a straight line of operations is too long
TICKS = 100_000  # evaluations of a path until it is handed over: it may be closed
WEAK = 100.0  # tolerances: margins below this are not clear


class ManyStarts(NamedTuple):
    """Paths to be followed: parameters by name, the vectors that functions take for them, starts and bounds."""

    parameters: Mapping[str, Array]
    vectors: Array
    q: Array
    p: Array
    asked: Where

    def system(self, system: System, i: int) -> System:
        """The system of one path."""
        return system.replace(parameters={name: float(values[i]) for name, values in self.parameters.items()})


class _Events(NamedTuple):
    """Columns of `ManyPaths`, an entry per event."""

    path: Indices
    kind: Any
    constraint: Any
    p: Array
    q: Array
    nu: Array
    before: Indices
    after: Indices


@dataclass(frozen=True)
class _LanesRun:
    """Rows of the compiled paths by unscaled unknowns, and which paths are left to `trace`, from where."""

    engine: LaneEngine
    frame: LaneFrame
    table: LaneTable
    x: Array
    left: Mask
    since: Array
    sense: Array
    begun: Mask


@checked
def trace_many(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System,
    parameters: Mapping[str, Any],
    q0: Any = None,
    p0: Any = None,
    *,
    direction: int | None = None,
    p_bounds: tuple[float, float] | None = None,
    method: PredictorCorrector | None = None,
    tolerances: Tolerances = DEFAULT,
    at: Any = None,
    device: str = "auto",
    progress: Progress = SILENT,
) -> ManyPaths:
    """Trace the paths of one model for many values of its parameters, side by side in compiled code.

    Parameters
    ----------
    parameters : name → values, one per path; a single number holds for all.
    q0, p0 : start of all paths, (n,), or of each, (B, n); p0 likewise. By default the system's own.
    direction, p_bounds : as for `trace`; the bounds must be finite on the side where paths go.
    method : step control; steps are looked at in their middle, straight stretches not more closely
        (`PredictorCorrector.fast()`).
    at : values of p at which the paths are wanted as well (`ManyPaths.samples`).
    device : "cpu" (all its cores and vector units), "gpu" (needs cupy), "xla" (JAX's compiler), or "auto".
    progress : told about paths as they are done.

    Returns
    -------
    ManyPaths : events as arrays; a path that met what compiled code leaves out was followed on by `trace`.
    """
    batch = _batch(system, parameters, q0, p0, (p_bounds, direction))
    wanted = _levels(system, at)
    knobs = _knobs(method or PredictorCorrector(), tolerances, points=wanted is not None)
    if device not in {"auto", "cpu", "gpu", "xla"}:
        raise UsageError("`device` is not known", got=repr(device), expected='"auto", "cpu", "gpu" or "xla"')
    progress.begin("trace_many")
    try:
        if _is_large(system):
            return _collected(system, batch, None, tolerances, None)
        engine = engine_for(system.derivatives, len(system.bilateral), batch.vectors.shape[1], knobs, device)
        found = _run(system, batch, engine, tolerances, progress)
        return _collected(system, batch, found, tolerances, wanted)
    finally:
        progress.end()


def _is_large(system: System) -> bool:
    return system.derivatives.large or system.n + 1 + len(system.constraint_names) > MOST_UNKNOWNS


def _levels(system: System, at: Any) -> Array | None:
    """Values of p at which points are wanted."""
    if at is None:
        return None
    levels = np.atleast_1d(np.asarray(at, dtype=np.float64)).ravel()
    if not np.all(np.isfinite(levels)):
        raise UsageError("`at` is not finite", got=repr(at), expected=f"values of {system.control}")
    if _is_large(system):
        raise UsageError("`at` is for small systems", got=f"{system.n} coordinates", advice="trace(…).p and .q")
    return levels


def _knobs(method: PredictorCorrector, tolerances: Tolerances, *, points: bool = False) -> LaneKnobs:
    return LaneKnobs(
        first_step=method.first_step,
        max_step=method.max_step,
        turn=method.turn,
        miss=method.miss,
        residual=tolerances.residual,
        resolve=method.first_step**3,
        event=tolerances.event,
        weak=WEAK * max(tolerances.gap, tolerances.force),
        points=points,
    )


def _batch(system: System, parameters: Mapping[str, Any], q0: Any, p0: Any, ends: tuple[Any, Any]) -> ManyStarts:
    """What was asked, as arrays with an entry per path."""
    given = {name: np.asarray(values, dtype=np.float64) for name, values in parameters.items()}
    for name in given:
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters, advice="what is varied must be a parameter")
    first = None if p0 is None else float(np.ravel(np.asarray(p0, dtype=np.float64))[0])
    start = None if q0 is None or np.ndim(q0) < 2 else np.asarray(q0)[0]
    asked = where(system, q0 if start is None else start, first, *ends)
    q = system.point(asked.q)[None] if start is None else np.asarray(q0, dtype=np.float64)
    p = np.atleast_1d(np.asarray(asked.p if p0 is None else p0, dtype=np.float64))
    count = max([len(q), len(p), *(values.size for values in given.values())])
    lengths = {"q0": len(q), "p0": len(p)} | {name: values.size for name, values in given.items()}
    for name, length in lengths.items():
        if length not in {1, count}:
            raise UsageError(f"`{name}` has the wrong number of values", got=str(length), expected=f"1 or {count}")
    if q.shape[1:] != (system.n,):
        raise UsageError(
            "`q0` has the wrong shape", got=str(q.shape), expected=f"({system.n},) or ({count}, {system.n})"
        )
    columns = {name: np.broadcast_to(values.ravel(), (count,)) for name, values in given.items()}
    for name, values in columns.items():
        if not np.all(np.isfinite(values)):
            raise UsageError(
                f"parameter `{name}` is not finite in some paths", got=str(values[~np.isfinite(values)][0])
            )
    vectors = _vectors(system, columns, count)
    return ManyStarts(columns, vectors, np.broadcast_to(q, (count, system.n)), np.broadcast_to(p, (count,)), asked)


def _vectors(system: System, columns: Mapping[str, Array], count: int) -> Array:
    """What functions take for the parameters of every path, (B, ·)."""
    if system.derivatives.large:
        return np.zeros((count, 0))
    if not system.derivatives.elementwise:
        values: dict[str, Any] = {**system.parameters, **columns}
        made = [np.broadcast_to(values[name], (count,)) for name in system.derivatives.names]
        return np.stack(made, axis=1) if made else np.zeros((count, 0))
    own = dict(system.parameters)
    rows = []
    for i in range(count):
        own |= {name: float(values[i]) for name, values in columns.items()}
        rows.append(system.derivatives.constants(own))
    return np.array(rows, dtype=np.float64)


def _groups(columns: Mapping[str, Array], count: int) -> tuple[Indices, Indices]:
    """Groups of paths with parameters of the same orders of magnitude: a member of each, the group of each path."""
    if not columns:
        return np.zeros(1, dtype=np.intp), np.zeros(count, dtype=np.intp)
    values = np.stack(list(columns.values()), axis=1)
    sizes = np.where(values == 0, 1.0, np.abs(values))
    keys = np.round(np.log10(sizes)) * 2.0 + (values < 0)
    if np.all(keys == keys[0]):
        return np.zeros(1, dtype=np.intp), np.zeros(count, dtype=np.intp)
    _, members, groups, numbers = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    groups = groups.reshape(-1)
    if len(members) > GROUPS:  # the rare ones take the sizes of the most frequent
        frequent = np.argsort(-numbers)[:GROUPS]
        place = np.zeros(len(members), dtype=np.intp)
        place[frequent] = np.arange(GROUPS)
        groups, members = place[groups], members[frequent]
    return members, groups


def _run(
    system: System, batch: ManyStarts, engine: LaneEngine, tolerances: Tolerances, progress: Progress
) -> _LanesRun:
    """All paths side by side, as far as they come."""
    n, m, count = system.n, len(system.constraint_names), len(batch.p)
    unit, weight = np.ones((count, n + 1 + m)), np.ones((count, n + m))
    y, closed, usable = np.zeros((count, n + 1 + m)), np.zeros((count, m)), np.zeros(count, dtype=bool)
    members, groups = _groups(batch.parameters, count)
    for number, member in enumerate(members):
        own = groups == number
        stands = _standing(batch.system(system, int(member)), batch, int(member), tolerances)
        if stands is None:
            continue
        usable[own] = True
        unit[own], weight[own] = stands.unit, np.concatenate([stands.sizes.force, stands.scales.gap])
        closed[np.ix_(own, stands.strong)] = 1.0
        x = np.hstack([batch.q[own], batch.p[own, None], np.broadcast_to(stands.x[n + 1 :], (int(own.sum()), m))])
        alike = np.all(batch.q[own] == batch.q[member], axis=1) & (batch.p[own] == batch.p[member])
        x[alike, :n] = stands.x[:n]  # the start of one path is close to that of the others
        y[own] = x / unit[own]
    bounds = np.clip(np.array(batch.asked.bounds) / unit[:, n, None], -math.inf, math.inf)
    sense = np.full((count, 1), float(batch.asked.direction))
    data = np.hstack([batch.vectors, unit, weight, sense, bounds])
    states = engine.lanes.start(y, closed)

    def told(paths: int, events: int) -> None:
        progress.update(control=float(batch.p[0]), points=paths, events=events, step=0.0)

    table = engine.run(states[usable], data[usable], TICKS, told)
    return _rechecked(batch, engine, (unit, weight, usable), table)


def _standing(system: System, batch: ManyStarts, i: int, tolerances: Tolerances) -> Any:
    """The start of one path: sizes and closed contacts; None where there is none."""
    try:
        watch = PathWatch(batch.asked.bounds, {}, tolerances)
        return start_of(system, batch.q[i], float(batch.p[i]), watch, None, (None, None))[0].where
    except SolveError:
        return None


def _rechecked(batch: ManyStarts, engine: LaneEngine, frame: tuple[Array, Array, Mask], table: LaneTable) -> _LanesRun:
    """Events in units, each rechecked; a path with one that fails is left to `trace` from its start."""
    unit, weight, usable = frame
    lanes, which = engine.lanes, np.flatnonzero(usable)
    size = lanes.size
    path = which[table.path]
    x = table.rows[:, :size] * unit[path]
    left, begun = np.ones(len(unit), dtype=bool), np.zeros(len(unit), dtype=bool)
    since, sense = np.zeros((len(unit), size)), np.zeros(len(unit))
    last = lanes.unpacked(table.states)
    left[which], begun[which] = last.how != ENDED, last.points > 0
    since[which], sense[which] = last.y * unit[which], last.sense
    good = _equilibria(engine, x, batch.vectors[path], (unit[path], weight[path]))
    wrong = np.unique(path[~good])
    left[wrong], begun[wrong] = True, False
    kept = begun[path] | ~left[path]
    rows, path, x = table.rows[kept], path[kept], x[kept]
    whole = LaneFrame(batch.vectors, unit, weight)
    return _LanesRun(engine, whole, LaneTable(table.states, rows, path), x, left, since, sense, begun)


def _equilibria(engine: LaneEngine, x: Array, vectors: Array, frame: tuple[Array, Array]) -> Mask:
    """Whether packed points are equilibria with contacts that push [SP1 (3.3), (3.4)]."""
    if not len(x):
        return np.zeros(0, dtype=bool)
    lanes, (unit, weight) = engine.lanes, frame
    n, k = lanes.n, lanes.k
    L_q, c = engine.residuals(x, vectors)
    small = engine.lanes.knobs.weak
    forces, gaps = np.abs(L_q) / weight[:, :n], c / weight[:, n:]
    pushes = x[:, n + 1 :] / unit[:, n + 1 :]
    good = (forces <= small).all(axis=1) & (np.abs(gaps[:, :k]) <= small).all(axis=1)
    good &= (gaps[:, k:] >= -small).all(axis=1) & (pushes[:, k:] >= -small).all(axis=1)
    met = np.minimum(np.abs(gaps[:, k:]), np.abs(pushes[:, k:])) <= small
    return np.asarray(good & met.all(axis=1))


def _collected(
    system: System, batch: ManyStarts, found: _LanesRun | None, tolerances: Tolerances, at: Array | None
) -> ManyPaths:
    """Events of all paths in order; those that are left are followed by `trace`."""
    n, count, names = system.n, len(batch.p), system.constraint_names
    left = np.ones(count, dtype=bool) if found is None else found.left
    status = np.full(count, Status.bound_reached, dtype=object)
    note = np.full(count, "", dtype=object)
    pieces = [_no_events(n, len(names))] if found is None else [_compiled_events(found, n, names)]
    tracks = [] if found is None else [_compiled_points(found)]
    for i in np.flatnonzero(left):
        path, note[i] = _traced(system, batch, int(i), found, tolerances)
        status[i] = Status.stalled if path is None else path.status
        if path is not None:
            pieces.append(_traced_events(path, int(i)))
            tracks.append(_traced_points(path, int(i)))
    columns = _Events(*_in_order(pieces))
    samples = (
        None
        if at is None or found is None
        else sampled(found.engine, found.frame, ManyTracks(*_in_order(tracks)), at.tolist())
    )
    return ManyPaths(
        batch.parameters,
        status,
        note,
        left,
        **columns._asdict(),
        coordinates=system.coordinates,
        constraints=names,
        control=system.control,
        engine="trace" if found is None else found.engine.name,
        samples=samples,
    )


def _in_order(pieces: Sequence[Any]) -> list[Any]:
    """Columns of several pieces, joined, by the number of the path."""
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    if np.any(columns[0][1:] < columns[0][:-1]):
        order = np.argsort(columns[0], kind="stable")
        columns = [column[order] for column in columns]
    return columns


def _compiled_points(found: _LanesRun) -> ManyTracks:
    return ManyTracks(found.table.path, found.x, found.table.rows[:, found.x.shape[1] + 2].astype(np.intp))


def _traced_points(path: Path, i: int) -> ManyTracks:
    x = np.hstack([path.q, path.p[:, None], path.mu, path.lam])
    return ManyTracks(np.full(len(x), i, dtype=np.intp), x, np.asarray(path.instability, dtype=np.intp))


def _no_events(n: int, m: int) -> _Events:
    names, numbers = np.zeros(0, dtype=object), np.zeros(0, dtype=np.intp)
    return _Events(numbers, names, names, np.zeros(0), np.zeros((0, n)), np.zeros((0, m)), numbers, numbers)


def _compiled_events(found: _LanesRun, n: int, names: tuple[str, ...]) -> _Events:
    size = found.x.shape[1]
    events = found.table.rows[:, size] != POINT
    rows, x, path = found.table.rows[events], found.x[events], found.table.path[events]
    kinds = NAMES[rows[:, size].astype(np.intp)]
    chosen, listed = rows[:, size + 5 :], np.array([*names, ""], dtype=object)
    places = np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1) if names else np.full(len(rows), -1)
    constraint = listed[places]
    degrees = rows[:, size + 1 : size + 3].astype(np.intp)
    return _Events(path, kinds, constraint, x[:, n], x[:, :n], x[:, n + 1 :], *degrees.T)


def _traced(
    system: System, batch: ManyStarts, i: int, found: _LanesRun | None, tolerances: Tolerances
) -> tuple[Path | None, str]:
    """One path from where it was left, by `trace`; None where it has none."""
    n, begun = system.n, found is not None and bool(found.begun[i])
    q, p = (found.since[i, :n], float(found.since[i, n])) if found is not None and begun else (batch.q[i], batch.p[i])
    direction = int(found.sense[i]) if found is not None and begun else batch.asked.direction
    try:
        path = trace(
            batch.system(system, i),
            q,
            float(p),
            direction=direction,
            p_bounds=batch.asked.bounds,
            method=PredictorCorrector(compile_after=0),
            tolerances=tolerances,
            throw=False,
        )
    except OnesidedError as e:
        return None, str(e)
    return path, path.note


def _traced_events(path: Path, i: int) -> _Events:
    events = path.events
    names = np.array([", ".join(event.constraints) for event in events], dtype=object)
    after = [-1 if event.instability_after is None else event.instability_after for event in events]
    n, m = path.q.shape[1], path.mu.shape[1] + path.lam.shape[1]
    return _Events(
        np.full(len(events), i, dtype=np.intp),
        np.array([event.kind.name for event in events], dtype=object),
        names,
        np.array([event.p for event in events]),
        np.array([event.q for event in events]).reshape(len(events), n),
        np.array([np.concatenate([event.mu, event.lam]) for event in events]).reshape(len(events), m),
        np.array([event.instability_before for event in events], dtype=np.intp),
        np.array(after, dtype=np.intp),
    )
