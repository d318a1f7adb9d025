"""Paths made by hand, as long and as wide as wanted."""

import numpy as np

from onesided.base.types import Status
from onesided.results import Event, Kind, Line, Path, Rays, Sketch


def path(points=20_000, n=6, m=4, *, names=("q{}", "c{}"), control="p", note="", events=5):
    """A spiral with contacts that open and close."""
    t = np.linspace(0, 30, points)
    q = np.array([np.cos(t + k) * (1 + t / (10 + k)) for k in range(n)]).T
    p = np.sin(t) * (1 + t / 10)
    phase = np.array([np.sin(0.7 * t + k) for k in range(m)]).T
    lam, gaps = np.maximum(phase, 0), np.maximum(-phase, 0)
    coordinates = tuple(names[0].replace("{}", str(i)) for i in range(n))
    unilateral = tuple(names[1].replace("{}", str(i)) for i in range(m))
    where = np.linspace(points // 10, points - 1, events).astype(int)
    return Path(
        coordinates=coordinates, bilateral=(), unilateral=unilateral, control=control,
        q=q, p=p, mu=np.zeros((points, 0)), lam=lam, gaps=gaps, energy=p**2, s=t,
        tangents=np.gradient(np.column_stack([q, p]), t, axis=0) if points > 1 else np.zeros((1, n + 1)),
        instability=(np.arange(points) * 4 // points).astype(np.intp),
        codes=np.where(lam > 0, 2, 0).astype(np.int8),
        events=tuple(event(int(i), q[i], p[i], lam[i], control, unilateral) for i in where),
        status=Status.bound_reached, note=note, residual=1e-13,
        provenance={"version": "0", "method": {"name": "by hand"}},
        sketch=Sketch(points={"o": (0.0, 0.0), "a": (coordinates[0], coordinates[-1])}, lines=(Line(("o", "a")),),
                      marks={unilateral[0]: (("a",),)} if m else {}),
    )  # fmt: skip


def event(index, q, p, lam, control, unilateral):
    return Event(
        Kind.limit, control, float(p), q, np.zeros(0), lam, unilateral[:1], 0, 1, Rays(()), None, None, (0.0, 1.0),
        0.0, index,
    )  # fmt: skip
