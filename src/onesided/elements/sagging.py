"""The sagging cable: a shallow, heavy, elastic cable between two places; it never goes slack."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from onesided.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.elements.shapes import distance

STEPS = 12  # of Newton's method: it starts within a factor of two and converges monotonically and quadratically


@jax.custom_jvp
def tension_ratio(stretch: Any, sag: Any) -> Any:
    """The positive root σ of σ − 1 + a (1 − σ⁻²) = z for the stretch z and the sag number a > 0 [QT (14)].

    With c = a − 1 − z this is σ³ + c σ² = a. The left side of σ + c − a σ⁻² = 0 grows and is concave, so Newton's
    method started below the root climbs to it; a lower bound is √(a/(c + a^⅓)) for c > 0, else max(−c, a^⅓).
    """
    c = sag - 1.0 - stretch
    cube = jnp.cbrt(sag)
    root = jnp.where(c > 0.0, jnp.sqrt(sag / (jnp.maximum(c, 0.0) + cube)), jnp.maximum(-c, cube))
    for _ in range(STEPS):
        root = root - (root + c - sag / root**2) / (1.0 + 2.0 * sag / root**3)
    return root


@tension_ratio.defjvp
def _slope(values: Any, rates: Any) -> Any:
    """Implicit derivatives σ_z = σ³/(σ³ + 2a), σ_a = (1/σ² − 1) σ_z: through σ again, so every order is exact."""
    root = tension_ratio(*values)
    by_stretch = root**3 / (root**3 + 2.0 * values[1])
    return root, by_stretch * (rates[0] + (1.0 / root**2 - 1.0) * rates[1])


@dataclass(frozen=True)
class SaggingCable(Element):
    """A heavy elastic cable with small sag under its own weight [QT (14), (15), with the parameter a corrected].

    Tension S and elongation u of the chord, from the start with tension S₀ and chord s:

        EA u/s = S − S₀ + EA (w s)²/24 (S₀⁻² − S⁻²),   w: weight per length, normal to the chord at the start.

    In units of S₀: σ − 1 + a (1 − σ⁻²) = EA u/(s S₀) with a = EA (w s)²/(24 S₀³). The tension acts along the chord, is
    always positive, and has an energy: S u less the complementary energy. The weight enters through the sag only; loads
    on its ends are stated apart.

    Parameters
    ----------
    ends : two places.
    modulus_area : EA.
    weight : per length of cable.
    pretension : S₀, the tension at the start.
    down : direction of gravity; by default against the last axis of the model.
    rise : of the chord out of the plane, in a model that is the plan of a structure: the elongation of the chord is
        then that in plan times cos δ, and S cos δ pulls, with the slope δ at the start [QT (13)].
    """

    ends: tuple[str, str] = ("", "")
    modulus_area: Quantity = 0.0
    weight: Quantity = 0.0
    pretension: Quantity = 0.0
    down: Sequence[Quantity] = ()
    rise: Quantity | None = None

    kind: ClassVar[str] = "sagging_cable"
    drawn_as: ClassVar[str] = "cable"

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places at its two ends."""
        return tuple(self.ends)

    def check(self, start: Start) -> None:
        """Positive stiffness, weight and pretension; ends that differ; a chord that is not vertical."""
        if isinstance(self.ends, str) or len(self.ends) != 2:
            raise self.error("needs two ends", got=str(self.ends))
        if start.distance(*self.ends) == 0.0:
            raise self.error("its ends coincide", expected="two different points")
        for name in ("modulus_area", "weight", "pretension"):
            value = start.value(getattr(self, name))
            if not value > 0:
                advice = "a cable without weight or pretension is a `cable`"
                raise self.error(f"`{name}` is not positive", got=f"{value:g}", advice=advice)
        dimension = len(start.position(self.ends[0]))
        if self.rise is not None and dimension != 2:
            raise self.error("`rise` is for models in the plane", got=f"{dimension} dimensions")
        if self.rise is not None and len(self.down):
            raise self.error("`rise` and `down` exclude each other", expected="gravity normal to the plan")
        down = start.vector(self.down)
        if len(down) and (len(down) != dimension or not down @ down > 0):
            raise self.error("`down` has no direction", got=str(tuple(self.down)))
        if not self.numbers(start)["sag"] > 0:
            raise self.error("its chord is vertical: it does not sag", advice="use a cable")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Length in the model, force S₀ cos δ, stretch per elongation, sag number a."""
        span = start.distance(*self.ends)
        rise = 0.0 if self.rise is None else start.value(self.rise)
        chord = float(np.sqrt(span**2 + rise**2))
        cosine = span / chord
        area, tension = start.value(self.modulus_area), start.value(self.pretension)
        normal = start.value(self.weight) * (cosine if self.rise is not None else self._across(start))
        return {
            "length": span,
            "force": tension * cosine,
            "rate": area * cosine / (tension * chord),
            "sag": area * (normal * chord) ** 2 / (24.0 * tension**3),
        }

    def _across(self, start: Start) -> float:
        """Sine of the angle between gravity and the chord."""
        chord = start.position(self.ends[1]) - start.position(self.ends[0])
        down = start.vector(self.down) if len(self.down) else np.eye(len(chord))[-1]
        part = chord - (chord @ down) / (down @ down) * down
        return float(np.sqrt((part @ part) / (chord @ chord)))

    def energy(self, at: Local) -> Any:
        """S₀ (σ z − ∫ z dσ) per stretch: its derivative with respect to the length is the force."""
        stretch = at.n.rate * (distance(*at.frames) - at.n.length)
        root, a = tension_ratio(stretch, at.n.sag), at.n.sag
        complementary = 0.5 * (root - 1.0) ** 2 + a * (root - 1.0) ** 2 / root
        return at.n.force / at.n.rate * (root * stretch - complementary)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Pull along the chord, in the plane of the model; length of the chord there."""
        return (".force", ".length")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The pull on the first end."""
        a, b = at.frames
        chord = b.position - a.position
        length = jnp.sqrt(chord @ chord)
        return acting.wrenches()[0].force @ chord / length, length
