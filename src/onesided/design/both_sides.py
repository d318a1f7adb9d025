"""Both sides of a curve of events as one result, and what is met where they begin."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from onesided.base.types import Array, Status
from onesided.design.event_curves import CurveOfEvents
from onesided.design.event_nodes import EventNode, Met
from onesided.design.sightings import is_margin
from onesided.results import Encounter, Event, Followed, Kind, Meeting

ENDS = {one: one for one in (Status.bound_reached, Status.path_ended, Status.closed)} | {Status.far: Status.path_ended}


class WalkedSide(Protocol):
    """One side of a curve of events: its points, what was met, how it ended and why."""

    nodes: list[EventNode]
    met: list[Met]
    status: Status
    why: str


def _at_start(back: WalkedSide, ahead: WalkedSide, floor: float) -> Iterator[Met]:
    """Meetings at the first point itself: numbers that are zero there and have other signs to its two sides.

    Those that end the event, and turns, whose number goes with the sense of travel, are seen on the sides.
    """
    start, closed = ahead.nodes[0], back.status is Status.closed
    before, after = (side.nodes[min(1, len(side.nodes) - 1)].seen for side in (back, ahead))
    after = back.nodes[-2].seen if closed else after
    for label, here in start.seen.numbers.items():
        watched = label.kind is not Encounter.turns and not is_margin(label)
        a, b = before.numbers.get(label, 0.0), after.numbers.get(label, 0.0)
        if watched and abs(here) <= floor < min(abs(a), abs(b)) and a * b < 0.0:
            yield Met(label, start, before, after, abs(here))


def joined(event: Event, events: CurveOfEvents, parameter: str, sides: Sequence[WalkedSide]) -> Followed:
    """Both sides as one curve, the falling side first."""
    back, ahead = sides
    nodes = [*reversed(back.nodes[1:]), *ahead.nodes]
    place = {id(node): i for i, node in enumerate(nodes)}
    x = np.array([node.seen.spot.x for node in nodes])
    system = events.where.system
    n, k, number = system.n, len(system.bilateral), list(system.parameters).index(parameter)
    origin, span = system.parameters[parameter], events.line.direction[number]
    theta = origin + span * np.array([node.w[-1] for node in nodes])
    at_start = _at_start(back, ahead, events.tolerances.gap)
    met = [(one, True) for one in reversed(back.met)] + [(one, False) for one in (*at_start, *ahead.met)]
    meetings = []
    for one, reverse in met:
        i = place[id(one.node)]
        where = parameter, system.control, float(theta[i]), float(x[i, n]), x[i, :n]
        meetings.append(_meeting(one, i, where, reverse=reverse))
    return Followed(
        kind=event.kind,
        about=event.words(),
        parameter=parameter,
        control=system.control,
        coordinates=system.coordinates,
        theta=theta,
        p=x[:, n],
        q=x[:, :n],
        mu=x[:, n + 1 : n + 1 + k],
        lam=x[:, n + 1 + k :],
        energy=np.array([float(node.seen.spot.e.energy) for node in nodes]),
        degrees=np.array([node.seen.degrees for node in nodes], dtype=np.intp),
        start=len(back.nodes) - 1,
        meetings=tuple(meetings),
        status=_worst(ahead.status, back.status),
        note="; ".join(
            f"{word}: {side.status.value}{side.why}" for word, side in zip(("falling", "growing"), sides, strict=True)
        ),
        provenance={
            "parameters": dict(system.parameters),
            "event": Kind(event.kind).name,
            "labels": {name: list(pair) for name, pair in system.labels.items()},
        },
    )


def _meeting(one: Met, i: int, where: tuple[str, str, float, float, Array], *, reverse: bool) -> Meeting:
    """What was met at node i of the joined curve; in reverse, what was found before it comes after it."""
    sides = [one.before.words, "" if one.after is None else one.after.words]
    before, after = sides[::-1] if reverse and one.after is not None else sides
    kind, names, piece = one.label
    return Meeting(kind, *where, names, before, after, one.left, i, piece)


def _worst(ahead: Status, back: Status) -> Status:
    """Status of both sides together: interrupted, else one that is no usual end, else that of the growing side."""
    if Status.interrupted in {ahead, back}:
        return Status.interrupted
    return next((one for one in (back, ahead) if one not in ENDS), ENDS.get(ahead, ahead))
