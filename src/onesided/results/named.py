"""Everything a path holds, by name: what tables, plots and reports show."""

from onesided._types import Array
from onesided.errors import UsageError
from onesided.results.path import Path


def columns(path: Path) -> dict[str, Array]:
    """Name → (N,) values: arc length, control, coordinates, multipliers, reactions, gaps, energy, measures.

    A coordinate, or the control, keeps its name where a measure has the same.
    """
    found: dict[str, Array] = {"arc length": path.s, path.control: path.p}
    groups = (
        ("", path.coordinates, path.q),
        ("multiplier ", path.bilateral, path.mu),
        ("reaction ", path.unilateral, path.lam),
        ("gap ", path.unilateral, path.gaps),
    )
    for prefix, names, array in groups:
        for i, name in enumerate(names):
            found.setdefault(prefix + name, array[:, i])
    for name, values in (("energy", path.energy), *path.measures.items()):
        found.setdefault(name, values)
    return found


def column(path: Path, name: str) -> Array:
    """One column of a path; a name nobody knows is refused."""
    found = columns(path)
    if name not in found:
        shown = [key for key in found if "." not in key]
        raise UsageError(f"the path holds no '{name}'", expected="one of " + ", ".join(shown[:30]))
    return found[name]
