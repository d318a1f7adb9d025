"""For the API pages: our docstrings say `name : what it is`; the parser wants a type there and words below."""

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\w[\w, ]*?) : (.+)$")
_TYPES = re.compile(
    r"^(\(?[\w, ]*\)? ?array|tuple of|mapping|callable|path-like|int|float|str|bool|[A-Z]\w+(, optional| or \w+)?$|"
    r"LCP|Method)"
)


class LooseDocstrings(griffe.Extension):
    """Put words where words belong; types come from the annotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None and _SECTION.search(obj.docstring.value):
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """`name : words;  other : words` as entries of their own, the words below the names."""
    lines, inside, found = text.splitlines(), False, []
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and lines[i + 1].startswith("---"):
            inside = line in {"Parameters", "Attributes"}
        entry = _ENTRY.match(line) if inside else None
        below = i + 1 < len(lines) and lines[i + 1].startswith(" ")
        if entry is None or (below and _TYPES.match(entry[2])):
            found.append(line)
            continue
        for part in re.split(r";  (?=\w+(?:, \w+)* : )", line):
            name, _, words = part.partition(" : ")
            found += [name, f"    {words}"]
    return "\n".join(found)
