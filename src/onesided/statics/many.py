"""Very many paths of one model at once: `trace_many`.

Paths run side by side in compiled code [`evaluation.path_lanes`] as long as one thing happens at a time: limit points,
contacts that open or close one by one, corner limit points, bounds. A path at which more happens is handed to `trace`,
from the last point before it. Events are rechecked from the model by other code.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import OnesidedError, UsageError
from onesided.base.processors import processors
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices, Status
from onesided.evaluation.lane_runs import engine_for
from onesided.evaluation.lane_state import LaneKnobs
from onesided.results import Path
from onesided.results.many_paths import EventWords, ManyPaths
from onesided.statics.many_runs import BROKEN, KIND_NAMES, ManyEvents, ManyRows, ManyRun
from onesided.statics.many_samples import ManyTracks, sampled
from onesided.statics.many_starts import ManyStarts, per_path, starts_of_many
from onesided.statics.paths import trace
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.system import System

MOST_UNKNOWNS = 40  # beyond which a straight line of operations is too long
WEAK = 100.0  # tolerances: margins below this are not clear


class _How(NamedTuple):
    """How `trace` follows what is left to it."""

    method: PredictorCorrector
    tolerances: Tolerances


_Asked = tuple[System, ManyStarts, _How]


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
    progress : notified of paths as they are done.

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

    def told(paths: int, events: int) -> None:
        progress.update(control=float(batch.p[0]), points=paths, events=events, step=0.0)

    try:
        if _is_large(system):
            return _collected((system, batch, how), None, [], None, told)
        engine = engine_for(system.derivatives, len(system.bilateral), batch.vectors.shape[1], knobs, device)
        run = ManyRun(system, batch, engine, tolerances)
        rows = run.rows(told)
        return _collected((system, batch, how), run, rows, wanted, told)
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


def _collected(
    asked: _Asked, run: ManyRun | None, rows: list[ManyRows], at: Array | None, told: Callable[[int, int], None]
) -> ManyPaths:
    """Events of all paths in order; those that are left are followed by `trace`."""
    system, batch, _ = asked
    n, count, names = system.n, len(batch.p), system.constraint_names
    left = np.ones(count, dtype=bool) if run is None else run.left
    status = np.full(count, Status.bound_reached, dtype=object)
    note = np.full(count, "", dtype=object)
    pieces, tracks, anew = [_no_events(n + 1 + len(names))], list[ManyTracks](), list[int]()
    listed = [*names, ""]
    events = sum(len(made.events.path) for made in rows)
    for done, i in enumerate(np.flatnonzero(left).tolist(), count - int(left.sum())):
        told(done, events)
        traced, note[i], on = _traced(asked, i, run)
        status[i] = Status.stalled if traced is None else traced.status
        anew += [] if on else [i]
        if traced is not None:
            pieces.append(_traced_events(traced, i, listed))
            tracks.append(_traced_points(traced, i))
            events += len(traced.events)
    path, x, codes = _in_order([*(_without(made.events, anew) for made in rows), *pieces])
    points = [_without(made.points, anew) for made in rows if made.points is not None]
    return ManyPaths(
        batch.parameters,
        status,
        note,
        left,
        path=path,
        kinds=EventWords(codes[:, 0], KIND_NAMES),
        changing=EventWords(codes[:, 3], tuple(listed)),
        p=x[:, n],
        q=x[:, :n],
        nu=x[:, n + 1 :],
        before=codes[:, 1],
        after=codes[:, 2],
        coordinates=system.coordinates,
        constraints=names,
        control=system.control,
        engine="trace" if run is None else run.engine.name,
        samples=None if at is None or run is None else _samples(run, [*points, *tracks], at),
    )


def _samples(run: ManyRun, tracks: list[ManyTracks], at: Array) -> Any:
    """States of all paths at the values of p asked for."""
    return sampled(run.engine, run.frame, ManyTracks(*_in_order(tracks)), at.tolist())


def _without(columns: Any, paths: Sequence[int]) -> Any:
    """The same without the rows of some paths: these were followed anew."""
    kept = ~np.isin(columns.path, paths) if paths else None
    return columns if kept is None or kept.all() else type(columns)(*(column[kept] for column in columns))


def _in_order(pieces: Sequence[Any]) -> list[Any]:
    """Columns of several pieces, joined, by the number of the path; each piece is in order.

    Where a row goes is known from how many there are of every path: nothing is sorted.
    """
    filled = [piece for piece in pieces if len(piece.path)]
    places = _places([piece.path for piece in filled])
    total = sum(len(piece.path) for piece in filled)
    columns = [np.empty((total, *column.shape[1:]), column.dtype) for column in pieces[0]]

    def put(i: int) -> None:
        for column, part in zip(columns, filled[i], strict=True):
            column[places[i]] = part

    with ThreadPoolExecutor(processors()) as pool:
        list(pool.map(put, range(len(filled))))
    return columns


def _places(paths: Sequence[Indices]) -> list[slice | Indices]:
    """Where the rows of every piece go: after those of earlier paths, and of the same path in earlier pieces."""
    total = np.zeros(1 + max((int(path[-1]) for path in paths), default=0), dtype=np.intp)
    spans, counts = [slice(int(path[0]), int(path[-1]) + 1) for path in paths], list[Indices]()
    for path, span in zip(paths, spans, strict=True):
        counts.append(np.bincount(path - span.start))
        total[span] += counts[-1]
    free, found = np.cumsum(total) - total, list[slice | Indices]()
    for path, span, own in zip(paths, spans, counts, strict=True):
        first, last = int(free[span.start]), int(free[span.stop - 1] + own[-1])
        if last - first == len(path):
            found.append(slice(first, last))
        else:
            found.append(np.repeat(free[span] - (np.cumsum(own) - own), own) + np.arange(len(path)))
        free[span] += own
    return found


def _traced_points(path: Path, i: int) -> ManyTracks:
    x = np.hstack([path.q, path.p[:, None], path.mu, path.lam])
    return ManyTracks(np.full(len(x), i, dtype=np.intp), x, np.asarray(path.instability, dtype=np.intp))


def _no_events(size: int) -> ManyEvents:
    return ManyEvents(np.zeros(0, dtype=np.intp), np.zeros((0, size)), np.zeros((0, 4), dtype=np.int32))


def _traced(asked: _Asked, i: int, run: ManyRun | None) -> tuple[Path | None, str, bool]:
    """One path by `trace`, from where it was left, or from its start; None where it has none; whether it goes on."""
    system, batch, how = asked
    own = batch.system(system, i)
    if run is not None and run.begun[i]:
        q, p = run.since[i, : system.n], float(run.since[i, system.n])
        unit = run.unit(i)[: system.n]
        path, note = _followed(own, (q, p, int(run.sense[i])), batch.asked.bounds, how)
        same = (
            path is not None
            and path.status.ok
            and path.status is not Status.closed  # how often it went around before is not known
            and np.all(np.abs(path.q[0] - q) <= run.engine.lanes.knobs.near * unit)
        )
        if path is not None and same and path.instability[0] == run.degree[i]:
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
    return path, path.note or ("" if path.status.ok else path.status.value)


def _traced_events(path: Path, i: int, listed: list[str]) -> ManyEvents:
    """Events of a path that was traced; words that are new are put at the end of the list."""
    events = path.events
    codes = np.empty((len(events), 4), dtype=np.int32)
    for row, event in zip(codes, events, strict=True):
        words, after = ", ".join(event.constraints), event.instability_after
        if words not in listed:
            listed.append(words)
        row[:] = (
            KIND_NAMES.index(event.kind.name),
            event.instability_before,
            -1 if after is None else after,
            listed.index(words),
        )
    x = [np.concatenate([event.q, [event.p], event.mu, event.lam]) for event in events]
    size = path.q.shape[1] + 1 + path.mu.shape[1] + path.lam.shape[1]
    return ManyEvents(np.full(len(events), i, dtype=np.intp), np.array(x).reshape(len(events), size), codes)
