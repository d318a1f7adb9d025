"""The equations of motion with contacts: all rows at once, or those of a phase with some contacts closed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided._types import Array, Indices
from onesided.model.contact_stepping import LONGEST, Rules
from onesided.model.equations import Equations
from onesided.model.motion import Check, Control, Terms
from onesided.model.system import System


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows of G belong, and what the contacts are like.

    Attributes
    ----------
    joints, rolling : rows that always hold: bilateral and non-holonomic constraints.
    gaps : row of each contact's gap, (m,);  slips : rows of its tangential directions, a tuple for each contact.
    restitution, friction : (m,).
    """

    joints: Indices
    rolling: Indices
    gaps: Indices
    slips: tuple[tuple[int, ...], ...]
    restitution: Array
    friction: Array

    @property
    def always(self) -> Indices:
        """Rows that hold whatever the contacts do."""
        return np.concatenate([self.joints, self.rolling])

    def held(self, closed: Indices, sticking: tuple[int, ...] = ()) -> Indices:
        """Rows that hold while these contacts are closed, in the order of G; slips of rough and sticking ones only."""
        rough = [row for i in closed if np.isinf(self.friction[i]) or i in sticking for row in self.slips[i]]
        return np.sort(np.concatenate([self.always, self.gaps[closed], np.array(rough, dtype=np.intp)]).astype(np.intp))


class ContactEquations(Equations):
    """Equations with a row for every gap and every slip."""

    def __init__(self, system: System, control: float | Control = 0.0) -> None:
        super().__init__(system, control)
        functions = system.contact_motion
        joints, gaps, rolling = functions.joints, functions.gaps_count, functions.rolling
        self.functions = functions
        self.m, self.k = joints + gaps, functions.k
        slip_names = [f"slip of {name}[{i}]" for name, size in functions.sizes.items() for i in range(size)]
        self.names = (*system.bilateral, *system.unilateral, *system.nonholonomic, *slip_names)
        self._cuts = np.cumsum([self.n, self.n, self.n, self.m, self.rows, self.rows, self.rows, 1])
        first, slips = self.m + rolling, {}
        for name, size in functions.sizes.items():
            slips[name] = tuple(range(first, first + size))
            first += size
        stated = system.contacts
        names = tuple(system.unilateral)
        self.contact_rows = Rows(
            np.arange(joints),
            np.arange(self.m, self.m + rolling),
            np.arange(joints, self.m),
            tuple(slips.get(name, ()) for name in names),
            np.array([stated[name].restitution if name in stated else 0.0 for name in names]),
            np.array([stated[name].friction if name in stated else 0.0 for name in names]),
        )

    def leap(self, t: float, q: Array, v: Array, pressing: Array, rules: Rules, wanted: int) -> Array:
        """Steps with these contacts pressing, as many as are good: rows (q, v, P, residual). No joints, no friction."""
        x = np.concatenate([(t, self.p), q, v])
        contacts = (pressing.astype(float), self.contact_rows.restitution)
        functions: Any = self.functions
        wanted = min(wanted, LONGEST)
        found = np.asarray(functions.leap.steps(x, contacts, rules, wanted, self.parameters, self.control))
        return found[1:].reshape(LONGEST, -1)[: int(found[0])]


class PhaseEquations(Equations):
    """The same equations with some rows only: what a smooth method sees between two events."""

    def __init__(self, whole: ContactEquations, chosen: Indices) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole, self.chosen = whole, chosen
        self.m = int(np.sum(chosen < whole.m))
        self.k = len(chosen) - self.m
        self.names = tuple(whole.names[i] for i in chosen)
        self.positions = chosen[: self.m]

    @property
    def conservative(self) -> bool:
        """Rows of slip do no work while they hold."""
        return self.whole.conservative

    def find_pattern(self, t: float, q: Array, v: Array) -> None:
        """Phases are small: dense."""

    def spread(self, mu: Array) -> Array:
        """Multipliers of all rows: zero on those that are not chosen."""
        full = np.zeros(self.whole.rows)
        full[self.chosen[: len(mu)]] = mu
        return full

    def terms(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> Terms:
        """The terms of the chosen rows."""
        return self.part(self.whole.terms(t, q, delta, v, self.spread(mu)))

    def part(self, all_rows: Terms) -> Terms:
        """The chosen rows of all."""
        some = self.chosen
        return all_rows._replace(
            c=all_rows.c[self.positions],
            c_dot=all_rows.c_dot[some],
            gamma=all_rows.gamma[some],
            Gv=all_rows.Gv[some],
            G=all_rows.G[some],
        )

    def check(self, t: Array, q: Array, v: Array, a: Array, mu: Array) -> Check:
        """What can be rechecked of these rows."""
        found = self.whole.check(t, q, v, a, np.array([self.spread(row) for row in mu]))
        return self.of(found)

    def of(self, found: Check) -> Check:
        """The part of a recheck of all rows that concerns these."""
        some = self.chosen
        return found._replace(c=found.c[:, self.positions], c_dot=found.c_dot[:, some], c_ddot=found.c_ddot[:, some])
