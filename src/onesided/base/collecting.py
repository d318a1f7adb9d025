"""Garbage collection held back while very many objects are made that stay: modules and traced functions.

Python looks through all objects again and again while their number grows, and finds nothing to free: a fifth of the
time of a first call.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 20_000  # objects made inside a block that are worth putting among the old ones at once


class _Held:
    """How many blocks hold collection back, in all threads, and whether it was on before the first.

    Others may set objects `aside` for good: once that is known they are not counted again, which may take long.
    """

    lock = threading.Lock()
    blocks = 0
    before = False
    aside = False


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
                _count_as_old()
                gc.enable()


def _count_as_old() -> None:
    """Put what was made among the old objects, without looking through it first as one that may be short-lived.

    Setting all aside and taking it back does so; where others have set objects aside they stay there.
    """
    if _Held.aside or gc.get_count()[0] <= MANY:
        return
    _Held.aside = gc.get_freeze_count() > 0
    if not _Held.aside:
        gc.freeze()
        gc.unfreeze()
