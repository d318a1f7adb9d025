"""Quantities that may follow the control parameter: natural lengths, stiffnesses, loads, prescribed motions."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import jax.numpy as jnp

from onesided.elements.contract import Element, Local, Quantity, RepeatedFormula, Start
from onesided.elements.expressions import Expression
from onesided.formulas.formula import Formula, parse
from onesided.formulas.functions import NUMPY, jax_functions

CONTROL = "control"
UNSCHEDULED = "this quantity cannot follow the control parameter"
OTHERWISE = "the table of parts says what can; `energy`, `gap` and `equation` take any formula"
Schedule = Annotated[Quantity, CONTROL]  # a number, or a formula of parameters and of the control parameter


@dataclass(frozen=True)
class Scheduled:
    """A quantity of an element with the control parameter as one of its names.

    Attributes
    ----------
    key : what its numbers are called among those of the element.
    given : number or formula.
    control : name of the control parameter.
    """

    key: str
    given: Quantity
    control: str

    @cached_property
    def _formula(self) -> Formula:
        """The parsed text; copies of a repeated part share one, with the indices as names."""
        return self.given.shared if isinstance(self.given, RepeatedFormula) else parse(str(self.given))

    @cached_property
    def moves(self) -> bool:
        """Whether it changes with the control parameter."""
        return isinstance(self.given, str) and self.control in self._formula.names

    @property
    def shape(self) -> Hashable:
        """What distinguishes elements that cannot be evaluated together."""
        return (self.key, Expression(self._formula.text, (self.control,)).shape) if self.moves else ()

    def _names(self, start: Start) -> Mapping[str, float]:
        indices = self.given.indices if isinstance(self.given, RepeatedFormula) else {}
        known = {**start.parameters, **indices}
        self._formula.require({*known, self.control})
        return {name: known[name] for name in self._formula.offsets if name != self.control}

    def numbers(self, start: Start) -> dict[str, Any]:
        """Its value, or those of the parameters in its formula, in their order."""
        if not self.moves:
            return {self.key: start.value(self.given)}
        order = list(self._formula.offsets)
        return {f"{self.key}_{order.index(name)}": value for name, value in self._names(start).items()}

    def value(self, at: Local) -> Any:
        """Its value where the element is."""
        if not self.moves:
            return at.n[self.key]
        names = enumerate(self._formula.offsets)
        env = {name: at.p if name == self.control else at.n[f"{self.key}_{i}"] for i, name in names}
        return self._formula.evaluate(env, jax_functions())

    def along(self, start: Start, p: Any) -> Any:
        """Its values for values of the control parameter, as numbers."""
        if not self.moves:
            return start.value(self.given)
        return self._formula.evaluate({**self._names(start), self.control: p}, NUMPY)


@dataclass(frozen=True)
class ScheduledVector:
    """Components of which each may follow the control parameter; as `Scheduled`."""

    key: str
    given: Sequence[Quantity]
    control: str

    @cached_property
    def parts(self) -> tuple[Scheduled, ...]:
        """One `Scheduled` for each component."""
        return tuple(Scheduled(f"{self.key}{i}", value, self.control) for i, value in enumerate(self.given))

    @cached_property
    def moves(self) -> bool:
        """Whether one of them changes with the control parameter."""
        return any(one.moves for one in self.parts)

    @property
    def shape(self) -> Hashable:
        """What distinguishes elements that cannot be evaluated together."""
        return tuple(one.shape for one in self.parts) if self.moves else ()

    def numbers(self, start: Start) -> dict[str, Any]:
        """The vector, or what its components are made of along p."""
        if not self.moves:
            return {self.key: start.vector(self.given)}
        return {key: value for one in self.parts for key, value in one.numbers(start).items()}

    def value(self, at: Local) -> Any:
        """The vector where the element is."""
        return jnp.stack([jnp.asarray(one.value(at), float) for one in self.parts]) if self.moves else at.n[self.key]


class ScheduledLength(Element):
    """Base of elements with a `length` that may follow the control parameter; None is the length at the start."""

    length: Schedule | None

    @property
    def _length(self) -> Scheduled:
        return Scheduled("length", 0.0 if self.length is None else self.length, self.control)

    @property
    def driven(self) -> bool:
        """Whether its length follows the control parameter."""
        return self._length.moves

    @property
    def variant(self) -> Hashable:
        """Shape of the formula of its length; () for a number."""
        return self._length.shape
