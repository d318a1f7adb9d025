"""Regions of a parameter with equal lists of events, and the curves of these events, as data."""

from dataclasses import dataclass, field
from typing import Any

from onesided.base.types import Status
from onesided.base.views import views
from onesided.results.followed import Followed
from onesided.results.path import format_number
from onesided.results.wording import line_by_line


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """Values of a parameter for which the path has the same events in the same order.

    Attributes
    ----------
    low, high : ends of the region;  events : kinds and constraints of the events, in words, in order.
    why : what happens at its upper end, in words; empty at the end of the map.
    sharp : half the width to which the upper end is known; 0 where it was located as a meeting of curves.
    """

    low: float
    high: float
    events: tuple[str, ...]
    why: str = ""
    sharp: float = 0.0

    def words(self) -> str:
        """The interval of the parameter and its events, as a sentence."""
        span = f"{format_number(self.low)} to {format_number(self.high)}"
        return f"{span}: {', '.join(self.events) or 'no event'}" + (f"; then {self.why}" if self.why else "")

    def __repr__(self) -> str:
        return f"<Region: {self.words()}>"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return str(views("report").bold(self.words()))


@dataclass(frozen=True, eq=False, repr=False)
class StabilityMap:
    """How the events of a path change with a parameter.

    Attributes
    ----------
    regions : in the order of the parameter;  curves : the events, each followed once.
    complete : False where a path or a curve could not be computed; `note` says which.
    status : `interrupted` where Ctrl-C ended it: the regions reach as far as paths had been traced.
    """

    parameter: str
    control: str
    regions: tuple[Region, ...]
    curves: tuple[Followed, ...]
    complete: bool = True
    note: str = field(default="")
    status: Status = Status.solved

    def __post_init__(self) -> None:
        line_by_line(self, "regions")

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        regions = f"{len(self.regions)} region{'s' * (len(self.regions) != 1)}"
        curves = f"{len(self.curves)} curve{'s' * (len(self.curves) != 1)}"
        return f"<StabilityMap: {regions} of {self.parameter}, {curves}, {state}>"

    def _repr_html_(self) -> str:
        return str(views("report").followed_html(self))

    def plot(self, *, ax: Any = None, title: str = "") -> Any:
        """Draw curves and regions; see `onesided.plots.event_curve`. Returns matplotlib axes."""
        return views("plots").event_curve(self, ax=ax, title=title)
