"""How to draw a system: points, lines, circles, walls and bodies, as data saved with a result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.results.sketch_forces import ActingForces as ActingForces
from onesided.results.sketch_forces import forces_record, read_forces
from onesided.results.solids import Component as Component
from onesided.results.solids import Solid as Solid

STYLES = ("bar", "spring", "cable", "beam", "strut", "body")


@dataclass(frozen=True)
class Line:
    """A line through two or more points; `style` is one of `STYLES` (a body is closed and filled).

    `name` is the member that it stands for, if it has one.
    """

    points: tuple[str, ...]
    style: str = "bar"
    name: str = ""


@dataclass(frozen=True)
class Circle:
    """A circle about a point; where `angle` is given a spoke shows how it has turned."""

    centre: str
    radius: Component
    angle: Component | None = None


@dataclass(frozen=True)
class Ground:
    """A wall or floor through a point; `normal` points to the free side, `length` None means as long as the picture."""

    at: str
    normal: tuple[Component, ...]
    length: Component | None = None


@dataclass(frozen=True)
class Silhouette:
    """A plane body: its outline, given in axes that sit at a point and are turned by an angle."""

    at: str
    angle: Component
    outline: tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class Sketch:
    """A drawing whose numbers may be names: of coordinates, of the control parameter or of measures of the result.

    Attributes
    ----------
    points : name → two or three components, each a number or a name.
    lines, circles, grounds, bodies, solids : what joins and surrounds the points; solids in space only.
    marks : unilateral constraint → what to highlight while it is closed (or taut): tuples of point names, one name for
        a point, two or more for a line.
    acting : loads, supports and where contacts touch.

    Examples
    --------
    >>> bar = Sketch(points={"hinge": (0.0, 0.0), "tip": ("x", "y")}, lines=(Line(("hinge", "tip")),))
    >>> bar.positions({"x": np.array([1.0, 2.0]), "y": np.array([0.0, 0.5])})["tip"].tolist()
    [[1.0, 0.0], [2.0, 0.5]]
    """

    points: Mapping[str, tuple[Component, ...]]
    lines: tuple[Line, ...] = ()
    circles: tuple[Circle, ...] = ()
    grounds: tuple[Ground, ...] = ()
    bodies: tuple[Silhouette, ...] = ()
    solids: tuple[Solid, ...] = ()
    marks: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    acting: ActingForces = field(default_factory=ActingForces)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", MappingProxyType({k: tuple(v) for k, v in self.points.items()}))
        marks = {name: tuple(tuple(part) for part in parts) for name, parts in self.marks.items()}
        object.__setattr__(self, "marks", MappingProxyType(marks))
        sizes = {len(components) for components in self.points.values()}
        if not sizes or sizes - {2, 3} or len(sizes) > 1:
            raise ModelError(
                "the points of a sketch do not fit together",
                got=", ".join(f"{size} components" for size in sorted(sizes)) or "no points",
                expected="two components for each point, or three for each",
            )
        for name in self._point_names():
            if name not in self.points:
                known = ", ".join(self.points)
                raise ModelError(f"a sketch uses the point '{name}'", expected=f"one of its points: {known}")
        for line in self.lines:
            if line.style not in STYLES or len(line.points) < 2:
                expected = f"two or more points, and one of {', '.join(STYLES)}"
                raise ModelError("a line cannot be drawn", got=repr(line), expected=expected)
        numbers = [part for part in self._components() if isinstance(part, float | int)]
        if not all(np.isfinite(numbers)):
            raise ModelError("a number of the sketch is not finite", expected="finite numbers")
        if self.solids and self.dimension != 3:
            raise ModelError("a solid stands in a plane sketch", expected="points of three components, or a Silhouette")
        for ground in self.grounds:
            if len(ground.normal) != self.dimension:
                raise ModelError("a ground's normal has the wrong length", got=repr(ground.normal))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and sent to other processes as plain data."""
        return read_sketch, (sketch_record(self),)

    @property
    def dimension(self) -> int:
        """Number of coordinates of its points: 2 or 3."""
        return len(next(iter(self.points.values())))

    def _point_names(self) -> Iterator[str]:
        for line in self.lines:
            yield from line.points
        for parts in self.marks.values():
            for part in parts:
                yield from part
        yield from (circle.centre for circle in self.circles)
        yield from (ground.at for ground in self.grounds)
        yield from (body.at for body in self.bodies)
        yield from (solid.at for solid in self.solids)
        yield from self.acting.points()

    def _components(self) -> list[Component | None]:
        parts: list[Component | None] = [c for components in self.points.values() for c in components]
        for circle in self.circles:
            parts += [circle.radius, circle.angle]
        for ground in self.grounds:
            parts += [*ground.normal, ground.length]
        for body in self.bodies:
            parts += [body.angle, *(x for corner in body.outline for x in corner)]
        for solid in self.solids:
            parts += [*solid.turn, *(x for corner in solid.corners for x in corner)]
        return [*parts, *self.acting.components()]

    def names(self) -> tuple[str, ...]:
        """Names of all quantities the drawing needs, each once."""
        return tuple(dict.fromkeys(part for part in self._components() if isinstance(part, str)))

    def positions(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        """Positions of all points: name → (N, 2 or 3), from columns of length N."""
        return {
            name: np.stack([value(component, columns) for component in components], axis=-1)
            for name, components in self.points.items()
        }


def value(component: Component, columns: Mapping[str, Array]) -> Array:
    """A number or a named column as an array of the columns' length."""
    if isinstance(component, str):
        if component not in columns:
            raise ModelError(f"the sketch needs '{component}', which the result does not hold", advice="trace again")
        return np.asarray(columns[component], dtype=float)
    size = len(next(iter(columns.values()))) if columns else 1
    return np.full(size, float(component))


def sketch_record(sketch: Sketch) -> dict[str, Any]:
    """A sketch as plain data for JSON."""
    return {
        "points": {name: list(components) for name, components in sketch.points.items()},
        "lines": [[list(line.points), line.style, *([line.name] if line.name else [])] for line in sketch.lines],
        "circles": [[circle.centre, circle.radius, circle.angle] for circle in sketch.circles],
        "grounds": [[ground.at, list(ground.normal), ground.length] for ground in sketch.grounds],
        "bodies": [[body.at, body.angle, [list(corner) for corner in body.outline]] for body in sketch.bodies],
        "solids": [
            [solid.at, list(solid.turn), [list(c) for c in solid.corners], [list(f) for f in solid.faces]]
            for solid in sketch.solids
        ],
        "marks": {name: [list(part) for part in parts] for name, parts in sketch.marks.items()},
        **forces_record(sketch.acting),
    }


def read_sketch(record: Mapping[str, Any]) -> Sketch:
    """A sketch from plain data; what does not fit is refused."""
    return Sketch(
        points={str(name): tuple(_component(c) for c in parts) for name, parts in record["points"].items()},
        lines=tuple(Line(tuple(map(str, points)), *map(str, rest)) for points, *rest in record["lines"]),
        circles=tuple(Circle(str(at), _component(r), _optional(angle)) for at, r, angle in record["circles"]),
        grounds=tuple(
            Ground(str(at), tuple(_component(c) for c in normal), _optional(length))
            for at, normal, length in record["grounds"]
        ),
        bodies=tuple(
            Silhouette(str(at), _component(angle), tuple((float(x), float(y)) for x, y in outline))
            for at, angle, outline in record["bodies"]
        ),
        solids=tuple(_read_solid(*parts) for parts in record.get("solids", ())),
        marks={str(name): tuple(tuple(map(str, part)) for part in parts) for name, parts in record["marks"].items()},
        acting=read_forces(record),
    )


def _read_solid(at: Any, turn: Any, corners: Any, faces: Any) -> Solid:
    return Solid(
        str(at),
        tuple(_component(c) for c in turn),
        tuple(tuple(float(x) for x in corner) for corner in corners),
        tuple(tuple(int(i) for i in face) for face in faces),
    )


def _component(item: Any) -> Component:
    return item if isinstance(item, str) else float(item)


def _optional(item: Any) -> Component | None:
    return None if item is None else _component(item)
