"""Garbage collection held back while very many objects are made that stay: modules and traced functions.

Python looks through all objects again and again while their number grows, and finds nothing to free: a fifth of the
time of a first call.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Held:
    """How many blocks hold collection back, in all threads, and whether it was on before the first."""

    lock = threading.Lock()
    blocks = 0
    before = False


@contextmanager
def collection_held_back() -> Iterator[None]:
    """No search for garbage inside the block; what was put aside by others stays there."""
    with _Held.lock:
        if _Held.blocks == 0:
            _Held.before = gc.isenabled()
            gc.disable()
        _Held.blocks += 1
    try:
        yield
    finally:
        with _Held.lock:
            _Held.blocks -= 1
            if _Held.blocks == 0 and _Held.before:
                gc.enable()
