"""Laws: energies of one measure (an elongation, an angle)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onesided.elements.contract import Element, Start
from onesided.formulas.formula import Formula, parse
from onesided.formulas.functions import jax_functions
from onesided.formulas.kinks import check_kinks


@dataclass(frozen=True)
class FormulaLaw:
    """An energy written as a formula of one measure, the control parameter and parameters: "k*e**2/2 + c*e**4"."""

    text: str
    measure: str = "e"
    control: str = "p"

    @property
    def _given(self) -> set[str]:
        return {self.measure, self.control}

    @cached_property
    def formula(self) -> Formula:
        """The parsed text."""
        return parse(self.text)

    def numbers(self, start: Start) -> dict[str, float]:
        """Values of the parameters it uses."""
        self.formula.require({*start.parameters, *self._given})
        return {f"law_{name}": start.parameters[name] for name in self.formula.names - self._given}

    @property
    def moves(self) -> bool:
        """Whether it changes with the control parameter."""
        return self.control in self.formula.names

    def energy(self, value: Any, p: Any, numbers: Mapping[str, Any]) -> Any:
        """The energy at a value of the measure and of the control parameter."""
        names = {name: numbers[f"law_{name}"] for name in self.formula.names - self._given}
        return self.formula.evaluate({self.control: p, self.measure: value, **names}, jax_functions())


def check_law(element: Element, law: Any, measure: str) -> None:
    """Refuse what is no formula of the measure."""
    if law is None:
        return
    expected = f'the energy as a formula of `{measure}` in quotes, like "k*{measure}**2/2"'
    if not isinstance(law, str):
        raise element.error("its `law` is not usable", got=type(law).__name__, expected=expected)
    check_kinks(parse(law), {measure})
    if measure not in parse(law).names:
        raise element.error(f"its `law` has no `{measure}`", got=repr(law), expected=expected)


def polynomial_energy(coefficients: Any, value: Any, count: int) -> Any:
    """Energy of the force k₁ e + k₂ e² + …: Σ k_i e^{i+1}/(i + 1)."""
    return sum(coefficients[i] * value ** (i + 2) / (i + 2) for i in range(count))
