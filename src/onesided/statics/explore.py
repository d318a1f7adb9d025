"""All reachable branches: every ray of every event is followed once."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import SolveError
from onesided.base.progress import SILENT, Progress, Total
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Status
from onesided.linalg import one_thread
from onesided.results import Diagram, Event, Kind, Path, Ray, Rays
from onesided.statics.checks.collect import checked_twice, collect
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.fixed_rays import with_fixed_rays
from onesided.statics.notes import noted
from onesided.statics.paths import start_of
from onesided.statics.symmetric import Marks, chosen_symmetry, images_of, labelled, multiplicities, ray_orbits
from onesided.statics.tracing.cells import rays_from
from onesided.statics.tracing.hits import PathWatch
from onesided.statics.tracing.path_method import Origin, PathItem, items_of
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.system.defaults import bounds_of, where
from onesided.system.symmetry import Symmetry
from onesided.system.system import System

MOST_NAMED = 8  # branches that a note names


@dataclass
class _Station:
    """A special point with its rays and which of them have been travelled."""

    x: Array
    rays: Rays
    used: Marks
    told: bool = True


@dataclass(frozen=True)
class _Job:
    """A ray waiting to be followed."""

    origin: Origin
    ray: Ray
    parent: int
    depth: int


@checked
def diagram(  # noqa: PLR0913 - one verb, all its ends by keyword
    system: System,
    q0: Any = None,
    p0: float | None = None,
    *,
    p_bounds: tuple[float, float] | None = None,
    max_branches: int = 50,
    max_depth: int = 8,
    method: PredictorCorrector | None = None,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    symmetry: Symmetry | str | None = None,
    throw: bool = True,
) -> Diagram:
    """All branches reachable from (q0, p0) within the bounds of p, each once.

    Parameters
    ----------
    q0, p0 : start; by default that of the file, or of the composed structure with p = 0.
    p_bounds : range of p; by default the file's.
    max_branches, max_depth : limits on the number of branches and on how often a branch may leave another.
    symmetry : a group, or "detect" for that of a composed structure: of branches that are images of each other one is
        followed, `multiplicity` says how many there are, and rays and paths tell which symmetries they keep.
    throw : after Ctrl-C raise a `SolveError` holding the diagram so far, or return it.
    """
    start = where(system, q0, p0, bounds_of(system, p_bounds))
    with one_thread():
        origin, _ = start_of(system, start.q, start.p, PathWatch(start.bounds, {}, tolerances), method, (None, None))
    group = chosen_symmetry(system, symmetry, start.p)
    total = Total(progress)
    progress.begin("diagram")
    try:
        found = _explore(replace(origin, progress=total), total, (max_branches, max_depth), group)
    finally:
        progress.end()
    if throw and found.interrupted:
        raise SolveError(Status.interrupted.value, found, got=found.note)
    return found


def _explore(origin: Origin, total: Total, limits: tuple[int, int], group: Symmetry | None) -> Diagram:
    atlas, (max_branches, max_depth) = _Atlas(origin.where), limits
    atlas.group = group
    first = rays_from(origin.where)
    atlas.add(origin.where.x, first).told = False  # should an event lie there, a path that comes back tells it
    queue = deque(_Job(origin, ray, -1, 0) for ray in first.rays if ray.p_sign or not ray.continuum)
    paths: list[Path] = []
    parents: list[int] = []
    notes = [] if first.complete else [f"at the start branches may be missing: {first.reason}"]
    notes += ["the start is one of a continuum of equilibria, the others are not followed"] * (len(queue) < len(first))
    doubts: list[tuple[int, str]] = []
    while queue:
        job = queue.popleft()
        if not atlas.take(job.origin.where.x, job.ray):
            continue
        if len(paths) == max_branches or job.depth > max_depth:
            notes.append(_left(len(queue) + 1, folded=group is not None))
            break
        with one_thread():
            path = _travel(job, atlas)
        if _across(path, origin.watch.tolerances):
            continue
        paths.append(path)
        parents.append(job.parent)
        total.add(len(path), len(path.events))
        if not path.ok and path.status is not Status.jammed:
            doubts.append((len(paths) - 1, path.status.value))
        doubts += [(len(paths) - 1, doubt) for doubt in _doubts(path)]
        if path.status is Status.interrupted:
            break
        queue.extend(_side_rays(path, len(paths) - 1, job.depth + 1))
    told = tuple(labelled(group, path, origin.where.tolerances) for path in paths)
    times = multiplicities(group, told, origin.where.tolerances)
    notes = [*_by_reason(doubts), *notes]
    note = noted(origin.where.system, "; ".join(notes))
    return Diagram(told, tuple(parents), complete=not notes, note=note, multiplicity=times)


def _by_reason(doubts: list[tuple[int, str]]) -> Iterator[str]:
    """Every reason once, with the branches that have it."""
    found: dict[str, list[int]] = {}
    for branch, reason in doubts:
        found.setdefault(reason, []).append(branch)
    for reason, own in found.items():
        some = ", ".join(map(str, own[:MOST_NAMED])) + (f" and {len(own) - MOST_NAMED} more" * (len(own) > MOST_NAMED))
        yield f"branch{'es' * (len(own) > 1)} {some}: {reason}"


def _across(path: Path, tolerances: Tolerances) -> bool:
    """Whether a path leads across the bound it starts on: it is as long as round-off."""
    return path.status is Status.bound_reached and float(path.s[-1]) <= tolerances.minimum_step


def _left(rays: int, *, folded: bool) -> str:
    """What the limits left out, and what to ask for."""
    fold = "" if folded else "; `symmetry` folds images"
    return f"limits reached with {rays} rays not followed: give a larger `max_branches` or `max_depth`{fold}"


def _doubts(path: Path) -> Iterator[str]:
    """Where a branch was not followed to its end, events at which branches may be missing or are too many."""
    if path.status is Status.enough and path.note:
        yield path.note
    for event in path.events:
        if not event.rays.complete:
            yield f"at {event.control} = {event.p:.6g} branches may be missing: {event.rays.reason}"
        if event.rays.family:
            yield f"at {event.control} = {event.p:.6g} a continuum of branches is not followed"


def _side_rays(path: Path, index: int, depth: int) -> Iterator[_Job]:
    for event in path.events:
        if event.kind is not Kind.bound:
            for i in event.forward:
                yield _Job(event.origin, event.rays[i], index, depth)


def _travel(job: _Job, atlas: "_Atlas") -> Path:
    """The path along one ray, audited; what is followed again finds the map as it was."""
    known = atlas.state()

    def follow(origin: Origin) -> Path:
        atlas.reset(known)
        return _once(replace(job, origin=origin), atlas)

    return checked_twice(job.origin, follow)


def _once(job: _Job, atlas: "_Atlas") -> Path:
    """Follow one ray until the path ends or runs into a point that is on the map already."""
    run = job.origin.begin(job.ray)

    def items() -> Iterator[PathItem]:
        for item in _with_all_rays(items_of(run), atlas.group):
            event = item.event
            known = event is not None and event.kind is not Kind.bound and not atlas.enter(item)
            if item.status is Status.closed:
                atlas.close(job.origin.where.x, item)
            yield replace(item, event=None) if known and atlas.told(item.point.x) else item
            if event is not None and known:
                status, note = Status.path_ended, "joins a known branch"
                if event.followed is not None and atlas.is_ray(item.point.x, event.rays[event.followed], job):
                    status, note = Status.closed, ""
                yield PathItem(item.curve, item.point, item.degree, status=status, note=note)
                return

    return collect(job.origin.where.system, run.first, items(), job.origin, [])


def _with_all_rays(items: Iterator[PathItem], group: Symmetry | None) -> Iterator[PathItem]:
    """Points and events of a run, the latter with the rays that a symmetry promises."""
    for item in items:
        if group is None or item.event is None:
            yield item
        else:
            yield replace(item, event=with_fixed_rays(group, item.event))


class _Atlas:
    """The map of special points found so far."""

    group: Symmetry | None = None  # the images of points are on the map with them

    def __init__(self, where: Standpoint) -> None:
        self.unit, self.n = where.unit, where.system.n
        self.near = float(np.sqrt(where.tolerances.singularity))
        self.stations: list[_Station] = []

    def add(self, x: Array, rays: Rays) -> _Station:
        """Put a new point on the map, and its images: they share what has been travelled."""
        used = Marks(ray_orbits(self.group, x, rays, self.unit, self.near))
        made = [_Station(*image, used) for image in images_of(self.group, x, rays, self.unit, self.near)]
        self.stations.extend(made)
        return made[0]

    def state(self) -> list[tuple[_Station, bool, tuple[bool, ...]]]:
        """The points, which of their events are reported, and which rays have been travelled, as of now."""
        return [(station, station.told, station.used.state()) for station in self.stations]

    def reset(self, state: list[tuple[_Station, bool, tuple[bool, ...]]]) -> None:
        """Take back what was added since a state was asked for."""
        self.stations = [station for station, _, _ in state]
        for station, told, used in state:
            station.told = told
            station.used.reset(used)

    def find(self, x: Array) -> _Station | None:
        """The known point at x, if there is one; forces that are not unique do not distinguish points."""
        for station in self.stations:
            seen = slice(0, self.n + 1 if any(_loose(ray) for ray in station.rays.rays) else None)
            if float(np.max(np.abs((station.x - x) / self.unit)[seen])) <= self.near:
                return station
        return None

    def told(self, x: Array) -> bool:
        """Whether the event at a known point is in the list; it will be from now on."""
        station = self.find(x)
        before = station is not None and station.told
        if station is not None:
            station.told = True
        return before

    def take(self, x: Array, ray: Ray) -> bool:
        """Mark a ray as travelled; False where it was already."""
        station = self.find(x)
        i = self._match(station, ray) if station is not None else None
        if station is None or i is None:
            return True
        fresh = not station.used[i]
        station.used[i] = True
        return fresh

    def is_ray(self, x: Array, ray: Ray, job: _Job) -> bool:
        """Whether a ray at x is the one with which a job began."""
        here, start = self.find(x), self.find(job.origin.where.x)
        return here is not None and here is start and self._match(here, ray) == self._match(here, job.ray)

    def close(self, x: Array, item: PathItem) -> None:
        """Mark the ray along which a closed path came back to its start at x."""
        station = self.find(x)
        if station is not None:
            back = item.curve.packed(-item.point.t) / self.unit
            scores = [_cosine(back, ray.x_dot / self.unit) for ray in station.rays.rays]
            if max(scores, default=-1.0) > 1.0 - self.near:
                station.used[int(np.argmax(scores))] = True

    def enter(self, item: PathItem) -> bool:
        """Register arrival at an event; False where it is known, so that the path need not go on."""
        event: Event | None = item.event
        if event is None:
            return True
        known = self.find(item.point.x)
        station = known or self.add(item.point.x, event.rays)
        for index in (event.incoming, None if known else event.followed):
            i = self._match(station, event.rays[index]) if index is not None else None
            if i is not None:
                station.used[i] = True
        return known is None

    def _match(self, station: _Station, ray: Ray) -> int | None:
        scores = [self._alignment(ray, other) for other in station.rays.rays]
        best = int(np.argmax(scores)) if scores else -1
        return best if best >= 0 and scores[best] > 1.0 - self.near else None

    def _alignment(self, a: Ray, b: Ray) -> float:
        """Cosine between two rays; of their motions alone where forces are not unique."""
        u, v = (ray.x_dot / self.unit for ray in (a, b))
        if _loose(a) or _loose(b):
            return _cosine(u[: self.n + 1], v[: self.n + 1])
        return _cosine(u, v) if a.rows == b.rows else -1.0


def _loose(ray: Ray) -> bool:
    return bool(ray.loose) or ray.nu is not None


def _cosine(u: Array, v: Array) -> float:
    size = float(np.sqrt((u @ u) * (v @ v)))
    return float(u @ v) / size if size > 0 else -1.0
