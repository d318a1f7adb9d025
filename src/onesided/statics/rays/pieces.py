"""The smooth pieces that may lead on from a point: subsets of its weakly active constraints held closed."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from onesided.complementarity import solve
from onesided.statics.curves.curve import Curve
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.rays.rates import rates_at
from onesided.statics.rays.reactions import Reactions, independent

WEAK_LIMIT = 14


def all_pieces(where: Standpoint, reactions: Reactions | None) -> Iterator[tuple[Standpoint, Curve]]:
    """The pieces, with the choice of reactions from which each of them starts."""
    for here in (where,) if reactions is None else reactions.places():
        for piece in _pieces(here):
            if reactions is None or reactions.held or independent(here, piece.rows):
                yield here, piece


def _pieces(where: Standpoint) -> Iterator[Curve]:
    """The smooth pieces, fewest closed constraints first; beyond the limit those that the rate LCP names."""
    weak = where.weak
    subsets: Iterator[tuple[int, ...]]
    if len(weak) <= WEAK_LIMIT:
        subsets = (chosen for count in range(len(weak) + 1) for chosen in combinations(weak, count))
    else:
        subsets = iter([(), *_from_rates(where), tuple(weak)])
    for chosen in subsets:
        rows = np.sort(np.concatenate([where.strong, np.array(chosen, dtype=np.intp)])).astype(np.intp)
        yield where.curve(rows)


def _from_rates(where: Standpoint) -> Iterator[tuple[int, ...]]:
    """Weakly active constraints that the LCP of the rates holds closed, for growing and for falling p."""
    first_order = rates_at(where)
    for p_dot in (1.0, -1.0):
        found = None if first_order.G is None else solve(first_order.lcp(p_dot), throw=False)
        if found is not None and found.ok:
            yield tuple(int(j) for j, z in zip(where.weak, found.value, strict=True) if z > 0)
