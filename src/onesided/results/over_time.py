"""What motions of every kind have in common: a status, happenings in order of time, series by name."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.named_series import NamedSeries
from onesided.results.numbering import Happenings, numbered


class OverTime(NamedSeries, ABC):
    """A result with one point per entry of `t` (N,), rechecked; what happens has a time `t` and `words()`."""

    __slots__ = ()
    t: Array
    status: Status

    def __len__(self) -> int:
        return len(self.t)

    @property
    def ok(self) -> bool:
        """Whether the end was reached, or another good reason to stop, and the recheck passed."""
        return self.status.ok

    @property
    @abstractmethod
    def happenings(self) -> tuple[Any, ...]:
        """Events, or switches, in order of time."""

    @property
    def numbered(self) -> Happenings:
        """Happenings with the numbers that every view shows, from 1, in order of time."""
        what = self.happenings
        places = np.maximum(np.searchsorted(self.t, [one.t for one in what], side="right") - 1, 0)
        return numbered(zip((0,) * len(places), places.tolist(), what, strict=True))

    def _repr_html_(self) -> str:
        return str(views("report").result_html(self))
