"""Parts for `onesided.compose`: `from onesided.elements import Node, Bar, Cable, …`."""

from typing import Any

from onesided.model import elements as _elements
from onesided.model.arrange import mirror as mirror
from onesided.model.arrange import repeat as repeat
from onesided.model.arrange import rotate as rotate
from onesided.model.names import nearest

__all__ = sorted([*_elements.__all__, "mirror", "repeat", "rotate"])  # noqa: PLE0605 - made from the kinds found


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
