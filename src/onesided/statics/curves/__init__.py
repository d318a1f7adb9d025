"""Curves of equilibria with a fixed set of closed constraints: equations, factors, spectra, stability."""
