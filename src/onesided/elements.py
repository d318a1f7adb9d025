"""Parts for `onesided.compose`: `from onesided.elements import Node, Bar, Cable, …`."""

from typing import Any

from onesided.model import elements as _elements

__all__ = _elements.__all__


def __getattr__(name: str) -> Any:
    return getattr(_elements, name)
