"""Progress on a terminal and as lines for machines; nothing where there is no terminal."""

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.control import Control
from rich.markup import escape
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.segment import ControlType

from onesided.base.progress import Progress

SECONDS_BETWEEN = 0.2  # lines of progress for machines
COMPILING = "compiling …"

err = Console(stderr=True)


def compiling(*, quiet: bool) -> None:
    """Say on a terminal what the first seconds are spent on; the first progress takes the line away."""
    if not quiet and err.is_terminal:
        err.print(COMPILING, style="dim", highlight=False)


def _take_away() -> None:
    """Remove the line that `compiling` wrote."""
    err.control(Control((ControlType.CURSOR_UP, 1), ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))


class LiveProgress(Progress):
    """A line on the terminal with p, points, events, step and rate; silent where there is no terminal.

    Parameters
    ----------
    name : what is being driven: the control parameter, or time.
    span : its range; the bar shows where in it the computation is, and goes back where the path turns back.
    announced : whether `compiling` has written the line above, which goes when there is something to show.
    """

    def __init__(
        self,
        *,
        quiet: bool,
        stopped: Callable[[], bool],
        name: str = "p",
        span: tuple[float, float] = (-math.inf, math.inf),
        announced: bool = False,
    ) -> None:
        self._name, self._span = name, span
        self._bar: Bar | None = None
        self._stopped = stopped
        self._quiet = quiet or not err.is_terminal
        self._announced = announced and not self._quiet

    def begin(self, what: str) -> None:
        """Prepare the line; it is shown with the first point, or at once where nothing was announced."""
        if not self._quiet:
            text = TextColumn("{task.description}")
            finite = all(math.isfinite(end) for end in self._span)
            bar = [BarColumn(bar_width=24)] if finite else []
            self._bar = Bar(SpinnerColumn(), *bar, text, TimeElapsedColumn(), console=err, transient=True)
            self._task = self._bar.add_task(what, total=1.0)
            if not self._announced:
                self._bar.start()

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """Refresh the line; stop where Ctrl-C was pressed and not yet handled."""
        if self._stopped():
            raise KeyboardInterrupt
        if self._bar is not None:
            self._replace_announcement()
            seconds = max(self._bar.tasks[0].elapsed or 0.0, 0.001)
            counts = f"{points} points   {events} events   step {step:.2g}   {points / seconds:.0f}/s"
            low, high = self._span
            done = (control - low) / (high - low) if math.isfinite(high - low) and high > low else 0.0
            text = f"{escape(self._name)} = {control:.6g}   {counts}"
            self._bar.update(self._task, description=text, completed=min(max(done, 0.0), 1.0))

    def end(self) -> None:
        """Take the line away, so that the result is printed where it stood."""
        self._replace_announcement()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _replace_announcement(self) -> None:
        if self._announced:
            self._announced = False
            _take_away()
            if self._bar is not None:
                self._bar.start()


class JsonProgress(Progress):
    """Progress as JSON lines: the first point, then a few lines a second, and the last point."""

    def __init__(self, *, stopped: Callable[[], bool], name: str) -> None:
        self._stopped, self._name = stopped, name
        self._begun, self._told, self._waiting = 0.0, -math.inf, False
        self._record: dict[str, Any] = {}

    def begin(self, what: str) -> None:
        """Remember when the work began, for seconds and rates in the lines."""
        self._begun = time.monotonic()
        self._record = {"kind": "progress", "command": what, "name": self._name}

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """Write a line now, or keep it for the end; stop where Ctrl-C was pressed and not yet handled."""
        if self._stopped():
            raise KeyboardInterrupt
        now = time.monotonic()
        seconds = now - self._begun
        self._record |= {"value": control, "points": points, "events": events, "step": step, "seconds": seconds}
        self._record["rate"] = points / max(seconds, 0.001)
        self._waiting = now - self._told < SECONDS_BETWEEN
        if not self._waiting:
            self._told = now
            json_line(self._record)

    def end(self) -> None:
        """Write the last point, if it was not written yet."""
        if self._waiting:
            json_line(self._record)
            self._waiting = False


def progress(
    stopped: Callable[[], bool],
    name: str,
    span: tuple[float, float],
    *,
    quiet: bool,
    as_json: bool,
    announced: bool = False,
) -> Progress:
    """A bar on the terminal, or lines for machines, or nothing."""
    if as_json and not quiet:
        return JsonProgress(stopped=stopped, name=name)
    return LiveProgress(quiet=quiet or as_json, stopped=stopped, name=name, span=span, announced=announced)


def json_line(record: dict[str, Any]) -> None:
    """One record for machines, at once; numbers that are not finite become null."""
    sys.stdout.write(json.dumps(_finite(record), default=str, allow_nan=False) + "\n")
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
