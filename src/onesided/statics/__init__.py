"""Equilibria and equilibrium paths under one-sided constraints."""
