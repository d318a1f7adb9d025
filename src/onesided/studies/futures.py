"""Other machines and other pools: any `concurrent.futures.Executor`, and a client of Dask."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from itertools import islice
from pathlib import Path
from typing import Any

from onesided.base.errors import SolveError, UsageError
from onesided.studies.kept import Row
from onesided.studies.worker import rows_of
from onesided.studies.workers import Case

BATCH = 1.0  # seconds of work in one call
MOST = 1000  # cases in one call
PATIENCE = 0.2  # seconds between looks at Ctrl-C
Batch = list[Case]


class Futures:
    """Cases as calls of an executor, a few for each of its slots at a time.

    A call that fails as a whole (a worker died, a result that cannot be sent) is made again case by case; a case that
    fails alone is marked.
    """

    def __init__(self, executor: Executor, slots: int, data: bytes, folder: Path) -> None:
        self._executor, self._slots, self._data, self._folder = executor, slots, data, folder
        self._running: dict[Future[list[Row]], Batch] = {}
        self._alone: deque[Case] = deque()
        self._seconds = 0.0

    def __enter__(self) -> "Futures":
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._running:
            future.cancel()

    def rows(self, cases: Iterator[Case]) -> Iterator[Row | None]:
        """Rows as they come, in any order; None from time to time where none comes."""
        while True:
            while len(self._running) < 2 * self._slots and (batch := self._batch(cases)):
                self._running[self._submitted(batch)] = batch
            if not self._running:
                return
            done, _ = wait(self._running, timeout=PATIENCE, return_when=FIRST_COMPLETED)
            if not done:
                yield None
            for future in done:
                yield from self._taken(future)

    def _batch(self, cases: Iterator[Case]) -> Batch:
        if self._alone:
            return [self._alone.popleft()]
        size = min(max(int(BATCH / self._seconds), 1), MOST) if self._seconds else 1
        return list(islice(cases, size))

    def _submitted(self, batch: Batch) -> "Future[list[Row]]":
        try:
            return self._executor.submit(rows_of, self._data, batch, self._folder)
        except (BrokenExecutor, RuntimeError) as error:
            raise _broken(error) from error

    def _taken(self, future: "Future[list[Row]]") -> Iterator[Row]:
        batch = self._running.pop(future)
        try:
            rows = future.result()
        except BrokenExecutor as error:
            raise _broken(error) from error
        except Exception as error:  # noqa: BLE001 - whatever an executor raises where its worker is gone
            if len(batch) > 1:
                self._alone.extend(batch)
                return
            words = f"{type(error).__name__}: {error}".splitlines()[0]
            yield {"case": batch[0][0], "ok": False, "status": "worker died", "note": words}
            return
        for row in rows:
            self._seconds = row["seconds"] if not self._seconds else 0.9 * self._seconds + 0.1 * row["seconds"]
            yield row


def _broken(error: Exception) -> SolveError:
    return SolveError(
        "the executor is broken", None, got=f"{type(error).__name__}: {error}",
        advice="start the study again: it goes on; without executor= a case that ends its process is found",
    )  # fmt: skip


def as_executor(given: Any) -> tuple[Executor, int]:
    """An executor and how many calls it carries out at a time; of a client of Dask, its own."""
    if callable(getattr(given, "get_executor", None)) and callable(getattr(given, "nthreads", None)):
        return given.get_executor(pure=False), max(sum(given.nthreads().values()), 1)
    if not isinstance(given, Executor):
        raise UsageError(
            "this is no executor", got=type(given).__name__, expected="a concurrent.futures.Executor, or a Dask Client"
        )
    return given, max(int(getattr(given, "_max_workers", 4)), 1)


def dask_client(address: str) -> Any:
    """A client of the scheduler of Dask at an address."""
    try:
        import distributed
    except ImportError:
        raise UsageError("Dask is not installed", advice="pip install 'onesided[dask]'") from None
    try:
        connect: Callable[..., Any] = distributed.Client
        return connect(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            "no scheduler of Dask answers", got=f"{address}: {error}", expected="tcp://HOST:8786"
        ) from None
