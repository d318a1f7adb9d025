"""Many paths of one model side by side in compiled code, and their events, rechecked from the model.

Paths whose parameters are of the same orders of magnitude share sizes and the contacts that are closed at the start. A
path that does not start well with those of its group is begun once more with its own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import SolveError
from onesided.base.tolerances import Tolerances
from onesided.base.types import Array, Indices
from onesided.evaluation.lane_checks import LaneFinds, LaneStarts
from onesided.evaluation.lane_runs import LaneEngine
from onesided.evaluation.lane_state import (
    AT_BOUND,
    AT_LIMIT,
    CLOSES,
    CORNER_CLOSES,
    CORNER_OPENS,
    OPENS,
    POINT,
)
from onesided.results import Kind
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.many_samples import LaneFrame, ManyTracks
from onesided.statics.many_starts import ManyStarts, alike
from onesided.statics.paths import start_of
from onesided.statics.tracing.hits import PathWatch
from onesided.system.system import System

KINDS = {AT_LIMIT: Kind.limit, OPENS: Kind.opens, CLOSES: Kind.closes, AT_BOUND: Kind.bound}
KINDS |= {CORNER_OPENS: Kind.corner_limit, CORNER_CLOSES: Kind.corner_limit}
CODED = tuple(KINDS[code].name if code in KINDS else "" for code in range(POINT + 1))  # what compiled code writes
KIND_NAMES = (*CODED, *(kind.name for kind in Kind if kind not in KINDS.values()))
TICKS = 100_000  # evaluations of a path until it is handed over: it may be closed
BROKEN = (ArithmeticError, ValueError)  # overflow, or matrices that are not finite


class ManyEvents(NamedTuple):
    """Rows of many paths: number of the path, packed unknowns, whole numbers.

    codes : (E, 4) place among `KIND_NAMES`, negative modes before and after (−1 where not known), place in a list of
        constraints.
    """

    path: Indices
    x: Array
    codes: Any


class ManyRows(NamedTuple):
    """What compiled code found on some paths: events, and points where they were asked for."""

    events: ManyEvents
    points: ManyTracks | None


class ManyRun:
    """Paths of a model in compiled code: what is given to it, and what became of every path.

    left : (B,) whether a path is left to `trace`;  begun : (B,) whether from where it stands (`since`, `sense`, with
    `degree` negative modes) instead of from its start.
    """

    def __init__(self, system: System, batch: ManyStarts, engine: LaneEngine, tolerances: Tolerances) -> None:
        count, size = len(batch.p), engine.lanes.size
        self.engine, self._system, self._batch, self._tolerances = engine, system, batch, tolerances
        self.left, self.begun = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
        self.since, self.sense, self.degree = np.zeros((count, size)), np.zeros(count), np.zeros(count)
        self._started = np.zeros(count, dtype=bool)
        self._q = np.array(batch.q)
        self._group, self._groups = np.full(count, -1), list[Array]()
        widths = size, system.n + engine.lanes.m, engine.lanes.m  # unit, weight, closed, and the reactions
        self._ends, self._table = np.cumsum(widths), np.zeros((0, 0))

    def rows(self, told: Callable[[int, int], None]) -> list[ManyRows]:
        """Run all paths, as far as they come; those that do not start well once more, each with its own start."""
        members, groups = alike(self._batch.parameters, len(self._group))
        self._group = np.array([self._put(member) for member in members.tolist()])[groups]
        made = self._through(np.flatnonzero(self._group >= 0), told)
        again = np.flatnonzero(~self._started)
        for i in again.tolist():
            self._group[i] = self._put(i)
        return made + self._through(again[self._group[again] >= 0], told)

    def frame(self, which: Indices) -> LaneFrame:
        """Parameters and sizes of some paths."""
        return LaneFrame(self._batch.vectors[which], self._group[which], self._table[:, : self._ends[1]])

    def unit(self, i: int) -> Array:
        """Sizes of the unknowns of one path."""
        own: Array = self._table[self._group[i], : self.engine.lanes.size]
        return own

    def _put(self, member: int) -> int:
        """A group with the sizes, contacts and reactions of one of its paths: its number, −1 where it has no start."""
        stands = self._standing(member)
        if stands is None:
            return -1
        n, m = self.engine.lanes.n, self.engine.lanes.m
        closed = np.zeros(m)
        closed[stands.strong] = 1.0
        self._groups.append(
            np.concatenate([stands.unit, stands.sizes.force, stands.scales.gap, closed, stands.x[n + 1 :]])
        )
        self._q[member] = stands.x[:n]
        return len(self._groups) - 1

    def _standing(self, i: int) -> Standpoint | None:
        """The start of one path: sizes and closed contacts; None where there is none."""
        batch, watch = self._batch, PathWatch(self._batch.asked.bounds, {}, self._tolerances)
        own = batch.system(self._system, i)
        try:
            return start_of(own, batch.q[i], float(batch.p[i]), watch, None, (None, None))[0].where
        except (SolveError, *BROKEN):
            return None

    def _through(self, which: Indices, told: Callable[[int, int], None]) -> list[ManyRows]:
        if not len(which):
            return []
        self._table, events = np.array(self._groups), 0

        def counted(paths: int, made: list[ManyRows]) -> None:
            nonlocal events
            events += sum(len(piece.events.path) for piece in made)
            told(paths, events)

        return self.engine.run(
            len(which),
            lambda some: self._given(which[some]),
            lambda some, table: self._rechecked(which[some], table),
            TICKS,
            counted,
        )

    def _given(self, which: Indices) -> LaneStarts:
        """What some paths begin with."""
        batch, group = self._batch, self._group[which]
        size, m = self.engine.lanes.size, self.engine.lanes.m
        x = np.empty((len(which), size))
        x[:, : size - m - 1], x[:, size - m - 1] = self._q[which], batch.p[which]
        x[:, size - m :] = self._table[group, self._ends[-1] :]
        closed, asked = self._table[group, self._ends[1] : self._ends[2]], (batch.asked.direction, *batch.asked.bounds)
        sizes = np.ascontiguousarray(self._table[:, : self._ends[1]])
        return LaneStarts(x, closed, batch.vectors[which], group, sizes, asked)

    def _rechecked(self, own: Indices, finds: LaneFinds) -> ManyRows:
        """Events in units, each rechecked; a path with one that fails is left to `trace` from its start."""
        ends, path = finds.ends, finds.path
        left, begun = ~ends.ended | finds.wrong, ends.begun & ~finds.wrong
        self.left[own], self.begun[own], self._started[own] = left, begun, ends.started
        on = own[begun]
        self.since[on], self.sense[on], self.degree[on] = ends.y[begun], ends.sense[begun], ends.degree[begun]
        kept = begun[path] | ~left[path] if left.any() else slice(None)
        return self._listed(own[path[kept]], np.array(finds.x[kept]), np.array(finds.codes[kept]))

    def _listed(self, path: Indices, x: Array, codes: Any) -> ManyRows:
        """Events and points of the rows, each in its own table; the arrays belong to this call alone."""
        points = None
        if self.engine.lanes.knobs.points:
            points, events = ManyTracks(path, x, codes[:, 2].astype(np.intp)), codes[:, 0] != POINT
            path, x, codes = path[events], x[events], codes[events]
        return ManyRows(ManyEvents(path, x, codes), points)
