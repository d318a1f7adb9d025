"""The text of a model file with other values of its parameters; everything else stays as it was written."""

import json
import re
import tomllib
from collections.abc import Mapping

_TABLE = re.compile(r"^\s*\[")
_OWN = re.compile(r"^\s*\[\s*parameters\s*\]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = r"""("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_LINE = re.compile(rf"^(\s*){_KEY}(\s*=\s*)([^\s#]+)(.*)$")
_ENTRY = re.compile(rf"^(\s*){_KEY}(\s*=\s*)([^\s#]+)(\s*)$")
_DOTTED = re.compile(rf"^(\s*parameters\s*\.\s*){_KEY}(\s*=\s*)([^\s#]+)(.*)$")
_INLINE = re.compile(r"^(\s*parameters\s*=\s*\{)([^{}#]*)(\}.*)$")


def numbers_in(text: str) -> dict[str, float]:
    """The values that the table [parameters] states; nothing where the text cannot be read."""
    try:
        table = tomllib.loads(text).get("parameters", {})
    except (ValueError, RecursionError):
        return {}
    found = table.items() if isinstance(table, dict) else ()
    return {name: float(value) for name, value in found if isinstance(value, float | int)}


def _others(text: str) -> dict[str, object]:
    """What a file states beside its parameters."""
    return {name: value for name, value in tomllib.loads(text).items() if name != "parameters"}


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
    if not differing(new, changed) and _others(new) == _others(text):
        return new
    return "".join(f"# changed: {json.dumps(name)} = {value!r}\n" for name, value in changed.items()) + text


def with_numbers(text: str, parameters: Mapping[str, float]) -> str:
    """Write new values where the parameters have the old ones; what is not found is added.

    They may stand in a table [parameters], one to a line, or before all tables: parameters = {…} on a line, or
    parameters.NAME = … for each.
    """
    lines, left = text.splitlines(), {name: float(value) for name, value in parameters.items()}
    first = next((i for i, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    if any(_INLINE.match(line) for line in lines[:first]):
        return "\n".join([*(_in_braces(line, left) for line in lines[:first]), *lines[first:]]) + "\n"
    if any(_DOTTED.match(line) for line in lines[:first]):
        above = [_replaced(_DOTTED, line, left) for line in lines[:first]]
        return "\n".join([*(f"parameters.{one}" for one in _added(left)), *above, *lines[first:]]) + "\n"
    if not any(_OWN.match(line) for line in lines):
        return "\n".join([text.rstrip("\n"), "", "[parameters]", *_added(left), ""])
    return _in_table(lines, left)


def _in_table(lines: list[str], left: dict[str, float]) -> str:
    """Write new values into the table [parameters]."""
    new, inside = list[str](), False
    for line in lines:
        if _TABLE.match(line):
            if inside:
                new += [*_added(left), ""] if left else []
                left = {}
            inside = bool(_OWN.match(line))
        new.append(_replaced(_LINE, line, left) if inside else line)
    return "\n".join([*new, *(_added(left) if inside else [])]) + "\n"


def _in_braces(line: str, left: dict[str, float]) -> str:
    """A line parameters = {…} with new values; other lines as they are."""
    found = _INLINE.match(line)
    if found is None:
        return line
    entries = [_replaced(_ENTRY, entry, left) for entry in found[2].split(",") if entry.strip()]
    added = [f" {one}" for one in _added(left)]
    return found[1] + ",".join([*entries, *added]) + found[3]


def _replaced(pattern: re.Pattern[str], line: str, left: dict[str, float]) -> str:
    """A line with the new value of what it states, which is then no longer left."""
    found = pattern.match(line)
    name = "" if found is None else found[2].strip("\"'")
    if found is None or name not in left:
        return line
    return f"{found[1]}{found[2]}{found[3]}{left.pop(name)!r}{found[5]}"


def _added(left: Mapping[str, float]) -> list[str]:
    return [f"{name if _BARE.fullmatch(name) else json.dumps(name)} = {value!r}" for name, value in left.items()]
