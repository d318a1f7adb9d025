"""Laws: energies of one measure (an elongation, an angle)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onesided.elements.contract import Element, Local, Start
from onesided.formulas.formula import Formula, FormulaError, parse
from onesided.formulas.functions import jax_functions
from onesided.formulas.kinks import check_kinks
from onesided.formulas.unfolding import Slack, Unfolded, unfolded_energy


@dataclass(frozen=True)
class FormulaLaw:
    """An energy written as a formula of one measure, the control parameter and parameters: "k*e**2/2 + c*e**4".

    Attributes
    ----------
    pieces : the formula with coordinates and gaps in place of its kinks, where it has some.
    moving : whether kinks have no coordinates, in motion.
    """

    text: str
    measure: str = "e"
    control: str = "p"
    pieces: Unfolded | None = None
    moving: bool = False

    @cached_property
    def formula(self) -> Formula:
        """The parsed text, without kinks where they have coordinates."""
        return parse(self.pieces.text if self.pieces is not None and self._slacks else self.text)

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return parse(self.text).names - {self.measure, self.control}

    @property
    def _slacks(self) -> tuple[Slack, ...]:
        return () if self.pieces is None or self.moving else self.pieces.slacks

    def numbers(self, start: Start) -> dict[str, float]:
        """Values of the parameters it uses."""
        parse(self.text).require({*start.parameters, self.measure, self.control})
        return {f"law_{name}": start.parameters[name] for name in self._parameters}

    @property
    def moves(self) -> bool:
        """Whether it changes with the control parameter."""
        return self.control in parse(self.text).names

    def inner(self, start: Start, value: float) -> dict[str, float]:
        """Coordinates of the kinks at a value of the measure."""
        known = {**start.parameters, self.measure: value, self.control: 0.0}
        return {slack.name: float(parse(slack.start).evaluate(known)) for slack in self._slacks}

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Endings of the names of the gaps at its kinks."""
        return tuple(f"_{slack.name}{ending}" for slack in self._slacks for ending in slack.gaps)

    def _names(self, value: Any, at: Local) -> dict[str, Any]:
        own = {slack.name: at.inner[i] for i, slack in enumerate(self._slacks)}
        given = {self.control: at.p, self.measure: value, **own}
        return given | {name: at.n[f"law_{name}"] for name in self._parameters}

    def gaps(self, value: Any, at: Local) -> tuple[Any, ...]:
        """The gaps at its kinks."""
        names, table = self._names(value, at), jax_functions()
        return tuple(parse(text).evaluate(names, table) for slack in self._slacks for text in slack.gaps.values())

    def energy(self, value: Any, at: Local) -> Any:
        """The energy at a value of the measure."""
        return self.formula.evaluate(self._names(value, at), jax_functions())


def law_pieces(element: Element, law: Any, parameters: Mapping[str, float], *, moving: bool) -> Unfolded | None:
    """A law with coordinates and gaps in place of its kinks; None where it has none, or cannot have any."""
    if not isinstance(law, str):
        return None
    try:
        found = unfolded_energy(law, parameters, {element.control})
    except FormulaError:  # reported by `check_law`, with the name of the element
        return None
    if moving and any(tuple(slack.gaps) != ("",) for slack in found.slacks):
        advice = "smooth it: sqrt(x**2 + c**2) for abs(x)"
        raise element.error("its force jumps at a kink: motion cannot follow it", got=law, advice=advice)
    return found if found.slacks else None


def check_law(element: Element, law: Any, measure: str, start: Start) -> None:
    """Refuse what is no formula of the measure, and kinks that are no one-sided pieces."""
    if law is None:
        return
    expected = f'the energy as a formula of `{measure}` in quotes, like "k*{measure}**2/2"'
    if not isinstance(law, str):
        raise element.error("its `law` is not usable", got=type(law).__name__, expected=expected)
    if measure not in parse(law).names:
        raise element.error(f"its `law` has no `{measure}`", got=repr(law), expected=expected)
    found = unfolded_energy(law, start.parameters, {element.control})
    check_kinks(parse(found.text), {measure})


def polynomial_energy(coefficients: Any, value: Any, count: int) -> Any:
    """Energy of the force k₁ e + k₂ e² + …: Σ k_i e^{i+1}/(i + 1)."""
    return sum(coefficients[i] * value ** (i + 2) / (i + 2) for i in range(count))
