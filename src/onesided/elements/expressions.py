"""Formulas inside elements, and elements that are formulas: `Gap`, `Energy`, `Equation`."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from onesided.elements.contract import Element, Local, Start
from onesided.formulas.formula import Formula, parse
from onesided.formulas.functions import jax_functions
from onesided.formulas.kinks import check_kinks
from onesided.formulas.unfolding import Unfolded, has_kinks, unfolded_energy, unfolded_gap


@dataclass(frozen=True)
class Expression:
    """A formula of some variables and of parameters.

    Elements whose formulas differ in nothing but names have the same `shape` and can be evaluated together: values are
    kept by the order in which names appear.
    """

    text: str
    variables: tuple[str, ...] = ()

    @cached_property
    def formula(self) -> Formula:
        """The text, parsed by the whitelist parser."""
        return parse(self.text)

    @property
    def shape(self) -> Hashable:
        """The formula with numbers in place of names."""
        order = {name: i for i, name in enumerate(self.formula.offsets)}
        kinds = tuple(self.variables.index(name) if name in self.variables else -1 for name in order)
        return kinds, tuple((s.kind, order[s.value] if s.kind == "name" else s.value) for s in self.formula.steps)

    def numbers(self, start: Start) -> dict[str, float]:
        """Values of the parameters it uses."""
        self.formula.require({*start.parameters, *self.variables})
        names = enumerate(self.formula.offsets)
        return {f"formula_{i}": start.parameters[name] for i, name in names if name not in self.variables}

    def value(self, values: Sequence[Any], numbers: Mapping[str, Any]) -> Any:
        """The value for given values of the variables, in their order."""
        known = dict(zip(self.variables, values, strict=True))
        names = enumerate(self.formula.offsets)
        env = {name: known[name] if name in known else numbers[f"formula_{i}"] for i, name in names}
        return self.formula.evaluate(env, jax_functions())


@dataclass(frozen=True)
class Written(Element):
    """Base of elements that are formulas of coordinates, the control parameter (`p`, or its own name) and parameters.

    Parameters
    ----------
    formula : like "wall - tip_x + 0.1*p".
    """

    formula: str = ""
    coordinates: tuple[str, ...] = ()  # filled in when the structure is composed

    @property
    def places(self) -> tuple[str, ...]:
        """No place: formulas read coordinates directly."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The coordinates in the formula."""
        return self.coordinates

    @property
    def variant(self) -> Hashable:
        """The shape of the formula."""
        return self._expression.shape

    @property
    def _expression(self) -> Expression:
        return Expression(self.formula, (*self.coordinates, self.control))

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """Itself, knowing which names are coordinates: all that are neither parameters nor p."""
        if not self.formula.strip():
            raise self.error("has no formula", expected="text like 'k/2*a_x**2'")
        names = tuple(name for name in parse(self.formula).offsets if name not in parameters and name != self.control)
        if not names:
            raise self.error("its formula has no coordinate", got=self.formula)
        return self._unfolded(replace(self, coordinates=names), parameters)

    def _unfolded(self, known: Self, parameters: Mapping[str, float]) -> Sequence[Element]:
        """What it stands for where its formula has kinks; refused by default."""
        check_kinks(parse(self.formula), known.coordinates)
        return (known,)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Values of the parameters in the formula."""
        return self._expression.numbers(start)

    def evaluate(self, at: Local) -> Any:
        """Value of the formula at the element's state."""
        return self._expression.value([*at.reads, at.p], at.n)


@dataclass(frozen=True)
class Energy(Written):
    """A potential energy given as a formula."""

    moving: bool = field(default=False, repr=False, kw_only=True)  # in motion kinks have no coordinates

    kind: ClassVar[str] = "energy"
    inner_is_length: ClassVar[bool] = False

    def in_motion(self) -> Element:
        """Itself, or with kinks that have no coordinates."""
        kinked = not self.coordinates and has_kinks(parse(self.formula))
        return replace(self, moving=True) if kinked and not self.moving else self

    def _unfolded(self, known: Self, parameters: Mapping[str, float]) -> Sequence[Element]:
        if self.moving:
            return (known,)
        found = unfolded_energy(self.formula, parameters, {self.control})
        check_kinks(parse(found.text), known.coordinates)
        return (OneSidedEnergy(**vars(known), pieces=found) if found.slacks else known,)

    def energy(self, at: Local) -> Any:
        """Value of the formula: the potential energy."""
        return self.evaluate(at)


