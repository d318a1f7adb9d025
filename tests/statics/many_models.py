"""Families of random systems whose numbers are all parameters: one compilation, as many different systems as wanted."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

import onesided


class Family(NamedTuple):
    """A system; `ranges` its parameters are drawn from; start, p there, bounds of p."""

    system: onesided.System
    ranges: dict[str, tuple[float, float]]
    start: np.ndarray
    p: float
    bounds: tuple[float, float]

    def drawn(self, count: int, seed: int) -> dict[str, np.ndarray]:
        """Parameters of some systems; every tenth is a copy of the one before."""
        rng = np.random.default_rng(seed)
        values = {name: rng.uniform(*span, count) for name, span in self.ranges.items()}
        return {name: np.where(np.arange(count) % 10 == 9, np.roll(v, 1), v) for name, v in values.items()}


def polynomial(n: int, m: int, *, moving: float) -> Family:
    """Quartic energies without symmetry, m curved walls, which move with p."""
    squares = [(i, j) for i in range(n) for j in range(i, n)]
    cubes = [(i, j, k) for i, j in squares for k in range(j, n)]
    ranges = {f"a{i}{j}": (-1.0, 1.5) if i == j else (-0.7, 0.7) for i, j in squares}
    ranges |= {f"c{i}{j}{k}": (-1.0, 1.0) for i, j, k in cubes} | {f"f{i}": (-2.0, 2.0) for i in range(n)}
    for j in range(m):
        ranges |= {f"w{j}": (0.1, 1.5), f"r{j}": (-0.3, 0.3), f"v{j}": (-moving, moving)}
        ranges |= {f"n{j}{i}": (-2.0, 2.0) for i in range(n)}

    def energy(q: Any, p: Any, th: Any) -> Any:
        bent = sum(getattr(th, f"a{i}{j}") * q[i] * q[j] for i, j in squares)
        skew = sum(getattr(th, f"c{i}{j}{k}") * q[i] * q[j] * q[k] for i, j, k in cubes)
        return bent + skew + jnp.sum(q**4) / 4 - p * sum(getattr(th, f"f{i}") * q[i] for i in range(n))

    def wall(j: int) -> Callable[[Any, Any, Any], Any]:
        def gap(q: Any, p: Any, th: Any) -> Any:
            flat = getattr(th, f"w{j}") - sum(getattr(th, f"n{j}{i}") * q[i] for i in range(n))
            return flat + getattr(th, f"r{j}") * q[0] * q[-1] + getattr(th, f"v{j}") * p

        return gap

    walls = {f"wall{j}": wall(j) for j in range(m)}
    return Family(_system(n, energy, walls, ranges), ranges, np.zeros(n), 0.0, (-4.0, 4.0))


def washboard(n: int) -> Family:
    """Periodic wells in a row, joined by springs, between two walls, one of them moved by p."""
    ranges = {"a": (1.0, 6.0), "b": (0.05, 0.6), "f": (0.0, 3.0), "k": (0.1, 1.0)}
    ranges |= {"w": (0.3, 4.0), "v": (-0.3, 0.3), "u": (0.3, 4.0)}

    def energy(q: Any, p: Any, th: Any) -> Any:
        moves = jnp.diff(jnp.concatenate([jnp.zeros(1), q]))
        return th.b * jnp.sum(jnp.cos(th.a * q + th.f * np.arange(n))) + th.k / 2 * jnp.sum(moves**2) - p * q[-1]

    walls = {"top": lambda q, p, th: th.w - q[-1] + th.v * p, "low": lambda q, p, th: q[-1] + th.u}
    return Family(_system(n, energy, walls, ranges), ranges, np.full(n, 0.1), 0.05, (-1.5, 1.5))


def track() -> Family:
    """A spring on a curved track that p moves (a joint), between a floor and a roof."""
    ranges = {"k": (0.5, 3.0), "l": (0.7, 1.6), "c": (0.0, 1.0), "d": (-0.5, 0.5), "t": (-0.8, 0.8), "s": (-0.1, 0.1)}
    ranges |= {"w": (0.2, 1.5), "u": (0.2, 1.5)}

    def energy(q: Any, p: Any, th: Any) -> Any:
        length = jnp.sqrt((q[0] + 1) ** 2 + q[1] ** 2)
        return th.k / 2 * (length - th.l) ** 2 + th.c / 2 * (q[0] - th.d) ** 2 + p * q[1]

    walls = {"floor": lambda q, p, th: q[1] + th.w, "roof": lambda q, p, th: th.u - q[1]}
    joint = {"track": lambda q, p, th: q[0] - th.t * jnp.sin(2 * q[1]) - th.s * p}
    return Family(_system(2, energy, walls, ranges, joint), ranges, np.zeros(2), 0.0, (-1.0, 1.0))


def units(heights: np.ndarray, stops: tuple[int, ...]) -> Family:
    """Bistable units in a row, each with or without a stop, pulled at the end."""
    n, ranges = len(heights), {"k": (0.5, 2.0), "h": (0.3, 0.7), "e": (0.0, 0.05), "w": (0.2, 3.0)}

    def energy(q: Any, p: Any, th: Any) -> Any:
        moves = jnp.diff(jnp.concatenate([jnp.zeros(1), q]))
        now, before = (jnp.sqrt(1.0 + rise**2) for rise in (th.h * heights - moves, th.h * heights))
        return th.k / 2 * jnp.sum((now - before) ** 2) + th.e / 2 * q[0] ** 2 - p * q[-1]

    def stop(i: int) -> Callable[[Any, Any, Any], Any]:
        return lambda q, p, th: th.w * heights[i] - q[i] + (q[i - 1] if i else 0.0)

    walls = {f"stop{i}": stop(i) for i in stops}
    return Family(_system(n, energy, walls, ranges), ranges, np.zeros(n), 0.0, (-1.0, 1.0))


def column() -> Family:
    """Two hinged bars pressed together, with an imperfection and a wall to either side."""
    ranges = {"k": (0.5, 2.0), "i": (0.01, 0.2), "w": (0.2, 1.2)}

    def energy(q: Any, p: Any, th: Any) -> Any:
        bent = (q[0] - th.i) ** 2 + th.k * (q[1] - q[0]) ** 2
        return 0.5 * bent - p * (2 - jnp.cos(q[0]) - jnp.cos(q[1]))

    walls = {"left": lambda q, p, th: th.w + jnp.sum(jnp.sin(q)), "right": lambda q, p, th: th.w - jnp.sum(jnp.sin(q))}
    return Family(_system(2, energy, walls, ranges), ranges, np.zeros(2), 0.0, (-1.0, 4.0))


def _system(n: int, energy: Any, walls: Any, ranges: Any, joints: Any = None) -> onesided.System:
    return onesided.System(
        coordinates=tuple(f"q{i}" for i in range(n)),
        energy=energy,
        bilateral=joints or {},
        unilateral=walls,
        parameters=dict.fromkeys(ranges, 0.5),
    )


FAMILIES: dict[str, Callable[[], Family]] = {
    "polynomial-1": lambda: polynomial(1, 1, moving=0.1),
    "polynomial-2": lambda: polynomial(2, 2, moving=0.1),
    "polynomial-3": lambda: polynomial(3, 3, moving=0.0),
    "polynomial-4": lambda: polynomial(4, 1, moving=0.1),
    "washboard-1": lambda: washboard(1),
    "washboard-3": lambda: washboard(3),
    "track": track,
    "two units": lambda: units(np.array([1.0, 0.8]), (0, 1)),
    "three units": lambda: units(np.array([1.0, 0.8, 1.2]), (2,)),
    "column": column,
}
