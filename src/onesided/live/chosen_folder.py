"""The one folder that a live page may write to: plain names in it, never through links, never over a file unasked."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onesided.base.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+()-]{0,99}")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # names that Windows keeps for itself


class OccupiedNameError(UsageError):
    """There is a file of this name; it is replaced where that is asked for."""


@dataclass(frozen=True)
class ChosenFolder:
    """A folder whose real place was looked up once."""

    place: Path

    @classmethod
    def at(cls, folder: str | os.PathLike[str]) -> "ChosenFolder":
        """The folder itself, links resolved."""
        place = Path(folder).resolve()
        if not place.is_dir():
            raise UsageError("this is not a folder", got=str(folder), expected="a folder that exists")
        return cls(place)

    def target(self, name: str, endings: tuple[str, ...], *, replace: bool) -> Path:
        """The path of a file to be written, refused unless it is a plain name with one of the endings."""
        if not _NAME.fullmatch(name) or _DEVICES.fullmatch(name) or name.endswith((" ", ".")):
            raise UsageError("this is not a plain name of a file", got=repr(name), expected="letters, digits, - _ .")
        if not name.lower().endswith(endings):
            raise UsageError("the name has another ending", got=repr(name), expected=" or ".join(endings))
        target = self.place / name
        if self.place.resolve() != self.place or target.is_symlink() or (target.exists() and not target.is_file()):
            raise UsageError("this is a link or no file: it is left alone", got=repr(name))
        if target.exists() and not replace:
            raise OccupiedNameError(
                "there is a file of this name", got=repr(name), advice="replace it, or another name"
            )
        return target

    def write(
        self, name: str, endings: tuple[str, ...], writing: Callable[[Path], object], *, replace: bool
    ) -> Path:  # fmt: skip
        """Let a file be written by what is given; the name is looked at before and is what was asked for."""
        target = self.target(name, endings, replace=replace)
        writing(target)
        return target
