"""Studies: one verb for many cases, on all cores or beyond, in a folder that grows and never loses."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