@dataclass(frozen=True)
class OneSidedEnergy(Energy):
    """An energy with kinks: a coordinate and gaps in place of each; in motion the formula as it is."""

    pieces: Unfolded = field(default=Unfolded("0", ()), repr=False, kw_only=True)

    kind: ClassVar[str] = ""

    @property
    def _texts(self) -> dict[str, str]:
        """Formulas by ending: the energy, then the gaps."""
        gaps = {f"_{s.name}{ending}": text for s in self.pieces.slacks for ending, text in s.gaps.items()}
        return {"": self.pieces.text, **gaps}

    @property
    def _expressions(self) -> tuple[Expression, ...]:
        own = tuple(slack.name for slack in self.pieces.slacks)
        return tuple(Expression(text, (*self.coordinates, *own, self.control)) for text in self._texts.values())

    @property
    def variant(self) -> Hashable:
        """The shapes of all formulas."""
        return tuple(expression.shape for expression in self._expressions)

    def check(self, start: Start) -> None:
        """The pieces are the same for other parameters."""
        unfolded_energy(self.formula, start.parameters, {self.control})

    def numbers(self, start: Start) -> dict[str, Any]:
        """Values of the parameters in all its formulas."""
        found = enumerate(expression.numbers(start) for expression in self._expressions)
        return {f"{key}_of_{i}": value for i, numbers in found for key, value in numbers.items()}

    def inner(self, start: Start) -> dict[str, float]:
        """The coordinates of the kinks, as they are at the start."""
        slots = {slot.name: start.value(slot.start) for place in start.places.values() for slot in place.slots}
        known = {**dict.fromkeys(self.coordinates, 0.0), self.control: 0.0, **slots, **start.parameters}
        return {slack.name: float(parse(slack.start).evaluate(known)) for slack in self.pieces.slacks}

    def in_motion(self) -> Element:
        """The formula as it is; a force that jumps has no motion that rests where it does."""
        if any(tuple(slack.gaps) != ("",) for slack in self.pieces.slacks):
            advice = "smooth it: sqrt(x**2 + c**2) for abs(x), or state a stop with friction"
            raise self.error("its force jumps at a kink: motion cannot follow it", got=self.formula, advice=advice)
        return replace(self, moving=True)

    def _values(self, at: Local) -> list[Any]:
        variables = [*at.reads, *at.inner, at.p]
        return [
            expression.value(variables, {f"formula_{j}": at.n[f"formula_{j}_of_{i}"] for j in _used(expression)})
            for i, expression in enumerate(self._expressions)
        ]

    def energy(self, at: Local) -> Any:
        """The energy with slack coordinates in place of the kinks."""
        return self._values(at)[0]

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Names of the gaps, one or two for each kink."""
        return tuple(self._texts)[1:]

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """The gaps of the kinks."""
        return tuple(self._values(at)[1:])


def _used(expression: Expression) -> list[int]:
    """Numbers of the parameters of a formula among its names."""
    return [i for i, name in enumerate(expression.formula.offsets) if name not in expression.variables]


@dataclass(frozen=True)
class Gap(Written):
    """A one-sided constraint given as a formula that is kept ≥ 0; a length makes its multiplier a force."""

    kind: ClassVar[str] = "gap"

    @property
    def gap_names(self) -> tuple[str, ...]:
        """One gap, named like the element."""
        return ("",)

    def _unfolded(self, known: Self, parameters: Mapping[str, float]) -> Sequence[Element]:
        found = unfolded_gap(self.formula, parameters, {self.control})
        if len(found) == 1:
            return super()._unfolded(known, parameters)
        gaps = (replace(self, name=f"{self.name}_{i}", formula=text) for i, text in enumerate(found, 1))
        return tuple(one for gap in gaps for one in gap.expand({}, parameters))

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Value of the formula, held ≥ 0."""
        return (self.evaluate(at),)


@dataclass(frozen=True)
class Equation(Written):
    """An equation: a formula that is kept = 0."""

    kind: ClassVar[str] = "equation"

    @property
    def closure_names(self) -> tuple[str, ...]:
        """One equation, named like the element."""
        return ("",)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Value of the formula, held at 0."""
        return (self.evaluate(at),)
