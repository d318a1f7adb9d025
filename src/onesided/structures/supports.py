"""Motions of a structure that nothing resists: rigid motions of connected parts, loose directions; in words."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import moving, some
from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array
from onesided.elements.places import AXES, Body, Guided, Place

if TYPE_CHECKING:
    from onesided.system.system import System

SAMPLES = {2: 4, 3: 7}  # configurations aside, by dimension: more than there are rigid motions, each gives one row
ASIDE = 0.1  # how far they are, relative to the size of the structure
ROUND_OFF = 1e4 * EPS


def check_supported(system: "System", q: Array, p: float) -> None:
    """Refuse a structure that can move without any resistance: a rigid motion of a part, or a loose direction.

    A motion counts as free when, at the start and aside of it and for two values of p, it changes neither the energy
    nor any constraint. In space a turn about one axis is left alone where it may end on that axis (a hanging cable).
    """
    free = free_motion(system, q, p)
    if free is not None:
        raise ModelError(
            f"this is a mechanism: nothing resists {free}",
            expected="supports, springs, joints or contacts against it",
            advice="fix a component, add a member, or compute the motion instead",
        )


def free_motion(system: "System", q: Array, p: float) -> str | None:
    """What nothing resists, in words; None where a structure is held."""
    size = system.structure.start_of(system.parameters).size or 1.0
    rng = np.random.default_rng(0)
    dimension = next(iter(system.structure.places.values())).dimension
    samples = [q, *(q + ASIDE * system.units * rng.normal(size=system.n) for _ in range(SAMPLES[dimension]))]
    points = [(x, control) for x in samples for control in (p, p + 1.0) if _is_finite(system, x, control)]
    if not points:
        return None
    for group in _connected(system):
        motions = Rigid(system, group, size).free(points)
        if motions:
            return f"{' and '.join(motions)} of {some([place.name for place in group])}"
    mode = None if system.derivatives.large else _loose_direction(system, points)
    return None if mode is None else f"a motion of {moving(system.coordinates, mode, HALF_DIGITS)}"


def _is_finite(system: "System", x: Array, p: float) -> bool:
    """Whether a configuration can be used: a natural length that follows p may vanish there."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.isfinite(system.evaluate(x, p, np.zeros(len(system.constraint_names))).L_q)))


def _loose_direction(system: "System", points: Sequence[tuple[Array, float]]) -> Array | None:
    """A direction in which no energy has curvature and no constraint a slope, at any of the points."""
    zero = np.zeros(len(system.constraint_names))
    rows = []
    for x, p in points:
        e = system.evaluate(x, p, zero)
        rows += [block for block in (e.L_qq, e.c_q) if np.all(np.isfinite(block))]
    stack = np.concatenate(rows)
    sizes = np.sqrt(np.sum(stack**2, axis=0))
    if not np.all(sizes > 0):
        return np.asarray(sizes == 0, dtype=np.float64)
    triangle = np.linalg.qr(stack / sizes, mode="r")
    values = np.linalg.svd(triangle, compute_uv=False)
    if values[-1] > ROUND_OFF * values[0]:
        return None
    softest = np.linalg.svd(triangle, full_matrices=False)[2][-1]
    return np.asarray(softest / sizes * np.max(sizes))


def _connected(system: "System") -> list[list[Place]]:
    """Groups of places that elements connect; what is held entirely belongs to none."""
    moving = system.structure.moving
    places = [place for place in moving.places if place.moves_rigidly]
    names = [place.name for place in places if any(c >= 0 for c in moving.columns[place.name])]
    owner = {column: name for name in names for column in moving.columns[name] if column >= 0}
    parent = {name: name for name in names}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for batch in system.structure.batches:
        for row in batch.index:
            touched = [owner[int(i)] for i in row if int(i) in owner]
            for name in touched[1:]:
                parent[root(name)] = root(touched[0])
    groups: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        if place.name in parent:
            groups[root(place.name)].append(place)
    return list(groups.values())


