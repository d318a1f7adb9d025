"""Threads of the linear algebra library: for matrices of a few hundred rows, one is faster than two that wait."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

SMALL = 32  # below this size the library does not start threads anyway


def one_thread(size: int) -> AbstractContextManager[Any]:
    """Context in which work with vectors and matrices of `size` rows stays on one thread.

    On a busy machine, threads that wait for each other make a factorisation of 200 rows twenty times slower.
    """
    if size <= SMALL:
        return nullcontext()
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries() -> Any:
    """The libraries that start threads; looking for them takes a millisecond."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
