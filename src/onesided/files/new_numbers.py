"""The text of a model file with other values of its parameters; everything else stays as it was written."""

import json
import re
import tomllib
from collections.abc import Mapping

_TABLE = re.compile(r"^\s*\[")
_OWN = re.compile(r"^\s*\[\s*parameters\s*\]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r'^(\s*"?)([^\s"=#]+)("?\s*=\s*)([^\s#]+)(.*)$')


def numbers_in(text: str) -> dict[str, float]:
    """The values that the table [parameters] states; nothing where the text cannot be read."""
    try:
        table = tomllib.loads(text).get("parameters", {})
    except (ValueError, RecursionError):
        return {}
    found = table.items() if isinstance(table, dict) else ()
    return {name: float(value) for name, value in found if isinstance(value, float | int)}


def differing(text: str, parameters: Mapping[str, float]) -> dict[str, float]:
    """Those parameters that have another value than the text states; what it does not state (a set) is 0."""
    stated = numbers_in(text)
    return {name: float(value) for name, value in parameters.items() if float(value) != stated.get(name, 0.0)}


def carrying(text: str, parameters: Mapping[str, float]) -> str:
    """The text with the parameters of a system; where it cannot carry them, it stays and a comment above says so."""
    changed = differing(text, parameters)
    if not text or not changed:
        return text
    new = with_numbers(text, changed)
    if not differing(new, changed):
        return new
    return "".join(f"# changed: {json.dumps(name)} = {value!r}\n" for name, value in changed.items()) + text


def with_numbers(text: str, parameters: Mapping[str, float]) -> str:
    """Write new values where the table [parameters] has the old ones, one to a line; what is not found is added."""
    lines, left, inside = [], {name: float(value) for name, value in parameters.items()}, False
    if not any(_OWN.match(line) for line in text.splitlines()):
        return "\n".join([text.rstrip("\n"), "", "[parameters]", *_added(left), ""])
    for line in text.splitlines():
        if _TABLE.match(line):
            if inside:
                lines += [*_added(left), ""] if left else []
                left = {}
            inside = bool(_OWN.match(line))
        found = _LINE.match(line) if inside else None
        if found and found[2] in left:
            line = f"{found[1]}{found[2]}{found[3]}{left.pop(found[2])!r}{found[5]}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join([*lines, *(_added(left) if inside else [])]) + "\n"


def _added(left: Mapping[str, float]) -> list[str]:
    return [f"{name if _BARE.fullmatch(name) else json.dumps(name)} = {value!r}" for name, value in left.items()]
