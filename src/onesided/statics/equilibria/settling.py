"""A system at fixed p without units, and the quadratic programme of one step, dense and sparse.

Variables are z = q / length, energies U / energy, constraints c / gap: a shift σ of the Hessian is a drag that is equal
for all coordinates. The programme  min ½δᵀ(H + σ)δ + fᵀδ  with c + E δ = 0 or ≥ 0 is solved by exchanging the closed
constraints until all signs are right; the inertia of its matrix says whether the solution is a minimum.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from onesided import linalg
from onesided.base.tolerances import EPS, HALF_DIGITS
from onesided.base.types import Array, Mask
from onesided.statics.curves.activity import constraint_scales
from onesided.system.sizes import Sizes
from onesided.system.system import System

if TYPE_CHECKING:  # elements are loaded by those who compose
    from onesided.structures.sparse import SparseAssembly, SparseEvaluation

SOFT = HALF_DIGITS  # compliance of closed constraints, per that of what they hold: dependent ones share their reaction
SWEEPS = 40  # exchanges of closed constraints in one programme
SIGN = 64 * EPS  # share of its terms by which a gap or a reaction may have the wrong sign


@dataclass(frozen=True, eq=False)
class LocalModel:
    """The model at a point, without units: energy U, forces f = U_z, constraints c, with reactions ν and all blocks."""

    z: Array
    nu: Array
    U: float
    f: Array
    c: Array
    blocks: Any
    problem: "DescentProblem"

    @property
    def finite(self) -> bool:
        """Whether the model could be evaluated."""
        return bool(np.isfinite(self.U) and np.all(np.isfinite(self.f)) and np.all(np.isfinite(self.c)))

    def rates(self, d: Array) -> Array:
        """Changes E d of the constraints along d, (m,), scaled."""
        sizes = self.problem.sizes
        return np.asarray(self.blocks.constraint_rates(d * sizes.length, 0.0) / self.problem.gap)

    def pull(self, nu: Array) -> Array:
        """Forces Eᵀν of the multipliers, (n,), scaled."""
        problem = self.problem
        return np.asarray(self.blocks.pull(problem.multipliers(nu)) * problem.sizes.length / problem.sizes.energy)

    def stiffness_times(self, d: Array) -> Array:
        """Product H d of stiffness and direction, (n,), scaled."""
        length, energy = self.problem.sizes.length, self.problem.sizes.energy
        return np.asarray((self.blocks.L_qq @ (d * length)) * length / energy)

    def steepness(self) -> Array:
        """Norms of the gradients of the constraints, none of them zero."""
        return np.asarray(np.maximum(self.blocks.gap_sizes(self.problem.sizes.length) / self.problem.gap, SOFT))

    def violation(self) -> Array:
        """How far each constraint is from being met."""
        k = self.problem.k
        return np.concatenate([np.abs(self.c[:k]), np.maximum(-self.c[k:], 0.0)])

    def residual(self) -> float:
        """Largest violation of the Kuhn–Tucker conditions with the multipliers ν."""
        k = self.problem.k
        balance = np.abs(self.f - self.pull(self.nu))
        contact = np.minimum(np.abs(self.c[k:]), np.abs(self.nu[k:]))
        parts = np.concatenate([balance, self.violation(), contact])
        return float(np.max(parts, initial=0.0)) if np.all(np.isfinite(parts)) else float("inf")

    def noise(self) -> Array:
        """Round-off of the forces: of their terms, and of the coordinates they are computed from."""
        length, energy = self.problem.sizes.length, self.problem.sizes.energy
        moved = (abs(self.blocks.L_qq) @ np.abs(self.z * length)) * length / energy
        return np.asarray(EPS * (np.abs(self.f) + moved + np.abs(self.pull(np.abs(self.nu)))) + self.problem.floor)

    def noise_along(self, t: Array) -> float:
        """Round-off of the force along t: as it shows nearby; that of stiff forces hardly works on a soft motion."""
        terms = EPS * float((np.abs(self.f) + np.abs(self.pull(np.abs(self.nu)))) @ np.abs(t))
        forces = [force @ t for force in self.problem.nearby(self.z, self.nu)]
        return min(float(self.noise() @ np.abs(t)), terms + float(np.nan_to_num(np.std(forces), nan=np.inf)))


class DescentProblem:
    """A system at fixed p in scaled variables; gaps are measured as at q."""

    def __init__(self, system: System, q: Array, p: float, sizes: Sizes) -> None:
        self.system, self.p, self.sizes, self.k = system, p, sizes, len(system.bilateral)
        self.none = np.zeros(len(system.constraint_names))
        self.gap = constraint_scales(system.evaluate(q, p, self.none), sizes).gap
        self.floor = self._scatter(q / sizes.length)
        self.programme: Programme = SparseProgramme(self) if system.derivatives.large else DenseProgramme(self)

    def _scatter(self, z: Array) -> Array:
        """Round-off of the forces as it shows at points that hardly differ: terms that cancel leave it behind."""
        return np.asarray(np.nan_to_num(np.std(self.nearby(z, self.none), axis=0), nan=0.0, posinf=0.0))

    def nearby(self, z: Array, nu: Array) -> Array:
        """Forces at points that differ from z by rounding, (points, n)."""
        nudges = EPS * np.array([2.0, -3.0, 5.0, -7.0, 11.0, -13.0])
        return np.array([self.forces(z * (1.0 + nudge), nu)[0] for nudge in nudges])

    def at(self, z: Array, nu: Array) -> LocalModel:
        """Everything at z with scaled multipliers ν."""
        sizes, raw = self.sizes, self.multipliers(nu)
        e = self.system.evaluate(z * sizes.length, self.p, raw)
        f = (e.L_q + e.pull(raw)) * sizes.length / sizes.energy
        return LocalModel(z, nu, e.energy / sizes.energy, f, e.c / self.gap, e, self)

    def forces(self, z: Array, nu: Array) -> tuple[Array, Array]:
        """L_z with multipliers ν, and c: no second derivatives are computed."""
        _, L_q, c = self.system.residual(z * self.sizes.length, self.p, self.multipliers(nu))
        return np.asarray(L_q * self.sizes.length / self.sizes.energy), np.asarray(c / self.gap)

    def multipliers(self, nu: Array) -> Array:
        """Multipliers of the model's own constraints."""
        return np.asarray(nu * self.sizes.energy / self.gap)

    def scaled(self, nu: Array) -> Array:
        """Multipliers in scaled units: the inverse of `multipliers`."""
        return np.asarray(nu * self.gap / self.sizes.energy)

    def closed(self, here: LocalModel) -> Mask:
        """Constraints that are likely to be equations: bilateral ones, and those whose reaction exceeds the gap."""
        closed = here.nu > here.c
        closed[: self.k] = True
        return np.asarray(closed)


