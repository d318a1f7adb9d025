"""Functions of formulas that turn vectors: for bodies in space, written with any array namespace."""

from collections.abc import Callable
from typing import Any

from onesided.groups import rotate


def turned(xp: Any) -> dict[str, Callable[..., Any]]:
    """`turn_x(a, b, c, x, y, z)` and so on: components of (x, y, z) turned by the rotation vector (a, b, c)."""

    def component(axis: int) -> Callable[..., Any]:
        def function(*values: Any) -> Any:
            given = xp.broadcast_arrays(*(xp.asarray(value, dtype=float) for value in values))
            return rotate(xp.stack(given[:3], axis=-1), xp.stack(given[3:], axis=-1))[..., axis]

        return function

    return {f"turn_{name}": component(axis) for axis, name in enumerate("xyz")}
