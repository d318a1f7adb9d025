"""Model files and imports: TOML with formulas or parts, trusses, meshes, robots; modules are loaded when first used."""

from typing import Any

import lazy_loader

from onesided.base.collecting import collection_held_back

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with collection_held_back():
        return _load(name)
