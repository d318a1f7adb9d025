"""The impulse of one contact alone that hits with friction, within compiled calls.

    w = u + D P,   w_N = −e u_N,   P_T with |P_T| < μ P_N and w_T = 0, or P_T = −μ P_N w_T/|w_T|.

In the plane it is one of three cases; in space the slip after the impact is found by Newton's method. Where nothing
fits, or more than one impulse, the numbers are NaN.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from onesided.base.tolerances import EPS
from onesided.evaluation.smooth_steps import solved

NEWTON, FINE = 12, 1024.0 * EPS  # steps to the slip in space, and how well it is then known


def struck(D: Any, u: Any, e: Any, mu: Any) -> Any:
    """Impulses (normal, tangential) for responses D and velocities u (normal, tangential) before."""
    a = u.at[0].multiply(1.0 + e)
    if len(u) == 1:
        return -a / D[0]
    stuck = solved(D, -a[:, None])[0][:, 0]
    sticks = jnp.linalg.norm(stuck[1:]) <= mu * stuck[0]
    slips = _along_line(D, a, mu) if len(u) == 2 else _in_plane(D, a, mu, stuck)
    return jnp.where(sticks, stuck, slips)


def _along_line(D: Any, a: Any, mu: Any) -> Any:
    """Slip one way or the other."""

    def one(sign: float) -> tuple[Any, Any]:
        response = D[0, 0] + sign * mu * D[0, 1]
        normal = -a[0] / response
        P = jnp.stack([normal, sign * mu * normal])
        return P, (response > 0.0) & (sign * (a[1] + D[1] @ P) <= 0.0)

    (plus, fits), (minus, also) = one(1.0), one(-1.0)
    differ = fits & also & (mu > 0.0)
    found = jnp.where(fits, plus, minus)
    return jnp.where((fits | also) & ~differ, found, jnp.nan)


def _in_plane(D: Any, a: Any, mu: Any, stuck: Any) -> Any:
    """Slip in any direction: w = a_T + D_TN P_N − μ P_N D_TT w/|w|, from what friction cannot hold."""

    def impulse(w: Any) -> tuple[Any, Any]:
        way = w / jnp.linalg.norm(w)
        response = D[0, 0] - mu * D[0, 1:] @ way
        normal = -a[0] / response
        return jnp.concatenate([normal[None], -mu * normal * way]), response

    def off(w: Any) -> Any:
        return a[1:] + D[1:] @ impulse(w)[0] - w

    def closer(_: Any, w: Any) -> Any:
        return w - solved(jax.jacfwd(off)(w), off(w)[:, None])[0][:, 0]

    beyond = 1.0 - jnp.maximum(mu * stuck[0], 0.0) / jnp.linalg.norm(stuck[1:])
    w = lax.fori_loop(0, NEWTON, closer, -beyond * (D[1:, 1:] @ stuck[1:]))
    P, response = impulse(w)
    good = (jnp.max(jnp.abs(off(w))) <= FINE * (jnp.max(jnp.abs(a)) + jnp.max(jnp.abs(w)))) & (response > 0.0)
    return jnp.where(good, P, jnp.nan)
