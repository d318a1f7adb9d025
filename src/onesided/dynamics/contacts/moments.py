"""Where, within a step of a smooth phase, a gap closes, a force or a slip ends, or a user's function vanishes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.types import Array
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.sliding import ContactMode, SlidingMechanics
from onesided.dynamics.contacts.soft import ComplianceMargins
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.smooth.stepper import Stepper
from onesided.dynamics.watching.scan import Scanner, vague_words
from onesided.dynamics.watching.watched import Forces, Gaps, Users, Watched, crosses
from onesided.linalg.interpolants import ROUNDING
from onesided.results import Occurrence


@dataclass(frozen=True)
class PhaseEnd:
    """What ends a phase.

    Attributes
    ----------
    before : the state just before, where the end comes at once, as by a force that jumps.
    margin : (contact, which) of a compliant contact.
    """

    kind: Occurrence
    name: str
    before: MotionState | None = None
    margin: tuple[int, int] | None = None


class MomentFinder:
    """Looks at every step of one phase."""

    def __init__(self, world: World, mode: ContactMode, mechanics: Mechanics, start: MotionState, users: Users) -> None:
        self.world, self.mode, self.mechanics, self._users = world, mode, mechanics, users
        others = {*mode.closed, *mode.idle, *world.rows.soft.tolist()}
        self._open = np.array([i for i in range(len(world.names)) if i not in others], dtype=np.intp)
        self._sliding = [i for i, _ in mode.sliding]
        groups: list[Watched] = [Gaps(world.equations, self._open, world.touch.closed_below), users]
        names = [
            [PhaseEnd(Occurrence.contact, world.names[i]) for i in self._open],
            [PhaseEnd(Occurrence.user, name) for name in world.request.events],
        ]
        if mode.margins:
            margins = ComplianceMargins(world.equations, mode.margins)
            soft = [world.names[world.rows.soft[c]] for c, _, _ in margins.watched]
            groups.insert(0, margins)
            names.insert(
                0,
                [
                    PhaseEnd(Occurrence.contact, n, margin=(c, k))
                    for n, (c, k, _) in zip(soft, margins.watched, strict=True)
                ],
            )
        if mode.closed:
            groups.insert(0, Forces(mechanics, mode, world.rows, self._slacks))
            names.insert(0, self._force_moments())
        self._moments, self._gaps_at = names, len(groups) - 2
        self._forces = groups[0] if isinstance(groups[0], Forces) else None
        self._scanner = Scanner(groups, start, world.request.last - world.request.first)

    def denied(self, start: MotionState) -> PhaseEnd | None:
        """What ends the phase as it begins: the force, limit or slip that is farthest below zero, None if none is.

        Contacts that touch without force are left as they were decided on: whether they press is a choice.
        """
        if self._forces is None:
            return None
        values = self._forces.real(start)
        bands, count = self._slacks(start.mu, values), len(self.mode.closed) + len(self.mode.sticking)
        below = (values / np.where(bands > 0.0, bands, 1.0))[: count + len(self._sliding)]
        worst = int(np.argmin(np.where(np.isfinite(below), below, 0.0)))
        return self._moments[0][worst] if below[worst] < -1.0 else None

    def _force_moments(self) -> list[PhaseEnd]:
        names, labels, mode = self.world.names, self.world.rows.labels, self.mode
        found = [PhaseEnd(Occurrence.opens, names[i]) for i in mode.closed]
        found += [PhaseEnd(Occurrence.slips, labels[b]) for b in mode.sticking]
        found += [PhaseEnd(Occurrence.sticks, labels[b]) for b in self._sliding]
        found += [PhaseEnd(Occurrence.contact, names[i]) for i in mode.idle]
        if isinstance(self.mechanics, SlidingMechanics):
            found.append(PhaseEnd(Occurrence.jams, labels[self._sliding[0]]))
        return found

    def _slacks(self, mu: Array, values: Array) -> Array:
        """Forces, margins and slips that count as none: small against the contact's own, or round-off."""
        mode, tolerances = self.mode, self.world.tolerances
        largest = float(np.max(np.abs(mu), initial=0.0))
        own = np.abs(values[: len(mode.closed)])
        at = {i: k for k, i in enumerate(mode.closed)}
        rows = self.world.rows
        normal = [rows.static[b] * own[at[int(rows.owner[b])]] for b in mode.sticking]
        forces = tolerances.force * np.concatenate([own, normal]) + ROUNDING * largest
        slips = np.full(len(self._sliding), self.world.at_rest_below)
        idle = np.full(len(mode.idle), ROUNDING * largest)
        rest = np.zeros(len(values) - len(forces) - len(slips) - len(idle))
        return np.concatenate([forces, slips, idle, rest])

    def moments(self, before: Stepper, after: MotionState) -> Iterator[tuple[PhaseEnd, MotionState]]:
        """What happens in this step, in order of time."""
        for found in self._scanner.events(before, after):
            moment = self._moments[found.group][found.which]
            user = moment.kind is Occurrence.user
            if crosses(self._users.senses[found.which] if user else -1, falling=found.falling):
                yield replace(moment, before=found.before), found.state
        largest = self._scanner.largest.get(self._gaps_at)
        if largest is not None:
            self.world.touch.saw(self._open, largest)

    def words(self) -> str:
        """Functions that could not be resolved, in words."""
        return vague_words(self._scanner, lambda n, f: f"{self._moments[n][f].kind.value} '{self._moments[n][f].name}'")
