"""One equilibrium at fixed p, started anywhere: local correction, relaxation to a stable state, honest failure."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import lsmr

from onesided import linalg
from onesided.base.arguments import checked
from onesided.base.errors import SolveError, UsageError
from onesided.base.tolerances import DEFAULT, EPS, SMALL, Tolerances
from onesided.base.types import Array, Indices, Status
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.results import Equilibrium, Shape, Solution, State
from onesided.results.wording import closings
from onesided.statics.curves.activity import classify, constraint_scales, recheck, rounding, working_rows
from onesided.statics.curves.large import large_newton_step
from onesided.statics.curves.stability import stability_of
from onesided.statics.equilibria.mechanism import free_motion
from onesided.statics.equilibria.relax import Relaxation, Relaxed, relax
from onesided.statics.notes import noted
from onesided.system.sizes import Sizes
from onesided.system.system import System

POLISHED = 12  # Newton steps after which what rounding allows counts as solved
PARTS = (1.0, 0.5, 0.25, 0.125)  # of a Newton step, where the residual is small and a soft mode far from its place
FALLS = 0.9  # share of what a linear model promises by which the residual must fall
UNSURE = 16.0  # times the rounding of forces: what may be left of them where nothing makes it smaller
CLOSE = 0.1  # scaled distance within which a minimum is looked for where a descent ended
SHOWN = 12  # coordinates that a message lists


@checked
@dataclass(frozen=True)
class Newton:
    """Local correction: Newton on the Kuhn–Tucker conditions; stays near the start, stable or not.

    Attributes
    ----------
    max_iterations : Newton steps before it gives up.
    """

    max_iterations: int = 40


@dataclass(frozen=True)
class Corrected:
    """Outcome of a local correction: a point, its multipliers, and how it ended.

    `certain` is False where forces are small, but more than rounding, and soft modes may still have far to go.
    """

    q: Array
    nu: Array
    status: Status
    residual: float
    iterations: int
    certain: bool = True


def equilibrium(
    system: System,
    start: Any,
    p: float,
    *,
    method: Newton | Relaxation | None = None,
    tolerances: Tolerances = DEFAULT,
    throw: bool = True,
) -> Solution[Equilibrium]:
    """Find an equilibrium at fixed p [SP1 (3.3), (3.4)].

    Parameters
    ----------
    start : configuration to start from; need not be feasible.
    p : value of the control parameter.
    method : `Newton()` finds the equilibrium near the start, stable or not; `Relaxation()` descends to a stable one.
        By default a start that is an equilibrium already is returned corrected; otherwise the system relaxes, and
        where no minimum can be reached Newton is tried.
    throw : raise a `SolveError` holding the best point instead of returning it with a status that is not ok.
    """
    q = system.point(start)
    system.check_start(q, p)
    found = settle(system, q, p, system.sizes(q, p), method=method, tolerances=tolerances)
    if throw and not found.ok:
        raise SolveError(found.status.value, found, got=found.note or f"best relative residual {found.residual:.3g}")
    return replace(found, note=noted(system, found.note, np.array([p])))


def settle(
    system: System,
    q: Array,
    p: float,
    sizes: Sizes,
    *,
    method: Newton | Relaxation | None = None,
    tolerances: Tolerances = DEFAULT,
) -> Solution[Equilibrium]:
    """The same from a start that has been checked, with known sizes; never raises for a numerical reason."""
    if method is not None and not isinstance(method, Newton | Relaxation):
        raise UsageError("this is not a method for equilibria", got=repr(method), expected="Newton() or Relaxation()")
    routes = _routes(system, q, p, sizes, method, tolerances)
    best: Solution[Equilibrium] | None = None
    for route in routes:
        end = route()
        found = _finish(system, p, sizes, end, tolerances, name=route.__name__)
        if best is None or _rank(found) > _rank(best):
            best = found
        if found.ok and end.certain:
            break
    best = best or _finish(system, p, sizes, routes[0](), tolerances, name="start")
    at_rest = best.status is Status.stalled and best.residual <= 0.01 * tolerances.residual
    return replace(best, status=Status.solved) if at_rest else best  # a stall at round-off has arrived


def _rank(found: Solution[Equilibrium]) -> tuple[bool, bool, float]:
    """What makes one outcome better than another: an equilibrium, one whose reactions are not unique, a residual."""
    return found.ok, found.status is Status.dependent, -found.residual


def already(system: System, q: Array, p: float, sizes: Sizes, tolerances: Tolerances) -> Corrected | None:
    """A start that is an equilibrium on independent constraints, corrected; None where it takes more than that."""
    near = correct(system, q, p, sizes=sizes, tolerances=tolerances)
    if not (near.status.ok and near.certain) or _size((near.q - q) / sizes.length) > np.sqrt(tolerances.residual):
        return None
    e = system.evaluate(near.q, p, near.nu)
    x = np.concatenate([near.q, [p], near.nu])
    active = classify(system, e, x, constraint_scales(e, sizes), tolerances)
    return None if _dependent(system, near, p, working_rows(system, active, weak=True), tolerances) else near


def _routes(
    system: System, q: Array, p: float, sizes: Sizes, method: Newton | Relaxation | None, tolerances: Tolerances
) -> list[Any]:
    def at_start() -> Corrected:
        near = correct(system, q, p, sizes=sizes, tolerances=tolerances)
        moved = _size((near.q - q) / sizes.length)
        stay = near.status.ok and moved <= np.sqrt(tolerances.residual)
        return near if stay else Corrected(near.q, near.nu, Status.stalled, np.inf, near.iterations)

    def relaxation() -> Corrected:
        knobs = method if isinstance(method, Relaxation) else Relaxation()
        return confirmed(system, p, relax(system, q, p, sizes, knobs), sizes, tolerances)

    def newton() -> Corrected:
        knobs = method if isinstance(method, Newton) else Newton()
        return correct(system, q, p, sizes=sizes, method=knobs, tolerances=tolerances)

    if isinstance(method, Newton | Relaxation):
        return [newton if isinstance(method, Newton) else relaxation]
    return [newton, relaxation] if system.derivatives.large else [at_start, relaxation, newton]


def confirmed(system: System, p: float, loose: Relaxed, sizes: Sizes, tolerances: Tolerances) -> Corrected:
    """Where a descent ended, polished by Newton's method as long as that stays there.

    Where forces are small already, soft modes may have some way to go, but not uphill.
    """
    end = Corrected(loose.q, loose.nu, loose.status, loose.residual, loose.iterations)
    if loose.status not in {Status.solved, Status.stalled}:
        return end
    near = correct(system, loose.q, p, nu=loose.nu, sizes=sizes, tolerances=tolerances)
    moved = _size((near.q - loose.q) / sizes.length)
    stays = moved <= np.sqrt(tolerances.residual)
    if not stays and loose.residual <= 0.01 * tolerances.residual and moved <= CLOSE:
        energies = [system.residual(q, p, np.zeros_like(near.nu))[0] for q in (near.q, loose.q)]
        stays = bool(energies[0] <= energies[1])
    return near if near.status.ok and stays else end


def correct(
    system: System,
    q: Array,
    p: float,
    *,
    sizes: Sizes,
    nu: Array | None = None,
    method: Newton | None = None,
    tolerances: Tolerances = DEFAULT,
) -> Corrected:
    """Newton on the Kuhn–Tucker conditions: the working set follows λ − g (in scaled terms), steps are damped."""
    limit = (method or Newton()).max_iterations
    e = system.evaluate(q, p, np.zeros(len(system.constraint_names)))
    nu = least_squares_multipliers(system, e, sizes) if nu is None else nu
    best = Corrected(q, nu, Status.stalled, np.inf, 0)
    reached = tolerances.residual
    for iteration in range(limit):
        e = system.evaluate(q, p, nu)
        rows = _working_set(system, e, nu, sizes)
        residual = _natural_residual(system, e, nu, sizes)
        if not np.isfinite(residual):
            return Corrected(best.q, best.nu, Status.not_finite, best.residual, iteration)
        if residual < best.residual:
            best = Corrected(q, nu, Status.stalled, residual, iteration)
        step = newton_step(system, e, rows, nu) if residual > 0.0 else np.zeros(system.n + len(rows))
        if residual <= 0.01 * tolerances.residual:
            better = _polished(system, p, (q, nu), (rows, step), residual, sizes)
            if better is None:
                certain = _is_near(system, e, (q, p, nu), step, residual, sizes)
                return Corrected(q, nu, Status.solved, residual, iteration, certain)
            q, nu = better
            continue
        if residual <= tolerances.residual and _size(step[: system.n] / sizes.length) <= tolerances.residual:
            return Corrected(
                q + step[: system.n], _multipliers(nu, rows, step, system.n), Status.solved, residual, iteration
            )
        if iteration == POLISHED:  # by now it is near, or has further to go
            x = np.concatenate([best.q, [p], best.nu])
            reached = max(0.1 * reached, rounding(e, x, sizes, constraint_scales(e, sizes)))
        if iteration >= POLISHED and best.residual <= reached:
            return replace(best, status=Status.solved)
        q, nu = _damped(system, p, (q, nu), (rows, step), residual, sizes)
    return replace(best, status=Status.solved) if best.residual <= 0.1 * tolerances.residual else best  # no better


def _polished(
    system: System, p: float, point: tuple[Array, Array], move: tuple[Indices, Array], residual: float, sizes: Sizes
) -> tuple[Array, Array] | None:
    """The point after a step, or a part of it, that makes a residual that is good already smaller; None if none does.

    Forces that the scale calls small may matter to a soft mode. A step along a curved valley climbs its walls: the next
    one leads down. Where the stiffness is singular a step only harms.
    """
    (q, nu), (rows, step), n = point, move, len(point[0])
    length, target = _size(step[:n] / sizes.length), _multipliers(nu, rows, step, n)
    if length <= EPS:
        return None
    there: tuple[Array, Array]
    for fraction in PARTS if length > SMALL else PARTS[:1]:
        there = q + fraction * step[:n], nu + fraction * (target - nu)
        for _ in range(2):
            e = system.evaluate(there[0], p, there[1])
            if _natural_residual(system, e, there[1], sizes) <= (1.0 - FALLS * fraction) * residual:
                return there
            if length <= SMALL:
                break
            again = newton_step(system, e, rows, there[1])
            there = there[0] + again[:n], _multipliers(there[1], rows, again, n)
    return None


def _is_near(
    system: System, e: Evaluation, point: tuple[Array, float, Array], step: Array, residual: float, sizes: Sizes
) -> bool:
    """Whether a solution that no step makes better is one: the step leads nowhere, or rounding is all that is left."""
    if _size(step[: system.n] / sizes.length) <= SMALL:
        return True
    return residual <= UNSURE * rounding(
        e, np.concatenate([point[0], [point[1]], point[2]]), sizes, constraint_scales(e, sizes)
    )


def newton_step(system: System, e: Evaluation, rows: Indices, nu: Array) -> Array:
    """(Δq, new ν on `rows`) of Newton's method with `rows` as equations and all other multipliers zero."""
    n = len(e.L_q)
    U_q = e.L_q + e.pull(nu)
    if system.derivatives.large:
        return large_newton_step(system, e, rows, U_q)
    K = linalg.kkt_matrix(e.L_qq, e.c_q[rows])
    right = np.concatenate([-U_q, -e.c[rows]])
    solution = linalg.factorise(K).solve(right)
    if not np.all(np.isfinite(solution)):
        solution = np.linalg.lstsq(K, right, rcond=None)[0]
    solution[n:] *= -1.0  # the symmetric matrix carries −ν
    return solution


