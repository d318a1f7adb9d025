"""Curves of events in two parameters, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.path import Kind, format_number
from onesided.results.wording import line_by_line


class Encounter(Enum):
    """What happens on a curve of events; the value is its name in words."""

    cusp = "cusp: two limit points meet"
    corner_limit = "corner meets limit point"
    corners = "two corners meet"
    hilltop = "hilltop: a bifurcation meets a limit point"
    grazes = "a contact stops mattering"
    degree = "degree of instability changes"
    turns = "the curve turns back"
    kink = "the stiffness jumps"
    forks = "two bifurcations meet"
    contact = "a contact changes at the same point"


@dataclass(frozen=True, eq=False, repr=False)
class Meeting:
    """A special point of a curve of events.

    Attributes
    ----------
    kind : what it is;  constraints : names of those that meet there, and of members that have a kink.
    theta, p, q : where;  precision : what is left of the quantity that vanishes there, in scaled units.
    before, after : what the event is on either side, in words; `after` is empty where the curve ends.
    index : position in the arrays of the curve.
    piece : where a contact is concerned, of which branch it is told: the one with the contact "open" or "closed".
    """

    kind: Encounter
    parameter: str
    control: str
    theta: float
    p: float
    q: Array
    constraints: tuple[str, ...]
    before: str
    after: str
    precision: float
    index: int
    piece: str = ""

    def words(self) -> str:
        """One sentence for an engineer."""
        about = "about " if self.precision > HALF_DIGITS else ""
        where = f"{about}{self.parameter} = {format_number(self.theta)}, {self.control} = {format_number(self.p)}"
        names = " and".join(f" '{name}'" for name in self.constraints)
        piece = f" (on the branch with it {self.piece})" if self.piece else ""
        sides = self.before if self.before == self.after else f"{self.before} → {self.after or self._beyond()}"
        return f"{self.kind.value}{':' if names else ''}{names}{piece} at {where}; {sides}"

    def _beyond(self) -> str:
        """What takes the place of an event that ends."""
        first = self.constraints if self.kind is not Encounter.kink else ()
        return f"beyond it '{first[-1]}' changes first" if first else "beyond it there is none"

    def __repr__(self) -> str:
        return f"<Meeting: {self.words()}>"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return str(views("report").bold(self.words()))


@dataclass(frozen=True, eq=False, repr=False)
class Followed:
    """An event followed while a parameter changes.

    Attributes
    ----------
    kind : what the event is at the start;  about : its sentence.
    theta : (N,) parameter, p : (N,), q : (N, n), mu : (N, k), lam : (N, m), energy : (N,)
    degrees : (N, 2) negative modes on the two sides of the event.
    start : index of the event from which it was followed.
    meetings : special points, in order;  status, note : how both ends were reached.
    """

    kind: Kind
    about: str
    parameter: str
    control: str
    coordinates: tuple[str, ...]
    theta: Array
    p: Array
    q: Array
    mu: Array
    lam: Array
    energy: Array
    degrees: np.ndarray[Any, np.dtype[np.intp]]
    start: int
    meetings: tuple[Meeting, ...]
    status: Status
    note: str
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        line_by_line(self, "meetings")

    def __len__(self) -> int:
        return len(self.theta)

    @property
    def ok(self) -> bool:
        """Whether both ends were reached for a good reason."""
        return self.status.ok

    def __repr__(self) -> str:
        ends = f"{self.parameter} from {format_number(self.theta[0])} to {format_number(self.theta[-1])}"
        meetings = f"{len(self.meetings)} meeting{'s' * (len(self.meetings) != 1)}"
        return f"<Followed: {self.kind.value}, {len(self)} points, {ends}, {meetings}>"

    def _repr_html_(self) -> str:
        return str(views("report").followed_html(self))

    def plot(self, *, ax: Any = None, title: str = "") -> Any:
        """Draw p over the parameter; see `onesided.plots.event_curve`. Returns matplotlib axes."""
        return views("plots").event_curve(self, ax=ax, title=title)
