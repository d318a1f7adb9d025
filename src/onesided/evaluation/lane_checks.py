"""What many paths are given, what became of them, and the recheck of every row from the model's residual alone.

The recheck is written once, for arrays of any kind: it runs by NumPy and JAX on this machine's processors, and is
printed for a graphics processor from the residual, by other code than that which made the rows.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.compiling import compiled
from onesided.evaluation.derivatives import Derivatives
from onesided.evaluation.lane_state import ENDED, LEFT, POINT
from onesided.evaluation.native_lanes import LaneTable
from onesided.evaluation.path_lanes import PathLanes

RECHECKED = 1 << 13  # points that are looked at in one call, where there are so many at least
SAMPLED = (
    RECHECKED  # of the rows that a device rechecked so many at least are rechecked here again, or one in a hundred
)
CODES = 4  # whole numbers of a row: kind, negative modes before and after, which constraint changes (m: none)


class LaneStarts(NamedTuple):
    """What some paths begin with.

    x : (B, N) points;  closed : (B, m);  vectors : (B, ·) parameters;  group : (B,) whose sizes are theirs.
    sizes : (G, N + n + m) of unknowns and equations of every group;  asked : direction and bounds of p.
    """

    x: Array
    closed: Array
    vectors: Array
    group: Indices
    sizes: Array
    asked: tuple[float, float, float]

    def some(self, which: slice) -> "LaneStarts":
        """The same of some of the paths."""
        return self._replace(
            x=self.x[which], closed=self.closed[which], vectors=self.vectors[which], group=self.group[which]
        )


class LaneEnds(NamedTuple):
    """Where paths stand: whether they have come to their end, could be gone on with, or have left their start.

    degree : negative modes;  y, sense : point and sense of p, of those that ended only where no direction was given.
    """

    ended: Mask
    begun: Mask
    started: Mask
    degree: Array
    sense: Array
    y: Array


class LaneFinds(NamedTuple):
    """What became of some paths: their rows in order, as points and `CODES`; which are wrong; ends.

    own : (B,) how many rows belong to each path.
    wrong : (B,) whether one of them is no equilibrium, an event is missing between two others, or the path is closed
        and was followed more than once around.
    """

    own: Indices
    x: Array
    codes: Any
    wrong: Mask
    ends: LaneEnds

    @property
    def path(self) -> Indices:
        """(R,) the number of the path of every row, counted among these paths."""
        return np.repeat(np.arange(len(self.own)), self.own)

    def pieces(self, size: int) -> Iterator[tuple[slice, "LaneFinds"]]:
        """The same of so many paths at a time."""
        ends = np.append(0, np.cumsum(self.own))
        for first in range(0, len(self.own), size):
            some = slice(first, min(first + size, len(self.own)))
            rows = slice(ends[some.start], ends[some.stop])
            columns: list[Any] = [column[some] for column in self.ends]
            last = LaneEnds(*columns)
            yield some, LaneFinds(self.own[some], self.x[rows], self.codes[rows], self.wrong[some], last)


def ends_of(last: Any, y: Array) -> LaneEnds:
    """Where paths stand, from the last numbers of their states; they do not go on from where two legs meet."""
    begun = (last.how == LEFT) & (last.points > 0) & (last.s_1 != last.s - 1.0)
    ended = np.asarray(last.how == ENDED)
    return LaneEnds(ended, begun, ended | (last.points > 0), np.array(last.degree), np.array(last.sense), y)


class RowCheck:
    """The recheck of rows: equilibrium with contacts that push [SP1 (3.3), (3.4)]."""

    def __init__(self, derivatives: Derivatives, lanes: PathLanes) -> None:
        self._lanes, self._residual = lanes, derivatives.packed_residual
        residuals = jax.vmap(derivatives.packed_residual)
        self._residuals, self._many_residuals = compiled(residuals, rare=True), jax.jit(residuals)
        self.given = lanes.given - 3  # parameters and sizes: direction and bounds are not needed

    def checked(self, y: Any, given: Any) -> Any:
        """(scaled point, parameters and sizes) → point, and whether it holds: for a device."""
        th, unit, weight = jnp.split(given, np.cumsum([self.given - self._widths, self._lanes.size]))
        x = y * unit
        return jnp.append(x, 1.0 * self._in_balance(x, self._residual(x, th), unit, weight))

    def points(self, y: Array, path: Indices, starts: LaneStarts) -> tuple[Array, Mask]:
        """Points of scaled rows, and which of them hold, some at a time: what is made stays in the caches."""
        count = len(y)
        x, good = np.empty((count, self._lanes.size)), np.zeros(count, dtype=bool)
        for first in range(0, count, RECHECKED):
            some = slice(max(0, min(first, count - RECHECKED)), min(first + RECHECKED, count))  # of one length, if many
            sizes = starts.sizes[starts.group[path[some]]]
            x[some] = y[some] * sizes[:, : self._lanes.size]
            good[some] = self.holds(x[some], starts.vectors[path[some]], sizes)
        return x, good

    def holds(self, x: Array, vectors: Array, sizes: Array) -> Mask:
        """Whether points hold, each with parameters and sizes of its own, by JAX and NumPy."""
        residuals = self._many_residuals if len(x) in {RECHECKED, SAMPLED} else self._residuals
        unit, weight = np.split(sizes, [self._lanes.size], axis=1)
        return np.asarray(self._in_balance(x, np.asarray(residuals(x, vectors)), unit, weight))

    @property
    def _widths(self) -> int:
        return self._lanes.size + self._lanes.n + self._lanes.m

    def _in_balance(self, x: Any, residual: Any, unit: Any, weight: Any) -> Any:
        """Forces, gaps and reactions of one point or of many, against their sizes."""
        n, k, small = self._lanes.n, self._lanes.k, self._lanes.knobs.weak
        forces, gaps = abs(residual[..., 1 : n + 1]) / weight[..., :n], residual[..., n + 1 :] / weight[..., n:]
        pushes = (x / unit)[..., n + 1 + k :]
        held, free = abs(gaps[..., :k]), gaps[..., k:]
        good = (forces <= small).all(axis=-1) & (held <= small).all(axis=-1)
        good &= (free >= -small).all(axis=-1) & (pushes >= -small).all(axis=-1)
        return good & ((abs(free) <= small) | (abs(pushes) <= small)).all(axis=-1)


def codes_of(rows: Array, size: int) -> Any:
    """The whole numbers of rows: what stands behind their points."""
    codes = np.empty((len(rows), CODES), dtype=np.int32)
    codes[:, :3], chosen = rows[:, size : size + 3], rows[:, size + 5 :]
    codes[:, 3] = chosen.shape[1]
    places, which = np.nonzero(chosen)
    codes[places, 3] = which
    return codes


def found_here(check: RowCheck, lanes: PathLanes, table: LaneTable, starts: LaneStarts) -> LaneFinds:
    """What became of paths that ran on this machine's processors."""
    size, last = lanes.size, lanes.unpacked(table.states)
    x, good = check.points(table.rows[:, :size], table.path, starts)
    unit, codes = starts.sizes[starts.group, :size], codes_of(table.rows, size)
    wrong, ends = np.zeros(len(unit), dtype=bool), ends_of(last, last.y * unit)
    events = codes[:, 0] != POINT
    own = np.bincount(table.path[events], minlength=len(unit))
    wrong[table.path[~good]] = True
    wrong[around_again(own, x[events], codes[events, 0], lanes.knobs.near * unit)] = True
    wrong[broken(own, codes[events], ends.degree)] = True
    return LaneFinds(np.bincount(table.path, minlength=len(unit)), x, codes, wrong, ends)