def _multipliers(nu: Array, rows: Indices, step: Array, n: int) -> Array:
    new = np.zeros_like(nu)
    new[rows] = step[n:]
    return new


def _damped(
    system: System, p: float, point: tuple[Array, Array], move: tuple[Indices, Array], residual: float, sizes: Sizes
) -> tuple[Array, Array]:
    """Halve the step until the residual falls; the smallest step is taken when none does."""
    (q, nu), (rows, step) = point, move
    target = _multipliers(nu, rows, step, len(q))
    fraction = min(1.0, 2.0 / max(_size(step[: len(q)] / sizes.length), EPS))
    for _ in range(8):
        q_new, nu_new = q + fraction * step[: len(q)], nu + fraction * (target - nu)
        e = system.evaluate(q_new, p, nu_new)
        if _natural_residual(system, e, nu_new, sizes) < residual:
            break
        fraction *= 0.5
    return q_new, nu_new


def _working_set(system: System, e: Evaluation, nu: Array, sizes: Sizes) -> Indices:
    k = len(system.bilateral)
    scales = constraint_scales(e, sizes)
    closing = nu[k:] / scales.multiplier[k:] > e.c[k:] / scales.gap[k:]
    return np.concatenate([np.arange(k), k + np.flatnonzero(closing)])


