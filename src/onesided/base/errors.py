"""Exceptions. Every message says what is wrong, what was got, what was expected, and what to try."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from onesided.base.types import Status


def visible(text: str) -> str:
    r"""Text from a stranger without what a terminal or a page would obey: control characters are shown as \x1b."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


class OnesidedError(Exception):
    """Base of all errors raised on purpose.

    Parameters
    ----------
    what : str
        The fact, as one sentence without full stop.
    got, expected, advice : str
        What was found, what would have been right, and what to do about it. Empty parts are left out.
    """

    def __init__(self, what: str, *, got: str = "", expected: str = "", advice: str = "") -> None:
        what, got, expected, advice = (visible(part) for part in (what, got, expected, advice))
        self.what, self.got, self.expected, self.advice = what, got, expected, advice
        parts = [what, got and f"got {got}", expected and f"expected {expected}", advice and f"try: {advice}"]
        super().__init__("; ".join(part for part in parts if part))

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel between processes as they are, whatever their constructors ask for."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[OnesidedError], args: tuple[Any, ...], values: dict[str, Any]) -> OnesidedError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(values)
    return error


class ModelError(OnesidedError):
    """A model is stated wrongly: names, shapes, values. `about` is the name of the part that is wrong, if it is one."""

    def __init__(self, what: str, *, about: str = "", got: str = "", expected: str = "", advice: str = "") -> None:
        super().__init__(what, got=got, expected=expected, advice=advice)
        self.about = about


class FilePlace(str):
    """A place in a file in words, which also knows its line and column, both from 1."""

    spot: tuple[int, int] | None = None

    @classmethod
    def at(cls, words: str, spot: tuple[int, int] | None) -> "FilePlace":
        """The words together with line and column, where they are known."""
        place = cls(words)
        place.spot = spot
        return place


class ModelFileError(ModelError):
    """A model file cannot be read; carries the place in the file."""

    def __init__(self, what: str, *, place: str = "", got: str = "", expected: str = "", advice: str = "") -> None:
        super().__init__(what, got=got, expected=expected, advice=advice)
        self.place = place

    @property
    def spot(self) -> tuple[int, int] | None:
        """Line and column in the file, both from 1; None where they are not known."""
        return self.place.spot if isinstance(self.place, FilePlace) else None

    def __str__(self) -> str:
        return f"{self.place}: {super().__str__()}" if self.place else super().__str__()


class UsageError(OnesidedError):
    """A verb was called with arguments that make no sense together."""


class SolveError(OnesidedError):
    """A numerical verb did not reach its goal; `partial` holds what was achieved."""

    def __init__(self, what: str, partial: Any, *, got: str = "", advice: str = "") -> None:
        super().__init__(what, got=got, advice=advice)
        self.partial = partial


@contextmanager
def passed_on() -> Iterator[None]:
    """Within work made of several verbs: a `SolveError` that stands for Ctrl-C is raised as Ctrl-C again."""
    try:
        yield
    except SolveError as error:
        if getattr(error.partial, "status", None) is Status.interrupted:
            raise KeyboardInterrupt from None
        raise
