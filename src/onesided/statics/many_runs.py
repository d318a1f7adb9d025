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
from onesided.evaluation.lane_runs import LaneEngine, around_again
from onesided.evaluation.lane_state import (
    AT_BOUND,
    AT_LIMIT,
    CLOSES,
    CORNER_CLOSES,
    CORNER_OPENS,
    ENDED,
    LEFT,
    OPENS,
    POINT,
)
from onesided.evaluation.native_lanes import LaneTable
from onesided.results import Kind
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.many_checks import broken, equilibria
from onesided.statics.many_samples import LaneFrame, ManyTracks
from onesided.statics.many_starts import ManyStarts, alike
from onesided.statics.paths import start_of
from onesided.statics.tracing.hits import PathWatch
from onesided.system.system import System

KINDS = {AT_LIMIT: Kind.limit, OPENS: Kind.opens, CLOSES: Kind.closes, AT_BOUND: Kind.bound}
KINDS |= {CORNER_OPENS: Kind.corner_limit, CORNER_CLOSES: Kind.corner_limit}
NAMES = np.array([KINDS[code].name if code in KINDS else "" for code in range(POINT + 1)], dtype=object)
TICKS = 100_000  # evaluations of a path until it is handed over: it may be closed
BROKEN = (ArithmeticError, ValueError)  # overflow, or matrices that are not finite


class ManyEvents(NamedTuple):
    """Columns of `ManyPaths`, an entry per event."""

    path: Indices
    kind: Any
    constraint: Any
    p: Array
    q: Array
    nu: Array
    before: Indices
    after: Indices


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
        order = np.argsort(groups, kind="stable")
        owned = np.split(order, np.cumsum(np.bincount(groups, minlength=len(members)))[:-1])
        for member, own in zip(members.tolist(), owned, strict=True):
            self._put(own, member)
        made = self._through(np.flatnonzero(self._group >= 0), told)
        again = np.flatnonzero(~self._started)
        for i in again:
            self._put(np.array([i]), int(i))
        return made + self._through(again[self._group[again] >= 0], told)

    def frame(self, which: Indices) -> LaneFrame:
        """Parameters and sizes of some paths."""
        unit, weight, *_ = self._sizes(which)
        return LaneFrame(self._batch.vectors[which], unit, weight)

    def _put(self, own: Indices, member: int) -> None:
        """Some paths with the sizes, contacts and reactions of one of them, each from its own start."""
        stands = self._standing(member)
        if stands is None:
            return
        n, m = self.engine.lanes.n, self.engine.lanes.m
        closed = np.zeros(m)
        closed[stands.strong] = 1.0
        self._group[own] = len(self._groups)
        self._groups.append(
            np.concatenate([stands.unit, stands.sizes.force, stands.scales.gap, closed, stands.x[n + 1 :]])
        )
        self._q[member] = stands.x[:n]

    def _standing(self, i: int) -> Standpoint | None:
        """The start of one path: sizes and closed contacts; None where there is none."""
        batch, watch = self._batch, PathWatch(self._batch.asked.bounds, {}, self._tolerances)
        own = batch.system(self._system, i)
        try:
            return start_of(own, batch.q[i], float(batch.p[i]), watch, None, (None, None))[0].where
        except (SolveError, *BROKEN):
            return None

    def _sizes(self, which: Indices) -> list[Array]:
        return np.split(self._table[self._group[which]], self._ends, axis=1)

    def _through(self, which: Indices, told: Callable[[int, int], None]) -> list[ManyRows]:
        if not len(which):
            return []
        self._table, events = np.array(self._groups), 0

        def counted(paths: int, made: ManyRows) -> None:
            nonlocal events
            events += len(made.events.p)
            told(paths, events)

        return self.engine.run(
            len(which),
            lambda some: self._given(which[some]),
            lambda some, table: self._rechecked(which[some], table),
            TICKS,
            counted,
        )

    def _given(self, which: Indices) -> tuple[Array, Array]:
        """States and data of some paths."""
        batch, n = self._batch, self.engine.lanes.n
        unit, weight, closed, nu = self._sizes(which)
        x = np.hstack([self._q[which], batch.p[which, None], nu])
        bounds = np.array(batch.asked.bounds) / unit[:, n, None]
        sense = np.full((len(which), 1), float(batch.asked.direction))
        data = np.hstack([batch.vectors[which], unit, weight, sense, bounds])
        return self.engine.lanes.start(x / unit, closed), data

    def _rechecked(self, own: Indices, table: LaneTable) -> ManyRows:
        """Events in units, each rechecked; a path with one that fails is left to `trace` from its start."""
        lanes, frame, path = self.engine.lanes, self.frame(own), table.path
        size, last = lanes.size, lanes.unpacked(table.states)
        x, good = equilibria(self.engine, table, frame)
        left = last.how != ENDED
        begun = (last.how == LEFT) & (last.points > 0) & (last.s_1 != last.s - 1.0)  # not where two legs meet
        wrong = np.concatenate([path[~good], around_again(table, size, lanes.knobs.near), broken(table, size, last)])
        left[wrong], begun[wrong] = True, False
        self.left[own], self.begun[own], self._started[own] = left, begun, (last.how == ENDED) | (last.points > 0)
        self.since[own], self.sense[own], self.degree[own] = last.y * frame.unit, last.sense, last.degree
        kept, rows = begun[path] | ~left[path], table.rows[:, size:]
        if not kept.all():
            path, x, rows = path[kept], x[kept], rows[kept]
        return self._listed(own[path], x, rows)

    def _listed(self, path: Indices, x: Array, rows: Array) -> ManyRows:
        """Events and points of the rows, each in its own table."""
        points = ManyTracks(path, x, rows[:, 2].astype(np.intp)) if self.engine.lanes.knobs.points else None
        if points is not None:
            events = rows[:, 0] != POINT
            path, x, rows = path[events], x[events], rows[events]
        n, names = self.engine.lanes.n, self._system.constraint_names
        chosen, listed = rows[:, 5:], np.array([*names, ""], dtype=object)
        places = np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1) if names else np.full(len(rows), -1)
        before, after = rows[:, 1:3].astype(np.intp).T
        kinds = NAMES[rows[:, 0].astype(np.intp)]
        return ManyRows(
            ManyEvents(path, kinds, listed[places], x[:, n], x[:, :n], x[:, n + 1 :], before, after), points
        )
