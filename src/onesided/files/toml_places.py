"""Where the keys of a TOML text stand: `tomllib` reads values but reports no places.

The walk expects text that `tomllib` has accepted. It records the place of every table header, key and value,
including dotted keys and inline tables. Where it meets something it does not follow (arrays of tables,
escapes in quoted keys), it records nothing: a place is right or absent.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from onesided.base.errors import FilePlace, ModelFileError
from onesided.formulas.gate import FormulaError

Path = tuple[str, ...]

_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_PART = re.compile(r"([A-Za-z0-9_-]+)|\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_PLAIN = re.compile(r"[^\s,\[\]{}#\"'=]+(?: \d[^\s,\[\]{}#\"'=]*)?")
# These two see text before tomllib does: possessive, and closing quotes optional, so that no text makes them slow.
_LONG_KEY = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){16}", re.ASCII)
_QUOTED_PART = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?")


class KeyPlace(NamedTuple):
    """Offsets in the text: of the key, and of the first and one past the last character of its value."""

    key: int
    value: int
    end: int


class _LostError(Exception):
    """The walk met something it does not follow."""


@dataclass(frozen=True)
class Source:
    """A model file as text, able to say where in it something is wrong.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    text : str
        Its text, with plain line feeds.
    """

    name: str
    text: str

    @cached_property
    def places(self) -> Mapping[Path, KeyPlace]:
        """Places of the keys; worked out only when an error needs them."""
        return find_places(self.text)

    def error(self, path: Path, what: str, *, got: str = "", expected: str = "", advice: str = "") -> ModelFileError:
        """Return an error at a key, or at the innermost table around it that can be found."""
        known = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in self.places), ())
        where = self._place(path, self.places[known].key if known else None)
        return ModelFileError(what, place=where, got=got, expected=expected, advice=advice)

    def formula_error(self, path: Path, error: FormulaError) -> FormulaError:
        """Return the error of a formula with its place in the file."""
        place = self.places.get(path)
        if place is None:
            return error.at(self._place(path, None))
        inside = string_offset(self.text, place, error.offset)
        return error.at(self._place(path, place.key if inside is None else inside))

    def _place(self, path: Path, offset: int | None) -> FilePlace:
        key = [".".join("".join(c if c.isprintable() else "?" for c in part[:64]) for part in path)] if path else []
        spot = None if offset is None else line_and_column(self.text, offset)
        where = [] if spot is None else ["line {}, column {}".format(*spot)]
        return FilePlace.at(", ".join([self.name, *key, *where]), spot)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of a character of `text`."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def has_long_key(text: str) -> bool:
    """Whether some key has more than sixteen dotted parts, on which `tomllib` takes quadratic time."""
    return _LONG_KEY.search(_QUOTED_PART.sub("q", text)) is not None


def find_places(text: str) -> Mapping[Path, KeyPlace]:
    """Return the place of every key that can be located for certain, by its path of table and key names."""
    places: dict[Path, KeyPlace] = {}
    try:
        _walk(text, places)
    except (_LostError, RecursionError):
        return {}
    return places


def string_offset(text: str, place: KeyPlace, offset: int) -> int | None:
    """Return where character `offset` of a string value stands in `text`; None when escapes blur it."""
    raw = text[place.value : place.end]
    width = 3 if raw[:3] in ('"""', "'''") else 1
    inner = raw[width:-width]
    if raw[:1] not in ('"', "'") or (raw[0] == '"' and "\\" in inner):
        return None
    newline = 1 if width == 3 and inner.startswith("\n") else 0
    return place.value + width + newline + offset


def _walk(text: str, places: dict[Path, KeyPlace]) -> None:
    table: Path | None = ()
    at = _skip(_SPACE, text, 0)
    while at < len(text):
        if text.startswith("[[", at):
            table, at = None, text.find("\n", at)
            at = len(text) if at < 0 else at
        elif text[at] == "[":
            table, end = _key(text, _skip(_BLANK, text, at + 1))
            end = _expect(text, end, "]")
            for n in range(1, len(table)):  # tables that are never written out
                places.setdefault(table[:n], KeyPlace(at, at, end))
            places[table], at = KeyPlace(at, at, end), end
        else:
            at = _pair(text, at, table, places)
        at = _skip(_SPACE, text, at)


def _pair(text: str, at: int, table: Path | None, places: dict[Path, KeyPlace]) -> int:
    """Record one `key = value` and return the offset behind it."""
    keys, end = _key(text, at)
    start = _skip(_BLANK, text, _expect(text, end, "="))
    path = None if table is None else table + keys
    stop = _inline_table(text, start, path, places) if text[start : start + 1] == "{" else _value(text, start)
    if path is not None:
        places[path] = KeyPlace(at, start, stop)
    return stop


def _inline_table(text: str, at: int, path: Path | None, places: dict[Path, KeyPlace]) -> int:
    at = _skip(_BLANK, text, at + 1)
    while text[at : at + 1] != "}":
        at = _skip(_BLANK, text, _pair(text, at, path, places))
        if text[at : at + 1] == ",":
            at = _skip(_BLANK, text, at + 1)
        elif text[at : at + 1] != "}":
            raise _LostError
    return at + 1


def _value(text: str, at: int) -> int:
    """Return the offset behind a string, a plain value or an array (tables inside it are passed over)."""
    depth = 0
    while True:
        if match := _STRING.match(text, at):
            at = match.end()
        elif text[at : at + 1] in ("[", "{"):
            depth, at = depth + 1, at + 1
        elif text[at : at + 1] in ("]", "}") and depth:
            depth, at = depth - 1, at + 1
        elif text[at : at + 1] in (",", "=") and depth:
            at += 1
        elif match := _PLAIN.match(text, at):
            at = match.end()
        else:
            raise _LostError
        if depth == 0:
            return at
        at = _skip(_SPACE, text, at)


def _key(text: str, at: int) -> tuple[Path, int]:
    parts: list[str] = []
    while match := _PART.match(text, at):
        bare, basic, literal = match.groups()
        if basic is not None and "\\" in basic:
            raise _LostError
        parts.append(next(part for part in (bare, basic, literal) if part is not None))
        end = _skip(_BLANK, text, match.end())
        if text[end : end + 1] != ".":
            return tuple(parts), match.end()
        at = _skip(_BLANK, text, end + 1)
    raise _LostError


def _expect(text: str, at: int, mark: str) -> int:
    at = _skip(_BLANK, text, at)
    if text[at : at + 1] != mark:
        raise _LostError
    return at + 1


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
