"""What results that hold series by name have in common: `path["x"]`, tables, files for other programs."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, overload

from numpy.typing import NDArray

from onesided import results
from onesided.base.types import Array


class NamedSeries:
    """Series by name, one value per point: like a mapping that knows its names."""

    __slots__ = ()

    @overload
    def __getitem__(self, name: str) -> Array: ...
    @overload
    def __getitem__(self, name: Sequence[str]) -> Array: ...
    def __getitem__(self, name: str | Sequence[str]) -> Array:
        """The series of this name, (N,); of a list of names the columns, (N, names)."""
        return results.flat_tables.chosen(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def keys(self) -> tuple[str, ...]:
        """Names of all series that the result can be asked for."""
        return results.flat_tables.names(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.keys())

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """One flat table, name → column: a row per point, and `event` in words where something happens.

        Histories have a column `segment`, diagrams `branch` and `parent`.
        """
        return results.flat_tables.table(self)

    def to_pandas(self) -> Any:
        """The table of `to_dict` as a DataFrame; needs pandas."""
        return results.flat_tables.data_frame(self)

    def to_csv(self, file: str | PathLike[str]) -> FilePath:
        """Write the table of `to_dict` as comma-separated values, with all digits."""
        return results.flat_tables.write_csv(self, file)

    def to_vtk(self, file: str | PathLike[str], *, frames: int | None = None) -> FilePath:
        """Write the moving structure for ParaView: `NAME.pvd` and a folder NAME of `.vtu` files; needs meshio.

        Parameters
        ----------
        file : ends in ".pvd".
        frames : at most so many points, evenly chosen; None for all.
        """
        return results.vtk.write_vtk(self, file, frames=frames)


def members_of(result: Any) -> Mapping[str, Array]:
    """Results of members by name, where there are any."""
    found: Mapping[str, Array] = getattr(result, "members", {})
    return found
