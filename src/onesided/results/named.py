"""Everything a path holds, by name: what tables, plots and reports show."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array
from onesided.results.named_series import members_of
from onesided.results.path import Path

MOST_NAMES = 30


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


def label_of(result: Any, name: str) -> str:
    """What pictures call a quantity of a result: its label with the unit in brackets, or its name."""
    label, unit = getattr(result, "provenance", {}).get("labels", {}).get(name, (name, ""))
    return f"{label or name} [{unit}]" if unit else str(label or name)


def size_of(result: Any, name: str) -> float:
    """How large a coordinate, the control parameter or the energy is in this system; 0 where that is not known."""
    sizes = getattr(result, "provenance", {}).get("sizes", {})
    lengths = dict(zip(result.coordinates, sizes.get("length", ()), strict=False)) if sizes else {}
    known = {"energy": sizes.get("energy", 0.0), getattr(result, "control", ""): sizes.get("control", 0.0), **lengths}
    return float(known.get(name, 0.0))


def shown_range(low: float, high: float, size: float) -> tuple[float, float]:
    """The range that a picture shows: where values differ by round-off only, one as wide as they are large."""
    largest = max(abs(low), abs(high), size)
    if high - low > HALF_DIGITS * largest or largest == 0.0:
        return low, high
    middle = (low + high) / 2
    return middle - largest / 2, middle + largest / 2


def column(path: Path, name: str) -> Array:
    """One column of a path: also "p" and "s" for the control and the arc length, and results of members by name."""
    return picked("path", name, columns(path), members_of(path), other_name(path, name))


def other_name(path: Path, name: str) -> str:
    """What "p" and "s" are called among the columns; other names are as they are."""
    return {"p": path.control, "s": "arc length"}.get(name, name)


def picked(what: str, name: str, found: Mapping[str, Array], members: Mapping[str, Array], other: str) -> Array:
    """The series of this name, or its other name; an unknown one is refused with the nearest ones."""
    for key in (name, other):
        if key in found:
            return found[key]
        if key in members:
            return np.asarray(members[key])
    raise UsageError(f"the {what} holds no '{name}'", expected=_listed(found), advice=_nearest(name, found, members))


def _listed(found: Iterable[str]) -> str:
    shown = [key for key in found if "." not in key]
    return "one of " + ", ".join(shown[:MOST_NAMES]) + (", …" if len(shown) > MOST_NAMES else "")


def _nearest(name: str, *groups: Iterable[str]) -> str:
    known = [key for group in groups for key in group]
    near = [key for key in known if key.endswith(f" {name}")] or get_close_matches(name, known, n=3)
    return "did you mean " + " or ".join(f"'{key}'" for key in near[:3]) + "?" if near else ""
