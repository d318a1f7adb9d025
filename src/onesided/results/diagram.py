"""All branches that hang together: a bifurcation diagram."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onesided.base.tolerances import QUARTER_DIGITS
from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.member_series import Members, joined_members
from onesided.results.named_series import NamedSeries
from onesided.results.numbering import Happenings, numbered
from onesided.results.path import Event, Kind, Path
from onesided.results.wording import Listed, line_by_line

HALF_WAY = 0.01  # relative difference half-way between points that two branches have at different places


@dataclass(frozen=True, eq=False, repr=False)
class Diagram(NamedSeries):
    """Branches reachable from a start, each once.

    Attributes
    ----------
    paths : the branches;  parents : for each the index of the path it leaves (−1 for the first two).
    complete : False when a limit on number or depth, or a failed branch, left something out.
    note : what was left out.
    multiplicity : with a symmetry, how many branches each path stands for: itself and its images; otherwise empty.
    """

    paths: tuple[Path, ...]
    parents: tuple[int, ...]
    complete: bool
    note: str = ""
    multiplicity: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        line_by_line(self, "paths")

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        folded = f" ({sum(self.multiplicity)} with their images)" if self.multiplicity else ""
        return f"<Diagram: {len(self.paths)} branches{folded}, {len(self.events)} special points, {state}>"

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return any(path.status is Status.interrupted for path in self.paths)

    def times(self, index: int) -> str:
        """How often a branch is there, in words: "× 6"; empty without a symmetry."""
        return f"× {self.multiplicity[index]}" if self.multiplicity else ""

    @property
    def events(self) -> tuple[Event, ...]:
        """All special points, each once; bounds are left out."""
        return Listed(event for path in self.paths for event in path.events if event.kind is not Kind.bound)

    @property
    def numbered(self) -> Happenings:
        """Special points branch by branch, with the numbers that every view shows, from 1."""
        return numbered(
            (i, event.index, event)
            for i, path in enumerate(self.paths)
            for event in path.events
            if event.kind is not Kind.bound
        )

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Branches that are alike, as mirror images are: the same kinds of events at the same p and energies.

        Each family is the indices of its branches, in the order of its first.
        """
        portraits = [_portrait(path) for path in self.paths]
        unit = np.max([np.max(np.abs(one), axis=0) for one in portraits], axis=0) if portraits else np.ones(2)
        found: dict[tuple[Any, ...], list[int]] = {}
        for i, path in enumerate(self.paths):
            told = tuple((event.kind, event.instability_before, event.instability_after) for event in path.events)
            known = [key for key in found if key[0] == told and _alike(portraits[found[key][0]], portraits[i], unit)]
            found.setdefault(known[0] if known else (told, i), []).append(i)
        return tuple(tuple(family) for family in found.values())

    @property
    def members(self) -> Members:
        """Forces, lengths and reactions of the parts of a structure over all branches, in order, computed when read."""
        return joined_members([path.members for path in self.paths])

    def _repr_html_(self) -> str:
        return str(views("report").result_html(self))

    def plot(self, x: str | None = None, y: str | None = None, *, ax: Any = None, title: str = "") -> Any:
        """Draw the branches; see `onesided.plots.diagram`. Returns matplotlib axes."""
        return views("plots").diagram(self, x=x, y=y, ax=ax, title=title)


def _portrait(path: Path) -> Array:
    """(p, energy) half-way along, at both ends and at the events, which are located: (3 + events, 2)."""
    places = [0, len(path) - 1, *(event.index for event in path.events)]
    both = np.column_stack([path.p, path.energy])
    middle = [np.interp(path.s[-1] / 2, path.s, column) for column in both.T]
    return np.vstack([middle, both[places]])


def _alike(first: Array, second: Array, unit: Array) -> bool:
    """Whether branches of the same events have them at the same places, and run alike between them."""
    if first.shape != second.shape:
        return False
    off = np.abs(first - second) / np.where(unit > 0.0, unit, 1.0)
    return bool(np.all(off[1:] <= QUARTER_DIGITS) and np.all(off[0] <= HALF_WAY))
