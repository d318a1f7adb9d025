"""Contact with surface parameters: two parametrised curves (plane) or surfaces (space) on bodies [SW].

The contact points x_A(s_A), x_B(s_B) of the two outlines have parameters s, massless coordinates of the system. With
d = x_A − x_B, tangents t = ∂x/∂s and a normal n of A that points from the contact into body A [SW (1)–(4)]:

    c_n = d·n / |n|      the gap, a bilateral or a one-sided constraint,
    c_t = d·t_A          the points lie opposite each other,
    c_p = n·t_B / |n|    the outlines are parallel there,

in space with two tangents each. c_t and c_p hold whether or not the bodies touch: the points are the closest ones.
Their multipliers vanish where they are met [SW (15)], so that contact forces are those of c_n and of the slip alone.
The gap is a distance because n is divided by its length: the multiplier of c_n is the normal force.

Every derivative (with respect to coordinates and parameters, up to the second) comes from the library.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided._types import Array
from onesided.errors import ModelError
from onesided.groups import Group, Product, Vector
from onesided.model.contact import Contact
from onesided.model.derivatives import Parameters, prepare_jax
from onesided.model.system import System
from onesided.tolerances import EPS

Outline = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class SurfacePair:
    """Two outlines that may touch.

    Attributes
    ----------
    first, second : point (q, s, th) of an outline in space-fixed axes; s is one number in the plane, two in space.
        The first one's normal, its tangent turned by +90° (in space: the product of its tangents), must point into its
        body.
    start : parameters of the contact points near the start, first body's then second's.
    rolls : whether the contact does not slip: a rolling condition on the material points.
    opens : whether the contact is one-sided; otherwise the bodies stay together and a pulling force is reported.
    restitution : of a one-sided contact.
    """

    first: Outline
    second: Outline
    start: tuple[float, ...]
    rolls: bool = False
    opens: bool = False
    restitution: float = 0.0
    names: tuple[str, ...] = field(default=())

    @property
    def space(self) -> int:
        """Parameters of each outline: 1 in the plane, 2 in space."""
        return len(self.start) // 2


class Geometry:
    """Quantities of a pair at (q, s)."""

    def __init__(self, pair: SurfacePair, n: int, space: Group | None = None) -> None:
        self.pair, self.n, self.k = pair, n, pair.space
        self.bodies = space or Vector(n)

    def parts(self, x: Any, offset: int) -> tuple[Any, Any, Any]:
        """q, s_A, s_B out of the coordinates."""
        s = x[offset : offset + 2 * self.k]
        return x[: self.n], s[: self.k], s[self.k :]

    def points(self, q: Any, a: Any, b: Any, th: Any) -> tuple[Any, Any]:
        """x_A, x_B."""
        return self._at(self.pair.first, q, a, th), self._at(self.pair.second, q, b, th)

    def _at(self, outline: Outline, q: Any, s: Any, th: Any) -> Any:
        return jnp.asarray(outline(q, s[0] if self.k == 1 else s, th))

    def tangents(self, outline: Outline, q: Any, s: Any, th: Any) -> Any:
        """∂x/∂s, one row for each parameter."""
        return jax.jacfwd(lambda r: self._at(outline, q, r, th))(s).T

    def normal(self, tangents: Any) -> Any:
        """The normal of given tangents, of length one."""
        flat = self.k == 1
        n = jnp.array([-tangents[0, 1], tangents[0, 0]]) if flat else jnp.cross(tangents[0], tangents[1])
        return n / jnp.sqrt(n @ n)

    def conditions(self, q: Any, a: Any, b: Any, th: Any) -> tuple[Any, Any]:
        """The gap c_n, and (c_t, c_p) of (2k,)."""
        x_a, x_b = self.points(q, a, b, th)
        t_a, t_b = self.tangents(self.pair.first, q, a, th), self.tangents(self.pair.second, q, b, th)
        n = self.normal(t_a)
        d = x_a - x_b
        return d @ n, jnp.concatenate([t_a @ d, t_b @ n])

    def slip(self, q: Any, v: Any, a: Any, b: Any, th: Any) -> Any:
        """Relative velocity of the material points at the contact along the tangents of A, of length one: (k,)."""
        zero, one = jnp.zeros(()), jnp.ones(())
        rate = jax.jvp(lambda r: jnp.subtract(*self.points(self.bodies.nudge(q, r * v), a, b, th)), (zero,), (one,))[1]
        t = self.tangents(self.pair.first, q, a, th)
        along = t / jnp.sqrt(jnp.sum(t * t, axis=1, keepdims=True))
        if self.k == 2:  # two directions at right angles, so that friction is the same in all
            n = self.normal(t)
            along = jnp.stack([along[0], jnp.cross(n, along[0])])
        return along @ rate


def with_surfaces(system: System, pairs: Mapping[str, SurfacePair]) -> System:
    """The system with contact pairs added: parameters `<pair>.sA`, … (`.sA1`, … in space) as massless coordinates.

    Constraints are called `<pair>` (the gap), `<pair>.t`, `<pair>.p` (numbered in space), `<pair>.rolls`.

    Raises
    ------
    ModelError
        Numbers of parameters or names that do not fit. Outlines that are not regular, or conformal, are found by
        `check_surfaces`, which knows a configuration.
    """
    prepare_jax()
    if system.structure is not None or system.friction is not None or system.servo:
        raise ModelError(
            "surfaces cannot be added to this system",
            got="a composed structure, joint friction or servo conditions",
            expected="a System of functions without them",
        )
    n, offset = system.n, system.n
    names = list(system.coordinates)
    bilateral, unilateral = _shortened(system.bilateral, n), _shortened(system.unilateral, n)
    rolling: dict[str, Any] = {name: _velocities(f, n) for name, f in system.nonholonomic.items()}
    contacts = {name: _contact(c, n) for name, c in system.contacts.items()}
    for name, pair in pairs.items():
        _check(name, pair)
        geometry = Geometry(pair, n, system.space)
        kind = _Pair(geometry, offset)
        names += _names(name, pair)
        bilateral |= kind.sides(name)
        (unilateral if pair.opens else bilateral)[name] = kind.gap
        slip = (
            {f"{name}.rolls": kind.slip}
            if pair.space == 1
            else {f"{name}.rolls{i + 1}": kind.slip_row(i) for i in (0, 1)}
        )
        if pair.rolls and not pair.opens:
            rolling |= slip
        if pair.opens:
            friction = np.inf if pair.rolls else 0.0
            contacts[name] = Contact(pair.restitution, friction, kind.slip if pair.rolls else None)
        else:
            contacts[name] = Contact()
        offset += 2 * pair.space
    extra = offset - n
    space = None if system.space is None else Product(system.space, Vector(extra))
    return System(
        coordinates=tuple(names),
        energy=_short(system.energy, n),
        unilateral=unilateral,
        bilateral=bilateral,
        parameters=system.parameters,
        control=system.control,
        kinetic=None if system.kinetic is None else _velocities(system.kinetic, n),
        mass=None if system.mass is None else _padded(system.mass, n, extra),
        force=None if system.force is None else _force(system.force, n, extra),
        nonholonomic=rolling,
        space=space,
        contacts=contacts,
        measures=_shortened(system.measures, n),
    )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Constraint functions of one pair in the coordinates of the whole system."""

    geometry: Geometry
    offset: int

    def gap(self, x: Any, p: Any, th: Any) -> Any:
        q, a, b = self.geometry.parts(x, self.offset)
        return self.geometry.conditions(q, a, b, th)[0]

    def sides(self, name: str) -> dict[str, Any]:
        k = self.geometry.k
        labels = [f"{name}.t", f"{name}.p"] if k == 1 else [f"{name}.{c}{i}" for c in "tp" for i in (1, 2)]

        def one(i: int) -> Any:
            def condition(x: Any, p: Any, th: Any) -> Any:
                q, a, b = self.geometry.parts(x, self.offset)
                return self.geometry.conditions(q, a, b, th)[1][i]

            return condition

        return {label: one(i) for i, label in enumerate(labels)}

    def slip(self, x: Any, v: Any, th: Any) -> Any:
        q, a, b = self.geometry.parts(x, self.offset)
        found = self.geometry.slip(q, v[: self.geometry.n], a, b, th)
        return found[0] if self.geometry.k == 1 else found

    def slip_row(self, i: int) -> Any:
        return lambda x, v, th: self.slip(x, v, th)[i]


