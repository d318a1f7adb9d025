"""A study as it lies in its folder: cases, rows, events, tables for pandas and xarray, quantiles."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.base.arguments import checked
from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.base.names import nearest
from onesided.base.types import Indices, Status
from onesided.results.flat_tables import put_csv
from onesided.results.folder import as_json, damage, text_digest
from onesided.results.quantiles import Quantile, quantile
from onesided.results.store import load_result
from onesided.results.study_cases import Cases, read_cases
from onesided.results.study_rows import CASE, LISTS, TEXTS, TRUTHS, arrow, read_rows

STUDY, KEPT = "study.json", "results"
FORMAT = 2  # since 2: a digest of the statement
REACHED = (Status.bound_reached.name, Status.finished.name)  # all that was asked for was looked at
INDEPENDENT = "random"  # the one way to draw a sample whose members are independent


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """A study in its folder, read when asked: what is there is what is done, also while it runs.

    Attributes
    ----------
    folder : where it is.
    cases : what is varied;  statement : task, model, version and seed, as the folder states them.
    status : how the run that returned it ended: `finished`, `enough` (a limit was given), `interrupted`.
    done_by : what that run did side by side, and what one by one; empty where all was one by one.
    """

    folder: FilePath
    cases: Cases
    statement: Mapping[str, Any]
    status: Status = Status.finished
    done_by: str = ""

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def provenance(self) -> Mapping[str, Any]:
        """The statement, as other results call it; with the labels of the model."""
        return self.statement

    def __repr__(self) -> str:
        counts = self.counts()
        tail = f"; {self.done_by}" if self.done_by else ""
        return f"<Study: {counts['done']} of {len(self)} cases, {counts['failed']} failed, in '{self.folder}'{tail}>"

    def counts(self) -> dict[str, int]:
        """Numbers of all cases, of those that are done, and of those of them that failed."""
        ok = np.asarray(read_rows(self.folder, [CASE, "ok"])["ok"], dtype=bool)
        return {"cases": len(self), "done": len(ok), "failed": int(np.sum(~ok))}

    @property
    def complete(self) -> bool:
        """Whether every case is done, well or not."""
        return self.counts()["done"] == len(self)

    def to_arrow(self) -> Any:
        """One row per case that is done: its number, its values, what was kept; a table of Arrow."""
        rows = read_rows(self.folder)
        for place, (name, values) in enumerate(self.cases.columns(rows[CASE].to_numpy()).items(), 1):
            rows = rows.add_column(place, name, arrow().array(values))
        return rows

    def to_pandas(self) -> Any:
        """The same as a DataFrame with the number of the case as index; lists of events are left out."""
        try:
            import pandas as pd
        except ImportError:
            raise UsageError("pandas is not installed", advice="pip install 'onesided[study]'") from None
        return pd.DataFrame(self.to_dict()).set_index(CASE)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The same as columns: name → (N,), a row per case that is done."""
        rows = self.to_arrow()
        return {name: _column(rows[name], name) for name in rows.column_names if name not in LISTS}

    def to_xarray(self) -> Any:
        """A Dataset over the axes of the grid, and "sample"; NaN where a case is not done."""
        try:
            import xarray as xr
        except ImportError:
            raise UsageError("xarray is not installed", advice="pip install 'onesided[study]'") from None
        dimensions, table = self.cases.dimensions, self.to_dict()
        found = {
            name: (dimensions, self._spread(table[CASE], values))
            for name, values in table.items()
            if name not in {CASE, *self.cases.names}
        }
        drawn = {name: (dimensions[:1], values) for name, values in self.cases.sample.items()}
        return xr.Dataset(found, coords={**self.cases.axes, **drawn}, attrs={"folder": str(self.folder)})

    def _spread(self, cases: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """Values of some cases over the grid, with gaps where nothing is known."""
        blank: Any = "" if values.dtype == object else np.nan
        kind = values.dtype if values.dtype == object else np.float64
        whole = np.full(len(self), blank, dtype=kind)
        whole[cases] = values
        return whole.reshape(self.cases.shape)

    def grid(self, name: str) -> NDArray[Any]:
        """One column over the dimensions of the study, `cases.shape`; NaN, or empty text, where nothing is known."""
        return self._spread(*self.together(CASE, name))

    def to_csv(self, file: str | PathLike[str]) -> FilePath:
        """Write the table as comma-separated values, with all digits."""
        with whole_file(FilePath(file)) as draft:
            put_csv(self.to_dict(), draft)
        return FilePath(file)

    def to_parquet(self, file: str | PathLike[str]) -> FilePath:
        """Write the whole table, events included, as one parquet file."""
        with whole_file(FilePath(file)) as draft:
            arrow().parquet.write_table(self.to_arrow(), draft)
        return FilePath(file)

    def keys(self) -> tuple[str, ...]:
        """Names of all columns of the table."""
        return (CASE, *self.cases.names, *(name for name in read_rows(self.folder).column_names if name != CASE))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """One column, a value per case that is done."""
        return self.together(name)[0]

    def together(self, *names: str) -> list[NDArray[Any]]:
        """Some columns, read at once: of the same cases, also while the study runs and has more at every look."""
        rows = read_rows(self.folder, [CASE, *names])
        varied = self.cases.columns(rows[CASE].to_numpy())
        for name in names:
            if name not in varied and name not in rows.column_names:
                known = self.keys()
                guess = nearest(str(name), known)
                advice = f"did you mean '{guess}'?" if guess else "keep=… states what is kept"
                raise UsageError(
                    f"the study holds no '{name}'", expected="one of " + ", ".join(known),
                    advice=advice if len(rows) else "no case is done yet: what is kept is known with the first",
                )  # fmt: skip
        return [varied[name] if name in varied else _column(rows[name], name) for name in names]

    def events(self) -> dict[str, NDArray[Any]]:
        """All events of all cases as columns: case, kind, at (p, or the time of a motion), name, before, after."""
        rows = read_rows(self.folder, [CASE, *LISTS])
        empty: dict[str, NDArray[Any]] = {"case": np.zeros(0, dtype=np.int64), "kind": np.zeros(0, dtype=object)}
        if "event_kinds" not in rows.column_names:
            return empty | {name: np.zeros(0) for name in ("at", "name", "before", "after")}
        lengths = np.asarray(arrow().compute.fill_null(arrow().compute.list_value_length(rows["event_kinds"]), 0))
        flat = {name.removeprefix("event_"): _flat(rows[name], name) for name in LISTS if name in rows.column_names}
        names = {"kinds": "kind", "names": "name"}
        return {"case": np.repeat(rows[CASE].to_numpy(), lengths)} | {
            names.get(name, name): values for name, values in flat.items()
        }

    def failed(self) -> dict[int, str]:
        """Number of every case that failed → why."""
        rows = read_rows(self.folder, [CASE, "ok", "status", "note"]).to_pylist()
        return {row[CASE]: f"{row['status']}: {row['note'] or ''}".rstrip(": ") for row in rows if not row["ok"]}

    def result(self, number: int) -> Any:
        """The whole result of a case, where the study keeps them (`results=True`)."""
        self.cases.values(number)
        folder = result_folder(self.folder, number)
        if not folder.exists():
            kept = self.statement["task"].get("results")
            advice = "the case is not done, or failed" if kept else "a study with results=True"
            raise UsageError(f"the study keeps no result of case {number}", advice=advice)
        return load_result(folder)

    @checked
    def quantiles(
        self, name: str, shares: Sequence[float] = (0.05, 0.5, 0.95), *, confidence: float = 0.95
    ) -> tuple[Quantile, ...]:
        """Quantiles of a column over all cases, with bounds that hold for any distribution.

        A case that reached its bound without a value (no limit point up to there) counts as beyond all others; one that
        failed, ended elsewhere without a value, or is not done could be anything, and widens the bounds.

        Raises
        ------
        UsageError
            If the cases are not independent: on a grid, or drawn by a Latin hypercube or Sobol's sequence. There the
            bounds would not hold.
        """
        if self.statement.get("sampling") != INDEPENDENT or self.cases.axes:
            raise UsageError(
                "bounds of quantiles need independent cases", got=self.statement.get("sampling") or "a grid",
                expected='sample=Sample(…, method="random") or Imperfections(…), and no grid',
                advice="numpy.nanquantile(study[…], …) has the quantiles without bounds",
            )  # fmt: skip
        if not all(0.0 < share < 1.0 for share in (*shares, confidence)):
            raise UsageError("a share is not usable", got=repr((*shares, confidence)), expected="between 0 and 1")
        column, ok, status = self.together(name, "ok", "status")
        values = column.astype(float)
        beyond = np.isnan(values) & np.isin(status, REACHED)
        known = np.where(beyond, np.inf, values)[ok.astype(bool) & (beyond | np.isfinite(values))]
        return tuple(quantile(known, len(self) - len(known), share, confidence) for share in shares)

    def missing(self) -> Indices:
        """Numbers of the cases that are not done."""
        return np.setdiff1d(np.arange(len(self)), self["case"], assume_unique=True)

    def _repr_html_(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in self.counts().items())
        return f"<b>Study</b>: {counts}"


def _column(values: Any, name: str) -> NDArray[Any]:
    if name in TEXTS:
        return np.array(["" if text is None else text for text in values.to_pylist()], dtype=object)
    if name in TRUTHS:
        return np.asarray(values.fill_null(False).to_numpy(), dtype=bool)
    return np.asarray(values.to_numpy())


def _flat(lists: Any, name: str) -> NDArray[Any]:
    inner = lists.combine_chunks().flatten()
    return np.array(inner.to_pylist(), dtype=object) if LISTS[name] == "text" else np.asarray(inner.to_numpy(False))


def result_folder(folder: FilePath, number: int) -> FilePath:
    """Where the whole result of a case lies."""
    return folder / KEPT / f"{number // 1000:06d}" / f"{number:09d}"


def write_statement(folder: FilePath, statement: Mapping[str, Any]) -> None:
    """State what a folder is a study of."""
    with whole_file(folder / STUDY) as draft:
        whole = {"type": "study", "format": FORMAT, **statement}
        draft.write_text(as_json({**whole, "digest": text_digest(whole)}), encoding="utf-8")


def read_statement(folder: FilePath) -> dict[str, Any]:
    """What a folder is a study of."""
    file = folder / STUDY
    if not file.is_file():
        raise UsageError(f"'{folder}' holds no study", got=f"no file '{STUDY}'", expected="a folder of `study`")
    with damage(file):
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        version, digest = int(found["format"]), found.pop("digest", "")
        _ = found["task"]["verb"], found["model"], found["version"]
        if version < 1 or (1 < version <= FORMAT and digest != text_digest(found)):
            raise ValueError("its text is not what was written")
    if version > FORMAT:
        raise UsageError(f"'{file}' was written by a newer version of onesided", advice="update onesided")
    return found


@checked
def open_study(folder: str | PathLike[str]) -> Study:
    """Open the study in a folder to read its tables, also while it runs.

    Raises
    ------
    UsageError
        Where there is none, or a file of it is damaged.
    """
    place = FilePath(folder)
    statement = read_statement(place)
    return Study(place, read_cases(place), statement)
