"""Arguments of public verbs and methods, checked against their annotations in one place.

`@checked` looks at every argument before the verb begins: what does not fit its annotation is refused in words, what
fits is passed on as the plain type (a number of NumPy as a float). `Any` and what is not known here are not looked at;
verbs check what annotations cannot say, such as signs and ranges.
"""

import builtins
import inspect
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import fields
from difflib import get_close_matches
from functools import cache, wraps
from itertools import islice
from operator import index
from typing import Any, Literal, NewType, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from onesided.base.errors import ModelError, OnesidedError, UsageError
from onesided.base.types import MOST, Array

P = ParamSpec("P")
R = TypeVar("R")
VARIABLE = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
LARGEST = 2**53  # whole numbers beyond have no meaning here
LONGEST = 80  # characters of a wrong argument that are shown


class _MisfitError(Exception):
    """A value does not fit; the text says what would."""


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, or class, with its arguments checked."""
    if isinstance(verb, type):
        return cast(Callable[P, R], _class_guarded(verb, UsageError))
    return _guarded(verb, verb.__name__, UsageError)


def stated(kind: Callable[P, R]) -> Callable[P, R]:
    """The class whose instances state a model, with its arguments checked: what does not fit is a `ModelError`."""
    return cast(Callable[P, R], _class_guarded(kind, ModelError))


def answering(part: type) -> None:
    """Have wrong calls of a class that states a part of a model answered in words, as those of verbs are.

    Annotations are looked at where making the part failed: thousands of parts are made right.
    """
    made, name = part.__init__, part.__name__  # type: ignore[misc]

    @wraps(made)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            try:
                made(self, *args, **kwargs)
            except (TypeError, ValueError, AttributeError):
                _fitting(made, name, (self, *args), kwargs)
                raise
            _fitted(self.name, str, f"`name` of `{name}`")
        except UsageError as wrong:
            raise _stated_wrongly(wrong) from None

    part.__init__ = init  # type: ignore[misc]


def examine(part: Any) -> None:
    """Refuse a part, a dataclass, of which a field does not fit its annotation."""
    rules = _rules(type(part).__init__)
    known = (field.name for field in fields(part) if field.init and field.name in rules)
    try:
        for key in known:
            _fitted(getattr(part, key), rules[key], f"`{key}` of {type(part).__name__} '{part.name}'")
    except UsageError as wrong:
        raise _stated_wrongly(wrong) from None


def _stated_wrongly(wrong: UsageError) -> ModelError:
    return ModelError(wrong.what, got=wrong.got, expected=wrong.expected, advice=wrong.advice)


def _class_guarded(kind: Any, error: type[OnesidedError]) -> Any:
    kind.__init__ = _guarded(kind.__init__, kind.__name__, error)
    return kind


def _guarded(function: Callable[P, R], name: str, error: type[OnesidedError]) -> Callable[P, R]:
    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = _fitting(function, name, args, kwargs)
        except UsageError as wrong:
            if error is UsageError:
                raise
            raise _stated_wrongly(wrong) from None
        return function(*given.args, **given.kwargs)

    return guarded


def _fitting(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The arguments as their annotations want them."""
    given = _bound(function, name, args, kwargs)
    rules = _rules(function)
    for key in given.arguments.keys() & rules.keys():
        given.arguments[key] = _fitted(given.arguments[key], rules[key], f"`{key}` of `{name}`")
    return given


