"""Pictures and pages, looked up by name: what can be shown knows that it can, not by what.

The package registers its views when it is imported (`onesided/__init__.py`); they are loaded when one is asked for.
"""

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Any]] = {}


def register(name: str, load: Callable[[], Any]) -> None:
    """State how the views of a name are loaded; `load` returns a module, or anything with the functions asked for."""
    _LOADERS[name] = load


def views(name: str) -> Any:
    """Return the views that were registered under a name."""
    return _LOADERS[name]()
