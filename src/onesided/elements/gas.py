"""Gas springs: a closed volume of gas between two places pushes them apart."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from onesided.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.elements.schedules import Schedule, Scheduled
from onesided.elements.shapes import distance


@dataclass(frozen=True)
class GasSpring(Element):
    """A gas spring: thrust F = F₀ (h/(h + ℓ − ℓ₀))ⁿ at the length ℓ, for a column of gas of height h at ℓ₀.

    Parameters
    ----------
    ends : names of two places.
    thrust : F₀, what it pushes with at its reference length, against the pressure around it; it may follow the control
        parameter (temperature, filling).
    column : h, volume of the gas over area of the piston at the reference length.
    length : ℓ₀, by default the distance at the start.
    exponent : n, 1 for slow (isothermal), 1.4 for fast compression of air.
    """

    ends: tuple[str, str] = ("", "")
    thrust: Schedule = 0.0
    column: Quantity = 0.0
    length: Quantity | None = None
    exponent: float = 1.0

    kind: ClassVar[str] = "gas_spring"
    drawn_as: ClassVar[str] = "spring"

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places at its two ends."""
        return tuple(self.ends)

    @property
    def _thrust(self) -> Scheduled:
        return Scheduled("thrust", self.thrust, self.control)

    @property
    def driven(self) -> bool:
        """Whether its thrust follows the control parameter."""
        return self._thrust.moves

    @property
    def variant(self) -> Hashable:
        """Exponent, and the formula of the thrust."""
        return float(self.exponent), self._thrust.shape

    def check(self, start: Start) -> None:
        """Ends that are apart, a positive column, an exponent of 1 or more."""
        if len(self.ends) != 2 or start.distance(*self.ends) == 0.0:
            raise self.error("needs two ends that are apart", got=str(self.ends))
        if not start.value(self.column) > 0:
            raise self.error("`column` is not positive", got=str(self.column), expected="volume over area")
        if not isinstance(self.exponent, float | int) or not self.exponent >= 1.0:
            raise self.error("its exponent is not usable", got=str(self.exponent), expected="a number, 1 to 1.67")
        if not self._height(start) > 0:
            raise self.error("there is no room for its gas at the start", advice="a longer `column`")

    def _height(self, start: Start) -> float:
        now = start.distance(*self.ends)
        return start.value(self.column) + now - (now if self.length is None else start.value(self.length))

    def numbers(self, start: Start) -> dict[str, Any]:
        """Thrust, length of the gas column, and the length they are stated for."""
        length = start.distance(*self.ends) if self.length is None else start.value(self.length)
        return {"column": start.value(self.column), "length": length, **self._thrust.numbers(start)}

    def stored(self, at: Local, length: Any) -> Any:
        """Energy at a length: less the work of the thrust."""
        ratio = 1.0 + (length - at.n.length) / at.n.column
        scale = self._thrust.value(at) * at.n.column
        if self.exponent == 1.0:
            return -scale * jnp.log(ratio)
        return scale / (self.exponent - 1.0) * ratio ** (1.0 - self.exponent)

    def energy(self, at: Local) -> Any:
        """Energy of the enclosed gas at the distance of the ends."""
        return self.stored(at, distance(*at.frames))

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Tension, negative as it pushes, and length."""
        return (".force", ".length")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The derivative of the energy with respect to the length."""
        length = distance(*at.frames)
        return jax.grad(self.stored, 1)(at, length), length
