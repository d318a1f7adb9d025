"""The text of a model file with other values of its parameters; everything else stays as it was written."""

import re
from collections.abc import Mapping

_TABLE = re.compile(r"^\s*\[")
_OWN = re.compile(r"^\s*\[\s*parameters\s*\]")
_LINE = re.compile(r'^(\s*"?)([^\s"=#]+)("?\s*=\s*)([^\s#]+)(.*)$')


def with_numbers(text: str, parameters: Mapping[str, float]) -> str:
    """Write new values where the table [parameters] has the old ones, one to a line; what is not found is added."""
    lines, left, inside = [], dict(parameters), False
    for line in text.splitlines():
        if _TABLE.match(line):
            if inside:
                lines += [*_added(left), ""]
                left = {}
            inside = bool(_OWN.match(line))
        found = _LINE.match(line) if inside else None
        if found and found[2] in left:
            line = f"{found[1]}{found[2]}{found[3]}{left.pop(found[2])!r}{found[5]}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join([*lines, *(_added(left) if inside else [])]) + "\n"


def _added(left: Mapping[str, float]) -> list[str]:
    return [f"{name} = {value!r}" for name, value in left.items()]
