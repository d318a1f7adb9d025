"""Points between the points: a path interpolated for smooth curves and pictures, never for numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.base.types import Array, Indices, Mask
from onesided.results.named import column, columns
from onesided.results.path import Path

WANTED = 300  # points enough for a smooth curve
MOST_BETWEEN = 48
BEND = 1.5  # a tangent that differs from the chord by more than this many chords is not believed


@dataclass(frozen=True, eq=False)
class DensePath:
    """A path with points put in between.

    Attributes
    ----------
    columns : name → (M,);  instability : (M,);  codes : (M, m) states of the unilateral constraints.
    source : (M,) index of the computed point at or before each;  exact : (M,) whether it is that point.
    """

    columns: dict[str, Array]
    source: Indices
    exact: Mask
    instability: np.ndarray[Any, np.dtype[np.intp]]
    codes: np.ndarray[Any, np.dtype[np.int8]]

    def place(self, index: int) -> int:
        """Where the computed point `index` stands among the dense ones."""
        return int(np.searchsorted(self.source, index))


def dense(path: Path, wanted: int = WANTED, names: Iterable[str] | None = None) -> DensePath:
    """Cubic interpolation along arc length: tangents where the path has them, differences between events elsewhere.

    Parameters
    ----------
    wanted : about how many points; a path that has as many stays as it is.
    names : columns to interpolate; None for all.
    """
    counts = _counts(path, wanted)
    source = np.repeat(np.arange(len(path)), [*counts, 1])
    begins = np.concatenate([[0], np.cumsum(counts)])
    inside = (np.arange(len(source)) - begins[source]) / np.append(counts, 1)[source]
    exact = inside == 0.0
    values = columns(path)
    chosen = values if names is None else {name: column(path, name) for name in names}
    found = {name: _hermite(path, name, y, source, inside) for name, y in chosen.items()}
    after = np.minimum(source + 1, len(path) - 1)
    for label in (f"{what} {name}" for what in ("reaction", "gap") for name in path.unilateral):
        if label in found:
            lowest = np.minimum(values[label][source], values[label][after])
            found[label] = np.maximum(found[label], np.minimum(0.0, lowest))
    degree = np.where(exact, path.instability[source], path.instability[after])
    return DensePath(found, source, exact, degree, np.where(exact[:, None], path.codes[source], _between(path)[source]))


def _counts(path: Path, wanted: int) -> Indices:
    """How many points each step is divided into."""
    steps = np.diff(path.s)
    if len(path) >= wanted or not len(steps):
        return np.ones(len(steps), dtype=np.intp)
    share = np.ceil(wanted * steps / max(float(steps.sum()), np.finfo(float).tiny))
    counts: Indices = np.clip(share, 2, MOST_BETWEEN).astype(np.intp)
    return counts


def _between(path: Path) -> np.ndarray[Any, np.dtype[np.int8]]:
    """States on the step after each point: those of an end that is no event, else by what is larger there."""
    special = np.zeros((len(path), 1), dtype=bool)
    special[[event.index for event in path.events]] = True
    after = np.minimum(np.arange(len(path)) + 1, len(path) - 1)
    larger = np.where(path.lam + path.lam[after] > path.gaps + path.gaps[after], 2, 0)
    states = np.where(special[after], np.where(special, larger, path.codes), path.codes[after])
    return states.astype(np.int8)


def _hermite(path: Path, name: str, y: Array, source: Indices, inside: Array) -> Array:
    after = np.minimum(source + 1, len(path) - 1)
    step = path.s[after] - path.s[source]
    begin, end = _slopes(path, name, y)
    m0, m1 = begin[np.minimum(source, len(begin) - 1)] * step, end[np.minimum(source, len(end) - 1)] * step
    u = inside
    blend = u * u * (3.0 - 2.0 * u)
    curve = y[source] + blend * (y[after] - y[source]) + u * (1 - u) * ((1 - u) * m0 - u * m1)
    return np.where(inside == 0.0, y[source], curve)


def _slopes(path: Path, name: str, y: Array) -> tuple[Array, Array]:
    """Derivatives at the beginning and at the end of each step; the chord where they are not to be believed."""
    if len(path) == 1:
        return np.zeros(1), np.zeros(1)
    steps = np.diff(path.s)
    chord = np.divide(np.diff(y), steps, out=np.zeros(len(steps)), where=steps > 0)
    order = {**{c: i for i, c in enumerate(path.coordinates)}, path.control: len(path.coordinates)}
    if name in order:
        before = path.tangents[:, order[name]].copy()
        behind = before.copy()
        for event in path.events:
            if event.followed is not None:
                ray = event.rays[event.followed]
                behind[event.index] = np.append(ray.q_dot, ray.p_dot)[order[name]]
        begin, end = behind[:-1], before[1:]
    else:
        begin, end = _differences(path, chord)
    size = BEND * np.abs(chord) + np.ptp(y) / max(float(path.s[-1]), np.finfo(float).tiny)
    return (
        np.where(np.abs(begin - chord) <= size, begin, chord),
        np.where(np.abs(end - chord) <= size, end, chord),
    )


def _differences(path: Path, chord: Array) -> tuple[Array, Array]:
    """Slopes from neighbouring chords, within stretches between events."""
    smooth = np.ones(len(path), dtype=bool)
    smooth[[0, -1, *(event.index for event in path.events)]] = False
    steps = np.diff(path.s)
    whole = steps[:-1] + steps[1:]
    slope = (steps[1:] * chord[:-1] + steps[:-1] * chord[1:]) / np.where(whole > 0, whole, 1.0)
    use = smooth[1:-1] & (whole > 0)
    begin, end = chord.copy(), chord.copy()
    begin[1:], end[:-1] = np.where(use, slope, begin[1:]), np.where(use, slope, end[:-1])
    return begin, end
