"""Paths within a symmetry type: a smaller system on the symmetric configurations, its results in all coordinates."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array, Indices, Status
from onesided.results import ConstraintStates, Event, Path, Ray
from onesided.statics.curves.spectrum import spectrum_at
from onesided.statics.curves.stability import degree_of_instability
from onesided.statics.equilibria.place import place
from onesided.statics.notes import noted
from onesided.statics.symmetric import chosen_symmetry
from onesided.system.fixed_space import FixedSpace
from onesided.system.symmetry import Symmetry
from onesided.system.system import System


@checked
def within(system: System, symmetry: Symmetry | str, *, p: float = 0.0) -> "Within":
    """The system restricted to the configurations that a group leaves as they are.

    Parameters
    ----------
    symmetry : the group, or "detect" for that of a composed structure; `symmetry.isotropy(q)` is that of a state.
    p : value of the control parameter about which a symmetry is looked for.

    Examples
    --------
    >>> import onesided
    >>> shallow = onesided.System(("x", "y"), lambda q, p, th: (q[0]**2 + q[1]**2 - 1)**2 - p * (q[0] + q[1]))
    >>> mirror = onesided.Symmetry.of(shallow, {"swap": {"x": "y", "y": "x"}})
    >>> inside = onesided.within(shallow, mirror)
    >>> inside.system.coordinates
    ('x',)
    >>> path = onesided.trace(inside.system, inside.start([0.7, 0.7]), 0.0, p_bounds=(0, 1))
    >>> inside.lift(path).coordinates
    ('x', 'y')
    """
    group = chosen_symmetry(system, symmetry, p)
    if group is None:
        raise UsageError("there is no symmetry to stay within", got="None", expected='a Symmetry or "detect"')
    if not group.basis.shape[1]:
        raise UsageError(
            "nothing can move within this symmetry",
            got=f"{group!r}",
            expected="a group with symmetric displacements",
            advice="a subgroup: symmetry.isotropy(q)",
        )
    return Within(FixedSpace(system, group))


@dataclass(frozen=True, eq=False)
class Within:
    """A system on the symmetric configurations, for the verbs, and the way back.

    `system` has fewer coordinates: those of the whole that tell the others. One constraint stands for its images, its
    multiplier is the sum of theirs. Degrees of instability on its paths count symmetric modes alone; `lift` gives paths
    of the whole system with the degrees of the whole.
    """

    space: FixedSpace

    @cached_property
    def system(self) -> System:
        """The reduced system; `onesided.trace` and the other verbs take it like any other."""
        return self.space.reduced()

    @property
    def symmetry(self) -> Symmetry:
        """The symmetry group that is kept."""
        return self.space.symmetry

    def start(self, q: Any, *, tolerance: float = DEFAULT.singularity**0.5) -> Array:
        """Coordinates of a symmetric configuration in the reduced system."""
        point = self.space.system.point(q)
        off = float(np.max(np.abs(self.point(point[self.space.kept]) - point) / self.symmetry.length))
        if off > tolerance:
            raise UsageError(
                f"this configuration does not have the symmetry {self.symmetry.name}",
                got=f"off by {off:.3g} of the sizes of the coordinates",
                advice="symmetry.isotropy(q), the symmetry that it has",
            )
        return np.asarray(point[self.space.kept])

    def point(self, z: Any) -> Array:
        """Configuration of the whole system for reduced coordinates z."""
        return np.asarray(self.space.lift(np.asarray(z, dtype=np.float64)))

    def lift(self, path: Path, *, tolerances: Tolerances = DEFAULT) -> Path:
        """A path of the reduced system in all coordinates; stability and rays are those of the whole system.

        Where a mode that breaks the symmetry becomes unstable, no event is on the path: the note tells between which p.
        """
        system, k = self.space.system, len(self.space.system.bilateral)
        q = np.array([self.point(z) for z in path.q])
        nu = np.hstack([path.mu, path.lam]) @ self.symmetry.shares
        X = np.column_stack([q, path.p, nu])
        codes = path.codes[:, self.space.orbit]
        degrees, residual = self._checked(X, codes, tolerances)
        for event in path.events:
            degrees[event.index] = degrees[max(event.index - 1, 0)]  # at the point itself a mode may be neutral
        members = system.members(q, path.p, nu)
        whole = replace(
            path,
            coordinates=system.coordinates,
            bilateral=tuple(system.bilateral),
            unilateral=tuple(system.unilateral),
            q=q,
            mu=nu[:, :k],
            lam=nu[:, k:],
            gaps=path.gaps[:, self.space.orbit],
            tangents=np.column_stack([path.tangents[:, :-1] @ self.space.B.T, path.tangents[:, -1]]),
            instability=degrees,
            codes=codes,
            status=path.status if residual <= 100 * tolerances.residual else Status.inaccurate,
            note=noted(system, "; ".join(text for text in (path.note, _breaking(path, degrees)) if text)),
            residual=max(path.residual, residual),
            measures=system.measured(q, path.p, members),
            members=members,
            sketch=system.sketch,
            isotropy=self.symmetry.name,
        )
        events = tuple(self._event(event, whole, X[event.index], tolerances) for event in path.events)
        return replace(whole, events=tuple(replace(event, shape=whole.shape(event.index)) for event in events))

    def _checked(self, X: Array, codes: Any, tolerances: Tolerances) -> tuple[Indices, float]:
        """Degree of instability of the whole system at every point, and the largest relative force out of balance."""
        system = self.space.system
        sizes = system.sizes(X[0, : system.n], float(X[0, system.n]))
        degrees, worst = [], 0.0
        for x, row in zip(X, codes, strict=True):
            e, active = system.evaluate_packed(x), ConstraintStates(tuple(int(c) for c in row))
            degrees.append(degree_of_instability(system, e, active, sizes, tolerances))
            worst = float(np.maximum(worst, np.max(np.abs(e.L_q / sizes.force))))  # NaN stays
        return np.array(degrees, dtype=np.intp), worst

    def _event(self, event: Event, whole: Path, x: Array, tolerances: Tolerances) -> Event:
        system, i = self.space.system, event.index
        sizes = system.sizes(x[: system.n], event.p)
        where = place(system, x, sizes, tolerances)
        after = None if event.instability_after is None else int(whole.instability[min(i + 1, len(whole) - 1)])
        members = self._members(event.constraints)
        images = ", ".join(f"'{name}'" for name in members if name not in event.constraints)
        return replace(
            event,
            detail=event.detail + (f"; so do the images {images}" if images else ""),
            q=x[: system.n],
            mu=whole.mu[i],
            lam=whole.lam[i],
            constraints=members,
            instability_before=int(whole.instability[max(i - 1, 0)]),
            instability_after=after,
            rays=replace(event.rays, rays=tuple(self.ray(ray, where) for ray in event.rays.rays)),
            origin=None if event.origin is None else replace(event.origin, where=where),
        )

    def packed(self, x: Array) -> Array:
        """A packed point (q, p, ν) of the reduced system as one of the whole."""
        r = self.system.n
        return np.concatenate([self.point(x[:r]), x[r : r + 1], x[r + 1 :] @ self.symmetry.shares])

    def _members(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """All images of some constraints of the reduced system."""
        own = tuple(self.system.unilateral)
        return tuple(
            name for name, i in zip(self.space.system.unilateral, self.space.orbit, strict=True) if own[i] in names
        )

    def ray(self, ray: Ray, where: Any) -> Ray:
        """A ray of the reduced system in all coordinates, at this place of the whole system."""
        system, k = self.space.system, len(self.space.system.bilateral)
        nu_dot = np.concatenate([ray.mu_dot, ray.lam_dot]) @ self.symmetry.shares
        closed = self._members(ray.closed)
        rows = [*range(k), *(k + i for i, name in enumerate(system.unilateral) if name in closed)]
        e = system.evaluate_packed(where.x)
        spectrum = spectrum_at(e, e.c_q[rows], where.sizes, where.tolerances)
        return Ray(
            q_dot=self.space.B @ ray.q_dot,
            p_dot=ray.p_dot,
            mu_dot=nu_dot[:k],
            lam_dot=nu_dot[k:],
            gap_dot=ray.gap_dot[self.space.orbit],
            p_sign=ray.p_sign,
            order=ray.order,
            instability=spectrum.negative(where.tolerances),
            closed=closed,
            rows=tuple(rows),
            continuum=ray.continuum,
            ahead=None if ray.ahead is None else self.packed(ray.ahead),
            idle=self._members(ray.idle),
            nu=None if ray.nu is None else ray.nu @ self.symmetry.shares,
            loose=self._members(ray.loose),
            isotropy=self.symmetry.name,
        )


def _breaking(path: Path, degrees: Indices) -> str:
    """Where the number of unstable modes that break the symmetry changes."""
    plain = np.setdiff1d(np.arange(len(path)), [event.index for event in path.events])
    others = (degrees - path.instability)[plain]
    changes = [i for i in range(len(others) - 1) if others[i] != others[i + 1]]
    if not changes:
        return ""
    places = ", ".join(f"{path.p[plain[i]]:.6g} and {path.p[plain[i + 1]]:.6g}" for i in changes[:4])
    more = ", …" if len(changes) > 4 else ""
    return f"modes that break the symmetry change their stability between {path.control} = {places}{more}"
