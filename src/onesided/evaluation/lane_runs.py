"""Many paths of one model on what this machine has: its vector units, a graphics processor, or JAX's compiler.

Whichever it is, it runs the same straight line of operations; functions that cannot be written as one are left to JAX.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.processors import processors
from onesided.base.types import Array, Indices
from onesided.evaluation.compiling import compiled, compiler_options
from onesided.evaluation.cuda_lanes import CudaLanes, has_gpu
from onesided.evaluation.derivatives import Derivatives
from onesided.evaluation.lane_state import FIRST, LAST, POINT, LaneKnobs
from onesided.evaluation.native_lanes import LaneTable, NativeLanes
from onesided.evaluation.path_lanes import PathLanes
from onesided.evaluation.straight import NotStraightError, straight

ROOM = 64  # rows that a path may make before it is looked at
RECHECKED = 1 << 13  # points that are looked at in one call, where there are so many at least
AGAIN, OFTEN = 64, 8  # so often at most, with all points and with events alone; a path with more rows is not done
CHUNK = {"cpu": 1 << 13, "gpu": 1 << 16, "xla": 1 << 10}  # paths of one call
MOST_AT_ONCE = 8  # chunks: while one runs, others are made ready, or what became of them is looked at

Made = TypeVar("Made")


class LaneRunner(Protocol):
    """Runs states until paths are done, have so many rows, or were evaluated so often."""

    def __call__(self, states: Array, data: Array, most: int, ticks: int) -> LaneTable:
        """Last states, rows and their paths."""
        ...


class XlaLanes:
    """The same by JAX's compiler, for functions with loops or branches: all paths wait for the longest."""

    def __init__(self, lanes: PathLanes) -> None:
        self._lanes = lanes
        self._many = jax.jit(self._loop, static_argnums=2, compiler_options=compiler_options(quick=False))

    def __call__(self, states: Array, data: Array, most: int, ticks: int) -> LaneTable:
        """Last states, rows and their paths."""
        at = self._lanes.places[1]
        start = jnp.asarray(states).at[:, at].set(0.0)
        ends, table = (np.array(one) for one in self._many(start, jnp.asarray(data), most, ticks))
        made = ends[:, at].astype(np.intp)
        ends[:, at] += states[:, at]
        return LaneTable(ends, table[:, :most][np.arange(most) < made[:, None]], np.repeat(np.arange(len(made)), made))

    def _loop(self, states: Any, data: Any, most: int, ticks: Any) -> Any:
        length, width, (phase, at, done) = self._lanes.length, self._lanes.width, self._lanes.places
        tick, paths = jax.vmap(self._lanes.tick), jnp.arange(len(states))

        def busy(states: Any) -> Any:
            return (states[:, phase] != done) & (states[:, at] < most)

        def go(carried: Any) -> Any:
            states, table, spent = carried
            made = tick(states, data)
            after = jnp.where(busy(states)[:, None], made[:, :length], states)
            told = busy(states) & (made[:, -1] > 0)
            number = jnp.where(told, after[:, at].astype(int) - 1, most)  # the last place is for what is not kept
            return after, table.at[paths, number].set(made[:, length : length + width]), spent + 1

        start = states, jnp.zeros((len(states), most + 1, width)), 0
        return lax.while_loop(lambda carried: jnp.any(busy(carried[0])) & (carried[2] < ticks), go, start)[:2]


