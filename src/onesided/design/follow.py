"""The verb `follow`: an event continued in a second parameter, with the special points of its own curve."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import ModelError, SolveError, UsageError
from onesided.base.names import unknown_name
from onesided.base.progress import SILENT, Progress
from onesided.base.tolerances import DEFAULT, EPS, HALF_DIGITS, MOST_DIGITS, QUARTER_DIGITS, Tolerances
from onesided.base.types import Array, Status
from onesided.design.both_sides import joined
from onesided.design.event_curves import CurveOfEvents, curve_of_events, refuse_broken
from onesided.design.event_equations import degenerate, standpoint
from onesided.design.event_nodes import (
    FIRST_STEP,
    JUMP,
    STRAIGHT,
    EventNode,
    Met,
    between,
    goes_with_another,
    guessed,
    turned,
)
from onesided.design.inside_steps import InsideStep, SingularError
from onesided.design.rough_places import NEAR, bare_members, jumps_at
from onesided.design.sightings import Label, Sighting, is_margin, loads_soft_modes, look, own_turns, unsure
from onesided.linalg import one_thread
from onesided.results import Encounter, Event, Followed
from onesided.system.system import System

SMALLEST_STEP = HALF_DIGITS  # in scaled units of (y, τ)
LARGEST_STEP = 0.1  # share of the bounds of the parameter; how far the state moves is for the bends to say
AWAY = EPS**-0.5  # scaled distance beyond which an event is no longer followed
BENT = 0.97  # cosine between tangents from which on steps are made again
FORWARD = 0.5  # share of a step beyond a kink that leads away from it
NO_WAY_ON = " (the equations have a kink there: {})"
ANY_KINK = "a law, the end of a segment, a member without length"


@checked
def follow(
    event: Event,
    parameter: str,
    bounds: tuple[float, float],
    *,
    system: System | None = None,
    max_points: int = 2000,
    tolerances: Tolerances = DEFAULT,
    progress: Progress = SILENT,
    throw: bool = True,
) -> Followed:
    """Continue an event in (p, θ): to both sides, until θ leaves its bounds or the event ends.

    Special points of the curve are located and named: cusps, corners that meet limit points or each other, hilltops,
    contacts that stop mattering, turns; with what the event is on either side.

    Parameters
    ----------
    parameter : name of θ;  bounds : its lowest and highest value.
    system : the system of the event; needed where the event was loaded from a file.
    max_points : at most so many to either side.
    progress : notified of points as they are found, with the value of θ.
    throw : raise a `SolveError` holding the curve so far, also after Ctrl-C, or return it with its status.
    """
    known = standpoint(event, system).system
    if parameter not in known.parameters:
        raise unknown_name("parameter", parameter, known.parameters)
    value, (low, high) = known.parameters[parameter], bounds
    if not low <= value <= high or not low < high or not np.isfinite(high - low):
        raise UsageError(
            f"the bounds of {parameter} are not usable", got=repr(bounds), expected=f"low ≤ {value:g} ≤ high, finite"
        )
    direction = np.array([high - low if name == parameter else 0.0 for name in known.parameters])
    events = curve_of_events(event, system, direction, tolerances)
    refuse_broken(events)
    limits = ((low - value) / (high - low), (high - value) / (high - low))
    sides = [_Side(events, sense, limits, max_points) for sense in (-1.0, 1.0)]

    def tell(side: "_Side", step: float) -> None:
        points, met = (sum(len(getattr(one, name)) for one in sides) for name in ("nodes", "met"))
        theta = value + (high - low) * float(side.nodes[-1].w[-1])
        progress.update(control=theta, points=points, events=met, step=step)

    progress.begin("follow")
    try:
        with one_thread(), suppress(KeyboardInterrupt):  # sides that have not ended are `interrupted`
            for side in sides:
                side.run(tell)
                if side.status is Status.closed:
                    sides[1].status = Status.closed
                    break
    finally:
        progress.end()
    result = joined(event, events, parameter, sides)
    if throw and not result.ok:
        raise SolveError(result.status.value, result, got=result.note)
    return result


class _Side:
    """Predictor and corrector along a curve of events, to one side; the nodes and meetings found so far."""

    def __init__(self, events: CurveOfEvents, sense: float, limits: tuple[float, float], most: int) -> None:
        self.events, self.limits, self.most = events, limits, most
        self.nodes: list[EventNode] = []
        size = len(events.start)
        here = self._node(events.start, sense * np.eye(1, size, size - 1)[0], events.border)
        if here is None:
            raise UsageError("the event is degenerate: its equations are singular", got=events.event.words())
        if not np.all(here.seen.loose.clear > max(events.tolerances.singularity, HALF_DIGITS * HALF_DIGITS)):
            raise degenerate(events.event, "its condition is met without being crossed, whatever the parameter is")
        self.nodes.append(here)
        self.met, self.status, self.why = list[Met](), Status.interrupted, ""

    def run(self, tell: Callable[["_Side", float], None]) -> None:
        """Go on until an end."""
        self.status = self._walk(tell)

    def _walk(self, tell: Callable[["_Side", float], None]) -> Status:
        here, step = self.nodes[0], FIRST_STEP
        while len(self.nodes) < self.most:
            found = self._next(here, step)
            if found is None:
                step /= 4.0
                if step < SMALLEST_STEP:
                    beyond = self._over_kink(here)
                    if beyond is None:
                        return self._stuck(here)
                    here, step = beyond, FIRST_STEP
                continue
            ending, status = self._home(here, found) or self._inside(here, found)
            for one in self._meetings(here, ending):
                self.nodes.append(one.node)
                self.met.append(one)
                if one.after is None:
                    return Status.path_ended
            self.nodes.append(ending)
            if status is not None:
                return status
            if np.max(np.abs(found.w)) > AWAY:
                return Status.far
            tell(self, step)
            straight = float(here.t @ found.t) > STRAIGHT
            most = LARGEST_STEP / max(abs(float(found.t[-1])), SMALLEST_STEP)
            here, step = found, min(step * (2.0 if straight else 1.0), most)
        return Status.enough

    def _over_kink(self, here: EventNode) -> EventNode | None:
        """A point of the curve behind a kink of the equations just ahead; None where there is no such kink or point."""
        names = jumps_at(self.events, here.w, here.t)
        if names is None:
            return None
        step, edge = 4.0 * SMALLEST_STEP, here  # so far no step leads
        while step > EPS * (1.0 + float(np.max(np.abs(here.w)))):
            found, step = self._next(edge, step), step / 2.0
            edge = found or edge
        beyond = self._behind(edge)
        self.met.append(
            Met(Label(Encounter.kink, names), edge, here.seen, None if beyond is None else beyond.seen, step)
        )
        self.nodes += [edge] if beyond is None else [edge, beyond]
        return beyond

    def _behind(self, edge: EventNode) -> EventNode | None:
        """A little further on along the direction that the equations have there: the curve may turn back sharply."""
        for h, sense in ((4.0 * NEAR, 1.0), (16.0 * NEAR, 1.0), (4.0 * NEAR, -1.0), (16.0 * NEAR, -1.0)):
            t = self.events.tangent(edge.w + h * edge.t, sense * edge.t, edge.border)
            w = None if t is None else self.events.corrected(edge.w + h * t, t, edge.border)
            found = None if t is None or w is None else self._node(w, t, edge.border)
            if t is None or found is None or float(t @ edge.t) < -BENT or float(found.t @ t) < STRAIGHT:
                continue  # it leads back, or nowhere
            if float((found.w - edge.w) @ t) > FORWARD * h:
                return found
        return None

    def _stuck(self, here: EventNode) -> Status:
        """Why no step leads on: there is no such model, the event runs off to infinity, or it is not known."""
        if self.met and self.met[-1].label.kind is Encounter.kink and self.met[-1].after is None:
            self.why = NO_WAY_ON.format(self._cause(self.met[-1]))
            return Status.path_ended
        try:
            self.events.line.at(float(here.w[-1] + FIRST_STEP * here.t[-1]))
        except ModelError as error:
            self.why = f" (beyond it {error})"
            return Status.path_ended
        return Status.far if np.max(np.abs(here.w)) > 1.0 / QUARTER_DIGITS else Status.step_too_small

    def _cause(self, met: Met) -> str:
        """What makes a kink, as far as it has a name."""
        bare = bare_members(self.events, met.node.w)
        told = (f"'{name}' has no length" if name in bare else f"'{name}' has one" for name in met.label.names)
        return ", ".join(told) or ANY_KINK

    def _node(self, w: Array, like: Array, border: Array) -> EventNode | None:
        try:
            seen = look(self.events, w, border)
        except (ModelError, ArithmeticError):  # there is no such model
            if not self.nodes:
                raise
            return None
        if seen is None or not np.all(np.isfinite(seen.loose.rates)):
            return None
        t = seen.loose.tangent(like)
        if own_turns(self.events.condition):
            seen.numbers[Label(Encounter.turns)] = float(t[-1])
        along = border if self.events.condition is None else seen.spot.t / np.linalg.norm(seen.spot.t)
        return EventNode(w, t, along, seen)

    def _next(self, here: EventNode, step: float) -> EventNode | None:
        """The next point; None where it is not found, or the curve or the equilibria on it turn too far."""
        found = self._on_plane(here.w + step * here.t, here.t, here)
        if found is None or float(found.t @ here.t) <= BENT:
            return None
        return None if self.events.condition is not None and turned(here, found, step) else found

    def _home(self, here: EventNode, found: EventNode) -> tuple[EventNode, Status] | None:
        """The first point, where the step passes it again in the same sense: the curve is closed."""
        first = self.nodes[0]
        before, after = (float((one.w - first.w) @ first.t) for one in (here, found))
        if here is first or not before < 0.0 <= after or _off(here, first) > 2.0 * _off(found, here):
            return None
        guess = between(here, found, before / (before - after))
        guess -= ((guess - first.w) @ first.t) * first.t
        w = self.events.corrected(guess, first.t, here.border)
        if w is None or np.max(np.abs(w - first.w)) > HALF_DIGITS * (1.0 + np.max(np.abs(w))):
            return None
        ending = self._node(first.w, here.t, here.border)
        return None if ending is None else (ending, Status.closed)

    def _inside(self, here: EventNode, found: EventNode) -> tuple[EventNode, Status | None]:
        """The point, or where the curve leaves the bounds before it."""
        low, high = self.limits
        tau = float(found.w[-1])
        if low < tau < high:
            return found, None
        bound = low if tau <= low else high
        normal = np.eye(1, len(found.w), len(found.w) - 1)[0]
        share = (bound - here.w[-1]) / (tau - here.w[-1])
        guess = between(here, found, share)
        guess[-1] = bound
        w = self.events.corrected(guess, normal, here.border)
        ending = None if w is None else self._node(np.append(w[:-1], bound), here.t, here.border)
        return (found if ending is None else ending), Status.bound_reached

    def _meetings(self, a: EventNode, b: EventNode) -> Iterator[Met]:
        """Special points between two nodes, in order, up to the first that ends the curve."""
        changed, step = self._changed(a.seen, b.seen), InsideStep(a, b, self._on_plane)
        found: dict[Label, Met] = {}  # several numbers may jump at one kink
        for label in sorted(changed, key=lambda one: one.kind is not Encounter.degree):
            if label.piece and any(one.kind is Encounter.degree and one.piece == label.piece for one in found):
                continue  # at forks of a branch all its numbers change their sign
            one = self._located(a, b, label, step)
            if one is not None and label.kind is Encounter.hilltop and self.events.condition is None:
                loaded = loads_soft_modes(one.node.seen.spot, self.events.tolerances)
                one = one if loaded else replace(one, label=Label(Encounter.forks))
            found |= {} if one is None else {one.label: one}
        for one in sorted(found.values(), key=lambda one: float(step.way @ one.node.w)):
            yield one
            if one.after is None:
                return

    def _changed(self, a: Sighting, b: Sighting) -> list[Label]:
        """Numbers that change their sign between two points by more than rounding, and margins that fall below zero."""
        floor, found = self.events.tolerances.gap, []
        for label, before in a.numbers.items():
            after = b.numbers.get(label, before)
            if is_margin(label):
                ends = after < -floor and self._below(b, label) and not self._below(a, label)
            else:
                ends = before * after < 0.0 and abs(before) > floor
            found += [label] if ends else []
        return [label for label in found if not goes_with_another(label, found)]

    def _on_plane(self, guess: Array, normal: Array, like: EventNode) -> EventNode | None:
        """The point on the plane through a guess."""
        w = self.events.corrected(guess, normal, like.border)
        return None if w is None else self._node(w, like.t, like.border)

    def _below(self, seen: Sighting, label: Label) -> bool:
        """Whether a gap or a reaction is below zero by more than rounding."""
        return seen.numbers[label] < -max(self.events.tolerances.gap, unsure(self.events, seen, label))

    def _located(self, a: EventNode, b: EventNode, label: Label, step: InsideStep) -> Met | None:
        """Where a number vanishes between two nodes; at the first where it is zero there, but for rounding."""
        if is_margin(label) and a.seen.numbers[label] <= self.events.tolerances.gap:
            return self._met(label, a, a, b)
        try:
            share = step.zero(label)
            near = max(share - SMALLEST_STEP, 0.0), min(share + SMALLEST_STEP, 1.0)
            left, *beside = (step.number(label, one) for one in (share, *near))
        except SingularError:
            return guessed(step.at, label, lambda w: self.events.spot(w, a.border))
        node = step.at(share)
        if node is None:
            return None
        if abs(beside[1] - beside[0]) > JUMP * (abs(step.number(label, 1.0)) + abs(step.number(label, 0.0))):
            return self._jumped(node, a, b)
        rough = abs(left) > MOST_DIGITS
        left = max(abs(left), abs(beside[0] + beside[1]) / 2.0)  # on a line through both sides it is zero
        met = replace(self._met(label, node, a, b), left=left)
        around = guessed(step.at, label, lambda w: self.events.spot(w, a.border)) if rough else None
        return met if around is None or around.left > met.left else around  # where the number itself is hardly known

    def _jumped(self, node: EventNode, a: EventNode, b: EventNode) -> Met | None:
        """A number jumps over zero: at a kink of the model, or with another that vanishes there."""
        names = jumps_at(self.events, node.w, node.t)
        return None if names is None else Met(Label(Encounter.kink, names), node, a.seen, b.seen, SMALLEST_STEP)

    def _met(self, label: Label, node: EventNode, a: EventNode, b: EventNode) -> Met:
        ends = is_margin(label)
        left = abs(node.seen.numbers.get(label, np.nan))
        return Met(label, node, a.seen, None if ends else b.seen, left)


def _off(a: EventNode, b: EventNode) -> float:
    return float(np.linalg.norm(a.w - b.w))
