"""Straight lines of operations printed as C and compiled for a graphics processor: one thread per path.

A thread that is done with a path takes the next one. The text is plain C++ but for four words (`__global__`,
`__device__`, `atomicAdd`, the thread's number), so that it can be compiled and tried on any machine.
"""

import math
from queue import SimpleQueue
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.evaluation.lane_state import START
from onesided.evaluation.native_lanes import LaneTable
from onesided.evaluation.straight import Input, Scalar, ScalarOperation, StraightLine

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">"}
INFIX |= {"ge": ">=", "and": "&&", "or": "||", "xor": "!="}
CALLED = {"sqrt": "sqrt", "abs": "fabs", "pow": "pow", "max": "larger", "min": "smaller", "sign": "sign_of"}
CALLED |= {name: name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")}
CALLED |= {name: name for name in ("asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log1p", "cbrt")}
CALLED |= {"floor": "floor", "ceil": "ceil", "rem": "fmod", "is_finite": "isfinite"}
THREADS = 128  # of a block
ROOM = 16  # rows per path that there is room for at first
BLOCKS = 8  # per multiprocessor, each of which takes paths until none is left

HELPERS = """
__device__ inline double larger(double a, double b) { return a > b || a != a ? a : b; }
__device__ inline double smaller(double a, double b) { return a < b || a != a ? a : b; }
__device__ inline double sign_of(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }
"""
KERNEL = """
extern "C" __global__ void run(double* states, const double* data, double* rows, unsigned long long* counts,
                               const long long count, const long long room, const long long most,
                               const long long ticks) {{
  double s[{length}], d[{given}], e[{width}];
  long long path = -1, spent = 0;
  for (;;) {{
    if (path < 0) {{
      path = (long long)atomicAdd(counts, 1ULL);
      if (path >= count) return;
      for (int i = 0; i < {length}; ++i) s[i] = states[i * count + path];
      for (int i = 0; i < {given}; ++i) d[i] = data[i * count + path];
      spent = 0;
    }}
    const bool told = tick(s, d, e);
    const long long made = (long long)s[{events}];
    if (told) {{
      const long long row = (long long)atomicAdd(counts + 1, 1ULL);
      if (row < room) {{
        for (int i = 0; i < {width}; ++i) rows[row * {wide} + i] = e[i];
        rows[row * {wide} + {width}] = (double)path;
        rows[row * {wide} + {width} + 1] = (double)made;
      }}
    }}
    if (s[{phase}] == {done} || made >= most || ++spent >= ticks) {{
      for (int i = 0; i < {length}; ++i) states[i * count + path] = s[i];
      path = -1;
    }}
  }}
}}
"""


def source(line: StraightLine, sizes: tuple[int, int, int], places: tuple[int, int, float]) -> str:
    """The program: `tick` as a straight line, and the loop over paths around it.

    Results replace what they are made of: they are kept apart until all of them are known.
    """
    (length, given, width), (phase, events, done) = sizes, places
    made = [f"  const {_kind(one)} v{index} = {_written(one, length)};" for index, one in line.operations]
    kept = [f"  const double r{i} = {_named(one, length)};" for i, one in enumerate(line.outputs)]
    stored = [f"  s[{i}] = r{i};" for i in range(length)] + [f"  e[{i}] = r{length + i};" for i in range(width)]
    head = "__device__ inline bool tick(double* s, const double* d, double* e) {"
    tick = "\n".join([head, *made, *kept, *stored, f"  return r{length + width} > 0.0;", "}"])
    numbers = {"length": length, "given": given, "width": width, "phase": phase, "events": events, "done": done}
    numbers["wide"] = width + 2
    return HELPERS + tick + KERNEL.format(**numbers)


def _kind(operation: ScalarOperation) -> str:
    return "bool" if operation.truth else "double"


def _named(one: Any, length: int) -> str:
    """How a number is called: an input, an earlier result, or what it is."""
    if isinstance(one, Input):
        return f"s[{one.index}]" if one.index < length else f"d[{one.index - length}]"
    if isinstance(one, Scalar):
        return f"v{one.index}"
    if isinstance(one, bool):
        return "true" if one else "false"
    if math.isnan(one):
        return "(0.0 / 0.0)"
    return f"({'-' if one < 0 else ''}1.0 / 0.0)" if math.isinf(one) else f"({one!r})"


def _written(operation: ScalarOperation, length: int) -> str:
    name, given = operation.name, [_named(one, length) for one in operation.inputs]
    if name in INFIX:
        return f" {INFIX[name]} ".join(given)
    if name == "select":
        return f"{given[0]} ? {given[2]} : {given[1]}"
    if name == "neg" or name == "not":
        return f"{'-' if name == 'neg' else '!'}{given[0]}"
    return f"{CALLED[name]}({', '.join(given)})"


class CudaLanes:
    """A compiled `tick` on the first graphics processor; arguments as for `NativeLanes`.

    Called from several threads, it copies for one while it computes for another: of paths that have not begun only the
    numbers `first`, of those that are done only the numbers `last` (the others come back as zeros).
    """

    def __init__(
        self,
        line: StraightLine,
        sizes: tuple[int, int, int],
        places: tuple[int, int, float],
        ends: tuple[list[int], list[int]],
    ) -> None:
        self.width, self._places, (self._first, self._last) = sizes[2], places, ends
        self._cupy = _cupy()
        self._streams: SimpleQueue[Any] = SimpleQueue()
        text = source(line, sizes, places)
        self._run = self._cupy.RawKernel(text, "run", options=("-std=c++17",))
        self._run.compile()

    def __call__(self, states: Array, data: Array, most: int, ticks: int) -> LaneTable:
        """Run paths until they are done, have `most` rows, or were evaluated `ticks` times."""
        count, room, made = len(states), ROOM * len(states), None
        stream = self._cupy.cuda.Stream(non_blocking=True) if self._streams.empty() else self._streams.get()
        with stream:
            given = self._sent(data)
            while made is None:
                made, room = self._once(self._begun(states), given, (count, room, most, ticks))
        self._streams.put(stream)
        return made

    def _sent(self, table: Array) -> Any:
        """A number of all paths after the other, on the device."""
        return self._cupy.ascontiguousarray(self._cupy.asarray(np.ascontiguousarray(table)).T)

    def _begun(self, states: Array) -> Any:
        """States on the device; of paths that have not begun only the numbers that differ are sent."""
        if np.any(states[:, self._places[0]] != START):
            return self._sent(states)
        there = self._cupy.empty((states.shape[1], len(states)))
        there[:] = self._cupy.asarray(states[0])[:, None]
        for place, numbers in zip(self._first, self._sent(states[:, self._first]), strict=True):
            there[place] = numbers
        return there

    def _fetched(self, there: Any) -> Array:
        """States from the device, (B, length), with all numbers of the paths that are not done."""
        cupy, (phase, _, done) = self._cupy, self._places
        asked = cupy.empty((len(self._last), there.shape[1]))
        for into, place in enumerate(self._last):
            asked[into] = there[place]
        states = np.zeros(there.shape)
        states[self._last] = cupy.asnumpy(asked)
        on = np.flatnonzero(states[phase] != done)
        if len(on):
            states[:, on] = cupy.asnumpy(there[:, cupy.asarray(on)])
        return states.T

    def _once(self, there: Any, given: Any, numbers: tuple[int, int, int, int]) -> tuple[LaneTable | None, int]:
        """What was made, or None where there was no room for all rows; how many rows there were."""
        cupy, at = self._cupy, self._places[1]
        before = there[at].copy()
        there[at] = 0.0
        rows = cupy.empty((numbers[1], self.width + 2))
        counts = cupy.zeros(2, dtype=cupy.uint64)
        blocks = min(-(-numbers[0] // THREADS), BLOCKS * cupy.cuda.Device().attributes["MultiProcessorCount"])
        self._run((blocks,), (THREADS,), (there, given, rows, counts, *map(np.int64, numbers)))
        made = int(counts[1])
        if made > numbers[1]:
            return None, made
        own, listed = there[at].astype(cupy.int64), rows[:made]
        first = cupy.cumsum(own) - own  # rows of the paths before
        ordered = cupy.empty((made, self.width))
        ordered[first[listed[:, -2].astype(cupy.int64)] + listed[:, -1].astype(cupy.int64) - 1] = listed[:, :-2]
        there[at] += before
        path = np.repeat(np.arange(numbers[0]), cupy.asnumpy(own))
        return LaneTable(self._fetched(there), cupy.asnumpy(ordered), path), made


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
