"""Stable stretches of paths: followed while states are stable and p keeps its sense, up to the event that ends them."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from onesided.base.errors import SolveError
from onesided.base.types import Status
from onesided.results import Event, Kind, Path, Ray
from onesided.statics.checks.collect import checked_twice, collect
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.tracing.cells import rays_from
from onesided.statics.tracing.memory import Growth
from onesided.statics.tracing.path_method import Origin, PathItem

Ends = Callable[[Event, int], bool]  # whether a stretch ends at an event, for a sense of p


@dataclass(frozen=True)
class StableLeg:
    """One stable path towards a value of p, and the event that ended it early, if one did."""

    path: Path
    lost: Event | None


@dataclass(frozen=True)
class _Walk:
    """A trace that has begun: its start, its first item, and those that follow."""

    origin: Origin
    start: PathItem
    head: PathItem
    rest: Iterator[PathItem]

    def leg(self, sense: int, ends: Ends) -> StableLeg:
        """The path up to where stability or the sense of p is lost."""
        lost: list[Event] = []

        def stable() -> Iterator[PathItem]:
            for item in itertools.chain([self.head], self.rest):
                yield item
                if item.event is not None and item.event.kind is not Kind.bound and ends(item.event, sense):
                    lost.append(item.event)
                    yield PathItem(item.curve, item.point, 0, status=Status.enough)
                    return

        path = collect(self.origin.where.system, self.start, stable(), self.origin, [])
        return StableLeg(path, lost[0] if lost else None)


def loses_stability(event: Event, sense: int) -> bool:
    """Whether the branch followed after an event is unstable, or p turns back there."""
    if event.followed is None:
        return True
    return event.instability_after != 0 or event.rays[event.followed].p_sign != sense


def stable_leg(origin: Origin, ray: Ray, sense: int, ends: Ends = loses_stability) -> StableLeg | None:
    """The path along one ray while it is stable and p moves the right way, audited; None if it starts unstable."""
    walk = _set_off(origin, ray)
    if walk.head.status is None and walk.head.degree > 0:
        return None
    legs: list[StableLeg] = []

    def follow(chosen: Origin) -> Path:
        fresh = walk if chosen is origin else _set_off(chosen, ray)
        legs.append(fresh.leg(sense, ends))
        return legs[-1].path

    checked_twice(origin, follow)
    return legs[-1]


def _set_off(origin: Origin, ray: Ray) -> _Walk:
    """Begin to follow a ray."""
    run = origin.begin(ray)
    start = run.first
    items = Growth(origin.where.system, origin.watch.tolerances).follow(run)
    return _Walk(origin, start, next(items), items)


def known_rays(where: Standpoint) -> tuple[Ray, ...]:
    """Rays at a place; none where a large system has a singular stiffness: it will have to jump."""
    try:
        return rays_from(where).rays
    except SolveError:
        return ()


def leading_rays(where: Standpoint, rays: tuple[Ray, ...], sense: int) -> tuple[Ray, ...]:
    """Rays that bring p on, then those along which reactions grow at constant p until one does."""
    return (*(r for r in rays if r.p_sign == sense), *(r for r in rays if _only_forces(where, r)))


def _only_forces(where: Standpoint, ray: Ray) -> bool:
    """Whether nothing but reactions changes along a ray, and none of them falls."""
    still = np.abs(np.append(ray.q_dot, ray.p_dot)) / where.unit[: where.system.n + 1]
    return bool(np.all(still <= where.tolerances.singularity) and np.all(ray.lam_dot >= 0.0))


def starts_stable(origin: Origin, ray: Ray) -> bool:
    """Whether the states along a ray are stable, a little way from where it starts."""
    if ray.beyond is not None:
        return ray.beyond == 0
    head = _set_off(origin, ray).head
    return head.status is None and head.degree == 0
