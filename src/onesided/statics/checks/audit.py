"""An audit of every path by what theory allows, on plain data: degrees of instability, rays, and the sense of p.

At fixed p the equilibria close to a point have signs (−1)^degree whose sum does not change with p, unless constraints
that are closed balance each other. So the rays at a point come in pairs, the degree changes by an odd number where the
path turns back and by an even number where it goes on alone, and a stable path does not end. One mode that vanishes or
one constraint that changes sides changes the degree by at most one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from onesided.base.types import Array, Indices
from onesided.results import Event, Kind, Path

NEAR = 0.1  # arc length, in scaled units, within which no other event may be where degrees on branches are compared
SAFETY = 1.5  # arc length over the distance of two points
PASSED = frozenset({Kind.bound, Kind.user, Kind.kink})  # events at which nothing happens to the path


@dataclass(frozen=True)
class Finding:
    """What contradicts theory, and at which value of p."""

    p: float
    words: str


def audit(path: Path, inertia: Indices, p_noise: float) -> tuple[Finding, ...]:
    """All contradictions along a path.

    Parameters
    ----------
    inertia : negative modes counted at each point, −1 where they were not.
    p_noise : change of p that may be round-off.
    """
    special = [event for event in path.events if event.kind not in PASSED]
    places = np.array([path.s[event.index] for event in special])
    findings = [
        Finding(event.p, words)
        for event, place in zip(special, places, strict=True)
        for words in _at_event(event, alone=np.count_nonzero(np.abs(places - place) <= _reach(event)) == 1)
    ]
    return (*findings, *_along(path, special, inertia), *_turns(path, special, p_noise))


def _reach(event: Event) -> float:
    """Within which arc length degrees on the branches are counted."""
    return max((NEAR, *(SAFETY * ray.reach for ray in event.rays.rays)))


def told(findings: tuple[Finding, ...], control: str) -> str:
    """The first contradiction in words, and how many more there are."""
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"the audit failed at {control} = {findings[0].p:.10g}: {findings[0].words}{more}"


def _at_event(event: Event, *, alone: bool) -> Iterator[str]:
    """What an event contradicts; degrees a little further on are compared where there is no other event."""
    before, after = event.instability_before, event.instability_after
    if before < 0 or (after is not None and after < 0):
        yield f"a degree of instability is not negative, here {before} → {after}"
    if _isolated(event) and len(event.rays) % 2:
        yield f"rays come in pairs, here there are {len(event.rays)}"
    if event.followed is None:
        yield from _at_last(event)
    elif event.incoming is not None and after is not None and not event.neutral:
        yield from _passed(event, event.incoming, event.followed, after - before)
        if alone and not event.rays.cluster:
            yield from _close_by(event, event.incoming, event.followed)


def _isolated(event: Event) -> bool:
    """Whether the rays are all that leaves the point, each an isolated branch of which no constraint is idle."""
    rays = event.rays
    plain = not any(ray.continuum or ray.idle or ray.loose for ray in rays.rays)
    return rays.complete and not rays.family and plain and event.kind is not Kind.jammed


def _at_last(event: Event) -> Iterator[str]:
    """A stable path ends nowhere: a strict minimum persists, unless closed constraints balance each other."""
    if event.kind is Kind.end and event.instability_before == 0 and not event.neutral:
        yield "a stable path does not end here"
    elif event.kind is Kind.end and not event.rays.complete:
        yield f"what leads on is not known: {event.rays.reason}"


def _passed(event: Event, incoming: int, followed: int, change: int) -> Iterator[str]:
    """What the change of the degree contradicts where the path goes on."""
    rays = event.rays
    back, on = rays[incoming], rays[followed]
    turned = back.p_sign * on.p_sign > 0
    most = rays.multiplicity - 1 + turned + len({*back.rows} ^ {*on.rows})
    if abs(change) > most:
        yield f"the degree of instability changes by {change:+d}, at most {most} modes can change"
    if back.p_sign * on.p_sign and _isolated(event) and len(rays) == 2 and (change % 2 == 1) != turned:
        kind = "turns back" if turned else "goes on"
        yield f"the path {kind} alone, and the degree of instability changes by {change:+d}"


def _close_by(event: Event, incoming: int, followed: int) -> Iterator[str]:
    """What the degrees of instability on the branches close by contradict."""
    if _isolated(event) and not _closes(event):
        yield f"the signs of the {len(event.rays)} rays do not add up"
    for i, degree in ((incoming, event.instability_before), (followed, event.instability_after)):
        if event.rays[i].beyond not in {None, degree}:
            yield f"the degree of instability close by is {event.rays[i].beyond}, further away {degree}"


def _closes(event: Event) -> bool:
    """Whether Σ(−1)^degree is the same for growing and for falling p; True where a degree is not known."""
    degrees = {event.incoming: event.instability_before, event.followed: event.instability_after}
    total = 0
    for i, ray in enumerate(event.rays.rays):
        degree = degrees.get(i, ray.beyond)
        if degree is None or not ray.p_sign:
            return True
        total += ray.p_sign * (-1) ** degree
    return total == 0


def _along(path: Path, special: list[Event], inertia: Indices) -> Iterator[Finding]:
    """The degree is what is counted at every point but the special ones."""
    wrong = (inertia >= 0) & (inertia != path.instability)
    wrong[[0, len(path) - 1, *(event.index for event in special)]] = False
    for i in np.flatnonzero(wrong)[:1]:
        words = f"the degree of instability is {inertia[i]} where {path.instability[i]} was reported"
        yield Finding(float(path.p[i]), words)


def _turns(path: Path, special: list[Event], p_noise: float) -> Iterator[Finding]:
    """Between events p goes one way, but for the rounding of singular points: closer to them it does as that wants."""
    blurs = {event.index: event.rays.blur for event in special}
    marks = sorted({0, *blurs, len(path) - 1})
    for first, last in pairwise(marks):
        moves: Array = np.diff(path.p[first : last + 1])
        noise = p_noise + max(blurs.get(first, 0.0), blurs.get(last, 0.0))
        if len(moves) and moves.max() > noise and moves.min() < -noise:
            at = first + 1 + int(np.argmin(moves * np.sign(moves[np.argmax(np.abs(moves))])))
            yield Finding(float(path.p[at]), f"{path.control} turns back without a limit point")
