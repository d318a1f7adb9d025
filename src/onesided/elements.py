"""Parts for `onesided.compose`: `from onesided.elements import Node, Bar, Cable, …`."""

from typing import Any

from onesided.model import elements as _elements
from onesided.model.names import nearest

__all__ = _elements.__all__


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    try:
        return getattr(_elements, name)
    except AttributeError:
        guess = nearest(name, __all__)
        raise AttributeError(
            f"unknown element kind '{name}'" + (f": did you mean '{guess}'?" if guess else "")
        ) from None
