"""Systems between processes: what a system was made from is sent, compiled parts are made again on arrival."""

import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from onesided.base.errors import ModelError

if TYPE_CHECKING:
    from onesided.system.system import System

_COMPILED = frozenset({"structure", "derivatives"})


class Made(NamedTuple):
    """The call that makes a system."""

    verb: Callable[..., "System"]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def made_by(system: "System", verb: Callable[..., "System"], *args: Any, **kwargs: Any) -> "System":
    """The system, which now knows the call that makes it; a variant of a loaded system keeps what the file states."""
    system._set("made", Made(verb, args, kwargs))
    if args and system.task is None:
        system._set("task", getattr(args[0], "task", None))
    return system


def travelling(system: "System") -> tuple[Any, ...]:
    """How `pickle` makes the system again."""
    if system.made is not None:
        return again, (packed((*system.made, dict(system.parameters), system.scales)),)
    if system.structure is not None:
        raise ModelError(
            "this variant of a composed structure cannot be pickled",
            got="a System changed by dataclasses.replace",
            advice="pickle the composed system, and change the copy",
        )
    given = {f.name: _plain(getattr(system, f.name)) for f in fields(system) if f.init and f.name not in _COMPILED}
    return stated_again, (type(system), packed(given))


def again(data: bytes) -> "System":
    """The system that a call made, with its parameters."""
    verb, args, kwargs, parameters, scales = pickle.loads(data)
    return verb(*args, **kwargs).replace(parameters=parameters, scales=scales)  # type: ignore[no-any-return]


def stated_again(kind: type["System"], data: bytes) -> "System":
    """The system that was stated by functions."""
    return kind(**pickle.loads(data))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, MappingProxyType | Mapping) else value


def packed(value: Any) -> bytes:
    """Bytes for `pickle.loads`: by cloudpickle where it is installed, which also takes functions without a name."""
    try:
        import cloudpickle as writer
    except ImportError:
        writer = pickle
    try:
        return bytes(writer.dumps(value))
    except (pickle.PicklingError, AttributeError, TypeError) as e:
        raise ModelError(
            "a function of the system cannot be pickled",
            got=str(e).splitlines()[0],
            expected="functions at the top of a module",
            advice="pip install cloudpickle, or state the system in a model file",
        ) from e
