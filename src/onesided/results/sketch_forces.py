"""What acts on a drawn system: loads, supports, and where contacts touch, as data of a `Sketch`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.types import Array


@dataclass(frozen=True)
class LoadArrow:
    """A force on a point: its components, per unit of p where it `grows`."""

    at: str
    force: tuple[float, ...]
    grows: bool = True

    def now(self, p: float) -> tuple[float, ...]:
        """Components at a value of p."""
        return tuple(part * p for part in self.force) if self.grows else self.force


@dataclass(frozen=True)
class Support:
    """A point that is held along some axes ("x", "xy" …), and against turning where `clamped`."""

    at: str
    axes: str
    clamped: bool = False


@dataclass(frozen=True)
class TouchPoint:
    """Where a contact touches: `reach` from a point against the direction in which its reaction pushes the point.

    Attributes
    ----------
    normal : that direction where it does not change; else it is away from what the point is `against`: another point,
        or the nearest one of a segment between two; towards it where it stays `inside`.
    """

    at: str
    normal: tuple[float, ...]
    reach: float = 0.0
    against: tuple[str, ...] = ()
    inside: bool = False

    def direction(self, places: Mapping[str, Array]) -> Array:
        """Unit vector of the reaction where points are at these places; zeros where it is not known."""
        if not self.against:
            return np.array(self.normal)
        at, first, last = places[self.at], places[self.against[0]], places[self.against[-1]]
        along = last - first
        share = float(np.clip((at - first) @ along / max(float(along @ along), np.finfo(float).tiny), 0.0, 1.0))
        away = at - first - share * along
        size = float(np.linalg.norm(away))
        return np.asarray(away / size if size > 0.0 else away) * (-1.0 if self.inside else 1.0)


@dataclass(frozen=True)
class ActingForces:
    """Loads, supports, and places of contacts by the names of their constraints."""

    loads: tuple[LoadArrow, ...] = ()
    supports: tuple[Support, ...] = ()
    touches: Mapping[str, TouchPoint] | None = None

    def touch(self, name: str) -> TouchPoint | None:
        """Where a constraint touches, if that is known."""
        return (self.touches or {}).get(name)

    def points(self) -> Iterator[str]:
        """Names of all points that are used."""
        yield from (load.at for load in self.loads)
        yield from (support.at for support in self.supports)
        yield from (name for touch in (self.touches or {}).values() for name in (touch.at, *touch.against))


def forces_record(acting: ActingForces) -> dict[str, Any]:
    """What acts on a drawing as plain data for JSON."""
    return {
        "loads": [[load.at, list(load.force), load.grows] for load in acting.loads],
        "supports": [[support.at, support.axes, support.clamped] for support in acting.supports],
        "touches": {
            name: [one.at, list(one.normal), one.reach, list(one.against), one.inside]
            for name, one in (acting.touches or {}).items()
        },
    }


def read_forces(record: Mapping[str, Any]) -> ActingForces:
    """Forces from plain data; results of earlier versions have none."""
    return ActingForces(
        tuple(LoadArrow(str(at), _floats(force), bool(grows)) for at, force, grows in record.get("loads", ())),
        tuple(Support(str(at), str(axes), bool(clamped)) for at, axes, clamped in record.get("supports", ())),
        {
            str(name): TouchPoint(str(at), _floats(normal), float(reach), *_against(*more))
            for name, (at, normal, reach, *more) in record.get("touches", {}).items()
        },
    )


def _against(names: Sequence[Any] = (), inside: bool = False) -> tuple[tuple[str, ...], bool]:
    return tuple(str(name) for name in names), bool(inside)


def _floats(parts: Sequence[Any]) -> tuple[float, ...]:
    return tuple(float(part) for part in parts)
