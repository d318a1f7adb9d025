"""Formulas inside elements, and elements that are formulas: `Gap`, `Energy`, `Equation`."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from onesided.elements.contract import Element, Local, Start
from onesided.formulas.formula import Formula, parse
from onesided.formulas.functions import jax_functions
from onesided.formulas.kinks import check_kinks


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
        """The parsed text."""
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
        """None: it reads coordinates."""
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
        check_kinks(parse(self.formula), names)
        return (replace(self, coordinates=names),)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Parameters of the formula."""
        return self._expression.numbers(start)

    def evaluate(self, at: Local) -> Any:
        """Value of the formula."""
        return self._expression.value([*at.reads, at.p], at.n)


@dataclass(frozen=True)
class Energy(Written):
    """A potential energy given as a formula."""

    kind: ClassVar[str] = "energy"

    def energy(self, at: Local) -> Any:
        """The formula."""
        return self.evaluate(at)


@dataclass(frozen=True)
class Gap(Written):
    """A one-sided constraint given as a formula that is kept ≥ 0; a length makes its multiplier a force."""

    kind: ClassVar[str] = "gap"

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Called like the element."""
        return ("",)

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """The formula."""
        return (self.evaluate(at),)


@dataclass(frozen=True)
class Equation(Written):
    """An equation: a formula that is kept = 0."""

    kind: ClassVar[str] = "equation"

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Called like the element."""
        return ("",)

    def closures(self, at: Local) -> tuple[Any, ...]:
        """The formula."""
        return (self.evaluate(at),)
