"""Contact with surface parameters: two parametrised curves (plane) or surfaces (space) on bodies [SW].

The contact points x_A(s_A), x_B(s_B) of the two outlines have parameters s, massless coordinates of the system. With
d = x_A − x_B, tangents t = ∂x/∂s and a normal n of A that points from the contact into body A [SW (1)–(4)]:

    c_n = d·n / |n|      the gap, a bilateral or a one-sided constraint,
    c_t = d·t_A          the points lie opposite each other,
    c_p = n·t_B / |n|    the outlines are parallel there,

in space with two tangents each; for an edge on a surface n and the tangents of c_t are those of the surface. c_t and
c_p hold whether or not the bodies touch: the points are the closest ones.
Their multipliers vanish where they are met [SW (15)], so that contact forces are those of c_n and of the slip alone.
The gap is a distance because n is divided by its length: the multiplier of c_n is the normal force.

Every derivative (with respect to coordinates and parameters, up to the second) comes from the library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.arguments import checked, row_of_numbers
from onesided.base.errors import ModelError
from onesided.base.names import joined
from onesided.base.types import Array
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.rows import Row
from onesided.evaluation.user_functions import Parameters
from onesided.groups import Product, Vector
from onesided.system.contact import Contact
from onesided.system.measures import Elementwise
from onesided.system.surface_geometry import Outline, PairGeometry
from onesided.system.surface_geometry import SurfacePair as SurfacePair
from onesided.system.surface_watch import SurfaceWatch
from onesided.system.system import System
from onesided.system.travel import made_by

_SIDES = {2: ("t", "p"), 3: ("t1", "t2", "p"), 4: ("t1", "t2", "p1", "p2")}
_LETTERS = {2: ("sA", "sB"), 3: ("sA", "sB1", "sB2"), 4: ("sA1", "sA2", "sB1", "sB2")}


def parameter_names(name: str, count: int) -> list[str]:
    """Names of the parameters of a pair that gives none."""
    return [f"{name}.{letter}" for letter in _LETTERS.get(count, ())]


@checked
def with_surfaces(system: System, pairs: Mapping[str, SurfacePair]) -> System:
    """The system with contact pairs added: parameters `<pair>.sA`, … (`.sA1`, … in space) as massless coordinates.

    Constraints are called `<pair>` (the gap), `<pair>.t`, `<pair>.p` (numbered in space), `<pair>.rolls`.

    Raises
    ------
    ModelError
        Numbers of parameters or names that do not fit.

    Notes
    -----
    A motion refuses outlines that are not regular, conformal or pressed into each other at its start
    (`check_surfaces`), and says where that happens on the way, or where other points of the outlines come closer than
    those it follows.
    """
    prepare_jax()
    _refuse_parts(system)
    n, offset = system.n, system.n
    names = list(system.coordinates)
    bilateral, unilateral = _shortened(system.bilateral, n), _shortened(system.unilateral, n)
    rolling: dict[str, Any] = {name: _velocities(f, n) for name, f in system.nonholonomic.items()}
    contacts = {name: _contact(c, n) for name, c in system.contacts.items()}
    for name, pair in pairs.items():
        _check(name, pair)
        kind = _Pair(PairGeometry(pair, n, system.space), offset)
        names += _names(name, pair)
        bilateral = joined("constraint", bilateral, kind.conditions(name))
        unilateral = joined("constraint", unilateral, {name: kind.gap} if pair.opens else {})
        rolling = joined("constraint", rolling, kind.rolling(name))
        contacts = joined("contact", contacts, {name: kind.contact()})
        offset += len(pair.start)
    extra = offset - n
    whole = System(
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
        space=None if system.space is None else Product(system.space, Vector(extra)),
        contacts=contacts,
        measures=_shortened(system.measures, n),
        scales=system.scales.beside(extra),
        sketch=system.sketch,
        kinks=system.kinks,
        surfaces=SurfaceWatch(dict(pairs), n, system.surfaces),
    )
    return made_by(whole, with_surfaces, system, dict(pairs))


def _refuse_parts(system: System) -> None:
    """Refuse systems whose coordinates cannot be added to."""
    if system.structure is not None or system.friction is not None or system.servo:
        raise ModelError(
            "surfaces cannot be added to this system",
            got="a composed structure, joint friction or servo conditions",
            expected="a System of functions without them",
        )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Constraint functions of one pair in the coordinates of the whole system."""

    geometry: PairGeometry
    offset: int

    def gap(self, x: Any, p: Any, th: Any) -> Any:
        q, a, b = self.geometry.parts(x, self.offset)
        return self.geometry.conditions(q, a, b, th)[0]

    def closed(self, x: Any, p: Any, th: Any) -> Any:
        """What holds as long as the pair touches, and all but the last of it always: the sides, then the gap."""
        q, a, b = self.geometry.parts(x, self.offset)
        gap, sides = self.geometry.conditions(q, a, b, th)
        return jnp.append(sides, gap)

    def sides(self, x: Any, p: Any, th: Any) -> Any:
        return self.closed(x, p, th)[:-1]

    def conditions(self, name: str) -> dict[str, Row]:
        """The equations of the pair by name, as rows of one function: evaluated once for all."""
        pair = self.geometry.pair
        labels = [f"{name}.{ending}" for ending in _SIDES[len(pair.start)]]
        family, labels = (self.sides, labels) if pair.opens else (self.closed, [*labels, name])
        return {label: Row(family, i, len(labels)) for i, label in enumerate(labels)}

    def rolling(self, name: str) -> dict[str, Any]:
        """Conditions of a contact that rolls and cannot open."""
        pair = self.geometry.pair
        if not pair.rolls or pair.opens:
            return {}
        if pair.flat:
            return {f"{name}.rolls": self.slip}
        return {f"{name}.rolls{i + 1}": Row(self.slip, i, 2) for i in (0, 1)}

    def contact(self) -> Contact:
        """What the contact does in motion: one that can open and rolls is rough while it is closed."""
        pair = self.geometry.pair
        if not pair.opens:
            return Contact()
        return Contact(pair.restitution, np.inf if pair.rolls else 0.0, self.slip if pair.rolls else None)

    def slip(self, x: Any, v: Any, th: Any) -> Any:
        q, a, b = self.geometry.parts(x, self.offset)
        found = self.geometry.slip(q, v[: self.geometry.n], a, b, th)
        return found[0] if self.geometry.pair.flat else found


