"""Cables: they pull and do not push; straight, or over frictionless pulleys of zero radius."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import jax.numpy as jnp

from onesided.elements.contract import Acting, Element, Local, Quantity, Start, Words
from onesided.elements.members import Bar
from onesided.elements.schedules import Schedule, ScheduledLength
from onesided.elements.shapes import polygon_length

SLACK = Words("cable", "becomes taut", "goes slack")


def _through(element: Element, ends: Sequence[str], via: Sequence[str]) -> tuple[str, ...]:
    """First end, pulleys, second end."""
    if isinstance(ends, str) or len(ends) != 2:
        raise element.error("needs two ends", got=str(ends))
    if isinstance(via, str):
        raise element.error("`via` is not a list of places", got=repr(via))
    return (ends[0], *via, ends[1])


def _span(element: Element, start: Start) -> float:
    """Length at the start of the polygon through all places of an element."""
    for a, b in itertools.pairwise(element.places):
        if start.distance(a, b) == 0.0:
            raise element.error(f"'{a}' and '{b}' coincide", expected="different points one after the other")
    return sum(start.distance(a, b) for a, b in itertools.pairwise(element.places))


@dataclass(frozen=True)
class Cable(Bar):
    """An elastic cable: tension only, exactly.

    Its slack s ≥ 0 is an internal coordinate: energy k/2 (length − natural length + s)². While s = 0 the cable is
    taut and the multiplier of s ≥ 0 is its tension; a slack cable has tension 0 and s = natural length − length
    [QT (7), corrected].

    Parameters
    ----------
    ends, stiffness, modulus_area, length, pretension, strain : as for a bar; cable shortening is a length with `p`.
    via : places over which it runs from its first to its second end, as over frictionless pulleys of zero radius or
        through rings: the tension is the same all along. A place may come again (a tackle).
    """

    via: Sequence[str] = ()

    kind: ClassVar[str] = "cable"
    drawn_as: ClassVar[str] = "cable"
    words: ClassVar[Words] = SLACK
    repeats: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """First end, pulleys, second end."""
        return _through(self, self.ends, self.via)

    def span(self, start: Start) -> float:
        """Length along the pulleys at the start."""
        return _span(self, start)

    def check(self, start: Start) -> None:
        """A cable has a stiffness and a natural length."""
        for name in ("law", "table", "polynomial"):
            if getattr(self, name) is not None:
                raise self.error(f"has no `{name}`", expected="one of `stiffness`, `modulus_area`", advice="use a bar")
        if self.material != "linear":
            raise self.error("has no `material`", expected="one of `stiffness`, `modulus_area`", advice="use a bar")
        if self.to_a_point:
            raise self.error("its natural length is not positive", got="0")
        if not self.moves and start.value(self.pretension) < 0:
            raise self.error("cannot push", got=f"pretension {self.pretension}", advice="give a `length`: it is slack")
        super().check(start)

    def inner(self, start: Start) -> dict[str, float]:
        """The slack at the start."""
        return {"slack": self.slack_at_start(start, 0.0)}

    def slack_at_start(self, start: Start, plastic: float) -> float:
        """Slack at p = 0, as far as it has a value there."""
        slack = float(self.along(start, 0.0).natural) + plastic - self.span(start)
        return max(0.0, slack) if math.isfinite(slack) else 0.0

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Its slack is called like the cable."""
        return ("",)

    def gap_words(self, ending: str) -> Words:
        """It is taut or slack."""
        return self.words

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Slack ≥ 0; the multiplier is the tension."""
        return (at.inner[0],)

    def energy(self, at: Local) -> Any:
        """Energy of the elongation beyond slack."""
        return self.lengths(at).stiffness / 2 * self.stretched(at) ** 2

    def in_motion(self) -> Element:
        """A cable whose slack is not a coordinate."""
        return MovingCable(**{field.name: getattr(self, field.name) for field in fields(Cable)})

    def slack(self, at: Local) -> Any:
        """What it is longer than it need be."""
        return at.inner[0]

    def stretched(self, at: Local) -> Any:
        """Elastic elongation: length − natural length + slack."""
        return polygon_length(at.frames) - self.lengths(at).natural + at.inner[0]

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Tension, slack, length between its ends, stress-free length, elastic strain."""
        return (".tension", ".slack", ".length", ".natural_length", ".strain")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The tension is the stiffness times the elastic elongation."""
        stretched, (natural, stiffness) = self.stretched(at), self.lengths(at)
        length = polygon_length(at.frames)
        return stiffness * stretched, self.slack(at), length, natural, stretched / natural


@dataclass(frozen=True)
class MovingCable(Cable):
    """An elastic cable in motion: its slack, without inertia, is what its length leaves; energy k/2 max(ℓ − L, 0)²."""

    kind: ClassVar[str] = ""

    def inner(self, start: Start) -> dict[str, float]:
        """No coordinate: in motion the slack has no inertia."""
        return {}

    @property
    def gap_names(self) -> tuple[str, ...]:
        """No gap: the law of the tension has the kink itself."""
        return ()

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """No gap, as `gap_names` says."""
        return ()

    def energy(self, at: Local) -> Any:
        """Energy of the elongation, as far as it is one."""
        return self.lengths(at).stiffness / 2 * self.stretched(at) ** 2

    def in_motion(self) -> Element:
        """The element itself: it is the form for motion."""
        return self

    def slack(self, at: Local) -> Any:
        """Slack max(natural length − length, 0)."""
        return jnp.maximum(self.lengths(at).natural - polygon_length(at.frames), 0.0)

    def stretched(self, at: Local) -> Any:
        """The elongation, as far as it is one."""
        return jnp.maximum(polygon_length(at.frames) - self.lengths(at).natural, 0.0)


@dataclass(frozen=True)
class String(ScheduledLength):
    """An inextensible cable: its polygon is never longer than `length`; the multiplier is the tension.

    Parameters
    ----------
    ends : two places.
    length : by default the length at the start; it may follow the control parameter: a winch.
    via : places over which it runs, as for a cable.
    """

    ends: tuple[str, str] = ("", "")
    length: Schedule | None = None
    via: Sequence[str] = ()

    kind: ClassVar[str] = "string"
    drawn_as: ClassVar[str] = "cable"
    words: ClassVar[Words] = Words("string", "becomes taut", "goes slack")
    repeats: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """First end, pulleys, second end."""
        return _through(self, self.ends, self.via)

    def check(self, start: Start) -> None:
        """Refuse a length that is not positive or does not reach from end to end."""
        span = _span(self, start)
        if self.driven:
            return
        length = self.numbers(start)["length"]
        if not length > 0:
            raise self.error("its length is not positive", got=f"{length:g}")
        if length < start.distance(*self.ends) and not self.via:
            raise self.error("is too short for its ends", got=f"{length:g}", expected=f"at least {span:g}")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Length of the string, or the parameters in its formula."""
        return {"length": _span(self, start)} if self.length is None else self._length.numbers(start)

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Its slack is called like the string."""
        return ("",)

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Length − polygon ≥ 0; the multiplier is the tension."""
        return (self._length.value(at) - polygon_length(at.frames),)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Tension, slack, length between its ends, own length."""
        return (".tension", ".slack", ".length", ".natural_length")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The tension is the multiplier."""
        length, own = polygon_length(at.frames), self._length.value(at)
        return acting.multipliers[0], own - length, length, own


