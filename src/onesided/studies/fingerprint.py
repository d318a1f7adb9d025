"""What a model or a task is, as a short text that is the same in every process: folders know their study by it."""

import dataclasses
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from onesided.files.reading import Task
from onesided.system.system import System

UNSAID = ("study", "title", "description", "sketch")  # tables of a file that change no number
_COMPILED = frozenset({"structure", "derivatives", "sketch"})
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
DEPTH = 30  # of values within values


def fingerprint(value: Any) -> str:
    """A digest of what a value says; functions count by their code and by what it uses, wherever they are written."""
    return hashlib.sha256(repr(_Saying().said(value, DEPTH)).encode()).hexdigest()[:16]


def model_text(system: System) -> str:
    """The text of the file that a system was loaded from; empty for others."""
    return system.task.source if isinstance(system.task, Task) else ""


class _Saying:
    """Values as nested tuples of plain ones that mean the same; a function is written out once, then named."""

    def __init__(self) -> None:
        self._told: set[int] = set()

    def said(self, value: Any, depth: int) -> Any:
        """A value as plain data from which the fingerprint is made."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return value
        if depth == 0:
            return type(value).__qualname__
        if isinstance(value, System):
            return self._system(value, depth - 1)
        if isinstance(value, Mapping):
            return tuple((str(key), self.said(one, depth - 1)) for key, one in value.items())
        if isinstance(value, list | tuple):
            return tuple(self.said(one, depth - 1) for one in value)
        if isinstance(value, set | frozenset):
            return tuple(sorted(repr(self.said(one, depth - 1)) for one in value))
        return self._object(value, depth - 1)

    def _object(self, value: Any, depth: int) -> Any:
        if isinstance(value, type | ModuleType):
            return value.__name__
        if isinstance(value, partial):
            return ("partial", self.said((value.func, value.args, value.keywords), depth))
        if isinstance(value, FunctionType):
            return self._function(value, depth)
        if isinstance(value, MethodType):
            owner = value.__self__
            plain = dataclasses.is_dataclass(owner) or not hasattr(owner, "__dict__")
            return self.said((value.__func__, owner if plain else vars(owner)), depth)
        if hasattr(value, "__wrapped__"):  # compiled by the user
            return self.said(value.__wrapped__, depth)
        if dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
            return (type(value).__qualname__, self.said(fields, depth))
        if hasattr(value, "__array__"):
            array = np.asarray(value)
            return ("array", array.shape, array.ravel().tolist() if array.dtype != object else repr(array))
        if callable(value) and getattr(value, "__dict__", None) and id(value) not in self._told:
            self._told.add(id(value))
            return (type(value).__qualname__, self.said((type(value).__call__, vars(value)), depth))
        return _ADDRESS.sub("", repr(value))

    def _function(self, function: FunctionType, depth: int) -> Any:
        """Code, defaults, closure, and the values that the code takes from its module: numbers and other functions."""
        if id(function) in self._told:
            return ("function", function.__qualname__)
        self._told.add(id(function))
        inner = tuple(_cell(cell) for cell in function.__closure__ or ())
        known = function.__globals__
        outer = {name: known[name] for name in sorted(set(_names(function.__code__))) if name in known}
        return (
            "function", function.__qualname__, _code(function.__code__),
            self.said((inner, function.__defaults__, function.__kwdefaults__, outer), depth),
        )  # fmt: skip

    def _system(self, system: System, depth: int) -> Any:
        """What a system was made from: the tables of its file, the call, or its functions; and its parameters."""
        own = dict(system.parameters), self.said(system.scales, depth)
        made, source = system.made, model_text(system)
        if made is not None and source and made.args[:1] == (source,):
            tables = {key: value for key, value in tomllib.loads(source).items() if key not in UNSAID}
            return "file", self.said(tables, depth), own
        if made is not None:
            return self.said((made.verb.__qualname__, made.args, made.kwargs), depth), own
        stated = {f.name: getattr(system, f.name) for f in dataclasses.fields(system) if f.init}
        return "functions", self.said({key: one for key, one in stated.items() if key not in _COMPILED}, depth), own


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None


def _code(code: CodeType) -> Any:
    """What a function does, without where it stands in its file."""
    return code.co_code, code.co_names, tuple(_constant(one) for one in code.co_consts)


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _code(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _names(code: CodeType) -> Iterator[str]:
    """Names that a code looks up, also within the functions it defines."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)
