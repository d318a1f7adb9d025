"""Torsion springs: an energy of the angle between two places, or of one place and the ground."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.types import Array
from onesided.elements.contract import Acting, Local, Quantity, Start
from onesided.elements.law_members import LawMember
from onesided.elements.laws import check_law
from onesided.elements.schedules import Schedule, Scheduled
from onesided.formulas.unfolding import Unfolded


@dataclass(frozen=True)
class TorsionSpring(LawMember):
    """A torsion spring: energy of the angle by which its second end is turned against its first, less `angle`.

    In the plane the angle is the difference of the two angles, counted over full turns. In space it is the twist about
    `axis`, 0 at the start, between −π and π: the hinge may not turn by half a turn from the start; where the bodies
    also tilt against each other it is the twist of the swing-twist decomposition.

    Parameters
    ----------
    ends : two bodies or markers, or one: then it is turned against the ground.
    stiffness : moment per angle; it may follow the control parameter, as angle and pretension may.
    angle : natural angle; by default that of the start.
    pretension : moment with which the spring turns its second end back at the start, where `angle` is not given.
    law : energy as a formula of the angle `a` (less the natural one) and parameters, instead of a stiffness; kinks as
        for a bar.
    table : moment over angle (less the natural one) by points [[angle, moment], …], instead of a stiffness; `rounding`:
        as for a bar. In files angles are radians.
    axis : in space, the hinge's direction in the axes of the first end (of the ground, for one end).
    """

    ends: Sequence[str] = ()
    stiffness: Schedule | None = None
    angle: Schedule | None = None
    pretension: Schedule = 0.0
    law: str | None = None
    axis: Sequence[Quantity] = (0.0, 0.0, 1.0)
    table: Sequence[Sequence[Quantity]] | None = field(default=None, kw_only=True)
    rounding: Quantity = field(default=0.0, kw_only=True)
    moving: bool = field(default=False, kw_only=True, repr=False)  # in motion kinks have no coordinates
    pieces: Unfolded | None = field(default=None, kw_only=True, repr=False)  # of its law, when composed

    kind: ClassVar[str] = "torsion_spring"
    inner_is_length: ClassVar[bool] = False
    turns: ClassVar[bool] = True
    measure: ClassVar[str] = "a"

    @property
    def places(self) -> tuple[str, ...]:
        """Names of its one or two ends."""
        return tuple(self.ends)

    @property
    def variant(self) -> Hashable:
        """The formula of its law, and formulas of the control parameter."""
        law: Hashable = (self.law, self.control) if self.law is not None else None
        law = self._table.shape if self.table is not None else law
        return law, self.angle is None, tuple(one.shape for one in self._schedules)

    @property
    def _schedules(self) -> tuple[Scheduled, ...]:
        """Natural angle, pretension and stiffness: they may follow the control parameter."""
        stiffness = 1.0 if self.stiffness is None else self.stiffness
        given = {"angle": 0.0 if self.angle is None else self.angle, "pull": self.pretension, "stiffness": stiffness}
        return tuple(Scheduled(key, value, self.control) for key, value in given.items())

    @property
    def driven(self) -> bool:
        """Whether its natural angle, stiffness or law follows the control parameter."""
        return any(one.moves for one in self._schedules) or (self.law is not None and self._law.moves)

    def check(self, start: Start) -> None:
        """One statement of the stiffness; an axis with a direction."""
        if isinstance(self.ends, str) or len(self.ends) not in {1, 2}:
            raise self.error("needs one end or two", got=str(self.ends))
        if sum(one is not None for one in (self.stiffness, self.law, self.table)) != 1:
            raise self.error("its stiffness is not clear", expected="one of `stiffness`, `law`, `table`")
        if self.table is not None:
            self._table.check(self, start, self.rounding)
        check_law(self, self.law, self.measure, start)
        softens = self._schedules[2].moves
        if softens and self.pretension != 0.0:
            raise self.error("`pretension` has no meaning where `stiffness` changes", advice="`angle`")
        if self.stiffness is not None and not softens and not start.value(self.stiffness) > 0:
            got = f"{start.value(self.stiffness):g}"
            raise self.error("its stiffness is not positive", got=got, advice="or use `law`")
        if self.pretension != 0.0 and (self.stiffness is None or self.angle is not None):
            raise self.error("`pretension` has no meaning here", expected="a stiffness, and no natural angle")
        if len(start.position(self.ends[0])) == 3:
            axis = start.vector(self.axis)
            if axis.shape != (3,) or not axis @ axis > 0:
                raise self.error("its axis has no direction", got=str(tuple(self.axis)), expected="three numbers")

    def numbers(self, start: Start) -> dict[str, Any]:
        """Natural angle; stiffness or parameters of the law; in space the axis and the start."""
        now, shape = self._at_start(start)
        law: dict[str, Any] = {} if self.law is None else self._law.numbers(start)
        law = self._table.numbers(start, self.rounding) if self.table is not None else law
        own = {key: value for one in self._schedules for key, value in one.numbers(start).items()}
        return {"now": now, **own, **law, **shape}

    def natural(self, at: Local) -> Any:
        """Natural angle: as given, or such that the moment at the start is the pretension."""
        angle, pull, stiffness = self._schedules
        return angle.value(at) if self.angle is not None else at.n.now - pull.value(at) / stiffness.value(at)

    def _at_start(self, start: Start) -> tuple[float, dict[str, Array]]:
        frames = [start.frames[name] for name in self.ends]
        if len(frames[0].position) == 2:
            return float(frames[-1].angle - (frames[0].angle if len(frames) == 2 else 0.0)), {}
        axis = start.vector(self.axis)
        first = np.asarray(frames[0].rotation) if len(frames) == 2 else np.eye(3)
        return 0.0, {"axis": axis / np.sqrt(axis @ axis), "turned": first.T @ np.asarray(frames[-1].rotation)}

    def turn(self, at: Local) -> Any:
        """The angle between its ends."""
        two = len(at.frames) == 2
        if len(at.frames[0].position) == 2:
            return at.frames[-1].angle - (at.frames[0].angle if two else 0.0)
        R = at.frames[-1].rotation @ at.n.turned.T
        R = at.frames[0].rotation.T @ R if two else R
        sine = 0.5 * jnp.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return 2.0 * jnp.arctan2(at.n.axis @ sine, 0.5 * (1.0 + jnp.trace(R)))  # tan(a/2) = sin a / (1 + cos a)

    def measured(self, at: Local) -> Any:
        """Angle between the ends less the natural one."""
        return self.turn(at) - self.natural(at)

    def measured_at_start(self, start: Start) -> float:
        """The same at the start; 0 where the natural angle is that of the start."""
        if self.angle is None:
            return 0.0
        return self._at_start(start)[0] - float(self._schedules[0].along(start, 0.0))

    def energy(self, at: Local) -> Any:
        """Energy of the angle at the present turn of the ends."""
        return self.stored(at, self.turn(at))

    def stored(self, at: Local, turn: Any) -> Any:
        """Energy at an angle between its ends."""
        angle = turn - self.natural(at)
        if self.table is not None:
            return self._table.energy(angle, at)
        if self.law is None:
            return self._schedules[2].value(at) / 2 * angle**2
        return self._law.energy(angle, at)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Moment with which it turns its second end back, angle between its ends, natural angle."""
        return (".moment", ".angle", ".natural_angle")

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """The moment is the derivative of the energy with respect to the angle."""
        turn = self.turn(at)
        return jax.grad(self.stored, 1)(at, turn), turn, self.natural(at)
