"""One equilibrium: found from anywhere, and fallen to from an unstable point."""
