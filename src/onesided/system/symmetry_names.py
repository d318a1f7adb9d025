"""Names of finite groups: Schoenflies' for rotations and reflections of space, else from the products."""

import numpy as np

from onesided.base.tolerances import SOME_DIGITS
from onesided.base.types import Array, Indices, Mask

SAME = SOME_DIGITS  # isometries differ by numbers of order one; their axes lose half of the digits


def group_name(table: Indices, isometries: Array | None) -> str:
    """The name of a group from its products and, where they are known, its isometries."""
    if len(table) == 1:
        return "trivial"
    if isometries is not None and _faithful(isometries):
        return _schoenflies(_in_space(isometries), _orders(table))
    return _abstract(table)


def _orders(table: Indices) -> Indices:
    """How often each element must be repeated to give the identity, element 0."""
    orders, power = np.ones(len(table), dtype=np.intp), np.arange(len(table))
    while np.any(power != 0):
        orders += power != 0
        power = np.where(power != 0, table[np.arange(len(table)), power], 0)
    return orders


def _abstract(table: Indices) -> str:
    order, orders = len(table), _orders(table)
    if np.max(orders) == order:
        return f"Z{order}"
    half = np.flatnonzero(orders == order // 2)
    for g in half if order % 2 == 0 else half[:0]:
        turns = _powers(table, int(g))
        if np.all(orders[~turns] == 2):
            return f"D{order // 2}"
    return f"group of order {order}"


def _powers(table: Indices, g: int) -> Mask:
    """Which elements are powers of g."""
    found, power = np.zeros(len(table), dtype=bool), 0
    while not found[power]:
        found[power] = True
        power = int(table[g, power])
    return found


def _faithful(isometries: Array) -> bool:
    """Whether the isometries are a group of their own: all different, all products among them."""
    probe = np.random.default_rng(0).normal(size=isometries.shape[1])
    images = isometries @ probe
    products = (isometries[:, None] @ images[None, :, :, None])[..., 0].reshape(-1, isometries.shape[1])
    distances = np.array([np.min(np.max(np.abs(images - image), axis=1)) for image in products])
    apart = np.array([np.sum(np.max(np.abs(images - image), axis=1) < SAME) for image in images])
    return bool(np.all(distances < SAME) and np.all(apart == 1))


def _in_space(isometries: Array) -> Array:
    """Isometries of the plane as such of space that leave its normal as it is."""
    if isometries.shape[1] == 3:
        return isometries
    made = np.tile(np.eye(3), (len(isometries), 1, 1))
    made[:, :2, :2] = isometries
    return made


def _schoenflies(isometries: Array, orders: Indices) -> str:
    proper = np.linalg.det(isometries) > 0
    turns, n = isometries[proper], int(np.max(orders[proper]))
    if len(turns) not in {n, 2 * n}:
        return _polyhedral(len(turns), isometries, proper)
    axis = _axis(turns[int(np.argmax(orders[proper]))]) if n > 1 else None
    dihedral = len(turns) == 2 * n
    if np.all(proper):
        return f"{'D' if dihedral else 'C'}{n}"
    normals = [_axis(-R) for R in isometries[~proper] if abs(np.trace(R) - 1.0) < SAME]
    across = axis is not None and any(abs(abs(normal @ axis) - 1.0) < SAME for normal in normals)
    if dihedral:
        return f"D{n}{'h' if across else 'd'}"
    if n == 1:
        return "mirror" if normals else "Ci"
    return f"C{n}h" if across else f"C{n}v" if normals else f"S{2 * n}"


def _polyhedral(turns: int, isometries: Array, proper: Mask) -> str:
    letter = {12: "T", 24: "O", 60: "I"}.get(turns)
    if letter is None:
        return f"group of order {len(isometries)}"
    if np.all(proper):
        return letter
    inversion = any(np.max(np.abs(R + np.eye(3))) < SAME for R in isometries)
    return f"{letter}{'h' if inversion else 'd'}"


def _axis(R: Array) -> Array:
    """The axis of a rotation, the vector it leaves as it is."""
    return np.asarray(np.linalg.svd(R - np.eye(3))[2][-1])
