"""Relaxation at fixed p: the energy falls in every step, contacts are held exactly, until a minimum is reached."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.tolerances import EPS
from onesided.base.types import Array, Mask, Status
from onesided.statics.equilibria.proximal import (
    ALMOST,
    SHORTER,
    ProximalStep,
    Refusal,
    lowers_energy,
    proximal_step,
    restored,
    stiffness_along,
)
from onesided.statics.equilibria.pushes import lowest_mode, push
from onesided.statics.equilibria.settling import DescentProblem, LocalModel
from onesided.system.sizes import Sizes
from onesided.system.system import System

FAR = EPS**-0.4  # scaled coordinates beyond which the energy is called unbounded
STUCK = 40  # refused steps in turn: nothing near is lower
EASY = 0.4  # corrections that shrink to a smaller share: the next step may be longer
QUICKER = 16.0  # by how much at most
MARGIN = 4.0  # shifts exceed a negative stiffness along the way by this factor
LANDING = 0.25  # share of the stiffness along the way below which a shift is left out: Newton's method
PUSH = 16.0  # a push goes as far as so many first steps
Advance = Callable[["_Descent", "Relaxation"], ProximalStep | None]
ESCAPES = 8  # saddle points that are left on the way
MOST_SEEN = 256  # points of a descent that are kept; of more, every second one


@checked
@dataclass(frozen=True)
class Relaxation:
    """Knobs of the descent.

    Attributes
    ----------
    max_iterations : steps before it gives up.
    reach : largest first step, in units of the length scale; it grows where the energy is simple.
    damped : integrate the overdamped motion with error control instead of taking steps as long as the energy lets them
        be: slower, and lands where a slowly moving real structure would.
    error : local error of the overdamped motion, in units of the length scale.
    """

    max_iterations: int = 500
    reach: float = 0.25
    damped: bool = False
    error: float = 0.01

    @property
    def push(self) -> float:
        """How far a push may go."""
        return self.error if self.damped else PUSH * self.reach

    def __post_init__(self) -> None:
        if self.max_iterations < 1 or not self.reach > 0 or not 0 < self.error < 1:
            raise UsageError("`Relaxation` has a knob out of range", got=repr(self))


@dataclass(frozen=True)
class Relaxed:
    """Where the descent ended, and what it has seen.

    Attributes
    ----------
    either : whether it began or passed where both signs of a mode were alike.
    seen : points on its way in scaled variables, with their reactions.
    """

    q: Array
    nu: Array
    status: Status
    residual: float
    iterations: int
    factorisations: int = 0
    either: bool = False
    seen: tuple[tuple[Array, Array], ...] = ()


def relax(system: System, q: Array, p: float, sizes: Sizes, knobs: Relaxation) -> Relaxed:
    """Descend from q to a minimum of the energy among the admissible configurations."""
    problem = DescentProblem(system, q, p, sizes)
    start = problem.at(q / sizes.length, problem.none)
    here = restored(start)
    if here is None:
        return ended(start, Status.infeasible, 0)
    return descend(here, knobs)


def ended(here: LocalModel, status: Status, steps: int) -> Relaxed:
    """The outcome in the model's own units."""
    problem = here.problem
    return Relaxed(
        here.z * problem.sizes.length,
        problem.multipliers(here.nu),
        status,
        here.residual(),
        steps,
        problem.programme.count,
    )


@dataclass
class _Descent:
    """State of a running descent."""

    here: LocalModel
    closed: Mask
    shift: float
    reach: float
    patience: float = np.inf  # Newton's method is not tried with shifts above it
    steps: int = 0
    refused: int = 0
    moved: float = np.inf
    either: bool = False
    before: float = 1.0  # shift of the last step taken
    eased: bytes = b""  # closed constraints for which a large shift was given up
    seen: list[tuple[Array, Array]] = field(default_factory=list)

    def stand(self, here: LocalModel) -> None:
        """Make a point the present one, and keep it for pictures of the fall."""
        self.here = here
        self.seen.append((here.z, here.nu))
        if len(self.seen) > MOST_SEEN:
            del self.seen[1::2]


def descend(here: LocalModel, knobs: Relaxation, *, shift: float = 1.0, reach: float = 0.0) -> Relaxed:
    """Steps of falling energy from an admissible point until nothing lower is near."""
    run = _Descent(here, here.problem.closed(here), shift, max(reach, knobs.reach), before=shift)
    run.stand(here)
    advance = _advance_damped if knobs.damped else _advance
    for _ in range(ESCAPES):
        status = _settle(run, knobs, advance)
        if status is not Status.stalled or not _leave_saddle(run, knobs):
            break
        run.either = True
    return replace(ended(run.here, status, run.steps), either=run.either, seen=tuple(run.seen))


def _settle(run: _Descent, knobs: Relaxation, advance: Advance) -> Status:
    """Steps until Newton's method arrives (solved) or nothing moves any more (stalled)."""
    arrived: Status | None = None
    while arrived is None and run.steps < knobs.max_iterations:
        run.steps += 1
        step = advance(run, knobs)
        if step is None:
            run.refused += 1
            arrived = _arrive(run) if run.refused > STUCK else None
            continue
        _take(run, step)
        if step.shift == 0.0:
            return Status.solved
        if not float(np.max(np.abs(run.here.z), initial=0.0)) < FAR or not np.isfinite(run.here.U):
            return Status.unbounded
        if run.moved <= ALMOST:
            arrived = _arrive(run)
    return Status.max_iterations if arrived is None else arrived


