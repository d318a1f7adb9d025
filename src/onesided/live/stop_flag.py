"""Asking work of a live page to stop: by hand, or when it takes too long."""

import math
import time
from threading import Event as Flag

from onesided.base.errors import SolveError
from onesided.base.progress import Progress
from onesided.base.types import Status


class CancelledError(Exception):
    """The work was asked to stop: something newer is wanted."""


class StopFlag(Progress):
    """A flag and a limit of time that work looks at between its steps."""

    def __init__(self, seconds: float = math.inf) -> None:
        self._flag, self.until = Flag(), time.monotonic() + seconds

    def ask(self) -> None:
        """Set the flag: the work stops where it next looks."""
        self._flag.set()

    @property
    def asked(self) -> bool:
        """Whether the flag is set, by `ask` or because the time is over."""
        return self._flag.is_set()

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.until

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """Stop here, where that is asked for."""
        if self.asked or self.late:
            raise KeyboardInterrupt

    def check(self, status: Status) -> None:
        """Refuse what was cut short."""
        if self.asked:
            raise CancelledError
        if status is Status.interrupted:
            raise SolveError("the computation took too long and was given up", None, advice="a smaller model or range")
