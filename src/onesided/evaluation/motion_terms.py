"""What the compiled equations of motion give: the terms of one state, and what a result is rechecked by."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from onesided.base.types import Array

Control = Callable[[Any], Any]  # p(t), in jax.numpy


class Terms(NamedTuple):
    """Everything linear in (a, μ) at one state: M a = h + Gᵀμ, G a + γ = 0.

    Attributes
    ----------
    q : configuration;  rate : δ̇ of the local coordinates;  h : forces beside those of constraints, (n,).
    c : holonomic residuals (m,);  c_dot, gamma : velocity and acceleration level of all constraints, (m + k,);  Gv :
    G v.
    power : of the forces that have no potential, and of p moving.
    M, G : values at the seeds of the pattern; plain matrices (n, n) and (m + k, n) where there is none.
    """

    q: Array
    rate: Array
    h: Array
    c: Array
    c_dot: Array
    gamma: Array
    Gv: Array
    power: float
    M: Array
    G: Array


class Check(NamedTuple):
    """What a result is rechecked by, each with a leading axis of points.

    `balance` is M a − h − Gᵀμ, `forces` the size of its largest term; `gaps` are those of the unilateral constraints.
    """

    energy: Array
    kinetic: Array
    power: Array
    forces: Array
    balance: Array
    c: Array
    c_dot: Array
    c_ddot: Array
    gaps: Array


class Constraints(NamedTuple):
    """Functions that are kept zero: of positions, and of velocities."""

    bilateral: Mapping[str, Any]
    nonholonomic: Mapping[str, Any]
