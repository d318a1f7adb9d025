"""Symmetry of paths: images of points and rays, symmetries of branches, numbers of images."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from onesided import structures
from onesided.base.errors import UsageError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Mask
from onesided.results import Event, Kind, Path, Ray, Rays
from onesided.system.symmetry import Symmetry
from onesided.system.system import System

CLEARLY = 0.4  # an image is the nearest ray where that is so much nearer than the second
ROUGHLY = 0.25  # and not farther than this, of the length of either
ON_THE_PATH = 0.01  # of its way under an element: an image of a point this close to the path lies on it
BETWEEN = 8  # points put between two of a path where distances to it are measured


def chosen_symmetry(system: System, symmetry: Any, p: float) -> Symmetry | None:
    """The group meant by the argument `symmetry` of a verb."""
    if symmetry is None:
        return None
    if isinstance(symmetry, str) and symmetry == "detect":
        return structures.symmetry_search.symmetry_of(system, p=p)
    if not isinstance(symmetry, Symmetry):
        raise UsageError("`symmetry` is not usable", got=repr(symmetry), expected='a Symmetry, "detect" or None')
    if not symmetry.fits(system):
        raise UsageError(
            "this symmetry is one of another system",
            got=f"{len(symmetry.coordinates)} coordinates, {len(symmetry.unilateral)} one-sided constraints",
            expected="the same names as in the system",
        )
    symmetry.check(system, p)
    return symmetry


def turned_ray(symmetry: Symmetry, g: int, ray: Ray) -> Ray:
    """The image of a ray under element g."""
    n, k = symmetry.n, len(symmetry.bilateral)
    nu_dot = symmetry.duals[g] @ ray.x_dot[n + 1 :]
    names, own = (*symmetry.bilateral, *symmetry.unilateral), symmetry.rows[g]
    rows = tuple(sorted(int(own[j]) for j in ray.rows))
    gap_dot = symmetry.constraints[g, k:, k:] @ ray.gap_dot
    renamed = {names[j]: names[i] for j, i in enumerate(own)}
    return replace(
        ray,
        ahead=None if ray.ahead is None else symmetry.subgroup([g]).images(ray.ahead)[0],
        nu=None if ray.nu is None else symmetry.duals[g] @ ray.nu,
        idle=tuple(renamed[name] for name in ray.idle),
        loose=tuple(renamed[name] for name in ray.loose),
        q_dot=symmetry.matrices[g] @ ray.q_dot,
        mu_dot=nu_dot[:k],
        lam_dot=nu_dot[k:],
        gap_dot=gap_dot,
        rows=rows,
        closed=tuple(names[j] for j in rows if j >= k),
    )


def images_of(symmetry: Symmetry | None, x: Array, rays: Rays, unit: Array, near: float) -> list[tuple[Array, Rays]]:
    """A point with its rays, and their different images."""
    if symmetry is None:
        return [(x, rays)]
    found: list[tuple[Array, Rays]] = []
    for g, image in enumerate(symmetry.images(x)):
        if all(float(np.max(np.abs((image - other) / unit))) > near for other, _ in found):
            found.append((image, replace(rays, rays=tuple(turned_ray(symmetry, g, ray) for ray in rays.rays))))
    return found


def ray_orbits(symmetry: Symmetry | None, x: Array, rays: Rays, unit: Array, near: float) -> tuple[int, ...]:
    """For each ray at a point the first one of which it is an image under elements that leave the point."""
    orbit = list(range(len(rays)))
    if symmetry is None:
        return tuple(orbit)
    here, known = symmetry.subgroup(_leaving(symmetry, x, unit, near)), _Recognition(rays, unit, near)
    for i in range(len(rays)):
        if orbit[i] == i:
            for j in known.images(here, i):
                if j is not None and j > i:
                    orbit[j] = i
    return tuple(orbit)


@dataclass(frozen=True, eq=False)
class _Recognition:
    """Rays at a point, among which the image of a ray is found."""

    rays: Rays
    unit: Array
    near: float

    @cached_property
    def _directions(self) -> Array:
        """Those of all rays, a row each."""
        return np.array([self._direction(ray) for ray in self.rays.rays])

    def _direction(self, ray: Ray) -> Array:
        """Of length one in scaled variables."""
        u = ray.x_dot / self.unit
        return np.asarray(u / np.linalg.norm(u))

    def images(self, symmetry: Symmetry, i: int) -> list[int | None]:
        """For each element which ray the image of ray i is."""
        return [self._recognised(turned_ray(symmetry, g, self.rays[i])) for g in range(len(symmetry))]

    def _recognised(self, image: Ray) -> int | None:
        """The ray that an image is: the nearest, if it is clearly nearer than any other with the same constraints.

        Where high orders alone decide between directions, these are known to a few degrees only.
        """
        alike = np.array([ray.rows == image.rows for ray in self.rays.rays])
        apart = np.linalg.norm(self._directions - self._direction(image), axis=1)
        distances = np.where(alike, apart, np.inf)
        nearest = np.argsort(distances)
        second = float(distances[nearest[1]]) if len(distances) > 1 else np.inf
        clear = distances[nearest[0]] <= min(CLEARLY * second, ROUGHLY) and second > self.near
        return int(nearest[0]) if clear else None


class Marks:
    """Which rays have been travelled; rays that are images of each other have one mark."""

    def __init__(self, orbit: tuple[int, ...]) -> None:
        self._orbit, self._set = orbit, [False] * len(orbit)

    def __getitem__(self, i: int) -> bool:
        return self._set[self._orbit[i]]

    def __setitem__(self, i: int, travelled: bool) -> None:
        self._set[self._orbit[i]] = travelled

    def state(self) -> tuple[bool, ...]:
        """The marks as of now."""
        return tuple(self._set)

    def reset(self, state: tuple[bool, ...]) -> None:
        """Go back to an earlier state."""
        self._set[:] = state


def _leaving(symmetry: Symmetry, x: Array, unit: Array, near: float) -> Mask:
    """Which elements leave a packed point where it is."""
    return np.asarray(np.max(np.abs((symmetry.images(x) - x) / unit), axis=1) <= near)


def labelled(symmetry: Symmetry | None, path: Path, tolerances: Tolerances) -> Path:
    """A path with its own symmetry and those of the rays at its events."""
    if symmetry is None:
        return path
    near = float(np.sqrt(tolerances.singularity))
    own = symmetry.isotropy(path.q, tolerance=near).name
    events = tuple(_labelled_event(symmetry, event, near) for event in path.events)
    return replace(path, isotropy=own, events=events)


def _labelled_event(symmetry: Symmetry, event: Event, near: float) -> Event:
    if event.kind is Kind.bound or event.origin is None or not len(event.rays):
        return event
    x, unit = event.origin.where.x, event.origin.where.unit
    here, known = symmetry.subgroup(_leaving(symmetry, x, unit, near)), _Recognition(event.rays, unit, near)
    rays = tuple(replace(ray, isotropy=_isotropy(here, known, i)) for i, ray in enumerate(event.rays.rays))
    detail = event.detail
    if len(event.forward) > 1:
        told = Counter(rays[i].isotropy or "not clear" for i in event.forward)
        words = ", ".join(f"{count} × {name}" for name, count in told.items())
        detail = "; ".join([*([detail] if detail else []), f"symmetry of the branches ahead: {words}"])
    return replace(event, rays=replace(event.rays, rays=rays), detail=detail)


def _isotropy(symmetry: Symmetry, known: _Recognition, i: int) -> str:
    """Name of the elements that leave ray i at a point that all of them leave; empty where it is not clear."""
    keep = np.array([j == i for j in known.images(symmetry, i)])
    closed = keep[0] and np.all(keep[symmetry.table[np.ix_(keep, keep)]])
    return symmetry.subgroup(keep).name if closed else ""


def multiplicity(symmetry: Symmetry | None, path: Path, tolerances: Tolerances) -> int:
    """How many different branches the images of a path are.

    Elements that leave every point, reverse the path, or shift it along itself give no new one: |G| divided by their
    number.
    """
    if symmetry is None:
        return 1
    fixing = symmetry.fixing(path.q, float(np.sqrt(tolerances.singularity)))
    onto = [fixed or _maps_onto_itself(symmetry, g, path) for g, fixed in enumerate(fixing)]
    return len(symmetry) // max(1, int(np.count_nonzero(onto)))


def _maps_onto_itself(symmetry: Symmetry, g: int, path: Path) -> bool:
    """Whether the point that element g moves most is moved to another point of the path."""
    way = (path.q - symmetry.centre) @ symmetry.matrices[g].T + symmetry.centre
    moved = np.max(np.abs((way - path.q) / symmetry.length), axis=1)
    k = int(np.argmax(moved))
    control = float(np.ptp(path.p)) or 1.0
    unit = np.append(symmetry.length, control)
    curve = _refined(path) / unit
    target = np.append(way[k], path.p[k]) / unit
    return _distance(target, curve) <= ON_THE_PATH * float(moved[k])


def _refined(path: Path) -> Array:
    """Points (q, p) of a path and cubic ones between them."""
    y, s = np.column_stack([path.q, path.p]), path.s
    kinks = {event.index for event in path.events}  # the tangent there is that of the part before
    parts: list[Array] = [y[:1]]
    for i in range(len(y) - 1):
        h, t = s[i + 1] - s[i], (np.arange(1, BETWEEN + 1) / BETWEEN)[:, None]
        step = y[i + 1] - y[i]
        a, b = step if i in kinks else h * path.tangents[i], h * path.tangents[i + 1]
        parts.append(y[i] + t * step + t * (1 - t) * ((1 - t) * (a - step) - t * (b - step)))
    return np.concatenate(parts)


def _distance(target: Array, curve: Array) -> float:
    """Distance of a point from a chain of straight pieces."""
    start, step = curve[:-1], np.diff(curve, axis=0)
    square = np.maximum(np.sum(step * step, axis=1), np.finfo(float).tiny)
    t = np.clip(np.sum((target - start) * step, axis=1) / square, 0.0, 1.0)
    return float(np.min(np.max(np.abs(start + t[:, None] * step - target), axis=1)))


def multiplicities(symmetry: Symmetry | None, paths: Sequence[Path], tolerances: Tolerances) -> tuple[int, ...]:
    """How many branches each path of a diagram stands for; empty without a symmetry."""
    return () if symmetry is None else tuple(multiplicity(symmetry, path, tolerances) for path in paths)
