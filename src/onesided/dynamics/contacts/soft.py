"""Compliant contacts between events: which of them press, and where that changes.

A contact presses while the margins of its law are all positive: the depth, and what keeps it from pulling. Each margin
that changes its sign ends a phase; those after the first matter only where there is depth.
"""

from dataclasses import replace

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Indices
from onesided.dynamics.contacts.sliding import ContactMode
from onesided.dynamics.mechanics import MotionState
from onesided.dynamics.monitors import Arrays
from onesided.dynamics.watching.dense import DenseOutput
from onesided.dynamics.watching.watched import sums
from onesided.evaluation.motion_terms import Terms
from onesided.linalg.interpolants import ROUNDING
from onesided.system.contact_equations import ContactEquations, ContactRows

Signs = tuple[tuple[bool, ...], ...]  # of the margins of each compliant contact
LAW = EPS**0.3125  # of the largest force: how far a force may be off its law


def signs_at(rows: ContactRows, terms: Terms) -> Signs:
    """Signs of the margins at a state; of a depth that is round-off, those of its rate."""
    found = []
    for i in rows.soft:
        gap = rows.gaps[i]
        depth, rate = -float(terms.c[gap]), -float(terms.c_dot[gap])
        noise = ROUNDING * float(np.abs(terms.G[gap]) @ np.abs(terms.q))
        deep = depth > noise or (abs(depth) <= noise and rate > 0.0)
        rest = rows.laws[i].margins(depth, rate)[1:] if deep else ()
        found.append((deep, *(bool(value > 0.0) for value in rest)))
    return tuple(found)


def flipped(rows: ContactRows, signs: Signs, margin: tuple[int, int], terms: Terms) -> Signs:
    """The signs after one margin (contact, which) has changed its own."""
    contact, which = margin
    own = list(signs[contact])
    own[which] = not own[which]
    if which == 0:
        gap = rows.gaps[rows.soft[contact]]
        margins = rows.laws[rows.soft[contact]].margins(-float(terms.c[gap]), -float(terms.c_dot[gap]))
        own = [own[0], *(bool(value > 0.0) for value in margins[1:])] if own[0] else [False]
    return (*signs[:contact], tuple(own), *signs[contact + 1 :])


def pressed_of(rows: ContactRows, signs: Signs) -> tuple[int, ...]:
    """Numbers of the compliant contacts that press."""
    return tuple(int(i) for i, own in zip(rows.soft, signs, strict=True) if all(own))


def with_soft(rows: ContactRows, mode: ContactMode, signs: Signs) -> ContactMode:
    """The mode in which compliant contacts press as their margins say."""
    return replace(mode, margins=signs, pressed=pressed_of(rows, signs)) if len(rows.soft) else mode


class ComplianceMargins:
    """Margins of compliant contacts, each with the sign that makes it positive now."""

    parts, eager = 1, True

    def __init__(self, equations: ContactEquations, signs: Signs) -> None:
        self.equations, self.rows = equations, equations.contact_rows
        self.watched = [(c, k, 1.0 if value else -1.0) for c, own in enumerate(signs) for k, value in enumerate(own)]
        self._only_depth = all(k == 0 for _, k, _ in self.watched)

    def along(self, dense: DenseOutput, times: Array) -> Array:
        """Margins at times within a step, from its interpolant."""
        q, v = dense.at(times)
        if self._only_depth:
            depth = -self.equations.gaps_along(times, q)[:, self.rows.soft]
            return self._values(depth, 0.0 * depth)
        terms, gaps = self.equations.terms_along(times, q, v), self._gaps
        return self._values(-terms.c[:, gaps], -terms.c_dot[:, gaps])

    def real(self, state: MotionState) -> Array:
        """Margins at a computed state."""
        depth, rate = self._at(state)
        return np.asarray(self._values(depth[None], rate[None])[0])

    def doubt(self, dense: DenseOutput, state: MotionState) -> tuple[Array, Array]:
        """Round-off of the margins; of a depth that begins as round-off, twice what it begins with."""
        depth, rate = self._at(state)
        terms, errors = sums(self.equations, state.t, state.q, dense.error)
        noise = ROUNDING * terms[self.rows.soft]
        noise = np.where(np.abs(depth) <= noise / np.sqrt(ROUNDING), np.maximum(noise, 2.0 * np.abs(depth)), noise)
        bands, off = [], []
        for c, k, _ in self.watched:
            law = self.rows.laws[self.rows.soft[c]]
            bands.append(noise[c] if k == 0 else ROUNDING * law.sums(depth[c], rate[c])[k - 1])
            off.append(errors[self.rows.soft[c]] if k == 0 else 0.0)
        return np.array(bands), np.array(off)

    @property
    def _gaps(self) -> Indices:
        return self.rows.gaps[self.rows.soft]

    def _at(self, state: MotionState) -> tuple[Array, Array]:
        zero = np.zeros_like(state.q)
        terms = self.equations.terms(state.t, state.q, zero, state.v, np.zeros(self.equations.m))
        return -terms.c[self._gaps], -terms.c_dot[self._gaps]

    def _values(self, depth: Array, rate: Array) -> Array:
        laws = [self.rows.laws[i] for i in self.rows.soft]
        columns = [sign * laws[c].margins(depth[:, c], rate[:, c])[k] for c, k, sign in self.watched]
        return np.column_stack(columns) if columns else np.zeros((len(depth), 0))


def off_law(equations: ContactEquations, points: Arrays) -> list[str]:
    """Forces of compliant contacts that do not follow their laws; at the touch itself a force may jump."""
    rows = equations.contact_rows
    words: list[str] = []
    if not len(rows.soft):
        return words
    found = equations.check(points.t, points.q, points.v, points.a, np.hstack([points.mu, points.u]))
    for i in rows.soft:
        gap, law, force = rows.gaps[i], rows.laws[i], points.mu[:, rows.gaps[i]]
        depth, rate = -found.gaps[:, i], -found.c_dot[:, gap]
        due = np.where(depth > 0.0, np.maximum(law.force(depth, rate), 0.0), 0.0)
        inside = np.abs(depth) > LAW * np.max(np.abs(depth))
        off = np.max(np.abs(force - due) * inside, initial=0.0)
        if not off <= LAW * np.max(due, initial=0.0):
            words.append(f"the force of '{rows.labels[i]}' is off its law by {off:.2g}")
    return words
