"""`System`: a mechanical system as pure functions of coordinates q and control parameter p."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import check_labels, check_names, some, unknown_name
from onesided.base.tolerances import DEFAULT, Tolerances
from onesided.base.types import Array
from onesided.base.views import views
from onesided.evaluation.compiling import Compiled
from onesided.evaluation.derivatives import Derivatives
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.evaluation.motion_functions import MotionFunctions
from onesided.evaluation.native_newton import NativeBlocks
from onesided.evaluation.step_data import CurveFrame, Here, PathStretch, StepKnobs
from onesided.evaluation.user_functions import Function, Scalar
from onesided.groups import Group
from onesided.results.member_series import Members
from onesided.results.sketch import Sketch
from onesided.system.contact import Contact, Leaping, check_contacts
from onesided.system.measures import Measure, evaluate_measures
from onesided.system.motion_check import check_motion
from onesided.system.motion_compilers import MotionCompilers
from onesided.system.point_checks import (
    as_point,
    check_finite_at,
    check_forces,
    check_functions,
    check_gaps_change,
    compared_derivatives,
    parameter_numbers,
)
from onesided.system.sizes import Probe, Scales, Sizes, sizes_at
from onesided.system.travel import Made, made_by, travelling

Kinks = Sequence[float] | Callable[[Mapping[str, float]], Sequence[float]]
_TABLES = ("bilateral", "unilateral", "nonholonomic", "servo")


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """A mechanical system: energy, constraints, parameters; frozen, and without knowledge of solvers.

    Parameters
    ----------
    coordinates : names of the generalised coordinates q.
    energy : callable U(q, p, th) → scalar in `jax.numpy`, or a `Function` with exact derivatives.
    unilateral : name → gap g(q, p, th) ≥ 0; its multiplier λ ≥ 0 is the reaction.
    bilateral : name → h(q, p, th) = 0; multiplier μ of either sign.
    parameters : named numbers th, what studies vary.
    control : name of the control parameter p.
    scales : typical sizes, estimated where not given.
    measures : name → function(q, p, th) of interest beside the coordinates; results hold their values.
    sketch : how to draw the system, for pictures and reports.
    kinetic, mass, force : for motion: T(q, v, th) or M(q, th), and Q(t, q, v, p, th), (n,).
    nonholonomic : name → f(q, v, th) = 0, linear in the velocities.
    friction : forces F(q, v, mu, th), (n,), that depend on the multipliers of the bilateral constraints.
    servo, actuation : conditions s(q, p, th) = 0 that inputs u meet through the forces B(q, th) u, B (n, number of
        conditions).
    space : configuration space of the coordinates, by default vectors with v = q̇; see `onesided.groups`.
    contacts : name of a gap → `Contact`: its restitution and friction in motion; without, neither.
    words : name of a gap → noun, what closing and what opening is called, where these are not ("contact", "closes",
        "opens").
    labels : name of a coordinate, measure or the control → what pictures call it, and its unit: ("tip height", "mm").
    kinks : values of p at which energy or constraints have kinks, or a function of the parameters that gives them:
        paths are traced in pieces between them. Formulas tell theirs.
    structure, derivatives : set by `compose`: the parts the system was made of, and their sum.
    surfaces : set by `with_surfaces`: looks after contact points during a motion.
    task : set by `load`: the start, p, range and motion that the file states; verbs use them where nothing is said.

    Notes
    -----
    Equilibrium: U_q − h_qᵀμ − g_qᵀλ = 0 with g ≥ 0, λ ≥ 0, gᵀλ = 0 [SP1 (3.1)–(3.5)]. Double precision is switched on
    in JAX when the first System is made.

    Examples
    --------
    >>> import onesided
    >>> block = onesided.System(
    ...     coordinates=("x",), energy=lambda q, p, th: th.k * (q[0] - p) ** 2 / 2,
    ...     unilateral={"wall": lambda q, p, th: q[0]}, parameters={"k": 2.0})
    >>> block.replace(parameters={"k": 3.0}).parameters["k"]
    3.0
    """

    coordinates: tuple[str, ...]
    energy: Scalar | Function
    unilateral: Mapping[str, Scalar | Function] = field(default_factory=dict)
    bilateral: Mapping[str, Scalar | Function] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    control: str = "p"
    scales: Scales = field(default_factory=Scales)
    kinetic: Callable[..., Any] | None = None
    mass: Callable[..., Any] | None = None
    force: Callable[..., Any] | None = None
    measures: Mapping[str, Measure] = field(default_factory=dict)
    sketch: Sketch | None = None
    nonholonomic: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    friction: Callable[..., Any] | None = None
    servo: Mapping[str, Scalar] = field(default_factory=dict)
    actuation: Callable[..., Any] | None = None
    space: Group | None = None
    contacts: Mapping[str, Contact] = field(default_factory=dict)
    words: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    kinks: Kinks = ()
    structure: Any = field(default=None, repr=False, compare=False)
    surfaces: Any = field(default=None, repr=False, compare=False)
    derivatives: Derivatives = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    _compilers: MotionCompilers = field(init=False, repr=False, compare=False)
    _vector: Any = field(init=False, repr=False, compare=False)
    _derived: dict[str, Any] = field(init=False, repr=False, compare=False)
    made: Made | None = field(init=False, repr=False, compare=False)
    task: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.coordinates, str):  # type: ignore[unreachable]
            raise ModelError(
                "`coordinates` is a string", got=repr(self.coordinates), expected=f"a tuple: ({self.coordinates!r},)"
            )
        self._set("coordinates", check_names("coordinate", self.coordinates))
        check_names("coordinate and control parameter", [*self.coordinates, self.control])
        if not self.coordinates:
            raise ModelError("there is no coordinate", expected="at least one name in `coordinates`")
        for kind in (*_TABLES, "parameters", "contacts"):
            given = getattr(self, kind)
            if not isinstance(given, Mapping):
                raise ModelError(f"`{kind}` is not a mapping", got=type(given).__name__, expected="{name: …}")
        check_names("constraint", [name for kind in _TABLES for name in getattr(self, kind)])
        self._set("parameters", MappingProxyType(parameter_numbers(self.parameters)))
        for kind in _TABLES:
            self._set(kind, MappingProxyType(dict(getattr(self, kind))))
        self._set("contacts", MappingProxyType(dict(self.contacts)))
        self._set("labels", MappingProxyType(check_labels(self.labels)))
        if self.structure is None:
            self._compile()
        check_contacts(self)
        self._set("_compilers", MotionCompilers(self))
        self._set("_vector", self.derivatives.constants(self.parameters))
        self._set("_derived", {})
        self._set("made", None)
        self._set("task", None)

    def _compile(self) -> None:
        """Check the user's functions and make their derivatives."""
        names = tuple(self.parameters)
        check_functions(self._labelled(), self.n, names)
        constraints = [*self.bilateral.values(), *self.unilateral.values()]
        self._set("derivatives", Derivatives(self.n, self.energy, constraints, names))
        check_motion(self)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _labelled(self) -> list[tuple[str, Scalar | Function]]:
        if self.structure is not None:
            return []
        gaps = [(f"gap '{name}'", f) for name, f in self.unilateral.items()]
        joints = [(f"bilateral constraint '{name}'", f) for name, f in self.bilateral.items()]
        return [("energy", self.energy), *joints, *gaps]

    def __copy__(self) -> "System":
        """The same statement and the same compiled functions."""
        new = object.__new__(System)
        new.__dict__.update(self.__dict__)
        new._set("_derived", {})
        return new

    def derived(self, name: str, make: Callable[["System"], Any]) -> Any:
        """What is made of this very system, parameters included, once: it lives as long as the system does."""
        if name not in self._derived:
            self._derived.setdefault(name, make(self))
        return self._derived[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it was made from; the copy is compiled anew."""
        return travelling(self)

    def _repr_html_(self) -> str:
        return str(views("report").system_html(self))

    def __repr__(self) -> str:
        parts = [
            some(self.coordinates),
            *(
                f"{kind} {some(tuple(getattr(self, kind)))}"
                for kind in ("bilateral", "unilateral")
                if getattr(self, kind)
            ),
            f"control {self.control}",
        ]
        return f"System({'; '.join(parts)})"

    @property
    def motion(self) -> MotionFunctions:
        """Compiled equations of motion with joints; gaps are not looked at."""
        return self._compilers.motion

    @property
    def contact_motion(self) -> Leaping:
        """Compiled equations of motion with rows for all gaps and slips."""
        return self._compilers.contact_motion

    @property
    def resting_force(self) -> Compiled:
        """Forces at rest in some places, rows (t, q, p), for a vector of parameters."""
        return self._compilers.resting_force

    @property
    def n(self) -> int:
        """Number of coordinates q."""
        return len(self.coordinates)

    @property
    def start(self) -> Array:
        """The configuration in which a structure was composed, or that a file states."""
        if not self.has_start:
            raise ModelError("this system has no start of its own", expected="one that `compose` or `load` made")
        own = np.zeros(self.n) if self.structure is None else self.structure.start_values(self.parameters)
        number = {name: i for i, name in enumerate(self.coordinates)}
        for name, value in ({} if self.task is None else self.task.given).items():
            own[number[name]] = value
        return np.asarray(own)

    @property
    def has_start(self) -> bool:
        """Whether there is a configuration to start from."""
        return self.structure is not None or self.task is not None

    def words_for(self, name: str) -> tuple[str, str, str]:
        """How events of a one-sided constraint are reported: noun, what closing and what opening is called."""
        if name in self.bilateral:
            return "joint", "closes", "opens"
        if self.structure is not None:
            return tuple(self.structure.words(name))
        return self.words.get(name, ("contact", "closes", "opens"))

    @property
    def history(self) -> Mapping[str, int]:
        """Parameters that remember (permanent set), with the number of the coordinate whose value each takes over."""
        return {} if self.structure is None else dict(self.structure.history)

    @property
    def kinked(self) -> bool:
        """Whether there are kinks of p, for these parameters or for others."""
        own = callable(self.kinks) or len(self.kinks) > 0
        return own or (self.structure is not None and self.structure.kinked)

    @property
    def control_kinks(self) -> tuple[float, ...]:
        """Values of p at which energy or constraints have kinks, growing; the system is smooth in between.

        Raises
        ------
        FormulaError
            Where formulas have kinks whose places are not known.
        """
        own = self.kinks(self.parameters) if callable(self.kinks) else self.kinks
        made = () if self.structure is None else self.structure.control_kinks(self.parameters)
        found = sorted({*(float(p) for p in own), *made})
        if not np.all(np.isfinite(found)):
            raise ModelError("a kink is not at a number", got=str(found), expected=f"values of {self.control}")
        return tuple(found)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names in the order of the multipliers ν = (μ, λ): bilateral, then unilateral."""
        return (*self.bilateral, *self.unilateral)

    def replace(self, *, parameters: Mapping[str, float] | None = None, scales: Scales | None = None) -> "System":
        """A new system with some parameters or the scales changed; nothing is compiled anew."""
        values = dict(self.parameters)
        for name, value in (parameters or {}).items():
            if name not in values:
                raise unknown_name("parameter", name, values)
            values[name] = value
        new = copy(self)
        new._set("parameters", MappingProxyType(parameter_numbers(values)))
        new._set("_vector", self.derivatives.constants(new.parameters))
        new._set("scales", self.scales if scales is None else scales)
        return new

    def labelled(self, labels: Mapping[str, tuple[str, str]]) -> "System":
        """The same system whose quantities pictures call by these labels, with units: name → (label, unit)."""
        new = copy(self)
        new._set("labels", MappingProxyType({**self.labels, **check_labels(labels)}))
        return made_by(new, System.labelled, self, dict(new.labels))

    def evaluate(self, q: Array, p: float, nu: Array) -> Evaluation:
        """All blocks of the equilibrium equations at (q, p) with multipliers ν = (μ, λ)."""
        return self.evaluate_packed(self.derivatives.pack(q, p, nu))

    def evaluate_packed(self, x: Array) -> Evaluation:
        """The same at a packed point x = (q, p, ν)."""
        return self.derivatives.evaluate(x, self._vector)

    def keep(self, x: Array, e: Evaluation) -> None:
        """Remember blocks that are known at a packed point: it need not be evaluated once more."""
        self.derivatives.keep(x, self._vector, e)

    def native_blocks(self) -> NativeBlocks | None:
        """All blocks at a packed point as machine code for other machine code, if there is any."""
        return self.derivatives.native_blocks(self._vector)

    def residual(self, q: Array, p: float, nu: Array) -> tuple[float, Array, Array]:
        """Energy, force balance L_q (n,) and constraint values c (m,), ordered as `constraint_names`."""
        return self.residual_packed(self.derivatives.pack(q, p, nu))

    def residual_packed(self, x: Array) -> tuple[float, Array, Array]:
        """The same at a packed point."""
        return self.derivatives.residual(x, self._vector)

    def residuals_packed(self, X: Array) -> tuple[Array, Array, Array]:
        """The same at many packed points, the rows of X."""
        return self.derivatives.residuals(X, self._vector)

    def evaluate_many(self, X: Array) -> Evaluation:
        """All blocks at many packed points, the rows of X."""
        return self.derivatives.evaluate_many(X, self._vector)

    def look(self, X: Array, directions: Array) -> tuple[Array, Array]:
        """Constraint values and the derivative of (L_q, c) in a direction of its own at many packed points."""
        return self.derivatives.look(X, directions, self._vector)

    def constraint_values(self, X: Array) -> Array:
        """Values of all constraints at many packed points, the rows of X, of which (q, p) is enough: (N, m)."""
        return self.derivatives.constraint_values(X, self._vector)

    def along(self, x: Array, direction: Array, order: int) -> Array:
        """Derivative of `order` of (L_q, c) along x + s·direction, both packed as (q, p, ν): (n + m,)."""
        return self.derivatives.along(x, direction, self._vector, order)

    @property
    def depends_on_p(self) -> bool:
        """Whether energy or constraints contain p; they need not change with it."""
        return self.derivatives.may_depend_on_p(self._vector)

    def curvature(self, x: Array, direction: Array) -> float:
        """Second derivative of the Lagrangian along x + s·direction at constant multipliers."""
        return self.derivatives.curvature(x, direction, self._vector)

    def parameter_slopes(self, x: Array, lines: Array | None = None, *, about: bool = False) -> Array:
        """(U_θ, L_qθ, c_θ) at a packed point, a row per parameter, or per combination of them: (P, 1 + n + m).

        `about`: how numbers of parts follow from the parameters may be as at the parameters asked for before.
        """
        return self.derivatives.slopes.first(x, self._vector, self.parameters, lines, about=about)

    def parameter_slopes_along(
        self, x: Array, direction: Array, lines: Array | None = None, *, about: bool = False
    ) -> Array:
        """Derivative of (L_qθ, c_θ) along x + s·direction, a row per parameter or combination: (P, n + m)."""
        return self.derivatives.slopes.along(x, direction, self._vector, self.parameters, lines, about=about)

    def measured(self, q: Array, p: Array, members: Members | None = None) -> dict[str, Array]:
        """Values of the measures along a result, q (N, n), p (N,), with its member results: name → (N,)."""
        return evaluate_measures(self.measures, q, p, self.parameters, members)

    def members(self, q: Array, p: Array, nu: Array, rates: tuple[Array, ...] | None = None) -> Members:
        """Member results along q (N, n), p (N,), ν (N, m), in motion with v, accelerations and ṗ, when read."""
        if self.structure is None:
            return Members()
        found: Members = self.structure.members(self, q, p, nu, rates)
        return found

    def march(self, here: Here, knobs: StepKnobs, frame: CurveFrame) -> PathStretch:
        """Many steps along the equilibria with a fixed working set, in one compiled call."""
        return self.derivatives.stepping.march(here, knobs, frame, self._vector)

    def point(self, q: Any) -> Array:
        """Check a configuration given by a user (sequence or name → value) and return it as a float64 array."""
        return as_point(self, q)

    def check_finite(self, q: Array, p: float) -> None:
        """Raise a ModelError that names what is not finite at (q, p): p, or a function and which derivative of it."""
        check_finite_at(self, q, p)

    def check_start(self, q: Array, p: float) -> None:
        """Refuse what `check_model` does, and for statics forces without potential and motions that nothing resists."""
        self.check_model(q, p)
        check_forces(self, q, p)
        if self.structure is not None and not self.derivatives.large:  # large ones show it by their factors
            self.structure.check_supported(self, q, p)

    def check_model(self, q: Array, p: float) -> None:
        """Refuse a start at which the model cannot be evaluated, wrong derivatives, and gaps that are constant."""
        self.check_finite(q, p)
        self.check_derivatives(q, p)
        check_gaps_change(self, q, p)

    def sizes(self, q: Array, p: float, *, together: bool = False) -> Sizes:
        """Typical sizes at a point: those given in `scales`, the others estimated from the model.

        `together` looks at several points at once, by a compiled function of its own.
        """
        probe = Probe(self.derivatives, self._vector, together and not self.derivatives.large, self.units)
        return sizes_at(probe, np.asarray(q, dtype=np.float64), p, self.scales)

    @property
    def units(self) -> Array:
        """Numbers in which coordinates of several kinds are comparable, (n,)."""
        found: Array = self.derived("units", _units)
        return found

    def check_derivatives(self, q: Any, p: float, *, tolerances: Tolerances = DEFAULT) -> dict[str, float]:
        """Compare supplied with automatic derivatives at (q, p); raise a ModelError where they disagree.

        Returns the largest relative difference per function and derivative.
        """
        return compared_derivatives(self, self._labelled(), self.point(q), p, tolerances)


def _units(system: System) -> Array:
    """Units that are given, those of a structure, or ones."""
    given = system.scales.units(system.n)
    if given is not None:
        return given
    return np.ones(system.n) if system.structure is None else np.asarray(system.structure.units(system.parameters))
