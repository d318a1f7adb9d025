"""The functions of users: energies and gaps of (q, p, th), their derivatives where given, and checks of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.arguments import stated
from onesided.base.errors import ModelError
from onesided.base.names import unknown_name
from onesided.base.types import Array
from onesided.evaluation.flat import retraced
from onesided.evaluation.jax_process import prepare_jax

Scalar = Callable[[Any, Any, Any], Any]


@stated
@dataclass(frozen=True)
class Function:
    """A scalar function of (q, p, th) with exact derivatives in q, for users who have them.

    Attributes
    ----------
    value : callable (q, p, th) → scalar, written in `jax.numpy`.
    gradient : callable (q, p, th) → (n,), optional.
    hessian : callable (q, p, th) → (n, n), optional; needs `gradient`.

    What is not given is derived automatically. `System.check_derivatives` compares both.
    """

    value: Scalar
    gradient: Scalar | None = None
    hessian: Scalar | None = None

    def __post_init__(self) -> None:
        if self.hessian is not None and self.gradient is None:
            raise ModelError(
                "`Function` has a Hessian but no gradient", expected="gradient=… as well", advice="give both, or none"
            )


class Parameters(dict[str, Any]):
    """Named parameters: `th["k"]` or `th.k`; an unknown name is an error that suggests the nearest."""

    def __missing__(self, name: str) -> Any:
        raise unknown_name("parameter", name, self, advice="add it to `parameters={…}`")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]


def differentiable(function: Scalar | Function, names: tuple[str, ...]) -> Scalar:
    """Make a function of (q, p, parameter vector) that differentiates by the user's rules where there are some."""
    f = function if isinstance(function, Function) else Function(function)

    def plain(rule: Scalar) -> Scalar:
        return retraced(lambda q, p, vector: rule(q, p, Parameters(zip(names, vector, strict=True))))

    value = plain(f.value)
    if f.gradient is None:
        return value
    gradient = plain(f.gradient)
    if f.hessian is not None:
        gradient = _with_derivative(gradient, plain(f.hessian))
    return _with_derivative(value, gradient)


def _with_derivative(value: Scalar, derivative: Scalar) -> Scalar:
    wrapped = jax.custom_jvp(value)

    def rule(primals: Any, tangents: Any) -> Any:
        (q, p, vector), (dq, dp, dvector) = primals, tangents
        out, rest = jax.jvp(partial(value, q), (p, vector), (dp, dvector))
        return out, derivative(q, p, vector) @ dq + rest

    wrapped.defjvp(rule)
    return wrapped


def control_rates(control: Callable[[Any], Any] | None, t: Any, p: Any) -> tuple[Any, Any, Any]:
    """p(t) with two derivatives; a constant where no function is given."""
    if control is None:
        return p, jnp.zeros(()), jnp.zeros(())

    def value(s: Any) -> Any:
        return jnp.asarray(control(s), dtype=jnp.float64)

    def slope(s: Any) -> Any:
        return jax.jvp(value, (s,), (jnp.ones(()),))[1]

    return (value(t), *jax.jvp(slope, (t,), (jnp.ones(()),)))


def check_function(
    label: str, function: Scalar | Function, n: int, names: tuple[str, ...], shape: tuple[int, ...] = ()
) -> None:
    """Trace a function once and refuse a wrong shape, a coordinate that is not there, or single precision."""
    prepare_jax()
    value = function.value if isinstance(function, Function) else function
    shape_of: Any = jax.ShapeDtypeStruct
    q, scalar, vector = (shape_of(size, jnp.float64) for size in ((n,), (), (len(names),)))

    def call(q: Any, p: Any, vector: Any) -> Any:
        return value(q, p, Parameters(zip(names, vector, strict=True)))

    out, doubt = _strictly(call, (q, scalar, vector))
    try:
        out = jax.eval_shape(call, q, scalar, vector) if out is None else out
    except ModelError:
        raise
    except (
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        NameError,
        ArithmeticError,
        jax.errors.JAXTypeError,
    ) as e:
        raise ModelError(
            f"{label} cannot be evaluated",
            got=f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}",
            expected="a function (q, p, th) written in jax.numpy",
            advice="jnp.cos instead of np.cos or math.cos, jnp.where instead of `if`",
        ) from e
    _check_indices(label, call, n, (scalar, vector))
    _check_result(label, out, shape)
    if "float32" in doubt:
        raise ModelError(
            f"{label} computes in single precision",
            got="a float32 constant or cast inside the function",
            expected="float64 throughout",
            advice="make constants with NumPy, or after jax.config.update('jax_enable_x64', True)",
        )


def _check_indices(label: str, call: Callable[..., Any], n: int, rest: tuple[Any, Any]) -> None:
    """JAX clamps an index that is out of range: a NumPy stand-in for q makes the mistake visible."""
    try:
        jax.eval_shape(partial(call, np.zeros(n)), *rest)
    except IndexError as e:
        raise ModelError(
            f"{label} uses a coordinate that does not exist",
            got=str(e),
            expected=f"indices 0 to {n - 1}: one per name in `coordinates`",
            advice="add the coordinate or correct the index",
        ) from e
    except Exception as e:  # noqa: BLE001 - the stand-in is no JAX array (no `.at`): then this check cannot be made
        del e


def _check_result(label: str, out: Any, shape: tuple[int, ...]) -> None:
    if not hasattr(out, "dtype"):
        raise ModelError(f"{label} returned {type(out).__name__}", expected="a number", advice="is a `return` missing?")
    got = tuple(out.shape)
    if got != shape:
        raise ModelError(
            f"{label} returned shape {got}",
            expected=f"shape {shape}: one number" if shape == () else f"shape {shape}",
            advice="return a scalar, for example with jnp.sum(…) or an index",
        )
    if out.dtype != jnp.float64:
        raise ModelError(f"{label} returned {out.dtype}", expected="float64", advice="remove casts to other types")


def _strictly(call: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """What it returns, or why not, under strict promotion: JAX names types that meet, so that a float32 shows."""
    try:
        with jax.numpy_dtype_promotion("strict"):
            return jax.eval_shape(call, *arguments), ""
    except Exception as e:  # noqa: BLE001 - whatever is wrong beside that is met again without it
        return None, str(e)


def compare_derivatives(
    function: Function, names: tuple[str, ...], q: Array, p: float, parameters: Mapping[str, float]
) -> dict[str, float]:
    """Largest relative difference of supplied from automatic derivatives: {"gradient": …, "hessian": …}."""
    th = Parameters(parameters)
    value = partial(_call, function.value, p=p, th=th)
    differences = {}
    for name, given, automatic in (
        ("gradient", function.gradient, jax.grad(value)),
        ("hessian", function.hessian, jax.jacfwd(jax.grad(value))),
    ):
        if given is not None:
            exact, found = np.asarray(automatic(q)), np.asarray(given(q, p, th))
            if exact.shape != found.shape:
                raise ModelError(f"{name} returned shape {found.shape}", expected=f"shape {exact.shape}")
            differences[name] = float(np.max(np.abs(found - exact)) / max(1.0, float(np.max(np.abs(exact)))))
    return differences


def _call(value: Scalar, q: Any, *, p: float, th: Any) -> Any:
    return value(q, p, th)
