"""Which touching contacts open, stick or slide from an instant on, and what an impact with friction does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import DEFAULT, EPS, HALF_DIGITS
from onesided.base.types import Array, Indices, Status
from onesided.complementarity import LCP, all_solutions
from onesided.complementarity.compliant import DEPENDENT, GIVES, as_compliant
from onesided.complementarity.friction import FrictionProblem, solve_friction
from onesided.dynamics.contacts.cones import arrange
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.impact import ImpactImpulses
from onesided.dynamics.contacts.impulses import answer
from onesided.dynamics.contacts.sharing import follows
from onesided.dynamics.contacts.sliding import ContactMode
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import independent_rows
from onesided.system.contact_equations import ContactRows

MOST_SLIDING = 10  # contacts whose forces are checked to be determined by all principal minors
FINE = 64.0 * EPS  # residual of Coulomb's law that is worth more work
FEW = 1000.0  # tolerances of the residual within which an acceleration of slip is zero


class ContactDecision(NamedTuple):
    """What contacts do next; or why that is unknown."""

    mode: ContactMode
    status: Status = Status.solved
    note: str = ""


class _Forces(NamedTuple):
    """Forces of the resting contacts: (normal, tangential) rows in `order`, the acceleration they make."""

    order: Indices
    normal: Indices
    P: Array
    a: Array
    off: float
    size: float


def kept_rows(world: World, terms: Terms) -> Indices:
    """Rows that always hold, those that depend on others left out."""
    always = world.rows.always
    return always[independent_rows(terms.G[always] * world.request.system.units, rank=np.sqrt(world.tolerances.rank))]


def decide(
    world: World, terms: Terms, resting: Indices, forced: Mapping[int, Array], opening: str = "", pressing: str = ""
) -> ContactDecision:
    """Solve Coulomb's law for accelerations: λ in the cone, contacts at rest stick, begin to slide, or open.

    Contacts with a slip slide along it; those in `forced` begin to slide in the direction given; the one called
    `opening` has just lost its force, the one called `pressing` begins to press.
    """
    rows = world.rows
    rubbing = rows.finite(resting)
    sliding = _slides(world, terms, rubbing, forced)
    jam = undetermined(world, terms, sliding)
    if jam and not _one_share(world, terms, resting, sliding):
        return ContactDecision(ContactMode(), Status.jammed, jam)
    forces = _forces(world, terms, resting, sliding)
    if forces.off > world.tolerances.complementarity:
        return ContactDecision(
            ContactMode(), Status.jammed, f"no contact forces were found that meet Coulomb's law ({forces.off:.2g})"
        )
    slips = {b: terms.G[list(rows.slips[b])] @ forces.a + terms.gamma[list(rows.slips[b])] for b in rubbing}
    little = FEW * world.tolerances.residual * forces.size
    for b in forced:
        if b in sliding and slips[b] @ sliding[b] < -little:
            rest = {j: d for j, d in forced.items() if j != b}
            return decide(world, terms, resting, rest, opening, pressing)
    least = world.tolerances.force * float(np.max(forces.P[forces.normal], initial=0.0))
    closed, sticking = [], []
    for i, force in zip(resting, forces.P[forces.normal], strict=True):
        own = rows.finite([int(i)])
        name = world.names[i]
        if (force <= least and name != pressing) or name == opening:
            for b in own:
                sliding.pop(b, None)
            continue
        closed.append(int(i))
        for b in own:
            if b not in sliding:
                speed = float(np.linalg.norm(slips[b]))
                if speed > little and rows.static[b] > rows.friction[b]:  # less friction from here on
                    return decide(world, terms, resting, {**forced, b: slips[b] / speed}, opening, pressing)
                if speed > little:
                    sliding[b] = slips[b] / speed
                else:
                    sticking.append(b)
    moving = tuple((b, tuple(float(x) for x in d)) for b, d in sorted(sliding.items()))
    mode = ContactMode(tuple(closed), tuple(sorted(sticking)), moving)
    away = terms.G[rows.gaps] @ forces.a + terms.gamma[rows.gaps]
    return ContactDecision(replace(mode, idle=_idle(world, terms, resting[away[resting] <= little], mode)))


def _slides(world: World, terms: Terms, rubbing: Sequence[int], forced: Mapping[int, Array]) -> dict[int, Array]:
    """Directions of contacts that slip, or are said to begin."""
    sliding = {b: np.asarray(d) for b, d in forced.items() if b in rubbing}
    for b in rubbing:
        slip = terms.c_dot[list(world.rows.slips[b])]
        speed = float(np.linalg.norm(slip))
        if speed > world.at_rest_below:
            sliding[b] = slip / speed
    return sliding


def _idle(world: World, terms: Terms, resting: Indices, mode: ContactMode) -> tuple[int, ...]:
    """Contacts without force whose gaps those that press keep as they are."""
    rows, G = world.rows, terms.G * world.request.system.units
    held = G[rows.held(np.array(mode.closed, dtype=np.intp), mode.sticking)]
    return tuple(int(i) for i in resting if i not in mode.closed and follows(held, G[rows.gaps[i]]))


def at_limit(rows: ContactRows, mu: Array, sticking: Sequence[int], first: str) -> dict[int, Array]:
    """Directions against the friction of contacts that have reached their limits: the `first`, and all with it.

    Feet of one body that share its weight reach them together. `mu` are multipliers of all rows.
    """
    found = {}
    for b in sticking:
        friction = mu[list(rows.slips[b])]
        size, most = float(np.linalg.norm(friction)), rows.static[b] * mu[rows.gaps[rows.owner[b]]]
        if rows.labels[b] == first or (size > 0.0 and size >= (1.0 - HALF_DIGITS) * most):
            found[b] = -friction / size
    return found


def _forces(world: World, terms: Terms, resting: Indices, sliding: Mapping[int, Array]) -> _Forces:
    rows, kept = world.rows, kept_rows(world, terms)
    held = terms.G[kept]
    blocks = [[b for b in rows.of([i]) if b not in sliding] for i in resting]
    order, normal = _order(world, resting, blocks)
    W, F = terms.G[order], terms.G[order]
    for i, place in zip(resting, normal, strict=True):
        for b in rows.of([i]):
            if b in sliding:
                F[place] = F[place] - rows.friction[b] * sliding[b] @ terms.G[list(rows.slips[b])]
    free = answer(terms.M, held, terms.h[:, None].copy(), terms.gamma[kept])[:, 0]
    size = float(np.max(np.abs(terms.G @ free), initial=0.0) + np.max(np.abs(terms.gamma), initial=0.0)) or 1.0
    if not len(order):
        return _Forces(order, normal, np.zeros(0), free, 0.0, size)
    X = answer(terms.M, held, F.T.copy(), None)
    cones = arrange(rows, resting, blocks, rows.static)
    P, off = _solved(world, cones.problem(W @ X, W @ free + terms.gamma[order], size))
    P = cones.gathered(P)
    return _Forces(order, normal, P, free + X @ P, off, size)


def _order(world: World, contacts: Indices, blocks: list[list[int]]) -> tuple[Indices, Indices]:
    """Rows of contacts, normal and then block after block, and where the normal ones are."""
    rows = world.rows
    each = [
        [int(rows.gaps[i]), *(r for b in own for r in rows.slips[b])] for i, own in zip(contacts, blocks, strict=True)
    ]
    starts = np.concatenate([[0], np.cumsum([len(some) for some in each])[:-1]])[: len(each)]
    return np.array([row for some in each for row in some], dtype=np.intp), starts.astype(np.intp)


def _solved(world: World, problem: FrictionProblem) -> tuple[Array, float]:
    """Forces or impulses, of equally compliant contacts where they are not unique, and their residual."""
    P, off = solve_friction(problem, tol=FINE)
    good = world.tolerances.complementarity
    shared, after = as_compliant(problem, P, resting=good * problem.scale, tol=max(off, good))
    return (shared, after) if np.isfinite(after) else (P, off)


def undetermined(world: World, terms: Terms, sliding: Mapping[int, Array]) -> str:
    """In words, why the forces of sliding contacts are not determined; empty where they are.

    They are unique for all loads where every principal minor of W_N M⁻¹ (W_N − μ dᵀ W_T)ᵀ is positive.
    """
    if not sliding:
        return ""
    contacts, D, plain = _responses(world, terms, sliding)
    D, plain = (X / np.diagonal(plain)[:, None] for X in (D, plain))
    sizes = range(1, len(contacts) + 1) if len(contacts) <= MOST_SLIDING else (1, len(contacts))
    for size in sizes:
        for chosen in combinations(range(len(contacts)), size):
            minor = float(np.linalg.det(D[np.ix_(chosen, chosen)]))
            without = float(np.linalg.det(plain[np.ix_(chosen, chosen)]))  # zero where contacts depend on each other
            if not minor > world.tolerances.singularity and without > world.tolerances.singularity:
                names = ", ".join(f"'{world.names[contacts[k]]}'" for k in chosen)
                return f"sliding contact {names}: {_loads(world, terms, contacts, chosen)} (minor {minor:.3g})"
    return ""


def _responses(world: World, terms: Terms, sliding: Mapping[int, Array]) -> tuple[list[int], Array, Array]:
    """Sliding contacts, and how their gaps answer to their normal forces, with friction and without."""
    rows = world.rows
    contacts = sorted({int(rows.owner[b]) for b in sliding})
    held, W = terms.G[kept_rows(world, terms)], terms.G[rows.gaps[contacts]]
    F = W.copy()
    for b, d in sliding.items():
        F[contacts.index(int(rows.owner[b]))] -= rows.friction[b] * d @ terms.G[list(rows.slips[b])]
    D, plain = (W @ answer(terms.M, held, X.T.copy(), None) for X in (F, W))
    return contacts, D, plain


def _one_share(world: World, terms: Terms, resting: Indices, sliding: Mapping[int, Array]) -> bool:
    """Whether contacts that depend on each other, and all slide, have one share of forces under the loads there are.

    Three feet almost in line need not have one under all loads, although all feet together do.
    """
    contacts, D, plain = _responses(world, terms, sliding)
    sizes = np.linalg.svd(plain, compute_uv=False)
    if set(contacts) != set(resting.tolist()) or len(contacts) > MOST_SLIDING or sizes[-1] > DEPENDENT * sizes[0]:
        return False
    kept, gaps = kept_rows(world, terms), world.rows.gaps[contacts]
    free = answer(terms.M, terms.G[kept], terms.h[:, None].copy(), terms.gamma[kept])[:, 0]
    soft = D + GIVES[1] * np.max(np.diagonal(plain)) * np.eye(len(contacts))
    found = all_solutions(LCP(soft, terms.G[gaps] @ free + terms.gamma[gaps]))
    return len(found.isolated) == 1 and not found.families


def _loads(world: World, terms: Terms, contacts: list[int], chosen: tuple[int, ...]) -> str:
    """Whether no force fits, or more than one."""
    if len(chosen) > 1:
        return "its contact forces do not exist or are not unique"
    kept, row = kept_rows(world, terms), world.rows.gaps[contacts[chosen[0]]]
    free = answer(terms.M, terms.G[kept], terms.h[:, None].copy(), terms.gamma[kept])[:, 0]
    away = float(terms.G[row] @ free + terms.gamma[row])
    return "no contact force fits" if away < 0.0 else "it may lift off or press on, both fit"


def collide_with_friction(world: World, terms: Terms, touching: Indices, restitution: Array) -> ImpactImpulses | None:
    """Newton's law with impulses in the cone of friction, for all touching contacts at once; None where not found."""
    rows, held = world.rows, terms.G[kept_rows(world, terms)]
    blocks = [rows.of([i]) for i in touching]
    order, normal = _order(world, touching, blocks)
    W = terms.G[order]
    X = answer(terms.M, held, W.T.copy(), None)
    u = terms.c_dot[order].copy()
    size = float(np.max(np.abs(u)))
    u[normal] += restitution[touching] * np.minimum(u[normal], 0.0)
    cones = arrange(rows, touching, blocks, rows.friction)
    P, off = _solved(world, cones.problem(W @ X, u, size))
    P = cones.gathered(P)
    if off > world.tolerances.complementarity:
        return None
    impulses = np.zeros(len(terms.G))
    impulses[order] = P
    change = X @ P
    if len(held):
        joint = np.linalg.lstsq(terms.G[rows.always].T, terms.M @ change - W.T @ P, rcond=DEFAULT.rank)[0]
        impulses[rows.always] = joint
    return ImpactImpulses(impulses, change)