class Programme(Protocol):
    """Factorisations of the matrix of the quadratic programme."""

    @property
    def keeps(self) -> bool:
        """Whether a factorisation is worth to be kept."""

    @property
    def count(self) -> int:
        """Factorisations since it was made."""

    def factor(self, here: LocalModel, shift: float, closed: Mask, *, stiff: bool = True) -> bool:
        """Factorise H + σ (σ alone unless `stiff`) on closed constraints; whether it is definite on them."""

    def solve(self, f: Array, c: Array) -> tuple[Array, Array]:
        """δ and ν of (H + σ)δ − Eᵀν = f, E δ + soft ν = c."""

    @property
    def soft(self) -> Array:
        """Compliance of the constraints in the last matrix."""


class DenseProgramme:
    """The quadratic programme of one step, with dense matrices."""

    keeps = False  # a new factorisation costs less than a further step

    def __init__(self, problem: DescentProblem) -> None:
        self.problem, self.count = problem, 0
        self.soft: Array = problem.none
        self._factor: Any = None
        self._rows = np.arange(0)
        self._unit: Array = np.ones(len(problem.none))

    def factor(self, here: LocalModel, shift: float, closed: Mask, *, stiff: bool = True) -> bool:
        """Factorise; whether the matrix is definite on the closed constraints."""
        sizes, rows = self.problem.sizes, np.flatnonzero(closed)
        n, w = len(here.f), len(rows)
        K = np.zeros((n + w, n + w))
        K[:n, :n] = sizes.hessian(here.blocks.L_qq) if stiff else 0.0
        K[range(n), range(n)] += shift
        steepness = here.steepness()
        E = here.blocks.c_q[rows] * sizes.length / (self.problem.gap * steepness)[rows, None]
        held = np.full(len(closed), 1.0 + shift)  # stiffness along the constraints: of a small peg with its reaction
        held[rows] += np.abs(np.einsum("ij,ij->i", E @ K[:n, :n], E))
        E = E * held[rows, None]  # as large as what they hold: beside it no sign is lost in rounding
        K[n:, :n], K[:n, n:] = E, E.T
        K[range(n, n + w), range(n, n + w)] = -SOFT * held[rows]
        self.soft, self._unit = SOFT / held * steepness**2, steepness / held
        if not np.all(np.isfinite(K)):
            return False
        self._factor, self._rows, self._n = linalg.factorise(K), rows, n
        self.count += 1
        counted = self._factor.inertia
        return bool(counted.negative == w and not counted.zero)

    def solve(self, f: Array, c: Array) -> tuple[Array, Array]:
        """Step δ and multipliers ν for the forces f and the gaps c."""
        rows, unit = self._rows, self._unit[self._rows]
        x, nu = self._factor.solve(np.concatenate([f, c[rows] / unit])), np.zeros(len(c))
        nu[rows] = -x[self._n :] / unit
        return x[: self._n], nu


