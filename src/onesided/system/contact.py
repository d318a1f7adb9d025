"""What a one-sided constraint does in motion: restitution and friction, checked when they are stated."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from onesided.base.arguments import checked, stated
from onesided.base.errors import ModelError, UsageError
from onesided.base.names import unknown_name
from onesided.evaluation.contact_steps import Leap
from onesided.evaluation.flat import Retraced, flattened
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.motion_functions import MotionFunctions
from onesided.evaluation.motion_terms import Constraints
from onesided.evaluation.rows import Row
from onesided.evaluation.user_functions import Parameters
from onesided.system.compliance import Compliance
from onesided.system.travel import made_by

if TYPE_CHECKING:
    from onesided.system.system import System

Slip = Callable[[Any, Any, Any], Any]
ADVICE = {
    "slip": "the velocity of the contact point in the tangential directions",
    "rolling": "the angular velocity about tangential axes",
    "spinning": "the angular velocity about the normal",
}
VERBS = {"slip": "slides", "rolling": "rolls", "spinning": "spins"}
KINDS = {"slip": "friction", "rolling": "rolling_friction", "spinning": "spinning_friction"}  # and their limits


@dataclass(frozen=True)
class StructureRate:
    """Velocities of a contact that an element of a structure states: evaluated with those of all its kind."""

    key: tuple[str, str]  # name of the gap; slip, rolling or spinning
    size: int

    def __call__(self, q: Any, v: Any, th: Any) -> Any:
        """Not alone: the structure gives all of them."""
        raise UsageError(f"the {self.key[1]} of composed contact '{self.key[0]}' belongs to its structure")


@stated
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
    static_friction : coefficient μ_s ≥ μ of a contact that sticks; `friction` is then that of one that slides, and of
        impacts. By default they are equal.
    rolling_friction : length c_r ≥ 0: the moment against rolling is at most c_r times the normal force.
    rolling : angular velocity (q, v, th) against the other body about tangential axes: one number in the plane, two in
        space.
    spinning_friction, spinning : the same about the normal: c_s, and one angular velocity, in space.
    compliance : `KelvinVoigt` or `HuntCrossley`: the gap may become negative, and a force resists. Hard by default.
        Without restitution, which damping makes; with friction for `Moreau` only.
    """

    restitution: float = 0.0
    friction: float = 0.0
    slip: Slip | None = None
    static_friction: float | None = None
    rolling_friction: float = 0.0
    rolling: Slip | None = None
    spinning_friction: float = 0.0
    spinning: Slip | None = None
    compliance: Compliance | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.restitution <= 1.0:
            raise ModelError(
                "a coefficient of restitution is out of range", got=repr(self.restitution), expected="0 to 1"
            )
        for kind, limit in KINDS.items():
            self._check_limit(kind, limit)
        if self.compliance is not None and self.restitution:
            raise ModelError(
                "a compliant contact has no restitution",
                got=f"restitution = {self.restitution:g}",
                expected="damping or dissipation of the law",
            )
        if self.compliance is not None and self.rough:
            raise ModelError("a compliant contact cannot be rough", got="friction = inf", expected="a number")
        if self.static_friction is not None and not self.friction <= self.static_friction:
            raise ModelError(
                "static friction is below kinetic friction",
                got=f"static_friction = {self.static_friction}, friction = {self.friction:g}",
                expected="static_friction ≥ friction",
            )
        if self.static_friction and self.friction == 0.0:
            raise ModelError(
                "static friction needs kinetic friction", got="friction = 0", expected="friction > 0, however small"
            )

    def _check_limit(self, kind: str, limit: str) -> None:
        value, words = getattr(self, limit), limit.replace("_", " ")
        if not value >= 0.0:
            raise ModelError(f"a coefficient of {words} is negative", got=repr(value), expected="0 or more")
        if kind != "slip" and math.isinf(value):
            raise ModelError(f"a coefficient of {words} is not finite", expected="a length")
        if value > 0.0 and getattr(self, kind) is None:
            meant = {"slip": "tangential velocity"}.get(kind, "angular velocity")
            raise ModelError(
                f"a contact with {words} does not say how it {VERBS[kind]}",
                got=f"{limit} = {value:g}, no `{kind}`",
                expected=f"{kind}=lambda q, v, th: {meant}",
            )

    @property
    def rough(self) -> bool:
        """Whether the contact never slides."""
        return math.isinf(self.friction)

    @property
    def static(self) -> float:
        """The coefficient at which it begins to slide."""
        return self.friction if self.static_friction is None else self.static_friction


class Block(NamedTuple):
    """Velocities of a contact that one friction force (or moment) resists: which, whose, how many, up to what share."""

    kind: str
    contact: str
    function: Any
    size: int
    kinetic: float
    static: float

    @property
    def name(self) -> str:
        """What its rows are called."""
        return f"{self.kind} of {self.contact}"


