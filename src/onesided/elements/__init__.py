"""Parts of structures and mechanisms: places, members, cables, joints, contacts, loads.

Every module of this package that defines a subclass of `Element` is found by itself; a new kind is one new file.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from onesided.base.arguments import answering
from onesided.base.names import nearest
from onesided.elements.arrange import mirror, repeat, rotate
from onesided.elements.contract import Element, kinds
from onesided.elements.places import Body, Guided, Marker, Node
from onesided.elements.whole_beams import divided

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

_CLASSES: dict[str, Any] = {cls.__name__: cls for cls in (Body, Guided, Marker, Node, Element, *kinds().values())}
for _kind in _CLASSES.values():
    answering(_kind)
_CLASSES |= {"divided": divided, "mirror": mirror, "repeat": repeat, "rotate": rotate}
__all__ = sorted(_CLASSES)  # noqa: PLE0605 - made from the kinds that were found


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _CLASSES[name]
    guess = nearest(name, __all__)
    raise AttributeError(f"unknown element kind '{name}'" + (f": did you mean '{guess}'?" if guess else ""))
