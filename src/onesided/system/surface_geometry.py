"""Two parametrised outlines and the quantities of their contact [SW (1)–(4)], see `onesided.system.surfaces`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from onesided.base.arguments import stated
from onesided.groups import Group, Vector

Outline = Callable[[Any, Any, Any], Any]


@stated
@dataclass(frozen=True)
class SurfacePair:
    """Two outlines that may touch.

    Attributes
    ----------
    first, second : point (q, s, th) of an outline in space-fixed axes; s is one number in the plane, two in space.
        The first one's normal, its tangent turned by +90° (in space: the product of its tangents), must point into its
        body. The first may be an edge in space, a curve with one parameter, such as the rim of a disk: then the
        second one's normal must point to the first body.
    start : parameters of the contact points near the start, first body's then second's.
    rolls : whether the contact does not slip: a rolling condition on the material points.
    opens : whether the contact is one-sided; otherwise the bodies stay together and a pulling force is reported.
    restitution : of a one-sided contact.
    names : of the parameters; default `<pair>.sA`, `<pair>.sB`.
    ranges : (low, high) of each parameter, where other closest points are looked for during a motion; default: all
        around an outline that closes after 2π, and of the other one what lies within reach of it.
    """

    first: Outline
    second: Outline
    start: tuple[float, ...]
    rolls: bool = False
    opens: bool = False
    restitution: float = 0.0
    names: tuple[str, ...] = field(default=())
    ranges: tuple[tuple[float, float], ...] = field(default=())

    @property
    def sizes(self) -> tuple[int, int]:
        """Parameters of each outline: 1 and 1 in the plane, 2 and 2 in space, 1 and 2 for an edge on a surface."""
        return len(self.start) // 2, len(self.start) - len(self.start) // 2

    @property
    def flat(self) -> bool:
        """Whether the outlines are curves in the plane."""
        return len(self.start) == 2

    @property
    def edge(self) -> bool:
        """Whether the first outline is a curve in space."""
        return len(self.start) == 3


class PairGeometry:
    """Quantities of a pair at (q, s)."""

    def __init__(self, pair: SurfacePair, n: int, space: Group | None = None) -> None:
        self.pair, self.n, self.k = pair, n, pair.sizes[0]
        self.bodies = space or Vector(n)

    def parts(self, x: Any, offset: int) -> tuple[Any, Any, Any]:
        """q, s_A, s_B out of the coordinates."""
        s = x[offset : offset + len(self.pair.start)]
        return x[: self.n], s[: self.k], s[self.k :]

    def points(self, q: Any, a: Any, b: Any, th: Any) -> tuple[Any, Any]:
        """Contact points x_A, x_B on both surfaces, at surface coordinates a and b."""
        return self._at(self.pair.first, q, a, th), self._at(self.pair.second, q, b, th)

    def _at(self, outline: Outline, q: Any, s: Any, th: Any) -> Any:
        return jnp.asarray(outline(q, s[0] if len(s) == 1 else s, th))

    def tangents(self, outline: Outline, q: Any, s: Any, th: Any) -> Any:
        """∂x/∂s, one row for each parameter."""
        return jax.jacfwd(lambda r: self._at(outline, q, r, th))(s).T

    def normal(self, tangents: Any) -> Any:
        """The normal of given tangents, of length one."""
        plane = len(tangents) == 1
        n = jnp.array([-tangents[0, 1], tangents[0, 0]]) if plane else jnp.cross(tangents[0], tangents[1])
        return n / jnp.sqrt(n @ n)

    def conditions(self, q: Any, a: Any, b: Any, th: Any) -> tuple[Any, Any]:
        """The gap c_n, and (c_t, c_p), as many as there are parameters."""
        x_a, x_b = self.points(q, a, b, th)
        t_a, t_b = self.tangents(self.pair.first, q, a, th), self.tangents(self.pair.second, q, b, th)
        d = x_a - x_b
        if self.pair.edge:  # the normal is that of the surface
            n = self.normal(t_b)
            return d @ n, jnp.concatenate([t_b @ d, t_a @ n])
        n = self.normal(t_a)
        return d @ n, jnp.concatenate([t_a @ d, t_b @ n])

    def slip(self, q: Any, v: Any, a: Any, b: Any, th: Any) -> Any:
        """Relative velocity of the material points at the contact along one tangent of length one, in space two."""
        zero, one = jnp.zeros(()), jnp.ones(())
        rate = jax.jvp(lambda r: jnp.subtract(*self.points(self.bodies.nudge(q, r * v), a, b, th)), (zero,), (one,))[1]
        t = self.tangents(self.pair.first, q, a, th)
        along = t / jnp.sqrt(jnp.sum(t * t, axis=1, keepdims=True))
        if not self.pair.flat:  # two directions at right angles, so that friction is the same in all
            n = self.normal(self.tangents(self.pair.second, q, b, th) if self.pair.edge else t)
            along = jnp.stack([along[0], jnp.cross(n, along[0])])
        return along @ rate
