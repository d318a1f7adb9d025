"""The cases of a study: values of parameters, numbered for ever."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.results.folder import damage, read_npz

CASES = "cases.npz"
MOST_CASES = 20_000_000
SAMPLE = "sample"  # the name of the dimension of a sample


@dataclass(frozen=True, eq=False)
class Cases:
    """Every row of a sample with every point of a grid; a case is known by its number.

    Attributes
    ----------
    axes : parameter → its values on the grid.
    sample : parameter → its values in the sample, all of one length; empty where there is none.

    Notes
    -----
    Numbers count the grid within the sample, the last axis fastest: a longer sample, or without one a longer first
    axis, leaves the numbers of the cases as they were.
    """

    axes: Mapping[str, Array] = field(default_factory=dict)
    sample: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.names or len(self) == 0:
            empty = [name for name, values in {**self.axes, **self.sample}.items() if not len(values)]
            raise UsageError(
                "the study has no case", got=f"no value of {', '.join(empty)}" if empty else "nothing to vary",
                expected="over={name: values} or sample=…",
            )  # fmt: skip
        if len(self) > MOST_CASES:
            raise UsageError(
                "the study has too many cases", got=f"{len(self):.3g}: {' × '.join(map(str, self.shape))}",
                expected=f"{MOST_CASES:.0e} at most", advice="a coarser grid, or sample=Sample(…)",
            )  # fmt: skip
        twice = [name for name in self.sample if name in self.axes]
        if twice:
            raise UsageError(f"'{twice[0]}' is in the grid and in the sample", expected="one of them")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what varies: of the grid, then of the sample."""
        return (*self.axes, *self.sample)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions: "sample" where there is one, then the axes."""
        return (*([SAMPLE] if self.sample else []), *self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions, in the order of `dimensions`; their product is the number of cases."""
        drawn = [len(next(iter(self.sample.values())))] if self.sample else []
        return (*drawn, *(len(values) for values in self.axes.values()))

    def __len__(self) -> int:
        return math.prod(self.shape)

    def columns(self, numbers: Any) -> dict[str, Array]:
        """Values of the cases of these numbers: name → (N,)."""
        wanted = np.asarray(numbers, dtype=np.int64)
        if np.any((wanted < 0) | (wanted >= len(self))):
            raise UsageError("there are rows of cases that there are not", got=f"case {wanted.max()} of {len(self)}",
                             expected=f"rows and '{CASES}' of one study", advice="the folder is damaged")  # fmt: skip
        at = np.unravel_index(wanted, self.shape)
        place = dict(zip(self.dimensions, at, strict=True))
        return {name: values[place[name]] for name, values in self.axes.items()} | {
            name: values[place[SAMPLE]] for name, values in self.sample.items()
        }

    def values(self, number: int) -> dict[str, float]:
        """The exact input of one case."""
        if not 0 <= number < len(self):
            raise UsageError("there is no such case", got=str(number), expected=f"0 to {len(self) - 1}")
        return {name: float(values[0]) for name, values in self.columns([number]).items()}

    def goes_on(self, earlier: "Cases") -> bool:
        """Whether all cases of an earlier statement have the same numbers here."""
        same = self.dimensions == earlier.dimensions and self.names == earlier.names
        if not same or self.shape[1:] != earlier.shape[1:] or self.shape[0] < earlier.shape[0]:
            return False
        first, size = self.dimensions[0], earlier.shape[0]
        return all(
            np.array_equal(values[:size] if first in {SAMPLE, name} else values, earlier.sample[name])
            for name, values in self.sample.items()
        ) and all(
            np.array_equal(values[:size] if name == first else values, earlier.axes[name])
            for name, values in self.axes.items()
        )

    def write(self, folder: FilePath) -> None:
        """Keep the cases, whole or not at all."""
        stored: dict[str, Any] = {f"axis {name}": values for name, values in self.axes.items()}
        stored |= {f"{SAMPLE} {name}": values for name, values in self.sample.items()}
        with whole_file(folder / CASES) as draft:
            np.savez_compressed(draft, **stored)


def read_cases(folder: FilePath) -> Cases:
    """The cases that a folder holds."""
    stored = read_npz(folder / CASES)
    with damage(folder / CASES):
        found = {tuple(key.split(" ", 1)): values for key, values in stored.items()}
        axes = {name: values for (kind, name), values in found.items() if kind == "axis"}
        return Cases(axes, {name: values for (kind, name), values in found.items() if kind == SAMPLE})
