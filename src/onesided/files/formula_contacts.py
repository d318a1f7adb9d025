"""The tables `[smallest]` and `[surfaces]` of a model file: gaps that are not differentiable, outlines that touch."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from onesided.base.errors import ModelError
from onesided.base.names import joined
from onesided.files.schema import FileModel
from onesided.files.schema_tables import SurfaceTable
from onesided.files.toml_places import Path

if TYPE_CHECKING:
    from onesided.files.formula_system import Book
    from onesided.system.surface_geometry import SurfacePair
    from onesided.system.system import System


def surface_names(file: FileModel) -> set[str]:
    """Names of the parameters of outlines in formulas: s in the plane, s1 and s2 in space."""
    return {name for table in file.surfaces.values() for side in (0, 1) for name in _letters(table, side)}


def _letters(table: SurfaceTable, side: int) -> tuple[str, ...]:
    """An outline has one parameter in the plane, two in space, an edge in space (the first of three) one."""
    one = len(table.start) == 2 or (len(table.start) == 3 and side == 0)
    return ("s",) if one else ("s1", "s2")


def gap_names(file: FileModel) -> tuple[str, ...]:
    """All one-sided constraints of a file, those of `[smallest]` and `[surfaces]` included."""
    split = [name for table in file.smallest for name in _pieces(file, table)]
    return (*file.unilateral, *split, *(name for name, table in file.surfaces.items() if table.opens))


def made_names(file: FileModel) -> list[tuple[str, Path]]:
    """Constraints that `[smallest]` and `[surfaces]` make, with what makes them."""
    pieces = [(piece, ("smallest", name)) for name in file.smallest for piece in _pieces(file, name)]
    return [*pieces, *((name, ("surfaces", name)) for name in file.surfaces)]


def _pieces(file: FileModel, name: str) -> list[str]:
    """Names of the constraints that an entry of `[smallest]` stands for."""
    table = file.smallest[name]
    return [name] if table.sharpness is not None else [f"{name}_{i + 1}" for i in range(len(table.of))]


def more_texts(file: FileModel) -> dict[Path, str]:
    """Formulas of both tables by their paths."""
    texts: dict[Path, str] = {
        ("smallest", name, "of", str(i + 1)): text
        for name, table in file.smallest.items()
        for i, text in enumerate(table.of)
    }
    for name, table in file.surfaces.items():
        for side in ("first", "second"):
            texts |= {("surfaces", name, side, str(i + 1)): text for i, text in enumerate(getattr(table, side))}
    return texts


def smallest_gaps(file: FileModel, scalar: Callable[..., Any]) -> dict[str, Any]:
    """Constraints of `[smallest]`: one per distance, or one that is smooth [AR]."""
    from onesided.system.nonsmooth import smallest_smoothed

    gaps: list[dict[str, Any]] = []
    for name, table in file.smallest.items():
        found = [scalar("smallest", name, "of", str(i + 1)) for i in range(len(table.of))]
        if table.sharpness is not None:
            found = [smallest_smoothed(*found, sharpness=table.sharpness)]
        gaps.append(dict(zip(_pieces(file, name), found, strict=True)))
    return joined("constraint", *gaps)


def add_surfaces(system: "System", file: FileModel, book: "Book", table: Mapping[str, Callable[..., Any]]) -> "System":
    """The system with the outlines of `[surfaces]` [SW]."""
    from onesided.system.surfaces import with_surfaces

    pairs = {name: _pair(name, stated, file, book, table) for name, stated in file.surfaces.items()}
    try:
        return with_surfaces(system, pairs)
    except ModelError as error:
        raise book.source.error(
            ("surfaces",), error.what, got=error.got, expected=error.expected, advice=error.advice
        ) from None


def _pair(
    name: str, stated: SurfaceTable, file: FileModel, book: "Book", table: Mapping[str, Callable[..., Any]]
) -> "SurfacePair":
    from onesided.system.surface_geometry import SurfacePair

    size = 2 if len(stated.start) == 2 else 3
    for side in ("first", "second"):
        if len(getattr(stated, side)) != size:
            raise book.source.error(
                ("surfaces", name, side),
                f"the outline has {len(getattr(stated, side))} components",
                expected=f"{size}, because `start` has {len(stated.start)} numbers",
            )

    def outline(side: str) -> Callable[[Any, Any, Any], Any]:
        import jax.numpy as jnp

        recipe = book.recipe([("surfaces", name, side, str(i + 1)) for i in range(size)], table)
        letters = _letters(stated, 0 if side == "first" else 1)

        def point(q: Any, s: Any, th: Any) -> Any:
            place = {"s": s} if letters == ("s",) else {"s1": s[0], "s2": s[1]}
            return jnp.stack(recipe.values({c: q[i] for i, c in enumerate(file.coordinates)}, place, th))

        return point

    return SurfacePair(
        outline("first"),
        outline("second"),
        tuple(stated.start),
        rolls=stated.rolls,
        opens=stated.opens,
        restitution=stated.restitution,
        names=tuple(stated.names or ()),
    )
