"""Everything a path holds, by name: what tables, plots and reports show."""

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.results.path import Path


class Columns(dict[str, Array]):
    """Name → values, where nothing is lost: what finds its name taken is called "KIND NAME"."""

    def put(self, kind: str, name: str, values: Array) -> None:
        """Add values under the name, or under the longer one."""
        self[f"{kind} {name}" if name in self else name] = values


def columns(path: Path) -> dict[str, Array]:
    """Name → (N,) values: arc length, control, coordinates, multipliers, reactions, gaps, energy, measures.

    A coordinate, or the control, keeps its name where a measure has the same, which is then called "measure NAME".
    """
    found = Columns({"arc length": path.s})
    found.put("control", path.control, path.p)
    groups = (
        ("", path.coordinates, path.q),
        ("multiplier ", path.bilateral, path.mu),
        ("reaction ", path.unilateral, path.lam),
        ("gap ", path.unilateral, path.gaps),
    )
    for prefix, names, array in groups:
        for i, name in enumerate(names):
            found.put("coordinate", prefix + name, array[:, i])
    found.put("total", "energy", path.energy)
    for name, values in path.measures.items():
        found.put("measure", name, values)
    return found


def column(path: Path, name: str) -> Array:
    """One column of a path; a name nobody knows is refused."""
    found = columns(path)
    if name not in found:
        shown = [key for key in found if "." not in key]
        raise UsageError(f"the path holds no '{name}'", expected="one of " + ", ".join(shown[:30]))
    return found[name]
