"""Where many paths begin: parameters, starts and bounds of each, and which of them are of one size."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from onesided.base.arguments import row_of_numbers
from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array, Indices
from onesided.system.defaults import Where, where
from onesided.system.system import System

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
    given = {name: row_of_numbers(name, values, finite=False) for name, values in parameters.items()}
    first = None if p0 is None else float(row_of_numbers("p0", p0)[0])
    start = None if q0 is None or np.ndim(q0) < 2 else np.asarray(q0)[0]
    asked = where(system, q0 if start is None else start, first, *ends)
    q = system.point(asked.q)[None] if start is None else np.asarray(q0, dtype=np.float64)
    p = np.atleast_1d(np.asarray(asked.p if p0 is None else p0, dtype=np.float64))
    count = max([len(q), len(p), *(values.size for values in given.values())])
    lengths = {"q0": len(q), "p0": len(p)} | {name: values.size for name, values in given.items()}
    for name, length in lengths.items():
        if length not in {1, count}:
            raise UsageError(f"`{name}` has the wrong number of values", got=str(length), expected=f"1 or {count}")
    if q.shape[1:] != (system.n,):
        raise UsageError(
            "`q0` has the wrong shape", got=str(q.shape), expected=f"({system.n},) or ({count}, {system.n})"
        )
    low, high = asked.bounds
    for i in np.flatnonzero(~((p >= low) & (p <= high)))[:1]:
        raise UsageError(
            f"a start is outside the bounds of {system.control}", got=f"{p[i]:g} (path {i})",
            expected=f"{low:g} to {high:g}",
        )  # fmt: skip
    columns = {name: np.broadcast_to(values.ravel(), (count,)) for name, values in given.items()}
    for name, values in columns.items():
        if not np.all(np.isfinite(values)):
            raise UsageError(
                f"parameter `{name}` is not finite in some paths", got=str(values[~np.isfinite(values)][0])
            )
    vectors = _vectors(system, columns, count)
    made = ManyStarts(columns, vectors, np.broadcast_to(q, (count, system.n)), np.broadcast_to(p, (count,)), asked)
    if q0 is None and system.structure is not None and columns:  # composed anew with other parameters
        made = made._replace(q=np.array([made.system(system, i).start for i in range(count)]))
    return made


def _vectors(system: System, columns: Mapping[str, Array], count: int) -> Array:
    """What functions take for the parameters of every path, (B, ·)."""
    if system.derivatives.large:
        return np.zeros((count, 0))
    if not system.derivatives.elementwise:
        values: dict[str, Any] = {**system.parameters, **columns}
        made = [np.broadcast_to(values[name], (count,)) for name in system.derivatives.names]
        return np.stack(made, axis=1) if made else np.zeros((count, 0))
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
    values = np.stack(list(columns.values()), axis=1)
    sizes = np.where(values == 0, 1.0, np.abs(values))
    keys = np.round(np.log10(sizes)) * 2.0 + (values < 0)
    if np.all(keys == keys[0]):
        return np.zeros(1, dtype=np.intp), np.zeros(count, dtype=np.intp)
    _, members, groups, numbers = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    groups = groups.reshape(-1)
    if len(members) > GROUPS:  # the rare ones take the sizes of the most frequent
        frequent = np.argsort(-numbers)[:GROUPS]
        place = np.zeros(len(members), dtype=np.intp)
        place[frequent] = np.arange(GROUPS)
        groups, members = place[groups], members[frequent]
    return members, groups
