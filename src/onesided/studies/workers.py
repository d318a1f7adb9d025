"""Processes of this machine that work for a study: a case that ends its process is known, and the others go on.

They are started afresh rather than forked or spawned: nothing of the user's script runs in them, and what is sent is
the task alone.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from onesided.base.errors import SolveError
from onesided.base.processors import processors
from onesided.studies.kept import Row

Case = tuple[int, dict[str, float]]
AHEAD = 0.5  # seconds of work that a process has before it
MOST_AHEAD = 500  # cases
MOST_SENT = 1000  # values that are sent at a time: what a process has not read yet must not block the other
LOG = "workers.log"
KILLED = -9  # how a process ends by SIGKILL, which not every system has
TRIES = 3  # processes that a case may end before it is given up
PATIENCE = 0.2  # seconds between looks at Ctrl-C
START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[3]); from onesided.studies.worker import serve; "
    "serve(int(sys.argv[1]), int(sys.argv[2]))"
)
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
         "JAX_PLATFORMS": "cpu"}  # fmt: skip


@dataclass(eq=False)
class _Worker:
    """A process, the way to talk to it, and the cases it has; it answers once, empty, when it is ready."""

    process: "subprocess.Popen[bytes]"
    connection: Connection
    cases: deque[Case] = field(default_factory=deque)
    ready: bool = False

    def give(self, cases: list[Case]) -> None:
        """Hand over cases; where the process is gone that is noticed when it is listened to."""
        if not cases:
            return
        self.cases.extend(cases)
        with contextlib.suppress(OSError):
            self.connection.send(cases)

    def words(self) -> str:
        """How the process ended, as a sentence."""
        code = self.process.wait()
        if code == KILLED:
            return "was killed (signal 9), by lack of memory or by another process"
        return f"was ended by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"


class LocalWorkers:
    """Some processes of this machine.

    Parameters
    ----------
    count : how many;  cases : how many cases there are for them.
    data : the task, pickled;  folder : for whole results.
    """

    def __init__(self, count: int, cases: int, data: bytes, folder: Path) -> None:
        self._count, self._todo, self._data, self._folder = count, cases, data, folder
        self._workers: list[_Worker] = []
        self._suspects: deque[Case] = deque()
        self._ended: dict[int, int] = {}
        self._seconds = 0.0
        self._fruitless = 0
        self._left: Iterator[Case] = iter(())
        self._waiting: Case | None = None

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.connection.close()
            worker.process.kill()
            worker.process.wait()

    def rows(self, cases: Iterator[Case]) -> Iterator[Row | None]:
        """Rows as they come, in any order; None from time to time where none comes."""
        self._left = cases
        while self._feed() or any(worker.cases for worker in self._workers):
            yield from self._listen()

    def _feed(self) -> bool:
        """Give cases to all that have few; whether there are more."""
        if not self._suspects and self._next() is None:
            return False
        while len(self._workers) < self._count:
            self._workers.append(self._start())
        for worker in self._workers:
            if worker.ready and len(worker.cases) <= self._ahead() // 2:
                worker.give(self._batch(worker))
        return True

    def _next(self) -> Case | None:
        """The next case that no process works on, without taking it."""
        if self._waiting is None:
            self._waiting = next(self._left, None)
        return self._waiting

    def _take(self) -> Case | None:
        taken, self._waiting = self._next(), None
        self._todo -= taken is not None
        return taken

    def _ahead(self) -> int:
        """How many cases a process has before it: fewer towards the end, so that all are done at the same time."""
        first = self._next()
        most = min(MOST_AHEAD, MOST_SENT // max(len(first[1]), 1)) if first else MOST_AHEAD
        most = min(most, self._todo // (2 * self._count))
        return int(max(min(AHEAD / self._seconds, most), 1)) if self._seconds else 1

    def _batch(self, worker: _Worker) -> list[Case]:
        """The next cases of a process; one that has ended a process before is given alone."""
        if self._suspects:
            return [self._suspects.popleft()] if not worker.cases else []
        if any(number in self._ended for number, _ in worker.cases):
            return []
        taken = (self._take() for _ in range(self._ahead()))
        return [case for case in taken if case is not None]

    def _listen(self) -> Iterator[Row | None]:
        busy = {worker.connection: worker for worker in self._workers}
        ready = wait(list(busy), timeout=PATIENCE)
        if not ready:
            yield None
        for connection in ready:
            worker = busy[connection]  # type: ignore[index]
            try:
                row = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._lost(worker)
                continue
            self._fruitless = 0
            if row is None:
                worker.ready = True
                continue
            worker.cases.popleft()
            self._seconds = row["seconds"] if not self._seconds else 0.9 * self._seconds + 0.1 * row["seconds"]
            yield row

    def _lost(self, worker: _Worker) -> Iterator[Row]:
        """A process has ended: the case in its hands is tried again, alone; its other cases go to others."""
        self._workers.remove(worker)
        worker.connection.close()
        words = worker.words()
        if not worker.ready:
            self._fruitless += 1
            if self._fruitless > 2 * self._count:
                raise SolveError(
                    "processes of the study end before they begin", None, got=words, advice=f"read {self._folder / LOG}"
                )
        if not worker.cases:
            return
        number, values = worker.cases.popleft()
        self._ended[number] = self._ended.get(number, 0) + 1
        if self._ended[number] < TRIES:
            self._suspects.append((number, values))
        else:
            yield {"case": number, "ok": False, "status": "worker died", "note": f"its process {words}, {TRIES} times"}
        self._suspects.extend(worker.cases)

    def _start(self) -> _Worker:
        """A fresh process with the task."""
        here, there = Pipe()
        start = [sys.executable, "-X", "faulthandler", "-c", START]
        command = [*start, str(there.fileno()), str(os.getpid()), json.dumps(sys.path)]
        with (self._folder / LOG).open("ab") as log:  # what it says when it dies
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stderr=log, env={**QUIET, **os.environ}, **_with(there.fileno())
            )
        there.close()
        worker = _Worker(process, here)
        with contextlib.suppress(OSError):
            here.send((sys.path, self._data, self._folder))
        return worker


def _with(handle: int) -> dict[str, Any]:
    """How a process is started that has one end of a connection, and ignores Ctrl-C."""
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        listed = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        return {"startupinfo": listed, "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"pass_fds": [handle], "start_new_session": True}


def worker_count(asked: int | None) -> int:
    """How many processes: all cores that this one may use, unless told."""
    return processors() if asked is None else asked
