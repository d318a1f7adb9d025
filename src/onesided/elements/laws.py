"""Laws: energies of one measure (an elongation, an angle)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onesided.elements.contract import Start
from onesided.files.formula_system import jax_functions
from onesided.formulas.formula import Formula, parse


@dataclass(frozen=True)
class FormulaLaw:
    """An energy written as a formula of one measure and parameters, like "k*e**2/2 + c*e**4"."""

    text: str
    measure: str = "e"

    @cached_property
    def formula(self) -> Formula:
        """The parsed text."""
        return parse(self.text)

    def numbers(self, start: Start) -> dict[str, float]:
        """Values of the parameters it uses."""
        self.formula.require({*start.parameters, self.measure})
        return {f"law_{name}": start.parameters[name] for name in self.formula.names if name != self.measure}

    def energy(self, value: Any, numbers: Mapping[str, Any]) -> Any:
        """The energy at a value of the measure."""
        names = {name: numbers[f"law_{name}"] for name in self.formula.names if name != self.measure}
        return self.formula.evaluate({self.measure: value, **names}, jax_functions())
