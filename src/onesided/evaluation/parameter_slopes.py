"""How the equations of equilibrium change with the parameters: U_θ, L_qθ, c_θ, and their rates along a direction.

What the compiled functions take in place of the parameters is a vector of them, or, for structures, the numbers of all
elements. The former is differentiated as it is. The latter are plain Python of the parameters (lengths of positions,
products of moduli and areas): their rates are extrapolated from differences [RI], to rounding; the rest is exact.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError, OnesidedError
from onesided.base.tolerances import CUBE_ROOT, EPS, HALF_DIGITS, QUARTER_DIGITS, SOME_DIGITS
from onesided.base.types import Array, Indices, Mask
from onesided.evaluation.compiling import compiled
from onesided.linalg.differences import derivative

if TYPE_CHECKING:  # derivatives hold these
    from onesided.evaluation.derivatives import Derivatives

NOISE = 64.0  # roundings by which numbers that are zero but for rounding may change
LITTLE = SOME_DIGITS  # relative change of parameters with which rates are about the same


class ParameterSlopes:
    """Derivatives of energy, balance and constraints with respect to the parameters of a system.

    Parameters
    ----------
    derivatives : the functions of (q, p) with the constants that stand for the parameters.
    """

    def __init__(self, derivatives: "Derivatives") -> None:
        self._of = derivatives
        self._first = compiled(self._slope, rare=True)
        self._second = compiled(self._slope_along, rare=True)
        self._known: tuple[Any, dict[str, Array]] = (None, {})
        self._close: dict[str, tuple[Array, Array]] = {}

    def first(
        self, x: Array, vector: Any, parameters: Mapping[str, float], lines: Array | None, *, about: bool = False
    ) -> Array:
        """(U_θ, L_qθ, c_θ) at a packed point with its multipliers held, a row per parameter: (P, 1 + n + m).

        With `lines`, (k, P), a row for each of these combinations of parameters instead. With `about`, rates of the
        constants are those of one difference, at these parameters or close by: as good for a step of Newton's method.
        """
        ways = self._wanted(vector, parameters, lines, about=about)
        rows = [np.asarray(self._first(x, vector, way)) for way in ways]
        return np.array(rows).reshape(-1, 1 + self._of.n + self._of.m)

    def along(
        self,
        x: Array,
        direction: Array,
        vector: Any,
        parameters: Mapping[str, float],
        lines: Array | None,
        *,
        about: bool = False,
    ) -> Array:
        """d/ds of (L_qθ, c_θ) along x + s·direction, a row per parameter or combination: (P, n + m)."""
        ways = self._wanted(vector, parameters, lines, about=about)
        rows = [np.asarray(self._second(x, direction, vector, way)) for way in ways]
        return np.array(rows).reshape(-1, self._of.n + self._of.m)

    def _wanted(self, vector: Any, parameters: Mapping[str, float], lines: Array | None, *, about: bool) -> Array:
        """Rates of the constants, flat, with each parameter or combination; only of those that take part."""
        shares = np.eye(len(parameters)) if lines is None else lines
        if not self._of.elementwise:
            return shares
        used = [i for i, name in enumerate(parameters) if np.any(shares[:, i])]
        name = list(parameters)
        if about:
            ways = [self._way_about(parameters, name[i], float(np.max(np.abs(shares[:, i])))) for i in used]
        else:
            ways = [self._way(vector, parameters, name[i]) for i in used]
        return np.asarray(shares[:, used] @ np.array(ways).reshape(len(used), -1))

    def _way(self, vector: Any, parameters: Mapping[str, float], name: str) -> Array:
        """Rates of the constants with one parameter; they are kept as long as the constants are the same."""
        if self._known[0] is not vector:
            self._known = vector, {}
        ways = self._known[1]
        if name not in ways:
            largest = max(abs(value) for value in parameters.values()) or 1.0
            size = abs(parameters[name]) or largest
            ways[name] = _rate(self._shifted(parameters, name), name, size, _leaves(vector))
        return ways[name]

    def _way_about(self, parameters: Mapping[str, float], name: str, span: float) -> Array:
        """The same by one central difference; kept as long as no parameter changes much. The parameter has a `span`."""
        values, size = np.array(list(parameters.values())), max(abs(parameters[name]), QUARTER_DIGITS * span)
        reach = LITTLE * np.where([one == name for one in parameters], size, np.abs(values))
        there, way = self._close.get(name, (np.full(len(values), np.nan), np.zeros(0)))
        if not np.all(np.abs(values - there) <= reach):
            function, h = self._shifted(parameters, name), CUBE_ROOT * size
            try:
                way = (function(h) - function(-h)) / (2.0 * h)
            except (OnesidedError, ArithmeticError, ValueError):  # so close to the end of what a formula allows
                way = self._way(self._of.constants(parameters), parameters, name)
            self._close[name] = values, way
        return np.asarray(way)

    def _shifted(self, parameters: Mapping[str, float], name: str) -> Callable[[float], Array]:
        return lambda by: _numbers(self._of.constants({**parameters, name: parameters[name] + by}))

    def _slope(self, x: Any, vector: Any, way: Any) -> Any:
        return jax.jvp(lambda s: self._of._packed_residual(x, _moved(vector, way, s)), *_begin())[1]

    def _slope_along(self, x: Any, direction: Any, vector: Any, way: Any) -> Any:
        return jax.jvp(lambda s: self._slope(x + s * direction, vector, way)[1:], *_begin())[1]


def _begin() -> tuple[tuple[Any], tuple[Any]]:
    """Where a rate along a line is taken."""
    return (jnp.zeros(()),), (jnp.ones(()),)


def _is_number(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _numbers(vector: Any) -> Array:
    """All numbers among constants, flat; indices are left out."""
    leaves = [np.asarray(leaf).ravel() for leaf in jax.tree.leaves(vector) if _is_number(leaf)]
    return np.concatenate([np.zeros(0), *leaves])


def _leaves(vector: Any) -> Indices:
    """For every number among constants, flat, which array it comes from."""
    sizes = [np.size(leaf) for leaf in jax.tree.leaves(vector) if _is_number(leaf)]
    return np.asarray(np.repeat(np.arange(len(sizes)), sizes), dtype=np.intp)


def _moved(vector: Any, way: Any, s: Any) -> Any:
    """The constants, moved along a flat direction."""
    leaves, tree = jax.tree.flatten(vector)
    moved, at = [], 0
    for leaf in leaves:
        size = leaf.size if _is_number(leaf) else 0
        moved.append(leaf + s * way[at : at + size].reshape(leaf.shape) if size else leaf)
        at += size
    return jax.tree.unflatten(tree, moved)


def _rate(function: Callable[[float], Array], name: str, size: float, leaves: Indices) -> Array:
    """Rates of the numbers of a structure with a parameter; those that are zero but for rounding have none.

    `leaves` says which numbers are of one kind, and thus of one unit: what is zero is so compared with these.
    """
    found, settled = derivative(function, size)
    if np.all(settled):
        return found
    here, by = np.abs(function(0.0)), HALF_DIGITS * size
    try:
        here = np.maximum(here, np.abs(function(by) - function(-by)))
    except (OnesidedError, ArithmeticError, ValueError):
        here = np.full(len(here), np.inf)
    if np.any(~settled & ~(here <= NOISE * EPS * _usual(here, settled, leaves))):
        raise ModelError(
            f"the structure does not depend smoothly on parameter '{name}'",
            got="rates of its numbers that do not settle",
            advice="a value at which no formula has a kink or an end",
        )
    return np.where(settled, found, 0.0)


def _usual(sizes: Array, settled: Mask, leaves: Indices) -> Array:
    """The largest of the settled numbers of the same kind; where none has settled, the largest of all."""
    known = np.where(settled, sizes, 0.0)
    largest = np.zeros(int(leaves[-1]) + 1)
    np.maximum.at(largest, leaves, known)
    return np.asarray(np.where(largest > 0.0, largest, np.max(known, initial=0.0))[leaves])
