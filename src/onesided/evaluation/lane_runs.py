"""Many paths of one model on what this machine has: its vector units, a graphics processor, or JAX's compiler.

Whichever it is, it runs the same straight line of operations; functions that cannot be written as one are left to JAX.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from onesided.base.log import LOG
from onesided.base.processors import processors
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.compiling import compiler_options
from onesided.evaluation.cuda_lanes import CudaLanes, has_gpu
from onesided.evaluation.derivatives import Derivatives
from onesided.evaluation.lane_checks import (
    SAMPLED,
    LaneFinds,
    LaneStarts,
    RowCheck,
    around_again,
    found_here,
    states_of,
)
from onesided.evaluation.lane_state import POINT, LaneKnobs
from onesided.evaluation.native_lanes import LaneTable, NativeLanes
from onesided.evaluation.path_lanes import PathLanes
from onesided.evaluation.straight import NotStraightError, straight

ROOM = 64  # rows that a path may make before it is looked at
AGAIN, OFTEN = 64, 8  # so often at most, with all points and with events alone; a path with more rows is not done
CHUNK = {"cpu": 1 << 13, "xla": 1 << 10}  # paths of one call
FEW = 1 << 9  # paths of one call of JAX's code that take less time than optimising it
PIECE = 1 << 15  # paths whose rows one thread looks at

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
        self._many = {
            quick: jax.jit(self._loop, static_argnums=2, compiler_options=compiler_options(quick=quick))
            for quick in (False, True)
        }

    def __call__(self, states: Array, data: Array, most: int, ticks: int) -> LaneTable:
        """Last states, rows and their paths."""
        at = self._lanes.places[1]
        start = jnp.asarray(states).at[:, at].set(0.0)
        ends, table = (np.array(one) for one in self._many[len(states) <= FEW](start, jnp.asarray(data), most, ticks))
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


class HostLanes:
    """Paths on this machine's processors: run to their ends, and rechecked; so many (`chunk`) in one call."""

    at_once = 2  # calls: paths take all processors, but what follows takes one

    def __init__(self, lanes: PathLanes, run: LaneRunner, check: RowCheck, chunk: int) -> None:
        self._lanes, self._run, self._check, self.chunk = lanes, run, check, chunk

    @contextmanager
    def follow(self, starts: LaneStarts, ticks: int) -> Iterator[LaneFinds]:
        """What becomes of some paths."""
        yield found_here(self._check, self._lanes, self._to_the_end(*states_of(self._lanes, starts), ticks), starts)

    def _to_the_end(self, states: Array, data: Array, ticks: int) -> LaneTable:
        """Paths of one call; those with many rows go on where they were."""
        made = self._run(states, data, ROOM, ticks)
        ends, parts, which = made.states, [made], np.arange(len(states))
        (phase, _, done), size = self._lanes.places, self._lanes.size
        near = np.full((1, size), self._lanes.knobs.near)
        for _ in range((AGAIN if self._lanes.knobs.points else OFTEN) - 1):
            rows = np.bincount(made.path, minlength=len(which))
            on = (made.states[:, phase] != done) & (rows >= ROOM)
            if on.any():
                events = made.rows[:, size] != POINT
                own, points = np.bincount(made.path[events], minlength=len(which)), made.rows[events, :size]
                on[around_again(own, points, made.rows[events, size], near.repeat(len(which), 0))] = False
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