class LaneEngine:
    """Everything compiled that many paths of a model need; `name` says what they run on."""

    def __init__(
        self, derivatives: Derivatives, bilateral: int, parameters: int, knobs: LaneKnobs, device: str
    ) -> None:
        self.lanes = PathLanes(derivatives.n, derivatives.m, bilateral, derivatives.blocks, parameters, knobs)
        self.name, self._run = _runner(self.lanes, device)
        residuals = jax.vmap(derivatives.packed_residual)
        self._residuals, self._many_residuals = compiled(residuals, rare=True), jax.jit(residuals)

    def run(
        self,
        count: int,
        given: Callable[[Indices], tuple[Array, Array]],
        finish: Callable[[Indices, LaneTable], Made],
        ticks: int,
        told: Callable[[int, Made], None],
    ) -> list[Made]:
        """Run paths to their ends, some at a time.

        Parameters
        ----------
        given : numbers of some paths → their states and data.
        finish : numbers of some paths, their last states and rows (with paths counted among them) → what is kept.
        told : receives how many paths are done, and what was kept of the last ones.
        """
        chunk, kept = CHUNK[self.name], list[Made]()

        def done(first: int) -> Made:
            which = np.arange(first, min(first + chunk, count))
            return finish(which, self._to_the_end(*given(which), ticks))

        with ThreadPoolExecutor(_at_once(self.name)) as pool:
            try:
                for made in pool.map(done, range(0, count, chunk)):
                    kept.append(made)
                    told(min(chunk * len(kept), count), made)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return kept

    def _to_the_end(self, states: Array, data: Array, ticks: int) -> LaneTable:
        """Paths of one call; those with many rows go on where they were."""
        made = self._run(states, data, ROOM, ticks)
        ends, parts, which = made.states, [made], np.arange(len(states))
        phase, _, done = self.lanes.places
        for _ in range((AGAIN if self.lanes.knobs.points else OFTEN) - 1):
            rows = np.bincount(made.path, minlength=len(which))
            on = (made.states[:, phase] != done) & (rows >= ROOM)
            if on.any():
                on[around_again(made, self.lanes.size, self.lanes.knobs.near)] = False
            if not on.any():
                break
            which, current = which[on], made.states[on]
            made = self._run(current, data[which], ROOM, ticks)
            ends[which] = made.states
            parts.append(LaneTable(made.states, made.rows, which[made.path]))
        if len(parts) == 1:
            return made
        table, path = np.concatenate([part.rows for part in parts]), np.concatenate([part.path for part in parts])
        order = np.argsort(path, kind="stable")
        return LaneTable(ends, table[order], path[order])

    def residuals(self, X: Array, vectors: Array) -> tuple[Array, Array]:
        """L_q and c at packed points, each with parameters of its own: by other code than that which made them."""
        n = self.lanes.n
        out = np.asarray((self._many_residuals if len(X) == RECHECKED else self._residuals)(X, vectors))
        return out[:, 1 : n + 1], out[:, n + 1 :]


def _at_once(device: str) -> int:
    """Chunks at a time: paths on this machine's processors take all of them, but what follows takes one."""
    return min(processors(), MOST_AT_ONCE) if device == "gpu" else 2


def around_again(table: LaneTable, size: int, near: float) -> Indices:
    """Paths that come back to their first event: they are closed, and were followed more than once around."""
    events = np.flatnonzero(table.rows[:, size] != POINT)
    path = table.path[events]
    begins = np.flatnonzero(np.append(True, path[1:] != path[:-1])[: len(path)])
    first = np.repeat(events[begins], np.diff(np.append(begins, len(path))))
    same = (first != events) & (table.rows[events, size] == table.rows[first, size])
    for column in range(size):  # most differ in the first
        places = np.flatnonzero(same)
        apart = table.rows[events[places], column] - table.rows[first[places], column]
        same[places] = np.abs(apart) <= near
    return np.unique(path[same])


def engine_for(derivatives: Derivatives, bilateral: int, parameters: int, knobs: LaneKnobs, device: str) -> LaneEngine:
    """The engine of a model: compiled once, whatever its parameters are."""
    key = bilateral, parameters, knobs, device
    if key not in derivatives.engines:
        derivatives.engines[key] = LaneEngine(derivatives, bilateral, parameters, knobs, device)
    found: LaneEngine = derivatives.engines[key]
    return found


def _runner(lanes: PathLanes, device: str) -> tuple[str, LaneRunner]:
    """What runs, by name: a graphics processor where there is one, unless another is asked for."""
    sizes = lanes.length, lanes.given, lanes.width
    if device == "xla":
        return "xla", XlaLanes(lanes)
    try:
        line = straight(lanes.tick, lanes.length, lanes.given)
    except NotStraightError:
        return "xla", XlaLanes(lanes)
    if device == "gpu" or (device == "auto" and has_gpu()):
        return "gpu", CudaLanes(line, sizes, lanes.places, (lanes.columns(*FIRST), lanes.columns(*LAST)))
    return "cpu", NativeLanes(line, sizes, lanes.places)