class SparseProgramme:
    """With the one sparse KKT matrix of a large system."""

    keeps = True

    def __init__(self, problem: DescentProblem) -> None:
        assembly = cast("SparseAssembly", problem.system.derivatives)
        at, sizes = assembly.pattern, problem.sizes
        self.kkt, self._before = assembly.kkt, assembly.kkt.count
        self.soft: Array = problem.none
        self._hessian = sizes.length[at.rows] * sizes.length[at.entry_columns] / sizes.energy
        self._gradients = sizes.length[at.columns] / problem.gap[at.entry_constraints]
        self._diagonal = (at.rows == at.entry_columns).astype(float)
        self._closed: Mask = np.zeros(at.m, dtype=bool)
        self._unit: Array = np.ones(at.m)

    @property
    def count(self) -> int:
        """Factorisations of the system's matrix since, by whomever."""
        return self.kkt.count - self._before

    def factor(self, here: LocalModel, shift: float, closed: Mask, *, stiff: bool = True) -> bool:
        """Factorise; whether the matrix is definite on the closed constraints."""
        e = cast("SparseEvaluation", here.blocks)
        if not e.finite():
            return False
        hessian = (e.hessian * self._hessian if stiff else 0.0) + shift * self._diagonal
        held, steepness = 1.0 + shift, here.steepness()
        self.soft, self._unit = SOFT / held * steepness**2, steepness / held
        gradients = e.gradients * self._gradients / self._unit[e.pattern.entry_constraints]
        self.kkt.factor(hessian, gradients, closed, soft=SOFT * held)
        self._closed = closed.copy()
        counted = self.kkt.inertia
        return bool(counted.negative == self.kkt.m and not counted.zero)

    def solve(self, f: Array, c: Array) -> tuple[Array, Array]:
        """Step δ and multipliers ν for the forces f and the gaps c."""
        x = self.kkt.solve(np.concatenate([f, np.where(self._closed, c / self._unit, 0.0)]))
        return x[: self.kkt.n], np.where(self._closed, -x[self.kkt.n :] / self._unit, 0.0)


@dataclass(frozen=True, eq=False)
class Move:
    """The solution of a quadratic programme: displacement, reactions, closed constraints."""

    d: Array
    nu: Array
    closed: Mask


def quadratic_step(
    here: LocalModel, shift: float, force: Array, closed: Mask, *, stiff: bool = True, keep: bool = False
) -> Move | None:
    """Solve the programme; None where it is not definite or no set of closed constraints has the right signs.

    All constraints with a wrong sign change sides at once; where a set returns, one at a time (Murty's rule).
    `keep` takes the factorisation at hand first.
    """
    programme, k = here.problem.programme, here.problem.k
    closed, seen, single = closed.copy(), set[bytes](), False
    for _ in range(SWEEPS):
        if not keep and not programme.factor(here, shift, closed, stiff=stiff):
            return None
        keep = False
        d, nu = _solved(here, force, closed)
        if not np.all(np.isfinite(d)):
            return None
        wrong = _wrong(here, d, nu, closed)
        wrong[:k] = False
        if not wrong.any():
            return Move(d, nu, closed)
        single = single or closed.tobytes() in seen
        seen.add(closed.tobytes())
        chosen = np.flatnonzero(wrong)[: 1 if single else None]
        closed[chosen] = ~closed[chosen]
    return None


def _solved(here: LocalModel, force: Array, closed: Mask) -> tuple[Array, Array]:
    """δ and ν with these constraints closed; solved again with the reactions known, compliance leaves no trace."""
    programme, nu = here.problem.programme, here.nu
    for _ in range(2 if closed.any() else 1):
        d, nu = programme.solve(-force, programme.soft * nu - here.c)
    return d, nu


def _wrong(here: LocalModel, d: Array, nu: Array, closed: Mask) -> Mask:
    """Closed constraints that pull, open ones that are violated."""
    reached = here.rates(d)
    gap_noise = SIGN * (np.abs(here.c) + np.abs(reached) + float(np.max(np.abs(d), initial=0.0)))
    nu_noise = SIGN * float(np.max(np.abs(nu), initial=0.0))
    return np.asarray(np.where(closed, nu < -nu_noise, here.c + reached < -gap_noise))
