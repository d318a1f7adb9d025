"""Everything a motion holds, by name, at its points and in between."""

import itertools
from collections.abc import Iterable, Mapping

import numpy as np

from onesided.base.types import Array, Indices
from onesided.results.equilibrium import State
from onesided.results.interpolated import MOST_BETWEEN, DensePath
from onesided.results.motion import Motion
from onesided.results.named import Columns, picked
from onesided.results.named_series import members_of


def motion_columns(motion: Motion) -> dict[str, Array]:
    """Name → (N,) values: t, control, coordinates, velocities, multipliers, reactions, inputs, energy, drift, measures.

    What finds its name taken is called by a longer one, as in `Columns`.
    """
    found = Columns({"t": motion.t})
    groups = (
        ("", motion.coordinates, motion.q),
        ("velocity ", motion.coordinates, motion.v),
        ("multiplier ", (*motion.bilateral, *motion.nonholonomic), motion.mu),
        ("reaction ", motion.unilateral, motion.lam),
        ("input ", motion.servo, motion.u),
    )
    for prefix, names, array in groups:
        for i, name in enumerate(names[: array.shape[1]]):
            found.put("coordinate", prefix + name, array[:, i])
    found.put("control", motion.control, motion.p)
    drift = {f"drift {name}": getattr(motion.drift, name) for name in motion.drift._fields}
    ledger = {"energy": motion.energy, "work": motion.work}
    if len(motion.projection):
        ledger["work of projections"] = motion.projection
    for kind, group in (("total", {**ledger, **drift}), ("measure", motion.measures)):
        for name, values in group.items():
            found.put(kind, name, values)
    return found


def motion_column(motion: Motion, name: str) -> Array:
    """One column of a motion: also "p" for the control, and results of members by name."""
    return _column(motion, name, motion_columns(motion))


def _column(motion: Motion, name: str, known: Mapping[str, Array]) -> Array:
    return picked("motion", name, known, members_of(motion), motion.control if name == "p" else name)


def motion_dense(motion: Motion, wanted: int, names: Iterable[str] | None = None) -> DensePath:
    """A motion with points put in between: coordinates and velocities by its dense output, the rest by cubics."""
    n = len(motion.t)
    spans = np.diff(motion.t)
    share = np.ceil((wanted if n < wanted else 0) * spans / (motion.t[-1] - motion.t[0] or 1.0))
    counts = [*np.clip(share, 1, MOST_BETWEEN).astype(int).tolist(), 1]
    source = np.repeat(np.arange(n), counts)
    inside = np.concatenate([np.arange(count) / count for count in counts])
    after = np.minimum(source + 1, n - 1)
    times = motion.t[source] + inside * (motion.t[after] - motion.t[source])
    found = _at_times(motion, times, source, names)
    closed = np.where(motion.lam > 0.0, State.strong, State.inactive).astype(np.int8)
    return DensePath(found, source, inside == 0.0, np.zeros(len(source), dtype=np.intp), closed[source])


def motion_at(motion: Motion, times: Array) -> DensePath:
    """A motion at given times, in order, as films play it; contacts are as at the last computed point before."""
    source = np.clip(np.searchsorted(motion.t, times, side="right") - 1, 0, len(motion.t) - 1)
    found = _at_times(motion, times, source, None)
    closed = np.where(motion.lam > 0.0, State.strong, State.inactive).astype(np.int8)
    return DensePath(found, source, motion.t[source] == times, np.zeros(len(source), dtype=np.intp), closed[source])


def _at_times(motion: Motion, times: Array, source: Indices, names: Iterable[str] | None) -> dict[str, Array]:
    """Columns by name: coordinates and velocities by the dense output, the rest by cubics."""
    known = motion_columns(motion)
    chosen = known if names is None else {name: _column(motion, name, known) for name in names}
    found = {name: _cubic(motion.t, values, times, source) for name, values in chosen.items()}
    exact = times == motion.t[source]
    if not np.all(exact):
        q, v = motion.at(np.clip(times, motion.t[0], motion.t[-1]))
        for i, name in enumerate(motion.coordinates):
            for label, array in ((name, q), (f"velocity {name}", v)):
                if label in found:
                    found[label] = np.where(exact, found[label], array[:, i])
    return found


def _cubic(t: Array, y: Array, times: Array, source: Indices) -> Array:
    """Cubic Hermite interpolation with slopes from neighbours; points themselves stay as they are."""
    if len(t) < 3:
        return np.interp(times, t, y)
    slope = _slopes(t, y)
    i = np.minimum(source, len(t) - 2)
    h = t[i + 1] - t[i]
    u = np.divide(times - t[i], h, out=np.zeros(len(times)), where=h > 0.0)
    bend = u * (1 - u) * ((1 - u) * h * slope[i] - u * h * slope[i + 1])
    curve = y[i] + u * u * (3.0 - 2.0 * u) * (y[i + 1] - y[i]) + bend
    return np.asarray(np.where(times == t[source], y[source], curve))


def _slopes(t: Array, y: Array) -> Array:
    """Derivatives at the points, from neighbours on the same side of impacts, where a time stands twice."""
    slope = np.zeros(len(t))
    edges = [0, *(np.flatnonzero(np.diff(t) <= 0.0) + 1).tolist(), len(t)]
    for a, b in itertools.pairwise(edges):
        if b - a >= 2:
            slope[a:b] = np.gradient(y[a:b], t[a:b])
    return slope
