"""An optimal control problem as a nonlinear program: unknowns of all intervals, scaled, given ones left out.

Neighbouring intervals share the state between them, and the inputs too, unless the mode of a contact changes there.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.dynamics.steering.program import Slopes
from onesided.evaluation.collocation import Collocation, Interval, Values

STEP = HALF_DIGITS  # of the sizes of unknowns: for differences of first derivatives
INPUTS = ("u", "u_middle", "u_end")


@dataclass(frozen=True, eq=False)
class Grid:
    """Times of the nodes (N + 1,), and which gaps are closed within the intervals (N, gaps)."""

    t: Array
    closed: Mask

    @property
    def data(self) -> Array:
        """(t, h, closed gaps) of each interval."""
        return np.column_stack([self.t[:-1], np.diff(self.t), self.closed])

    @property
    def touching(self) -> Mask:
        """Gaps that are closed at the end of each interval: within it, or within the next."""
        return np.asarray(self.closed | np.vstack([self.closed[1:], self.closed[-1:]]))


@dataclass(frozen=True, eq=False)
class Units:
    """Typical sizes of coordinates, velocities, inputs, gradients of all constraint rows, masses, time and cost."""

    q: Array
    v: Array
    u: Array
    rows: Array  # holonomic, gaps, rolling
    mass: Array
    time: float
    cost: float = 1.0


@dataclass(frozen=True, eq=False)
class NodeBounds:
    """Bounds of (q, v, u) at every node; states at the first and the last, NaN where free.

    `positions` and `velocities` say which rows (holonomic, gaps; holonomic, rolling, gaps) the last node still has to
    state, because what is given there does not imply them.
    """

    low: tuple[Array, Array, Array]
    high: tuple[Array, Array, Array]
    start: tuple[Array, Array]
    goal: tuple[Array, Array]
    positions: Mask
    velocities: Mask


class Nodes(NamedTuple):
    """States at the nodes (N + 1, n), inputs at the beginning, in the middle and at the end of intervals (N, 3, k)."""

    q: Array
    v: Array
    u: Array


def _columns(collocation: Collocation, grid: Grid) -> Indices:
    """Numbers of the unknowns of every interval, (N, unknowns)."""
    count, sizes = len(grid.closed), collocation.sizes
    jumps = np.append(True, np.any(grid.closed[1:] != grid.closed[:-1], axis=1))
    state = np.arange(count + 1)[:, None] * 2 * collocation.n + np.arange(2 * collocation.n)
    first = state[-1, -1] + 1
    ends = np.arange(count) + np.cumsum(jumps)  # numbers of the inputs at ends: a new one begins where they jump
    u_end = first + ends[:, None] * sizes.u + np.arange(sizes.u)
    first += (int(ends[-1]) + 1) * sizes.u
    inner = sizes.u_middle + sizes.eta + sizes.zeta
    own = first + np.arange(count)[:, None] * inner + np.arange(inner)
    return np.hstack([state[:-1], u_end - sizes.u, own, state[1:], u_end])


class Transcription:
    """The program of one grid; fulfils `Program`."""

    def __init__(self, collocation: Collocation, grid: Grid, limits: NodeBounds, units: Units) -> None:
        self.collocation, self.grid, self._units = collocation, grid, units
        self.count = len(grid.t) - 1
        self.columns = _columns(collocation, grid)
        self._size = int(np.max(self.columns)) + 1
        self.unit = self._spread(self._sizes())
        self._x, given = self._given(limits)
        self._free = np.flatnonzero(~given)
        bounds = [self._spread(self._bound(side, end)) for side, end in ((limits.low, -np.inf), (limits.high, np.inf))]
        self.lower, self.upper = ((bound / self.unit)[self._free] for bound in bounds)
        kept, low, high, size = self._rows(limits)
        self._kept, self._row_unit = np.flatnonzero(kept), size[kept]
        self.row_lower, self.row_upper = low[kept], high[kept]
        self._set_places(given, kept)
        self._last: tuple[Array, Slopes] | None = None

    # unknowns

    def _spread(self, interval: Array) -> Array:
        """Values for the unknowns of one interval, repeated for all."""
        out = np.empty(self._size)
        out[self.columns] = interval
        return out

    def _sizes(self) -> Array:
        s, positions = self._units, self.collocation.held + self.collocation.gaps
        force = float(np.mean(s.mass)) / s.rows
        return np.concatenate([s.q, s.v, s.u, s.u, force[:positions] * np.max(s.q), force * np.max(s.v), s.q, s.v, s.u])

    def _bound(self, side: tuple[Array, Array, Array], end: float) -> Array:
        q, v, u = side
        return np.concatenate([q, v, u, u, np.full(sum(self.collocation.sizes[4:6]), end), q, v, u])

    def _given(self, limits: NodeBounds) -> tuple[Array, Mask]:
        """All unknowns with the values that are given, and which these are."""
        c, part, x = self.collocation, self._part, np.full(self._size, np.nan)
        for name, values in (("q", limits.start[0]), ("v", limits.start[1])):
            x[part(name)[0]] = values
        for name, values in (("q_end", limits.goal[0]), ("v_end", limits.goal[1])):
            x[part(name)[-1]] = values
        for name in ("eta", "zeta"):  # multipliers of open gaps
            x[part(name)[:, c.held : c.held + c.gaps]] = np.where(self.grid.closed, np.nan, 0.0)
        given = np.isfinite(x)
        return np.where(given, x, 0.0), given

    def _part(self, name: str) -> Indices:
        """Numbers of some unknowns, (N, size)."""
        ends = np.cumsum(self.collocation.sizes)
        i = Interval._fields.index(name)
        return self.columns[:, ends[i] - self.collocation.sizes[i] : ends[i]]

    def vector(self, nodes: Nodes) -> Array:
        """Scaled unknowns of states and inputs, without multipliers."""
        x = np.zeros(self._size)
        for name, values in (("q", nodes.q[:-1]), ("v", nodes.v[:-1]), ("q_end", nodes.q[1:]), ("v_end", nodes.v[1:])):
            x[self._part(name)] = values
        for i, name in enumerate(INPUTS):
            x[self._part(name)] = nodes.u[:, i]
        return np.asarray(np.clip((x / self.unit)[self._free], self.lower, self.upper))

    def nodes(self, y: Array) -> Nodes:
        """States and inputs at the ends of all intervals, from the unknowns y."""
        x, part = self._full(y), self._part
        q, v = (np.vstack([x[part(name)], x[part(f"{name}_end")[-1:]]]) for name in ("q", "v"))
        return Nodes(q, v, np.stack([x[part(name)] for name in INPUTS], axis=1))

    def _full(self, y: Array) -> Array:
        x = self._x.copy()
        x[self._free] = y * self.unit[self._free]
        return x

    # rows

    def _rows(self, limits: NodeBounds) -> tuple[Mask, Array, Array, Array]:
        """Which rows of all intervals count, their bounds and sizes, in a row each."""
        c, s, touching, closed = self.collocation, self._units, self.grid.touching, self.grid.closed
        every = np.ones((self.count, 1), dtype=bool)
        held, still = every & np.ones(c.held, dtype=bool), every & np.ones(c.held + c.rolling, dtype=bool)
        gaps, rates = every & np.ones(c.gaps, dtype=bool), touching.copy()
        held[-1], gaps[-1] = np.split(limits.positions, [c.held])
        still[-1], rates[-1] = limits.velocities[: -c.gaps or None], rates[-1] & limits.velocities[c.held + c.rolling :]
        kept = [every & np.ones(2 * c.n, dtype=bool), held, gaps, still, rates, ~closed, np.tile(closed, 3)]
        sided = np.zeros((self.count, sum(c.row_sizes)), dtype=bool)
        first = 2 * c.n + c.held
        sided[:, first : first + c.gaps] = ~touching
        sided[:, sum(c.row_sizes[:5]) :] = True
        lengths, gap = s.rows * np.max(s.q), s.rows[c.held : c.held + c.gaps]
        of_velocity = np.r_[s.rows[: c.held], s.rows[c.held + c.gaps :], gap] * np.max(s.v)
        force = np.tile(float(np.mean(s.mass)) * np.max(s.q) / s.time**2 / gap, 3)
        size = np.concatenate(
            [s.mass * s.q, s.mass * s.v, lengths[: c.held + c.gaps], of_velocity, gap * np.max(s.q), force]
        )
        high = np.where(sided, np.inf, 0.0)
        return np.hstack(kept).ravel(), np.zeros(sided.size), high.ravel(), np.tile(size, self.count)

    def _set_places(self, given: Mask, kept: Mask) -> None:
        number = np.cumsum(~given) - 1
        row_number = (np.cumsum(kept) - 1).reshape(self.count, -1)
        free = ~given[self.columns]
        chosen = kept.reshape(self.count, -1)[:, :, None] & free[:, None, :]
        k, i, j = np.nonzero(chosen)
        self._jacobian_from = np.flatnonzero(chosen)
        self.jacobian_places = row_number[k, i], number[self.columns[k, j]]
        columns = self.columns
        low = free[:, :, None] & free[:, None, :] & (columns[:, :, None] >= columns[:, None, :])
        k, i, j = np.nonzero(low)
        pairs = number[columns[k, i]] * len(self._free) + number[columns[k, j]]
        places, self._hessian_to = np.unique(pairs, return_inverse=True)
        self._hessian_from = np.flatnonzero(low)
        self.hessian_places = places // len(self._free), places % len(self._free)

    # functions

    def slopes(self, y: Array) -> Slopes:
        """Values and first derivatives; those of the last point are kept, because solvers ask for them one by one."""
        if self._last is None or not np.array_equal(self._last[0], y):
            self._last = (y.copy(), self._evaluate(y))
        return self._last[1]

    def _evaluate(self, y: Array) -> Slopes:
        found: Values = self.collocation.first(self._full(y)[self.columns], self.grid.data)
        unit, row = self.unit[self._free], self._row_unit
        gradient = np.bincount(self.columns.ravel(), found.cost_z.ravel(), len(self._x))[self._free]
        entries = found.rows_z.ravel()[self._jacobian_from]
        i, j = self.jacobian_places
        return Slopes(
            float(np.sum(found.cost)) / self._units.cost,
            gradient * unit / self._units.cost,
            found.rows.ravel()[self._kept] / row,
            entries * unit[j] / row[i],
        )

    def curvature(self, y: Array, share: float, weights: Array) -> Array:
        """Entries of the Hessian of share·f + weightsᵀc."""
        every = np.zeros(self.count * sum(self.collocation.row_sizes))
        every[self._kept] = weights / self._row_unit
        loads = np.column_stack([np.full(self.count, share / self._units.cost), every.reshape(self.count, -1)])
        found = self.collocation.second(self._full(y)[self.columns], self.grid.data, loads, STEP * self._sizes())
        entries = np.bincount(self._hessian_to, found.ravel()[self._hessian_from], len(self.hessian_places[0]))
        unit = self.unit[self._free]
        return np.asarray(entries * unit[self.hessian_places[0]] * unit[self.hessian_places[1]])
