"""Compilation: how a function is compiled so that calls on tiny arrays take little time.

The runtime of the CPU is made for large arrays: it hands every operation over by itself, which takes longer than the
operation where arrays have a few numbers. The compiler has another way for its own smallest loops, one piece of machine
code; functions of small systems are marked for it. That way cannot call libraries (factorisations) nor split large
operations between threads: such functions are compiled as usual.

Compiling takes much longer than most functions run. It is therefore done in tiers: functions that are called rarely or
are very long are evaluated by NumPy as long as that takes less time; straight lines of operations are compiled by LLVM
alone (`native_tier`). What is left, loops above all, is compiled by JAX: where arrays are small without optimisation
first (half the time to compile, a quarter slower, loops several times as slow), and once more, with all optimisation,
after so many calls that it pays. Calls are counted, not timed: what is done again in another process gives the same
numbers.
"""

import math
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import xla_metadata
from jax.flatten_util import ravel_pytree

from onesided.base.collecting import collection_held_back
from onesided.base.log import LOG
from onesided.evaluation.flat import LIBRARY, equations
from onesided.evaluation.jax_process import Process, refuse_fork
from onesided.evaluation.native_tier import NativeTier
from onesided.evaluation.plain import Plain, plain_length

KNOWN = (0, 10), (0, 12)  # versions whose compiler was tried on all our models in one piece
OPTIONS = {
    "xla_cpu_use_fusion_emitters": False,  # a quarter less time to compile, the same speed afterwards
    "xla_cpu_experimental_ynn_fusion_type": "",  # products of small matrices without a library
}
QUICK = "xla_backend_optimization_level"  # zero: half the time to compile
PLAIN_CALLS, PLAIN_BLOCKS = 100, 20  # calls, with one point or many, that take NumPy half as long as a compilation
LONG = 3_000  # operations; so many take so long to compile that NumPy is asked first, however often it is called
HOT_PIECE, HOT_CALLS, HOT_LOOPS = (
    20_000,
    4_000,
    100,
)  # calls in one piece, as usual, with loops, that pay for optimising
LARGE = 1024  # numbers in an array from which on code that is not optimised is many times slower
LOOPS = {"while", "scan"}
ONE_PIECE = {"inlineable": "false", "xla_cpu_small_call": "true"}
FEW, SOME = 384, 30_000  # numbers in an array that is computed, or only moved, in one piece
LONGEST = 6_000  # operations; one piece of more takes much longer to compile
# fmt: off
MOVES = {
    "add_any", "broadcast_in_dim", "concatenate", "copy", "dynamic_slice", "dynamic_update_slice", "gather", "iota",
    "pad", "reshape", "rev", "scatter", "scatter-add", "select_n", "slice", "split", "squeeze", "stack", "transpose",
    "while", "cond", "jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call",
}
# fmt: on


def compiled(
    function: Callable[..., Any],
    *,
    static_argnums: int | tuple[int, ...] = (),
    rare: bool = False,
    plain: Callable[..., Any] | None = None,
    hot: int | None = None,
    rows: bool = False,
) -> "Compiled":
    """The compiled function; `static_argnums` as for `jax.jit`. One that is called `rare`ly is left to NumPy first.

    With `rows` it is evaluated for every row of its first argument.

    `plain` is the same function of many points without a loop, which is what NumPy is given; `hot` says after how many
    calls optimisation pays where the length of loops does not tell.
    """
    return Compiled(function, static_argnums, rare=rare, plain=plain, hot=hot, rows=rows)


