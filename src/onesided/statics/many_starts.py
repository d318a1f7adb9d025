"""Where many paths begin: parameters, starts and bounds of each, and which of them are of one size."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array, Indices
from onesided.system.defaults import Where, where
from onesided.system.system import System

SPREAD = 16  # times as many keys as paths may be counted one by one
GROUPS = 64  # of paths with parameters of the same orders of magnitude, each with sizes of its own


class ManyStarts(NamedTuple):
    """Paths to be followed: parameters by name, the vectors that functions take for them, starts and bounds."""

    parameters: Mapping[str, Array]
    vectors: Array
    q: Array
    p: Array
    asked: Where

    def system(self, system: System, i: int) -> System:
        """The system of one path."""
        return system.replace(parameters={name: float(values[i]) for name, values in self.parameters.items()})


def starts_of_many(
    system: System, parameters: Mapping[str, Any], q0: Any, p0: Any, ends: tuple[Any, Any]
) -> ManyStarts:
    """What was asked, as arrays with an entry per path."""
    for name in parameters:
        if name not in system.parameters:
            raise unknown_name("parameter", name, system.parameters, advice="what is varied must be a parameter")
    given = {name: per_path(name, values) for name, values in parameters.items()}
    own = None if p0 is None else per_path("p0", p0)
    many = q0 is not None and not hasattr(q0, "keys") and np.ndim(q0) > 1
    starts = per_path("q0", q0, width=system.n) if many else None
    asked = where(system, q0 if starts is None else starts[0], None if own is None else float(own[0]), *ends)
    q = system.point(asked.q)[None] if starts is None else starts
    p = np.array([asked.p]) if own is None else own
    count = max([len(q), len(p), *(len(values) for values in given.values())])
    for name, values in ({"q0": q, "p0": p} | given).items():
        if len(values) not in {1, count}:
            raise UsageError(
                f"`{name}` has the wrong number of values", got=str(len(values)), expected=f"1 or {count}, one per path"
            )
    _refuse_ends(system, asked, p)
    columns = {name: np.broadcast_to(values, (count,)) for name, values in given.items()}
    vectors = _vectors(system, columns, count)
    made = ManyStarts(columns, vectors, np.broadcast_to(q, (count, system.n)), np.broadcast_to(p, (count,)), asked)
    if q0 is None and system.structure is not None and columns:  # composed anew with other parameters
        made = made._replace(q=np.array([made.system(system, i).start for i in range(count)]))
    return made


def per_path(name: str, values: Any, *, width: int | None = None, each: str = "path") -> Array:
    """Finite numbers, one or so many (`width`) of them per path; one of them alone counts for all."""
    wanted = f"a number per {each}" if width is None else f"{width} numbers per {each}"
    try:
        found = np.asarray(values).astype(np.float64, casting="same_kind")
    except (TypeError, ValueError):
        raise UsageError(f"`{name}` is not numbers", got=repr(values)[:80], expected=wanted) from None
    found = np.atleast_1d(found)
    if found.shape[1:] != (() if width is None else (width,)) or not len(found):
        raise UsageError(f"`{name}` has the wrong shape", got=str(found.shape), expected=wanted)
    if not np.all(np.isfinite(found)):
        worst = int(np.argmin(np.isfinite(found).reshape(len(found), -1).all(axis=1)))
        raise UsageError(f"`{name}` is not finite", got=f"{found[worst]} ({each} {worst})", expected=wanted)
    return found


def _refuse_ends(system: System, asked: Where, p: Array) -> None:
    """Refuse bounds that are none, a direction that is none, and starts outside."""
    low, high = asked.bounds
    if not low < high:
        raise UsageError("the bounds are not usable", got=repr(asked.bounds), expected="(low, high) with low < high")
    if asked.direction not in {1, -1}:
        raise UsageError("`direction` is not a sign", got=repr(asked.direction), expected="+1 or −1")
    for i in np.flatnonzero((p < low) | (p > high))[:1]:
        raise UsageError(
            f"a start is outside the bounds of {system.control}", got=f"{p[i]:g} (path {i})",
            expected=f"{low:g} to {high:g}",
        )  # fmt: skip


def _vectors(system: System, columns: Mapping[str, Array], count: int) -> Array:
    """What functions take for the parameters of every path, (B, ·)."""
    if system.derivatives.large:
        return np.zeros((count, 0))
    if not system.derivatives.elementwise:
        values: dict[str, Any] = {**system.parameters, **columns}
        made = np.empty((len(system.derivatives.names), count))  # written by column
        for column, name in zip(made, system.derivatives.names, strict=True):
            column[:] = values[name]
        return made.T
    own = dict(system.parameters)
    rows = []
    for i in range(count):
        own |= {name: float(values[i]) for name, values in columns.items()}
        rows.append(system.derivatives.constants(own))
    return np.array(rows, dtype=np.float64)


def alike(columns: Mapping[str, Array], count: int) -> tuple[Indices, Indices]:
    """Groups of paths with parameters of the same orders of magnitude: a member of each, the group of each path."""
    if not columns:
        return np.zeros(1, dtype=np.intp), np.zeros(count, dtype=np.intp)
    groups = np.zeros(count, dtype=np.intp)
    for values in columns.values():  # numbered anew after each: never more than there are paths
        keys = 2 * np.round(np.log10(np.where(values == 0, 1.0, np.abs(values)))).astype(np.intp) + (values < 0)
        keys -= keys.min()
        if keys.any():
            groups = _numbered(groups * (int(keys.max()) + 1) + keys)
    numbers = np.bincount(groups)
    members = np.empty(len(numbers), dtype=np.intp)
    members[groups[::-1]] = np.arange(count)[::-1]  # of several the last that is written: the first
    if len(members) > GROUPS:  # the rare ones take the sizes of the most frequent
        frequent = np.argsort(-numbers)[:GROUPS]
        place = np.zeros(len(members), dtype=np.intp)
        place[frequent] = np.arange(GROUPS)
        groups, members = place[groups], members[frequent]
    return members, groups


def _numbered(keys: Indices) -> Indices:
    """Keys as numbers 0, 1, … in their order, without gaps."""
    if int(keys.max()) > SPREAD * len(keys):
        return np.asarray(np.unique(keys, return_inverse=True)[1])
    there = np.bincount(keys) > 0  # nothing is sorted
    found: Indices = (np.cumsum(there) - 1)[keys]
    return found