class Rigid:
    """Rigid motions of a group of places: translations along the axes, then turns about the group's centre.

    Turns are scaled by the size of the structure, so that all motions are lengths.
    """

    def __init__(self, system: "System", group: Sequence[Place], size: float) -> None:
        self.system, self.group, self.size = system, group, size
        self.units = system.units / size  # angles are compared with lengths
        structure = system.structure
        self.start, self.held = structure.start_of(system.parameters), structure.held(system.parameters)
        self.dimension = group[0].dimension
        self.centre = np.mean([self.start.position(place.name) for place in group], axis=0)

    def free(self, points: Sequence[tuple[Array, float]]) -> list[str]:
        """Those that nothing resists, in words."""
        rows, slopes = [], []
        for x, p in points:
            V, held = self.field(x, p)
            gradient, changes = self._changes(x, p, V)
            slopes.append(gradient @ V)
            rows += [held, changes]
        forces = np.array(slopes)
        largest = max(float(np.max(np.abs(self._changes(x, p, None)[0] * self.units))) for x, p in points)
        stack = np.concatenate([*rows, forces / (largest or 1.0)])
        _, values, modes = np.linalg.svd(stack[np.all(np.isfinite(stack), axis=1)])
        values = np.concatenate([values, np.zeros(len(modes) - len(values))])
        null = modes[values <= ROUND_OFF]
        loads = np.abs(self._changes(*points[0], None)[0]) * self.units
        unloaded = not np.any(loads > ROUND_OFF * (largest or 1.0))
        return self._describe(null, self.field(*points[0])[0], unloaded)

    def _changes(self, x: Array, p: float, V: Array | None) -> tuple[Array, Array]:
        """Gradient of the energy, and changes of the constraints along the motions, each relative to its slope."""
        zero = np.zeros(len(self.system.constraint_names))
        e = self.system.evaluate(x, p, zero)
        if V is None:
            return e.L_q, np.zeros((0, 0))
        slopes, rates = e.gap_sizes(self.units), [e.constraint_rates(v, 0.0) for v in V.T]
        return e.L_q, np.stack(rates, axis=1) / np.where(slopes > 0, slopes, 1.0)[:, None]

    def field(self, x: Array, p: float) -> tuple[Array, Array]:
        """Rates of the coordinates (n, k) and of the held components (h, k) in the rigid motions."""
        structure = self.system.structure
        V = np.zeros((self.system.n, 3 if self.dimension == 2 else 6))
        held = []
        for place in self.group:
            slots, columns = structure.slots[place.name], structure.moving.columns[place.name]
            fixed = [self.held.get(int(slot), (0.0, 0.0)) for slot in slots]
            values = np.array([x[c] if c >= 0 else f[0] + f[1] * p for c, f in zip(columns, fixed, strict=True)])
            rates, across = self._rates(place, values)
            for column, rate, slot in zip(columns, rates, place.slots, strict=True):
                if column >= 0:
                    V[column] = rate
                else:
                    held.append(rate if slot.is_length else self.size * rate)
            held.extend(across)
        return V, np.array(held).reshape(len(held), V.shape[1])

    def _rates(self, place: Place, values: Array) -> tuple[Array, Array]:
        """Rates of the slots of a place, and velocities that it cannot have (across a guide)."""
        d = self.dimension
        numbers = {key: self.start.vector(value) for key, value in place.numbers.items()}
        arm = (np.asarray(place.frame(values, numbers, np).position) - self.centre) / self.size
        if d == 2:
            velocity = np.array([[1.0, 0.0, -arm[1]], [0.0, 1.0, arm[0]]])
            spin = np.array([[0.0, 0.0, 1.0 / self.size]])
        else:
            turns = np.stack([np.cross(axis, arm) for axis in np.eye(3)], axis=1)
            velocity, spin = np.hstack([np.eye(3), turns]), np.hstack([np.zeros((3, 3)), np.eye(3) / self.size])
        nothing = np.zeros((0, velocity.shape[1]))
        if isinstance(place, Guided):
            along = numbers["along"] / np.sqrt(numbers["along"] @ numbers["along"])
            return (along @ velocity)[None], velocity - np.outer(along, along @ velocity)
        if not isinstance(place, Body):
            return velocity, nothing
        return np.vstack([velocity, spin if d == 2 else vector_rates(values[3:]) @ spin]), nothing

    def _describe(self, null: Array, V: Array, unloaded: bool) -> list[str]:
        """Words for the free motions: translations along axes first, then what is left."""
        d, words, known = self.dimension, [], np.zeros((0, null.shape[1]))
        for i in range(d):
            axis = np.eye(null.shape[1])[i]
            if len(null) and abs(np.sqrt(np.sum((null @ axis) ** 2)) - 1.0) <= HALF_DIGITS:
                words.append(f"translation along {AXES[i]}")
                known = np.vstack([known, axis])
        rest = null - (null @ known.T) @ known
        _, values, modes = np.linalg.svd(rest, full_matrices=False) if len(rest) else (0, np.zeros(0), rest)
        turning = 0
        for mode in modes[values > HALF_DIGITS]:
            if np.max(np.abs(mode[d:])) <= HALF_DIGITS:
                words.append(f"translation along ({', '.join(f'{c:.3g}' for c in mode[:d])})")
            else:
                turning += 1
        moves = len(rest) > 0 and bool(np.any(np.abs(V @ rest.T) > HALF_DIGITS))
        if turning and (d == 2 or turning > 1 or (unloaded and moves)):
            words.append(self._turn(modes[values > HALF_DIGITS], turning))
        return words

    def _turn(self, modes: Array, count: int) -> str:
        """Words for `count` free turns among rigid modes (rows): in the plane, about which point."""
        if self.dimension == 3:
            return "turning" if count > 1 else "turning about an axis"
        mode = next(mode for mode in modes if abs(mode[2]) > HALF_DIGITS)
        centre = self.centre + self.size * np.array([-mode[1], mode[0]]) / mode[2]
        x, y = np.round(centre / self.size, 6) * self.size + 0.0
        return f"turning about ({x:.4g}, {y:.4g})"


def vector_rates(r: Array) -> Array:
    """Rates of a rotation vector for unit spins about the fixed axes: the inverse of the left tangent of exp."""
    S = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    square = float(r @ r)
    half = np.sqrt(square) / 2
    factor: Any = (1.0 - half / np.tan(half)) / square if square > HALF_DIGITS else 1.0 / 12.0
    return np.asarray(np.eye(3) - S / 2 + factor * (S @ S))
