"""The guyed mast of Petersen, and of Qi and Tu [QT 4.2]: two coordinates, three guys, four laws of the guys."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.complementarity_systems import Measure, SlacknessSystem
from onesided.results.sketch import Circle, Line, Sketch

ANCHORS = np.array([[-0.5, math.sqrt(3) / 2], [1.0, 0.0], [-0.5, -math.sqrt(3) / 2]])
NAMES = ("cable 1", "cable 2", "cable 3")
ENLARGED = 20.0  # displacements in the sketch


@dataclass(frozen=True)
class Wind:
    """Wind force `size` (cos angle, sin angle) on the mast, constant or, with a frequency [rad/s], times sin Ωt."""

    size: float = 33541.0
    angle: float = math.pi / 3
    frequency: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.size) and math.isfinite(self.angle)):
            raise ModelError("the wind is not finite", got=f"{self.size!r}, {self.angle!r}")
        if self.frequency is not None and not (math.isfinite(self.frequency) and self.frequency > 0):
            raise ModelError("the frequency of the wind is out of range", got=repr(self.frequency), expected="Ω > 0")

    def at(self, t: float) -> Array:
        """Force of the wind at a time [N], (2,)."""
        factor = 1.0 if self.frequency is None else math.sin(self.frequency * t)
        return self.size * factor * np.array([math.cos(self.angle), math.sin(self.angle)])


class GuyLaw(ABC):
    """σ = S/S₀ of a guy as a function of its relative horizontal elongation Δ̄.

    `pulls_only` says whether σ < 0 means slack; a law without it may push.
    """

    pulls_only = True

    @abstractmethod
    def tension(self, elongation: Array, mast: "Mast") -> Array:
        """σ; a law that pulls only continues smoothly below zero."""

    def acting(self, elongation: Array, mast: "Mast") -> Array:
        """σ as it acts: never negative where the guy can only pull."""
        sigma = self.tension(elongation, mast)
        return np.maximum(sigma, 0.0) if self.pulls_only else sigma

    def energy(self, elongation: Array, mast: "Mast") -> Array:
        """∫ σ dΔ̄ up to a constant; for straight guys σ²/(2b)."""
        return np.asarray(self.acting(elongation, mast) ** 2 / (2 * mast.b))


@dataclass(frozen=True)
class Taut(GuyLaw):
    """σ = max(0, 1 + b Δ̄): a straight elastic guy that can go slack (law U)."""

    def tension(self, elongation: Array, mast: "Mast") -> Array:
        """Tension 1 + b Δ̄ over the pretension."""
        return 1.0 + mast.b * elongation


@dataclass(frozen=True)
class Bilateral(GuyLaw):
    """σ = 1 + b Δ̄ of either sign: Petersen's guys as used in [QT Fig. 7] (law L)."""

    pulls_only = False

    def tension(self, elongation: Array, mast: "Mast") -> Array:
        """Tension 1 + b Δ̄ over the pretension, negative where it pushes."""
        return 1.0 + mast.b * elongation


@dataclass(frozen=True)
class Catenary(GuyLaw):
    """The positive root of σ³ + cσ² − a = 0, c = a − bΔ̄ − 1 [QT (14)]: a guy that sags under its weight (law K).

    Attributes
    ----------
    printed : bool
        Take a as printed in [QT (15)], seven orders too small (law P).
    """

    printed: bool = False

    def tension(self, elongation: Array, mast: "Mast") -> Array:
        """The one positive root, by Newton's method from above, where it converges monotonically.

        Above it lie −c + a^⅓ and a^⅓, and for c > a^⅓ also (a/c)^½, because σ²c ≤ a.
        """
        a = mast.a_printed if self.printed else mast.a
        c = a - mast.b * np.asarray(elongation, dtype=float) - 1.0
        sigma = np.maximum(-c, 0.0) + np.sqrt(a / np.maximum(c, a ** (1 / 3)))
        if not np.isfinite(sigma).all():
            return np.full_like(sigma, np.nan)
        for _ in range(100):
            change = ((sigma + c) * sigma**2 - a) / ((3 * sigma + 2 * c) * sigma)
            sigma = sigma - change
            if (np.abs(change) <= 4 * EPS * sigma).all():
                break
        return np.asarray(sigma)

    def energy(self, elongation: Array, mast: "Mast") -> Array:
        """∫ σ dΔ̄ = (σ²/2 − 2a/σ)/b, because b dΔ̄ = (1 + 2a/σ³) dσ."""
        sigma = self.tension(elongation, mast)
        return np.asarray((sigma**2 / 2 - 2 * (mast.a_printed if self.printed else mast.a) / sigma) / mast.b)