def joined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of a function that is compiled as usual, without libraries and large arrays, in one piece of its own."""

    def call(*arguments: Any) -> Any:
        if not _is_known_compiler():
            return function(*arguments)
        packed, unpack = ravel_pytree(arguments)
        shapes, tree = jax.tree.flatten(jax.eval_shape(function, *arguments))

        def piece(vector: Any) -> Any:
            made = jax.tree.leaves(function(*unpack(vector)))
            return _whole_vector([jnp.ravel(leaf).astype(float) for leaf in made], vector)

        mark: Any = xla_metadata.set_xla_metadata
        parts = jnp.split(
            mark(jax.jit(piece)(packed), **ONE_PIECE), np.cumsum([math.prod(one.shape) for one in shapes])
        )
        leaves = [part.reshape(one.shape).astype(one.dtype) for part, one in zip(parts, shapes, strict=False)]
        return jax.tree.unflatten(tree, leaves)

    return call


class _Compiled(NamedTuple):
    """How a function is evaluated, by JAX, by machine code of its own or by NumPy, and for how many calls."""

    call: Callable[..., Any]
    one_piece: bool
    calls: float = math.inf
    by_jax: bool = True
    native: bool = False


class Compiled:
    """A function evaluated by NumPy, compiled in one piece or as usual; the first call decides."""

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnums: int | tuple[int, ...],
        *,
        rare: bool,
        plain: Callable[..., Any] | None = None,
        hot: int | None = None,
        rows: bool = False,
    ) -> None:
        self._rare, self._hot, self._name = rare, hot, getattr(function, "__qualname__", type(function).__name__)
        self._function, self._unlooped, self._rows = function, plain, rows
        self._most = PLAIN_CALLS if plain is None else PLAIN_BLOCKS
        self._static = (static_argnums,) if isinstance(static_argnums, int) else static_argnums
        self._native = NativeTier(lambda: self._one, self._static)
        self._way: _Compiled | None = None
        self._plain: dict[Any, Plain] = {}
        self._calls = 0

    @cached_property
    def _one(self) -> Any:
        """The function of one point, made when first needed: most functions of a system are never called."""
        return jax.jit(self._function, static_argnums=self._static)

    @cached_property
    def _traced(self) -> Any:
        return jax.jit(_for_rows(self._function), static_argnums=self._static) if self._rows else self._one

    @cached_property
    def _loopless(self) -> Any:
        return self._traced if self._unlooped is None else jax.jit(self._unlooped, static_argnums=self._static)

    def __call__(self, *arguments: Any) -> Any:
        """Call it; compile it where that is to be done."""
        if Process.forked:
            refuse_fork()
        way = self._way
        if way is None:
            with collection_held_back():
                way = self._choose(arguments)
        self._calls += 1
        if self._calls > way.calls:
            way = self._promote(arguments, way)
        try:
            return way.call(*arguments)
        except jax.errors.JaxRuntimeError:
            if not way.one_piece:
                raise
            LOG.info("%s does not compile in one piece: it is compiled as usual", self)
        self._way = way = _Compiled(self._made(self._as_usual, quick=False), one_piece=False)
        return way.call(*arguments)

    def _choose(self, arguments: tuple[Any, ...]) -> "_Compiled":
        """The first way: NumPy for what is called rarely, machine code or a quick compilation otherwise."""
        if (not self._rare or self._native.ready) and self._native(arguments, rows=self._rows) is not None:
            return self._natively()
        length = plain_length(self._loopless.trace(*self._strong(arguments)))
        if length < math.inf and (self._rare or length > LONG):
            self._way = way = _Compiled(self._evaluate_plainly, one_piece=False, calls=self._most, by_jax=False)
            return way
        return self._compile(arguments, quick=True)

    def _promote(self, arguments: tuple[Any, ...], way: "_Compiled") -> "_Compiled":
        """The next way: after NumPy a quick compilation, then a thorough one."""
        LOG.debug("%s was called %d times: it is compiled, or compiled once more thoroughly", self, way.calls)
        self._calls = 0
        return self._compile(arguments, quick=way.call == self._evaluate_plainly)

    def _compile(self, arguments: tuple[Any, ...], *, quick: bool, native: bool = True) -> "_Compiled":
        if native and self._native(arguments, rows=self._rows) is not None:
            return self._natively()
        Process.started = True
        traced = self._traced.trace(*self._strong(arguments))
        one_piece, loops = self._fits(traced), _has_loops(traced.jaxpr.jaxpr)
        quick = quick and not _has_large(traced.jaxpr.jaxpr) and (one_piece or self._rare or not loops)
        made = self._made(self._whole if one_piece else self._as_usual, quick=quick)
        most = HOT_PIECE if one_piece else HOT_CALLS
        if loops:
            most = HOT_CALLS if self._rare else HOT_LOOPS  # those of rare functions run over few points
        most = self._hot or most
        self._way = way = _Compiled(made, one_piece, most if quick else math.inf)
        return way

    def _natively(self) -> "_Compiled":
        self._way = way = _Compiled(self._evaluate_natively, one_piece=False, by_jax=False, native=True)
        return way

    def _made(self, function: Callable[..., Any], *, quick: bool) -> Callable[..., Any]:
        """Compiled, with the options; what has been traced is not traced again."""
        options = compiler_options(quick=quick)
        made: Callable[..., Any] = jax.jit(function, static_argnums=self._static, compiler_options=options)
        return made

    def _evaluate_plainly(self, *arguments: Any) -> Any:
        """By NumPy; one list of operations for all arguments of the same shapes."""
        moving = [value for i, value in enumerate(arguments) if i not in self._static]
        fixed = tuple(value for i, value in enumerate(arguments) if i in self._static)
        leaves, tree = jax.tree.flatten(moving)
        leaves = [np.asarray(leaf) for leaf in leaves]
        key = fixed, tree, tuple((leaf.shape, leaf.dtype) for leaf in leaves)
        if key not in self._plain:
            traced = self._loopless.trace(*self._strong(arguments))
            if plain_length(traced) == math.inf:  # known to NumPy for the arguments before, not for these
                return self._compile(arguments, quick=True).call(*arguments)
            self._plain[key] = Plain(traced)
        return self._plain[key](*leaves)

    def _evaluate_natively(self, *arguments: Any) -> Any:
        """By machine code of its own; arguments for which there is none are left to JAX's compiler from then on."""
        made = self._native(arguments, rows=self._rows)
        return self._compile(arguments, quick=True, native=False).call(*arguments) if made is None else made

    def __repr__(self) -> str:
        return f"the function {self._name}"

    def for_rows(self) -> "Compiled":
        """The same function for every row of its first argument; machine code is shared."""
        made = Compiled(self._function, self._static, rare=self._rare, rows=True)
        made._native = self._native
        return made

    @property
    def on_device(self) -> bool:
        """Whether arguments are best handed over as arrays of JAX."""
        return self._way is not None and self._way.by_jax

    @property
    def native(self) -> bool:
        """Whether it is evaluated by machine code of its own."""
        return self._way is not None and self._way.native

    def native_function(self, *shapes: tuple[int, ...]) -> Any:
        """Its machine code for arguments of these shapes; None where there is none."""
        return self._native.known(*shapes) if self.native else None

    @property
    def takes_any_rows(self) -> bool:
        """Whether any number of rows is evaluated by the same code."""
        return self._rows and self.native

    @property
    def ready(self) -> bool:
        """Whether it has been compiled."""
        return self._way is not None

    @staticmethod
    def _fits(traced: Any) -> bool:
        """Whether one piece is possible: small arrays of double precision in, one of them out, on a known compiler."""
        if not _is_known_compiler():
            return False
        shapes = [*jax.tree.leaves(traced.in_avals), *jax.tree.leaves(traced.out_info)]
        doubles = all(value.dtype == float for value in shapes) and len(jax.tree.leaves(traced.out_info)) == 1
        return doubles and _is_small(traced.jaxpr.jaxpr)

    def _strong(self, arguments: tuple[Any, ...]) -> list[Any]:
        """The arguments as arrays with a type of their own: plain numbers would be traced once more in one piece."""
        return [value if i in self._static else jax.tree.map(_as_array, value) for i, value in enumerate(arguments)]

    def _as_usual(self, *arguments: Any) -> Any:
        """The function as it was traced."""
        return self._traced(*self._strong(arguments))

    def _whole(self, *arguments: Any) -> Any:
        """The function as one call of one vector that returns one vector."""
        moving = [value for i, value in enumerate(arguments) if i not in self._static]
        packed, unpack = ravel_pytree(moving)
        shape = jax.eval_shape(self._traced, *self._strong(arguments)).shape

        def piece(vector: Any) -> Any:
            given = iter(unpack(vector))
            values = [value if i in self._static else next(given) for i, value in enumerate(arguments)]
            return _whole_vector([self._traced(*values).ravel()], vector)

        mark: Any = xla_metadata.set_xla_metadata
        return mark(jax.jit(piece)(packed), **ONE_PIECE)[:-1].reshape(shape)


