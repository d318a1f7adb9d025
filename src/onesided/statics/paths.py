"""The verbs of equilibrium paths: trace, iter_trace, branch."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, HALF_DIGITS, Tolerances
from onesided.base.types import Array, Status
from onesided.linalg import one_thread
from onesided.results import Event, Path, Ray, Rays
from onesided.statics.checks.collect import checked_twice, collect
from onesided.statics.curves.spectrum import hidden
from onesided.statics.equilibria.find_equilibrium import Corrected, already, settle
from onesided.statics.equilibria.place import Standpoint, place
from onesided.statics.notes import refuse_history
from onesided.statics.symmetric import chosen_symmetry, labelled
from onesided.statics.tracing.cells import rays_from
from onesided.statics.tracing.hits import PathWatch, UserEvents
from onesided.statics.tracing.path_method import Origin, PathItem, PathMethod, items_of
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.defaults import where
from onesided.system.sizes import Sizes
from onesided.system.symmetry import Symmetry
from onesided.system.system import System

ENDLESS = sys.maxsize, None  # points and events of an iterator: who takes them knows when it is enough


@checked
def trace(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System,
    q0: Any = None,
    p0: float | None = None,
    *,
    direction: int | None = None,
    p_bounds: tuple[float, float] | None = None,
    max_points: int | None = None,
    max_events: int | None = None,
    events: UserEvents | None = None,
    method: PathMethod | None = None,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    symmetry: Symmetry | str | None = None,
    throw: bool = True,
) -> Path:
    """Trace the equilibrium path through (q0, p0); the start is corrected first.

    Parameters
    ----------
    q0, p0 : start; by default that of the file, or of the composed structure with p = 0.
    direction : +1 to start with growing p, −1 with falling p; by default the file's where p0 is, otherwise +1.
    p_bounds : the path ends where p leaves them; by default the file's range where p0 is the file's.
    max_points, max_events : further ends; a path that nothing else ends stops after 20,000 points, and says so.
    events : name → function(q, p) whose zeros are located along the path.
    method : `PredictorCorrector()` (default), `FirstOrder()`, the papers' own integration, or one of your own.
    progress : notified of points as they are found.
    symmetry : a group, or "detect" for that of a composed structure: the path and the rays at its events state which
        symmetries they keep. To follow a path within a symmetry see `within`.
    throw : raise a `SolveError` holding the path so far, or return it with its status.
    """
    start = where(system, q0, p0, p_bounds, direction)
    watch = PathWatch(start.bounds, events or {}, tolerances)
    with one_thread():
        origin, note = start_of(system, start.q, start.p, watch, method, (max_points, max_events))
        origin = replace(origin, progress=progress)
        ray, remark = _choose(origin.where, rays_from(origin.where), start.direction)
    group = chosen_symmetry(system, symmetry, start.p)
    unsure = _hidden(origin.where, ray.rows)
    path = labelled(group, _run(origin, ray, [text for text in (note, remark, unsure) if text]), tolerances)
    return _judged(path, throw)


@checked
def iter_trace(
    system: System,
    q0: Any = None,
    p0: float | None = None,
    *,
    direction: int | None = None,
    p_bounds: tuple[float, float] | None = None,
    method: PathMethod | None = None,
    tolerances: Tolerances = DEFAULT,
) -> Iterator[PathItem]:
    """The iterator twin of `trace`: points and events as they are found; an item with a status is the last."""
    start = where(system, q0, p0, p_bounds, direction)
    with one_thread():
        origin, _ = start_of(system, start.q, start.p, PathWatch(start.bounds, {}, tolerances), method, ENDLESS)
        ray, _ = _choose(origin.where, rays_from(origin.where), start.direction)
    run = origin.begin(ray)
    yield replace(run.first, degree=max(run.first.point.negative, 0))
    items = items_of(run)
    while True:
        with one_thread():
            item = next(items, None)
        if item is None:
            return
        yield item


@checked
def branch(
    event: Event,
    k: int,
    *,
    p_bounds: tuple[float, float] | None = None,
    max_points: int | None = None,
    max_events: int | None = None,
    method: PathMethod | None = None,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Path:
    """Follow ray k of an event; what is not given is as for the path that the event belongs to.

    Parameters
    ----------
    p_bounds : the branch ends where p leaves them;  max_points, max_events : further ends, counted anew.
    method : `PredictorCorrector()`, `FirstOrder()`, or one of your own.
    throw : raise a `SolveError` holding the path so far, or return it with its status.
    """
    if event.origin is None:
        raise UsageError("this event cannot be branched from", got="an event loaded from a file", advice="trace again")
    if not 0 <= k < len(event.rays):
        raise UsageError("there is no such ray", got=str(k), expected=f"0 to {len(event.rays) - 1}")
    origin = _changed(event.origin, p_bounds, (max_points, max_events), method)
    return _judged(_run(replace(origin, progress=progress), event.rays[k], []), throw)


def _changed(
    origin: Origin,
    bounds: tuple[float, float] | None,
    limits: tuple[int | None, int | None],
    method: PathMethod | None,
) -> Origin:
    """The origin of a path with other ends or another method."""
    watch = origin.watch if bounds is None else replace(origin.watch, p_bounds=bounds)
    ends = [
        old if new is None else new for old, new in zip((origin.max_points, origin.max_events), limits, strict=True)
    ]
    chosen = method or origin.method
    system, p = origin.where.system, float(origin.where.x[origin.where.system.n])
    _check_request(system, watch, chosen, (ends[0], ends[1]))
    _check_inside(system, p, watch.p_bounds)
    return Origin(origin.where, watch, chosen, ends[0], ends[1], origin.progress)


def _run(origin: Origin, ray: Ray, notes: list[str]) -> Path:
    """The path along a ray, audited."""
    return checked_twice(origin, lambda origin: _once(origin, ray, notes))


def _once(origin: Origin, ray: Ray, notes: list[str]) -> Path:
    run = origin.begin(ray)
    origin.progress.begin("trace")
    try:
        with one_thread():
            return collect(origin.where.system, run.first, run.pieces(), origin, notes)
    finally:
        origin.progress.end()


def _judged(path: Path, throw: bool) -> Path:
    if throw and not path.ok:
        raise SolveError(path.status.value, path, got=path.note)
    return path


def start_of(
    system: System,
    q0: Any,
    p0: float,
    watch: PathWatch,
    method: PathMethod | None,
    limits: tuple[int | None, int | None],
) -> tuple[Origin, str]:
    """Correct the start, and say by how much it moved."""
    method = method or PredictorCorrector()
    _check_request(system, watch, method, limits)
    _check_inside(system, p0, watch.p_bounds)
    q = system.point(q0)
    system.check_start(q, p0)
    sizes = _within(system.sizes(q, p0, together=method.compiles(0)), watch.p_bounds)
    found = already(system, q, p0, sizes, watch.tolerances) or _settled(system, q, p0, sizes, watch.tolerances)
    moved = np.abs(found.q - q)
    near = float(np.max(moved / sizes.length)) <= np.sqrt(watch.tolerances.residual)
    sizes = sizes if near else _within(system.sizes(found.q, p0), watch.p_bounds)
    note = "" if near else f"the start was not an equilibrium: it was moved by {float(np.max(moved)):.3g}"
    where = place(system, np.concatenate([found.q, [p0], found.nu]), sizes, watch.tolerances)
    return Origin(where, watch, method, *limits), note


def _within(sizes: Sizes, bounds: tuple[float, float]) -> Sizes:
    """Sizes with which the path is not a fraction of a step: that of p is at most the range asked for."""
    room = max(bounds[1] - bounds[0], HALF_DIGITS * sizes.control)
    return replace(sizes, control=min(sizes.control, room))


def _check_inside(system: System, p: float, bounds: tuple[float, float]) -> None:
    low, high = bounds
    if not low <= p <= high:
        raise UsageError(
            f"the start is outside the bounds of {system.control}", got=f"{p:g}", expected=f"{low:g} to {high:g}"
        )


def _settled(system: System, q: Array, p: float, sizes: Sizes, tolerances: Tolerances) -> Corrected:
    found = settle(system, q, p, sizes, tolerances=tolerances)
    if not found.ok and found.status is not Status.dependent:  # rays take care of reactions that are not unique
        raise SolveError(found.status.value, found, got=found.note)
    nu = np.concatenate([found.value.mu, found.value.lam])
    return Corrected(found.value.q, nu, found.status, found.residual, int(found.stats["iterations"]))


def _check_request(system: System, watch: PathWatch, method: PathMethod, limits: tuple[int | None, int | None]) -> None:
    """Refuse bounds without room between them, numbers of points below one, and methods for smaller systems."""
    refuse_history(system)
    method.refuse(system)
    bounds = watch.p_bounds
    if not bounds[0] < bounds[1]:
        raise UsageError("the bounds are not usable", got=repr(bounds), expected="(low, high) with low < high")
    for name, value in zip(("max_points", "max_events"), limits, strict=True):
        if value is not None and value < 1:
            raise UsageError(f"`{name}` is not usable", got=repr(value), expected="at least 1, or None")


def _hidden(where: Standpoint, rows: Sequence[int], *, stuck: bool = False) -> str:
    """What rounding hides at a place with some constraints as equations, in words."""
    return hidden(where.curve(np.array(rows, dtype=np.intp)), where.x, where.tolerances, stuck=stuck)


def _choose(where: Standpoint, rays: Rays, direction: int) -> tuple[Ray, str]:
    system = where.system
    if direction not in {1, -1}:
        raise UsageError("`direction` is not a sign", got=repr(direction), expected="+1 or −1")
    fitting = [ray for ray in rays.rays if ray.p_sign == direction]
    if not fitting:
        exist = ", ".join(f"{system.control} {'+0-'[1 - ray.p_sign]}" for ray in rays.rays) or "none"
        other = f"direction={-direction:+d}" if any(ray.p_sign == -direction for ray in rays.rays) else ""
        unsure = _hidden(where, where.strong.tolist(), stuck=True)
        raise UsageError(
            f"no path leaves the start with {'growing' if direction > 0 else 'falling'} {system.control}",
            got=f"rays: {exist}",
            advice=other or unsure or f"a start from which {system.control} can change",
        )
    remark = f"{len(fitting)} rays leave the start that way; the first was followed" if len(fitting) > 1 else ""
    if fitting[0].continuum:
        remark = "the start is one of a continuum of equilibria: what can move freely was left where it is"
    return fitting[0], remark
