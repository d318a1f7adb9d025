"""Very many paths on a graphics processor: begun, run and rechecked there, so that only what is asked for travels.

A thread that is done with a path takes the next one [`cuda_text`].
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onesided.base.errors import UsageError
from onesided.evaluation.cuda_text import Layout, source
from onesided.evaluation.lane_checks import CODES, LaneFinds, LaneStarts, ends_of
from onesided.evaluation.lane_state import ENDED, POINT
from onesided.evaluation.path_lanes import PathLanes
from onesided.evaluation.straight import StraightLine

OPTIONS = ("-std=c++17",)
THREADS = 128  # of a block
BLOCKS = 8  # per multiprocessor, each of which takes paths until none is left
ROOM, ROOM_POINTS = 16, 256  # rows per path that there is room for at first, of events alone and with all points
CHUNK = 1 << 19  # paths of one call: at the end of each there is less and less to do, and calls do not overlap
SHARE = 0.8  # of the memory that is free, for all of them
MOST, MOST_POINTS = 512, 4096  # rows of a path, of events alone and with all points; one with more is not done
ASKED = ("how", "points", "s", "s_1", "degree")  # of every path; of those that did not come to their end also where


class _Lane(NamedTuple):
    """Memory that belongs to one chunk at a time: a stream, and pages that the device writes to directly."""

    stream: Any
    pages: list[Any]


class CudaLanes:
    """A compiled `tick` and the recheck of its rows on the first graphics processor.

    Called from several threads, it copies for one while it computes for another.
    """

    at_once = 3  # calls: one runs, one is made ready, and what became of one is copied

    def __init__(self, lanes: PathLanes, tick: StraightLine, check: StraightLine) -> None:
        self._lanes, self._layout = lanes, _layout(lanes)
        self.cupy = _cupy()
        self._free: SimpleQueue[_Lane] = SimpleQueue()
        self._room = ROOM_POINTS if lanes.knobs.points else ROOM  # rows per path: what there was of them before
        self.text = source(tick, check, self._layout)
        module = self.cupy.RawModule(code=self.text, options=OPTIONS)
        module.compile()
        self.kernels = SimpleNamespace(
            **{name: module.get_function(name) for name in ("begin", "run", "check", "connect")}
        )

    @cached_property
    def chunk(self) -> int:
        """How many paths there is memory for in one call."""
        each = self._layout.length + self._layout.given + self._room * (self._layout.width + self._layout.size + 4)
        return int(min(CHUNK, max(1, SHARE * self.cupy.cuda.Device().mem_info[0] // (self.at_once * 8 * each))))

    @contextmanager
    def follow(self, starts: LaneStarts, ticks: int) -> Iterator[LaneFinds]:
        """What becomes of some paths; points and codes lie in memory that is used again."""
        lane = _Lane(self.cupy.cuda.Stream(non_blocking=True), []) if self._free.empty() else self._free.get()
        try:
            with lane.stream:
                there, given, rows, made = self._rows(starts, ticks)
                yield self._finds(lane, starts, (there, given, rows, made))
        finally:
            self._free.put(lane)

    def begun(self, starts: LaneStarts) -> tuple[Any, Any]:
        """States and data of paths that begin, a number of all paths after the other."""
        cupy, count = self.cupy, len(starts.x)
        blank = self._lanes.start(np.zeros((1, self._layout.size)), np.zeros((1, self._layout.contacts)))[0]
        there, given = cupy.empty((self._layout.length, count)), cupy.empty((self._layout.given, count))
        columns = (blank, *starts[:-1], np.array(starts.asked, dtype=np.float64))
        sent = [cupy.asarray(np.ascontiguousarray(column)) for column in columns]
        self._launch(self.kernels.begin, count, (there, given, *sent, np.int64(count)))
        return there, given

    def _rows(self, starts: LaneStarts, ticks: int) -> tuple[Any, Any, Any, int]:
        """Last states, data, rows in any order, and how many there are: once more where there was no room for all."""
        cupy, count, most = self.cupy, len(starts.x), MOST_POINTS if self._lanes.knobs.points else MOST
        while True:
            room = self._room * count
            there, given = self.begun(starts)
            rows, counts = cupy.empty((room, self._layout.width + 2)), cupy.zeros(2, dtype=cupy.uint64)
            numbers = map(np.int64, (count, room, most, ticks))
            self._launch(self.kernels.run, count, (there, given, rows, counts, *numbers))
            made = int(counts[1])
            if made <= room:
                return there, given, rows, made
            self._room = max(self._room, -(-made // count))

    def _finds(self, lane: _Lane, starts: LaneStarts, run: tuple[Any, Any, Any, int]) -> LaneFinds:
        """Rows in order, rechecked, and where paths stand."""
        cupy, (there, given, rows, made), count = self.cupy, run, len(starts.x)
        own = there[self._layout.events].astype(cupy.int64)
        first = cupy.cumsum(own) - own  # rows of the paths before
        x, codes = cupy.empty((made, self._layout.size)), cupy.empty((made, CODES), dtype=cupy.int32)
        wrong = cupy.zeros(count, dtype=cupy.uint8)
        if made:
            arguments = (x, codes, wrong, rows, given, first, np.int64(made), np.int64(count))
            self._launch(self.kernels.check, made, arguments)
            self._launch(self.kernels.connect, count, (wrong, x, codes, there, given, first, np.int64(count)))
        places = self._lanes.columns(*ASKED)
        own, wrong, x, codes, *numbers = self._landed(lane, [own, wrong, x, codes, *(there[i] for i in places)])
        last = SimpleNamespace(**dict(zip(ASKED, numbers, strict=True)))
        last.sense, y = np.zeros(count), np.zeros((count, self._layout.size))
        if starts.asked[0] == 0 or np.any(last.how != ENDED):
            last.sense = cupy.asnumpy(there[self._lanes.columns("sense")[0]])
            ahead = self._lanes.columns("y")
            y = cupy.asnumpy(there[ahead[0] : ahead[-1] + 1]).T * starts.sizes[starts.group, : self._layout.size]
        return LaneFinds(np.array(own), x, codes, wrong.astype(bool), ends_of(last, y))

    def _landed(self, lane: _Lane, arrays: list[Any]) -> list[NDArray[Any]]:
        """Arrays from the device, in pages that are used again for the next ones."""
        sizes = [-(-array.nbytes // 8) * 8 for array in arrays]
        if not lane.pages or lane.pages[0].nbytes < sum(sizes):
            wanted = sum(sizes) + sum(sizes) // 4
            lane.pages[:] = [np.frombuffer(self.cupy.cuda.alloc_pinned_memory(wanted), np.uint8, wanted)]
        made, at = list[NDArray[Any]](), 0
        for array, size in zip(arrays, sizes, strict=True):
            into = np.frombuffer(lane.pages[0], array.dtype, array.size, at).reshape(array.shape)
            made.append(self.cupy.asnumpy(array, out=into))
            at += size
        return made

    def _launch(self, kernel: Any, count: int, arguments: tuple[Any, ...]) -> None:
        """Run a kernel with a thread for each of so many, or with as many as there are."""
        units = self.cupy.cuda.Device().attributes["MultiProcessorCount"]
        kernel((min(-(-count // THREADS), BLOCKS * units),), (THREADS,), arguments)


def _layout(lanes: PathLanes) -> Layout:
    phase, events, done = lanes.places
    z, closed, level = (lanes.columns(name) for name in ("z", "closed", "level"))
    sizes = lanes.size + lanes.n + lanes.m
    return Layout(
        length=lanes.length, given=lanes.given, width=lanes.width, size=lanes.size, sizes=sizes, contacts=lanes.m,
        parameters=lanes.given - 3 - sizes, z=z[0], closed=closed[0] if closed else 0, level=level[0], phase=phase,
        events=events, done=done, p=lanes.n, codes=CODES, point=POINT, degree=lanes.columns("degree")[0],
        near=lanes.knobs.near,
    )  # fmt: skip


def _cupy() -> Any:
    try:
        import cupy  # type: ignore[import-not-found, unused-ignore]
    except ImportError as e:
        raise UsageError(
            "a graphics processor is used through the package cupy, which is not installed",
            advice="pip install 'onesided[gpu]', or device='cpu'",
        ) from e
    return cupy


def has_gpu() -> bool:
    """Whether there is a graphics processor that can be used."""
    try:
        return bool(_cupy().cuda.runtime.getDeviceCount())
    except Exception:  # noqa: BLE001 - a driver that is missing or too old, in many ways
        return False
