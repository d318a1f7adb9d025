"""What verbs return: plain frozen data, independent of the solvers that made it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
