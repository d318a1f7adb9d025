"""Friction problems of contacts that resist slipping, rolling and spinning by one normal force.

The solver knows contacts with one normal and one tangential force. Rolling and spinning are contacts of their own
there: a stand-in normal force P_n with 0 ≤ d (P_n − P_N) ⊥ P_n ≥ 0 is equal to the true one, P_N, and moments,
divided by the coefficient (a length), are forces of friction with μ = 1.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onesided.base.types import Array, Indices
from onesided.complementarity.friction import FrictionProblem
from onesided.system.contact_equations import ContactRows


class Cones(NamedTuple):
    """Contacts in the order of a friction problem.

    Attributes
    ----------
    source : place in the order of the contacts (normal, then blocks, for each) of each place here; −1 for stand-ins.
    scale : what rates are multiplied by.
    normal, directions, mu : as in a `FrictionProblem`.
    owner : place of the true normal force, for stand-ins; −1 for others.
    """

    source: Indices
    scale: Array
    normal: Indices
    directions: Indices
    mu: Array
    owner: Indices

    @property
    def plain(self) -> bool:
        """Whether no contact resists more than slip."""
        return not np.any(self.source < 0)

    def problem(self, D: Any, u: Array, scale: float) -> FrictionProblem:
        """The problem for responses D and velocities u in the order of the contacts."""
        if self.plain:
            return FrictionProblem(D, u, self.mu, self.directions, scale)
        dense = D if isinstance(D, np.ndarray) else D.toarray()
        real = np.flatnonzero(self.source >= 0)
        big, rates = np.zeros((len(self.source),) * 2), np.zeros(len(self.source))
        taken, weights = self.source[real], self.scale[real]
        big[np.ix_(real, real)] = dense[np.ix_(taken, taken)] * np.outer(weights, weights)
        rates[real] = u[taken] * weights
        for place in np.flatnonzero(self.owner >= 0):
            true = self.owner[place]
            big[place, place] = big[true, true]
            big[place, true] = -big[true, true]
        return FrictionProblem(big, rates, self.mu, self.directions, scale)

    def spread(self, P: Array) -> Array:
        """Forces in the order of the problem from those in the order of the contacts."""
        if self.plain:
            return P
        owner = np.where(self.owner >= 0, self.owner, 0)
        source = np.where(self.source >= 0, self.source, self.source[owner])
        return np.asarray(P[source] / self.scale)

    def gathered(self, P: Array) -> Array:
        """Forces in the order of the contacts."""
        if self.plain:
            return P
        real = np.flatnonzero(self.source >= 0)
        found = np.zeros(len(real))
        found[self.source[real]] = P[real] * self.scale[real]
        return found


def arrange(rows: ContactRows, contacts: Indices, blocks: Sequence[Sequence[int]] | None, limits: Array) -> Cones:
    """The order of a problem: contacts with the first of their blocks where that is slip, then stand-ins of others.

    `blocks` are those of each contact that take part, by default all.
    """
    if blocks is None:
        if len(rows.slips) == len(rows.gaps):
            return _slipping(rows, contacts, limits)
        blocks = [rows.of([i]) for i in contacts]
    heads: list[tuple[list[int], float]] = []
    others: list[tuple[list[int], float, int]] = []
    place = 0
    for i, own in zip(contacts, blocks, strict=True):
        head, mu, place = [place], 0.0, place + 1
        for b in own:
            some = list(range(place, place + len(rows.slips[b])))
            place += len(some)
            if b == i:
                head, mu = head + some, float(limits[b])
            else:
                others.append((some, float(limits[b]), len(heads)))
        heads.append((head, mu))
    normal = np.concatenate([[0], np.cumsum([len(h) for h, _ in heads] + [1 + len(s) for s, _, _ in others])])[:-1]
    source = [s for head, _ in heads for s in head] + [s for some, _, _ in others for s in (-1, *some)]
    scale = [1.0 for head, _ in heads for _ in head] + [x for some, c, _ in others for x in (1.0, *[c] * len(some))]
    owner = np.full(len(source), -1, dtype=np.intp)
    for (_, _, head_of), n in zip(others, normal[len(heads) :], strict=True):
        owner[int(n)] = normal[head_of]
    directions = [len(head) - 1 for head, _ in heads] + [len(some) for some, _, _ in others]
    shares = [mu for _, mu in heads] + [1.0 for _ in others]
    return Cones(
        np.array(source, dtype=np.intp), np.array(scale), normal.astype(np.intp), np.array(directions, dtype=np.intp),
        np.array(shares), owner,
    )  # fmt: skip


def _slipping(rows: ContactRows, contacts: Indices, limits: Array) -> Cones:
    """The order of contacts that resist slip only: their own."""
    directions = np.array([len(rows.slips[i]) for i in contacts], dtype=np.intp)
    size = len(contacts) + int(np.sum(directions))
    normal = np.concatenate([[0], np.cumsum(1 + directions)[:-1]]).astype(np.intp)[: len(contacts)]
    return Cones(np.arange(size), np.ones(size), normal, directions, limits[contacts], np.full(size, -1, dtype=np.intp))
