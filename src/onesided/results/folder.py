"""The folder of a result: a record (JSON) that knows the other files by their digests, arrays, tables.

The record says first what it is: the number of the format, the type of the result. Nothing is believed: sizes are
looked at before memory is taken, and whatever cannot be read is an error that names the file and the reason.
"""

import hashlib
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided.base.errors import UsageError

PAGES = ".html"  # made of a result, by this or a later version; not what it consists of
FORMAT = 2  # since 2: digests, numbers that are not finite as valid JSON
RECORD, ARRAYS = "result.json", "arrays.npz"
TYPES = (
    "path",
    "drive",
    "diagram",
    "motion",
    "complementarity motion",
    "steering",
    "coupled",
    "sensitivity",
    "drive sensitivity",
    "followed",
    "stability map",
    "transitions",
    "design",
    "many paths",
)
MOST_RECORD = 512 * 2**20  # bytes
FREE, SWOLLEN = 256 * 2**20, 200  # arrays larger than the first may be as many times as large as their file
_FIRST = re.compile(r"result\.json|arrays\.npz|(path|motion)\.csv|model\.toml|report\.html|path-\d{3,}")  # of format 1
_OURS, HEAD = b'<meta name="generator" content="onesided">', 1000  # in the first bytes of our pages
_NUMBERS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, NotImplementedError, OSError, RecursionError, RuntimeError,
    TypeError, ValueError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def as_json(value: Any) -> str:
    """Valid JSON of plain data, arrays and enumerations; numbers that are not finite are written as {"number": …}."""
    return json.dumps(_plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": next(name for name, number in _NUMBERS.items() if str(number) == str(value))}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _number(found: dict[str, Any]) -> Any:
    return _NUMBERS.get(str(found["number"]), found) if found.keys() == {"number"} else found


def seal(folder: FilePath, record: Mapping[str, Any]) -> None:
    """Write the record, with the format, the digest of every other file, and its own."""
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
    digests = {name: _digest(file) for name, file in files.items()}
    whole = {"format": FORMAT, **record, "files": digests}
    (folder / RECORD).write_text(as_json({**whole, "digest": text_digest(whole)}), encoding="utf-8")


def _digest(file: FilePath) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def text_digest(record: Mapping[str, Any]) -> str:
    """Digest of a record as it is written."""
    return hashlib.sha256(as_json(record).encode()).hexdigest()


def belongs(folder: FilePath) -> Collection[str]:
    """Names in a folder that belong to the result in it; refuses a folder that holds none."""
    record = read_record(folder)
    if "files" in record:
        return {RECORD, *(str(name).split("/")[0] for name in record["files"]), *_made_later(folder)}
    return [entry.name for entry in folder.iterdir() if _FIRST.fullmatch(entry.name)]


def _made_later(folder: FilePath) -> list[str]:
    """The page that `onesided report` puts beside a result; a page written by another program does not count."""
    page = folder / "report.html"
    if not page.is_file():
        return []
    with page.open("rb") as stream:
        return [page.name] if _OURS in stream.read(HEAD) else []


def read_record(folder: FilePath) -> dict[str, Any]:
    """The record of a folder, if it is one that this version can read."""
    file = folder / RECORD
    if not file.is_file():
        raise UsageError(f"'{folder}' holds no result", got=f"no file '{RECORD}'", expected="a folder of onesided")
    with damage(file):
        if file.stat().st_size > MOST_RECORD:
            raise ValueError(f"{file.stat().st_size} bytes are too many")
        record = json.loads(file.read_text(encoding="utf-8"), object_hook=_number)
        version, kind = record["format"], record["type"]
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise ValueError(f"its format is {version!r}")
    if version > FORMAT:
        raise UsageError(
            f"'{file}' was written by a newer version of onesided",
            got=f"format {version}",
            expected=f"at most {FORMAT}",
            advice="update onesided",
        )
    if kind not in TYPES:
        raise UsageError(f"'{file}' holds no result that is known", got=repr(kind), expected=" or ".join(TYPES))
    return dict(record)


def check_files(folder: FilePath, record: Mapping[str, Any]) -> None:
    """Compare the files of a result with their digests."""
    with damage(folder / RECORD):
        if record["format"] > 1 and not (_as_written(folder, record) or _says_what_was_written(record)):
            raise ValueError("its text is not what was written")
        digests = dict(record.get("files", {}))
        inner = [name for name in digests if "/" in name or "\\" in name or name in {"", ".", ".."}]
        own = [name for name in digests if name not in inner and not name.endswith(PAGES)]
        wrong = [name for name in own if not (folder / name).is_file() or _digest(folder / name) != digests[name]]
    if wrong:
        whole = [name for name in own if name not in wrong]
        raise UsageError(
            f"'{folder / wrong[0]}' is damaged",
            got="not there" if not (folder / wrong[0]).exists() else "not what was written",
            expected="the file that the result was written with",
            advice=f"{', '.join(whole)} can still be read" if whole else "compute the result again",
        )


def _as_written(folder: FilePath, record: Mapping[str, Any]) -> bool:
    """Whether the text of a record is, letter by letter, what its digest was taken of: quick, and true as a rule."""
    text, last = (folder / RECORD).read_text(encoding="utf-8"), f',\n "digest": {json.dumps(record["digest"])}\n}}\n'
    rest = text.removesuffix(last) + "\n}\n"
    return text.endswith(last) and hashlib.sha256(rest.encode()).hexdigest() == record["digest"]


def _says_what_was_written(record: Mapping[str, Any]) -> bool:
    """The same of a text that was laid out anew."""
    return bool(record["digest"] == text_digest({key: value for key, value in record.items() if key != "digest"}))


@contextmanager
def damage(file: FilePath) -> Iterator[None]:
    """Turn whatever goes wrong with a damaged file into an error that names it."""
    try:
        yield
    except UsageError:
        raise
    except _DAMAGE as e:
        words = str(e).splitlines()[0][:200] if str(e) else ""
        reason = f"no {words}" if isinstance(e, KeyError) else words
        raise UsageError(
            f"'{file}' is damaged",
            got=f"{type(e).__name__}: {reason}" if reason else type(e).__name__,
            expected="a file that onesided wrote",
            advice="compute the result again",
        ) from e


def read_arrays(folder: FilePath, names: Iterable[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """Arrays of a result by name; their sizes are known before they are read."""
    return read_npz(folder / ARRAYS, list(names), optional)


def read_npz(file: FilePath, names: Sequence[str] | None = None, optional: Collection[str] = ()) -> dict[str, Any]:
    """Arrays of a file by name, by default all of them; their sizes are known before they are read."""
    with damage(file), zipfile.ZipFile(file) as archive:
        members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        wanted = members if names is None else names
        present = [name for name in wanted if name in members or name not in optional]
        sizes = {name: _size(archive, members[name]) for name in present}
        if sum(sizes.values()) > max(FREE, SWOLLEN * file.stat().st_size):
            raise ValueError(f"{sum(sizes.values())} bytes in a file of {file.stat().st_size}")
    with damage(file), np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in present}


def _size(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """Bytes of an array, by its header."""
    with archive.open(entry) as stream:
        major, _ = np.lib.format.read_magic(stream)
        reader: Callable[..., Any] = getattr(np.lib.format, f"read_array_header_{major}_0")
        shape, _, dtype = reader(stream)
    if dtype.kind not in "fiub" or any(length < 0 for length in shape):
        raise ValueError(f"'{entry.filename}' holds {dtype}")
    return int(math.prod(shape) * dtype.itemsize)


def same_length(arrays: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse arrays along a result that differ in length."""
    lengths = {name: len(arrays[name]) for name in names if name in arrays}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"arrays differ in length: {lengths}")
