"""Loaded results that know the members of their structure again, from the model file that lies with them."""

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import onesided
from onesided import results
from onesided.base.errors import OnesidedError

if TYPE_CHECKING:
    from onesided.system.system import System

PLACES = frozenset({"node", "body", "guided"})  # tables of files that are made of parts


def with_members(result: Any, model: str) -> Any:
    """The result with forces, lengths and reactions of its parts, computed when they are read.

    As it is where the file is missing, cannot be read from here, or is not made of parts.
    """
    if not isinstance(result, results.Path | results.Drive | results.Diagram | results.Motion) or not _made_of_parts(
        model
    ):
        return result
    try:
        return _knowing(result, onesided.loads(model).system)
    except OnesidedError:
        return result


def _made_of_parts(model: str) -> bool:
    try:
        return not PLACES.isdisjoint(tomllib.loads(model))
    except (ValueError, RecursionError):
        return False


def _knowing(result: Any, system: "System") -> Any:
    """A result of this system, with other values of its parameters where it was computed with others."""
    if isinstance(result, results.Drive | results.Diagram):
        return replace(result, paths=tuple(_knowing(path, system) for path in result.paths))
    if result.members:
        return result
    own = system.replace(parameters=result.provenance.get("parameters", system.parameters))
    return replace(result, members=onesided.members(own, result))