def _arrive(run: _Descent) -> Status | None:
    """Newton's method where nothing moves any more: solved, or stalled on a saddle point.

    None where it leads further than it may go, and steps were short because of what was stiff on the way: contacts
    that have closed may hold that now, and the descent goes on with the drag which a long step needs.
    """
    step = proximal_step(run.here, 0.0, run.closed, run.reach)
    if isinstance(step, ProximalStep) and lowers_energy(step):
        _take(run, step)
        return Status.solved
    if _at_rest(run):
        return Status.solved
    closed = run.closed.tobytes()
    if not isinstance(step, Refusal) or not 0.0 < step.shift <= ALMOST * run.before or run.eased == closed:
        return Status.stalled
    run.shift, run.eased, run.refused = step.shift, closed, 0
    return None


def _at_rest(run: _Descent) -> bool:
    """Whether the point is a minimum as far as round-off lets it be known."""
    balanced = np.abs(run.here.f - run.here.pull(run.here.nu)) <= 64 * run.here.noise()
    return bool(np.all(balanced)) and run.here.problem.programme.factor(run.here, ALMOST, run.closed)


def _take(run: _Descent, step: ProximalStep) -> None:
    """Stand at the end of a step; the next one may be longer where this one was easy."""
    run.stand(step.end)
    run.closed, run.refused = step.closed, 0
    run.moved, run.before = float(np.max(np.abs(step.d), initial=0.0)), step.shift
    if step.ratio <= EASY and run.moved > 0.5 * run.reach:
        run.reach *= 2.0
    stiffness = _stiffness(step)
    quicker = min(max(EASY / max(step.ratio, EPS), 1.0), QUICKER)
    run.shift = max(step.shift / quicker, -MARGIN * stiffness)
    if run.shift < min(LANDING * stiffness, run.patience):
        run.shift = 0.0


def _stiffness(step: ProximalStep) -> float:
    """Stiffness ahead of a step: at its end, or as the forces changed along it where that is softer.

    Along a curved valley the straight direction of a step is stiff, and its forces alone tell the truth.
    """
    size = float(step.d @ step.d)
    secant = float((step.end.f - step.start.f) @ step.d) / size if size > 0.0 else 0.0
    return min(secant, stiffness_along(step.end, step.d))


def _advance(run: _Descent, knobs: Relaxation) -> ProximalStep | None:
    """One step of the descent, as long as the energy lets it be; None where it was refused."""
    step = proximal_step(run.here, run.shift, run.closed, run.reach)
    if isinstance(step, ProximalStep) and lowers_energy(step):
        return step
    if run.shift == 0.0:  # too early for Newton's method: not before the shift is much smaller again
        run.shift = max(run.before / QUICKER, ALMOST)
        run.patience = 0.1 * run.shift
    else:
        run.shift = step.shift if isinstance(step, Refusal) else SHORTER * run.shift
    return None


def _advance_damped(run: _Descent, knobs: Relaxation) -> ProximalStep | None:
    """One step of the overdamped motion, compared with two half as long; None where it was refused."""
    if run.shift == 0.0 and run.moved > knobs.error:
        run.shift = run.before / 4.0
    whole = proximal_step(run.here, run.shift, run.closed, run.reach)
    if run.shift == 0.0 or not isinstance(whole, ProximalStep):
        return _advance(run, knobs)
    halves = _two_halves(run, whole.shift)
    if halves is None:
        run.shift *= 4.0
        return None
    error = float(np.max(np.abs(whole.d - halves.d), initial=0.0))
    if error > knobs.error or not lowers_energy(whole):
        run.shift *= 2.0 if error < 4 * knobs.error else 4.0
        return None
    return replace(halves, ratio=0.0 if error < EASY * knobs.error else 1.0)


def _two_halves(run: _Descent, shift: float) -> ProximalStep | None:
    """Two steps half as long as one with this shift, as one."""
    first = proximal_step(run.here, 2.0 * shift, run.closed, run.reach)
    if not isinstance(first, ProximalStep):
        return None
    second = proximal_step(first.end, 2.0 * shift, first.closed, run.reach)
    if not isinstance(second, ProximalStep):
        return None
    return replace(second, start=run.here, d=first.d + second.d, t=first.d + second.d, shift=shift)


def _leave_saddle(run: _Descent, knobs: Relaxation) -> bool:
    """Push off a stationary point along its lowest mode; False where the energy does not fall."""
    if not np.all(np.abs(run.here.f - run.here.pull(run.here.nu)) <= ALMOST):
        return False
    mode = lowest_mode(run.here, run.closed)
    for t in () if mode is None else (mode, -mode):
        pushed = push(run.here, t, run.closed, knobs.push)
        if pushed is not None:
            run.stand(pushed.end)
            run.shift, run.reach = pushed.shift, pushed.reach
            run.patience, run.refused, run.moved = np.inf, 0, np.inf
            return True
    return False
