"""Energies and gaps to packed, compiled derivatives: the one module that knows automatic differentiation.

A call of a compiled function costs about eight microseconds whatever it computes, so each need has one function of one
packed input that returns one packed array.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.evaluation.compiling import Compiled, compiled
from onesided.evaluation.equilibrium_blocks import Evaluation, ThreadKeeps
from onesided.evaluation.flat import depends
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.native_newton import NativeBlocks
from onesided.evaluation.parameter_slopes import ParameterSlopes
from onesided.evaluation.path_steps import Stepping
from onesided.evaluation.rows import families
from onesided.evaluation.sparsity import Directions, directions
from onesided.evaluation.step_data import Blocks
from onesided.evaluation.straight import straight
from onesided.evaluation.taylor_lines import MOST, AlongLines
from onesided.evaluation.user_functions import Function, Scalar, differentiable

CHUNK = 64  # points of one call where there are many
CROWD, MILLION = 256, 1_000_000  # points of one call of short functions; numbers in them at most
FEW = 4  # least number of points of one call where there are some
SOME = 8  # coordinates from which on it is worth to look for zeros of the Hessian
WORTH = 200_000  # points that are looked at, times points of one call, that pay for its compilation
WIDE = 10_000_000  # numbers in Hessians of such points that take longer to compute than all it takes to do without
MANY = 1000  # numbers of one such call that cost no more than the call itself
CORRECTED = 64  # corrections after which their loop is machine code
SEVERAL = 500  # residuals that are worth a function of their own, where the blocks are there already
SMALL = 64  # coordinates and constraints up to which residuals may be taken from the blocks


class Derivatives:
    """Compiled evaluations of one set of functions; parameters are arguments, so changing them compiles nothing.

    Parameters
    ----------
    n : number of coordinates.
    energy : U(q, p, th).
    constraints : bilateral, then unilateral functions.
    names : names of the parameters, in the order of the parameter vector.
    """

    magnitude: Callable[..., Any]  # where `large`: blocks with the |K| of all parts as Hessian
    large = False  # matrices are dense
    elementwise = False  # the energy is given as one function

    def __init__(
        self, n: int, energy: Scalar | Function, constraints: Sequence[Scalar | Function], names: tuple[str, ...]
    ) -> None:
        prepare_jax()
        self.n, self.m, self.names = n, len(constraints), names
        self._by_user = any(isinstance(f, Function) and f.gradient is not None for f in (energy, *constraints))
        self._U = differentiable(energy, names)
        self._c = [differentiable(f, names) for f in families(constraints)]
        self._kkt = compiled(self._packed_kkt)
        self._kkts = self._kkt.for_rows()
        self._residual = compiled(self._packed_residual)
        self._residuals = compiled(self._packed_residual, rare=True, rows=True)
        self._along = compiled(self._packed_along, static_argnums=3, rare=True)
        self._looks = compiled(self._packed_look, rare=True, rows=True)
        self._gaps = compiled(self._packed_constraints, rare=True, rows=True)
        self.stepping = Stepping(n, self.m, self._blocks, self._packed_residual)
        self._ends = (n + 2, n + 2 + self.m, n + 2 + self.m + n * (n + 1), (n, n + 1))
        self._asked = self._looked = self._residuals_asked = self._corrected = 0
        self._constants: tuple[Any, Any] = (None, None)
        self._few = max(FEW, min(MANY // ((n + self.m) * (n + 1)), CHUNK))
        self.engines: dict[Any, Any] = {}  # for many paths side by side, by what they were made for
        self.kept = ThreadKeeps()

    @cached_property
    def slopes(self) -> ParameterSlopes:
        """Derivatives with respect to the parameters."""
        return ParameterSlopes(self)

    def constants(self, parameters: Mapping[str, float]) -> Any:
        """What the compiled functions take for the parameters: here a vector, in the order of `names`."""
        return np.array([parameters[name] for name in self.names], dtype=np.float64)

    def pack(self, q: Array, p: float, nu: Array) -> Array:
        """Put (q, p, ν) into one vector."""
        x = np.empty(self.n + 1 + self.m)
        x[: self.n], x[self.n], x[self.n + 1 :] = q, p, nu
        return x

    def evaluate(self, x: Array, vector: Any) -> Evaluation:
        """All blocks at the packed point x = (q, p, ν): one compiled call; what was asked for last is kept."""
        (point, constants, blocks), here = self.kept.last, x.tobytes()
        if constants is not vector or point != here:
            blocks = self._evaluate(x, vector)
            self.kept.last = here, vector, blocks
        return blocks

    def keep(self, x: Array, vector: Any, blocks: Evaluation) -> None:
        """Take blocks known from elsewhere for what was asked for last."""
        self.kept.last = x.tobytes(), vector, blocks

    def evaluate_few(self, X: Array, vector: Any) -> Evaluation:
        """The same at `FEW` points or any other number, the rows of X, by a compiled call for some at a time."""
        return self.unpack(_in_chunks(self._kkts, X, vector, self._few))

    def evaluate_many(self, X: Array, vector: Any) -> Evaluation:
        """The same at many points: one by one until there have been so many that a compilation pays."""
        self._asked += len(X)
        if self._kkt.native or self._asked * self._few > WORTH:
            return self.evaluate_few(X, vector)
        blocks = [self._evaluate(x, vector) for x in X]
        return Evaluation(*(np.array(block) for block in zip(*blocks, strict=True)))  # type: ignore[arg-type]

    def _evaluate(self, x: Array, vector: Any) -> Evaluation:
        out, (first, second, third, square) = np.asarray(self._kkt(x, self._handed(vector))), self._ends
        return Evaluation(
            out[0],
            out[1:first],
            out[first:second],
            out[second:third].reshape(square),
            out[third:].reshape(self.m, self.n + 1),
        )

    def corrections_pay(self) -> bool:
        """Whether corrections, of which one begins, are so many that machine code of their own pays."""
        self._corrected += 1
        return self._corrected > CORRECTED

    def native_blocks(self, vector: Any) -> NativeBlocks | None:
        """The packed blocks as machine code for other machine code, if there is any."""
        function = self._kkt.native_function((self.n + 1 + self.m,), np.shape(vector))
        if function is None:
            return None
        own = np.ascontiguousarray(vector, dtype=np.float64)
        return NativeBlocks(function.at_point, np.array([own.ctypes.data], dtype=np.int64), 0, (function, own))

    def _handed(self, vector: Any) -> Any:
        """The constants as the compiled functions keep them: handing them over with every call takes time."""
        if not self._kkt.on_device:
            return vector
        known, handed = self._constants  # read once: systems in other threads share this
        if known is not vector:
            handed = jnp.asarray(vector)
            self._constants = vector, handed
        return handed

    def unpack(self, out: Array) -> Evaluation:
        """The blocks in one packed array, or in many along a first axis."""
        n, m, many = self.n, self.m, out.shape[:-1]
        first, second, third = n + 2, n + 2 + m, n + 2 + m + n * (n + 1)
        return Evaluation(
            out.T[0],
            out[..., 1:first],
            out[..., first:second],
            out[..., second:third].reshape(*many, n, n + 1),
            out[..., third:].reshape(*many, m, n + 1),
        )

    def unpack_stretch(self, out: Array) -> Evaluation:
        """The blocks of many points as compiled steps return them: matrices with a row per unknown."""
        n, m, count = self.n, self.m, len(out)
        first, second, third, _ = self._ends
        L_xq, c_x = out[:, second:third].reshape(count, n + 1, n), out[:, third:].reshape(count, n + 1, m)
        return Evaluation(
            out.T[0], out[:, 1:first], out[:, first:second], L_xq.transpose(0, 2, 1), c_x.transpose(0, 2, 1)
        )

    def residual(self, x: Array, vector: Any) -> tuple[float, Array, Array]:
        """Energy, L_q and c at the packed point."""
        if self._from_blocks():
            blocks = self._evaluate(x, vector)
            return float(blocks.energy), blocks.L_q, blocks.c
        out = np.asarray(self._residual(x, vector))
        return float(out[0]), out[1 : self.n + 1], out[self.n + 1 :]

    def _from_blocks(self) -> bool:
        """Whether a residual is taken from the blocks: a function of its own is compiled only where many are wanted."""
        self._residuals_asked += 1
        return self.n + self.m <= SMALL and self._residuals_asked <= SEVERAL

    def residuals(self, X: Array, vector: Any) -> tuple[Array, Array, Array]:
        """The same at many points (rows of X), `CHUNK` of them per compiled call."""
        out = _in_chunks(self._residuals, X, vector, CHUNK)
        return out[:, 0], out[:, 1 : self.n + 1], out[:, self.n + 1 :]

    def looks_pay(self, count: int) -> bool:
        """Whether so many places more are worth the compilation of `look`, as in `evaluate_many`."""
        self._looked += count
        wide = not (self._kkt.native or self.elementwise) and self._looked * self.n * (self.n + self.m) > WIDE
        return self._looks.ready or wide or self._looked * self._few > WORTH

    def look(self, X: Array, directions: Array, vector: Any) -> tuple[Array, Array]:
        """Values c and the derivative of (L_q, c) in a direction of its own, (m,) and (n + m,), at many points."""
        out = _in_chunks(self._looks, np.hstack([X, directions]), vector, CROWD)
        return out[:, : self.m], out[:, self.m :]

    def constraint_values(self, X: Array, vector: Any) -> Array:
        """Values c alone at many points, of which (q, p) is enough: (N, m)."""
        points = np.ascontiguousarray(X[:, : self.n + 1])
        return _in_chunks(self._gaps, points, vector, max(FEW, min(CROWD, MILLION // (self.n + 1))))

    def along(self, x: Array, direction: Array, vector: Any, order: int) -> Array:
        """dᵏ/dsᵏ of (L_q, c) along the straight line x + s·direction, k = `order`, at s = 0: (n + m,)."""
        found: Array = self._energy_along(x, direction, vector, order)[1:]
        return found

    def curvature(self, x: Array, direction: Array, vector: Any) -> float:
        """d²L/ds² along x + s·direction at constant multipliers: the energy itself is differentiated.

        What cancels within a member is small there before it is squared; of dᵀL_qq d rounding of L_qq is left.
        """
        found = self._energy_along(x, direction, vector, 2)
        return float(found[0] - x[self.n + 1 :] @ found[1 + self.n :])

    def _energy_along(self, x: Array, direction: Array, vector: Any, order: int) -> Array:
        """The same of (U, L_q, c)."""
        function = self._along_lines.of(order)
        if function is None:
            return np.asarray(self._along(x, direction, vector, order))
        found: Array = function([np.ascontiguousarray(one, dtype=np.float64) for one in (x, vector, direction)])[0]
        return found

    @cached_property
    def _along_lines(self) -> AlongLines:
        """Machine code for that, from the operations of the first derivatives."""
        sizes = self.n + 1 + self.m, len(self.names)
        return AlongLines(lambda: straight(self._packed_residual, *sizes, most=MOST), sizes, range(sizes[0]))

    def values(self, q: Any, p: Any, vector: Any) -> tuple[Any, Any]:
        """Energy and constraint values (m,), bilateral first, to be differentiated further."""
        return self._U(q, p, vector), self._constraints(q, p, vector)

    def may_depend_on_p(self, vector: Any) -> bool:
        """Whether p is used in energy or constraints; nothing is differentiated for it."""
        return depends(self.values, (jnp.zeros(self.n), jnp.zeros(()), vector), 1)

    def _split(self, x: Any) -> tuple[Any, Any, Any]:
        return x[: self.n], x[self.n], x[self.n + 1 :]

    def _constraints(self, q: Any, p: Any, vector: Any) -> Any:
        values = [jnp.atleast_1d(f(q, p, vector)) for f in self._c]
        return jnp.concatenate(values) if values else jnp.zeros(0)

    def _lagrangian(self, qp: Any, nu: Any, vector: Any) -> tuple[Any, Any]:
        """L = U − cᵀν [SP1 (2.2)], with (c, U)."""
        q, p = qp[: self.n], qp[self.n]
        energy, c = self._U(q, p, vector), self._constraints(q, p, vector)
        return energy - c @ nu, jnp.append(c, energy)

    def _gradient(self, qp: Any, nu: Any, vector: Any) -> tuple[Any, Any]:
        """Gradient L_x of the Lagrangian, with (c, U) beside it."""
        first: tuple[Any, Any] = jax.grad(self._lagrangian, has_aux=True)(qp, nu, vector)
        return first

    def blocks(self, x: Any, vector: Any) -> Blocks:
        """What the model says at a packed point, to be traced into other functions."""
        return self._blocks(x, vector)

    def packed_residual(self, x: Any, vector: Any) -> Any:
        """Energy, L_q and c in one array, likewise."""
        return self._packed_residual(x, vector)

    def _blocks(self, x: Any, vector: Any) -> Blocks:
        qp, nu = x[: self.n + 1], x[self.n + 1 :]
        (L_x, values), (L_xx, c_x) = _columns(lambda z: self._gradient(z, nu, vector), qp, jnp.eye(self.n + 1))
        few = self._few_directions(nu, vector)
        if few is not None:  # what is computed in vain above is not compiled
            made = _columns(lambda z: self._gradient(z, nu, vector)[0], qp, jnp.asarray(few.seeds))[1]
            L_xx = jnp.where(few.mask, few.seeds.T @ made, 0.0)  # faster than taking rows
        head = jnp.concatenate([values[-1:], L_x, values[:-1]], dtype=jnp.float64)
        return Blocks(head, L_xx[:, : self.n].astype(jnp.float64), c_x[:, : self.m].astype(jnp.float64))

    def _few_directions(self, nu: Any, vector: Any) -> Directions | None:
        """Directions that make up the Hessian, where they are fewer than coordinates."""
        if self.n < SOME or self._by_user:
            return None
        return directions(lambda *given: self._gradient(*given)[0], self.n + 1, self.n, (nu, vector))

    def _packed_kkt(self, x: Any, vector: Any) -> Any:
        head, L_xq, c_x = self._blocks(x, vector)
        return jnp.concatenate([head, L_xq.T.ravel(), c_x.T.ravel()])

    def _packed_residual(self, x: Any, vector: Any) -> Any:
        L_x, values = self._gradient(x[: self.n + 1], x[self.n + 1 :], vector)
        return jnp.concatenate([values[-1:], L_x[: self.n], values[:-1]])

    def _packed_look(self, both: Any, vector: Any) -> Any:
        x, direction = jnp.split(both, 2)
        values, slopes = jax.jvp(lambda x: self._packed_residual(x, vector)[1:], (x,), (direction,))
        return jnp.concatenate([values[self.n :], slopes])

    def _packed_constraints(self, x: Any, vector: Any) -> Any:
        return self._constraints(x[: self.n], x[self.n], vector)

    def _packed_along(self, x: Any, direction: Any, vector: Any, order: int) -> Any:
        def line(s: Any) -> Any:
            return self._packed_residual(x + s * direction, vector)

        derivative = line
        for _ in range(order):
            derivative = partial(_slope, derivative)
        return derivative(jnp.zeros(()))


def _in_chunks(function: Compiled, X: Array, vector: Any, size: int) -> Array:
    """A compiled function of so many rows for any number of them."""
    count = len(X)
    if count and function.takes_any_rows:
        return np.asarray(function(X, vector))
    if count != size:
        X = np.concatenate([X, np.repeat(X[-1:], -count % size, axis=0)])
    parts = [np.asarray(function(part, vector)) for part in X.reshape(-1, size, X.shape[1])]
    return (parts[0] if len(parts) == 1 else np.concatenate(parts))[:count]


def _columns(function: Callable[[Any], Any], x: Any, directions: Any) -> tuple[Any, Any]:
    """Values of a function at x, and its derivatives along directions, (number of directions, …)."""

    def along(direction: Any) -> tuple[Any, Any]:
        return jax.jvp(function, (x,), (direction,))

    made: tuple[Any, Any] = jax.vmap(along, out_axes=(None, 0))(directions)
    return made


def _slope(function: Callable[[Any], Any], s: Any) -> Any:
    return jax.jvp(function, (s,), (jnp.ones_like(s),))[1]