def blocks_of(system: "System") -> tuple[Block, ...]:
    """All friction of the gaps of a system: slips first, then rolling, then spinning."""
    found = []
    for kind, limit in KINDS.items():
        for name, c in system.contacts.items():
            value, function = getattr(c, limit), getattr(c, kind)
            if value > 0.0 and name in system.unilateral:
                static = c.static if kind == "slip" else value
                found.append(Block(kind, name, function, slip_size(system, name, function, kind), value, static))
    return tuple(found)


def check_contacts(system: "System") -> None:
    """Refuse contacts that are not of this system, and slip functions that do not fit."""
    seen: set[int] = set()
    for name, contact in system.contacts.items():
        if name not in system.unilateral and name not in system.bilateral:
            raise unknown_name("constraint", name, (*system.unilateral, *system.bilateral))
        if not isinstance(contact, Contact):
            raise ModelError(f"contact '{name}' is not a Contact", got=repr(contact), expected="Contact(restitution=…)")
        for kind in KINDS:
            function = getattr(contact, kind)
            family = function.family if isinstance(function, Row) else None
            if function is not None and id(family) not in seen:
                slip_size(system, name, function, kind)
            if family is not None:
                seen.add(id(family))


def slip_size(system: "System", name: str, slip: Slip, kind: str = "slip") -> int:
    """Number of tangential directions of a contact: 1 or 2."""
    if isinstance(slip, Row):
        return 1
    if isinstance(slip, StructureRate):
        return slip.size
    prepare_jax()
    names, shape_of = tuple(system.parameters), cast(Any, jax.ShapeDtypeStruct)
    vector, numbers = shape_of((system.n,), jnp.float64), shape_of((len(names),), jnp.float64)
    try:
        traced = jax.make_jaxpr(lambda q, v, th: jnp.asarray(slip(q, v, Parameters(zip(names, th, strict=True)))))(
            vector, vector, numbers
        )
    except (TypeError, ValueError, AttributeError, IndexError, NameError) as e:
        raise ModelError(
            f"the {kind} of contact '{name}' cannot be evaluated",
            got=f"{type(e).__name__}: {e}",
            expected="a function (q, v, th) in jax.numpy",
        ) from e
    shape = traced.out_avals[0].shape
    if shape not in ((), (1,), (2,)) or (kind == "spinning" and shape == (2,)):
        raise ModelError(
            f"the {kind} of contact '{name}' has shape {shape}",
            expected="one number" if kind == "spinning" else "one number in the plane, (2,) in space",
            advice=ADVICE[kind],
        )
    flat = flattened(traced)
    if flat.inputs[1] not in {*flat.outputs, *(number for line in flat.lines for number in line.inputs)}:
        raise ModelError(
            f"the {kind} of contact '{name}' does not depend on the velocities",
            expected="a function (q, v, th) that is linear in v",
            advice=ADVICE[kind],
        )
    return int(shape[0]) if shape else 1


def unfolded(system: "System", blocks: tuple[Block, ...]) -> Constraints:
    """Every gap as an equation, and every slip as a non-holonomic one."""
    rates = {block.name: block.function for block in blocks}
    return Constraints({**system.bilateral, **system.unilateral}, {**system.nonholonomic, **rates})


class Leaping(MotionFunctions):
    """Equations of motion with rows for all gaps and slips, which can take many steps in one call."""

    blocks: tuple[Block, ...]
    joints: int
    gaps_count: int
    rolling: int

    @cached_property
    def leap(self) -> Leap:
        """Steps with the same contacts pressing."""
        return Leap(self)


class ContactFunctions(Leaping):
    """Compiled equations of motion with rows for all gaps and slips; who steps chooses among the rows.

    Rows of G: bilateral, gaps; non-holonomic, slips (each with one or two rows).
    """

    def __init__(self, system: "System") -> None:
        self.blocks = blocks_of(system)
        super().__init__(system, unfolded(system, self.blocks))
        self.joints, self.gaps_count = len(system.bilateral), len(system.unilateral)
        self.rolling = len(system.nonholonomic)
        self.k = self.rolling + sum(block.size for block in self.blocks)

    @Retraced
    def force(self, t: Any, q: Any, v: Any, mu: Any, p: Any, vector: Any, *, p_dot: Any = 0.0) -> Any:
        """Friction of joints knows the multipliers of the joints only."""
        return super().force(t, q, v, mu[: self.joints], p, vector, p_dot=p_dot)


@checked
def with_contacts(system: "System", contacts: Mapping[str, Contact]) -> "System":
    """The same system with other statements about some of its contacts in motion: for composed structures."""
    if not hasattr(system, "contacts"):
        raise UsageError("this is not a system", got=type(system).__name__, expected="a System")
    changed = replace(system, contacts={**system.contacts, **contacts})
    return made_by(changed, with_contacts, system, dict(contacts))
