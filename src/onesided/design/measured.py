"""Quantities of a system with given parameters, and their derivatives: one trace or drive for all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from onesided.base.errors import SolveError, UsageError, passed_on
from onesided.base.names import unknown_name
from onesided.base.types import Array, Status
from onesided.design.aims import LOSS, RETURN, AtEvent, DesignAim, OfJump, Term, WhereValue
from onesided.design.sensitivities import sensitivity
from onesided.results import Drive, DriveSensitivity, Event, Kind, Path, Sensitivity
from onesided.results.explain import slug
from onesided.statics.drive import drive
from onesided.statics.paths import trace
from onesided.system.system import System

LATE = {(">=", 1.0), ("<=", -1.0)}  # sense of an aim and sign of a load in it that may as well come never


class AbsentError(Exception):
    """Something that an aim is about is not there with these parameters."""


@dataclass(frozen=True)
class Loading:
    """How quantities are looked for: where paths begin and how far they go, and the programme of histories."""

    q0: Any
    p0: float | None
    direction: int | None
    p_bounds: tuple[float, float] | None
    programme: tuple[float, ...] | None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TriedDesign:
    """A system with parameters that are tried: its path and history, values of aims, and gradients when asked for."""

    system: System
    aims: tuple[DesignAim, ...]
    loading: Loading

    @cached_property
    def path(self) -> Path:
        """The path on which events are looked for."""
        ask, terms = self.loading, [term for aim in self.aims for _, term in aim.terms]
        marks = {_mark(term): _crossing(self.system, term) for term in terms if isinstance(term, WhereValue)}
        found = trace(self.system, ask.q0, ask.p0, direction=ask.direction, p_bounds=ask.p_bounds, events=marks,
                      throw=False, **ask.options)  # fmt: skip
        if found.status in {Status.interrupted, Status.not_finite, Status.contradictory, Status.inaccurate}:
            if found.status is Status.interrupted:
                raise KeyboardInterrupt
            raise AbsentError(f"the path cannot be traced: {found.status.value}")
        return found

    @cached_property
    def history(self) -> Drive:
        """The loading history in which jumps are looked for."""
        try:
            with passed_on():
                return drive(self.system, self.loading.q0, self.loading.programme, **self.loading.options)
        except SolveError as error:
            raise AbsentError(f"the history cannot be followed: {error}") from None

    @cached_property
    def results(self) -> tuple[Path | Drive, ...]:
        """What the aims are read from."""
        jumps = [isinstance(term, OfJump) for aim in self.aims for _, term in aim.terms]
        return (*((self.path,) if not all(jumps) else ()), *((self.history,) if any(jumps) else ()))

    @cached_property
    def values(self) -> Array:
        """(A,) values of the aims, less their targets; ±∞ where a load that should not come early does not come at all.

        That is so where the path goes on to its end, at a p beyond what is asked, without it.
        """
        return np.array([self._value(aim) for aim in self.aims])

    @cached_property
    def gradients(self) -> Array:
        """(A, P) their derivatives with respect to all parameters."""
        rows = [
            self._slopes(aim) if np.isfinite(v) else self._nothing
            for aim, v in zip(self.aims, self.values, strict=True)
        ]
        return np.array(rows).reshape(len(self.aims), len(self.system.parameters))

    def sizes(self) -> Array:
        """(A,) by what aims are divided: their targets, or the terms they compare."""
        found = [[abs(aim.target), *(abs(self._read(term) or 0.0) for _, term in aim.terms)] for aim in self.aims]
        return np.array([each[0] or max(each) or 1.0 for each in found])

    @property
    def _nothing(self) -> Array:
        return np.zeros(len(self.system.parameters))

    def signature(self) -> tuple[str, ...]:
        """The events on the way to those that aims are about: it changes where one overtakes another."""
        events = [self._event(term) for aim in self.aims for _, term in aim.terms if not isinstance(term, OfJump)]
        last = max((event.index for event in events if event is not None), default=0)
        passed = [event for result in self.results if isinstance(result, Path) for event in result.events]
        jumps = [f"{len(result.jumps)} jumps" for result in self.results if isinstance(result, Drive)]
        return (*(_called(event) for event in passed if event.index <= last and event.kind is not Kind.user), *jumps)

    def _value(self, aim: DesignAim) -> float:
        total, late = -aim.target, False
        for sign, term in aim.terms:
            value = self._read(term)
            if value is None and (aim.sense, sign) in LATE and not isinstance(term, OfJump) and self._is_load(term):
                value, late = float(self.path.p[-1]), True
            if value is None:
                raise AbsentError(f"'{aim.text}' is about something that is not there")
            total += sign * value
        if late and total * (1.0 if aim.sense == ">=" else -1.0) < 0:
            raise AbsentError(f"'{aim.text}' is about an event that is not on the path, which ends before")
        return (np.inf if aim.sense == ">=" else -np.inf) if late else total

    def _is_load(self, term: AtEvent | WhereValue) -> bool:
        return term.what in {"p", self.system.control} and term.what not in self.system.coordinates

    def _slopes(self, aim: DesignAim) -> Array:
        try:
            return np.asarray(np.sum([sign * self._slope(term) for sign, term in aim.terms], axis=0))
        except UsageError as error:  # events that coincide have no derivatives
            raise AbsentError(f"'{aim.text}' has no derivative ({error.got or error.what})") from None

    def _read(self, term: Term) -> float | None:
        if isinstance(term, OfJump):
            return self._read_jump(term)
        event = self._event(term)
        return None if event is None else self._reader(term.what).value(event)

    def _read_jump(self, term: OfJump) -> float | None:
        jumps = self.history.jumps
        if term.number > len(jumps):
            return None
        if term.what == "energy":
            return self.history.dissipated if term.number == 0 else jumps[term.number - 1].energy
        self._refuse_unless_control(term.what)
        return jumps[term.number - 1].p

    def _slope(self, term: Term) -> Array:
        if not isinstance(term, OfJump):
            event = self._event(term)
            if event is None:
                return self._nothing
            found = self._finite(sensitivity(event, system=self.system))
            return np.asarray(self._reader(term.what).slopes(found))
        rates = self._history_rates
        if term.number == 0:
            return np.asarray(rates.dissipated_rate)
        jump = rates.jumps[term.number - 1]
        return np.asarray(jump.energy_rate if term.what == "energy" else jump.p_rate)

    @cached_property
    def _history_rates(self) -> DriveSensitivity:
        with passed_on():
            return sensitivity(self.history, system=self.system)

    def _finite(self, found: Sensitivity) -> Sensitivity:
        if not np.all(np.isfinite(found.p_rate)):
            raise UsageError("an aim has no derivative", got=f"{found.about} breaks up")
        return found

    def _event(self, term: AtEvent | WhereValue) -> Event | None:
        """The event that a term is about."""
        if isinstance(term, WhereValue):
            return next((e for e in self.path.events if e.kind is Kind.user and e.detail == _mark(term)), None)
        fitting = [e for e in self.path.events if _is(e, term.kind) and (not term.name or term.name in e.constraints)]
        return fitting[term.number - 1] if len(fitting) >= term.number else None

    def _refuse_unless_control(self, what: str) -> None:
        if what not in {"p", self.system.control}:
            raise unknown_name("quantity of a jump", what, ["energy", self.system.control])

    def _reader(self, what: str) -> "_AimReader":
        """How to read a quantity off an event."""
        system = self.system
        if what in {"p", system.control} and what not in system.coordinates:
            return _AimReader(lambda e: e.p, lambda s: s.p_rate)
        if what in system.coordinates:
            i = system.coordinates.index(what)
            return _AimReader(lambda e: float(e.q[i]), lambda s: s.q_rate[:, i])
        reactions = [f"reaction {name}" for name in system.unilateral]
        if what in reactions:
            j = reactions.index(what)
            return _AimReader(lambda e: float(e.lam[j]), lambda s: s.lam_rate[:, j])
        if what == "energy":
            return _AimReader(lambda e: sensitivity(e, system=system).energy, lambda s: s.energy_rate)
        raise unknown_name("quantity", what, [system.control, *system.coordinates, "energy", *reactions])


@dataclass(frozen=True)
class _AimReader:
    """Value of a quantity at an event, and its derivatives among those of the event."""

    value: Callable[[Event], float]
    slopes: Callable[[Sensitivity], Array]


def _is(event: Event, kind: str) -> bool:
    if event.kind is Kind.bound:
        return False
    before, after = event.instability_before == 0, event.instability_after == 0
    return {LOSS: before and not after, RETURN: after and not before}.get(kind, slug(event.kind) == kind)


def _called(event: Event) -> str:
    return " ".join([event.kind.value, *event.constraints])


def _mark(term: WhereValue) -> str:
    """Name of the user event at which a coordinate takes a value."""
    return f"{term.name} is {term.value:.17g}"


def _crossing(system: System, term: WhereValue) -> Callable[[Array, float], float]:
    if term.name not in system.coordinates:
        raise unknown_name("coordinate", term.name, system.coordinates)
    i, value = system.coordinates.index(term.name), term.value
    return lambda q, p: q[i] - value
