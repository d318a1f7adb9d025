"""Model files and imports: TOML with formulas or parts, trusses, meshes, robots."""