class LaneEngine:
    """Everything compiled that many paths of a model need; `name` says what they run on."""

    def __init__(
        self, derivatives: Derivatives, bilateral: int, parameters: int, knobs: LaneKnobs, device: str
    ) -> None:
        self.lanes = PathLanes(derivatives.n, derivatives.m, bilateral, derivatives.blocks, parameters, knobs)
        self._check = RowCheck(derivatives, self.lanes)
        self.name, self.runner = _runner(self.lanes, self._check, device)

    def run(
        self,
        count: int,
        given: Callable[[Indices], LaneStarts],
        finish: Callable[[Indices, LaneFinds], Made],
        ticks: int,
        told: Callable[[int, list[Made]], None],
    ) -> list[Made]:
        """Run paths to their ends, some at a time.

        Parameters
        ----------
        given : numbers of some paths → what they begin with.
        finish : numbers of some paths, what became of them (with paths counted among them) → what is kept: copies,
            since arrays of a device are used again.
        told : receives how many paths are done, and what was kept of the last ones.
        """
        chunk, kept = self.runner.chunk, list[Made]()

        def done(first: int) -> list[Made]:
            which = np.arange(first, min(first + chunk, count))
            starts = given(which)
            with self.runner.follow(starts, ticks) as finds:
                confirmed = helpers.submit(self._confirmed, finds, starts)
                made = pieces(which, finds)
                return made if confirmed.result() is finds else pieces(which, confirmed.result())

        def pieces(which: Indices, finds: LaneFinds) -> list[Made]:
            return list(helpers.map(lambda one: finish(which[one[0]], one[1]), finds.pieces(PIECE)))

        with ThreadPoolExecutor(self.runner.at_once) as pool, ThreadPoolExecutor(processors()) as helpers:
            try:
                for number, made in enumerate(pool.map(done, range(0, count, chunk)), 1):
                    kept += made
                    told(min(chunk * number, count), made)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return kept

    def _confirmed(self, finds: LaneFinds, starts: LaneStarts) -> LaneFinds:
        """Rows that a device has rechecked, some of them once more here: where one fails only here, all are."""
        if isinstance(self.runner, HostLanes):
            return finds
        count, last = len(finds.x), np.cumsum(finds.own)
        sampled = min(count, max(SAMPLED, count // 100))
        for some in (np.linspace(0, count, sampled, endpoint=False).astype(np.intp), np.arange(count)):
            wrong, path = finds.wrong.copy(), np.searchsorted(last, some, side="right")
            wrong[path[~self._holds(finds, starts, some, path)]] = True
            if np.array_equal(wrong, finds.wrong):
                break
            LOG.warning("a recheck on the device passed a point that is none: all points are rechecked here")
            finds = finds._replace(wrong=wrong)
        return finds

    def _holds(self, finds: LaneFinds, starts: LaneStarts, rows: Indices, path: Indices) -> Mask:
        good = np.zeros(len(rows), dtype=bool)
        for first in range(0, len(rows), SAMPLED):
            here = slice(max(0, min(first, len(rows) - SAMPLED)), first + SAMPLED)
            own = path[here]
            sizes = starts.sizes[starts.group[own]]
            good[here] = self._check.holds(finds.x[rows[here]], starts.vectors[own], sizes)
        return good


def engine_for(derivatives: Derivatives, bilateral: int, parameters: int, knobs: LaneKnobs, device: str) -> LaneEngine:
    """The engine of a model: compiled once, whatever its parameters are."""
    key = bilateral, parameters, knobs, device
    if key not in derivatives.engines:
        derivatives.engines[key] = LaneEngine(derivatives, bilateral, parameters, knobs, device)
    found: LaneEngine = derivatives.engines[key]
    return found


def _runner(lanes: PathLanes, check: RowCheck, device: str) -> tuple[str, HostLanes | CudaLanes]:
    """What runs, by name: a graphics processor where there is one, unless another is asked for."""
    sizes = lanes.length, lanes.given, lanes.width
    if device == "xla":
        return "xla", HostLanes(lanes, XlaLanes(lanes), check, CHUNK["xla"])
    try:
        line = straight(lanes.tick, lanes.length, lanes.given)
        if device == "gpu" or (device == "auto" and has_gpu()):
            return "gpu", CudaLanes(lanes, line, straight(check.checked, lanes.size, check.given))
    except NotStraightError:
        return "xla", HostLanes(lanes, XlaLanes(lanes), check, CHUNK["xla"])
    return "cpu", HostLanes(lanes, NativeLanes(line, sizes, lanes.places), check, CHUNK["cpu"])
