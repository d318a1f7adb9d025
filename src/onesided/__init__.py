"""Equilibrium paths and motion of mechanical systems whose constraints act on one side only."""
