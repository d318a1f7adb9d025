"""Linear algebra of constrained equilibria: null spaces, inertia, Schur complements, bordered systems."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
