"""Stretches of flights and single impacts by compiled calls of many steps each."""

from typing import NamedTuple

import numpy as np

from onesided.base.types import Array, Mask
from onesided.dynamics.contacts.contact_run import World
from onesided.dynamics.contacts.sliding import ContactMode
from onesided.dynamics.contacts.touching import ROUNDED, SLOW
from onesided.dynamics.mechanics import Mechanics, MotionState
from onesided.dynamics.smooth.explicit import ORDER
from onesided.dynamics.smooth.stepper import first_step
from onesided.dynamics.smooth.strides import StrideLimits, packed, rules, sizes
from onesided.dynamics.watching.forcing import HALVED
from onesided.evaluation.flight_steps import AFTER, HEAD, Contacts
from onesided.evaluation.smooth_steps import LONGEST
from onesided.system.contact_equations import ContactRows

FIRST = 64  # impacts one by one before: as many more pay for the compilation
LONGER = 4  # times more where it takes longer, for bodies that turn, or is for one control only
MOST, MOST_CONTACTS = 16, 48  # coordinates and contacts up to which a call is fast
NO_INPUTS = np.zeros(0)
LONG = 16.0  # steps are no longer than this part of the whole motion


class FlightKnobs(NamedTuple):
    """Accuracy and longest step; shares of the largest speed that are rest and faint; heights that are not seen."""

    rtol: float
    max_step: float
    rest: float
    faint: float
    unseen: float


class Flown(NamedTuple):
    """A state on the way; after an impact, the contact, its speed and the work of the impulse."""

    state: MotionState
    contact: int = -1
    speed: float = 0.0
    work: float = 0.0


class Flights:
    """Calls of many steps for one motion, as long as nothing touches for longer than an impact."""

    def __init__(self, world: World, knobs: FlightKnobs) -> None:
        request, system = world.request, world.request.system
        self._world, self._knobs, self._span = world, knobs, request.last - request.first
        self._rtol, self._longest = knobs.rtol, min(knobs.max_step, self._span / LONG)
        self._functions = system.motion.flights(world.equations.control)
        self._slips, plain = slips_alone(world.rows, world.equations.m)
        self._e = np.where(~plain | (world.rows.restitution == 0.0), -1.0, world.rows.restitution)
        self._mu = np.where(plain, world.rows.friction[: len(world.names)], 0.0)
        usual = world.equations.space.flat and world.equations.control is None
        self._first = FIRST if usual else LONGER * FIRST
        self._h, self._no_forces = 0.0, np.zeros(world.equations.rows)
        self.able = bool(
            system.friction is None and not request.events and not system.servo
            and system.n + len(world.rows.always) <= MOST and 0 < len(world.names) <= MOST_CONTACTS
            and np.any(self._e > 0.0) and not len(world.rows.soft) and not world.pace.sampled
        )  # fmt: skip

    def pays(self, impacts: int) -> bool:
        """Whether a call is worth its compilation after so many impacts."""
        return self.able and (impacts >= self._first or self._functions.steps.ready)

    def go(self, state: MotionState) -> tuple[list[Flown], int]:
        """States of flights and impacts from a state on, as far as they are plain, and how many evaluations it took."""
        world, mechanics = self._world, self._world.mechanics(ContactMode())
        equations = mechanics.equations
        terms = equations.terms(state.t, state.q, np.zeros_like(state.q), state.v, np.zeros(equations.m))
        mechanics.choose_rows(terms)
        if len(mechanics.rows) < equations.rows:
            return [], 0
        start = mechanics.settle(state.t, state.q, state.v, np.zeros(equations.rows)).state
        h = self._h or first_step(mechanics, start, self._rtol, ORDER, self._span)
        limits = StrideLimits(
            world.request.last, self._rtol, self._longest, world.tolerances.minimum_step * self._span, 0.0, LONGEST - 2
        )
        first = np.concatenate([packed(start)[:2], [state.work], packed(start)[3:]])
        out = np.asarray(
            self._functions.steps(
                (first, min(h, self._longest)), sizes(mechanics), self._contacts(), rules(mechanics, limits),
                world.equations.parameters,
            )
        )  # fmt: skip
        return self._taken(out, mechanics), int(out[1])

    def _contacts(self) -> Contacts:
        touch, knobs, gap = self._world.touch, self._knobs, self._world.tolerances.gap
        return Contacts(
            self._e,
            self._mu,
            self._slips,
            touch.length,
            touch.speed,
            touch.own,
            gap,
            ROUNDED,
            SLOW,
            knobs.rest,
            knobs.faint,
            knobs.unseen,
            HALVED * self._span,
        )

    def _taken(self, out: Array, mechanics: Mechanics) -> list[Flown]:
        """The rows of a call; sizes and contacts are brought up to date."""
        n, F, touch = mechanics.equations.n, len(self._world.names), self._world.touch
        self._h = float(out[3])
        cuts = 4 + np.cumsum([n, n, 2, F, F])
        q, v, seen, length, speed, rows = np.split(out[4:], cuts - 4)
        mechanics.sizes.q[:], mechanics.sizes.v[:], mechanics.sizes.seen = q, v, (float(seen[0]), float(seen[1]))
        mechanics.sizes.fastest = max(mechanics.sizes.fastest, float(np.max(v / mechanics.units)))
        touch.length[:], touch.speed[:] = length, speed
        flown = [self._flown(row, n) for row in rows.reshape(LONGEST, -1)[: int(out[0])]]
        while flown and flown[-1].contact < 0 and self._about_to_touch(flown[-1].state):
            flown.pop()
        return flown

    def _about_to_touch(self, state: MotionState) -> bool:
        """Whether a contact that counts as closed approaches: a phase that begins here would take it for opening."""
        terms = self._world.terms(state.t, state.q, state.v)
        approaches = terms.c_dot[self._world.rows.gaps] < 0.0
        return bool(np.any(self._world.touch.closed(terms)[approaches]))

    def _flown(self, row: Array, n: int) -> Flown:
        t, power, work = row[HEAD : HEAD + 3].tolist()
        first = HEAD + 3
        mu, joints = self._no_forces, row[first + 3 * n :]
        if len(joints):
            mu = mu.copy()
            mu[self._world.rows.always] = joints
        q, v, a = row[first : first + n], row[first + n : first + 2 * n], row[first + 2 * n : first + 3 * n]
        state = MotionState(t, q, v, a, mu, work, power, NO_INPUTS)
        return Flown(state, int(row[1]), float(row[2]), float(row[3])) if row[0] == AFTER else Flown(state)


def slips_alone(rows: ContactRows, first: int) -> tuple[Array, Mask]:
    """Numbers of the slips of each contact among the rates, whose rows begin at `first`; where there is nothing else.

    All slips have the same number of directions; contacts without friction have the first ones there are.
    """
    own = rows.slips[: len(rows.gaps)]
    size = max((len(slips) for slips in own), default=0)
    usual = list(range(first, first + size))
    table = np.array([list(slips) if len(slips) == size else usual for slips in own], dtype=float) - first
    others = {int(i) for i in rows.owner[len(rows.gaps) :]}
    plain = [len(s) in (0, size) and i not in others and np.isfinite(rows.friction[i]) for i, s in enumerate(own)]
    return table.reshape(len(own), size), np.array(plain, dtype=bool)
