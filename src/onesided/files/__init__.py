"""Model files and imports: TOML with formulas or parts, trusses, meshes, robots; modules are loaded when first used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
