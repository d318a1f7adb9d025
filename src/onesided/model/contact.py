"""What a one-sided constraint does in motion: restitution and friction, checked when they are stated."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import jax
import jax.numpy as jnp

from onesided.arguments import checked
from onesided.errors import ModelError, UsageError
from onesided.model.compiling import prepare_jax
from onesided.model.contact_stepping import Leap
from onesided.model.derivatives import Parameters
from onesided.model.motion import MotionFunctions
from onesided.model.names import unknown_name
from onesided.model.rows import Row, families
from onesided.model.structure_motion import StructureMotion

if TYPE_CHECKING:
    from onesided.model.system import System

Slip = Callable[[Any, Any, Any], Any]


@checked
@dataclass(frozen=True)
class Contact:
    """How a contact behaves in motion.

    Stated of a bilateral constraint it says that this is a contact held together: where its force turns to pulling, a
    motion reports that lift-off is to be expected.

    Attributes
    ----------
    restitution : Newton's coefficient e in [0, 1]: v_N⁺ = −e v_N⁻ at an impact.
    friction : Coulomb's coefficient μ ≥ 0; infinity for a rough contact that never slides while it is closed.
    slip : tangential velocity (q, v, th) of the contact, linear in v: one number in the plane, two in space. The gap
        must be a distance for μ to be the ratio of forces. For many contacts in the plane: a row of `rows(…)`.
    """

    restitution: float = 0.0
    friction: float = 0.0
    slip: Slip | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.restitution <= 1.0:
            raise ModelError(
                "a coefficient of restitution is out of range", got=repr(self.restitution), expected="0 to 1"
            )
        if not self.friction >= 0.0:
            raise ModelError("a coefficient of friction is negative", got=repr(self.friction), expected="0 or more")
        if self.friction > 0.0 and self.slip is None:
            raise ModelError(
                "a contact with friction does not say how it slides",
                got=f"friction = {self.friction:g}, no `slip`",
                expected="slip=lambda q, v, th: tangential velocity",
            )

    @property
    def rough(self) -> bool:
        """Whether the contact never slides."""
        return math.isinf(self.friction)


def check_contacts(system: "System") -> None:
    """Refuse contacts that are not of this system, and slip functions that do not fit."""
    seen: set[int] = set()
    for name, contact in system.contacts.items():
        if name not in system.unilateral and name not in system.bilateral:
            raise unknown_name("constraint", name, (*system.unilateral, *system.bilateral))
        if not isinstance(contact, Contact):
            raise ModelError(f"contact '{name}' is not a Contact", got=repr(contact), expected="Contact(restitution=…)")
        family = contact.slip.family if isinstance(contact.slip, Row) else None
        if contact.slip is not None and id(family) not in seen:
            slip_size(system, name, contact.slip)
        if family is not None:
            seen.add(id(family))


def slip_size(system: "System", name: str, slip: Slip) -> int:
    """Number of tangential directions of a contact: 1 or 2."""
    prepare_jax()
    names, shape_of = tuple(system.parameters), cast(Any, jax.ShapeDtypeStruct)
    vector, numbers = shape_of((system.n,), jnp.float64), shape_of((len(names),), jnp.float64)
    try:
        shape = jax.eval_shape(
            lambda q, v, th: jnp.asarray(slip(q, v, Parameters(zip(names, th, strict=True)))), vector, vector, numbers
        ).shape
    except (TypeError, ValueError, AttributeError, IndexError, NameError) as e:
        raise ModelError(
            f"the slip of contact '{name}' cannot be evaluated",
            got=f"{type(e).__name__}: {e}",
            expected="a function (q, v, th) in jax.numpy",
        ) from e
    if shape not in ((), (1,), (2,)):
        raise ModelError(
            f"the slip of contact '{name}' has shape {shape}",
            expected="one number in the plane, (2,) in space",
            advice="the velocity of the contact point in the tangential directions",
        )
    return int(shape[0]) if shape else 1


@dataclass(frozen=True, eq=False)
class _Unfolded:
    """A system in which every gap is an equation and every slip a non-holonomic one."""

    system: "System"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.system, name)

    @property
    def bilateral(self) -> dict[str, Any]:
        return {**self.system.bilateral, **self.system.unilateral}

    @property
    def nonholonomic(self) -> dict[str, Any]:
        stated, gaps = self.system.contacts, self.system.unilateral
        slips = {f"slip of {name}": c.slip for name, c in stated.items() if c.friction > 0 and name in gaps}
        return {**self.system.nonholonomic, **slips}


class _Leaping(MotionFunctions):
    """Functions that can take many steps in one call."""

    @cached_property
    def leap(self) -> Leap:
        """Steps with the same contacts pressing."""
        return Leap(self)


class ContactFunctions(_Leaping):
    """Compiled equations of motion with rows for all gaps and slips; who steps chooses among the rows.

    Rows of G: bilateral, gaps; non-holonomic, slips (each with one or two rows).
    """

    def __init__(self, system: "System") -> None:
        super().__init__(_Unfolded(system))  # type: ignore[arg-type]
        self.joints, self.gaps_count = len(system.bilateral), len(system.unilateral)
        self.sizes = _slip_sizes(system)
        self.rolling = len(system.nonholonomic)
        self.k = self.rolling + sum(self.sizes.values())

    def force(self, t: Any, q: Any, v: Any, mu: Any, p: Any, vector: Any) -> Any:
        """Friction of joints knows the multipliers of the joints only."""
        return super().force(t, q, v, mu[: self.joints], p, vector)


class ContactStructure(StructureMotion, _Leaping):
    """The same for composed structures."""

    def __init__(self, system: "System") -> None:
        super().__init__(system)
        self.joints, self.gaps_count = len(system.bilateral), len(system.unilateral)
        self._rolling = families(_Unfolded(system).nonholonomic.values())
        self.sizes = _slip_sizes(system)
        self.m, self.rolling = self.joints + self.gaps_count, len(system.nonholonomic)
        self.k = self.rolling + sum(self.sizes.values())

    def gaps(self, q: Any, p: Any, vector: Any) -> Any:
        """Gaps of the unilateral constraints."""
        return self.holonomic(q, p, vector)[self.joints :]

    def nonholonomic(self, q: Any, v: Any, vector: Any) -> Any:
        """Rolling conditions and slips."""
        th = self.parameters(vector)
        found = [jnp.atleast_1d(f(q, v, th)) for f in self._rolling]
        return jnp.concatenate(found) if found else jnp.zeros(0)


@checked
def with_contacts(system: "System", contacts: Mapping[str, Contact]) -> "System":
    """The same system with other statements about its contacts in motion: for composed structures."""
    if not hasattr(system, "contacts"):
        raise UsageError("this is not a system", got=type(system).__name__, expected="a System")
    return replace(system, contacts=contacts)


def _slip_sizes(system: "System") -> dict[str, int]:
    return {
        name: 1 if isinstance(c.slip, Row) else slip_size(system, name, c.slip)
        for name, c in system.contacts.items()
        if c.slip and c.friction > 0 and name in system.unilateral
    }
