"""What a design came to: the new numbers, what was asked for before and after, and the results of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onesided.base.types import Status
from onesided.base.views import views
from onesided.results.history import Drive
from onesided.results.path import Path, format_number
from onesided.results.wording import LINES, shortened


@dataclass(frozen=True)
class AimReached:
    """One thing that was asked for: its words, its value before and after, and whether it is met."""

    text: str
    before: float
    after: float
    met: bool

    def words(self) -> str:
        """One line for an engineer."""
        change = f"{format_number(self.before)} → {format_number(self.after)}"
        return f"{self.text}: {change}, {'met' if self.met else 'not met'}"


@dataclass(frozen=True, eq=False, repr=False)
class Designed:
    """Parameters with which a system does what was asked for, or comes as near as it can.

    Attributes
    ----------
    initial, parameters : name → value of the variables before and after;  bounds : name → (low, high).
    aims : what was asked for, with its values before and after.
    before, after : the paths and histories from which these were read.
    gradients, evaluations : how many were computed.
    status, note : how the search ended; events that disappeared or were overtaken on the way.
    """

    initial: Mapping[str, float]
    parameters: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]
    aims: tuple[AimReached, ...]
    before: tuple[Path | Drive, ...]
    after: tuple[Path | Drive, ...]
    gradients: int
    evaluations: int
    status: Status
    note: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether everything asked for is met, and nothing better is near."""
        return self.status.ok

    def words(self) -> list[str]:
        """Lines for an engineer: what was asked for, then the numbers."""
        numbers = [
            f"{name}: {format_number(self.initial[name])} → {format_number(value)}"
            + (" (at its bound)" if value in self.bounds[name] else "")
            for name, value in self.parameters.items()
        ]
        return [*(aim.words() for aim in self.aims), *numbers]

    def __repr__(self) -> str:
        met = sum(aim.met for aim in self.aims)
        head = f"<Designed: {met} of {len(self.aims)} aims met, {self.gradients} gradients, {self.status.name}>"
        return "\n".join([head, *shortened([f"  {line}" for line in self.words()], LINES - 1)])

    def _repr_html_(self) -> str:
        return str(views("report").result_html(self))

    def plot(self, x: str | None = None, y: str | None = None, *, ax: Any = None, title: str = "") -> Any:
        """Draw what was before and after; see `onesided.plots.before_after`. Returns matplotlib axes."""
        return views("plots").before_after(self, x=x, y=y, ax=ax, title=title)