@checked
def surface_start(system: System, pairs: Mapping[str, SurfacePair], q0: Any) -> Array:
    """Coordinates of the whole system: q0 of the bodies, parameters as the pairs guess them."""
    return np.concatenate([system.point(q0), *(np.asarray(pair.start, dtype=float) for pair in pairs.values())])


def closest(
    pair: SurfacePair, q: Any, th: Mapping[str, float], ranges: tuple[tuple[float, float], ...], samples: int = 200
) -> tuple[float, Array]:
    """The smallest distance of two outlines over ranges of their parameters, by sampling, and the parameters there.

    For watching whether the contact points that a motion follows are the closest ones: compare with its gap.
    """
    prepare_jax()
    geometry, named, k = PairGeometry(pair, len(q)), Parameters(th), pair.sizes[0]
    counts = [samples if size == 1 else max(2, int(samples**0.5)) for size in pair.sizes for _ in range(size)]
    axes = [np.linspace(low, high, count) for (low, high), count in zip(ranges, counts, strict=True)]
    place = jnp.asarray(q, dtype=jnp.float64)

    def outline(f: Outline, grids: Sequence[Array]) -> tuple[Array, Array]:
        s = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, len(grids))
        return s, np.asarray(jax.vmap(lambda r: geometry._at(f, place, r, named))(jnp.asarray(s)))

    (s_a, x_a), (s_b, x_b) = outline(pair.first, axes[:k]), outline(pair.second, axes[k:])
    d = np.linalg.norm(x_a[:, None, :] - x_b[None, :, :], axis=2)
    i, j = np.unravel_index(int(np.argmin(d)), d.shape)
    return float(d[i, j]), np.concatenate([s_a[i], s_b[j]])


@checked
def conformity(pair: SurfacePair, q: Any, s: Any, th: Mapping[str, float]) -> float:
    """How unique the closest points are: the determinant of [SW (15)] over its size; 0 is conformal contact."""
    place, at = row_of_numbers("q", q), row_of_numbers("s", s, len(pair.start))
    look = SurfaceWatch({"pair": pair}, len(place)).local("pair", place[None], at[None], th)
    sizes = np.linalg.norm(look.J[0], axis=1)
    return float(np.linalg.det(look.J[0]) / np.prod(np.where(sizes > 0, sizes, 1.0)))


@checked
def check_surfaces(pairs: Mapping[str, SurfacePair], q: Array, th: Mapping[str, float]) -> None:
    """Refuse outlines without a tangent, and conformal contact, at a configuration of the bodies."""
    place = row_of_numbers("q", q)
    for name, pair in pairs.items():
        start = np.concatenate([place, np.asarray(pair.start, dtype=float)])
        SurfaceWatch({name: pair}, len(place)).check(start, th)


def _names(name: str, pair: SurfacePair) -> list[str]:
    if pair.names:
        return list(pair.names)
    return parameter_names(name, len(pair.start))


def _check(name: str, pair: SurfacePair) -> None:
    if len(pair.start) not in _SIDES:
        raise ModelError(
            f"the pair '{name}' has {len(pair.start)} parameters",
            expected="two in the plane, four in space, three for an edge on a surface: `start`",
        )
    if pair.names and len(pair.names) != len(pair.start):
        raise ModelError(f"the pair '{name}' has {len(pair.names)} names", expected=f"{len(pair.start)}")


def _short(f: Any, n: int) -> Any:
    return lambda x, p, th: f(x[:n], p, th)


def _shortened(table: Mapping[str, Any], n: int) -> dict[str, Any]:
    return {
        name: replace(f, function=_short(f.function, n)) if isinstance(f, Elementwise) else _short(f, n)
        for name, f in table.items()
    }


def _velocities(f: Any, n: int) -> Any:
    return lambda x, v, th: f(x[:n], v[:n], th)


def _contact(contact: Contact, n: int) -> Contact:
    return contact if contact.slip is None else replace(contact, slip=_velocities(contact.slip, n))


def _padded(mass: Any, n: int, extra: int) -> Any:
    return lambda x, th: jnp.pad(mass(x[:n], th), ((0, extra), (0, extra)))


def _force(force: Any, n: int, extra: int) -> Any:
    return lambda t, x, v, p, th: jnp.concatenate([force(t, x[:n], v[:n], p, th), jnp.zeros(extra)])
