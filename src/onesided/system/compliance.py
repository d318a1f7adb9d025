"""Laws of compliant contacts: a force of the depth δ of penetration and its rate, never pulling."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import ModelError
from onesided.base.types import Array

HERTZ = 1.5  # exponent of two round bodies, and factor of the dissipation [Hunt and Crossley]


@checked
@dataclass(frozen=True)
class KelvinVoigt:
    """A spring and a dashpot side by side: f = k δ + d δ̇ where that pushes, else none.

    A free impact of mass m with d < 2 √(k m) has the restitution exp(−ζ/√(1 − ζ²) · φ) with ζ = d/(2 √(k m)) and
    φ = 2 arctan(√(1 − ζ²)/ζ): it ends where the force does, before the depth is zero.

    Attributes
    ----------
    stiffness : k > 0, force per length;  damping : d ≥ 0, force per speed.
    """

    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check(self, ("stiffness",))

    def force(self, depth: Any, rate: Any) -> Any:
        """Force k δ + d δ̇, continued smoothly where it would pull."""
        return self.stiffness * depth + self.damping * rate

    def margins(self, depth: Any, rate: Any) -> tuple[Any, ...]:
        """What is positive while the contact presses: the depth, then the force."""
        return (depth, self.force(depth, rate)) if self.damping else (depth,)

    def sums(self, depth: Any, rate: Any) -> tuple[Any, ...]:
        """Sizes of the terms of the margins after the first."""
        return (abs(self.stiffness * depth) + abs(self.damping * rate),) if self.damping else ()


@checked
@dataclass(frozen=True)
class HuntCrossley:
    """A force without a jump at the touch: f = k δⁿ (1 + (3/2) c δ̇) where that pushes, else none.

    For slow impacts the restitution is 1 − c v.

    Attributes
    ----------
    stiffness : k > 0, force per length to the power n;  dissipation : c ≥ 0, time per length;  exponent : n ≥ 1, 3/2
        for round bodies (Hertz).
    """

    stiffness: float
    dissipation: float = 0.0
    exponent: float = HERTZ

    def __post_init__(self) -> None:
        _check(self, ("stiffness",))
        if not self.exponent >= 1.0:
            raise ModelError("the exponent of a compliant contact is below 1", got=repr(self.exponent))

    def force(self, depth: Any, rate: Any) -> Any:
        """Force k δⁿ (1 + (3/2) c δ̇), continued as an odd function of δ."""
        spring = self.stiffness * depth * abs(depth) ** (self.exponent - 1.0)
        return spring * (1.0 + HERTZ * self.dissipation * rate)

    def margins(self, depth: Any, rate: Any) -> tuple[Any, ...]:
        """What is positive while the contact presses: the depth, then 1 + (3/2) c δ̇."""
        return (depth, 1.0 + HERTZ * self.dissipation * rate) if self.dissipation else (depth,)

    def sums(self, depth: Any, rate: Any) -> tuple[Any, ...]:
        """Sizes of the terms of the margins after the first."""
        return (1.0 + abs(HERTZ * self.dissipation * rate),) if self.dissipation else ()


Compliance = KelvinVoigt | HuntCrossley


def pushed(laws: tuple[Any, ...], depth: Array, rate: Array) -> Array:
    """Forces of the laws (…, number of laws), continued where they would pull."""
    return np.stack([law.force(depth[..., k], rate[..., k]) for k, law in enumerate(laws)], axis=-1)


def compliance_of(kelvin_voigt: Any, hunt_crossley: Any) -> Compliance | None:
    """The law that keys of a file or an element state; None where they state none.

    Raises
    ------
    ModelError
        Where both are given, or keys do not fit.
    """
    if kelvin_voigt and hunt_crossley:
        raise ModelError("a contact has two laws of compliance", expected="`kelvin_voigt` or `hunt_crossley`")
    for kind, given in ((KelvinVoigt, kelvin_voigt), (HuntCrossley, hunt_crossley)):
        if given:
            known = [field.name for field in fields(kind)]
            if "stiffness" not in given or not set(given) <= set(known):
                raise ModelError(
                    "keys of a compliant contact do not fit", got=", ".join(given), expected=", ".join(known)
                )
            return kind(**given)
    return None


def _check(law: Any, positive: tuple[str, ...]) -> None:
    for field in fields(law):
        value = getattr(law, field.name)
        least = value > 0.0 if field.name in positive else value >= 0.0
        if not (math.isfinite(value) and least):
            expected = "a positive number" if field.name in positive else "a number of 0 or more"
            raise ModelError(f"the {field.name} of a compliant contact is out of range", got=repr(value),
                             expected=expected)  # fmt: skip
