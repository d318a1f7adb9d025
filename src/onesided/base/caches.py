"""Compiled code that is kept between processes: private, bounded, and checked before it is used.

The compiler reads an entry back as it lies there: one that a full disk or a killed process left by half would give a
warning for ever, since it is never written again. Entries that changed since the last look are therefore read once
when a process begins, and those that are damaged are removed.
"""

import os
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from onesided.base.log import LOG

BOUND = 256 * 2**20  # bytes; the entries that were not written for the longest time go first
ROOM = 0.8  # of the bound is kept when it is exceeded
STAMP = ".looked-at"
CLOCKS = 2.0  # seconds by which the clocks of a file system may differ
ZSTANDARD = b"\x28\xb5\x2f\xfd"


class CacheEntry(NamedTuple):
    """One file of the cache."""

    path: Path
    size: int
    changed: float


def cache_root() -> Path:
    """Where caches of this user lie."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onesided"


def compiled_code() -> Path | None:
    """The folder for compiled code, with nothing damaged in it; None where a private one cannot be had."""
    try:
        folder = cache_root() / "jax"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_private(folder):
            return None
        _sweep(folder)
    except (OSError, RuntimeError):  # no home, no room, no permission
        return None
    return folder


def _is_private(folder: Path) -> bool:
    """Whether no other user can put code there that we would run; a folder of ours that is open is closed."""
    if not hasattr(os, "getuid"):
        return os.access(folder, os.W_OK)
    facts = folder.stat()
    if facts.st_uid != os.getuid():
        return False
    if stat.S_IMODE(facts.st_mode) != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)
    return os.access(folder, os.W_OK)


def _sweep(folder: Path) -> None:
    """Remove what is damaged, and what is too much."""
    begun, seen = time.time(), _last_look(folder)
    kept = []
    for entry in entries(folder):
        if entry.changed >= seen and not _is_whole(entry.path):
            LOG.info("compiled code that was damaged is removed: %s", entry.path.name)
            _remove(entry.path)
        else:
            kept.append(entry)
    if sum(entry.size for entry in kept) > BOUND:
        _shrink(kept)
    stamp = folder / STAMP
    stamp.touch(mode=0o600)
    os.utime(stamp, (begun, begun))


def _last_look(folder: Path) -> float:
    try:
        return (folder / STAMP).stat().st_mtime - CLOCKS
    except OSError:
        return 0.0


def entries(folder: Path) -> Iterator[CacheEntry]:
    """The files of the cache; those of others that vanish meanwhile are left out."""
    with os.scandir(folder) as found:
        for file in found:
            with suppress(OSError):
                if file.name != STAMP and file.is_file(follow_symlinks=False):
                    facts = file.stat(follow_symlinks=False)
                    yield CacheEntry(Path(file.path), facts.st_size, max(facts.st_mtime, facts.st_ctime))


def _is_whole(path: Path) -> bool:
    """Whether an entry can be unpacked; a packing that we cannot read is left to the compiler."""
    try:
        data = path.read_bytes()
        if not data.startswith(ZSTANDARD):
            zlib.decompress(data)
    except (OSError, zlib.error):
        return False
    return True


def _shrink(kept: list[CacheEntry]) -> None:
    room = ROOM * BOUND
    for entry in sorted(kept, key=lambda entry: -entry.changed):
        room -= entry.size
        if room < 0:
            _remove(entry.path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def clear() -> int:
    """Remove all compiled code that is kept; returns the number of bytes."""
    folder, freed = cache_root() / "jax", 0
    if folder.is_dir():
        for entry in tuple(entries(folder)):
            _remove(entry.path)
            freed += entry.size
    return freed