def _natural_residual(system: System, e: Evaluation, nu: Array, sizes: Sizes) -> float:
    """Largest of force balance, bilateral residual and min(λ, g), each relative to its scale."""
    k = len(system.bilateral)
    scales = constraint_scales(e, sizes)
    contact = np.minimum(e.c[k:] / scales.gap[k:], nu[k:] / scales.multiplier[k:])
    parts = np.concatenate([e.L_q / sizes.force, e.c[:k] / scales.gap[:k], contact])
    return _size(parts) if np.all(np.isfinite(parts)) else np.inf


def least_squares_multipliers(system: System, e: Evaluation, sizes: Sizes) -> Array:
    """Multipliers that balance the forces best, on constraints that are closed or violated; λ cut at zero."""
    k, nu = len(system.bilateral), np.zeros(len(e.c))
    scales = constraint_scales(e, sizes)
    closed = e.c[k:] <= np.sqrt(DEFAULT.gap) * scales.gap[k:]
    rows = np.concatenate([np.arange(k), k + np.flatnonzero(closed)])
    if len(rows) and system.derivatives.large:
        nu[rows] = lsmr(e.c_q[rows].T, e.L_q, atol=EPS, btol=EPS)[0]
    elif len(rows):
        nu[rows] = np.linalg.lstsq(e.c_q[rows].T, e.L_q, rcond=None)[0]
    nu[k:] = np.maximum(nu[k:], 0.0)
    return nu


