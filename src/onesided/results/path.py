"""Equilibrium paths: rays, events, and the path itself as plain arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.equilibrium import ConstraintStates, State
from onesided.results.member_series import Members
from onesided.results.named_series import NamedSeries
from onesided.results.numbering import Happenings, numbered
from onesided.results.shape import Shape
from onesided.results.sketch import Sketch
from onesided.results.wording import LINES, degree, line_by_line, shortened


class Kind(Enum):
    """What happens at a special point of a path; the value is its name in words."""

    closes = "contact closes"
    opens = "contact opens"
    limit = "limit point"
    corner_limit = "corner limit point"
    smooth_bifurcation = "smooth bifurcation"
    nonsmooth_bifurcation = "non-smooth bifurcation"
    idle = "idle contact"
    end = "end point"
    jammed = "jammed"
    continuum = "non-unique path derivative"
    bound = "bound reached"
    user = "user event"
    kink = "kink of the loading"


@dataclass(frozen=True, eq=False, repr=False)
class Ray:
    """One direction in which equilibria leave a point: right-hand derivatives along the path.

    Attributes
    ----------
    q_dot : (n,), p_dot : float, mu_dot : (k,), lam_dot : (m,), gap_dot : (m,)
        Derivatives, of length one in the scaled metric of the path.
    p_sign : sign of the change of p along the ray: of ṗ, or of p̈ or p⃛ where the lower ones vanish; 0 if all do.
    closed : names of the unilateral constraints held closed on this branch.
    instability : negative eigenvalues at the point of the Hessian reduced on the constraints closed on this branch.
    order : derivative that decided `p_sign` (1, 2, 3 …; 0 if none did).
    continuum : whether the ray is an extreme one of a whole cone of directions.
    ahead : a point (q, p, μ, λ) on the branch a small distance from where it leaves a singular point; None elsewhere.
    idle : names of the unilateral constraints that stay closed without force along the branch.
    nu : multipliers (μ, λ) from which the branch starts, where they are not unique and not those of the event.
    loose : names of the unilateral constraints whose forces are not unique along the branch.
    isotropy : name of the symmetries that the branch keeps, where a symmetry was given.
    beyond : degree of instability a little further along the branch; None where it is not known.
    reach : how far along the branch that is, in scaled units.
    """

    q_dot: Array
    p_dot: float
    mu_dot: Array
    lam_dot: Array
    gap_dot: Array
    p_sign: int
    order: int
    instability: int
    closed: tuple[str, ...]
    rows: tuple[int, ...] = field(repr=False)
    continuum: bool = False
    ahead: Array | None = field(default=None, repr=False)
    idle: tuple[str, ...] = ()
    nu: Array | None = field(default=None, repr=False)
    loose: tuple[str, ...] = ()
    isotropy: str = ""
    beyond: int | None = None
    reach: float = 0.0

    def words(self) -> str:
        """Where the branch goes: sense of p, contacts closed, stability."""
        sense = {1: "p grows", 0: "p stays", -1: "p falls"}[self.p_sign]
        closed = f"closed: {', '.join(self.closed)}" if self.closed else "nothing closed"
        parts = [sense, closed, degree(self.instability), *([f"keeps {self.isotropy}"] if self.isotropy else [])]
        return "; ".join(parts) + ("; one of a continuum" if self.continuum else "")

    def __repr__(self) -> str:
        return f"<Ray: {self.words()}>"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return str(views("report").bold(f"Ray: {self.words()}"))

    @property
    def x_dot(self) -> Array:
        """All derivatives, packed as (q, p, μ, λ)."""
        return np.concatenate([self.q_dot, [self.p_dot], self.mu_dot, self.lam_dot])


@dataclass(frozen=True, eq=False, repr=False)
class Rays:
    """All rays at a point.

    Attributes
    ----------
    rays : the directions found.
    complete : False when branches may be missing; `reason` says why.
    multiplicity : dimension of the null space of the smooth pieces (1 regular, 2 simple bifurcation, 3 double …).
    family : dimension of the continua of branches that leave beside the rays: 1 for a circle of them; 0 if none does.
    cluster : whether the point stands for several singular points close together; the rays are all that leave them.
    blur : change of p by which rounding of the stiffness may move a singular point; what is closer cannot be told.
    """

    rays: tuple[Ray, ...]
    complete: bool = True
    multiplicity: int = 1
    family: int = 0
    reason: str = ""
    cluster: bool = False
    blur: float = 0.0

    def __len__(self) -> int:
        return len(self.rays)

    def __getitem__(self, index: int) -> Ray:
        return self.rays[index]

    def __repr__(self) -> str:
        state = "complete" if self.complete else f"may be incomplete: {self.reason}"
        lines = [f"  {i}: {ray}" for i, ray in enumerate(self.rays)]
        return "\n".join([f"<Rays: {len(self)}, {state}>", *shortened(lines, LINES - 1)])

    def _repr_html_(self) -> str:
        return str(views("report").rays_html(self))


@dataclass(frozen=True, eq=False, repr=False)
class Event:
    """A special point of a path.

    Attributes
    ----------
    kind : what it is.
    p, q, mu, lam : the point.
    constraints : names of the unilateral constraints that change or meet there.
    instability_before, instability_after : degree of instability on either side; None where the path does not go on.
    rays : all directions at the point;  incoming, followed : index of the ray we came along and of the one followed.
    bracket : arc length of the path before and after the point, between which it was located.
    precision : residual of the located point, relative to the scales.
    neutral : whether the stiffness beyond the point has a zero mode, so that stability is not decided.
    index : position of the point in the arrays of the path.
    detail : what the classification rests on, in words.
    shape : what it takes to draw the system there, where it has a sketch.
    """

    kind: Kind
    control: str
    p: float
    q: Array
    mu: Array
    lam: Array
    constraints: tuple[str, ...]
    instability_before: int
    instability_after: int | None
    rays: Rays
    incoming: int | None
    followed: int | None
    bracket: tuple[float, float]
    precision: float
    index: int
    detail: str = ""
    neutral: bool = False
    origin: Any = field(default=None, repr=False, compare=False)
    shape: Shape | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """What travels to another process: all but the system, so that a copy there cannot be branched from."""
        return {**self.__dict__, "origin": None}

    def __copy__(self) -> "Event":
        return self

    def __deepcopy__(self, memo: Any) -> "Event":
        return self

    @property
    def forward(self) -> tuple[int, ...]:
        """Indices of the rays that lead away from where the path came."""
        return tuple(i for i in range(len(self.rays)) if i != self.incoming)

    def __repr__(self) -> str:
        return f"<Event: {self.words()}>"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return str(views("report").event_html(self))

    def words(self) -> str:
        """One sentence for an engineer."""
        where = f"at {self.control} = {format_number(self.p)}"
        parts = [f"{self.kind.value} {where}", *([self.detail] if self.detail else [])]
        if self.kind in {Kind.closes, Kind.opens} and self.detail and not self.detail.startswith("contact"):
            parts = [f"{self.detail} {where}"]  # "cable 'c1' goes slack at p = 2"
        head, *rest = [*parts, *filter(None, [self.stability()]), *self.remarks()]
        return head + (": " + "; ".join(rest) if rest else "")

    def stability(self) -> str:
        """How stability changes there, or what it stays; empty where the path does not go on, or it is not decided."""
        after = self.instability_after
        if after is not None and after != self.instability_before:
            return f"{degree(self.instability_before)} → {degree(after)}"
        return "" if after is None or self.neutral else f"{'stays ' if after == 0 else ''}{degree(after)}"

    def remarks(self) -> list[str]:
        """What is to be said beside kind, place, contacts and stability."""
        found = ["a mode is neutral: stability is not decided by second derivatives"] if self.neutral else []
        if not self.rays.complete and (not self.rays.reason or self.rays.reason not in self.detail):
            reason = self.rays.reason or "too many constraints meet here to examine all cases"
            found.append(f"the list of rays may be incomplete: {reason}")
        if self._releases():
            found.append(f"released at constant {self.control} the system jumps")
        return found

    def _releases(self) -> bool:
        turning = self.kind in {Kind.limit, Kind.corner_limit, Kind.end}
        return turning and self.instability_before == 0 and self.instability_after != 0


def format_number(value: float) -> str:
    """Ten digits, without a negative zero."""
    return f"{value + 0.0:.10g}"


@dataclass(frozen=True, eq=False, repr=False)
class Path(NamedSeries):
    """An equilibrium path: arrays along it, its events, and where it came from.

    Attributes
    ----------
    q : (N, n), p : (N,), mu : (N, k), lam : (N, m), gaps : (N, m), energy : (N,)
    s : (N,) arc length in the scaled metric.
    tangents : (N, n + 1) derivatives of (q, p) with respect to arc length; at an event, of the part that arrives.
    instability : (N,) degree of instability on the strongly active set.
    codes : (N, m) states of the unilateral constraints (0 inactive, 1 weak, 2 strong).
    events : special points, in order;  status : how it ended;  note : details of the end, and remarks.
    residual : largest relative violation of the equilibrium conditions, rechecked at every point.
    provenance : method, tolerances, version, scales.
    measures : name → (N,) further quantities of the model along the path.
    members : name → (N,) forces, lengths and reactions of the parts of a structure, computed when read.
    sketch : how to draw the system, or None.
    isotropy : name of the symmetries that all points of the path have, where a symmetry was given.
    """

    coordinates: tuple[str, ...]
    bilateral: tuple[str, ...]
    unilateral: tuple[str, ...]
    control: str
    q: Array
    p: Array
    mu: Array
    lam: Array
    gaps: Array
    energy: Array
    s: Array
    tangents: Array
    instability: np.ndarray[Any, np.dtype[np.intp]]
    codes: np.ndarray[Any, np.dtype[np.int8]]
    events: tuple[Event, ...]
    status: Status
    note: str
    residual: float
    provenance: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Array] = field(default_factory=dict)
    members: Members = field(default_factory=Members)
    sketch: Sketch | None = None
    isotropy: str = ""

    def __post_init__(self) -> None:
        line_by_line(self, "events")

    def __len__(self) -> int:
        return len(self.p)

    def __repr__(self) -> str:
        ends = f"{self.control} from {format_number(self.p[0])} to {format_number(self.p[-1])}"
        return f"<Path: {len(self)} points, {ends}, {len(self.events)} events, {self.status.name}>"

    @property
    def ok(self) -> bool:
        """Whether the path ended for a good reason."""
        return self.status.ok

    @property
    def active(self) -> tuple[ConstraintStates, ...]:
        """Active set at every point."""
        return tuple(ConstraintStates(tuple(int(c) for c in row)) for row in self.codes)

    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of the events, in order."""
        return tuple(event.kind for event in self.events)

    @property
    def numbered(self) -> Happenings:
        """Events with the numbers that every view shows, from 1; bounds have none."""
        return numbered((0, event.index, event) for event in self.events if event.kind is not Kind.bound)

    def _repr_html_(self) -> str:
        return str(views("report").result_html(self))

    def shape(self, index: int) -> Shape | None:
        """What it takes to draw the system at a point, where it has a sketch."""
        if self.sketch is None:
            return None
        names = self.coordinates, self.control, self.unilateral
        closed = self.codes[index] != State.inactive
        return Shape(self.sketch, *names, self.q[index], float(self.p[index]), closed, self.measures, index)

    def plot(self, x: str | None = None, y: str | None = None, *, ax: Any = None, title: str = "") -> Any:
        """Draw the path; see `onesided.plots.diagram`. Returns matplotlib axes."""
        return views("plots").diagram(self, x=x, y=y, ax=ax, title=title)