def surface_start(system: System, pairs: Mapping[str, SurfacePair], q0: Any) -> Array:
    """Coordinates of the whole system: q0 of the bodies, parameters as the pairs guess them."""
    return np.concatenate(
        [np.asarray(q0, dtype=float), *(np.asarray(pair.start, dtype=float) for pair in pairs.values())]
    )


def closest(
    pair: SurfacePair, q: Any, th: Mapping[str, float], ranges: tuple[tuple[float, float], ...], samples: int = 200
) -> tuple[float, Array]:
    """The smallest distance of two outlines over ranges of their parameters, by sampling, and the parameters there.

    For watching whether the contact points that a motion follows are the closest ones: compare with its gap.
    """
    prepare_jax()
    geometry, named, k = Geometry(pair, len(q)), Parameters(th), pair.space
    axes = [np.linspace(low, high, samples if k == 1 else max(2, int(samples**0.5))) for low, high in ranges]
    place = jnp.asarray(q, dtype=jnp.float64)

    def outline(f: Outline, grids: Sequence[Array]) -> tuple[Array, Array]:
        s = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, k)
        return s, np.asarray(jax.vmap(lambda r: geometry._at(f, place, r, named))(jnp.asarray(s)))

    (s_a, x_a), (s_b, x_b) = outline(pair.first, axes[:k]), outline(pair.second, axes[k:])
    d = np.linalg.norm(x_a[:, None, :] - x_b[None, :, :], axis=2)
    i, j = np.unravel_index(int(np.argmin(d)), d.shape)
    return float(d[i, j]), np.concatenate([s_a[i], s_b[j]])


