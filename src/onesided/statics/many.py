"""Very many paths of one model at once: `trace_many`.

Paths run side by side in compiled code [`evaluation.path_lanes`] as long as one thing happens at a time: limit points,
contacts that open or close one by one, corner limit points, bounds. A path at which more happens is handed to `trace`,
from the last point before it. Events are rechecked from the model by other code.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import OnesidedError, SolveError, UsageError
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices, Mask, Status
from onesided.evaluation.lane_runs import LaneEngine, around_again, engine_for
from onesided.evaluation.lane_state import (
    AT_BOUND,
    AT_LIMIT,
    CLOSES,
    CORNER_CLOSES,
    CORNER_OPENS,
    ENDED,
    LEFT,
    OPENS,
    POINT,
    LaneKnobs,
)
from onesided.evaluation.native_lanes import LaneTable
from onesided.results import Kind, Path
from onesided.results.many_paths import ManyPaths
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.many_checks import broken, equilibria
from onesided.statics.many_samples import LaneFrame, ManyTracks, sampled
from onesided.statics.many_starts import ManyStarts, alike, per_path, starts_of_many
from onesided.statics.paths import start_of, trace
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.system import System

KINDS = {AT_LIMIT: Kind.limit, OPENS: Kind.opens, CLOSES: Kind.closes, AT_BOUND: Kind.bound}
KINDS |= {CORNER_OPENS: Kind.corner_limit, CORNER_CLOSES: Kind.corner_limit}
NAMES = np.array([KINDS[code].name if code in KINDS else "" for code in range(POINT + 1)], dtype=object)
MOST_UNKNOWNS = 40  # beyond which a straight line of operations is too long
TICKS = 100_000  # evaluations of a path until it is handed over: it may be closed
BROKEN = (ArithmeticError, ValueError)  # overflow, or matrices that are not finite
WEAK = 100.0  # tolerances: margins below this are not clear


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
    degree: Array
    begun: Mask

    def without(self, paths: Sequence[int]) -> "_LanesRun":
        """The same without the rows of some paths: these were followed anew."""
        kept = ~np.isin(self.table.path, paths)
        table = LaneTable(self.table.states, self.table.rows[kept], self.table.path[kept])
        return replace(self, table=table, x=self.x[kept])


class _How(NamedTuple):
    """How `trace` follows what is left to it."""

    method: PredictorCorrector
    tolerances: Tolerances


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
    batch = starts_of_many(system, parameters, q0, p0, (p_bounds, direction))
    wanted = _levels(system, at)
    how = _How(method or PredictorCorrector(), tolerances)
    knobs = _knobs(*how, points=wanted is not None)
    if device not in {"auto", "cpu", "gpu", "xla"}:
        raise UsageError("`device` is not known", got=repr(device), expected='"auto", "cpu", "gpu" or "xla"')
    progress.begin("trace_many")
    try:
        if _is_large(system):
            return _collected(system, batch, None, how, None)
        engine = engine_for(system.derivatives, len(system.bilateral), batch.vectors.shape[1], knobs, device)
        found = _run(system, batch, engine, tolerances, progress)
        return _collected(system, batch, found, how, wanted)
    finally:
        progress.end()


def _is_large(system: System) -> bool:
    """Whether paths are traced one by one: many unknowns, or kinks of p, which compiled steps do not see."""
    unknowns = system.n + 1 + len(system.constraint_names)
    return system.derivatives.large or unknowns > MOST_UNKNOWNS or system.kinked


def _levels(system: System, at: Any) -> Array | None:
    """Values of p at which points are wanted."""
    if at is None:
        return None
    levels = per_path("at", at, each="sample")
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
        near=float(np.sqrt(tolerances.residual)),
        points=points,
    )


class _Lanes:
    """Paths before they run: sizes, starts and closed contacts of each, as far as they are known."""

    def __init__(self, system: System, batch: ManyStarts) -> None:
        n, m, count = system.n, len(system.constraint_names), len(batch.p)
        self.n, self.batch = n, batch
        self.unit, self.weight = np.ones((count, n + 1 + m)), np.ones((count, n + m))
        self.x, self.closed, self.usable = (
            np.zeros((count, n + 1 + m)),
            np.zeros((count, m)),
            np.zeros(count, dtype=bool),
        )

    def put(self, own: Indices, member: int, stands: Standpoint | None) -> None:
        """Some paths with the sizes, contacts and reactions of one of them, each from its own start."""
        if stands is None:
            return
        n, batch = self.n, self.batch
        self.usable[own] = True
        self.unit[own], self.weight[own] = stands.unit, np.concatenate([stands.sizes.force, stands.scales.gap])
        self.closed[own] = 0.0
        self.closed[np.ix_(own, stands.strong)] = 1.0
        self.x[own] = np.hstack([batch.q[own], batch.p[own, None], np.tile(stands.x[n + 1 :], (len(own), 1))])
        self.x[member, :n] = stands.x[:n]

    def run(self, engine: LaneEngine, which: Indices, told: Callable[[int, int], None]) -> LaneTable:
        """Run some of the paths, counted among all."""
        batch, unit = self.batch, self.unit[which]
        bounds = np.array(batch.asked.bounds) / unit[:, self.n, None]
        sense = np.full((len(which), 1), float(batch.asked.direction))
        data = np.hstack([batch.vectors[which], unit, self.weight[which], sense, bounds])
        made = engine.run(engine.lanes.start(self.x[which] / unit, self.closed[which]), data, TICKS, told)
        return LaneTable(made.states, made.rows, which[made.path])


def _run(
    system: System, batch: ManyStarts, engine: LaneEngine, tolerances: Tolerances, progress: Progress
) -> _LanesRun:
    """All paths side by side, as far as they come; those that do not start well once more, each with its own start."""
    count, lanes = len(batch.p), _Lanes(system, batch)

    def told(paths: int, events: int) -> None:
        progress.update(control=float(batch.p[0]), points=paths, events=events, step=0.0)

    members, groups = alike(batch.parameters, count)
    for number, member in enumerate(members):
        lanes.put(np.flatnonzero(groups == number), int(member), _standing(system, batch, int(member), tolerances))
    states = np.zeros((count, engine.lanes.length))
    which = np.flatnonzero(lanes.usable)
    table = lanes.run(engine, which, told)
    states[which] = table.states
    last = engine.lanes.unpacked(states)
    again = np.flatnonzero((last.how != ENDED) & (last.points == 0))
    for i in again:
        lanes.put(np.array([i]), int(i), _standing(system, batch, int(i), tolerances))
    again = again[lanes.usable[again]]
    second = lanes.run(engine, again, told) if len(again) else LaneTable(states[:0], table.rows[:0], table.path[:0])
    states[again] = second.states
    rows, path = np.concatenate([table.rows, second.rows]), np.concatenate([table.path, second.path])
    order = np.argsort(path, kind="stable") if len(again) else slice(None)
    return _rechecked(lanes, engine, LaneTable(states, rows[order], path[order]))


def _standing(system: System, batch: ManyStarts, i: int, tolerances: Tolerances) -> Standpoint | None:
    """The start of one path: sizes and closed contacts; None where there is none."""
    watch = PathWatch(batch.asked.bounds, {}, tolerances)
    try:
        return start_of(batch.system(system, i), batch.q[i], float(batch.p[i]), watch, None, (None, None))[0].where
    except (SolveError, *BROKEN):
        return None


def _rechecked(paths: _Lanes, engine: LaneEngine, table: LaneTable) -> _LanesRun:
    """Events in units, each rechecked; a path with one that fails is left to `trace` from its start."""
    unit, frame = paths.unit, LaneFrame(paths.batch.vectors, paths.unit, paths.weight)
    path, last = table.path, engine.lanes.unpacked(table.states)
    x = table.rows[:, : engine.lanes.size] * unit[path]
    left = last.how != ENDED
    begun = (last.how == LEFT) & (last.points > 0) & (last.s_1 != last.s - 1.0)  # not where two legs meet
    good = equilibria(engine, x, LaneFrame(*(column[path] for column in frame)))
    size = engine.lanes.size
    wrong = np.concatenate([path[~good], around_again(table, size, engine.lanes.knobs.near), broken(table, size, last)])
    left[wrong], begun[wrong] = True, False
    kept = begun[path] | ~left[path]
    rows = LaneTable(table.states, table.rows[kept], path[kept])
    return _LanesRun(engine, frame, rows, x[kept], left, last.y * unit, last.sense, last.degree, begun)


def _collected(system: System, batch: ManyStarts, found: _LanesRun | None, how: _How, at: Array | None) -> ManyPaths:
    """Events of all paths in order; those that are left are followed by `trace`."""
    n, count, names = system.n, len(batch.p), system.constraint_names
    left = np.ones(count, dtype=bool) if found is None else found.left
    status = np.full(count, Status.bound_reached, dtype=object)
    note = np.full(count, "", dtype=object)
    pieces, tracks, anew = list[_Events](), list[ManyTracks](), list[int]()
    for i in np.flatnonzero(left):
        path, note[i], on = _traced(system, batch, int(i), found, how)
        status[i] = Status.stalled if path is None else path.status
        anew += [] if on else [int(i)]
        if path is not None:
            pieces.append(_traced_events(path, int(i)))
            tracks.append(_traced_points(path, int(i)))
    found = None if found is None else found.without(anew)
    pieces.insert(0, _no_events(n, len(names)) if found is None else _compiled_events(found, n, names))
    tracks = tracks if found is None else [_compiled_points(found), *tracks]
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
    system: System, batch: ManyStarts, i: int, found: _LanesRun | None, how: _How
) -> tuple[Path | None, str, bool]:
    """One path by `trace`, from where it was left, or from its start; None where it has none; whether it goes on."""
    own = batch.system(system, i)
    if found is not None and found.begun[i]:
        q, p, unit = found.since[i, : system.n], float(found.since[i, system.n]), found.frame.unit[i, : system.n]
        path, note = _followed(own, (q, p, int(found.sense[i])), batch.asked.bounds, how)
        same = (
            path is not None
            and path.status.ok
            and path.status is not Status.closed  # how often it went around before is not known
            and np.all(np.abs(path.q[0] - q) <= found.engine.lanes.knobs.near * unit)
        )
        if path is not None and same and path.instability[0] == found.degree[i]:
            return path, note, True
    start = batch.q[i], float(batch.p[i]), batch.asked.direction
    return *_followed(own, start, batch.asked.bounds, how), False


def _followed(
    system: System, start: tuple[Array, float, int], bounds: tuple[float, float], how: _How
) -> tuple[Path | None, str]:
    """A path by `trace`, or why there is none."""
    q, p, direction = start
    try:
        path = trace(
            system,
            q,
            p,
            direction=direction,
            p_bounds=bounds,
            method=replace(how.method, compile_after=0),
            tolerances=how.tolerances,
            throw=False,
        )
    except OnesidedError as e:
        return None, str(e)
    except BROKEN as e:  # one path must not take the others with it
        return None, f"its numbers are beyond what can be computed with: {e}"
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
