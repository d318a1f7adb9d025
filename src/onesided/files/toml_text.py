"""The text of a model file: read, decoded and parsed as TOML within limits, with errors that name line and column."""

import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from onesided.base.errors import FilePlace, ModelFileError
from onesided.files.schema import shown
from onesided.files.toml_places import Source, has_long_key

MAX_BYTES = 128 * 1024
MAX_DEPTH = 5


def read_text(path: Path, name: str) -> bytes:
    """The bytes of a regular file that is not too large; `name` is what errors call it."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise ModelFileError("this is a folder", place=name, expected="a model file (TOML)")
        if not stat.S_ISREG(mode):
            raise ModelFileError("this is not a regular file", place=name, expected="a model file (TOML)")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ModelFileError("there is no such file", place=name, advice="check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelFileError("the file cannot be read", place=name, got=reason) from error
    if len(data) > MAX_BYTES:
        raise too_large(name)
    return data


def too_large(name: str) -> ModelFileError:
    """The error for a text above `MAX_BYTES`."""
    return ModelFileError("the model file is too large", place=name, expected=f"{MAX_BYTES} bytes at most")


def decode(data: bytes, name: str) -> str:
    """The text in UTF-8, with or without a mark at its beginning."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelFileError(
            "the file is not text in UTF-8",
            place=f"{name}, line {line}",
            got=f"byte 0x{data[error.start]:02x}",
        ) from None


def parse(source: Source) -> dict[str, Any]:
    """The tables of a text, not nested deeper than `MAX_DEPTH`."""
    if has_long_key(source.text):
        raise ModelFileError("a key has too many dotted parts", place=source.name, expected="table.key")
    try:
        data = tomllib.loads(source.text)
    except RecursionError:
        raise ModelFileError("the TOML is nested too deep", place=source.name) from None
    except ValueError as error:  # TOMLDecodeError, and integers of too many digits
        raise _toml_error(source, str(error)) from None
    if path := _too_deep(data):
        raise source.error(path, f"tables or arrays are nested deeper than {MAX_DEPTH}")
    return data


def _toml_error(source: Source, message: str) -> ModelFileError:
    """Turn tomllib's message into one with the place in front and the line shown."""
    match = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if not match:
        what = "a number has too many digits" if "digits" in message else message
        return ModelFileError(f"not valid TOML: {what}", place=source.name)
    line, column = int(match[1]), int(match[2])
    return ModelFileError(
        f"not valid TOML: {message[: match.start()]}",
        place=FilePlace.at(f"{source.name}, line {line}, column {column}", (line, column)),
        got=shown(source.text.split("\n")[line - 1].strip()),
    )


def _too_deep(data: dict[str, Any]) -> tuple[str, ...]:
    """Return the path of the first value nested too deep, or an empty path."""
    pending: list[tuple[tuple[str, ...], int, Any]] = [((), 0, data)]
    while pending:
        path, depth, value = pending.pop()
        if depth > MAX_DEPTH:
            return path
        if isinstance(value, dict):
            pending.extend(((*path, key), depth + 1, inner) for key, inner in value.items())
        elif isinstance(value, list):
            pending.extend((path, depth + 1, inner) for inner in value)
    return ()
