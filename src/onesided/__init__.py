"""Equilibrium paths and motion of mechanical systems whose constraints act on one side only.

Names are imported when first used: `import onesided` loads neither JAX nor SciPy. They are listed in `__init__.pyi`.
"""

from importlib import import_module
from typing import Any

import lazy_loader

from onesided.base.collecting import collection_held_back
from onesided.base.views import register

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for _views in ("plots", "report"):
    register(_views, lambda name=_views: import_module(f"onesided.{name}"))


def __getattr__(name: str) -> Any:
    if name in __all__:
        with collection_held_back():
            return _load(name)
    close = import_module("onesided.base.names").nearest(name, __all__)
    guess = f": did you mean '{close}'?" if close else ""
    raise AttributeError(f"module 'onesided' has no attribute '{name}'{guess}")
