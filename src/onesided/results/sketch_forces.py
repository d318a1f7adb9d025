"""What acts on a drawn system: loads, supports, and where contacts touch, as data of a `Sketch`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.types import Array
from onesided.results.solids import Component


@dataclass(frozen=True)
class LoadArrow:
    """A force on a point: its components, numbers or names of measures, per unit of p where it `grows`."""

    at: str
    force: tuple[Component, ...]
    grows: bool = True


@dataclass(frozen=True)
class LoadTurn:
    """A moment on a body of the plane, counter-clockwise: a number or the name of a measure, as of `LoadArrow`."""

    at: str
    moment: Component
    grows: bool = True


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
    normal : that direction, as numbers or names of measures; else it is away from what the point is `against`: another
        point, or the nearest one of a segment between two; towards it where it stays `inside`.
    """

    at: str
    normal: tuple[Component, ...]
    reach: float = 0.0
    against: tuple[str, ...] = ()
    inside: bool = False

    def direction(self, places: Mapping[str, Array]) -> Array:
        """Unit vector of the reaction where points are at these places; zeros where it is not known."""
        if not self.against:
            return np.array(self.normal, dtype=float)
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
    turns: tuple[LoadTurn, ...] = ()

    def touch(self, name: str) -> TouchPoint | None:
        """Where a constraint touches, if that is known."""
        return (self.touches or {}).get(name)

    def points(self) -> Iterator[str]:
        """Names of all points that are used."""
        yield from (load.at for load in self.loads)
        yield from (turn.at for turn in self.turns)
        yield from (support.at for support in self.supports)
        yield from (name for touch in (self.touches or {}).values() for name in (touch.at, *touch.against))

    def components(self) -> Iterator[Component]:
        """All numbers and names of measures."""
        yield from (part for load in self.loads for part in load.force)
        yield from (turn.moment for turn in self.turns)
        yield from (part for touch in (self.touches or {}).values() for part in touch.normal)


def forces_record(acting: ActingForces) -> dict[str, Any]:
    """What acts on a drawing as plain data for JSON."""
    return {
        "loads": [[load.at, list(load.force), load.grows] for load in acting.loads],
        "turns": [[turn.at, turn.moment, turn.grows] for turn in acting.turns],
        "supports": [[support.at, support.axes, support.clamped] for support in acting.supports],
        "touches": {
            name: [one.at, list(one.normal), one.reach, list(one.against), one.inside]
            for name, one in (acting.touches or {}).items()
        },
    }


def read_forces(record: Mapping[str, Any]) -> ActingForces:
    """Forces from plain data; results of earlier versions have none."""
    return ActingForces(
        tuple(LoadArrow(str(at), _parts(force), bool(grows)) for at, force, grows in record.get("loads", ())),
        tuple(Support(str(at), str(axes), bool(clamped)) for at, axes, clamped in record.get("supports", ())),
        {
            str(name): TouchPoint(str(at), _parts(normal), float(reach), *_against(*more))
            for name, (at, normal, reach, *more) in record.get("touches", {}).items()
        },
        tuple(LoadTurn(str(at), _part(moment), bool(grows)) for at, moment, grows in record.get("turns", ())),
    )


def _against(names: Sequence[Any] = (), inside: bool = False) -> tuple[tuple[str, ...], bool]:
    return tuple(str(name) for name in names), bool(inside)


def _parts(parts: Sequence[Any]) -> tuple[Component, ...]:
    return tuple(_part(part) for part in parts)


def _part(part: Any) -> Component:
    return part if isinstance(part, str) else float(part)
