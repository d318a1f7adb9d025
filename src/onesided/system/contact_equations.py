"""The equations of motion with contacts: all rows at once, or those of a phase with some contacts closed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onesided.base.types import Array, Indices
from onesided.evaluation.contact_steps import LONGEST, Leap, LeapRules, LeapStart
from onesided.evaluation.motion_terms import Check, Control, Terms
from onesided.system.compliance import pushed
from onesided.system.contact import Block
from onesided.system.equations import Equations
from onesided.system.held import Sampled
from onesided.system.system import System


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Where the rows of G belong, and what the contacts are like.

    Attributes
    ----------
    joints, rolling : rows that always hold: bilateral and non-holonomic constraints.
    gaps : row of each contact's gap, (m,);  restitution : (m,).
    slips : rows that one friction force resists, a tuple for each such block. The first m blocks are the slips of the
        contacts, empty where these have no friction; then come rolling and spinning.
    friction, static : limits of the blocks, as shares of the normal force, while they slide and while they stick.
    owner : the contact of each block;  labels : what events call it.
    laws : of compliant contacts, None for hard ones.
    """

    joints: Indices
    rolling: Indices
    gaps: Indices
    slips: tuple[tuple[int, ...], ...]
    restitution: Array
    friction: Array
    static: Array
    owner: Indices
    labels: tuple[str, ...]
    laws: tuple[Any, ...] = ()

    @cached_property
    def soft(self) -> Indices:
        """Numbers of the compliant contacts among the gaps."""
        return np.array([i for i, law in enumerate(self.laws) if law is not None], dtype=np.intp)

    def of(self, contacts: Iterable[int]) -> list[int]:
        """Blocks with rows of some contacts, contact by contact."""
        return [b for i in contacts for b in self._own[int(i)]]

    @cached_property
    def _own(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.gaps]
        for b, (contact, rows) in enumerate(zip(self.owner, self.slips, strict=True)):
            if rows:
                found[int(contact)].append(b)
        return found

    def finite(self, contacts: Iterable[int]) -> list[int]:
        """Blocks of some contacts that can both stick and slide."""
        return [b for b in self.of(contacts) if np.isfinite(self.friction[b])]

    @property
    def always(self) -> Indices:
        """Rows that hold whatever the contacts do."""
        return np.concatenate([self.joints, self.rolling])

    def held(self, closed: Indices, sticking: tuple[int, ...] = ()) -> Indices:
        """Rows that hold while these contacts are closed, in the order of G; slips of rough and sticking ones only."""
        held = [b for b in self.of(closed) if np.isinf(self.friction[b]) or b in sticking]
        rough = [row for b in held for row in self.slips[b]]
        return np.sort(np.concatenate([self.always, self.gaps[closed], np.array(rough, dtype=np.intp)]).astype(np.intp))


