"""Files and folders that are there whole or not at all, whatever happens while they are written.

Everything is written beside its target first, under a hidden name that tells who writes, brought to the disk, and put
in place by one step of the file system. What a killed process left behind is removed by the next that writes there.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from onesided.base.interrupt import INTERRUPT

ENDING = ".onesided-draft"
TRIES = 1000  # when other processes write to the same place
_EXCHANGE = 2  # the flag of renameat2 on Linux and of renamex_np on macOS
_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_OPEN: set[Path] = set()  # drafts of this process, for `discard_drafts`
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A draft to write, with the target's own ending; it takes the target's place when the block is left.

    Raises
    ------
    OSError
        Where the draft cannot be written; it names the target, which is then as it was.
    """
    with _draft(target) as folder:
        draft = folder / target.name
        yield draft
        _to_disk(draft)
        os.replace(draft, target)
        _to_disk(target.parent)


@contextmanager
def whole_folder(target: Path, ours: Callable[[Path], Collection[str]]) -> Iterator[Path]:
    """A folder to fill; it takes the target's place when the block is left.

    Parameters
    ----------
    ours : names in an earlier target that belong to what is replaced; everything else in it stays.

    Raises
    ------
    FileExistsError
        Where something that stays has the name of something new.
    """
    with _draft(target) as parent:
        draft = parent / target.name
        draft.mkdir()
        yield draft
        for file in sorted(draft.rglob("*")):
            _to_disk(file)
        _to_disk(draft)
        _put(draft, target, ours)
        _to_disk(target.parent)


def try_to_write(target: Path) -> None:
    """Make and remove a draft where the target will be: what cannot be written is known before the work begins."""
    nearest = next((folder for folder in target.parents if folder.exists()), target.parent)
    with _draft(nearest / target.name) as folder:
        (folder / "trial").write_bytes(b"onesided")
        _to_disk(folder / "trial")


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target that is gone afterwards; errors name the target, not what is in it."""
    _tidy(target.parent)
    folder = target.parent / f".{target.name[:100]}-{_owner()}-{secrets.token_hex(4)}{ENDING}"
    _OPEN.add(folder)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    except OSError as error:
        if error.filename is None or ENDING in str(error.filename):
            error.filename = str(target)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _OPEN.discard(folder)


def discard_drafts() -> None:
    """Remove what this process is writing: it is about to end."""
    for draft in tuple(_OPEN):
        _put_back(draft)
        shutil.rmtree(draft, ignore_errors=True)


INTERRUPT.before_the_end(discard_drafts)


def _owner() -> str:
    return f"{_host()}-{os.getpid()}"


def _host() -> str:
    return re.sub(r"\W", "_", socket.gethostname()) or "host"


def _tidy(folder: Path) -> None:
    """Remove drafts of processes of this machine that are no more."""
    mine = re.compile(rf"-{re.escape(_host())}-(\d+)-[0-9a-f]{{8}}{re.escape(ENDING)}$")
    for draft in folder.glob(f".*{ENDING}"):
        found = mine.search(draft.name)
        if found and not _lives(int(found.group(1))):
            _put_back(draft)
            shutil.rmtree(draft, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _put(draft: Path, target: Path, ours: Callable[[Path], Collection[str]]) -> None:
    """Put a folder in the place of another, or in an empty place; what is not replaced is taken along before."""
    for _ in range(TRIES):
        try:
            if not target.exists():
                os.rename(draft, target)
                return
            taken = _take_along(target, draft, ours(target))
            _exchange(draft, target)
        except OSError as e:
            if e.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT} or isinstance(e, _OccupiedError):
                raise  # otherwise another process was faster: look again
            continue
        _take_along(draft, target, {*ours(draft), *taken})  # what another process put there in the meantime
        return
    raise OSError(errno.EBUSY, "other processes write there without end", str(target))


class _OccupiedError(FileExistsError):
    """Something that stays has the name of something new."""


def _take_along(old: Path, new: Path, ours: Collection[str]) -> list[str]:
    """Everything of the old folder that is not ours, into the new one as well."""
    others = [entry for entry in old.iterdir() if entry.name not in ours]
    for entry in others:
        place = new / entry.name
        if place.exists() or place.is_symlink():
            raise _OccupiedError(
                errno.EEXIST, "a file of yours has the name of a file of the result", str(old / entry.name)
            )
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, place, symlinks=True, copy_function=_share)
        else:
            _share(entry, place)
    return [entry.name for entry in others]


def _share(file: str | Path, place: str | Path) -> None:
    """A second name for a file, or a copy where the file system has no such names."""
    try:
        os.link(file, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(file, place, follow_symlinks=False)


def _exchange(draft: Path, target: Path) -> None:
    """Both names change places: in one step where the system can, by way of a third name where it cannot."""
    if _exchanged(draft, target):
        return
    aside = draft.with_name(f"{draft.name}.{secrets.token_hex(4)}.before")
    os.rename(target, aside)
    try:
        os.rename(draft, target)
    except OSError:
        with suppress(OSError):  # another process was faster: what is aside is replaced anyway
            os.rename(aside, target)
        raise
    os.rename(aside, draft)


def _put_back(draft: Path) -> None:
    """The folder that a killed process had set aside, where nothing has taken its place."""
    for aside in draft.glob("*.before"):
        target = draft.parent / aside.name.rsplit(".", 2)[0]
        if not target.exists():
            os.rename(aside, target)


def _exchanged(first: Path, second: Path) -> bool:
    """Whether the system has exchanged two names; False where it cannot."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(os.fsencode(first), os.fsencode(second), _EXCHANGE)
        else:
            failed = library.renameat2(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE)
    except (AttributeError, OSError, TypeError):
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(second))


def _to_disk(file: Path) -> None:
    """Wait until the disk has it: a name must not point to what is lost when the power fails."""
    if file.is_symlink():
        return
    try:
        handle = os.open(file, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as e:
        if e.errno not in _CANNOT:
            raise
    finally:
        os.close(handle)
