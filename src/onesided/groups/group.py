"""The contract of a configuration space."""

from abc import ABC, abstractmethod
from typing import Any

from onesided.groups.series import inverse, namespace

MOST_TURN = 2.5  # of a step: motion within it is known by the shortest way between its ends, which is below π


class Group(ABC):
    """A Lie group in `size` numbers q, with velocities v of the same number, fixed to the body (left-trivialised).

    1. `retract(q, δ)` = q∘exp(δ) is the only way a configuration changes; `local(q, r)` is its inverse in δ.
    2. A motion q(t) with velocity v(t) obeys d/ds q∘exp(s v) = q̇ at s = 0. Along q₀∘exp(δ(t)): δ̇ = `rate(δ, v)`.
    3. `bracket(v, w)` = ad_v w, `coadjoint(v, π)` = ad_vᵀ π, the term that turning coordinates add to momentum balance.
    4. `nudge(q, δ)` has the first and second derivatives of `retract` at δ = 0, exactly, and is cheaper.
    5. `wrap(q)` gives the same configuration in its main range (angles within ±π).

    The last axis of every array holds the components; leading axes are points.
    """

    size: int

    @abstractmethod
    def retract(self, q: Any, delta: Any) -> Any:
        """The configuration q∘exp(δ): q moved by δ (…, size) in its own axes."""

    @abstractmethod
    def local(self, q: Any, other: Any) -> Any:
        """δ with q∘exp(δ) = other, the shortest."""

    @abstractmethod
    def bracket(self, v: Any, w: Any) -> Any:
        """Lie bracket ad_v w of two velocities, (…, size)."""

    @abstractmethod
    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """Gyroscopic term ad_vᵀ π of a momentum, (…, size)."""

    @abstractmethod
    def angle_squared(self, delta: Any) -> Any:
        """Square of the rotation angle of exp(δ), one number per point."""

    def turn(self, delta: Any) -> Any:
        """The largest angle by which exp(δ) turns a body, one number per point; δ is the shortest way below π."""
        return namespace(delta).sqrt(self.angle_squared(delta))

    def nudge(self, q: Any, delta: Any) -> Any:
        """q∘exp(δ) up to second order in δ: what derivatives at δ = 0 are taken of, because it is cheap."""
        return self.retract(q, delta)

    def wrap(self, q: Any) -> Any:
        """The same configuration in its main range."""
        return q

    def rate(self, delta: Any, v: Any) -> Any:
        """δ̇ of q₀∘exp(δ(t)) for the velocity v: the inverse of the tangent of exp, for angles below 2π."""
        c2, c4 = inverse(self.angle_squared(delta)[..., None])
        first = self.bracket(delta, v)
        second = self.bracket(delta, first)
        fourth = self.bracket(delta, self.bracket(delta, second))
        return v + 0.5 * first + c2 * second + c4 * fourth

    @property
    def flat(self) -> bool:
        """Whether the group is a plain vector space, on which `retract` adds and `rate` is v."""
        return False

    @property
    def words(self) -> str:
        """Name in provenance and messages."""
        return type(self).__name__
