"""Random plane structures with contacts, stated in any frame, units and order of parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import onesided
from onesided.elements import Bar, Beam, Body, Cable, Force, Node, PlaneContact


@dataclass(frozen=True)
class View:
    """How a structure is stated: units, a turned, mirrored and shifted frame, the order of parts."""

    m: float = 1.0
    N: float = 1.0
    angle: float = 0.0
    mirrored: bool = False
    origin: tuple[float, float] = (0.0, 0.0)
    reversed: bool = False

    def turned(self, vector: Any, size: float = 1.0) -> tuple[float, ...]:
        """A vector in this frame, `size` times as long."""
        c, s = np.cos(self.angle), np.sin(self.angle)
        own = np.array([-vector[0] if self.mirrored else vector[0], vector[1]], dtype=float)
        return tuple((size * np.array([[c, -s], [s, c]]) @ own).tolist())

    def at(self, place: Any) -> tuple[float, ...]:
        """A place in this frame."""
        return tuple((self.m * (np.array(self.turned(place)) + self.origin)).tolist())

    def composed(self, parts: list[Any], **options: Any) -> onesided.System:
        """The structure."""
        return onesided.compose(parts[::-1] if self.reversed else parts, **options)


def arch(rng: np.random.Generator, view: View) -> list[Any]:
    """A shallow arch of beams over a floor, symmetric or not, hinged or clamped."""
    n, rise, bending = int(rng.choice([6, 8, 10])), rng.uniform(0.05, 0.25), 10 ** rng.uniform(-5, -3.3)
    even = rng.random() < 0.4
    slope, below = (0.0 if even else rng.normal(0, 0.1)), rng.uniform(0.02, 0.17)
    bent, clamped = (0.0 if even else rng.normal(0, 0.01)), rng.random() < 0.5
    x = np.linspace(0.0, 1.0, n + 1)
    y = rise * np.sin(np.pi * x) + bent * np.sin(2 * np.pi * x)
    held = {0: clamped or "xy", n: clamped or "xy"}
    parts: list[Any] = [Body(f"n{i}", view.at((x[i], y[i])), fixed=held.get(i, False)) for i in range(n + 1)]
    parts += beams(n, bending, view)
    normal = (-np.sin(slope), np.cos(slope))
    parts += [PlaneContact(f"f{i}", f"n{i}", view.turned(normal), view.at((0.5, -below))) for i in range(1, n)]
    loaded = n // 2 if even else int(rng.integers(2, n - 1))
    return [*parts, Force("load", f"n{loaded}", view.turned((0, -1), 30 * bending * view.N))]


def beams(n: int, bending: float, view: View) -> list[Any]:
    """Beams from n0 to the last."""
    stiff = {"EA": view.N, "EI": bending * view.N * view.m**2}
    return [Beam(f"b{i}", (f"n{i}", f"n{i + 1}"), **stiff) for i in range(n)]


def column(rng: np.random.Generator, view: View) -> list[Any]:
    """A cantilever pressed at its tip, a wall beside it."""
    n, bending = int(rng.choice([6, 8])), 10 ** rng.uniform(-6, -3)
    lean, gap, push = rng.normal(0, 0.003), rng.uniform(0.03, 0.13), rng.normal(0, 0.02)
    parts: list[Any] = [Body(f"n{i}", view.at((0.0, i / n)), fixed=i == 0) for i in range(n + 1)]
    parts += beams(n, bending, view)
    parts += [PlaneContact(f"w{i}", f"n{i}", view.turned((-1, 0)), view.at((gap, 0))) for i in range(1, n + 1)]
    parts.append(Force("load", f"n{n}", view.turned((lean, -1), bending * np.pi**2 / 4 * view.N)))
    return [*parts, Force("side", f"n{n // 2}", view.turned((push, 0), bending * view.N), constant=True)]


def mast(rng: np.random.Generator, view: View) -> list[Any]:
    """A clamped mast with four cables."""
    bending, lean = 10 ** rng.uniform(-4, -2), rng.normal(0, 0.6)
    parts: list[Any] = [Body(f"n{i}", view.at((0.0, i / 4)), fixed=i == 0) for i in range(5)]
    parts += beams(4, bending, view)
    for i, (side, at) in enumerate(((-1, 2), (1, 2), (-1, 4), (1, 4))):
        stiff, tight = view.N * 10 ** rng.uniform(-3, -1), view.N * bending * rng.random()
        parts.append(Node(f"foot{i}", view.at((side * rng.uniform(0.5, 1.0), 0.0)), fixed=True))
        parts.append(Cable(f"c{i}", (f"n{at}", f"foot{i}"), modulus_area=stiff, pretension=tight))
    parts.append(Force("load", "n4", view.turned((np.sin(lean), -np.cos(lean)), 2 * bending * view.N)))
    return [*parts, Force("wind", "n2", view.turned((rng.normal(0, 0.05), 0), bending * view.N), constant=True)]


def tower(rng: np.random.Generator, view: View) -> list[Any]:
    """Two or three shallow trusses on each other, each with a stop below its crown."""
    parts: list[Any] = [Node("m0", view.at((0, 0)), fixed=True)]
    height, count = 0.0, int(rng.integers(2, 4))
    for k in range(count):
        rise = rng.uniform(0.3, 0.45)
        parts.append(Node(f"m{k + 1}", view.at((rng.normal(0, 0.02), height + rise))))
        for side in (-1, 1):
            name, stiff = f"{k}_{side}".replace("-", "m"), view.N * float(np.exp(rng.normal(0, 0.3)))
            parts.append(Node(f"a{name}", view.at((side, height)), fixed=True))
            parts.append(Bar(f"r{name}", (f"a{name}", f"m{k + 1}"), modulus_area=stiff))
        parts.append(Bar(f"v{k}", (f"m{k}", f"m{k + 1}"), modulus_area=0.02 * view.N))
        stop = view.at((0, height - 0.25 * rng.random()))
        parts.append(PlaneContact(f"s{k}", f"m{k + 1}", view.turned((0, 1)), stop))
        height += rise
    return [*parts, Force("load", f"m{count}", view.turned((rng.normal(0, 0.05), -1), 0.02 * view.N))]


FAMILIES = {"arch": arch, "column": column, "mast": mast, "tower": tower}


def structure(family: str, seed: int, view: View, **options: Any) -> onesided.System:
    """A random structure in a view."""
    return view.composed(FAMILIES[family](np.random.default_rng(seed), view), **options)