def states_of(lanes: PathLanes, starts: LaneStarts) -> tuple[Array, Array]:
    """States and data of paths that begin."""
    unit, weight = np.split(starts.sizes[starts.group], [lanes.size], axis=1)
    asked = np.empty((len(unit), 3))
    asked[:, 0], asked[:, 1:] = starts.asked[0], np.array(starts.asked[1:]) / unit[:, lanes.n, None]
    return lanes.start(starts.x / unit, starts.closed), np.hstack([starts.vectors, unit, weight, asked])


def around_again(own: Indices, points: Array, kinds: Any, near: Array) -> Indices:
    """Paths that come back to their first event: they are closed, and were followed more than once around.

    own : (B,) how many events each path has;  near : (B, N) how close coordinates are then.
    """
    first = np.cumsum(own) - own
    begins = first[own > 0]
    same = np.abs(points[:, 0] - np.repeat(points[begins, 0], own[own > 0])) <= np.repeat(near[:, 0], own)
    same[begins] = False
    places = np.flatnonzero(same)  # few
    path = np.searchsorted(first, places, side="right") - 1
    whole = np.abs(points[places] - points[first[path]]) <= near[path]
    return np.unique(path[whole.all(axis=1) & (kinds[places] == kinds[first[path]])])


def broken(own: Indices, codes: Any, degree: Array) -> Indices:
    """Paths on which an event is missing: the negative modes after one are not those before the next, or at the end.

    own : (B,) how many events each path has;  degree : (B,) negative modes at its end.
    """
    last = np.cumsum(own)
    breaks = np.flatnonzero(codes[1:, 1] != codes[:-1, 2]) + 1
    path, some = np.searchsorted(last, breaks, side="right"), np.flatnonzero(own)
    within = breaks > (last - own)[path]  # two paths stand side by side otherwise
    return np.concatenate([path[within], some[codes[last[some] - 1, 2] != degree[some]]])
