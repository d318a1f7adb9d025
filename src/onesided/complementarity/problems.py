"""Complementarity problems and the one merit that judges every answer."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS
from onesided.base.types import Array
from onesided.complementarity import kernels


def as_array(values: ArrayLike, name: str, shape: tuple[int | None, ...], *, finite: bool = True) -> Array:
    """Return a finite read-only float64 copy of `values`, whose shape is checked; None leaves a length open."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            f"`{name}` is not an array of numbers",
            got=repr(error),
            expected="real numbers",
            advice="np.asarray",
        ) from error
    fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise UsageError(
            f"`{name}` has the wrong shape",
            got=f"shape {array.shape}",
            expected=f"({wanted})",
            advice="check that rows and columns belong to the same unknowns",
        )
    if finite and not np.isfinite(array).all():
        raise UsageError(
            f"`{name}` holds values that are not finite",
            got=f"{int(np.count_nonzero(~np.isfinite(array)))} of {array.size}",
            expected="finite numbers",
            advice="look for divisions by zero where the data are made",
        )
    array.setflags(write=False)
    return array


class Problem(ABC):
    """Unknowns x = (u, z): `free` of them without sign, the others z ≥ 0 complementary to w."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of unknowns, multipliers included."""

    @property
    def free(self) -> int:
        """Number of unknowns without sign, which come first."""
        return 0

    @abstractmethod
    def linearise(self, x: Array) -> tuple[Array, Array]:
        """Return matrix and vector, read-only, of w = M x + q, exact at x and to first order near it."""

    def merit(self, x: ArrayLike) -> tuple[float, float]:
        """Return `residual(x)` and `relative_residual(x)` at the price of one."""
        point = np.ascontiguousarray(x, dtype=np.float64)
        if point.shape != (self.n,):
            raise UsageError(
                "the point has the wrong shape",
                got=str(point.shape),
                expected=f"({self.n},): one value per unknown",
            )
        M, q = self.linearise(point)
        return kernels.lcp.merit(M, q, point, self.free)

    def residual(self, x: ArrayLike) -> float:
        """Return the natural map's largest entry: max |min(z, w)|, and |w| in the rows of free unknowns."""
        return self.merit(x)[0]

    def relative_residual(self, x: ArrayLike) -> float:
        """Return max |min(z_i / ζ, w_i / ω_i)|, where ω_i and ζ are the sizes of w_i and z in the data.

        ω_i = |q| + min(κ (|M||x|)_i, |q| / κ) and ζ = |q| / |M| + κ |z|, with norms of the largest entry and κ = ε^⅓:
        the terms with κ forgive round-off where z is large, and nothing else. The result has no unit, and stays the
        same when q, M, or both are multiplied by positive numbers, and z with them.
        """
        return self.merit(x)[1]


@dataclass(frozen=True, eq=False)
class LCP(Problem):
    """Linear complementarity problem: w = M z + q ≥ 0, z ≥ 0, z·w = 0.

    In the rate problem of a path M is G and q is ṗĝ: ġ₀ = G λ̇₀ + ṗ ĝ [SP1 (4.3), (4.4)].

    Attributes
    ----------
    M : (n, n) array
    q : (n,) array
    symmetric : bool
        Whether M is symmetric up to round-off.
    """

    M: Array
    q: Array
    symmetric: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        q = as_array(self.q, "q", (None,))
        M = as_array(self.M, "M", (q.size, q.size))
        size = max(M.max(), -M.min()) if M.size else 0.0
        object.__setattr__(self, "M", M)
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "symmetric", bool((np.abs(M - M.T) <= 4 * EPS * size).all()))

    @property
    def n(self) -> int:
        """Number of unknowns z."""
        return self.q.size

    def linearise(self, x: Array) -> tuple[Array, Array]:
        """Return M (n, n) and q (n,) with F(z) ≈ M z + q near x."""
        return self.M, self.q

    def writable(self) -> tuple[Array, Array]:
        """Copies of M and q for compiled loops: those of arrays that are read-only would be compiled once more."""
        return np.array(self.M), np.array(self.q)

    def scaled(self) -> tuple["LCP", float]:
        """Return the problem with data of size one, and the factor that takes its z back to this one's."""
        M_size = float(np.abs(self.M).max(initial=0.0)) or 1.0
        q_size = float(np.abs(self.q).max(initial=0.0)) or 1.0
        return LCP(self.M / M_size, self.q / q_size), q_size / M_size


@dataclass(frozen=True, eq=False, kw_only=True)
class MLCP(Problem):
    """Mixed problem: A u + C z + a = 0 with u free, and w = D u + B z + b ≥ 0, z ≥ 0, z·w = 0.

    The unknowns are stacked as x = (u, z); `split` takes them apart.

    Attributes
    ----------
    A, B, C, D : arrays of shapes (k, k), (m, m), (k, m), (m, k)
    a, b : arrays of shapes (k,), (m,)
    """

    A: Array
    B: Array
    C: Array
    D: Array
    a: Array
    b: Array
    _matrix: Array = field(init=False, repr=False)
    _vector: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        a, b = as_array(self.a, "a", (None,)), as_array(self.b, "b", (None,))
        k, m = a.size, b.size
        A, B = as_array(self.A, "A", (k, k)), as_array(self.B, "B", (m, m))
        C, D = as_array(self.C, "C", (k, m)), as_array(self.D, "D", (m, k))
        stacked = {
            "_matrix": as_array(np.block([[A, C], [D, B]]), "matrix", (k + m, k + m)),
            "_vector": as_array(np.concatenate([a, b]), "vector", (k + m,)),
        }
        for name, value in {"A": A, "B": B, "C": C, "D": D, "a": a, "b": b, **stacked}.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of unknowns, u and z together."""
        return self._vector.size

    @property
    def free(self) -> int:
        """Number of free unknowns u."""
        return self.a.size

    def split(self, x: Array) -> tuple[Array, Array]:
        """Return u and z of the stacked unknowns."""
        return x[: self.free], x[self.free :]

    def linearise(self, x: Array) -> tuple[Array, Array]:
        """Return the stacked matrix and vector."""
        return self._matrix, self._vector


@dataclass(frozen=True, eq=False)
class NCP(Problem):
    """Nonlinear complementarity problem: F(z) ≥ 0, z ≥ 0, z·F(z) = 0.

    Attributes
    ----------
    function : z of shape (n,) to F of shape (n,)
    jacobian : z of shape (n,) to ∂F/∂z of shape (n, n)
    size : int
        Number n of unknowns.
    """

    function: Callable[[Array], ArrayLike]
    jacobian: Callable[[Array], ArrayLike]
    size: int

    def __post_init__(self) -> None:
        for name in ("function", "jacobian"):
            if not callable(getattr(self, name)):
                raise UsageError(
                    f"`{name}` is not callable",
                    got=repr(getattr(self, name)),
                    expected="a function of z",
                    advice="LCP for constant data",
                )
        if self.size < 1:
            raise UsageError("`size` is out of range", got=repr(self.size), expected="a positive integer")

    @property
    def n(self) -> int:
        """Number of unknowns z."""
        return self.size

    def linearise(self, x: Array) -> tuple[Array, Array]:
        """Return J(x) and F(x) − J(x) x, not finite where F is not defined."""
        with np.errstate(all="ignore"):
            slope, value = self.jacobian(x), self.function(x)
        J = as_array(slope, "jacobian(z)", (self.n, self.n), finite=False)
        q = as_array(value, "function(z)", (self.n,), finite=False) - J @ x
        q.setflags(write=False)
        return J, q
