"""Bars and springs: an energy of the distance of two places."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import jax
import numpy as np

from onesided.elements.contract import Acting, Local, Quantity, Start
from onesided.elements.law_members import LawMember
from onesided.elements.laws import check_law, polynomial_energy
from onesided.elements.schedules import Schedule, Scheduled
from onesided.elements.shapes import distance, distance_squared
from onesided.formulas.unfolding import Unfolded

MATERIALS = Literal["linear", "neo_hookean"]


class Lengths(NamedTuple):
    """What the stress-free state of a member rests on: length and, for a linear law, stiffness."""

    natural: Any
    stiffness: Any


@dataclass(frozen=True)
class Bar(LawMember):
    """A straight member between two places: energy of its elongation e = distance − natural length.

    Parameters
    ----------
    ends : names of two places.
    stiffness : force per elongation; or `modulus_area` (EA): then the stiffness is EA / natural length.
    length : natural length; by default the distance at the start. 0 is allowed: a spring that pulls to a point.
    pretension : tension at the start, where `length` is not given: the natural length is shorter accordingly.
    strain : without stress, by temperature or swelling: the natural length is (1 + strain) times as long.
    law : energy as a formula of the elongation `e` and parameters, instead of a stiffness: "k*e**2/2 + c*e**4". Terms
        k*max(e - c, 0)**2 and c*abs(e) have events at their kinks.
    table : force over elongation by points [[e, force], …], instead of a stiffness: linear in between and beyond. Its
        kinks are events, `<name>_kink1` and so on.
    rounding : elongation over which the kinks of the table are rounded; then they are no events.
    polynomial : force k₁ e + k₂ e² + …, instead of a stiffness: the numbers k₁, k₂, ….
    material : "neo_hookean": with `modulus_area`, an incompressible rubber of energy EA L/6 (λ² + 2/λ − 3), stretch λ.

    Stiffness, natural length, pretension, strain and law may follow the control parameter: length="2 - 0.5*p".
    """

    ends: tuple[str, str] = ("", "")
    stiffness: Schedule | None = None
    modulus_area: Schedule | None = None
    length: Schedule | None = None
    pretension: Schedule = 0.0
    law: str | None = None
    strain: Schedule = field(default=0.0, kw_only=True)
    table: Sequence[Sequence[Quantity]] | None = field(default=None, kw_only=True)
    rounding: Quantity = field(default=0.0, kw_only=True)
    polynomial: Sequence[Quantity] | None = field(default=None, kw_only=True)
    material: MATERIALS = field(default="linear", kw_only=True)
    moving: bool = field(default=False, kw_only=True, repr=False)  # in motion kinks have no coordinates
    pieces: Unfolded | None = field(default=None, kw_only=True, repr=False)  # of its law, when composed

    kind: ClassVar[str] = "bar"
    drawn_as: ClassVar[str] = "bar"
    measure: ClassVar[str] = "e"
    stiff: ClassVar[tuple[str, ...]] = ("stiffness", "modulus_area", "law", "table", "polynomial")  # one is given

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places at its two ends."""
        return tuple(self.ends)

    @property
    def to_a_point(self) -> bool:
        """Whether its natural length is zero: the energy then needs the square of the distance only."""
        return self.linear and self.length is not None and not isinstance(self.length, str) and self.length == 0

    @property
    def _schedules(self) -> dict[str, Scheduled]:
        """What may follow the control parameter."""
        rigid = next((one for one in (self.stiffness, self.modulus_area) if one is not None), 1.0)
        given = {"given": self.length, "pull": self.pretension, "swelling": self.strain, "rigid": rigid}
        return {key: Scheduled(key, value, self.control) for key, value in given.items() if value is not None}

    @property
    def moves(self) -> bool:
        """Whether its natural length or stiffness follows the control parameter."""
        return any(one.moves for one in self._schedules.values())

    @property
    def driven(self) -> bool:
        """Whether its natural length, stiffness or law follows the control parameter."""
        return self.moves or (self.law is not None and self._law.moves)

    @property
    def variant(self) -> Hashable:
        """The formula of its law, formulas of the control parameter, and whether its natural length is zero."""
        shapes = tuple(one.shape for one in self._schedules.values()) if self.moves else ()
        law: Hashable = (self.law, self.control) if self.law is not None else self.material
        if self.table is not None:
            law = self._table.shape
        elif self.polynomial is not None:
            law = "polynomial", len(self.polynomial)
        return law, self.to_a_point, shapes, self.length is None, self.modulus_area is None

    def span(self, start: Start) -> float:
        """Its length at the start."""
        return start.distance(*self.ends)

    def check(self, start: Start) -> None:
        """Exactly one statement of the stiffness; lengths that make sense."""
        if len(self.ends) != 2:
            raise self.error("needs two ends", got=str(self.ends))
        given = [name for name in self.stiff if getattr(self, name) is not None]
        if len(given) != 1:
            raise self.error(
                "its stiffness is not clear",
                got=", ".join(given) or "nothing",
                expected="one of " + ", ".join(f"`{name}`" for name in self.stiff),
            )
        check_law(self, self.law, self.measure, start)
        if self.table is not None:
            self._table.check(self, start, self.rounding)
        elif self.rounding != 0.0:
            raise self.error("`rounding` has no meaning here", expected="a `table`")
        if self.polynomial is not None and (not np.iterable(self.polynomial) or not len(self.polynomial)):
            got = repr(self.polynomial)
            raise self.error("its `polynomial` is not usable", got=got, expected="coefficients [k1, k2, …]")
        start.vector(self.polynomial or ())
        if self.strain is None:
            raise self.error("its `strain` is not usable", got="None", expected="a number, or a formula in quotes")
        if self.material not in get_args(MATERIALS) or (self.material != "linear" and self.modulus_area is None):
            raise self.error("its material is not usable", got=repr(self.material), expected="neo_hookean with EA")
        if self.pretension != 0.0 and (not self.linear or self.length is not None):
            raise self.error("`pretension` has no meaning here", expected="a stiffness, and no natural length")
        if self.span(start) == 0.0 and not self.to_a_point:
            raise self.error("its ends coincide", expected="two different points", advice="or length = 0")
        if self.linear:
            self._check_stiffness(start, given[0])

    @property
    def linear(self) -> bool:
        """Whether it has a stiffness."""
        return (self.stiffness is not None or self.modulus_area is not None) and self.material == "linear"

    def _check_stiffness(self, start: Start, given: str) -> None:
        if self._schedules["rigid"].moves:
            if self.pretension != 0.0:
                got = str(getattr(self, given))
                raise self.error(f"`pretension` has no meaning where `{given}` changes", got=got, advice="`length`")
            return
        stiffness = start.value(getattr(self, given))
        if not stiffness > 0:
            raise self.error("its stiffness is not positive", got=f"{stiffness:g}", advice="or use `law`")
        if self.moves:
            return
        if self.modulus_area is not None and start.value(self.pretension) <= -stiffness:
            raise self.error("its pretension would need a negative length", got=str(self.pretension))
        natural = self.along(start, 0.0).natural
        if not natural >= 0 or (natural == 0 and not self.to_a_point):
            raise self.error("its natural length is not positive", got=f"{natural:g}")

    def _lengths(self, span: Any, values: Mapping[str, Any]) -> Lengths:
        """Natural length and stiffness for given values of what may follow the control parameter."""
        swollen, rigid = 1.0 + values["swelling"], values["rigid"]
        if self.modulus_area is not None:  # EA (span − l)/l = tension
            natural = swollen * (values["given"] if "given" in values else span / (1.0 + values["pull"] / rigid))
            return Lengths(natural, float("nan") if self.to_a_point else rigid / natural)
        return Lengths(swollen * (values["given"] if "given" in values else span - values["pull"] / rigid), rigid)

    def along(self, start: Start, p: Any) -> Lengths:
        """Natural length and stiffness for values of the control parameter, as numbers."""
        values = {key: one.along(start, p) for key, one in self._schedules.items()}
        return self._lengths(self.span(start), values)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Natural length and stiffness, or what they are made of along p; parameters of the law."""
        law: dict[str, Any] = {} if self.law is None else self._law.numbers(start)
        if self.table is not None:
            law = self._table.numbers(start, self.rounding)
        elif self.polynomial is not None:
            law = {"polynomial": start.vector(self.polynomial)}
        if not self.moves:
            return {**self.along(start, 0.0)._asdict(), **law}
        own = {key: value for one in self._schedules.values() for key, value in one.numbers(start).items()}
        return {"span": self.span(start), **own, **law}

    def lengths(self, at: Local) -> Lengths:
        """Natural length and stiffness where it is."""
        if not self.moves:
            return Lengths(at.n.natural, at.n.stiffness)
        values = {key: one.value(at) for key, one in self._schedules.items()}
        return self._lengths(at.n.span, values)

    def measured(self, at: Local) -> Any:
        """Elongation: distance of the ends less natural length."""
        return distance(*at.frames) - self.lengths(at).natural

    def measured_at_start(self, start: Start) -> float:
        """Elongation at the start, for p = 0."""
        return self.span(start) - float(self.along(start, 0.0).natural)

    def energy(self, at: Local) -> Any:
        """Energy of the elongation at the present distance of the ends."""
        if self.to_a_point:
            return self.lengths(at).stiffness / 2 * distance_squared(*at.frames)
        return self.stored(at, distance(*at.frames))

    def stored(self, at: Local, length: Any) -> Any:
        """Energy as a function of the distance of the ends."""
        natural, stiffness = self.lengths(at)
        if self.law is not None:
            return self._law.energy(length - natural, at)
        if self.table is not None:
            return self._table.energy(length - natural, at)
        if self.polynomial is not None:
            return polynomial_energy(at.n.polynomial, length - natural, len(self.polynomial))
        if self.material == "neo_hookean":
            stretch = length / natural
            return stiffness * natural**2 / 6 * (stretch**2 + 2.0 / stretch - 3.0)
        return stiffness / 2 * (length - natural) ** 2

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Tension (thrust is negative), length, stress-free length, elongation, strain."""
        lengths = (".force", ".length", ".natural_length", ".elongation")
        return lengths if self.to_a_point else (*lengths, ".strain")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The tension is the derivative of the energy with respect to the length."""
        length, natural = distance(*at.frames), self.lengths(at).natural
        found = (jax.grad(self.stored, 1)(at, length), length, natural, length - natural)
        return found if self.to_a_point else (*found, (length - natural) / natural)


@dataclass(frozen=True)
class Spring(Bar):
    """The same as a bar, under the name engineers use for it."""

    kind: ClassVar[str] = "spring"
    drawn_as: ClassVar[str] = "spring"
