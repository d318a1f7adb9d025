"""Whether a motion depends on how contacts share their normal forces, which the model leaves open.

With all gaps that are closed kept so, accelerations are unique up to S Fᵀ x, where G S Fᵀ x = 0: S is the inverse mass
on what joints allow, G the gradients of closed gaps and of slips that are zero, F those gradients with friction of the
contacts that slide. Without friction, or where all contacts of a body slide alike, F depends on G, and Fᵀ x = 0 follows
(S is definite): forces are a choice, but not the motion. Otherwise the rule of `sharing` chooses the motion.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from onesided.base.tolerances import DEFAULT, SOME_DIGITS
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.monitors import Arrays
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import null_space

SEEN = SOME_DIGITS  # change of the forces that move bodies, relative to that of the shares, that is told
SMALL_ENOUGH = 300  # coordinates that move together, up to which contacts are looked at
MOST = 100  # stretches of sliding that are looked at
WORK = 1e9  # coordinates³ × places that are looked at
UNKNOWN = f"whether contact forces are a choice is not looked for: more than {SMALL_ENOUGH} coordinates move together"


class SharesMatter(NamedTuple):
    """Names of contacts whose shares change the motion, and whether some could not be looked at."""

    names: tuple[str, ...] = ()
    unknown: bool = False

    @property
    def words(self) -> str:
        """What a note says of those that could not be looked at."""
        return UNKNOWN if self.unknown else ""


def names_that_matter(world: World, points: Arrays) -> SharesMatter:
    """Contacts whose shares change the motion, at the beginning, the middle and the end of stretches of sliding."""
    rows, found, unknown = world.rows, dict[int, None](), False
    if len(rows.gaps) < 2 or not rows.finite(range(len(rows.gaps))):
        return SharesMatter()
    for k in _places(world, points):
        some, too_large = _at(world, float(points.t[k]), points.q[k], points.v[k])
        found, unknown = found | dict.fromkeys(some), unknown or too_large
    return SharesMatter(tuple(world.names[i] for i in sorted(found)), unknown)


def _places(world: World, points: Arrays) -> Indices:
    """Points to look at: where contacts that press are others than before, and between."""
    pressing = points.mu[:, world.rows.gaps] > 0.0
    rubbing = np.sum(pressing, axis=1) > 1
    cuts = np.flatnonzero(np.any(pressing[1:] != pressing[:-1], axis=1)) + 1
    ends = np.concatenate([[0], cuts, [len(pressing)]])
    spread = [np.unique(np.linspace(a, b - 1, 5).astype(int)) for a, b in pairwise(ends.tolist())]
    most = int(np.clip(WORK / min(world.equations.n, SMALL_ENOUGH) ** 3, 2, MOST))
    some = np.concatenate(spread[: most // 2] + spread[-(most // 2) :])
    return np.asarray(np.unique(some[rubbing[some]]), dtype=np.intp)


def _at(world: World, t: float, q: Array, v: Array) -> tuple[list[int], bool]:
    """The contacts whose shares change the motion at a state; whether too many coordinates move together."""
    rows, terms = world.rows, world.sparse_terms(t, q, v)
    closed = (world.gaps(terms) <= world.closed_below) & (np.abs(terms.c_dot[rows.gaps]) <= world.at_rest_below)
    touching = np.flatnonzero(closed)
    if len(touching) < 2:
        return [], False
    pushing = np.concatenate([rows.always, rows.gaps[touching], *(rows.slips[b] for b in rows.of(touching))])
    group = together(terms.M, terms.G[pushing.astype(np.intp)])
    of_contact = group[np.argmax(terms.G[rows.gaps[touching]] != 0.0, axis=1)]
    found, unknown = [], False
    for one in np.unique(of_contact):
        some, columns = touching[of_contact == one], np.flatnonzero(group == one)
        if len(some) < 2:
            continue
        if len(columns) > SMALL_ENOUGH:
            unknown = True
        else:
            found += _among(world, terms, some, columns)
    return found, unknown


def _among(world: World, terms: Terms, touching: Indices, columns: Indices) -> list[int]:
    """Those of some contacts, which move the coordinates `columns` and no others."""
    rows, units = world.rows, world.request.system.units[columns]
    W, M = terms.G[:, columns] * units, terms.M[np.ix_(columns, columns)] * units * units[:, None]
    always = rows.always[np.any(W[rows.always] != 0.0, axis=1)]
    still, slides = [], {}
    for b in rows.of(touching):
        slips = list(rows.slips[b])
        slip = terms.c_dot[slips]
        speed = float(np.linalg.norm(slip))
        if speed > world.at_rest_below and np.isfinite(rows.friction[b]):
            slides[b] = rows.friction[b] * slip @ W[slips] / speed
        else:
            still += slips
    Z = null_space(W[always])
    G = W[[*rows.gaps[touching], *still]] @ Z
    F = G.copy()
    for b, rub in slides.items():
        F[int(np.searchsorted(touching, rows.owner[b]))] -= rub @ Z
    free = _null_space(G @ np.linalg.solve(Z.T @ M @ Z, F.T))
    if not free.shape[1]:
        return []
    _, changes, ways = np.linalg.svd(F.T @ free)
    matter = np.count_nonzero(changes > SEEN * np.linalg.norm(F, 2))
    shares = np.linalg.norm((free @ ways[:matter].T)[: len(touching)], axis=1)
    return [int(i) for i in touching[shares > np.sqrt(DEFAULT.rank)]]


def together(M: Array, G: Array) -> Indices:
    """For each coordinate the number of its group: coordinates are in one where the mass or a row couples them."""
    links = sparse.csr_array(G != 0.0).astype(int)
    coupled = sparse.csr_array(M != 0.0).astype(int) + links.T @ links
    return np.asarray(sparse.csgraph.connected_components(coupled, directed=False)[1], dtype=np.intp)


def _null_space(D: Array) -> Array:
    """Orthonormal basis of {x : D x = 0}, by the rank of D as it is."""
    _, sigma, Vt = np.linalg.svd(D)
    rank = int(np.count_nonzero(sigma > np.sqrt(DEFAULT.rank) * sigma[0]))
    return np.asarray(Vt[rank:].T)
