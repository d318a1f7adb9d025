"""`study`: a verb for many cases, in a folder that grows and never loses."""

import contextlib
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onesided._version import __version__
from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.types import Indices, Status
from onesided.files.new_numbers import carrying
from onesided.results.studied import Study
from onesided.results.study_cases import Cases
from onesided.results.study_rows import append_rows, arrow, clear_joined, done_cases
from onesided.studies.asked_study import asked_study
from onesided.studies.batches import Batches, check_batch
from onesided.studies.claims import alone, claim
from onesided.studies.fingerprint import fingerprint, model_text
from onesided.studies.futures import Futures, as_executor
from onesided.studies.imperfections import Imperfections
from onesided.studies.kept import Row
from onesided.studies.sampling import Sample, axis, sampled
from onesided.studies.tasks import UNWRITTEN, StudyTask
from onesided.studies.workers import Case, LocalWorkers, worker_count
from onesided.system.system import System
from onesided.system.travel import packed

FLUSH = 2.0  # seconds after which rows are written
MOST_ROWS = 20_000  # that wait to be written
BLOCK = 4096  # cases that are looked up together
WINDOW = 10.0  # seconds over which the rate is taken
PILOT = 3  # cases after which the time that is left is told


class Progressing(NamedTuple):
    """How far a study is: numbers of cases, cases per second, seconds left (NaN before a few cases are done)."""

    done: int
    failed: int
    cases: int
    rate: float
    left: float

    def __str__(self) -> str:
        left = "" if np.isnan(self.left) else f", {self.rate:.3g} cases/s, {duration(self.left)} left"
        return f"{self.done} of {self.cases} cases, {self.failed} failed{left}"


def duration(seconds: float) -> str:
    """A time in words: "3 s", "12 min", "5 h 10 min"."""
    if seconds < 100:
        return f"{seconds:.2g} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


@checked
def study(  # noqa: PLR0913 - one verb, all its ends by keyword
    task: StudyTask | System,
    *,
    folder: str | PathLike[str],
    over: Mapping[str, Any] | None = None,
    sample: Sample | Imperfections | Mapping[str, Any] | str | PathLike[str] | None = None,
    workers: int | None = None,
    executor: Any = None,
    engine: str = "cases",
    rerun: str | Sequence[int] = (),
    limit: int | None = None,
    progress: Callable[[Progressing], Any] | None = None,
    throw: bool = True,
) -> Study:
    """Carry out a task for many cases, and keep what comes out in a folder; started again it goes on.

    Parameters
    ----------
    task : verb, arguments and what to keep. A system alone is traced; a loaded file with a table `[study]`
        needs neither `over` nor `sample`.
    folder : where the study is kept. A case is there whole or not at all, whenever the process is killed.
    over : parameter → values: all combinations (a grid). The control may be varied for `solve`, `modes`, `simulate`.
    sample : a `Sample` or `Imperfections`, lists of equal length {name: values}, or a CSV file with names in its first
        line; together with `over`, every case of the sample at every point of the grid.
    workers : processes on this machine, by default one for each core; 0 works in this process.
    executor : any `concurrent.futures.Executor`, or a client of Dask, instead.
    engine : "cases", one by one, or "batch": side by side in compiled code [`trace_many`], for `trace` where events and
        loads are kept. The table is the same but for points, extremes of measures and notes on starts.
    rerun : "failed", or numbers of cases that are to be done once more.
    limit : stop after so many cases, to see what the rest will take.
    progress : called with how far the study is, several times a second; `print` will do.
    throw : after Ctrl-C raise a `SolveError` that holds the study, or return it.

    Raises
    ------
    UsageError
        Where the folder belongs to another study, or cannot be written: what is there stays.
    """
    arrow()
    _check_engine(engine, workers, executor)
    if isinstance(task, System) and over is None and sample is None:
        task, over, sample = asked_study(task)
    task = task if isinstance(task, StudyTask) else StudyTask(task)
    if isinstance(sample, Imperfections):
        task, sample = sample.applied(task)
    values, drawn, seed = sampled(sample)
    cases = Cases({name: axis(name, given) for name, given in (over or {}).items()}, values)
    task.check_names(cases.names)
    if engine == "batch":
        check_batch(task)
    place = Path(folder)
    statement = {
        "task": task.statement(), "model": fingerprint(task.system), "version": __version__, "sampling": drawn,
        "seed": seed, "python": platform.python_version(),
        "labels": {name: list(pair) for name, pair in task.system.labels.items()},
    }  # fmt: skip
    with alone(place):
        claim(place, statement, cases, carrying(model_text(task.system), task.system.parameters))
        clear_joined(place)
        found = Study(place, cases, statement)
        status, words = _run(task, found, _numbers(found, rerun, limit), (workers, executor, engine), progress)
    found = Study(place, cases, statement, status, words)
    if throw and status is Status.interrupted:
        raise SolveError(status.value, found, got=f"{len(done_cases(place))} of {len(cases)} cases")
    return found


def _check_engine(engine: str, workers: int | None, executor: Any) -> None:
    if engine not in {"cases", "batch"}:
        raise UsageError("`engine` is not known", got=repr(engine), expected='"cases" or "batch"')
    if engine == "batch" and (workers or executor is not None):
        raise UsageError('engine="batch" uses all cores of this machine by itself', expected="no workers, no executor")


