"""How JAX is set up in a process: double precision, immediate dispatch, a cache of compiled code; and forks."""

import os
from functools import cache
from pathlib import Path
from typing import Any

import jax

from onesided.base.caches import compiled_code
from onesided.base.errors import UsageError


def prepare_jax() -> None:
    """Switch on double precision, immediate dispatch and the compilation cache (unless the user chose a folder).

    Handing a tiny computation to another thread takes four times as long as doing it: on the CPU we do it at once.
    """
    config: Any = jax.config
    if not config.jax_enable_x64:
        config.update("jax_enable_x64", True)
    config.update("jax_cpu_enable_async_dispatch", False)
    _watch_forks()
    folder = None if config.jax_compilation_cache_dir else _cache_folder()
    if folder is not None:
        config.update("jax_compilation_cache_dir", str(folder))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@cache
def _cache_folder() -> Path | None:
    """Where compiled code is kept, looked through once in a process."""
    return compiled_code()


class Process:
    """Whether compiled code ran in this process, or in the one that it was forked from."""

    started = False
    forked = False


@cache
def _watch_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_mark_fork)


def _mark_fork() -> None:
    Process.forked = Process.started


def refuse_fork() -> None:
    """The threads of the runtime are not in a forked process: it would wait for them for ever."""
    raise UsageError(
        "this process was forked after compiled code had run: it would wait for ever",
        advice='start processes with multiprocessing.get_context("spawn"), or fork before the first evaluation',
    )


def devices() -> str:
    """What computations run on, in words."""
    try:
        return ", ".join(f"{device.platform} {device.device_kind}" for device in jax.devices())
    except RuntimeError as e:
        return f"none: {e}"
