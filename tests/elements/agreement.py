"""Composed systems against hand-written ones: energy, gradient, Hessian, gaps and their derivatives."""

import numpy as np


def agree(composed, written, q, p, nu=None, *, tolerance=1e-11):
    """Assert that two systems with equal numbering have equal blocks at a point."""
    nu = np.zeros(len(composed.constraint_names)) if nu is None else np.asarray(nu, dtype=float)
    a, b = composed.evaluate(np.asarray(q, dtype=float), p, nu), written.evaluate(np.asarray(q, dtype=float), p, nu)
    for name in ("energy", "L_x", "c", "L_qx", "c_x"):
        left, right = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
        assert left.shape == right.shape, name
        scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
        assert np.max(np.abs(left - right), initial=0.0) <= tolerance * scale, (name, left, right)
