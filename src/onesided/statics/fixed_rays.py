"""Branches of symmetric multiple bifurcations: by the equivariant branching lemma one per fixed space of dimension one.

A subgroup whose fixed space meets the vanishing modes in one direction makes of the point a simple bifurcation of the
smaller system on the configurations that it keeps. High orders that alone tell directions apart are not needed for it.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from onesided.base.errors import SolveError
from onesided.base.tolerances import QUARTER_DIGITS
from onesided.base.types import Array, Indices
from onesided.results import Event, Kind, Ray
from onesided.statics.curves.spectrum import decided_modes, split
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.paths import start_of
from onesided.statics.rays.naming import of_several_modes
from onesided.statics.rays.rays import rays_at
from onesided.statics.symmetric import turned_ray
from onesided.statics.tracing.path_method import PathRun, items_of
from onesided.statics.within import Within
from onesided.system.fixed_space import FixedSpace
from onesided.system.symmetry import Symmetry

APART = 0.5  # share of the distance between images of a ray within which another one is taken for it
FIRST = 60  # points of a branch among which one is looked for from which it can be followed in the whole system
KEPT = 2  # dimension of what a subgroup is to keep: one vanishing mode and the response to p
SEVERAL = 2  # null vectors, that along the path among them, beyond which more than one mode vanishes


def with_fixed_rays(group: Symmetry, event: Event) -> Event:
    """The event with the rays that symmetry promises, where branches of several modes that vanish may be missing."""
    rays_, where = event.rays, None if event.origin is None else event.origin.where
    doubtful = event.kind is Kind.smooth_bifurcation and not rays_.complete and rays_.multiplicity > SEVERAL
    if where is None or not doubtful or where.system.derivatives.large or len(where.weak):
        return event
    here = group.isotropy(where.x[: where.system.n])
    try:
        promised = [ray for keep in _deciding(here, _modes(where)) for ray in _orbit(here, keep, event)]
    except SolveError:  # the smaller systems cannot be followed: what is known stays as doubtful as it was
        return event
    if not promised:
        return event
    listed = _merged(list(rays_.rays), promised, where.unit)
    directions = _directions(listed, where.unit)
    old = [None if i is None else _directions([rays_[i]], where.unit)[0] for i in (event.incoming, event.followed)]
    incoming, followed = (None if t is None else int(np.argmin(_far(directions, t))) for t in old)
    made = replace(rays_, rays=tuple(listed))
    detail = of_several_modes(made, len(made) - (incoming is not None))
    return replace(event, rays=made, incoming=incoming, followed=followed, detail=detail)


def _modes(where: Standpoint) -> Array:
    """(n, d + 1) displacements of the null space: modes that vanish, and the response to p."""
    N = split(where.curve(where.strong), where.x, where.tolerances).N[: where.system.n]
    return np.asarray(N / np.linalg.norm(N, axis=0))


def _deciding(here: Symmetry, modes: Array) -> Iterator[Indices]:
    """Subgroups, one of each class of conjugate ones, that keep one vanishing mode and the response to p."""
    unit = np.eye(modes.shape[1])
    scaled, images = modes / here.length[:, None], here.matrices @ modes / here.length[:, None]
    acting = np.stack([np.linalg.lstsq(scaled, image, rcond=None)[0] for image in images])
    seen: set[frozenset[int]] = set()
    spaces = [_fixed(M - unit) for M in acting]
    one = [space for space in spaces if space.shape[1] == KEPT]
    more = [g for g, space in enumerate(spaces) if g and space.shape[1] > KEPT]  # element 0 is the identity
    pairs = (_fixed(np.vstack([acting[g] - unit, acting[h] - unit])) for g, h in combinations(more, 2))
    for fixed in (*one, *(space for space in pairs if space.shape[1] == KEPT)):
        keep = np.flatnonzero(np.max(np.abs(acting @ fixed - fixed), axis=(1, 2)) <= QUARTER_DIGITS)
        if frozenset(keep.tolist()) not in seen:
            seen |= set(_conjugates(here, keep))
            yield keep


def _fixed(left: Array) -> Array:
    """Columns that a matrix takes to zero."""
    sigma, V = np.linalg.svd(left)[1:]
    return np.asarray(V[int(np.count_nonzero(sigma > QUARTER_DIGITS)) :].T)


def _conjugates(group: Symmetry, keep: Indices) -> Iterator[frozenset[int]]:
    """The subgroups that are images of one."""
    table = group.table
    inverse = np.argmin(table, axis=1)  # the identity is element 0
    for g in range(len(group)):
        yield frozenset(table[table[g, keep], inverse[g]].tolist())


def _orbit(here: Symmetry, keep: Indices, event: Event) -> Iterator[Ray]:
    """The rays of the smaller system that keep a subgroup, and their images."""
    origin = event.origin
    where, n = origin.where, origin.where.system.n
    inside = Within(FixedSpace(where.system, here.subgroup(keep)))
    start = inside.start(where.x[:n])
    own, _ = start_of(inside.system, start, event.p, replace(origin.watch, user={}), None, (None, None))
    for ray in rays_at(own.where).rays:
        whole = inside.ray(replace(ray, ahead=_clear(inside, own.begin(ray), where)), where)
        for g in range(len(here)):
            yield turned_ray(here, g, whole)


def _clear(inside: Within, run: PathRun, where: Standpoint) -> Array | None:
    """The first point of a branch at which the signs of all modes of the whole system can be told."""
    curve = where.curve(where.strong)
    for item in islice(items_of(run), FIRST):
        x = item.point.x
        if item.event is not None:
            break
        if decided_modes(curve, inside.packed(x), where.tolerances) is not None:
            return x
    return None


def _merged(old: list[Ray], promised: list[Ray], unit: Array) -> list[Ray]:
    """Rays found before and those promised by symmetry, each once; of rays that are nearly alike those promised."""
    directions = _directions(promised, unit)
    alone = [i for i, t in enumerate(directions) if not np.any(_far(directions[:i], t) <= QUARTER_DIGITS)]
    directions, before = directions[alone], _directions(old, unit)
    spacing = min(float(np.min(np.delete(_far(directions, t), i), initial=2.0)) for i, t in enumerate(directions))
    nearest = np.array([np.min(_far(directions, t)) for t in before])
    kept = [ray for ray, d in zip(old, nearest, strict=True) if d <= QUARTER_DIGITS or d > APART * spacing]
    new = [i for i, t in zip(alone, directions, strict=True) if not np.any(_far(before, t) <= QUARTER_DIGITS)]
    return [*kept, *(promised[i] for i in new)]


def _directions(listed: list[Ray], unit: Array) -> Array:
    """Scaled directions of length one, a row each."""
    scaled = np.array([ray.x_dot / unit for ray in listed])
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1)[:, None])


def _far(directions: Array, t: Array) -> Array:
    """Distances of some directions from one."""
    return np.asarray(np.linalg.norm(directions - t, axis=1))
