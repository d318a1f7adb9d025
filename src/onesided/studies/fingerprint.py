"""What a model or a task is, as a short text that is the same in every process: folders know their study by it."""

import dataclasses
import hashlib
import re
import tomllib
from collections.abc import Mapping
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from onesided.files.reading import Task
from onesided.system.system import System

UNSAID = ("study", "title", "description", "sketch")  # tables of a file that change no number
_COMPILED = frozenset({"structure", "derivatives", "sketch"})
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
DEPTH = 12  # of values within values


def fingerprint(value: Any) -> str:
    """A digest of what a value says; functions count by their code, wherever they are written."""
    return hashlib.sha256(repr(_said(value, DEPTH)).encode()).hexdigest()[:16]


def model_text(system: System) -> str:
    """The text of the file that a system was loaded from; empty for others."""
    return system.task.source if isinstance(system.task, Task) else ""


def _said(value: Any, depth: int) -> Any:
    """Nested tuples of plain values that say the same."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if depth == 0:
        return type(value).__qualname__
    if isinstance(value, System):
        return _system(value, depth - 1)
    if isinstance(value, np.ndarray | np.generic):
        return ("array", np.shape(value), np.asarray(value).ravel().tolist())
    if isinstance(value, Mapping):
        return tuple((str(key), _said(one, depth - 1)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(_said(one, depth - 1) for one in value)
    if isinstance(value, set | frozenset):
        return tuple(sorted(repr(_said(one, depth - 1)) for one in value))
    return _object(value, depth - 1)


def _object(value: Any, depth: int) -> Any:
    if isinstance(value, partial):
        return ("partial", _said((value.func, value.args, value.keywords), depth))
    if isinstance(value, FunctionType):
        inner = tuple(_cell(cell) for cell in value.__closure__ or ())
        return ("function", value.__qualname__, _code(value.__code__), _said((inner, value.__defaults__), depth))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return (type(value).__qualname__, _said(fields, depth))
    if isinstance(value, type | ModuleType):
        return value.__name__
    return _ADDRESS.sub("", repr(value))


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None


def _code(code: CodeType) -> Any:
    """What a function does, without where it stands in its file."""
    inner = tuple(_code(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts)
    return code.co_code, code.co_names, inner


def _system(system: System, depth: int) -> Any:
    """What a system was made from: the tables of its file, the call, or its functions; and its parameters."""
    own = dict(system.parameters), _said(system.scales, depth)
    if isinstance(system.task, Task) and system.made is not None and system.made.args[:1] == (system.task.source,):
        tables = {key: value for key, value in tomllib.loads(system.task.source).items() if key not in UNSAID}
        return "file", _said(tables, depth), own
    if system.made is not None:
        return _said(tuple(system.made), depth), own
    fields = {f.name: getattr(system, f.name) for f in dataclasses.fields(system) if f.init and f.name not in _COMPILED}
    return "functions", _said(fields, depth), own
