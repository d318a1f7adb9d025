"""Geometrically exact beams of two sections, in the plane and in space."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.elements.contract import Acting, Element, Local, Quantity, Start
from onesided.elements.line_loads import LineLoad, borne_at, borne_numbers, borne_shape, with_loads
from onesided.elements.schedules import Schedule, Scheduled
from onesided.groups.rotations import (
    half_matrix,
    matrix_quaternion,
    plane_matrix,
    rotation_matrix,
    rotation_vector,
)


def _shear(stiffness: Any, bending: Any, length: Any) -> tuple[Any, Any]:
    """Stiffness GA* with 1/GA* = 1/GA + L²/(12 EI), and the factor of γ² in the stretch.

    The second term is the bending that one-point integration leaves out [MN]: with it two sections have the exact
    stiffness matrix of a straight beam, shear flexible or rigid (GA = None), for any length: nothing locks. A part r of
    the shear γ is such bending inside: the sections turn by θ(s) with mean r γ and mean square 6/5 (r γ)², which
    shortens the chord by r γ² (1 − 2/5 r) L.
    """
    inside = length**2 / (12.0 * bending)
    total = inside + (0.0 if stiffness is None else 1.0 / stiffness)
    r = inside / total
    return 1.0 / total, r * (1.0 - 0.4 * r)


@dataclass(frozen=True)
class _TwoSections(Element):
    """What beams in the plane and in space share."""

    ends: tuple[str, str] = ("", "")
    EA: Schedule = 0.0
    bears: tuple[LineLoad, ...] = field(default=(), repr=False, kw_only=True)  # loads on it; set by `compose`

    turns: ClassVar[bool] = True

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the sections it joins, the first and the second."""
        return tuple(self.ends)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Those of the sections at both ends: ".N_1", …, ".N_2", …."""
        return tuple(f".{name}_{end}" for end in (1, 2) for name in self.section_names)

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """Section forces at both ends, as `sections` gives them."""
        return (*self.sections(at, acting, 0.0), *self.sections(at, acting, 1.0))

    @property
    @abstractmethod
    def _stiffnesses(self) -> dict[str, Quantity]:
        """Stiffnesses by key; those of shear only where it is not rigid."""

    @property
    @abstractmethod
    def _free_state(self) -> dict[str, Quantity]:
        """Natural curvatures and strain by key."""

    @property
    def _schedules(self) -> dict[str, Scheduled]:
        """What may follow the control parameter."""
        given = self._stiffnesses | self._free_state
        return {key: Scheduled(key, value, self.control) for key, value in given.items()}

    @property
    def driven(self) -> bool:
        """Whether its natural curvature, strain or stiffness follows the control parameter."""
        return any(one.moves for one in self._schedules.values())

    def _own_numbers(self, start: Start) -> dict[str, Any]:
        """What may follow the control parameter, and the loads on it."""
        own = {key: value for one in self._schedules.values() for key, value in one.numbers(start).items()}
        return {**own, **borne_numbers(start, self.ends, self.bears)}

    def _values(self, at: Local) -> dict[str, Any]:
        return {key: one.value(at) for key, one in self._schedules.items()}

    @property
    def _shapes(self) -> Hashable:
        return borne_shape(self.bears), tuple(one.shape for one in self._schedules.values())

    def _natural(self, start: Start, length: Quantity | None, pretension: Quantity) -> float:
        """Natural length: as given, or such that the normal force at the start is the pretension."""
        now = start.distance(*self.ends)
        if length is not None:
            return start.value(length)
        return now / (1.0 + start.value(pretension) / start.value(self.EA)) if pretension != 0.0 else now

    def _check(self, start: Start, stiff: Sequence[str], length: Quantity | None, pretension: Quantity) -> None:
        if len(self.ends) != 2:
            raise self.error("needs two ends", got=str(self.ends))
        if start.distance(*self.ends) == 0.0:
            raise self.error("its ends coincide", expected="two different points")
        for name in stiff:
            given = getattr(self, name)
            values = [given] if isinstance(given, (str, int, float)) else given
            known = [one for one in values if not Scheduled(name, one, self.control).moves]
            if not np.all(start.vector(known) > 0):
                raise self.error(f"{name} is not positive", got=str(given))
        if length is not None and pretension != 0.0:
            raise self.error("`pretension` has no meaning here", expected="no natural length")
        if pretension != 0.0 and self._schedules["EA"].moves:
            raise self.error("`pretension` has no meaning where `EA` changes", got=str(self.EA), advice="`strain`")
        if pretension != 0.0 and start.value(pretension) <= -start.value(self.EA):
            raise self.error("its natural length is not positive")
        if not self._natural(start, length, pretension) > 0:
            raise self.error("its natural length is not positive")


@dataclass(frozen=True)
class Beam(_TwoSections):
    """A geometrically exact beam of two sections in the plane (Reissner 1972), integrated at its middle.

    With the section turned by the mean of the two angles, ε₀ = e₁·(x₂ − x₁)/L − 1, γ = e₂·(x₂ − x₁)/L, and curvature
    κ = (α₂ − α₁)/L: energy L/2 (EA ε² + GA* γ² + EI (κ − κ₀)²) with 1/GA* = 1/GA + L²/(12 EI). The stretch
    ε = ε₀ + (α₂ − α₁)²/24 + c γ² adds what the chord loses because the beam is bent inside the element (angles from the
    start). Rotations are not limited; an element should turn by less than about half a radian between its sections. The
    linear theory of straight beams is met exactly; the error of a divided straight beam falls with the fourth power of
    the element length where the strain is small (a part of strain × square remains), that of a curved one with the
    square.

    Parameters
    ----------
    ends : two bodies or markers, the sections; their angles at the start need not be those of the beam.
    EA, EI : axial and bending stiffness.
    GA : shear stiffness (with the shear factor); by default the beam is rigid in shear (Euler–Bernoulli).
    length : natural length; by default the distance at the start.
    curvature : natural curvature, the turn of the second angle against the first per length; by default the start's.
    pretension : normal force at the start, where `length` is not given.
    strain : of the axis without stress, by temperature or swelling.

    Stiffnesses, natural curvature and strain may follow the control parameter: curvature="alpha*p/h" is a bimetal
    strip, EI="EI0*(1 - 0.001*p)" one that softens as it is heated.
    """

    EI: Schedule = 0.0
    GA: Schedule | None = None
    length: Quantity | None = None
    curvature: Schedule | None = None
    pretension: Quantity = 0.0
    strain: Schedule = 0.0

    kind: ClassVar[str] = "beam"
    drawn_as: ClassVar[str] = "beam"
    dimensions: ClassVar[tuple[int, ...]] = (2,)
    section_names: ClassVar[tuple[str, ...]] = ("N", "Q", "M")

    def check(self, start: Start) -> None:
        """Refuse stiffnesses or a length that are not positive."""
        self._check(start, ("EA", "EI") if self.GA is None else ("EA", "EI", "GA"), self.length, self.pretension)

    def numbers(self, start: Start) -> dict[str, Any]:
        """Length, stiffnesses, natural turn, and the angle of the chord against the mean section at the start."""
        a, b = (start.frames[name] for name in self.ends)
        step = start.position(self.ends[1]) - start.position(self.ends[0])
        return {
            **self._own_numbers(start),
            "length": self._natural(start, self.length, self.pretension),
            "start": float(b.angle - a.angle),
            "chord": float(np.arctan2(step[1], step[0]) - 0.5 * (a.angle + b.angle)),
        }

    @property
    def _stiffnesses(self) -> dict[str, Quantity]:
        return {"EA": self.EA, "EI": self.EI, **({} if self.GA is None else {"GA": self.GA})}

    @property
    def _free_state(self) -> dict[str, Quantity]:
        return {"swollen": self.strain, **({} if self.curvature is None else {"bent": self.curvature})}

    @property
    def variant(self) -> Hashable:
        """Whether it has a curvature and shear of its own and bears loads, and formulas of the control parameter."""
        return self.curvature is None, self.GA is None, self._shapes

    def energy(self, at: Local) -> Any:
        """Energy of stretch, shear and bending at the middle."""
        a, b = at.frames
        n, own = at.n, self._values(at)
        shear, bow = _shear(own.get("GA"), own["EI"], n.length)
        e = plane_matrix(0.5 * (a.angle + b.angle) + n.chord)
        strain = (e.T @ (b.position - a.position) - jnp.stack([n.length, 0.0])) / n.length
        turn = b.angle - a.angle
        stretch = strain[0] + (turn - n.start) ** 2 / 24.0 + bow * strain[1] ** 2 - own["swollen"]
        bend = (turn - (own["bent"] * n.length if "bent" in own else n.start)) / n.length
        return 0.5 * n.length * (own["EA"] * stretch**2 + shear * strain[1] ** 2 + own["EI"] * bend**2)

    def sections(self, at: Local, acting: Acting, share: Any) -> tuple[Any, ...]:
        """Normal force, shear force and moment of a section, in its own axes.

        The force is the same all along, the moment linear, but for what line loads add; sections turn as a beam with
        that moment. At the start the axis of an element is its chord: where a beam is curved at the start, N and Q of
        neighbours differ accordingly.
        """
        (a, b), n = at.frames, at.n
        first, last = acting.wrenches()
        borne = borne_at(at, share, self.bears)
        force, M = with_loads((first, last), share, borne)
        change = 0.5 * (first.moment + last.moment) * share * (1.0 - share) + (0.0 if borne is None else borne.turn)
        turn = share * (b.angle - a.angle - n.start) + n.length / self._values(at)["EI"] * change
        e = plane_matrix(a.angle + n.chord + 0.5 * n.start + turn)
        N, Q = e.T @ force
        return N, Q, M


@dataclass(frozen=True)
class SpatialBeam(_TwoSections):
    """A geometrically exact beam of two sections in space (Simo–Reissner), integrated at its middle.

    The sections' triads Λ₁, Λ₂ (aligned with the chord at the start) differ by the rotation vector ψ = log Λ₁ᵀΛ₂; in
    the triad Λ₁ exp(ψ/2) half way, strains Γ = Λᵀ(x₂ − x₁)/L − e₁ and curvatures κ = ψ/L, with Γ less what the chord
    loses because the beam is bent inside the element: ψ × (ψ × e₁)/24 and, for the stretch, −c γ² as for `Beam`. Rigid
    motions and the order of the ends change nothing. The sections may turn against each other by less than π.

    Parameters
    ----------
    ends : two bodies or markers, the sections.
    EA, GJ : axial and torsional stiffness.
    EI : bending stiffnesses about the section's axes 2 and 3; one number for both.
    GA : shear stiffnesses along axes 2 and 3; by default rigid in shear.
    up : the section's axis 2 lies in the plane of the chord and this direction; by default z, or y for a chord along z.
    length, pretension, strain : as for `Beam`.
    curvature : natural twist and curvatures about axes 2 and 3, from the attitudes of the ends; by default as at start.

    Stiffnesses, natural curvatures and strain may follow the control parameter.
    """

    GJ: Schedule = 0.0
    EI: Schedule | Sequence[Schedule] = 0.0
    GA: Schedule | Sequence[Schedule] | None = None
    up: Sequence[Quantity] = ()
    length: Quantity | None = None
    curvature: Sequence[Schedule] | None = None
    pretension: Quantity = 0.0
    strain: Schedule = 0.0

    kind: ClassVar[str] = "spatial_beam"
    drawn_as: ClassVar[str] = "beam"
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    section_names: ClassVar[tuple[str, ...]] = ("N", "Q2", "Q3", "T", "M2", "M3")

    def check(self, start: Start) -> None:
        """Positive stiffnesses, one or two of bending and shear; an `up` that is not along the chord."""
        stiff = ("EA", "GJ", "EI") if self.GA is None else ("EA", "GJ", "EI", "GA")
        for name in stiff[2:]:
            if np.shape(getattr(self, name)) not in {(), (2,)}:
                raise self.error(f"{name} needs one number or two", got=str(getattr(self, name)))
        self._check(start, stiff, self.length, self.pretension)
        if self.curvature is not None and len(self.curvature) != 3:
            raise self.error("`curvature` needs three numbers", got=str(self.curvature))
        if len(self.up) not in {0, 3}:
            raise self.error("`up` needs three numbers", got=str(tuple(self.up)))
        if not np.all(np.isfinite(self._triad(start))):
            raise self.error("`up` is along the beam", got=str(tuple(self.up)), expected="a direction across it")

    def _triad(self, start: Start) -> Array:
        """Axes of the section at the start, as columns; NaN where `up` gives no direction."""
        step = start.position(self.ends[1]) - start.position(self.ends[0])
        e1 = step / np.sqrt(step @ step)
        up = start.vector(self.up) if len(self.up) else np.array([0.0, 0.0, 1.0])
        across = up - (up @ e1) * e1
        if not len(self.up) and across @ across < AXIAL**2:
            across = np.array([0.0, 1.0, 0.0]) - e1[1] * e1
        size = np.sqrt(across @ across)
        if not size > AXIAL * np.sqrt(up @ up):
            return np.full((3, 3), np.nan)
        e2 = across / size
        return np.column_stack([e1, e2, np.cross(e1, e2)])

    def numbers(self, start: Start) -> dict[str, Any]:
        """Length, stiffnesses, natural turn, and the beam's triad in the axes of both ends."""
        triad = self._triad(start)
        first, second = (np.asarray(start.frames[name].rotation) for name in self.ends)
        return {
            **self._own_numbers(start),
            "length": self._natural(start, self.length, self.pretension),
            "own": triad.T @ first @ rotation_vector(*matrix_quaternion(first.T @ second)),
            "first": first.T @ triad,
            "second": second.T @ triad,
        }

    @property
    def _stiffnesses(self) -> dict[str, Quantity]:
        shear = {} if self.GA is None else dict(zip(("GA2", "GA3"), _two(self.GA), strict=True))
        return {"EA": self.EA, "GJ": self.GJ, **dict(zip(("EI2", "EI3"), _two(self.EI), strict=True)), **shear}

    @property
    def _free_state(self) -> dict[str, Quantity]:
        bent = () if self.curvature is None else self.curvature
        return {"swollen": self.strain, **{f"bent{i}": one for i, one in enumerate(bent)}}

    @property
    def variant(self) -> Hashable:
        """Whether it has curvatures and shear of its own and bears loads, and formulas of the control parameter."""
        return self.curvature is None, self.GA is None, self._shapes

    def _natural_turn(self, at: Local, own: Mapping[str, Any]) -> Any:
        if self.curvature is None:
            return jnp.zeros(3)
        return jnp.stack([own[f"bent{i}"] for i in range(3)]) * at.n.length - at.n.own

    def energy(self, at: Local) -> Any:
        """Energy of stretch, shear, twist and bending at the middle."""
        a, b = at.frames
        n, own = at.n, self._values(at)
        (shear2, bow2), (shear3, bow3) = (
            _shear(own.get(GA), own[EI], n.length) for GA, EI in (("GA2", "EI3"), ("GA3", "EI2"))
        )
        triad = a.rotation @ n.first
        relative = matrix_quaternion(triad.T @ (b.rotation @ n.second))
        turn, middle = rotation_vector(*relative), triad @ half_matrix(*relative)
        strain = (middle.T @ (b.position - a.position) - jnp.stack([n.length, 0.0, 0.0])) / n.length
        inside = turn[0] * turn - jnp.stack([turn @ turn, 0.0, 0.0])  # ψ × (ψ × e₁)
        bow = jnp.stack([bow2, bow3]) @ strain[1:] ** 2
        strain = strain - inside / 24.0 + jnp.stack([bow - own["swollen"], 0.0, 0.0])
        bend = (turn - self._natural_turn(at, own)) / n.length
        stiff = jnp.stack([own["EA"], shear2, shear3])
        return 0.5 * n.length * (stiff @ strain**2 + self._bending(own) @ bend**2)

    def _bending(self, own: Mapping[str, Any]) -> Any:
        return jnp.stack([own["GJ"], own["EI2"], own["EI3"]])

    def sections(self, at: Local, acting: Acting, share: Any) -> tuple[Any, ...]:
        """Forces N, Q2, Q3 and moments T, M2, M3 of a section, in its own axes; as for `Beam`."""
        (a, b), n = at.frames, at.n
        first, last = acting.wrenches()
        triad = a.rotation @ n.first
        psi = rotation_vector(*matrix_quaternion(triad.T @ (b.rotation @ n.second)))
        borne = borne_at(at, share, self.bears)
        force, M = with_loads((first, last), share, borne)
        change = 0.5 * (first.moment + last.moment) * share * (1.0 - share) + (0.0 if borne is None else borne.turn)
        e = triad @ rotation_matrix(share * psi + n.length * (triad.T @ change) / self._bending(self._values(at)))
        return (*(e.T @ force), *(e.T @ M))


AXIAL = 0.001  # sine of the angle to the chord below which a direction counts as along it


def _two(given: Quantity | Sequence[Quantity]) -> Sequence[Quantity]:
    return cast(Sequence[Quantity], (given, given) if np.ndim(given) == 0 else given)
