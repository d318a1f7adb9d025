"""How one place stands to another: anchors, axes, angles. Shared by joints, drives, stops and contacts."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array
from onesided.elements.contract import Element, Frame, Quantity, Start


def anchor(frame: Frame, local: Any) -> Any:
    """A point given in the axes of a place."""
    return frame.position + frame.rotation @ local


def seen_from(start: Start, place: str, point: Array) -> Array:
    """A point of the start configuration in the axes of a place."""
    return np.asarray(start.rotation(place).T @ (point - start.position(place)))


def direction(element: Element, start: Start, given: Sequence[Quantity], dimension: int, what: str = "axis") -> Array:
    """A direction as a unit vector; refuses zero and a wrong number of components."""
    vector = start.vector(given)
    length = float(np.sqrt(vector @ vector))
    if vector.shape != (dimension,) or not length > 0:
        raise element.error(f"its {what} is not a direction", got=str(tuple(given)), expected=f"{dimension} numbers")
    return vector / length


def triad(axis: Array) -> Array:
    """Rows u, v, a: right-handed, a along the unit vector `axis`; z gives (x, y, z). In the plane rows a, n."""
    if len(axis) == 2:
        return np.array([axis, [-axis[1], axis[0]]])
    u = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    u = u - (u @ axis) * axis
    u = u / np.sqrt(u @ u)
    return np.array([u, np.cross(axis, u), axis])


def carried_over(start: Start, rows: Array, places: Sequence[str]) -> Array:
    """Directions (rows) of the first place's axes, at the start, in the axes of the second."""
    first, second = places
    return np.asarray(rows @ start.rotation(first).T @ start.rotation(second))


def coincide(start: Start, a: Array, b: Array) -> bool:
    """Whether two points of the start configuration are the same, up to round-off."""
    step = a - b
    return float(np.sqrt(step @ step)) <= DEFAULT.gap * max(start.size, float(np.max(np.abs(a))))


def vee(R: Any) -> Any:
    """Half the skew part of a rotation as a vector: sin(angle) times its axis."""
    return jnp.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2


def turn(frames: tuple[Frame, ...], axes: Any, others: Any) -> tuple[Any, Any]:
    """Sine and cosine of the turn of the second place against the first about the axis a of the triad."""
    u, v = frames[0].rotation @ axes[0], frames[0].rotation @ axes[1]
    other = frames[1].rotation @ others[0]
    return v @ other, u @ other


def turn_from(frames: tuple[Frame, ...], numbers: Any, angle: Any) -> Any:
    """The same turn less an angle, between −180° and 180°."""
    sine, cosine = turn(frames, numbers.axes, numbers.others)
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.arctan2(sine * c - cosine * s, cosine * c + sine * s)


def check_pair(element: Element, start: Start, places: Sequence[str], *, turning: bool) -> None:
    """Two places, not of one body, with an orientation where one is needed."""
    if len(places) != 2:
        raise element.error("needs two places", got=str(tuple(places)))
    if start.carrier(places[0]) == start.carrier(places[1]):
        raise element.error("both its places belong to the same body", got=", ".join(places))
    for place in places:
        if turning and not start.oriented(place):
            raise element.error(f"'{place}' has no orientation", expected="a body or a marker on one")
