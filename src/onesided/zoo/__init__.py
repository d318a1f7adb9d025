"""Bundled models, one TOML file each: names, texts and titles, without JAX.

>>> from onesided import zoo
>>> "von-mises" in zoo.names()
True
>>> zoo.summary("von-mises")
'Von Mises truss under a dead load'
"""

import tomllib
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING

from onesided.base.errors import UsageError

if TYPE_CHECKING:
    from onesided.files.reading import Model

_SUFFIX = ".toml"


def names() -> tuple[str, ...]:
    """Return the names of all bundled models, sorted."""
    entries = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in entries if name.endswith(_SUFFIX)))


def text(name: str) -> str:
    """Return the text of a bundled model file.

    Raises
    ------
    UsageError
        If there is no such model; suggests the nearest name.
    """
    known = names()
    if name not in known:
        close = get_close_matches(name.lower().replace("_", "-"), known, n=1)
        raise UsageError(
            "there is no bundled model of this name",
            got=repr(name),
            expected="one of " + ", ".join(known),
            advice=f"did you mean '{close[0]}'?" if close else "",
        )
    return (files(__name__) / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def summary(name: str) -> str:
    """Return the title of a bundled model."""
    return str(tomllib.loads(text(name))["title"])


def load(name: str) -> "Model":
    """Return a bundled model as system and task (imports JAX)."""
    from onesided.files.reading import loads

    return loads(text(name), f"{name}{_SUFFIX}")