def _numbers(found: Study, rerun: str | Sequence[int], limit: int | None) -> Indices:
    """Numbers of the cases that are to be done now."""
    if limit is not None and limit < 1:
        raise UsageError("the limit is not usable", got=str(limit), expected="1 or more")
    if isinstance(rerun, str):
        if rerun != "failed":
            raise UsageError("this cannot be done once more", got=repr(rerun), expected="'failed', or numbers of cases")
        chosen = np.array(sorted(found.failed()), dtype=np.int64)
    else:
        for number in rerun:
            found.cases.values(number)
        chosen = np.array(sorted(set(rerun)), dtype=np.int64)
    numbers = chosen if len(chosen) or isinstance(rerun, str) else found.missing()
    return numbers[:limit]


def _cases(cases: Cases, numbers: Indices) -> Iterator[Case]:
    """Cases by number, with their values."""
    for first in range(0, len(numbers), BLOCK):
        block = numbers[first : first + BLOCK]
        columns = cases.columns(block)
        for number, *row in zip(block.tolist(), *(values.tolist() for values in columns.values()), strict=True):
            yield number, dict(zip(columns, row, strict=True))


class _Here:
    """Cases in this process, one after the other."""

    def __init__(self, task: StudyTask, folder: Path) -> None:
        self._task, self._folder = task, folder

    def rows(self, cases: Iterator[Case]) -> Iterator[Row | None]:
        """Rows of the cases, in their order, computed in this process."""
        for number, values in cases:
            row = self._task.row(number, values, self._folder)
            if row["status"] == Status.interrupted.name:  # Ctrl-C was meant for the study
                raise KeyboardInterrupt
            yield row


@contextlib.contextmanager
def _engine(
    task: StudyTask, folder: Path, count: int, workers: int | None, executor: Any, engine: str
) -> Iterator[_Here | LocalWorkers | Futures | Batches]:
    """What carries out the cases."""
    if workers is not None and workers < 0:
        raise UsageError("the number of processes is not usable", got=str(workers), expected="0 or more")
    where, quick = folder.resolve(), task.quick(count)
    if engine == "batch":
        yield Batches(task, where)
    elif executor is not None:
        chosen, slots = as_executor(executor)
        with Futures(chosen, slots, packed(quick), where) as futures:
            yield futures
    elif workers == 0:
        yield _Here(quick, where)
    else:
        with LocalWorkers(min(worker_count(workers), count), count, packed(quick), where) as processes:
            yield processes


def _run(
    task: StudyTask,
    found: Study,
    numbers: Indices,
    how: tuple[int | None, Any, str],
    progress: Callable[[Progressing], Any] | None,
) -> tuple[Status, str]:
    """Do the cases; what is done is written whatever ends the run. How it ended, and who did them."""
    if not len(numbers):
        return Status.finished, ""
    ledger, words = _Ledger(found, len(numbers), progress), ""
    try:
        with _engine(task, found.folder, len(numbers), *how) as engine:
            for row in engine.rows(_cases(found.cases, numbers)):
                ledger.add(row)
            words = engine.words if isinstance(engine, Batches) else ""
    except KeyboardInterrupt:
        return Status.interrupted, words
    finally:
        ledger.write()
    return Status.finished if found.complete else Status.enough, words


class _Ledger:
    """Rows on their way to the disk, and how far the study is."""

    def __init__(self, found: Study, todo: int, progress: Callable[[Progressing], Any] | None) -> None:
        counts = found.counts()
        self._folder, self._cases, self._progress = found.folder, len(found), progress
        self._before = max(counts["cases"] - todo, 0)
        self._failed, self._done, self._todo = counts["failed"], 0, todo
        self._waiting: list[Row] = []
        self._written = self._told = time.monotonic()
        self._window = [(self._written, 0)]

    def add(self, row: Row | None) -> None:
        """Take a row, or nothing, and write where it is time."""
        if row is not None and row["status"] == UNWRITTEN:
            raise self._unwritable(row["note"], "what is done is kept")
        if row is not None:
            self._waiting.append(row)
            self._done += 1
            if self._done == 1:  # what came before is compilation
                self._window = [(time.monotonic(), 1)]
            self._failed += not row["ok"]
        now = time.monotonic()
        if self._waiting and (now - self._written > FLUSH or len(self._waiting) >= MOST_ROWS):
            self.write()
        if self._progress is not None and (now - self._told > 0.1 or row is None or self._done == self._todo):
            self._told = now
            self._progress(self._state(now))

    def _state(self, now: float) -> Progressing:
        self._window = [(at, done) for at, done in self._window if now - at < WINDOW] or self._window[-1:]
        first, counted = self._window[0]
        self._window.append((now, self._done))
        rate = (self._done - counted) / max(now - first, FLUSH / 1000)
        left = (self._todo - self._done) / rate if self._done >= PILOT and rate > 0.0 else np.nan
        return Progressing(self._before + self._done, self._failed, self._cases, rate, left)

    def write(self) -> None:
        """Put the rows on the disk."""
        if not self._waiting:
            return
        try:
            append_rows(self._folder, self._waiting)
        except OSError as error:
            kept = f"all but the last {len(self._waiting)} cases are kept"
            raise self._unwritable(str(error.strerror or error), kept) from error
        self._waiting, self._written = [], time.monotonic()

    def _unwritable(self, words: str, kept: str) -> UsageError:
        advice = f"make room and start again: {kept}, it goes on"
        return UsageError(f"'{self._folder}' cannot be written", got=words, advice=advice)
