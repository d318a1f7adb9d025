"""Formulas as text: a whitelist of what may be written, parsed to functions."""