def _whole_vector(parts: list[Any], vector: Any) -> Any:
    """What one piece returns: its parts, and an entry of its input that is written into their end.

    The compiler gives up on a call that uses none of its input. A vector that is only put together may be split between
    threads when it is long, and such a piece is called with too few arguments; one that is written into never is.
    """
    joint = jnp.concatenate([*parts, jnp.zeros(1)])
    return jax.lax.dynamic_update_slice(joint, vector[:1], (joint.size - 1,))


def _for_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one row for all rows of its first argument."""

    def every(rows: Any, *others: Any) -> Any:
        return jax.vmap(lambda row: function(row, *others))(rows)

    return every


def _as_array(value: Any) -> Any:
    """A number or an array as an array that keeps its type."""
    if isinstance(value, jax.core.Tracer):
        return jax.lax.convert_element_type(value, value.dtype)
    return np.asarray(value) if isinstance(value, float | int) else value


def _is_small(jaxpr: Any) -> bool:
    """Whether a traced function is not long, calls no library and has no array that is worth several threads."""
    for number, equation in enumerate(equations(jaxpr)):
        name = equation.primitive.name
        most = SOME if name in MOVES else FEW
        large = any(math.prod(value.aval.shape) > most for value in equation.outvars)
        if large or name in LIBRARY or number >= LONGEST:
            return False
    return True


def _has_large(jaxpr: Any) -> bool:
    """Whether arrays are computed that are worth optimised code from the first call on."""
    computed = (equation for equation in equations(jaxpr) if equation.primitive.name not in MOVES)
    return any(math.prod(value.aval.shape) > LARGE for equation in computed for value in equation.outvars)


def _has_loops(jaxpr: Any) -> bool:
    return any(equation.primitive.name in LOOPS for equation in equations(jaxpr))


@cache
def compiler_options(*, quick: bool) -> dict[str, Any]:
    """The options that this compiler knows."""
    wanted = OPTIONS | ({QUICK: 0} if quick else {})
    if jax.__version_info__[:2] == KNOWN[0] or _accepted(wanted):  # trying takes as long as compiling a small model
        return wanted
    return {key: value for key, value in wanted.items() if _accepted({key: value})}


def _is_known_compiler() -> bool:
    return jax.default_backend() == "cpu" and KNOWN[0] <= jax.__version_info__[:2] <= KNOWN[1]


def _accepted(options: dict[str, Any]) -> bool:
    try:
        jax.jit(abs, compiler_options=options).lower(0.0).compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