@dataclass(frozen=True)
class PlasticCable(Cable):
    """An elastic–plastic cable, perfectly plastic or work hardening [QT Fig. 1b, c]; it remembers its permanent set.

    Its plastic elongation e is an internal coordinate that can only grow: e ≥ e₀, the permanent set so far. With
    tension T = k (length − natural length + slack − e), the potential of one step is

        k/2 (length − natural length + slack − e)² + T_y e + h/2 e² .

    Its derivative with respect to e, T_y + h e − T, is the multiplier of e ≥ e₀: the distance to yield, 0 while the
    cable flows. That is exact complementarity for a step along which e does not fall; `onesided.drive` ends the step
    where it would, and at every reversal, and sets e₀ = e (the parameter `<name>_set`). The energy counts the plastic
    work, so it does not jump there.

    Parameters
    ----------
    yield_tension : T_y of the new cable.
    hardening : h, growth of the yield tension per plastic elongation; 0: perfectly plastic.
    """

    yield_tension: Quantity | None = None
    hardening: Quantity = 0.0

    kind: ClassVar[str] = "plastic_cable"
    drawn_as: ClassVar[str] = "cable"
    flow: ClassVar[Words] = Words("cable", "stops yielding", "yields")

    def in_motion(self) -> Element:
        """Refused: a motion does not carry the permanent set along."""
        raise self.error(
            "remembers its permanent set, and the motion of a composed structure would not",
            advice="`CableStructure` with `PerfectlyPlastic` or `WorkHardening` follows that in motion",
        )

    def check(self, start: Start) -> None:
        """A yield tension above the pretension."""
        super().check(start)
        if self.yield_tension is None:
            raise self.error("has no `yield_tension`", advice="use a cable for an elastic one")
        limit, hardening = start.value(self.yield_tension), start.value(self.hardening)
        if not limit > 0:
            raise self.error("its yield tension is not positive", got=f"{limit:g}")
        if not hardening >= 0:
            raise self.error("its hardening is negative", got=f"{hardening:g}")
        if not self.moves and start.value(self.pretension) > limit:
            raise self.error("its pretension is beyond yield", got=f"{start.value(self.pretension):g}")
        if not start.parameters[f"{self.name}_set"] >= 0:
            raise self.error("its permanent set is negative", got=f"{start.parameters[f'{self.name}_set']:g}")

    @property
    def history(self) -> dict[str, str]:
        """The permanent set takes over the plastic elongation."""
        return {"set": "plastic"}

    def numbers(self, start: Start) -> dict[str, Any]:
        """Those of a cable, yield tension, hardening, permanent set."""
        limit = 0.0 if self.yield_tension is None else start.value(self.yield_tension)
        own = {"limit": limit, "hardening": start.value(self.hardening), "set": start.parameters[f"{self.name}_set"]}
        return {**super().numbers(start), **own}

    def inner(self, start: Start) -> dict[str, float]:
        """Start values of the slack and the plastic elongation."""
        plastic = start.parameters[f"{self.name}_set"]
        return {"slack": self.slack_at_start(start, plastic), "plastic": plastic}

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Its slack is called like the cable, its plastic flow `<name>_flow`."""
        return ("", "_flow")

    def gap_words(self, ending: str) -> Words:
        """Flow is reported in words of its own."""
        return self.flow if ending else self.words

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Slack ≥ 0 with the tension; growth of the plastic elongation ≥ 0 with the distance to yield."""
        return at.inner[0], at.inner[1] - at.n.set

    def energy(self, at: Local) -> Any:
        """Elastic energy and plastic work."""
        plastic = at.inner[1]
        elastic = self.lengths(at).stiffness / 2 * self.stretched(at) ** 2
        return elastic + at.n.limit * plastic + at.n.hardening / 2 * plastic**2

    def stretched(self, at: Local) -> Any:
        """Elongation less the plastic part."""
        return super().stretched(at) - at.inner[1]

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Those of a cable, and the plastic elongation."""
        return (*super().result_names(dimension), ".plastic")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """Those of a cable, and the plastic elongation."""
        return (*super().results(at, acting), at.inner[1])
