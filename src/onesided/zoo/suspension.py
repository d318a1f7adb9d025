"""The suspension structure of Qi and Tu: a beam hung by slings from a main cable [QT 4.1]."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.complementarity_systems import Harmonic, LinearComplementaritySystem, Measure, Signal
from onesided.results.sketch import Line, Sketch

GRAVITY = 9.81
ENLARGED = 40.0  # displacements in the sketch

MOST = 1000  # slings and modes: matrices are dense


@dataclass(frozen=True)
class Suspension:
    """Beam, slings and main cable in modal coordinates; N, m, s, kg [QT (2) to (9), signs and missing data mended].

    The deflections w of the beam (up) and u of the cable (down) are measured from the state at rest, where every sling
    is stretched by `stretch` and carries `stiffness` × `stretch`. The slings stand at equal distances. A force
    `load` sin(θt) acts at a quarter of the span, upwards, with θ = `load_ratio` × the first frequency of the beam.

    Attributes
    ----------
    slings : number m.
    stiffness : k of one sling [N/m];  stretch : Δl₀ [m].
    damping : ξ of the first mode of the beam; that of the others grows with their frequency (Kelvin–Voigt).
    modes : modes of beam and of cable, each; None takes max(3, m).
    """

    slings: int = 3
    stiffness: float = 3750.0
    stretch: float = 0.004
    damping: float = 0.02
    load: float = 5000.0
    load_ratio: float = 0.75
    modes: int | None = None
    span: float = 8.0
    bending: float = 1.2e7
    beam_mass: float = 650.0
    cable_mass: float = 100.0
    sag: float = 0.1
    count: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("slings", "stiffness", "load_ratio", "span", "bending", "beam_mass", "cable_mass", "sag"):
            self._check(name, getattr(self, name) > 0, "a positive number")
        for name in ("stretch", "load"):
            self._check(name, True, "a finite number")
        self._check("damping", self.damping >= 0, "zero or more")
        object.__setattr__(self, "count", max(3, self.slings) if self.modes is None else self.modes)
        if not 1 <= self.count <= MOST or self.slings != int(self.slings):
            raise ModelError(
                "slings and modes are counted", got=f"{self.slings}, {self.modes}", expected=f"1 to {MOST}, whole"
            )

    def _check(self, name: str, good: bool, expected: str) -> None:
        value: Any = getattr(self, name)
        if not (good and math.isfinite(value)):
            raise ModelError(
                f"`{name}` of the suspension structure is out of range", got=repr(value), expected=expected
            )

    @property
    def beam_frequencies(self) -> Array:
        """Natural frequencies ω_B of the simply supported beam [rad/s]."""
        j = np.arange(1, self.count + 1)
        return (j * math.pi / self.span) ** 2 * math.sqrt(self.bending / self.beam_mass)

    @property
    def cable_frequencies(self) -> Array:
        """ω_C [rad/s] of the antisymmetric modes; the tension H = m g l²/(8 f) carries the cable's own weight."""
        tension = self.cable_mass * GRAVITY * self.span**2 / (8 * self.sag)
        return 2 * np.arange(1, self.count + 1) * math.pi / self.span * math.sqrt(tension / self.cable_mass)

    @property
    def load_frequency(self) -> float:
        """Frequency θ of the load [rad/s]."""
        return self.load_ratio * float(self.beam_frequencies[0])

    @property
    def shapes(self) -> Array:
        """D (m, 2 × modes): deflections at the slings."""
        x = self.span * np.arange(1, self.slings + 1) / (self.slings + 1)
        j = np.arange(1, self.count + 1)
        return np.hstack(
            [np.sin(np.outer(x, j) * math.pi / self.span), np.sin(2 * np.outer(x, j) * math.pi / self.span)]
        )

    def system(self) -> LinearComplementaritySystem:
        """States Y, Ẏ; s are the tensions [N], w = s/k − Δl the slacks [m]."""
        k, D = self.count, self.shapes
        mass = np.repeat([self.beam_mass * self.span / 2, self.cable_mass * self.span / 2], k)
        omega = np.concatenate([self.beam_frequencies, self.cable_frequencies])
        xi = np.concatenate([self.damping * self.beam_frequencies / self.beam_frequencies[0], np.zeros(k)])
        zero = np.zeros((2 * k, 2 * k))
        A = np.block([[zero, np.eye(2 * k)], [-np.diag(omega**2), -np.diag(2 * xi * omega)]])
        B = np.vstack([np.zeros((2 * k, self.slings)), D.T / mass[:, None]])
        rest = np.full(self.slings, self.stiffness * self.stretch)
        push = np.zeros(4 * k)
        push[2 * k : 3 * k] = np.sin(np.arange(1, k + 1) * math.pi / 4) * self.load / mass[:k]
        letters = [f"{name}{i + 1}" for name in ("beam ", "cable ") for i in range(k)]
        return LinearComplementaritySystem(
            A,
            B,
            np.hstack([D, np.zeros((self.slings, 2 * k))]),
            np.eye(self.slings) / self.stiffness,
            Signal(-B @ rest, (Harmonic(self.load_frequency, sine=push),)),
            np.full(self.slings, -self.stretch),
            [*letters, *(f"velocity {name}" for name in letters)],
            [f"sling {i + 1}" for i in range(self.slings)],
            measures=self._measures(mass, omega),
            sketch=self._sketch(),
        )

    def _measures(self, mass: Array, omega: Array) -> dict[str, Measure]:
        """Elongations, energy above the state at rest, and places for the sketch, displacements enlarged."""
        k, D, rest = self.count, self.shapes, self.stiffness * self.stretch

        def energy(t: Array, x: Array, s: Array) -> Array:
            y, v = x[:, : 2 * k], x[:, 2 * k :]
            slings = np.maximum(self.elongations(x), 0.0) ** 2 - self.stretch**2
            own = 0.5 * (mass * (v**2 + (omega * y) ** 2)).sum(axis=1)
            return np.asarray(own + (self.stiffness / 2 * slings + rest * (y @ D.T)).sum(axis=1))

        def elongation(i: int, t: Array, x: Array, s: Array) -> Array:
            return np.asarray(self.elongations(x)[:, i])

        def beam(i: int, t: Array, x: Array, s: Array) -> Array:
            return np.asarray(ENLARGED * (x[:, :k] @ D[i, :k]))

        def cable(i: int, t: Array, x: Array, s: Array) -> Array:
            return np.asarray(self._height(i + 1) - ENLARGED * (x[:, k : 2 * k] @ D[i, k:]))

        measures: dict[str, Measure] = {"energy": energy}
        for i in range(self.slings):
            measures |= {f"elongation {i + 1}": partial(elongation, i)}
            measures |= {f"beam.{i + 1}": partial(beam, i), f"cable.{i + 1}": partial(cable, i)}
        return measures

    def _height(self, i: int) -> float:
        """Of the main cable at a place of the sketch; 0 and slings + 1 are the ends."""
        return self.span / 8 * (1.0 + (2.0 * i / (self.slings + 1) - 1.0) ** 2)

    def _sketch(self) -> Sketch:
        """The structure from the side: beam, main cable, slings."""
        m, points = self.slings, dict[str, tuple[float | str, ...]]()
        for i in range(m + 2):
            x = self.span * i / (m + 1)
            end = i in {0, m + 1}
            points |= {
                f"b{i}": (x, 0.0 if end else f"beam.{i}"),
                f"c{i}": (x, self._height(i) if end else f"cable.{i}"),
            }
        lines = [
            Line(tuple(f"b{i}" for i in range(m + 2)), "beam"),
            Line(tuple(f"c{i}" for i in range(m + 2)), "cable"),
        ]
        slings = {f"sling {i}": (f"b{i}", f"c{i}") for i in range(1, m + 1)}
        lines += [Line(ends, "cable") for ends in slings.values()]
        return Sketch(points, tuple(lines), marks={name: (ends,) for name, ends in slings.items()})

    def elongations(self, x: Array) -> Array:
        """Δl of the slings [m], (…, m) [QT (2)]."""
        return np.asarray(self.stretch - x[..., : 2 * self.count] @ self.shapes.T)
