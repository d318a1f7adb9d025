"""What many paths are rechecked by: equilibrium from the model, and that no event is missing between two others."""

import numpy as np

from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.lane_runs import RECHECKED, LaneEngine
from onesided.evaluation.lane_state import Lane
from onesided.evaluation.native_lanes import LaneTable
from onesided.statics.many_samples import LaneFrame


def broken(table: LaneTable, size: int, last: Lane) -> Indices:
    """Paths on which an event is missing: the negative modes after one are not those before the next, or at the end."""
    path, before, after = table.path, table.rows[:, size + 1], table.rows[:, size + 2]
    follows = path[1:] == path[:-1]
    ends = np.append(~follows, True) if len(path) else np.zeros(0, dtype=bool)
    breaks = np.append(follows & (before[1:] != after[:-1]), False) if len(path) else ends
    return np.asarray(path[breaks | (ends & (after != last.degree[path]))])


def equilibria(engine: LaneEngine, table: LaneTable, frame: LaneFrame) -> tuple[Array, Mask]:
    """Packed points of rows, and whether they are equilibria with contacts that push [SP1 (3.3), (3.4)].

    Some at a time: what is made on the way stays in the processor's caches.
    """
    count = len(table.rows)
    x, good = np.empty((count, engine.lanes.size)), np.zeros(count, dtype=bool)
    for first in range(0, count, RECHECKED):
        some = slice(max(0, min(first, count - RECHECKED)), min(first + RECHECKED, count))  # of one length, if many
        own = LaneFrame(*(column[table.path[some]] for column in frame))
        x[some] = table.rows[some, : engine.lanes.size] * own.unit
        good[some] = _in_balance(engine, x[some], own)
    return x, good


def _in_balance(engine: LaneEngine, x: Array, frame: LaneFrame) -> Mask:
    """Forces, gaps and reactions of packed points, each with parameters and sizes of its own."""
    n, k, weight, unit = engine.lanes.n, engine.lanes.k, frame.weight, frame.unit
    L_q, c = engine.residuals(x, frame.vectors)
    small = engine.lanes.knobs.weak
    forces, gaps = np.abs(L_q) / weight[:, :n], c / weight[:, n:]
    pushes = x[:, n + 1 :] / unit[:, n + 1 :]
    good = (forces <= small).all(axis=1) & (np.abs(gaps[:, :k]) <= small).all(axis=1)
    good &= (gaps[:, k:] >= -small).all(axis=1) & (pushes[:, k:] >= -small).all(axis=1)
    met = np.minimum(np.abs(gaps[:, k:]), np.abs(pushes[:, k:])) <= small
    return np.asarray(good & met.all(axis=1))
