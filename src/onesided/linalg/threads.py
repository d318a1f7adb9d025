"""Threads of the linear algebra library: for matrices of a few hundred rows, one is faster than two that wait."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Context in which the work with vectors and matrices stays on one thread.

    On a busy machine, threads that wait for each other make a factorisation of 200 rows twenty times slower, and also
    solutions of a few equations with many right-hand sides.
    """
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries() -> Any:
    """The libraries that start threads; looking for them takes a millisecond."""
    return ThreadpoolController()