def conformity(pair: SurfacePair, q: Any, s: Any, th: Mapping[str, float]) -> float:
    """How unique the closest points are: the determinant of [SW (15)] over its size; 0 is conformal contact."""
    prepare_jax()
    geometry = Geometry(pair, len(q))
    named = Parameters(th)
    k = pair.space

    def sides(r: Any) -> Any:
        return geometry.conditions(jnp.asarray(q), r[:k], r[k:], named)[1]

    J = np.asarray(jax.jacfwd(sides)(jnp.asarray(s, dtype=jnp.float64)))
    sizes = np.linalg.norm(J, axis=1)
    return float(np.linalg.det(J) / np.prod(np.where(sizes > 0, sizes, 1.0)))


def check_surfaces(pairs: Mapping[str, SurfacePair], q: Array, th: Mapping[str, float]) -> None:
    """Refuse outlines without a tangent, and conformal contact, at a configuration of the bodies."""
    prepare_jax()
    named = Parameters(th)
    for name, pair in pairs.items():
        geometry, k = Geometry(pair, len(q)), pair.space
        s = jnp.asarray(pair.start, dtype=jnp.float64)
        for label, outline, r in (("first", pair.first, s[:k]), ("second", pair.second, s[k:])):
            t = np.asarray(geometry.tangents(outline, jnp.asarray(q), r, named))
            size = float(np.linalg.svd(t, compute_uv=False)[-1])
            if not size > np.sqrt(EPS):
                raise ModelError(
                    f"the {label} outline of '{name}' is not regular at s = {np.asarray(r)}",
                    got=f"a tangent of length {size:.3g}",
                    expected="a curve or surface with tangents that do not vanish",
                    advice="another parametrisation (arclength, an angle)",
                )
        if abs(conformity(pair, q, np.asarray(s), th)) < np.sqrt(EPS):
            raise ModelError(
                f"the outlines of '{name}' are conformal: their curvatures agree, no single pair of points is closest",
                got="a singular matrix of the contact parameters",
                expected="curvatures that differ",
                advice="change a radius a little, or describe the contact by several points",
            )


def _names(name: str, pair: SurfacePair) -> list[str]:
    if pair.names:
        return list(pair.names)
    return [f"{name}.s{c}" for c in "AB"] if pair.space == 1 else [f"{name}.s{c}{i}" for c in "AB" for i in (1, 2)]


def _check(name: str, pair: SurfacePair) -> None:
    if len(pair.start) not in (2, 4):
        raise ModelError(
            f"the pair '{name}' has {len(pair.start)} parameters", expected="two in the plane, four in space: `start`"
        )
    if pair.names and len(pair.names) != len(pair.start):
        raise ModelError(f"the pair '{name}' has {len(pair.names)} names", expected=f"{len(pair.start)}")


def _short(f: Any, n: int) -> Any:
    return lambda x, p, th: f(x[:n], p, th)


def _shortened(table: Mapping[str, Any], n: int) -> dict[str, Any]:
    return {name: _short(f, n) for name, f in table.items()}


def _velocities(f: Any, n: int) -> Any:
    return lambda x, v, th: f(x[:n], v[:n], th)


def _contact(contact: Contact, n: int) -> Contact:
    return contact if contact.slip is None else replace(contact, slip=_velocities(contact.slip, n))


def _padded(mass: Any, n: int, extra: int) -> Any:
    return lambda x, th: jnp.pad(mass(x[:n], th), ((0, extra), (0, extra)))


def _force(force: Any, n: int, extra: int) -> Any:
    return lambda t, x, v, p, th: jnp.concatenate([force(t, x[:n], v[:n], p, th), jnp.zeros(extra)])
