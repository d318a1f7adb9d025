"""From the items of a running trace to a `Path`, with the equilibrium conditions rechecked at every point.

Paths that contradict theory are traced once more with shorter steps, whichever verb asked for them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from onesided import _version
from onesided.base.log import LOG
from onesided.base.progress import Progress
from onesided.base.tolerances import ROUNDING
from onesided.base.types import Array, Status
from onesided.results import Event, Path, State
from onesided.results.wording import closings
from onesided.statics.checks.audit import Finding, audit, told
from onesided.statics.checks.balance import doubtful_steps, fails_between, round_off
from onesided.statics.curves.activity import rounding
from onesided.statics.curves.curve import Curve
from onesided.statics.notes import noted, vanished
from onesided.statics.tracing.path_method import Origin, Passage, PathItem, PathMethod
from onesided.statics.tracing.quiet import NEAR_ZERO
from onesided.system.system import System

TELL = 16  # points between two reports of progress
SHORTER = 0.25  # of the steps with which a path that contradicts theory is traced again


def checked_twice(origin: Origin, follow: Callable[[Origin], Path]) -> Path:
    """The path from an origin; one that contradicts theory is followed again from the same origin, by shorter steps."""
    path = follow(origin)
    shorter = origin.method.shortened(SHORTER) if path.status is Status.contradictory else None
    if shorter is None:
        return path
    LOG.info("the path from p = %g contradicts theory and is traced again by shorter steps: %s", path.p[0], path.note)
    return follow(replace(origin, method=shorter))


def collect(
    system: System, first: PathItem, pieces: Iterable[PathItem | Passage], origin: Origin, notes: list[str]
) -> Path:
    """Consume a trace and make the path."""
    kept = _consume(first, pieces, origin)
    n, k = system.n, len(system.bilateral)
    X = np.concatenate(kept.x)
    worst, gaps, energy = _recheck(kept, X, system, together=origin.method.compiles(len(X) - 1))
    degrees = np.repeat(np.array(kept.degrees, dtype=np.intp), kept.lengths)
    members = system.members(X[:, :n], X[:, n], X[:, n + 1 :])
    degrees[0] = degrees[min(1, len(degrees) - 1)]  # that of the leg it starts
    path = Path(
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
        s=np.concatenate(kept.s),
        tangents=np.concatenate([t[:, : n + 1] for t in kept.t]) * kept.per_point(lambda curve: curve.unit[: n + 1]),
        instability=degrees,
        codes=_codes(X[:, n + 1 + k :], gaps, kept, origin),
        events=(),
        status=_judged(kept.status, worst, _accuracy(system, X, kept, origin)),
        note=noted(system, "; ".join([*notes, *kept.remarks]), X[:, n]),
        residual=worst,
        provenance=_provenance(system, origin),
        measures=system.measured(X[:, :n], X[:, n], members),
        members=members,
        sketch=system.sketch,
    )
    path = replace(path, events=tuple(replace(event, index=i, shape=path.shape(i)) for event, i in kept.events))
    if path.status is Status.step_too_small and (gone := vanished(members)):
        path = replace(path, note=f"{path.note}; {gone}")
    return _audited(path, kept, origin)


def _audited(path: Path, kept: "_Kept", origin: Origin) -> Path:
    """The path, not ok where it contradicts theory."""
    tolerances = origin.method.accuracy(origin.watch.tolerances)
    noise = tolerances.event * float(np.max(np.abs(path.p))) + 100 * tolerances.residual * origin.where.sizes.control
    findings = (*audit(path, np.concatenate(kept.numbers)[:, 0].astype(np.intp), noise), *_unbalanced(path, kept))
    if not findings:
        return path
    note = "; ".join(text for text in (path.note, told(findings, path.control)) if text)
    return replace(path, status=Status.contradictory if path.ok else path.status, note=note)


def _unbalanced(path: Path, kept: "_Kept") -> Iterator[Finding]:
    """Steps over which the energy does not change by the work, looked at again with points inside them."""
    _, load, middle, middle_slope = np.concatenate(kept.numbers).T
    slope, X = load * path.tangents[:, -1], np.concatenate(kept.x)
    unsure = {event.index for event in path.events if event.rays.multiplicity > 1}  # tangents are not their own there
    for curve, start, end, t in kept.legs():
        first, last = start + (start in unsure), end - (end - 1 in unsure)
        leg = slice(first, last)
        noise = round_off(curve, X[leg], path.energy[leg], path.residual)
        known = first + np.flatnonzero(np.isfinite(middle[leg]))
        inside = middle[known], middle_slope[known]
        turned = np.linalg.norm(np.diff(t[first - start : last - start], axis=0), axis=1)
        for i in doubtful_steps(path.s[leg], path.energy[leg], slope[leg], noise, turned, inside).tolist():
            a = first + i
            if fails_between(curve, X[a], X[a + 1], float(noise[i] + noise[i + 1])):
                yield Finding(float(path.p[a]), "the energy does not change by the work done: a branch was left")


@dataclass
class _Kept:
    """What a trace has produced so far: rows of points, one block per piece, and how it ended."""

    x: list[Array] = field(default_factory=list)
    s: list[Array] = field(default_factory=list)
    t: list[Array] = field(default_factory=list)
    numbers: list[Array] = field(default_factory=list)  # negative modes, L_p, middle of the step, dU/ds there
    degrees: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    events: list[tuple[Event, int]] = field(default_factory=list)
    count: int = 0
    status: Status = Status.enough
    remarks: tuple[str, ...] = ()

    def add(self, piece: PathItem | Passage) -> None:
        """Take the points of a piece."""
        if isinstance(piece, Passage):
            points = piece.points
            x, s, t = points.x, points.s, points.t
            numbers = np.column_stack([points.negative, points.load, points.s_middle, points.middle_slope])
        else:
            point = piece.point
            x, s, t = point.x[None], np.array([point.s]), point.t[None]
            numbers = np.array([[point.negative, point.load, point.s_middle, point.middle_slope]])
            if piece.event is not None:
                self.events.append((piece.event, self.count))
        self.x.append(x)
        self.s.append(s)
        self.t.append(t)
        self.numbers.append(numbers)
        self.degrees.append(piece.degree)
        self.lengths.append(len(s))
        self.curves.append(piece.curve)
        self.count += len(s)

    def cut(self) -> None:
        """Leave out a piece that was taken by half."""
        whole = len(self.curves)
        for rows in (self.x, self.s, self.t, self.numbers, self.degrees, self.lengths):
            del rows[whole:]
        self.count = sum(self.lengths)
        self.events = [(event, i) for event, i in self.events if i < self.count]

    def per_point(self, pick: Callable[[Curve], Array]) -> Array:
        """Something of the curve of every point, a row each, or one row for all; asked for once per curve."""
        curves = {id(curve): curve for curve in self.curves}
        if len(curves) == 1:
            return pick(self.curves[0])[None]
        rows = {key: pick(curve) for key, curve in curves.items()}
        return np.repeat([rows[id(curve)] for curve in self.curves], self.lengths, axis=0)

    def legs(self) -> Iterator[tuple[Curve, int, int, Array]]:
        """Curves with the numbers of their first point and of the one after their last, and the tangents."""
        ends = np.cumsum(self.lengths)
        for _, group in groupby(enumerate(self.curves), key=lambda pair: id(pair[1])):
            pieces = list(group)
            first, last = pieces[0][0], pieces[-1][0]
            t = np.concatenate(self.t[first : last + 1])
            yield pieces[0][1], int(ends[first] - self.lengths[first]), int(ends[last]), t

    def tell(self, progress: Progress) -> None:
        """Report the share of the range of p that is done."""
        if self.count > 1:
            before = self.s[-1][-2] if self.lengths[-1] > 1 else self.s[-2][-1]
            p = float(self.x[-1][-1, self.curves[-1].n])
            progress.update(control=p, points=self.count, events=len(self.events), step=float(self.s[-1][-1] - before))


def _consume(first: PathItem, pieces: Iterable[PathItem | Passage], origin: Origin) -> _Kept:
    """All points and events, and how the trace ended; Ctrl-C ends it as well."""
    kept = _Kept()
    kept.add(first)
    try:
        _take(kept, pieces, origin.progress)
    except KeyboardInterrupt:
        kept.cut()
        kept.status, kept.remarks = Status.interrupted, (f"Ctrl-C after {kept.count} points",)
    return kept


def _take(kept: _Kept, pieces: Iterable[PathItem | Passage], progress: Progress) -> None:
    told = 0
    for piece in pieces:
        if isinstance(piece, PathItem) and piece.status is not None:
            kept.status, kept.remarks = piece.status, (piece.note,) if piece.note else ()
            break
        kept.add(piece)
        if kept.count >= told + TELL:
            kept.tell(progress)
            told = kept.count
    kept.tell(progress)


def _recheck(kept: _Kept, X: Array, system: System, *, together: bool) -> tuple[float, Array, Array]:
    """Largest relative violation of the Kuhn–Tucker conditions over all points, with gaps and energies.

    The model is evaluated once more at every point that is returned; nothing is taken from the solver but the scales.
    """
    n, k = system.n, len(system.bilateral)
    energy, L_q, c = system.residuals_packed(X) if together else _one_by_one(system, X)
    force = kept.curves[0].sizes.force
    worst = float(abs(L_q / force).max())
    if c.shape[1]:
        gap = kept.per_point(lambda curve: curve.scales.gap)
        multiplier = kept.per_point(lambda curve: curve.scales.multiplier)
        contact = np.minimum(c[:, k:] / gap[:, k:], X[:, n + 1 + k :] / multiplier[:, k:])
        violation = abs(np.hstack([c[:, :k] / gap[:, :k], contact])).max()
        deepest = _penetration(system, X, c / gap, kept.curves[0].sizes.length)
        worst = float(np.maximum(worst, max(violation, deepest)))  # not a number, if one is none
    return worst, c[:, k:], energy


def _penetration(system: System, X: Array, shares: Array, length: Array) -> float:
    """The deepest penetration of a contact as a share of what its gap changes by where that is, if it is a clear one.

    Gaps are measured by their size where a leg starts; one that is far steeper there, as expm1(gap) is, would hide it.
    """
    k, deepest = len(system.bilateral), 0.0
    for j in k + np.flatnonzero(shares[:, k:].min(axis=0) < -ROUNDING):
        x = X[int(shares[:, j].argmin())]
        e = system.evaluate_packed(x)
        deepest = max(deepest, -float(e.c[j]) / max(-float(e.c[j]), float(e.gap_sizes(length)[j])))
    return deepest if deepest > NEAR_ZERO else 0.0


def _one_by_one(system: System, X: Array) -> tuple[Array, Array, Array]:
    """For short paths: residuals without a compilation of their own."""
    energy, L_q, c = zip(*(system.residual_packed(x) for x in X), strict=True)
    return np.array(energy), np.array(L_q), np.array(c)


def _judged(status: Status, worst: float, accuracy: float) -> Status:
    """A path whose points fail the recheck is not a success, whatever the tracer says."""
    return status if worst <= accuracy or not status.ok else Status.inaccurate


def _accuracy(system: System, X: Array, kept: _Kept, origin: Origin) -> float:
    """The residual that is asked for: by the tolerance, or by what rounding allows at the ends of the path."""
    tolerances = origin.method.accuracy(origin.watch.tolerances)
    sizes = origin.where.sizes
    ends = zip(X[[0, -1]], (kept.curves[0], kept.curves[-1]), strict=True)
    noise = max(rounding(system.evaluate_packed(x), x, sizes, curve.scales) for x, curve in ends)
    return max(100 * tolerances.residual, 10 * noise)


def _codes(lam: Array, gaps: Array, kept: _Kept, origin: Origin) -> np.ndarray[Any, np.dtype[np.int8]]:
    if not gaps.shape[1]:
        return np.zeros(gaps.shape, dtype=np.int8)
    tolerances, k = origin.watch.tolerances, len(origin.where.system.bilateral)
    gap = kept.per_point(lambda curve: curve.scales.gap[k:])
    multiplier = kept.per_point(lambda curve: curve.scales.multiplier[k:])
    closed, loaded = gaps <= tolerances.gap * gap, lam > tolerances.force * multiplier
    return np.where(closed, np.where(loaded, State.strong, State.weak), State.inactive).astype(np.int8)


def _provenance(system: System, origin: Origin) -> dict[str, Any]:
    return {
        "version": _version.__version__,
        "method": {"name": type(origin.method).__name__, **_knobs(origin.method)},
        "tolerances": dict(vars(origin.watch.tolerances)),
        "sizes": {
            "length": origin.where.sizes.length.tolist(),
            "energy": origin.where.sizes.energy,
            "control": origin.where.sizes.control,
        },
        "parameters": dict(system.parameters),
        "closings": closings({name: system.words_for(name) for name in system.unilateral}),
        "p_bounds": list(origin.watch.p_bounds),
        **({"labels": {name: list(pair) for name, pair in system.labels.items()}} if system.labels else {}),
    }


def _knobs(method: PathMethod) -> dict[str, Any]:
    """The knobs of a method; those that are no numbers in words."""
    return {name: value if isinstance(value, float | int) else str(value) for name, value in vars(method).items()}