@dataclass(frozen=True)
class Mast:
    """A mast held by three guys 120° apart; N, m, s, kg.

    r m q̈ + r d q̇ + S₀ cos δ Σ σᵢ (q − aᵢ)/|q − aᵢ| = F(t), q = (ξ, η) the displacement over r [QT (12), (17)].

    Attributes
    ----------
    law : `Taut()`, `Catenary()`, `Catenary(printed=True)`, `Bilateral()`.
    wind : constant or harmonic.
    cable_length, mass, radius, weight, area, modulus, pretension, damping : s, m, r, g, A_s, E_s, S₀, d₁.
    """

    law: GuyLaw = field(default_factory=Taut)
    wind: Wind = field(default_factory=Wind)
    cable_length: float = 240.0
    mass: float = 27500.0
    radius: float = 145.0
    weight: float = 85.0
    area: float = 1.005e-3
    modulus: float = 1.6e11
    pretension: float = 50249.0
    damping: float = 1000.0

    def __post_init__(self) -> None:
        for name in ("cable_length", "mass", "radius", "weight", "area", "modulus", "pretension"):
            self._check(name, getattr(self, name) > 0, "a positive number")
        self._check("damping", self.damping >= 0, "zero or more")
        self._check("radius", self.radius < self.cable_length, "less than the length of a guy")

    def _check(self, name: str, good: bool, expected: str) -> None:
        value: Any = getattr(self, name)
        if not (good and math.isfinite(value)):
            raise ModelError(f"`{name}` of the mast is out of range", got=repr(value), expected=expected)

    @property
    def cos_slope(self) -> float:
        """Cosine of the slope δ of the guys."""
        return self.radius / self.cable_length

    @property
    def b(self) -> float:
        """Stiffness of the guys over their pretension, b = E A cos δ r/(S₀ s)."""
        return self.modulus * self.area * self.cos_slope * self.radius / (self.pretension * self.cable_length)

    @property
    def a(self) -> float:
        """g²s² cos²δ E A/(24 S₀³): sag of the guys, corrected."""
        return (self.weight * self.radius) ** 2 * self.modulus * self.area / (24 * self.pretension**3)

    @property
    def a_printed(self) -> float:
        """g²s² cos²δ/(24 S₀ E A), as printed [QT (15)]."""
        return (self.weight * self.radius) ** 2 / (24 * self.pretension * self.modulus * self.area)

    def elongations(self, q: Array) -> Array:
        """Elongations Δ̄ of the guys over the radius, (…, 3) [QT (16)]."""
        return np.asarray(np.linalg.norm(q[..., None, :] - ANCHORS, axis=-1) - 1.0)

    def tensions(self, q: Array) -> Array:
        """Tensions S of the guys as they act [N], (…, 3)."""
        return self.pretension * self.law.acting(self.elongations(q), self)

    def forces(self, q: Array, s: Array) -> Array:
        """−Γ s cos δ/(r m): acceleration of q by tensions s [N]."""
        arms = q - ANCHORS
        unit = arms / np.linalg.norm(arms, axis=1)[:, None]
        return np.asarray(-self.cos_slope / (self.radius * self.mass) * (s @ unit))

    def system(self) -> SlacknessSystem:
        """States ξ, η and their rates; s are the tensions [N], y = s − S₀σ. Guys that may push are no pairs."""
        law, scale, pulls = self.law, self.radius * self.mass, self.law.pulls_only

        def rate(t: float, x: Array, s: Array) -> Array:
            q, v = x[:2], x[2:]
            tension = s if pulls else self.tensions(q)
            return np.concatenate([v, self.forces(q, tension) + self.wind.at(t) / scale - self.damping / self.mass * v])

        def slack(t: float, x: Array, s: Array) -> Array:
            return s - self.pretension * law.tension(self.elongations(x[:2]), self) if pulls else np.zeros(0)

        names = NAMES if pulls else ()
        states = ("xi", "eta", "rate of xi", "rate of eta")
        return SlacknessSystem(rate, slack, states, names, measures=self._measures(), sketch=self._sketch(names))

    def _measures(self) -> dict[str, Measure]:
        """Tensions, energy (of guys, motion and constant wind), and the place of the mast in the sketch."""

        def energy(t: Array, x: Array, s: Array) -> Array:
            q, v = x[:, :2], x[:, 2:]
            guys = self.law.energy(self.elongations(q), self).sum(axis=1)
            wind = q @ self.wind.at(0.0) if self.wind.frequency is None else 0.0
            stored = self.pretension * self.cos_slope * guys - wind
            return np.asarray(self.radius * stored + self.mass * self.radius**2 / 2 * (v**2).sum(axis=1))

        def tension(i: int, t: Array, x: Array, s: Array) -> Array:
            return np.asarray(self.tensions(x[:, :2])[:, i])

        def place(i: int, t: Array, x: Array, s: Array) -> Array:
            return np.asarray(ENLARGED * x[:, i])

        measures: dict[str, Measure] = {"energy": energy}
        measures |= {f"tension {name}": partial(tension, i) for i, name in enumerate(NAMES)}
        return measures | {f"mast.{letter}": partial(place, i) for i, letter in enumerate("xy")}

    @staticmethod
    def _sketch(names: tuple[str, ...]) -> Sketch:
        """The mast from above, over its radius, displacements enlarged."""
        points: dict[str, tuple[float | str, ...]] = {"mast": ("mast.x", "mast.y")}
        points |= {f"anchor {i + 1}": (float(a[0]), float(a[1])) for i, a in enumerate(ANCHORS)}
        guys = {name: (f"anchor {i + 1}", "mast") for i, name in enumerate(NAMES)}
        marks = {name: (ends,) for name, ends in guys.items() if name in names}
        lines = tuple(Line(ends, "cable") for ends in guys.values())
        return Sketch(points, lines, circles=(Circle("mast", 0.03),), marks=marks)