def describe(
    system: System, q: Array, p: float, nu: Array, *, sizes: Sizes, tolerances: Tolerances = DEFAULT
) -> Equilibrium:
    """Everything known about an equilibrium, with the conditions rechecked from the model."""
    k = len(system.bilateral)
    e = system.evaluate(q, p, nu)
    x = np.concatenate([q, [p], nu])
    active = classify(system, e, x, constraint_scales(e, sizes), tolerances)
    instability, minimum = stability_of(system, e, active, sizes, tolerances)
    return Equilibrium(
        coordinates=system.coordinates,
        bilateral=tuple(system.bilateral),
        unilateral=tuple(system.unilateral),
        control=system.control,
        q=q,
        p=p,
        mu=nu[:k],
        lam=nu[k:],
        gaps=e.c[k:].copy(),
        energy=e.energy,
        active=active,
        instability=instability,
        minimum=minimum,
        recheck=recheck(system, q, p, nu, sizes),
        closings=closings({name: system.words_for(name) for name in system.unilateral}),
    )


def _finish(
    system: System, p: float, sizes: Sizes, found: Corrected, tolerances: Tolerances, *, name: str
) -> Solution[Equilibrium]:
    state = describe(system, found.q, p, found.nu, sizes=sizes, tolerances=tolerances)
    members = system.members(state.q[None], np.array([state.p]), state.nu[None])
    free = free_motion(system, state, sizes, tolerances) if found.status.ok and not state.minimum else ""
    state = replace(state, shape=shape_of(system, state), members=members, free=free)
    status, note = found.status, ""
    if status.ok and not state.recheck.worst <= 10 * _accuracy(system, state, sizes, tolerances):
        status = Status.inaccurate
    rows = working_rows(system, state.active, weak=True)
    groups = _dependent(system, found, p, rows, tolerances)
    if status.ok and groups:
        names = [", ".join(system.constraint_names[rows[i]] for i in group) for group in groups]
        status, note = Status.dependent, "dependent constraints: " + "; ".join(names)
    if not status.ok and not note:
        at = ", ".join(f"{c} = {v:.6g}" for c, v in zip(system.coordinates[:SHOWN], found.q, strict=False))
        at += ", …" if system.n > SHOWN else ""
        note = f"best relative residual {state.recheck.worst:.3g} at {at}"
    stats = {"iterations": float(found.iterations)}
    return Solution(state, status, state.recheck.worst, method=name, stats=stats, note=note)


def _accuracy(system: System, state: Equilibrium, sizes: Sizes, tolerances: Tolerances) -> float:
    """The residual that is asked for: the tolerance, or what rounding allows."""
    e = system.evaluate(state.q, state.p, state.nu)
    x = np.concatenate([state.q, [state.p], state.nu])
    return max(tolerances.residual, rounding(e, x, sizes, constraint_scales(e, sizes)))


def shape_of(system: System, state: Equilibrium) -> Shape | None:
    """What it takes to draw a state, where the system has a sketch."""
    if system.sketch is None:
        return None
    names = state.coordinates, state.control, state.unilateral
    closed = np.array(state.active.codes, dtype=int) != State.inactive
    measures = system.measured(state.q[None, :], np.array([state.p]))
    return Shape(system.sketch, *names, state.q, state.p, closed, measures)


def _dependent(
    system: System, found: Corrected, p: float, rows: Indices, tolerances: Tolerances
) -> list[tuple[int, ...]]:
    """Groups of active constraints that depend on each other; not looked for in large systems."""
    if system.derivatives.large or not len(rows):
        return []
    return linalg.dependent_rows(system.evaluate(found.q, p, found.nu).c_q[rows], rank=tolerances.rank)


def _size(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