def _bound(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    unknown = next((key for key in kwargs if key not in _signature(function).parameters), None)
    if unknown is not None:
        near = get_close_matches(unknown, _signature(function).parameters, n=1)
        advice = f"did you mean `{near[0]}`?" if near else ""
        raise UsageError(
            f"`{name}` has no argument of this name", got=f"`{unknown}`", expected=_call(function, name), advice=advice
        )
    try:
        return _signature(function).bind(*args, **kwargs)
    except TypeError as e:
        raise UsageError(
            f"`{name}` was called with too few or too many arguments", got=str(e), expected=_call(function, name)
        ) from None


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _call(function: Callable[..., Any], name: str) -> str:
    """The names of the arguments, as in a call."""
    names, given = [], [entry for key, entry in _signature(function).parameters.items() if key != "self"]
    for entry in given:
        by_name = entry.kind is entry.KEYWORD_ONLY
        names += ["*", entry.name] if by_name and "*" not in names else [entry.name]
    return f"{name}({', '.join(names)})"


class _Unknown(dict[str, Any]):
    """`Any` for names that exist for the type checker only."""

    def __init__(self, known: dict[str, Any]) -> None:
        super().__init__()
        self._known = known

    def __missing__(self, name: str) -> Any:
        if name in self._known or hasattr(builtins, name):
            raise KeyError(name)
        return Any


@cache
def _rules(function: Any) -> dict[str, Any]:
    """The annotations that say something."""
    hints = get_type_hints(function, None, _Unknown(function.__globals__))
    several = {key for key, one in _signature(function).parameters.items() if one.kind in VARIABLE}
    return {key: hint for key, hint in hints.items() if key not in {"return", *several} and hint is not Any}


def _fitted(value: Any, hint: Any, what: str) -> Any:
    try:
        return _fit(value, hint)
    except _MisfitError as misfit:
        raise UsageError(f"{what} is not usable", got=_shown(value), expected=str(misfit)) from None


def _shown(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of very many digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({type(value).__name__})"


def _fit(value: Any, hint: Any) -> Any:
    """The value as its annotation wants it."""
    if hint is None or hint is type(None):
        return _none(value)
    if hint in _PLAIN:
        return _PLAIN[hint](value)
    if isinstance(hint, NewType):
        return _fit(value, hint.__supertype__)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _NESTED:
        return _NESTED[origin](value, inner)
    if origin is np.ndarray:  # verbs make arrays of what they are given, and check the shape
        return value
    if isinstance(origin or hint, type):
        return _instance(value, origin or hint)
    return value


def _none(value: Any) -> None:
    if value is not None:
        raise _MisfitError("None")


def _number(value: Any) -> float:
    if isinstance(value, bool | str | bytes) or (isinstance(value, np.ndarray) and value.ndim):
        raise _MisfitError("a number")
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _MisfitError("a number") from None
    if math.isnan(found):
        raise _MisfitError("a number")
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_):
        raise _MisfitError("a whole number")
    try:
        found = index(value)
    except TypeError:
        raise _MisfitError("a whole number") from None
    if abs(found) > LARGEST:
        raise _MisfitError(f"a whole number up to {LARGEST}")
    return found


def _truth(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _MisfitError("True or False")
    return bool(value)


def _any_of(value: Any, hints: tuple[Any, ...]) -> Any:
    """The first of several annotations that fits."""
    wanted = []
    for hint in hints:
        try:
            return _fit(value, hint)
        except _MisfitError as misfit:
            wanted.append(str(misfit))
    raise _MisfitError(" or ".join(dict.fromkeys(wanted)))


def _one_of(value: Any, allowed: tuple[Any, ...]) -> Any:
    if not isinstance(value, str) or value not in allowed:
        raise _MisfitError(" or ".join(map(repr, allowed)))
    return value


def _tuple(value: Any, hints: tuple[Any, ...]) -> tuple[Any, ...]:
    each = hints[-1] is Ellipsis
    wanted = "several values" if each else f"{len(hints)} values"
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _MisfitError(wanted)
    values = tuple(value) if isinstance(value, Sized) else tuple(islice(value, (MOST if each else len(hints)) + 1))
    if (not each and len(values) != len(hints)) or (len(values) > MOST and not isinstance(value, Sized)):
        raise _MisfitError(f"{wanted}, {MOST} at most where their number is not known" if each else wanted)
    return tuple(_within(item, hints[0] if each else hints[i], wanted) for i, item in enumerate(values))


def _within(value: Any, hint: Any, whole: str) -> Any:
    try:
        return _fit(value, hint)
    except _MisfitError as misfit:
        raise _MisfitError(f"{whole}, each {misfit}") from None


def _sequence(value: Any, hints: tuple[Any, ...]) -> tuple[Any, ...]:
    return _tuple(value, (*hints, Ellipsis) if hints else (Any, Ellipsis))


def _mapping(value: Any, hints: tuple[Any, ...]) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise _MisfitError("names with their values, as {name: value}")
    fitted = {_within(key, hints[0], "names"): _within(item, hints[1], "values") for key, item in value.items()}
    same = all(fitted.get(key) is item for key, item in value.items())
    return value if same else fitted  # mappings of other kinds stay what they are


def _callable(value: Any, _: tuple[Any, ...]) -> Any:
    if not callable(value) or isinstance(value, type):
        raise _MisfitError("a function")
    return value


def _instance(value: Any, kind: type) -> Any:
    if isinstance(value, type) and kind is not type:
        raise _MisfitError(f"an instance, {value.__name__}()")
    if getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False):
        return value
    system = getattr(value, "system", None) if isinstance(value, tuple) else None
    if system is not None and isinstance(system, kind):
        return system  # a loaded file stands for its system
    if kind is not object and not isinstance(value, kind):
        raise _MisfitError(_WORDS.get(kind.__name__, f"a {kind.__name__}"))
    return value


_WORDS = {"str": "a text", "Path": "a path", "Mapping": "a mapping", "PathLike": "a path"}
_PLAIN: dict[Any, Callable[[Any], Any]] = {float: _number, int: _whole, bool: _truth, Any: lambda value: value}
_NESTED: dict[Any, Callable[[Any, tuple[Any, ...]], Any]] = {
    Union: _any_of,
    types.UnionType: _any_of,
    Literal: _one_of,
    tuple: _tuple,
    Sequence: _sequence,
    Mapping: _mapping,
    Callable: _callable,
}


def row_of_numbers(what: str, value: Any, size: int | None = None, *, finite: bool = True) -> Array:
    """A number or a row of them, of a length where that is known, as an array; anything else is refused by its name."""
    try:
        found = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        found = np.zeros((0, 0))
    wrong = found.ndim != 1 or not len(found) or (finite and not np.all(np.isfinite(found)))
    if wrong or (size is not None and len(found) != size):
        expected = "numbers" if size is None else f"{size} number{'s' * (size != 1)}"
        raise UsageError(f"`{what}` is not usable", got=_shown(value), expected=f"{expected} in a row")
    return found
