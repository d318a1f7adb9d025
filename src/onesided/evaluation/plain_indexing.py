"""Entries of arrays taken and added at computed places, by NumPy: `gather` and `scatter-add` of traced functions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from onesided.base.types import Array


class Windows(NamedTuple):
    """How windows lie in an array: axes of the other array that run over a window, axes of the array that none does.

    starts : axes of the array to which the last axis of the indices belongs;  paired : axes of the array, and of the
    indices, that go along with each other;  sizes : of a window, along every axis of the array.
    """

    over: Sequence[int]
    without: Sequence[int]
    starts: Sequence[int]
    paired: tuple[Sequence[int], Sequence[int]]
    sizes: Sequence[int]

    def places(self, indices: Any, shape: Sequence[int], count: int) -> tuple[tuple[Any, ...], Any]:
        """Index along every axis of an array of this shape, for the `count` axes of the other; whether it exists."""
        others = [axis for axis in range(count) if axis not in self.over]
        running = iter(self.over)
        found, inside = [], np.ones((1,) * count, dtype=bool)
        for axis, size in enumerate(shape):
            place = np.zeros((1,) * count, dtype=np.intp)
            if axis in self.starts:
                start = _spread(indices[..., list(self.starts).index(axis)], others, count)
                inside = inside & (start >= 0) & (start <= size - self.sizes[axis])
                place = place + np.clip(start, 0, size - self.sizes[axis])
            if axis in self.paired[0]:
                own = others[self.paired[1][list(self.paired[0]).index(axis)]]
                place = place + _spread(np.arange(size), [own], count)
            elif axis not in self.without:
                place = place + _spread(np.arange(self.sizes[axis]), [next(running)], count)
            found.append(place)
        return tuple(found), inside


def _spread(values: Any, axes: Sequence[int], count: int) -> Any:
    """Values with their axes among `count` of them."""
    shape = [1] * count
    for axis, size in zip(axes, np.shape(values), strict=True):
        shape[axis] = size
    return np.reshape(values, shape)


def _remembered(find: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What is found for indices, found again only where they are not the same constant array as before."""
    last: list[Any] = [None, None]

    def found(indices: Any) -> Any:
        if last[0] is not indices or indices.flags.writeable:
            last[:] = indices, find(indices)
        return last[1]

    return found


def taken(params: Any, given: Sequence[Any], out: Sequence[Any]) -> Callable[..., Any]:
    """Windows of an array, one for every row of the indices; those outside are filled or moved inside."""
    at, shape, fills = params["dimension_numbers"], out[0].shape, "FILL" in params["mode"].name
    none = np.nan if params["fill_value"] is None else params["fill_value"]
    windows = Windows(
        at.offset_dims,
        at.collapsed_slice_dims,
        at.start_index_map,
        (at.operand_batching_dims, at.start_indices_batching_dims),
        params["slice_sizes"],
    )

    find = _remembered(lambda indices: windows.places(indices, given[0].shape, len(shape)))

    def made(x: Any, indices: Any) -> Any:
        places, inside = find(np.asarray(indices))
        values = np.asarray(np.asarray(x)[places])  # one entry is an array, too
        values = values if values.shape == shape else np.broadcast_to(values, shape)
        return np.where(inside, values, none) if fills and not inside.all() else values

    return made


def added(params: Any, given: Sequence[Any], out: Sequence[Any]) -> Callable[..., Any]:
    """An array with windows added to it, one for every row of the indices; those outside are dropped or moved."""
    return _changed(params, given, np.add.at)


def placed(params: Any, given: Sequence[Any], out: Sequence[Any]) -> Callable[..., Any]:
    """The same with windows in place of what was there."""
    return _changed(params, given, _put)


def _put(total: Array, places: Any, values: Any) -> None:
    total[places] = values


def _changed(params: Any, given: Sequence[Any], change: Callable[..., None]) -> Callable[..., Any]:
    at, shape, updated = params["dimension_numbers"], given[0].shape, given[2].shape
    drops = params["mode"].name != "CLIP"
    without = (*at.inserted_window_dims, *at.operand_batching_dims)
    inner = [axis for axis in range(len(shape)) if axis not in without]
    sizes = [1] * len(shape)
    for axis, own in zip(inner, at.update_window_dims, strict=True):
        sizes[axis] = updated[own]
    paired = (at.operand_batching_dims, at.scatter_indices_batching_dims)
    windows = Windows(at.update_window_dims, without, at.scatter_dims_to_operand_dims, paired, sizes)

    @_remembered
    def find(indices: Any) -> Any:
        places, inside = windows.places(indices, shape, len(updated))
        kept = np.broadcast_to(inside | (not drops), updated)
        return tuple(np.broadcast_to(place, updated)[kept] for place in places), kept

    def made(x: Any, indices: Any, updates: Any) -> Any:
        places, kept = find(np.asarray(indices))
        total = np.array(x, dtype=np.result_type(x, updates))  # as precise as what is put there
        change(total, places, np.asarray(updates)[kept])
        return total

    return made
