"""Rows of a study on disk: chunks that are there whole or not at all, joined as they become many.

A chunk is a file `rows-A-B-DIGEST.parquet` that stands for the chunks numbered A to B. Its name carries the digest of
all its bytes, which is checked whenever it is read; chunks of earlier versions have none. Chunks are only added;
several are joined by writing the whole and removing its parts afterwards, so that whatever is killed leaves every row
at least once. Of several rows of one case the last counts.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.base.types import Indices
from onesided.results.folder import damage

ROWS, CASE = "rows", "case"
TEXTS = ("status", "note", "first_event", "instability_kind")
TRUTHS = ("ok", "complete", "stable")
LISTS = {"event_kinds": "text", "event_at": "number", "event_names": "text", "event_before": "number",
         "event_after": "number"}  # fmt: skip
OWN = frozenset({CASE, "seconds", *TEXTS, *TRUTHS, *LISTS})  # names whose meaning is fixed
MOST_PARTS = 16  # chunks of one size before they are joined
TRIES = 20  # when a reader meets a writer that joins chunks
_NAME = re.compile(r"rows-(\d+)-(\d+)(?:-([0-9a-f]{64}))?\.parquet")


class Chunk(NamedTuple):
    """A file of rows, the first and last chunk it stands for, and the digest in its name, if there is one."""

    first: int
    last: int
    file: FilePath
    digest: str | None

    @property
    def span(self) -> int:
        """How many chunks it was."""
        return self.last - self.first + 1


def arrow() -> Any:
    """The package pyarrow with its reader of parquet files."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise UsageError("a study needs pyarrow", advice="pip install 'onesided[study]'") from None
    return pa


def chunks(folder: FilePath) -> list[Chunk]:
    """The chunks of a study in their order; those that a joined one contains are left out."""
    files = [(_NAME.fullmatch(file.name), file) for file in (folder / ROWS).glob("rows-*.parquet")]
    found = [Chunk(int(match[1]), int(match[2]), file, match[3]) for match, file in files if match]
    kept: list[Chunk] = []
    for chunk in sorted(found, key=lambda one: (one.first, -one.last)):
        if not kept or chunk.last > kept[-1].last:
            kept.append(chunk)
    return kept


def append_rows(folder: FilePath, rows: Sequence[dict[str, Any]]) -> None:
    """Write one more chunk; where there are many of one size they are joined."""
    present = chunks(folder)
    number = present[-1].last + 1 if present else 0
    _join(folder, [*present, _write(folder, number, number, _table(rows))])


def _write(folder: FilePath, first: int, last: int, table: Any) -> Chunk:
    pa = arrow()
    stream = pa.BufferOutputStream()
    pa.parquet.write_table(table, stream, compression="zstd")
    content = stream.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    (folder / ROWS).mkdir(exist_ok=True)
    file = folder / ROWS / f"rows-{first:08d}-{last:08d}-{digest}.parquet"
    with whole_file(file) as draft:
        draft.write_bytes(content)
    return Chunk(first, last, file, digest)


def _join(folder: FilePath, present: list[Chunk]) -> None:
    """Join the last chunks where enough of them have one size; the parts go when the whole is there."""
    tail = [chunk for chunk in present if chunk.span == present[-1].span]
    if len(tail) < MOST_PARTS or present[-len(tail) :] != tail:
        return
    first, last = tail[0].first, tail[-1].last
    _write(folder, first, last, _latest(_read(tail)))
    clear_joined(folder)
    _join(folder, chunks(folder))


def clear_joined(folder: FilePath) -> None:
    """Remove chunks whose rows are in a joined one: a killed process may have left them."""
    kept = {chunk.file for chunk in chunks(folder)}
    for file in (folder / ROWS).glob("rows-*.parquet"):
        if file not in kept:
            file.unlink(missing_ok=True)


def read_rows(folder: FilePath, columns: Sequence[str] | None = None) -> Any:
    """All rows as a table of Arrow, one per case, in the order of the cases; also while a study runs."""
    for _ in range(TRIES):
        present = chunks(folder)
        try:
            return _latest(_read(present, columns))
        except FileNotFoundError:  # a writer has joined chunks: look again
            continue
    raise UsageError(f"'{folder}' changes faster than it can be read", advice="try again")


def done_cases(folder: FilePath) -> Indices:
    """Numbers of the cases that have a row."""
    return np.asarray(read_rows(folder, [CASE])[CASE], dtype=np.int64)


def _read(parts: Iterable[Chunk], columns: Sequence[str] | None = None) -> Any:
    tables = [_one(part, columns) for part in parts]
    return arrow().concat_tables(tables, promote_options="permissive") if tables else _table([])


def _one(part: Chunk, columns: Sequence[str] | None) -> Any:
    """One chunk, or those of some columns that it has; a file that is gone is no damage."""
    try:
        content = part.file.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as unreadable:
        with damage(part.file):
            raise unreadable from None
    with damage(part.file):
        if part.digest is not None and hashlib.sha256(content).hexdigest() != part.digest:
            raise ValueError("its digest is not the one in its name")
        chunk = arrow().parquet.ParquetFile(arrow().BufferReader(content), page_checksum_verification=True)
        names = chunk.schema_arrow.names
        return chunk.read(columns=names if columns is None else [name for name in columns if name in names])


def _latest(table: Any) -> Any:
    """The last row of every case."""
    numbers = np.asarray(table[CASE], dtype=np.int64)
    _, last = np.unique(numbers[::-1], return_index=True)
    return table.take(len(numbers) - 1 - last)


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as a table: numbers, unless their name says otherwise."""
    pa = arrow()
    names = dict.fromkeys([CASE, "ok", "status", "note", *(name for row in rows for name in row)])
    kinds = {"number": pa.float64(), "text": pa.string()}

    def kind(name: str) -> Any:
        if name == CASE:
            return pa.int64()
        if name in LISTS:
            return pa.list_(kinds[LISTS[name]])
        return pa.string() if name in TEXTS else pa.bool_() if name in TRUTHS else pa.float64()

    return pa.table({name: pa.array([row.get(name) for row in rows], type=kind(name)) for name in names})
