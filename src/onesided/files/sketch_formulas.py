"""The `[sketch]` and `[define]` tables of a model file as a `Sketch` and as measures, in NumPy: no compilation."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onesided.base.errors import ModelError
from onesided.files.formula_contacts import gap_names
from onesided.files.schema import FileModel
from onesided.files.schema_tables import SketchTable
from onesided.files.toml_places import Path
from onesided.formulas.functions import NUMPY
from onesided.results.sketch import ActingForces, Circle, Component, Ground, Line, Sketch, Solid
from onesided.results.sketch_forces import LoadArrow, Support
from onesided.system.measures import Elementwise, Measure

if TYPE_CHECKING:
    from onesided.files.formula_system import Book, Recipe


def sketch_of(file: FileModel, book: "Book") -> Sketch | None:
    """The drawing a file states, or None; its formulas become measures named by their place, as in `tip.y`."""
    table = file.sketch
    if table is None:
        return None
    try:
        sketch = Sketch(
            points={name: tuple(_named(file, c, name, i) for i, c in enumerate(p)) for name, p in table.points.items()},
            lines=tuple(Line(tuple(text.split()), style) for style, texts in table.lines.items() for text in texts),
            circles=tuple(_circle(file, table, name) for name in table.circles),
            grounds=tuple(_ground(ground.at, ground.facing, ground.length) for ground in table.grounds.values()),
            solids=tuple(_solid(file, table, name) for name in table.solids),
            marks={name: tuple(tuple(text.split()) for text in texts) for name, texts in table.marks.items()},
            acting=_acting(table),
        )
    except ModelError as error:
        raise book.source.error(("sketch",), error.what, got=error.got, expected=error.expected) from None
    for name in sketch.marks:
        if name not in gap_names(file):
            raise book.source.error(
                ("sketch", "marks", name),
                f"`{name}` is not a constraint",
                expected=", ".join(gap_names(file)) or "none",
            )
    return sketch


def _acting(table: SketchTable) -> ActingForces:
    loads = tuple(LoadArrow(load.at, tuple(load.force), grows=not load.constant) for load in table.loads.values())
    return ActingForces(loads, tuple(Support(at, axes) for at, axes in table.supports.items()))


def measures_of(file: FileModel, book: "Book") -> dict[str, Measure]:
    """All definitions that statics can evaluate, and all formulas of the sketch."""
    moving = {*book.velocities, *book.time, *book.joint_forces, *book.places}
    paths: dict[str, Path] = {n: ("define", n) for n in file.define if not book.bases[n] & moving}
    paths |= {n: ("measures", n) for n in file.measures}
    paths |= {label: path for label, path, _ in sketch_formulas(file)}
    return {name: _measure(file, book.recipe([path], NUMPY)) for name, path in paths.items()}


def sketch_formulas(file: FileModel) -> Iterator[tuple[str, Path, str]]:
    """Name, place and text of every formula of the sketch that is more than a name."""
    if file.sketch is None:
        return
    for name, components in file.sketch.points.items():
        for i, text in enumerate(components):
            if isinstance(text, str) and not _is_quantity(file, text):
                yield _label(name, i), ("sketch", "points", name, "xyz"[i]), text
    for name, circle in file.sketch.circles.items():
        for key in ("radius", "angle"):
            text = getattr(circle, key)
            if isinstance(text, str) and not _is_quantity(file, text):
                yield f"{name}.{key}", ("sketch", "circles", name, key), text
    for name, solid in file.sketch.solids.items():
        for i, text in enumerate(solid.turn):
            if isinstance(text, str) and not _is_quantity(file, text):
                yield f"{name}.turn.{'xyz'[i]}", ("sketch", "solids", name, "xyz"[i]), text


def _is_quantity(file: FileModel, text: str) -> bool:
    return text in file.coordinates or text in file.define or text == file.control.name


def _label(name: str, i: int) -> str:
    return f"{name}.{'xyz'[i]}"


def _named(file: FileModel, component: Component, name: str, i: int) -> Component:
    if not isinstance(component, str):
        return component
    return component if _is_quantity(file, component) else _label(name, i)


def _circle(file: FileModel, table: SketchTable, name: str) -> Circle:
    circle = table.circles[name]
    parts = [
        f"{name}.{key}" if isinstance(text, str) and not _is_quantity(file, text) else text
        for key, text in (("radius", circle.radius), ("angle", circle.angle))
    ]
    return Circle(circle.at, parts[0] if parts[0] is not None else 0.0, parts[1])


def _solid(file: FileModel, table: SketchTable, name: str) -> Solid:
    solid = table.solids[name]
    turn = [
        f"{name}.turn.{'xyz'[i]}" if isinstance(part, str) and not _is_quantity(file, part) else part
        for i, part in enumerate(solid.turn)
    ]
    return Solid.box(solid.at, turn, solid.box) if solid.box else Solid.disc(solid.at, turn, *solid.disc or ())


def _ground(at: str, facing: float, length: float | None) -> Ground:
    angle = math.radians(facing)
    return Ground(at, (round(math.cos(angle), 15), round(math.sin(angle), 15)), length)


def _measure(file: FileModel, recipe: "Recipe") -> Elementwise:
    needed = [(i, name) for i, name in enumerate(file.coordinates) if name in recipe.names]

    def measure(q: Any, p: Any, th: Any) -> Any:
        return recipe.arrays({name: q[i] for i, name in needed}, {file.control.name: p}, th)[0]

    return Elementwise(measure)
