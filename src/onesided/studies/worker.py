"""A process that works for a study: it gets cases and returns rows, one at a time, and ends with its parent."""

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection
else:
    from multiprocessing.connection import Connection

LOOK = 1.0  # seconds between looks whether the parent lives


def serve(handle: int, parent: int) -> None:
    """Work until the parent closes the connection or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    with contextlib.suppress(OSError):  # where memory runs out this process goes, not the one that keeps the results
        Path("/proc/self/oom_score_adj").write_text("1000")
    if sys.platform == "win32":  # a process gets no signal there when its parent is gone: it ends when it has answered
        connection = PipeConnection(handle)
    else:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        connection = Connection(handle)
    with contextlib.suppress(EOFError, OSError):
        paths, data, folder = connection.recv()
        sys.path[:] = paths
        task = task_of(data)
        connection.send(None)
        while True:
            for number, values in connection.recv():
                connection.send(task.row(number, values, folder))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


@lru_cache(maxsize=2)
def task_of(data: bytes) -> Any:
    """The task that was sent; its model is compiled once in this process."""
    return pickle.loads(data)


def rows_of(data: bytes, batch: list[tuple[int, dict[str, float]]], folder: Path | None) -> list[dict[str, Any]]:
    """Rows of some cases, for executors that hand out calls."""
    task = task_of(data)
    return [task.row(number, values, folder) for number, values in batch]
