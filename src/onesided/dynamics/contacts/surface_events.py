"""Contact points of surfaces along a motion: refused at the start, reported where they stop being the closest ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from onesided.base.types import Array
from onesided.dynamics.between import positions
from onesided.dynamics.monitors import Arrays
from onesided.groups import Group
from onesided.results import MotionEvent, Occurrence
from onesided.results.motion import NeighbourPoints, interpolate
from onesided.system.surface_watch import FLAT, THIN, SurfaceWatch, refine, rivals, windows
from onesided.system.system import System

FINE = 8  # places of a step at which outlines are looked at
LOOKS = 256  # configurations at which other closest points are looked for

Place = Callable[[float], Array]


def check_surfaces_at(system: System, q: Array) -> None:
    """Refuse a start at which contact points are no good."""
    if system.surfaces is not None:
        system.surfaces.check(q, system.parameters)


def check_outlines_at(system: System, q0: Any) -> None:
    """Refuse outlines without tangents, before a start is made consistent with their help."""
    if system.surfaces is not None:
        system.surfaces.check_regular(system.point(q0), system.parameters)


def surface_events(system: System, space: Group, points: Arrays) -> list[MotionEvent]:
    """What happens to the contact points, each kind of trouble once for each pair, at the moment it begins."""
    if system.surfaces is None or len(points.t) < 2:
        return []
    found = []
    for watch, name in system.surfaces.all_pairs():
        look = _PairLook(system, space, points, watch, name)
        found += [event for event in (*look.outlines(), look.rival()) if event is not None]
    return found


def _between(space: Group, points: Arrays) -> NeighbourPoints:
    """Points with others between them."""
    steps = np.flatnonzero(np.diff(points.t) > 0.0)
    i, x = np.repeat(steps, FINE), np.tile(np.arange(FINE) / FINE, len(steps))
    q = positions(space, points, i, x, smooth=True)
    t = points.t[i] + x * (points.t[i + 1] - points.t[i])
    return NeighbourPoints(np.append(t, points.t[-1]), np.vstack([q, points.q[-1:]]), np.zeros(0), np.zeros(0))


class _PairLook:
    """One pair along one motion."""

    def __init__(self, system: System, space: Group, points: Arrays, watch: SurfaceWatch, name: str) -> None:
        self.points, self.space, self.watch, self.name = points, space, watch, name
        self.th = dict(system.parameters)
        self.fine = _between(space, points)

    def outlines(self) -> list[MotionEvent | None]:
        """Tangents that vanish, curvatures that come to agree; looked at between points, too."""
        points = self.fine
        found = self.watch.local(self.name, points.q, self.watch.parameters_of(self.name, points.q), self.th)
        tangent, curvature = found.tangent / np.max(found.tangent), found.curvature / np.max(np.abs(found.curvature))
        return [
            self._first(tangent - THIN, Occurrence.irregular, "an outline has no tangent here: reparametrise it"),
            self._first(
                curvature - FLAT,
                Occurrence.conformal,
                "the curvatures agree: beyond, the bodies press into each other beside the contact points",
            ),
        ]

    def _first(self, margin: Array, kind: Occurrence, detail: str) -> MotionEvent | None:
        """Where a margin first falls below zero, between two points by a straight line."""
        below = np.flatnonzero(~(margin > 0))
        if not len(below):
            return None
        i = max(int(below[0]), 1)
        share = float(np.clip(margin[i - 1] / (margin[i - 1] - margin[i]), 0.0, 1.0)) if margin[i - 1] > 0 else 0.0
        t = float(self.fine.t[i - 1] + share * (self.fine.t[i] - self.fine.t[i - 1]))
        k = min(max(int(np.searchsorted(self.points.t, t)), 1), len(self.points.t) - 1)
        return MotionEvent(kind, t, self._at(k)(t), self.points.v[k], self.name, detail)

    def _at(self, i: int) -> Place:
        """Configurations between points i − 1 and i."""
        pair = slice(i - 1, i + 1)
        points = NeighbourPoints(self.points.t[pair], self.points.q[pair], self.points.v[pair], self.points.a[pair])
        if points.t[0] == points.t[1]:
            return lambda t: points.q[0]
        return lambda t: np.asarray(interpolate(self.space, points, 0, np.array([t]))[0][0])

    def rival(self) -> MotionEvent | None:
        """Where other points of the outlines first come as close as the followed ones."""
        looks = np.unique(np.linspace(0, len(self.points.t) - 1, LOOKS).round().astype(int))
        window = windows(self.watch, self.name, self.points.q[0], self.th)
        others = rivals(self.watch, self.name, self.points.q[looks], window, self.th)
        k = next((j for j, other in enumerate(others) if other is not None), None)
        if k is None:
            return None
        place = others[k]
        before = int(looks[k - 1]) if k else 0
        i = self._bracket(before, int(looks[k]), place)
        at = self._at(max(i, 1))
        difference = self._difference(place)
        t0, t1 = self.points.t[max(i, 1) - 1], self.points.t[max(i, 1)]
        if k and difference(at(t0)) > 0.0 > difference(at(t1)):
            t = float(brentq(lambda t: difference(at(t)), t0, t1, xtol=4.0 * np.spacing(abs(t1))))
        else:
            t = float(self.points.t[i])
        where = ", ".join(f"{value:.6g}" for value in self._followed(place, at(t)))
        detail = f"a second pair of points, at parameters {where}, is as close as the followed one, then closer"
        return MotionEvent(Occurrence.not_closest, t, at(t), self.points.v[i], self.name, detail)

    def _bracket(self, low: int, high: int, place: Any) -> int:
        """The first point after `low` at which the other pair is closer."""
        difference = self._difference(place)
        while high - low > 1:
            middle = (low + high) // 2
            if difference(self.points.q[middle]) < 0.0:
                high = middle
            else:
                low = middle
        return high

    def _followed(self, place: Any, q: Array) -> Array:
        return np.asarray(refine(self.watch, self.name, q[None], place[None], self.th)[0][0])

    def _difference(self, place: Any) -> Callable[[Array], float]:
        """Gap of the other pair less that of the followed one."""

        def difference(q: Array) -> float:
            _, other = refine(self.watch, self.name, q[None], place[None], self.th)
            s = self.watch.parameters_of(self.name, q)
            return float(other[0] - self.watch.local(self.name, q[None], s[None], self.th).gap[0])

        return difference
