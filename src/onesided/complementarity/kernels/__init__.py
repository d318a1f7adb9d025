"""Loops compiled by Numba, loaded when first used: Numba takes as long to import as everything else together."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
