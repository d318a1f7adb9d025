"""The outcome of solving one problem."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, TypeVar

from onesided.base.types import Status
from onesided.base.views import views
from onesided.results.wording import short, shortened

Value = TypeVar("Value")


def _no_stats() -> Mapping[str, float]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Generic[Value]):
    """A value, how it came about, and how well it fulfils the problem.

    Attributes
    ----------
    value : the answer, or the best point reached when `status` is not ok.
    status : Status
    residual : float
        Rechecked from the problem itself, not from the solver.
    method : str
        Name of the method that produced the value.
    stats : mapping of counts (iterations, pivots, candidates …).
    note : str
        A sentence on what is particular about this outcome; empty when nothing is.
    """

    value: Value
    status: Status
    residual: float
    method: str = ""
    stats: Mapping[str, float] = field(default_factory=_no_stats)
    note: str = ""

    def __repr__(self) -> str:
        how = f", {self.method}" if self.method else ""
        head = f"<Solution: {self.status.name}, residual {self.residual:.1e}{how}>"
        told = [self.note] if self.note else []
        return "\n".join(shortened([head, *told, *short(self.value).splitlines()]))

    def _repr_html_(self) -> str:
        return str(views("report").solution_html(self))

    @property
    def ok(self) -> bool:
        """Whether `value` is an answer."""
        return self.status.ok
