"""Cases of a study that are traced side by side in compiled code [`trace_many`], many at a time."""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import OnesidedError, UsageError
from onesided.base.types import Status
from onesided.results import Kind
from onesided.results.many_paths import ManyPaths
from onesided.statics.many import trace_many
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.studies.kept import Row, of_events
from onesided.studies.tasks import StudyTask, as_row
from onesided.studies.workers import Case
from onesided.system.defaults import p_of

SIDE_BY_SIDE = 4096  # cases of one call
PASSED_ON = frozenset({"q0", "p0", "direction", "p_bounds", "method", "tolerances"})
WHOLE = (Status.bound_reached, Status.closed)  # all that happens on such a path is among its events


class BatchEvent(NamedTuple):
    """An event of one of many paths, by the names that events of a path have."""

    kind: Kind
    p: float
    constraints: tuple[str, ...]
    instability_before: int
    instability_after: int | None


class Batches:
    """Cases in this process, many side by side; those that do not come to their end there are done one by one.

    Parameters
    ----------
    task : a `trace` of which events and loads are kept [`check_batch`]; what needs all points of a path, extremes
        of measures, is left out.
    """

    def __init__(self, task: StudyTask, folder: Path) -> None:
        self._task, self._folder = task, folder
        self._done = self._alone = self._handed = 0
        self._on = ""

    @property
    def words(self) -> str:
        """How many cases were done side by side, and how many one by one."""
        return (
            f"{self._done} cases side by side{f' ({self._on})' if self._on else ''}, "
            f"{self._handed} of them went on by trace; {self._alone} one by one{self._left_out}"
        )

    @property
    def _left_out(self) -> str:
        return "; points and extremes of measures were not kept" if self._done else ""

    def rows(self, cases: Iterator[Case]) -> Iterator[Row | None]:
        """Rows of the cases, in their order."""
        while block := list(islice(cases, SIDE_BY_SIDE)):
            begun = time.perf_counter()
            found = self._many(block)
            share = (time.perf_counter() - begun) / len(block)
            for i, (number, values) in enumerate(block):
                if found is None or found.status[i] not in WHOLE:
                    self._alone += 1
                    row = self._task.row(number, values, self._folder)
                    if row["status"] == Status.interrupted.name:
                        raise KeyboardInterrupt
                    yield row
                else:
                    self._done += 1
                    self._handed += int(found.handed[i])
                    yield as_row(number, values, {**_kept(found, i, self._start), "seconds": share})

    @property
    def _start(self) -> float:
        return p_of(self._task.system, self._task.arguments.get("p0"))

    def _many(self, block: Sequence[Case]) -> ManyPaths | None:
        """The paths of some cases; None where they are to be done one by one."""
        columns = {name: [values[name] for _, values in block] for name in block[0][1]}
        try:
            found = trace_many(self._task.system, columns, **self._task.arguments)
        except OnesidedError:
            return None
        if Status.interrupted in found.status:  # Ctrl-C was meant for the study
            raise KeyboardInterrupt
        self._on = found.engine
        return found


def check_batch(task: StudyTask) -> None:
    """Refuse what needs all points of a path, or another verb."""
    wrong = ""
    others = sorted(set(task.arguments) - PASSED_ON)
    if task.verb != "trace":
        wrong = f"the verb '{task.named}'"
    elif task.keep or task.results:
        wrong = f"keep={list(task.keep)}" if task.keep else "results=True"
    elif others:
        wrong = f"the arguments {', '.join(others)}"
    elif not isinstance(task.arguments.get("method"), PredictorCorrector | None):
        wrong = f"method={task.arguments['method']!r}"
    if wrong:
        raise UsageError(
            'this study cannot be done with engine="batch"', got=wrong,
            expected="`trace`, of which events and loads are kept", advice='engine="cases"',
        )  # fmt: skip


def _kept(found: ManyPaths, i: int, start: float) -> Row:
    """The row of one path: turns of p are events, so that its extremes are theirs, or the start's."""
    own = found.of(i)
    listed = zip(found.kind[own], found.p[own], found.constraint[own], found.before[own], found.after[own], strict=True)
    events = [
        BatchEvent(Kind[kind], float(p), (name,) if name else (), int(before), int(after) if after >= 0 else None)
        for kind, p, name, before, after in listed
    ]
    p = [start, *(event.p for event in events)]
    ends: Mapping[str, Any] = {f"max {found.control}": float(np.max(p)), f"min {found.control}": float(np.min(p))}
    status: Status = found.status[i]
    return {"ok": status.ok, "status": status.name, "note": str(found.note[i]), **of_events(events), **ends}
