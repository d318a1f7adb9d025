"""Compilation: how JAX is set up, and `jax.jit` with options that shorten it where this version knows them."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import jax

ONE_PIECE = {"inlineable": "false", "xla_cpu_small_call": "true"}
OPTIONS = {"xla_cpu_use_fusion_emitters": False}  # a quarter less time to compile, the same speed afterwards


def prepare_jax() -> None:
    """Switch on double precision, immediate dispatch and the compilation cache (unless the user chose a folder).

    Handing a tiny computation to another thread takes four times as long as doing it: on the CPU we do it at once.
    """
    config: Any = jax.config
    if not config.jax_enable_x64:
        config.update("jax_enable_x64", True)
    config.update("jax_cpu_enable_async_dispatch", False)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onesided" / "jax"
    if not config.jax_compilation_cache_dir and _writable(folder):
        config.update("jax_compilation_cache_dir", str(folder))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def _writable(folder: Path) -> bool:
    """Whether the cache can be used: a home that cannot be written to is no reason to complain."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The compiled function; `options` as for `jax.jit`."""
    made: Callable[..., Any] = jax.jit(function, compiler_options=_known_options(), **options)
    return made


def in_one_piece(function: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled function, its loops as plain machine code where the compiler can: for loops over tiny arrays.

    Otherwise every operation is handed over to the runtime by itself, which takes longer than the operation. This is
    how the compiler treats its own smallest loops; it cannot for what calls other libraries (factorisations).
    """
    from jax.experimental.xla_metadata import set_xla_metadata

    inner, mark = jax.jit(function), cast(Any, set_xla_metadata)

    def whole(*arguments: Any) -> Any:
        return mark(inner(*arguments), **ONE_PIECE)

    return _FirstThatCompiles([compiled(whole), compiled(function)])


class _FirstThatCompiles:
    """A function compiled in one of several ways; the first call finds out which."""

    def __init__(self, ways: list[Callable[..., Any]]) -> None:
        self._ways = ways

    def __call__(self, *arguments: Any) -> Any:
        while len(self._ways) > 1:
            try:
                made = self._ways[0](*arguments)
            except jax.errors.JaxRuntimeError:
                del self._ways[0]
            else:
                del self._ways[1:]
                return made
        return self._ways[0](*arguments)


@cache
def _known_options() -> dict[str, Any] | None:
    """The options, or none where the compiler refuses them."""
    try:
        jax.jit(abs, compiler_options=OPTIONS).lower(0.0).compile()
    except jax.errors.JaxRuntimeError:
        return None
    return OPTIONS
