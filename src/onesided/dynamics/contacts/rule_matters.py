"""Whether a motion depends on how contacts share their normal forces, which the model leaves open.

With all gaps that are closed kept so, accelerations are unique up to S Fᵀ x, where G S Fᵀ x = 0: S is the inverse mass
on what joints allow, G the gradients of closed gaps and of slips that are zero, F those gradients with friction of the
contacts that slide. Without friction, or where all contacts of a body slide alike, F depends on G, and Fᵀ x = 0 follows
(S is definite): forces are a choice, but not the motion. Otherwise the rule of `sharing` chooses the motion.
"""

from itertools import pairwise

import numpy as np

from onesided.base.tolerances import DEFAULT, SOME_DIGITS
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.monitors import Arrays
from onesided.linalg import null_space

SEEN = SOME_DIGITS  # change of the forces that move bodies, relative to that of the shares, that is told
SMALL_ENOUGH = 100  # coordinates up to which this is looked at
MOST = 100  # stretches of sliding that are looked at


def names_that_matter(world: World, points: Arrays) -> tuple[str, ...]:
    """Contacts whose shares change the motion, at the beginning, the middle and the end of stretches of sliding."""
    rows, found = world.rows, dict[int, None]()
    if world.equations.n > SMALL_ENOUGH or len(rows.gaps) < 2 or not rows.finite(range(len(rows.gaps))):
        return ()
    for k in _places(world, points):
        found |= dict.fromkeys(_at(world, float(points.t[k]), points.q[k], points.v[k]))
    return tuple(world.names[i] for i in sorted(found))


def _places(world: World, points: Arrays) -> Indices:
    """Points to look at: where contacts that press are others than before, and between."""
    pressing = points.mu[:, world.rows.gaps] > 0.0
    rubbing = np.sum(pressing, axis=1) > 1
    cuts = np.flatnonzero(np.any(pressing[1:] != pressing[:-1], axis=1)) + 1
    ends = np.concatenate([[0], cuts, [len(pressing)]])
    spread = [np.unique(np.linspace(a, b - 1, 5).astype(int)) for a, b in pairwise(ends.tolist())]
    some = np.concatenate(spread[: MOST // 2] + spread[-MOST // 2 :])
    return np.asarray(np.unique(some[rubbing[some]]), dtype=np.intp)


def _at(world: World, t: float, q: Array, v: Array) -> list[int]:
    """The contacts whose shares change the motion at a state."""
    rows, terms = world.rows, world.terms(t, q, v)
    closed = (world.gaps(terms) <= world.closed_below) & (np.abs(terms.c_dot[rows.gaps]) <= world.at_rest_below)
    touching = np.flatnonzero(closed)
    if len(touching) < 2:
        return []
    still, slides = [], {}
    for b in rows.of(touching):
        slips = list(rows.slips[b])
        slip = terms.c_dot[slips]
        speed = float(np.linalg.norm(slip))
        if speed > world.at_rest_below and np.isfinite(rows.friction[b]):
            slides[b] = rows.friction[b] * slip @ terms.G[slips] / speed
        else:
            still += slips
    Z = null_space(terms.G[rows.always])
    G = terms.G[[*rows.gaps[touching], *still]] @ Z
    F = G.copy()
    for b, rub in slides.items():
        F[int(np.searchsorted(touching, rows.owner[b]))] -= rub @ Z
    free = _null_space(G @ np.linalg.solve(Z.T @ terms.M @ Z, F.T))
    if not free.shape[1]:
        return []
    _, changes, ways = np.linalg.svd(F.T @ free)
    matter = np.count_nonzero(changes > SEEN * np.linalg.norm(F, 2))
    shares = np.linalg.norm((free @ ways[:matter].T)[: len(touching)], axis=1)
    return [int(i) for i in touching[shares > np.sqrt(DEFAULT.rank)]]


def _null_space(D: Array) -> Array:
    """Orthonormal basis of {x : D x = 0}, by the rank of D as it is."""
    _, sigma, Vt = np.linalg.svd(D)
    rank = int(np.count_nonzero(sigma > np.sqrt(DEFAULT.rank) * sigma[0]))
    return np.asarray(Vt[rank:].T)
