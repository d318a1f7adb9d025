"""Many paths at given values of p: between two of their points, corrected by compiled code."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import ROUND_OFF
from onesided.base.types import Array, Indices
from onesided.evaluation.lane_checks import LaneFinds, LaneStarts
from onesided.evaluation.lane_runs import LaneEngine
from onesided.results.many_paths import PathSamples

TICKS = 100  # corrections of a point


class ManyTracks(NamedTuple):
    """Points of many paths in a row: number of the path, packed unknowns, negative modes."""

    path: Indices
    x: Array
    degree: Indices


class LaneFrame(NamedTuple):
    """Parameters of every path, the group that it belongs to, and sizes of unknowns and equations of every group."""

    vectors: Array
    group: Indices
    sizes: Array


def sampled(
    engine: LaneEngine, frames: Callable[[Indices], LaneFrame], tracks: ManyTracks, at: Sequence[float]
) -> PathSamples:
    """The points of all paths at these values of p; `frames` gives parameters and sizes of some paths."""
    n, size = engine.lanes.n, engine.lanes.size
    pieces = [_between(tracks, n, float(p)) for p in at]
    first = np.concatenate([np.zeros(0, dtype=np.intp), *(piece[0] for piece in pieces)])
    guess = np.concatenate([np.zeros((0, size)), *(piece[1] for piece in pieces)])
    order = np.lexsort((np.arange(len(first)), first))
    first, guess = first[order], guess[order]
    path, pushes = tracks.path[first], tracks.x[:, n + 1 :] != 0
    frame = frames(path)
    x = _corrected(engine, frame, guess, pushes[first] | pushes[first + 1])
    unit = frame.sizes[frame.group, :size]
    far = np.linalg.norm((tracks.x[first + 1] - tracks.x[first]) / unit, axis=1)
    lost = ~(np.linalg.norm((x - guess) / unit, axis=1) <= far)
    x[lost] = np.nan
    degree = np.maximum(tracks.degree[first], 0)
    return PathSamples(path, guess[:, n], x[:, :n], x[:, n + 1 :], degree)


def _between(tracks: ManyTracks, n: int, level: float) -> tuple[Indices, Array]:
    """Points after which a path passes a value of p, and about where it does."""
    p, same = tracks.x[:, n], tracks.path[1:] == tracks.path[:-1]
    away = np.where(np.abs(p - level) <= ROUND_OFF * np.maximum(np.abs(p), abs(level)), 0.0, p - level)
    a, b, last = away[:-1], away[1:], np.append(~same, True)[1:]
    first = np.flatnonzero(same & ((a * b < 0) | ((a == 0) & (b != 0)) | ((a != 0) & (b == 0) & last)))
    share = (a[first] / (a[first] - b[first]))[:, None]
    guess = (1.0 - share) * tracks.x[first] + share * tracks.x[first + 1]
    guess[:, n] = level
    return first, guess


def _corrected(engine: LaneEngine, frame: LaneFrame, x: Array, closed: Array) -> Array:
    """Equilibria at the same p; NaN where Newton's method finds none."""
    lanes, count = engine.lanes, len(x)
    held = np.hstack([np.ones((count, lanes.k)), closed[:, lanes.k :]])
    only = 0.0, -np.inf, np.inf  # no direction: a point is corrected, and that is all

    def given(which: Indices) -> LaneStarts:
        return LaneStarts(x[which], held[which], frame.vectors[which], frame.group[which], frame.sizes, only)

    def finish(which: Indices, finds: LaneFinds) -> Array:
        return np.where(finds.ends.ended[:, None], finds.ends.y, np.nan)

    made = engine.run(count, given, finish, TICKS, lambda paths, found: None)
    return np.concatenate([np.zeros((0, lanes.size)), *made])
