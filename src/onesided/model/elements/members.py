"""Bars and springs: an energy of the distance of two places."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax

from onesided.model.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.model.elements.laws import FormulaLaw
from onesided.model.elements.shapes import distance, distance_squared


@dataclass(frozen=True)
class Bar(Element):
    """A straight member between two places: energy of its elongation e = distance − natural length.

    Parameters
    ----------
    ends : names of two places.
    stiffness : force per elongation; or `modulus_area` (EA): then the stiffness is EA / natural length.
    length : natural length; by default the distance at the start. 0 is allowed: a spring that pulls to a point.
    pretension : tension at the start, where `length` is not given: the natural length is shorter accordingly.
    law : energy as a formula of the elongation `e` and parameters, instead of a stiffness: "k*e**2/2 + c*e**4".
    """

    ends: tuple[str, str] = ("", "")
    stiffness: Quantity | None = None
    modulus_area: Quantity | None = None
    length: Quantity | None = None
    pretension: Quantity = 0.0
    law: str | None = None

    kind: ClassVar[str] = "bar"
    drawn_as: ClassVar[str] = "bar"

    @property
    def places(self) -> tuple[str, ...]:
        """Its two ends."""
        return tuple(self.ends)

    @property
    def to_a_point(self) -> bool:
        """Whether its natural length is zero: the energy then needs the square of the distance only."""
        return self.law is None and self.length is not None and not isinstance(self.length, str) and self.length == 0

    @property
    def variant(self) -> Hashable:
        """The formula of its law, and whether its natural length is zero."""
        return self.law, self.to_a_point

    def span(self, start: Start) -> float:
        """Its length at the start."""
        return start.distance(*self.ends)

    def check(self, start: Start) -> None:
        """Exactly one statement of the stiffness; lengths that make sense."""
        if len(self.ends) != 2:
            raise self.error("needs two ends", got=str(self.ends))
        given = [name for name in ("stiffness", "modulus_area", "law") if getattr(self, name) is not None]
        if len(given) != 1:
            raise self.error(
                "its stiffness is not clear",
                got=", ".join(given) or "nothing",
                expected="one of `stiffness`, `modulus_area`, `law`",
            )
        if self.pretension != 0.0 and (self.law is not None or self.length is not None):
            raise self.error("`pretension` has no meaning here", expected="a stiffness, and no natural length")
        if self.span(start) == 0.0 and not self.to_a_point:
            raise self.error("its ends coincide", expected="two different points", advice="or length = 0")
        if self.law is None:
            stiffness = start.value(getattr(self, given[0]))
            if not stiffness > 0:
                raise self.error("its stiffness is not positive", got=f"{stiffness:g}", advice="or use `law`")
            if self.modulus_area is not None and start.value(self.pretension) <= -stiffness:
                raise self.error("its pretension would need a negative length", got=str(self.pretension))
            natural = self._natural(start)[0]
            if not natural >= 0 or (natural == 0 and not self.to_a_point):
                raise self.error("its natural length is not positive", got=f"{natural:g}")

    def _natural(self, start: Start) -> tuple[float, float]:
        """Natural length and stiffness."""
        given = None if self.length is None else start.value(self.length)
        now, tension = self.span(start), start.value(self.pretension)
        if self.modulus_area is not None:  # EA (now − l)/l = tension
            area = start.value(self.modulus_area)
            natural = now / (1.0 + tension / area) if given is None else given
            return natural, area / natural if natural else float("nan")
        stiffness = start.value(self.stiffness if self.stiffness is not None else 1.0)
        return (now - tension / stiffness if given is None else given), stiffness

    def numbers(self, start: Start) -> dict[str, Any]:
        """Natural length, stiffness, parameters of the law."""
        if self.law is None:
            length, stiffness = self._natural(start)
            return {"length": length, "stiffness": stiffness}
        length = self.span(start) if self.length is None else start.value(self.length)
        return {"length": length, **FormulaLaw(self.law).numbers(start)}

    def energy(self, at: Local) -> Any:
        """Law of the elongation."""
        if self.to_a_point:
            return at.n.stiffness / 2 * distance_squared(*at.frames)
        return self.stored(at, distance(*at.frames))

    def stored(self, at: Local, length: Any) -> Any:
        """Energy at a length."""
        elongation = length - at.n.length
        if self.law is None:
            return at.n.stiffness / 2 * elongation**2
        return FormulaLaw(self.law).energy(elongation, at.n)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Tension (thrust is negative), length, stress-free length, elongation, strain."""
        lengths = (".force", ".length", ".natural_length", ".elongation")
        return lengths if self.to_a_point else (*lengths, ".strain")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The tension is the derivative of the energy with respect to the length."""
        length = distance(*at.frames)
        natural = at.n.length
        found = (jax.grad(self.stored, 1)(at, length), length, natural, length - natural)
        return found if self.to_a_point else (*found, (length - natural) / natural)


@dataclass(frozen=True)
class Spring(Bar):
    """The same as a bar, under the name engineers use for it."""

    kind: ClassVar[str] = "spring"
    drawn_as: ClassVar[str] = "spring"
