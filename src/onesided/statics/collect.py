"""From the items of a running trace to a `Path`, with the equilibrium conditions rechecked at every point."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from onesided import _version
from onesided._types import Array, Status
from onesided.model.system import System
from onesided.results import Event, Path, State
from onesided.statics.curve import Curve
from onesided.statics.trace import Item, Origin
from onesided.tolerances import INTEGRATED


def collect(system: System, first: Item, items: Iterable[Item], origin: Origin, notes: list[str]) -> Path:
    """Consume a trace and make the path."""
    kept, status = [first], Status.enough
    events: list[Event] = []
    for item in items:
        if item.status is not None:
            status = item.status
            notes = [*notes, item.note] if item.note else notes
            break
        kept.append(item)
        if len(kept) % 16 == 0:
            step = item.point.s - kept[-2].point.s
            p = float(item.point.x[system.n])
            origin.progress.update(control=p, points=len(kept), events=len(events), step=step)
        if item.event is not None:
            events.append(replace(item.event, index=len(kept) - 1))
    n, k = system.n, len(system.bilateral)
    X = np.array([item.point.x for item in kept])
    worst, gaps, energy = _recheck(kept, X, system, together=len(X) > origin.method.compile_after)
    codes = _codes(X[:, n + 1 + k :], gaps, kept, origin)
    degrees = [item.degree for item in kept]
    degrees[0] = degrees[1] if len(degrees) > 1 else degrees[0]  # that of the leg it starts
    return Path(
        coordinates=system.coordinates,
        bilateral=tuple(system.bilateral),
        unilateral=tuple(system.unilateral),
        control=system.control,
        q=X[:, :n],
        p=X[:, n],
        mu=X[:, n + 1 : n + 1 + k],
        lam=X[:, n + 1 + k :],
        gaps=gaps,
        energy=energy,
        s=np.array([item.point.s for item in kept]),
        tangents=np.array([item.point.t[: n + 1] for item in kept])
        * _per_item(kept, lambda curve: curve.unit[: n + 1]),
        instability=np.array(degrees, dtype=np.intp),
        codes=codes,
        events=tuple(events),
        status=_judged(status, worst, origin),
        note="; ".join(notes),
        residual=worst,
        provenance=_provenance(system, origin),
        measures=system.measured(X[:, :n], X[:, n]),
        sketch=system.sketch,
    )


def _recheck(items: list[Item], X: Array, system: System, *, together: bool) -> tuple[float, Array, Array]:
    """Largest relative violation of the Kuhn–Tucker conditions over all points, with gaps and energies.

    The model is evaluated once more at every point that is returned; nothing is taken from the solver but the scales.
    """
    n, k = system.n, len(system.bilateral)
    energy, L_q, c = system.residuals_packed(X) if together else _one_by_one(system, X)
    sizes = items[0].curve.sizes
    gap = _per_item(items, lambda curve: curve.scales.gap)
    multiplier = _per_item(items, lambda curve: curve.scales.multiplier)
    contact = np.minimum(c[:, k:] / gap[:, k:], X[:, n + 1 + k :] / multiplier[:, k:])
    parts = np.hstack([L_q / sizes.force, c[:, :k] / gap[:, :k], contact])
    return float(abs(parts).max()), c[:, k:], energy


def _unit(curve: Curve) -> Array:
    return curve.unit[: curve.n + 1]


def _per_item(items: list[Item], pick: Callable[[Curve], Array]) -> Array:
    """Something of the curve of every item, a row each; asked for once per curve."""
    curves = list(dict.fromkeys(item.curve for item in items))
    place = {curve: i for i, curve in enumerate(curves)}
    return np.array([pick(curve) for curve in curves])[[place[item.curve] for item in items]]


def _one_by_one(system: System, X: Array) -> tuple[Array, Array, Array]:
    """For short paths: residuals without a compilation of their own."""
    energy, L_q, c = zip(*(system.residual_packed(x) for x in X), strict=True)
    return np.array(energy), np.array(L_q), np.array(c)


def _judged(status: Status, worst: float, origin: Origin) -> Status:
    """A path whose points fail the recheck is not a success, whatever the tracer says."""
    tolerances = origin.watch.tolerances if origin.first_order is None else INTEGRATED
    return status if worst <= 100 * tolerances.residual or not status.ok else Status.inaccurate


def _codes(lam: Array, gaps: Array, items: list[Item], origin: Origin) -> np.ndarray[Any, np.dtype[np.int8]]:
    tolerances, k = origin.watch.tolerances, len(origin.where.system.bilateral)
    gap = _per_item(items, lambda curve: curve.scales.gap[k:])
    multiplier = _per_item(items, lambda curve: curve.scales.multiplier[k:])
    closed, loaded = gaps <= tolerances.gap * gap, lam > tolerances.force * multiplier
    return np.where(closed, np.where(loaded, State.strong, State.weak), State.inactive).astype(np.int8)


def _provenance(system: System, origin: Origin) -> dict[str, Any]:
    return {
        "version": _version.__version__,
        "method": {"name": type(origin.method).__name__, **asdict(origin.method)},
        "tolerances": asdict(origin.watch.tolerances),
        "sizes": {
            "length": origin.where.sizes.length.tolist(),
            "energy": origin.where.sizes.energy,
            "control": origin.where.sizes.control,
        },
        "parameters": dict(system.parameters),
        "p_bounds": list(origin.watch.p_bounds),
    }
