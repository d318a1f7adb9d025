"""Samples of parameters: lists, files, and random ones whose seed is stated."""

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.stats import lognorm, norm, qmc, triang, uniform, weibull_min

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.results.study_cases import MOST_CASES

Way = Literal["random", "latin hypercube", "sobol"]
MADE: dict[str, Callable[..., Any]] = {
    "uniform": lambda low, high: uniform(low, high - low),
    "normal": norm,
    "lognormal": lambda median, spread: lognorm(spread, scale=median),
    "triangular": lambda low, mode, high: triang((mode - low) / (high - low), low, high - low),
    "weibull": lambda shape, scale: weibull_min(shape, scale=scale),
}
SIZES = {"uniform": 2, "normal": 2, "lognormal": 2, "triangular": 3, "weibull": 2}


@checked
@dataclass(frozen=True, eq=False)
class Sample:
    """Random values of parameters; the same seed gives the same values, and more of them when `count` grows.

    Parameters
    ----------
    count : how many.
    of : parameter → (low, high) for a uniform distribution, a distribution of `scipy.stats` such as `norm(1, 0.1)`, or
        {"normal": [mean, deviation]}, also "uniform" [low, high], "lognormal" [median, deviation of the logarithm],
        "triangular" [low, mode, high], "weibull" [shape, scale].
    seed : stated in the folder.
    method : "random" (independent: what bounds of quantiles need), "sobol" or "latin hypercube" (fill the space evenly;
        a Latin hypercube is another one when `count` changes).
    """

    count: int
    of: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    method: Way = "random"

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_CASES:
            raise UsageError("a sample needs cases", got=str(self.count), expected=f"1 to {MOST_CASES:.0e}")
        if not self.of:
            raise UsageError("nothing is drawn", expected="of={name: (low, high)}")
        if self.seed < 0:
            raise UsageError("the seed is not usable", got=str(self.seed), expected="0 or more")
        for name, given in self.of.items():
            distribution(name, given)

    def values(self) -> dict[str, Array]:
        """Sampled values of each parameter, (count,), by name."""
        points = self._points()
        found = {name: distribution(name, given).ppf(points[:, i]) for i, (name, given) in enumerate(self.of.items())}
        return {name: _finite(name, values) for name, values in found.items()}

    def _points(self) -> Array:
        """Points of the unit cube, (count, number of parameters), without its corners."""
        size, generator = len(self.of), np.random.default_rng(self.seed)
        if self.method == "random":
            return np.stack([np.random.default_rng([self.seed, i]).random(self.count) for i in range(size)], axis=1)
        if self.method == "latin hypercube":
            return np.asarray(qmc.LatinHypercube(size, rng=generator).random(self.count))
        whole = qmc.Sobol(size, rng=generator).random(2 ** math.ceil(math.log2(self.count)))
        return np.asarray(whole[: self.count])


def distribution(name: str, given: Any) -> Any:
    """The distribution that is asked for, with its inverse `ppf`."""
    if callable(getattr(given, "ppf", None)):
        return given
    expected = f"(low, high), a distribution of scipy.stats, or one of {', '.join(MADE)} with its numbers"
    kind, numbers = next(iter(given.items())) if isinstance(given, Mapping) and len(given) == 1 else ("uniform", given)
    try:
        values = [float(number) for number in numbers]
        right = kind in MADE and len(values) == SIZES[kind] and all(map(math.isfinite, values))
        made = MADE[kind](*values) if right else None
        if made is not None and math.isfinite(float(made.ppf(0.5))):
            return made
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise UsageError(f"the distribution of '{name}' is not usable", got=repr(given), expected=expected)


def sampled(asked: Any) -> tuple[dict[str, Array], str, int | None]:
    """The values of a sample with the way they were drawn and the seed: of a `Sample`, a table of lists, or a file."""
    if asked is None:
        return {}, "", None
    if isinstance(asked, Sample):
        return asked.values(), asked.method, asked.seed
    if isinstance(asked, str | PathLike):
        return read_csv(Path(asked)), "file", None
    if not isinstance(asked, Mapping) or not asked:
        raise UsageError("this is no sample", got=repr(asked)[:80], expected="Sample(…), {name: values}, or a CSV file")
    found = {name: axis(name, values) for name, values in asked.items()}
    if len({len(values) for values in found.values()}) > 1:
        lengths = ", ".join(f"{name}: {len(values)}" for name, values in found.items())
        raise UsageError("the lists of a sample differ in length", got=lengths, expected="one value of each per case")
    return found, "list", None


def axis(name: str, values: Any) -> Array:
    """Values of one parameter as numbers."""
    if not isinstance(name, str):
        raise UsageError("a parameter has a name", got=repr(name), expected="{name: values}")
    try:
        found = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        found = np.zeros((0, 0))
    if found.ndim != 1:
        raise UsageError(f"the values of '{name}' are not numbers", got=repr(values)[:80], expected="a list of numbers")
    return _finite(name, found)


def _finite(name: str, values: Array) -> Array:
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise UsageError(f"value {wrong[0]} of '{name}' is not finite", got=str(values[wrong[0]]))
    return values


def read_csv(file: Path) -> dict[str, Array]:
    """A table of cases: names in the first line, a case in every other one."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError("the table of cases cannot be read", got=f"{file}: {error}") from error
    names = [name.strip() for name in lines[0][1]] if lines else []
    if not names or len(set(names)) < len(names) or not all(names):
        raise UsageError(
            "the first line of a table of cases names the parameters, each once", got=f"{file}: {', '.join(names)}"
        )
    return dict(zip(names, _numbers(file, names, lines[1:]), strict=True))


def _numbers(file: Path, names: Sequence[str], lines: Iterable[tuple[int, Sequence[str]]]) -> list[Array]:
    """Columns of the table; each line comes with its number in the file."""
    rows = []
    for number, line in lines:
        try:
            rows.append([float(cell) for cell in line])
        except ValueError:
            raise UsageError("a case is not made of numbers", got=f"{file}, line {number}: {line}") from None
        if len(line) != len(names):
            raise UsageError("a case does not fit the first line", got=f"{file}, line {number}: {len(line)} values")
    return [axis(name, [row[i] for row in rows]) for i, name in enumerate(names)]
