"""Optimal control by collocation."""
