"""Equilibrium paths and motion of mechanical systems whose constraints act on one side only.

Names are imported when first used: `import onesided` loads neither JAX nor SciPy. They are listed in `__init__.pyi`.
"""

from importlib import import_module

import lazy_loader

from onesided.base.views import register

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for _views in ("plots", "report"):
    register(_views, lambda name=_views: import_module(f"onesided.{name}"))
