"""Threads of the linear algebra library: for matrices of a few hundred rows, one is faster than two that wait."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

SMALL = 32  # below this size the library does not start threads anyway


def one_thread(size: int) -> AbstractContextManager[Any]:
    """Context in which dense factorisations of `size` rows stay on one thread.

    On a busy machine, threads that wait for each other make a factorisation of 200 rows twenty times slower.
    """
    if size <= SMALL:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits
