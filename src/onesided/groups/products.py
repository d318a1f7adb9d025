"""Vector spaces and products of groups."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onesided.base.errors import ModelError
from onesided.groups.group import Group
from onesided.groups.series import namespace


@dataclass(frozen=True)
class Vector(Group):
    """A vector space of `size` numbers: positions, lengths, angles that may grow beyond a turn."""

    size: int

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise ModelError("a vector space has no such size", got=repr(self.size), expected="a positive whole number")

    def retract(self, q: Any, delta: Any) -> Any:
        """The sum q + δ."""
        return q + delta

    def local(self, q: Any, other: Any) -> Any:
        """The difference of two points, other − q."""
        return other - q

    def bracket(self, v: Any, w: Any) -> Any:
        """The bracket [v, w] = 0: translations commute."""
        return namespace(v).zeros_like(v)

    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """The coadjoint ad_vᵀ π = 0: translations commute."""
        return namespace(v).zeros_like(v)

    def angle_squared(self, delta: Any) -> Any:
        """The squared angle of an increment is 0: nothing turns."""
        return 0.0 * delta[..., 0]

    def rate(self, delta: Any, v: Any) -> Any:
        """The velocity v itself: coordinates are flat."""
        return v

    @property
    def flat(self) -> bool:
        """True: increments are added to coordinates."""
        return True

    @property
    def words(self) -> str:
        """The name with the number of coordinates."""
        return f"Vector({self.size})"


@dataclass(frozen=True, init=False)
class Product(Group):
    """Groups side by side: `Product(Vector(3), SO3())` is a free body, position in fixed axes, rotation in its own."""

    parts: tuple[Group, ...]

    def __init__(self, *parts: Group) -> None:
        for part in parts:
            if not isinstance(part, Group):
                raise ModelError("a part of a product is no group", got=repr(part), expected="Vector(n), SO3(), …")
        object.__setattr__(self, "parts", parts)

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of coordinates of all parts together."""
        return sum(part.size for part in self.parts)

    def _each(self, call: Callable[..., Any], *arrays: Any) -> Any:
        pieces, first = [], 0
        for part in self.parts:
            cut = slice(first, first + part.size)
            pieces.append(call(part, *(a[..., cut] for a in arrays)))
            first += part.size
        return namespace(arrays[0]).concatenate(pieces, axis=-1)

    def retract(self, q: Any, delta: Any) -> Any:
        """Increments applied to each part by its own rule."""
        return self._each(lambda g, a, b: g.retract(a, b), q, delta)

    def nudge(self, q: Any, delta: Any) -> Any:
        """Small increments applied to each part by its own rule."""
        return self._each(lambda g, a, b: g.nudge(a, b), q, delta)

    def local(self, q: Any, other: Any) -> Any:
        """Increments of each part that lead from q to `other`."""
        return self._each(lambda g, a, b: g.local(a, b), q, other)

    def bracket(self, v: Any, w: Any) -> Any:
        """Brackets [v, w] of the parts, one after the other."""
        return self._each(lambda g, a, b: g.bracket(a, b), v, w)

    def coadjoint(self, v: Any, momentum: Any) -> Any:
        """Coadjoints ad_vᵀ π of the parts, one after the other."""
        return self._each(lambda g, a, b: g.coadjoint(a, b), v, momentum)

    def rate(self, delta: Any, v: Any) -> Any:
        """Rates of the increments of the parts, one after the other."""
        return self._each(lambda g, a, b: g.rate(a, b), delta, v)

    def wrap(self, q: Any) -> Any:
        """Each part with its angles within ±π."""
        return self._each(lambda g, a: g.wrap(a), q)

    def angle_squared(self, delta: Any) -> Any:
        """Not one number: every part has its own angle."""
        raise ModelError("a product has no single angle", advice="ask its parts")

    def turn(self, delta: Any) -> Any:
        """The largest turn of all parts."""
        turns = self._each(lambda g, a: g.turn(a)[..., None], delta)
        return namespace(delta).max(turns, axis=-1)

    @property
    def flat(self) -> bool:
        """Whether increments are added to coordinates in every part."""
        return all(part.flat for part in self.parts)

    @property
    def words(self) -> str:
        """Names of the groups, joined by ×."""
        return " × ".join(part.words for part in self.parts)