class ContactEquations(Equations):
    """Equations with a row for every gap and every slip."""

    def __init__(self, system: System, control: float | Control | Sampled = 0.0, *, held: bool = False) -> None:
        super().__init__(system, control, held=held)
        functions = system.contact_motion
        joints, gaps, rolling = functions.joints, functions.gaps_count, functions.rolling
        self.functions = functions
        self.m, self.k = joints + gaps, functions.k
        blocks = functions.blocks
        slip_names = [f"{block.name}[{i}]" for block in blocks for i in range(block.size)]
        self.names = (*system.bilateral, *system.unilateral, *system.nonholonomic, *slip_names)
        self._cuts = np.cumsum([self.n, self.n, self.n, self.m, self.rows, self.rows, self.rows, 1])
        self.contact_rows = self._sorted(np.arange(joints, self.m), rolling, blocks)

    def _sorted(self, gaps: Indices, rolling: int, blocks: Sequence[Block]) -> ContactRows:
        """Where the rows belong: blocks of slip at the number of their contact, others after them."""
        stated, names, first = self.system.contacts, tuple(self.system.unilateral), self.m + rolling
        place = {name: i for i, name in enumerate(names)}
        table: list[tuple[int, str, tuple[int, ...], float, float]] = [
            (i, name, (), 0.0, 0.0) for i, name in enumerate(names)
        ]
        for block in blocks:
            i, rows = place[block.contact], tuple(range(first, first + block.size))
            label = block.contact if block.kind == "slip" else f"{block.contact} ({block.kind})"
            first += block.size
            entry = (i, label, rows, block.kinetic, block.static)
            if block.kind == "slip":
                table[i] = entry
            else:
                table.append(entry)
        owner, labels, slips, kinetic, static = zip(*table, strict=True) if table else ((),) * 5
        laws = tuple(stated[name].compliance if name in stated else None for name in names)
        restitution = np.array([stated[name].restitution if name in stated else 0.0 for name in names])
        return ContactRows(
            np.arange(gaps[0] if len(gaps) else self.m), np.arange(self.m, self.m + rolling), gaps, slips, restitution,
            np.array(kinetic, dtype=float), np.array(static, dtype=float), np.array(owner, dtype=np.intp), labels, laws,
        )  # fmt: skip

    @property
    def leaping(self) -> Leap:
        """Many steps in one call."""
        functions: Any = self.functions
        leap: Leap = functions.leap
        return leap

    def leap(self, begin: Sequence[Any], lead: Array, rules: LeapRules, wanted: int, *, jolted: bool) -> Array:
        """Time steps, as many as are good: rows as in `Leap`.

        `begin` are t, q, v and the impulses of the step before, `lead` and `jolted` as of `LeapStart`.
        """
        (t, q, v, impulses), held = begin, np.zeros(self.n) if self.held is None else self.held.force
        start = LeapStart(t, self.p, q, v, impulses, held, lead, float(jolted))
        given = (start, self.contact_rows.restitution, rules, float(min(wanted, LONGEST)))
        found = np.asarray(self.leaping.steps(*given, self.parameters, self.control))
        return found[1:].reshape(LONGEST, -1)[: int(found[0])]


class PhaseEquations(Equations):
    """The same equations with some rows only: what a smooth method sees between two events."""

    def __init__(self, whole: ContactEquations, chosen: Indices, pressed: tuple[int, ...] = ()) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole, self.chosen = whole, chosen
        self._squeezed = whole.contact_rows.gaps[list(pressed)]
        self._laws = tuple(whole.contact_rows.laws[i] for i in pressed)
        self.m = int(np.sum(chosen < whole.m))
        self.k = len(chosen) - self.m
        self.names = tuple(whole.names[i] for i in chosen)
        self.positions = chosen[: self.m]

    @property
    def conservative(self) -> bool:
        """Rows of slip do no work while they hold."""
        return self.whole.conservative

    def find_pattern(self, t: float, q: Array, v: Array) -> None:
        """Nothing: phases have few rows, and their matrices are dense."""

    def spread(self, mu: Array) -> Array:
        """Multipliers of all rows: zero on those that are not chosen."""
        full = np.zeros(self.whole.rows)
        full[self.chosen[: len(mu)]] = mu
        return full

    def terms(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> Terms:
        """The terms of the chosen rows."""
        return self.part(self.whole.terms(t, q, delta, v, self.spread(mu)))

    def pushed(self, terms: Terms) -> Terms:
        """All rows with the forces of compliant contacts that press; each array may have a leading axis."""
        if not self._laws:
            return terms
        gaps = self._squeezed
        f = pushed(self._laws, -terms.c[..., gaps], -terms.c_dot[..., gaps])
        h = terms.h + np.einsum("...r,...rn->...n", f, terms.G[..., gaps, :])
        power = np.sum(f * terms.Gv[..., gaps], axis=-1)
        return terms._replace(h=h, power=terms.power + (float(power) if power.ndim == 0 else power[:, None]))

    def filled(self, mu: Array, t: float, q: Array, v: Array) -> Array:
        """Multipliers of all rows with the forces of compliant contacts."""
        if not self._laws:
            return mu
        terms, full = self.whole.terms(t, q, np.zeros_like(q), v, mu), mu.copy()
        full[self._squeezed] = pushed(self._laws, -terms.c[self._squeezed], -terms.c_dot[self._squeezed])
        return full

    def part(self, all_rows: Terms) -> Terms:
        """The chosen rows of all, with the forces of compliant contacts."""
        some, all_rows = self.chosen, self.pushed(all_rows)
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
